// SPDX-License-Identifier: Apache-2.0
// The map at the root of a FlexBuffer. A type is in six bits over two of the width's logarithm.

#include "serial/tflite/flex.h"

#include <math.h>
#include <string.h>

enum {
    INT = 1,
    UINT = 2,
    FLOAT = 3,
    INDIRECT_INT = 6,
    INDIRECT_UINT = 7,
    INDIRECT_FLOAT = 8,
    MAP = 9,
    BOOL = 26
};

static bool is_inside(ln_flex f, size_t at, size_t len)
{
    return at <= f.len && len <= f.len - at;
}

static bool get(ln_flex f, size_t at, size_t width, uint64_t *out_value)
{
    *out_value = 0;
    if (!is_inside(f, at, width))
        return false;
    for (size_t i = 0; i < width; i++)
        *out_value |= (uint64_t)f.bytes[at + i] << 8 * i;
    return true;
}

// Where the offset at `at` leads.
static bool follow(ln_flex f, size_t at, size_t width, size_t *out_at)
{
    uint64_t offset;
    if (!get(f, at, width, &offset) || offset > at)
        return false;
    *out_at = at - (size_t)offset;
    return true;
}

static double number(ln_flex f, size_t at, unsigned type, size_t width, double absent)
{
    size_t kind = type >> 2;
    if (kind >= INDIRECT_INT && kind <= INDIRECT_FLOAT) {
        if (!follow(f, at, width, &at))
            return absent;
        width = (size_t)1 << (type & 3);
        kind = kind - INDIRECT_INT + INT;
    }
    uint64_t value;
    if (!get(f, at, width, &value))
        return absent;
    if (kind == INT) {
        unsigned shift = (unsigned)(64 - 8 * width);
        return (double)((int64_t)(value << shift) >> shift);
    }
    if (kind == UINT || kind == BOOL)
        return (double)value;
    if (kind == FLOAT && width == 8) {
        double x;
        memcpy(&x, &value, sizeof x);
        return x;
    }
    if (kind == FLOAT && width == 4) {
        uint32_t bits = (uint32_t)value;
        float x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    return absent;
}

static bool is_key(ln_flex f, size_t at, const char *key)
{
    size_t len = strlen(key) + 1;
    return is_inside(f, at, len) && memcmp(f.bytes + at, key, len) == 0;
}

double ln_flex_number(ln_flex f, const char *key, double absent)
{
    if (f.len < 3)
        return absent;
    size_t root_width = f.bytes[f.len - 1], root = f.len - 2 - root_width, map, keys, key_at;
    unsigned type = f.bytes[f.len - 2];
    size_t width = (size_t)1 << (type & 3);
    uint64_t count, key_width;
    if ((root_width != 1 && root_width != 2 && root_width != 4 && root_width != 8) ||
        f.len < 2 + root_width || type >> 2 != MAP || !follow(f, root, root_width, &map) ||
        map < 3 * width || !get(f, map - width, width, &count) ||
        !get(f, map - 2 * width, width, &key_width) || !follow(f, map - 3 * width, width, &keys) ||
        key_width < 1 || key_width > 8 || count > (f.len - map) / (width + 1))
        return absent;
    for (size_t i = 0; i < count; i++) {
        if (follow(f, keys + i * (size_t)key_width, (size_t)key_width, &key_at) &&
            is_key(f, key_at, key))
            return number(f, map + i * width, f.bytes[map + (size_t)count * width + i], width,
                          absent);
    }
    return absent;
}
