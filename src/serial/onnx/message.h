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
#include "serial/onnx_fields.h"

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

// What a field holds, and so what its member in the struct is.
typedef enum ln_onnx_field_kind {
    LN_FIELD_IGNORED,  // bytes that nobody looks at; no member
    LN_FIELD_INT,      // ln_onnx_scalar
    LN_FIELD_FLOAT,    // ln_onnx_scalar with the bits of a float
    LN_FIELD_STRING,   // ln_onnx_bytes
    LN_FIELD_MESSAGE,  // ln_onnx_bytes
    LN_FIELD_NAME,     // ln_onnx_bytes: a text that is UTF-8, or is escaped when it is decoded
    LN_FIELD_STRINGS,  // ln_onnx_list
    LN_FIELD_NAMES,    // ln_onnx_list of such texts
    LN_FIELD_MESSAGES, // ln_onnx_list
    LN_FIELD_INTS,     // ln_onnx_numbers, packed or not
    LN_FIELD_FLOATS,
    LN_FIELD_DOUBLES
} ln_onnx_field_kind;

typedef ln_onnx_scalar ln_member_INT, ln_member_FLOAT;
typedef ln_onnx_bytes ln_member_STRING, ln_member_NAME, ln_member_MESSAGE;
typedef ln_onnx_list ln_member_STRINGS, ln_member_NAMES, ln_member_MESSAGES;
typedef ln_onnx_numbers ln_member_INTS, ln_member_FLOATS, ln_member_DOUBLES;

// A struct for each message: ln_onnx_model, with its fields.
// clang-format off
#define MESSAGE(KIND, type)                typedef struct ln_onnx_##type {
#define END(KIND, type)                    } ln_onnx_##type;
// clang-format on
#define F(type, number, kind, name)        ln_member_##kind name;
#define C(type, number, kind, name, child) ln_member_##kind name;
#define IGNORED(type, number, name)
#include "serial/onnx_messages.inc"

// The kinds of messages; each has the struct of its name.
typedef enum ln_onnx_kind {
#define MESSAGE(KIND, type) LN_ONNX_##KIND,
#define END(KIND, type)
#define F(type, number, kind, name)
#define C(type, number, kind, name, child)
#define IGNORED(type, number, name)
#include "serial/onnx_messages.inc"
    LN_ONNX_KIND_COUNT
} ln_onnx_kind;

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

// The same after a field, which may be NULL: elements of a repeated one come together.
static inline const ln_onnx_field *ln_onnx_field_find_from(const ln_onnx_schema *schema,
                                                           const ln_onnx_field *last,
                                                           uint32_t number)
{
    return last && last->number == number ? last : ln_onnx_field_find(schema, number);
}

// What is well-formed and yet not as expected: where the first is; NULL: there is none.
typedef struct ln_onnx_findings {
    const uint8_t *bad_name;      // a name that is not UTF-8
    const uint8_t *unknown_field; // a field that no message of ours has
} ln_onnx_findings;

// Walks all messages in `bytes`, a message of `kind`: every tag, length and number is whole, no
// field that is there once comes twice, and messages are at most LN_ONNX_MAX_DEPTH deep.
// LN_SYNTAX with "<name>: byte <offset>: <path of fields>: <reason>"; LN_LIMIT if too deep.
ln_status ln_onnx_check(ln_onnx_kind kind, ln_onnx_bytes bytes, const char *name,
                        ln_onnx_findings *out_findings);

// Opens one message of checked bytes. Its lists, and names that are escaped, come from `arena`;
// with NULL there are no lists, and names stay as they are.
ln_status ln_onnx_decode(ln_onnx_kind kind, ln_onnx_bytes bytes, ln_onnx_arena *arena, void *out);

// Walks numbers: start with {0}. False at the end.
typedef struct ln_onnx_number_cursor {
    const uint8_t *message_at;
    ln_onnx_bytes packed; // what is left of the piece
} ln_onnx_number_cursor;

bool ln_onnx_number_next(const ln_onnx_numbers *numbers, ln_onnx_number_cursor *cursor,
                         uint64_t *out);

// Bytes of the UTF-8 character at `at`; 0 if there is none.
size_t ln_onnx_utf8_len(const uint8_t *at, size_t left);
bool ln_onnx_is_utf8(ln_onnx_bytes text);

// Bytes of *name that are not UTF-8 become "\\xbe", in memory of `arena`, as in names that are
// decoded. NULL: nothing happens.
ln_status ln_onnx_escape(ln_onnx_arena *arena, ln_onnx_bytes *name);

// The float with these bits.
float ln_onnx_float(uint64_t bits);

static inline int64_t ln_onnx_int(ln_onnx_scalar scalar)
{
    return (int64_t)scalar.bits;
}

#endif
