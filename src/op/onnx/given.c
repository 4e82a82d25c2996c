// SPDX-License-Identifier: Apache-2.0
// Numbers that a model gives as an input or as an attribute.

#include "op/onnx/given.h"

#include <string.h>

#include "tensor/elem.h"

static ln_status ints_of_param(ln_call *call, const char *param, int capacity, int64_t *out_values,
                               int *out_count)
{
    int count = ln_call_count(call, param);
    if (count > capacity)
        return ln_call_fail(call, LN_INVALID, "%s has %d numbers, at most %d make sense", param,
                            count, capacity);
    for (int i = 0; i < count; i++)
        out_values[i] = ln_call_int_at(call, param, i);
    *out_count = count;
    return LN_OK;
}

ln_status ln_given_ints(ln_call *call, int index, const char *param, int capacity,
                        int64_t *out_values, int *out_count)
{
    *out_count = LN_GIVEN_ABSENT;
    if (index >= 0 && ln_call_in(call, index)) {
        int count = ln_call_value_ints(call, index, capacity, out_values);
        if (count < -1)
            return ln_error_status();
        *out_count = count < 0 ? LN_GIVEN_UNKNOWN : count;
        return LN_OK;
    }
    if (param && ln_call_has(call, param))
        return ints_of_param(call, param, capacity, out_values, out_count);
    return LN_OK;
}

// The data of an input with one element, if it is known.
static ln_status one_element(ln_call *call, int index, const void **out_data, int *out_count)
{
    *out_data = NULL;
    *out_count = LN_GIVEN_ABSENT;
    const tl_tensor *in = ln_call_in(call, index);
    if (!in)
        return LN_OK;
    if (in->len != 1)
        return ln_call_fail(call, LN_INVALID, "input %d has %d elements instead of one", index,
                            in->len);
    *out_data = ln_call_value(call, index);
    *out_count = *out_data ? 1 : LN_GIVEN_UNKNOWN;
    return LN_OK;
}

ln_status ln_given_int(ln_call *call, int index, int64_t *out_value, int *out_count)
{
    const void *data;
    LN_TRY(one_element(call, index, &data, out_count));
    if (data)
        *out_value = ln_data_int(data, ln_call_in(call, index)->dtype, 0);
    return LN_OK;
}

ln_status ln_given_real(ln_call *call, int index, double *out_value, int *out_count)
{
    const void *data;
    LN_TRY(one_element(call, index, &data, out_count));
    if (data)
        *out_value = ln_data_real(data, ln_call_in(call, index)->dtype, 0);
    return LN_OK;
}

bool ln_given_tensor(const ln_call *call, int index, tl_tensor *out_view)
{
    const void *data = ln_call_value(call, index);
    *out_view = *ln_call_in(call, index);
    memcpy(&out_view->data, &data,
           sizeof data); // a view is only read, whatever the field's type says
    return data != NULL || out_view->len == 0;
}

ln_status ln_given_axes(ln_call *call, int ndim, const int64_t *axes, int count, int *out_axes)
{
    bool seen[2 * TL_MAXDIM] = {false};
    if (count > ndim)
        return ln_call_fail(call, LN_INVALID, "%d axes of rank %d", count, ndim);
    for (int i = 0; i < count; i++) {
        LN_TRY(ln_call_check_axis(call, "axes", axes[i], ndim, &out_axes[i]));
        if (seen[out_axes[i]])
            return ln_call_fail(call, LN_INVALID, "axis %d is named twice", out_axes[i]);
        seen[out_axes[i]] = true;
    }
    return LN_OK;
}

ln_status ln_given_axes_param(ln_call *call, int ndim, int *out_axes, int *out_count)
{
    int64_t axes[TL_MAXDIM];
    LN_TRY(ln_given_ints(call, -1, "axes", TL_MAXDIM, axes, out_count));
    if (*out_count >= 0)
        return ln_given_axes(call, ndim, axes, *out_count, out_axes);
    *out_count = ndim;
    for (int i = 0; i < ndim; i++)
        out_axes[i] = i;
    return LN_OK;
}

ln_status ln_given_same_dtype(ln_call *call, const tl_tensor *a, const tl_tensor *b)
{
    if (a->dtype == b->dtype)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "inputs of types %s and %s", tl_dtype_title(a->dtype),
                        tl_dtype_title(b->dtype));
}
