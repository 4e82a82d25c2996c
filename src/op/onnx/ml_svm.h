// SPDX-License-Identifier: Apache-2.0
// Support vector machines: what a model says, and what follows from its decision functions. The
// functions themselves an arch computes.

#ifndef LN_OP_ONNX_ML_SVM_H
#define LN_OP_ONNX_ML_SVM_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/call.h>

#include "op/onnx/ml_scores.h"

typedef enum ln_svm_kind { LN_SVM_LINEAR, LN_SVM_POLY, LN_SVM_RBF, LN_SVM_SIGMOID } ln_svm_kind;

typedef struct ln_svm_model {
    ln_svm_kind kind; // of the kernel
    double gamma, coef0, degree;
    ln_ml_transform transform;
    size_t vector_count;   // 0: linear functions
    size_t value_count;    // of all vectors
    const double *vectors; // [vectors, columns]; in `prepare` only
    const double *coefficients;
    size_t coefficient_count;
    const double *rho;
    size_t rho_count;
    bool is_one_class; // of a regressor
    // Of a classifier; without them:
    size_t class_count, pair_count; // 0
    const size_t *class_starts;     // among the vectors; and the end of the last one's
    const double *prob_a, *prob_b;
    size_t prob_count;
    bool are_all_positive; // coefficients
    ln_ml_classes classes;
} ln_svm_model;

// Kind and numbers of vectors, classes and pairs, which the memory of a run depends on; nothing
// else is set.
ln_status ln_svm_count_regressor(ln_call *call, ln_svm_model *out_model);
ln_status ln_svm_count_classifier(ln_call *call, ln_svm_model *out_model);

// In `prepare`: all that the parameters say, checked.
ln_status ln_svm_read_regressor(ln_call *call, ln_svm_model *out_model);
ln_status ln_svm_read_classifier(ln_call *call, ln_svm_model *out_model);

// In `compute`: that the model is for so many columns.
ln_status ln_svm_check_columns(ln_call *call, const ln_svm_model *model, size_t columns);

// The value of the kernel whose product or squared distance this is.
double ln_svm_finish_kernel(const ln_svm_model *model, double sum);

// Decision functions of a row: 1 of a regressor, else one of each pair of classes (0 and 1, 0 and
// 2, ..., 1 and 2, ...) or, without vectors, of each class.
size_t ln_svm_function_count(const ln_svm_model *model);

// What a regressor says where its function is `value`.
double ln_svm_regress(const ln_svm_model *model, double value);

// Memory of a classifier for the rows of one call.
typedef struct ln_svm_classifier {
    ln_call *call;
    const ln_svm_model *model;
    double *votes;             // for each class
    double *scores;            // what comes out
    double *couplings;         // [classes, classes]: probability of one class against another
    double *matrix, *products; // for finding the probabilities
} ln_svm_classifier;

ln_status ln_svm_open_classifier(ln_call *call, const ln_svm_model *model,
                                 ln_svm_classifier *out_classifier);

// Writes class and scores of a row from its decision functions.
ln_status ln_svm_classify(const ln_svm_classifier *classifier, size_t row, const double *functions);

#endif
