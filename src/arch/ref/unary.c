// SPDX-License-Identifier: Apache-2.0
// Functions of one element.

#include "arch/ref/kernels.h"

#include <math.h>

#include "arch/ref/element.h"
#include "base/deadline.h"

typedef struct unary {
    const tl_tensor *src;
    tl_tensor *dst;
} unary;

static ln_status check(const unary *u)
{
    LN_TRY(ln_ref_expect_any(u->src, "src"));
    return ln_ref_expect(u->dst, "dst", u->src->dtype, u->src->ndim, u->src->dims);
}

LN_REF_INLINE void relu(const unary *u, tl_dtype dtype)
{
    for (size_t i = 0; i < (size_t)u->src->len && !ln_deadline_passed_at(i); i++)
        ln_ref_store(u->dst->data, i, dtype,
                     ln_ref_positive_part(ln_ref_load(u->src->data, i, dtype), dtype));
}

ln_status ln_ref_relu(const tl_tensor *src, tl_tensor *dst)
{
    unary problem = {src, dst};
    LN_TRY(check(&problem));
    LN_REF_FOR_DTYPE(src->dtype, relu, &problem);
    return LN_OK;
}

// exp never sees a positive number, so nothing overflows and small results keep their digits.
static double logistic(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

LN_REF_INLINE void sigmoid(const unary *u, tl_dtype dtype)
{
    for (size_t i = 0; i < (size_t)u->src->len && !ln_deadline_passed_at(i); i++)
        ln_ref_store_double(u->dst->data, i, dtype,
                            logistic(ln_ref_load_double(u->src->data, i, dtype)));
}

ln_status ln_ref_sigmoid(const tl_tensor *src, tl_tensor *dst)
{
    unary problem = {src, dst};
    LN_TRY(check(&problem));
    LN_REF_FOR_DTYPE(src->dtype, sigmoid, &problem);
    return LN_OK;
}
