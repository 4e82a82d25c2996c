// SPDX-License-Identifier: Apache-2.0
// Arguments as operators have them become arguments as kernels want them.

#include "arch/ref/run.h"

#include <lightnet/opshape.h>

ln_status ln_ref_run_create(tl_tensor *dst, const char *name, const double *ran, const double *data,
                            int data_len, bool from_file)
{
    return from_file ? LN_OK : ln_ref_create(dst, name, ran, data, data_len);
}

// `dst` lies at `offset` in `src`, and its elements with it.
static bool is_in_place(const tl_tensor *src, const tl_tensor *dst, size_t offset)
{
    return offset != LN_NO_OFFSET && dst->data == (const char *)src->data + offset;
}

ln_status ln_ref_run_slice(const tl_tensor *src, tl_tensor *dst, int axis, int start, int len)
{
    if (is_in_place(src, dst, ln_offset_of_slice(src, axis, start)))
        return LN_OK;
    return tl_tensor_slice(src, dst, axis, start, len) ? LN_OK : ln_error_status();
}

ln_status ln_ref_run_transpose(const tl_tensor *src, tl_tensor *dst, const int *axes)
{
    if (is_in_place(src, dst, ln_offset_of_transpose(src, axes)))
        return LN_OK;
    return tl_tensor_transpose(src, dst, axes) ? LN_OK : ln_error_status();
}
