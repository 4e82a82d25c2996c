// SPDX-License-Identifier: Apache-2.0
// Tensors as arrays of float, double or int64_t.

#include "arch/ref/onnx/reals.h"

#include <string.h>

#include "base/deadline.h"
#include "tensor/elem.h"

static bool is_exact_as_float(tl_dtype dtype)
{
    return (LN_TYPES_FLOAT | LN_TYPES_FLOAT8) & LN_TYPE(dtype);
}

ln_status ln_ref_reals(ln_call *call, const tl_tensor *t, ln_reals *out_reals)
{
    *out_reals = (ln_reals){.data = t ? t->data : NULL, .dtype = t ? t->dtype : TL_FLOAT};
    if (!t || t->dtype == TL_FLOAT || t->dtype == TL_DOUBLE)
        return LN_OK;

    size_t count = (size_t)t->len;
    out_reals->dtype = is_exact_as_float(t->dtype) ? TL_FLOAT : TL_DOUBLE;
    void *copy = ln_call_scratch(call, count ? count : 1, tl_size_of(out_reals->dtype));
    if (!copy)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    out_reals->data = copy;
    for (size_t i = 0; i < count && !ln_deadline_passed_at(i); i++) {
        double x = ln_elem_real(t, i);
        if (out_reals->dtype == TL_FLOAT)
            ((float *)copy)[i] = (float)x;
        else
            ((double *)copy)[i] = x;
    }
    return LN_OK;
}

ln_status ln_ref_numbers(ln_call *call, const tl_tensor *t, ln_reals *out_numbers)
{
    if (!t || t->dtype == TL_DOUBLE || is_exact_as_float(t->dtype))
        return ln_ref_reals(call, t, out_numbers);

    *out_numbers = (ln_reals){.data = t->data, .dtype = TL_INT64};
    if (t->dtype == TL_INT64)
        return LN_OK;
    size_t count = (size_t)t->len;
    int64_t *copy = ln_call_scratch(call, count ? count : 1, sizeof *copy);
    if (!copy)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    out_numbers->data = copy;
    for (size_t i = 0; i < count; i++)
        copy[i] = ln_elem_int(t, i);
    return LN_OK;
}

ln_status ln_ref_elements(ln_call *call, const tl_tensor *t, ln_reals *out_elements)
{
    if (!t || !TL_DTYPE_IS_NATIVE(t->dtype))
        return ln_ref_reals(call, t, out_elements);
    *out_elements = (ln_reals){.data = t->data, .dtype = t->dtype};
    return LN_OK;
}

void ln_ref_store_reals(tl_tensor *dst, int64_t at, int64_t count, const double *values)
{
    switch (dst->dtype) {
    case TL_FLOAT:
        for (int64_t i = 0; i < count; i++)
            ((float *)dst->data)[at + i] = (float)values[i];
        break;
    case TL_DOUBLE: memcpy((double *)dst->data + at, values, (size_t)count * sizeof *values); break;
    default:
        for (int64_t i = 0; i < count; i++)
            ln_elem_set_real(dst, (size_t)(at + i), values[i]);
    }
}
