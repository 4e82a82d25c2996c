// SPDX-License-Identifier: Apache-2.0
// Opens one message: counts what its repeated fields hold, takes memory once, fills it in.

#include "serial/onnx/message.h"

#include <string.h>

static size_t count_numbers(const ln_onnx_field *field, const ln_wire_field *got)
{
    if (got->type != LN_WIRE_BYTES)
        return 1;
    if (field->kind == LN_FIELD_FLOATS)
        return got->bytes.len / 4;
    if (field->kind == LN_FIELD_DOUBLES)
        return got->bytes.len / 8;
    size_t count = 0; // each number ends with a byte below 128
    for (size_t i = 0; i < got->bytes.len; i++)
        count += got->bytes.at[i] < 0x80;
    return count;
}

static uint8_t width_of(ln_onnx_field_kind kind)
{
    return kind == LN_FIELD_FLOATS ? 4 : kind == LN_FIELD_DOUBLES ? 8 : 0;
}

static void add_numbers(const ln_onnx_field *field, const ln_wire_field *got, ln_onnx_bytes message,
                        ln_onnx_numbers *numbers)
{
    int is_first = numbers->number == 0;
    numbers->message = message;
    numbers->number = field->number;
    numbers->width = width_of(field->kind);
    numbers->count += count_numbers(field, got);
    numbers->only = is_first && got->type == LN_WIRE_BYTES ? got->bytes : (ln_onnx_bytes){0};
}

// The first walk: everything but the items of lists, which are only counted.
static void read_field(const ln_onnx_field *field, const ln_wire_field *got, ln_onnx_bytes message,
                       char *out)
{
    void *member = out + field->offset;
    switch (field->kind) {
    case LN_FIELD_IGNORED: break;
    case LN_FIELD_INT:
    case LN_FIELD_FLOAT:
        *(ln_onnx_scalar *)member = (ln_onnx_scalar){.at = got->at, .bits = got->bits};
        break;
    case LN_FIELD_STRING:
    case LN_FIELD_NAME:
    case LN_FIELD_MESSAGE: *(ln_onnx_bytes *)member = got->bytes; break;
    case LN_FIELD_STRINGS:
    case LN_FIELD_NAMES:
    case LN_FIELD_MESSAGES: ((ln_onnx_list *)member)->count++; break;
    case LN_FIELD_INTS:
    case LN_FIELD_FLOATS:
    case LN_FIELD_DOUBLES: add_numbers(field, got, message, member); break;
    }
}

static int is_list(ln_onnx_field_kind kind)
{
    return kind == LN_FIELD_STRINGS || kind == LN_FIELD_NAMES || kind == LN_FIELD_MESSAGES;
}

// Lists get their memory, and where each is to be filled.
static ln_status make_lists(const ln_onnx_schema *schema, ln_onnx_arena *arena, char *out,
                            ln_onnx_bytes **at)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (!is_list(schema->fields[i].kind))
            continue;
        ln_onnx_list *list = (void *)(out + schema->fields[i].offset);
        if (list->count == 0)
            continue;
        at[i] = ln_onnx_arena_take(arena, list->count, sizeof *at[i]);
        if (!at[i])
            return ln_error_status();
        list->items = at[i];
    }
    return LN_OK;
}

// ---- Names ----

size_t ln_onnx_utf8_len(const uint8_t *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0x80)
        return 1;
    size_t len = (at[0] & 0xe0) == 0xc0   ? 2
                 : (at[0] & 0xf0) == 0xe0 ? 3
                 : (at[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
    if (len == 0 || len > left)
        return 0;
    uint32_t code = at[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    int is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return code >= least[len] && code <= 0x10ffff && !is_surrogate ? len : 0;
}

bool ln_onnx_is_utf8(ln_onnx_bytes text)
{
    for (size_t i = 0, len; i < text.len; i += len) {
        len = ln_onnx_utf8_len(text.at + i, text.len - i);
        if (len == 0)
            return false;
    }
    return true;
}

// What is not UTF-8 becomes "\\xbe" byte by byte, so that the name can be printed and given back.
ln_status ln_onnx_escape(ln_onnx_arena *arena, ln_onnx_bytes *name)
{
    if (!arena || ln_onnx_is_utf8(*name))
        return LN_OK;
    uint8_t *escaped = ln_onnx_arena_take(arena, name->len, 4);
    if (!escaped)
        return ln_error_status();
    size_t len = 0;
    for (size_t i = 0; i < name->len;) {
        size_t character = ln_onnx_utf8_len(name->at + i, name->len - i);
        if (character > 0) {
            memcpy(escaped + len, name->at + i, character);
            len += character;
            i += character;
            continue;
        }
        static const char digits[] = "0123456789abcdef";
        const uint8_t four[] = {'\\', 'x', (uint8_t)digits[name->at[i] >> 4],
                                (uint8_t)digits[name->at[i] & 15]};
        memcpy(escaped + len, four, sizeof four);
        len += sizeof four;
        i++;
    }
    *name = (ln_onnx_bytes){.at = escaped, .len = len};
    return LN_OK;
}

static ln_status escape_names(const ln_onnx_schema *schema, ln_onnx_arena *arena, char *out)
{
    for (size_t i = 0; i < schema->count; i++) {
        void *member = out + schema->fields[i].offset;
        if (schema->fields[i].kind == LN_FIELD_NAME)
            LN_TRY(ln_onnx_escape(arena, member));
    }
    return LN_OK;
}

ln_status ln_onnx_decode(ln_onnx_kind kind, ln_onnx_bytes bytes, ln_onnx_arena *arena, void *out)
{
    const ln_onnx_schema *schema = &ln_onnx_schemas[kind];
    memset(out, 0, schema->size);
    const uint8_t *end = bytes.at + bytes.len;
    int has_lists = 0;
    ln_wire_field got;
    const ln_onnx_field *field = NULL;
    for (const uint8_t *at = bytes.at; ln_wire_step(&at, end, &got);) {
        field = ln_onnx_field_find_from(schema, field, got.number);
        if (!field)
            continue;
        read_field(field, &got, bytes, out);
        has_lists |= is_list(field->kind);
    }
    LN_TRY(escape_names(schema, arena, out));
    if (!has_lists)
        return LN_OK;

    ln_onnx_bytes *fill[LN_ONNX_MAX_FIELDS] = {0};
    LN_TRY(make_lists(schema, arena, out, fill));
    for (const uint8_t *at = bytes.at; ln_wire_step(&at, end, &got);) {
        field = ln_onnx_field_find_from(schema, field, got.number);
        if (!field || !is_list(field->kind))
            continue;
        ln_onnx_bytes *item = fill[field - schema->fields]++;
        *item = got.bytes;
        if (field->kind == LN_FIELD_NAMES)
            LN_TRY(ln_onnx_escape(arena, item));
    }
    return LN_OK;
}

// ---- Numbers ----

static bool next_packed(const ln_onnx_numbers *numbers, ln_onnx_bytes *packed, uint64_t *out)
{
    if (packed->len == 0)
        return false;
    const uint8_t *at = packed->at;
    if (numbers->width == 4) {
        *out = ln_wire_fixed32(at);
        at += 4;
    } else if (numbers->width == 8) {
        *out = ln_wire_fixed64(at);
        at += 8;
    } else if (!ln_wire_varint(&at, packed->at + packed->len, out)) {
        return false;
    }
    packed->len -= (size_t)(at - packed->at);
    packed->at = at;
    return true;
}

bool ln_onnx_number_next(const ln_onnx_numbers *numbers, ln_onnx_number_cursor *cursor,
                         uint64_t *out)
{
    if (numbers->count == 0)
        return false;
    if (!cursor->message_at)
        cursor->message_at = numbers->message.at;
    const uint8_t *end = numbers->message.at + numbers->message.len;
    ln_wire_field got;
    for (;;) {
        if (next_packed(numbers, &cursor->packed, out))
            return true;
        do {
            if (!ln_wire_step(&cursor->message_at, end, &got))
                return false;
        } while (got.number != numbers->number);
        if (got.type != LN_WIRE_BYTES) {
            *out = got.bits;
            return true;
        }
        cursor->packed = got.bytes;
    }
}

float ln_onnx_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
