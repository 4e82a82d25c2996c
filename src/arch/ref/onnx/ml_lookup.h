// SPDX-License-Identifier: Apache-2.0
// Tables of keys that are strings or numbers, searched by halving: no choice of keys makes it slow.

#ifndef LN_ARCH_REF_ONNX_ML_LOOKUP_H
#define LN_ARCH_REF_ONNX_ML_LOOKUP_H

#include <stdbool.h>

#include <lightnet/call.h>

// NaN equals NaN. Numbers are integers, or else `number` is 0.
typedef struct ln_ml_key {
    const char *string; // NULL: a number
    int64_t number;
    double real;
} ln_ml_key;

typedef struct ln_ml_row {
    ln_ml_key key;
    size_t index;
} ln_ml_row;

typedef struct ln_ml_lookup {
    const ln_ml_row *rows; // ascending
    size_t count;
} ln_ml_lookup;

// Element `index` of a tensor as a key: a string, an integer, or a floating number.
ln_ml_key ln_ml_key_at(const tl_tensor *tensor, size_t index);

// A table of `count` keys in scratch memory. Index `i` belongs to keys[i].
ln_status ln_ml_lookup_make(ln_call *call, const ln_ml_key *keys, size_t count,
                            ln_ml_lookup *out_lookup);

// The same of an array parameter, of strings or of integers.
ln_status ln_ml_lookup_of_param(ln_call *call, const char *name, bool is_string,
                                ln_ml_lookup *out_lookup);

// The index of `key`, the last one if there are several; -1 if it is not there.
int64_t ln_ml_find(const ln_ml_lookup *lookup, ln_ml_key key);

#endif
