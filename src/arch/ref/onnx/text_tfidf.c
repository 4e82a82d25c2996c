// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: the n-grams of the pool are sorted by length and items, so that each window of
// the input is found by halving.

#include <stdlib.h>
#include <string.h>

#include "arch/ref/onnx/param_array.h"
#include "arch/ref/onnx/text.h"
#include "tensor/elem.h"

// A number, or a string.
typedef struct item {
    int64_t number;
    const char *string; // NULL: a number
} item;

typedef struct gram {
    const item *items;
    size_t len;
    size_t place; // in a row of the result
} gram;

typedef struct vectorizer {
    ln_call *call;
    size_t least, most; // lengths of n-grams that count
    size_t skips;
    gram *grams; // sorted
    size_t gram_count;
} vectorizer;

static int compare_items(const item *a, const item *b)
{
    if (a->string)
        return strcmp(a->string, b->string);
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_grams(const void *left, const void *right)
{
    const gram *a = left, *b = right;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    for (size_t i = 0; i < a->len; i++) {
        int order = compare_items(&a->items[i], &b->items[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

// ---- Parameters ----

static ln_status read_length(ln_call *call, const char *name, int64_t least, size_t *out_value)
{
    int64_t value = ln_call_int(call, name);
    if (value < least || value > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "%s is %lld", name, (long long)value);
    *out_value = (size_t)value;
    return LN_OK;
}

// *out_pool = the items of all n-grams, one after another.
static ln_status read_pool(ln_call *call, bool wants_strings, size_t *out_count, item **out_pool)
{
    *out_count = 0;
    *out_pool = NULL;
    size_t number_count, string_count;
    const int64_t *numbers;
    const char *const *strings;
    LN_TRY(ln_ref_param_ints(call, "pool_int64s", &number_count, &numbers));
    LN_TRY(ln_ref_param_strings(call, "pool_strings", &string_count, &strings));
    size_t count = wants_strings ? string_count : number_count;
    if ((wants_strings ? number_count : string_count) > 0 || count == 0)
        return ln_call_fail(call, LN_INVALID,
                            "a pool of %zu numbers and %zu strings for an input of %s",
                            number_count, string_count, wants_strings ? "strings" : "numbers");
    item *pool = ln_call_scratch(call, count, sizeof *pool);
    if (!pool)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        pool[i] = wants_strings ? (item){.string = strings[i]} : (item){.number = numbers[i]};
    *out_count = count;
    *out_pool = pool;
    return LN_OK;
}

// Divides the pool into n-grams, of which those with a length that counts are kept.
static ln_status read_grams(vectorizer *v, const item *pool, size_t pool_count)
{
    size_t start_count, index_count, id = 0;
    const int64_t *starts, *indexes;
    LN_TRY(ln_ref_param_ints(v->call, "ngram_counts", &start_count, &starts));
    LN_TRY(ln_ref_param_ints(v->call, "ngram_indexes", &index_count, &indexes));
    if (v->most > start_count || v->least > v->most)
        return ln_call_fail(v->call, LN_INVALID,
                            "n-grams of %zu to %zu elements, and a pool for those up to %zu",
                            v->least, v->most, start_count);
    v->grams = ln_call_scratch(v->call, pool_count, sizeof *v->grams);
    if (!v->grams)
        return ln_error_status();
    for (size_t n = 1; n <= start_count; n++) {
        int64_t start = starts[n - 1], end = n < start_count ? starts[n] : (int64_t)pool_count;
        if (start < 0 || end < start || end > (int64_t)pool_count || (size_t)(end - start) % n != 0)
            return ln_call_fail(
                v->call, LN_INVALID,
                "the n-grams of %zu elements lie from %lld to %lld in a pool of %zu", n,
                (long long)start, (long long)end, pool_count);
        for (size_t at = (size_t)start; at < (size_t)end; at += n, id++) {
            if (id >= index_count)
                return ln_call_fail(v->call, LN_INVALID, "more n-grams than %zu indexes",
                                    index_count);
            if (n >= v->least && n <= v->most)
                v->grams[v->gram_count++] = (gram){pool + at, n, (size_t)indexes[id]};
        }
    }
    qsort(v->grams, v->gram_count, sizeof *v->grams, compare_grams);
    return LN_OK;
}

// ---- Counting ----

static void count_gram(const vectorizer *v, const item *items, size_t len, double *row)
{
    gram wanted = {items, len, 0};
    const gram *found = bsearch(&wanted, v->grams, v->gram_count, sizeof *v->grams, compare_grams);
    if (found)
        row[found->place]++;
}

// Windows of up to `most` elements that lie `distance` apart; those of one element count once,
// since they are the same at every distance.
static ln_status count_row(const vectorizer *v, const item *src, size_t len, item *window,
                           double *row)
{
    for (size_t distance = 1; distance <= v->skips + 1; distance++) {
        size_t least = distance == 1 || v->least > 1 ? v->least : 2;
        if (distance > 1 && distance >= len)
            return LN_OK;
        for (size_t start = 0; start < len; start++) {
            LN_TRY(ln_call_charge(v->call, (double)(v->most < len ? v->most : len)));
            size_t n = 0;
            for (size_t at = start; at < len && n < v->most; at += distance) {
                window[n++] = src[at];
                if (n >= least)
                    count_gram(v, window, n, row);
            }
        }
    }
    return LN_OK;
}

static ln_status write_rows(ln_call *call, const double *counts)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const char *mode = ln_call_string(call, "mode");
    bool is_tf = strcmp(mode, "TF") == 0, is_idf = strcmp(mode, "IDF") == 0;
    if (!is_tf && !is_idf && strcmp(mode, "TFIDF") != 0)
        return ln_call_fail(call, LN_INVALID, "mode \"%s\" is none of TF, IDF, TFIDF", mode);
    size_t weight_count, width = (size_t)dst->dims[dst->ndim - 1];
    const double *weights;
    LN_TRY(ln_ref_param_reals(call, "weights", NULL, &weight_count, &weights));
    for (size_t i = 0; i < (size_t)dst->len; i++) {
        size_t place = i % width;
        if (!is_tf && weight_count > 0 && place >= weight_count)
            return ln_call_fail(call, LN_INVALID, "%zu weights for %zu places", weight_count,
                                width);
        double weight = !is_tf && weight_count > 0 ? weights[place] : 1;
        ln_elem_set_real(dst, i, weight * (is_idf ? counts[i] > 0 : counts[i]));
    }
    return LN_OK;
}

ln_status ln_ref_tf_idf_vectorizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    vectorizer v = {.call = call};
    LN_TRY(read_length(call, "min_gram_length", 1, &v.least));
    LN_TRY(read_length(call, "max_gram_length", 1, &v.most));
    LN_TRY(read_length(call, "max_skip_count", 0, &v.skips));
    size_t pool_count;
    item *pool;
    LN_TRY(read_pool(call, src->dtype == TL_STRING, &pool_count, &pool));
    LN_TRY(read_grams(&v, pool, pool_count));

    item *items = ln_call_scratch(call, (size_t)src->len + 1, sizeof *items);
    item *window = ln_call_scratch(call, v.most, sizeof *window);
    double *counts = ln_call_scratch(call, (size_t)dst->len + 1, sizeof *counts);
    if (!items || !window || !counts)
        return ln_error_status();
    for (size_t i = 0; i < (size_t)src->len; i++) {
        if (src->dtype != TL_STRING) {
            items[i].number = ln_elem_int(src, i);
            continue;
        }
        const char *string = ((const char *const *)src->data)[i];
        items[i].string = string ? string : "";
    }
    size_t rows = src->ndim == 2 ? (size_t)src->dims[0] : 1;
    size_t len = rows ? (size_t)src->len / rows : 0, width = (size_t)dst->dims[dst->ndim - 1];
    for (size_t r = 0; r < rows; r++)
        LN_TRY(count_row(&v, items + r * len, len, window, counts + r * width));
    return write_rows(call, counts);
}
