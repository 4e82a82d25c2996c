// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of other types than float32: comparisons, choices, integers. A loop over
// broadcast rows for each type, in plain C.

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "arch/cpu/broadcast_rows.h"
#include "arch/cpu/call.h"
#include "arch/cpu/elementwise.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "base/minmax.h"
#include "op/elementwise.h"
#include "op/prepare.h"

typedef struct operands {
    const void *src[LN_CPU_ROWS_INPUTS];
    void *dst;
    int op; // of integers
} operands;

#define BLOCK_ELEMS 32

// Defines a row function: `y` from `x1` and `x2`. Whole blocks go by way of one that nothing else
// points to: the output may overwrite an input, and then the compiler would have no vectors.
#define DEFINE_ROW(name, type, result, y, x1, x2)                                                  \
    static void name(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)  \
    {                                                                                              \
        const operands *o = self;                                                                  \
        const type *a = (const type *)o->src[0] + at[0], *b = (const type *)o->src[1] + at[1];     \
        result *out = (result *)o->dst + to, block[BLOCK_ELEMS];                                   \
        const type first_a = *a, first_b = *b;                                                     \
        const bool is_row_a = step[0] != 0, is_row_b = step[1] != 0;                               \
        size_t done = 0;                                                                           \
        for (; n - done >= BLOCK_ELEMS; done += BLOCK_ELEMS) {                                     \
            for (size_t i = 0; i < BLOCK_ELEMS; i++) {                                             \
                const type x1 = is_row_a ? a[done + i] : first_a;                                  \
                const type x2 = is_row_b ? b[done + i] : first_b;                                  \
                block[i] = y;                                                                      \
            }                                                                                      \
            memcpy(out + done, block, sizeof block);                                               \
        }                                                                                          \
        for (; done < n; done++) {                                                                 \
            const type x1 = is_row_a ? a[done] : first_a, x2 = is_row_b ? b[done] : first_b;       \
            out[done] = y;                                                                         \
        }                                                                                          \
    }

static ln_status run_two(ln_call *call, const tl_tensor *a, const tl_tensor *b, ln_cpu_row_fn *run,
                         int op)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const operands o = {{a->data, b->data, NULL}, dst->data, op};
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
DEFINE_COMPARISON(not_equal, !=)
DEFINE_COMPARISON(less, <)
DEFINE_COMPARISON(less_equal, <=)
DEFINE_ROW(equal_bool, tl_bool, tl_bool, !x1 == !x2, x1, x2)
DEFINE_ROW(not_equal_bool, tl_bool, tl_bool, !x1 != !x2, x1, x2)

// NULL where arch ref does it. What is greater is less with the operands exchanged.
static ln_cpu_row_fn *comparison_of(int relations, tl_dtype dtype)
{
    static ln_cpu_row_fn *const rows[][4] = {
        {equal_float, equal_int32, equal_int64, equal_bool},
        {not_equal_float, not_equal_int32, not_equal_int64, not_equal_bool},
        {less_float, less_int32, less_int64, NULL},
        {less_equal_float, less_equal_int32, less_equal_int64, NULL},
    };
    bool is_or_equal = (relations & LN_IS_EQUAL) != 0;
    int row = relations & LN_IS_UNORDERED ? 1 : relations == LN_IS_EQUAL ? 0 : 2 + is_or_equal;
    switch (dtype) {
    case TL_FLOAT: return rows[row][0];
    case TL_INT32: return rows[row][1];
    case TL_INT64: return rows[row][2];
    case TL_BOOL: return rows[row][3];
    default: return NULL;
    }
}

ln_status ln_cpu_accepts_compare(ln_call *call)
{
    int relations;
    LN_TRY(ln_compare_read(call, &relations));
    if (!comparison_of(relations, ln_call_in(call, 0)->dtype))
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_compare, int, ln_compare_read)

ln_status ln_cpu_compute_compare(ln_call *call)
{
    static const uint64_t nothing;
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    const tl_tensor zero = {.dtype = a->dtype, .len = 1, .data = (void *)(uintptr_t)&nothing};
    int relations = *(const int *)ln_call_prepared(call);
    ln_cpu_row_fn *run = comparison_of(relations, a->dtype);
    b = b ? b : &zero;
    bool is_turned = (relations & LN_IS_GREATER) && !(relations & LN_IS_LESS);
    return run_two(call, is_turned ? b : a, is_turned ? a : b, run, 0);
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

ln_status ln_cpu_accepts_select(ln_call *call)
{
    if (!choice_of(ln_call_in(call, 1)->dtype))
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for this type here");
    return LN_OK;
}

ln_status ln_cpu_compute_select(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    const tl_tensor *in[] = {ln_call_in(call, 0), ln_call_in(call, 1), ln_call_in(call, 2)};
    const operands o = {{in[0]->data, in[1]->data, in[2]->data}, dst->data, 0};
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
DEFINE_ROW(both, tl_bool, tl_bool, x1 &&x2, x1, x2)
DEFINE_ROW(either, tl_bool, tl_bool, x1 || x2, x1, x2)

// More elements than above: each operand is copied by a call.
#define INTEGER_ELEMS 256

// Sums, differences and products wrap. Operands are copied, so that one loop of so many elements is
// enough for each operation, whichever of them are repeated.
#define DEFINE_INTEGERS(bits)                                                                      \
    static void combine_##bits(int op, uint##bits##_t *x, const uint##bits##_t *z)                 \
    {                                                                                              \
        const bool is_max = op == TL_MAX;                                                          \
        for (size_t i = 0; op == TL_SUM && i < INTEGER_ELEMS; i++)                                 \
            x[i] += z[i];                                                                          \
        for (size_t i = 0; op == TL_SUB && i < INTEGER_ELEMS; i++)                                 \
            x[i] -= z[i];                                                                          \
        for (size_t i = 0; op == TL_MUL && i < INTEGER_ELEMS; i++)                                 \
            x[i] *= z[i];                                                                          \
        for (size_t i = 0; (is_max || op == TL_MIN) && i < INTEGER_ELEMS; i++)                     \
            x[i] = ((int##bits##_t)x[i] > (int##bits##_t)z[i]) == is_max ? x[i] : z[i];            \
    }                                                                                              \
    static void integers_##bits(const void *self, size_t n, const size_t *at, const size_t *step,  \
                                size_t to)                                                         \
    {                                                                                              \
        const operands *o = self;                                                                  \
        const uint##bits##_t *a = (const uint##bits##_t *)o->src[0] + at[0];                       \
        const uint##bits##_t *b = (const uint##bits##_t *)o->src[1] + at[1];                       \
        uint##bits##_t *out = (uint##bits##_t *)o->dst + to, x[INTEGER_ELEMS], z[INTEGER_ELEMS];   \
        const uint##bits##_t first_a = *a, first_b = *b;                                           \
        for (size_t i = 0; i < INTEGER_ELEMS; i++)                                                 \
            z[i] = first_b;                                                                        \
        for (size_t i = 0; i < n; i += INTEGER_ELEMS) {                                            \
            const size_t some = ln_min(n - i, (size_t)INTEGER_ELEMS) * sizeof *x;                  \
            for (size_t k = 0; k < INTEGER_ELEMS; k++)                                             \
                x[k] = first_a;                                                                    \
            if (step[0] != 0)                                                                      \
                memcpy(x, a + i, some);                                                            \
            if (step[1] != 0)                                                                      \
                memcpy(z, b + i, some);                                                            \
            combine_##bits(o->op, x, z);                                                           \
            memcpy(out + i, x, some);                                                              \
        }                                                                                          \
    }
DEFINE_INTEGERS(32)
DEFINE_INTEGERS(64)

static void power_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const operands *o = self;
    ln_power_f32(ln_cpu_isa_get(), n, (const float *)o->src[0] + at[0], step[0],
                 (const float *)o->src[1] + at[1], step[1], (float *)o->dst + to);
}

static ln_cpu_row_fn *arithmetic_of(int op, tl_dtype dtype)
{
    if (op == LN_ELEW_POWER)
        return power_row;
    if (dtype != TL_BOOL &&
        (op == TL_SUM || op == TL_SUB || op == TL_MUL || op == TL_MIN || op == TL_MAX))
        return dtype == TL_INT32 ? integers_32 : integers_64;
    if (op == TL_MIN || op == TL_MAX)
        return op == TL_MIN ? both : either;
    if (dtype == TL_FLOAT)
        return rest_float;
    bool is_rest = op == LN_ELEW_REST;
    return dtype == TL_INT32 ? (is_rest ? rest_int32 : mod_int32)
                             : (is_rest ? rest_int64 : mod_int64);
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

// The output may overwrite the first operand or the second. What is combined with nothing is
// copied.
static ln_status find_extreme(ln_call *call, tl_elew_op op)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    folding f = {.dst = dst->data};
    int count = ln_call_in_count(call);
    bool is_over_second = count > 1 && ln_call_in(call, 1)->data == dst->data;
    if (!is_over_second)
        fold_input(call, 0, &f, copy_row);
    for (int i = 1; i < count; i++)
        LN_TRY(ln_cpu_elew(ln_cpu_call_pool(call),
                           i == 1 && is_over_second ? ln_call_in(call, 0) : dst,
                           ln_call_in(call, i), dst, op, LN_ACT_NONE, 0, 0));
    return LN_OK;
}

ln_status ln_cpu_elew_rows(ln_call *call, int op)
{
    int count = ln_call_in_count(call);
    bool is_binary = count == 2 && op != LN_ELEW_MEAN;
    if (!is_binary && count > 1 && (op == TL_SUM || op == LN_ELEW_MEAN))
        return add_up(call, op == TL_SUM ? 1 : count);
    if (ln_call_is_counting(call))
        return LN_OK;
    if (!is_binary)
        return find_extreme(call, (tl_elew_op)op);
    return run_two(call, ln_call_in(call, 0), ln_call_in(call, 1),
                   arithmetic_of(op, ln_call_in(call, 0)->dtype), op);
}
