// SPDX-License-Identifier: Apache-2.0
// What a model computes, compared with what it should, for the tests of operators.

#ifndef LN_TESTS_API_VALUES_H
#define LN_TESTS_API_VALUES_H

#include <math.h>
#include <string.h>

#include <lightnet/lightnet.h>
#include <lightnet/object.h>

#include "tests/api/model.h"

// A context of `text` that has run on arch `ref`, to be closed with `close_run`.
static inline ln_context *run_text(const char *text)
{
    ln_arch_init();
    ln_context *ctx = load_text(text, "ref");
    CHECK_OK(ln_context_run(ctx));
    return ctx;
}

static inline void close_run(ln_context *ctx)
{
    close_context(ctx);
    ln_arch_cleanup();
}

// The model fails with `status`, when it is read or when it runs, and the message has `message`.
static inline void check_fails(const char *text, ln_status status, const char *message)
{
    ln_arch_init();
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_status got = ln_context_init_mem(ctx, text, strlen(text), "model.net");
    if (got == LN_OK)
        got = ln_context_compile(ctx, "ref");
    if (got == LN_OK)
        got = ln_context_load(ctx, NULL);
    if (got == LN_OK)
        got = ln_context_run(ctx);
    if (got != status)
        fail_msg("%s: %s instead of %s: %s", text, ln_status_name(got), ln_status_name(status),
                 ln_error_message());
    CHECK_MESSAGE(message);
    close_run(ctx);
}

static inline double value_at(const tl_tensor *tensor, int index)
{
    switch (tensor->dtype) {
    case TL_FLOAT: return ((const float *)tensor->data)[index];
    case TL_DOUBLE: return ((const double *)tensor->data)[index];
    case TL_INT64: return (double)((const int64_t *)tensor->data)[index];
    case TL_INT32: return ((const int32_t *)tensor->data)[index];
    case TL_INT16: return ((const int16_t *)tensor->data)[index];
    case TL_UINT8: return ((const uint8_t *)tensor->data)[index];
    case TL_BOOL: return ((const tl_bool *)tensor->data)[index];
    default: fail_msg("no test has elements of type %s", tl_dtype_name(tensor->dtype));
    }
    return 0;
}

// Tensor `name` has this type, these dimensions and these numbers, to a relative 1e-5.
static inline void check_numbers(ln_context *ctx, const char *name, tl_dtype dtype, int ndim,
                                 const int *dims, const double *values)
{
    ln_object *object;
    CHECK_OK(ln_context_get_object(ctx, name, &object));
    const tl_tensor *tensor = ln_object_tensor(object);
    if (!tensor || tensor->dtype != dtype || tensor->ndim != ndim)
        fail_msg("%s is %s of rank %d", name, tensor ? tl_dtype_name(tensor->dtype) : "no tensor",
                 tensor ? tensor->ndim : 0);
    for (int d = 0; d < ndim; d++)
        if (tensor->dims[d] != dims[d])
            fail_msg("%s: dimension %d is %d, not %d", name, d, tensor->dims[d], dims[d]);
    for (int i = 0; i < tensor->len; i++) {
        double got = value_at(tensor, i), want = values[i];
        bool is_same = isnan(want) ? isnan(got) : fabs(got - want) <= 1e-6 + 1e-5 * fabs(want);
        if (!is_same)
            fail_msg("%s[%d] is %g, not %g", name, i, got, want);
    }
    ln_object_release(object);
}

static inline void check_strings(ln_context *ctx, const char *name, int ndim, const int *dims,
                                 const char *const *values)
{
    ln_object *object;
    CHECK_OK(ln_context_get_object(ctx, name, &object));
    const tl_tensor *tensor = ln_object_tensor(object);
    CHECK(tensor && tensor->dtype == TL_STRING);
    CHECK_EQ(tensor->ndim, ndim);
    for (int d = 0; d < ndim; d++)
        CHECK_EQ(tensor->dims[d], dims[d]);
    for (int i = 0; i < tensor->len; i++) {
        const char *got = ((const char *const *)tensor->data)[i];
        CHECK_STR_EQ(got ? got : "", values[i]);
    }
    ln_object_release(object);
}

#define DIMS(...)                                                                                  \
    (int[])                                                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define NUMBERS(...)                                                                               \
    (double[])                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define STRINGS(...)                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

#endif
