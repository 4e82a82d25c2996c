// SPDX-License-Identifier: Apache-2.0
// What scattered elements do with those that are there already.

#include "arch/ref/onnx/reduction.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "arch/ref/onnx/move.h"
#include "tensor/elem.h"

ln_reduction ln_reduction_of(const char *name)
{
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    for (int i = LN_REDUCTION_ADD; name && i <= LN_REDUCTION_MIN; i++)
        if (strcmp(name, names[i]) == 0)
            return (ln_reduction)i;
    return LN_REDUCTION_NONE;
}

static double reduced_real(double a, double b, ln_reduction reduction)
{
    switch (reduction) {
    case LN_REDUCTION_ADD: return a + b;
    case LN_REDUCTION_MUL: return a * b;
    case LN_REDUCTION_MAX: return isnan(a) || a > b ? a : b;
    case LN_REDUCTION_MIN: return isnan(a) || a < b ? a : b;
    default: return b;
    }
}

static bool is_greater(int64_t a, int64_t b, bool is_unsigned)
{
    return is_unsigned ? (uint64_t)a > (uint64_t)b : a > b;
}

static int64_t reduced_int(int64_t a, int64_t b, ln_reduction reduction, bool is_unsigned)
{
    switch (reduction) {
    case LN_REDUCTION_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case LN_REDUCTION_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case LN_REDUCTION_MAX: return is_greater(a, b, is_unsigned) ? a : b;
    case LN_REDUCTION_MIN: return is_greater(a, b, is_unsigned) ? b : a;
    default: return b;
    }
}

static tl_complex128 complex_at(const tl_tensor *t, size_t i)
{
    if (t->dtype == TL_COMPLEX128)
        return ((const tl_complex128 *)t->data)[i];
    const tl_complex64 *z = (const tl_complex64 *)t->data + i;
    return (tl_complex128){(double)z->real, (double)z->imag};
}

static void reduce_complex(tl_tensor *dst, size_t to, const tl_tensor *src, size_t from,
                           ln_reduction reduction)
{
    tl_complex128 a = complex_at(dst, to), b = complex_at(src, from), r;
    if (reduction == LN_REDUCTION_ADD)
        r = (tl_complex128){a.real + b.real, a.imag + b.imag};
    else
        r = (tl_complex128){a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
    if (dst->dtype == TL_COMPLEX128)
        ((tl_complex128 *)dst->data)[to] = r;
    else
        ((tl_complex64 *)dst->data)[to] = (tl_complex64){(float)r.real, (float)r.imag};
}

static void reduce_element(tl_tensor *dst, size_t to, const tl_tensor *src, size_t from,
                           ln_reduction reduction)
{
    uint64_t type = LN_TYPE(dst->dtype);
    if (type & LN_TYPES_COMPLEX)
        reduce_complex(dst, to, src, from, reduction);
    else if (type & (LN_TYPES_INT | LN_TYPE(TL_BOOL)))
        ln_elem_set_int(dst, to,
                        reduced_int(ln_elem_int(dst, to), ln_elem_int(src, from), reduction,
                                    dst->dtype == TL_UINT64));
    else
        ln_elem_set_real(dst, to,
                         reduced_real(ln_elem_real(dst, to), ln_elem_real(src, from), reduction));
}

ln_status ln_reduce_run(ln_call *call, int out_index, int64_t to, const tl_tensor *src,
                        int64_t from, int64_t count, ln_reduction reduction)
{
    if (reduction == LN_REDUCTION_NONE)
        return ln_move_run(call, out_index, to, src, from, count);
    tl_tensor *dst = ln_call_dst(call, out_index);
    for (int64_t i = 0; i < count; i++)
        reduce_element(dst, (size_t)(to + i), src, (size_t)(from + i), reduction);
    return LN_OK;
}
