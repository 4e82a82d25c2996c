// SPDX-License-Identifier: Apache-2.0
// An array as a handle of the old library.

#ifndef LN_COMPAT_CVM_HANDLE_H
#define LN_COMPAT_CVM_HANDLE_H

#include <cvm/runtime/c_runtime_api.h>
#include <lightnet/ndarray.h>

// Old programs take strides that are not NULL for gaps; arrays know theirs without them. `array` is
// new, and without gaps.
static inline CVMArrayHandle cvm_handle(ln_ndarray *array)
{
    CVMArrayHandle handle = (CVMArrayHandle)array;
    handle->strides = NULL;
    return handle;
}

#endif
