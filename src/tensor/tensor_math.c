// SPDX-License-Identifier: Apache-2.0
// Arithmetic on elements and tensors: one typed loop per operation and element type.
//
// Signed integers compute in uint64_t, where wrapping is defined; the low bits that remain after
// narrowing are the same.

#include <lightnet/tensor.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/broadcast.h"
#include "tensor/tensor_check.h"

typedef unsigned long long wide;

// ---- The operations of each kind; a and b are elements ----

#define MUL_FLOATING(type, a, b) ((a) * (b))
#define MUL_SIGNED(type, a, b)   ((type)((wide)(a) * (wide)(b)))
#define MUL_UNSIGNED             MUL_SIGNED
#define MUL_BOOLEAN(type, a, b)  (MUL_SIGNED(type, a, b) != 0)

#define SUM_FLOATING(type, a, b) ((a) + (b))
#define SUM_SIGNED(type, a, b)   ((type)((wide)(a) + (wide)(b)))
#define SUM_UNSIGNED             SUM_SIGNED
#define SUM_BOOLEAN(type, a, b)  (SUM_SIGNED(type, a, b) != 0)

#define SUB_FLOATING(type, a, b) ((a) - (b))
#define SUB_SIGNED(type, a, b)   ((type)((wide)(a) - (wide)(b)))
#define SUB_UNSIGNED             SUB_SIGNED
#define SUB_BOOLEAN(type, a, b)  (SUB_SIGNED(type, a, b) != 0)

// b is not 0 for integers; a / -1 is a negation, which must wrap.
#define DIV_FLOATING(type, a, b) ((a) / (b))
#define DIV_SIGNED(type, a, b)   ((type)((b) == -1 ? SUB_SIGNED(type, 0, a) : (type)((a) / (b))))
#define DIV_UNSIGNED(type, a, b) ((type)((a) / (b)))
#define DIV_BOOLEAN(type, a, b)  (DIV_SIGNED(type, a, b) != 0)

// `a` when it is NaN, `b` when that is.
#define MAX_FLOATING(type, a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MAX_SIGNED(type, a, b)   ((type)((a) > (b) ? (a) : (b)))
#define MAX_UNSIGNED             MAX_SIGNED
#define MAX_BOOLEAN(type, a, b)  ((a) || (b))

#define MIN_FLOATING(type, a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define MIN_SIGNED(type, a, b)   ((type)((a) < (b) ? (a) : (b)))
#define MIN_UNSIGNED             MIN_SIGNED
#define MIN_BOOLEAN(type, a, b)  ((a) && (b))

// Whether `a` replaces `best` as the largest: strictly larger, or the first NaN.
#define ABOVE_FLOATING(a, best) ((a) > (best) || ((a) != (a) && (best) == (best)))
#define ABOVE_SIGNED(a, best)   ((a) > (best))
#define ABOVE_UNSIGNED          ABOVE_SIGNED
#define ABOVE_BOOLEAN(a, best)  ((a) && !(best))

#define LRELU_FLOATING(type, x, slope) ((x) >= 0 ? (x) : (type)((x) * (slope)))
#define LRELU_SIGNED(type, x, slope)   ((type)((x) >= 0 ? (x) : MUL_SIGNED(type, x, slope)))
#define LRELU_UNSIGNED(type, x, slope) (x)
#define LRELU_BOOLEAN(type, x, slope)  ((x) != 0)

#define CAN_DIVIDE_BY_ZERO_FLOATING 1
#define CAN_DIVIDE_BY_ZERO_SIGNED   0
#define CAN_DIVIDE_BY_ZERO_UNSIGNED 0
#define CAN_DIVIDE_BY_ZERO_BOOLEAN  0

// ---- Element-wise loops ----

// r[i] = a[i * a_step] op b[i * b_step]; a step is 0 for a scalar. Nothing is written when it
// fails.
#define ELEW_FUNC(name, type, kind, fmt, min, max)                                                 \
    static ln_status elew_loop_##name(const type *a, const type *b, type *r, tl_elew_op op,        \
                                      size_t count, size_t a_step, size_t b_step)                  \
    {                                                                                              \
        switch (op) {                                                                              \
            ELEW_CASE(TL_MUL, MUL_##kind, type)                                                    \
            ELEW_CASE(TL_SUM, SUM_##kind, type)                                                    \
            ELEW_CASE(TL_SUB, SUB_##kind, type)                                                    \
            ELEW_CASE(TL_MAX, MAX_##kind, type)                                                    \
            ELEW_CASE(TL_MIN, MIN_##kind, type)                                                    \
        case TL_DIV:                                                                               \
            for (size_t i = 0; !CAN_DIVIDE_BY_ZERO_##kind && i < count; i++) {                     \
                if (b[i * b_step] == 0)                                                            \
                    return LN_FAIL(LN_INVALID, "integer division by zero at element %zu", i);      \
            }                                                                                      \
            for (size_t i = 0; i < count; i++)                                                     \
                r[i] = DIV_##kind(type, a[i * a_step], b[i * b_step]);                             \
            return LN_OK;                                                                          \
        case TL_POW:                                                                               \
            for (size_t i = 0; i < count; i++) {                                                   \
                double power = pow((double)a[i * a_step], (double)b[i * b_step]);                  \
                (void)tl_convert(&r[i], name, &power, TL_DOUBLE);                                  \
            }                                                                                      \
            return LN_OK;                                                                          \
        default: return LN_FAIL(LN_INVALID, "%d is not an element-wise operation", (int)op);       \
        }                                                                                          \
    }                                                                                              \
    static ln_status elew_##name(const void *a, const void *b, void *r, tl_elew_op op)             \
    {                                                                                              \
        if (!a || !b || !r)                                                                        \
            return LN_FAIL(LN_INVALID, "an operation needs two elements and a result");            \
        return elew_loop_##name(a, b, r, op, 1, 1, 1);                                             \
    }
#define ELEW_CASE(op_name, OP, type)                                                               \
    case op_name:                                                                                  \
        for (size_t i = 0; i < count; i++)                                                         \
            r[i] = OP(type, a[i * a_step], b[i * b_step]);                                         \
        return LN_OK;
TL_DTYPE_LIST(ELEW_FUNC)
#undef ELEW_CASE
#undef ELEW_FUNC

tl_elew_func tl_elew_getfunc(tl_dtype dtype)
{
    switch (dtype) {
#define FUNC_CASE(name, type, kind, fmt, min, max)                                                 \
    case name: return elew_##name;
        TL_DTYPE_LIST(FUNC_CASE)
#undef FUNC_CASE
    default: (void)tensor_fail_arithmetic(dtype); return NULL;
    }
}

ln_status tl_elew(const void *p1, const void *p2, void *r, tl_elew_op op, tl_dtype dtype)
{
    tl_elew_func func = tl_elew_getfunc(dtype);
    return func ? func(p1, p2, r, op) : LN_INVALID;
}

static ln_status elew_row(const void *a, size_t a_step, const void *b, size_t b_step, void *r,
                          tl_elew_op op, tl_dtype dtype, size_t count)
{
    switch (dtype) {
#define ROW_CASE(name, type, kind, fmt, min, max)                                                  \
    case name: return elew_loop_##name(a, b, r, op, count, a_step, b_step);
        TL_DTYPE_LIST(ROW_CASE)
#undef ROW_CASE
    default: return tensor_fail_arithmetic(dtype);
    }
}

// Same dtype and shape.
static bool are_alike(const tl_tensor *src1, const tl_tensor *src2)
{
    if (!tensor_is_usable(src1, "src1") || !tensor_is_usable(src2, "src2"))
        return false;
    if (src1->dtype == src2->dtype && tl_tensor_issameshape(src1, src2))
        return true;
    ln_fail(LN_INVALID, "'src1' (%s) and 'src2' (%s) differ in dtype or shape",
            tl_dtype_title(src1->dtype), tl_dtype_title(src2->dtype));
    return false;
}

// Gives back what `tensor_result` made when the work failed.
static tl_tensor *finish(tl_tensor *result, const tl_tensor *dst, ln_status status)
{
    if (status == LN_OK)
        return result;
    if (!dst)
        tl_tensor_free_data_too(result);
    return NULL;
}

// An integer of zeros in every byte is 0. Looked for before anything is written.
static ln_status check_divisors(const tl_tensor *t)
{
    static const char zeros[sizeof(uint64_t)];
    size_t size = tl_size_of(t->dtype);
    for (size_t i = 0; i < (size_t)t->len; i++)
        if (memcmp((const char *)t->data + i * size, zeros, size) == 0)
            return LN_FAIL(LN_INVALID, "integer division by zero at element %zu", i);
    return LN_OK;
}

static bool is_floating(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE;
}

static ln_status elew_rows(const tl_tensor *a, const tl_tensor *b, tl_tensor *dst, tl_elew_op op)
{
    ln_broadcast walk;
    size_t size = tl_size_of(dst->dtype);
    if (op == TL_DIV && !is_floating(dst->dtype) && dst->len > 0)
        LN_TRY(check_divisors(b));
    for (ln_broadcast_start(&walk, dst->ndim, dst->dims, a->ndim, a->dims, b->ndim, b->dims);
         walk.rows_left > 0; ln_broadcast_next(&walk))
        LN_TRY(elew_row((const char *)a->data + walk.at[0] * size, walk.step[0],
                        (const char *)b->data + walk.at[1] * size, walk.step[1],
                        (char *)dst->data + walk.to * size, op, dst->dtype, walk.count));
    return LN_OK;
}

// An operand with as many elements as the result, which has them in the same positions, may be its
// memory. One that is repeated may not.
static bool can_write_over(const tl_tensor *src, const tl_tensor *dst)
{
    return dst && src->len != dst->len ? tensors_are_apart(src, dst)
                                       : tensors_are_one_or_apart(src, dst);
}

tl_tensor *tl_tensor_elew(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                          tl_elew_op op)
{
    int dims[TL_MAXDIM];
    if (!tensor_is_usable(src1, "src1") || !tensor_is_usable(src2, "src2"))
        return NULL;
    if (src1->dtype != src2->dtype) {
        ln_fail(LN_INVALID, "'src1' is %s, 'src2' is %s", tl_dtype_title(src1->dtype),
                tl_dtype_title(src2->dtype));
        return NULL;
    }
    if (!tensor_is_native(src1, "src1"))
        return NULL;
    if (!tl_elew_op_name(op)) {
        ln_fail(LN_INVALID, "%d is not an element-wise operation", (int)op);
        return NULL;
    }
    int ndim = ln_broadcast_shape(dims, src1->ndim, src1->dims, src2->ndim, src2->dims);
    if (ndim < 0 || !can_write_over(src1, dst) || !can_write_over(src2, dst))
        return NULL;
    tl_tensor *result = tensor_result(dst, ndim, dims, src1->dtype);
    return result ? finish(result, dst, elew_rows(src1, src2, result, op)) : NULL;
}

tl_tensor *tl_tensor_elew_param(const tl_tensor *src, double param, tl_tensor *dst, tl_elew_op op)
{
    if (!tensor_is_usable(src, "src") || !tensor_is_native(src, "src") ||
        !tensors_are_one_or_apart(src, dst))
        return NULL;
    tl_tensor *result = tensor_result(dst, src->ndim, src->dims, src->dtype);
    if (!result)
        return NULL;
    union { // room for any dtype
#define MEMBER(name, type, kind, fmt, min, max) type as_##name;
        TL_DTYPE_LIST(MEMBER)
#undef MEMBER
    } element;
    (void)tl_convert(&element, src->dtype, &param, TL_DOUBLE);
    return finish(
        result, dst,
        elew_row(src->data, 1, &element, 0, result->data, op, src->dtype, (size_t)src->len));
}

// ---- Dot product ----

tl_tensor *tl_tensor_dot_product(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst)
{
    if (!are_alike(src1, src2) || !tensor_is_native(src1, "src1") ||
        !tensors_are_apart(src1, dst) || !tensors_are_apart(src2, dst))
        return NULL;
    dst = tensor_result(dst, 1, (int[]){1}, src1->dtype);
    if (!dst)
        return NULL;
    switch (src1->dtype) {
#define DOT_CASE(name, type, kind, fmt, min, max)                                                  \
    case name: {                                                                                   \
        const type *a = src1->data, *b = src2->data;                                               \
        type sum = 0;                                                                              \
        for (int i = 0; i < src1->len; i++) {                                                      \
            type product = MUL_##kind(type, a[i], b[i]);                                           \
            sum = SUM_##kind(type, sum, product);                                                  \
        }                                                                                          \
        *(type *)dst->data = sum;                                                                  \
        break;                                                                                     \
    }
        TL_DTYPE_LIST(DOT_CASE)
#undef DOT_CASE
    default: break;
    }
    return dst;
}

// ---- Largest element along an axis ----

// Row by row: dst holds the largest of the rows seen so far of one block of `n` * `inner` elements.
#define MAXREDUCE_FUNC(name, type, kind, fmt, min, max)                                            \
    static void maxreduce_##name(type *dst, int32_t *arg, const type *src, int n, size_t inner)    \
    {                                                                                              \
        memcpy(dst, src, inner * sizeof *dst);                                                     \
        if (arg)                                                                                   \
            memset(arg, 0, inner * sizeof *arg);                                                   \
        for (int row = 1; row < n; row++) {                                                        \
            src += inner;                                                                          \
            for (size_t i = 0; i < inner; i++) {                                                   \
                if (!ABOVE_##kind(src[i], dst[i]))                                                 \
                    continue;                                                                      \
                dst[i] = src[i];                                                                   \
                if (arg)                                                                           \
                    arg[i] = row;                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
TL_DTYPE_LIST(MAXREDUCE_FUNC)
#undef MAXREDUCE_FUNC

tl_tensor *tl_tensor_maxreduce(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg, int axis)
{
    if (!tensor_is_usable(src, "src") || !tensor_is_native(src, "src") ||
        !tensor_has_axis(src, axis) || !tensors_are_apart(src, dst) ||
        !tensors_are_apart(src, arg) || !tensors_are_apart(dst, arg))
        return NULL;
    int dims[TL_MAXDIM], len;
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[axis] = 1;
    if (!tl_shape_len(src->ndim, dims, &len) || (len > 0 && src->len == 0)) {
        ln_fail(LN_INVALID, "axis %d is empty and has no largest element", axis);
        return NULL;
    }
    if (arg && !tensor_result(arg, src->ndim, dims, TL_INT32)) {
        (void)ln_fail_prefix("'arg' as a result");
        return NULL;
    }
    dst = tensor_result(dst, src->ndim, dims, src->dtype);
    if (!dst || len == 0)
        return dst;

    int n = src->dims[axis];
    size_t inner = 1, block_count = (size_t)src->len;
    for (int i = axis + 1; i < src->ndim; i++)
        inner *= (size_t)src->dims[i];
    block_count /= inner * (size_t)n;
    int32_t *args = arg ? arg->data : NULL;
    for (size_t i = 0; i < block_count; i++) {
        int32_t *block_args = args ? args + i * inner : NULL;
        switch (src->dtype) {
#define REDUCE_CASE(name, type, kind, fmt, min, max)                                               \
    case name:                                                                                     \
        maxreduce_##name((type *)dst->data + i * inner, block_args,                                \
                         (const type *)src->data + i * inner * (size_t)n, n, inner);               \
        break;
            TL_DTYPE_LIST(REDUCE_CASE)
#undef REDUCE_CASE
        default: break;
        }
    }
    return dst;
}

// ---- Leaky relu ----

static ln_status lrelu_array(void *pd, const void *ps, float negslope, tl_dtype dtype, int len)
{
    double slope = (double)negslope;
    switch (dtype) {
#define LRELU_CASE(name, type, kind, fmt, min, max)                                                \
    case name: {                                                                                   \
        const type *src = ps;                                                                      \
        type *dst = pd, typed_slope;                                                               \
        (void)tl_convert(&typed_slope, name, &slope, TL_DOUBLE);                                   \
        (void)typed_slope;                                                                         \
        for (int i = 0; i < len; i++)                                                              \
            dst[i] = LRELU_##kind(type, src[i], typed_slope);                                      \
        return LN_OK;                                                                              \
    }
        TL_DTYPE_LIST(LRELU_CASE)
#undef LRELU_CASE
    default: return tensor_fail_arithmetic(dtype);
    }
}

ln_status tl_lrelu(void *pd, const void *ps, float negslope, tl_dtype dtype)
{
    if (!pd || !ps)
        return LN_FAIL(LN_INVALID, "an operation needs an element and a result");
    return lrelu_array(pd, ps, negslope, dtype, 1);
}

tl_tensor *tl_tensor_lrelu(const tl_tensor *src, tl_tensor *dst, float negslope)
{
    if (!tensor_is_usable(src, "src") || !tensor_is_native(src, "src") ||
        !tensors_are_one_or_apart(src, dst))
        return NULL;
    dst = tensor_result(dst, src->ndim, src->dims, src->dtype);
    if (dst)
        (void)lrelu_array(dst->data, src->data, negslope, src->dtype, src->len);
    return dst;
}

// ---- Convert ----

tl_tensor *tl_tensor_convert(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype_d)
{
    if (!tensor_is_usable(src, "src") || !tensors_are_one_or_apart(src, dst))
        return NULL;
    tl_tensor *result = tensor_result(dst, src->ndim, src->dims, dtype_d);
    return result ? finish(result, dst,
                           tl_convert_n(result->data, dtype_d, src->data, src->dtype,
                                        (size_t)src->len))
                  : NULL;
}
