// SPDX-License-Identifier: Apache-2.0
// Checks of ONNX operators: small models in IL, run on `ref`, and the values they should give.
//
//     static const onnx_values cases[] = {
//         {"negative axis", "CumSum(x=x, axis=a | y=y |);", TL_FLOAT, {1, {2}}, {1, 3}},
//     };
//
// A model reads `x`, an input of the dtype of the case, and other tensors, and makes `y`.

#ifndef LN_TESTS_API_ONNX_VALUES_H
#define LN_TESTS_API_ONNX_VALUES_H

#include <math.h>

#include "tests/api/model.h"

// Statements for tensors that models read.
#define FLOATS(name, dims, data)                                                                   \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", data=" data ");\n"
#define INTS(name, dims, data)                                                                     \
    "create(| dst=" name " | dtype=TL_INT64, dims=" dims ", data=" data ");\n"
#define BOOLS(name, dims, data)                                                                    \
    "create(| dst=" name " | dtype=TL_BOOL, dims=" dims ", data=" data ");\n"

#define ONNX_MOST 16

typedef struct onnx_shape {
    int ndim;
    int dims[TL_MAXDIM];
} onnx_shape;

typedef struct onnx_values {
    const char *why;
    const char *model;
    tl_dtype x_dtype;
    onnx_shape x_shape;
    double x[ONNX_MOST]; // elements of the input, in row-major order
    tl_dtype y_dtype;
    onnx_shape y_shape;
    double y[ONNX_MOST];
} onnx_values;

static inline ln_context *onnx_open(const onnx_values *c)
{
    static char text[4096];
    int at =
        snprintf(text, sizeof text, "input(| dst=x | dtype=%s, dims=[", tl_dtype_name(c->x_dtype));
    for (int d = 0; d < c->x_shape.ndim; d++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%d", d ? ", " : "",
                       c->x_shape.dims[d]);
    snprintf(text + at, sizeof text - (size_t)at, "]);\n%s\n", c->model);
    return load_text(text, "ref");
}

static inline void onnx_set_x(ln_context *ctx, const onnx_values *c)
{
    int len = tl_compute_length(c->x_shape.ndim, c->x_shape.dims);
    uint64_t room[2 * ONNX_MOST];
    CHECK(len <= ONNX_MOST);
    CHECK_OK(tl_convert_n(room, c->x_dtype, c->x, TL_DOUBLE, (size_t)len));
    CHECK_OK(ln_context_set_data(ctx, "x", room));
}

static inline void onnx_check_y(ln_context *ctx, const onnx_values *c)
{
    ln_object *object;
    CHECK_OK(ln_context_get_object(ctx, "y", &object));
    const tl_tensor *y = ln_object_tensor(object);
    CHECK_NOT_NULL(y);
    if (y->dtype != c->y_dtype || y->ndim != c->y_shape.ndim)
        fail_msg("%s: y is %s of rank %d", c->why, tl_dtype_name(y->dtype), y->ndim);
    for (int d = 0; d < y->ndim; d++)
        if (y->dims[d] != c->y_shape.dims[d])
            fail_msg("%s: dimension %d is %d", c->why, d, y->dims[d]);
    for (int i = 0; i < y->len; i++) {
        double got;
        CHECK_OK(tl_convert(&got, TL_DOUBLE,
                            (const char *)y->data + (size_t)i * tl_size_of(y->dtype), y->dtype));
        double want = c->y[i], tolerance = 2e-6 * fabs(want);
        if (c->y_dtype == TL_FLOAT16)
            tolerance = 1e-3 * fabs(want);
        bool is_same = got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance;
        if (!is_same || (want == 0 && got != 0))
            fail_msg("%s: element %d is %.9g, not %.9g", c->why, i, got, want);
    }
    ln_object_release(object);
}

// Runs each model twice, the second time after its input was cleared and set again.
static inline void onnx_check(const onnx_values *cases, size_t count)
{
    CHECK_OK(ln_arch_init());
    for (size_t k = 0; k < count; k++) {
        ln_context *ctx = onnx_open(&cases[k]);
        for (int round = 0; round < 2; round++) {
            onnx_set_x(ctx, &cases[k]);
            CHECK_OK(ln_context_run(ctx));
            onnx_check_y(ctx, &cases[k]);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

#define ONNX_CHECK(cases) onnx_check(cases, sizeof(cases) / sizeof((cases)[0]))

// `model`, which reads `x`, fails when it is read, or when it is run on zeros; `message` says why.
typedef struct onnx_failure {
    const char *why;
    const char *model;
    tl_dtype x_dtype;
    onnx_shape x_shape;
    const char *message;
} onnx_failure;

static inline void onnx_check_failures(const onnx_failure *cases, size_t count)
{
    CHECK_OK(ln_arch_init());
    for (size_t k = 0; k < count; k++) {
        onnx_values c = {
            .model = cases[k].model, .x_dtype = cases[k].x_dtype, .x_shape = cases[k].x_shape};
        char text[2048];
        int at = snprintf(text, sizeof text, "input(| dst=x | dtype=%s, dims=[",
                          tl_dtype_name(c.x_dtype));
        for (int d = 0; d < c.x_shape.ndim; d++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s%d", d ? ", " : "",
                           c.x_shape.dims[d]);
        snprintf(text + at, sizeof text - (size_t)at, "]);\n%s\n", c.model);
        ln_context *ctx = ln_context_create();
        ln_status status = ln_context_init_mem(ctx, text, strlen(text), "model.net");
        if (status == LN_OK)
            status = ln_context_compile(ctx, "ref");
        if (status == LN_OK)
            status = ln_context_load(ctx, NULL);
        if (status == LN_OK) {
            onnx_set_x(ctx, &c);
            status = ln_context_run(ctx);
        }
        if (status == LN_OK)
            fail_msg("%s: nothing failed", cases[k].why);
        if (!strstr(ln_error_message(), cases[k].message))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[k].why, ln_error_message(),
                     cases[k].message);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

#define ONNX_CHECK_FAILURES(cases) onnx_check_failures(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
