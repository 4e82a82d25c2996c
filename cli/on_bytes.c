// SPDX-License-Identifier: Apache-2.0
// What a compiled model computes on integers of 8 bits, and where it rounds to them.

#include "on_bytes.h"

#include <string.h>

#include "compare.h"
#include "fallback.h"

static int reads_bytes(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *in = op->op_arg->tensors_in ? op->op_arg->tensors_in->data : NULL;
    const ln_tensor_entry *entry = in ? ln_tensor_table_find(ctx->tensor_table, in->name) : NULL;
    const tl_tensor *tensor = entry ? entry->tensor : NULL;
    return tensor && (tensor->dtype == TL_INT8 || tensor->dtype == TL_UINT8);
}

on_bytes on_bytes_of(const ln_context *ctx)
{
    on_bytes b = {0};
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const double macs = op_is_run(ctx, op) ? ln_op_macs(op) : 0;
        if (macs == 0)
            continue;
        const int is_of_bytes = reads_bytes(ctx, op);
        b.product_count++;
        b.byte_count += (size_t)is_of_bytes;
        b.macs += macs;
        b.byte_macs += is_of_bytes ? macs : 0;
    }
    return b;
}

size_t count_rounding(const ln_context *ctx, const char **out_optype)
{
    size_t count = 0;
    const ln_op *op;
    *out_optype = NULL;
    LN_LIST_FOREACH (op, ctx->ops) {
        const char *optype = op->op_arg->optype;
        if (!op_is_run(ctx, op) || !(is_quantizing(optype) || strncmp(optype, "Round", 5) == 0))
            continue;
        if (count++ == 0)
            *out_optype = optype;
    }
    return count;
}
