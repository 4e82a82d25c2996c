// SPDX-License-Identifier: Apache-2.0
// Tensors that share memory: operators compute the same bits wherever their tensors are.
//
// Each model is planned twice, as compiling does it and with every tensor on its own.

#include <stdlib.h>

#include <lightnet/ndarray.h>
#include <lightnet/op_info.h>
#include <lightnet/plan.h>

#include "compile/context_plan.h"
#include "tests/api/model.h"
#include "tests/oom.h"
#include "tests/random.h"

#define TEXT_BYTES 16384

// ---- Two plans of one model ----

// With `passes` only these are run, as ln_optimize_options says; NULL: all.
static ln_context *load_planned(const char *text, const char *target, const char *passes,
                                int is_apart)
{
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    if (is_apart) {
        CHECK_OK(ln_context_optimize_with(ctx, target, &options));
        CHECK_OK(ln_context_plan_memory(ctx, target, LN_PLAN_REUSE_DEAD));
    } else {
        CHECK_OK(ln_context_compile_with(ctx, target, &options));
    }
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

// Fills all inputs with numbers that follow from their position.
static void fill_inputs(ln_context *ctx)
{
    for (size_t k = 0; k < ln_context_input_count(ctx); k++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, k);
        const tl_tensor *t = entry->tensor;
        if (entry->isstatic)
            continue;
        void *data = calloc((size_t)t->len + 1, tl_size_of(t->dtype));
        CHECK_NOT_NULL(data);
        for (int i = 0; i < t->len; i++) {
            double x = (double)((i * 37 + 11) % 101) / 8 - 6;
            tl_convert((char *)data + (size_t)i * tl_size_of(t->dtype), t->dtype, &x, TL_DOUBLE);
        }
        CHECK_OK(ln_context_set_data(ctx, entry->name, data));
        free(data);
    }
}

static void check_same_outputs(ln_context *a, ln_context *b, const char *text)
{
    for (size_t k = 0; k < ln_context_output_count(a); k++) {
        const tl_tensor *s = ln_context_output(a, k)->tensor;
        const tl_tensor *t = ln_context_output(b, k)->tensor;
        CHECK_EQ(s->len, t->len);
        if (memcmp(s->data, t->data, tl_tensor_size(s)) != 0)
            fail_msg("output '%s' differs:\n%s", ln_context_output(a, k)->name, text);
    }
}

static size_t workspace_of(const ln_context *ctx)
{
    return ctx->mem_sizes[LN_MEM_CPU] - ctx->static_sizes[LN_MEM_CPU];
}

// Runs both twice on the same inputs, which stay as they are. Returns the context as compiled.
static ln_context *run_both_ways(const char *text, const char *target, const char *passes,
                                 size_t *out_saved)
{
    ln_context *shared = load_planned(text, target, passes, 0);
    ln_context *apart = load_planned(text, target, passes, 1);
    fill_inputs(shared);
    fill_inputs(apart);
    for (int run = 0; run < 2; run++) {
        CHECK_OK(ln_context_run(shared));
        CHECK_OK(ln_context_run(apart));
        check_same_outputs(shared, apart, text);
    }
    if (workspace_of(shared) > workspace_of(apart))
        fail_msg("sharing needs %zu bytes instead of %zu:\n%s", workspace_of(shared),
                 workspace_of(apart), text);
    if (out_saved)
        *out_saved = workspace_of(apart) - workspace_of(shared);
    close_context(apart);
    return shared;
}

static const tl_tensor *tensor_of(const ln_context *ctx, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, name);
    CHECK_NOT_NULL(entry);
    return entry->tensor;
}

// ---- Operators that write over their inputs ----

// Bytes to be overwritten, and constant ones.
#define QUANTIZED                                                                                  \
    "create(| dst=s | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[0.05]);\n"                       \
    "create(| dst=o | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[0.07]);\n"                       \
    "create(| dst=q | dtype=TL_UINT8, dims=[2, 5, 3, 7], ran=[1, 90]);\n"                          \
    "create(| dst=q7 | dtype=TL_UINT8, dims=[7], ran=[1, 90]);\n"                                  \
    "quantize(src=t, scale=s | dst=v |);\n"

// `t` is the input to be overwritten, or `v` if there is one; k, c and r are constants of its
// shape, channels and rows.
static const struct in_place_case {
    const char *optype;
    const char *statement;
    int is_any_dtype;
} in_place_cases[] = {
    {"relu", "relu(src=t | dst=y |);", 1},
    {"lrelu", "lrelu(src=t | dst=y | negslope=0.1);", 0},
    {"sigmoid", "sigmoid(src=t | dst=y |);", 0},
    {"softmax", "softmax(src=t | dst=y | axis=1);", 0},
    {"softmax", "softmax(src=t | dst=y | axis=3);", 0},
    {"batchnorm", "batchnorm(src=t, scale=c, offset=c, mean=c, var=c | dst=y | epsilon=0.1);", 0},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_MUL);", 1},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_DIV);", 0},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_SUM);", 1},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_SUB);", 1},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_MAX);", 1},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_MIN);", 1},
    {"elew", "elew(src1=t, src2=k | dst=y | elew_op=TL_POW);", 0},
    {"elew", "elew(src1=k, src2=t | dst=y | elew_op=TL_SUB);", 1},
    {"elew", "elew(src1=k, src2=t | dst=y | elew_op=TL_DIV);", 0},
    {"elew", "elew(src1=t, src2=t | dst=y | elew_op=TL_MUL);", 1},
    {"act", "act(src=t | dst=y | act=silu);", 0},
    {"func", "func(src=t | dst=y | func=sin);", 0},
    {"scale_shift", "scale_shift(src=t, scale=r, offset=r | dst=y |);", 0},
    {"groupnorm", "groupnorm(src=t, scale=c, offset=c | dst=y | groups=5);", 0},
    {"prelu", "prelu(src=t, slope=k | dst=y |);", 1},
    {"groupnorm_nhwc", "groupnorm_nhwc_cpu(src=t, scale=r, offset=r | dst=y | groups=7);", 0},
    {"layernorm", "layernorm(src=t, scale=r | dst=y |);", 0},
    {"linear",
     "create(| dst=w | dtype=TL_FLOAT, dims=[7, 7], ran=[1, 3]);\n"
     "linear(src=x, weight=w, addend=t | dst=y |);",
     0},
    {"linear_packed",
     "create(| dst=w | dtype=TL_FLOAT, dims=[7, 7], ran=[1, 3]);\n"
     "linear_pack_cpu(weight=w | dst=p |);\n"
     "linear_packed_cpu(src=x, packed=p, addend=t | dst=y | outputs=7);",
     0},
    {"conv3d_ndhwc",
     "input(| dst=volume | dtype=TL_FLOAT, dims=[1, 2, 3, 4, 2]);\n"
     "input(| dst=other | dtype=TL_FLOAT, dims=[1, 2, 3, 4, 7]);\n"
     "elew(src1=other, src2=r | dst=v | elew_op=TL_SUM);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[7, 2, 1, 1, 1], ran=[1, 3]);\n"
     "conv3d_pack_cpu(weight=w | dst=p |);\n"
     "conv3d_ndhwc_cpu(src=volume, packed=p, addend=v | dst=y | channels=7, size=[1, 1, 1]);",
     0},
    {"quant_elew",
     QUANTIZED
     "quant_elew(src1=v, scale1=s, src2=q, scale2=s, dst_scale=o | dst=y | elew_op=TL_SUM);",
     0},
    {"quant_elew",
     QUANTIZED
     "quant_elew(src1=q, scale1=s, src2=v, scale2=s, dst_scale=o | dst=y | elew_op=TL_MUL);",
     0},
    {"quant_elew",
     QUANTIZED
     "quant_elew(src1=v, scale1=s, src2=v, scale2=o, dst_scale=o | dst=y | elew_op=TL_SUB, act=clip, alpha=-1, beta=2);",
     0},
    {"quant_elew",
     QUANTIZED
     "quant_elew(src1=v, scale1=s, src2=q7, scale2=s, dst_scale=o | dst=y | elew_op=TL_SUM);",
     0},
    {"quant_act", QUANTIZED "quant_act(src=v, src_scale=s, dst_scale=o | dst=y | act=sigmoid);", 0},
    {"Reshape",
     "create(| dst=d | dtype=TL_INT64, dims=[2], ran=[0, 0], data=[-1, 7]);\n"
     "Reshape(data=t, shape=d | reshaped=y |);",
     1},
    {"Flatten", "Flatten(input=t | output=y |);", 1},
    {"Squeeze", "Squeeze(data=t | squeezed=y |);", 1},
    {"Unsqueeze",
     "create(| dst=d | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[0]);\n"
     "Unsqueeze(data=t, axes=d | expanded=y |);",
     1},
    {"Abs", "Abs(X=t | Y=y |);", 0},
    {"Neg", "Neg(X=t | Y=y |);", 0},
    {"Floor", "Floor(X=t | Y=y |);", 0},
    {"Ceil", "Ceil(X=t | Y=y |);", 0},
    {"Round", "Round(X=t | Y=y |);", 0},
    {"Sqrt", "Sqrt(X=t | Y=y |);", 0},
    {"Reciprocal", "Reciprocal(X=t | Y=y |);", 0},
    {"Relu", "Relu(X=t | Y=y |);", 0},
    {"LeakyRelu", "LeakyRelu(X=t | Y=y |);", 0},
    {"Elu", "Elu(X=t | Y=y |);", 0},
    {"Selu", "Selu(X=t | Y=y |);", 0},
    {"Celu", "Celu(X=t | Y=y |);", 0},
    {"Sigmoid", "Sigmoid(X=t | Y=y |);", 0},
    {"HardSigmoid", "HardSigmoid(X=t | Y=y |);", 0},
    {"HardSwish", "HardSwish(X=t | Y=y |);", 0},
    {"Softplus", "Softplus(X=t | Y=y |);", 0},
    {"ThresholdedRelu", "ThresholdedRelu(X=t | Y=y |);", 0},
    {"Gelu", "Gelu(X=t | Y=y |);", 0},
    {"Mish", "Mish(X=t | Y=y |);", 0},
    {"Swish", "Swish(X=t | Y=y |);", 0},
    {"Affine", "Affine(X=t | Y=y |);", 0},
    {"ParametricSoftplus", "ParametricSoftplus(X=t | Y=y |);", 0},
    {"ms_Gelu", "ms_Gelu(X=t | Y=y |);", 0},
    {"ms_QuickGelu", "ms_QuickGelu(X=t | Y=y |);", 0},
    {"Exp", "Exp(input=t | output=y |);", 0},
    {"Log", "Log(input=t | output=y |);", 0},
    {"Sin", "Sin(input=t | output=y |);", 0},
    {"Cos", "Cos(input=t | output=y |);", 0},
    {"Tan", "Tan(input=t | output=y |);", 0},
    {"Asin", "Asin(input=t | output=y |);", 0},
    {"Acos", "Acos(input=t | output=y |);", 0},
    {"Atan", "Atan(input=t | output=y |);", 0},
    {"Sinh", "Sinh(input=t | output=y |);", 0},
    {"Cosh", "Cosh(input=t | output=y |);", 0},
    {"Asinh", "Asinh(input=t | output=y |);", 0},
    {"Acosh", "Acosh(input=t | output=y |);", 0},
    {"Atanh", "Atanh(input=t | output=y |);", 0},
    {"Tanh", "Tanh(input=t | output=y |);", 0},
    {"Erf", "Erf(input=t | output=y |);", 0},
    {"Sign", "Sign(input=t | output=y |);", 0},
    {"Softsign", "Softsign(input=t | output=y |);", 0},
    {"Shrink", "Shrink(input=t | output=y |);", 0},
    {"Scale", "Scale(input=t | output=y |);", 0},
    {"ScaledTanh", "ScaledTanh(input=t | output=y |);", 0},
    {"Clip", "Clip(input=t | output=y |);", 0},
    {"ImageScaler", "ImageScaler(input=t | output=y | bias=[1, 2, 3, 4, 5]);", 0},
    {"SwiGLU", "SwiGLU(A=t, B=k | Y=y |);", 0},
    {"SwiGLU", "SwiGLU(A=k, B=t | Y=y |);", 0},
    {"Add", "Add(A=t, B=k | C=y |);", 0},
    {"Add", "Add(A=k, B=t | C=y |);", 0},
    {"Sub", "Sub(A=t, B=k | C=y |);", 0},
    {"Sub", "Sub(A=k, B=t | C=y |);", 0},
    {"Mul", "Mul(A=t, B=k | C=y |);", 0},
    {"Mul", "Mul(A=k, B=t | C=y |);", 0},
    {"Div", "Div(A=t, B=k | C=y |);", 0},
    {"Div", "Div(A=k, B=t | C=y |);", 0},
};

static void check_in_place(const struct in_place_case *c, const char *target, const char *dtype)
{
    char text[2048];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=%s, dims=[2, 5, 3, 7]);\n"
             "create(| dst=k | dtype=%s, dims=[2, 5, 3, 7], ran=[1, 3], data=[0], "
             "from_file=false);\n"
             "create(| dst=c | dtype=%s, dims=[5], ran=[1, 3], data=[0], from_file=false);\n"
             "create(| dst=r | dtype=%s, dims=[7], ran=[1, 3], data=[0], from_file=false);\n"
             "elew(src1=x, src2=k | dst=t | elew_op=TL_MAX);\n"
             "%s\n",
             dtype, dtype, dtype, dtype, c->statement);
    ln_context *ctx = run_both_ways(text, target, "expand", NULL); // not rewritten
    const char *over = ln_tensor_table_find(ctx->tensor_table, "v") ? "v" : "t";
    if (tensor_of(ctx, "y")->data != tensor_of(ctx, over)->data)
        fail_msg("%s: %s is not in place", target, c->statement);
    CHECK_STR_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->owner, over);
    close_context(ctx);
}

TEST(operators_that_may_overwrite_an_input_compute_the_same_there)
{
    static const char *const dtypes[] = {"TL_DOUBLE", "TL_INT32", "TL_UINT8", "TL_INT64"};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof in_place_cases / sizeof in_place_cases[0]; i++) {
        check_in_place(&in_place_cases[i], "cpu", "TL_FLOAT");
        check_in_place(&in_place_cases[i], "ref", "TL_FLOAT");
        for (size_t d = 0; d < 4 && in_place_cases[i].is_any_dtype; d++)
            check_in_place(&in_place_cases[i], "ref", dtypes[d]);
    }
    ln_arch_cleanup();
}

// Those that take constants only are in freeze_test.c.
static int is_static_only(const char *optype)
{
    return strncmp(optype, "bn_fold_", 8) == 0;
}

// Whether `statement` reads `t` or `v`, which its result is to be over, as operand `in`.
static int reads_as(const char *statement, const char *in)
{
    char t[LN_MAX_NAME_LEN + 4], v[LN_MAX_NAME_LEN + 4];
    int reads = 0;
    snprintf(t, sizeof t, "%s=t", in);
    snprintf(v, sizeof v, "%s=v", in);
    for (const char *at = statement; *at; at++) {
        int is_name = at == statement || at[-1] == '(' || at[-1] == ' ';
        int is_read = strncmp(at, t, strlen(t)) == 0 || strncmp(at, v, strlen(v)) == 0;
        reads = reads || (is_name && is_read && strchr(", |", at[strlen(t)]));
    }
    return reads;
}

static int has_case(const char *optype, const char *in)
{
    int has_any = 0;
    for (size_t i = 0; i < sizeof in_place_cases / sizeof in_place_cases[0]; i++)
        has_any = has_any || (strcmp(in_place_cases[i].optype, optype) == 0 &&
                              reads_as(in_place_cases[i].statement, in));
    return has_any;
}

// The type of the operator that `op` is a variant of.
static void print_base(char base[LN_MAX_NAME_LEN], const ln_op *op)
{
    const char *arch = op->op_arg->arch;
    size_t len = strlen(op->op_arg->optype), arch_len = strlen(arch);
    if (strcmp(arch, "none") != 0 && len > arch_len)
        len -= arch_len + 1;
    snprintf(base, LN_MAX_NAME_LEN, "%.*s", (int)len, op->op_arg->optype);
}

TEST(every_operand_that_may_be_overwritten_has_a_case_here)
{
    CHECK_OK(ln_arch_init());
    int count = 0, missing_count = 0;
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_place_info *place = op->op_arg->info ? op->op_arg->info->places : NULL;
        char base[LN_MAX_NAME_LEN];
        print_base(base, op);
        for (; place && place->out; place++) {
            if (place->kind != LN_PLACE_OVER || is_static_only(base))
                continue;
            count++;
            if (has_case(base, place->in))
                continue;
            printf("%s may overwrite '%s', but has no case\n", op->op_arg->optype, place->in);
            missing_count++;
        }
    }
    CHECK_EQ(missing_count, 0);
    CHECK(count >= 7);
    ln_arch_cleanup();
}

// ---- One tensor on two operands ----

// What may be overwritten is read elsewhere too, under its name or another. `y` is not over `t`.
static const struct two_operands {
    const char *why;
    const char *text;
    const char *target;
} two_operands[] = {
    {"a convolution of volumes and its addend",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 5, 6, 7, 4]);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3, 3], ran=[-1, 1]);\n"
     "conv3d_pack_cpu(weight=w | dst=p |);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "conv3d_ndhwc_cpu(src=t, packed=p, addend=t | dst=y | channels=4, size=[3, 3, 3], "
     "padding=[1, 1, 1, 1, 1, 1], act=relu);",
     "cpu"},
    {"the same under another name",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 5, 6, 7, 4]);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3, 3], ran=[-1, 1]);\n"
     "conv3d_pack_cpu(weight=w | dst=p |);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "reshape(src=t | dst=r | dims=[1, 5, 6, 7, 4]);\n"
     "conv3d_ndhwc_cpu(src=r, packed=p, addend=t | dst=y | channels=4, size=[3, 3, 3], "
     "padding=[1, 1, 1, 1, 1, 1], act=relu);",
     "cpu"},
    {"a convolution of planes and its addend",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 9, 7, 4]);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3], ran=[-1, 1]);\n"
     "conv2d_pack_cpu(weight=w | dst=p |);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "conv2d_nhwc_cpu(src=t, packed=p, addend=t | dst=y | channels=4, size=[3, 3], "
     "padding=[1, 1, 1, 1], act=relu);",
     "cpu"},
    {"a convolution of planes and a view of its addend",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 9, 7, 4]);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3], ran=[-1, 1]);\n"
     "conv2d_pack_cpu(weight=w | dst=p |);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "reshape(src=t | dst=r | dims=[1, 9, 7, 4]);\n"
     "conv2d_nhwc_cpu(src=t, packed=p, addend=r | dst=y | channels=4, size=[3, 3], "
     "padding=[1, 1, 1, 1], act=relu);",
     "cpu"},
    {"a product and its addend",
     "input(| dst=x | dtype=TL_FLOAT, dims=[9, 130]);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[130, 130], ran=[-1, 1]);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "linear(src=t, weight=w, addend=t | dst=y |);",
     "ref"},
    {"a product of packed weights and its addend",
     "input(| dst=x | dtype=TL_FLOAT, dims=[9, 130]);\n"
     "create(| dst=w | dtype=TL_FLOAT, dims=[130, 130], ran=[-1, 1]);\n"
     "linear_pack_cpu(weight=w | dst=p |);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "linear_packed_cpu(src=t, packed=p, addend=t | dst=y | outputs=130);",
     "cpu"},
    {"rows and their own scales",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 7]);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "layernorm(src=t, scale=t, bias=t | dst=y |);",
     "ref"},
    {"negative numbers and their own slopes",
     "input(| dst=x | dtype=TL_FLOAT, dims=[5, 7]);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "prelu(src=t, slope=t | dst=y |);",
     "cpu"},
    {"some channels of what is read",
     "input(| dst=x | dtype=TL_FLOAT, dims=[5, 8]);\n"
     "create(| dst=k | dtype=TL_FLOAT, dims=[4], ran=[1, 3]);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "scale_shift(src=t, scale=k, offset=k | dst=y | src_first=2);",
     "ref"},
    {"a row for all",
     "input(| dst=x | dtype=TL_FLOAT, dims=[1, 7]);\n"
     "input(| dst=z | dtype=TL_FLOAT, dims=[5, 7]);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "elew(src1=t, src2=z | dst=y | elew_op=TL_SUM);",
     "cpu"},
    {"a third operand of a sum",
     "input(| dst=x | dtype=TL_FLOAT, dims=[5, 7]);\n"
     "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
     "elew(src1=t, src2=x, src3=t | dst=y | elew_op=TL_SUM);",
     "ref"},
};

TEST(what_is_read_elsewhere_too_is_not_overwritten)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof two_operands / sizeof two_operands[0]; i++) {
        const struct two_operands *c = &two_operands[i];
        ln_context *ctx = run_both_ways(c->text, c->target, "expand", NULL);
        if (tensor_of(ctx, "y")->data == tensor_of(ctx, "t")->data)
            fail_msg("%s: 'y' is in place", c->why);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

enum { R_C = 3, R_D = 3, R_H = 4, R_W = 5, R_LEN = R_C * R_D * R_H * R_W };

// Small whole numbers, so that sums are exact in every order.
static int residual_at(const int *x, int c, int d, int h, int w)
{
    if (d < 0 || d >= R_D || h < 0 || h >= R_H || w < 0 || w >= R_W)
        return 0;
    return x[((c * R_D + d) * R_H + h) * R_W + w];
}

static int convolve_at(const int *x, const int *weight, int o, int d, int h, int w)
{
    int sum = 0;
    for (int c = 0; c < R_C; c++)
        for (int k = 0; k < 27; k++)
            sum += weight[(o * R_C + c) * 27 + k] *
                   residual_at(x, c, d + k / 9 - 1, h + k / 3 % 3 - 1, w + k % 3 - 1);
    return sum;
}

TEST(a_residual_block_of_volumes_is_right_to_the_number)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        load_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 3, 4, 5]);\n"
                  "create(| dst=w | dtype=TL_FLOAT, dims=[3, 3, 3, 3, 3], ran=[0, 1]);\n"
                  "conv(src=x, weight=w | dst=c | padding=[1, 1, 1, 1, 1, 1]);\n"
                  "elew(src1=c, src2=x | dst=s | elew_op=TL_SUM);\n"
                  "relu(src=s | dst=y |);\n",
                  "cpu");
    int x[R_LEN], weight[R_C * R_C * 27];
    float xs[R_LEN], weights[R_C * R_C * 27], y[R_LEN];
    for (int i = 0; i < R_LEN; i++)
        xs[i] = (float)(x[i] = i * 37 % 11 - 5);
    for (int i = 0; i < R_C * R_C * 27; i++)
        weights[i] = (float)(weight[i] = i * 29 % 7 - 3);
    CHECK_OK(ln_context_set_data(ctx, "x", xs));
    CHECK_OK(ln_context_set_data(ctx, "w", weights));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    for (int i = 0; i < R_LEN; i++) {
        int sum = x[i] + convolve_at(x, weight, i / (R_D * R_H * R_W), i / (R_H * R_W) % R_D,
                                     i / R_W % R_H, i % R_W);
        if (y[i] != (float)(sum > 0 ? sum : 0))
            fail_msg("element %d is %g instead of %d", i, (double)y[i], sum > 0 ? sum : 0);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Parts and wholes ----

typedef struct shape_case {
    const char *why;
    const char *text;
    const char *inner; // is in ...
    const char *outer; // ... this one's memory; NULL: it is apart
} shape_case;

#define X "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 3, 5]);\n"
#define A "elew(src1=x, src2=x | dst=a | elew_op=TL_SUM);\n"
#define B "elew(src1=x, src2=x | dst=b | elew_op=TL_MUL);\n"

static const shape_case shape_cases[] = {
    {"a part", X A B "concat(src1=a, src2=b | dst=c | axis=1);\n", "b", "c"},
    {"a part of several rows", X A B "concat(src1=a, src2=b | dst=c | axis=2);\n", "b", NULL},
    {"a part beside an input", X A "concat(src1=x, src2=a | dst=c | axis=1);\n", "a", "c"},
    {"an input", X A "concat(src1=x, src2=a | dst=c | axis=1);\n", "x", NULL},
    {"twice the same", X A "concat(src1=a, src2=a | dst=c | axis=1);\n", "a", "c"},
    {"a part of a part",
     X A B "concat(src1=a, src2=b | dst=c | axis=1);\n"
           "softmax(src=c | dst=r | axis=1);\n"
           "concat(src1=c, src2=r | dst=d | axis=1);\n",
     "a", "d"},
    {"another shape of a part",
     X A B "reshape(src=a | dst=f | dims=[1, 60]);\n"
           "reshape(src=b | dst=g | dims=[1, 60]);\n"
           "concat(src1=f, src2=g | dst=c | axis=1);\n",
     "b", "c"},
    {"an element-wise chain into a part",
     X A B "softmax(src=a | dst=r | axis=1);\n"
           "concat(src1=r, src2=b | dst=c | axis=1);\n",
     "a", "c"},
    {"two wholes",
     X A B "concat(src1=a, src2=b | dst=c | axis=1);\n"
           "concat(src1=b, src2=a | dst=d | axis=1);\n",
     "a", "d"},
    {"a whole of constants",
     X "create(| dst=k | dtype=TL_FLOAT, dims=[2], ran=[1, 2], data=[0], from_file=false);\n"
       "concat(src1=k, src2=k | dst=c | axis=0);\n",
     "k", NULL},
    {"a stack", X A B "gather(src1=a, src2=b | dst=c |);\n", "b", "c"},
    {"its parts again",
     X A B "gather(src1=a, src2=b | dst=c |);\n"
           "softmax(src=c | dst=r | axis=1);\n"
           "scatter(src=r | dst1=p, dst2=q |);\n",
     "q", "c"},
    {"a slice", X A "slice(src=a | dst=s | axis=1, start=1, len=3);\n", "s", "a"},
    {"a slice of an input", X "slice(src=x | dst=s | axis=1, start=1, len=3);\n", "s", "x"},
    {"a slice of several rows", X A "slice(src=a | dst=s | axis=2, start=1, len=2);\n", "s", NULL},
    {"two halves, of which one is overwritten",
     X A "slice(src=a | dst=s | axis=1, start=0, len=2);\n"
         "slice(src=a | dst=t | axis=1, start=2, len=2);\n"
         "softmax(src=s | dst=r | axis=1);\n"
         "concat(src1=t, src2=r | dst=c | axis=1);\n",
     "s", "a"},
    {"axes of one element change places",
     X A "slice(src=a | dst=s | axis=1, start=0, len=1);\n"
         "transpose(src=s | dst=t | axes=[1, 0, 2, 3]);\n",
     "t", "a"},
    {"axes of several", X A "transpose(src=a | dst=t | axes=[0, 2, 1, 3]);\n", "t", NULL},
    {"an empty part",
     X A "slice(src=x | dst=s | axis=1, start=0, len=0);\n"
         "concat(src1=s, src2=a | dst=c | axis=1);\n",
     "a", "c"},
};

static int is_in(const ln_context *ctx, const char *inner, const char *outer)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, inner);
    while (entry && entry->owner && strcmp(entry->name, outer) != 0)
        entry = ln_tensor_table_find(ctx->tensor_table, entry->owner);
    return entry && strcmp(entry->name, outer) == 0;
}

TEST(parts_lie_in_wholes_where_they_are_rows)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof shape_cases / sizeof shape_cases[0]; i++) {
        const shape_case *c = &shape_cases[i];
        ln_context *ctx = run_both_ways(c->text, "cpu", NULL, NULL);
        const ln_tensor_entry *inner = ln_tensor_table_find(ctx->tensor_table, c->inner);
        if (c->outer ? !is_in(ctx, c->inner, c->outer) : inner->owner != NULL)
            fail_msg("%s: '%s' is in '%s'", c->why, c->inner,
                     inner->owner ? inner->owner : "nothing");
        close_context(run_both_ways(c->text, "ref", NULL, NULL));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Random models ----

typedef struct builder {
    char text[TEXT_BYTES];
    test_random source;
    int channels[64]; // of tensor t<i>, [1, channels, 3, 4]
    int count;
} builder;

static int any(builder *b, int n)
{
    return (int)test_random_below(&b->source, (uint64_t)n);
}

static int pick(builder *b)
{
    return any(b, 3) && b->count > 4 ? b->count - 1 - any(b, 4) : any(b, b->count);
}

static int pick_like(builder *b, int t)
{
    int i = pick(b);
    while (b->channels[i] != b->channels[t])
        i = (i + 1) % b->count;
    return i;
}

static void add_statement(builder *b)
{
    char *end = b->text + strlen(b->text);
    size_t room = (size_t)(b->text + sizeof b->text - end);
    int t = pick(b), n = b->count, c = b->channels[t], len = 1 + any(b, c), u = pick(b);
    b->channels[n] = c;
    switch (any(b, 11)) {
    case 0: snprintf(end, room, "relu(src=t%d | dst=t%d |);\n", t, n); break;
    case 1:
        snprintf(end, room, "elew(src1=t%d, src2=t%d | dst=t%d | elew_op=TL_SUB);\n", t,
                 pick_like(b, t), n);
        break;
    case 2:
    case 3:
        if (c + b->channels[u] > 40)
            return;
        snprintf(end, room, "concat(src1=t%d, src2=t%d | dst=t%d | axis=1);\n", t, u, n);
        b->channels[n] = c + b->channels[u];
        break;
    case 4:
        snprintf(end, room, "slice(src=t%d | dst=t%d | axis=1, start=%d, len=%d);\n", t, n, c - len,
                 len);
        b->channels[n] = len;
        break;
    case 5:
        snprintf(end, room, "reshape(src=t%d | dst=t%d | dims=[1, %d, 3, 4]);\n", t, n, c);
        break;
    case 6:
        snprintf(end, room,
                 "maxpool2d(src=t%d | dst=t%d | size=[3, 3], stride=[1, 1], padding=[1, 1, 1, 1], "
                 "autopad=NOTSET);\n",
                 t, n);
        break;
    case 7: // what is added is often what is multiplied
        snprintf(end, room, "linear(src=t%d, weight=w, addend=t%d | dst=t%d | act=relu);\n", t,
                 any(b, 2) ? t : pick_like(b, t), n);
        break;
    case 8:
        snprintf(end, room, "prelu(src=t%d, slope=t%d | dst=t%d |);\n", t, pick_like(b, t), n);
        break;
    case 9: {
        int v = pick_like(b, t), w = any(b, 2) ? t : pick_like(b, t);
        snprintf(end, room, "elew(src1=t%d, src2=t%d, src3=t%d | dst=t%d | elew_op=TL_MEAN);\n", t,
                 v, w, n);
        break;
    }
    default: snprintf(end, room, "softmax(src=t%d | dst=t%d | axis=1);\n", t, n);
    }
    b->count++;
}

TEST(random_models_compute_the_same_with_less_memory)
{
    enum { MODELS = 300 };
    static builder b;
    size_t saved_count = 0;
    CHECK_OK(ln_arch_init());
    b.source = test_random_start();
    for (int m = 0; m < MODELS; m++) {
        snprintf(b.text, sizeof b.text,
                 "input(| dst=t0 | dtype=TL_FLOAT, dims=[1, 6, 3, 4]);\n"
                 "input(| dst=t1 | dtype=TL_FLOAT, dims=[1, 3, 3, 4]);\n"
                 "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4], ran=[-1, 1]);\n");
        b.channels[0] = 6;
        b.channels[1] = 3;
        b.count = 2;
        int wanted = 4 + any(&b, 36);
        while (b.count < wanted)
            add_statement(&b);
        size_t saved;
        close_context(run_both_ways(b.text, any(&b, 2) ? "cpu" : "ref", NULL, &saved));
        saved_count += saved > 0;
    }
    print_message("%zu of %d models need less memory\n", saved_count, MODELS);
    CHECK(saved_count > MODELS / 2);
    ln_arch_cleanup();
}

// Outputs that are named early are there at the end, whatever is computed after them; one tensor
// may be several.
TEST(outputs_stay_until_the_end)
{
    CHECK_OK(ln_arch_init());
    static const char *const targets[] = {"ref", "cpu"};
    for (size_t k = 0; k < 2; k++) {
        ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 32]);\n"
                                    "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM, act=lrelu);\n"
                                    "output(src=t | |);\n"
                                    "output(src=t | |);\n"
                                    "act(src=t | dst=n | act=neg);\n"
                                    "elew(src1=n, src2=x | dst=m | elew_op=TL_MUL, act=lrelu);\n"
                                    "softmax(src=m | dst=s | axis=1);\n"
                                    "softmax(src=s | dst=y | axis=1);\n"
                                    "output(src=y | |);\n"
                                    "output(src=x | |);\n",
                                    targets[k]);
        fill_inputs(ctx);
        for (int run = 0; run < 2; run++) {
            float x[32], t[32];
            CHECK_OK(ln_context_run(ctx));
            CHECK_NOT_NULL(ln_context_get_data(ctx, "x", x));
            CHECK_NOT_NULL(ln_context_get_data(ctx, "t", t));
            for (int i = 0; i < 32; i++) {
                CHECK(x[i] == (float)((i * 37 + 11) % 101) / 8 - 6);
                CHECK(t[i] == (x[i] < 0 ? 0 : 2 * x[i]));
            }
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Planned contexts ----

// The sum has an activation, so that it takes up no other.
#define CHAIN                                                                                      \
    X "elew(src1=x, src2=x | dst=a | elew_op=TL_SUM, act=lrelu, alpha=1);\n"                       \
      "lrelu(src=a | dst=l | negslope=0.5);\n"                                                     \
      "slice(src=l | dst=s | axis=1, start=1, len=2);\n"                                           \
      "slice(src=x | dst=rows | axis=2, start=0, len=1);\n"

TEST(parameters_change_where_no_view_moves)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(CHAIN, "cpu");
    const ln_tensor_entry *s = ln_tensor_table_find(ctx->tensor_table, "s");
    CHECK_STR_EQ(s->owner, "l");
    CHECK_OK(ln_context_set_param(ctx, "lrelu0", "negslope", 0.25));
    CHECK_OK(ln_context_set_param(ctx, "slice1", "start", 2.0)); // a copy
    CHECK_FAILS(ln_context_set_param(ctx, "slice0", "start", 2.0), LN_STATE);
    CHECK_MESSAGE("'slice0'");
    fill_inputs(ctx);
    CHECK_OK(ln_context_run(ctx));
    float x[60], rows[20], part[30];
    CHECK_NOT_NULL(ln_context_get_data(ctx, "x", x));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "rows", rows));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "s", part));
    for (int i = 0; i < 20; i++)
        CHECK(rows[i] == x[i / 5 * 15 + 10 + i % 5]);
    for (int i = 0; i < 30; i++)
        CHECK(part[i] == (x[15 + i] < 0 ? 0.25f : 1) * 2 * x[15 + i]);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(clones_know_which_owners_are_the_plans)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(CHAIN, "cpu"), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_STR_EQ(ln_tensor_table_find(clone->tensor_table, "l")->owner, "a");
    CHECK_OK(ln_context_set_param(clone, "lrelu0", "negslope", 0.25));
    CHECK_FAILS(ln_context_set_param(clone, "slice0", "start", 2.0), LN_STATE);
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

// A slice that the plan has made a view moves with the input.
TEST(bound_inputs_take_their_views_along)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 32]);\n"
                                "slice(src=x | dst=s | axis=1, start=16, len=16);\n"
                                "elew(src1=s, src2=s | dst=y | elew_op=TL_SUM);\n",
                                "cpu");
    ln_ndarray *array;
    int is_bound;
    CHECK_STR_EQ(ln_tensor_table_find(ctx->tensor_table, "s")->owner, "x");
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){1, 32}, (DLDataType){kDLFloat, 32, 1}, &array));
    CHECK_OK(ln_ndarray_fill(array, 3));
    CHECK_OK(ln_context_bind_array(ctx, "x", array, &is_bound));
    CHECK_EQ(is_bound, 1);
    CHECK_OK(ln_context_run(ctx));
    float y[16];
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    for (int i = 0; i < 16; i++)
        CHECK(y[i] == 6);
    CHECK_PTR_EQ(ln_context_get_data(ctx, "s", NULL), (const float *)ln_ndarray_data(array) + 16);
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(compiling_with_sharing_survives_every_failed_allocation)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? ln_context_init_mem(ctx, CHAIN, strlen(CHAIN), "model.net") : LN_NO_MEMORY;
        if (status == LN_OK)
            status = ln_context_compile(ctx, "ref");
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(operators_that_may_overwrite_an_input_compute_the_same_there,
          every_operand_that_may_be_overwritten_has_a_case_here,
          what_is_read_elsewhere_too_is_not_overwritten,
          a_residual_block_of_volumes_is_right_to_the_number,
          parts_lie_in_wholes_where_they_are_rows, random_models_compute_the_same_with_less_memory,
          outputs_stay_until_the_end, parameters_change_where_no_view_moves,
          clones_know_which_owners_are_the_plans, bound_inputs_take_their_views_along,
          compiling_with_sharing_survives_every_failed_allocation)
