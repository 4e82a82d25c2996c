// SPDX-License-Identifier: Apache-2.0
// Operators of LightNet in terms of ONNX: one node where there is one that does the same, else
// several. Shapes are known, so parameters that ONNX derives are written as they come out.

#include "serial/onnx/writer.h"

#include <string.h>

#include <lightnet/opshape.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

#include "serial/onnx/own.h"

// ---- Reading the operator ----

const ln_param_entry *ln_own_param(const ln_onnx_writer *w, const char *name)
{
    const ln_param_entry *given = ln_param_list_find(w->op->op_arg->params, name);
    const ln_op_info *info = w->op->op_arg->info;
    for (const ln_param_info *p = info ? info->params : NULL; !given && p && p->arg_name; p++) {
        if (strcmp(p->arg_name, name) == 0)
            given = p->default_entry;
    }
    return given;
}

int ln_own_int(const ln_onnx_writer *w, const char *name)
{
    const ln_param_entry *param = ln_own_param(w, name);
    return param ? param->value_int : 0;
}

double ln_own_number(const ln_onnx_writer *w, const char *name)
{
    const ln_param_entry *param = ln_own_param(w, name);
    return param ? param->value_double : 0;
}

const char *ln_own_string(const ln_onnx_writer *w, const char *name)
{
    const ln_param_entry *param = ln_own_param(w, name);
    return param && param->type == LN_PARAM_STRING ? param->value_string : "";
}

const int *ln_own_ints(const ln_onnx_writer *w, const char *name, int *out_count)
{
    const ln_param_entry *param = ln_own_param(w, name);
    int has_numbers = param && param->type == LN_PARAM_ARRAY_NUMBER;
    *out_count = has_numbers ? param->array_len : 0;
    return has_numbers ? param->value_array_int : NULL;
}

const char *ln_own_in(const ln_onnx_writer *w, const char *arg_name)
{
    return ln_tensor_list_find_name(w->op->op_arg->tensors_in, arg_name);
}

const char *ln_own_out(const ln_onnx_writer *w, const char *arg_name)
{
    return ln_tensor_list_find_name(w->op->op_arg->tensors_out, arg_name);
}

const tl_tensor *ln_own_tensor(const ln_onnx_writer *w, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(w->op->op_arg->tensor_table, name);
    return entry ? entry->tensor : NULL;
}

// ---- One node ----

// Begins a node from src to dst, for attributes and more inputs to follow.
static void begin_simple(ln_onnx_writer *w, const char *type)
{
    ln_onnx_begin(w, type);
    ln_onnx_in(w, ln_own_in(w, "src"));
    ln_onnx_out_name(w, ln_own_out(w, "dst"));
}

static ln_status write_relu(ln_onnx_writer *w)
{
    ln_own_node1(w, "Relu", ln_own_in(w, "src"), ln_own_out(w, "dst"));
    return LN_OK;
}

static ln_status write_sigmoid(ln_onnx_writer *w)
{
    ln_own_node1(w, "Sigmoid", ln_own_in(w, "src"), ln_own_out(w, "dst"));
    return LN_OK;
}

static ln_status write_identity(ln_onnx_writer *w)
{
    ln_own_node1(w, "Identity", ln_own_in(w, "src"), ln_own_out(w, "dst"));
    return LN_OK;
}

static ln_status write_lrelu(ln_onnx_writer *w)
{
    begin_simple(w, "LeakyRelu");
    ln_onnx_attr_float(w, "alpha", ln_own_number(w, "negslope"));
    ln_onnx_end(w);
    return LN_OK;
}

static ln_status write_softmax(ln_onnx_writer *w)
{
    const ln_param_entry *flat = ln_own_param(w, "flat"), *log = ln_own_param(w, "log");
    int axis = ln_own_int(w, "axis"), ndim = ln_own_tensor(w, ln_own_in(w, "src"))->ndim;
    if (flat && flat->value_bool && axis != -1 && axis != ndim - 1)
        return ln_onnx_write_fail(w, LN_UNSUPPORTED, "softmax over several axes has no form");
    begin_simple(w, log && log->value_bool ? "LogSoftmax" : "Softmax");
    ln_onnx_attr_int(w, "axis", axis);
    ln_onnx_end(w);
    return LN_OK;
}

static ln_status write_batchnorm(ln_onnx_writer *w)
{
    static const char *const ins[] = {"src", "scale", "offset", "mean", "var"};
    ln_onnx_begin(w, "BatchNormalization");
    for (size_t i = 0; i < sizeof ins / sizeof ins[0]; i++)
        ln_onnx_in(w, ln_own_in(w, ins[i]));
    ln_onnx_out_name(w, ln_own_out(w, "dst"));
    ln_onnx_attr_float(w, "epsilon", ln_own_number(w, "epsilon"));
    ln_onnx_end(w);
    return LN_OK;
}

static ln_status write_elew(ln_onnx_writer *w)
{
    static const char *const types[][2] = {{"TL_MUL", "Mul"}, {"TL_DIV", "Div"}, {"TL_SUM", "Add"},
                                           {"TL_SUB", "Sub"}, {"TL_MAX", "Max"}, {"TL_MIN", "Min"},
                                           {"TL_POW", "Pow"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(ln_own_string(w, "elew_op"), types[i][0]) != 0)
            continue;
        ln_own_node2(w, types[i][1], ln_own_in(w, "src1"), ln_own_in(w, "src2"),
                     ln_own_out(w, "dst"));
        return LN_OK;
    }
    return ln_onnx_write_fail(w, LN_UNSUPPORTED, "its elew_op has no form in ONNX");
}

static ln_status write_transpose(ln_onnx_writer *w)
{
    int count;
    const int *axes = ln_own_ints(w, "axes", &count);
    begin_simple(w, "Transpose");
    ln_onnx_attr_ints(w, "perm", count, axes);
    ln_onnx_end(w);
    return LN_OK;
}

// ---- Windows ----

// Engines do not agree on automatic padding where windows have gaps: it is written out.
static ln_status put_window(ln_onnx_writer *w)
{
    int count, padding[4];
    const tl_tensor *src = ln_own_tensor(w, ln_own_in(w, "src"));
    const int *size = ln_own_ints(w, "size", &count), *stride = ln_own_ints(w, "stride", &count),
              *given = ln_own_ints(w, "padding", &count),
              *dilation = ln_own_ints(w, "dilation", &count);
    LN_TRY(ln_effective_padding(padding, given, ln_own_string(w, "autopad"), src->dims + 2, size,
                                stride, dilation));
    ln_onnx_attr_ints(w, "kernel_shape", 2, size);
    ln_onnx_attr_ints(w, "strides", 2, stride);
    ln_onnx_attr_ints(w, "pads", 4, padding);
    if (dilation)
        ln_onnx_attr_ints(w, "dilations", 2, dilation);
    return LN_OK;
}

static void begin_conv(ln_onnx_writer *w, const char *type, const char *dst)
{
    ln_onnx_begin(w, type);
    ln_onnx_in(w, ln_own_in(w, "src"));
    ln_onnx_in(w, ln_own_in(w, "weight"));
    ln_onnx_in(w, ln_own_in(w, "bias"));
    ln_onnx_out_name(w, dst);
    ln_onnx_attr_int(w, "group", ln_own_int(w, "group"));
}

// Where the convolution's own result goes: a new name if `act` follows.
static const char *conv_out(ln_onnx_writer *w, char *room)
{
    if (strcmp(ln_own_string(w, "act"), "relu") != 0)
        return ln_own_out(w, "dst");
    ln_onnx_new_name(w, room);
    return room;
}

static ln_status finish_conv(ln_onnx_writer *w, const char *dst)
{
    ln_onnx_end(w);
    if (strcmp(ln_own_string(w, "act"), "relu") == 0)
        ln_own_node1(w, "Relu", dst, ln_own_out(w, "dst"));
    return LN_OK;
}

static ln_status write_conv(ln_onnx_writer *w)
{
    char room[LN_MAX_NAME_LEN];
    const char *dst = conv_out(w, room);
    begin_conv(w, "Conv", dst);
    LN_TRY(put_window(w));
    return finish_conv(w, dst);
}

static ln_status write_deconv(ln_onnx_writer *w)
{
    char room[LN_MAX_NAME_LEN];
    const char *dst = conv_out(w, room);
    const tl_tensor *src = ln_own_tensor(w, ln_own_in(w, "src"));
    int count, padding[4];
    const int *size = ln_own_ints(w, "size", &count), *stride = ln_own_ints(w, "stride", &count),
              *wanted = ln_own_ints(w, "output_dims", &count),
              *given = ln_own_ints(w, "padding", &count),
              *output_padding = ln_own_ints(w, "output_padding", &count),
              *dilation = ln_own_ints(w, "dilation", &count);
    LN_TRY(ln_effective_deconv_padding(padding, given, ln_own_string(w, "autopad"), src->dims + 2,
                                       wanted + 2, size, stride, output_padding, dilation));
    begin_conv(w, "ConvTranspose", dst);
    ln_onnx_attr_ints(w, "kernel_shape", 2, size);
    ln_onnx_attr_ints(w, "strides", 2, stride);
    ln_onnx_attr_ints(w, "dilations", 2, dilation);
    ln_onnx_attr_ints(w, "output_padding", 2, output_padding);
    ln_onnx_attr_ints(w, "pads", 4, padding);
    return finish_conv(w, dst);
}

static ln_status write_pool2d(ln_onnx_writer *w)
{
    int is_mean = strcmp(w->op->op_arg->optype, "avgpool2d") == 0;
    begin_simple(w, is_mean ? "AveragePool" : "MaxPool");
    LN_TRY(put_window(w));
    if (is_mean)
        ln_onnx_attr_int(w, "count_include_pad", 0);
    ln_onnx_end(w);
    return LN_OK;
}

static void put_ints(ln_onnx_writer *w, const char *name, const char *onnx_name)
{
    int count;
    const int *values = ln_own_ints(w, name, &count);
    if (count > 0)
        ln_onnx_attr_ints(w, onnx_name, count, values);
}

// Without a size it is one of ONNX's poolings over all of an image.
static ln_status write_pool(ln_onnx_writer *w)
{
    static const char *const types[][3] = {{"max", "MaxPool", "GlobalMaxPool"},
                                           {"average", "AveragePool", "GlobalAveragePool"},
                                           {"lp", "LpPool", "GlobalLpPool"}};
    const char *kind = ln_own_string(w, "kind");
    int i = 0, count;
    while (i < 2 && strcmp(kind, types[i][0]) != 0)
        i++;
    ln_own_ints(w, "size", &count);
    begin_simple(w, types[i][count > 0 ? 1 : 2]);
    put_ints(w, "size", "kernel_shape");
    put_ints(w, "stride", "strides");
    put_ints(w, "padding", "pads");
    put_ints(w, "dilation", "dilations");
    if (count > 0) {
        ln_onnx_attr_string(w, "auto_pad", ln_own_string(w, "autopad"));
        ln_onnx_attr_int(w, "ceil_mode", ln_own_int(w, "ceil_mode"));
    }
    if (count > 0 && i == 1)
        ln_onnx_attr_int(w, "count_include_pad", ln_own_int(w, "count_include_pad"));
    if (i == 2)
        ln_onnx_attr_int(w, "p", ln_own_int(w, "p"));
    ln_onnx_end(w);
    return LN_OK;
}

// ---- Shapes ----

static ln_status write_reshape(ln_onnx_writer *w)
{
    const char *dst = ln_own_out(w, "dst");
    return ln_own_reshape(w, ln_own_in(w, "src"), dst);
}

static ln_status write_slice(ln_onnx_writer *w)
{
    int axis = ln_own_int(w, "axis"), start = ln_own_int(w, "start");
    return ln_own_slice(w, ln_own_in(w, "src"), axis, start, start + ln_own_int(w, "len"),
                        ln_own_out(w, "dst"));
}

static ln_status write_concat(ln_onnx_writer *w)
{
    ln_onnx_begin(w, "Concat");
    for (const ln_list *l = w->op->op_arg->tensors_in; l; l = l->next)
        ln_onnx_in(w, ((const ln_tensor_list_entry *)l->data)->name);
    ln_onnx_out_name(w, ln_own_out(w, "dst"));
    ln_onnx_attr_int(w, "axis", ln_own_int(w, "axis"));
    ln_onnx_end(w);
    return LN_OK;
}

// Stacked: as parts of a result with one more dimension. The node of Concat is made after the
// others.
static ln_status write_gather(ln_onnx_writer *w)
{
    ln_onnx_out concat = {0};
    char axis[LN_MAX_NAME_LEN], part[LN_MAX_NAME_LEN];
    LN_TRY(ln_onnx_add_ints(w, 1, (int[]){0}, axis));
    for (const ln_list *l = w->op->op_arg->tensors_in; l; l = l->next) {
        ln_onnx_new_name(w, part);
        ln_own_node2(w, "Unsqueeze", ((const ln_tensor_list_entry *)l->data)->name, axis, part);
        ln_onnx_put_text(&concat, LN_NODE_INPUT, part);
    }
    ln_onnx_begin(w, "Concat");
    ln_onnx_append_out(&w->node, &concat);
    ln_onnx_out_deinit(&concat);
    ln_onnx_out_name(w, ln_own_out(w, "dst"));
    ln_onnx_attr_int(w, "axis", 0);
    ln_onnx_end(w);
    return LN_OK;
}

static ln_status write_scatter(ln_onnx_writer *w)
{
    int index = 0;
    char position[LN_MAX_NAME_LEN];
    for (const ln_list *l = w->op->op_arg->tensors_out; l; l = l->next) {
        LN_TRY(ln_onnx_add_int(w, index, position));
        ln_own_node2(w, "Gather", ln_own_in(w, "src"), position,
                     ((const ln_tensor_list_entry *)l->data)->name);
        index++;
    }
    return LN_OK;
}

// ---- Pictures ----

static ln_status write_resize(ln_onnx_writer *w)
{
    const tl_tensor *dst = ln_own_tensor(w, ln_own_out(w, "dst"));
    int is_linear = strcmp(ln_own_string(w, "mode"), "TL_LINEAR") == 0;
    char sizes[LN_MAX_NAME_LEN];
    LN_TRY(ln_onnx_add_ints(w, dst->ndim, dst->dims, sizes));
    begin_simple(w, "Resize");
    ln_onnx_in(w, "");
    ln_onnx_in(w, "");
    ln_onnx_in(w, sizes);
    ln_onnx_attr_string(w, "mode", is_linear ? "linear" : "nearest");
    ln_onnx_attr_string(w, "coordinate_transformation_mode", "half_pixel");
    if (!is_linear)
        ln_onnx_attr_string(w, "nearest_mode", "round_prefer_ceil");
    ln_onnx_end(w);
    return LN_OK;
}

static ln_status write_submean(ln_onnx_writer *w)
{
    char real[LN_MAX_NAME_LEN], mean[LN_MAX_NAME_LEN], rest[LN_MAX_NAME_LEN],
        planes[LN_MAX_NAME_LEN];
    const ln_param_entry *param = ln_own_param(w, "mean");
    tl_dtype dtype = ln_own_tensor(w, ln_own_out(w, "dst"))->dtype;
    LN_TRY(ln_onnx_add_floats(w, 1, &param->array_len, param->value_array_double, mean));
    ln_onnx_new_name(w, real);
    ln_onnx_new_name(w, rest);
    ln_onnx_new_name(w, planes);
    ln_own_cast(w, ln_own_in(w, "src"), TL_FLOAT, real);
    ln_own_node2(w, "Sub", real, mean, rest);
    ln_onnx_begin(w, "Transpose");
    ln_onnx_in(w, rest);
    ln_onnx_out_name(w, planes);
    ln_onnx_attr_ints(w, "perm", 3, (int[]){2, 0, 1});
    ln_onnx_end(w);
    ln_own_cast(w, planes, dtype, ln_own_out(w, "dst"));
    return LN_OK;
}

// ---- Reduction ----

static ln_status write_max(ln_onnx_writer *w)
{
    int axis = ln_own_int(w, "axis");
    const char *arg = ln_own_out(w, "arg");
    char room[LN_MAX_NAME_LEN];
    if (w->opsets[LN_DOMAIN_ONNX] >= 18)
        LN_TRY(ln_onnx_add_ints(w, 1, &axis, room));
    begin_simple(w, "ReduceMax");
    if (w->opsets[LN_DOMAIN_ONNX] >= 18)
        ln_onnx_in(w, room);
    else
        ln_onnx_attr_ints(w, "axes", 1, &axis);
    ln_onnx_attr_int(w, "keepdims", 1);
    ln_onnx_end(w);
    if (!arg)
        return LN_OK;
    ln_onnx_new_name(w, room);
    ln_onnx_begin(w, "ArgMax");
    ln_onnx_in(w, ln_own_in(w, "src"));
    ln_onnx_out_name(w, room);
    ln_onnx_attr_int(w, "axis", axis);
    ln_onnx_attr_int(w, "keepdims", 1);
    ln_onnx_end(w);
    ln_own_cast(w, room, TL_INT32, arg);
    return LN_OK;
}

static ln_status write_dot(ln_onnx_writer *w)
{
    char products[LN_MAX_NAME_LEN], sum[LN_MAX_NAME_LEN];
    ln_onnx_new_name(w, products);
    ln_onnx_new_name(w, sum);
    ln_own_node2(w, "Mul", ln_own_in(w, "src1"), ln_own_in(w, "src2"), products);
    ln_onnx_begin(w, "ReduceSum");
    ln_onnx_in(w, products);
    ln_onnx_out_name(w, sum);
    ln_onnx_attr_int(w, "keepdims", 0);
    ln_onnx_end(w);
    return ln_own_reshape(w, sum, ln_own_out(w, "dst"));
}

// ---- Sorting and picking ----

static ln_status write_sort(ln_onnx_writer *w)
{
    const tl_tensor *keys = ln_own_tensor(w, ln_own_in(w, "src_key"));
    const char *val = ln_own_in(w, "src_val");
    char count[LN_MAX_NAME_LEN], index[LN_MAX_NAME_LEN];
    LN_TRY(ln_onnx_add_ints(w, 1, &keys->len, count));
    ln_onnx_new_name(w, index);
    ln_onnx_begin(w, "TopK");
    ln_onnx_in(w, ln_own_in(w, "src_key"));
    ln_onnx_in(w, count);
    ln_onnx_out_name(w, ln_own_out(w, "dst_key"));
    ln_onnx_out_name(w, index);
    ln_onnx_attr_int(w, "axis", 0);
    ln_onnx_attr_int(w, "sorted", 1);
    ln_onnx_attr_int(w, "largest", strcmp(ln_own_string(w, "dir"), "TL_SORT_DIR_DESCENDING") == 0);
    ln_onnx_end(w);
    if (val)
        ln_own_node2(w, "Gather", val, index, ln_own_out(w, "dst_val"));
    return LN_OK;
}

static ln_status write_pick(ln_onnx_writer *w)
{
    const tl_tensor *src = ln_own_tensor(w, ln_own_in(w, "src"));
    int stride = ln_own_int(w, "stride"), len = ln_own_int(w, "len");
    char shape[LN_MAX_NAME_LEN], groups[LN_MAX_NAME_LEN], whole[LN_MAX_NAME_LEN],
        index[LN_MAX_NAME_LEN], picked[LN_MAX_NAME_LEN];
    int count = src->len / stride, used = count * stride;
    ln_onnx_new_name(w, whole);
    ln_onnx_new_name(w, groups);
    ln_onnx_new_name(w, index);
    ln_onnx_new_name(w, picked);
    LN_TRY(ln_onnx_add_ints(w, 2, (int[]){count, stride}, shape));
    LN_TRY(ln_own_slice(w, ln_own_in(w, "src"), 0, 0, used, whole));
    ln_own_node2(w, "Reshape", whole, shape, groups);
    LN_TRY(ln_own_slice(w, ln_own_in(w, "src_index"), 0, 0, len, index));
    ln_own_node2(w, "Gather", groups, index, picked);
    return ln_own_reshape(w, picked, ln_own_out(w, "dst"));
}

// ---- All ----

typedef struct own_row {
    const char *optype;
    ln_status (*write)(ln_onnx_writer *w);
} own_row;

static const own_row rows[] = {
    {"conv2d", write_conv},
    {"deconv2d", write_deconv},
    {"batchnorm", write_batchnorm},
    {"relu", write_relu},
    {"lrelu", write_lrelu},
    {"sigmoid", write_sigmoid},
    {"softmax", write_softmax},
    {"elew", write_elew},
    {"maxpool2d", write_pool2d},
    {"avgpool2d", write_pool2d},
    {"pool", write_pool},
    {"resize", write_resize},
    {"upsample", write_resize},
    {"submean", write_submean},
    {"reshape", write_reshape},
    {"forward", write_identity},
    {"slice", write_slice},
    {"concat", write_concat},
    {"gather", write_gather},
    {"gather_nocopy", write_gather},
    {"scatter", write_scatter},
    {"scatter_nocopy", write_scatter},
    {"transpose", write_transpose},
    {"maxreduce", write_max},
    {"maxreduce_arg", write_max},
    {"dot_product", write_dot},
    {"sort1d", write_sort},
    {"sort1d_by_key", write_sort},
    {"pick1d", write_pick},
    {"transform_bboxSQD", ln_own_write_boxes},
    {"detect_yolov3", ln_own_write_yolo},
};

static ln_status check_shapes(const ln_onnx_writer *w)
{
    const ln_list *lists[] = {w->op->op_arg->tensors_in, w->op->op_arg->tensors_out};
    for (size_t i = 0; i < 2; i++) {
        for (const ln_list *l = lists[i]; l; l = l->next) {
            const ln_tensor_list_entry *tensor = l->data;
            const ln_tensor_entry *entry =
                ln_tensor_table_find(w->op->op_arg->tensor_table, tensor->name);
            if (!entry || entry->is_open)
                return ln_onnx_write_fail(w, LN_UNSUPPORTED,
                                          "the shape of tensor '%s' is not known", tensor->name);
        }
    }
    return LN_OK;
}

ln_status ln_onnx_write_own(ln_onnx_writer *w)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].optype, w->op->op_arg->optype) != 0)
            continue;
        LN_TRY(check_shapes(w));
        ln_onnx_clip clip;
        if (ln_onnx_is_in_clip(w->graph->ctx, w->op))
            return LN_OK;
        if (ln_onnx_find_clip(w->graph->ctx, w->op, &clip))
            return ln_onnx_write_clip(w, &clip);
        return rows[i].write(w);
    }
    return ln_onnx_write_fail(w, LN_UNSUPPORTED, "it has no form in ONNX");
}
