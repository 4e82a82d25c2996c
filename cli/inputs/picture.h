// SPDX-License-Identifier: Apache-2.0
// Pictures: files of JPEG, PNG, BMP, PNM, and where their libraries are there WebP and TIFF, as
// pixels.

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
    unsigned char *pixels; // given back with picture_free
    int orientation;       // as EXIF counts, 2 to 8 where the camera was turned; picture_orient
} picture;

// 1 if the bytes begin as a picture does.
int picture_is(const char *bytes, size_t count);

// Decodes a picture; LN_UNSUPPORTED if the bytes begin as none does. What is transparent is seen
// without that; the orientation of a JPEG is noted, not applied. `path` stands in messages.
ln_status picture_parse(const char *path, const char *bytes, size_t count, picture *out_picture);

// The formats that are told by more than their first bytes.
int bmp_is(const char *bytes, size_t count);
int pnm_is(const char *bytes, size_t count);

// The decoders by format.
ln_status jpeg_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status png_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status bmp_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status pnm_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status webp_parse(const char *path, const char *bytes, size_t count, picture *out_picture);
ln_status tiff_parse(const char *path, const char *bytes, size_t count, picture *out_picture);

// LN_SYNTAX if a file of `byte_count` bytes cannot have this many pixels, LN_LIMIT if it is too
// many.
ln_status picture_check_size(const char *path, size_t byte_count, size_t most_pixels_a_byte,
                             size_t width, size_t height);

// Memory for a picture of this size, which comes from a file; and back.
ln_status picture_create(const char *path, size_t width, size_t height, int channel_count,
                         picture *out_picture);
void picture_free(picture *p);

// Another size. Each new pixel is the mean of the old ones around its place, weighted by a triangle
// as wide as a pixel of the smaller of both pictures, so that nothing is left out when it shrinks.
ln_status picture_resize(picture *p, int width, int height);

// Turns and mirrors the pixels as `orientation` says.
ln_status picture_orient(picture *p);

// The orientation in the `count` bytes of an EXIF segment, 1 to 8; 1 if it has none.
int exif_orientation(const unsigned char *bytes, size_t count);

// The pixels of a window of this size, whose left and top are given: cut off, or with a border of
// `grey` where the picture has none.
ln_status picture_window(picture *p, int left, int top, int width, int height, int grey);

// One channel, by the weights of ITU-R BT.601; or three, all alike.
ln_status picture_set_channels(picture *p, int channel_count);

// Blue before green before red; nothing happens where grey is alone.
void picture_swap_red_and_blue(picture *p);

#endif
