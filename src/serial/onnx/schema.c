// SPDX-License-Identifier: Apache-2.0
// Which fields the messages of ONNX have, up to IR version 13. Numbers are the format's own.

#include "serial/onnx/message.h"

#define F(number, kind, type, member)                                                              \
    {                                                                                              \
        number, LN_FIELD_##kind, #member, offsetof(ln_onnx_##type, member), 0                      \
    }
#define FN(number, kind, type, member, name)                                                       \
    {                                                                                              \
        number, LN_FIELD_##kind, name, offsetof(ln_onnx_##type, member), 0                         \
    }
#define M(number, kind, type, member, child)                                                       \
    {                                                                                              \
        number, LN_FIELD_##kind, #member, offsetof(ln_onnx_##type, member), LN_ONNX_##child        \
    }
#define MN(number, kind, type, member, child, name)                                                \
    {                                                                                              \
        number, LN_FIELD_##kind, name, offsetof(ln_onnx_##type, member), LN_ONNX_##child           \
    }
#define SKIP(number, name)                                                                         \
    {                                                                                              \
        number, LN_FIELD_SKIP, name, 0, 0                                                          \
    }

static const ln_onnx_field model_fields[] = {
    F(1, INT, model, ir_version),
    F(2, STRING, model, producer_name),
    F(3, STRING, model, producer_version),
    F(4, STRING, model, domain),
    F(5, INT, model, model_version),
    SKIP(6, "doc_string"),
    M(7, MESSAGE, model, graph, GRAPH),
    M(8, MESSAGES, model, opset_import, OPSET),
    SKIP(14, "metadata_props"),
    SKIP(20, "training_info"),
    M(25, MESSAGES, model, functions, FUNCTION),
    SKIP(26, "configuration"),
};

static const ln_onnx_field opset_fields[] = {
    F(1, STRING, opset, domain),
    F(2, INT, opset, version),
};

static const ln_onnx_field graph_fields[] = {
    M(1, MESSAGES, graph, node, NODE),
    F(2, STRING, graph, name),
    M(5, MESSAGES, graph, initializer, TENSOR),
    SKIP(10, "doc_string"),
    M(11, MESSAGES, graph, input, VALUE_INFO),
    M(12, MESSAGES, graph, output, VALUE_INFO),
    SKIP(13, "value_info"),
    SKIP(14, "quantization_annotation"),
    M(15, MESSAGES, graph, sparse_initializer, SPARSE),
    SKIP(16, "metadata_props"),
};

static const ln_onnx_field function_fields[] = {
    F(1, STRING, function, name),
    F(4, STRINGS, function, input),
    F(5, STRINGS, function, output),
    F(6, STRINGS, function, attribute),
    M(7, MESSAGES, function, node, NODE),
    SKIP(8, "doc_string"),
    M(9, MESSAGES, function, opset_import, OPSET),
    F(10, STRING, function, domain),
    M(11, MESSAGES, function, attribute_proto, ATTRIBUTE),
    SKIP(12, "value_info"),
    F(13, STRING, function, overload),
    SKIP(14, "metadata_props"),
};

static const ln_onnx_field node_fields[] = {
    F(1, STRINGS, node, input),
    F(2, STRINGS, node, output),
    F(3, STRING, node, name),
    F(4, STRING, node, op_type),
    M(5, MESSAGES, node, attribute, ATTRIBUTE),
    SKIP(6, "doc_string"),
    F(7, STRING, node, domain),
    F(8, STRING, node, overload),
    SKIP(9, "metadata_props"),
    SKIP(10, "device_configurations"),
};

static const ln_onnx_field attribute_fields[] = {
    F(1, STRING, attribute, name),
    F(2, FLOAT, attribute, f),
    F(3, INT, attribute, i),
    F(4, STRING, attribute, s),
    M(5, MESSAGE, attribute, t, TENSOR),
    M(6, MESSAGE, attribute, g, GRAPH),
    F(7, FLOATS, attribute, floats),
    F(8, INTS, attribute, ints),
    F(9, STRINGS, attribute, strings),
    M(10, MESSAGES, attribute, tensors, TENSOR),
    M(11, MESSAGES, attribute, graphs, GRAPH),
    SKIP(13, "doc_string"),
    M(14, MESSAGE, attribute, tp, TYPE),
    M(15, MESSAGES, attribute, type_protos, TYPE),
    F(20, INT, attribute, type),
    F(21, STRING, attribute, ref_attr_name),
    M(22, MESSAGE, attribute, sparse_tensor, SPARSE),
    M(23, MESSAGES, attribute, sparse_tensors, SPARSE),
};

static const ln_onnx_field tensor_fields[] = {
    F(1, INTS, tensor, dims),
    F(2, INT, tensor, data_type),
    FN(3, STRING, tensor, segment, "segment"),
    F(4, FLOATS, tensor, float_data),
    F(5, INTS, tensor, int32_data),
    F(6, STRINGS, tensor, string_data),
    F(7, INTS, tensor, int64_data),
    F(8, STRING, tensor, name),
    F(9, STRING, tensor, raw_data),
    F(10, DOUBLES, tensor, double_data),
    F(11, INTS, tensor, uint64_data),
    SKIP(12, "doc_string"),
    M(13, MESSAGES, tensor, external_data, ENTRY),
    F(14, INT, tensor, data_location),
    SKIP(16, "metadata_props"),
};

static const ln_onnx_field sparse_fields[] = {
    M(1, MESSAGE, sparse, values, TENSOR),
    M(2, MESSAGE, sparse, indices, TENSOR),
    F(3, INTS, sparse, dims),
};

static const ln_onnx_field entry_fields[] = {
    F(1, STRING, entry, key),
    F(2, STRING, entry, value),
};

static const ln_onnx_field value_info_fields[] = {
    F(1, STRING, value_info, name),
    M(2, MESSAGE, value_info, type, TYPE),
    SKIP(3, "doc_string"),
    SKIP(4, "metadata_props"),
};

static const ln_onnx_field type_fields[] = {
    MN(1, MESSAGE, type, tensor, TENSOR_TYPE, "tensor_type"),
    MN(4, MESSAGE, type, sequence, ELEM_TYPE, "sequence_type"),
    MN(5, MESSAGE, type, map, MAP_TYPE, "map_type"),
    SKIP(6, "denotation"),
    FN(7, STRING, type, opaque, "opaque_type"),
    MN(8, MESSAGE, type, sparse, TENSOR_TYPE, "sparse_tensor_type"),
    MN(9, MESSAGE, type, optional, ELEM_TYPE, "optional_type"),
};

static const ln_onnx_field tensor_type_fields[] = {
    F(1, INT, tensor_type, elem_type),
    M(2, MESSAGE, tensor_type, shape, SHAPE),
};

static const ln_onnx_field elem_type_fields[] = {
    M(1, MESSAGE, elem_type, elem_type, TYPE),
};

static const ln_onnx_field map_type_fields[] = {
    F(1, INT, map_type, key_type),
    M(2, MESSAGE, map_type, value_type, TYPE),
};

static const ln_onnx_field shape_fields[] = {
    M(1, MESSAGES, shape, dim, DIM),
};

static const ln_onnx_field dim_fields[] = {
    FN(1, INT, dim, value, "dim_value"),
    FN(2, STRING, dim, param, "dim_param"),
    SKIP(3, "denotation"),
};

static const ln_onnx_field sequence_fields[] = {
    SKIP(1, "name"),
    F(2, INT, sequence, elem_type),
    MN(3, MESSAGES, sequence, tensors, TENSOR, "tensor_values"),
    MN(4, MESSAGES, sequence, sparse_tensors, SPARSE, "sparse_tensor_values"),
    MN(5, MESSAGES, sequence, sequences, SEQUENCE, "sequence_values"),
    MN(6, MESSAGES, sequence, maps, MAP, "map_values"),
    MN(7, MESSAGES, sequence, optionals, OPTIONAL, "optional_values"),
};

static const ln_onnx_field map_fields[] = {
    SKIP(1, "name"),
    F(2, INT, map, key_type),
    F(3, INTS, map, keys),
    F(4, STRINGS, map, string_keys),
    M(5, MESSAGE, map, values, SEQUENCE),
};

static const ln_onnx_field optional_fields[] = {
    SKIP(1, "name"),
    F(2, INT, optional, elem_type),
    MN(3, MESSAGE, optional, tensor, TENSOR, "tensor_value"),
    MN(4, MESSAGE, optional, sparse_tensor, SPARSE, "sparse_tensor_value"),
    MN(5, MESSAGE, optional, sequence, SEQUENCE, "sequence_value"),
    MN(6, MESSAGE, optional, map, MAP, "map_value"),
    MN(7, MESSAGE, optional, optional, OPTIONAL, "optional_value"),
};

#define SCHEMA(kind, name)                                                                         \
    [LN_ONNX_##kind] = {name##_fields, sizeof name##_fields / sizeof name##_fields[0],             \
                        sizeof(ln_onnx_##name)}

const ln_onnx_schema ln_onnx_schemas[LN_ONNX_KIND_COUNT] = {
    SCHEMA(MODEL, model),         SCHEMA(OPSET, opset),
    SCHEMA(GRAPH, graph),         SCHEMA(FUNCTION, function),
    SCHEMA(NODE, node),           SCHEMA(ATTRIBUTE, attribute),
    SCHEMA(TENSOR, tensor),       SCHEMA(SPARSE, sparse),
    SCHEMA(ENTRY, entry),         SCHEMA(VALUE_INFO, value_info),
    SCHEMA(TYPE, type),           SCHEMA(TENSOR_TYPE, tensor_type),
    SCHEMA(ELEM_TYPE, elem_type), SCHEMA(MAP_TYPE, map_type),
    SCHEMA(SHAPE, shape),         SCHEMA(DIM, dim),
    SCHEMA(SEQUENCE, sequence),   SCHEMA(MAP, map),
    SCHEMA(OPTIONAL, optional),
};

const ln_onnx_field *ln_onnx_field_find(const ln_onnx_schema *schema, uint32_t number)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->fields[i].number == number)
            return &schema->fields[i];
    }
    return NULL;
}
