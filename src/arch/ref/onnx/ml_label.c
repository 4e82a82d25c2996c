// SPDX-License-Identifier: Apache-2.0
// Labels as other labels or as rows with a 1: LabelEncoder, CategoryMapper, OneHotEncoder.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/ml_lookup.h"
#include "op/onnx/ml.h"
#include "op/onnx/param_array.h"
#include "op/prepare.h"
#include "tensor/elem.h"

// ---- OneHotEncoder ----

// What `prepare` makes of the parameters.
typedef struct categories {
    ln_ml_lookup lookup;
    size_t count;
} categories;

static ln_status prepare_ml_one_hot_encoder(ln_call *call, categories *c)
{
    bool is_string = ln_call_in_dtype(call, 0) == TL_STRING;
    return ln_ml_lookup_keep_param(call, is_string ? "cats_strings" : "cats_int64s", is_string,
                                   &c->lookup, &c->count);
}

LN_PREPARE(ln_ref_prepare_ml_one_hot_encoder, categories, prepare_ml_one_hot_encoder)

ln_status ln_ref_ml_one_hot_encoder(ln_call *call)
{
    const categories *c = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    bool is_string = src->dtype == TL_STRING;
    bool needs_one = ln_call_int(call, "zeros") == 0;
    if (dst->len > 0)
        memset(dst->data, 0, tl_tensor_size(dst));
    for (size_t i = 0; i < (size_t)src->len; i++) {
        int64_t at = is_string ? ln_ml_find(&c->lookup, ln_ml_key_at(src, i))
                               : ln_ml_find_number(&c->lookup, ln_elem_int(src, i));
        if (at >= 0)
            ln_elem_set_real(dst, i * c->count + (size_t)at, 1);
        else if (needs_one)
            return ln_call_fail(call, LN_INVALID, "element %zu is in no category", i);
    }
    return LN_OK;
}

// ---- Encoders: keys, and a value for each ----

// What `prepare` makes of the parameters. One list of values is there, that of the output's type;
// the default follows the values.
typedef struct encoder {
    ln_ml_lookup keys;
    size_t count;
    const char *const *strings;
    const int64_t *ints;
    const double *reals;
} encoder;

static ln_status keep_strings(ln_call *call, encoder *e, const char *const *strings,
                              const char *fallback)
{
    const char **all = ln_call_scratch(call, e->count + 1, sizeof *all);
    if (!all)
        return ln_error_status();
    if (e->count)
        memcpy(all, strings, e->count * sizeof *all);
    all[e->count] = fallback;
    return ln_array_keep_strings(call, all, e->count + 1, &e->strings);
}

static ln_status keep_ints(ln_call *call, encoder *e, const int64_t *ints, int64_t fallback)
{
    int64_t *all = ln_call_keep(call, e->count + 1, sizeof *all);
    if (!all)
        return ln_error_status();
    if (e->count)
        memcpy(all, ints, e->count * sizeof *all);
    all[e->count] = fallback;
    e->ints = all;
    return LN_OK;
}

static ln_status keep_reals(ln_call *call, encoder *e, const double *reals, double fallback)
{
    double *all = ln_call_keep(call, e->count + 1, sizeof *all);
    if (!all)
        return ln_error_status();
    if (e->count)
        memcpy(all, reals, e->count * sizeof *all);
    all[e->count] = fallback;
    e->reals = all;
    return LN_OK;
}

ln_status ln_ref_ml_encode(ln_call *call)
{
    const encoder *e = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    for (size_t i = 0; i < (size_t)src->len; i++) {
        int64_t found = src->dtype == TL_INT64
                            ? ln_ml_find_number(&e->keys, ((const int64_t *)src->data)[i])
                            : ln_ml_find(&e->keys, ln_ml_key_at(src, i));
        size_t at = found < 0 ? e->count : (size_t)found;
        if (e->ints)
            ln_elem_set_int(dst, i, e->ints[at]);
        else if (e->reals)
            ln_elem_set_real(dst, i, e->reals[at]);
        else
            LN_TRY(ln_call_set_string(call, 0, i, e->strings[at], strlen(e->strings[at])));
    }
    return LN_OK;
}

// ---- CategoryMapper ----

static ln_status prepare_ml_category_mapper(ln_call *call, encoder *e)
{
    const char *const *strings;
    const int64_t *numbers;
    size_t number_count;
    LN_TRY(ln_array_strings(call, "cats_strings", &e->count, &strings));
    LN_TRY(ln_array_ints(call, "cats_int64s", &number_count, &numbers));
    if (e->count != number_count)
        return ln_call_fail(call, LN_INVALID, "%zu strings for %zu numbers", e->count,
                            number_count);
    bool is_string = ln_call_in_dtype(call, 0) == TL_STRING;
    size_t count;
    LN_TRY(ln_ml_lookup_keep_param(call, is_string ? "cats_strings" : "cats_int64s", is_string,
                                   &e->keys, &count));
    return is_string ? keep_ints(call, e, numbers, ln_call_int(call, "default_int64"))
                     : keep_strings(call, e, strings, ln_call_string(call, "default_string"));
}

LN_PREPARE(ln_ref_prepare_ml_category_mapper, encoder, prepare_ml_category_mapper)

// ---- LabelEncoder ----

// Values of the attributes `values_tensor` and `default_tensor`, of which one may be missing.
static ln_status keep_tensor_values(ln_call *call, encoder *e, const tl_tensor *values,
                                    const tl_tensor *fallback)
{
    tl_dtype dtype = values->dtype;
    e->count = (size_t)values->len;
    if (dtype == TL_STRING)
        return keep_strings(call, e, values->data,
                            fallback ? *(const char *const *)fallback->data
                                     : ln_call_string(call, "default_string"));
    if (LN_TYPE(dtype) & LN_TYPES_FLOAT) {
        double *reals = ln_call_scratch(call, e->count + 1, sizeof *reals);
        if (!reals)
            return ln_error_status();
        for (size_t i = 0; i < e->count; i++)
            reals[i] = ln_elem_real(values, i);
        return keep_reals(call, e, reals,
                          fallback ? ln_elem_real(fallback, 0)
                                   : ln_call_float(call, "default_float"));
    }
    int64_t *ints = ln_call_scratch(call, e->count + 1, sizeof *ints);
    if (!ints)
        return ln_error_status();
    for (size_t i = 0; i < e->count; i++)
        ints[i] = ln_elem_int(values, i);
    return keep_ints(call, e, ints,
                     fallback ? ln_elem_int(fallback, 0) : ln_call_int(call, "default_int64"));
}

static ln_status keep_values(ln_call *call, tl_dtype dtype, encoder *e)
{
    const tl_tensor *values = ln_call_in_named(call, "values_tensor");
    const tl_tensor *fallback = ln_call_in_named(call, "default_tensor");
    if (fallback && (fallback->len != 1 || fallback->dtype != dtype))
        return ln_call_fail(call, LN_INVALID, "`default_tensor` is not one element of type %s",
                            tl_dtype_title(dtype));
    if (values)
        return keep_tensor_values(call, e, values, fallback);
    if (dtype == TL_STRING) {
        const char *const *strings;
        LN_TRY(ln_array_strings(call, "values_strings", &e->count, &strings));
        return keep_strings(call, e, strings,
                            fallback ? *(const char *const *)fallback->data
                                     : ln_call_string(call, "default_string"));
    }
    if (dtype == TL_INT64) {
        const int64_t *ints;
        LN_TRY(ln_array_ints(call, "values_int64s", &e->count, &ints));
        return keep_ints(call, e, ints,
                         fallback ? ln_elem_int(fallback, 0) : ln_call_int(call, "default_int64"));
    }
    const double *reals;
    LN_TRY(ln_array_reals(call, "values_floats", NULL, &e->count, &reals));
    return keep_reals(call, e, reals,
                      fallback ? ln_elem_real(fallback, 0) : ln_call_float(call, "default_float"));
}

// The keys as a table, and their number checked against that of the values.
static ln_status keep_keys(ln_call *call, tl_dtype dtype, encoder *e)
{
    const tl_tensor *tensor = ln_call_in_named(call, "keys_tensor");
    size_t count;
    if (tensor && tensor->dtype != dtype)
        return ln_call_fail(call, LN_INVALID, "keys of type %s for an input of %s",
                            tl_dtype_title(tensor->dtype), tl_dtype_title(dtype));
    if (!tensor && dtype == TL_STRING) {
        LN_TRY(ln_ml_lookup_keep_param(call, "keys_strings", true, &e->keys, &count));
    } else if (!tensor && dtype == TL_INT64) {
        LN_TRY(ln_ml_lookup_keep_param(call, "keys_int64s", false, &e->keys, &count));
    } else {
        const double *reals;
        LN_TRY(ln_array_reals(call, "keys_floats", NULL, &count, &reals));
        count = tensor ? (size_t)tensor->len : count;
        ln_ml_key *keys = ln_call_scratch(call, count + 1, sizeof *keys);
        if (!keys)
            return ln_error_status();
        for (size_t i = 0; i < count; i++)
            keys[i] = tensor ? ln_ml_key_at(tensor, i) : (ln_ml_key){.real = reals[i]};
        LN_TRY(ln_ml_lookup_keep(call, keys, count, &e->keys));
    }
    if (count != e->count)
        return ln_call_fail(call, LN_INVALID, "%zu keys of type %s for %zu values", count,
                            tl_dtype_title(dtype), e->count);
    return LN_OK;
}

// Version 1: strings and their positions in one list.
static ln_status keep_positions(ln_call *call, tl_dtype dtype, encoder *e)
{
    const char *const *strings;
    LN_TRY(ln_array_strings(call, "classes_strings", &e->count, &strings));
    int64_t *positions = ln_call_scratch(call, e->count + 1, sizeof *positions);
    ln_ml_key *keys = ln_call_scratch(call, e->count + 1, sizeof *keys);
    if (!positions || !keys)
        return ln_error_status();
    bool is_string = dtype == TL_STRING;
    for (size_t i = 0; i < e->count; i++) {
        positions[i] = (int64_t)i;
        keys[i] = is_string ? (ln_ml_key){.string = strings[i]} : (ln_ml_key){.number = (int64_t)i};
    }
    LN_TRY(ln_ml_lookup_keep(call, keys, e->count, &e->keys));
    return is_string ? keep_ints(call, e, positions, ln_call_int(call, "default_int64"))
                     : keep_strings(call, e, strings, ln_call_string(call, "default_string"));
}

static ln_status prepare_ml_label_encoder(ln_call *call, encoder *e)
{
    tl_dtype dtype = ln_call_in_dtype(call, 0);
    if (ln_call_since(call) < 2)
        return keep_positions(call, dtype, e);
    tl_dtype values; // that of an output of strings is known in a run only
    LN_TRY(ln_ml_label_dtype(call, &values));
    LN_TRY(keep_values(call, values, e));
    return keep_keys(call, dtype, e);
}

LN_PREPARE(ln_ref_prepare_ml_label_encoder, encoder, prepare_ml_label_encoder)
