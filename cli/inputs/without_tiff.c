// SPDX-License-Identifier: Apache-2.0
// In the place of picture_tiff.c where libtiff was not found.

#include "picture.h"

ln_status tiff_parse(const char *path, const char *bytes, size_t count, picture *out_picture)
{
    (void)bytes;
    (void)count;
    *out_picture = (picture){0};
    return LN_FAIL(LN_UNSUPPORTED,
                   "%s is a TIFF, which needs libtiff when lightnet is built; save it as PNG",
                   path);
}
