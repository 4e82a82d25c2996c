// SPDX-License-Identifier: Apache-2.0
// Layout of quantized convolutions, and of what goes element by element over bytes.

#include "arch/cpu/layout_conv.h"
#include "arch/cpu/layout_volume.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"
#include "op/types.h"

static bool is_byte(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = tname ? ln_layout_find(build, tname) : NULL;
    return entry && (LN_TYPES_BYTE >> entry->tensor->dtype & 1);
}

// Sums that stay as they are. Nothing else computes on such images in channels-last form.
static bool is_image_of_sums(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = tname ? ln_layout_find(build, tname) : NULL;
    return entry && !entry->is_open && !entry->known && entry->tensor->dtype == TL_INT32 &&
           entry->tensor->ndim >= 3 && entry->tensor->ndim <= 5 && entry->tensor->len > 0;
}

// Weights that are no constants are packed in each run.
static bool read_conv(const ln_layout_build *build, ln_layout_conv *c)
{
    const char *src = ln_layout_input(build, "src"), *weight = ln_layout_input(build, "weight");
    const char *out = ln_layout_first_out(build);
    return is_byte(build, src) && ln_layout_is_free(build, src) &&
           (ln_layout_is_free(build, out) || is_image_of_sums(build, out)) && weight &&
           ln_layout_is_image(ln_layout_find(build, weight)) &&
           ln_layout_read_conv(build, ln_layout_is_volume(build, src) ? 3 : 2, c);
}

static bool fits_conv(const ln_layout_build *build)
{
    ln_layout_conv c;
    return read_conv(build, &c);
}

// How many groups fill a tile of columns, which takes as long for fewer.
static int mergeable_groups(const ln_layout_conv *c, const tl_tensor *weight)
{
    const int of_group = weight->dims[0] / c->group;
    const bool is_depthwise = of_group == 1 && weight->dims[1] == 1;
    int count = is_depthwise ? 1 : LN_TILE_I8_LANES / of_group;
    while (count > 1 && c->group % count != 0)
        count--;
    return count > 1 ? count : 1;
}

static ln_status emit_pack(ln_layout_build *build, const ln_layout_conv *c, int merged,
                           const char *packed)
{
    const char *weight = ln_layout_lifted(build, c->weight);
    const char *zero = merged > 1 ? ln_layout_input(build, "weight_zero") : NULL;
    ln_list *ins = weight ? ln_tensor_list_append(NULL, "weight", weight) : NULL;
    if (zero)
        ins = ln_tensor_list_append(ins, "weight_zero", zero);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", packed);
    ln_layout_params said = {0};
    ln_layout_add_int(&said, "group", c->group, 1);
    ln_layout_add_int(&said, "merged", merged, 1);
    const bool is_complete = ln_list_length(ins) == 1 + (zero != NULL) && outs;
    return ln_layout_emit(build, "quant_conv_pack_cpu", "pack", ins, outs, said.list,
                          is_complete && ln_layout_are_complete(&said));
}

// The operands of the convolution, with the image and the weights in their new forms.
static ln_list *conv_ins(const ln_layout_build *build, const char *src, const char *packed,
                         bool *out_is_complete)
{
    const ln_list *old = build->op->op_arg->tensors_in;
    const ln_tensor_list_entry *in;
    ln_list *ins = NULL;
    LN_LIST_FOREACH (in, old) {
        if (ln_streq(in->arg_name, "src"))
            ins = ln_tensor_list_append(ins, "src", src);
        else if (ln_streq(in->arg_name, "weight"))
            ins = ln_tensor_list_append(ins, "packed", packed);
        else
            ins = ln_tensor_list_append(ins, in->arg_name, in->name);
    }
    *out_is_complete = ln_list_length(ins) == ln_list_length(old);
    return ins;
}

static ln_layout_params conv_params(const ln_layout_conv *c, const tl_tensor *weight, int merged)
{
    const bool has_defaults = c->axis_count == 2;
    ln_layout_params said = {0};
    ln_layout_add_int(&said, "channels", weight->dims[0], 0);
    ln_layout_add_ints(&said, "size", c->axis_count, c->size, 0);
    ln_layout_add_ints(&said, "stride", c->axis_count, c->stride, has_defaults ? 1 : 0);
    ln_layout_add_ints(&said, "padding", 2 * c->axis_count, c->padding, has_defaults ? 0 : -1);
    ln_layout_add_ints(&said, "dilation", c->axis_count, c->dilation, has_defaults ? 1 : 0);
    ln_layout_add_int(&said, "group", c->group / merged, 1);
    ln_layout_add_conv_act(&said, c);
    ln_layout_add_int(&said, "merged", merged, 1);
    if (weight->dtype == TL_UINT8) {
        said.list = ln_param_list_append_bool(said.list, "unsigned_weights", 1);
        said.count++;
    }
    return said;
}

// Whether no plane meets another one.
static bool is_of_planes(const ln_layout_conv *c)
{
    return c->size[0] == 1 && c->stride[0] == 1 && c->padding[0] == 0 && c->padding[3] == 0;
}

// That convolution of images, each of which is a plane.
static ln_layout_conv conv_of_planes(const ln_layout_conv *c)
{
    ln_layout_conv planes = *c;
    planes.axis_count = 2;
    for (int i = 0; i < 2; i++) {
        planes.size[i] = c->size[1 + i];
        planes.stride[i] = c->stride[1 + i];
        planes.dilation[i] = c->dilation[1 + i];
        planes.padding[i] = c->padding[1 + i];
        planes.padding[2 + i] = c->padding[4 + i];
    }
    return planes;
}

static ln_status emit_volume_conv(ln_layout_build *build, const ln_layout_conv *c, int merged,
                                  const char *nhwc, const char *packed)
{
    const int *d = ln_layout_find(build, c->src)->tensor->dims;
    const int volume[] = {d[0], d[2], d[3], d[4], d[1]}, planes[] = {d[0] * d[2], d[3], d[4], d[1]};
    const bool of_planes = is_of_planes(c);
    const ln_layout_conv said_conv = of_planes ? conv_of_planes(c) : *c;
    const char *src =
        ln_layout_emit_view(build, nhwc, of_planes ? 4 : 5, of_planes ? planes : volume);
    bool is_complete = false;
    if (!src)
        return ln_error_status();
    ln_list *ins = conv_ins(build, src, packed, &is_complete);
    ln_layout_params said =
        conv_params(&said_conv, ln_layout_find(build, c->weight)->tensor, merged);
    const char *made = ln_layout_emit_step(build, "quant_conv_nhwc_cpu", "convolved", ins,
                                           said.list, is_complete && ln_layout_are_complete(&said));
    return made ? ln_layout_emit_volume_back(build, made) : ln_error_status();
}

static ln_status emit_conv(ln_layout_build *build, const ln_layout_conv *c, const char *packed)
{
    const tl_tensor *weight = ln_layout_find(build, c->weight)->tensor;
    const int merged = mergeable_groups(c, weight);
    const char *src = ln_layout_nhwc(build, c->src);
    bool is_complete = false;
    LN_TRY(src ? emit_pack(build, c, merged, packed) : ln_error_status());
    if (c->axis_count == 3)
        return emit_volume_conv(build, c, merged, src, packed);
    ln_list *ins = conv_ins(build, src, packed, &is_complete);
    ln_layout_params said = conv_params(c, weight, merged);
    return ln_layout_emit_nhwc(build, "quant_conv_nhwc_cpu", "dst", ins, said.list,
                               is_complete && ln_layout_are_complete(&said));
}

static ln_status rewrite_conv(ln_layout_build *build)
{
    ln_layout_conv c;
    if (!read_conv(build, &c))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    char *packed = ln_layout_new_name(build, ln_layout_first_out(build), "packed");
    ln_status status = packed ? emit_conv(build, &c, packed) : ln_error_status();
    ln_free(packed);
    return status;
}

// One scale for all, so that it does not matter where an element is.
static bool fits_elementwise(const ln_layout_build *build)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        const ln_tensor_entry *entry = ln_layout_find(build, in->name);
        bool is_source = ln_streq(in->arg_name, "src") || ln_streq(in->arg_name, "src1") ||
                         ln_streq(in->arg_name, "src2");
        if (!is_source && (!entry || entry->is_open || entry->tensor->len != 1))
            return false;
    }
    return ln_layout_fits_elementwise(build);
}

// The scale and the zero point are those of all elements, in whatever order.
static bool fits_dynamic(const ln_layout_build *build)
{
    const char *src = ln_layout_input(build, "src");
    return src && ln_layout_is_image(ln_layout_find(build, src)) &&
           ln_layout_has_nhwc(build, src) && ln_layout_is_free(build, ln_layout_first_out(build));
}

// The outputs, the image under the name of its NHWC form.
static ln_list *dynamic_outs(const ln_layout_build *build, const char *nhwc, bool *out_is_complete)
{
    const ln_list *old = build->op->op_arg->tensors_out;
    const ln_tensor_list_entry *out;
    ln_list *outs = NULL;
    LN_LIST_FOREACH (out, old)
        outs = ln_tensor_list_append(outs, out->arg_name,
                                     ln_streq(out->arg_name, "dst") ? nhwc : out->name);
    *out_is_complete = ln_list_length(outs) == ln_list_length(old);
    return outs;
}

static ln_status emit_dynamic(ln_layout_build *build, const char *nhwc)
{
    const char *src = ln_layout_nhwc(build, ln_layout_input(build, "src"));
    bool is_complete = false;
    ln_list *ins = src ? ln_tensor_list_append(NULL, "src", src) : NULL;
    ln_list *outs = dynamic_outs(build, nhwc, &is_complete);
    LN_TRY(ln_layout_emit(build, "quantize_dynamic", NULL, ins, outs, NULL, is_complete && ins));
    return ln_layout_emit_back(build, nhwc, ln_layout_first_out(build));
}

static ln_status rewrite_dynamic(ln_layout_build *build)
{
    char *nhwc = ln_layout_new_name(build, ln_layout_first_out(build), "nhwc");
    ln_status status = nhwc ? emit_dynamic(build, nhwc) : ln_error_status();
    ln_free(nhwc);
    return status;
}

const ln_layout_op ln_layout_quants[] = {
    {"quant_conv", fits_conv, rewrite_conv},
    {"quant_elew", fits_elementwise, ln_layout_rewrite_elementwise},
    {"quant_act", fits_elementwise, ln_layout_rewrite_elementwise},
    {"quantize", fits_elementwise, ln_layout_rewrite_elementwise},
    {"quantize_dynamic", fits_dynamic, rewrite_dynamic},
    {"dequantize", fits_elementwise, ln_layout_rewrite_elementwise},
    {NULL, NULL, NULL},
};
