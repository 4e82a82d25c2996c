// SPDX-License-Identifier: Apache-2.0
// How far arch cpu is from arch ref, operator by operator, in units in the last place.
//
// Each row runs on both archs with the same numbers. Where an operator sums, they are such that
// nothing cancels, or else the distance would be that of the numbers and not of the arithmetic.
// The description of a cpu operator promises a relative distance, or the same bits; the table that
// is printed shows what it is (tools/accuracy.sh makes docs/accuracy.md of it).
//
// Operators are lowered as they are written, without the rules that would make others of them.

#include <float.h>
#include <math.h>
#include <stdint.h>

#include <lightnet/act.h>
#include <lightnet/op_info.h>

#include "tests/api/model.h"
#include "tests/random.h"

#define CONSTANT(name, dims)                                                                       \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", ran=[0.5, 1], data=[0], "              \
    "from_file=false);\n"
#define INPUT(dims) "input(| dst=x | dtype=TL_FLOAT, dims=" dims ");\n"

typedef struct row {
    const char *optype; // of arch cpu
    const char *what;
    double low, high;  // of the input's numbers
    const char *model; // ON_REF parts it from the same in operators that arch ref has
} row;

#define ON_REF "// on ref\n"

#define ACT(what, low, high)                                                                       \
    {                                                                                              \
        "act_cpu", what, low, high,                                                                \
            INPUT("[100000]") "act(src=x | dst=y | act=" what ", alpha=0.2, beta=0.5);\n"          \
    }

#define BINARY(what, op)                                                                           \
    {                                                                                              \
        "elew_cpu", what, -8, 8,                                                                   \
            INPUT("[1000]") CONSTANT("a", "[1000]") "elew(src1=x, src2=a | dst=y | elew_op=" op    \
                                                    ");\n"                                         \
    }

#define THREE(what, op)                                                                            \
    {                                                                                              \
        "elew_cpu", what, -8, 8,                                                                   \
            INPUT("[1000]") CONSTANT("a", "[1000]")                                                \
                CONSTANT("b", "[1000]") "elew(src1=x, src2=a, src3=b | dst=y | elew_op=" op ");\n" \
    }

// Numbers as bytes, and bytes as numbers.
#define SCALES                                                                                     \
    "create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.37]);\n"                                    \
    "create(| dst=z | dtype=TL_UINT8, dims=[], data=[117]);\n"
#define BYTES(dims) INPUT(dims) SCALES "quantize(src=x, scale=s, zero=z | dst=q |);\n"
#define NUMBERS     "dequantize(src=r, scale=s, zero=z | dst=y |);\n"
#define BYTE_CONSTANT(dims)                                                                        \
    "create(| dst=w | dtype=TL_INT8, dims=" dims ", ran=[-127, 127], data=[0], "                   \
    "from_file=false);\n"
#define BYTE_SCALES "src_scale=s, src_zero=z, weight_scale=s"
#define BYTE_CONV   BYTES("[1, 9, 9, 20]") BYTE_CONSTANT("[24, 20, 3, 3]")
#define BYTE_TAPS                                                                                  \
    "create(| dst=k | dtype=TL_INT8, dims=[24, 1, 3, 3], ran=[-127, 127], data=[0], "              \
    "from_file=false);\n"
#define BYTE_MATMUL BYTES("[20, 30]") BYTE_CONSTANT("[30, 20]")

// On ref, the plain operator between transposes: from `t` to `u`, which are channels-first.
#define AROUND(statements)                                                                         \
    "transpose(src=x | dst=t | axes=[0, 3, 1, 2]);\n" statements                                   \
    "transpose(src=u | dst=y | axes=[0, 2, 3, 1]);\n"

#define CONV_NHWC(what, src, weight, bias, algorithm, sizes, params)                               \
    {                                                                                              \
        "conv2d_nhwc_cpu", what, 0.5, 1,                                                           \
            CONV_TENSORS(                                                                          \
                src, weight,                                                                       \
                bias) "conv2d_pack_cpu(weight=w | dst=p | algorithm=" algorithm ");\n"             \
                      "conv2d_nhwc_cpu(src=x, packed=p, bias=b | dst=y | algorithm=" algorithm     \
                      ", " sizes ", " params ");\n" ON_REF                                         \
                      CONV_TENSORS(src, weight, bias)                                              \
                          AROUND("conv(src=t, weight=w, bias=b | dst=u | " params ");\n")          \
    }
#define CONV_TENSORS(src, weight, bias) INPUT(src) CONSTANT("w", weight) CONSTANT("b", bias)

#define SAME_3X3 "padding=[1, 1, 1, 1]"

#define POOLED_TENSORS CONV_TENSORS("[1, 15, 15, 32]", "[16, 32, 3, 3]", "[16]")
#define POOLED(what, algorithm)                                                                    \
    {                                                                                              \
        "conv2d_maxpool_nhwc_cpu", what, 0.5, 1,                                                   \
            POOLED_TENSORS                                                                         \
            "conv2d_pack_cpu(weight=w | dst=p | algorithm=" algorithm ");\n"                       \
            "conv2d_maxpool_nhwc_cpu(src=x, packed=p, bias=b | dst=y | algorithm=" algorithm       \
            ", channels=16, size=[3, 3], " SAME_3X3                                                \
            ", pool_size=[3, 3], pool_stride=[2, 2]);\n" ON_REF POOLED_TENSORS AROUND(             \
                "conv(src=t, weight=w, bias=b | dst=c | " SAME_3X3 ");\n"                          \
                "pool(src=c | dst=u | size=[3, 3], stride=[2, 2]);\n")                             \
    }

#define SEPARABLE_TENSORS                                                                          \
    INPUT("[1, 20, 20, 16]")                                                                       \
    CONSTANT("v", "[48, 16, 1, 1]")                                                                \
    CONSTANT("w", "[48, 1, 3, 3]")                                                                 \
    CONSTANT("u", "[24, 48, 1, 1]")                                                                \
    CONSTANT("b", "[48]")                                                                          \
    CONSTANT("o", "[24]")
#define SEPARABLE(what, act)                                                                       \
    {                                                                                              \
        "separable_nhwc_cpu", what, 0.5, 1,                                                        \
            SEPARABLE_TENSORS                                                                      \
            "conv2d_pack_cpu(weight=v | dst=e |);\n"                                               \
            "conv2d_pack_cpu(weight=w | dst=d | group=48, algorithm=depthwise);\n"                 \
            "conv2d_pack_cpu(weight=u | dst=p |);\n"                                               \
            "separable_nhwc_cpu(src=x, depthwise=d, depthwise_bias=b, expand=e, expand_bias=b, "   \
            "project=p, project_bias=o | dst=y | channels=48, size=[3, 3], padding=[1, 1, 1, 1], " \
            "project_channels=24, expand_act=" act ", act=" act ");\n" ON_REF SEPARABLE_TENSORS    \
            "transpose(src=x | dst=t | axes=[0, 3, 1, 2]);\n"                                      \
            "conv(src=t, weight=v, bias=b | dst=c | act=" act ");\n"                               \
            "conv(src=c, weight=w, bias=b | dst=f | group=48, " SAME_3X3 ", act=" act ");\n"       \
            "conv(src=f, weight=u, bias=o | dst=g |);\n"                                           \
            "transpose(src=g | dst=y | axes=[0, 2, 3, 1]);\n"                                      \
    }

// x, with zeros behind it on an axis, in another order of axes, as a row.
#define ZEROS(dims) "create(| dst=z | dtype=TL_FLOAT, dims=" dims ", data=[0]);\n"

#define GROUPNORM_TENSORS                                                                          \
    INPUT("[1, 30, 40, 12]")                                                                       \
    "create(| dst=s | dtype=TL_FLOAT, dims=[12], ran=[0.5, 1]);\n"                                 \
    "create(| dst=o | dtype=TL_FLOAT, dims=[12], ran=[4, 5]);\n"

#define POOL_NHWC(type, what, low, high, src, kind, params)                                        \
    {                                                                                              \
        type, what, low, high,                                                                     \
            INPUT(src) type "(src=x | dst=y | " params ");\n" ON_REF INPUT(src)                    \
                AROUND("pool(src=t | dst=u | kind=" kind ", " params ");\n")                       \
    }

#define RESIZE_NHWC(what, low, high)                                                                                 \
    {                                                                                                                \
        "resize_nhwc_cpu", what, low, high,                                                                          \
            INPUT(                                                                                                   \
                "[1, 9, 7, 20]") "resize_nhwc_cpu(src=x | dst=y | out=[20, 11], mode=" what ");\n" ON_REF            \
                INPUT("[1, 9, 7, 20]") "create(| dst=s | dtype=TL_INT64, dims=[4], data=[1, 20, 20, 11]);\n" AROUND( \
                    "resize(src=t, sizes=s | dst=u | mode=" what ");\n")                                             \
    }

#define LINEAR(what, src, weight, bias, outputs, params)                                           \
    {                                                                                              \
        "linear_packed_cpu", what, 0.5, 1,                                                         \
            INPUT(src) CONSTANT("w", weight) CONSTANT(                                             \
                "b", bias) "linear_pack_cpu(weight=w | dst=p |);\n"                                \
                           "linear_packed_cpu(src=x, packed=p, bias=b | dst=y | " outputs params   \
                           ");\n" ON_REF                                                           \
                           INPUT(src) CONSTANT("w", weight) CONSTANT(                              \
                               "b", bias) "linear(src=x, weight=w, bias=b | dst=y | " params       \
                                          ");\n"                                                   \
    }

// Far from what rows are normalised to, so that nothing cancels.
#define OFFSET "create(| dst=o | dtype=TL_FLOAT, dims=[100], ran=[4, 5]);\n"

// What is found about x decides what y is.
#define COMPARISON_THEN(optype, what, statement)                                                   \
    {                                                                                              \
        optype "_cpu", what, -8, 8,                                                                \
            INPUT("[1000]") CONSTANT(                                                              \
                "a", "[1000]") "compare(src1=x, src2=a | dst=c | kind=less);\n"                    \
                               "compare(src1=x, src2=a | dst=d | kind=greater);\n" statement       \
                               "select(condition=e, src1=x, src2=a | dst=y |);\n"                  \
    }
#define COMPARISON(kind)                                                                           \
    COMPARISON_THEN("compare", kind, "compare(src1=x, src2=a | dst=e | kind=" kind ");\n")

static const row rows[] = {
    {"pool_cpu", "greatest, 3x3", -8, 8,
     INPUT("[1, 8, 31, 31]") "pool(src=x | dst=y | size=[3, 3], stride=[2, 2]);\n"},
    {"pool_cpu", "mean, 3x3", 0.5, 1,
     INPUT("[1, 8, 31, 31]") "pool(src=x | dst=y | kind=average, size=[3, 3], stride=[2, 2]);\n"},
    {"pool_cpu", "greatest of all", -8, 8, INPUT("[2, 8, 31, 31]") "pool(src=x | dst=y |);\n"},
    {"pool_cpu", "mean of all", 0.5, 1,
     INPUT("[2, 8, 31, 31]") "pool(src=x | dst=y | kind=average);\n"},
    {"matmul_cpu", "", 0.5, 1,
     INPUT("[20, 300]") CONSTANT("a", "[300, 30]") "matmul(src1=x, src2=a | dst=y |);\n"},
    {"matmul_cpu", "transposed, alpha", 0.5, 1,
     INPUT("[20, 300]")
         CONSTANT("a", "[30, 300]") "matmul(src1=x, src2=a | dst=y | transB=1, alpha=0.5);\n"},
    {"linear_cpu", "", 0.5, 1,
     INPUT("[20, 300]") CONSTANT("a", "[30, 300]")
         CONSTANT("b", "[30]") "linear(src=x, weight=a, bias=b | dst=y | transB=1);\n"},
    {"ml_SVMRegressor_cpu", "polynomials", 0.5, 1,
     INPUT(
         "[10, 3]") "ml_SVMRegressor(X=x | Y=y | kernel_type=\"POLY\", kernel_params=[0.5, 0.25, 3], "
                    "support_vectors=[0.7, 0.3, 0.9, 1.1, 0.2, 0.6], coefficients=[0.8, 0.4], "
                    "n_supports=2, rho=[0.1]);\n"},
    {"ml_SVMClassifier_cpu", "sigmoids", 0.5, 1,
     INPUT("[10, 3]") "ml_SVMClassifier(X=x | Y=c, Z=y | kernel_type=\"SIGMOID\", "
                      "kernel_params=[0.5, 0.25, 0], vectors_per_class=[1, 1], "
                      "support_vectors=[0.7, 0.3, 0.9, 1.1, 0.2, 0.6], coefficients=[0.8, 0.4], "
                      "rho=[0.1], classlabels_ints=[0, 1]);\n"},
    {"lrn_cpu", "5 channels", 0.5, 4,
     INPUT("[2, 9, 1100]") "lrn(src=x | dst=y | size=5, alpha=0.5, bias=2);\n"},
    {"lrn_cpu", "64 channels", 0.5, 4,
     INPUT("[1, 70, 40]") "lrn(src=x | dst=y | size=64, alpha=2, beta=1);\n"},
    {"reduce_cpu", "sum, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=sum, axes=[1]);\n"},
    {"reduce_cpu", "sum, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=sum, axes=[1]);\n"},
    {"reduce_cpu", "mean, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=mean, axes=[1]);\n"},
    {"reduce_cpu", "mean, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=mean, axes=[1]);\n"},
    {"reduce_cpu", "max, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=max, axes=[1]);\n"},
    {"reduce_cpu", "max, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=max, axes=[1]);\n"},
    {"reduce_cpu", "min, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=min, axes=[1]);\n"},
    {"reduce_cpu", "min, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=min, axes=[1]);\n"},
    {"reduce_cpu", "sum_square, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=sum_square, axes=[1]);\n"},
    {"reduce_cpu", "sum_square, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=sum_square, axes=[1]);\n"},
    {"reduce_cpu", "l1, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=l1, axes=[1]);\n"},
    {"reduce_cpu", "l1, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=l1, axes=[1]);\n"},
    {"reduce_cpu", "l2, rows", 0.5, 1,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=l2, axes=[1]);\n"},
    {"reduce_cpu", "l2, columns", 0.5, 1,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=l2, axes=[1]);\n"},
    {"reduce_cpu", "log_sum_exp, rows", 0.5, 8,
     INPUT("[30, 1000]") "reduce(src=x | dst=y | kind=log_sum_exp, axes=[1]);\n"},
    {"reduce_cpu", "log_sum_exp, columns", 0.5, 8,
     INPUT("[3, 100, 33]") "reduce(src=x | dst=y | kind=log_sum_exp, axes=[1]);\n"},
    {"rnn_cpu", "lstm, 30 steps", 0.1, 0.5,
     INPUT("[30, 1, 20]") CONSTANT("w", "[1, 64, 20]")
         CONSTANT("r", "[1, 64, 16]") "rnn(src=x, weight=w, recurrence=r | dst=y | kind=lstm);\n"},
    {"rnn_cpu", "gru, 30 steps", 0.1, 0.5,
     INPUT("[30, 1, 20]") CONSTANT("w", "[1, 48, 20]")
         CONSTANT("r", "[1, 48, 16]") "rnn(src=x, weight=w, recurrence=r | dst=y | kind=gru);\n"},
    {"func_cpu", "log", 2, 8, INPUT("[100000]") "func(src=x | dst=y | func=log);\n"},
    {"func_cpu", "sin", 0.1, 3, INPUT("[100000]") "func(src=x | dst=y | func=sin);\n"},
    {"func_cpu", "cos", 0.1, 1.5, INPUT("[100000]") "func(src=x | dst=y | func=cos);\n"},
    {"func_cpu", "reciprocal", 1, 8, INPUT("[1000]") "func(src=x | dst=y | func=reciprocal);\n"},
    {"func_cpu", "floor", -8, 8, INPUT("[1000]") "func(src=x | dst=y | func=floor);\n"},
    {"func_cpu", "ceil", -8, 8, INPUT("[1000]") "func(src=x | dst=y | func=ceil);\n"},
    {"func_cpu", "round", -8, 8, INPUT("[1000]") "func(src=x | dst=y | func=round);\n"},
    {"func_cpu", "sign", -8, 8, INPUT("[1000]") "func(src=x | dst=y | func=sign);\n"},
    {"layernorm_cpu", "without the mean", 2, 8,
     INPUT("[300, 100]")
         CONSTANT("s", "[100]") "layernorm(src=x, scale=s | dst=y | centered=false);\n"},
    ACT("none", -8, 8),
    ACT("relu", -8, 8),
    ACT("clip", -8, 8),
    ACT("lrelu", -8, 8),
    ACT("sigmoid", -8, 8),
    ACT("tanh", -8, 8),
    ACT("silu", -8, 8),
    ACT("hard_sigmoid", -2, 8),
    ACT("hard_swish", -2, 8),
    ACT("gelu", -8, 8),
    ACT("gelu_tanh", -4, 8),
    ACT("elu", -8, 8),
    ACT("softplus", -8, 8),
    ACT("mish", -8, 8),
    ACT("exp", -8, 8),
    ACT("erf", -5, 5),
    ACT("sqrt", 0, 8),
    ACT("abs", -8, 8),
    ACT("neg", -8, 8),
    ACT("affine", 0, 8),
    ACT("scaled_tanh", -8, 8),
    ACT("softsign", -8, 8),
    ACT("thresholded_relu", -8, 8),
    ACT("swish", -8, 8),
    ACT("selu", -8, 8),
    {"attention_cpu", "40 keys, a mask", 0.5, 1,
     INPUT("[2, 40, 96]") CONSTANT(
         "m",
         "[2, 1, 1, 40]") "attention(q=x, k=x, v=x, mask=m | dst=y | heads=4, head_size=8, k_first=32, v_first=64);\n"},
    {"attention_cpu", "40 keys, causal", 0.5, 1,
     INPUT("[2, 40, 32]") "attention(q=x, k=x, v=x | dst=y | heads=4, is_causal=1);\n"},
    COMPARISON("equal"),
    COMPARISON("not_equal"),
    COMPARISON("less"),
    COMPARISON("less_equal"),
    COMPARISON("greater"),
    COMPARISON("greater_equal"),
    COMPARISON_THEN("compare", "with nothing", "compare(src1=c | dst=e | kind=equal);\n"),
    COMPARISON_THEN("compare", "of bools", "compare(src1=c, src2=d | dst=e | kind=not_equal);\n"),
    COMPARISON_THEN("elew", "and", "elew(src1=c, src2=d | dst=e | elew_op=TL_MIN);\n"),
    COMPARISON_THEN("elew", "or", "elew(src1=c, src2=d | dst=e | elew_op=TL_MAX);\n"),
    COMPARISON_THEN("select", "", "compare(src1=d | dst=e | kind=equal);\n"),
    {"prelu_cpu", "", -8, 8,
     INPUT("[1000]") CONSTANT("a", "[1]") "prelu(src=x, slope=a | dst=y |);\n"},
    {"take_cpu", "", -8, 8,
     INPUT("[10, 100]") "create(| dst=i | dtype=TL_INT64, dims=[3], data=[9, -3, 0]);\n"
                        "take(src=x, index=i | dst=y |);\n"},
    {"expand_cpu", "", -8, 8,
     INPUT("[10, 1, 10]") "create(| dst=i | dtype=TL_INT64, dims=[3], data=[10, 10, 1]);\n"
                          "expand(src=x, shape=i | dst=y |);\n"},
    {"trilu_cpu", "", -8, 8, INPUT("[3, 10, 20]") "trilu(src=x | dst=y |);\n"},
    {"cumsum_cpu", "rows", -8, 8,
     INPUT("[30, 1000]") "create(| dst=i | dtype=TL_INT64, dims=[], data=[1]);\n"
                         "cumsum(src=x, axis=i | dst=y |);\n"},
    {"cumsum_cpu", "columns", -8, 8,
     INPUT("[100, 300]") "create(| dst=i | dtype=TL_INT64, dims=[], data=[0]);\n"
                         "cumsum(src=x, axis=i | dst=y | exclusive=1, reverse=1);\n"},
    {"topk_cpu", "positions", -8, 8,
     INPUT("[30, 20]") "topk(src=x | index=i | k=1);\ncast(src=i | dst=y | to=TL_FLOAT);\n"},
    {"cast_cpu", "to integers and back", -80, 80,
     INPUT("[1000]") "cast(src=x | dst=i | to=TL_INT32);\ncast(src=i | dst=y | to=TL_FLOAT);\n"},
    {"quantize_cpu", "", -80, 80,
     BYTES("[1000]") "reshape(src=q | dst=r | dims=[1000]);\n" NUMBERS},
    {"dequantize_cpu", "", -80, 80,
     BYTES("[1000]") "reshape(src=q | dst=r | dims=[1000]);\n" NUMBERS},
    {"quantize_dynamic_cpu", "", -3, 80,
     INPUT("[1000]") "quantize_dynamic(src=x | dst=q, scale=s, zero=z |);\n"
                     "dequantize(src=q, scale=s, zero=z | dst=y |);\n"},
    {"quant_elew_cpu", "sum", -40, 40,
     BYTES(
         "[1000]") "quant_elew(src1=q, scale1=s, src2=q, scale2=s, dst_scale=s, zero1=z, zero2=z, "
                   "dst_zero=z | dst=r | elew_op=TL_SUM, act=clip, alpha=-9, beta=30);\n" NUMBERS},
    {"quant_act_cpu", "lrelu", -40, 40,
     BYTES("[1000]") "quant_act(src=q, src_scale=s, dst_scale=s, src_zero=z, dst_zero=z | dst=r | "
                     "act=lrelu, alpha=0.2);\n" NUMBERS},
    {"rescale_cpu", "q31", -40, 40,
     BYTES("[10, 100]") "create(| dst=m | dtype=TL_INT32, dims=[], data=[1518500250]);\n"
                        "create(| dst=h | dtype=TL_INT32, dims=[], data=[-1]);\n"
                        "rescale(src=q, multiplier=m, shift=h, src_zero=z, dst_zero=z | dst=r | "
                        "rounding=q31);\n" NUMBERS},
    {"einsum_cpu", "heads", 0.5, 1,
     INPUT("[2, 3, 17, 20]") CONSTANT("w", "[2, 19, 3, 20]") "einsum(src1=x, src2=w | dst=y | "
                                                             "equation=\"bhid,bjhd->bhij\");\n"},
    {"quant_matmul_cpu", "both in the run", -40, 40,
     BYTES("[3, 30, 30]") "quant_matmul(src=q, weight=q, " BYTE_SCALES
                          ", weight_zero=z | dst=y | transB=1);\n"},
    {"quant_pack_cpu", "", -40, 40,
     BYTE_MATMUL
     "quant_pack_cpu(weight=w | dst=p |);\nquant_matmul_packed_cpu(src=q, packed=p, " BYTE_SCALES
     " | dst=y | outputs=20);\n" ON_REF BYTE_MATMUL "quant_matmul(src=q, weight=w, " BYTE_SCALES
     " | dst=y |);\n"},
    {"quant_matmul_packed_cpu", "to bytes", -40, 40,
     BYTE_MATMUL
     "quant_pack_cpu(weight=w | dst=p |);\nquant_matmul_packed_cpu(src=q, packed=p, " BYTE_SCALES
     ", dst_scale=s, dst_zero=z | dst=r | outputs=20, act=relu);\n" NUMBERS ON_REF BYTE_MATMUL
     "quant_matmul(src=q, weight=w, " BYTE_SCALES
     ", dst_scale=s, dst_zero=z | dst=r | act=relu);\n" NUMBERS},
    {"quant_conv_pack_cpu", "", -40, 40,
     BYTE_CONV
     "quant_conv_pack_cpu(weight=w | dst=p |);\nquant_conv_nhwc_cpu(src=q, packed=p, " BYTE_SCALES
     " | dst=y | channels=24, size=[3, 3], " SAME_3X3 ");\n" ON_REF BYTE_CONV
     "transpose(src=q | dst=t | axes=[0, 3, 1, 2]);\nquant_conv(src=t, weight=w, " BYTE_SCALES
     " | dst=u | " SAME_3X3 ");\ntranspose(src=u | dst=y | axes=[0, 2, 3, 1]);\n"},
    {"quant_conv_nhwc_cpu", "stride 2", -40, 40,
     BYTE_CONV
     "quant_conv_pack_cpu(weight=w | dst=p |);\nquant_conv_nhwc_cpu(src=q, packed=p, " BYTE_SCALES
     " | dst=y | channels=24, size=[3, 3], stride=[2, 2], act=relu);\n" ON_REF BYTE_CONV
     "transpose(src=q | dst=t | axes=[0, 3, 1, 2]);\nquant_conv(src=t, weight=w, " BYTE_SCALES
     " | dst=u | stride=[2, 2], act=relu);\ntranspose(src=u | dst=y | axes=[0, 2, 3, 1]);\n"},
    {"quant_mean_nhwc_cpu", "9x9", -40, 40,
     BYTES("[1, 9, 9, 20]") "quant_mean_nhwc_cpu(src=q, scale=s, zero=z | dst=y |);\n" ON_REF BYTES(
         "[1, 9, 9, 20]") "dequantize(src=q, scale=s, zero=z | dst=f |);\n"
                          "transpose(src=f | dst=t | axes=[0, 3, 1, 2]);\npool(src=t | dst=u | kind=average);\n"
                          "transpose(src=u | dst=y | axes=[0, 2, 3, 1]);\n"},
    {"quant_conv_depthwise_nhwc_cpu", "1x1, then 3x3", -40, 40,
     BYTES("[1, 9, 9, 20]") BYTE_CONSTANT("[24, 20, 1, 1]") BYTE_TAPS
     "quant_conv_pack_cpu(weight=w | dst=p |);\nquant_conv_pack_cpu(weight=k | dst=t | group=24);\n"
     "quant_conv_depthwise_nhwc_cpu(src=q, packed=p, " BYTE_SCALES
     ", between_scale=s, between_zero=z, taps=t, taps_src_scale=s, taps_src_zero=z, taps_scale=s, "
     "dst_scale=s, dst_zero=z | dst=r | channels=24, size=[1, 1], act=relu, taps_size=[3, 3], "
     "taps_padding=[1, 1, 1, 1]);\n" NUMBERS ON_REF BYTES("[1, 9, 9, 20]")
         BYTE_CONSTANT("[24, 20, 1, 1]") BYTE_TAPS
     "transpose(src=q | dst=t | axes=[0, 3, 1, 2]);\nquant_conv(src=t, weight=w, " BYTE_SCALES
     ", dst_scale=s, dst_zero=z | dst=m | act=relu);\nquant_conv(src=m, weight=k, " BYTE_SCALES
     ", dst_scale=s, dst_zero=z | dst=u | group=24, " SAME_3X3
     ");\ntranspose(src=u | dst=r | axes=[0, 2, 3, 1]);\n" NUMBERS},
    {"quant_conv_maxpool_nhwc_cpu", "3x3, then 2x2", -40, 40,
     BYTE_CONV
     "quant_conv_pack_cpu(weight=w | dst=p |);\nquant_conv_maxpool_nhwc_cpu(src=q, packed=p, " BYTE_SCALES
     ", dst_scale=s, dst_zero=z | dst=r | channels=24, size=[3, 3], " SAME_3X3
     ", pool_size=[2, 2], pool_stride=[2, 2]);\n" NUMBERS ON_REF BYTE_CONV
     "transpose(src=q | dst=t | axes=[0, 3, 1, 2]);\nquant_conv(src=t, weight=w, " BYTE_SCALES
     ", dst_scale=s, dst_zero=z | dst=m | " SAME_3X3
     ");\npool(src=m | dst=u | size=[2, 2], stride=[2, 2]);\n"
     "transpose(src=u | dst=r | axes=[0, 2, 3, 1]);\n" NUMBERS},
    {"maxpool2d_nhwc_cpu", "bytes, 3x3", -40, 40,
     BYTES(
         "[1, 9, 9, 20]") "maxpool2d_nhwc_cpu(src=q | dst=r | size=[3, 3], stride=[2, 2], " SAME_3X3 ");\n" NUMBERS
         ON_REF BYTES(
             "[1, 9, 9, 20]") "transpose(src=q | dst=t | axes=[0, 3, 1, 2]);\npool(src=t | dst=u | size=[3, 3], stride=[2, 2], " SAME_3X3
                              ");\ntranspose(src=u | dst=r | axes=[0, 2, 3, 1]);\n" NUMBERS},
    {"layernorm_cpu", "", 2, 8,
     INPUT("[300, 100]")
         CONSTANT("s", "[100]") "create(| dst=o | dtype=TL_FLOAT, dims=[100], ran=[4, 5]);\n"
                                "layernorm(src=x, scale=s, bias=o | dst=y |);\n"},
    {"scale_shift_cpu", "", 0.5, 1,
     INPUT("[100, 37]") CONSTANT("s", "[37]")
         CONSTANT("o", "[37]") "scale_shift(src=x, scale=s, offset=o | dst=y | act=relu);\n"},
    {"elew_cpu", "sum, silu", 0, 8,
     INPUT("[100, 37]")
         CONSTANT("s", "[37]") "elew(src1=x, src2=s | dst=y | elew_op=TL_SUM, act=silu);\n"},
    BINARY("sum", "TL_SUM"),
    BINARY("difference", "TL_SUB"),
    BINARY("product", "TL_MUL"),
    BINARY("quotient", "TL_DIV"),
    BINARY("greater", "TL_MAX"),
    BINARY("smaller", "TL_MIN"),
    BINARY("rest", "TL_REST"),
    {"elew_cpu", "power", 0.1, 8,
     INPUT("[1000]") CONSTANT("a", "[1000]") "elew(src1=x, src2=a | dst=y | elew_op=TL_POWER);\n"},
    THREE("greatest of three", "TL_MAX"),
    THREE("smallest of three", "TL_MIN"),
    THREE("sum of three", "TL_SUM"),
    THREE("mean of three", "TL_MEAN"),
    {"softmax_cpu", "10 of -8 .. 8", -8, 8,
     INPUT("[300, 10]") "softmax(src=x | dst=y | axis=1);\n"},
    {"softmax_cpu", "1000 of -8 .. 8", -8, 8,
     INPUT("[30, 1000]") "softmax(src=x | dst=y | axis=1);\n"},
    {"softmax_cpu", "21 of -8 .. 8, axis 1", -8, 8,
     INPUT("[1, 21, 17, 19]") "softmax(src=x | dst=y | axis=1);\n"},
    {"softmax_cpu", "logarithms, 10 of -8 .. 8", -8, 8,
     INPUT("[300, 10]") "softmax(src=x | dst=y | axis=1, log=true);\n"},
    {"softmax_cpu", "10 of -40 .. 40", -40, 40,
     INPUT("[300, 10]") "softmax(src=x | dst=y | axis=1);\n"},
    {"batchnorm_cpu", "", 2, 8,
     INPUT("[2, 16, 15, 15]") CONSTANT("s", "[16]") CONSTANT("o", "[16]") CONSTANT("m", "[16]")
         CONSTANT("v", "[16]") "batchnorm(src=x, scale=s, offset=o, mean=m, var=v | dst=y | "
                               "epsilon=1e-3);\n"},
    {"pool_cpu", "greatest, 3x3, padded", -8, 8,
     INPUT("[1, 8, 31, 31]") "pool(src=x | dst=y | size=[3, 3], stride=[2, 2], padding=[1, 1, "
                             "1, 1]);\n"},
    {"pool_cpu", "mean, 3x3, padded", 0.5, 1,
     INPUT(
         "[1, 8, 31, 31]") "pool(src=x | dst=y | kind=average, size=[3, 3], stride=[2, 2], padding=[1, 1, "
                           "1, 1]);\n"},
    {"pool_cpu", "mean, 31x31", 0.5, 1,
     INPUT(
         "[2, 40, 31, 31]") "pool(src=x | dst=y | kind=average, size=[31, 31], stride=[1, 1]);\n"},
    {"conv_cpu", "row of 3, with leaky relu", 0.5, 1,
     INPUT("[1, 16, 400]") CONSTANT("w", "[8, 16, 3]")
         CONSTANT("b", "[8]") "conv(src=x, weight=w, bias=b | dst=y | act=lrelu, alpha=0.1);\n"},
    {"conv_cpu", "1x1, 16 products", 0.5, 1,
     INPUT("[1, 16, 20, 20]") CONSTANT("w", "[8, 16, 1, 1]")
         CONSTANT("b", "[8]") "conv(src=x, weight=w, bias=b | dst=y |);\n"},
    {"conv_cpu", "3x3, 288 products", 0.5, 1,
     INPUT("[1, 32, 14, 14]") CONSTANT("w", "[16, 32, 3, 3]")
         CONSTANT("b", "[16]") "conv(src=x, weight=w, bias=b | dst=y | padding=[1, 1, 1, 1]);\n"},
    {"conv_cpu", "3x3, 4608 products", 0.5, 1,
     INPUT("[1, 512, 7, 7]") CONSTANT("w", "[8, 512, 3, 3]")
         CONSTANT("b", "[8]") "conv(src=x, weight=w, bias=b | dst=y | padding=[1, 1, 1, 1]);\n"},
    {"conv_cpu", "1x1, 25088 products", 0.5, 1,
     INPUT("[1, 25088, 1, 1]") CONSTANT("w", "[16, 25088, 1, 1]")
         CONSTANT("b", "[16]") "conv(src=x, weight=w, bias=b | dst=y |);\n"},
    {"conv_cpu", "depthwise 3x3", 0.5, 1,
     INPUT("[1, 32, 21, 21]") CONSTANT("w", "[32, 1, 3, 3]") CONSTANT(
         "b", "[32]") "conv(src=x, weight=w, bias=b | dst=y | group=32, padding=[1, 1, 1, 1]);\n"},
    {"conv2d_pack_cpu", "", -8, 8,
     INPUT("[20, 5, 3, 3]") "conv2d_pack_cpu(weight=x | dst=y |);\n" ON_REF INPUT("[20, 5, 3, 3]")
         ZEROS("[12, 5, 3, 3]") "concat(src1=x, src2=z | dst=a | axis=0);\n"
                                "reshape(src=a | dst=b | dims=[2, 16, 5, 9]);\n"
                                "transpose(src=b | dst=c | axes=[0, 3, 2, 1]);\n"
                                "reshape(src=c | dst=y | dims=[1440]);\n"},
    {"conv3d_pack_cpu", "", -8, 8,
     INPUT("[20, 5, 3, 3, 3]") "conv3d_pack_cpu(weight=x | dst=y |);\n" ON_REF INPUT(
         "[20, 5, 3, 3, 3]")
         ZEROS("[12, 5, 3, 3, 3]") "concat(src1=x, src2=z | dst=a | axis=0);\n"
                                   "reshape(src=a | dst=b | dims=[2, 16, 5, 3, 9]);\n"
                                   "transpose(src=b | dst=c | axes=[3, 0, 4, 2, 1]);\n"
                                   "reshape(src=c | dst=y | dims=[4320]);\n"},
    {"conv3d_ndhwc_cpu", "432 products", 0.5, 1,
     CONV_TENSORS(
         "[1, 5, 9, 9, 16]", "[8, 16, 3, 3, 3]",
         "[8]") "conv3d_pack_cpu(weight=w | dst=p |);\n"
                "conv3d_ndhwc_cpu(src=x, packed=p, bias=b | dst=y | channels=8, "
                "size=[3, 3, 3], padding=[1, 1, 1, 1, 1, 1]);\n" ON_REF CONV_TENSORS(
                    "[1, 5, 9, 9, 16]", "[8, 16, 3, 3, 3]",
                    "[8]") "transpose(src=x | dst=t | axes=[0, 4, 1, 2, 3]);\n"
                           "conv(src=t, weight=w, bias=b | dst=u | padding=[1, 1, 1, 1, 1, 1]);\n"
                           "transpose(src=u | dst=y | axes=[0, 2, 3, 4, 1]);\n"},
    {"groupnorm_nhwc_cpu", "", 2, 8,
     GROUPNORM_TENSORS
     "groupnorm_nhwc_cpu(src=x, scale=s, offset=o | dst=y | groups=4);\n" ON_REF GROUPNORM_TENSORS
         AROUND("groupnorm(src=t, scale=s, offset=o | dst=u | groups=4);\n")},
    // Of the strides, rows 0 and 2 of the kernel reach the same outputs; the last comes first.
    {"deconv2d_pack_cpu", "", -8, 8,
     INPUT("[20, 5, 3, 3]") "deconv2d_pack_cpu(weight=x | dst=y | stride=[2, 1]);\n" ON_REF INPUT(
         "[20, 5, 3, 3]")
         ZEROS("[20, 11, 3, 3]") "concat(src1=x, src2=z | dst=a | axis=1);\n"
                                 "slice(src=a | dst=r0 | axis=2, start=0, len=1);\n"
                                 "slice(src=a | dst=r1 | axis=2, start=1, len=1);\n"
                                 "slice(src=a | dst=r2 | axis=2, start=2, len=1);\n"
                                 "concat(src1=r2, src2=r0, src3=r1 | dst=b | axis=2);\n"
                                 "slice(src=b | dst=c0 | axis=3, start=0, len=1);\n"
                                 "slice(src=b | dst=c1 | axis=3, start=1, len=1);\n"
                                 "slice(src=b | dst=c2 | axis=3, start=2, len=1);\n"
                                 "concat(src1=c2, src2=c1, src3=c0 | dst=c | axis=3);\n"
                                 "transpose(src=c | dst=d | axes=[2, 3, 0, 1]);\n"
                                 "reshape(src=d | dst=y | dims=[2880]);\n"},
    {"deconv2d_nhwc_cpu", "4x4 stride 2, 64 products", 0.5, 1,
     CONV_TENSORS(
         "[1, 9, 9, 16]", "[16, 8, 4, 4]",
         "[8]") "deconv2d_pack_cpu(weight=w | dst=p | stride=[2, 2]);\n"
                "deconv2d_nhwc_cpu(src=x, packed=p, bias=b | dst=y | channels=8, "
                "size=[4, 4], stride=[2, 2], padding=[1, 1], out=[18, 18]);\n" ON_REF CONV_TENSORS(
                    "[1, 9, 9, 16]", "[16, 8, 4, 4]", "[8]")
                    AROUND(
                        "deconv(src=t, weight=w, bias=b | dst=u | stride=[2, 2], padding=[1, 1, 1, 1]);\n")},
    CONV_NHWC("1x1, 16 products", "[1, 20, 20, 16]", "[8, 16, 1, 1]", "[8]", "direct",
              "channels=8, size=[1, 1]", "act=none"),
    CONV_NHWC("3x3, 288 products", "[1, 14, 14, 32]", "[16, 32, 3, 3]", "[16]", "direct",
              "channels=16, size=[3, 3]", SAME_3X3),
    CONV_NHWC("3x3, 4608 products", "[1, 7, 7, 512]", "[8, 512, 3, 3]", "[8]", "direct",
              "channels=8, size=[3, 3]", SAME_3X3),
    CONV_NHWC("3x3, 288 products, silu", "[1, 14, 14, 32]", "[16, 32, 3, 3]", "[16]", "direct",
              "channels=16, size=[3, 3]", SAME_3X3 ", act=silu"),
    {"conv2d_nhwc_cpu", "depthwise 5x5", 0.5, 1,
     CONV_TENSORS(
         "[1, 21, 21, 32]", "[32, 1, 5, 5]",
         "[32]") "conv2d_pack_cpu(weight=w | dst=p | algorithm=depthwise, group=32);\n"
                 "conv2d_nhwc_cpu(src=x, packed=p, bias=b | dst=y | algorithm=depthwise, "
                 "group=32, channels=32, size=[5, 5], padding=[2, 2, 2, 2]);\n" ON_REF CONV_TENSORS(
                     "[1, 21, 21, 32]", "[32, 1, 5, 5]", "[32]")
                     AROUND(
                         "conv(src=t, weight=w, bias=b | dst=u | group=32, padding=[2, 2, 2, 2]);\n")},
    CONV_NHWC("3x3, 288 products, narrow", "[1, 14, 14, 32]", "[3, 32, 3, 3]", "[3]", "narrow",
              "channels=3, size=[3, 3]", SAME_3X3),
    CONV_NHWC("F(2,3), 288 products", "[1, 14, 14, 32]", "[16, 32, 3, 3]", "[16]", "winograd2",
              "channels=16, size=[3, 3]", SAME_3X3),
    CONV_NHWC("F(4,3), 288 products", "[1, 14, 14, 32]", "[16, 32, 3, 3]", "[16]", "winograd4",
              "channels=16, size=[3, 3]", SAME_3X3),
    CONV_NHWC("F(4,3), 4608 products", "[1, 14, 14, 512]", "[16, 512, 3, 3]", "[16]", "winograd4",
              "channels=16, size=[3, 3]", SAME_3X3),
    CONV_NHWC("F(6,3), 288 products", "[1, 14, 14, 32]", "[16, 32, 3, 3]", "[16]", "winograd6",
              "channels=16, size=[3, 3]", SAME_3X3),
    CONV_NHWC("F(6,3), 4608 products", "[1, 14, 14, 512]", "[16, 512, 3, 3]", "[16]", "winograd6",
              "channels=16, size=[3, 3]", SAME_3X3),
    POOLED("3x3, 288 products, then 3x3", "direct"),
    POOLED("F(4,3), 288 products, then 3x3", "winograd4"),
    SEPARABLE("16, 9 and 48 products", "none"),
    SEPARABLE("16, 9 and 48 products, silu", "silu"),
    {"pad_cpu", "", -8, 8,
     INPUT("[2, 9, 9, 12]") "pad(src=x | dst=y | pads=[1, -1, 2, 0, 0, 3, 4, 0], value=-7.5);\n"},
    {"put_channels_cpu", "", -8, 8,
     INPUT("[1, 9, 9, 12]") "put_channels(src=x | dst=y | src_first=3, src_channels=5);\n"},
    {"interleave_cpu", "", -8, 8,
     INPUT("[1, 9, 9, 12]") "interleave(src1=x, src2=x | dst=y | channels=6, src2_first=6);\n"},
    POOL_NHWC("maxpool2d_nhwc_cpu", "3x3", -8, 8, "[1, 31, 31, 20]", "max",
              "size=[3, 3], stride=[2, 2], padding=[1, 1, 1, 1]"),
    POOL_NHWC("avgpool2d_nhwc_cpu", "3x3", 0.5, 1, "[1, 31, 31, 20]", "average",
              "size=[3, 3], stride=[2, 2], padding=[1, 1, 1, 1]"),
    POOL_NHWC("avgpool2d_nhwc_cpu", "31x31", 0.5, 1, "[2, 31, 31, 40]", "average", "size=[31, 31]"),
    RESIZE_NHWC("nearest", -8, 8),
    RESIZE_NHWC("linear", 0.5, 1),
    {"linear_pack_cpu", "", -8, 8,
     INPUT("[30, 40]") "linear_pack_cpu(weight=x | dst=y |);\n" ON_REF INPUT(
         "[30, 40]") "create(| dst=z | dtype=TL_FLOAT, dims=[30, 8], data=[0]);\n"
                     "concat(src1=x, src2=z | dst=c | axis=1);\nreshape(src=c | dst=p | dims=[30, 3, 16]);\n"
                     "transpose(src=p | dst=t | axes=[1, 0, 2]);\nreshape(src=t | dst=y | dims=[1440]);\n"},
    LINEAR("300 products", "[20, 300]", "[300, 30]", "[30]", "outputs=30", ""),
    LINEAR("4096 products, gelu", "[20, 4096]", "[4096, 30]", "[30]", "outputs=30, ", "act=gelu"),
    {"slice_cpu", "", -8, 8,
     INPUT("[3, 7, 40]") "slice(src=x | dst=y | axis=2, start=5, len=21);\n"},
    {"concat_cpu", "", -8, 8,
     INPUT("[3, 7, 40]") CONSTANT("a", "[3, 2, 40]") "concat(src1=x, src2=a | dst=y | axis=1);\n"},
    {"transpose_cpu", "", -8, 8,
     INPUT("[3, 7, 40]") "transpose(src=x | dst=y | axes=[2, 0, 1]);\n"},
    {"deconv_cpu", "3x3 stride 2, 64 products", 0.5, 1,
     INPUT("[1, 16, 20, 20]") CONSTANT("w", "[16, 8, 3, 3]")
         CONSTANT("b", "[8]") "deconv(src=x, weight=w, bias=b | dst=y | stride=[2, 2]);\n"},
    {"deconv_cpu", "row of 4, stride 2, with leaky relu", 0.5, 1,
     INPUT("[1, 16, 90]") CONSTANT("w", "[16, 8, 4]") CONSTANT(
         "b",
         "[8]") "deconv(src=x, weight=w, bias=b | dst=y | stride=[2], padding=[1, 1], act=lrelu, alpha=0.1);\n"},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

// ---- Running ----

// A LOADED context of the row's model.
// Operators are to run as they are written.
static int is_not_into_core(void *user, const ln_firing *firing)
{
    (void)user;
    return strcmp(firing->pass, "core") != 0;
}

static ln_context *load_row(const row *r, const char *target)
{
    char text[2048];
    int is_ref = ln_streq(target, "ref");
    const char *on_ref = strstr(r->model, ON_REF);
    size_t len = on_ref ? (size_t)(on_ref - r->model) : strlen(r->model);
    snprintf(text, sizeof text, "%.*s", (int)len, r->model);
    if (is_ref && on_ref)
        snprintf(text, sizeof text, "%s", on_ref);
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = "expand";
    options.wants_firing = is_not_into_core;
    ln_context *ctx = open_text(text);
    if (ln_context_compile_with(ctx, target, &options) != LN_OK)
        fail_msg("%s %s: %s", r->optype, r->what, ln_error_message());
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

// Loads the row's model for `target` and runs it; fills the input with the same numbers each time.
static ln_context *run_row(const row *r, const char *target)
{
    ln_context *ctx = load_row(r, target);
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    float *data = calloc((size_t)x->tensor->len, sizeof *data);
    CHECK_NOT_NULL(data);
    test_random random = {.state = 1};
    for (int i = 0; i < x->tensor->len; i++)
        data[i] = (float)(r->low + (r->high - r->low) *
                                       ((double)(test_random_next(&random) >> 11) * 0x1p-53));
    CHECK_OK(ln_context_set_data(ctx, "x", data));
    CHECK_OK(ln_context_run(ctx));
    free(data);
    return ctx;
}

static int has_op(const ln_context *ctx, const char *optype)
{
    for (const ln_list *l = ctx->ops; l; l = l->next)
        if (ln_streq(((const ln_op *)l->data)->op_arg->optype, optype))
            return 1;
    return 0;
}

// How many floats are between the two, one of them included.
static double ulp_distance(float a, float b)
{
    int32_t bits[2];
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    for (int i = 0; i < 2; i++)
        bits[i] = bits[i] < 0 ? INT32_MIN - bits[i] : bits[i]; // in the order of the numbers
    return fabs((double)bits[0] - (double)bits[1]);
}

typedef struct distance {
    double most_ulp;
    double most_relative; // of normal results
    double equal_share;
} distance;

static distance compare(const ln_context *ref, const ln_context *cpu)
{
    distance d = {0};
    const tl_tensor *a = ln_tensor_table_find(ref->tensor_table, "y")->tensor;
    const tl_tensor *b = ln_tensor_table_find(cpu->tensor_table, "y")->tensor;
    CHECK_EQ(a->len, b->len);
    const float *expected = a->data, *got = b->data;
    int equal_count = 0;
    for (int i = 0; i < a->len; i++) {
        double gap = fabs((double)got[i] - (double)expected[i]);
        equal_count += memcmp(&got[i], &expected[i], sizeof got[i]) == 0;
        d.most_ulp = fmax(d.most_ulp, ulp_distance(got[i], expected[i]));
        if (fabsf(expected[i]) >= FLT_MIN)
            d.most_relative = fmax(d.most_relative, gap / fabs((double)expected[i]));
    }
    d.equal_share = (double)equal_count / a->len;
    return d;
}

// A line of the table, in Markdown.
static void print_line(const row *r, const distance *d, double promised, int is_kept)
{
    char relative[32] = "same bits";
    if (promised > 0)
        snprintf(relative, sizeof relative, "%.2g", promised);
    // Just below all, where some are not equal.
    double equal = d->equal_share == 1 ? 100 : fmin(100 * d->equal_share, 99.99);
    printf("| %s | %s | %.0f | %.2g | %.2f %% | %s%s |\n", r->optype, r->what, d->most_ulp,
           d->most_relative, equal, relative, is_kept ? "" : ", NOT KEPT");
}

// ---- Tests ----

TEST(cpu_keeps_what_its_descriptions_promise)
{
    CHECK_OK(ln_arch_init());
    if (!ln_arch_find("cpu")) {
        ln_arch_cleanup();
        SKIP("the library was built without this arch");
    }
    int broken_count = 0;
    puts("| operator | | most ulp | most relative | equal | promised |\n|---|---|---|---|---|---|");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const row *r = &rows[i];
        const ln_op *op = ln_op_find(r->optype);
        CHECK_NOT_NULL(op);
        ln_context *ref = run_row(r, "ref"), *cpu = run_row(r, "cpu");
        if (has_op(ref, r->optype))
            fail_msg("%s %s is compared with itself", r->optype, r->what);
        if (!has_op(cpu, r->optype))
            fail_msg("%s %s runs as something else", r->optype, r->what);
        distance d = compare(ref, cpu);
        double promised = op->op_arg->info->rtol;
        int is_kept = promised > 0 ? d.most_relative <= promised : d.equal_share == 1;
        print_line(r, &d, promised, is_kept);
        broken_count += !is_kept;
        close_context(ref);
        close_context(cpu);
    }
    ln_arch_cleanup();
    CHECK_EQ(broken_count, 0);
}

TEST(every_operator_of_cpu_is_measured)
{
    CHECK_OK(ln_arch_init());
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        size_t k = 0;
        while (k < ROW_COUNT && !ln_streq(rows[k].optype, op->op_arg->optype))
            k++;
        if (ln_streq(op->op_arg->arch, "cpu") && k == ROW_COUNT)
            fail_msg("no row measures %s", op->op_arg->optype);
    }
    ln_arch_cleanup();
}

TEST(every_activation_is_measured)
{
    for (int act = 0; act < LN_ACT_COUNT; act++) {
        size_t k = 0;
        while (k < ROW_COUNT && !(ln_streq(rows[k].optype, "act_cpu") &&
                                  ln_streq(rows[k].what, ln_act_name((ln_act)act))))
            k++;
        if (k == ROW_COUNT)
            fail_msg("no row ACT(\"%s\", ...) measures this activation", ln_act_name((ln_act)act));
    }
}

TEST_LIST(cpu_keeps_what_its_descriptions_promise, every_operator_of_cpu_is_measured,
          every_activation_is_measured)
