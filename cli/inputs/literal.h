// SPDX-License-Identifier: Apache-2.0
// Values of inputs in words: 16000, [1, 2, 3], true, fill:0.5.

#ifndef LN_CLI_INPUTS_LITERAL_H
#define LN_CLI_INPUTS_LITERAL_H

#include "input_file.h"

// Whether the text is written as such a value.
int literal_is(const char *text);

// What is wrong with a text that is meant as one, such as "[[1,2],[3]]"; in `buffer` of `size`
// bytes. NULL for what may be the name of a file.
const char *literal_fault(const char *text, char *buffer, size_t size);

// The value in the type that the input takes. A number alone fills a tensor of one element, a list
// has its own shape, and fill: takes that of the input, which has to be known. LN_INVALID if the
// type does not hold a number, or lists differ in length.
ln_status literal_parse(const char *text, const input_wish *wish, ln_object **out_object);

#endif
