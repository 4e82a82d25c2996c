// SPDX-License-Identifier: Apache-2.0
// TIFF, the first picture of a file, decoded by libtiff from memory; its messages come back here.

#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#define MAX_PIXELS_A_BYTE 65536 // an empty page as a fax sends it
#define MAX_ALLOCATION    ((tmsize_t)(4 * PICTURE_MAX_PIXELS))

typedef struct tiff_source {
    const char *bytes;
    size_t count;
    size_t at;
    char message[256]; // the first error
} tiff_source;

// ---- A file in memory, read only ----

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    tiff_source *s = handle;
    size_t left = s->at < s->count ? s->count - s->at : 0;
    size_t taken = size < 0 ? 0 : (size_t)size < left ? (size_t)size : left;
    if (taken > 0)
        memcpy(to, s->bytes + s->at, taken);
    s->at += taken;
    return (tmsize_t)taken;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle;
    (void)from;
    (void)size;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    tiff_source *s = handle;
    toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : s->count;
    s->at = (size_t)(base + offset); // beyond the end nothing is read
    return s->at;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    const tiff_source *s = handle;
    return s->count;
}

static int keep_error(TIFF *tiff, void *user, const char *module, const char *fmt, va_list ap)
{
    (void)tiff;
    (void)module;
    tiff_source *s = user;
    if (!*s->message)
        vsnprintf(s->message, sizeof s->message, fmt, ap);
    return 1; // said
}

static int ignore(TIFF *tiff, void *user, const char *module, const char *fmt, va_list ap)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)fmt;
    (void)ap;
    return 1;
}

static TIFF *open_source(tiff_source *s)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, MAX_ALLOCATION);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, s);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, NULL);
    TIFF *tiff = TIFFClientOpenExt("picture", "rm", s, read_bytes, write_bytes, seek, close_nothing,
                                   size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

// ---- Pixels ----

static ln_status fail(const char *path, const tiff_source *s)
{
    return LN_FAIL(LN_SYNTAX, "%s: %s", path, *s->message ? s->message : "the TIFF is damaged");
}

// libtiff multiplies colours by what is transparent, which cannot be undone.
static int has_transparency(TIFF *tiff)
{
    uint16_t count = 0, *kinds = NULL;
    return TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count > 0 && kinds &&
           kinds[0] != EXTRASAMPLE_UNSPECIFIED;
}

static ln_status decode(const char *path, const tiff_source *s, TIFF *tiff, picture *p)
{
    uint32_t width = 0, height = 0;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) ||
        !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height))
        return fail(path, s);
    LN_TRY(picture_check_size(path, s->count, MAX_PIXELS_A_BYTE, width, height));
    char why[1024] = "";
    if (!TIFFRGBAImageOK(tiff, why))
        return LN_FAIL(LN_UNSUPPORTED, "%s: %s", path, why);
    if (has_transparency(tiff))
        return LN_FAIL(LN_UNSUPPORTED, "%s is a TIFF with transparency; save it as PNG", path);
    LN_TRY(picture_create(path, width, height, 3, p));
    size_t pixel_count = (size_t)width * height;
    uint32_t *raster = calloc(pixel_count, sizeof *raster);
    if (!raster)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %s", path);
    int is_whole = TIFFReadRGBAImageOriented(tiff, width, height, raster, ORIENTATION_TOPLEFT, 1);
    for (size_t i = 0; is_whole && i < pixel_count; i++) {
        p->pixels[3 * i] = (unsigned char)TIFFGetR(raster[i]);
        p->pixels[3 * i + 1] = (unsigned char)TIFFGetG(raster[i]);
        p->pixels[3 * i + 2] = (unsigned char)TIFFGetB(raster[i]);
    }
    free(raster);
    return is_whole ? LN_OK : fail(path, s);
}

ln_status tiff_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    tiff_source source = {.bytes = bytes, .count = count};
    TIFF *tiff = open_source(&source);
    if (!tiff)
        return fail(path, &source);
    ln_status status = decode(path, &source, tiff, out_picture);
    TIFFClose(tiff);
    if (status != LN_OK)
        picture_free(out_picture);
    return status;
}
