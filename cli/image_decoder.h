// SPDX-License-Identifier: Apache-2.0
// ImageDecoder_ref: what the library leaves to programs that have decoders of pictures.

#ifndef LN_CLI_IMAGE_DECODER_H
#define LN_CLI_IMAGE_DECODER_H

#include <lightnet/call.h>

// Lets models decode pictures, on arch `ref` and whatever falls back to it. After ln_arch_init;
// without that arch nothing happens.
ln_status register_image_decoder(void);

// The functions of the operator.
ln_status infer_image_decoder(ln_call *call);
ln_status compute_image_decoder(ln_call *call);

#endif
