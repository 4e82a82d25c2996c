// SPDX-License-Identifier: Apache-2.0
// Layout of convolutions of volumes, [N, C, D, H, W]: each between transposes of its own, of which
// those that meet go later.

#include "arch/cpu/layout_conv.h"

#include <lightnet/allocator.h>

#include "arch/cpu/conv_choice.h"

static const int to_last[] = {0, 2, 3, 4, 1}, from_last[] = {0, 4, 1, 2, 3};

static bool is_volume(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = tname ? ln_layout_find(build, tname) : NULL;
    return entry && !entry->is_open && !entry->known && entry->tensor &&
           entry->tensor->dtype == TL_FLOAT && entry->tensor->ndim == 5 && entry->tensor->len > 0;
}

static bool read_conv3d(const ln_layout_build *build, ln_layout_conv *c)
{
    return is_volume(build, ln_layout_input(build, "src")) &&
           is_volume(build, ln_layout_first_out(build)) && ln_layout_read_conv(build, 3, c) &&
           (!c->addend || is_volume(build, c->addend));
}

bool ln_layout_fits_conv3d(const ln_layout_build *build)
{
    ln_layout_conv c;
    return read_conv3d(build, &c);
}

// The name of a new tensor that `optype` makes; takes the lists. NULL with a recorded failure.
static const char *emit_step(ln_layout_build *build, const char *optype, const char *suffix,
                             ln_list *ins, ln_list *params, bool is_complete)
{
    char *name = ln_layout_new_name(build, ln_layout_first_out(build), suffix);
    ln_list *outs = name ? ln_tensor_list_append(NULL, "dst", name) : NULL;
    ln_status status =
        ln_layout_emit(build, optype, suffix, ins, outs, params, is_complete && outs);
    ln_free(name);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

static const char *emit_to_last(ln_layout_build *build, const char *src)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *params = ln_param_list_append_array_int(NULL, "axes", 5, to_last);
    return emit_step(build, "transpose", "ndhwc", ins, params, ins && params);
}

static const char *algorithm_of(const ln_layout_build *build, const ln_layout_conv *c)
{
    const int *w = ln_layout_find(build, c->weight)->tensor->dims;
    const int *out = ln_layout_find(build, ln_layout_first_out(build))->tensor->dims;
    const int plane[] = {w[0], w[1], w[3], w[4]};
    return ln_layout_algorithm_name(
        build, ln_cpu_choose_conv(plane, c->group, out + 3, c->stride + 1, c->dilation + 1));
}

static const char *emit_pack(ln_layout_build *build, const ln_layout_conv *c, const char *algorithm)
{
    ln_list *ins = ln_tensor_list_append(NULL, "weight", c->weight);
    ln_layout_params said = ln_layout_conv_pack_params(c, algorithm);
    return emit_step(build, "conv3d_pack_cpu", "packed", ins, said.list,
                     ins && ln_layout_are_complete(&said));
}

static const char *emit_conv(ln_layout_build *build, const ln_layout_conv *c, const char *algorithm,
                             const char *src, const char *packed, const char *addend)
{
    ln_layout_params said =
        ln_layout_conv_params(c, ln_layout_find(build, c->weight)->tensor->dims[0], algorithm);
    bool is_complete;
    ln_list *ins = ln_layout_conv_ins(c, src, packed, addend, &is_complete);
    return emit_step(build, "conv3d_ndhwc_cpu", "ndhwc", ins, said.list,
                     is_complete && ln_layout_are_complete(&said));
}

ln_status ln_layout_rewrite_conv3d(ln_layout_build *build)
{
    ln_layout_conv c;
    if (!read_conv3d(build, &c))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    const char *algorithm = algorithm_of(build, &c);
    const char *src = emit_to_last(build, c.src);
    const char *addend = src && c.addend ? emit_to_last(build, c.addend) : NULL;
    const char *packed = src && (addend || !c.addend) ? emit_pack(build, &c, algorithm) : NULL;
    const char *made = packed ? emit_conv(build, &c, algorithm, src, packed, addend) : NULL;
    if (!made)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", made);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", ln_layout_first_out(build));
    ln_list *params = ln_param_list_append_array_int(NULL, "axes", 5, from_last);
    return ln_layout_emit(build, "transpose", NULL, ins, outs, params, ins && outs && params);
}
