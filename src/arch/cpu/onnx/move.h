// SPDX-License-Identifier: Apache-2.0
// What ONNX moves by indices, repeats, and takes parts of, of all types that are moved by copying
// bytes.

#ifndef LN_ARCH_CPU_ONNX_MOVE_H
#define LN_ARCH_CPU_ONNX_MOVE_H

#include <lightnet/call.h>

LN_CPPSTART

// Whether the elements are moved by copying; LN_UNSUPPORTED says why not.
ln_status ln_cpu_accepts_onnx_gather(ln_call *call);
ln_status ln_cpu_accepts_onnx_expand(ln_call *call);
ln_status ln_cpu_accepts_onnx_trilu(ln_call *call);

ln_status ln_cpu_onnx_gather(ln_call *call);
ln_status ln_cpu_onnx_expand(ln_call *call);
ln_status ln_cpu_onnx_trilu(ln_call *call);

LN_CPPEND

#endif
