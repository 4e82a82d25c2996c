// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM in double, one step of one sequence at a time.

#ifndef LN_ARCH_REF_ONNX_RECURRENT_H
#define LN_ARCH_REF_ONNX_RECURRENT_H

#include <lightnet/call.h>

#include "op/onnx/recurrent.h" // the estimates that descriptions inherit

ln_status ln_ref_rnn(ln_call *call);
ln_status ln_ref_gru(ln_call *call);
ln_status ln_ref_lstm(ln_call *call);

#endif
