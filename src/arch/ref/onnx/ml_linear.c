// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor, in double: those that no rule makes products of the core.

#include "arch/ref/functions.h"
#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "op/onnx/ml_scores.h"
#include "op/onnx/param_array.h"
#include "op/prepare.h"
#include "tensor/elem.h"

// What `prepare` makes of the parameters.
typedef struct linear {
    ln_ml_transform transform;
    size_t function_count;
    const double *coefficients; // [functions, columns]
    size_t coefficient_count;
    const double *intercepts; // [functions]
    size_t intercept_count;   // 0: none
    // Of a classifier; without them:
    size_t class_count; // 0
    ln_ml_classes classes;
} linear;

// ---- Before all runs ----

static ln_status read_model(ln_call *call, linear *m)
{
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(
        ln_array_keep_reals(call, "coefficients", NULL, &m->coefficient_count, &m->coefficients));
    return ln_array_keep_reals(call, "intercepts", NULL, &m->intercept_count, &m->intercepts);
}

static ln_status count_functions(ln_call *call, size_t *out_count)
{
    int count = (int)ln_call_int(call, "targets");
    if (!ln_call_has(call, "targets"))
        LN_TRY(ln_ml_function_count(call, &count));
    *out_count = (size_t)count;
    return LN_OK;
}

static ln_status prepare_ml_linear_regressor(ln_call *call, linear *m)
{
    LN_TRY(count_functions(call, &m->function_count));
    return read_model(call, m);
}

LN_PREPARE(ln_ref_prepare_ml_linear_regressor, linear, prepare_ml_linear_regressor)

static ln_status prepare_ml_linear_classifier(ln_call *call, linear *m)
{
    int class_count;
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    m->class_count = (size_t)class_count;
    LN_TRY(count_functions(call, &m->function_count));
    LN_TRY(read_model(call, m));
    return ln_ml_classes_keep(call, "classlabels_ints", &m->classes);
}

LN_PREPARE(ln_ref_prepare_ml_linear_classifier, linear, prepare_ml_linear_classifier)

static ln_status check_columns(ln_call *call, const linear *m, size_t columns)
{
    size_t function_count;
    LN_TRY(count_functions(call, &function_count));
    bool is_short = function_count != m->function_count ||
                    (columns > 0 && m->coefficient_count / columns < m->function_count);
    if (is_short || (m->intercept_count != 0 && m->intercept_count != m->function_count))
        return ln_call_fail(call, LN_INVALID,
                            "%zu coefficients and %zu intercepts for %zu functions of %zu columns",
                            m->coefficient_count, m->intercept_count, m->function_count, columns);
    return LN_OK;
}

// ---- What follows from the functions of a row ----

// One function alone decides between two classes, which are 0 and 1 where they are not two names.
static ln_status choose_by_sign(ln_call *call, const linear *m, size_t row, bool is_positive)
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

static void set_scores(const ln_call *call, int output, size_t row, const double *scores,
                       size_t count)
{
    tl_tensor *dst = ln_call_dst(call, output);
    for (size_t i = 0; dst && i < count; i++)
        ln_elem_set_real(dst, row * count + i, scores[i]);
}

static ln_status classify(ln_call *call, const linear *m, size_t row, double *functions)
{
    size_t n = m->function_count;
    if (n == 1)
        LN_TRY(choose_by_sign(call, m, row, functions[0] > 0));
    else
        LN_TRY(ln_ml_classes_set(call, &m->classes, row, ln_ml_largest(functions, n)));
    if (n == 1 && m->class_count == 2) {
        double scores[2] = {functions[0]};
        ln_ml_transform_pair(m->transform, true, scores);
        set_scores(call, 1, row, scores, 2);
        return LN_OK;
    }
    ln_ml_transform_apply(m->transform, functions, n);
    set_scores(call, 1, row, functions, n);
    return LN_OK;
}

// Writes it, and changes them.
static ln_status conclude(ln_call *call, const linear *m, size_t row, double *functions)
{
    if (m->class_count)
        return classify(call, m, row, functions);
    ln_ml_transform_apply(m->transform, functions, m->function_count);
    set_scores(call, 0, row, functions, m->function_count);
    return LN_OK;
}

ln_status ln_ref_ml_linear(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const linear *m = ln_call_prepared(call);
    int rows, columns;
    size_t function_count;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(count_functions(call, &function_count));
    double *functions = ln_call_scratch(call, function_count, sizeof *functions);
    if (!functions)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(check_columns(call, m, (size_t)columns));
    for (size_t row = 0; row < (size_t)rows && !ln_deadline_passed(); row++) {
        for (size_t f = 0; f < m->function_count; f++) {
            functions[f] = m->intercept_count ? m->intercepts[f] : 0;
            for (size_t c = 0; c < (size_t)columns; c++)
                functions[f] += ln_elem_real(src, row * (size_t)columns + c) *
                                m->coefficients[f * (size_t)columns + c];
        }
        LN_TRY(conclude(call, m, row, functions));
    }
    return LN_OK;
}
