// SPDX-License-Identifier: Apache-2.0
// Layout of sums that are rescaled to bytes: multipliers are for another axis then.

#include "arch/cpu/layout.h"

// From 0 on; others where one multiplier is for all.
static int axis_of(const ln_layout_build *build, const char *src)
{
    const ln_param_entry *axis = ln_param_list_find(build->op->op_arg->params, "axis");
    const int ndim = ln_layout_find(build, src)->tensor->ndim, at = axis ? axis->value_int : 1;
    return at < 0 ? at + ndim : at;
}

static bool fits_rescale(const ln_layout_build *build)
{
    const char *src = ln_layout_input(build, "src");
    if (!src || !ln_layout_has_nhwc(build, src) ||
        !ln_layout_is_free(build, ln_layout_first_out(build)))
        return false;
    const int axis = axis_of(build, src);
    return axis >= 0 && axis < ln_layout_find(build, src)->tensor->ndim &&
           ln_layout_nhwc_axis(build, src, axis) >= 0;
}

// The operator's inputs, with the NHWC form as `src`; shorter on failure.
static ln_list *nhwc_ins(ln_layout_build *build)
{
    ln_list *ins = NULL;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        const bool is_image = ln_streq(in->arg_name, "src");
        const char *name = is_image ? ln_layout_nhwc(build, in->name) : in->name;
        ins = name ? ln_tensor_list_append(ins, in->arg_name, name) : ins;
    }
    return ins;
}

static ln_status rewrite_rescale(ln_layout_build *build)
{
    const ln_op_arg *arg = build->op->op_arg;
    const char *src = ln_layout_input(build, "src");
    const int axis = ln_layout_nhwc_axis(build, src, axis_of(build, src));
    ln_list *params = ln_param_list_copy(arg->params);
    ln_param_entry *along = params ? ln_param_list_find(params, "axis") : NULL;
    bool is_complete = ln_list_length(params) == ln_list_length(arg->params);
    if (along)
        is_complete = is_complete && ln_param_set_satu_number(along, axis) == LN_OK;
    else {
        params = ln_param_list_append_int(params, "axis", axis);
        is_complete = is_complete && ln_list_length(params) == ln_list_length(arg->params) + 1;
    }
    ln_list *ins = nhwc_ins(build);
    return ln_layout_emit_nhwc(build, "rescale", "dst", ins, params,
                               is_complete &&
                                   ln_list_length(ins) == ln_list_length(arg->tensors_in));
}

const ln_layout_op ln_layout_rescales[] = {
    {"rescale", fits_rescale, rewrite_rescale},
    {NULL, NULL, NULL},
};
