/* SPDX-License-Identifier: Apache-2.0 */
/* Easy JSON: JSON as people like to write it. Beyond JSON it has
 *
 *     // comments, to the end of the line, and of this form as well
 *     a comma after the last member
 *     '''
 *     strings over lines, as they are: from the line after the quotes up to the line in front of
 *     those that close, whose line end is no part of it
 *     '''
 */

#ifndef LIGHTNET_EASYJSON_H
#define LIGHTNET_EASYJSON_H

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* Turns the easy JSON file `path` ("-": standard input) into JSON. Members keep their order and
 * numbers their spelling. The caller gives *out_json, which ends with a newline, back with
 * `ln_free`. LN_SYNTAX, and LN_LIMIT for what is too deep or too large, name file, line and
 * column. */
LN_API ln_status ln_easyjson_to_json(const char *path, char **out_json);

LN_CPPEND

#endif
