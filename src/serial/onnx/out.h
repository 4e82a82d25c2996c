// SPDX-License-Identifier: Apache-2.0
// A message on its way out: bytes that grow, between which weights are put without a copy.
//
// Start with {0}. The first failure stays, so that a writer may look once, at its end.

#ifndef LN_SERIAL_ONNX_OUT_H
#define LN_SERIAL_ONNX_OUT_H

#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

// Bytes of somebody else that stand before byte `at` of the text.
typedef struct ln_onnx_piece {
    size_t at;
    const void *bytes;
    size_t len;
} ln_onnx_piece;

typedef struct ln_onnx_out {
    ln_text text; // with the status
    ln_onnx_piece *pieces;
    size_t piece_count;
    size_t piece_capacity;
    size_t piece_bytes;
} ln_onnx_out;

size_t ln_onnx_out_len(const ln_onnx_out *out);

// Forgets what was written, and the failure; keeps the memory.
void ln_onnx_out_reset(ln_onnx_out *out);
void ln_onnx_out_deinit(ln_onnx_out *out);

// ---- Fields ----

void ln_onnx_put_int(ln_onnx_out *out, uint32_t field, int64_t value);
void ln_onnx_put_float(ln_onnx_out *out, uint32_t field, float value);
void ln_onnx_put_bytes(ln_onnx_out *out, uint32_t field, const void *bytes, size_t len);
void ln_onnx_put_text(ln_onnx_out *out, uint32_t field, const char *text);
void ln_onnx_put_message(ln_onnx_out *out, uint32_t field, const ln_onnx_out *message);

// The same as bytes that stay where they are until `out` has been written.
void ln_onnx_put_piece(ln_onnx_out *out, uint32_t field, const void *bytes, size_t len);

// Fields of `message` after those of `out`.
void ln_onnx_append_out(ln_onnx_out *out, const ln_onnx_out *message);

// Bytes that are no field: `borrow` as for a piece.
void ln_onnx_append_piece(ln_onnx_out *out, const void *bytes, size_t len);
void ln_onnx_append_zeros(ln_onnx_out *out, size_t len);

// ---- Writing ----

// LN_IO with the reason of the system.
ln_status ln_onnx_out_to_file(const ln_onnx_out *out, FILE *fp, const char *path);

// The caller frees *out_bytes with ln_free; a 0 byte follows the last.
ln_status ln_onnx_out_to_memory(const ln_onnx_out *out, char **out_bytes, size_t *out_byte_count);

#endif
