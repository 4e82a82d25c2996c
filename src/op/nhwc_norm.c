// SPDX-License-Identifier: Apache-2.0
// Checks that rows have a number for each channel.

#include "op/nhwc_norm.h"

#include <string.h>

#include <lightnet/status.h>

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

int ln_shape_of_channels(int *dims, const tl_tensor *src, const tl_tensor *a, const tl_tensor *b,
                         int groups)
{
    int channels = src->dims[3];
    if (a->len != channels || (b && b->len != channels))
        return fail("there are %d numbers for %d channels", a->len != channels ? a->len : b->len,
                    channels);
    if (channels % groups != 0)
        return fail("%d channels cannot be shared by %d groups", channels, groups);
    memcpy(dims, src->dims, 4 * sizeof *dims);
    return 4;
}
