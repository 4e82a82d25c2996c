// SPDX-License-Identifier: Apache-2.0
// The command's one way to the library's reader of ONNX values.

#include "pb.h"

#include <lightnet/onnx_data.h>

ln_status pb_parse(const char *path, const char *bytes, size_t count, ln_object_kind kind,
                   ln_object **out_object)
{
    static const ln_object_kind kinds[] = {LN_OBJECT_TENSOR, LN_OBJECT_SEQUENCE, LN_OBJECT_OPTIONAL,
                                           LN_OBJECT_MAP};
    if (kind)
        return ln_onnx_read_value(bytes, count, path, kind, out_object);
    // Nothing says what it is: what it can be read as, the likely first.
    ln_status status = LN_UNSUPPORTED;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status != LN_OK; i++)
        status = ln_onnx_read_value(bytes, count, path, kinds[i], out_object);
    return status;
}
