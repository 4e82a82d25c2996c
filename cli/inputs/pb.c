// SPDX-License-Identifier: Apache-2.0
// The command's one way to the library's reader of ONNX values.

#include "pb.h"

#if __has_include(<lightnet/onnx_data.h>)
#include <lightnet/onnx_data.h>

ln_status pb_parse(const char *path, const char *bytes, size_t count, ln_object_kind kind,
                   ln_object **out_object)
{
    return ln_onnx_read_value(bytes, count, path, kind ? kind : LN_OBJECT_TENSOR, out_object);
}
#else
ln_status pb_parse(const char *path, const char *bytes, size_t count, ln_object_kind kind,
                   ln_object **out_object)
{
    (void)bytes;
    (void)count;
    (void)kind;
    *out_object = NULL;
    return LN_FAIL(LN_UNSUPPORTED, "%s: this build does not read ONNX values", path);
}
#endif
