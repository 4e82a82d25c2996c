// SPDX-License-Identifier: Apache-2.0
// From the bytes of an image to the floats of a tensor.

#include <lightnet/util.h>

ln_status ln_img_submean(const unsigned char *image, const float *mean, float *out, int height,
                         int width, int channels)
{
    if (!image || !mean || !out || height < 1 || width < 1 || channels < 1)
        return LN_FAIL(LN_INVALID, "no image, mean or output, or a size of %d x %d x %d", height,
                       width, channels);
    size_t pixel_count = (size_t)height * (size_t)width;
    size_t channel_count = (size_t)channels;
    for (size_t c = 0; c < channel_count; c++)
        for (size_t i = 0; i < pixel_count; i++)
            *out++ = (float)image[i * channel_count + c] - mean[c];
    return LN_OK;
}
