// SPDX-License-Identifier: Apache-2.0
// Matrix products of ONNX and Einsum: small cases worked out by hand, ref against cpu, and what is
// refused.

#include "tests/api/onnx_model.h"

#define A(dims) ONNX_INPUT("a", dims)
#define B(dims) ONNX_INPUT("b", dims)
#define C(dims) ONNX_INPUT("c", dims)

static const onnx_case cases[] = {
    {"matrices", A("2, 2") B("2, 2") "MatMul(A=a, B=b | Y=y |);\n", 2, {2, 2}, {7, 10, 15, 22}},
    {"vectors", A("3") B("3") "MatMul(A=a, B=b | Y=y |);\n", 0, {0}, {14}},
    {"a vector on the left", A("2") B("2, 2") "MatMul(A=a, B=b | Y=y |);\n", 1, {2}, {7, 10}},
    {"a vector on the right", A("2, 2") B("2") "MatMul(A=a, B=b | Y=y |);\n", 1, {2}, {5, 11}},
    {"stacks",
     A("2, 1, 1, 2") B("2, 2, 1") "MatMul(A=a, B=b | Y=y |);\n",
     4,
     {2, 2, 1, 1},
     {5, 11, 11, 25}},
    {"nothing to sum", A("2, 0") B("0, 1") "MatMul(A=a, B=b | Y=y |);\n", 2, {2, 1}, {0, 0}},
    {"no rows", A("0, 2") B("2, 3") "MatMul(A=a, B=b | Y=y |);\n", 2, {0, 3}, {0}},
    {"transposed, with a factor",
     A("2, 2") B("2, 2") "ms_FusedMatMul(A=a, B=b | Y=y | transB=1, alpha=0.5);\n",
     2,
     {2, 2},
     {2.5, 5.5, 5.5, 12.5}},
    {"the first axis behind the batch",
     A("2, 2, 1") B("2, 1, 1") "ms_FusedMatMul(A=a, B=b | Y=y | transBatchA=1);\n",
     3,
     {2, 2, 1},
     {1, 3, 4, 8}},
    {"gemm",
     A("2, 2") B("2, 2") C("2") "Gemm(A=a, B=b, C=c | Y=y | alpha=2, beta=3);\n",
     2,
     {2, 2},
     {17, 26, 33, 50}},
    {"gemm, transposed",
     A("2, 1") B("3, 2") "Gemm(A=a, B=b | Y=y | transA=1, transB=1);\n",
     2,
     {1, 3},
     {5, 11, 17}},
    {"gemm, a column of C",
     A("2, 1") B("1, 2") C("2, 1") "Gemm(A=a, B=b, C=c | Y=y |);\n",
     2,
     {2, 2},
     {2, 3, 4, 6}},
    {"gemm, C is a scalar",
     A("1, 1") B("1, 2") C("") "Gemm(A=a, B=b, C=c | Y=y |);\n",
     2,
     {1, 2},
     {2, 3}},
    {"gemm of nothing is C",
     A("1, 0") B("0, 2") C("2") "Gemm(A=a, B=b, C=c | Y=y |);\n",
     2,
     {1, 2},
     {1, 2}},
    {"fused gemm",
     A("1, 1") B(
         "1, 2") "ms_FusedGemm(A=a, B=b | Y=y | alpha=-1, activation=LeakyRelu, activation_alpha=0.5);\n",
     2,
     {1, 2},
     {-0.5, -1}},
    {"product",
     A("2, 2") B("2, 2") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"ij, jk -> ik\");\n",
     2,
     {2, 2},
     {7, 10, 15, 22}},
    {"the output is implied",
     A("2, 2") B("2, 2") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"ij,jh\");\n",
     2,
     {2, 2},
     {7, 15, 10, 22}},
    {"trace", A("2, 2") "Einsum(Inputs1=a | Output=y | equation=\"ii\");\n", 0, {0}, {5}},
    {"diagonal", A("2, 2") "Einsum(Inputs1=a | Output=y | equation=\"ii->i\");\n", 1, {2}, {1, 4}},
    {"transposed",
     A("1, 2, 3") "Einsum(Inputs1=a | Output=y | equation=\"...ij->...ji\");\n",
     3,
     {1, 3, 2},
     {1, 4, 2, 5, 3, 6}},
    {"ellipses broadcast",
     A("2, 1, 2")
         B("3, 2") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"...i,...i->...\");\n",
     2,
     {2, 3},
     {5, 11, 17, 11, 25, 39}},
    {"three terms",
     A("2") B("2")
         C("2") "Einsum(Inputs1=a, Inputs2=b, Inputs3=c | Output=y | equation=\"i,i,i->\");\n",
     0,
     {0},
     {9}},
    {"sum over nothing", A("0") "Einsum(Inputs1=a | Output=y | equation=\"i->\");\n", 0, {0}, {0}},
};

TEST(products_give_what_the_definition_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        onnx_check_case(&cases[i], AS_READ);
        onnx_check_case(&cases[i], "ref");
        onnx_check_case(&cases[i], "cpu");
    }
}

TEST(integers_wrap)
{
    ln_context *ctx = onnx_load("input(| dst=a | dtype=TL_INT32, dims=[1, 2]);\n"
                                "input(| dst=b | dtype=TL_INT32, dims=[2, 1]);\n"
                                "MatMul(A=a, B=b | Y=y |);\n"
                                "Gemm(A=a, B=b | Y=z | alpha=0.5);\n"
                                "Einsum(Inputs1=a, Inputs2=b | Output=e | equation=\"ij,jk\");\n",
                                "cpu");
    onnx_set(ctx, "a", 0, 2147483647);
    onnx_set(ctx, "a", 1, 1);
    onnx_set(ctx, "b", 0, 1);
    onnx_set(ctx, "b", 1, 2);
    CHECK_OK(ln_context_run(ctx));
    CHECK_NEAR(onnx_get(ctx, "y", 0), -2147483647, 0);
    CHECK_NEAR(onnx_get(ctx, "z", 0), 1073741824, 0);
    CHECK_NEAR(onnx_get(ctx, "e", 0), -2147483647, 0);
    onnx_close(ctx);
}

TEST(c_takes_no_part_with_beta_0)
{
    const char *const targets[] = {"ref", "cpu"};
    for (int t = 0; t < 2; t++) {
        ln_context *ctx = onnx_load(
            A("1, 1") B("1, 1") C("1") "Gemm(A=a, B=b, C=c | Y=y | beta=0);\n", targets[t]);
        onnx_count(ctx);
        onnx_set(ctx, "c", 0, NAN);
        CHECK_OK(ln_context_run(ctx));
        CHECK_NEAR(onnx_get(ctx, "y", 0), 1, 0);
        onnx_close(ctx);
    }
}

TEST(cpu_agrees_with_ref)
{
    static const struct {
        const char *why, *text;
    } models[] = {
        {"matrices", A("37, 53") B("53, 41") "MatMul(A=a, B=b | Y=y |);\n"},
        {"stack times matrix", A("3, 2, 7, 20") B("20, 11") "MatMul(A=a, B=b | Y=y |);\n"},
        {"stack times stack", A("3, 1, 7, 20") B("2, 20, 11") "MatMul(A=a, B=b | Y=y |);\n"},
        {"matrix times stack", A("7, 20") B("3, 2, 20, 11") "MatMul(A=a, B=b | Y=y |);\n"},
        {"vector times stack", A("20") B("3, 20, 11") "MatMul(A=a, B=b | Y=y |);\n"},
        {"stack times vector", A("3, 5, 20") B("20") "MatMul(A=a, B=b | Y=y |);\n"},
        {"rank 1 stacks", A("1, 1, 5, 20") B("1, 20, 3") "MatMul(A=a, B=b | Y=y |);\n"},
        {"both transposed",
         A("3, 20, 7")
             B("3, 11, 20") "ms_FusedMatMul(A=a, B=b | Y=y | transA=1, transB=1, alpha=0.125);\n"},
        {"batch transposed",
         A("7, 3, 20")
             B("20, 3, 11") "ms_FusedMatMul(A=a, B=b | Y=y | transBatchA=1, transBatchB=1);\n"},
        {"one row, B transposed",
         A("1, 70") B("90, 70") C("90") "Gemm(A=a, B=b, C=c | Y=y | transB=1);\n"},
        {"few rows, B transposed",
         A("3, 70") B("90, 70") C("90") "Gemm(A=a, B=b, C=c | Y=y | transB=1);\n"},
        {"many rows, B transposed",
         A("200, 7") B("9, 7") C("200, 1") "Gemm(A=a, B=b, C=c | Y=y | transB=1);\n"},
        {"few rows, both transposed",
         A("70, 3") B("90, 70")
             C("3, 90") "Gemm(A=a, B=b, C=c | Y=y | transA=1, transB=1, beta=0.5);\n"},
        {"A transposed", A("70, 30") B("70, 9") "Gemm(A=a, B=b | Y=y | transA=1, alpha=0.25);\n"},
        {"fused relu",
         A("4, 30") B("30, 9") C("9") "ms_FusedGemm(A=a, B=b, C=c | Y=y | activation=Relu);\n"},
        {"few rows, addend and activation",
         A("3, 30") B("70, 30")
             C("3, 70") "linear(src=a, weight=b, addend=c | dst=y | transB=1, act=tanh);\n"},
        {"rows of several axes, addend behind the activation",
         A("3, 7, 30") B("30, 70")
             C("3, 7, 70") "linear(src=a, weight=b, addend=c | dst=y | act=silu, add=last);\n"},
        {"one row, activation with numbers",
         A("30") B("30, 70")
             C("70") "linear(src=a, weight=b, bias=c | dst=y | act=clip, alpha=-2, beta=3);\n"},
        {"equation, heads of queries and keys",
         A("2, 3, 7, 20") B(
             "2, 3, 9, 20") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"bhid,bhjd->bhij\");\n"},
        {"equation, heads and values to tokens",
         A("2, 3, 7, 9") B(
             "2, 9, 3, 20") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"bhij,bjhd->bihd\");\n"},
        {"equation, pixels and words",
         A("2, 5, 4, 6") B(
             "2, 7, 5") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"bchw,bnc->bnhw\");\n"},
        {"equation, weights of planes",
         A("2, 3, 4, 5, 6") B(
             "3, 6, 7") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"nkctv,kvw->nctw\");\n"},
        {"equation, two summed axes",
         A("7, 8, 3, 4") B(
             "9, 3, 4") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"abcd,ecd->abe\");\n"},
        {"equation, an outer product",
         A("7, 1, 3")
             B("5") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"abc,d->abcd\");\n"},
        {"equation, positions of rows",
         A("2, 6, 7, 20") B(
             "7, 9, 20") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"bhwc,wkc->bhwk\");\n"},
        {"equation, summed axes in another order",
         A("7, 3, 4")
             B("4, 3, 9") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"aij,jib->ab\");\n"},
        {"equation, rows around columns",
         A("2, 3, 20") B(
             "5, 20, 7") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"abk,ckn->acbn\");\n"},
        {"equation, rows in another order",
         A("3, 4, 20")
             B("20, 9") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"abk,kn->ban\");\n"},
        {"equation, a summed axis of one term",
         A("3, 4, 20")
             B("20, 9") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"abk,kn->an\");\n"},
        {"equation, one term twice over",
         A("4, 4, 5")
             B("5, 9") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"aak,kn->an\");\n"},
        {"equation, elements",
         A("3, 4") B("3, 4") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"ab,ab->ab\");\n"},
        {"fused relu behind factors",
         A("4, 30") B("30, 9")
             C("9") "ms_FusedGemm(A=a, B=b, C=c | Y=y | activation=Relu, beta=2);\n"},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        onnx_check_agreement(models[i].why, models[i].text);
}

TEST(an_equation_without_end_is_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(
        ONNX_INPUT("a", "10, 10, 10, 10") "Einsum(Inputs1=a, Inputs2=a, Inputs3=a, Inputs4=a | "
                                          "Output=y | equation=\"abcd,efgh,ijkl,mnop->\");\n");
    CHECK_FAILS(ln_context_compile(ctx, "ref"), LN_LIMIT);
    CHECK_MESSAGE("over the limit of 6e+11");
    onnx_close(ctx);
}

#define EINSUM(equation)                                                                           \
    A("2, 3") B("3, 2") "Einsum(Inputs1=a, Inputs2=b | Output=y | equation=\"" equation "\");\n"

TEST(what_does_not_fit_is_refused_with_a_reason)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {A("2, 3") B("2, 3") "MatMul(A=a, B=b | Y=y |);\n", "3 columns times 2 rows"},
        {A("2, 2, 3") B("3, 3, 2") "MatMul(A=a, B=b | Y=y |);\n", "do not broadcast"},
        {A("") B("2") "MatMul(A=a, B=b | Y=y |);\n", "scalar"},
        {A("2") B("2, 2") "Gemm(A=a, B=b | Y=y |);\n", "rank 1"},
        {A("2, 2") B("2, 2") C("3") "Gemm(A=a, B=b, C=c | Y=y |);\n", "does not broadcast"},
        {A("2, 2") B("2, 2") C("1, 2, 2") "Gemm(A=a, B=b, C=c | Y=y |);\n", "rank 3"},
        {A("2, 2") B("2, 2") C("3") "linear(src=a, weight=b, bias=c | dst=y |);\n",
         "3 biases instead of 2"},
        {A("2, 2") B("2, 2") C("3") "linear(src=a, weight=b, addend=c | dst=y |);\n",
         "3 elements instead of 4"},
        {A("2, 2") B("2, 2") "linear(src=a, weight=b | dst=y | add=middle);\n", "first or last"},
        {EINSUM("ij->ij"), "2 inputs"},
        {EINSUM("ij,jk,kl"), "more terms"},
        {EINSUM("ijk,jk"), "3 labels"},
        {EINSUM("i,jk"), "1 labels"},
        {EINSUM("ij,ij"), "dimension 0 of term 2 is of size 3, but 'i' of size 2: make them equal"},
        {EINSUM("...,..."), "dimension 0 of term 2 is of size 3, but '.' of size 2"},
        {EINSUM("ij,jk->il"), "has 'l', which no input has: leave it out"},
        {EINSUM("ij,jk->ii"), "has 'i' twice: give it another letter"},
        {EINSUM("ij,jk->ik,"), "goes on"},
        {EINSUM("ij,j.k"), "code 46"},
        {EINSUM("......ij,jk"), "two ellipses"},
        {EINSUM("ij,jk-"), "'-'"},
        {EINSUM("aaaaaaaaaaaaa,jk"), "more than 8 labels"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        onnx_check_refused(wrong[i].text, wrong[i].words);
}

TEST_LIST(products_give_what_the_definition_says, integers_wrap, c_takes_no_part_with_beta_0,
          cpu_agrees_with_ref, an_equation_without_end_is_refused,
          what_does_not_fit_is_refused_with_a_reason)
