// SPDX-License-Identifier: Apache-2.0
// Tables of keys that are strings or numbers.

#include "arch/ref/onnx/ml_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "op/onnx/param_array.h"
#include "tensor/elem.h"

// ---- Keys ----

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

// Multiplies by an odd constant and folds the high half, which depends on all bits, into the low
// one.
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

// Equal keys have equal hashes: NaN is one key, and so are both zeros.
static inline uint64_t hash(const ln_ml_key *key)
{
    if (key->string) {
        uint64_t h = 0xcbf29ce484222325u; // FNV-1a
        for (const char *c = key->string; *c; c++)
            h = (h ^ (unsigned char)*c) * 0x100000001b3u;
        return mix(h);
    }
    uint64_t bits = 0;
    if (key->real != key->real)
        bits = 1;
    else if (key->real != 0)
        memcpy(&bits, &key->real, sizeof bits);
    return mix((uint64_t)key->number ^ bits);
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

void ln_ml_sort_rows(ln_ml_row *rows, size_t count)
{
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_rows);
}

// ---- Making a table ----

// Rows with copies of the keys' strings, one after another in one block.
static ln_status keep_rows(ln_call *call, const ln_ml_key *keys, size_t count, ln_ml_row *rows)
{
    if (count == 0 || !keys[0].string) {
        for (size_t i = 0; i < count; i++)
            rows[i] = (ln_ml_row){keys[i], i};
        return LN_OK;
    }
    const char **strings = ln_call_scratch(call, count, sizeof *strings);
    if (!strings)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        strings[i] = keys[i].string;
    const char *const *copies;
    LN_TRY(ln_array_keep_strings(call, strings, count, &copies));
    for (size_t i = 0; i < count; i++)
        rows[i] = (ln_ml_row){{.string = copies[i]}, i};
    return LN_OK;
}

// Deals `given` to their buckets: a counting sort, after which starts[b + 1] is where bucket `b`
// ends. `starts` are zeros.
static void deal_rows(const ln_ml_row *given, size_t count, uint64_t mask, uint32_t *starts,
                      ln_ml_row *rows)
{
    for (size_t i = 0; i < count; i++)
        starts[(hash(&given[i].key) & mask) + 2]++;
    for (size_t b = 2; b <= mask + 1; b++)
        starts[b] += starts[b - 1];
    for (size_t i = 0; i < count; i++)
        rows[starts[(hash(&given[i].key) & mask) + 1]++] = given[i];
    for (size_t b = 0; b <= mask; b++)
        ln_ml_sort_rows(rows + starts[b], starts[b + 1] - starts[b]);
}

ln_status ln_ml_lookup_keep(ln_call *call, const ln_ml_key *keys, size_t count,
                            ln_ml_lookup *out_lookup)
{
    *out_lookup = (ln_ml_lookup){0};
    if (count > INT32_MAX)
        return ln_call_fail(call, LN_LIMIT, "a table of %zu keys", count);
    size_t bucket_count = 1;
    while (bucket_count < count)
        bucket_count *= 2;
    ln_ml_row *given = ln_call_scratch(call, count + 1, sizeof *given);
    ln_ml_row *rows = ln_call_keep(call, count + 1, sizeof *rows);
    uint32_t *starts = ln_call_keep(call, bucket_count + 2, sizeof *starts);
    if (!given || !rows || !starts)
        return ln_error_status();
    LN_TRY(keep_rows(call, keys, count, given));
    deal_rows(given, count, bucket_count - 1, starts, rows);
    *out_lookup = (ln_ml_lookup){rows, starts, bucket_count - 1};
    return LN_OK;
}

ln_status ln_ml_lookup_keep_param(ln_call *call, const char *name, bool is_string,
                                  ln_ml_lookup *out_lookup, size_t *out_count)
{
    const char *const *strings = NULL;
    const int64_t *numbers = NULL;
    if (is_string)
        LN_TRY(ln_array_strings(call, name, out_count, &strings));
    else
        LN_TRY(ln_array_ints(call, name, out_count, &numbers));
    ln_ml_key *keys = ln_call_scratch(call, *out_count + 1, sizeof *keys);
    if (!keys)
        return ln_error_status();
    for (size_t i = 0; i < *out_count; i++)
        keys[i] = is_string ? (ln_ml_key){.string = strings[i]} : (ln_ml_key){.number = numbers[i]};
    return ln_ml_lookup_keep(call, keys, *out_count, out_lookup);
}

// ---- Searching ----

// The end of the rows in [low, high) that are at most `key`.
static size_t upper_bound(const ln_ml_lookup *lookup, size_t low, size_t high, const ln_ml_key *key)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&lookup->rows[middle].key, key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool are_equal(const ln_ml_key *a, const ln_ml_key *b)
{
    if (a->string)
        return strcmp(a->string, b->string) == 0;
    return a->number == b->number &&
           (a->real == b->real || (a->real != a->real && b->real != b->real));
}

int64_t ln_ml_find(const ln_ml_lookup *lookup, ln_ml_key key)
{
    enum { FEW = 4 }; // rows, that need no halving
    size_t bucket = hash(&key) & lookup->mask, start = lookup->starts[bucket];
    size_t end = lookup->starts[bucket + 1];
    if (end - start > FEW) {
        end = upper_bound(lookup, start, end, &key);
        start = end > start ? end - 1 : end; // the last one that may be equal
    }
    for (; end > start; end--) {
        if (are_equal(&lookup->rows[end - 1].key, &key))
            return (int64_t)lookup->rows[end - 1].index;
    }
    return -1;
}

int64_t ln_ml_find_number(const ln_ml_lookup *lookup, int64_t number)
{
    enum { FEW = 4 };
    size_t bucket = mix((uint64_t)number) & lookup->mask, start = lookup->starts[bucket];
    size_t end = lookup->starts[bucket + 1];
    if (end - start > FEW)
        return ln_ml_find(lookup, (ln_ml_key){.number = number});
    for (; end > start; end--) {
        const ln_ml_row *row = &lookup->rows[end - 1];
        if (row->key.number == number)
            return (int64_t)row->index;
    }
    return -1;
}

// The first of the rows in [low, high) that are at least `key`.
static size_t lower_bound(const ln_ml_lookup *lookup, size_t low, size_t high, const ln_ml_key *key)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&lookup->rows[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const ln_ml_row *ln_ml_find_all(const ln_ml_lookup *lookup, ln_ml_key key, size_t *out_count)
{
    size_t bucket = hash(&key) & lookup->mask, end = lookup->starts[bucket + 1];
    size_t first = lower_bound(lookup, lookup->starts[bucket], end, &key);
    *out_count = upper_bound(lookup, first, end, &key) - first;
    return lookup->rows + first;
}
