// SPDX-License-Identifier: Apache-2.0
// `lightnet inspect`: what a model is, and what it costs.

#include <getopt.h>
#include <string.h>

#include "cli.h"

static const char help[] =
    "Usage: lightnet inspect [OPTION...] MODEL\n"
    "\n"
    "Shows a model's inputs, outputs, operators by type, parameters, multiply-accumulates of one\n"
    "run, and the exact memory it needs on the target.\n"
    "\n"
    "Options:\n"
    "  -t, --target=TARGET  the arch to price the memory for (default cpu)\n"
    "  -h, --help           show this help\n";

static void print_tensor(const char *role, const ln_tensor_entry *entry)
{
    char shape[128];
    ln_sprint_shape(shape, sizeof shape, entry->tensor->ndim, entry->tensor->dims);
    printf("%-10s %s %s %s\n", role, entry->name, tl_dtype_name(entry->tensor->dtype), shape);
}

// Operators by type, in the order of their first appearance.
static ln_status print_ops(const ln_context *ctx)
{
    printf("operators  %d\n", ln_list_length(ctx->ops));
    ln_hash *counts = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!counts)
        return LN_NO_MEMORY;
    ln_status status = LN_OK;
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next) {
        const char *optype = ((const ln_op *)l->data)->op_arg->optype;
        uintptr_t count = (uintptr_t)ln_hash_find(counts, optype);
        if (ln_hash_insert(counts, optype, (void *)(count + 1)) < 0)
            status = LN_NO_MEMORY;
    }
    size_t cursor = 0;
    const void *optype;
    void *count;
    while (status == LN_OK && ln_hash_next(counts, &cursor, &optype, &count))
        printf("%10zu %s\n", (size_t)(uintptr_t)count, (const char *)optype);
    ln_hash_free(counts);
    return status;
}

// Elements of the constants that are no inputs: weights and other parameters.
static size_t count_parameters(const ln_context *ctx)
{
    size_t count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        for (const ln_list *out = arg->tensors_out; out && !arg->tensors_in; out = out->next) {
            const ln_tensor_list_entry *listed = out->data;
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
            if (entry && entry->isstatic)
                count += (size_t)entry->tensor->len;
        }
    }
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++)
        count -= input->isstatic ? (size_t)input->tensor->len : 0;
    return count;
}

static ln_status print_memory(ln_context *ctx, const char *target)
{
    if (ctx->state < LN_CONTEXT_PLANNED)
        LN_TRY(compile_model(ctx, target, NULL));
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++) {
        if (ctx->mem_sizes[m] > 0)
            printf("memory     %s on %s: static %s + workspace %s = peak %s bytes\n",
                   ln_mem_type_name((ln_mem_type)m), ctx->target, grouped(ctx->static_sizes[m]),
                   grouped(ctx->mem_sizes[m] - ctx->static_sizes[m]), grouped(ctx->mem_sizes[m]));
    }
    return LN_OK;
}

int cmd_inspect(int argc, char **argv)
{
    static const struct option long_options[] = {{"target", required_argument, NULL, 't'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    const char *target = "cpu";
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:h", long_options, NULL)) != -1) {
        switch (option) {
        case 't': target = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_OK;
        case ':': return say_usage_error("inspect", "option %s needs a value", argv[optind - 1]);
        default: return say_usage_error("inspect", "unknown option %s", argv[optind - 1]);
        }
    }
    if (optind + 1 != argc)
        return say_usage_error("inspect", optind == argc ? "no model" : "one model at a time");

    ln_context *ctx = open_model(argv[optind]);
    if (!ctx)
        return EXIT_FAILED;
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++)
        print_tensor("input", entry);
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++)
        print_tensor("output", entry);
    int code = print_ops(ctx) == LN_OK ? EXIT_OK : say_failure();
    printf("parameters %s\n", grouped(count_parameters(ctx)));
    printf("work       %.0f multiply-accumulates a run\n", ln_context_work(ctx));
    if (code == EXIT_OK && print_memory(ctx, target) != LN_OK)
        code = say_failure();
    close_model(ctx);
    return code;
}
