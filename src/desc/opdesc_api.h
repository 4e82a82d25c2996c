// SPDX-License-Identifier: Apache-2.0
// Operator descriptions to C code, tables and documentation: what the command and the build have of
// this module, and the library does not.
//
// A description file says what an operator takes, gives and demands; `docs/op-description.md` has
// the language. `paths` names the files of one run in order; the first `base_count` of them only
// give bases for inheritance, the others are what text is made from. A path of "-" is standard
// input.
//
// All functions may be called from any thread. On failure *out_text is NULL and the message has
// file, line, column and what would help: LN_SYNTAX or LN_INVALID for a description that is wrong,
// LN_NOT_FOUND for a base, LN_IO for a file, LN_LIMIT, LN_NO_MEMORY. The caller gives *out_text
// back with `ln_free`.

#ifndef LN_DESC_OPDESC_API_H
#define LN_DESC_OPDESC_API_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

// C code with one `ln_op ln_opimpl_<optype>` per description that is not `autogen: false`.
ln_status ln_opdesc_generate(const char *const *paths, size_t path_count, size_t base_count,
                             char **out_text);

// C code that declares those of arch `arch` and lists them, ending with NULL, in
// `ln_op *ln_arch_ops_<arch>[]`. LN_INVALID when `arch` is no C identifier.
ln_status ln_opdesc_generate_table(const char *arch, const char *const *paths, size_t path_count,
                                   size_t base_count, char **out_text);

// Markdown with one section per operator.
ln_status ln_opdesc_generate_docs(const char *const *paths, size_t path_count, size_t base_count,
                                  char **out_text);

LN_CPPEND

#endif
