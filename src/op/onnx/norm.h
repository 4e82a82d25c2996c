// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's normalisations.

#ifndef LN_OP_ONNX_NORM_H
#define LN_OP_ONNX_NORM_H

#include <stdbool.h>

#include <lightnet/call.h>

// Whether BatchNormalization computes mean and variance itself: `training_mode`, or before operator
// set 14 when more than the first output is wanted and `is_test` is not set.
bool ln_batch_norm_trains(const ln_call *call);

// Whether there is one mean for each channel, or, with `spatial` 0, one for each place.
bool ln_batch_norm_is_spatial(const ln_call *call);

// The axes of MeanVarianceNormalization; out_is_reduced has TL_MAXDIM elements.
ln_status ln_mean_variance_axes(ln_call *call, bool *out_is_reduced);

#endif
