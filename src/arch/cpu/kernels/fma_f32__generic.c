// SPDX-License-Identifier: Apache-2.0
// The fused multiply-add of the generic vector verbs, where the processor is not known to have one.

#include "arch/cpu/simd/f32__generic.h"

#ifndef __FP_FAST_FMAF

vf ln_k_fma_f32__generic(vf a, vf b, vf c)
{
    return vf_fma_inline(a, b, c);
}

#else

typedef int ln_no_fma_needed; // a file is not empty

#endif
