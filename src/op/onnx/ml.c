// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators of ai.onnx.ml.

#include "op/onnx/ml.h"
#include "op/functions.h"

#include <limits.h>
#include <stdbool.h>

// ---- Facts about models ----

ln_status ln_ml_table(ln_call *call, int index, int *out_rows, int *out_columns)
{
    *out_rows = *out_columns = 0;
    const tl_tensor *table = ln_call_in(call, index);
    if (table->ndim != 1 && table->ndim != 2)
        return ln_call_fail(call, LN_INVALID, "a table of rank %d instead of 1 or 2", table->ndim);
    *out_rows = table->ndim == 2 ? table->dims[0] : 1;
    *out_columns = table->dims[table->ndim - 1];
    return LN_OK;
}

ln_status ln_ml_class_count(ln_call *call, const char *ints, int *out_count)
{
    *out_count = 0;
    int strings = ln_call_count(call, "classlabels_strings"), numbers = ln_call_count(call, ints);
    if ((strings > 0) == (numbers > 0))
        return ln_call_fail(call, LN_INVALID, "%d strings and %d numbers as names of classes",
                            strings, numbers);
    *out_count = strings + numbers;
    return LN_OK;
}

ln_status ln_ml_function_count(ln_call *call, int *out_count)
{
    *out_count = 0;
    int rows, columns, class_count;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    int intercepts = ln_call_count(call, "intercepts");
    int coefficients = ln_call_count(call, "coefficients");
    int count = intercepts ? intercepts : columns ? coefficients / columns : 0;
    if (count < 1 || (int64_t)count * columns > coefficients)
        return ln_call_fail(call, LN_INVALID, "%d coefficients and %d intercepts for %d columns",
                            coefficients, intercepts, columns);
    if (count > 1 && count != class_count)
        return ln_call_fail(call, LN_INVALID, "%d functions for %d classes", count, class_count);
    if ((int64_t)count * columns < coefficients)
        LN_TRY(ln_call_tolerate(call,
                                "%d coefficients for %d functions of %d columns; the first "
                                "%lld are used",
                                coefficients, count, columns, (long long)count * columns));
    *out_count = count;
    return LN_OK;
}

ln_status ln_ml_target_count(ln_call *call, int *out_count)
{
    *out_count = 0;
    int64_t count = 1;
    if (ln_call_has(call, "n_targets"))
        count = ln_call_int(call, "n_targets");
    else {
        size_t leaf_count;
        const double *targets = ln_call_floats(call, "leaf_targetids", &leaf_count);
        for (size_t i = 0; i < leaf_count; i++) {
            int64_t target = ln_call_to_int(targets[i]);
            count = target >= count && target < INT_MAX ? target + 1 : count;
        }
    }
    if (count < 1 || count > INT_MAX)
        return ln_call_fail(call, LN_INVALID, "n_targets is %lld", (long long)count);
    *out_count = (int)count;
    return LN_OK;
}

// ---- Features ----

ln_status ln_infer_ml_float_like_first(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    return ln_call_out(call, 0, TL_FLOAT, src->ndim, src->dims);
}

ln_status ln_infer_ml_array_feature_extractor(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *positions = ln_call_in(call, 1);
    if (src->ndim == 0)
        return ln_call_fail(call, LN_INVALID, "X has no axis");
    int dims[TL_MAXDIM] = {1, positions->len};
    if (src->ndim == 1)
        return ln_call_out(call, 0, src->dtype, 2, dims);
    for (int i = 0; i < src->ndim; i++)
        dims[i] = i == src->ndim - 1 ? positions->len : src->dims[i];
    return ln_call_out(call, 0, src->dtype, src->ndim, dims);
}

ln_status ln_infer_ml_feature_vectorizer(ln_call *call)
{
    int count = ln_call_in_count(call), rows = 0;
    bool has_widths = ln_call_has(call, "inputdimensions");
    if (has_widths && ln_call_count(call, "inputdimensions") != count)
        return ln_call_fail(call, LN_INVALID, "%d inputdimensions for %d inputs",
                            ln_call_count(call, "inputdimensions"), count);
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        int these_rows, columns;
        LN_TRY(ln_ml_table(call, i, &these_rows, &columns));
        if (i > 0 && these_rows != rows)
            return ln_call_fail(call, LN_INVALID, "tables of %d and %d rows", rows, these_rows);
        rows = these_rows;
        int64_t width = has_widths ? ln_call_int_at(call, "inputdimensions", i) : columns;
        if (width < 0 || width > INT_MAX)
            return ln_call_fail(call, LN_INVALID, "inputdimensions has %lld", (long long)width);
        total += width;
    }
    int64_t dims[] = {rows, total};
    return ln_call_out64(call, 0, TL_FLOAT, 2, dims);
}

ln_status ln_infer_ml_one_hot_encoder(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool wants_strings = src->dtype == TL_STRING;
    int strings = ln_call_count(call, "cats_strings"), numbers = ln_call_count(call, "cats_int64s");
    if ((wants_strings ? strings : numbers) == 0 || (wants_strings ? numbers : strings) > 0)
        return ln_call_fail(call, LN_INVALID, "%d strings and %d numbers as categories of %s",
                            strings, numbers, wants_strings ? "strings" : "numbers");
    if (src->ndim == TL_MAXDIM)
        return ln_call_fail(call, LN_INVALID, "rank %d leaves no room for the categories",
                            src->ndim);
    int64_t dims[TL_MAXDIM];
    for (int i = 0; i < src->ndim; i++)
        dims[i] = src->dims[i];
    dims[src->ndim] = strings + numbers;
    return ln_call_out64(call, 0, TL_FLOAT, src->ndim + 1, dims);
}

// ---- Labels ----

static ln_status out_of_dtype(ln_call *call, tl_dtype dtype)
{
    const tl_tensor *src = ln_call_in(call, 0);
    return ln_call_out(call, 0, dtype, src->ndim, src->dims);
}

ln_status ln_infer_ml_category_mapper(ln_call *call)
{
    return out_of_dtype(call, ln_call_in(call, 0)->dtype == TL_STRING ? TL_INT64 : TL_STRING);
}

ln_status ln_ml_label_dtype(ln_call *call, tl_dtype *out_dtype)
{
    const tl_tensor *values = ln_call_in_named(call, "values_tensor");
    bool has_strings = ln_call_count(call, "values_strings") > 0;
    bool has_ints = ln_call_count(call, "values_int64s") > 0;
    bool has_floats = ln_call_count(call, "values_floats") > 0;
    *out_dtype = TL_FLOAT;
    if ((values != NULL) + has_strings + has_ints + has_floats > 1)
        return ln_call_fail(call, LN_INVALID, "values of more than one type");
    if (values)
        *out_dtype = values->dtype;
    else if (has_strings || (!has_ints && !has_floats && ln_call_has(call, "values_strings")))
        *out_dtype = TL_STRING;
    else if (has_ints || (!has_floats && ln_call_has(call, "values_int64s")))
        *out_dtype = TL_INT64;
    else if (!has_floats && !ln_call_has(call, "values_floats"))
        return ln_call_fail(call, LN_INVALID, "there are no values");
    return LN_OK;
}

ln_status ln_infer_ml_label_encoder(ln_call *call)
{
    tl_dtype src = ln_call_in(call, 0)->dtype;
    if (ln_call_since(call) < 2) {
        if (src != TL_STRING && src != TL_INT64)
            return ln_call_fail(call, LN_INVALID, "labels are neither strings nor int64");
        return out_of_dtype(call, src == TL_STRING ? TL_INT64 : TL_STRING);
    }
    tl_dtype dtype;
    LN_TRY(ln_ml_label_dtype(call, &dtype));
    return out_of_dtype(call, dtype);
}

// ---- Models ----

// Output 0: the name of a class for each row. Output 1: `score_count` floats for each.
static ln_status out_classes(ln_call *call, int rows, int64_t score_count)
{
    bool is_string = ln_call_count(call, "classlabels_strings") > 0;
    LN_TRY(ln_call_out(call, 0, is_string ? TL_STRING : TL_INT64, 1, &rows));
    int64_t dims[] = {rows, score_count};
    return ln_call_out64(call, 1, TL_FLOAT, 2, dims);
}

ln_status ln_infer_ml_linear_classifier(ln_call *call)
{
    int rows, columns, class_count, functions;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    LN_TRY(ln_ml_function_count(call, &functions));
    return out_classes(call, rows, functions == 1 && class_count == 2 ? 2 : functions);
}

ln_status ln_infer_ml_linear_regressor(ln_call *call)
{
    int rows, columns;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    int64_t targets = ln_call_int(call, "targets");
    int coefficients = ln_call_count(call, "coefficients");
    if (targets < 1 || targets > INT_MAX || targets * columns != coefficients)
        return ln_call_fail(call, LN_INVALID, "%d coefficients for %lld targets and %d columns",
                            coefficients, (long long)targets, columns);
    int64_t dims[] = {rows, targets};
    return ln_call_out64(call, 0, TL_FLOAT, 2, dims);
}

ln_status ln_infer_ml_svm_classifier(ln_call *call)
{
    int rows, columns, count;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &count));
    bool has_vectors = false;
    for (int i = 0; i < ln_call_count(call, "vectors_per_class"); i++)
        has_vectors = has_vectors || ln_call_int_at(call, "vectors_per_class", i) > 0;
    bool has_pairs = has_vectors && ln_call_count(call, "prob_a") == 0;
    int64_t pairs = (int64_t)count * (count - 1) / 2;
    return out_classes(call, rows, !has_pairs ? count : count > 2 ? pairs : 2);
}

ln_status ln_infer_ml_svm_regressor(ln_call *call)
{
    int rows, columns;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    int dims[] = {rows, 1};
    return ln_call_out(call, 0, TL_FLOAT, 2, dims);
}

ln_status ln_infer_ml_tree_ensemble_classifier(ln_call *call)
{
    int rows, columns, class_count;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_ml_class_count(call, "classlabels_int64s", &class_count));
    return out_classes(call, rows, class_count);
}

ln_status ln_infer_ml_tree_ensemble_regressor(ln_call *call)
{
    int rows, columns, dims[2];
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_ml_target_count(call, &dims[1]));
    dims[0] = rows;
    return ln_call_out(call, 0, TL_FLOAT, 2, dims);
}

ln_status ln_infer_ml_tree_ensemble(ln_call *call)
{
    int rows, columns, dims[2];
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_ml_target_count(call, &dims[1]));
    dims[0] = rows;
    return ln_call_out(call, 0, ln_call_in(call, 0)->dtype, 2, dims);
}

// ---- Costs ----

static double rows_of(const tl_tensor *src)
{
    return src->ndim > 1 ? src->dims[0] : 1;
}

// Each row meets all coefficients.
double ln_cost_linear(const ln_call *call)
{
    return ln_cost_steps(call) +
           rows_of(ln_call_in(call, 0)) * (double)ln_call_count(call, "coefficients");
}

// Each row meets all vectors and each pair of classes the coefficients of both; probabilities are
// found in rounds over pairs of classes, of which there are as many as `rho`.
double ln_cost_svm(const ln_call *call)
{
    double numbers = (double)ln_call_count(call, "support_vectors") +
                     (double)ln_call_count(call, "coefficients");
    return ln_cost_steps(call) +
           rows_of(ln_call_in(call, 0)) * (numbers + 200.0 * ln_call_count(call, "rho"));
}
