// SPDX-License-Identifier: Apache-2.0
// WebP, decoded by libwebp, which ends with a status whatever it is given.

#include "picture.h"

#include <webp/decode.h>

// A picture of one colour needs no bits for its pixels.
#define MAX_PIXELS_A_BYTE 65536

ln_status webp_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    *out_picture = (picture){0};
    const uint8_t *file = (const uint8_t *)bytes;
    WebPBitstreamFeatures features;
    if (WebPGetFeatures(file, count, &features) != VP8_STATUS_OK)
        return LN_FAIL(LN_SYNTAX, "%s: this is no head of a WebP, or it is cut off", path);
    if (features.has_animation)
        return LN_FAIL(LN_UNSUPPORTED, "%s moves; save one of its pictures", path);
    size_t width = (size_t)features.width, height = (size_t)features.height;
    LN_TRY(picture_check_size(path, count, MAX_PIXELS_A_BYTE, width, height));
    LN_TRY(picture_create(path, width, height, 3, out_picture));
    if (WebPDecodeRGBInto(file, count, out_picture->pixels, 3 * width * height, (int)(3 * width)))
        return LN_OK;
    picture_free(out_picture);
    return LN_FAIL(LN_SYNTAX, "%s: the WebP is damaged or cut off", path);
}
