// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators on strings, and how strings are split, which shapes depend on.

#ifndef LN_OP_ONNX_TEXT_H
#define LN_OP_ONNX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/call.h>

// Goes through the parts of a string.
typedef struct ln_splitter {
    const char *rest;      // NULL: no more parts
    const char *delimiter; // "": white space
    int64_t cuts;          // that are left; negative: any number
} ln_splitter;

// Parts of `string` by the parameters of StringSplit. NULL is the empty string.
ln_splitter ln_split_start(const ln_call *call, const char *string);

// The next part; false when there is none.
bool ln_split_next(ln_splitter *splitter, const char **out_part, size_t *out_len);

// Whether StringNormalizer removes `string`.
bool ln_is_stop_word(const ln_call *call, const char *string);

#endif
