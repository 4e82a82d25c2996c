// SPDX-License-Identifier: Apache-2.0
// Layout of padding, by elements that are there or by one number.

#include "arch/cpu/layout.h"

#include <string.h>

#include <lightnet/call.h>
#include <lightnet/util.h>

#include "op/onnx/shape_move.h"

typedef struct pad {
    const char *src, *mode;
    int pads[8];
    double value;
} pad;

// What is put there in mode constant; false if it is not known.
static bool read_value(const ln_layout_build *build, pad *p)
{
    const ln_tensor_entry *given = ln_layout_tensor(build, "filler");
    p->value = ln_call_float(build->op->op_arg->priv, "value");
    if (!given)
        return true;
    if (given->is_open || !given->known || given->tensor->dtype != TL_FLOAT ||
        given->tensor->len != 1)
        return false;
    p->value = (double)*(const float *)given->known;
    return p->value == p->value && p->value - p->value == 0; // a parameter is a number
}

static bool read_pads(const ln_layout_build *build, ln_call *call, pad *p)
{
    ln_pad_plan plan;
    const int ndim = ln_layout_find(build, p->src)->tensor->ndim;
    if (ndim > 4 || ln_pad_find(call, &plan) != LN_OK || !plan.is_known)
        return false;
    for (int i = 0; i < ndim; i++) {
        const int axis = ln_layout_nhwc_axis(build, p->src, i);
        p->pads[axis] = (int)plan.begins[i];
        p->pads[4 + axis] = (int)plan.ends[i];
    }
    return true;
}

static bool read_pad(const ln_layout_build *build, pad *p)
{
    ln_call *call = build->op->op_arg->priv;
    *p = (pad){.src = ln_layout_input(build, "src")};
    if (!call || !ln_layout_is_float_image(build, p->src) ||
        !ln_layout_is_float_image(build, ln_layout_first_out(build)))
        return false;
    p->mode = ln_call_string(call, "mode");
    return read_pads(build, call, p) && read_value(build, p);
}

static bool fits_pad(const ln_layout_build *build)
{
    pad p;
    return read_pad(build, &p) && ln_layout_has_nhwc(build, p.src);
}

static ln_status rewrite_pad(ln_layout_build *build)
{
    pad p;
    if (!read_pad(build, &p))
        return LN_FAIL(LN_INTERNAL, "'%s' pads no image any more", build->op->op_arg->name);
    const char *src = ln_layout_nhwc(build, p.src);
    if (!src)
        return ln_error_status();
    ln_layout_params said = {0};
    said.list = ln_param_list_append_array_int(NULL, "pads", 8, p.pads);
    said.count++;
    ln_layout_add_string(&said, "mode", p.mode, "constant");
    ln_layout_add_number(&said, "value", p.value);
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    return ln_layout_emit_nhwc(build, "pad", "dst", ins, said.list,
                               ins && ln_layout_are_complete(&said));
}

const ln_layout_op ln_layout_pads[] = {
    {"pad", fits_pad, rewrite_pad},
    {NULL, NULL, NULL},
};
