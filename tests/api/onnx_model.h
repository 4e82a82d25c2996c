// SPDX-License-Identifier: Apache-2.0
// Tests of single ONNX operators: models in text whose inputs get numbers from a table or from a
// generator, run on an arch, and compared with numbers or with another arch.

#ifndef LN_TESTS_API_ONNX_MODEL_H
#define LN_TESTS_API_ONNX_MODEL_H

#include <math.h>
#include <stdlib.h>

#include <lightnet/dtype.h>

#include "tests/api/model.h"
#include "tests/random.h"

#define ONNX_INPUT(name, dims)  "input(| dst=" name " | dtype=TL_FLOAT, dims=[" dims "]);\n"
#define ONNX_DOUBLE(name, dims) "input(| dst=" name " | dtype=TL_DOUBLE, dims=[" dims "]);\n"
#define ONNX_INT64(name, dims)  "input(| dst=" name " | dtype=TL_INT64, dims=[" dims "]);\n"

// A LOADED context of `text`, with the library around it.
static inline ln_context *onnx_load(const char *text, const char *target)
{
    CHECK_OK(ln_arch_init());
    return load_text(text, target);
}

static inline void onnx_close(ln_context *ctx)
{
    close_context(ctx);
    ln_arch_cleanup();
}

// Element `i` of tensor `name` as a double.
static inline double onnx_get(const ln_context *ctx, const char *name, int i)
{
    const tl_tensor *t = ln_tensor_table_find(ctx->tensor_table, name)->tensor;
    double x = 0;
    CHECK_OK(
        tl_convert(&x, TL_DOUBLE, (char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype));
    return x;
}

static inline void onnx_set(const ln_context *ctx, const char *name, int i, double x)
{
    const tl_tensor *t = ln_tensor_table_find(ctx->tensor_table, name)->tensor;
    CHECK_OK(
        tl_convert((char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype, &x, TL_DOUBLE));
}

// Element i of every input becomes a small number that depends on the seed.
static inline void onnx_fill(const ln_context *ctx, uint64_t seed)
{
    test_random random = {.state = seed};
    for (size_t in = 0; in < ln_context_input_count(ctx); in++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, in);
        for (int i = 0; i < entry->tensor->len; i++)
            onnx_set(ctx, entry->name, i, (double)test_random_below(&random, 4001) / 1000 - 2);
    }
}

// An operator `text` with inputs that count 1, 2, 3, ... must give `expected` as y on `target`.
typedef struct onnx_case {
    const char *why;
    const char *text;
    int ndim;
    int dims[TL_MAXDIM];
    double expected[64];
} onnx_case;

static inline void onnx_count(const ln_context *ctx)
{
    for (size_t in = 0; in < ln_context_input_count(ctx); in++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, in);
        for (int i = 0; i < entry->tensor->len; i++)
            onnx_set(ctx, entry->name, i, i + 1);
    }
}

static inline void onnx_check_case(const onnx_case *c, const char *target)
{
    printf("%s on %s\n", c->why, target);
    ln_context *ctx = onnx_load(c->text, target);
    onnx_count(ctx);
    CHECK_OK(ln_context_run(ctx));
    const tl_tensor *y = ln_tensor_table_find(ctx->tensor_table, "y")->tensor;
    CHECK_EQ(y->ndim, c->ndim);
    for (int d = 0; d < y->ndim; d++)
        CHECK_EQ(y->dims[d], c->dims[d]);
    for (int i = 0; i < y->len; i++) {
        double got = onnx_get(ctx, "y", i);
        if (isnan(c->expected[i]) || isinf(c->expected[i]))
            CHECK((isnan(got) && isnan(c->expected[i])) || got == c->expected[i]);
        else
            CHECK_NEAR(got, c->expected[i], 1e-5 * (1 + fabs(c->expected[i])));
    }
    onnx_close(ctx);
}

// The model must give on ref and on cpu what it gives as it was read, but for rounding.
static inline void onnx_check_agreement(const char *why, const char *text)
{
    static const char *const targets[] = {"ref", "cpu"};
    printf("%s\n", why);
    ln_context *as_read = onnx_load(text, AS_READ);
    onnx_fill(as_read, 1);
    CHECK_OK(ln_context_run(as_read));
    const tl_tensor *y = ln_tensor_table_find(as_read->tensor_table, "y")->tensor;
    CHECK(y->len > 0);
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        ln_context *ctx = onnx_load(text, targets[t]);
        onnx_fill(ctx, 1);
        CHECK_OK(ln_context_run(ctx));
        for (int i = 0; i < y->len; i++) {
            double expected = onnx_get(as_read, "y", i);
            CHECK_NEAR(onnx_get(ctx, "y", i), expected, 2e-5 * (1 + fabs(expected)));
        }
        onnx_close(ctx);
    }
    onnx_close(as_read);
}

// The model is refused when it is read, with these words.
static inline void onnx_check_refused(const char *text, const char *words)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    printf("%s", text);
    CHECK(ln_context_init_mem(ctx, text, strlen(text), "model.net") != LN_OK);
    CHECK_MESSAGE(words);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

#endif
