// SPDX-License-Identifier: Apache-2.0
// FlatBuffers, read in place: every offset, length and field is checked against the file.
//
//     root offset -> table: | offset to vtable | fields ... |
//                    vtable: | bytes of vtable | bytes of table | offset of field 0 | field 1 | ...
//     vector: | count | elements |     string: a vector of bytes     offsets count from where they
//     are
//
// The first fault is kept in `status`, with its byte in the message; what is read after it, and a
// field that is absent, has its default. So a reader may check once, after a few fields.

#ifndef LN_SERIAL_TFLITE_FLAT_H
#define LN_SERIAL_TFLITE_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/status.h>

typedef struct ln_flat {
    const uint8_t *bytes;
    size_t len;
    const char *name;   // for messages
    size_t visits_left; // elements of vectors that may still be opened: many tables can share one
    ln_status status;
} ln_flat;

// Absent: all 0.
typedef struct ln_flat_table {
    size_t at;
    size_t vtable;
    uint16_t vtable_len;
    uint16_t len;
} ln_flat_table;

// `count` elements at byte `at`. Absent: all 0.
typedef struct ln_flat_vector {
    size_t at;
    size_t count;
} ln_flat_vector;

// A number's width in bytes; negative if it is signed.
typedef enum ln_flat_kind {
    LN_FLAT_U8 = 1,
    LN_FLAT_U16 = 2,
    LN_FLAT_U32 = 4,
    LN_FLAT_U64 = 8,
    LN_FLAT_I8 = -1,
    LN_FLAT_I32 = -4,
    LN_FLAT_I64 = -8
} ln_flat_kind;

// Bytes of a file; `name` is borrowed for messages.
ln_flat ln_flat_of(const void *bytes, size_t len, const char *name);

// Records "<name>: byte <at>: <message>" and returns `status`, which the file keeps.
ln_status ln_flat_fail(ln_flat *f, size_t at, ln_status status, const char *fmt, ...)
    LN_PRINTF(4, 5);

ln_flat_table ln_flat_root(ln_flat *f);
bool ln_flat_has(const ln_flat *f, ln_flat_table table, unsigned field);

// Fields of a table.
int64_t ln_flat_number(ln_flat *f, ln_flat_table table, unsigned field, ln_flat_kind kind,
                       int64_t absent);
float ln_flat_float(ln_flat *f, ln_flat_table table, unsigned field, float absent);
ln_flat_table ln_flat_child(ln_flat *f, ln_flat_table table, unsigned field);
ln_flat_vector ln_flat_list(ln_flat *f, ln_flat_table table, unsigned field, size_t elem_size);
ln_flat_vector ln_flat_text(ln_flat *f, ln_flat_table table, unsigned field);

// Elements; `i` is less than the count.
ln_flat_table ln_flat_table_at(ln_flat *f, ln_flat_vector tables, size_t i);
int64_t ln_flat_number_at(const ln_flat *f, ln_flat_vector numbers, size_t i, ln_flat_kind kind);
float ln_flat_float_at(const ln_flat *f, ln_flat_vector floats, size_t i);

// A text in a message: `"'%.*s'", LN_FLAT_TEXT(f, text)`.
#define LN_FLAT_TEXT(f, text)                                                                      \
    ((text).count < 100 ? (int)(text).count : 100), (const char *)(f)->bytes + (text).at

#endif
