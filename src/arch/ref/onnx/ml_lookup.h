// SPDX-License-Identifier: Apache-2.0
// Tables of keys that are strings or numbers: hash tables with sorted buckets, so that no choice of
// keys makes a search slower than halving all of them.

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
    const ln_ml_row *rows;  // by bucket, ascending in each
    const uint32_t *starts; // of the buckets among the rows, and the end of the last one
    uint64_t mask;          // of a hash: its bucket
} ln_ml_lookup;

// Element `index` of a tensor as a key: a string, an integer, or a floating number.
ln_ml_key ln_ml_key_at(const tl_tensor *tensor, size_t index);

// In `prepare`: a table of `count` keys, with copies of their strings. Index `i` belongs to
// keys[i].
ln_status ln_ml_lookup_keep(ln_call *call, const ln_ml_key *keys, size_t count,
                            ln_ml_lookup *out_lookup);

// The same of an array parameter, of strings or of integers; *out_count is its length.
ln_status ln_ml_lookup_keep_param(ln_call *call, const char *name, bool is_string,
                                  ln_ml_lookup *out_lookup, size_t *out_count);

// The index of `key`, the last one if there are several; -1 if it is not there.
int64_t ln_ml_find(const ln_ml_lookup *lookup, ln_ml_key key);

// The same in a table of integers.
int64_t ln_ml_find_number(const ln_ml_lookup *lookup, int64_t number);

// All rows with `key`: returns the first of *out_count.
const ln_ml_row *ln_ml_find_all(const ln_ml_lookup *lookup, ln_ml_key key, size_t *out_count);

// Sorts rows by key, then by index.
void ln_ml_sort_rows(ln_ml_row *rows, size_t count);

#endif
