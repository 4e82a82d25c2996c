// SPDX-License-Identifier: Apache-2.0
// Scores of classifiers and regressors: what is done to them at the end, and the names of classes.

#ifndef LN_OP_ONNX_ML_SCORES_H
#define LN_OP_ONNX_ML_SCORES_H

#include <stdbool.h>

#include <lightnet/call.h>

// In the order of TreeEnsemble's numbers.
typedef enum ln_ml_transform {
    LN_ML_NONE,
    LN_ML_SOFTMAX,
    LN_ML_LOGISTIC,
    LN_ML_SOFTMAX_ZERO, // like softmax, but zeros stay zeros
    LN_ML_PROBIT,
} ln_ml_transform;

// The string parameter `post_transform`.
ln_status ln_ml_transform_read(ln_call *call, ln_ml_transform *out_transform);

// `count` scores of one row in place. One score alone is not turned by a softmax, which would make
// it 1.
void ln_ml_transform_apply(ln_ml_transform transform, double *scores, size_t count);

// scores[0] is that of the second of two classes: becomes the scores of both. They are
// probabilities, or else of opposite sign.
void ln_ml_transform_pair(ln_ml_transform transform, bool are_probabilities, double *scores);

double ln_ml_logistic(double x);

// The names of classes: strings, or else integers.
typedef struct ln_ml_classes {
    const char *const *strings; // NULL: integers
    const int64_t *ints;
} ln_ml_classes;

// In `prepare`: those of `classlabels_strings`, or else of the parameter `ints`.
ln_status ln_ml_classes_keep(ln_call *call, const char *ints, ln_ml_classes *out_classes);

// Element `at` of output 0 = the name of class `index`.
ln_status ln_ml_classes_set(ln_call *call, const ln_ml_classes *classes, size_t at, size_t index);

// The position of the largest of `count` > 0 numbers, the first one if there are several.
size_t ln_ml_largest(const double *values, size_t count);

#endif
