// SPDX-License-Identifier: Apache-2.0
// Which fields the messages of ONNX have, from onnx_messages.inc.

#include "serial/onnx/message.h"

// clang-format off
#define MESSAGE(KIND, type)         static const ln_onnx_field type##_fields[] = {
#define END(KIND, type)             };
#define F(type, number, kind, name) FIELD(number, kind, #name, offsetof(ln_onnx_##type, name), 0)
#define IGNORED(type, number, name)    FIELD(number, IGNORED, #name, 0, 0)
#define C(type, number, kind, name, child) \
    FIELD(number, kind, #name, offsetof(ln_onnx_##type, name), LN_ONNX_##child)
#define FIELD(number, kind, name, offset, child) {number, LN_FIELD_##kind, name, offset, child},
// clang-format on
#include "serial/onnx_messages.inc"

#define MESSAGE(KIND, type)                                                                        \
    [LN_ONNX_##KIND] = {type##_fields, sizeof type##_fields / sizeof type##_fields[0],             \
                        sizeof(ln_onnx_##type)},
#define END(KIND, type)
#define F(type, number, kind, name)
#define C(type, number, kind, name, child)
#define IGNORED(type, number, name)
const ln_onnx_schema ln_onnx_schemas[LN_ONNX_KIND_COUNT] = {
#include "serial/onnx_messages.inc"
};

const ln_onnx_field *ln_onnx_field_find(const ln_onnx_schema *schema, uint32_t number)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->fields[i].number == number)
            return &schema->fields[i];
    }
    return NULL;
}
