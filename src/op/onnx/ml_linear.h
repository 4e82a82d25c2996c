// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor: what a model says, and what follows from its functions. The
// functions themselves an arch computes.

#ifndef LN_OP_ONNX_ML_LINEAR_H
#define LN_OP_ONNX_ML_LINEAR_H

#include <stddef.h>

#include <lightnet/call.h>

#include "op/onnx/ml_scores.h"

typedef struct ln_linear_model {
    ln_ml_transform transform;
    size_t function_count;
    const double *coefficients; // [functions, columns]
    size_t coefficient_count;
    const double *intercepts; // [functions]
    size_t intercept_count;   // 0: none
    // Of a classifier; without them:
    size_t class_count; // 0
    ln_ml_classes classes;
} ln_linear_model;

// The number of functions.
ln_status ln_linear_count_functions(ln_call *call, size_t *out_count);

// In `prepare`: all that the parameters say, checked.
ln_status ln_linear_read_regressor(ln_call *call, ln_linear_model *out_model);
ln_status ln_linear_read_classifier(ln_call *call, ln_linear_model *out_model);

// In `compute`: that there are coefficients for so many columns.
ln_status ln_linear_check_columns(ln_call *call, const ln_linear_model *model, size_t columns);

// Writes what follows from the functions of a row, and changes them.
ln_status ln_linear_conclude(ln_call *call, const ln_linear_model *model, size_t row,
                             double *functions);

#endif
