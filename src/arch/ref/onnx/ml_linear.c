// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor, in double.

#include "op/onnx/ml_linear.h"
#include "arch/ref/functions.h"
#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "tensor/elem.h"

ln_status ln_ref_prepare_ml_linear_regressor(ln_call *call)
{
    ln_linear_model *m = ln_call_keep(call, 1, sizeof *m);
    return m ? ln_linear_read_regressor(call, m) : ln_error_status();
}

ln_status ln_ref_prepare_ml_linear_classifier(ln_call *call)
{
    ln_linear_model *m = ln_call_keep(call, 1, sizeof *m);
    return m ? ln_linear_read_classifier(call, m) : ln_error_status();
}

ln_status ln_ref_ml_linear(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const ln_linear_model *m = ln_call_prepared(call);
    int rows, columns;
    size_t function_count;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    LN_TRY(ln_linear_count_functions(call, &function_count));
    double *functions = ln_call_scratch(call, function_count, sizeof *functions);
    if (!functions)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(ln_linear_check_columns(call, m, (size_t)columns));
    for (size_t row = 0; row < (size_t)rows && !ln_deadline_passed(); row++) {
        for (size_t f = 0; f < m->function_count; f++) {
            functions[f] = m->intercept_count ? m->intercepts[f] : 0;
            for (size_t c = 0; c < (size_t)columns; c++)
                functions[f] += ln_elem_real(src, row * (size_t)columns + c) *
                                m->coefficients[f * (size_t)columns + c];
        }
        LN_TRY(ln_linear_conclude(call, m, row, functions));
    }
    return LN_OK;
}
