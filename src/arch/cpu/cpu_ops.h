// SPDX-License-Identifier: Apache-2.0
// What the operators of arch cpu call: from tensors and parameters to the kernels.
//
// All tensors are TL_FLOAT in main memory, with data, and of the shapes that the operator's checks
// have found to fit; sizes that the kernels do not take are LN_INVALID and change nothing. Nothing
// is allocated, and `dst` lies apart.

#ifndef LN_ARCH_CPU_CPU_OPS_H
#define LN_ARCH_CPU_CPU_OPS_H

#include <lightnet/dtype.h>
#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// Parameters are those of the abstract operator: two numbers are height and width, the padding is
// top, left, bottom, right. The shape of `workspace`: fills in `dims` and returns the rank, 1; -1
// with a recorded failure.
ln_status ln_cpu_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                          tl_tensor *dst, tl_tensor *workspace, int group, const int stride[2],
                          const int output_dims[4], const int padding[4],
                          const int output_padding[2], const int dilation[2], const char *autopad,
                          const char *act);
int ln_cpu_deconv2d_workspace(int *dims, const tl_tensor *src, const tl_tensor *weight,
                              const tl_tensor *bias, int group, const int size[2],
                              const int stride[2], const int output_dims[4], const int padding[4],
                              const int output_padding[2], const int dilation[2],
                              const char *autopad);

LN_CPPEND

#endif
