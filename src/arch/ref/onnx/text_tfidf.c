// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: the n-grams of the pool are the paths of a trie, so that each window of the
// input is found as it grows.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/ml_lookup.h"
#include "op/onnx/param_array.h"
#include "op/prepare.h"
#include "tensor/elem.h"

// What `prepare` makes of the parameters. Node 0 is the root, node i + 1 the path of item i alone.
typedef struct vectorizer {
    size_t least, most; // lengths of n-grams that count
    size_t skips;
    ln_ml_lookup items;    // distinct ones of the pool
    ln_ml_lookup children; // of a node with an item: key_of_child
    size_t *nodes;         // of each child
    int64_t *places;       // of each node in a row of the result; -1: its path does not count
    bool is_weighted, is_idf;
    const double *weights;
    size_t weight_count;
} vectorizer;

static ln_ml_key key_of_child(size_t node, size_t item)
{
    return (ln_ml_key){.number = (int64_t)((uint64_t)node << 32 | item)};
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

static ln_status read_weights(ln_call *call, vectorizer *v)
{
    const char *mode = ln_call_string(call, "mode");
    bool is_tf = strcmp(mode, "TF") == 0;
    v->is_idf = strcmp(mode, "IDF") == 0;
    if (!is_tf && !v->is_idf && strcmp(mode, "TFIDF") != 0)
        return ln_call_fail(call, LN_INVALID, "mode \"%s\" is none of TF, IDF, TFIDF", mode);
    LN_TRY(ln_array_keep_reals(call, "weights", NULL, &v->weight_count, &v->weights));
    v->is_weighted = !is_tf && v->weight_count > 0;
    return LN_OK;
}

// *out_pool = the items of all n-grams, one after another.
static ln_status read_pool(ln_call *call, bool wants_strings, size_t *out_count,
                           ln_ml_key **out_pool)
{
    *out_count = 0;
    *out_pool = NULL;
    size_t number_count, string_count;
    const int64_t *numbers;
    const char *const *strings;
    LN_TRY(ln_array_ints(call, "pool_int64s", &number_count, &numbers));
    LN_TRY(ln_array_strings(call, "pool_strings", &string_count, &strings));
    size_t count = wants_strings ? string_count : number_count;
    if ((wants_strings ? number_count : string_count) > 0 || count == 0)
        return ln_call_fail(call, LN_INVALID,
                            "a pool of %zu numbers and %zu strings for an input of %s",
                            number_count, string_count, wants_strings ? "strings" : "numbers");
    ln_ml_key *pool = ln_call_scratch(call, count, sizeof *pool);
    if (!pool)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        pool[i] =
            wants_strings ? (ln_ml_key){.string = strings[i]} : (ln_ml_key){.number = numbers[i]};
    *out_count = count;
    *out_pool = pool;
    return LN_OK;
}

// ---- The trie ----

typedef struct gram {
    size_t start, len; // in the pool
    size_t node;       // of its path so far
    int64_t place;     // in a row of the result
} gram;

// Divides the pool into n-grams, of which those with a length that counts are kept, short ones
// first.
static ln_status read_grams(ln_call *call, const vectorizer *v, size_t pool_count, gram *grams,
                            size_t *out_count)
{
    size_t start_count, index_count, id = 0;
    const int64_t *starts, *indexes;
    *out_count = 0;
    LN_TRY(ln_array_ints(call, "ngram_counts", &start_count, &starts));
    LN_TRY(ln_array_ints(call, "ngram_indexes", &index_count, &indexes));
    if (v->most > start_count || v->least > v->most)
        return ln_call_fail(call, LN_INVALID,
                            "n-grams of %zu to %zu elements, and a pool for those up to %zu",
                            v->least, v->most, start_count);
    for (size_t n = 1; n <= start_count; n++) {
        int64_t start = starts[n - 1], end = n < start_count ? starts[n] : (int64_t)pool_count;
        if (start < 0 || end < start || end > (int64_t)pool_count || (size_t)(end - start) % n != 0)
            return ln_call_fail(
                call, LN_INVALID,
                "the n-grams of %zu elements are from %lld to %lld in a pool of %zu", n,
                (long long)start, (long long)end, pool_count);
        for (size_t at = (size_t)start; at < (size_t)end; at += n, id++) {
            if (id >= index_count)
                return ln_call_fail(call, LN_INVALID, "more n-grams than %zu indexes", index_count);
            if (n >= v->least && n <= v->most)
                grams[(*out_count)++] = (gram){.start = at, .len = n, .place = indexes[id]};
        }
    }
    return LN_OK;
}

// Paths of all n-grams longer than `depth` grow by an item; new nodes follow *node_count, and their
// keys and numbers go to the end of `keys` and v->nodes.
static ln_status grow(ln_call *call, vectorizer *v, const ln_ml_key *pool, gram *grams,
                      size_t gram_count, size_t depth, ln_ml_key *keys, size_t *key_count,
                      size_t *node_count)
{
    ln_ml_row *rows = ln_call_scratch(call, gram_count + 1, sizeof *rows);
    if (!rows)
        return ln_error_status();
    for (size_t i = 0; i < gram_count; i++) {
        size_t item = (size_t)ln_ml_find(&v->items, pool[grams[i].start + depth]);
        rows[i] = (ln_ml_row){key_of_child(grams[i].node, item), i};
    }
    ln_ml_sort_rows(rows, gram_count);
    for (size_t i = 0; i < gram_count; i++) {
        if (i == 0 || rows[i].key.number != rows[i - 1].key.number) {
            keys[*key_count] = rows[i].key;
            v->nodes[(*key_count)++] = (*node_count)++;
        }
        grams[rows[i].index].node = *node_count - 1;
    }
    return LN_OK;
}

static ln_status build_trie(ln_call *call, vectorizer *v, const ln_ml_key *pool, size_t pool_count)
{
    gram *grams = ln_call_scratch(call, pool_count, sizeof *grams);
    ln_ml_key *keys = ln_call_scratch(call, pool_count, sizeof *keys);
    v->nodes = ln_call_keep(call, pool_count, sizeof *v->nodes);
    v->places = ln_call_keep(call, 2 * pool_count + 1, sizeof *v->places);
    if (!grams || !keys || !v->nodes || !v->places)
        return ln_error_status();
    size_t gram_count, key_count = 0, node_count = pool_count + 1, first = 0;
    LN_TRY(read_grams(call, v, pool_count, grams, &gram_count));
    LN_TRY(ln_ml_lookup_keep(call, pool, pool_count, &v->items));
    for (size_t i = 0; i < gram_count; i++)
        grams[i].node = (size_t)ln_ml_find(&v->items, pool[grams[i].start]) + 1;
    for (size_t depth = 1; first < gram_count; depth++) {
        while (first < gram_count && grams[first].len <= depth)
            first++;
        LN_TRY(grow(call, v, pool, grams + first, gram_count - first, depth, keys, &key_count,
                    &node_count));
    }
    for (size_t i = 0; i < node_count; i++)
        v->places[i] = -1;
    for (size_t i = 0; i < gram_count; i++)
        v->places[grams[i].node] = grams[i].place;
    return ln_ml_lookup_keep(call, keys, key_count, &v->children);
}

static ln_status prepare_tf_idf_vectorizer(ln_call *call, vectorizer *v)
{
    LN_TRY(read_length(call, "min_gram_length", 1, &v->least));
    LN_TRY(read_length(call, "max_gram_length", 1, &v->most));
    LN_TRY(read_length(call, "max_skip_count", 0, &v->skips));
    LN_TRY(read_weights(call, v));
    size_t pool_count;
    ln_ml_key *pool;
    LN_TRY(read_pool(call, ln_call_in_dtype(call, 0) == TL_STRING, &pool_count, &pool));
    return build_trie(call, v, pool, pool_count);
}

LN_PREPARE(ln_ref_prepare_tf_idf_vectorizer, vectorizer, prepare_tf_idf_vectorizer)

// ---- Counting ----

// Of one row.
typedef struct counter {
    double *counts;  // of each place
    size_t *touched; // places whose count is not 0
    size_t touched_count;
} counter;

static inline void count_place(counter *c, size_t place)
{
    if (c->counts[place]++ == 0)
        c->touched[c->touched_count++] = place;
}

// Windows of up to `most` elements that are `distance` apart; those of one element count once,
// since they are the same at every distance. `items` are numbers of items, -1 for those that the
// pool does not have.
static ln_status count_row(ln_call *call, const vectorizer *v, const int64_t *items, size_t len,
                           counter *c)
{
    enum { CHARGED = 256 }; // starts at once
    double windows = (double)(v->most < len ? v->most : len);
    for (size_t distance = 1; distance <= v->skips + 1; distance++) {
        size_t least = distance == 1 || v->least > 1 ? v->least : 2;
        if (distance > 1 && distance >= len)
            return LN_OK;
        for (size_t start = 0; start < len; start++) {
            size_t left = len - start;
            if (start % CHARGED == 0)
                LN_TRY(ln_call_charge(call, windows * (double)(left < CHARGED ? left : CHARGED)));
            size_t node = 0, n = 0;
            for (size_t at = start; at < len && n < v->most && items[at] >= 0; at += distance) {
                size_t item = (size_t)items[at];
                int64_t child =
                    n == 0 ? 0 : ln_ml_find_number(&v->children, key_of_child(node, item).number);
                if (child < 0)
                    break;
                node = n == 0 ? item + 1 : v->nodes[child];
                if (++n >= least && v->places[node] >= 0)
                    count_place(c, (size_t)v->places[node]);
            }
        }
    }
    return LN_OK;
}

// The row that starts at `start`; counts are zeros again.
static void write_row(const vectorizer *v, counter *c, size_t width, tl_tensor *dst, size_t start)
{
    // A weight times 0 may be -0 or NaN.
    for (size_t i = 0; v->is_weighted && i < width; i++)
        ln_elem_set_real(dst, start + i,
                         v->weights[i] * (v->is_idf ? c->counts[i] > 0 : c->counts[i]));
    for (size_t k = 0; k < c->touched_count; k++) {
        size_t place = c->touched[k];
        if (!v->is_weighted)
            ln_elem_set_real(dst, start + place, v->is_idf ? 1 : c->counts[place]);
        c->counts[place] = 0;
    }
    c->touched_count = 0;
}

static inline int64_t find_item(const vectorizer *v, const tl_tensor *src, size_t at)
{
    return src->dtype == TL_STRING ? ln_ml_find(&v->items, ln_ml_key_at(src, at))
                                   : ln_ml_find_number(&v->items, ln_elem_int(src, at));
}

ln_status ln_ref_tf_idf_vectorizer(ln_call *call)
{
    const vectorizer *v = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    size_t rows = src->ndim == 2 ? (size_t)src->dims[0] : 1;
    size_t len = rows ? (size_t)src->len / rows : 0, width = (size_t)dst->dims[dst->ndim - 1];
    int64_t *items = ln_call_scratch(call, len + 1, sizeof *items);
    counter c = {.counts = ln_call_scratch(call, width + 1, sizeof *c.counts),
                 .touched = ln_call_scratch(call, width + 1, sizeof *c.touched)};
    if (!items || !c.counts || !c.touched)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    if (v->is_weighted && v->weight_count < width && dst->len > 0)
        return ln_call_fail(call, LN_INVALID, "%zu weights for %zu places", v->weight_count, width);
    if (dst->len > 0)
        memset(dst->data, 0, tl_tensor_size(dst));
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < len; i++)
            items[i] = find_item(v, src, r * len + i);
        LN_TRY(count_row(call, v, items, len, &c));
        write_row(v, &c, width, dst, r * width);
    }
    return LN_OK;
}
