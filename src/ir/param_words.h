// SPDX-License-Identifier: Apache-2.0
// Words for messages about parameters: names that are near to a wrong one.

#ifndef LN_IR_PARAM_WORDS_H
#define LN_IR_PARAM_WORDS_H

#include <stddef.h>

#include <lightnet/param.h>

// For a text that names none of the choices that parameter `arg_name` has: "; did you mean
// 'TL_MUL'?" or "; known: ...", or "" for parameters whose choices are not known here. In `buffer`,
// of `size` bytes, which is returned. Element types have aliases: float32 is TL_FLOAT.
const char *ln_param_choice_words(const char *arg_name, const char *text, char *buffer,
                                  size_t size);
const char *ln_dtype_words(const char *text, char *buffer, size_t size);

#endif
