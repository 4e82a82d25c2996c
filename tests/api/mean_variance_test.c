// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization and groupnorm against their formulas in long double: rows of all
// lengths, parts that lie apart, types beside float32.

#include "tests/api/onnx_model.h"

#define MAX_LEN 20000

typedef struct norm {
    const char *why, *dtype;
    int dims[4];
    bool is_reduced[4];
    const char *axes; // as text; NULL: those of images
    int groups;       // 0: MeanVarianceNormalization
    double mean;      // of the numbers
} norm;

static int length_of(const norm *n)
{
    return n->dims[0] * n->dims[1] * n->dims[2] * n->dims[3];
}

// The first element of the part that element i belongs to; of groupnorm the channels' groups.
static int part_of(const norm *n, int i)
{
    int part = 0;
    for (int d = 0, step = length_of(n); d < 4; d++) {
        step /= n->dims[d];
        int at = i / step % n->dims[d], width = n->dims[d];
        if (n->groups && d == 1)
            width = n->dims[1] / n->groups;
        else if (!n->is_reduced[d])
            width = 1;
        part += at / width * width * step;
    }
    return part;
}

static void expect(const norm *n, const double *x, double *y)
{
    static long double sums[MAX_LEN], squares[MAX_LEN];
    static int counts[MAX_LEN];
    int len = length_of(n);
    for (int i = 0; i < len; i++)
        sums[i] = squares[i] = counts[i] = 0;
    for (int i = 0; i < len; i++) {
        sums[part_of(n, i)] += x[i];
        counts[part_of(n, i)]++;
    }
    for (int i = 0; i < len; i++) {
        int p = part_of(n, i);
        squares[p] += powl(x[i] - sums[p] / counts[p], 2);
    }
    for (int i = 0; i < len; i++) {
        int p = part_of(n, i), c = i / (n->dims[2] * n->dims[3]) % n->dims[1];
        long double centred = x[i] - sums[p] / counts[p], variance = squares[p] / counts[p];
        y[i] = (double)(n->groups ? centred / sqrtl(variance + 0.25L) * (c + 1) - c
                                  : centred / (sqrtl(variance) + 1e-9L));
    }
}

// Scales 1, 2, 3, ... and biases 0, -1, -2, ...
static int write_groupnorm(const norm *n, size_t size, char *text)
{
    int len =
        snprintf(text, size, "create(| dst=s | dtype=%s, dims=[%d], data=[1", n->dtype, n->dims[1]);
    for (int c = 1; c < n->dims[1]; c++)
        len += snprintf(text + len, size - (size_t)len, ", %d", c + 1);
    len += snprintf(text + len, size - (size_t)len,
                    "]);\ncreate(| dst=o | dtype=%s, dims=[%d], data=[0", n->dtype, n->dims[1]);
    for (int c = 1; c < n->dims[1]; c++)
        len += snprintf(text + len, size - (size_t)len, ", %d", -c);
    return len + snprintf(text + len, size - (size_t)len,
                          "]);\ngroupnorm(src=x, scale=s, offset=o | dst=y | groups=%d, "
                          "epsilon=0.25);\n",
                          n->groups);
}

static void check(const norm *n, const char *target)
{
    static double x[MAX_LEN], y[MAX_LEN];
    char text[2048];
    int len = snprintf(text, sizeof text, "input(| dst=x | dtype=%s, dims=[%d, %d, %d, %d]);\n",
                       n->dtype, n->dims[0], n->dims[1], n->dims[2], n->dims[3]);
    if (n->groups)
        write_groupnorm(n, sizeof text - (size_t)len, text + len);
    else
        snprintf(text + len, sizeof text - (size_t)len,
                 "MeanVarianceNormalization(X=x | Y=y | %s);\n", n->axes ? n->axes : "");
    ln_context *ctx = onnx_load(text, target);
    test_random random = {.state = 7};
    for (int i = 0; i < length_of(n); i++) {
        onnx_set(ctx, "x", i, n->mean + (double)test_random_below(&random, 2001) / 1000 - 1);
        x[i] = onnx_get(ctx, "x", i);
    }
    expect(n, x, y);
    CHECK_OK(ln_context_run(ctx));
    double tolerance = strcmp(n->dtype, "TL_FLOAT16") == 0 ? 1e-3
                       : strcmp(target, "ref") == 0        ? 1e-7
                                                           : 1e-5;
    for (int i = 0; i < length_of(n); i++)
        CHECK_NEAR(onnx_get(ctx, "y", i), y[i], tolerance * (1 + fabs(y[i])));
    onnx_close(ctx);
}

// clang-format off
static const norm cases[] = {
    {"images",                   "TL_FLOAT",   {4, 6, 7, 9},     {1, 0, 1, 1}, NULL, 0, 0},
    {"a mean that is large",     "TL_FLOAT",   {4, 6, 7, 9},     {1, 0, 1, 1}, NULL, 0, 1000},
    {"rows that fill vectors",   "TL_FLOAT",   {2, 3, 4, 16},    {1, 0, 1, 1}, NULL, 0, 1},
    {"rows of less",             "TL_FLOAT",   {5, 3, 1, 7},     {1, 0, 1, 1}, NULL, 0, 1},
    {"rows of one",              "TL_FLOAT",   {5, 3, 1, 1},     {1, 0, 1, 1}, NULL, 0, 1},
    {"doubles",                  "TL_DOUBLE",  {4, 6, 7, 9},     {1, 0, 1, 1}, NULL, 0, 1},
    {"halves",                   "TL_FLOAT16", {4, 6, 7, 9},     {1, 0, 1, 1}, NULL, 0, 0},
    {"the last axis",            "TL_FLOAT",   {2, 3, 4, 19},    {0, 0, 0, 1}, "axes=[3]", 0, 1},
    {"the first axis",           "TL_FLOAT",   {4, 3, 4, 19},    {1, 0, 0, 0}, "axes=[0]", 0, 1},
    {"channels",                 "TL_FLOAT",   {4, 9, 2, 5},     {0, 1, 0, 0}, "axes=[1]", 0, 1},
    {"all",                      "TL_FLOAT",   {4, 9, 2, 5},     {1, 1, 1, 1}, "axes=[0, 1, 2, 3]", 0, 1},
    {"axes apart",               "TL_FLOAT",   {4, 9, 3, 21},    {0, 1, 0, 1}, "axes=[1, 3]", 0, 1},
    {"channels by themselves",   "TL_FLOAT",   {3, 6, 7, 9},     {0, 0, 1, 1}, NULL, 6, 1},
    {"groups of two",            "TL_FLOAT",   {3, 6, 7, 9},     {0, 0, 1, 1}, NULL, 3, 1},
    {"one group",                "TL_FLOAT",   {3, 6, 5, 8},     {0, 0, 1, 1}, NULL, 1, 1},
    {"groups without space",     "TL_FLOAT",   {3, 12, 1, 1},    {0, 0, 1, 1}, NULL, 2, 1},
    {"groups of doubles",        "TL_DOUBLE",  {3, 6, 7, 9},     {0, 0, 1, 1}, NULL, 3, 1},
};
// clang-format on

TEST(each_is_what_the_formula_says)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        check(&cases[i], "ref");
        check(&cases[i], "cpu");
    }
}

// -0 - 0 is -0, to which nothing is added.
TEST(zeros_keep_their_signs)
{
    ln_context *ctx = onnx_load("input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, 1, 9]);\n"
                                "MeanVarianceNormalization(X=x | Y=y |);\n",
                                "ref");
    for (int i = 0; i < 9; i++)
        onnx_set(ctx, "x", i, -0.0);
    CHECK_OK(ln_context_run(ctx));
    for (int i = 0; i < 9; i++)
        CHECK(onnx_get(ctx, "y", i) == 0 && signbit(onnx_get(ctx, "y", i)));
    onnx_close(ctx);
}

TEST_LIST(each_is_what_the_formula_says, zeros_keep_their_signs)
