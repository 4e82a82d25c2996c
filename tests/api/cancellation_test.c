// SPDX-License-Identifier: Apache-2.0
// Means that are much larger than what deviates from them: whatever subtracts a mean, or sums
// squares, is held against the model as it was read in double precision, from the same numbers.

#include "tests/api/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

#define CHANNELS 8
#define ROWS     6
#define COLUMNS  10
#define COUNT    (2 * CHANNELS * ROWS * COLUMNS)

// x is [2, 8, 6, 10]; s and o are constants of the last axis, c and d of the channels. T is the
// type.
static const char leaves[] =
    "input(| dst=x | dtype=T, dims=[2, 8, 6, 10]);\n"
    "create(| dst=s | dtype=T, dims=[10], data=[1, 2, -1, 0.5, 3, 1, 1, 4, -2, 1]);\n"
    "create(| dst=o | dtype=T, dims=[10], data=[1, 0, -1, 0.5, 3, 0, 0, 1, -2, 1]);\n"
    "create(| dst=c | dtype=T, dims=[8], data=[1, 2, -1, 0.5, 3, 1, 1, 4]);\n"
    "create(| dst=d | dtype=T, dims=[8], data=[1, 0, -1, 0.5, 3, 0, 0, 1]);\n"
    "create(| dst=two | dtype=T, dims=[], data=[2]);\n"
    "create(| dst=tiny | dtype=T, dims=[], data=[1e-5]);\n"
    "create(| dst=last | dtype=TL_INT64, dims=[1], data=[-1]);\n"
    // Each channel as it is, so that what follows is computed channels-last.
    "create(| dst=unit | dtype=T, dims=[8, 8, 1, 1], data=[1, 0, 0, 0, 0, 0, 0, 0,  0, 1, 0, 0, 0, "
    "0, 0, 0,  0, 0, 1, 0, 0, 0, 0, 0,  0, 0, 0, 1, 0, 0, 0, 0,  0, 0, 0, 0, 1, 0, 0, 0,  0, 0, 0, "
    "0, 0, 1, 0, 0,  0, 0, 0, 0, 0, 0, 1, 0,  0, 0, 0, 0, 0, 0, 0, 1]);\n";

// clang-format off
static const struct {
    const char *why, *statements;
} models[] = {
    {"layer norm", "layernorm(src=x, scale=s, bias=o | dst=y | epsilon=1e-5);\n"},
    {"of ONNX", "LayerNormalization(X=x, Scale=s, B=o | Y=y | axis=-1);\n"},
    {"over two axes", "create(| dst=w | dtype=T, dims=[6, 10], data=[1, 2, 3]);\n"
                      "LayerNormalization(X=x, Scale=w | Y=y | axis=2);\n"},
    {"in steps", "ReduceMean(data=x, axes=last | reduced=m |);\n"
                 "Sub(A=x, B=m | C=e |);\n"
                 "Pow(X=e, Y=two | Z=p |);\n"
                 "ReduceMean(data=p, axes=last | reduced=v |);\n"
                 "Add(A=v, B=tiny | C=w |);\n"
                 "Sqrt(X=w | Y=r |);\n"
                 "Div(A=e, B=r | C=n |);\n"
                 "Mul(A=n, B=s | C=t |);\n"
                 "Add(A=t, B=o | C=y |);\n"},
    {"after a sum", "ms_SkipLayerNormalization(input=x, skip=x, gamma=s, beta=o | output=y |);\n"},
    {"instance norm", "InstanceNormalization(input=x, scale=c, B=d | output=y |);\n"},
    {"channels-last", "conv(src=x, weight=unit | dst=i |);\n"
                      "InstanceNormalization(input=i, scale=c, B=d | output=y |);\n"},
    {"group norm", "GroupNormalization(X=x, scale=c, bias=d | Y=y | num_groups=2);\n"},
    {"of the core, channels-last", "conv(src=x, weight=unit | dst=i |);\n"
                                   "groupnorm(src=i, scale=c, offset=d | dst=y | groups=4);\n"},
    {"mean and variance", "MeanVarianceNormalization(X=x | Y=y |);\n"},
    {"of rows", "MeanVarianceNormalization(X=x | Y=y | axes=[3]);\n"},
    {"root mean square", "RMSNormalization(X=x, scale=s | Y=y |);\n"},
    {"in steps", "Pow(X=x, Y=two | Z=p |);\n"
                 "ReduceMean(data=p, axes=last | reduced=v |);\n"
                 "Add(A=v, B=tiny | C=w |);\n"
                 "Sqrt(X=w | Y=r |);\n"
                 "Div(A=x, B=r | C=n |);\n"
                 "Mul(A=n, B=s | C=y |);\n"},
    {"response normalization", "LRN(X=x | Y=y | size=3);\n"},
    {"lengths", "LpNormalization(input=x | output=y | p=2);\n"},
    {"sums of squares", "ReduceSumSquare(data=x, axes=last | reduced=y |);\n"},
    {"roots of them", "ReduceL2(data=x, axes=last | reduced=y |);\n"},
    {"softmax", "softmax(src=x | dst=y | axis=3);\n"},
    {"of channels", "softmax(src=x | dst=y | axis=1);\n"},
    {"its logarithm", "LogSoftmax(input=x | output=y | axis=-1);\n"},
    {"the logarithm of a sum", "ReduceLogSumExp(data=x, axes=last | reduced=y |);\n"},
    {"batch norm", "create(| dst=v | dtype=T, dims=[8], data=[1, 2, 3, 4, 0.5, 1, 2, 1]);\n"
                   "create(| dst=m | dtype=T, dims=[8], data=[100000, 99999, 100001, 1e5, 1e5, 1e5, 1e5, 1e5]);\n"
                   "batchnorm(src=x, scale=c, offset=d, mean=m, var=v | dst=y | epsilon=1e-5);\n"},
};

// As floats, which are then the same numbers as doubles.
static const struct {
    double mean, deviation;
} rows[] = {{1e5, 1}, {1e5, 1e-3}, {-1e5, 1}, {1e3, 1e-3}, {0, 1}, {1e5, 0}};
// clang-format on

static char *text_of(size_t model, const char *dtype)
{
    static char text[8192];
    size_t used = 0;
    for (int part = 0; part < 2; part++)
        for (const char *at = part ? models[model].statements : leaves; *at; at++) {
            const bool is_type = strncmp(at, "dtype=T,", 8) == 0;
            used += (size_t)snprintf(text + used, sizeof text - used, is_type ? "dtype=%s" : "%.1s",
                                     is_type ? dtype : at);
            at += is_type ? 6 : 0;
        }
    return text;
}

static void fill(float *x, double mean, double deviation)
{
    test_random random = {.state = 7};
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(mean +
                       deviation * ((double)test_random_below(&random, 1 << 20) / (1 << 19) - 1));
}

// The output as doubles; the caller frees it.
static double *run(size_t model, const char *dtype, const char *target, const void *x,
                   size_t *count)
{
    ln_context *ctx = load_text(text_of(model, dtype), target);
    ln_object *object;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &object));
    const tl_tensor *y = ln_object_tensor(object);
    *count = (size_t)y->len;
    double *numbers = malloc((*count + 1) * sizeof *numbers);
    CHECK_NOT_NULL(numbers);
    for (size_t i = 0; i < *count; i++)
        CHECK_OK(tl_convert(&numbers[i], TL_DOUBLE,
                            (const char *)y->data + i * tl_size_of(y->dtype), y->dtype));
    ln_object_release(object);
    close_context(ctx);
    return numbers;
}

static void compare(size_t model, const char *target, const float *x, const double *expected,
                    size_t count, double mean, double deviation)
{
    size_t got_count;
    double *got = run(model, "TL_FLOAT", target, x, &got_count), most = 0;
    CHECK_EQ(got_count, count);
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(got[i] - expected[i]) <= 4e-6 * most))
            fail_msg("%s (%s), mean %g, deviation %g, on %s: y[%zu] is %.9g instead of %.9g",
                     models[model].why, models[model].statements, mean, deviation, target, i,
                     got[i], expected[i]);
    free(got);
}

TEST(means_do_not_cancel_what_deviates)
{
    static float x[COUNT];
    static double wide[COUNT];
    CHECK_OK(ln_arch_init());
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            size_t count;
            fill(x, rows[r].mean, rows[r].deviation);
            for (int i = 0; i < COUNT; i++)
                wide[i] = x[i];
            double *expected = run(k, "TL_DOUBLE", AS_READ, wide, &count);
            compare(k, "cpu", x, expected, count, rows[r].mean, rows[r].deviation);
            compare(k, "ref", x, expected, count, rows[r].mean, rows[r].deviation);
            free(expected);
        }
    ln_arch_cleanup();
}

TEST_LIST(means_do_not_cancel_what_deviates)
