// SPDX-License-Identifier: Apache-2.0
// Texts made from a set of descriptions: C code, the table of an arch, and documentation.

#ifndef LN_DESC_OPDESC_GEN_H
#define LN_DESC_OPDESC_GEN_H

#include "base/text.h"
#include "desc/opdesc.h"

LN_CPPSTART

// C for every generated operator of the set; `title` says in the first line what it was made from.
// The code uses lightnet/op.h, op_info.h and op_support.h, and compiles without warnings as far as
// the snippets do. Failures go to `text->status`.
void ln_opdesc_print_code(const ln_opdesc_set *set, const char *title, ln_text *text);

// What comes before the rows (opdesc_rows.h) of the generated operators of the set whose arch is
// `arch`: headers, and the prototypes of functions.
void ln_opdesc_put_head(const ln_opdesc_set *set, const char *arch, ln_text *text);

// Prototypes of the functions that the generated operators whose arch is `arch`, or of all archs
// when it is NULL, name: `infer`, `prepare`, `compute` and the like, each once.
// (opdesc_functions.c)
void ln_opdesc_put_prototypes(const ln_opdesc_set *set, const char *arch, ln_text *text);

// A header with these prototypes, for the sources that define the functions, but for those that
// operators of arch `none` name: they are in its own. (opdesc_functions.c)
void ln_opdesc_print_header(const ln_opdesc_set *set, const char *arch, ln_text *text);

// The operator of arch `none` of which `op` is the variant by its name; NULL if there is none.
const ln_opdesc *ln_opdesc_base(const ln_opdesc_set *set, const ln_opdesc *op);

// Declarations of the generated operators whose arch is `arch`, and
// `ln_op *ln_arch_ops_<arch>[]`, which ends with NULL.
void ln_opdesc_print_table(const ln_opdesc_set *set, const char *arch, ln_text *text);

// Markdown: one section per operator. (opdesc_docs.c)
void ln_opdesc_print_docs(const ln_opdesc_set *set, ln_text *text);

LN_CPPEND

#endif
