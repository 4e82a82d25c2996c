// SPDX-License-Identifier: Apache-2.0
// Tables of small models and what becomes of them, as text: for the tests of operators of ONNX.

#ifndef LN_TESTS_API_ONNX_ROWS_H
#define LN_TESTS_API_ONNX_ROWS_H

#include <stdio.h>
#include <string.h>

#include <lightnet/object.h>

#include "tests/api/model.h"

// A constant called `name`.
#define T(name, dtype, dims, data)                                                                 \
    "create(| dst=" name " | dtype=TL_" dtype ", dims=[" dims "], ran=[0, 0], data=[" data         \
    "], from_file=false);\n"
#define FLOATS(name, dims, data) T(name, "FLOAT", dims, data)
#define INTS(name, dims, data)   T(name, "INT64", dims, data)

// `y` is "FLOAT 2x3: 1 2 3 4 5 6", a scalar "FLOAT: 1", or the model fails with a message that has
// `y` in it and begins elsewhere.
typedef struct onnx_row {
    const char *why;
    const char *model; // has a tensor y
    const char *y;
} onnx_row;

static inline void append(char *text, size_t size, const char *fmt, double x, const char *s)
{
    size_t len = strlen(text);
    if (s)
        snprintf(text + len, size - len, fmt, s);
    else
        snprintf(text + len, size - len, fmt, x);
}

static inline void write_tensor(const tl_tensor *t, char *text, size_t size)
{
    snprintf(text, size, "%s", tl_dtype_name(t->dtype) + 3);
    for (int i = 0; i < t->ndim; i++)
        append(text, size, i == 0 ? " %.0f" : "x%.0f", t->dims[i], NULL);
    append(text, size, "%s", 0, ":");
    for (int i = 0; i < t->len; i++) {
        double x;
        if (t->dtype == TL_STRING) {
            const char *s = ((const char *const *)t->data)[i];
            append(text, size, " '%s'", 0, s ? s : "");
            continue;
        }
        CHECK_OK(tl_convert(&x, TL_DOUBLE, (char *)t->data + (size_t)i * tl_size_of(t->dtype),
                            t->dtype));
        append(text, size, " %.5g", x, NULL);
    }
}

static inline ln_status run_row(ln_context *ctx, const char *model)
{
    LN_TRY(ln_context_init_mem(ctx, model, strlen(model), "model.net"));
    LN_TRY(ln_context_compile(ctx, "ref"));
    LN_TRY(ln_context_load(ctx, NULL));
    return ln_context_run(ctx);
}

static inline void check_row(const onnx_row *row)
{
    char text[2048] = "";
    ln_object *y = NULL;
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    if (run_row(ctx, row->model) == LN_OK && ln_context_get_object(ctx, "y", &y) == LN_OK)
        write_tensor(ln_object_tensor(y), text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", ln_error_message());
    if (strcmp(text, row->y) != 0 && (y || !strstr(text, row->y)))
        fail_msg("%s: '%s' instead of '%s'", row->why, text, row->y);
    ln_object_release(y);
    close_context(ctx);
}

#define CHECK_ROWS(rows)                                                                           \
    do {                                                                                           \
        CHECK_OK(ln_arch_init());                                                                  \
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows)[0]; i++)                                \
            check_row(&(rows)[i]);                                                                 \
        ln_arch_cleanup();                                                                         \
    } while (0)

#endif
