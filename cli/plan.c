// SPDX-License-Identifier: Apache-2.0
// `lightnet plan`: where each tensor lies, how long, and what it comes to.

#include <getopt.h>
#include <string.h>

#include "cli.h"

static const char help[] =
    "Usage: lightnet plan [OPTION...] MODEL\n"
    "\n"
    "Compiles MODEL (unless it is compiled) and prints its memory plan: each tensor with its place\n"
    "and the steps between which it is needed, and the exact peak. Nothing is allocated.\n"
    "\n"
    "Options:\n"
    "  -t, --target=TARGET  the arch to compile for (default cpu)\n"
    "  -s, --short          totals only\n"
    "  -h, --help           show this help\n";

static void print_value(const ln_plan_value *value)
{
    char steps[32];
    snprintf(steps, sizeof steps, "%u-%u", value->first_step, value->last_step);
    const char *region = value->is_static ? "static" : "workspace";
    if (value->owner)
        region = "view";
    printf("%12zu %12zu  %-9s %-11s %s", value->offset, value->byte_count, region, steps,
           value->name);
    if (value->owner)
        printf(" (in %s)", value->owner);
    printf("%s%s\n", value->is_input ? " [input]" : "", value->is_output ? " [output]" : "");
}

static void print_plan(const ln_plan *plan, int is_short)
{
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_plan_totals *totals = &plan->totals[m];
        if (totals->peak_byte_count == 0)
            continue;
        const char *name = ln_mem_type_name((ln_mem_type)m);
        if (!is_short) {
            printf("%s\n%12s %12s  %-9s %-11s %s\n", name, "offset", "bytes", "region", "steps",
                   "tensor");
            for (size_t i = 0; i < plan->value_count; i++) {
                if (plan->values[i].mtype == (ln_mem_type)m)
                    print_value(&plan->values[i]);
            }
        }
        printf("%s: static %zu + workspace %zu = peak %zu bytes\n", name, totals->static_byte_count,
               totals->workspace_byte_count, totals->peak_byte_count);
    }
}

int cmd_plan(int argc, char **argv)
{
    static const struct option long_options[] = {{"target", required_argument, NULL, 't'},
                                                 {"short", no_argument, NULL, 's'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    const char *target = "cpu";
    int is_short = 0, option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:sh", long_options, NULL)) != -1) {
        switch (option) {
        case 't': target = optarg; break;
        case 's': is_short = 1; break;
        case 'h': fputs(help, stdout); return EXIT_OK;
        case ':': return say_usage_error("plan", "option %s needs a value", argv[optind - 1]);
        default: return say_usage_error("plan", "unknown option %s", argv[optind - 1]);
        }
    }
    if (optind + 1 != argc)
        return say_usage_error("plan", optind == argc ? "no model" : "one model at a time");

    ln_context *ctx = open_compiled(argv[optind], target);
    if (!ctx)
        return EXIT_FAILED;
    ln_plan *plan;
    int code = EXIT_OK;
    if (ln_context_plan_create(ctx, &plan) == LN_OK) {
        print_plan(plan, is_short);
        ln_context_plan_free(plan);
    } else {
        code = say_failure();
    }
    close_model(ctx);
    return code;
}
