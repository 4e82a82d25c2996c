// SPDX-License-Identifier: Apache-2.0
// ImageDecoder_ref: what the library leaves to programs that have decoders of pictures.

#include "image_decoder.h"

#include <string.h>

#include <lightnet/arch.h>
#include <lightnet/op_info.h>

#include "picture.h"

extern ln_op ln_opimpl_ImageDecoder_ref; // made from image_decoder.op

ln_status register_image_decoder(void)
{
    return ln_arch_find("ref") ? ln_op_register(&ln_opimpl_ImageDecoder_ref) : LN_OK;
}

ln_status infer_image_decoder(ln_call *call)
{
    return ln_op_find("ImageDecoder")->op_arg->info->infer(call);
}

// The channels that the model asks for.
static ln_status set_pixel_format(picture *p, const char *format)
{
    LN_TRY(picture_set_channels(p, strcmp(format, "Grayscale") == 0 ? 1 : 3));
    if (strcmp(format, "BGR") == 0)
        picture_swap_red_and_blue(p);
    return LN_OK;
}

static ln_status give_pixels(ln_call *call, const picture *p)
{
    const int dims[] = {p->height, p->width, p->channel_count};
    ln_object *image = ln_object_new_tensor(TL_UINT8, 3, dims, ln_call_meter(call));
    if (!image)
        return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    tl_tensor *tensor = ln_object_tensor(image);
    memcpy(tensor->data, p->pixels, (size_t)tensor->len);
    ln_status status = ln_call_set_object(call, 0, image);
    ln_object_release(image);
    return status;
}

ln_status compute_image_decoder(ln_call *call)
{
    const tl_tensor *bytes = ln_call_in(call, 0);
    picture p;
    ln_status status = picture_parse("encoded_stream", bytes->data, (size_t)bytes->len, &p);
    if (status == LN_OK)
        status = set_pixel_format(&p, ln_call_string(call, "pixel_format"));
    if (status != LN_OK)
        (void)ln_call_fail(call, status, "%s", ln_error_message());
    else
        status = give_pixels(call, &p);
    picture_free(&p);
    return status;
}
