// SPDX-License-Identifier: Apache-2.0
// The safetensors format:   | header length, u64 little-endian | JSON header | data |
//
// The header is an object of `name: {"dtype", "shape", "data_offsets"}`, with an optional
// `"__metadata__"` of strings, which is checked and skipped. Its shape is known, so it is scanned
// in one pass without recursion and without a tree. The ranges must tile the data exactly: that
// excludes overlap, holes and hidden bytes.

#include "tensor/tensor_file_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are mapped as little-endian");

#define LENGTH_BYTES 8
#define DATA_ALIGN   64
#define METADATA     "__metadata__"

// The types in files. The first row of a dtype is the one that is written.
static const struct {
    const char *name;
    tl_dtype dtype;
    ln_packing packing;
} types[] = {
    {"F64", TL_DOUBLE, LN_PACKED_SAME},
    {"F32", TL_FLOAT, LN_PACKED_SAME},
    {"I64", TL_INT64, LN_PACKED_SAME},
    {"I32", TL_INT32, LN_PACKED_SAME},
    {"I16", TL_INT16, LN_PACKED_SAME},
    {"I8", TL_INT8, LN_PACKED_SAME},
    {"U64", TL_UINT64, LN_PACKED_SAME},
    {"U32", TL_UINT32, LN_PACKED_SAME},
    {"U16", TL_UINT16, LN_PACKED_SAME},
    {"U8", TL_UINT8, LN_PACKED_SAME},
    {"BOOL", TL_BOOL, LN_PACKED_BOOL},
    {"F16", TL_FLOAT, LN_PACKED_F16},
    {"BF16", TL_FLOAT, LN_PACKED_BF16},
    {"F8_E4M3", TL_FLOAT8E4M3FN, LN_PACKED_SAME},
    {"F8_E5M2", TL_FLOAT8E5M2, LN_PACKED_SAME},
    {"F8_E8M0", TL_FLOAT8E8M0, LN_PACKED_SAME},
    {"C64", TL_COMPLEX64, LN_PACKED_SAME},
    // Written only: a reader takes the first row of a name, and the model says what they are.
    {"F16", TL_FLOAT16, LN_PACKED_SAME},
    {"BF16", TL_BFLOAT16, LN_PACKED_SAME},
    {"U8", TL_FLOAT8E4M3FNUZ, LN_PACKED_SAME},
    {"U8", TL_FLOAT8E5M2FNUZ, LN_PACKED_SAME},
    {"U8", TL_FLOAT4E2M1, LN_PACKED_SAME},
    {"I8", TL_INT4, LN_PACKED_SAME},
    {"U8", TL_UINT4, LN_PACKED_SAME},
    {"I8", TL_INT2, LN_PACKED_SAME},
    {"U8", TL_UINT2, LN_PACKED_SAME},
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

// ---- Scanning JSON ----

typedef struct scanner {
    const char *start; // of the file, for offsets in messages
    const char *next;
    const char *end;
    char *text; // of the last string, decoded; NUL-terminated, holds no other NUL
    size_t text_len;
} scanner;

static ln_status fail_at(const scanner *s, ln_status status, const char *what)
{
    return LN_FAIL(status, "byte %td: %s", s->next - s->start, what);
}

static void skip_space(scanner *s)
{
    while (s->next < s->end &&
           (*s->next == ' ' || *s->next == '\t' || *s->next == '\n' || *s->next == '\r'))
        s->next++;
}

// Whether `c` comes next; takes it if so.
static bool take(scanner *s, char c)
{
    skip_space(s);
    if (s->next == s->end || *s->next != c)
        return false;
    s->next++;
    return true;
}

static ln_status expect(scanner *s, char c)
{
    if (take(s, c))
        return LN_OK;
    return LN_FAIL(LN_SYNTAX, "byte %td: expected '%c'", s->next - s->start, c);
}

static ln_status hex4(scanner *s, uint32_t *out_unit)
{
    uint32_t unit = 0;
    *out_unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = s->next < s->end ? *s->next : '\0';
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit > 15)
            return fail_at(s, LN_SYNTAX, "\\u needs four hexadecimal digits");
        unit = unit << 4 | digit;
        s->next++;
    }
    *out_unit = unit;
    return LN_OK;
}

// The character after "\u"; a surrogate pair is one character.
static ln_status scan_unicode_escape(scanner *s, uint32_t *out_char)
{
    uint32_t high, low;
    *out_char = 0;
    LN_TRY(hex4(s, &high));
    *out_char = high;
    if (high == 0)
        return fail_at(s, LN_SYNTAX, "a string contains NUL");
    if (high < 0xd800 || high > 0xdfff)
        return LN_OK;
    if (high > 0xdbff || s->end - s->next < 2 || s->next[0] != '\\' || s->next[1] != 'u')
        return fail_at(s, LN_SYNTAX, "a surrogate without its partner");
    s->next += 2;
    LN_TRY(hex4(s, &low));
    if (low < 0xdc00 || low > 0xdfff)
        return fail_at(s, LN_SYNTAX, "a surrogate without its partner");
    *out_char = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return LN_OK;
}

static void append_char(scanner *s, uint32_t c)
{
    char *to = s->text + s->text_len;
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint32_t lead[] = {0, 0x00, 0xc0, 0xe0, 0xf0};
    for (size_t i = len - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    to[0] = (char)(lead[len] | c);
    s->text_len += len;
}

// The length of the UTF-8 character at `s->next`, which is not ASCII; 0 when it is malformed.
static size_t utf8_len(const scanner *s)
{
    const unsigned char *p = (const unsigned char *)s->next;
    size_t left = (size_t)(s->end - s->next);
    size_t len = p[0] >= 0xc2 && p[0] <= 0xdf   ? 2
                 : p[0] >= 0xe0 && p[0] <= 0xef ? 3
                 : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                : 0;
    if (len == 0 || len > left)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    // Overlong forms, surrogates, and values above U+10FFFF.
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}

static ln_status scan_escape(scanner *s)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (s->next == s->end)
        return fail_at(s, LN_SYNTAX, "the header ends inside of a string");
    char c = *s->next++;
    if (c == 'u') {
        uint32_t unicode;
        LN_TRY(scan_unicode_escape(s, &unicode));
        append_char(s, unicode);
        return LN_OK;
    }
    const char *name = c ? strchr(names, c) : NULL;
    if (!name)
        return fail_at(s, LN_SYNTAX, "unknown escape in a string");
    append_char(s, (unsigned char)values[name - names]);
    return LN_OK;
}

// A string, decoded into s->text, which has room for it: decoding never makes it longer.
static ln_status scan_string(scanner *s)
{
    LN_TRY(expect(s, '"'));
    s->text_len = 0;
    while (s->next < s->end && *s->next != '"') {
        unsigned char c = (unsigned char)*s->next;
        if (c < 0x20)
            return fail_at(s, LN_SYNTAX, "a control character in a string");
        if (c == '\\') {
            s->next++;
            LN_TRY(scan_escape(s));
            continue;
        }
        size_t len = c < 0x80 ? 1 : utf8_len(s);
        if (len == 0)
            return fail_at(s, LN_SYNTAX, "a string is not UTF-8");
        memcpy(s->text + s->text_len, s->next, len);
        s->text_len += len;
        s->next += len;
    }
    s->text[s->text_len] = '\0';
    return expect(s, '"');
}

// An integer without sign, fraction or exponent.
static ln_status scan_size(scanner *s, size_t *out_size)
{
    skip_space(s);
    size_t size = 0;
    *out_size = 0;
    const char *first = s->next;
    while (s->next < s->end && *s->next >= '0' && *s->next <= '9') {
        if (!ln_size_mul(size, 10, &size) || !ln_size_add(size, (size_t)(*s->next - '0'), &size))
            return fail_at(s, LN_LIMIT, "a number is too large");
        s->next++;
    }
    if (s->next == first || (*first == '0' && s->next - first > 1))
        return fail_at(s, LN_SYNTAX, "expected an integer");
    *out_size = size;
    return LN_OK;
}

// ---- Reading the header ----

// The value of one name.
typedef struct description {
    tl_dtype dtype;
    ln_packing packing;
    int ndim;
    int dims[TL_MAXDIM];
    size_t begin;
    size_t end;
} description;

static ln_status scan_dtype(scanner *s, description *d)
{
    LN_TRY(scan_string(s));
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(s->text, types[i].name) == 0) {
            d->dtype = types[i].dtype;
            d->packing = types[i].packing;
            return LN_OK;
        }
    }
    return LN_FAIL(
        LN_UNSUPPORTED,
        "byte %td: dtype '%.32s' is not supported; convert it to F32, or another of 16 to "
        "64 bits",
        s->next - s->start, s->text);
}

static ln_status scan_shape(scanner *s, description *d)
{
    LN_TRY(expect(s, '['));
    d->ndim = 0;
    if (take(s, ']'))
        return LN_OK;
    do {
        size_t size;
        LN_TRY(scan_size(s, &size));
        if (d->ndim == TL_MAXDIM)
            return LN_FAIL(LN_UNSUPPORTED, "byte %td: more than %d dimensions", s->next - s->start,
                           TL_MAXDIM);
        if (size > INT32_MAX)
            return fail_at(s, LN_LIMIT, "a dimension is too large");
        d->dims[d->ndim++] = (int)size;
    } while (take(s, ','));
    return expect(s, ']');
}

static ln_status scan_data_offsets(scanner *s, description *d)
{
    LN_TRY(expect(s, '['));
    LN_TRY(scan_size(s, &d->begin));
    LN_TRY(expect(s, ','));
    LN_TRY(scan_size(s, &d->end));
    return expect(s, ']');
}

// {"dtype": ..., "shape": ..., "data_offsets": ...} in any order, each once.
static ln_status scan_description(scanner *s, description *d)
{
    static const struct {
        const char *key;
        ln_status (*scan)(scanner *s, description *d);
    } keys[] = {{"dtype", scan_dtype}, {"shape", scan_shape}, {"data_offsets", scan_data_offsets}};
    enum { KEY_COUNT = 3 };
    unsigned seen = 0;
    LN_TRY(expect(s, '{'));
    do {
        LN_TRY(scan_string(s));
        unsigned key = 0;
        while (key < KEY_COUNT && strcmp(keys[key].key, s->text) != 0)
            key++;
        if (key == KEY_COUNT)
            return LN_FAIL(LN_SYNTAX, "byte %td: unknown key '%.32s'", s->next - s->start, s->text);
        if (seen & 1u << key)
            return LN_FAIL(LN_SYNTAX, "byte %td: key '%s' appears twice", s->next - s->start,
                           keys[key].key);
        seen |= 1u << key;
        LN_TRY(expect(s, ':'));
        LN_TRY(keys[key].scan(s, d));
    } while (take(s, ','));
    LN_TRY(expect(s, '}'));
    if (seen != (1u << KEY_COUNT) - 1)
        return fail_at(s, LN_SYNTAX, "a tensor needs dtype, shape and data_offsets");
    return LN_OK;
}

static ln_status skip_metadata(scanner *s)
{
    LN_TRY(expect(s, '{'));
    if (take(s, '}'))
        return LN_OK;
    do {
        LN_TRY(scan_string(s));
        LN_TRY(expect(s, ':'));
        LN_TRY(scan_string(s));
    } while (take(s, ','));
    return expect(s, '}');
}

// ---- From descriptions to tensors ----

typedef struct range {
    size_t begin;
    size_t end;
} range;

// The ranges of all tensors seen so far.
typedef struct range_list {
    range *ranges;
    size_t count;
    size_t capacity;
} range_list;

static ln_status add_range(range_list *list, size_t begin, size_t end)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        range *ranges = ln_realloc(list->ranges, capacity * sizeof *ranges);
        if (!ranges)
            return LN_NO_MEMORY;
        list->ranges = ranges;
        list->capacity = capacity;
    }
    list->ranges[list->count++] = (range){begin, end};
    return LN_OK;
}

static int compare_ranges(const void *pa, const void *pb)
{
    const range *a = pa, *b = pb;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

// The ranges follow each other from 0 to `byte_count`.
static ln_status check_tiling(range_list *list, size_t byte_count)
{
    if (list->count > 1)
        qsort(list->ranges, list->count, sizeof *list->ranges, compare_ranges);
    size_t filled = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->ranges[i].begin != filled)
            return LN_FAIL(LN_SYNTAX, "data byte %zu: %s", filled,
                           list->ranges[i].begin > filled ? "belongs to no tensor"
                                                          : "belongs to two tensors");
        filled = list->ranges[i].end;
    }
    if (filled != byte_count)
        return LN_FAIL(LN_SYNTAX, "data byte %zu: belongs to no tensor", filled);
    return LN_OK;
}

// The dtype, shape and range agree with each other and with the data.
static ln_status check_description(const scanner *s, const description *d, size_t byte_count)
{
    int len;
    size_t wanted;
    if (!tl_shape_len(d->ndim, d->dims, &len) ||
        !ln_size_mul((size_t)len, ln_packed_size(d->packing, d->dtype), &wanted))
        return fail_at(s, LN_LIMIT, "the tensor has too many elements");
    if (d->begin > d->end || d->end > byte_count)
        return LN_FAIL(LN_SYNTAX, "byte %td: data [%zu, %zu) are outside of %zu bytes",
                       s->next - s->start, d->begin, d->end, byte_count);
    if (d->end - d->begin != wanted)
        return LN_FAIL(LN_SYNTAX, "byte %td: %zu bytes of data do not fit a shape of %zu bytes",
                       s->next - s->start, d->end - d->begin, wanted);
    return LN_OK;
}

// `name: description`, or the metadata; `data` are the bytes after the header.
static ln_status scan_member(ln_tensor_file *file, scanner *s, range_list *list, char *name,
                             bool *io_has_metadata, const char *data, size_t byte_count)
{
    LN_TRY(scan_string(s));
    if (strcmp(s->text, METADATA) == 0) {
        if (*io_has_metadata)
            return fail_at(s, LN_SYNTAX, METADATA " appears twice");
        *io_has_metadata = true;
        LN_TRY(expect(s, ':'));
        return skip_metadata(s);
    }
    size_t name_len = s->text_len;
    if (name_len > LN_TENSOR_FILE_NAME_MAX)
        return fail_at(s, LN_LIMIT, "the name of a tensor is too long");
    memcpy(name, s->text, name_len);

    description d;
    LN_TRY(expect(s, ':'));
    LN_TRY(scan_description(s, &d));
    LN_TRY(check_description(s, &d, byte_count));
    LN_TRY(add_range(list, d.begin, d.end));
    return ln_tensor_file_add_packed(file, name, name_len, d.dtype, d.ndim, d.dims, data + d.begin,
                                     d.packing);
}

static ln_status scan_header(ln_tensor_file *file, scanner *s, range_list *list, const char *data,
                             size_t byte_count)
{
    char name[LN_TENSOR_FILE_NAME_MAX];
    bool has_metadata = false;
    if (s->next == s->end || *s->next != '{')
        return fail_at(s, LN_SYNTAX, "the header does not start with '{'");
    s->next++;
    if (!take(s, '}')) {
        do {
            LN_TRY(scan_member(file, s, list, name, &has_metadata, data, byte_count));
        } while (take(s, ','));
        LN_TRY(expect(s, '}'));
    }
    skip_space(s);
    if (s->next != s->end)
        return fail_at(s, LN_SYNTAX, "text follows after the header");
    return check_tiling(list, byte_count);
}

ln_status ln_safetensors_parse(ln_tensor_file *file, const char *data, size_t byte_count)
{
    uint64_t header_size;
    if (byte_count < LENGTH_BYTES)
        return LN_FAIL(LN_SYNTAX, "%zu bytes are too few for safetensors", byte_count);
    memcpy(&header_size, data, sizeof header_size);
    if (header_size > byte_count - LENGTH_BYTES)
        return LN_FAIL(LN_SYNTAX, "byte 0: a header of %" PRIu64 " bytes does not fit %zu bytes",
                       header_size, byte_count);
    if (header_size > LN_TENSOR_FILE_HEADER_MAX)
        return LN_FAIL(LN_LIMIT, "byte 0: a header of %" PRIu64 " bytes is over %u", header_size,
                       LN_TENSOR_FILE_HEADER_MAX);

    scanner s = {.start = data, .next = data + LENGTH_BYTES};
    s.end = s.next + header_size;
    s.text = ln_alloc((size_t)header_size + 1);
    if (!s.text)
        return LN_NO_MEMORY;
    range_list list = {0};
    ln_status status =
        scan_header(file, &s, &list, s.end, byte_count - LENGTH_BYTES - (size_t)header_size);
    ln_free(list.ranges);
    ln_free(s.text);
    return status;
}

// ---- Writing ----

// Counts the bytes of the header, and writes them too when there is a stream.
typedef struct sink {
    FILE *fp;
    size_t byte_count;
} sink;

static void put_bytes(sink *out, const char *bytes, size_t byte_count)
{
    if (out->fp)
        fwrite(bytes, 1, byte_count, out->fp);
    out->byte_count += byte_count;
}

static void put(sink *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

static void put_size(sink *out, size_t size)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", size);
    put(out, text);
}

static void put_string(sink *out, const char *text)
{
    put(out, "\"");
    for (; *text; text++) {
        char escape[8] = {*text};
        if (*text == '"' || *text == '\\')
            snprintf(escape, sizeof escape, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*text);
        put(out, escape);
    }
    put(out, "\"");
}

static size_t data_size(const tl_tensor *t)
{
    return t->dtype == TL_BOOL ? (size_t)t->len : tl_tensor_size(t);
}

// NULL if the format has none.
static const char *type_name(tl_dtype dtype)
{
    for (size_t type = 0; type < TYPE_COUNT; type++)
        if (types[type].dtype == dtype)
            return types[type].name;
    return NULL;
}

static void put_header(sink *out, const ln_named_tensor *tensors, size_t count)
{
    size_t offset = 0;
    put(out, "{");
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *t = tensors[i].tensor;
        put(out, i ? "," : "");
        put_string(out, tensors[i].name);
        put(out, ":{\"dtype\":\"");
        put(out, type_name(t->dtype));
        put(out, "\",\"shape\":[");
        for (int k = 0; k < t->ndim; k++) {
            put(out, k ? "," : "");
            put_size(out, (size_t)t->dims[k]);
        }
        put(out, "],\"data_offsets\":[");
        put_size(out, offset);
        offset += data_size(t);
        put(out, ",");
        put_size(out, offset);
        put(out, "]}");
    }
    put(out, "}");
}

static void write_data(FILE *fp, const tl_tensor *t)
{
    if (t->dtype != TL_BOOL) {
        if (t->len > 0)
            fwrite(t->data, 1, data_size(t), fp);
        return;
    }
    for (int i = 0; i < t->len; i++)
        fputc(((const tl_bool *)t->data)[i] != 0, fp);
}

static ln_status check_writable(const ln_named_tensor *tensors, size_t count)
{
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = tensors[i].name;
        scanner s = {.next = name, .end = name + strlen(name)};
        while (s.next < s.end) {
            size_t len = (unsigned char)*s.next < 0x80 ? 1 : utf8_len(&s);
            if (len == 0)
                return LN_FAIL(LN_INVALID, "the name of tensor %zu is not UTF-8", i);
            s.next += len;
        }
        if (strcmp(name, METADATA) == 0)
            return LN_FAIL(LN_INVALID, "'" METADATA "' cannot be the name of a tensor");
        if (!type_name(tensors[i].tensor->dtype))
            return LN_FAIL(LN_UNSUPPORTED, "'%s' is %s, which safetensors cannot hold", name,
                           tl_dtype_title(tensors[i].tensor->dtype));
        if (!ln_size_add(offset, data_size(tensors[i].tensor), &offset))
            return LN_FAIL(LN_LIMIT, "the tensors are too large together");
    }
    return LN_OK;
}

ln_status ln_safetensors_write(FILE *fp, const ln_named_tensor *tensors, size_t count)
{
    LN_TRY(check_writable(tensors, count));
    sink counter = {0};
    put_header(&counter, tensors, count);
    size_t data_start;
    if (!ln_size_align(LENGTH_BYTES + counter.byte_count, DATA_ALIGN, &data_start) ||
        data_start - LENGTH_BYTES > LN_TENSOR_FILE_HEADER_MAX)
        return LN_FAIL(LN_LIMIT, "a header of %zu bytes is over %u", counter.byte_count,
                       LN_TENSOR_FILE_HEADER_MAX);

    uint64_t header_size = data_start - LENGTH_BYTES;
    fwrite(&header_size, sizeof header_size, 1, fp);
    put_header(&(sink){.fp = fp}, tensors, count);
    fprintf(fp, "%*s", (int)(header_size - counter.byte_count), "");
    for (size_t i = 0; i < count; i++)
        write_data(fp, tensors[i].tensor);
    if (ferror(fp))
        return LN_FAIL(LN_IO, "cannot write tensors: %s", strerror(errno));
    return LN_OK;
}
