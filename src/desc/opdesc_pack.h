// SPDX-License-Identifier: Apache-2.0
// The operators of an arch as the library carries them: their code, and packed tables.

#ifndef LN_DESC_OPDESC_PACK_H
#define LN_DESC_OPDESC_PACK_H

#include "base/text.h"
#include "desc/opdesc.h"

LN_CPPSTART

// C that defines `ln_packed_ops ln_ops_<arch>` (ir/packed_ops.h) with the generated operators of
// the set whose arch is `arch`. Those of arch `none` in the set are what they are variants of; they
// are in `ln_ops_none`. Failures go to `text->status`.
void ln_opdesc_print_packed(const ln_opdesc_set *set, const char *arch, ln_text *text);

LN_CPPEND

#endif
