// SPDX-License-Identifier: Apache-2.0
// The text of -s: NAME=1x3x224x224, SYMBOL=4, SYMBOL=1..32, or a shape alone.

#ifndef LN_CLI_SHAPE_TEXT_H
#define LN_CLI_SHAPE_TEXT_H

#include <stddef.h>

#include <lightnet/lightnet.h>

// "1x3x224x224" or "1,3,224,224", each perhaps in brackets; "[]" is a scalar. 0: it is none.
int shape_parse(const char *text, int *out_ndim, int dims[TL_MAXDIM]);

// "1..32". 0: it is none.
int shape_parse_range(const char *text, int *out_from, int *out_to);

// The bytes of the name in `text`, 0 if it has none.
size_t shape_name_len(const char *text);

// LN_INVALID, with the form that -s takes.
ln_status shape_fail(const char *text);

// Fails: LN_INVALID if the text is wrong whatever the model is. Several shapes with commas between
// them are wrong only if the last is: what is before the last '=' may be a name.
ln_status shape_check(const char *text);

// Fails: LN_INVALID if the two texts give one name two shapes.
ln_status shape_check_pair(const char *first, const char *second);

#endif
