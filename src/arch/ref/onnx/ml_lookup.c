// SPDX-License-Identifier: Apache-2.0
// Tables of keys that are strings or numbers.

#include "arch/ref/onnx/ml_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "arch/ref/onnx/param_array.h"
#include "tensor/elem.h"

// NaN is more than all others.
static int compare_reals(double a, double b)
{
    bool a_is_nan = a != a, b_is_nan = b != b;
    if (a_is_nan || b_is_nan)
        return a_is_nan - b_is_nan;
    return (a > b) - (a < b);
}

static int compare_keys(const ln_ml_key *a, const ln_ml_key *b)
{
    if (a->string && b->string)
        return strcmp(a->string, b->string);
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return compare_reals(a->real, b->real);
}

static int compare_rows(const void *left, const void *right)
{
    const ln_ml_row *a = left, *b = right;
    int order = compare_keys(&a->key, &b->key);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

ln_ml_key ln_ml_key_at(const tl_tensor *tensor, size_t index)
{
    if (tensor->dtype == TL_STRING) {
        const char *string = ((const char *const *)tensor->data)[index];
        return (ln_ml_key){.string = string ? string : ""};
    }
    if (LN_TYPE(tensor->dtype) & LN_TYPES_FLOAT)
        return (ln_ml_key){.real = ln_elem_real(tensor, index)};
    return (ln_ml_key){.number = ln_elem_int(tensor, index)};
}

ln_status ln_ml_lookup_make(ln_call *call, const ln_ml_key *keys, size_t count,
                            ln_ml_lookup *out_lookup)
{
    ln_ml_row *rows = ln_call_scratch(call, count + 1, sizeof *rows);
    if (!rows)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        rows[i] = (ln_ml_row){keys[i], i};
    qsort(rows, count, sizeof *rows, compare_rows);
    *out_lookup = (ln_ml_lookup){rows, count};
    return LN_OK;
}

ln_status ln_ml_lookup_of_param(ln_call *call, const char *name, bool is_string,
                                ln_ml_lookup *out_lookup)
{
    size_t count = 0;
    const char *const *strings = NULL;
    const int64_t *numbers = NULL;
    if (is_string)
        LN_TRY(ln_ref_param_strings(call, name, &count, &strings));
    else
        LN_TRY(ln_ref_param_ints(call, name, &count, &numbers));
    ln_ml_key *keys = ln_call_scratch(call, count + 1, sizeof *keys);
    if (!keys)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        keys[i] = is_string ? (ln_ml_key){.string = strings[i]} : (ln_ml_key){.number = numbers[i]};
    return ln_ml_lookup_make(call, keys, count, out_lookup);
}

int64_t ln_ml_find(const ln_ml_lookup *lookup, ln_ml_key key)
{
    // The first row that is beyond the key; the one before it is the last that may be equal.
    size_t low = 0, high = lookup->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&lookup->rows[middle].key, &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || compare_keys(&lookup->rows[low - 1].key, &key) != 0)
        return -1;
    return (int64_t)lookup->rows[low - 1].index;
}
