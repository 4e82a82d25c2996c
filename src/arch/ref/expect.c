// SPDX-License-Identifier: Apache-2.0
// Do the tensors fit together? The operators' descriptions say so already; asking again makes a
// kernel safe by itself, whoever calls it.

#include "arch/ref/kernels.h"

#include <string.h>

#include <lightnet/shape.h>

ln_status ln_ref_expect_any(const tl_tensor *t, const char *what)
{
    int len;
    if (!t)
        return LN_FAIL(LN_INVALID, "%s is NULL", what);
    if (tl_size_of(t->dtype) == 0)
        return LN_FAIL(LN_INVALID, "%s has no valid dtype", what);
    if (!tl_shape_len(t->ndim, t->dims, &len) || len != t->len)
        return LN_FAIL(LN_INVALID, "%s has no valid shape", what);
    if (!t->data && len > 0)
        return LN_FAIL(LN_INVALID, "%s has no data", what);
    return LN_OK;
}

ln_status ln_ref_expect(const tl_tensor *t, const char *what, tl_dtype dtype, int ndim,
                        const int *dims)
{
    LN_TRY(ln_ref_expect_any(t, what));
    if (t->dtype != dtype)
        return LN_FAIL(LN_INVALID, "%s is %s instead of %s", what, tl_dtype_title(t->dtype),
                       tl_dtype_title(dtype));
    if (t->ndim != ndim || (ndim > 0 && memcmp(t->dims, dims, (size_t)ndim * sizeof *dims) != 0)) {
        char is[LN_SHAPE_TEXT_BYTES], should_be[LN_SHAPE_TEXT_BYTES];
        return LN_FAIL(LN_INVALID, "%s has the shape %s instead of %s", what,
                       ln_sprint_shape(is, sizeof is, t->ndim, t->dims),
                       ln_sprint_shape(should_be, sizeof should_be, ndim, dims));
    }
    return LN_OK;
}
