// SPDX-License-Identifier: Apache-2.0
// The examples of the registered operators as models.
//
// An example is one statement. Its sources come from a table below, by their names; an operator of
// an arch gets sources of an arch in main memory, an abstract one abstract sources.

#ifndef LN_TESTS_API_OP_EXAMPLES_H
#define LN_TESTS_API_OP_EXAMPLES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "op_prose.h"
#include "tests/api/model.h"

#define MODEL_BYTES 8192

// ---- Sources ----

typedef struct source {
    const char *optype; // for examples of this operator and its variants; NULL: for all others
    const char *name;
    const char *maker; // "create": static, random from 1 to 2; "input": zeros until it is set
    const char *dtype;
    const char *dims;
} source;

// The first that fits is taken.
static const source sources[] = {
    {"concat", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"concat", "b", "input", "TL_FLOAT", "[2, 1]"},
    {"deconv2d", "w", "create", "TL_FLOAT", "[3, 3, 2, 2]"},
    {"rearange", "x", "input", "TL_FLOAT", "[5]"},
    {"attention", "k", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"attention", "q", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"attention", "v", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"conv3d_pack", "w", "create", "TL_FLOAT", "[3, 2, 2, 3, 3]"},
    {"conv3d_ndhwc", "x", "input", "TL_FLOAT", "[1, 2, 3, 4, 2]"},
    {"conv3d_ndhwc", "b", "create", "TL_FLOAT", "[16]"},
    {"conv3d_ndhwc", "p", "create", "TL_FLOAT", "[64]"}, // 1x1x2 taps of 2 channels for 16
    {"conv2d_nhwc", "b", "create", "TL_FLOAT", "[16]"},
    {"conv2d_nhwc", "p", "create", "TL_FLOAT", "[288]"}, // 3x3 taps of 2 channels for 16
    {"conv2d_maxpool_nhwc", "p", "create", "TL_FLOAT", "[288]"},
    {"deconv2d_nhwc", "b", "create", "TL_FLOAT", "[16]"},
    {"deconv2d_nhwc", "p", "create", "TL_FLOAT", "[128]"}, // 2x2 taps of 2 channels for 16
    {"groupnorm_nhwc", "o", "create", "TL_FLOAT", "[2]"},
    {"groupnorm_nhwc", "s", "create", "TL_FLOAT", "[2]"},
    {"prelu", "s", "create", "TL_FLOAT", "[1]"},
    {"interleave", "a", "input", "TL_FLOAT", "[1, 2, 3, 4]"},
    {"interleave", "b", "input", "TL_FLOAT", "[1, 2, 3, 4]"},
    {"linear", "b", "create", "TL_FLOAT", "[10]"},
    {"linear_pack", "w", "create", "TL_FLOAT", "[10, 3]"},
    {"linear_packed", "p", "create", "TL_FLOAT",
     "[32]"}, // 2 rows for 16 columns, of which 10 count
    {"linear", "w", "create", "TL_FLOAT", "[2, 10]"},
    {"put_channels", "v", "input", "TL_FLOAT", "[1, 3, 2, 5]"},
    {"separable_nhwc", "d", "create", "TL_FLOAT", "[18]"}, // 3x3 taps of 2 channels
    {"separable_nhwc", "p", "create", "TL_FLOAT", "[32]"}, // for 16
    {"layernorm", "b", "create", "TL_FLOAT", "[2]"},
    {"layernorm", "s", "create", "TL_FLOAT", "[2]"},
    {"scale_shift", "o", "create", "TL_FLOAT", "[2]"},
    {"scale_shift", "s", "create", "TL_FLOAT", "[2]"},
    {"scatter", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"expand", "s", "create", "TL_INT64", "[1]"},
    {"take", "i", "create", "TL_INT64", "[2]"},
    {"CausalConvWithState", "w", "create", "TL_FLOAT", "[3, 1, 2]"},
    {"CausalConvWithState", "x", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"DeformConv", "d", "input", "TL_FLOAT", "[1, 18, 2, 2]"},
    {"MaxUnpool", "i", "input", "TL_INT64", "[1, 3, 2, 2]"},
    {"matmul", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"matmul", "b", "create", "TL_FLOAT", "[2, 3]"},
    {"MatMul", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"MatMul", "b", "create", "TL_FLOAT", "[3, 2]"},
    {"ms_FusedMatMul", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"ms_FusedMatMul", "b", "create", "TL_FLOAT", "[2, 3]"},
    {"ms_TransposeMatMul", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"ms_TransposeMatMul", "b", "create", "TL_FLOAT", "[2, 3]"},
    {"Gemm", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"Gemm", "b", "create", "TL_FLOAT", "[2, 3]"},
    {"Gemm", "c", "create", "TL_FLOAT", "[2]"},
    {"ms_FusedGemm", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"ms_FusedGemm", "b", "create", "TL_FLOAT", "[3, 2]"},
    {"ms_FusedGemm", "c", "create", "TL_FLOAT", "[2]"},
    {"einsum", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"einsum", "b", "create", "TL_FLOAT", "[3, 2]"},
    {"CumProd", "axis", "create", "TL_INT64", "[]"},
    {"CumSum", "axis", "create", "TL_INT64", "[]"},
    {"cumsum", "axis", "create", "TL_INT64", "[]"},
    {"Multinomial", "odds", "input", "TL_FLOAT", "[2, 3]"},
    {"NegativeLogLikelihoodLoss", "target", "create", "TL_INT64", "[1, 2, 2]"},
    {"SoftmaxCrossEntropyLoss", "target", "create", "TL_INT64", "[1, 2, 2]"},
    {"attention_mask", "i", "create", "TL_INT32", "[2]"},
    {"ms_EmbedLayerNormalization", "beta", "create", "TL_FLOAT", "[4]"},
    {"ms_EmbedLayerNormalization", "gamma", "create", "TL_FLOAT", "[4]"},
    {"ms_EmbedLayerNormalization", "ids", "create", "TL_INT32", "[2, 3]"},
    {"ms_EmbedLayerNormalization", "positions", "create", "TL_FLOAT", "[3, 4]"},
    {"ms_EmbedLayerNormalization", "words", "create", "TL_FLOAT", "[5, 4]"},
    {"ms_SkipLayerNormalization", "gamma", "create", "TL_FLOAT", "[2]"},
    {"ms_SkipSimplifiedLayerNormalization", "gamma", "create", "TL_FLOAT", "[2]"},
    {"training_Adagrad", "rate", "create", "TL_FLOAT", "[]"},
    {"training_Adagrad", "step", "create", "TL_INT64", "[]"},
    {"training_Adam", "rate", "create", "TL_FLOAT", "[]"},
    {"training_Adam", "step", "create", "TL_INT64", "[]"},
    {"training_Momentum", "rate", "create", "TL_FLOAT", "[]"},
    {"training_Momentum", "step", "create", "TL_INT64", "[]"},
    {"Attention", "q", "input", "TL_FLOAT", "[1, 2, 3, 4]"},
    {"Attention", "k", "input", "TL_FLOAT", "[1, 2, 3, 4]"},
    {"Attention", "v", "input", "TL_FLOAT", "[1, 2, 3, 4]"},
    {"CastLike", "t", "create", "TL_DOUBLE", "[2]"},
    {"ConvInteger", "w", "create", "TL_UINT8", "[3, 3, 3, 3]"},
    {"ConvInteger", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ConvInteger", "z", "create", "TL_UINT8", "[]"},
    {"DequantizeLinear", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"GRU", "r", "create", "TL_FLOAT", "[1, 12, 4]"},
    {"GRU", "w", "create", "TL_FLOAT", "[1, 12, 3]"},
    {"GRU", "x", "input", "TL_FLOAT", "[2, 1, 3]"},
    {"LSTM", "r", "create", "TL_FLOAT", "[1, 16, 4]"},
    {"LSTM", "w", "create", "TL_FLOAT", "[1, 16, 3]"},
    {"LSTM", "x", "input", "TL_FLOAT", "[2, 1, 3]"},
    {"rnn", "r", "create", "TL_FLOAT", "[1, 16, 4]"},
    {"rnn", "w", "create", "TL_FLOAT", "[1, 16, 3]"},
    {"rnn", "x", "input", "TL_FLOAT", "[2, 1, 3]"},
    {"RNN", "r", "create", "TL_FLOAT", "[1, 4, 4]"},
    {"RNN", "w", "create", "TL_FLOAT", "[1, 4, 3]"},
    {"RNN", "x", "input", "TL_FLOAT", "[2, 1, 3]"},
    {"MatMulInteger", "a", "input", "TL_UINT8", "[2, 3]"},
    {"MatMulInteger", "b", "create", "TL_UINT8", "[3, 2]"},
    {"QLinearMatMul", "a", "input", "TL_UINT8", "[2, 3]"},
    {"QLinearMatMul", "b", "create", "TL_UINT8", "[3, 2]"},
    {"ms_MatMulIntegerToFloat", "a", "input", "TL_UINT8", "[2, 3]"},
    {"ms_MatMulIntegerToFloat", "b", "create", "TL_UINT8", "[3, 2]"},
    {"MatMulInteger", "z", "create", "TL_UINT8", "[]"},
    {"ms_QGemm", "a", "input", "TL_UINT8", "[2, 3]"},
    {"ms_QGemm", "b", "create", "TL_UINT8", "[2, 3]"},
    {"dequantize", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"quant_conv_pack", "w", "create", "TL_INT8", "[3, 3, 3, 3]"},
    {"quant_conv_depthwise_nhwc", "x", "input", "TL_UINT8", "[1, 5, 5, 3]"},
    {"quant_conv_depthwise_nhwc", "p", "create", "TL_INT8", "[128]"}, // a tap of 3 channels for 16
    {"quant_conv_depthwise_nhwc", "t", "create", "TL_INT8", "[256]"}, // 3x3 taps of 16
    {"quant_conv_depthwise_nhwc", "s", "create", "TL_FLOAT", "[]"},
    {"quant_conv_maxpool_nhwc", "x", "input", "TL_UINT8", "[1, 5, 5, 3]"},
    {"quant_conv_maxpool_nhwc", "p", "create", "TL_INT8", "[524]"},
    {"quant_conv_maxpool_nhwc", "s", "create", "TL_FLOAT", "[]"},
    {"quant_mean_nhwc", "x", "input", "TL_UINT8", "[1, 5, 5, 3]"},
    {"quant_mean_nhwc", "s", "create", "TL_FLOAT", "[]"},
    {"quant_mean_nhwc", "z", "create", "TL_UINT8", "[]"},
    {"quant_conv_nhwc", "x", "input", "TL_UINT8", "[1, 5, 5, 3]"},
    {"quant_conv_nhwc", "p", "create", "TL_INT8", "[524]"},
    {"quant_conv", "w", "create", "TL_INT8", "[3, 3, 3, 3]"},
    {"quant_conv", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"quant_conv", "z", "create", "TL_UINT8", "[]"},
    {"quant_pack", "w", "create", "TL_INT8", "[3, 2]"},
    {"quant_matmul_packed", "x", "input", "TL_UINT8", "[2, 3]"},
    {"quant_matmul_packed", "p", "create", "TL_INT8", "[128]"},
    {"quant_matmul", "w", "create", "TL_INT8", "[3, 2]"},
    {"quant_matmul", "x", "input", "TL_UINT8", "[2, 3]"},
    {"quant_matmul", "z", "create", "TL_UINT8", "[]"},
    {"quant_elew", "a", "input", "TL_UINT8", "[2, 3]"},
    {"quant_elew", "b", "create", "TL_UINT8", "[2, 3]"},
    {"quant_act", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"rescale", "x", "input", "TL_INT32", "[1, 3, 2, 2]"},
    {"rescale", "m", "create", "TL_INT32", "[3]"},
    {"rescale", "s", "create", "TL_INT32", "[3]"},
    {"rescale", "z", "create", "TL_INT8", "[]"},
    {"QLinearConv", "w", "create", "TL_UINT8", "[3, 3, 3, 3]"},
    {"QLinearConv", "x", "input", "TL_UINT8", "[1, 3, 4, 4]"},
    {"ms_DequantizeLinear", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_DynamicQuantizeMatMul", "a", "input", "TL_FLOAT", "[2, 3]"},
    {"ms_DynamicQuantizeMatMul", "b", "create", "TL_UINT8", "[3, 2]"},
    {"ms_DynamicQuantizeMatMul", "s", "create", "TL_FLOAT", "[2]"},
    {"ms_MatMulNBits", "a", "input", "TL_FLOAT", "[2, 64]"},
    {"ms_MatMulNBits", "b", "create", "TL_UINT8", "[8, 2, 16]"},
    {"ms_MatMulNBits", "s", "create", "TL_FLOAT", "[8, 2]"},
    {"ms_MultiHeadAttention", "q", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"ms_MultiHeadAttention", "k", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"ms_MultiHeadAttention", "v", "input", "TL_FLOAT", "[1, 3, 4]"},
    {"ms_QLinearAdd", "a", "input", "TL_UINT8", "[2, 3]"},
    {"ms_QLinearAdd", "b", "create", "TL_UINT8", "[2, 3]"},
    {"ms_QLinearMul", "a", "input", "TL_UINT8", "[2, 3]"},
    {"ms_QLinearMul", "b", "create", "TL_UINT8", "[2, 3]"},
    {"ms_QLinearConcat", "a", "input", "TL_UINT8", "[2, 3]"},
    {"ms_QLinearAveragePool", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearGlobalAveragePool", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearLeakyRelu", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearSigmoid", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearSoftmax", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearWhere", "x", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearWhere", "y", "input", "TL_UINT8", "[1, 3, 2, 2]"},
    {"ms_QLinearWhere", "c", "input", "TL_BOOL", "[1, 3, 2, 2]"},
    {NULL, "a", "input", "TL_FLOAT", "[3]"},
    {NULL, "anchor", "create", "TL_FLOAT", "[1, 1, 1, 2, 4]"},
    {NULL, "b", "create", "TL_FLOAT", "[3]"},
    {NULL, "bits", "input", "TL_UINT8", "[4]"},
    {NULL, "cond", "input", "TL_BOOL", "[1, 3, 2, 2]"},
    {NULL, "delta", "input", "TL_FLOAT", "[1, 1, 1, 2, 4]"},
    {NULL, "index", "input", "TL_INT32", "[4]"},
    {NULL, "keys", "input", "TL_FLOAT", "[4]"},
    {NULL, "m", "create", "TL_FLOAT", "[3]"},
    {NULL, "map", "input", "TL_FLOAT", "[1, 14, 2, 3]"},
    {NULL, "o", "create", "TL_FLOAT", "[3]"},
    {NULL, "picture", "input", "TL_UINT8", "[2, 2, 3]"},
    {NULL, "s", "create", "TL_FLOAT", "[3]"},
    {NULL, "sizes", "create", "TL_FLOAT", "[2, 2]"},
    {NULL, "v", "create", "TL_FLOAT", "[3]"},
    {NULL, "w", "create", "TL_FLOAT", "[3, 3, 3, 3]"},
    {NULL, "as", "create", "TL_FLOAT", "[]"},
    {NULL, "az", "create", "TL_UINT8", "[]"},
    {NULL, "bs", "create", "TL_FLOAT", "[]"},
    {NULL, "bz", "create", "TL_UINT8", "[]"},
    {NULL, "cs", "create", "TL_FLOAT", "[]"},
    {NULL, "cz", "create", "TL_UINT8", "[]"},
    {NULL, "ws", "create", "TL_FLOAT", "[]"},
    {NULL, "wz", "create", "TL_UINT8", "[]"},
    {NULL, "xs", "create", "TL_FLOAT", "[]"},
    {NULL, "xz", "create", "TL_UINT8", "[]"},
    {NULL, "ys", "create", "TL_FLOAT", "[]"},
    {NULL, "yz", "create", "TL_UINT8", "[]"},
    {NULL, "zs", "create", "TL_FLOAT", "[]"},
    {NULL, "zz", "create", "TL_UINT8", "[]"},
    {NULL, "z", "create", "TL_UINT8", "[3]"},
    {NULL, "x", "input", "TL_FLOAT", "[1, 3, 2, 2]"},
};

static inline int is_abstract(const ln_op *op)
{
    return strcmp(op->op_arg->arch, "none") == 0;
}

static bool is_used[sizeof sources / sizeof sources[0]];

// `optype` or one of its variants.
static inline int is_variant(const char *variant, const char *optype)
{
    size_t len = strlen(optype);
    return strncmp(variant, optype, len) == 0 && (variant[len] == '\0' || variant[len] == '_');
}

static inline const source *find_source(const char *optype, const char *name)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(sources[i].name, name) == 0 &&
            (!sources[i].optype || is_variant(optype, sources[i].optype))) {
            is_used[i] = true;
            return &sources[i];
        }
    fail_msg("the example of %s has a source '%s', which this test does not know", optype, name);
    return NULL;
}

static inline void add_source(char *model, const ln_op *op, const char *name)
{
    const source *s = find_source(op->op_arg->optype, name);
    char defined[LN_MAX_NAME_LEN + 16];
    snprintf(defined, sizeof defined, "dst=%s |", name);
    if (strstr(model, defined))
        return; // two arguments of one tensor
    int is_static = strcmp(s->maker, "create") == 0;
    size_t len = strlen(model);
    snprintf(model + len, MODEL_BYTES - len, "%s%s(| dst=%s | dtype=%s, dims=%s%s);\n", s->maker,
             is_abstract(op) ? "" : "_ref", name, s->dtype, s->dims,
             is_static ? ", ran=[1, 2], data=[0], from_file=false" : "");
}

// ---- Models ----

// Adds a source for each "argument=name" between the bracket and the first bar of `example`.
static inline void add_sources(char *model, const ln_op *op, const char *example)
{
    const char *end = strchr(example, '|');
    CHECK_NOT_NULL(end);
    for (const char *c = example; c < end; c++) {
        char name[LN_MAX_NAME_LEN] = "";
        if (*c != '=')
            continue;
        size_t len = strspn(c + 1, "abcdefghijklmnopqrstuvwxyz");
        CHECK(len > 0 && len < sizeof name);
        memcpy(name, c + 1, len);
        char made[LN_MAX_NAME_LEN + 8];
        snprintf(made, sizeof made, "dst=%s ", name);
        if (!strstr(model, made)) // two arguments may read one tensor
            add_source(model, op, name);
    }
}

// The example with its sources. A variant without an example of its own has inherited one, which
// then becomes its own by its type. Returns 0 if there is none.
static inline int make_model(char model[MODEL_BYTES], const ln_op *op)
{
    const op_prose *prose = op_prose_find(op);
    model[0] = '\0';
    if (!prose || !prose->example)
        return 0;
    const char *arguments = strchr(prose->example, '(');
    CHECK_NOT_NULL(arguments);
    add_sources(model, op, prose->example);
    size_t len = strlen(model);
    snprintf(model + len, MODEL_BYTES - len, "%s%s\n", op->op_arg->optype, arguments);
    return 1;
}

// Operators that need another memory than the processor's have none here.
static inline int is_runnable(const ln_op *op)
{
    const ln_arch *arch = ln_arch_find(op->op_arg->arch);
    return is_abstract(op) || (arch && arch->mem_type == LN_MEM_CPU);
}

#endif
