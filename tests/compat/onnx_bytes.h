// SPDX-License-Identifier: Apache-2.0
// Messages of ONNX, written field by field, for tests that make their models.

#ifndef LN_TESTS_COMPAT_ONNX_BYTES_H
#define LN_TESTS_COMPAT_ONNX_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct message {
    unsigned char bytes[4096];
    size_t len;
} message;

static inline void put_raw(message *m, const void *bytes, size_t len)
{
    if (len > sizeof m->bytes - m->len)
        abort();
    if (len > 0)
        memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
}

static inline void put_varint(message *m, uint64_t value)
{
    do {
        unsigned char byte = (unsigned char)((value & 127) | (value > 127 ? 128 : 0));
        put_raw(m, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static inline void put_int(message *m, int field, int64_t value)
{
    put_varint(m, (uint64_t)field << 3);
    put_varint(m, (uint64_t)value);
}

static inline void put_bytes(message *m, int field, const void *bytes, size_t len)
{
    put_varint(m, (uint64_t)field << 3 | 2);
    put_varint(m, len);
    put_raw(m, bytes, len);
}

static inline void put_text(message *m, int field, const char *text)
{
    put_bytes(m, field, text, strlen(text));
}

static inline void put_message(message *m, int field, message part)
{
    put_bytes(m, field, part.bytes, part.len);
}

// Each word of `words`, which are apart by a space.
static inline void put_words(message *m, int field, const char *words)
{
    while (*words) {
        size_t len = strcspn(words, " ");
        put_bytes(m, field, words, len);
        words += len + (words[len] == ' ');
    }
}

// Dimensions as words, such as "N 3"; NULL: of any rank.
static inline message tensor_type(int element, const char *dims)
{
    message type = {.len = 0}, tensor = {.len = 0}, shape = {.len = 0};
    put_int(&tensor, 1, element);
    while (dims && *dims) {
        message dim = {.len = 0};
        size_t len = strcspn(dims, " ");
        if (*dims >= '0' && *dims <= '9')
            put_int(&dim, 1, strtoll(dims, NULL, 10));
        else
            put_bytes(&dim, 2, dims, len);
        put_message(&shape, 1, dim);
        dims += len + (dims[len] == ' ');
    }
    if (dims)
        put_message(&tensor, 2, shape);
    put_message(&type, 1, tensor);
    return type;
}

static inline message sequence_type(message element)
{
    message type = {.len = 0}, sequence = {.len = 0};
    put_message(&sequence, 1, element);
    put_message(&type, 4, sequence);
    return type;
}

static inline message map_type(int key, message value)
{
    message type = {.len = 0}, map = {.len = 0};
    put_int(&map, 1, key);
    put_message(&map, 2, value);
    put_message(&type, 5, map);
    return type;
}

static inline message value_info(const char *name, message type)
{
    message info = {.len = 0};
    put_text(&info, 1, name);
    put_message(&info, 2, type);
    return info;
}

static inline message node(const char *optype, const char *domain, const char *inputs,
                           const char *outputs)
{
    message m = {.len = 0};
    put_words(&m, 1, inputs);
    put_words(&m, 2, outputs);
    put_text(&m, 4, optype);
    if (*domain)
        put_text(&m, 7, domain);
    return m;
}

static inline message float_tensor(const char *name, int64_t len, const float *data)
{
    message m = {.len = 0};
    put_int(&m, 1, len);
    put_int(&m, 2, 1);
    put_text(&m, 8, name);
    if (data)
        put_bytes(&m, 9, data, (size_t)len * sizeof *data);
    return m;
}

static inline void put_property(message *m, int field, const char *key, const char *value)
{
    message property = {.len = 0};
    put_text(&property, 1, key);
    put_text(&property, 2, value);
    put_message(m, field, property);
}

// A tensor whose data are in a file.
static inline message external_tensor(const char *name, int64_t len, const char *file)
{
    message m = float_tensor(name, len, NULL);
    put_property(&m, 13, "location", file);
    put_int(&m, 14, 1);
    return m;
}

static inline message model_of(message graph)
{
    message m = {.len = 0}, opset = {.len = 0}, ml = {.len = 0};
    put_int(&m, 1, 8);
    put_text(&m, 2, "tests");
    put_text(&graph, 2, "graph");
    put_message(&m, 7, graph);
    put_int(&opset, 2, 13);
    put_message(&m, 8, opset);
    put_text(&ml, 1, "ai.onnx.ml");
    put_int(&ml, 2, 1);
    put_message(&m, 8, ml);
    return m;
}

#endif
