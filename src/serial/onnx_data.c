// SPDX-License-Identifier: Apache-2.0
// Values in ONNX, read by whoever is registered for that format: a library without it links too.

#include <lightnet/onnx_data.h>

#include <lightnet/serializer.h>

ln_status ln_onnx_read_value(const void *bytes, size_t byte_count, const char *name,
                             ln_object_kind kind, ln_object **out_object)
{
    if (!out_object)
        return LN_FAIL(LN_INVALID, "the result for a value is NULL");
    *out_object = NULL;
    const ln_serializer *serializer = ln_serializer_find("onnx");
    if (!serializer || !serializer->read_value)
        return LN_FAIL(LN_UNSUPPORTED, "this library has no reader for ONNX");
    return serializer->read_value(bytes, byte_count, name, kind, out_object);
}
