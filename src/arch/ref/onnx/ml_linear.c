// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor.

#include "arch/ref/onnx/ml.h"
#include "arch/ref/onnx/ml_scores.h"
#include "arch/ref/onnx/param_array.h"
#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "tensor/elem.h"

typedef struct model {
    size_t rows, columns, functions;
    const double *coefficients; // [functions, columns]
    const double *intercepts;   // [functions], or NULL
} model;

static ln_status read_model(ln_call *call, int functions, model *out_model)
{
    model *m = out_model;
    int rows, columns;
    size_t coefficient_count, intercept_count;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    m->rows = (size_t)rows;
    m->columns = (size_t)columns;
    m->functions = (size_t)functions;
    LN_TRY(ln_ref_param_reals(call, "coefficients", NULL, &coefficient_count, &m->coefficients));
    LN_TRY(ln_ref_param_reals(call, "intercepts", NULL, &intercept_count, &m->intercepts));
    if (coefficient_count < m->functions * m->columns ||
        (intercept_count != 0 && intercept_count != m->functions))
        return ln_call_fail(call, LN_INVALID, "%zu intercepts for %zu functions", intercept_count,
                            m->functions);
    if (intercept_count == 0)
        m->intercepts = NULL;
    return LN_OK;
}

// The functions of one row of the input.
static void compute_row(const model *m, const tl_tensor *src, size_t row, double *scores)
{
    for (size_t f = 0; f < m->functions && !ln_deadline_passed(); f++) {
        double sum = m->intercepts ? m->intercepts[f] : 0;
        for (size_t c = 0; c < m->columns; c++)
            sum += ln_elem_real(src, row * m->columns + c) * m->coefficients[f * m->columns + c];
        scores[f] = sum;
    }
}

ln_status ln_ref_ml_linear_regressor(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_ml_transform transform;
    model m;
    LN_TRY(ln_ml_transform_read(call, &transform));
    LN_TRY(read_model(call, dst->dims[1], &m));
    double *scores = ln_call_scratch(call, m.functions, sizeof *scores);
    if (!scores)
        return ln_error_status();
    for (size_t row = 0; row < m.rows && !ln_deadline_passed(); row++) {
        compute_row(&m, src, row, scores);
        ln_ml_transform_apply(transform, scores, m.functions);
        for (size_t i = 0; i < m.functions; i++)
            ln_elem_set_real(dst, row * m.functions + i, scores[i]);
    }
    return LN_OK;
}

// One function alone decides between two classes, which are 0 and 1 where they are not two names.
static ln_status choose_by_sign(ln_call *call, size_t row, bool is_positive, int class_count)
{
    if (class_count == 2)
        return ln_ml_set_class(call, "classlabels_ints", row, is_positive);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (!dst)
        return LN_OK;
    if (dst->dtype == TL_STRING)
        return ln_call_set_string(call, 0, row, is_positive ? "1" : "0", 1);
    ln_elem_set_int(dst, row, is_positive);
    return LN_OK;
}

ln_status ln_ref_ml_linear_classifier(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 1);
    ln_ml_transform transform;
    int class_count, functions;
    model m;
    LN_TRY(ln_ml_transform_read(call, &transform));
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    LN_TRY(ln_ml_function_count(call, &functions));
    LN_TRY(read_model(call, functions, &m));
    bool is_pair = functions == 1 && class_count == 2;
    size_t score_count = is_pair ? 2 : m.functions;
    double *scores = ln_call_scratch(call, score_count, sizeof *scores);
    if (!scores)
        return ln_error_status();
    for (size_t row = 0; row < m.rows && !ln_deadline_passed(); row++) {
        compute_row(&m, src, row, scores);
        if (functions == 1)
            LN_TRY(choose_by_sign(call, row, scores[0] > 0, class_count));
        else
            LN_TRY(
                ln_ml_set_class(call, "classlabels_ints", row, ln_ml_largest(scores, m.functions)));
        if (is_pair)
            ln_ml_transform_pair(transform, true, scores);
        else
            ln_ml_transform_apply(transform, scores, m.functions);
        for (size_t i = 0; dst && i < score_count; i++)
            ln_elem_set_real(dst, row * score_count + i, scores[i]);
    }
    return LN_OK;
}
