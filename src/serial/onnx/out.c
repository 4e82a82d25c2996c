// SPDX-License-Identifier: Apache-2.0
// Tags, varints and lengths; the pieces of a message that becomes a field move with its text.

#include "serial/onnx/out.h"

#include <errno.h>
#include <string.h>

#include <lightnet/allocator.h>

// Bytes that are not worth a piece are copied.
#define LEAST_PIECE 256

enum { VARINT = 0, LENGTH = 2, FIXED32 = 5 };

size_t ln_onnx_out_len(const ln_onnx_out *out)
{
    return out->text.len + out->piece_bytes;
}

void ln_onnx_out_reset(ln_onnx_out *out)
{
    out->text.len = 0;
    out->text.status = LN_OK;
    out->piece_count = 0;
    out->piece_bytes = 0;
}

void ln_onnx_out_deinit(ln_onnx_out *out)
{
    ln_text_deinit(&out->text);
    ln_free(out->pieces);
    *out = (ln_onnx_out){0};
}

// ---- Parts of fields ----

static void put_varint(ln_onnx_out *out, uint64_t value)
{
    char bytes[10];
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[len++] = (char)(0x80 | (value & 0x7f));
    bytes[len++] = (char)value;
    ln_text_append(&out->text, bytes, len);
}

static void put_tag(ln_onnx_out *out, uint32_t field, unsigned kind)
{
    put_varint(out, (uint64_t)field << 3 | kind);
}

static void add_piece(ln_onnx_out *out, size_t at, const void *bytes, size_t len)
{
    if (out->text.status != LN_OK)
        return;
    if (out->piece_count == out->piece_capacity) {
        size_t capacity = out->piece_capacity ? 2 * out->piece_capacity : 16;
        ln_onnx_piece *pieces = ln_realloc(out->pieces, capacity * sizeof *pieces);
        if (!pieces) {
            out->text.status = LN_NO_MEMORY;
            return;
        }
        out->pieces = pieces;
        out->piece_capacity = capacity;
    }
    out->pieces[out->piece_count++] = (ln_onnx_piece){.at = at, .bytes = bytes, .len = len};
    out->piece_bytes += len;
}

void ln_onnx_append_piece(ln_onnx_out *out, const void *bytes, size_t len)
{
    if (len >= LEAST_PIECE)
        add_piece(out, out->text.len, bytes, len);
    else if (len > 0)
        ln_text_append(&out->text, bytes, len);
}

void ln_onnx_append_zeros(ln_onnx_out *out, size_t len)
{
    static const char zeros[64];
    for (; len > 0; len -= len < sizeof zeros ? len : sizeof zeros)
        ln_text_append(&out->text, zeros, len < sizeof zeros ? len : sizeof zeros);
}

void ln_onnx_append_out(ln_onnx_out *out, const ln_onnx_out *message)
{
    if (message->text.status != LN_OK && out->text.status == LN_OK)
        out->text.status = message->text.status;
    for (size_t i = 0; i < message->piece_count; i++) {
        const ln_onnx_piece *piece = &message->pieces[i];
        add_piece(out, out->text.len + piece->at, piece->bytes, piece->len);
    }
    if (message->text.len > 0)
        ln_text_append(&out->text, message->text.bytes, message->text.len);
}

// ---- Fields ----

void ln_onnx_put_int(ln_onnx_out *out, uint32_t field, int64_t value)
{
    put_tag(out, field, VARINT);
    put_varint(out, (uint64_t)value);
}

void ln_onnx_put_float(ln_onnx_out *out, uint32_t field, float value)
{
    put_tag(out, field, FIXED32);
    ln_text_append(&out->text, (const char *)&value, sizeof value);
}

void ln_onnx_put_bytes(ln_onnx_out *out, uint32_t field, const void *bytes, size_t len)
{
    put_tag(out, field, LENGTH);
    put_varint(out, len);
    if (len > 0)
        ln_text_append(&out->text, bytes, len);
}

void ln_onnx_put_text(ln_onnx_out *out, uint32_t field, const char *text)
{
    ln_onnx_put_bytes(out, field, text, strlen(text));
}

void ln_onnx_put_message(ln_onnx_out *out, uint32_t field, const ln_onnx_out *message)
{
    put_tag(out, field, LENGTH);
    put_varint(out, ln_onnx_out_len(message));
    ln_onnx_append_out(out, message);
}

void ln_onnx_put_piece(ln_onnx_out *out, uint32_t field, const void *bytes, size_t len)
{
    put_tag(out, field, LENGTH);
    put_varint(out, len);
    ln_onnx_append_piece(out, bytes, len);
}

// ---- Writing ----

// Calls `put` for each run of bytes in order, up to the first that fails.
static int each_run(const ln_onnx_out *out, int (*put)(void *user, const void *bytes, size_t len),
                    void *user)
{
    size_t at = 0;
    for (size_t i = 0; i < out->piece_count; i++) {
        const ln_onnx_piece *piece = &out->pieces[i];
        if (!put(user, out->text.bytes + at, piece->at - at) ||
            !put(user, piece->bytes, piece->len))
            return 0;
        at = piece->at;
    }
    return out->text.len == at || put(user, out->text.bytes + at, out->text.len - at);
}

static int put_to_file(void *user, const void *bytes, size_t len)
{
    return len == 0 || fwrite(bytes, 1, len, user) == len;
}

static int put_to_memory(void *user, const void *bytes, size_t len)
{
    char **at = user;
    if (len > 0)
        memcpy(*at, bytes, len);
    *at += len;
    return 1;
}

ln_status ln_onnx_out_to_file(const ln_onnx_out *out, FILE *fp, const char *path)
{
    if (out->text.status != LN_OK)
        return out->text.status;
    if (!each_run(out, put_to_file, fp))
        return LN_FAIL(LN_IO, "cannot write '%s': %s", path, strerror(errno));
    return LN_OK;
}

ln_status ln_onnx_out_to_memory(const ln_onnx_out *out, char **out_bytes, size_t *out_byte_count)
{
    if (out->text.status != LN_OK)
        return out->text.status;
    size_t len = ln_onnx_out_len(out);
    char *bytes = ln_alloc(len + 1);
    if (!bytes)
        return LN_NO_MEMORY;
    char *at = bytes;
    each_run(out, put_to_memory, &at);
    *at = '\0';
    *out_bytes = bytes;
    *out_byte_count = len;
    return LN_OK;
}
