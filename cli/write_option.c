// SPDX-License-Identifier: Apache-2.0
// --allow-write, and its opposite.

#include "write_option.h"

#include <string.h>

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

// `prefix` begins the types that are silenced; "" begins all.
static void silence_ops(const ln_context *ctx, const char *prefix)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!op->op_arg->tensors_out && strncmp(op->op_arg->optype, prefix, strlen(prefix)) == 0)
            op->run = op->static_run = NULL;
    }
}

static void silence_all(const ln_context *ctx, const char *prefix)
{
    silence_ops(ctx, prefix);
    const ln_context *graph;
    for (size_t i = 0; (graph = ln_context_graph(ctx, i)); i++)
        silence_ops(graph, prefix);
}

void silence_model(const ln_context *ctx)
{
    silence_all(ctx, "");
}

void silence_prints(const ln_context *ctx)
{
    silence_all(ctx, "print");
}
