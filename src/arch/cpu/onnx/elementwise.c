// SPDX-License-Identifier: Apache-2.0
// From ONNX's elementwise operators to the kernels' arguments.

#include "arch/cpu/functions.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "arch/cpu/elementwise.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/onnx/pool_of.h"
static const float *floats(const tl_tensor *t)
{
    return t ? t->data : NULL;
}

// ---- One input ----

typedef void function_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

static ln_status run_function(ln_call *call, function_f32 *function)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    function(ln_cpu_isa_get(), (size_t)dst->len, floats(ln_call_in(call, 0)), dst->data,
             ln_cpu_call_pool(call));
    return LN_OK;
}

ln_status ln_cpu_onnx_log(ln_call *call)
{
    return run_function(call, ln_log_f32);
}

ln_status ln_cpu_onnx_sin(ln_call *call)
{
    return run_function(call, ln_sin_f32);
}

ln_status ln_cpu_onnx_cos(ln_call *call)
{
    return run_function(call, ln_cos_f32);
}

ln_status ln_cpu_onnx_reciprocal(ln_call *call)
{
    float one = 1;
    const tl_tensor numerator = {.dtype = TL_FLOAT, .len = 1, .ndim = 0, .data = &one};
    return ln_cpu_elew(ln_cpu_call_pool(call), &numerator, ln_call_in(call, 0),
                       ln_call_dst(call, 0), TL_DIV, LN_ACT_NONE, 0, 0);
}

static double bound_of(const ln_call *call, int index, const char *param, double otherwise)
{
    const tl_tensor *bound = ln_call_in(call, index);
    if (bound)
        return (double)*floats(bound);
    return ln_call_has(call, param) ? ln_call_float(call, param) : otherwise;
}

ln_status ln_cpu_onnx_clip(ln_call *call)
{
    double least = bound_of(call, 1, "min", -INFINITY), most = bound_of(call, 2, "max", INFINITY);
    return ln_cpu_act(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_dst(call, 0),
                      LN_ACT_CLIP, (float)least, (float)most);
}

// ---- Two inputs ----

// Before version 7 the second input is laid out by attributes.
ln_status ln_cpu_accepts_onnx_binary(ln_call *call)
{
    if (ln_call_since(call) < 7)
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for its first versions here");
    return ln_cpu_accepts_floats(call);
}

ln_status ln_cpu_onnx_div(ln_call *call)
{
    return ln_cpu_elew(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1),
                       ln_call_dst(call, 0), TL_DIV, LN_ACT_NONE, 0, 0);
}
