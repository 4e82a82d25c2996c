// SPDX-License-Identifier: Apache-2.0
// --allow-write, and its opposite.

#include "write_option.h"

#include "cli.h"

static const char *allowed_folder; // NULL: none

int take_allow_write(void *unused, const char *verb, const char *folder)
{
    (void)unused;
    (void)verb;
    allowed_folder = folder;
    return EXIT_OK;
}

ln_status write_option_apply(ln_context *ctx)
{
    return allowed_folder ? ln_context_allow_write(ctx, allowed_folder) : LN_OK;
}

static void silence_ops(const ln_context *ctx)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!op->op_arg->tensors_out)
            op->run = op->static_run = NULL;
    }
}

void silence_model(const ln_context *ctx)
{
    silence_ops(ctx);
    const ln_context *graph;
    for (size_t i = 0; (graph = ln_context_graph(ctx, i)); i++)
        silence_ops(graph);
}
