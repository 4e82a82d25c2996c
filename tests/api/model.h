// SPDX-License-Identifier: Apache-2.0
// Models in text for the tests of the API, and the steps to a running context.

#ifndef LN_TESTS_API_MODEL_H
#define LN_TESTS_API_MODEL_H

#include <string.h>

#include <lightnet/lightnet.h>

#include "tests/test.h"

// y = relu(x + w), z = y reshaped; w is a constant.
#define SMALL_MODEL                                                                                \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"                                              \
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 3], ran=[0, 0], data=[1, 2, 3, 4, 5, 6], "          \
    "from_file=false);\n"                                                                          \
    "elew(src1=x, src2=w | dst=sum | elew_op=TL_SUM);\n"                                           \
    "relu(src=sum | dst=y |);\n"                                                                   \
    "reshape(src=y | dst=z | dims=[3, 2]);\n"

// A convolution with batch norm and relu, which compile into one operator.
#define CONV_MODEL                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 8, 8]);\n"                                        \
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 3, 3, 3], ran=[-1, 1], data=[0], "                  \
    "from_file=false);\n"                                                                          \
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1], data=[0], from_file=false);\n"        \
    "create(| dst=s | dtype=TL_FLOAT, dims=[4], ran=[1, 2], data=[0], from_file=false);\n"         \
    "create(| dst=v | dtype=TL_FLOAT, dims=[4], ran=[1, 2], data=[0], from_file=false);\n"         \
    "conv2d(src=x, weight=w, bias=b | dst=c | group=1, size=[3, 3], stride=[1, 1], "               \
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"                                    \
    "batchnorm(src=c, scale=s, offset=b, mean=b, var=v | dst=n | epsilon=1e-5);\n"                 \
    "relu(src=n | dst=y |);\n"

// A READY context of `text`; the test fails if there is none.
static inline ln_context *open_text(const char *text)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    return ctx;
}

// In place of a target: the model as it was read, which no rule has rewritten.
#define AS_READ "as read"

static inline ln_status compile_for(ln_context *ctx, const char *target)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = strcmp(target, AS_READ) == 0;
    return ln_context_compile_with(ctx, options.stays_as_read ? "ref" : target, &options);
}

// A LOADED context of `text`.
static inline ln_context *load_text(const char *text, const char *target)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(compile_for(ctx, target));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static inline void close_context(ln_context *ctx)
{
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
}

// A program for cpu of `ctx`, READY, which is closed; runs take one thread.
static inline ln_program *make_program(ln_context *ctx)
{
    ln_program *program;
    CHECK_OK(ln_context_set_threads(ctx, 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    return program;
}

#endif
