// SPDX-License-Identifier: Apache-2.0
// The operators of an arch as the library has them: their code, and a table with a row for each.

#ifndef LN_DESC_OPDESC_ROWS_H
#define LN_DESC_OPDESC_ROWS_H

#include "base/text.h"
#include "desc/opdesc.h"

LN_CPPSTART

// C that defines `ln_op_rows ln_ops_<arch>` (ir/op_rows.h) with the generated operators of the set
// whose arch is `arch`. Those of arch `none` in the set are what they are variants of; they are in
// `ln_ops_none`. Failures go to `text->status`.
void ln_opdesc_print_rows(const ln_opdesc_set *set, const char *arch, ln_text *text);

// C that defines `const op_prose op_proses[]`, which ends with a NULL type: what the descriptions
// of the set say to people. A variant has no row if its base says the same.
void ln_opdesc_print_prose(const ln_opdesc_set *set, ln_text *text);

LN_CPPEND

#endif
