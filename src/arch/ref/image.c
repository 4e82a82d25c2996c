// SPDX-License-Identifier: Apache-2.0
// LightNet's operators on pictures, boxes, positions and maxima: mostly the functions of
// lightnet/tensor.h.

#include "arch/ref/functions.h"

#include "arch/ref/element.h"
#include "base/deadline.h"

static ln_status made(const tl_tensor *result)
{
    return result ? LN_OK : ln_error_status();
}

static int number(const ln_call *call, const char *param)
{
    return (int)ln_call_int(call, param);
}

ln_status ln_ref_submean(ln_call *call)
{
    size_t count;
    const double *mean = ln_call_floats(call, "mean", &count);
    return made(tl_tensor_submean(ln_call_in(call, 0), ln_call_dst(call, 0), mean));
}

ln_status ln_ref_transform_bbox(ln_call *call)
{
    return made(tl_tensor_transform_bboxSQD(
        ln_call_in(call, 0), ln_call_in(call, 1), ln_call_dst(call, 0), number(call, "width"),
        number(call, "height"), number(call, "img_width"), number(call, "img_height"),
        number(call, "x_shift"), number(call, "y_shift")));
}

ln_status ln_ref_yolov3(ln_call *call)
{
    return tl_tensor_detect_yolov3(ln_call_in(call, 0), ln_call_in(call, 1), ln_call_dst(call, 0),
                                   ln_call_dst(call, 1), ln_call_dst(call, 2), ln_call_dst(call, 3),
                                   ln_call_dst(call, 4), number(call, "img_width"),
                                   number(call, "img_height"));
}

ln_status ln_ref_pick1d(ln_call *call)
{
    return made(tl_tensor_pick1d(ln_call_in(call, 0), ln_call_in(call, 1), ln_call_dst(call, 0),
                                 number(call, "stride"), number(call, "len")));
}

ln_status ln_ref_maxreduce_arg(ln_call *call)
{
    return made(tl_tensor_maxreduce(ln_call_in(call, 0), ln_call_dst(call, 0), ln_call_dst(call, 1),
                                    number(call, "axis")));
}

// Floating elements add up in double.
ln_status ln_ref_dot_product(ln_call *call)
{
    const tl_tensor *src1 = ln_call_in(call, 0), *src2 = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (!ln_ref_is_floating(dst->dtype))
        return made(tl_tensor_dot_product(src1, src2, dst));
    double sum = 0;
    for (size_t i = 0; i < (size_t)src1->len && !ln_deadline_passed_at(i); i++)
        sum += ln_ref_load_double(src1->data, i, dst->dtype) *
               ln_ref_load_double(src2->data, i, dst->dtype);
    ln_ref_store_double(dst->data, 0, dst->dtype, sum);
    return LN_OK;
}

ln_status ln_ref_interleave(ln_call *call)
{
    const tl_tensor *src1 = ln_call_in(call, 0), *src2 = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    const float *a = (const float *)src1->data + number(call, "src1_first");
    const float *b = (const float *)src2->data + number(call, "src2_first");
    float *y = dst->data;
    for (int i = 0; i < dst->len; i += dst->dims[3]) {
        for (int c = 0; c < dst->dims[3] / 2; c++) {
            *y++ = a[c];
            *y++ = b[c];
        }
        a += src1->dims[3];
        b += src2->dims[3];
    }
    return LN_OK;
}
