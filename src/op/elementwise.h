// SPDX-License-Identifier: Apache-2.0
// The core's element-wise operators: shapes, and what their parameters say.

#ifndef LN_OP_ELEMENTWISE_H
#define LN_OP_ELEMENTWISE_H

#include <lightnet/act.h>
#include <lightnet/call.h>

LN_CPPSTART

// An activation with its numbers.
typedef struct ln_act_of {
    ln_act act;
    float alpha, beta;
} ln_act_of;

// What the parameters `act`, `alpha` and `beta` say.
ln_status ln_act_read(ln_call *call, ln_act_of *out_act);

// What `elew_op` may say besides a tl_elew_op.
enum {
    LN_ELEW_MEAN = TL_ELEW_OP_SIZE, // of any number of operands
    LN_ELEW_MOD,                    // the rest with the sign of the divisor
    LN_ELEW_REST,                   // the rest with the sign of the dividend
    LN_ELEW_POWER,                  // C's pow
};

// What the parameter `elew_op` says: a tl_elew_op or one of these.
ln_status ln_elew_op_read(ln_call *call, int *out_op);

// Functions of one element that no operator applies to what it has computed: X(CONSTANT, name, the
// function of C, or what its user calls so).
#define LN_FUNC_LIST(X)                                                                            \
    X(LOG, log, log)                                                                               \
    X(RECIPROCAL, reciprocal, reciprocal)                                                          \
    X(SIN, sin, sin)                                                                               \
    X(COS, cos, cos)                                                                               \
    X(TAN, tan, tan)                                                                               \
    X(ASIN, asin, asin)                                                                            \
    X(ACOS, acos, acos)                                                                            \
    X(ATAN, atan, atan)                                                                            \
    X(SINH, sinh, sinh)                                                                            \
    X(COSH, cosh, cosh)                                                                            \
    X(ASINH, asinh, asinh)                                                                         \
    X(ACOSH, acosh, acosh)                                                                         \
    X(ATANH, atanh, atanh)                                                                         \
    X(FLOOR, floor, floor)                                                                         \
    X(CEIL, ceil, ceil)                                                                            \
    X(ROUND, round, rint)                                                                          \
    X(SIGN, sign, sign)

typedef enum ln_func {
#define LN_FUNC_ENUM(constant, name, function) LN_FUNC_##constant,
    LN_FUNC_LIST(LN_FUNC_ENUM)
#undef LN_FUNC_ENUM
        LN_FUNC_COUNT
} ln_func;

// What the parameter `func` says.
ln_status ln_func_read(ln_call *call, ln_func *out_func);

// How two elements relate. Where one is NaN they are unordered.
enum { LN_IS_LESS = 1, LN_IS_EQUAL = 2, LN_IS_GREATER = 4, LN_IS_UNORDERED = 8 };

// Those relations that the parameter `kind` of a comparison asks for.
ln_status ln_compare_read(ln_call *call, int *out_relations);

LN_CPPEND

#endif
