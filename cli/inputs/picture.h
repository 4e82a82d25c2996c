// SPDX-License-Identifier: Apache-2.0
// Pictures: JPEG, PNG and BMP files as pixels.

#ifndef LN_CLI_INPUTS_PICTURE_H
#define LN_CLI_INPUTS_PICTURE_H

#include <stddef.h>

#include <lightnet/status.h>

#define PICTURE_MAX_PIXELS ((size_t)1 << 26)

// Rows from the top, pixels from the left, channels red, green, blue or grey alone.
typedef struct picture {
    int width;
    int height;
    int channel_count;     // 1 or 3
    unsigned char *pixels; // given back with free
} picture;

// 1 if the bytes begin as a picture does.
int picture_is(const char *bytes, size_t count);

// Decodes a picture. What is transparent is seen without that; an orientation beside the pixels is
// not looked at. `path` stands in messages.
ln_status picture_parse(const char *path, const char *bytes, size_t count, picture *out_picture);

// The decoders by format, and what begins such a file.
int jpeg_is(const char *bytes, size_t count);
int png_is(const char *bytes, size_t count);
int bmp_is(const char *bytes, size_t count);
ln_status jpeg_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status png_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status bmp_parse(const char *path, const char *bytes, size_t count, picture *out_picture);

// Memory for a picture of this size, which comes from a file.
ln_status picture_create(const char *path, size_t width, size_t height, int channel_count,
                         picture *out_picture);

// Another size. Each new pixel is the mean of the old ones around its place, weighted by a triangle
// as wide as a pixel of the smaller of both pictures, so that nothing is left out when it shrinks.
ln_status picture_resize(picture *p, int width, int height);

// One channel, by the weights of ITU-R BT.601; or three, all alike.
ln_status picture_set_channels(picture *p, int channel_count);

#endif
