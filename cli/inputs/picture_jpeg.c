// SPDX-License-Identifier: Apache-2.0
// JPEG, decoded by libjpeg; its errors come back here instead of ending the program.

#include "picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#define MAX_PIXELS_A_BYTE 4096 // far more than any picture has

// The decoder with what a jump back needs; the first member is what libjpeg hands around.
typedef struct jpeg_error {
    struct jpeg_error_mgr base;
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
} jpeg_error;

static void give_up(j_common_ptr decoder)
{
    jpeg_error *error = (jpeg_error *)decoder->err;
    error->base.format_message(decoder, error->message);
    longjmp(error->back, 1);
}

// A picture that ends too early is only warned about, and goes on in grey. Traces are not shown.
static void take_message(j_common_ptr decoder, int level)
{
    int code = decoder->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
        give_up(decoder);
}

static int find_orientation(const struct jpeg_decompress_struct *decoder)
{
    int orientation = 1;
    for (jpeg_saved_marker_ptr m = decoder->marker_list; m && orientation == 1; m = m->next) {
        if (m->marker == JPEG_APP0 + 1)
            orientation = exif_orientation(m->data, m->data_length);
    }
    return orientation;
}

// Everything between the jumps, so that no local variable is lost by one.
static ln_status decode(const char *path, struct jpeg_decompress_struct *decoder, size_t count,
                        picture *p)
{
    jpeg_save_markers(decoder, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(decoder, TRUE);
    LN_TRY(picture_check_size(path, count, MAX_PIXELS_A_BYTE, decoder->image_width,
                              decoder->image_height));
    int is_grey = decoder->jpeg_color_space == JCS_GRAYSCALE;
    if (decoder->jpeg_color_space == JCS_CMYK || decoder->jpeg_color_space == JCS_YCCK)
        return LN_FAIL(LN_UNSUPPORTED, "%s is made of four colours for print; save it as RGB",
                       path);
    decoder->out_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
    LN_TRY(picture_create(path, decoder->image_width, decoder->image_height, is_grey ? 1 : 3, p));
    jpeg_start_decompress(decoder);
    while (decoder->output_scanline < decoder->output_height) {
        size_t row_size = (size_t)p->width * (size_t)p->channel_count;
        JSAMPROW row = p->pixels + decoder->output_scanline * row_size;
        jpeg_read_scanlines(decoder, &row, 1);
    }
    p->orientation = find_orientation(decoder);
    jpeg_finish_decompress(decoder);
    return LN_OK;
}

ln_status jpeg_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    struct jpeg_decompress_struct decoder;
    jpeg_error error;
    memset(&decoder, 0, sizeof decoder);
    decoder.err = jpeg_std_error(&error.base);
    error.base.error_exit = give_up;
    error.base.emit_message = take_message;
    ln_status status;
    if (setjmp(error.back)) {
        status = LN_FAIL(LN_SYNTAX, "%s: %s", path, error.message);
    } else {
        jpeg_create_decompress(&decoder);
        jpeg_mem_src(&decoder, (const unsigned char *)bytes, (unsigned long)count);
        status = decode(path, &decoder, count, out_picture);
    }
    jpeg_destroy_decompress(&decoder);
    if (status != LN_OK)
        picture_free(out_picture);
    return status;
}
