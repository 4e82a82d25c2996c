// SPDX-License-Identifier: Apache-2.0
// Writes ONNX messages for tests, whole ones and broken ones.
//
//     pb p = {0};
//     pb_int(&p, 1, 8);                       // ir_version
//     pb_begin(&p, 7);                        // graph
//         pb_node(&p, "Relu", "x", "y");
//     pb_end(&p);
//     ... p.bytes, p.len ...
//     pb_free(&p);

#ifndef LN_SERIAL_ONNX_ONNX_TESTING_H
#define LN_SERIAL_ONNX_ONNX_TESTING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct pb {
    uint8_t *bytes;
    size_t len, capacity;
    size_t open[64]; // where the messages begin that are not closed
    size_t depth;
} pb;

static inline void pb_put(pb *p, const void *bytes, size_t len)
{
    if (p->len + len > p->capacity) {
        p->capacity = (p->len + len) * 2;
        p->bytes = realloc(p->bytes, p->capacity);
        if (!p->bytes)
            abort();
    }
    if (len > 0)
        memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
}

static inline size_t pb_print_varint(uint64_t value, uint8_t *out)
{
    size_t len = 0;
    do {
        out[len++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    return len;
}

static inline void pb_varint(pb *p, uint64_t value)
{
    uint8_t text[10];
    pb_put(p, text, pb_print_varint(value, text));
}

static inline void pb_tag(pb *p, unsigned field, unsigned type)
{
    pb_varint(p, (uint64_t)field << 3 | type);
}

static inline void pb_int(pb *p, unsigned field, int64_t value)
{
    pb_tag(p, field, 0);
    pb_varint(p, (uint64_t)value);
}

static inline void pb_float(pb *p, unsigned field, float value)
{
    pb_tag(p, field, 5);
    pb_put(p, &value, 4);
}

static inline void pb_bytes(pb *p, unsigned field, const void *bytes, size_t len)
{
    pb_tag(p, field, 2);
    pb_varint(p, len);
    pb_put(p, bytes, len);
}

static inline void pb_str(pb *p, unsigned field, const char *text)
{
    pb_bytes(p, field, text, strlen(text));
}

static inline void pb_begin(pb *p, unsigned field)
{
    pb_tag(p, field, 2);
    if (p->depth == 64)
        abort();
    p->open[p->depth++] = p->len;
}

static inline void pb_end(pb *p)
{
    size_t start = p->open[--p->depth];
    uint8_t text[10];
    size_t text_len = pb_print_varint(p->len - start, text);
    pb_put(p, text, text_len); // makes room
    memmove(p->bytes + start + text_len, p->bytes + start, p->len - text_len - start);
    memcpy(p->bytes + start, text, text_len);
}

static inline void pb_free(pb *p)
{
    free(p->bytes);
    *p = (pb){0};
}

// ---- Messages of ONNX ----

enum { PB_FLOAT = 1, PB_UINT8 = 2, PB_INT8 = 3, PB_INT32 = 6, PB_INT64 = 7, PB_STRING = 8 };

// A model's head; its graph is begun and is ended with pb_end.
static inline void pb_model(pb *p, int64_t opset)
{
    pb_int(p, 1, 8);
    pb_begin(p, 8);
    pb_str(p, 1, "");
    pb_int(p, 2, opset);
    pb_end(p);
    pb_begin(p, 7);
    pb_str(p, 2, "g");
}

// A value info in field 11 (input) or 12 (output); dims end with -2, -1 is a dimension "N".
static inline void pb_value(pb *p, unsigned field, const char *name, int64_t dtype,
                            const int64_t *dims)
{
    pb_begin(p, field);
    pb_str(p, 1, name);
    pb_begin(p, 2);
    pb_begin(p, 1);
    pb_int(p, 1, dtype);
    if (dims) {
        pb_begin(p, 2);
        for (; *dims != -2; dims++) {
            pb_begin(p, 1);
            if (*dims < 0)
                pb_str(p, 2, "N");
            else
                pb_int(p, 1, *dims);
            pb_end(p);
        }
        pb_end(p);
    }
    pb_end(p);
    pb_end(p);
    pb_end(p);
}

// A node of one input and output; it is begun, for more fields.
static inline void pb_begin_node(pb *p, const char *op, const char *in, const char *out)
{
    pb_begin(p, 1);
    if (in)
        pb_str(p, 1, in);
    pb_str(p, 2, out);
    pb_str(p, 4, op);
}

static inline void pb_node(pb *p, const char *op, const char *in, const char *out)
{
    pb_begin_node(p, op, in, out);
    pb_end(p);
}

// A tensor with its name, type and shape, begun; dims end with -2.
static inline void pb_begin_tensor(pb *p, unsigned field, const char *name, int64_t dtype,
                                   const int64_t *dims)
{
    pb_begin(p, field);
    for (; *dims != -2; dims++)
        pb_int(p, 1, *dims);
    pb_int(p, 2, dtype);
    if (name)
        pb_str(p, 8, name);
}

static inline void pb_entry(pb *p, unsigned field, const char *key, const char *value)
{
    pb_begin(p, field);
    pb_str(p, 1, key);
    pb_str(p, 2, value);
    pb_end(p);
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__, -2})
#define SCALAR    ((const int64_t[]){-2})

#endif
