// SPDX-License-Identifier: Apache-2.0
// LRN on ref and cpu, against its formula in double: windows of all sizes, and numbers whose
// squares a float does not have.

#include "tests/api/onnx_model.h"

#define MAX_LEN 20000

typedef struct lrn {
    const char *why;
    int batch, channels, pixels;
    int size;
    double alpha, beta, bias;
    double scale; // of the numbers, which are up to it on either side
} lrn;

static double sum_of_squares(const lrn *l, int first, int last, const float *x, int at)
{
    double sum = 0;
    for (int c = first < 0 ? 0 : first; c <= last && c < l->channels; c++)
        sum += (double)x[c * l->pixels + at] * (double)x[c * l->pixels + at];
    return sum;
}

// Element `i` as the formula has it.
static double expected_at(const lrn *l, const float *x, int i)
{
    int pixel = i % l->pixels, channel = i / l->pixels % l->channels;
    const float *image = x + i / (l->pixels * l->channels) * (l->pixels * l->channels);
    int first = channel - (l->size + 1) / 2 + 1;
    double sum = sum_of_squares(l, first, first + l->size - 1, image, pixel);
    return (float)((double)x[i] / pow(l->bias + l->alpha / l->size * sum, l->beta));
}

static void fill(const lrn *l, float *x)
{
    test_random random = {.state = 7};
    int len = l->batch * l->channels * l->pixels;
    for (int i = 0; i < len; i++)
        x[i] = (float)(l->scale * ((double)test_random_below(&random, 2001) / 1000 - 1));
}

static void check(const lrn *l, const float *x, const char *target)
{
    char text[512];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d]);\n"
             "LRN(X=x | Y=y | size=%d, alpha=%.17g, beta=%.17g, bias=%.17g);\n",
             l->batch, l->channels, l->pixels, l->size, l->alpha, l->beta, l->bias);
    ln_context *ctx = onnx_load(text, target);
    int len = l->batch * l->channels * l->pixels;
    for (int i = 0; i < len; i++)
        onnx_set(ctx, "x", i, (double)x[i]);
    CHECK_OK(ln_context_run(ctx));
    for (int i = 0; i < len; i++) {
        double got = onnx_get(ctx, "y", i), expected = expected_at(l, x, i);
        CHECK(isnan(got) == isnan(expected));
        if (isfinite(expected))
            CHECK_NEAR(got, expected, 1e-5 * fabs(expected));
        else if (!isnan(expected))
            CHECK(got == expected);
    }
    onnx_close(ctx);
}

// clang-format off
static const lrn cases[] = {
    {"as networks have it",            2,  7, 29,  5, 1e-4, 0.75, 1,   100},
    {"one channel",                    1,  1,  5,  5, 0.5,  0.75, 1,   2},
    {"one that counts",                1,  4,  5,  1, 0.5,  0.75, 1,   2},
    {"an even number",                 2,  9, 13,  4, 0.5,  0.75, 2,   2},
    {"two",                            1,  9, 13,  2, 2,    1,    0.5, 2},
    {"more than there are",            2,  5,  3, 11, 0.5,  0.5,  1,   2},
    {"as many as vectors take",        1, 70,  3, 64, 0.5,  0.75, 1,   2},
    {"more than vectors take",         1, 70,  3, 65, 0.5,  0.75, 1,   2},
    {"some pixels more than a block",  2,  3, 513, 3, 0.5,  0.75, 1,   2},
    {"three blocks and a rest",        1,  3, 1601, 3, 0.5, 0.75, 1,   2},
    {"exponent 0",                     1,  3,  5,  3, 0.5,  0,    1,   2},
    {"an exponent above 1",            1,  3,  5,  3, 0.5,  2,    1,   2},
    {"a power that is nothing",        1,  3,  5,  3, 0.5,  2,    0,   3e-12},
    {"a negative exponent",            1,  3,  5,  3, 0.5,  -1,   1,   2},
    {"a factor below 0",               1,  3,  5,  3, -0.5, 0.75, 3,   2},
    {"without a summand",              1,  3,  5,  3, 0.5,  0.75, 0,   2},
    {"a summand below 0",              1,  3,  5,  3, 0.5,  0.75, -0.1, 2},
    {"squares that are infinite",      2,  5,  5,  3, 1e-4, 0.75, 1,   1e20},
    {"sums that are infinite",         1,  5,  5,  3, 1e-4, 0.75, 1,   1.5e19},
    {"products that are infinite",     1,  5,  5,  3, 1e5,  1,    1,   1e17},
    {"squares that are nothing",       1,  5,  5,  3, 0.5,  0.75, 0,   1e-25},
    {"squares that are subnormal",     1,  5,  5,  3, 0.5,  0.75, 0,   1e-19},
    {"small numbers, a large factor",  1,  5,  5,  3, 1e18, 0.75, 0,   1e-20},
    {"large numbers, a small factor",  1,  5,  5,  3, 1e-40, 0.75, 0,  1e19},
    {"a summand that is subnormal",    1,  5,  5,  3, 1e-15, 0.75, 1e-42, 1e-15},
};
// clang-format on

TEST(each_is_what_the_formula_says)
{
    static float x[MAX_LEN];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fill(&cases[i], x);
        printf("%s\n", cases[i].why);
        check(&cases[i], x, "ref");
        check(&cases[i], x, "cpu");
    }
}

// Neighbours of an infinity are 0; it becomes NaN itself, as do the neighbours of a NaN.
TEST(others_stay_what_they_are)
{
    static const lrn l = {"", 1, 5, 600, 3, 0.5, 0.75, 1, 2};
    static float x[MAX_LEN];
    fill(&l, x);
    x[0] = NAN;
    x[2 * 600 + 599] = INFINITY;
    x[599] = -INFINITY;
    x[4 * 600 + 512] = 1e30f;
    x[300] = 0;
    check(&l, x, "ref");
    check(&l, x, "cpu");
}

// 0 beside numbers whose sum has no such power in float.
TEST(zeros_stay_zeros)
{
    static const lrn l = {"", 1, 2, 1, 3, 0.5, -2, 1, 2};
    static const float x[] = {0, 1e13f};
    check(&l, x, "ref");
    check(&l, x, "cpu");
}

TEST_LIST(each_is_what_the_formula_says, others_stay_what_they_are, zeros_stay_zeros)
