// SPDX-License-Identifier: Apache-2.0
// The numbers of ONNX: fields of its messages and types of its attributes, for all who read or
// write the format.

#ifndef LN_SERIAL_ONNX_FIELDS_H
#define LN_SERIAL_ONNX_FIELDS_H

// The numbers of the fields: LN_ONNX_model_graph.
enum {
#define MESSAGE(KIND, type)
#define END(KIND, type)
#define F(type, number, kind, name)        LN_ONNX_##type##_##name = (number),
#define C(type, number, kind, name, child) LN_ONNX_##type##_##name = (number),
#define IGNORED(type, number, name)        LN_ONNX_##type##_##name = (number),
#include "serial/onnx_messages.inc"
};

// AttributeProto.AttributeType, in the order of its numbers.
typedef enum ln_attribute_type {
    LN_ATTRIBUTE_NONE,
    LN_ATTRIBUTE_FLOAT,
    LN_ATTRIBUTE_INT,
    LN_ATTRIBUTE_STRING,
    LN_ATTRIBUTE_TENSOR,
    LN_ATTRIBUTE_GRAPH,
    LN_ATTRIBUTE_FLOATS,
    LN_ATTRIBUTE_INTS,
    LN_ATTRIBUTE_STRINGS,
    LN_ATTRIBUTE_TENSORS,
    LN_ATTRIBUTE_GRAPHS,
    LN_ATTRIBUTE_SPARSE,
    LN_ATTRIBUTE_SPARSES,
    LN_ATTRIBUTE_TYPE,
    LN_ATTRIBUTE_TYPES,
    LN_ATTRIBUTE_COUNT
} ln_attribute_type;

#endif
