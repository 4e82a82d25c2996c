// SPDX-License-Identifier: Apache-2.0
// Labels as other labels or as rows with a 1: LabelEncoder, CategoryMapper, OneHotEncoder.

#include <string.h>

#include "arch/ref/onnx/ml.h"
#include "arch/ref/onnx/ml_lookup.h"
#include "arch/ref/onnx/param_array.h"
#include "tensor/elem.h"

static ln_status set_string(ln_call *call, size_t at, const char *string)
{
    return ln_call_set_string(call, 0, at, string ? string : "", string ? strlen(string) : 0);
}

// ---- OneHotEncoder ----

ln_status ln_ref_ml_one_hot_encoder(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    bool is_string = src->dtype == TL_STRING;
    ln_ml_lookup categories;
    LN_TRY(ln_ml_lookup_of_param(call, is_string ? "cats_strings" : "cats_int64s", is_string,
                                 &categories));
    bool needs_one = ln_call_int(call, "zeros") == 0;
    for (size_t i = 0; i < (size_t)dst->len; i++)
        ln_elem_set_real(dst, i, 0);
    for (size_t i = 0; i < (size_t)src->len; i++) {
        ln_ml_key key =
            is_string ? ln_ml_key_at(src, i) : (ln_ml_key){.number = ln_elem_int(src, i)};
        int64_t place = ln_ml_find(&categories, key);
        if (place >= 0)
            ln_elem_set_real(dst, i * categories.count + (size_t)place, 1);
        else if (needs_one)
            return ln_call_fail(call, LN_INVALID, "element %zu is in no category", i);
    }
    return LN_OK;
}

// ---- CategoryMapper ----

ln_status ln_ref_ml_category_mapper(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    size_t string_count, number_count;
    const char *const *strings;
    const int64_t *numbers;
    LN_TRY(ln_ref_param_strings(call, "cats_strings", &string_count, &strings));
    LN_TRY(ln_ref_param_ints(call, "cats_int64s", &number_count, &numbers));
    if (string_count != number_count)
        return ln_call_fail(call, LN_INVALID, "%zu strings for %zu numbers", string_count,
                            number_count);
    bool is_string = src->dtype == TL_STRING;
    ln_ml_lookup keys;
    LN_TRY(
        ln_ml_lookup_of_param(call, is_string ? "cats_strings" : "cats_int64s", is_string, &keys));
    for (size_t i = 0; i < (size_t)src->len; i++) {
        int64_t at = ln_ml_find(&keys, ln_ml_key_at(src, i));
        if (!is_string)
            LN_TRY(
                set_string(call, i, at < 0 ? ln_call_string(call, "default_string") : strings[at]));
        else
            ln_elem_set_int(ln_call_dst(call, 0), i,
                            at < 0 ? ln_call_int(call, "default_int64") : numbers[at]);
    }
    return LN_OK;
}

// ---- LabelEncoder ----

// What the keys are mapped to: elements of a tensor or of a parameter.
typedef struct values {
    const tl_tensor *tensor,
        *fallback; // NULL: of a parameter; the default: may be NULL in any case
    size_t count;
    const char *const *strings;
    const int64_t *ints;
    const double *reals;
} values;

static ln_status read_values(ln_call *call, tl_dtype dtype, values *out_values)
{
    values *v = out_values;
    *v = (values){.tensor = ln_call_in_named(call, "values_tensor"),
                  .fallback = ln_call_in_named(call, "default_tensor")};
    if (v->fallback && (v->fallback->len != 1 || v->fallback->dtype != dtype))
        return ln_call_fail(call, LN_INVALID, "`default_tensor` is not one element of type %s",
                            tl_dtype_name(dtype));
    if (v->tensor) {
        v->count = (size_t)v->tensor->len;
        return LN_OK;
    }
    if (dtype == TL_STRING)
        return ln_ref_param_strings(call, "values_strings", &v->count, &v->strings);
    if (dtype == TL_INT64)
        return ln_ref_param_ints(call, "values_int64s", &v->count, &v->ints);
    return ln_ref_param_reals(call, "values_floats", NULL, &v->count, &v->reals);
}

// The keys as a table, and their number checked against that of the values.
static ln_status read_keys(ln_call *call, const tl_tensor *src, size_t value_count,
                           ln_ml_lookup *out_keys)
{
    const tl_tensor *tensor = ln_call_in_named(call, "keys_tensor");
    if (tensor && tensor->dtype != src->dtype)
        return ln_call_fail(call, LN_INVALID, "keys of type %s for an input of %s",
                            tl_dtype_name(tensor->dtype), tl_dtype_name(src->dtype));
    if (!tensor && src->dtype == TL_STRING) {
        LN_TRY(ln_ml_lookup_of_param(call, "keys_strings", true, out_keys));
    } else if (!tensor && src->dtype == TL_INT64) {
        LN_TRY(ln_ml_lookup_of_param(call, "keys_int64s", false, out_keys));
    } else {
        size_t count;
        const double *reals;
        LN_TRY(ln_ref_param_reals(call, "keys_floats", NULL, &count, &reals));
        count = tensor ? (size_t)tensor->len : count;
        ln_ml_key *keys = ln_call_scratch(call, count + 1, sizeof *keys);
        if (!keys)
            return ln_error_status();
        for (size_t i = 0; i < count; i++)
            keys[i] = tensor ? ln_ml_key_at(tensor, i) : (ln_ml_key){.real = reals[i]};
        LN_TRY(ln_ml_lookup_make(call, keys, count, out_keys));
    }
    if (out_keys->count != value_count)
        return ln_call_fail(call, LN_INVALID, "%zu keys of type %s for %zu values", out_keys->count,
                            tl_dtype_name(src->dtype), value_count);
    return LN_OK;
}

// Element `i` of the output gets value `at`, or the default if that is negative.
static ln_status set_value(ln_call *call, size_t i, const values *v, int64_t at)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const tl_tensor *from = at < 0 ? v->fallback : v->tensor;
    size_t index = at < 0 ? 0 : (size_t)at;
    if (dst->dtype == TL_STRING) {
        const char *other = at < 0 ? ln_call_string(call, "default_string")
                                   : (v->strings ? v->strings[index] : NULL);
        return set_string(call, i, from ? ((const char *const *)from->data)[index] : other);
    }
    if (LN_TYPE(dst->dtype) & LN_TYPES_FLOAT) {
        double other =
            at < 0 ? ln_call_float(call, "default_float") : (v->reals ? v->reals[index] : 0);
        ln_elem_set_real(dst, i, from ? ln_elem_real(from, index) : other);
        return LN_OK;
    }
    int64_t other = at < 0 ? ln_call_int(call, "default_int64") : (v->ints ? v->ints[index] : 0);
    ln_elem_set_int(dst, i, from ? ln_elem_int(from, index) : other);
    return LN_OK;
}

// Version 1: strings and their places in one list.
static ln_status encode_by_place(ln_call *call, const tl_tensor *src)
{
    size_t count;
    const char *const *strings;
    ln_ml_lookup places;
    LN_TRY(ln_ref_param_strings(call, "classes_strings", &count, &strings));
    LN_TRY(ln_ml_lookup_of_param(call, "classes_strings", true, &places));
    for (size_t i = 0; i < (size_t)src->len; i++) {
        if (src->dtype == TL_STRING) {
            int64_t place = ln_ml_find(&places, ln_ml_key_at(src, i));
            ln_elem_set_int(ln_call_dst(call, 0), i,
                            place < 0 ? ln_call_int(call, "default_int64") : place);
            continue;
        }
        int64_t place = ln_elem_int(src, i);
        bool is_there = place >= 0 && place < (int64_t)count;
        LN_TRY(set_string(call, i,
                          is_there ? strings[place] : ln_call_string(call, "default_string")));
    }
    return LN_OK;
}

ln_status ln_ref_ml_label_encoder(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (ln_call_since(call) < 2)
        return encode_by_place(call, src);
    values v;
    ln_ml_lookup keys;
    LN_TRY(read_values(call, ln_call_dst(call, 0)->dtype, &v));
    LN_TRY(read_keys(call, src, v.count, &keys));
    for (size_t i = 0; i < (size_t)src->len; i++)
        LN_TRY(set_value(call, i, &v, ln_ml_find(&keys, ln_ml_key_at(src, i))));
    return LN_OK;
}
