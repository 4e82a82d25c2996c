// SPDX-License-Identifier: Apache-2.0
// First values of tensors: zeros, given numbers, random numbers.

#include "arch/ref/kernels.h"

#include <string.h>

#include "op/first_values.h"

ln_status ln_ref_zeros(tl_tensor *dst)
{
    LN_TRY(ln_ref_expect_any(dst, "dst"));
    if (dst->len > 0)
        memset(dst->data, 0, tl_tensor_size(dst));
    return LN_OK;
}

ln_status ln_ref_create(tl_tensor *dst, const char *name, const double ran[2], const double *data,
                        int data_len)
{
    LN_TRY(ln_ref_expect_any(dst, "dst"));
    return ln_first_values(dst, name, ran, data, data_len);
}
