// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators of ai.onnx.ml, and facts about their models that shapes depend on.

#ifndef LN_OP_ONNX_ML_H
#define LN_OP_ONNX_ML_H

#include <lightnet/call.h>

ln_status ln_infer_ml_array_feature_extractor(ln_call *call);
ln_status ln_infer_ml_like_first(ln_call *call);
ln_status ln_infer_ml_category_mapper(ln_call *call);
ln_status ln_infer_ml_feature_vectorizer(ln_call *call);
ln_status ln_infer_ml_label_encoder(ln_call *call);
ln_status ln_infer_ml_linear_classifier(ln_call *call);
ln_status ln_infer_ml_linear_regressor(ln_call *call);
ln_status ln_infer_ml_float_like_first(ln_call *call);
ln_status ln_infer_ml_one_hot_encoder(ln_call *call);
ln_status ln_infer_ml_svm_classifier(ln_call *call);
ln_status ln_infer_ml_svm_regressor(ln_call *call);

// Steps.
double ln_cost_linear(const ln_call *call);
double ln_cost_svm(const ln_call *call);
ln_status ln_infer_ml_tree_ensemble_classifier(ln_call *call);
ln_status ln_infer_ml_tree_ensemble_regressor(ln_call *call);
ln_status ln_infer_ml_tree_ensemble(ln_call *call);

// Rows and columns of a table [N, C], of which [C] is one row. LN_INVALID for other ranks.
ln_status ln_ml_table(ln_call *call, int index, int *out_rows, int *out_columns);

// The number of classes, which `classlabels_strings` or the parameter `ints` names. LN_INVALID if
// there are none, or both are given.
ln_status ln_ml_class_count(ln_call *call, const char *ints, int *out_count);

// The number of linear functions of a LinearClassifier.
ln_status ln_ml_function_count(ln_call *call, int *out_count);

// Targets of TreeEnsemble and TreeEnsembleRegressor.
ln_status ln_ml_target_count(ln_call *call, int *out_count);

#endif
