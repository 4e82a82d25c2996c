// SPDX-License-Identifier: Apache-2.0
// The dot product.

#include "arch/ref/kernels.h"

#include "arch/ref/element.h"
#include "base/deadline.h"

ln_status ln_ref_dot_product(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst)
{
    LN_TRY(ln_ref_expect_any(src1, "src1"));
    LN_TRY(ln_ref_expect(src2, "src2", src1->dtype, src1->ndim, src1->dims));
    LN_TRY(ln_ref_expect(dst, "dst", src1->dtype, 1, (int[]){1}));
    tl_dtype dtype = src1->dtype;
    if (!ln_ref_is_floating(dtype))
        return tl_tensor_dot_product(src1, src2, dst) ? LN_OK : ln_error_status();

    double sum = 0;
    for (size_t i = 0; i < (size_t)src1->len && !ln_deadline_passed_at(i); i++)
        sum += ln_ref_load_double(src1->data, i, dtype) * ln_ref_load_double(src2->data, i, dtype);
    ln_ref_store_double(dst->data, 0, dtype, sum);
    return LN_OK;
}
