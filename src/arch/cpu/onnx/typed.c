// SPDX-License-Identifier: Apache-2.0
// Loops over rows, one for each type, in plain C.

#include <math.h>
#include <stdbool.h>

#include "arch/cpu/elementwise.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/onnx/pool_of.h"
#include "arch/cpu/onnx/rows.h"
#include "op/onnx/elementwise.h"

typedef struct operands {
    const void *src[LN_CPU_ROWS_INPUTS];
    void *dst;
} operands;

// Defines a row function: `y` from `x1` and `x2`. One element that stands for all is read once, so
// that the loops are those over arrays alone.
#define DEFINE_ROW(name, type, result, y, x1, x2)                                                  \
    static void name(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)  \
    {                                                                                              \
        const operands *o = self;                                                                  \
        const type *a = (const type *)o->src[0] + at[0], *b = (const type *)o->src[1] + at[1];     \
        result *out = (result *)o->dst + to;                                                       \
        const type first_a = *a, first_b = *b;                                                     \
        for (size_t i = 0; step[0] && step[1] && i < n; i++) {                                     \
            const type x1 = a[i], x2 = b[i];                                                       \
            out[i] = y;                                                                            \
        }                                                                                          \
        for (size_t i = 0; step[0] && !step[1] && i < n; i++) {                                    \
            const type x1 = a[i], x2 = first_b;                                                    \
            out[i] = y;                                                                            \
        }                                                                                          \
        for (size_t i = 0; !step[0] && i < n; i++) {                                               \
            const type x1 = first_a, x2 = b[step[1] ? i : 0];                                      \
            out[i] = y;                                                                            \
        }                                                                                          \
    }

static ln_status run_two(ln_call *call, const tl_tensor *a, const tl_tensor *b, ln_cpu_row_fn *run)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const operands o = {{a->data, b->data, NULL}, dst->data};
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, (const tl_tensor *[]){a, b}, 2);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), run, &o);
    return LN_OK;
}

// ---- Comparisons ----

#define DEFINE_COMPARISON(name, operator)                                                          \
    DEFINE_ROW(name##_float, float, tl_bool, x1 operator x2, x1, x2)                               \
    DEFINE_ROW(name##_int32, int32_t, tl_bool, x1 operator x2, x1, x2)                             \
    DEFINE_ROW(name##_int64, int64_t, tl_bool, x1 operator x2, x1, x2)
DEFINE_COMPARISON(equal, ==)
DEFINE_COMPARISON(less, <)
DEFINE_COMPARISON(less_or_equal, <=)

// Before version 7 the second input is laid out by attributes.
static ln_status check_layout(ln_call *call)
{
    if (ln_call_since(call) < 7)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for its first versions here");
    return LN_OK;
}

ln_status ln_cpu_accepts_onnx_compare(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    LN_TRY(check_layout(call));
    if (dtype != TL_FLOAT && dtype != TL_INT32 && dtype != TL_INT64)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
    return LN_OK;
}

// `is_turned`: the second input stands on the left.
static ln_status compare(ln_call *call, bool is_turned, ln_cpu_row_fn *floats,
                         ln_cpu_row_fn *int32s, ln_cpu_row_fn *int64s)
{
    const tl_tensor *a = ln_call_in(call, is_turned), *b = ln_call_in(call, !is_turned);
    return run_two(call, a, b,
                   a->dtype == TL_FLOAT   ? floats
                   : a->dtype == TL_INT32 ? int32s
                                          : int64s);
}

ln_status ln_cpu_onnx_equal(ln_call *call)
{
    return compare(call, false, equal_float, equal_int32, equal_int64);
}

ln_status ln_cpu_onnx_less(ln_call *call)
{
    return compare(call, false, less_float, less_int32, less_int64);
}

ln_status ln_cpu_onnx_less_or_equal(ln_call *call)
{
    return compare(call, false, less_or_equal_float, less_or_equal_int32, less_or_equal_int64);
}

ln_status ln_cpu_onnx_greater(ln_call *call)
{
    return compare(call, true, less_float, less_int32, less_int64);
}

ln_status ln_cpu_onnx_greater_or_equal(ln_call *call)
{
    return compare(call, true, less_or_equal_float, less_or_equal_int32, less_or_equal_int64);
}

// ---- Logic ----

DEFINE_ROW(both, tl_bool, tl_bool, x1 &&x2, x1, x2)
DEFINE_ROW(either, tl_bool, tl_bool, x1 || x2, x1, x2)
DEFINE_ROW(one_of_both, tl_bool, tl_bool, !x1 != !x2, x1, x2)
DEFINE_ROW(neither, tl_bool, tl_bool, !(x1 || x2), x1, x2)
DEFINE_ROW(is_nan, float, tl_bool, isnan(x1) || isnan(x2), x1, x2)

ln_status ln_cpu_accepts_onnx_logic(ln_call *call)
{
    return check_layout(call);
}

ln_status ln_cpu_onnx_and(ln_call *call)
{
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 1), both);
}

ln_status ln_cpu_onnx_or(ln_call *call)
{
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 1), either);
}

ln_status ln_cpu_onnx_xor(ln_call *call)
{
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 1), one_of_both);
}

ln_status ln_cpu_onnx_not(ln_call *call)
{
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 0), neither);
}

ln_status ln_cpu_onnx_is_nan(ln_call *call)
{
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 0), is_nan);
}

// ---- Choices ----

#define DEFINE_CHOICE(type)                                                                        \
    static inline __attribute__((always_inline)) void choose_##type(                               \
        const tl_bool *c, const type *x, const size_t x_step, const type *z, const size_t z_step,  \
        type *out, size_t n)                                                                       \
    {                                                                                              \
        const type first_x = *x, first_z = *z;                                                     \
        for (size_t i = 0; i < n; i++) {                                                           \
            type yes = x_step ? x[i] : first_x, no = z_step ? z[i] : first_z;                      \
            out[i] = c[i] ? yes : no;                                                              \
        }                                                                                          \
    }                                                                                              \
    static void where_##type(const void *self, size_t n, const size_t *at, const size_t *step,     \
                             size_t to)                                                            \
    {                                                                                              \
        const operands *o = self;                                                                  \
        const tl_bool *c = (const tl_bool *)o->src[0] + at[0];                                     \
        const type *x = (const type *)o->src[1] + at[1], *z = (const type *)o->src[2] + at[2];     \
        type *out = (type *)o->dst + to;                                                           \
        if (!step[0]) {                                                                            \
            const type *chosen = *c ? x : z;                                                       \
            size_t chosen_step = *c ? step[1] : step[2];                                           \
            for (size_t i = 0; i < n; i++)                                                         \
                out[i] = chosen[i * chosen_step];                                                  \
        } else if (step[1] && step[2]) {                                                           \
            choose_##type(c, x, 1, z, 1, out, n);                                                  \
        } else if (step[1]) {                                                                      \
            choose_##type(c, x, 1, z, 0, out, n);                                                  \
        } else {                                                                                   \
            choose_##type(c, x, 0, z, step[2], out, n);                                            \
        }                                                                                          \
    }
DEFINE_CHOICE(uint8_t)
DEFINE_CHOICE(uint16_t)
DEFINE_CHOICE(uint32_t)
DEFINE_CHOICE(uint64_t)

static ln_cpu_row_fn *choice_of(tl_dtype dtype)
{
    if (dtype == TL_STRING || dtype == TL_OBJECT)
        return NULL;
    switch (tl_size_of(dtype)) {
    case 1: return where_uint8_t;
    case 2: return where_uint16_t;
    case 4: return where_uint32_t;
    case 8: return where_uint64_t;
    default: return NULL;
    }
}

ln_status ln_cpu_accepts_onnx_where(ln_call *call)
{
    if (!choice_of(ln_call_in(call, 1)->dtype))
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
    return LN_OK;
}

ln_status ln_cpu_onnx_where(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const tl_tensor *in[] = {ln_call_in(call, 0), ln_call_in(call, 1), ln_call_in(call, 2)};
    const operands o = {{in[0]->data, in[1]->data, in[2]->data}, dst->data};
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, in, 3);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), choice_of(dst->dtype), &o);
    return LN_OK;
}

// ---- Arithmetic ----

static int64_t rest_of(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t mod_of(int64_t a, int64_t b)
{
    int64_t rest = rest_of(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

DEFINE_ROW(rest_int32, int32_t, int32_t, (int32_t)rest_of(x1, x2), x1, x2)
DEFINE_ROW(rest_int64, int64_t, int64_t, rest_of(x1, x2), x1, x2)
DEFINE_ROW(mod_int32, int32_t, int32_t, (int32_t)mod_of(x1, x2), x1, x2)
DEFINE_ROW(mod_int64, int64_t, int64_t, mod_of(x1, x2), x1, x2)
DEFINE_ROW(rest_float, float, float, fmodf(x1, x2), x1, x2)

ln_status ln_cpu_accepts_onnx_mod(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    bool is_c_rest = ln_call_int(call, "fmod") != 0;
    if (dtype == TL_INT32 || dtype == TL_INT64 || (dtype == TL_FLOAT && is_c_rest))
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
}

ln_status ln_cpu_onnx_mod(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    bool is_c_rest = ln_call_int(call, "fmod") != 0;
    if (a->dtype == TL_FLOAT)
        return run_two(call, a, b, rest_float);
    if (a->dtype == TL_INT32)
        return run_two(call, a, b, is_c_rest ? rest_int32 : mod_int32);
    return run_two(call, a, b, is_c_rest ? rest_int64 : mod_int64);
}

static void power_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const operands *o = self;
    ln_power_f32(ln_cpu_isa_get(), n, (const float *)o->src[0] + at[0], step[0],
                 (const float *)o->src[1] + at[1], step[1], (float *)o->dst + to);
}

ln_status ln_cpu_accepts_onnx_pow(ln_call *call)
{
    LN_TRY(check_layout(call));
    return ln_cpu_accepts_floats(call);
}

ln_status ln_cpu_onnx_pow(ln_call *call)
{
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 1), power_row);
}

ln_status ln_cpu_accepts_onnx_range(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    for (int i = 0; i < 3; i++)
        if (ln_call_in(call, i)->dtype != dtype)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for one type here");
    return dtype == TL_FLOAT || dtype == TL_INT64
               ? LN_OK
               : ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
}

// Whole numbers are counted modulo 2^64.
ln_status ln_cpu_onnx_range(ln_call *call)
{
    const void *start = ln_call_in(call, 0)->data, *delta = ln_call_in(call, 2)->data;
    tl_tensor *dst = ln_call_dst(call, 0);
    if (dst->dtype == TL_INT64) {
        uint64_t first = *(const uint64_t *)start, step = *(const uint64_t *)delta;
        for (int i = 0; i < dst->len; i++)
            ((uint64_t *)dst->data)[i] = first + (uint64_t)i * step;
        return LN_OK;
    }
    double first = (double)*(const float *)start, step = (double)*(const float *)delta;
    for (int i = 0; i < dst->len; i++)
        ((float *)dst->data)[i] = (float)(first + i * step);
    return LN_OK;
}

// ---- Any number of inputs ----

typedef struct folding {
    double *sums;
    const float *src;
    float *dst;
    double scale;
} folding;

static void add_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const folding *f = self;
    const float *src = f->src + at[0];
    for (size_t i = 0; i < n; i++)
        f->sums[to + i] += (double)src[step[0] ? i : 0];
}

static void scale_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const folding *f = self;
    (void)at;
    (void)step;
    for (size_t i = 0; i < n; i++)
        f->dst[to + i] = (float)(f->sums[to + i] / f->scale);
}

static void copy_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const folding *f = self;
    const float *src = f->src + at[0];
    for (size_t i = 0; i < n; i++)
        f->dst[to + i] = src[step[0] ? i : 0];
}

static void fold_input(ln_call *call, int index, folding *f, ln_cpu_row_fn *run)
{
    const tl_tensor *in = ln_call_in(call, index);
    ln_cpu_rows rows;
    f->src = in->data;
    ln_cpu_rows_init(&rows, ln_call_dst(call, 0), &in, 1);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), run, f);
}

static ln_status add_up(ln_call *call, double scale)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    folding f = {.dst = dst->data, .scale = scale};
    f.sums = ln_call_scratch(call, (size_t)dst->len + 1, sizeof *f.sums);
    if (!f.sums)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    for (int i = 0; i < ln_call_in_count(call); i++)
        fold_input(call, i, &f, add_row);
    fold_input(call, 0, &f, scale_row);
    return LN_OK;
}

ln_status ln_cpu_onnx_sum_of_any(ln_call *call)
{
    return add_up(call, 1);
}

ln_status ln_cpu_onnx_mean_of_any(ln_call *call)
{
    return add_up(call, ln_call_in_count(call));
}

static ln_status find_extreme(ln_call *call, tl_elew_op op)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    folding f = {.dst = dst->data};
    fold_input(call, 0, &f, copy_row);
    for (int i = 1; i < ln_call_in_count(call); i++)
        LN_TRY(ln_cpu_elew(ln_cpu_call_pool(call), dst, ln_call_in(call, i), dst, op, LN_ACT_NONE,
                           0, 0));
    return LN_OK;
}

ln_status ln_cpu_onnx_max_of_any(ln_call *call)
{
    return find_extreme(call, TL_MAX);
}

ln_status ln_cpu_onnx_min_of_any(ln_call *call)
{
    return find_extreme(call, TL_MIN);
}
