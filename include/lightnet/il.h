/* SPDX-License-Identifier: Apache-2.0 */
/* IL, the language in which models are written by hand (docs/il.md). */

#ifndef LIGHTNET_IL_H
#define LIGHTNET_IL_H

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* Turns an IL file ("-": standard input) into JSON IR text, without looking at what the operators
 * are. The caller frees *out_json with `ln_free`. Errors name file, line and column. */
LN_API ln_status ln_il_to_json(const char *path, char **out_json);

LN_CPPEND

#endif
