// SPDX-License-Identifier: Apache-2.0
// Logarithms of sums of exponentials on ref and cpu, against the formula in double.

#include "tests/api/onnx_model.h"

#define MAX_LEN 20000

typedef struct lines {
    const char *why;
    int outer, n, inner;
    double scale; // of the numbers, which are up to it on either side
} lines;

// Result `i`; a sum that no exponential is too large for.
static double expected_at(const lines *l, const float *x, int i)
{
    const float *line = x + i / l->inner * l->n * l->inner + i % l->inner;
    double largest = -INFINITY, sum = 0;
    for (int k = 0; k < l->n; k++)
        largest = fmax(largest, (double)line[k * l->inner]);
    double shift = isinf(largest) ? 0 : largest;
    for (int k = 0; k < l->n; k++)
        sum += exp((double)line[k * l->inner] - shift);
    return log(sum) + shift;
}

static void check(const lines *l, const float *x, const char *target)
{
    char text[256];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d]);\n"
             "reduce(src=x | dst=y | kind=log_sum_exp, axes=[1]);\n",
             l->outer, l->n, l->inner);
    ln_context *ctx = onnx_load(text, target);
    for (int i = 0; i < l->outer * l->n * l->inner; i++)
        onnx_set(ctx, "x", i, (double)x[i]);
    CHECK_OK(ln_context_run(ctx));
    for (int i = 0; i < l->outer * l->inner; i++) {
        double got = onnx_get(ctx, "y", i), expected = expected_at(l, x, i);
        CHECK(isnan(got) == isnan(expected));
        if (isfinite(expected))
            CHECK_NEAR(got, expected, 3e-7 * (1 + fabs(expected)));
        else if (!isnan(expected))
            CHECK(got == expected);
    }
    onnx_close(ctx);
}

// clang-format off
static const lines cases[] = {
    {"rows of one",                 7,    1,    1, 4},
    {"columns of one",              2,    1,    9, 4},
    {"rows of two",                 5,    2,    1, 4},
    {"a row as wide as a task",     3,  512,    1, 4},
    {"one more",                    3,  513,    1, 4},
    {"a long row",                  2, 1601,    1, 4},
    {"columns",                     3,   17,    5, 4},
    {"columns of all of a task",    2,    3,  512, 4},
    {"one more column",             2,    3,  513, 4},
    {"three tasks and a rest",      1,    4, 1601, 4},
    {"exponentials that overflow",  2,    9,    5, 1000},
    {"the same of rows",            2,  900,    1, 1000},
    {"the largest alone",           2,    9,    5, 3e38},
    {"numbers that are almost 0",   2,    9,    5, 1e-30},
};
// clang-format on

static void fill(const lines *l, float *x)
{
    test_random random = {.state = 7};
    for (int i = 0; i < l->outer * l->n * l->inner; i++)
        x[i] = (float)(l->scale * ((double)test_random_below(&random, 2001) / 1000 - 1));
}

TEST(each_is_what_the_formula_says)
{
    static float x[MAX_LEN];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printf("%s\n", cases[i].why);
        fill(&cases[i], x);
        check(&cases[i], x, "ref");
        check(&cases[i], x, "cpu");
    }
}

TEST(infinities_and_nan_are_what_the_formula_says)
{
    static const lines both[] = {{"columns", 1, 3, 5, 4}, {"rows", 5, 3, 1, 4}};
    static const float of_lines[5][3] = {{INFINITY, 1, -INFINITY},
                                         {-INFINITY, -INFINITY, -INFINITY},
                                         {-INFINITY, 2, -INFINITY},
                                         {1, NAN, 2},
                                         {INFINITY, INFINITY, 3}};
    for (int k = 0; k < 2; k++) {
        float x[15];
        for (int i = 0; i < 15; i++)
            x[i] = k == 0 ? of_lines[i % 5][i / 5] : of_lines[i / 3][i % 3];
        check(&both[k], x, "ref");
        check(&both[k], x, "cpu");
    }
}

TEST_LIST(each_is_what_the_formula_says, infinities_and_nan_are_what_the_formula_says)
