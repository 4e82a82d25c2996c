// SPDX-License-Identifier: Apache-2.0
// Features: scaled, normalized, replaced, picked, put side by side.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "op/onnx/param_array.h"
#include "tensor/elem.h"

// The column of element `i`: elements beyond the second axis count on.
static size_t columns_of(const tl_tensor *src)
{
    size_t columns = src->ndim == 0 ? 1 : (size_t)src->dims[src->ndim == 1 ? 0 : 1];
    return columns ? columns : 1;
}

// A list for all columns has one element, or one for each.
static ln_status check_list(ln_call *call, const char *name, size_t count, size_t columns)
{
    if (count <= 1 || count == columns)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "`%s` has %zu elements for %zu columns", name, count,
                        columns);
}

ln_status ln_ref_ml_binarizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    double threshold = ln_call_float(call, "threshold");
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(ln_call_dst(call, 0), i, ln_elem_real(src, i) > threshold);
    return LN_OK;
}

ln_status ln_ref_ml_scaler(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    size_t columns = columns_of(src), offset_count, scale_count;
    const double *offsets, *scales;
    LN_TRY(ln_array_reals(call, "offset", NULL, &offset_count, &offsets));
    LN_TRY(ln_array_reals(call, "scale", NULL, &scale_count, &scales));
    LN_TRY(check_list(call, "offset", offset_count, columns));
    LN_TRY(check_list(call, "scale", scale_count, columns));
    tl_tensor *dst = ln_call_dst(call, 0);
    for (size_t i = 0, column = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        double offset = offset_count ? offsets[offset_count == 1 ? 0 : column] : 0;
        double scale = scale_count ? scales[scale_count == 1 ? 0 : column] : 1;
        ln_elem_set_real(dst, i, (ln_elem_real(src, i) - offset) * scale);
        column = column + 1 < columns ? column + 1 : 0;
    }
    return LN_OK;
}

ln_status ln_ref_ml_imputer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    bool is_float = (LN_TYPE(src->dtype) & LN_TYPES_FLOAT) != 0;
    const char *name = is_float ? "imputed_value_floats" : "imputed_value_int64s";
    size_t count, columns = columns_of(src);
    const double *reals = NULL;
    const int64_t *ints = NULL;
    if (is_float)
        LN_TRY(ln_array_reals(call, name, NULL, &count, &reals));
    else
        LN_TRY(ln_array_ints(call, name, &count, &ints));
    if (ln_call_is_counting(call))
        return LN_OK;
    if (count == 0)
        return ln_call_fail(call, LN_INVALID, "there is no `%s`", name);
    LN_TRY(check_list(call, name, count, columns));
    double missing = ln_call_float(call, "replaced_value_float");
    int64_t missing_int = ln_call_int(call, "replaced_value_int64");
    size_t step = count == 1 ? 0 : 1;
    for (size_t i = 0, at = 0; i < (size_t)src->len && !ln_deadline_passed_at(i);
         i++, at = at + step < columns ? at + step : 0) {
        if (is_float) {
            double x = ln_elem_real(src, i);
            bool is_missing = x == missing || (isnan(x) && isnan(missing));
            ln_elem_set_real(dst, i, is_missing ? reals[at] : x);
        } else {
            int64_t x = ln_elem_int(src, i);
            ln_elem_set_int(dst, i, x == missing_int ? ints[at] : x);
        }
    }
    return LN_OK;
}

// ---- Normalizer ----

typedef enum norm { NORM_MAX, NORM_L1, NORM_L2 } norm;

static double divisor(const tl_tensor *src, size_t start, size_t count, norm kind)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = start; kind == NORM_MAX && i < start + count; i++) {
        double x = ln_elem_real(src, i);
        most = x > most ? x : most;
    }
    for (size_t i = start; kind == NORM_L1 && i < start + count; i++)
        sum += fabs(ln_elem_real(src, i));
    for (size_t i = start; kind == NORM_L2 && i < start + count; i++) {
        double x = ln_elem_real(src, i);
        sum += x * x;
    }
    return kind == NORM_MAX ? most : kind == NORM_L1 ? sum : sqrt(sum);
}

ln_status ln_ref_ml_normalizer(ln_call *call)
{
    static const char *const names[] = {"MAX", "L1", "L2"};
    const char *name = ln_call_string(call, "norm");
    int kind = 0, rows, columns;
    while (kind < 3 && strcmp(name, names[kind]) != 0)
        kind++;
    if (kind == 3)
        return ln_call_fail(call, LN_INVALID, "norm \"%s\" is none of MAX, L1, L2", name);
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    size_t count = (size_t)columns;
    for (size_t row = 0; row < (size_t)rows; row++) {
        double by = divisor(src, row * count, count, (norm)kind);
        for (size_t i = row * count; i < (row + 1) * count; i++)
            ln_elem_set_real(dst, i, ln_elem_real(src, i) / (by != 0 ? by : 1));
    }
    return LN_OK;
}

// ---- Columns ----

ln_status ln_ref_ml_array_feature_extractor(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *positions = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    size_t count = (size_t)positions->len, columns = (size_t)src->dims[src->ndim - 1];
    for (size_t i = 0; i < count; i++) {
        int64_t position = ln_elem_int(positions, i);
        if (position < 0 || position >= (int64_t)columns)
            return ln_call_fail(call, LN_INVALID, "position %lld is outside %zu columns",
                                (long long)position, columns);
    }
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++) {
        size_t from = i / count * columns + (size_t)ln_elem_int(positions, i % count);
        if (src->dtype != TL_STRING) {
            ln_elem_copy(dst, i, src, from);
            continue;
        }
        const char *string = ((const char *const *)src->data)[from];
        LN_TRY(ln_call_set_string(call, 0, i, string ? string : "", string ? strlen(string) : 0));
    }
    return LN_OK;
}

ln_status ln_ref_ml_feature_vectorizer(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    bool has_widths = ln_call_has(call, "inputdimensions");
    size_t start = 0, dst_columns = (size_t)dst->dims[1];
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *src = ln_call_in(call, i);
        int rows, columns;
        LN_TRY(ln_ml_table(call, i, &rows, &columns));
        size_t width =
            has_widths ? (size_t)ln_call_int_at(call, "inputdimensions", i) : (size_t)columns;
        for (size_t row = 0; row < (size_t)rows; row++) {
            for (size_t c = 0; c < width; c++) {
                bool is_there = c < (size_t)columns;
                double x = is_there ? ln_elem_real(src, row * (size_t)columns + c) : 0;
                ln_elem_set_real(dst, row * dst_columns + start + c, x);
            }
        }
        start += width;
    }
    return LN_OK;
}
