// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml on arch `ref`; each function is `compute` of the operator in its name.

#ifndef LN_ARCH_REF_ONNX_ML_H
#define LN_ARCH_REF_ONNX_ML_H

#include <lightnet/call.h>

#include "op/onnx/ml.h"
#include "op/onnx/sequence.h"

ln_status ln_ref_ml_array_feature_extractor(ln_call *call);
ln_status ln_ref_ml_binarizer(ln_call *call);
ln_status ln_ref_ml_cast_map(ln_call *call);
ln_status ln_ref_ml_category_mapper(ln_call *call);
ln_status ln_ref_ml_dict_vectorizer(ln_call *call);
ln_status ln_ref_ml_feature_vectorizer(ln_call *call);
ln_status ln_ref_ml_imputer(ln_call *call);
ln_status ln_ref_ml_label_encoder(ln_call *call);
ln_status ln_ref_ml_linear_classifier(ln_call *call);
ln_status ln_ref_ml_linear_regressor(ln_call *call);
ln_status ln_ref_ml_normalizer(ln_call *call);
ln_status ln_ref_ml_one_hot_encoder(ln_call *call);
ln_status ln_ref_ml_scaler(ln_call *call);
ln_status ln_ref_ml_svm_classifier(ln_call *call);
ln_status ln_ref_ml_svm_regressor(ln_call *call);
ln_status ln_ref_ml_tree_ensemble_classifier(ln_call *call);
ln_status ln_ref_ml_tree_ensemble_regressor(ln_call *call);
ln_status ln_ref_prepare_ml_tree_ensemble(ln_call *call);
ln_status ln_ref_prepare_ml_tree_ensemble_classifier(ln_call *call);
ln_status ln_ref_prepare_ml_tree_ensemble_regressor(ln_call *call);
ln_status ln_ref_prepare_ml_category_mapper(ln_call *call);
ln_status ln_ref_prepare_ml_label_encoder(ln_call *call);
ln_status ln_ref_prepare_ml_one_hot_encoder(ln_call *call);
ln_status ln_ref_prepare_ml_dict_vectorizer(ln_call *call);
ln_status ln_ref_prepare_ml_linear_classifier(ln_call *call);
ln_status ln_ref_prepare_ml_linear_regressor(ln_call *call);
ln_status ln_ref_prepare_ml_svm_classifier(ln_call *call);
ln_status ln_ref_prepare_ml_svm_regressor(ln_call *call);
ln_status ln_ref_ml_zip_map(ln_call *call);

#endif
