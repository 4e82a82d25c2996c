// SPDX-License-Identifier: Apache-2.0
// Arrays out of text files of numbers, as people export them.

#ifndef LN_CLI_NUMBER_TEXT_H
#define LN_CLI_NUMBER_TEXT_H

#include <stddef.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>

// Words of a file that were noticed: how many, and the first of them.
typedef struct word_note {
    size_t count;
    int line;
    char word[32]; // cut, if longer
} word_note;

// What the text held besides its numbers.
typedef struct number_notes {
    word_note no_numbers; // words that were passed over
    word_note unfit;      // numbers that the type cannot hold, which became the nearest that it can
} number_notes;

// The numbers of the text `text`, which has `len` bytes and a NUL after them and is changed, as a
// tensor of one dimension; `dtype` is TL_FLOAT or TL_INT8. Freed with tl_tensor_free_data_too.
ln_status numbers_parse(char *text, size_t len, tl_dtype dtype, tl_tensor **out_tensor,
                        number_notes *out_notes);

#endif
