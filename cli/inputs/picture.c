// SPDX-License-Identifier: Apache-2.0
// What all formats of pictures share: memory, size, channels.

#include "picture.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct format {
    const char *name;
    const char *magic; // the bytes a file begins with; NULL: `is` tells
    size_t magic_size;
    int (*is)(const char *bytes, size_t count);
    ln_status (*parse)(const char *path, const char *bytes, size_t count, picture *out_picture);
} format;

static int webp_is(const char *bytes, size_t count)
{
    return count >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

static const format formats[] = {
    {.name = "JPEG", .magic = "\xff\xd8\xff", .magic_size = 3, .parse = jpeg_parse},
    {.name = "PNG", .magic = "\x89PNG\r\n\x1a\n", .magic_size = 8, .parse = png_parse},
    {.name = "BMP", .is = bmp_is, .parse = bmp_parse},
    {.name = "PNM", .is = pnm_is, .parse = pnm_parse},
    {.name = "WebP", .is = webp_is, .parse = webp_parse},
    {.name = "TIFF", .magic = "II*\0", .magic_size = 4, .parse = tiff_parse},
    {.name = "TIFF", .magic = "MM\0*", .magic_size = 4, .parse = tiff_parse},
    {.name = "JPEG 2000", .magic = "\0\0\0\x0cjP  \r\n\x87\n", .magic_size = 12},
    {.name = "JPEG 2000", .magic = "\xff\x4f\xff\x51", .magic_size = 4},
};

// NULL: none.
static const format *find_format(const char *bytes, size_t count)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const format *f = &formats[i];
        if (f->magic ? count >= f->magic_size && memcmp(bytes, f->magic, f->magic_size) == 0
                     : f->is(bytes, count))
            return f;
    }
    return NULL;
}

int picture_is(const char *bytes, size_t count)
{
    return find_format(bytes, count) != NULL;
}

ln_status picture_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    const format *f = find_format(bytes, count);
    if (!f)
        return LN_FAIL(LN_UNSUPPORTED,
                       "%s is no picture in JPEG, PNG, BMP, PNM, WebP or TIFF; save it as PNG",
                       path);
    if (!f->parse)
        return LN_FAIL(LN_UNSUPPORTED, "%s is in %s, which is not supported; save it as PNG", path,
                       f->name);
    return f->parse(path, bytes, count, out_picture);
}

ln_status picture_check_size(const char *path, size_t byte_count, size_t most_pixels_a_byte,
                             size_t width, size_t height)
{
    if (width > PICTURE_MAX_PIXELS || (width > 0 && height > PICTURE_MAX_PIXELS / width))
        return LN_FAIL(LN_LIMIT, "%s: %zu x %zu pixels are more than %zu", path, width, height,
                       PICTURE_MAX_PIXELS);
    if (width * height / most_pixels_a_byte > byte_count)
        return LN_FAIL(LN_SYNTAX, "%s: %zu bytes cannot hold %zu x %zu pixels", path, byte_count,
                       width, height);
    return LN_OK;
}

ln_status picture_create(const char *path, size_t width, size_t height, int channel_count,
                         picture *out_picture)
{
    *out_picture = (picture){0};
    if (width == 0 || height == 0)
        return LN_FAIL(LN_SYNTAX, "%s: a picture of %zu x %zu pixels", path, width, height);
    if (width > PICTURE_MAX_PIXELS || height > PICTURE_MAX_PIXELS / width)
        return LN_FAIL(LN_LIMIT, "%s: %zu x %zu pixels are more than %zu", path, width, height,
                       PICTURE_MAX_PIXELS);
    unsigned char *pixels = calloc(width * height, (size_t)channel_count);
    if (!pixels)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %s", path);
    *out_picture = (picture){(int)width, (int)height, channel_count, pixels, 1};
    return LN_OK;
}

void picture_free(picture *p)
{
    free(p->pixels);
    *p = (picture){0};
}

// ---- Size ----

// The old pixels that make one new one, along a row or column: how much each counts.
typedef struct share {
    int first;
    int count;
    const double *weights; // sum 1
} share;

// Shares of all `to` new pixels out of `from` old ones. *out_weights is given back with free.
static ln_status make_shares(int from, int to, share **out_shares, double **out_weights)
{
    double step = (double)from / to;
    double reach = step > 1 ? step : 1; // half the width of the triangle
    size_t most = 2 * (size_t)ceil(reach) + 1;
    share *shares = calloc((size_t)to, sizeof *shares);
    double *weights = calloc((size_t)to * most, sizeof *weights);
    if (!shares || !weights) {
        free(shares);
        free(weights);
        return LN_FAIL(LN_NO_MEMORY, "out of memory for a picture");
    }
    for (int i = 0; i < to; i++) {
        double middle = (i + 0.5) * step, sum = 0;
        double low = floor(middle - reach + 0.5), high = floor(middle + reach + 0.5);
        int first = low < 0 ? 0 : (int)low, end = high > from ? from : (int)high;
        double *own = weights + (size_t)i * most;
        for (int k = first; k < end; k++) {
            double distance = fabs((k + 0.5 - middle) / reach);
            own[k - first] = distance < 1 ? 1 - distance : 0;
            sum += own[k - first];
        }
        for (int k = first; k < end; k++)
            own[k - first] /= sum;
        shares[i] = (share){first, end - first, own};
    }
    *out_shares = shares;
    *out_weights = weights;
    return LN_OK;
}

static unsigned char pixel_of(double value)
{
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : (int)(value + 0.5));
}

// New elements along one axis: `outer` times [from] times `inner` bytes become [to] times `inner`.
static void scale_axis(const unsigned char *old, unsigned char *new, size_t outer, int from, int to,
                       size_t inner, const share *shares)
{
    for (size_t o = 0; o < outer; o++) {
        const unsigned char *block = old + o * (size_t)from * inner;
        for (int i = 0; i < to; i++) {
            const share *s = &shares[i];
            for (size_t k = 0; k < inner; k++) {
                const unsigned char *at = block + (size_t)s->first * inner + k;
                double sum = 0;
                for (int w = 0; w < s->count; w++, at += inner)
                    sum += s->weights[w] * *at;
                *new ++ = pixel_of(sum);
            }
        }
    }
}

// One of the sizes.
static ln_status resize_axis(picture *p, int is_row, int to)
{
    int from = is_row ? p->width : p->height;
    if (from == to)
        return LN_OK;
    picture scaled;
    LN_TRY(picture_create("a resized picture", (size_t)(is_row ? to : p->width),
                          (size_t)(is_row ? p->height : to), p->channel_count, &scaled));
    share *shares;
    double *weights;
    ln_status status = make_shares(from, to, &shares, &weights);
    if (status != LN_OK) {
        free(scaled.pixels);
        return status;
    }
    size_t channels = (size_t)p->channel_count;
    if (is_row)
        scale_axis(p->pixels, scaled.pixels, (size_t)p->height, from, to, channels, shares);
    else
        scale_axis(p->pixels, scaled.pixels, 1, from, to, (size_t)p->width * channels, shares);
    free(shares);
    free(weights);
    free(p->pixels);
    *p = scaled;
    return LN_OK;
}

ln_status picture_resize(picture *p, int width, int height)
{
    LN_TRY(resize_axis(p, 1, width));
    return resize_axis(p, 0, height);
}

// ---- Channels ----

ln_status picture_set_channels(picture *p, int channel_count)
{
    if (p->channel_count == channel_count)
        return LN_OK;
    picture other;
    LN_TRY(picture_create("a picture", (size_t)p->width, (size_t)p->height, channel_count, &other));
    size_t count = (size_t)p->width * (size_t)p->height;
    const unsigned char *old = p->pixels;
    for (size_t i = 0; i < count; i++) {
        if (channel_count == 1) {
            // 0.299, 0.587 and 0.114 in parts of 65536.
            uint32_t grey = 19595u * old[3 * i] + 38470u * old[3 * i + 1] + 7471u * old[3 * i + 2];
            other.pixels[i] = (unsigned char)((grey + 32768u) >> 16);
        } else {
            other.pixels[3 * i] = other.pixels[3 * i + 1] = other.pixels[3 * i + 2] = old[i];
        }
    }
    free(p->pixels);
    *p = other;
    return LN_OK;
}

void picture_swap_red_and_blue(picture *p)
{
    size_t count = p->channel_count == 3 ? (size_t)p->width * (size_t)p->height : 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char red = p->pixels[3 * i];
        p->pixels[3 * i] = p->pixels[3 * i + 2];
        p->pixels[3 * i + 2] = red;
    }
}
