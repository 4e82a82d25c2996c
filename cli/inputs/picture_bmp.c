// SPDX-License-Identifier: Apache-2.0
// BMP: uncompressed pictures of 8, 24 or 32 bits a pixel.
//
//     | file head, 14 bytes | head, 40 or more | palette | rows of a multiple of 4 bytes, last
//     first |

#include "picture.h"

#include <stdint.h>
#include <string.h>

#include "cursor.h"

enum { FILE_HEAD = 14, MIN_HEAD = 40 };

int bmp_is(const char *bytes, size_t count)
{
    return count >= FILE_HEAD + MIN_HEAD && memcmp(bytes, "BM", 2) == 0 &&
           little32((const unsigned char *)bytes + FILE_HEAD) >= MIN_HEAD &&
           little32((const unsigned char *)bytes + FILE_HEAD) <= 256;
}

typedef struct bmp_layout {
    size_t width;
    size_t height;
    int is_top_first;
    unsigned bits;
    const unsigned char *palette; // blue, green, red, nothing
    size_t palette_count;
    const unsigned char *rows;
    size_t row_size;
} bmp_layout;

static ln_status parse_layout(const char *path, const unsigned char *file, size_t count,
                              bmp_layout *l)
{
    const unsigned char *head = file + FILE_HEAD;
    int32_t height = (int32_t)little32(head + 8);
    *l = (bmp_layout){.width = little32(head + 4),
                      .height = height < 0 ? 0 - (size_t)height : (size_t)height,
                      .is_top_first = height < 0,
                      .bits = little16(head + 14),
                      .palette_count = little32(head + 32)};
    enum { PLAIN = 0, BIT_FIELDS = 3 };
    unsigned compression = little32(head + 16);
    int is_supported = compression == PLAIN || (compression == BIT_FIELDS && l->bits == 32);
    if (!is_supported || (l->bits != 8 && l->bits != 24 && l->bits != 32))
        return LN_FAIL(LN_UNSUPPORTED,
                       "%s: a BMP of %u bits with compression %u is not supported; save it as PNG",
                       path, l->bits, compression);
    if (l->width == 0 || l->width > PICTURE_MAX_PIXELS || l->height == 0 ||
        l->height > PICTURE_MAX_PIXELS)
        return LN_FAIL(LN_SYNTAX, "%s: a picture of %zu x %zu pixels", path, l->width, l->height);
    size_t head_size = little32(head);
    if (l->bits == 8 && (l->palette_count == 0 || l->palette_count > 256))
        l->palette_count = 256;
    l->palette = head + head_size;
    l->row_size = (l->width * (l->bits / 8) + 3) / 4 * 4;
    size_t start = little32(file + 10);
    if (!is_within(start, (uint64_t)l->row_size * l->height, count) ||
        (l->bits == 8 && !is_within(FILE_HEAD + head_size, 4 * l->palette_count, count)))
        return LN_FAIL(LN_SYNTAX, "%s is cut off", path);
    l->rows = file + start;
    return LN_OK;
}

ln_status bmp_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    bmp_layout l;
    LN_TRY(parse_layout(path, (const unsigned char *)bytes, count, &l));
    LN_TRY(picture_create(path, l.width, l.height, 3, out_picture));
    static const unsigned char black[4];
    unsigned char *pixel = out_picture->pixels;
    for (size_t y = 0; y < l.height; y++) {
        const unsigned char *at = l.rows + (l.is_top_first ? y : l.height - 1 - y) * l.row_size;
        for (size_t x = 0; x < l.width; x++, at += l.bits / 8, pixel += 3) {
            const unsigned char *colour = at;
            if (l.bits == 8)
                colour = *at < l.palette_count ? l.palette + 4 * (size_t)*at : black;
            pixel[0] = colour[2];
            pixel[1] = colour[1];
            pixel[2] = colour[0];
        }
    }
    return LN_OK;
}
