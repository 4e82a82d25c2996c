// SPDX-License-Identifier: Apache-2.0
// PNG, decoded by libpng; its errors come back here instead of ending the program. Pixels are taken
// as they are stored: no gamma, no background, 16 bits scaled to 8.

#include "picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#define MAX_EXPANSION 1032 // what deflate can do at most
#define PIXELS_A_BYTE 8    // of a picture in black and white

typedef struct png_source {
    const char *bytes;
    size_t count;
    size_t taken;
    char message[128]; // why decoding ended
    jmp_buf back;
} png_source;

static void give_up(png_structp decoder, png_const_charp message)
{
    png_source *source = png_get_error_ptr(decoder);
    snprintf(source->message, sizeof source->message, "%s", message);
    longjmp(source->back, 1);
}

static void ignore(png_structp decoder, png_const_charp message)
{
    (void)decoder;
    (void)message;
}

static void take_bytes(png_structp decoder, png_bytep to, size_t count)
{
    png_source *source = png_get_io_ptr(decoder);
    if (count > source->count - source->taken)
        png_error(decoder, "the picture is cut off");
    memcpy(to, source->bytes + source->taken, count);
    source->taken += count;
}

// Everything between the jumps, so that no local variable is lost by one.
static ln_status decode(const char *path, png_structp decoder, png_infop info,
                        const png_source *source, picture *p)
{
    png_read_info(decoder, info);
    size_t width = png_get_image_width(decoder, info), height = png_get_image_height(decoder, info);
    LN_TRY(picture_check_size(path, source->count, MAX_EXPANSION * PIXELS_A_BYTE, width, height));
    int has_colour = png_get_color_type(decoder, info) & PNG_COLOR_MASK_COLOR;
    png_set_palette_to_rgb(decoder);
    png_set_expand_gray_1_2_4_to_8(decoder);
    png_set_scale_16(decoder);
    png_set_strip_alpha(decoder);
    int pass_count = png_set_interlace_handling(decoder);
    png_read_update_info(decoder, info);
    LN_TRY(picture_create(path, width, height, has_colour ? 3 : 1, p));
    size_t row_size = width * (size_t)p->channel_count;
    if (png_get_rowbytes(decoder, info) != row_size)
        return LN_FAIL(LN_UNSUPPORTED, "%s: a row of %zu bytes instead of %zu", path,
                       png_get_rowbytes(decoder, info), row_size);
    for (int pass = 0; pass < pass_count; pass++) {
        for (size_t y = 0; y < height; y++)
            png_read_row(decoder, p->pixels + y * row_size, NULL);
    }
    png_read_end(decoder, NULL);
    return LN_OK;
}

ln_status png_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    png_source source = {.bytes = bytes, .count = count};
    png_structp decoder = NULL;
    png_infop info = NULL;
    ln_status status;
    decoder = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, give_up, ignore);
    if (decoder)
        info = png_create_info_struct(decoder);
    if (!info) {
        status = LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", path);
    } else if (setjmp(source.back)) {
        status = LN_FAIL(LN_SYNTAX, "%s: %s", path, source.message);
    } else {
        png_set_read_fn(decoder, &source, take_bytes);
        png_set_user_limits(decoder, PICTURE_MAX_PIXELS, PICTURE_MAX_PIXELS);
        status = decode(path, decoder, info, &source, out_picture);
    }
    png_destroy_read_struct(&decoder, &info, NULL);
    if (status != LN_OK)
        picture_free(out_picture);
    return status;
}
