// SPDX-License-Identifier: Apache-2.0
// Array parameters of a call as C arrays: in place where they are, else in scratch memory.

#include "op/onnx/param_array.h"

#include <string.h>

#include "tensor/elem.h"

ln_status ln_array_ints(ln_call *call, const char *name, size_t *out_count,
                        const int64_t **out_values)
{
    static const int64_t none;
    const double *numbers = ln_call_floats(call, name, out_count);
    *out_values = &none;
    if (*out_count == 0)
        return LN_OK;
    int64_t *values = ln_call_scratch(call, *out_count, sizeof *values);
    if (!values)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t i = 0; i < *out_count; i++)
        values[i] = ln_call_to_int(numbers[i]);
    *out_values = values;
    return LN_OK;
}

ln_status ln_array_strings(ln_call *call, const char *name, size_t *out_count,
                           const char *const **out_values)
{
    *out_values = ln_call_strings(call, name, out_count);
    return LN_OK;
}

ln_status ln_array_reals(ln_call *call, const char *name, const char *tensor_name,
                         size_t *out_count, const double **out_values)
{
    const tl_tensor *tensor = tensor_name ? ln_call_in_named(call, tensor_name) : NULL;
    if (!tensor) {
        *out_values = ln_call_floats(call, name, out_count);
        return LN_OK;
    }
    double *values = ln_call_scratch(call, (size_t)tensor->len + 1, sizeof *values);
    if (!values)
        return ln_error_status();
    *out_count = (size_t)tensor->len;
    *out_values = values;
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t i = 0; i < (size_t)tensor->len; i++)
        values[i] = ln_elem_real(tensor, i);
    return LN_OK;
}

ln_status ln_array_keep_reals(ln_call *call, const char *name, const char *tensor_name,
                              size_t *out_count, const double **out_values)
{
    const double *values;
    *out_values = NULL;
    LN_TRY(ln_array_reals(call, name, tensor_name, out_count, &values));
    double *kept = ln_call_keep(call, *out_count + 1, sizeof *kept);
    if (!kept)
        return ln_error_status();
    if (*out_count)
        memcpy(kept, values, *out_count * sizeof *kept);
    *out_values = kept;
    return LN_OK;
}

ln_status ln_array_keep_strings(ln_call *call, const char *const *strings, size_t count,
                                const char *const **out_copies)
{
    *out_copies = NULL;
    size_t byte_count = 0;
    for (size_t i = 0; i < count; i++)
        byte_count += (strings[i] ? strlen(strings[i]) : 0) + 1;
    const char **copies = ln_call_keep(call, count + 1, sizeof *copies);
    char *text = ln_call_keep(call, byte_count + 1, 1);
    if (!copies || !text)
        return ln_error_status();
    for (size_t i = 0; i < count; i++) {
        size_t len = strings[i] ? strlen(strings[i]) : 0;
        copies[i] = len ? memcpy(text, strings[i], len) : text;
        text += len + 1;
    }
    *out_copies = copies;
    return LN_OK;
}
