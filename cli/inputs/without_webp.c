// SPDX-License-Identifier: Apache-2.0
// In the place of picture_webp.c where libwebp was not found.

#include "picture.h"

ln_status webp_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    (void)bytes;
    (void)count;
    *out_picture = (picture){0};
    return LN_FAIL(LN_UNSUPPORTED,
                   "%s is a WebP, which needs libwebp when lightnet is built; save it as PNG",
                   path);
}
