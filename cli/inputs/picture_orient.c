// SPDX-License-Identifier: Apache-2.0
// How a camera was held (EXIF), turning pictures, and windows of them.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "picture.h"

// ---- EXIF: a TIFF header and directory after six bytes of name ----

static uint32_t number16(const unsigned char *at, int is_big)
{
    return is_big ? (uint32_t)at[0] << 8 | at[1] : little16(at);
}

static uint32_t number32(const unsigned char *at, int is_big)
{
    return is_big ? number16(at, 1) << 16 | number16(at + 2, 1) : little32(at);
}

int exif_orientation(const unsigned char *bytes, size_t count)
{
    enum { NAME = 6, HEADER = 8, ENTRY = 12, TAG = 0x0112, SHORT = 3 };
    if (count < NAME + HEADER || memcmp(bytes, "Exif\0", NAME) != 0)
        return 1;
    const unsigned char *tiff = bytes + NAME;
    size_t size = count - NAME;
    int is_big = tiff[0] == 'M';
    size_t at = number32(tiff + 4, is_big);
    if ((tiff[0] != 'M' && tiff[0] != 'I') || tiff[0] != tiff[1] || !is_within(at, 2, size))
        return 1;
    size_t entry_count = number16(tiff + at, is_big);
    for (at += 2; entry_count > 0 && is_within(at, ENTRY, size); entry_count--, at += ENTRY) {
        const unsigned char *entry = tiff + at;
        uint32_t value = number16(entry + 8, is_big);
        if (number16(entry, is_big) == TAG && number16(entry + 2, is_big) == SHORT)
            return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

// ---- Turning ----

ln_status picture_orient(picture *p)
{
    int orientation = p->orientation;
    if (orientation < 2 || orientation > 8)
        return LN_OK;
    int is_turned = orientation >= 5, width = p->width, height = p->height;
    picture turned;
    LN_TRY(picture_create("a picture", (size_t)(is_turned ? height : width),
                          (size_t)(is_turned ? width : height), p->channel_count, &turned));
    size_t channels = (size_t)p->channel_count;
    for (int y = 0; y < turned.height; y++) {
        for (int x = 0; x < turned.width; x++) {
            int from_x = is_turned ? y : x, from_y = is_turned ? x : y;
            if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
                from_x = width - 1 - from_x;
            if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
                from_y = height - 1 - from_y;
            memcpy(turned.pixels + ((size_t)y * (size_t)turned.width + (size_t)x) * channels,
                   p->pixels + ((size_t)from_y * (size_t)width + (size_t)from_x) * channels,
                   channels);
        }
    }
    free(p->pixels);
    *p = turned;
    return LN_OK;
}

// ---- Windows ----

ln_status picture_window(picture *p, int left, int top, int width, int height, int grey)
{
    picture window;
    LN_TRY(picture_create("a picture", (size_t)width, (size_t)height, p->channel_count, &window));
    size_t channels = (size_t)p->channel_count;
    memset(window.pixels, grey, (size_t)width * (size_t)height * channels);
    int first_x = left < 0 ? -left : 0, first_y = top < 0 ? -top : 0;
    int end_x = p->width - left < width ? p->width - left : width;
    int end_y = p->height - top < height ? p->height - top : height;
    for (int y = first_y; y < end_y && first_x < end_x; y++)
        memcpy(window.pixels + ((size_t)y * (size_t)width + (size_t)first_x) * channels,
               p->pixels +
                   ((size_t)(y + top) * (size_t)p->width + (size_t)(first_x + left)) * channels,
               (size_t)(end_x - first_x) * channels);
    free(p->pixels);
    *p = window;
    return LN_OK;
}
