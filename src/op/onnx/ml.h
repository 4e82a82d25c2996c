// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators of ai.onnx.ml, and facts about their models that shapes depend on.

#ifndef LN_OP_ONNX_ML_H
#define LN_OP_ONNX_ML_H

#include <lightnet/call.h>

// Rows and columns of a table [N, C], of which [C] is one row. LN_INVALID for other ranks.
ln_status ln_ml_table(ln_call *call, int index, int *out_rows, int *out_columns);

// The number of classes, which `classlabels_strings` or the parameter `ints` names. LN_INVALID if
// there are none, or both are given.
ln_status ln_ml_class_count(ln_call *call, const char *ints, int *out_count);

// The number of linear functions of a LinearClassifier.
ln_status ln_ml_function_count(ln_call *call, int *out_count);

// The type of the values of a LabelEncoder of version 2 or later.
ln_status ln_ml_label_dtype(ln_call *call, tl_dtype *out_dtype);

// Targets of TreeEnsemble and TreeEnsembleRegressor.
ln_status ln_ml_target_count(ln_call *call, int *out_count);

#endif
