// SPDX-License-Identifier: Apache-2.0
// `lightnet plan --json`: the plan for other programs.

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plan_draw.h"

static void put_tensor(FILE *out, const ln_context *ctx, const ln_plan_value *value)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, value->name);
    fputs("    {\"name\": ", out);
    print_json_string(out, value->name);
    if (entry) {
        fprintf(out, ", \"dtype\": \"%s\", \"shape\": [", tl_dtype_name(entry->tensor->dtype));
        for (int i = 0; i < entry->tensor->ndim; i++)
            fprintf(out, "%s%d", i ? ", " : "", entry->tensor->dims[i]);
        fputc(']', out);
    }
    fprintf(out,
            ", \"memory\": \"%s\", \"offset\": %zu, \"bytes\": %zu, \"first_step\": %u, "
            "\"last_step\": %u, \"static\": %s, \"loading\": %s, \"input\": %s, \"output\": %s",
            ln_mem_type_name(value->mtype), value->offset, value->byte_count, value->first_step,
            value->last_step, value->is_static ? "true" : "false",
            value->is_load ? "true" : "false", value->is_input ? "true" : "false",
            value->is_output ? "true" : "false");
    if (value->mapped_byte_count > 0)
        fprintf(out, ", \"in_file\": %zu", value->mapped_byte_count);
    if (value->owner) {
        fputs(", \"owner\": ", out);
        print_json_string(out, value->owner);
    }
    fputc('}', out);
}

static void put_steps(FILE *out, const ln_context *ctx, const ln_plan *plan)
{
    for (size_t s = 0; s < plan->step_count; s++) {
        const ln_op *op = ln_op_table_find(ctx->op_table, plan->steps[s].op);
        fputs(s ? ",\n    {\"op\": " : "    {\"op\": ", out);
        print_json_string(out, plan->steps[s].op);
        if (op) {
            fputs(", \"optype\": ", out);
            print_json_string(out, op->op_arg->optype);
        }
        fputc('}', out);
    }
}

// What holds for all shapes that were given as ranges.
static void put_range(FILE *out, const ln_context *ctx)
{
    if (!ln_context_range_worst(ctx))
        return;
    fputs("  \"range\": {\"worst\": ", out);
    print_json_string(out, ln_context_range_worst(ctx));
    fprintf(out, ", \"shapes\": %.0f, \"looked_at\": %zu, \"peak\": {",
            ln_context_range_shape_count(ctx), ln_context_range_checked_count(ctx));
    const char *comma = "";
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++) {
        size_t peak = ln_context_range_peak_bytes(ctx, (ln_mem_type)m);
        if (peak == 0)
            continue;
        fprintf(out, "%s\"%s\": %zu", comma, ln_mem_type_name((ln_mem_type)m), peak);
        comma = ", ";
    }
    fputs("}},\n", out);
}

// What is on devices: the members of an object without its brackets. *out_text, which the caller
// frees, is "" where nothing is.
static ln_status describe_split(const ln_context *ctx, const model_split *split,
                                const offload_notes *notes, char **out_text)
{
    json_out j;
    *out_text = NULL;
    LN_TRY(json_begin_item(&j));
    split_put_json(&j, split, ctx, notes);
    return json_finish_item(&j, out_text);
}

ln_status plan_write_json(FILE *out, const ln_context *ctx, const ln_plan *plan,
                          const model_split *split, const offload_notes *notes)
{
    char *devices;
    LN_TRY(describe_split(ctx, split, notes, &devices));
    fputs("{\n  \"source\": ", out);
    print_json_string(out, ln_context_source(ctx) ? ln_context_source(ctx) : "");
    fputs(",\n  \"target\": ", out);
    print_json_string(out, ln_context_target(ctx) ? ln_context_target(ctx) : "");
    fputs(",\n  \"memory\": {", out);
    int is_first = 1;
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_plan_totals *totals = &plan->totals[m];
        if (totals->peak_byte_count == 0)
            continue;
        fprintf(out,
                "%s\n    \"%s\": {\"static\": %zu, \"workspace\": %zu, \"peak\": %zu, "
                "\"loading\": %zu}",
                is_first ? "" : ",", ln_mem_type_name((ln_mem_type)m), totals->static_byte_count,
                totals->workspace_byte_count, totals->peak_byte_count, totals->load_byte_count);
        is_first = 0;
    }
    ln_unplanned unplanned = ln_context_unplanned(ctx);
    fprintf(out, "\n  },\n  \"in_file\": %zu", ln_context_mapped_bytes(ctx));
    fprintf(out, ",\n  \"unplanned\": {\"tensors\": %zu, \"operators\": %zu},\n",
            unplanned.tensor_count, unplanned.op_count);
    put_range(out, ctx);
    if (strlen(devices) > 2) // without its brackets
        fprintf(out, "  %.*s,\n", (int)strlen(devices) - 2, devices + 1);
    free(devices);
    fputs("  \"steps\": [\n", out);
    put_steps(out, ctx, plan);
    fputs("\n  ],\n  \"tensors\": [\n", out);
    for (size_t i = 0; i < plan->value_count; i++) {
        if (i)
            fputs(",\n", out);
        put_tensor(out, ctx, &plan->values[i]);
    }
    fputs("\n  ]\n}\n", out);
    return LN_OK;
}
