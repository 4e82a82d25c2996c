// SPDX-License-Identifier: Apache-2.0
// Models whose operators are joined into one that runs by bands of rows, and the same models with
// those operators apart.

#ifndef LN_TESTS_API_BANDS_H
#define LN_TESTS_API_BANDS_H

#include <stdio.h>

#include "tests/api/onnx_model.h"

// Everything but the rules for lowered operators.
#define PASSES_APART "dead,fold,layout,settle,join,tune,expand,combine,subgraph,schedule,order"

static size_t bands_count(const ln_context *ctx, const char *optype)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += (size_t)ln_streq(op->op_arg->optype, optype);
    return count;
}

// A model that is ready to run, with its inputs filled. It has one operator of type `joined`, or
// none when there are `passes`.
static ln_context *bands_open(const char *text, const char *joined, const char *passes,
                              size_t threads)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    ln_context *ctx = open_text(text);
    if (ln_context_compile_with(ctx, "cpu", &options) != LN_OK ||
        ln_context_load(ctx, NULL) != LN_OK)
        fail_msg("%s\n%s", text, ln_error_message());
    CHECK_EQ(bands_count(ctx, joined), !passes);
    CHECK_OK(ln_context_set_threads(ctx, threads));
    onnx_fill(ctx, 1);
    return ctx;
}

static size_t bands_workspace(const char *text, const char *passes)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    size_t byte_count = plan->totals[LN_MEM_CPU].workspace_byte_count;
    ln_context_plan_free(plan);
    close_context(ctx);
    return byte_count;
}

// A model needs a quarter less where its operators are joined.
static void check_bands_need_less(const char *text)
{
    size_t apart = bands_workspace(text, PASSES_APART), whole = bands_workspace(text, NULL);
    printf("%zu bytes, %zu in bands\n", apart, whole);
    CHECK(whole + whole / 3 < apart);
}

#endif
