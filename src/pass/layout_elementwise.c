// SPDX-License-Identifier: Apache-2.0
// Layout of what is computed element by element, with operands that are repeated over others.

#include "pass/layout_build.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "op/types.h"

static int rank_of(const ln_layout_build *build, const char *tname)
{
    return ln_layout_find(build, tname)->tensor->ndim;
}

// An axis of `t` as one of a volume; 1 if it has not so many.
static int dim_of_volume(const tl_tensor *t, int axis)
{
    const int at = axis - 5 + t->ndim;
    return at < 0 ? 1 : t->dims[at];
}

// The planes of a volume are rows of one image: an operand has them all, or one row for all.
static bool has_rows_of_volume(const tl_tensor *operand, const tl_tensor *volume)
{
    const int depth = dim_of_volume(operand, 2), height = dim_of_volume(operand, 3);
    return (depth == 1 && height == 1) || (depth == volume->dims[2] && height == volume->dims[3]);
}

// Whether each element of an input meets one element of the output, or is repeated over it: an
// image of the same shape, one number, or what has as many axes.
static bool is_operand(const ln_layout_build *build, const char *tname, bool *has_nhwc)
{
    const ln_tensor_entry *entry = ln_layout_find(build, tname);
    const tl_tensor *out = ln_layout_find(build, ln_layout_first_out(build))->tensor;
    const int ndim = out->ndim;
    if (!entry || entry->is_open)
        return false;
    if (entry->tensor->len == 1 && entry->tensor->ndim < ndim)
        return true;
    const uint64_t types = LN_TYPE(TL_FLOAT) | LN_TYPES_BYTE;
    if (!(types >> entry->tensor->dtype & 1) || entry->tensor->ndim > ndim ||
        entry->tensor->len == 0 || (ndim == 5 && !has_rows_of_volume(entry->tensor, out)))
        return false;
    *has_nhwc = *has_nhwc || (entry->tensor->ndim == ndim && ln_layout_has_nhwc(build, tname));
    return true;
}

bool ln_layout_fits_elementwise(const ln_layout_build *build)
{
    bool has_nhwc = false;
    const ln_tensor_list_entry *in;
    if (!ln_layout_is_free(build, ln_layout_first_out(build)) ||
        build->op->op_arg->tensors_out->next)
        return false;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in)
        if (!is_operand(build, in->name, &has_nhwc))
            return false;
    return has_nhwc;
}

// The NHWC form of what has fewer axes: those in front are 1.
static const char *widened_nhwc(ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = ln_layout_find(build, tname)->tensor;
    int all[5] = {1, 1, 1, 1, 1}, ndim = rank_of(build, ln_layout_first_out(build));
    for (int i = 0; i < t->ndim; i++)
        all[ndim - t->ndim + i] = t->dims[i];
    const ln_layout_dims dims = ln_layout_dims_from(ndim, all);
    char *image = ln_layout_new_name(build, tname, "image");
    char *nhwc = ln_layout_new_name(build, tname, "last");
    ln_list *ins = ln_tensor_list_append(NULL, "src", tname);
    ln_list *outs = image ? ln_tensor_list_append(NULL, "dst", image) : NULL;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 4, dims.d);
    ln_status status =
        ln_layout_emit(build, "reshape", "image", ins, outs, params, ins && outs && params && nhwc);
    if (status == LN_OK)
        status = ln_layout_emit_transpose(build, image, nhwc, ln_layout_to_last);
    ln_free(image);
    ln_free(nhwc);
    return status == LN_OK ? ln_layout_last_made(build) : NULL;
}

static const char *operand_nhwc(ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = ln_layout_find(build, tname)->tensor;
    if (t->ndim == rank_of(build, ln_layout_first_out(build)))
        return ln_layout_nhwc(build, tname);
    return t->len == 1 ? tname : widened_nhwc(build, tname);
}

// The operator's inputs with NHWC forms in the place of images; NULL with a recorded failure.
static ln_list *nhwc_inputs(ln_layout_build *build)
{
    ln_list *ins = NULL;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        const char *nhwc = operand_nhwc(build, in->name);
        if (!nhwc || ln_tensor_list_push(&ins, in->arg_name, nhwc) != LN_OK) {
            ln_tensor_list_free(ins);
            return NULL;
        }
    }
    return ins;
}

ln_status ln_layout_emit_same(ln_layout_build *build, ln_list *params, bool is_complete)
{
    const ln_op_arg *arg = build->op->op_arg;
    const char *out_arg = ((const ln_tensor_list_entry *)arg->tensors_out->data)->arg_name;
    ln_list *ins = nhwc_inputs(build);
    return ln_layout_emit_nhwc(build, arg->optype, out_arg, ins, params, is_complete && ins);
}

ln_status ln_layout_rewrite_elementwise(ln_layout_build *build)
{
    const ln_list *old = build->op->op_arg->params;
    ln_list *params = ln_param_list_copy(old);
    return ln_layout_emit_same(build, params, ln_list_length(params) == ln_list_length(old));
}

const ln_layout_op ln_layout_elementwise[] = {
    {"act", ln_layout_fits_elementwise, ln_layout_rewrite_elementwise},
    {"elew", ln_layout_fits_elementwise, ln_layout_rewrite_elementwise},
    {"func", ln_layout_fits_elementwise, ln_layout_rewrite_elementwise},
    {NULL, NULL, NULL},
};
