// SPDX-License-Identifier: Apache-2.0
// Places in source texts, and a growing text to print into.
//
// Every reader of text reports failures with a place: "model.net:12:5: expected ')'".

#ifndef LN_BASE_TEXT_H
#define LN_BASE_TEXT_H

#include <stddef.h>

#include <lightnet/status.h>

LN_CPPSTART

// Where something stands. `file` is borrowed and outlives the place; line and column count from 1,
// columns in bytes. A line of 0 means "the text as a whole".
typedef struct ln_place {
    const char *file;
    int line;
    int column;
} ln_place;

// Records "<file>:<line>:<column>: <message>" and returns `status`.
ln_status ln_fail_at(ln_place place, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4);

// A text that grows. Start with {0}; release with ln_text_deinit. After a failed append the text
// is as before and `status` keeps the first failure, so a printer may check once at its end.
typedef struct ln_text {
    char *bytes; // always NUL-terminated when not NULL
    size_t len;
    size_t capacity;
    ln_status status;
} ln_text;

void ln_text_append(ln_text *text, const char *bytes, size_t len);
void ln_text_puts(ln_text *text, const char *s);
void ln_text_printf(ln_text *text, const char *fmt, ...) LN_PRINTF(2, 3);
void ln_text_indent(ln_text *text, int columns);

// Hands the bytes to the caller (ln_free) and leaves the text empty; or gives the first failure.
ln_status ln_text_take(ln_text *text, char **out_bytes, size_t *out_len);
void ln_text_deinit(ln_text *text);

// Reads a whole regular file, or standard input for "-". At most `max_byte_count` bytes.
// The caller frees *out_bytes; a NUL follows the last byte.
ln_status ln_text_read_file(const char *path, size_t max_byte_count, char **out_bytes,
                            size_t *out_len);

// Reads the first bytes of a regular file, at most `capacity` of them, to `buf`.
ln_status ln_text_read_start(const char *path, char *buf, size_t capacity, size_t *out_len);

// Writes through a temporary file beside `path` and renames it, so that a failure leaves the old
// file; "-" is standard output.
ln_status ln_text_write_file(const char *path, const char *bytes, size_t len);

LN_CPPEND

#endif
