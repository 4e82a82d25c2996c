// SPDX-License-Identifier: Apache-2.0
// The words that string parameters of operators take, and the least numbers, for rules, which set
// parameters before there is an operator that could refuse them.

#ifndef LN_OP_OP_WORDS_H
#define LN_OP_OP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/op.h>

// How many bytes a message about a word needs at most.
#define LN_OP_WORDS_BYTES 640

// Whether an operator made from `op_arg`, a prototype's, takes `word` for its string parameter
// `param`. True as well where the list has no words of that parameter; *out_is_listed, which may be
// NULL, is false then.
bool ln_op_takes_word(const ln_op_arg *op_arg, const char *param, const char *word,
                      bool *out_is_listed);

// For a word that is not taken: "; did you mean 'relu'?", or else "; known: none, relu". Written to
// `buffer`, which is returned.
const char *ln_op_word_hint(const ln_op_arg *op_arg, const char *param, const char *word,
                            char buffer[LN_OP_WORDS_BYTES]);

// Calls `take` with each word that the list has of the parameter; none where it has none.
typedef void (*ln_op_word_func)(void *user, const char *word);
void ln_op_each_word(const ln_op_arg *op_arg, const char *param, ln_op_word_func take, void *user);

// Whether the number, or each one of the array, that an operator takes for its parameter has a
// least value, whatever its operands are. *out_least receives it.
bool ln_op_least_number(const ln_op_arg *op_arg, const char *param, double *out_least);

#endif
