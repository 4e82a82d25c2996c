// SPDX-License-Identifier: Apache-2.0
// Models in IL, run as they were read, on `ref` and on `cpu`, with the shape and the elements that
// a tensor `y` of theirs should have.

#ifndef LN_TESTS_API_ONNX_OUTPUTS_H
#define LN_TESTS_API_ONNX_OUTPUTS_H

#include <math.h>

#include "tests/api/model.h"

#define MOST_ELEMENTS 24

// Statements for tensors that a model reads.
#define F32(name, dims, data)                                                                      \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", data=" data ");\n"
#define I64(name, dims, data)                                                                      \
    "create(| dst=" name " | dtype=TL_INT64, dims=" dims ", data=" data ");\n"
#define I32(name, dims, data)                                                                      \
    "create(| dst=" name " | dtype=TL_INT32, dims=" dims ", data=" data ");\n"
#define BOOLS(name, dims, data)                                                                    \
    "create(| dst=" name " | dtype=TL_BOOL, dims=" dims ", data=" data ");\n"

typedef struct onnx_output {
    const char *why;
    const char *model;
    const char *dims; // such as "2x3"; "" for a scalar
    double y[MOST_ELEMENTS];
} onnx_output;

static inline void check_elements(const onnx_output *c, const char *target, const tl_tensor *y)
{
    char dims[64] = "";
    for (int i = 0, at = 0; i < y->ndim; i++)
        at += snprintf(dims + at, sizeof dims - (size_t)at, i ? "x%d" : "%d", y->dims[i]);
    if (strcmp(dims, c->dims) != 0 || y->len > MOST_ELEMENTS)
        fail_msg("%s on %s: y is %s, not %s", c->why, target, dims, c->dims);
    for (int i = 0; i < y->len; i++) {
        double got, want = c->y[i];
        const char *element = (const char *)y->data + (size_t)i * tl_size_of(y->dtype);
        CHECK_OK(tl_convert(&got, TL_DOUBLE, element, y->dtype));
        bool is_near = got == want || fabs(got - want) <= 1e-6 + 2e-6 * fabs(want);
        if (!is_near && !(isnan(got) && isnan(want)))
            fail_msg("%s on %s: element %d is %.9g, not %.9g", c->why, target, i, got, want);
    }
}

static inline void check_outputs(const char *target, const onnx_output *cases, size_t count)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < count; i++) {
        ln_context *ctx = load_text(cases[i].model, target);
        CHECK_OK(ln_context_run(ctx));
        ln_object *y;
        CHECK_OK(ln_context_get_object(ctx, "y", &y));
        check_elements(&cases[i], target, ln_object_tensor(y));
        ln_object_release(y);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

#define CHECK_OUTPUTS_ON(target, cases)                                                            \
    check_outputs(target, cases, sizeof(cases) / sizeof((cases)[0]))
#define CHECK_OUTPUTS(cases)                                                                       \
    (CHECK_OUTPUTS_ON(AS_READ, cases), CHECK_OUTPUTS_ON("ref", cases),                             \
     CHECK_OUTPUTS_ON("cpu", cases))

// A model that is refused when it is read, or when it is run.
typedef struct onnx_refusal {
    const char *why;
    const char *model;
    const char *message;
} onnx_refusal;

static inline void check_refusals(const onnx_refusal *cases, size_t count)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < count; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        ln_status status =
            ln_context_init_mem(ctx, cases[i].model, strlen(cases[i].model), "model.net");
        if (status == LN_OK)
            status = ln_context_compile(ctx, "ref");
        if (status == LN_OK)
            status = ln_context_load(ctx, NULL);
        if (status == LN_OK)
            status = ln_context_run(ctx);
        if (status == LN_OK)
            fail_msg("%s: nothing failed", cases[i].why);
        if (!strstr(ln_error_message(), cases[i].message))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].why, ln_error_message(),
                     cases[i].message);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

#define CHECK_REFUSALS(cases) check_refusals(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
