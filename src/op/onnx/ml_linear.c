// SPDX-License-Identifier: Apache-2.0
// Linear models.

#include "op/onnx/ml_linear.h"

#include "op/onnx/ml.h"
#include "op/onnx/param_array.h"
#include "tensor/elem.h"

static ln_status read_model(ln_call *call, ln_linear_model *m)
{
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(
        ln_array_keep_reals(call, "coefficients", NULL, &m->coefficient_count, &m->coefficients));
    return ln_array_keep_reals(call, "intercepts", NULL, &m->intercept_count, &m->intercepts);
}

ln_status ln_linear_count_functions(ln_call *call, size_t *out_count)
{
    int count = (int)ln_call_int(call, "targets");
    if (!ln_call_has(call, "targets"))
        LN_TRY(ln_ml_function_count(call, &count));
    *out_count = (size_t)count;
    return LN_OK;
}

ln_status ln_linear_read_regressor(ln_call *call, ln_linear_model *m)
{
    *m = (ln_linear_model){0};
    LN_TRY(ln_linear_count_functions(call, &m->function_count));
    return read_model(call, m);
}

ln_status ln_linear_read_classifier(ln_call *call, ln_linear_model *m)
{
    int class_count;
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    *m = (ln_linear_model){.class_count = (size_t)class_count};
    LN_TRY(ln_linear_count_functions(call, &m->function_count));
    LN_TRY(read_model(call, m));
    return ln_ml_classes_keep(call, "classlabels_ints", &m->classes);
}

ln_status ln_linear_check_columns(ln_call *call, const ln_linear_model *m, size_t columns)
{
    size_t function_count;
    LN_TRY(ln_linear_count_functions(call, &function_count));
    bool is_short = function_count != m->function_count ||
                    (columns > 0 && m->coefficient_count / columns < m->function_count);
    if (is_short || (m->intercept_count != 0 && m->intercept_count != m->function_count))
        return ln_call_fail(call, LN_INVALID,
                            "%zu coefficients and %zu intercepts for %zu functions of %zu columns",
                            m->coefficient_count, m->intercept_count, m->function_count, columns);
    return LN_OK;
}

// One function alone decides between two classes, which are 0 and 1 where they are not two names.
static ln_status choose_by_sign(ln_call *call, const ln_linear_model *m, size_t row,
                                bool is_positive)
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

static ln_status classify(ln_call *call, const ln_linear_model *m, size_t row, double *functions)
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

ln_status ln_linear_conclude(ln_call *call, const ln_linear_model *m, size_t row, double *functions)
{
    if (m->class_count)
        return classify(call, m, row, functions);
    ln_ml_transform_apply(m->transform, functions, m->function_count);
    set_scores(call, 0, row, functions, m->function_count);
    return LN_OK;
}
