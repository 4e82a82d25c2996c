// SPDX-License-Identifier: Apache-2.0
// `lightnet ops` and `lightnet archs`: what this library was built with.

#include <string.h>

#include "cli.h"

static int wants_help(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);
}

// ---- ops ----

static void print_args(const char *title, const ln_arg_info *args)
{
    for (const ln_arg_info *arg = args; arg && arg->arg_name; arg++) {
        printf("  %-6s %s%s%s%s", title, arg->arg_name,
               arg->flags & LN_ARG_VARIADIC ? "1, 2, ..." : "",
               arg->flags & LN_ARG_OPTIONAL ? " (optional)" : "",
               arg->flags & LN_ARG_STATIC ? " (static)" : "");
        printf("%s%s\n", arg->doc ? ": " : "", arg->doc ? arg->doc : "");
    }
}

static void print_params(const ln_param_info *params)
{
    for (const ln_param_info *param = params; param && param->arg_name; param++) {
        printf("  param  %s %s", param->arg_name, ln_param_type_name(param->ptype));
        if (param->default_text)
            printf(" (default %s)", param->default_text);
        printf("%s%s\n", param->doc ? ": " : "", param->doc ? param->doc : "");
    }
}

static int describe_op(const char *optype)
{
    const ln_op *op = ln_op_find(optype);
    if (!op) {
        say_error("no operator '%s' is registered; `lightnet ops` lists them", optype);
        return EXIT_FAILED;
    }
    const ln_op_info *info = op->op_arg->info;
    printf("%s, arch %s\n", optype, op->op_arg->arch);
    if (!info)
        return EXIT_OK;
    if (info->doc)
        printf("%s\n", info->doc);
    print_args("in", info->ins);
    print_args("out", info->outs);
    print_params(info->params);
    if (info->dtypes)
        printf("  element types: %s\n", info->dtypes);
    if (info->nan)
        printf("  NaN and infinity: %s\n", info->nan);
    if (info->example)
        printf("\n%s\n", info->example);
    return EXIT_OK;
}

int cmd_ops(int argc, char **argv)
{
    if (wants_help(argc, argv)) {
        fputs(
            "Usage: lightnet ops [OPTYPE]\n\n"
            "Lists the registered operators with the arch each runs on; with a name, describes\n"
            "that operator's tensors and parameters, and what it does with element types and NaN.\n",
            stdout);
        return EXIT_OK;
    }
    if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
        return say_usage_error("ops", "'%s' is not understood", argv[argc - 1]);
    if (argc == 2)
        return describe_op(argv[1]);
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = op->op_arg->info;
        printf("%-20s %-6s %s\n", op->op_arg->optype, op->op_arg->arch,
               info && info->doc ? info->doc : "");
    }
    return EXIT_OK;
}

// ---- archs ----

static size_t count_ops(const char *arch_name)
{
    size_t count = 0;
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++)
        count += strcmp(op->op_arg->arch, arch_name) == 0;
    return count;
}

int cmd_archs(int argc, char **argv)
{
    if (wants_help(argc, argv)) {
        fputs("Usage: lightnet archs\n\n"
              "Lists the archs, where their tensors live, and how many operators each runs.\n",
              stdout);
        return EXIT_OK;
    }
    if (argc > 1)
        return say_usage_error("archs", "'%s' is not understood", argv[1]);
    const ln_arch *arch;
    for (size_t i = 0; (arch = ln_arch_find_at(i)); i++) {
        printf("%-6s %3zu operators, %s%s%s: %s\n", arch->arch_name, count_ops(arch->arch_name),
               ln_mem_type_name(arch->mem_type), arch->fallbacks ? ", falls back to " : "",
               arch->fallbacks ? arch->fallbacks : "", arch->doc ? arch->doc : "");
    }
    return EXIT_OK;
}
