// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, windows, mel filters and two operators on matrices, in double.

#ifndef LN_ARCH_REF_ONNX_SIGNAL_H
#define LN_ARCH_REF_ONNX_SIGNAL_H

#include <lightnet/call.h>

#include "op/onnx/signal.h" // the estimates that descriptions inherit

ln_status ln_ref_dft(ln_call *call);
ln_status ln_ref_rfft(ln_call *call);
ln_status ln_ref_irfft(ln_call *call);
ln_status ln_ref_stft(ln_call *call);
ln_status ln_ref_hann_window(ln_call *call);
ln_status ln_ref_hamming_window(ln_call *call);
ln_status ln_ref_blackman_window(ln_call *call);
ln_status ln_ref_mel_weights(ln_call *call);
ln_status ln_ref_inverse(ln_call *call);
ln_status ln_ref_ms_trilu(ln_call *call);

#endif
