// SPDX-License-Identifier: Apache-2.0
// The messages of ONNX: which fields they have, and the structs that hold one message each.
//
// `ln_onnx_check` proves once that all bytes of a model are well-formed. After that,
// `ln_onnx_decode` opens one message at a time: a struct whose strings and inner messages are
// ranges of the model's bytes, not yet opened themselves. So a model costs as much memory as the
// node that is looked at and 16 bytes for each of its neighbours.

#ifndef LN_SERIAL_ONNX_MESSAGE_H
#define LN_SERIAL_ONNX_MESSAGE_H

#include <lightnet/status.h>

#include "serial/onnx/arena.h"
#include "serial/onnx/wire.h"

// Messages inside each other; each level of subgraphs takes three.
#define LN_ONNX_MAX_DEPTH 128

// A number; `at` is NULL if the field is absent.
typedef struct ln_onnx_scalar {
    const uint8_t *at;
    uint64_t bits;
} ln_onnx_scalar;

// Strings, or messages, of a repeated field.
typedef struct ln_onnx_list {
    const ln_onnx_bytes *items;
    size_t count;
} ln_onnx_list;

// Numbers of a repeated field, read with ln_onnx_number_next.
typedef struct ln_onnx_numbers {
    ln_onnx_bytes message; // in which the field is looked for
    uint32_t number;       // of the field
    uint8_t width;         // bytes of an element; 0: 7 bits a byte
    size_t count;
    ln_onnx_bytes only; // where all of them lie, if in one packed piece; else NULL
} ln_onnx_numbers;

typedef struct ln_onnx_model {
    ln_onnx_scalar ir_version;
    ln_onnx_list opset_import;
    ln_onnx_bytes producer_name, producer_version, domain, graph;
    ln_onnx_scalar model_version;
    ln_onnx_list functions;
} ln_onnx_model;

typedef struct ln_onnx_opset {
    ln_onnx_bytes domain;
    ln_onnx_scalar version;
} ln_onnx_opset;

typedef struct ln_onnx_graph {
    ln_onnx_list node, initializer, sparse_initializer, input, output;
    ln_onnx_bytes name;
} ln_onnx_graph;

typedef struct ln_onnx_function {
    ln_onnx_bytes name, domain, overload;
    ln_onnx_list input, output, attribute, attribute_proto, node, opset_import;
} ln_onnx_function;

typedef struct ln_onnx_node {
    ln_onnx_list input, output, attribute;
    ln_onnx_bytes name, op_type, domain, overload;
} ln_onnx_node;

typedef struct ln_onnx_attribute {
    ln_onnx_bytes name, ref_attr_name;
    ln_onnx_scalar type, f, i;
    ln_onnx_bytes s, t, g, tp, sparse_tensor;
    ln_onnx_numbers floats, ints;
    ln_onnx_list strings, tensors, graphs, type_protos, sparse_tensors;
} ln_onnx_attribute;

typedef struct ln_onnx_tensor {
    ln_onnx_bytes name, raw_data, segment;
    ln_onnx_scalar data_type, data_location;
    ln_onnx_numbers dims, float_data, int32_data, int64_data, double_data, uint64_data;
    ln_onnx_list string_data, external_data;
} ln_onnx_tensor;

typedef struct ln_onnx_sparse {
    ln_onnx_bytes values, indices;
    ln_onnx_numbers dims;
} ln_onnx_sparse;

typedef struct ln_onnx_entry {
    ln_onnx_bytes key, value;
} ln_onnx_entry;

typedef struct ln_onnx_value_info {
    ln_onnx_bytes name, type;
} ln_onnx_value_info;

typedef struct ln_onnx_type {
    ln_onnx_bytes tensor, sequence, map, opaque, sparse, optional;
} ln_onnx_type;

typedef struct ln_onnx_tensor_type {
    ln_onnx_scalar elem_type;
    ln_onnx_bytes shape;
} ln_onnx_tensor_type;

typedef struct ln_onnx_elem_type { // of a sequence or an optional
    ln_onnx_bytes elem_type;
} ln_onnx_elem_type;

typedef struct ln_onnx_map_type {
    ln_onnx_scalar key_type;
    ln_onnx_bytes value_type;
} ln_onnx_map_type;

typedef struct ln_onnx_shape {
    ln_onnx_list dim;
} ln_onnx_shape;

typedef struct ln_onnx_dim {
    ln_onnx_scalar value;
    ln_onnx_bytes param;
} ln_onnx_dim;

typedef struct ln_onnx_sequence {
    ln_onnx_scalar elem_type;
    ln_onnx_list tensors, sparse_tensors, sequences, maps, optionals;
} ln_onnx_sequence;

typedef struct ln_onnx_map {
    ln_onnx_scalar key_type;
    ln_onnx_numbers keys;
    ln_onnx_list string_keys;
    ln_onnx_bytes values;
} ln_onnx_map;

typedef struct ln_onnx_optional {
    ln_onnx_scalar elem_type;
    ln_onnx_bytes tensor, sparse_tensor, sequence, map, optional;
} ln_onnx_optional;

// The kinds of messages; each has the struct of its name.
typedef enum ln_onnx_kind {
    LN_ONNX_MODEL,
    LN_ONNX_OPSET,
    LN_ONNX_GRAPH,
    LN_ONNX_FUNCTION,
    LN_ONNX_NODE,
    LN_ONNX_ATTRIBUTE,
    LN_ONNX_TENSOR,
    LN_ONNX_SPARSE,
    LN_ONNX_ENTRY,
    LN_ONNX_VALUE_INFO,
    LN_ONNX_TYPE,
    LN_ONNX_TENSOR_TYPE,
    LN_ONNX_ELEM_TYPE,
    LN_ONNX_MAP_TYPE,
    LN_ONNX_SHAPE,
    LN_ONNX_DIM,
    LN_ONNX_SEQUENCE,
    LN_ONNX_MAP,
    LN_ONNX_OPTIONAL,
    LN_ONNX_KIND_COUNT
} ln_onnx_kind;

// What a field holds, and so what its member in the struct is.
typedef enum ln_onnx_field_kind {
    LN_FIELD_SKIP,     // bytes that nobody looks at; no member
    LN_FIELD_INT,      // ln_onnx_scalar
    LN_FIELD_FLOAT,    // ln_onnx_scalar with the bits of a float
    LN_FIELD_STRING,   // ln_onnx_bytes
    LN_FIELD_MESSAGE,  // ln_onnx_bytes
    LN_FIELD_STRINGS,  // ln_onnx_list
    LN_FIELD_MESSAGES, // ln_onnx_list
    LN_FIELD_INTS,     // ln_onnx_numbers, packed or not
    LN_FIELD_FLOATS,
    LN_FIELD_DOUBLES
} ln_onnx_field_kind;

typedef struct ln_onnx_field {
    uint32_t number;
    ln_onnx_field_kind kind;
    const char *name;   // as in the format's definition, for messages
    size_t offset;      // of the member
    ln_onnx_kind child; // of LN_FIELD_MESSAGE and LN_FIELD_MESSAGES
} ln_onnx_field;

#define LN_ONNX_MAX_FIELDS 24 // of one kind of message

typedef struct ln_onnx_schema {
    const ln_onnx_field *fields;
    size_t count;
    size_t size; // of the struct
} ln_onnx_schema;

extern const ln_onnx_schema ln_onnx_schemas[LN_ONNX_KIND_COUNT];

// NULL: a field that is not known, which is skipped.
const ln_onnx_field *ln_onnx_field_find(const ln_onnx_schema *schema, uint32_t number);

// Walks all messages in `bytes`, a message of `kind`: every tag, length and number is whole, no
// field that is there once comes twice, and messages lie at most LN_ONNX_MAX_DEPTH deep.
// LN_SYNTAX with "<name>: byte <offset>: <path of fields>: <reason>"; LN_LIMIT if too deep.
ln_status ln_onnx_check(ln_onnx_kind kind, ln_onnx_bytes bytes, const char *name);

// Opens one message of checked bytes. Its lists come from `arena`.
ln_status ln_onnx_decode(ln_onnx_kind kind, ln_onnx_bytes bytes, ln_onnx_arena *arena, void *out);

// Walks numbers: start with {0}. False at the end.
typedef struct ln_onnx_number_cursor {
    const uint8_t *message_at;
    ln_onnx_bytes packed; // what is left of the piece
} ln_onnx_number_cursor;

bool ln_onnx_number_next(const ln_onnx_numbers *numbers, ln_onnx_number_cursor *cursor,
                         uint64_t *out);

// The float or double with these bits.
float ln_onnx_float(uint64_t bits);
double ln_onnx_double(uint64_t bits);

static inline int64_t ln_onnx_int(ln_onnx_scalar scalar)
{
    return (int64_t)scalar.bits;
}

#endif
