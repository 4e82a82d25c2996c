// SPDX-License-Identifier: Apache-2.0
// What can be said of a picture before it is decoded.

#include "op/functions.h"

#include <string.h>

static int is_pixel_format(const char *name)
{
    return strcmp(name, "RGB") == 0 || strcmp(name, "BGR") == 0 || strcmp(name, "Grayscale") == 0;
}

ln_status ln_infer_image_decoder(ln_call *call)
{
    const char *format = ln_call_string(call, "pixel_format");
    if (!is_pixel_format(format))
        return ln_call_fail(call, LN_INVALID,
                            "pixel_format is '%s' instead of RGB, BGR or Grayscale", format);
    const tl_tensor *bytes = ln_call_in(call, 0);
    if (bytes->ndim != 1)
        return ln_call_fail(call, LN_INVALID, "encoded_stream has %d dimensions instead of 1",
                            bytes->ndim);
    return ln_call_out_open(call);
}
