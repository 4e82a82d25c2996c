// SPDX-License-Identifier: Apache-2.0
// The bytes of a protocol buffer: tags, numbers, and fields inside a range that is never left.
//
// A message is a row of fields, each a tag (field number and wire type) and a value. Nothing is
// copied: what a field holds is a range of the bytes that are read.

#ifndef LN_SERIAL_ONNX_WIRE_H
#define LN_SERIAL_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of the model, borrowed; `at` NULL: there are none.
typedef struct ln_onnx_bytes {
    const uint8_t *at;
    size_t len;
} ln_onnx_bytes;

typedef enum ln_wire_type {
    LN_WIRE_VARINT = 0,
    LN_WIRE_FIXED64 = 1,
    LN_WIRE_BYTES = 2, // strings, messages inside, packed numbers
    LN_WIRE_FIXED32 = 5
} ln_wire_type;

typedef struct ln_wire_field {
    uint32_t number;
    ln_wire_type type;
    uint64_t bits;       // of a number
    ln_onnx_bytes bytes; // of LN_WIRE_BYTES; never NULL there
    const uint8_t *at;   // its tag
} ln_wire_field;

// Reads a number of 7 bits a byte, least significant first, and moves *at past it. False, with
// *at where it was, if it does not end before `end`, or has more than 64 bits.
bool ln_wire_varint(const uint8_t **at, const uint8_t *end, uint64_t *out);

// Reads the next field and moves *at past it. NULL, or what is wrong with it: *at is as it was.
const char *ln_wire_next(const uint8_t **at, const uint8_t *end, ln_wire_field *out);

// The same for bytes that have been checked: false at the end.
bool ln_wire_step(const uint8_t **at, const uint8_t *end, ln_wire_field *out);

// Little-endian numbers at any address.
uint32_t ln_wire_fixed32(const uint8_t *at);
uint64_t ln_wire_fixed64(const uint8_t *at);

#endif
