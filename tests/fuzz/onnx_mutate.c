// SPDX-License-Identifier: Apache-2.0
// Changes ONNX models inside valid messages. A model is laid out as a flat array of its fields,
// each with the message that it is in; one is replaced, and the lengths around it follow.

#include "tests/fuzz/onnx_mutate.h"

#include <string.h>

enum { MAX_FIELDS = 4096, MAX_DEPTH = 12, MAX_NEW = 4096 };

// What is in a field.
typedef enum kind {
    NUMBER,
    BYTES,
    NAME,
    OP_TYPE,
    ATTRIBUTE_NAME,
    MODEL, // this one and what follows are messages
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    VALUE_INFO,
    TYPE,
    TENSOR_TYPE,
    SHAPE,
    DIM,
    OPSET,
    FUNCTION,
    ITEM_TYPE // of a sequence or an optional
} kind;

typedef struct field {
    size_t start, body, end; // its tag, what follows tag and length, its end
    int parent;              // the field whose message holds it; -1: the model itself
    unsigned number, wire;
    kind kind;
} field;

typedef struct layout {
    field fields[MAX_FIELDS];
    int count;
} layout;

static const struct {
    kind of;
    unsigned number;
    kind is;
} schema[] = {
    {MODEL, 7, GRAPH},       {MODEL, 8, OPSET},
    {MODEL, 25, FUNCTION},   {GRAPH, 1, NODE},
    {GRAPH, 2, NAME},        {GRAPH, 5, TENSOR},
    {GRAPH, 11, VALUE_INFO}, {GRAPH, 12, VALUE_INFO},
    {GRAPH, 13, VALUE_INFO}, {NODE, 1, NAME},
    {NODE, 2, NAME},         {NODE, 3, NAME},
    {NODE, 4, OP_TYPE},      {NODE, 5, ATTRIBUTE},
    {NODE, 7, NAME},         {ATTRIBUTE, 1, ATTRIBUTE_NAME},
    {ATTRIBUTE, 4, BYTES},   {ATTRIBUTE, 5, TENSOR},
    {ATTRIBUTE, 6, GRAPH},   {ATTRIBUTE, 9, BYTES},
    {ATTRIBUTE, 10, TENSOR}, {ATTRIBUTE, 11, GRAPH},
    {TENSOR, 8, NAME},       {VALUE_INFO, 1, NAME},
    {VALUE_INFO, 2, TYPE},   {TYPE, 1, TENSOR_TYPE},
    {TYPE, 4, ITEM_TYPE},    {TYPE, 9, ITEM_TYPE},
    {ITEM_TYPE, 1, TYPE},    {TENSOR_TYPE, 2, SHAPE},
    {SHAPE, 1, DIM},         {DIM, 2, NAME},
    {FUNCTION, 1, NAME},     {FUNCTION, 4, NAME},
    {FUNCTION, 5, NAME},     {FUNCTION, 7, NODE},
};

static kind kind_of(kind parent, unsigned number, unsigned wire)
{
    if (wire == 0)
        return NUMBER;
    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++) {
        if (wire == 2 && schema[i].of == parent && schema[i].number == number)
            return schema[i].is;
    }
    return BYTES;
}

// ---- Reading ----

static int read_varint(const uint8_t *data, size_t end, size_t *at, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = data[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return 1;
    }
    return 0;
}

static int read_field(const uint8_t *data, size_t end, size_t *at, field *f)
{
    uint64_t tag, value;
    f->start = *at;
    if (!read_varint(data, end, at, &tag))
        return 0;
    f->number = (unsigned)(tag >> 3);
    f->wire = (unsigned)(tag & 7);
    f->body = *at;
    size_t len = f->wire == 5 ? 4 : 8;
    if (f->wire == 0) {
        if (!read_varint(data, end, at, &value))
            return 0;
    } else if (f->wire == 2) {
        if (!read_varint(data, end, at, &value) || value > end - *at)
            return 0;
        f->body = *at;
        *at += value;
    } else if ((f->wire == 5 || f->wire == 1) && len <= end - *at) {
        *at += len;
    } else {
        return 0;
    }
    f->end = *at;
    return 1;
}

static int depth_of(const layout *l, int index)
{
    int depth = 0;
    for (; index >= 0; index = l->fields[index].parent)
        depth++;
    return depth;
}

// All fields of one message; 0 if it is none, or there are too many.
static int lay_out(const uint8_t *data, size_t start, size_t end, int parent, kind message,
                   layout *l)
{
    for (size_t at = start; at < end;) {
        if (l->count == MAX_FIELDS)
            return 0;
        field *f = &l->fields[l->count++];
        if (!read_field(data, end, &at, f))
            return 0;
        f->parent = parent;
        f->kind = kind_of(message, f->number, f->wire);
    }
    return 1;
}

static int lay_out_model(const uint8_t *data, size_t size, layout *l)
{
    l->count = 0;
    if (!lay_out(data, 0, size, -1, MODEL, l))
        return 0;
    for (int i = 0; i < l->count; i++) {
        const field *f = &l->fields[i];
        if (f->kind >= MODEL && depth_of(l, i) < MAX_DEPTH &&
            !lay_out(data, f->body, f->end, i, f->kind, l))
            return 0;
    }
    return l->count > 0;
}

// ---- Writing ----

static size_t write_varint(uint8_t *out, uint64_t value)
{
    size_t len = 0;
    for (; value > 0x7f; value >>= 7)
        out[len++] = (uint8_t)(value | 0x80);
    out[len++] = (uint8_t)value;
    return len;
}

static size_t write_field(uint8_t *out, unsigned number, const void *bytes, size_t len)
{
    size_t at = write_varint(out, (uint64_t)number << 3 | 2);
    at += write_varint(out + at, len);
    memcpy(out + at, bytes, len);
    return at + len;
}

typedef struct text {
    uint8_t *data;
    size_t size, max_size;
} text;

// Puts `len` bytes in the place of [start, end); 0 if they do not fit.
static int splice(text *t, size_t start, size_t end, const uint8_t *bytes, size_t len)
{
    size_t size = t->size - (end - start) + len;
    if (size > t->max_size)
        return 0;
    memmove(t->data + start + len, t->data + end, t->size - end);
    memcpy(t->data + start, bytes, len);
    t->size = size;
    return 1;
}

// Puts bytes in the place of [start, end) in the message of field `parent`, and sets all lengths.
static size_t replace(text *t, const layout *l, int parent, size_t start, size_t end,
                      const uint8_t *bytes, size_t len)
{
    if (!splice(t, start, end, bytes, len))
        return 0;
    size_t old_len = end - start, new_len = len;
    for (; parent >= 0; parent = l->fields[parent].parent) {
        const field *f = &l->fields[parent];
        uint8_t head[16];
        size_t head_len = write_varint(head, (uint64_t)f->number << 3 | f->wire);
        head_len += write_varint(head + head_len, f->end - f->body - old_len + new_len);
        if (!splice(t, f->start, f->body, head, head_len))
            return 0;
        old_len += f->body - f->start;
        new_len += head_len;
    }
    return t->size;
}

// ---- Changes ----

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

static uint64_t any_number(unsigned *seed)
{
    static const int64_t special[] = {
        0,         1,         -1,        2,         3,         -2,        7,         8,
        9,         16,        64,        255,       65535,     -3,        1000000,   INT32_MAX,
        INT32_MIN, 1LL << 31, 1LL << 32, 1LL << 53, INT64_MAX, INT64_MIN, 1LL << 62, -8,
    };
    unsigned r = next(seed);
    if (r % 3 == 0)
        return next(seed) % 28; // also element types, operator sets
    return (uint64_t)special[r / 3 % (sizeof special / sizeof special[0])];
}

static size_t change_number(text *t, const layout *l, const field *f, unsigned *seed)
{
    uint8_t bytes[10];
    size_t len = write_varint(bytes, any_number(seed));
    return replace(t, l, f->parent, f->body, f->end, bytes, len);
}

// The bytes of another field of that kind instead.
static size_t change_name(text *t, const layout *l, const field *f, unsigned *seed)
{
    uint8_t other[MAX_NEW], bytes[MAX_NEW + 16];
    unsigned skip = next(seed) % (unsigned)l->count;
    for (int i = 0; i < l->count; i++) {
        const field *g = &l->fields[((unsigned)i + skip) % (unsigned)l->count];
        size_t len = g->end - g->body;
        if (g == f || g->kind != f->kind || len > MAX_NEW)
            continue;
        memcpy(other, t->data + g->body, len);
        len = write_field(bytes, f->number, other, len);
        return replace(t, l, f->parent, f->start, f->end, bytes, len);
    }
    return 0;
}

static size_t change_op_type(text *t, const layout *l, const field *f, unsigned *seed)
{
    static const char *const names[] = {
        "Add",      "Loop",   "If",         "Scan",     "Reshape",         "Expand",    "Tile",
        "Range",    "Pad",    "Resize",     "Gather",   "ScatterND",       "TopK",      "Einsum",
        "Slice",    "Concat", "Split",      "GatherND", "ConstantOfShape", "OneHot",    "NonZero",
        "Identity", "Cast",   "Squeeze",    "Shape",    "MatMul",          "Conv",      "LSTM",
        "MaxPool",  "Unique", "SequenceAt", "Optional", "Compress",        "Attention", "DFT",
    };
    const char *name = names[next(seed) % (sizeof names / sizeof names[0])];
    uint8_t bytes[64];
    size_t len = write_field(bytes, f->number, name, strlen(name));
    return replace(t, l, f->parent, f->start, f->end, bytes, len);
}

// Numbers of raw data, or its length, or any byte.
static size_t change_bytes(text *t, const layout *l, const field *f, unsigned *seed)
{
    uint8_t bytes[MAX_NEW + 32];
    uint8_t body[MAX_NEW + 8];
    size_t len = f->end - f->body;
    if (len > MAX_NEW || f->wire != 2)
        return 0;
    memcpy(body, t->data + f->body, len);
    uint64_t value = any_number(seed);
    size_t width = (size_t)1 << next(seed) % 4;
    unsigned what = next(seed) % 8;
    if (what == 0)
        len += width; // whatever is there
    else if (what == 1)
        len -= len < width ? len : width;
    else if (len >= width)
        memcpy(body + next(seed) % (len / width) * width, &value, width);
    if (what == 0)
        memcpy(body + len - width, &value, width);
    len = write_field(bytes, f->number, body, len);
    return replace(t, l, f->parent, f->start, f->end, bytes, len);
}

static size_t change_float(text *t, const field *f, unsigned *seed)
{
    static const float special[] = {0, 1, -1, 1e30f, -1e30f, 0.5f, 1e-30f, 2147483648.0f};
    uint32_t bits = 0x7fc00000; // NaN
    unsigned r = next(seed) % 10;
    if (r < 8)
        memcpy(&bits, &special[r], sizeof bits);
    else if (r == 8)
        bits = 0x7f800000;
    memcpy(t->data + f->body, &bits, sizeof bits);
    return t->size;
}

// Once more, or not at all, or another one of its kind in its place.
static size_t change_field(text *t, const layout *l, const field *f, unsigned *seed)
{
    static uint8_t bytes[1 << 16];
    unsigned what = next(seed) % 3;
    if (what == 0)
        return replace(t, l, f->parent, f->start, f->end, bytes, 0);
    const field *g = f;
    for (int tries = 0; what == 1 && tries < 16; tries++) {
        g = &l->fields[next(seed) % (unsigned)l->count];
        if (g->kind == f->kind && g->number == f->number)
            break;
        g = f;
    }
    size_t len = g->end - g->start;
    if (len > sizeof bytes)
        return 0;
    memcpy(bytes, t->data + g->start, len);
    size_t place = what == 1 ? f->end : f->start;
    return replace(t, l, f->parent, f->start, place, bytes, len);
}

size_t onnx_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static layout l;
    text t = {data, size, max_size};
    if (!lay_out_model(data, size, &l))
        return 0;
    const field *f = &l.fields[next(&seed) % (unsigned)l.count];
    if (f->number == 1 && f->parent < 0)
        return 0; // the version of the format, by which a model is known
    if (next(&seed) % 8 == 0)
        return change_field(&t, &l, f, &seed);
    switch (f->kind) {
    case NUMBER: return change_number(&t, &l, f, &seed);
    case NAME:
    case ATTRIBUTE_NAME: return change_name(&t, &l, f, &seed);
    case OP_TYPE: return change_op_type(&t, &l, f, &seed);
    case BYTES: return f->wire == 5 ? change_float(&t, f, &seed) : change_bytes(&t, &l, f, &seed);
    default: return change_field(&t, &l, f, &seed);
    }
}
