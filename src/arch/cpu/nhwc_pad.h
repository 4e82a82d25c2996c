// SPDX-License-Identifier: Apache-2.0
// Padding of channels-last images with threads.

#ifndef LN_ARCH_CPU_NHWC_PAD_H
#define LN_ARCH_CPU_NHWC_PAD_H

#include "base/pool.h"
#include "op/nhwc_pad.h"

LN_CPPSTART

void ln_cpu_pad_nhwc(ln_pool *pool, const ln_pad_nhwc *pad);

LN_CPPEND

#endif
