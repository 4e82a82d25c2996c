// SPDX-License-Identifier: Apache-2.0

#include "compat/ort/wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "serial/onnx_fields.h"

bool ort_read_varint(ort_cursor *c, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static bool skip_bytes(ort_cursor *c, uint64_t count, ort_cursor *out)
{
    if (count > (uint64_t)(c->end - c->at))
        return false;
    *out = (ort_cursor){c->at, c->at + count};
    c->at += count;
    return true;
}

static bool read_content(ort_cursor *c, ort_field *out)
{
    uint64_t len;
    switch (out->wire) {
    case ORT_WIRE_VARINT: return ort_read_varint(c, &out->bits);
    case ORT_WIRE_64: return skip_bytes(c, 8, &out->bytes);
    case ORT_WIRE_32: return skip_bytes(c, 4, &out->bytes);
    case ORT_WIRE_BYTES: return ort_read_varint(c, &len) && skip_bytes(c, len, &out->bytes);
    default: return false;
    }
}

bool ort_read_field(ort_cursor *c, ort_field *out)
{
    const ort_cursor before = *c;
    uint64_t tag;
    *out = (ort_field){.first = c->at};
    if (c->at < c->end && ort_read_varint(c, &tag)) {
        out->number = tag >> 3;
        out->wire = (int)(tag & 7);
        if (read_content(c, out))
            return true;
    }
    *c = before;
    return false;
}

ort_cursor ort_find_bytes(ort_cursor message, uint64_t number)
{
    ort_cursor found = {NULL, NULL};
    ort_field f;
    while (ort_read_field(&message, &f))
        if (f.number == number && f.wire == ORT_WIRE_BYTES)
            found = f.bytes;
    return found;
}

bool ort_states_version(const void *bytes, size_t byte_count)
{
    const unsigned char *at = bytes;
    ort_cursor model = {at, at + byte_count};
    ort_field f;
    while (ort_read_field(&model, &f))
        if (f.number == LN_ONNX_model_model_version && f.wire == ORT_WIRE_VARINT)
            return true;
    return false;
}

bool ort_file_states_version(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_stated = false;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        size_t byte_count = (size_t)info.st_size;
        void *bytes = mmap(NULL, byte_count, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            is_stated = ort_states_version(bytes, byte_count);
            munmap(bytes, byte_count);
        }
    }
    if (fd >= 0)
        close(fd);
    return is_stated;
}

// ---- Writing ----

void ort_put(ort_output *out, const void *bytes, size_t len)
{
    if (out->is_short || len > SIZE_MAX / 4 - out->len) {
        out->is_short = true;
        return;
    }
    if (out->len + len > out->capacity) {
        size_t capacity = (out->len + len) * 2;
        unsigned char *grown = ln_realloc(out->at, capacity);
        if (!grown) {
            out->is_short = true;
            return;
        }
        out->at = grown;
        out->capacity = capacity;
    }
    if (len > 0)
        memcpy(out->at + out->len, bytes, len);
    out->len += len;
}

void ort_put_varint(ort_output *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t len = 0;
    do {
        bytes[len++] = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value > 0);
    ort_put(out, bytes, len);
}

void ort_put_number(ort_output *out, int number, uint64_t value)
{
    ort_put_varint(out, (uint64_t)number << 3 | ORT_WIRE_VARINT);
    ort_put_varint(out, value);
}

void ort_put_bytes(ort_output *out, int number, const void *bytes, size_t len)
{
    ort_put_varint(out, (uint64_t)number << 3 | ORT_WIRE_BYTES);
    ort_put_varint(out, len);
    ort_put(out, bytes, len);
}
