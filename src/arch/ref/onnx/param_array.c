// SPDX-License-Identifier: Apache-2.0
// Array parameters of a call as C arrays in scratch memory.

#include "arch/ref/onnx/param_array.h"

#include "tensor/elem.h"

static size_t length(const ln_call *call, const char *name)
{
    return ln_call_has(call, name) ? (size_t)ln_call_count(call, name) : 0;
}

ln_status ln_ref_param_ints(ln_call *call, const char *name, size_t *out_count,
                            const int64_t **out_values)
{
    size_t count = length(call, name);
    int64_t *values = ln_call_scratch(call, count + 1, sizeof *values);
    if (!values)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        values[i] = ln_call_int_at(call, name, (int)i);
    *out_count = count;
    *out_values = values;
    return LN_OK;
}

ln_status ln_ref_param_strings(ln_call *call, const char *name, size_t *out_count,
                               const char *const **out_values)
{
    size_t count = length(call, name);
    const char **values = ln_call_scratch(call, count + 1, sizeof *values);
    if (!values)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        values[i] = ln_call_string_at(call, name, (int)i);
    *out_count = count;
    *out_values = values;
    return LN_OK;
}

ln_status ln_ref_param_reals(ln_call *call, const char *name, const char *tensor_name,
                             size_t *out_count, const double **out_values)
{
    const tl_tensor *tensor = tensor_name ? ln_call_in_named(call, tensor_name) : NULL;
    size_t count = tensor ? (size_t)tensor->len : length(call, name);
    double *values = ln_call_scratch(call, count + 1, sizeof *values);
    if (!values)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        values[i] = tensor ? ln_elem_real(tensor, i) : ln_call_float_at(call, name, (int)i);
    *out_count = count;
    *out_values = values;
    return LN_OK;
}
