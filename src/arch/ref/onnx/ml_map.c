// SPDX-License-Identifier: Apache-2.0
// Maps: CastMap and DictVectorizer make tensors of them, ZipMap makes them.

#include "arch/ref/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/ref/onnx/ml_lookup.h"
#include "arch/ref/onnx/pieces.h"
#include "arch/ref/onnx/quant_text.h"
#include "op/onnx/ml.h"
#include "op/onnx/param_array.h"
#include "op/prepare.h"
#include "tensor/elem.h"
#include "tensor/object.h"

// *out_keys, *out_values = the tensors of the map that is input 0.
static ln_status get_map(ln_call *call, const tl_tensor **out_keys, const tl_tensor **out_values)
{
    ln_object *map = ln_call_object(call, 0);
    if (!map || ln_object_get_kind(map) != LN_OBJECT_MAP)
        return ln_call_fail(call, LN_INVALID, "the input is not a map");
    *out_keys = ln_object_tensor(ln_object_item(map, 0));
    *out_values = ln_object_tensor(ln_object_item(map, 1));
    if (!*out_keys || !*out_values || (*out_keys)->len != (*out_values)->len)
        return ln_call_fail(call, LN_INVALID, "the map is not two tensors of one length");
    return LN_OK;
}

// An array of one row; NULL with a recorded failure.
static ln_object *row_object(ln_call *call, tl_dtype dtype, int64_t count)
{
    if (count < 0 || count > INT32_MAX) {
        (void)ln_call_fail(call, LN_LIMIT, "a row of %lld elements", (long long)count);
        return NULL;
    }
    int dims[] = {1, (int)count};
    return ln_object_new_tensor(dtype, 2, dims, ln_call_meter(call));
}

// Output 0 = `object`, which is released, unless `status` is a failure.
static ln_status give(ln_call *call, ln_object *object, ln_status status)
{
    if (status == LN_OK)
        status = ln_call_set_object(call, 0, object);
    ln_object_release(object);
    return status;
}

static const char *string_at(const tl_tensor *tensor, size_t index)
{
    const char *string = ((const char *const *)tensor->data)[index];
    return string ? string : "";
}

// ---- CastMap ----

typedef enum cast { CAST_TO_FLOAT, CAST_TO_INT64, CAST_TO_STRING } cast;

// With six digits after a point, whatever the locale has in its place. Returns the length.
static size_t fixed_text(double x, char *text, size_t size)
{
    enum { FRACTION = 6 };
    size_t len = (size_t)snprintf(text, size, "%.*f", FRACTION, x);
    if (!isfinite(x))
        return len;
    size_t whole = strspn(text, "-0123456789");
    text[whole] = '.';
    memmove(text + whole + 1, text + len - FRACTION, FRACTION + 1);
    return whole + 1 + FRACTION;
}

static ln_status read_number(ln_call *call, const char *text, double *out_number)
{
    if (ln_real_from_text(text, out_number))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "the value '%.40s' of the map is no number", text);
}

// Element `to` of the result = element `from` of the values.
static ln_status cast_element(ln_call *call, ln_object *result, size_t to, const tl_tensor *values,
                              size_t from)
{
    enum { NUMBER_ROOM = 400 };
    tl_tensor *dst = ln_object_tensor(result);
    bool is_string = values->dtype == TL_STRING;
    if (dst->dtype == TL_STRING) {
        char number[NUMBER_ROOM];
        if (is_string)
            return ln_object_set_string(result, to, string_at(values, from),
                                        strlen(string_at(values, from)));
        size_t len = fixed_text(ln_elem_real(values, from), number, sizeof number);
        return ln_object_set_string(result, to, number, len);
    }
    double number = is_string ? 0 : ln_elem_real(values, from);
    bool is_negative;
    uint64_t bits;
    if (is_string && dst->dtype == TL_INT64 &&
        ln_whole_from_text(string_at(values, from), &is_negative, &bits) &&
        (is_negative || bits <= INT64_MAX)) {
        ln_elem_set_int(dst, to, (int64_t)bits);
        return LN_OK;
    }
    if (is_string)
        LN_TRY(read_number(call, string_at(values, from), &number));
    ln_elem_set_real(dst, to, number);
    return LN_OK;
}

static ln_status read_name(ln_call *call, const char *param, const char *const *names, int count,
                           int *out_index)
{
    const char *name = ln_call_string(call, param);
    for (*out_index = 0; *out_index < count; (*out_index)++) {
        if (strcmp(name, names[*out_index]) == 0)
            return LN_OK;
    }
    return ln_call_fail(call, LN_INVALID, "%s \"%s\" is not known", param, name);
}

static ln_status cast_all(ln_call *call, ln_object *result, const tl_tensor *keys,
                          const tl_tensor *values, bool is_sparse)
{
    size_t count = (size_t)keys->len;
    ln_ml_row *sorted = ln_call_scratch(call, count + 1, sizeof *sorted);
    if (!sorted)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        sorted[i] = (ln_ml_row){ln_ml_key_at(keys, i), i};
    ln_ml_sort_rows(sorted, count);
    // Places without a value: empty strings are there already, numbers are 0.
    for (size_t i = 0; i < count; i++) {
        int64_t place = is_sparse ? sorted[i].key.number : (int64_t)i;
        if (place < 0 || place >= ln_object_tensor(result)->len)
            return ln_call_fail(call, LN_INVALID, "key %lld is outside %d places", (long long)place,
                                ln_object_tensor(result)->len);
        LN_TRY(cast_element(call, result, (size_t)place, values, sorted[i].index));
    }
    return LN_OK;
}

ln_status ln_ref_ml_cast_map(ln_call *call)
{
    static const char *const casts[] = {"TO_FLOAT", "TO_INT64", "TO_STRING"};
    static const char *const forms[] = {"DENSE", "SPARSE"};
    static const tl_dtype dtypes[] = {TL_FLOAT, TL_INT64, TL_STRING};
    const tl_tensor *keys, *values;
    int kind, is_sparse;
    LN_TRY(get_map(call, &keys, &values));
    LN_TRY(read_name(call, "cast_to", casts, 3, &kind));
    LN_TRY(read_name(call, "map_form", forms, 2, &is_sparse));
    if (keys->dtype != TL_INT64)
        return ln_call_fail(call, LN_INVALID, "the keys are not int64");
    ln_object *result =
        row_object(call, dtypes[kind], is_sparse ? ln_call_int(call, "max_map") : keys->len);
    if (!result)
        return ln_error_status();
    return give(call, result, cast_all(call, result, keys, values, is_sparse));
}

// ---- DictVectorizer ----

// What `prepare` makes of the parameters.
typedef struct vocabulary {
    ln_ml_lookup words;
    size_t string_count, number_count;
} vocabulary;

static ln_status prepare_ml_dict_vectorizer(ln_call *call, vocabulary *v)
{
    v->string_count = (size_t)ln_call_count(call, "string_vocabulary");
    v->number_count = (size_t)ln_call_count(call, "int64_vocabulary");
    bool is_string = v->string_count > 0;
    size_t count;
    return ln_ml_lookup_keep_param(call, is_string ? "string_vocabulary" : "int64_vocabulary",
                                   is_string, &v->words, &count);
}

LN_PREPARE(ln_ref_prepare_ml_dict_vectorizer, vocabulary, prepare_ml_dict_vectorizer)

// Each key puts its value where its word is in the vocabulary; of equal keys the last one stays.
static ln_status put_values(ln_object *result, const ln_ml_lookup *words, const tl_tensor *keys,
                            const tl_tensor *values)
{
    tl_tensor *dst = ln_object_tensor(result);
    for (size_t i = 0; i < (size_t)keys->len; i++) {
        size_t count;
        const ln_ml_row *rows = ln_ml_find_all(words, ln_ml_key_at(keys, i), &count);
        for (size_t k = 0; k < count; k++) {
            if (dst->dtype != TL_STRING) {
                ln_elem_copy(dst, rows[k].index, values, i);
                continue;
            }
            const char *string = string_at(values, i);
            LN_TRY(ln_object_set_string(result, rows[k].index, string, strlen(string)));
        }
    }
    return LN_OK;
}

ln_status ln_ref_ml_dict_vectorizer(ln_call *call)
{
    const vocabulary *v = ln_call_prepared(call);
    const tl_tensor *keys, *values;
    LN_TRY(get_map(call, &keys, &values));
    bool is_string = keys->dtype == TL_STRING;
    if ((!is_string && keys->dtype != TL_INT64) ||
        (is_string ? v->number_count : v->string_count) > 0)
        return ln_call_fail(call, LN_INVALID, "a vocabulary of %zu strings and %zu numbers for %s",
                            v->string_count, v->number_count, tl_dtype_title(keys->dtype));
    ln_object *result =
        row_object(call, values->dtype, (int64_t)(v->string_count + v->number_count));
    if (!result)
        return ln_error_status();
    return give(call, result, put_values(result, &v->words, keys, values));
}

// ---- ZipMap ----

// The names of the columns, which all maps share.
static ln_object *name_object(ln_call *call, int columns)
{
    int strings = ln_call_count(call, "classlabels_strings");
    int numbers = ln_call_count(call, "classlabels_int64s");
    if ((strings > 0 && numbers > 0) || strings + numbers != columns) {
        (void)ln_call_fail(call, LN_INVALID, "%d strings and %d numbers as names of %d columns",
                           strings, numbers, columns);
        return NULL;
    }
    ln_object *names =
        ln_object_new_tensor(strings > 0 ? TL_STRING : TL_INT64, 1, &columns, ln_call_meter(call));
    for (int i = 0; names && i < columns; i++) {
        if (strings == 0) {
            ln_elem_set_int(ln_object_tensor(names), (size_t)i,
                            ln_call_int_at(call, "classlabels_int64s", i));
            continue;
        }
        const char *name = ln_call_string_at(call, "classlabels_strings", i);
        if (ln_object_set_string(names, (size_t)i, name, strlen(name)) == LN_OK)
            continue;
        ln_object_release(names);
        names = NULL;
    }
    return names;
}

static ln_object *row_map(ln_call *call, const tl_tensor *table, int row, ln_object *names)
{
    ln_object *values = table->ndim == 2 ? ln_ref_slice_object(call, table, 0, row, 1, false)
                                         : ln_call_in_object(call, 0);
    ln_object *map = values ? ln_object_new_map(names, values) : NULL;
    ln_object_release(values);
    return map;
}

ln_status ln_ref_ml_zip_map(ln_call *call)
{
    int rows, columns;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    const tl_tensor *table = ln_call_in(call, 0);
    ln_object **maps = ln_call_scratch(call, (size_t)rows + 1, sizeof *maps);
    if (!maps)
        return ln_error_status();
    ln_object *names = name_object(call, columns);
    if (!names)
        return ln_error_status();
    size_t count = 0;
    while (count < (size_t)rows && (maps[count] = row_map(call, table, (int)count, names)))
        count++;
    ln_object_release(names);
    ln_object *sequence = count == (size_t)rows
                              ? ln_object_make_sequence(TL_FLOAT, count, maps, ln_call_meter(call))
                              : NULL;
    ln_ref_release_all(maps, count);
    return sequence ? give(call, sequence, LN_OK) : ln_error_status();
}
