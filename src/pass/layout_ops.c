// SPDX-License-Identifier: Apache-2.0
// The operators that the layout pass knows, and how each is done on channels-last images.
//
// To add one: a function that appends its channels-last form, one that says when, and a line in the
// table at the end.

#include "pass/layout_build.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/act.h>
#include <lightnet/allocator.h>
#include <lightnet/dfg.h>
#include <lightnet/op.h>
#include <lightnet/opshape.h>
#include <lightnet/util.h>

#include "op/call.h"
#include "op/conv_nhwc.h"
#include "op/onnx/conv.h"
#include "op/onnx/conv_activation.h"

// ---- What they have in common ----

static const char *name_of(const ln_layout_build *build, const char *arg_name)
{
    const ln_tensor_entry *entry = ln_layout_tensor(build, arg_name);
    return entry ? entry->name : NULL;
}

static const char *first_out(const ln_layout_build *build)
{
    return ((const ln_tensor_list_entry *)build->op->op_arg->tensors_out->data)->name;
}

static const ln_tensor_entry *find(const ln_layout_build *build, const char *tname)
{
    return ln_tensor_table_find(build->ctx->tensor_table, tname);
}

// An image that is known before the model is loaded may decide shapes, and keeps its form.
static bool is_free_image(const ln_layout_build *build, const char *tname)
{
    const ln_tensor_entry *entry = tname ? find(build, tname) : NULL;
    return ln_layout_is_image(entry) && !entry->known;
}

// Appends `optype`, named after the operator that goes, whose first output is the twin of that
// one's, and the transpose that leads back. `out_arg` names that output in `optype`.
static ln_status emit_twin(ln_layout_build *build, const char *optype, const char *out_arg,
                           ln_list *ins, ln_list *params, bool is_complete)
{
    const char *out = first_out(build);
    char *twin = ln_layout_new_name(build, out, "nhwc");
    ln_list *outs = twin ? ln_tensor_list_append(NULL, out_arg, twin) : NULL;
    ln_status status = ln_layout_emit(build, optype, NULL, ins, outs, params, is_complete && outs);
    if (status == LN_OK)
        status = ln_layout_emit_back(build, twin, out);
    ln_free(twin);
    return status;
}

// The output of the operator that was appended last.
static const char *last_made(const ln_layout_build *build)
{
    const ln_list *l = build->new_ops;
    while (l->next)
        l = l->next;
    const ln_op *op = l->data;
    return ((const ln_tensor_list_entry *)op->op_arg->tensors_out->data)->name;
}

// ---- Convolution ----

// A convolution as the channels-last operator wants it, whichever operator says it.
typedef struct conv {
    const char *src, *weight, *bias, *addend; // names; NULL: none
    int group;
    int size[2], stride[2], dilation[2], padding[4];
    ln_act act;
    double alpha, beta;
} conv;

static bool read_activation(ln_call *call, conv *c)
{
    ln_activation activation;
    if (ln_activation_read(call, &activation) != LN_OK)
        return false;
    c->alpha = activation.alpha;
    c->beta = activation.beta;
    switch (activation.kind) {
    case LN_ACTIVATION_NONE: c->act = LN_ACT_NONE; return true;
    case LN_ACTIVATION_RELU: c->act = LN_ACT_RELU; return true;
    case LN_ACTIVATION_LEAKY_RELU: c->act = LN_ACT_LRELU; return true;
    case LN_ACTIVATION_SIGMOID: c->act = LN_ACT_SIGMOID; return true;
    case LN_ACTIVATION_TANH: c->act = LN_ACT_TANH; return true;
    case LN_ACTIVATION_CLIP: c->act = LN_ACT_CLIP; return true;
    case LN_ACTIVATION_HARD_SIGMOID: c->act = LN_ACT_HARD_SIGMOID; return true;
    case LN_ACTIVATION_SILU: c->act = LN_ACT_SILU; return true;
    }
    return false;
}

static bool read_window(const ln_window *window, conv *c)
{
    if (window->axis_count != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        const ln_window_axis *axis = &window->axis[i];
        if (axis->pad_begin < 0 || axis->pad_end < 0)
            return false;
        c->size[i] = (int)axis->size;
        c->stride[i] = (int)axis->stride;
        c->dilation[i] = (int)axis->dilation;
        c->padding[i] = (int)axis->pad_begin;
        c->padding[2 + i] = (int)axis->pad_end;
    }
    return true;
}

// Conv and FusedConv of ONNX, once they are checked.
static bool read_onnx_conv(const ln_layout_build *build, conv *c)
{
    ln_call *call = build->op->op_arg->priv;
    ln_conv_call found;
    *c = (conv){.src = name_of(build, "X"),
                .weight = name_of(build, "W"),
                .bias = name_of(build, "B"),
                .addend = ln_tensor_list_find_name(build->op->op_arg->tensors_in, "Z")};
    if (!call || !is_free_image(build, c->src) || !is_free_image(build, first_out(build)) ||
        ln_conv_call_read(call, &found) != LN_OK)
        return false;
    c->group = (int)found.group;
    return read_window(&found.window, c) && read_activation(call, c);
}

static const int *ints(const ln_op *op, const char *param)
{
    return ln_param_list_find(op->op_arg->params, param)->value_array_int;
}

// conv2d, once it is checked.
static bool read_conv2d(const ln_layout_build *build, conv *c)
{
    *c = (conv){.src = name_of(build, "src"),
                .weight = name_of(build, "weight"),
                .bias = name_of(build, "bias")};
    if (!is_free_image(build, c->src) || !is_free_image(build, first_out(build)))
        return false;
    const ln_list *params = build->op->op_arg->params;
    const ln_param_entry *group = ln_param_list_find(params, "group");
    const ln_param_entry *stride = ln_param_list_find(params, "stride");
    const ln_param_entry *padding = ln_param_list_find(params, "padding");
    const ln_param_entry *dilation = ln_param_list_find(params, "dilation");
    const ln_param_entry *autopad = ln_param_list_find(params, "autopad");
    const ln_param_entry *act = ln_param_list_find(params, "act");
    static const int zeros[4];
    c->group = group ? group->value_int : 1;
    c->act = act && ln_streq(act->value_string, "relu") ? LN_ACT_RELU : LN_ACT_NONE;
    memcpy(c->size, ints(build->op, "size"), sizeof c->size);
    for (int i = 0; i < 2; i++) {
        c->stride[i] = stride ? stride->value_array_int[i] : 1;
        c->dilation[i] = dilation ? dilation->value_array_int[i] : 1;
    }
    return ln_effective_padding(c->padding, padding ? padding->value_array_int : zeros,
                                autopad ? autopad->value_string : "NOTSET",
                                find(build, c->src)->tensor->dims + 2, c->size, c->stride,
                                c->dilation) == LN_OK;
}

static bool read_conv(const ln_layout_build *build, conv *c)
{
    bool is_own = ln_streq(build->op->op_arg->optype, "conv2d");
    bool is_read = is_own ? read_conv2d(build, c) : read_onnx_conv(build, c);
    return is_read && ln_layout_is_image(find(build, c->weight)) &&
           (!c->addend || is_free_image(build, c->addend));
}

static bool fits_conv(const ln_layout_build *build)
{
    conv c;
    return read_conv(build, &c);
}

// Parameters that differ from their defaults.
typedef struct said_params {
    ln_list *list;
    int count; // that were to be there
} said_params;

static void add_int(said_params *p, const char *name, int value, int usual)
{
    if (value == usual)
        return;
    p->list = ln_param_list_append_int(p->list, name, value);
    p->count++;
}

static void add_ints(said_params *p, const char *name, int count, const int *values, int usual)
{
    for (int i = 0; i < count; i++) {
        if (values[i] == usual)
            continue;
        p->list = ln_param_list_append_array_int(p->list, name, count, values);
        p->count++;
        return;
    }
}

static void add_number(said_params *p, const char *name, double value)
{
    if (value == 0)
        return;
    p->list = ln_param_list_append_double(p->list, name, value);
    p->count++;
}

static void add_string(said_params *p, const char *name, const char *value, const char *usual)
{
    if (ln_streq(value, usual))
        return;
    p->list = ln_param_list_append_string(p->list, name, value);
    p->count++;
}

static bool are_complete(const said_params *p)
{
    return ln_list_length(p->list) == p->count;
}

static ln_status emit_pack(ln_layout_build *build, const conv *c, const char *algorithm,
                           const char *packed)
{
    ln_list *ins = ln_tensor_list_append(NULL, "weight", c->weight);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", packed);
    said_params said = {0};
    add_int(&said, "group", c->group, 1);
    add_string(&said, "algorithm", algorithm, "direct");
    return ln_layout_emit(build, "conv2d_pack", "pack", ins, outs, said.list,
                          ins && outs && are_complete(&said));
}

static said_params conv_params(const conv *c, int channels, const char *algorithm)
{
    said_params p = {0};
    add_int(&p, "channels", channels, 0);
    add_ints(&p, "size", 2, c->size, 0);
    add_ints(&p, "stride", 2, c->stride, 1);
    add_ints(&p, "padding", 4, c->padding, 0);
    add_ints(&p, "dilation", 2, c->dilation, 1);
    add_int(&p, "group", c->group, 1);
    add_string(&p, "algorithm", algorithm, "direct");
    add_string(&p, "act", ln_act_name(c->act), "none");
    if (c->act != LN_ACT_NONE) {
        add_number(&p, "alpha", c->alpha);
        add_number(&p, "beta", c->beta);
    }
    return p;
}

static ln_status rewrite_conv(ln_layout_build *build)
{
    conv c;
    if (!read_conv(build, &c))
        return LN_FAIL(LN_INTERNAL, "'%s' is no convolution any more", build->op->op_arg->name);
    const int *weight_dims = find(build, c.weight)->tensor->dims;
    const char *algorithm = ln_conv_algorithm_name(ln_conv_algorithm_choose(
        weight_dims, c.group, find(build, first_out(build))->tensor->dims + 2, c.stride,
        c.dilation));
    const char *src = ln_layout_twin(build, c.src);
    const char *addend = c.addend ? ln_layout_twin(build, c.addend) : NULL;
    char *packed = ln_layout_new_name(build, first_out(build), "packed");
    ln_status status = src && packed && (addend || !c.addend)
                           ? emit_pack(build, &c, algorithm, packed)
                           : ln_error_status();
    if (status == LN_OK) {
        ln_list *ins = ln_tensor_list_append(NULL, "src", src);
        ins = ln_tensor_list_append(ins, "packed", packed);
        if (c.bias)
            ins = ln_tensor_list_append(ins, "bias", c.bias);
        if (addend)
            ins = ln_tensor_list_append(ins, "addend", addend);
        said_params said = conv_params(&c, weight_dims[0], algorithm);
        int in_count = 2 + (c.bias != NULL) + (addend != NULL);
        status = emit_twin(build, "conv2d_nhwc", "dst", ins, said.list,
                           ln_list_length(ins) == in_count && are_complete(&said));
    }
    ln_free(packed);
    return status;
}

// ---- Batch normalization that no convolution took ----

// The names that ONNX and LightNet give its inputs.
typedef struct norm {
    const char *src, *scale, *offset, *mean, *var;
    double epsilon;
} norm;

static double number_param(const ln_layout_build *build, const char *name, double usual)
{
    const ln_param_entry *param = ln_param_list_find(build->op->op_arg->params, name);
    return param ? param->value_double : usual;
}

static bool read_norm(const ln_layout_build *build, norm *n)
{
    bool is_own = ln_streq(build->op->op_arg->optype, "batchnorm");
    *n = (norm){.src = name_of(build, is_own ? "src" : "X"),
                .scale = name_of(build, "scale"),
                .offset = name_of(build, is_own ? "offset" : "B"),
                .mean = name_of(build, is_own ? "mean" : "input_mean"),
                .var = name_of(build, is_own ? "var" : "input_var"),
                .epsilon = number_param(build, "epsilon", 1e-5)};
    const char *const params[] = {n->scale, n->offset, n->mean, n->var};
    for (size_t i = 0; i < 4; i++) {
        const ln_tensor_entry *entry = params[i] ? find(build, params[i]) : NULL;
        if (!entry || entry->is_open || !entry->isstatic || entry->tensor->dtype != TL_FLOAT ||
            entry->tensor->ndim != 1)
            return false;
    }
    if (!is_free_image(build, n->src) || !is_free_image(build, first_out(build)) ||
        build->op->op_arg->tensors_out->next || !ln_layout_has_twin(build, n->src))
        return false;
    return is_own ||
           (ln_call_since(build->op->op_arg->priv) >= 7 &&
            number_param(build, "training_mode", 0) == 0 && number_param(build, "spatial", 1) == 1);
}

static bool fits_norm(const ln_layout_build *build)
{
    norm n;
    return read_norm(build, &n);
}

// The name of a new tensor that `optype(ins | params)` makes; takes the lists.
static const char *emit_step(ln_layout_build *build, const char *optype, const char *suffix,
                             ln_list *ins, ln_list *list, bool is_complete)
{
    char *name = ln_layout_new_name(build, first_out(build), suffix);
    ln_list *outs = name ? ln_tensor_list_append(NULL, "dst", name) : NULL;
    ln_status status = ln_layout_emit(build, optype, suffix, ins, outs, list, is_complete && outs);
    ln_free(name);
    return status == LN_OK ? last_made(build) : NULL;
}

static const char *emit_elew(ln_layout_build *build, const char *suffix, const char *elew_op,
                             const char *a, const char *b)
{
    if (!a || !b)
        return NULL;
    ln_list *ins = ln_tensor_list_append(NULL, "src1", a);
    ins = ln_tensor_list_append(ins, "src2", b);
    ln_list *list = ln_param_list_append_string(NULL, "elew_op", elew_op);
    return emit_step(build, "elew", suffix, ins, list, ln_list_length(ins) == 2 && list);
}

static const char *emit_number(ln_layout_build *build, const char *suffix, double number)
{
    const int dims[] = {1};
    ln_list *list = ln_param_list_append_string(NULL, "dtype", "TL_FLOAT");
    list = ln_param_list_append_array_int(list, "dims", 1, dims);
    list = ln_param_list_append_array_double(list, "data", 1, &number);
    return emit_step(build, "create", suffix, NULL, list, ln_list_length(list) == 3);
}

static const char *emit_root(ln_layout_build *build, const char *src)
{
    if (!src)
        return NULL;
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *list = ln_param_list_append_string(NULL, "act", "sqrt");
    return emit_step(build, "act", "deviation", ins, list, ins && list);
}

// scale / sqrt(var + epsilon) and offset - mean * that are computed once.
static ln_status rewrite_norm(ln_layout_build *build)
{
    norm n;
    if (!read_norm(build, &n))
        return LN_FAIL(LN_INTERNAL, "'%s' is no normalization any more", build->op->op_arg->name);
    const char *epsilon = emit_number(build, "epsilon", n.epsilon);
    const char *var = emit_elew(build, "variance", "TL_SUM", n.var, epsilon);
    const char *factor = emit_elew(build, "factor", "TL_DIV", n.scale, emit_root(build, var));
    const char *moved = emit_elew(build, "moved", "TL_MUL", n.mean, factor);
    const char *summand = emit_elew(build, "summand", "TL_SUB", n.offset, moved);
    if (!summand)
        return ln_error_status();
    ln_list *ins = ln_tensor_list_append(NULL, "src", ln_layout_twin(build, n.src));
    ins = ln_tensor_list_append(ins, "scale", factor);
    ins = ln_tensor_list_append(ins, "offset", summand);
    return emit_twin(build, "scale_shift", "dst", ins, NULL, ln_list_length(ins) == 3);
}

// ---- Element by element ----

// Whether each element of an input meets one element of the output, or is repeated over it: an
// image of the same shape, one number, or what has as many axes.
static bool is_operand(const ln_layout_build *build, const char *tname, bool *has_twin)
{
    const ln_tensor_entry *entry = find(build, tname);
    if (!entry || entry->is_open)
        return false;
    if (entry->tensor->len == 1 && entry->tensor->ndim < 4)
        return true;
    if (entry->tensor->dtype != TL_FLOAT || entry->tensor->ndim > 4 || entry->tensor->len == 0)
        return false;
    *has_twin = *has_twin || (entry->tensor->ndim == 4 && ln_layout_has_twin(build, tname));
    return true;
}

static bool fits_elementwise(const ln_layout_build *build)
{
    bool has_twin = false;
    const ln_tensor_list_entry *in;
    if (!is_free_image(build, first_out(build)) || build->op->op_arg->tensors_out->next)
        return false;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in)
        if (!is_operand(build, in->name, &has_twin))
            return false;
    return has_twin;
}

// The twin of what has fewer axes: those in front are 1.
static const char *widened_twin(ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = find(build, tname)->tensor;
    int dims[4] = {1, 1, 1, 1};
    for (int i = 0; i < t->ndim; i++)
        dims[4 - t->ndim + i] = t->dims[i];
    char *image = ln_layout_new_name(build, tname, "image");
    char *twin = ln_layout_new_name(build, tname, "last");
    ln_list *ins = ln_tensor_list_append(NULL, "src", tname);
    ln_list *outs = image ? ln_tensor_list_append(NULL, "dst", image) : NULL;
    ln_list *params = ln_param_list_append_array_int(NULL, "dims", 4, dims);
    ln_status status =
        ln_layout_emit(build, "reshape", "image", ins, outs, params, ins && outs && params && twin);
    if (status == LN_OK)
        status = ln_layout_emit_transpose(build, image, twin, ln_layout_to_last);
    ln_free(image);
    ln_free(twin);
    return status == LN_OK ? last_made(build) : NULL;
}

static const char *operand_twin(ln_layout_build *build, const char *tname)
{
    const tl_tensor *t = find(build, tname)->tensor;
    if (t->ndim == 4)
        return ln_layout_twin(build, tname);
    return t->len == 1 ? tname : widened_twin(build, tname);
}

// The operator's inputs with twins in the place of images; NULL with a recorded failure.
static ln_list *twin_inputs(ln_layout_build *build)
{
    ln_list *ins = NULL;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        const char *twin = operand_twin(build, in->name);
        if (!twin || ln_tensor_list_push(&ins, in->arg_name, twin) != LN_OK) {
            ln_tensor_list_free(ins);
            return NULL;
        }
    }
    return ins;
}

static ln_status emit_same(ln_layout_build *build, ln_list *params, bool is_complete)
{
    const ln_op_arg *arg = build->op->op_arg;
    const char *out_arg = ((const ln_tensor_list_entry *)arg->tensors_out->data)->arg_name;
    ln_list *ins = twin_inputs(build);
    return emit_twin(build, arg->optype, out_arg, ins, params, is_complete && ins);
}

static ln_status rewrite_elementwise(ln_layout_build *build)
{
    const ln_list *old = build->op->op_arg->params;
    ln_list *params = ln_param_list_copy(old);
    return emit_same(build, params, ln_list_length(params) == ln_list_length(old));
}

// ---- Along an axis ----

static const int axis_of_twin[4] = {0, 3, 1, 2};

static bool fits_along_axis(const ln_layout_build *build)
{
    bool has_twin = false;
    const ln_tensor_list_entry *in;
    if (!is_free_image(build, first_out(build)))
        return false;
    LN_LIST_FOREACH (in, build->op->op_arg->tensors_in) {
        if (!is_free_image(build, in->name))
            return false;
        has_twin = has_twin || ln_layout_has_twin(build, in->name);
    }
    return has_twin;
}

static ln_status rewrite_along_axis(ln_layout_build *build)
{
    const ln_list *old = build->op->op_arg->params;
    ln_list *params = ln_param_list_copy(old);
    ln_param_entry *axis = params ? ln_param_list_find(params, "axis") : NULL;
    bool is_complete = axis && ln_list_length(params) == ln_list_length(old) &&
                       ln_param_set_satu_number(axis, axis_of_twin[axis->value_int]) == LN_OK;
    return emit_same(build, params, is_complete);
}

// Split of ONNX: each part is a slice, which may be a view.
static bool fits_split(const ln_layout_build *build)
{
    const ln_op_arg *arg = build->op->op_arg;
    const ln_tensor_list_entry *out;
    const ln_tensor_list_entry *in = arg->tensors_in->data;
    LN_LIST_FOREACH (out, arg->tensors_out)
        if (!is_free_image(build, out->name))
            return false;
    return is_free_image(build, in->name) && ln_layout_has_twin(build, in->name);
}

static ln_status emit_slice(ln_layout_build *build, const char *src, const char *out, int axis,
                            int start, int len)
{
    char *twin = ln_layout_new_name(build, out, "nhwc");
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = twin ? ln_tensor_list_append(NULL, "dst", twin) : NULL;
    ln_list *list = ln_param_list_append_int(NULL, "axis", axis);
    list = ln_param_list_append_int(list, "start", start);
    list = ln_param_list_append_int(list, "len", len);
    ln_status status = ln_layout_emit(build, "slice", "part", ins, outs, list,
                                      ins && outs && ln_list_length(list) == 3);
    if (status == LN_OK)
        status = ln_layout_emit_back(build, twin, out);
    ln_free(twin);
    return status;
}

static ln_status rewrite_split(ln_layout_build *build)
{
    const ln_op_arg *arg = build->op->op_arg;
    const char *src = ((const ln_tensor_list_entry *)arg->tensors_in->data)->name;
    const int *dims = find(build, src)->tensor->dims;
    int axis = (int)ln_call_int(arg->priv, "axis"), start = 0;
    axis += axis < 0 ? 4 : 0;
    const char *twin = ln_layout_twin(build, src);
    if (!twin || axis < 0 || axis > 3)
        return twin ? LN_FAIL(LN_INTERNAL, "axis %d", axis) : ln_error_status();
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, arg->tensors_out) {
        int len = find(build, out->name)->tensor->dims[axis];
        if (len > dims[axis] - start)
            return LN_FAIL(LN_INTERNAL, "parts are longer than %d", dims[axis]);
        LN_TRY(emit_slice(build, twin, out->name, axis_of_twin[axis], start, len));
        start += len;
    }
    return LN_OK;
}

// ---- Channel shuffle: reshape to groups, exchange the groups' axis with the next, reshape back
// ----

typedef struct shuffle {
    const char *src;
    int group;
    const ln_op *exchange, *divide;
} shuffle;

static const ln_op *maker_of(const ln_layout_build *build, const ln_op *reader, const char *optype)
{
    const ln_tensor_list_entry *in = reader->op_arg->tensors_in->data;
    const ln_op *maker = ln_dfg_prev(build->ctx->dfg, reader, in->name);
    return maker && ln_streq(maker->op_arg->optype, optype) ? maker : NULL;
}

static bool read_shuffle(const ln_layout_build *build, shuffle *s)
{
    static const int exchanged[] = {0, 2, 1, 3, 4};
    s->exchange = maker_of(build, build->op, "transpose");
    s->divide = s->exchange ? maker_of(build, s->exchange, "reshape") : NULL;
    if (!s->divide || !is_free_image(build, first_out(build)))
        return false;
    s->src = ((const ln_tensor_list_entry *)s->divide->op_arg->tensors_in->data)->name;
    const ln_param_entry *axes = ln_param_list_find(s->exchange->op_arg->params, "axes");
    if (axes->array_len != 5 || memcmp(axes->value_array_int, exchanged, sizeof exchanged) != 0 ||
        !is_free_image(build, s->src) || !ln_layout_has_twin(build, s->src))
        return false;
    const tl_tensor *src = find(build, s->src)->tensor;
    const tl_tensor *dst = find(build, first_out(build))->tensor;
    const tl_tensor *divided = ln_op_find_tensor_entry(s->divide, "dst")->tensor;
    s->group = divided->dims[1];
    return memcmp(src->dims, dst->dims, 4 * sizeof(int)) == 0 &&
           memcmp(src->dims + 2, divided->dims + 3, 2 * sizeof(int)) == 0 &&
           divided->dims[1] * (long long)divided->dims[2] == src->dims[1];
}

static bool fits_shuffle(const ln_layout_build *build)
{
    shuffle s;
    return read_shuffle(build, &s);
}

static ln_status emit_shuffle(ln_layout_build *build, const char *optype, const char *src,
                              const char *dst, const char *param, int count, const int *values)
{
    ln_list *ins = ln_tensor_list_append(NULL, "src", src);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", dst);
    ln_list *list = ln_param_list_append_array_int(NULL, param, count, values);
    return ln_layout_emit(build, optype, "shuffle", ins, outs, list, ins && outs && list);
}

static ln_status rewrite_shuffle(ln_layout_build *build)
{
    shuffle s;
    if (!read_shuffle(build, &s))
        return LN_FAIL(LN_INTERNAL, "'%s' is no shuffle any more", build->op->op_arg->name);
    const int *d = find(build, s.src)->tensor->dims;
    const int divided_dims[] = {d[0], d[2], d[3], s.group, d[1] / s.group};
    const int exchanged[] = {0, 1, 2, 4, 3}, dims[] = {d[0], d[2], d[3], d[1]};
    const char *src = ln_layout_twin(build, s.src);
    char *divided = ln_layout_new_name(build, first_out(build), "groups");
    char *turned = ln_layout_new_name(build, first_out(build), "turned");
    ln_status status = src && divided && turned ? LN_OK : ln_error_status();
    if (status == LN_OK)
        status = emit_shuffle(build, "reshape", src, divided, "dims", 5, divided_dims);
    if (status == LN_OK)
        status = emit_shuffle(build, "transpose", divided, turned, "axes", 5, exchanged);
    if (status == LN_OK) {
        ln_list *ins = ln_tensor_list_append(NULL, "src", turned);
        ln_list *list = ln_param_list_append_array_int(NULL, "dims", 4, dims);
        status = emit_twin(build, "reshape", "dst", ins, list, ins && list);
    }
    ln_free(divided);
    ln_free(turned);
    build->bypassed[0] = s.exchange;
    build->bypassed[1] = s.divide;
    return status;
}

// ---- The table ----

static const ln_layout_op table[] = {
    {"Conv", fits_conv, rewrite_conv},
    {"ms_FusedConv", fits_conv, rewrite_conv},
    {"conv2d", fits_conv, rewrite_conv},

    {"BatchNormalization", fits_norm, rewrite_norm},
    {"batchnorm", fits_norm, rewrite_norm},

    {"concat", fits_along_axis, rewrite_along_axis},
    {"slice", fits_along_axis, rewrite_along_axis},
    {"Split", fits_split, rewrite_split},
    {"reshape", fits_shuffle, rewrite_shuffle},

    {"act", fits_elementwise, rewrite_elementwise},
    {"elew", fits_elementwise, rewrite_elementwise},
    {"relu", fits_elementwise, rewrite_elementwise},
    {"lrelu", fits_elementwise, rewrite_elementwise},
    {"sigmoid", fits_elementwise, rewrite_elementwise},
    {"Abs", fits_elementwise, rewrite_elementwise},
    {"Add", fits_elementwise, rewrite_elementwise},
    {"Clip", fits_elementwise, rewrite_elementwise},
    {"Div", fits_elementwise, rewrite_elementwise},
    {"Elu", fits_elementwise, rewrite_elementwise},
    {"Erf", fits_elementwise, rewrite_elementwise},
    {"Exp", fits_elementwise, rewrite_elementwise},
    {"Gelu", fits_elementwise, rewrite_elementwise},
    {"HardSigmoid", fits_elementwise, rewrite_elementwise},
    {"HardSwish", fits_elementwise, rewrite_elementwise},
    {"LeakyRelu", fits_elementwise, rewrite_elementwise},
    {"Max", fits_elementwise, rewrite_elementwise},
    {"Min", fits_elementwise, rewrite_elementwise},
    {"Mish", fits_elementwise, rewrite_elementwise},
    {"Mul", fits_elementwise, rewrite_elementwise},
    {"Neg", fits_elementwise, rewrite_elementwise},
    {"PRelu", fits_elementwise, rewrite_elementwise},
    {"Pow", fits_elementwise, rewrite_elementwise},
    {"Relu", fits_elementwise, rewrite_elementwise},
    {"Sigmoid", fits_elementwise, rewrite_elementwise},
    {"Softplus", fits_elementwise, rewrite_elementwise},
    {"Sqrt", fits_elementwise, rewrite_elementwise},
    {"Sub", fits_elementwise, rewrite_elementwise},
    {"Tanh", fits_elementwise, rewrite_elementwise},
};

const ln_layout_op *ln_layout_op_find(const char *optype)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].optype, optype) == 0)
            return &table[i];
    }
    return NULL;
}
