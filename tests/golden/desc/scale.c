// Generated from scale.op by lightnet-gen. Change the description, not this file.
// clang-format off

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/call.h>
#include <lightnet/op.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>
#include <lightnet/opck.h>

// ---- scale ----

static const ln_arg_info scale_ins[] = {
    {"src", "rank 1 or more", 0, LN_MEM_NONE, 0, NULL},
    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},
};

static const ln_arg_info scale_outs[] = {
    {"dst", "", 0, LN_MEM_NONE, 0, NULL},
    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},
};

static char scale_factors_name[] = "factors";
static double scale_factors_doubles[] = {(double)0.5};
static float scale_factors_floats[] = {(float)0.5};
static int scale_factors_ints[] = {0};
static const ln_param_entry scale_factors_default = {
    .arg_name = scale_factors_name,
    .type = LN_PARAM_ARRAY_NUMBER,
    .array_len = 1,
    .value_array_double = scale_factors_doubles,
    .value_array_float = scale_factors_floats,
    .value_array_int = scale_factors_ints,
};

static const ln_param_info scale_params[] = {
    {"axis", "", LN_PARAM_NUMBER, NULL, NULL, 0, LN_WHOLE_INT},
    {"factors", "", LN_PARAM_ARRAY_NUMBER, "[0.5]", &scale_factors_default, 0, LN_NOT_WHOLE},
    {NULL, NULL, LN_PARAM_INVALID, NULL, NULL, 0, 0},
};

struct scale_priv {
    ln_tensor_entry *src_entry;
    ln_tensor_entry *dst_entry;
    const ln_param_entry *axis_entry;
    const ln_param_entry *factors_entry;
};

static void scale_prepare(ln_op_arg *op_arg, int is_check_only)
{
    op_arg->status = LN_OK;
    if (ln_op_check_ins(op_arg, op_arg->info->ins) != LN_OK)
        return;

    ln_tensor_entry *src_entry = ln_op_in(op_arg, 0);
    if (!src_entry)
        return;
    const char *src_name = src_entry->name;
    tl_tensor *src = src_entry->tensor;

    if (ln_op_check_params(op_arg, op_arg->info->params) != LN_OK)
        return;

    const ln_param_entry *axis_entry = ln_op_param_from(op_arg, 0, 0);
    if (!axis_entry)
        return;
    int axis = axis_entry->value_int;
    ln_opck_param_int_lt(axis_entry, (src->ndim));

    const ln_param_entry *factors_entry = ln_op_param(op_arg, 1);
    if (!factors_entry)
        return;
    int factors_len = factors_entry->array_len;
    ln_opck_satisfy_msg(factors_len == 1 || factors_len == src->dims[axis], "%d factors", factors_len);

    if (is_check_only)
        return;

    if (ln_op_check_outs(op_arg, op_arg->info->outs) != LN_OK)
        return;

    int *dst_dims = src->dims;
    int dst_ndim = (int)(src->ndim);
    tl_dtype dst_dtype = src->dtype;
    ln_tensor_entry *dst_entry =
        ln_op_out(op_arg, 0, dst_ndim, dst_dims, dst_dtype, src_name);
    if (!dst_entry)
        return;

    struct scale_priv *priv = ln_op_priv(op_arg, sizeof *priv);
    if (!priv)
        return;
    priv->src_entry = src_entry;
    priv->dst_entry = dst_entry;
    priv->axis_entry = axis_entry;
    priv->factors_entry = factors_entry;
}

static void scale_check(ln_op_arg *op_arg)
{
    scale_prepare(op_arg, 1);
}

static void scale_post_run(ln_op_arg *op_arg);

static void scale_pre_run(ln_op_arg *op_arg)
{
    scale_prepare(op_arg, 0);
    if (op_arg->status != LN_OK)
        scale_post_run(op_arg);
}

static void scale_run(ln_op_arg *op_arg)
{
    struct scale_priv *priv = op_arg->priv;
    if (!priv)
        return;
    tl_tensor *src = priv->src_entry->tensor;
    tl_tensor *dst = priv->dst_entry->tensor;
    const ln_param_entry *axis_entry = priv->axis_entry;
    int axis = axis_entry->value_int;
    const ln_param_entry *factors_entry = priv->factors_entry;
    float *factors = factors_entry->value_array_float;
    int factors_len = factors_entry->array_len;
    scale(src, axis, factors, factors_len, dst);
}

static void scale_post_run(ln_op_arg *op_arg)
{
    ln_op_undo(op_arg);
}

static double scale_cost(ln_op_arg *op_arg)
{
    struct scale_priv *priv = op_arg->priv;
    if (!priv)
        return 0;
    tl_tensor *dst = priv->dst_entry->tensor;
    return (double)(dst->len);
}

static const char *scale_in_arg_names[] = {"src", NULL};
static const char *scale_out_arg_names[] = {"dst", NULL};
static const char *scale_param_arg_names[] = {"axis", "factors", NULL};
static const ln_param_type scale_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_ARRAY_NUMBER, LN_PARAM_INVALID};

static const ln_op_info scale_info = {
    .byte_count = sizeof(ln_op_info),
    .doc = "x * factor on one axis.",
    .author = "LightNet",
    .example = NULL,
    .ins = scale_ins,
    .outs = scale_outs,
    .params = scale_params,
    .check = scale_check,
    .cost = scale_cost,
    .rtol = 0,
};

static char scale_optype[] = "scale";
static char scale_arch[] = "none";
static ln_op_arg scale_op_arg = {
    .optype = scale_optype,
    .arch = scale_arch,
    .in_arg_names = scale_in_arg_names,
    .out_arg_names = scale_out_arg_names,
    .param_arg_names = scale_param_arg_names,
    .param_ptypes = scale_param_ptypes,
    .info = &scale_info,
};

extern ln_op ln_opimpl_scale;
ln_op ln_opimpl_scale = {
    .op_arg = &scale_op_arg,
    .pre_run = scale_pre_run,
    .run = scale_run,
    .post_run = scale_post_run,
};

