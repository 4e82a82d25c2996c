// SPDX-License-Identifier: Apache-2.0
// What can be said of a picture before it is decoded.

#ifndef LN_OP_ONNX_IMAGE_H
#define LN_OP_ONNX_IMAGE_H

#include <lightnet/call.h>

// Checks the parameters; the size is known in the run only, when `compute` gives the output as an
// object.
ln_status ln_infer_image_decoder(ln_call *call);

#endif
