// SPDX-License-Identifier: Apache-2.0
// Array parameters of a call as C arrays: in place where they are, else in scratch memory.

#ifndef LN_OP_ONNX_PARAM_ARRAY_H
#define LN_OP_ONNX_PARAM_ARRAY_H

#include <lightnet/call.h>

// *out_count elements; none, and an array that may not be read, where the parameter is absent.
ln_status ln_array_ints(ln_call *call, const char *name, size_t *out_count,
                        const int64_t **out_values);
ln_status ln_array_strings(ln_call *call, const char *name, size_t *out_count,
                           const char *const **out_values);

// `tensor_name`, which may be NULL, is an attribute that has the same meaning as a tensor; it
// counts when it is there.
ln_status ln_array_reals(ln_call *call, const char *name, const char *tensor_name,
                         size_t *out_count, const double **out_values);

// The same in `prepare`, as a copy that it keeps.
ln_status ln_array_keep_reals(ln_call *call, const char *name, const char *tensor_name,
                              size_t *out_count, const double **out_values);

// In `prepare`: copies of `count` strings, NULL as "", and of their array.
ln_status ln_array_keep_strings(ln_call *call, const char *const *strings, size_t count,
                                const char *const **out_copies);

#endif
