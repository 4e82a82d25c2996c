// SPDX-License-Identifier: Apache-2.0
// Functions of one element.

#include <math.h>
#include <string.h>

#include "arch/ref/act.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "base/deadline.h"
#include "op/elementwise.h"
#include "tensor/elem.h"

ln_number_kind ln_number_kind_of(tl_dtype dtype)
{
    uint64_t type = LN_TYPE(dtype);
    if (type & (LN_TYPES_SIGNED | LN_TYPE(TL_INT4) | LN_TYPE(TL_INT2)))
        return LN_NUMBER_WHOLE;
    if (type & (LN_TYPES_UNSIGNED | LN_TYPE(TL_UINT4) | LN_TYPE(TL_UINT2) | LN_TYPE(TL_BOOL)))
        return LN_NUMBER_NATURAL;
    return LN_NUMBER_REAL;
}

double ln_real_max(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

double ln_real_min(double a, double b)
{
    return a < b || isnan(a) ? a : b;
}

// ---- Functions of a double ----

static double reciprocal(double x)
{
    return 1 / x;
}

static double sign(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

static double celu(double x, double alpha, double unused)
{
    (void)unused;
    return ln_real_max(0, x) + ln_real_min(0, alpha * expm1(x / alpha));
}

static double shrink(double x, double bias, double lambd)
{
    return x < -lambd ? x + bias : x > lambd ? x - bias : isnan(x) ? x : 0;
}

static double parametric_softplus(double x, double alpha, double beta)
{
    return alpha * ln_ref_act(LN_ACT_SOFTPLUS, 0, 0, beta * x);
}

// ---- Frames ----

static ln_status map_plain(ln_call *call, double (*f)(double))
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, f(ln_elem_real(src, i)));
    return LN_OK;
}

static ln_status map_shaped(ln_call *call, double (*f)(double, double, double), const char *first,
                            const char *second)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    double a = first ? ln_call_float(call, first) : 0;
    double b = second ? ln_call_float(call, second) : 0;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i, f(ln_elem_real(src, i), a, b));
    return LN_OK;
}

// A function that has a meaning of its own in integers.
typedef struct number_function {
    double (*real)(double x);
    int64_t (*whole)(int64_t x);
    int64_t (*natural)(int64_t x);
} number_function;

static ln_status map_number(ln_call *call, const number_function *f)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_number_kind kind = ln_number_kind_of(src->dtype);
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        if (kind == LN_NUMBER_REAL)
            ln_elem_set_real(dst, i, f->real(ln_elem_real(src, i)));
        else
            ln_elem_set_int(dst, i,
                            (kind == LN_NUMBER_WHOLE ? f->whole : f->natural)(ln_elem_int(src, i)));
    }
    return LN_OK;
}

#define DEFINE_PLAIN(name, function)                                                               \
    ln_status ln_ref_onnx_##name(ln_call *call)                                                    \
    {                                                                                              \
        return map_plain(call, function);                                                          \
    }
DEFINE_PLAIN(floor, floor)
DEFINE_PLAIN(ceil, ceil)
DEFINE_PLAIN(round, rint)
DEFINE_PLAIN(sqrt, sqrt)

#define DEFINE_SHAPED(name, function, first, second)                                               \
    ln_status ln_ref_onnx_##name(ln_call *call)                                                    \
    {                                                                                              \
        return map_shaped(call, function, first, second);                                          \
    }
DEFINE_SHAPED(celu, celu, "alpha", NULL)
DEFINE_SHAPED(shrink, shrink, "bias", "lambd")
DEFINE_SHAPED(parametric_softplus, parametric_softplus, "alpha", "beta")

ln_status ln_ref_onnx_image_scaler(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    double scale = ln_call_float(call, "scale");
    size_t channels = src->ndim > 1 ? (size_t)src->dims[1] : 1;
    size_t pixels = src->len ? (size_t)src->len / (size_t)src->dims[0] / channels : 1;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++)
        ln_elem_set_real(dst, i,
                         scale * ln_elem_real(src, i) +
                             ln_call_float_at(call, "bias", (int)(i / pixels % channels)));
    return LN_OK;
}

ln_status ln_ref_func(ln_call *call)
{
#define FUNCTION(constant, name, function) [LN_FUNC_##constant] = function,
    static double (*const functions[])(double) = {LN_FUNC_LIST(FUNCTION)};
#undef FUNCTION
    ln_func func;
    LN_TRY(ln_func_read(call, &func));
    return map_plain(call, functions[func]);
}

// ---- Functions that integers have too ----

static ln_status map_act(ln_call *call, ln_act act)
{
    ln_ref_act_tensor(ln_call_in(call, 0), ln_call_dst(call, 0), act, 0, 0);
    return LN_OK;
}

ln_status ln_ref_onnx_abs(ln_call *call)
{
    return map_act(call, LN_ACT_ABS);
}

ln_status ln_ref_onnx_neg(ln_call *call)
{
    return map_act(call, LN_ACT_NEG);
}

static int64_t whole_sign(int64_t x)
{
    return (x > 0) - (x < 0);
}

static int64_t natural_sign(int64_t x)
{
    return x != 0;
}

ln_status ln_ref_onnx_sign(ln_call *call)
{
    return map_number(call, &(number_function){sign, whole_sign, natural_sign});
}

static int64_t whole_inverse(int64_t x)
{
    return ~x;
}

ln_status ln_ref_onnx_bitwise_not(ln_call *call)
{
    return map_number(call, &(number_function){NULL, whole_inverse, whole_inverse});
}

static int64_t natural_is_zero(int64_t x)
{
    return x == 0;
}

ln_status ln_ref_onnx_logical_not(ln_call *call)
{
    return map_number(call, &(number_function){NULL, whole_inverse, natural_is_zero});
}

// ---- Questions ----

ln_status ln_ref_onnx_is_inf(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    bool wants_negative = ln_call_int(call, "detect_negative") != 0;
    bool wants_positive = ln_call_int(call, "detect_positive") != 0;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        double x = ln_elem_real(src, i);
        ln_elem_set_int(dst, i, isinf(x) && (x < 0 ? wants_negative : wants_positive));
    }
    return LN_OK;
}

// ---- Copies ----

static ln_status copy_strings(ln_call *call, const tl_tensor *src)
{
    const char *const *strings = src->data;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        const char *string = strings[i] ? strings[i] : "";
        LN_TRY(ln_call_set_string(call, 0, i, string, strlen(string)));
    }
    return LN_OK;
}

static ln_status copy_object(ln_call *call)
{
    ln_object *object = ln_call_in_object(call, 0);
    if (!object)
        return LN_NO_MEMORY;
    ln_status status = ln_call_set_object(call, 0, object);
    ln_object_release(object);
    return status;
}

ln_status ln_ref_onnx_identity(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->dtype == TL_OBJECT)
        return copy_object(call);
    if (src->dtype == TL_STRING)
        return copy_strings(call, src);
    if (src->len > 0)
        memcpy(ln_call_dst(call, 0)->data, src->data, tl_tensor_size(src));
    return LN_OK;
}
