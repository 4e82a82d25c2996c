// SPDX-License-Identifier: Apache-2.0
// A data file given to a model that has its data: weights in a file beside its compiled form, or in
// the model's own file.

#ifndef LN_COMPILE_GIVEN_AGAIN_H
#define LN_COMPILE_GIVEN_AGAIN_H

#include <lightnet/context.h>

// Notes in `weights_from` a fingerprint of the data file that a model is compiled with.
ln_status ln_context_note_datafile(ln_context *ctx, const char *datafile);

// LN_OK if the file says what the model has, inputs aside: it is the one that the model was
// compiled with, or each of its tensors that the model has is bit-identical there, and there is
// one. LN_INVALID otherwise, since what was computed from the other data cannot follow.
ln_status ln_context_check_given_again(const ln_context *ctx, const char *datafile);

#endif
