// SPDX-License-Identifier: Apache-2.0
// Nodes and strings of a document in one arena; printing; numbers as text.
// The reader is in value_parse.c.

#include "base/value.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "base/number.h"
#include "base/safe_text.h"
#include "base/utf8.h"

#define FIRST_CHUNK_BYTES 4096
#define MAX_CHUNK_BYTES   (1 << 15)
#define ARENA_ALIGN       8 // of pointers and doubles

// | chunk | bytes handed out ... | free ... |
typedef struct chunk {
    struct chunk *next;
    size_t used;
    size_t capacity;
    _Alignas(ARENA_ALIGN) char bytes[];
} chunk;

struct ln_document {
    chunk *chunks; // the newest first; only the newest has room
    size_t node_count;
    const char *file;
    ln_value *root;
};

// ---- The arena ----

void *ln_document_alloc(ln_document *document, size_t byte_count)
{
    size_t padded;
    if (!ln_size_align(byte_count ? byte_count : 1, ARENA_ALIGN, &padded)) {
        ln_fail(LN_NO_MEMORY, "out of memory: %zu bytes in a document", byte_count);
        return NULL;
    }
    chunk *newest = document->chunks;
    if (!newest || newest->capacity - newest->used < padded) {
        size_t capacity = newest ? newest->capacity : FIRST_CHUNK_BYTES / 2;
        capacity = capacity < MAX_CHUNK_BYTES ? capacity * 2 : MAX_CHUNK_BYTES;
        capacity = capacity < padded ? padded : capacity;
        size_t chunk_bytes;
        if (!ln_size_add(sizeof(chunk), capacity, &chunk_bytes)) {
            ln_fail(LN_NO_MEMORY, "out of memory: %zu bytes in a document", byte_count);
            return NULL;
        }
        newest = ln_alloc(chunk_bytes);
        if (!newest)
            return NULL;
        newest->capacity = capacity;
        newest->next = document->chunks;
        document->chunks = newest;
    }
    void *p = newest->bytes + newest->used;
    newest->used += padded;
    return p;
}

char *ln_document_strdup(ln_document *document, const char *s, size_t len)
{
    size_t byte_count;
    if (!ln_size_add(len, 1, &byte_count))
        return NULL;
    char *copy = ln_document_alloc(document, byte_count);
    if (!copy)
        return NULL;
    if (len > 0)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

ln_status ln_document_create(const char *file, ln_document **out_document)
{
    *out_document = NULL;
    ln_document *document = ln_alloc(sizeof *document);
    if (!document)
        return LN_NO_MEMORY;
    const char *name = file ? file : "<text>";
    document->file = ln_document_strdup(document, name, strlen(name));
    if (!document->file) {
        ln_document_destroy(document);
        return LN_NO_MEMORY;
    }
    *out_document = document;
    return LN_OK;
}

void ln_document_destroy(ln_document *document)
{
    if (!document)
        return;
    chunk *next;
    for (chunk *c = document->chunks; c; c = next) {
        next = c->next;
        ln_free(c);
    }
    ln_free(document);
}

ln_value *ln_document_root(ln_document *document)
{
    return document->root;
}

void ln_document_set_root(ln_document *document, ln_value *root)
{
    document->root = root;
}

const char *ln_document_file(const ln_document *document)
{
    return document->file;
}

// ---- Nodes ----

const char *ln_value_kind_text(ln_value_kind kind)
{
    static const char *const texts[] = {
        [LN_VALUE_NULL] = "null",         [LN_VALUE_BOOL] = "a bool",
        [LN_VALUE_NUMBER] = "a number",   [LN_VALUE_STRING] = "a string",
        [LN_VALUE_ARRAY] = "an array",    [LN_VALUE_OBJECT] = "an object",
        [LN_VALUE_DELETE] = "a deletion",
    };
    return (size_t)kind < sizeof texts / sizeof texts[0] ? texts[kind] : "an unknown value";
}

const ln_value *ln_value_get(const ln_value *object, const char *key)
{
    if (!object || object->kind != LN_VALUE_OBJECT)
        return NULL;
    for (const ln_value *member = object->first; member; member = member->next)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

ln_value *ln_value_new(ln_document *document, ln_value_kind kind, ln_place place)
{
    if (document->node_count == LN_VALUE_MAX_NODES) {
        (void)ln_fail_at(place, LN_LIMIT, "more than %d values in one text", LN_VALUE_MAX_NODES);
        return NULL;
    }
    ln_value *value = ln_document_alloc(document, sizeof *value);
    if (!value)
        return NULL;
    *value = (ln_value){.kind = kind, .place = place};
    document->node_count++;
    return value;
}

ln_value *ln_value_new_string(ln_document *document, const char *text, ln_place place)
{
    ln_value *value = ln_value_new(document, LN_VALUE_STRING, place);
    if (!value)
        return NULL;
    value->text_len = strlen(text);
    value->text = ln_document_strdup(document, text, value->text_len);
    return value->text ? value : NULL;
}

ln_value *ln_value_new_number(ln_document *document, double number, ln_place place)
{
    ln_value *value = ln_value_new(document, LN_VALUE_NUMBER, place);
    if (!value)
        return NULL;
    char spelling[32];
    ln_number_print(number, spelling);
    value->number = number;
    value->text_len = strlen(spelling);
    value->text = ln_document_strdup(document, spelling, value->text_len);
    return value->text ? value : NULL;
}

ln_value *ln_value_new_bool(ln_document *document, bool boolean, ln_place place)
{
    ln_value *value = ln_value_new(document, LN_VALUE_BOOL, place);
    if (value)
        value->boolean = boolean;
    return value;
}

ln_status ln_value_append_literal(ln_value *parent, const char *key, ln_value *child)
{
    if (!child) {
        ln_status status = ln_error_status();
        return status != LN_OK ? status : LN_FAIL(LN_INVALID, "no value to append");
    }
    if (!parent)
        return LN_FAIL(LN_INVALID, "no value to append to");
    assert(parent->kind == (key ? LN_VALUE_OBJECT : LN_VALUE_ARRAY));
    child->key = key;
    child->next = NULL;
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
    return LN_OK;
}

ln_status ln_value_append(ln_document *document, ln_value *parent, const char *key, ln_value *child)
{
    const char *copy = NULL;
    if (key && child && !(copy = ln_document_strdup(document, key, strlen(key))))
        return LN_NO_MEMORY;
    return ln_value_append_literal(parent, copy, child);
}

// ---- Numbers ----

// Up to 15 digits, of which some are after the point: both their integer and the power of ten are
// exact doubles, so that the quotient is the nearest one (Clinger's fast path). False: it is none.
static bool read_short(const char *spelling, size_t len, double *out_number)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool is_negative = len > 0 && spelling[0] == '-';
    size_t i = is_negative, point = len;
    if (len == i || len > 16)
        return false;
    int64_t digits = 0;
    for (; i < len; i++) {
        if (spelling[i] == '.')
            point = i + 1;
        else if (spelling[i] >= '0' && spelling[i] <= '9')
            digits = digits * 10 + (spelling[i] - '0');
        else
            return false;
    }
    if (digits >= INT64_C(1000000000000000))
        return false;
    double number = (double)digits / powers[len - point];
    *out_number = is_negative ? -number : number;
    return true;
}

bool ln_number_read(const char *spelling, size_t len, double *out_number)
{
    if (read_short(spelling, len, out_number))
        return true;
    // 12.5e3 and 125e2 are the same number, and the second has no decimal point that strtod would
    // look up in the process locale.
    char digits[LN_VALUE_MAX_DIGITS + 32];
    size_t count = 0;
    size_t i = 0;
    long long shift = 0;
    bool after_point = false;
    *out_number = 0;
    if (len == 0 || len > LN_VALUE_MAX_DIGITS)
        return false;
    for (; i < len && spelling[i] != 'e' && spelling[i] != 'E'; i++) {
        if (spelling[i] == '.') {
            after_point = true;
            continue;
        }
        digits[count++] = spelling[i];
        shift -= after_point;
    }
    if (i < len) {
        i++;
        bool is_negative = spelling[i] == '-';
        i += spelling[i] == '-' || spelling[i] == '+';
        long long exponent = 0;
        for (; i < len; i++)
            if (exponent < 1000000)
                exponent = exponent * 10 + (spelling[i] - '0');
        shift += is_negative ? -exponent : exponent;
    }
    snprintf(digits + count, sizeof digits - count, "e%lld", shift);
    *out_number = strtod(digits, NULL);
    return isfinite(*out_number);
}

// Prints with `digit_count` significant digits; the locale's decimal point becomes '.'.
static void print_digits(double number, int digit_count, char buffer[32])
{
    char local[64];
    snprintf(local, sizeof local, "%.*g", digit_count, number);
    size_t len = 0;
    bool in_point = false;
    for (const char *p = local; *p && len < 31; p++) {
        bool is_ours = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        if (is_ours || !in_point)
            buffer[len++] = is_ours ? *p : '.';
        in_point = !is_ours;
    }
    buffer[len] = '\0';
}

void ln_number_print(double number, char buffer[32])
{
    const double exact = 9007199254740992.0; // 2^53
    if (!isfinite(number)) {
        snprintf(buffer, 32, "%s", isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
        return;
    }
    if (fabs(number) < exact && number == floor(number)) {
        snprintf(buffer, 32, "%.0f", number);
        return;
    }
    // Any 15 digits survive a normal double, so fewer need not be tried; subnormals have less.
    double back;
    for (int digit_count = fabs(number) < 2.2250738585072014e-308 ? 1 : 15; digit_count <= 17;
         digit_count++) {
        print_digits(number, digit_count, buffer);
        if (ln_number_read(buffer, strlen(buffer), &back) && back == number)
            return;
    }
}

// ---- Printing ----

static void print_string(const char *s, size_t len, ln_text *text)
{
    static const char escapes[32] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    ln_text_puts(text, "\"");
    size_t start = 0;
    for (size_t i = 0, taken; i < len; i += taken) {
        uint32_t c;
        taken = ln_utf8_get(s + i, &c);
        if (c >= 0x20 && c != '"' && c != '\\' && ln_is_safe_code(c))
            continue;
        ln_text_append(text, s + start, i - start);
        start = i + taken;
        if (c == '"' || c == '\\')
            ln_text_printf(text, "\\%c", (int)c);
        else if (c < 0x20 && escapes[c])
            ln_text_printf(text, "\\%c", escapes[c]);
        else
            ln_text_printf(text, "\\u%04x", (unsigned)c);
    }
    ln_text_append(text, s + start, len - start);
    ln_text_puts(text, "\"");
}

// `keeps_spelling`: a number that was read stands as it was written.
static void print_scalar(const ln_value *value, bool keeps_spelling, ln_text *text)
{
    char spelling[32];
    switch (value->kind) {
    case LN_VALUE_NULL: ln_text_puts(text, "null"); return;
    case LN_VALUE_BOOL: ln_text_puts(text, value->boolean ? "true" : "false"); return;
    case LN_VALUE_STRING: print_string(value->text, value->text_len, text); return;
    case LN_VALUE_NUMBER:
        ln_number_print(value->number, spelling);
        if (keeps_spelling && value->text)
            ln_text_append(text, value->text, value->text_len);
        else if (isfinite(value->number))
            ln_text_puts(text, spelling);
        else if (text->status == LN_OK)
            text->status = ln_fail_at(value->place, LN_INVALID,
                                      "the number %s cannot be written as JSON", spelling);
        return;
    default:
        if (text->status == LN_OK)
            text->status = ln_fail_at(value->place, LN_INVALID, "%s cannot be written as JSON",
                                      ln_value_kind_text(value->kind));
    }
}

static bool is_container(const ln_value *value)
{
    return value->kind == LN_VALUE_ARRAY || value->kind == LN_VALUE_OBJECT;
}

static bool has_containers(const ln_value *value)
{
    for (const ln_value *child = value->first; child; child = child->next)
        if (is_container(child))
            return true;
    return false;
}

// All members are scalars or flat arrays. An empty array that has a line of its own is broken, as
// the document of the IR shows it.
static bool fits_one_line(const ln_value *value, bool has_own_line)
{
    if (has_own_line && value->kind == LN_VALUE_ARRAY && !value->first)
        return false;
    for (const ln_value *child = value->first; child; child = child->next)
        if (child->kind == LN_VALUE_OBJECT ||
            (child->kind == LN_VALUE_ARRAY && has_containers(child)))
            return false;
    return true;
}

typedef struct open_value {
    const ln_value *value;
    const ln_value *next_child;
    bool is_one_line;
} open_value;

static void print_open(const open_value *open, ln_text *text)
{
    ln_text_puts(text, open->value->kind == LN_VALUE_ARRAY ? "[" : "{");
}

static void print_close(const open_value *open, int depth, ln_text *text)
{
    if (!open->is_one_line) {
        ln_text_puts(text, "\n");
        ln_text_indent(text, 4 * depth);
    }
    ln_text_puts(text, open->value->kind == LN_VALUE_ARRAY ? "]" : "}");
}

static void print_before_child(const open_value *open, int depth, ln_text *text)
{
    const ln_value *child = open->next_child;
    bool is_first = child == open->value->first;
    if (open->is_one_line) {
        ln_text_puts(text, is_first ? "" : ", ");
    } else {
        ln_text_puts(text, is_first ? "\n" : ",\n");
        ln_text_indent(text, 4 * depth);
    }
    if (open->value->kind == LN_VALUE_OBJECT) {
        print_string(child->key, strlen(child->key), text);
        ln_text_puts(text, ": ");
    }
}

static void print_value(const ln_value *value, bool keeps_spelling, ln_text *text)
{
    if (!value)
        return;
    if (!is_container(value)) {
        print_scalar(value, keeps_spelling, text);
        return;
    }
    open_value open[LN_VALUE_MAX_DEPTH + 1]; // a file of named objects is one level deeper
    int depth = 0;
    open[depth++] = (open_value){value, value->first, fits_one_line(value, false)};
    print_open(&open[0], text);
    while (depth > 0 && text->status == LN_OK) {
        open_value *top = &open[depth - 1];
        const ln_value *child = top->next_child;
        if (!child) {
            depth--;
            print_close(top, depth, text);
            continue;
        }
        print_before_child(top, depth, text);
        top->next_child = child->next;
        if (!is_container(child)) {
            print_scalar(child, keeps_spelling, text);
        } else if (depth > LN_VALUE_MAX_DEPTH) {
            text->status = ln_fail_at(child->place, LN_LIMIT, "values nest deeper than %d levels",
                                      LN_VALUE_MAX_DEPTH);
        } else {
            bool has_own_line = top->value->kind == LN_VALUE_OBJECT;
            open[depth++] = (open_value){child, child->first,
                                         top->is_one_line || fits_one_line(child, has_own_line)};
            print_open(&open[depth - 1], text);
        }
    }
}

void ln_value_print(const ln_value *value, ln_text *text)
{
    print_value(value, false, text);
}

void ln_value_print_as_read(const ln_value *value, ln_text *text)
{
    print_value(value, true, text);
}
