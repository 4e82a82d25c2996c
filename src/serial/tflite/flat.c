// SPDX-License-Identifier: Apache-2.0
// Bounds of tables, fields and vectors. Numbers are little-endian, at any address.

#include "serial/tflite/flat.h"

#include <stdarg.h>
#include <string.h>

// Elements of vectors that are opened, for each byte of the file and beyond that: shapes and lists
// of operators are read a few times each.
#define VISITS_A_BYTE 16
#define FREE_VISITS   100000

ln_flat ln_flat_of(const void *bytes, size_t len, const char *name)
{
    size_t visits =
        len < SIZE_MAX / VISITS_A_BYTE - FREE_VISITS ? VISITS_A_BYTE * len + FREE_VISITS : SIZE_MAX;
    return (ln_flat){.bytes = bytes, .len = len, .name = name, .visits_left = visits};
}

ln_status ln_flat_fail(ln_flat *f, size_t at, ln_status status, const char *fmt, ...)
{
    if (f->status != LN_OK)
        return f->status;
    va_list ap;
    va_start(ap, fmt);
    ln_vfail(status, fmt, ap);
    va_end(ap);
    f->status = ln_fail_prefix("%s: byte %zu", f->name, at);
    return f->status;
}

static bool is_inside(const ln_flat *f, size_t at, size_t len)
{
    return at <= f->len && len <= f->len - at;
}

// The caller has checked the bounds.
static uint64_t get(const ln_flat *f, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)f->bytes[at + i] << 8 * i;
    return value;
}

static int64_t get_number(const ln_flat *f, size_t at, ln_flat_kind kind)
{
    size_t size = (size_t)(kind < 0 ? -kind : kind);
    uint64_t value = get(f, at, size);
    switch (kind) {
    case LN_FLAT_I8: return (int8_t)value;
    case LN_FLAT_I32: return (int32_t)value;
    default: return (int64_t)value;
    }
}

static float get_float(const ln_flat *f, size_t at)
{
    uint32_t bits = (uint32_t)get(f, at, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- Tables ----

static ln_flat_table open_table(ln_flat *f, size_t at)
{
    static const ln_flat_table none;
    if (f->status != LN_OK)
        return none;
    if (!is_inside(f, at, 4)) {
        (void)ln_flat_fail(f, at, LN_SYNTAX, "a table begins outside of the file, of %zu bytes",
                           f->len);
        return none;
    }
    int64_t vtable = (int64_t)at - (int32_t)get(f, at, 4);
    if (vtable < 0 || !is_inside(f, (size_t)vtable, 4)) {
        (void)ln_flat_fail(f, at, LN_SYNTAX, "the list of a table's fields is outside of the file");
        return none;
    }
    ln_flat_table table = {.at = at,
                           .vtable = (size_t)vtable,
                           .vtable_len = (uint16_t)get(f, (size_t)vtable, 2),
                           .len = (uint16_t)get(f, (size_t)vtable + 2, 2)};
    if (table.vtable_len < 4 || !is_inside(f, table.vtable, table.vtable_len) || table.len < 4 ||
        !is_inside(f, at, table.len)) {
        (void)ln_flat_fail(f, at, LN_SYNTAX,
                           "a table of %u bytes with a list of %u is not in the file", table.len,
                           table.vtable_len);
        return none;
    }
    return table;
}

// Where the table that the offset at `at`, which is in the file, leads to begins.
static ln_flat_table follow(ln_flat *f, size_t at)
{
    return open_table(f, at + (size_t)get(f, at, 4));
}

ln_flat_table ln_flat_root(ln_flat *f)
{
    if (f->len < 8) {
        (void)ln_flat_fail(f, 0, LN_SYNTAX, "the file ends after %zu bytes", f->len);
        return (ln_flat_table){0};
    }
    return follow(f, 0);
}

// Where field `field` of `size` bytes is; 0 if it is absent.
static size_t find_field(ln_flat *f, ln_flat_table table, unsigned field, size_t size)
{
    size_t slot = 4 + 2 * (size_t)field;
    if (f->status != LN_OK || slot + 2 > table.vtable_len)
        return 0;
    size_t offset = (size_t)get(f, table.vtable + slot, 2);
    if (offset == 0)
        return 0;
    if (offset + size > table.len) {
        (void)ln_flat_fail(f, table.at, LN_SYNTAX, "field %u is outside of its table, of %u bytes",
                           field, table.len);
        return 0;
    }
    return table.at + offset;
}

bool ln_flat_has(const ln_flat *f, ln_flat_table table, unsigned field)
{
    size_t slot = 4 + 2 * (size_t)field;
    return slot + 2 <= table.vtable_len && get(f, table.vtable + slot, 2) != 0;
}

int64_t ln_flat_number(ln_flat *f, ln_flat_table table, unsigned field, ln_flat_kind kind,
                       int64_t absent)
{
    size_t at = find_field(f, table, field, (size_t)(kind < 0 ? -kind : kind));
    return at ? get_number(f, at, kind) : absent;
}

float ln_flat_float(ln_flat *f, ln_flat_table table, unsigned field, float absent)
{
    size_t at = find_field(f, table, field, 4);
    return at ? get_float(f, at) : absent;
}

ln_flat_table ln_flat_child(ln_flat *f, ln_flat_table table, unsigned field)
{
    size_t at = find_field(f, table, field, 4);
    return at ? follow(f, at) : (ln_flat_table){0};
}

// ---- Vectors ----

static ln_flat_vector open_vector(ln_flat *f, size_t at, size_t elem_size)
{
    static const ln_flat_vector none;
    if (!is_inside(f, at, 4)) {
        (void)ln_flat_fail(f, at, LN_SYNTAX, "a list begins outside of the file, of %zu bytes",
                           f->len);
        return none;
    }
    ln_flat_vector vector = {.at = at + 4, .count = (size_t)get(f, at, 4)};
    if (vector.count > (f->len - vector.at) / elem_size) {
        (void)ln_flat_fail(f, at, LN_SYNTAX, "a list of %zu elements goes past the end of the file",
                           vector.count);
        return none;
    }
    return vector;
}

ln_flat_vector ln_flat_list(ln_flat *f, ln_flat_table table, unsigned field, size_t elem_size)
{
    size_t at = find_field(f, table, field, 4);
    ln_flat_vector vector =
        at ? open_vector(f, at + (size_t)get(f, at, 4), elem_size) : (ln_flat_vector){0};
    // Lists of bytes, which are weights, are not walked.
    size_t visits = 1 + (elem_size > 1 ? vector.count : 0);
    if (visits > f->visits_left) {
        (void)ln_flat_fail(f, vector.at, LN_LIMIT,
                           "lists are shared by too many tables for a file of %zu bytes", f->len);
        return (ln_flat_vector){0};
    }
    f->visits_left -= visits;
    return vector;
}

ln_flat_vector ln_flat_text(ln_flat *f, ln_flat_table table, unsigned field)
{
    return ln_flat_list(f, table, field, 1);
}

ln_flat_table ln_flat_table_at(ln_flat *f, ln_flat_vector tables, size_t i)
{
    return follow(f, tables.at + 4 * i);
}

int64_t ln_flat_number_at(const ln_flat *f, ln_flat_vector numbers, size_t i, ln_flat_kind kind)
{
    return get_number(f, numbers.at + i * (size_t)(kind < 0 ? -kind : kind), kind);
}

float ln_flat_float_at(const ln_flat *f, ln_flat_vector floats, size_t i)
{
    return get_float(f, floats.at + 4 * i);
}
