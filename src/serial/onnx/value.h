// SPDX-License-Identifier: Apache-2.0
// Values of ONNX as objects.

#ifndef LN_SERIAL_ONNX_VALUE_H
#define LN_SERIAL_ONNX_VALUE_H

#include <stddef.h>

#include <lightnet/object.h>
#include <lightnet/status.h>

// What ln_onnx_read_value does (lightnet/onnx_data.h).
ln_status ln_onnx_value_read(const void *bytes, size_t byte_count, const char *name,
                             ln_object_kind kind, ln_object **out_object);

#endif
