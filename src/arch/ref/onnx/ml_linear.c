// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor.

#include "arch/ref/functions.h"
#include "arch/ref/onnx/ml_scores.h"
#include "arch/ref/onnx/param_array.h"
#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "tensor/elem.h"

// What `prepare` makes of the parameters.
typedef struct model {
    ln_ml_transform transform;
    ln_ml_classes classes;
    size_t class_count;
    const double *coefficients; // [functions, columns]
    size_t coefficient_count;
    const double *intercepts; // [functions]
    size_t intercept_count;
} model;

typedef struct linear {
    const model *model;
    size_t rows, columns, functions;
    double *row;    // of the input
    double *scores; // of its functions, and room for one
} linear;

ln_status ln_ref_prepare_ml_linear_regressor(ln_call *call)
{
    model *m = ln_call_keep(call, 1, sizeof *m);
    if (!m)
        return ln_error_status();
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(ln_ref_keep_reals(call, "coefficients", NULL, &m->coefficient_count, &m->coefficients));
    return ln_ref_keep_reals(call, "intercepts", NULL, &m->intercept_count, &m->intercepts);
}

ln_status ln_ref_prepare_ml_linear_classifier(ln_call *call)
{
    LN_TRY(ln_ref_prepare_ml_linear_regressor(call));
    model *m = (model *)(uintptr_t)ln_call_prepared(call);
    int class_count;
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    m->class_count = (size_t)class_count;
    return ln_ml_classes_keep(call, "classlabels_ints", &m->classes);
}

static ln_status open_linear(ln_call *call, int functions, linear *l)
{
    int rows, columns;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    const model *m = ln_call_prepared(call);
    *l = (linear){m, (size_t)rows, (size_t)columns, (size_t)functions, NULL, NULL};
    l->row = ln_call_scratch(call, l->columns + 1, sizeof *l->row);
    l->scores = ln_call_scratch(call, l->functions + 1, sizeof *l->scores);
    if (!l->row || !l->scores)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    if (m->coefficient_count < l->functions * l->columns ||
        (m->intercept_count != 0 && m->intercept_count != l->functions))
        return ln_call_fail(call, LN_INVALID, "%zu intercepts for %zu functions",
                            m->intercept_count, l->functions);
    return LN_OK;
}

// Function `f` and the next three, or it alone, each added up in the order of the columns: a sum
// waits for its last addition, and so four go at once.
static size_t compute_functions(const linear *l, size_t f, double *scores)
{
    const double *w = l->model->coefficients + f * l->columns;
    const double *intercepts = l->model->intercept_count ? l->model->intercepts + f : NULL;
    size_t n = l->columns;
    double a = intercepts ? intercepts[0] : 0;
    if (f + 4 > l->functions) {
        for (size_t c = 0; c < n; c++)
            a += l->row[c] * w[c];
        scores[f] = a;
        return 1;
    }
    double b = intercepts ? intercepts[1] : 0, c = intercepts ? intercepts[2] : 0;
    double d = intercepts ? intercepts[3] : 0;
    for (size_t i = 0; i < n; i++) {
        double x = l->row[i];
        a += x * w[i], b += x * w[n + i], c += x * w[2 * n + i], d += x * w[3 * n + i];
    }
    scores[f] = a, scores[f + 1] = b, scores[f + 2] = c, scores[f + 3] = d;
    return 4;
}

// The functions of one row of the input.
static void compute_row(const linear *l, const tl_tensor *src, size_t row, double *scores)
{
    for (size_t c = 0; c < l->columns; c++)
        l->row[c] = ln_elem_real(src, row * l->columns + c);
    for (size_t f = 0; f < l->functions && !ln_deadline_passed();)
        f += compute_functions(l, f, scores);
}

ln_status ln_ref_ml_linear_regressor(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    linear l;
    LN_TRY(open_linear(call, dst->dims[1], &l));
    if (ln_call_is_counting(call))
        return LN_OK;
    double *scores = l.scores;
    for (size_t row = 0; row < l.rows && !ln_deadline_passed(); row++) {
        compute_row(&l, src, row, scores);
        ln_ml_transform_apply(l.model->transform, scores, l.functions);
        for (size_t i = 0; i < l.functions; i++)
            ln_elem_set_real(dst, row * l.functions + i, scores[i]);
    }
    return LN_OK;
}

// One function alone decides between two classes, which are 0 and 1 where they are not two names.
static ln_status choose_by_sign(ln_call *call, const model *m, size_t row, bool is_positive)
{
    if (m->class_count == 2)
        return ln_ml_classes_set(call, &m->classes, row, is_positive);
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
    int functions;
    linear l;
    LN_TRY(ln_ml_function_count(call, &functions));
    LN_TRY(open_linear(call, functions, &l));
    if (ln_call_is_counting(call))
        return LN_OK;
    const model *m = l.model;
    bool is_pair = functions == 1 && m->class_count == 2;
    size_t score_count = is_pair ? 2 : l.functions;
    double *scores = l.scores;
    for (size_t row = 0; row < l.rows && !ln_deadline_passed(); row++) {
        compute_row(&l, src, row, scores);
        if (functions == 1)
            LN_TRY(choose_by_sign(call, m, row, scores[0] > 0));
        else
            LN_TRY(ln_ml_classes_set(call, &m->classes, row, ln_ml_largest(scores, l.functions)));
        if (is_pair)
            ln_ml_transform_pair(m->transform, true, scores);
        else
            ln_ml_transform_apply(m->transform, scores, l.functions);
        for (size_t i = 0; dst && i < score_count; i++)
            ln_elem_set_real(dst, row * score_count + i, scores[i]);
    }
    return LN_OK;
}
