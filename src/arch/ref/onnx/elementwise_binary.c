// SPDX-License-Identifier: Apache-2.0
// Functions of two elements, with broadcasting.

#include <math.h>
#include <string.h>

#include "arch/ref/act.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "base/deadline.h"
#include "op/elementwise.h"
#include "tensor/elem.h"

// The same function for each kind of number; NULL where the operator does not take the kind.
// Integers are modulo 2^64; a natural one that is NULL is the whole one.
typedef struct number_function {
    double (*real)(double a, double b);
    int64_t (*whole)(int64_t a, int64_t b);
    int64_t (*natural)(int64_t a, int64_t b);
} number_function;

typedef struct operands {
    const tl_tensor *a, *b;
    tl_tensor *dst;
    tl_tensor zero; // in the place of a second operand that is absent
    ln_ref_rows rows;
} operands;

static ln_status get_operands(ln_call *call, operands *o)
{
    static const uint64_t nothing[2];
    ln_shaped second = {0};
    o->a = ln_call_in(call, 0);
    o->b = ln_call_in(call, 1);
    o->dst = ln_call_dst(call, 0);
    o->zero = (tl_tensor){.dtype = o->a->dtype, .len = 1, .data = (void *)(uintptr_t)nothing};
    if (o->b)
        LN_TRY(ln_second_operand(call, &second));
    else
        o->b = &o->zero;
    LN_TRY(ln_ref_rows_init(call, &o->rows, 2, o->dst->ndim, o->dst->dims));
    ln_ref_rows_operand(&o->rows, 0, o->a->ndim, o->a->dims);
    ln_ref_rows_operand(&o->rows, 1, second.ndim, second.dims);
    return LN_OK;
}

static void combine_real(operands *o, double (*f)(double, double))
{
    ln_ref_rows *rows = &o->rows;
    while (ln_ref_rows_next(rows))
        for (size_t i = 0; i < rows->len && !ln_deadline_passed_at(i); i++)
            ln_elem_set_real(o->dst, rows->start + i,
                             f(ln_elem_real(o->a, ln_ref_rows_at(rows, 0, i)),
                               ln_elem_real(o->b, ln_ref_rows_at(rows, 1, i))));
}

static void combine_integer(operands *o, int64_t (*f)(int64_t, int64_t))
{
    ln_ref_rows *rows = &o->rows;
    while (ln_ref_rows_next(rows))
        for (size_t i = 0; i < rows->len && !ln_deadline_passed_at(i); i++)
            ln_elem_set_int(o->dst, rows->start + i,
                            f(ln_elem_int(o->a, ln_ref_rows_at(rows, 0, i)),
                              ln_elem_int(o->b, ln_ref_rows_at(rows, 1, i))));
}

static ln_status combine_operands(ln_call *call, operands *o, const number_function *f)
{
    ln_number_kind kind = ln_number_kind_of(o->a->dtype);
    int64_t (*integer)(int64_t, int64_t) =
        kind == LN_NUMBER_NATURAL && f->natural ? f->natural : f->whole;
    if (kind == LN_NUMBER_REAL && f->real)
        combine_real(o, f->real);
    else if (kind != LN_NUMBER_REAL && integer)
        combine_integer(o, integer);
    else
        return ln_call_fail(call, LN_UNSUPPORTED, "does not take elements of type %s",
                            tl_dtype_title(o->a->dtype));
    return LN_OK;
}

static ln_status combine(ln_call *call, const number_function *f)
{
    operands o;
    LN_TRY(get_operands(call, &o));
    return combine_operands(call, &o, f);
}

// ---- Arithmetic ----

#define DEFINE_ARITHMETIC(name, operator)                                                          \
    static double real_##name(double a, double b)                                                  \
    {                                                                                              \
        return a operator b;                                                                       \
    }                                                                                              \
    static int64_t whole_##name(int64_t a, int64_t b)                                              \
    {                                                                                              \
        return (int64_t)((uint64_t)a operator(uint64_t) b);                                        \
    }                                                                                              \
    ln_status ln_ref_onnx_##name(ln_call *call)                                                    \
    {                                                                                              \
        return combine(call, &(number_function){real_##name, whole_##name, NULL});                 \
    }
DEFINE_ARITHMETIC(add, +)
DEFINE_ARITHMETIC(sub, -)
DEFINE_ARITHMETIC(mul, *)

static double real_div(double a, double b)
{
    return a / b;
}

static int64_t whole_div(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t natural_div(int64_t a, int64_t b)
{
    return b ? (int64_t)((uint64_t)a / (uint64_t)b) : 0;
}

// Of every element that divides, before anything is written.
static ln_status check_divisors(const tl_tensor *t)
{
    for (size_t i = 0; i < (size_t)t->len && !ln_deadline_passed_at(i); i++)
        if (ln_elem_int(t, i) == 0)
            return LN_FAIL(LN_INVALID, "integer division by zero at element %zu", i);
    return LN_OK;
}

ln_status ln_ref_onnx_div(ln_call *call)
{
    return combine(call, &(number_function){real_div, whole_div, natural_div});
}

static int64_t whole_rest(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t natural_rest(int64_t a, int64_t b)
{
    return b ? (int64_t)((uint64_t)a % (uint64_t)b) : 0;
}

// The rest with the sign of the divisor.
static double real_mod(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t whole_mod(int64_t a, int64_t b)
{
    int64_t rest = whole_rest(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// ---- Powers ----

// Modulo 2^64.
static int64_t whole_power(int64_t base, uint64_t exponent)
{
    uint64_t result = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent >>= 1, factor *= factor)
        if (exponent & 1)
            result *= factor;
    return (int64_t)result;
}

// What is left of the fraction when it is truncated.
static int64_t inverse_power(int64_t base, int64_t negative_exponent)
{
    if (base == 1)
        return 1;
    return base == -1 ? (negative_exponent % 2 ? -1 : 1) : 0;
}

// Base and exponent may be of different types; the result is of the type of the base.
ln_status ln_ref_onnx_pow(ln_call *call)
{
    operands o;
    LN_TRY(get_operands(call, &o));
    ln_number_kind exponent_kind = ln_number_kind_of(o.b->dtype);
    if (ln_number_kind_of(o.a->dtype) == LN_NUMBER_REAL || exponent_kind == LN_NUMBER_REAL) {
        combine_real(&o, pow);
        return LN_OK;
    }
    ln_ref_rows *rows = &o.rows;
    while (ln_ref_rows_next(rows))
        for (size_t i = 0; i < rows->len && !ln_deadline_passed_at(i); i++) {
            int64_t base = ln_elem_int(o.a, ln_ref_rows_at(rows, 0, i));
            int64_t exponent = ln_elem_int(o.b, ln_ref_rows_at(rows, 1, i));
            bool is_inverse = exponent_kind == LN_NUMBER_WHOLE && exponent < 0;
            ln_elem_set_int(o.dst, rows->start + i,
                            is_inverse ? inverse_power(base, exponent)
                                       : whole_power(base, (uint64_t)exponent));
        }
    return LN_OK;
}

// ---- The core's arithmetic ----

static int64_t whole_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t whole_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t natural_max(int64_t a, int64_t b)
{
    return (uint64_t)a > (uint64_t)b ? a : b;
}

static int64_t natural_min(int64_t a, int64_t b)
{
    return (uint64_t)a < (uint64_t)b ? a : b;
}

// Through double, whatever the type, and too large is the largest.
static ln_status raise_to_powers(ln_call *call)
{
    operands o;
    LN_TRY(get_operands(call, &o));
    size_t size = tl_size_of(o.dst->dtype);
    ln_ref_rows *rows = &o.rows;
    while (ln_ref_rows_next(rows))
        for (size_t i = 0; i < rows->len && !ln_deadline_passed_at(i); i++) {
            double power = pow(ln_elem_real(o.a, ln_ref_rows_at(rows, 0, i)),
                               ln_elem_real(o.b, ln_ref_rows_at(rows, 1, i)));
            if (TL_DTYPE_IS_NATIVE(o.dst->dtype))
                (void)tl_convert((char *)o.dst->data + (rows->start + i) * size, o.dst->dtype,
                                 &power, TL_DOUBLE);
            else
                ln_elem_set_real(o.dst, rows->start + i, power);
        }
    return LN_OK;
}

static ln_status elew(ln_call *call, int op)
{
    static const number_function functions[] = {
        [TL_MUL] = {real_mul, whole_mul, NULL},
        [TL_DIV] = {real_div, whole_div, natural_div},
        [TL_SUM] = {real_add, whole_add, NULL},
        [TL_SUB] = {real_sub, whole_sub, NULL},
        [TL_MAX] = {ln_real_max, whole_max, natural_max},
        [TL_MIN] = {ln_real_min, whole_min, natural_min},
        [LN_ELEW_MOD] = {real_mod, whole_mod, natural_rest},
        [LN_ELEW_REST] = {fmod, whole_rest, natural_rest},
        [LN_ELEW_POWER] = {pow, NULL, NULL},
    };
    if (ln_call_in_count(call) != 2 || op == LN_ELEW_MEAN)
        return ln_ref_fold(call, op);
    if (ln_call_is_counting(call))
        return LN_OK;
    const tl_tensor *divisor = ln_call_in(call, 1);
    if (op == TL_POW)
        return raise_to_powers(call);
    if (op == TL_DIV && ln_number_kind_of(divisor->dtype) != LN_NUMBER_REAL &&
        ln_call_dst(call, 0)->len > 0)
        LN_TRY(check_divisors(divisor));
    return combine(call, &functions[op]);
}

ln_status ln_ref_onnx_mod(ln_call *call)
{
    return elew(call, ln_call_int(call, "fmod") ? LN_ELEW_REST : LN_ELEW_MOD);
}

ln_status ln_ref_elew(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    int op;
    ln_act_of of;
    LN_TRY(ln_elew_op_read(call, &op));
    LN_TRY(ln_act_read(call, &of));
    LN_TRY(elew(call, op));
    if (of.act != LN_ACT_NONE && !ln_call_is_counting(call))
        ln_ref_act_tensor(dst, dst, of.act, (double)of.alpha, (double)of.beta);
    return LN_OK;
}

// ---- Bits ----

#define DEFINE_BITS(name, operator)                                                                \
    static int64_t whole_##name(int64_t a, int64_t b)                                              \
    {                                                                                              \
        return a operator b;                                                                       \
    }                                                                                              \
    ln_status ln_ref_onnx_##name(ln_call *call)                                                    \
    {                                                                                              \
        return combine(call, &(number_function){NULL, whole_##name, NULL});                        \
    }
DEFINE_BITS(bits_and, &)
DEFINE_BITS(bits_or, |)
DEFINE_BITS(bits_xor, ^)

static int64_t shift_left(int64_t a, int64_t b)
{
    return (uint64_t)b < 64 ? (int64_t)((uint64_t)a << b) : 0;
}

static int64_t shift_right(int64_t a, int64_t b)
{
    return (uint64_t)b < 64 ? (int64_t)((uint64_t)a >> b) : 0;
}

ln_status ln_ref_onnx_bit_shift(ln_call *call)
{
    bool is_left = strcmp(ln_call_string(call, "direction"), "LEFT") == 0;
    return combine(call, &(number_function){NULL, NULL, is_left ? shift_left : shift_right});
}

// ---- Comparisons ----

static int relation_of_order(int order)
{
    return order < 0 ? LN_IS_LESS : order > 0 ? LN_IS_GREATER : LN_IS_EQUAL;
}

static int relation_of_strings(const tl_tensor *a, size_t i, const tl_tensor *b, size_t j)
{
    const char *s = ((const char *const *)a->data)[i], *t = ((const char *const *)b->data)[j];
    return relation_of_order(strcmp(s ? s : "", t ? t : ""));
}

static int relation(const tl_tensor *a, size_t i, const tl_tensor *b, size_t j, ln_number_kind kind)
{
    if (kind == LN_NUMBER_REAL) {
        double x = ln_elem_real(a, i), y = ln_elem_real(b, j);
        return isunordered(x, y) ? LN_IS_UNORDERED : relation_of_order((x > y) - (x < y));
    }
    int64_t x = ln_elem_int(a, i), y = ln_elem_int(b, j);
    if (kind == LN_NUMBER_WHOLE)
        return relation_of_order((x > y) - (x < y));
    return relation_of_order(((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y));
}

static ln_status compare(ln_call *call, int wanted)
{
    operands o;
    LN_TRY(get_operands(call, &o));
    ln_number_kind kind = ln_number_kind_of(o.a->dtype);
    bool is_string = o.a->dtype == TL_STRING;
    ln_ref_rows *rows = &o.rows;
    while (ln_ref_rows_next(rows))
        for (size_t i = 0; i < rows->len && !ln_deadline_passed_at(i); i++) {
            size_t at_a = ln_ref_rows_at(rows, 0, i), at_b = ln_ref_rows_at(rows, 1, i);
            int found = is_string ? relation_of_strings(o.a, at_a, o.b, at_b)
                                  : relation(o.a, at_a, o.b, at_b, kind);
            ln_elem_set_int(o.dst, rows->start + i, (found & wanted) != 0);
        }
    return LN_OK;
}

ln_status ln_ref_compare(ln_call *call)
{
    int relations;
    LN_TRY(ln_compare_read(call, &relations));
    return compare(call, relations);
}

#define DEFINE_COMPARISON(name, relations)                                                         \
    ln_status ln_ref_onnx_##name(ln_call *call)                                                    \
    {                                                                                              \
        return compare(call, relations);                                                           \
    }
DEFINE_COMPARISON(equal, LN_IS_EQUAL)
DEFINE_COMPARISON(less, LN_IS_LESS)
DEFINE_COMPARISON(less_or_equal, LN_IS_LESS | LN_IS_EQUAL)
DEFINE_COMPARISON(greater, LN_IS_GREATER)
DEFINE_COMPARISON(greater_or_equal, LN_IS_GREATER | LN_IS_EQUAL)

// ---- Slopes and gates ----

static double real_prelu(double x, double slope)
{
    return x < 0 ? x * slope : x;
}

static int64_t whole_prelu(int64_t x, int64_t slope)
{
    return x < 0 ? whole_mul(x, slope) : x;
}

static int64_t natural_prelu(int64_t x, int64_t slope)
{
    (void)slope;
    return x;
}

ln_status ln_ref_onnx_prelu(ln_call *call)
{
    ln_shaped slope;
    LN_TRY(ln_prelu_slope(call, &slope));
    operands o = {.a = ln_call_in(call, 0), .b = ln_call_in(call, 1), .dst = ln_call_dst(call, 0)};
    LN_TRY(ln_ref_rows_init(call, &o.rows, 2, o.dst->ndim, o.dst->dims));
    ln_ref_rows_operand(&o.rows, 0, o.a->ndim, o.a->dims);
    ln_ref_rows_operand(&o.rows, 1, slope.ndim, slope.dims);
    return combine_operands(call, &o, &(number_function){real_prelu, whole_prelu, natural_prelu});
}

ln_status ln_ref_onnx_swiglu(ln_call *call)
{
    const tl_tensor *gate = ln_call_in(call, 0), *value = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    double alpha = ln_call_float(call, "alpha");
    for (size_t i = 0; i < (size_t)gate->len && !ln_deadline_passed_at(i); i++) {
        double x = ln_elem_real(gate, i);
        ln_elem_set_real(dst, i,
                         x * ln_ref_act(LN_ACT_SIGMOID, 0, 0, alpha * x) * ln_elem_real(value, i));
    }
    return LN_OK;
}
