// SPDX-License-Identifier: Apache-2.0
// `lightnet plan`: where each tensor is, how long, and what it comes to.

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "file_bytes.h"
#include "given_options.h"
#include "json_out.h"
#include "model_io.h"
#include "plan_draw.h"
#include "plugin_option.h"

static void print_value(FILE *out, const ln_plan_value *value)
{
    char steps[32];
    snprintf(steps, sizeof steps, "%u-%u", value->first_step, value->last_step);
    const char *region = value->is_load ? "loading" : value->is_static ? "static" : "workspace";
    if (value->owner)
        region = "view";
    if (value->mapped_byte_count > 0)
        fprintf(out, "%12s %12zu  %-9s %-11s %s", "-", value->mapped_byte_count, "in file", steps,
                printable(value->name));
    else
        fprintf(out, "%12zu %12zu  %-9s %-11s %s", value->offset, value->byte_count, region, steps,
                printable(value->name));
    if (value->owner)
        fprintf(out, " (in %s)", printable(value->owner));
    fprintf(out, "%s%s\n", value->is_input ? " [input]" : "", value->is_output ? " [output]" : "");
}

// "3 tensors of dynamic shape ('a', 'b', 'c', ...)"
static void print_names(FILE *out, size_t count, const char *what, const char *const names[3])
{
    fprintf(out, "%zu %s%s (", count, what, count == 1 ? "" : "s");
    for (size_t i = 0; i < 3 && names[i]; i++) {
        fputs(i ? ", " : "", out);
        put_printable(names[i], out);
    }
    fputs(count > 3 ? ", ...)" : ")", out);
}

static void print_unplanned(FILE *out, const ln_unplanned *u)
{
    if (u->tensor_count > 0) {
        fputs("not in it: ", out);
        print_names(out, u->tensor_count, "tensor", u->tensors);
        fputs(" of a shape that only a run knows; shapes of inputs are given with -s\n", out);
    }
    if (u->op_count > 0) {
        fputs("not in it: workspace that ", out);
        print_names(out, u->op_count, "operator", u->ops);
        fprintf(out, " take%s in the run\n", u->op_count == 1 ? "s" : "");
    }
}

// What holds for all shapes that were given as ranges.
static void print_range(FILE *out, const ln_context *ctx, int is_all_planned)
{
    const char *worst = ln_context_range_worst(ctx);
    double count = ln_context_range_shape_count(ctx);
    size_t checked = ln_context_range_checked_count(ctx);
    for (int m = 1; worst && m < LN_MEM_TYPE_SIZE; m++)
        if (ln_context_range_peak_bytes(ctx, (ln_mem_type)m) > 0)
            fprintf(out, "%s: peak %s%zu bytes for each of %.0f shapes (%s%zu looked at)\n",
                    ln_mem_type_title((ln_mem_type)m), is_all_planned ? "" : "of what is fixed ",
                    ln_context_range_peak_bytes(ctx, (ln_mem_type)m), count,
                    count > (double)checked ? "" : "all ", checked);
    if (worst)
        fprintf(out, "most is needed by %s\n", worst);
}

static void print_plan(FILE *out, const ln_context *ctx, const ln_plan *plan,
                       const ln_unplanned *unplanned, int is_short)
{
    int is_all = unplanned->tensor_count == 0 && unplanned->op_count == 0;
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_plan_totals *totals = &plan->totals[m];
        if (totals->peak_byte_count == 0)
            continue;
        const char *name = ln_mem_type_title((ln_mem_type)m);
        if (!is_short) {
            fprintf(out, "%s\n%12s %12s  %-9s %-11s %s\n", name, "offset", "bytes", "region",
                    "steps", "tensor");
            for (size_t i = 0; i < plan->value_count; i++) {
                if (plan->values[i].mtype == (ln_mem_type)m)
                    print_value(out, &plan->values[i]);
            }
        }
        fprintf(out, "%s: static %zu + workspace %zu", name, totals->static_byte_count,
                totals->workspace_byte_count);
        if (ln_context_range_worst(ctx)) // whose peak follows
            fprintf(out, " with %s\n", ln_context_range_worst(ctx));
        else
            fprintf(out, " = peak %s%zu bytes\n", is_all ? "" : "of what is fixed ",
                    totals->peak_byte_count);
        if (totals->load_byte_count > 0)
            fprintf(out, "%s: while loading static %zu + %zu bytes\n", name,
                    totals->static_byte_count, totals->load_byte_count);
    }
    const ln_context *failover = ln_context_failover(ctx);
    if (failover)
        fprintf(out, "failover to %s: static %zu + workspace %zu = peak %zu bytes of main memory\n",
                ln_context_target(failover), ln_context_static_bytes(failover, LN_MEM_CPU),
                ln_context_workspace_bytes(failover, LN_MEM_CPU),
                ln_context_peak_bytes(failover, LN_MEM_CPU));
    print_range(out, ctx, is_all);
    size_t mapped = ln_context_mapped_bytes(ctx);
    if (mapped > 0)
        fprintf(out, "and %zu bytes of constants, read where they are in the model's file\n",
                mapped);
    print_unplanned(out, unplanned);
}

typedef struct plan_options {
    const char *model;
    const char *target;
    const char *outfile;
    const char *json; // NULL: none; "-": to outfile
    option_texts shapes;
    int is_short, is_svg;
    compile_flags flags;
    offload_notes notes;
} plan_options;

static const verb_option takes[] = {
    TAKES(TARGET, plan_options, target),
    TAKES(SHAPE, plan_options, shapes),
    TAKES(SHORT, plan_options, is_short),
    TAKES(SVG, plan_options, is_svg),
    TAKES(JSON, plan_options, json),
    NOTE(OUTFILE, plan_options, outfile, "(default \"-\", standard output)"),
    COMPILE_FLAGS(plan_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage plan_usage = {
    .name = "plan",
    .synopsis = "[OPTION...] MODEL",
    .about =
        "Compiles MODEL (unless it is compiled) and prints its memory plan: each tensor with "
        "its offset and the steps between which it is needed, and the peak; names what no plan can have. Nothing is "
        "allocated.",
    .options = takes,
};

// The ending of a file whose content would be something else; NULL where it fits.
static const char *find_wrong_ending(const char *outfile)
{
    static const char *const pictures[] = {".png",  ".jpg", ".jpeg", ".gif", ".bmp", ".webp",
                                           ".tiff", ".tif", ".pdf",  ".eps", ".ps",  ".dot"};
    const char *slash = strrchr(outfile, '/');
    const char *ending = strrchr(slash ? slash : outfile, '.');
    for (size_t i = 0; ending && i < sizeof pictures / sizeof pictures[0]; i++)
        if (strcasecmp(ending, pictures[i]) == 0)
            return ending;
    return NULL;
}

int plan_check_ending(const char *verb, const char *outfile, int is_svg)
{
    const char *ending = find_wrong_ending(outfile);
    if (ending)
        return say_usage_error(verb, "%s: the plan is not drawn as %s; --svg -o FILE.svg draws it",
                               outfile, ending);
    size_t len = strlen(outfile);
    if (!is_svg && len > 4 && strcasecmp(outfile + len - 4, ".svg") == 0)
        return say_usage_error(verb, "%s would hold text; --svg draws", outfile);
    return EXIT_OK;
}

static int parse(int argc, char **argv, plan_options *o)
{
    int code = options_parse_one(&plan_usage, "model", argc, argv, o, &o->model);
    if (code == EXIT_OK && o->is_svg + !!o->json + o->is_short > 1)
        return say_usage_error("plan", "one of --svg, --json and --short at a time");
    if (code == EXIT_OK && o->json && strcmp(o->json, "-") != 0 && given_value(OPT_OUTFILE))
        return say_usage_error("plan", "both -o and --json=%s say where to write; one is enough",
                               o->json);
    if (code == EXIT_OK && o->json && strcmp(o->json, "-") != 0)
        o->outfile = o->json;
    return code == EXIT_OK ? plan_check_ending("plan", o->outfile, o->is_svg) : code;
}

static ln_status write_split_plan(FILE *out, const plan_options *o, const ln_context *ctx,
                                  const ln_plan *plan, const model_split *split)
{
    ln_unplanned unplanned = ln_context_unplanned(ctx);
    if (o->is_svg)
        return plan_write_svg(out, ctx, plan, split, &o->notes);
    if (o->json) {
        json_note_written();
        return plan_write_json(out, ctx, plan, split, &o->notes);
    }
    print_plan(out, ctx, plan, &unplanned, o->is_short);
    if (!o->is_short)
        split_print(out, split, &o->notes);
    return LN_OK;
}

static ln_status write_plan(FILE *out, const plan_options *o, const ln_context *ctx,
                            const ln_plan *plan)
{
    model_split split;
    LN_TRY(split_init(&split, ctx));
    ln_status status = write_split_plan(out, o, ctx, plan, &split);
    split_deinit(&split);
    return status;
}

static ln_status write_to_file(const plan_options *o, const ln_context *ctx, const ln_plan *plan)
{
    FILE *out = fopen(o->outfile, "w");
    if (!out)
        return LN_FAIL(LN_IO, "cannot write %s: %s", o->outfile, strerror(errno));
    ln_status status = write_plan(out, o, ctx, plan);
    int is_bad = ferror(out);
    if (fclose(out) != 0 || is_bad)
        status = LN_FAIL(LN_IO, "cannot write %s: %s", o->outfile, strerror(errno));
    if (status != LN_OK)
        file_discard(o->outfile);
    return status;
}

// A budget is kept only by what is planned in full. What is dynamic can need any amount.
static ln_status check_budget(const ln_context *ctx)
{
    ln_unplanned u = ln_context_unplanned(ctx);
    if (!has_budget() || (u.tensor_count == 0 && u.op_count == 0))
        return LN_OK;
    if (u.tensor_count > 0)
        return LN_FAIL(LN_UNSUPPORTED,
                       "whether it stays within the budget is not known: the plan lacks %zu "
                       "tensor%s of a shape that only a run knows, first '%s'; give the shapes of "
                       "inputs with -s, or run it: `lightnet run --budget` refuses what is more",
                       u.tensor_count, u.tensor_count == 1 ? "" : "s", u.tensors[0]);
    return LN_FAIL(LN_UNSUPPORTED,
                   "whether it stays within the budget is not known: the plan lacks the workspace "
                   "that %zu operator%s take%s in the run, first '%s'; run it: `lightnet run "
                   "--budget` refuses what is more",
                   u.op_count, u.op_count == 1 ? "" : "s", u.op_count == 1 ? "s" : "", u.ops[0]);
}

static ln_status compile(ln_context *ctx, plan_options *o)
{
    ln_optimize_options options = *compile_flags_options(&o->flags);
    o->notes.is_verbose = o->flags.is_verbose;
    options.on_offload = note_offload;
    options.user = &o->notes;
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    return compile_if_needed(ctx, o->model, o->target, &options);
}

int cmd_plan(int argc, char **argv)
{
    plan_options o = {.outfile = "-"};
    compile_flags_init(&o.flags);
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    o.target = compile_flags_target(&o.flags, o.target);
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_FAILED;
    ln_plan *plan;
    ln_status status = compile(ctx, &o);
    if (status == LN_OK)
        status = ln_context_plan_create(ctx, &plan);
    if (status == LN_OK) {
        status = strcmp(o.outfile, "-") == 0 ? write_plan(stdout, &o, ctx, plan)
                                             : write_to_file(&o, ctx, plan);
        ln_context_plan_free(plan);
    }
    if (status == LN_OK)
        status = check_budget(ctx);
    code = status == LN_OK ? EXIT_OK : say_failure();
    offload_notes_free(&o.notes);
    close_model(ctx);
    return code;
}
