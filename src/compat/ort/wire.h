// SPDX-License-Identifier: Apache-2.0
// Fields of messages in a model's bytes, which are not trusted.

#ifndef LN_COMPAT_ORT_WIRE_H
#define LN_COMPAT_ORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORT_WIRE_VARINT = 0, ORT_WIRE_64 = 1, ORT_WIRE_BYTES = 2, ORT_WIRE_32 = 5 };

typedef struct ort_cursor {
    const unsigned char *at, *end;
} ort_cursor;

typedef struct ort_field {
    uint64_t number;
    int wire;
    uint64_t bits;              // of a varint
    ort_cursor bytes;           // of a message or text
    const unsigned char *first; // of the whole field, which ends where the cursor goes on
} ort_field;

bool ort_read_varint(ort_cursor *c, uint64_t *out);

// False at the end, and at what is no field: the rest is the reader's to refuse.
bool ort_read_field(ort_cursor *c, ort_field *out);

// The last field `number` of a message that holds bytes; `at` is NULL if there is none.
ort_cursor ort_find_bytes(ort_cursor message, uint64_t number);

// A message that is being written; who has it frees `at`.
typedef struct ort_output {
    unsigned char *at;
    size_t len, capacity;
    bool is_short; // of memory: what was put last is not there
} ort_output;

void ort_put(ort_output *out, const void *bytes, size_t len);
void ort_put_varint(ort_output *out, uint64_t value);
void ort_put_number(ort_output *out, int number, uint64_t value);
void ort_put_bytes(ort_output *out, int number, const void *bytes, size_t len);

// Whether the model states a version of itself, be it 0.
bool ort_states_version(const void *bytes, size_t byte_count);
bool ort_file_states_version(const char *path);

#endif
