// SPDX-License-Identifier: Apache-2.0
// Writes the tree of a model as IL text, one operator a line:
//
//     conv2d(src=x, weight=w | dst=y | group=1, size=[3, 3], act=none);
//     act: relu(src=y | dst="a/b:0" |);
//
// A name in front stands where the operator is not called as the parser would call it. Strings and
// names are quoted where a bare word would not do. Parsing the text gives the same tree.

#ifndef LN_SERIAL_IL_IL_PRINT_H
#define LN_SERIAL_IL_IL_PRINT_H

#include "base/value.h"

LN_CPPSTART

// Appends the IL of `model`, a tree of the JSON IR's shape. What compiling adds to a model and can
// find again is left out (the list is in il_print.c and docs/il.md). LN_UNSUPPORTED for other keys
// and for values that IL cannot write, LN_INVALID for what is no model, with the value's place; the
// text is then as before.
ln_status ln_il_print(const ln_value *model, ln_text *text);

LN_CPPEND

#endif
