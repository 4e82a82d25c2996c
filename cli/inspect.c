// SPDX-License-Identifier: Apache-2.0
// `lightnet inspect`: what a model is, what it costs, and all that keeps it from running.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/preflight.h>

#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "fallback.h"
#include "file_bytes.h"
#include "given_options.h"
#include "inspect_json.h"
#include "model_io.h"
#include "normalization.h"
#include "on_bytes.h"
#include "plan_draw.h"
#include "plugin_option.h"
#include "split.h"

typedef struct inspect_options {
    const char *model;
    const char *target;
    const char *json; // NULL: none; "-": standard output, in place of the text
    const char *outfile;
    int is_svg; // to outfile, in place of the text
    option_texts shapes;
    compile_flags flags;
} inspect_options;

static const verb_option takes[] = {
    TAKES(TARGET, inspect_options, target),
    NOTE(SHAPE, inspect_options, shapes, "; work and memory depend on them"),
    TAKES(SVG, inspect_options, is_svg),
    NOTE(OUTFILE, inspect_options, outfile, "the picture (default \"-\", standard output)"),
    TAKES(JSON, inspect_options, json),
    COMPILE_FLAGS(inspect_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage inspect_usage = {
    .name = "inspect",
    .synopsis = "[OPTION...] MODEL",
    .about = "Shows a model's inputs, outputs, operators by type, parameters, multiply-accumulates "
             "of one run, and the exact memory it needs on the target. Of an ONNX model also who "
             "made it, its operator sets, and every node that cannot run, with the reason and what "
             "would help.",
    .trailer = "Exit status: 0 the model can run, 1 it cannot, 2 the command line is wrong.",
    .options = takes,
};

// ---- What the file says: formats with a preflight ----

static void print_name(const char *text)
{
    put_printable(text, stdout);
}

static void print_tensors(const char *role, const ln_preflight_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%-10s ", role);
        print_name(tensors[i].name);
        putchar(' ');
        print_name(tensors[i].type);
        putchar('\n');
    }
}

static void print_problem(const ln_preflight_problem *p)
{
    printf("problem    ");
    if (p->optype[0]) {
        print_name(p->place);
        printf(": node '");
        print_name(p->node);
        printf("' (");
        print_name(p->optype);
        printf(", ");
        print_name(p->domain);
        if (p->opset > 0)
            printf(" %d", p->opset);
        printf("): ");
    }
    print_name(p->reason);
    if (p->help[0]) {
        printf("; ");
        print_name(p->help);
    }
    putchar('\n');
}

static void print_problems(const ln_preflight *r)
{
    for (size_t i = 0; i < r->problem_count; i++)
        print_problem(&r->problems[i]);
    if (r->more_problem_count > 0)
        printf("problem    %zu more\n", r->more_problem_count);
    if (r->problem_count > 0 && r->bad_node_count == 0)
        printf("cannot run because of the problems above\n");
    else if (r->problem_count > 0)
        printf("cannot run %zu of %zu nodes are not supported\n", r->bad_node_count, r->node_count);
}

static void print_report(const ln_preflight *r)
{
    printf("format     %s, %s version %d", printable(r->format),
           strcmp(r->format, "tflite") == 0 ? "schema" : "IR", r->ir_version);
    if (r->producer[0]) {
        printf(", made by ");
        print_name(r->producer);
    }
    putchar('\n');
    for (size_t i = 0; i < r->opset_count; i++) {
        printf("opset      ");
        print_name(r->opsets[i].domain);
        printf(" %d\n", r->opsets[i].version);
    }
    print_tensors("input", r->inputs, r->input_count);
    print_tensors("output", r->outputs, r->output_count);
    printf("operators  %zu\n", r->node_count);
    for (size_t i = 0; i < r->type_count; i++) {
        printf("%10zu ", r->types[i].count);
        print_name(r->types[i].optype);
        if (r->types[i].bad_count > 0)
            printf(" (%zu not supported)", r->types[i].bad_count);
        putchar('\n');
    }
    printf("parameters %s\n", grouped(r->parameter_count));
    print_problems(r);
}

// ---- What the file states about the model ----

#define SHOWN_TEXT 200

// On one line, and not more than a screen's worth of it.
static void print_text(const char *label, const char *key, const char *text)
{
    if (!*text)
        return;
    printf("%-10s ", label);
    if (key) {
        print_name(key);
        printf(": ");
    }
    for (size_t i = 0; text[i] && i < SHOWN_TEXT; i++) {
        size_t len = 1;
        while ((text[i + len] & 0xc0) == 0x80)
            len++;
        char character[8] = " ";
        if (text[i] != '\n' && text[i] != '\r' && text[i] != '\t' && len < sizeof character)
            memcpy(character, text + i, len);
        print_name(character);
        i += len - 1;
    }
    if (strlen(text) > SHOWN_TEXT)
        printf(" ... (%zu bytes)", strlen(text));
    putchar('\n');
}

// A report has it with the format.
static void print_producer(const ln_context *ctx)
{
    const ln_model_info *info = ln_context_info(ctx);
    char text[2 * SHOWN_TEXT];
    snprintf(text, sizeof text, "%s%s%s", info->producer, *info->producer_version ? " " : "",
             info->producer_version);
    print_text("made by", NULL, text);
}

static void print_info(const ln_context *ctx)
{
    const ln_model_info *info = ln_context_info(ctx);
    print_text("domain", NULL, info->domain);
    if (info->version != 0)
        printf("version    %lld\n", (long long)info->version);
    print_text("about", NULL, info->doc);
    print_text("graph", NULL, info->graph_doc);
    for (size_t i = 0; i < info->property_count; i++)
        print_text("property", info->properties[i].key, info->properties[i].value);
    char options[256];
    if (normalization_options(ctx, options, sizeof options))
        printf("pictures   %s\n", options);
}

// Inputs that have a value in the file.
static void print_defaults(const ln_context *ctx)
{
    const ln_model_info *info = ln_context_info(ctx);
    for (size_t i = 0; i < info->default_count; i++) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, info->defaults[i]);
        char shape[LN_SHAPE_TEXT_BYTES];
        if (!entry)
            continue;
        printf("default    ");
        print_name(entry->name);
        printf(" %s %s, unless -i gives another\n", tl_dtype_title(entry->tensor->dtype),
               ln_sprint_shape(shape, sizeof shape, entry->tensor->ndim, entry->tensor->dims));
    }
}

// ---- What the operators say: all formats ----

// As far as it is known before a run, "float32 [batch, 3, ?]".
static void print_tensor(const ln_context *ctx, const char *role, const ln_tensor_entry *entry)
{
    const tl_dtype dtype = ln_context_tensor_dtype(ctx, entry->name);
    const int rank = ln_context_tensor_rank(ctx, entry->name);
    printf("%-10s ", role);
    print_name(entry->name);
    if (dtype == TL_OBJECT) {
        printf(" a sequence, optional or map\n");
        return;
    }
    printf(" %s",
           dtype == TL_DTYPE_INVALID ? "of a type known at run time" : tl_dtype_title(dtype));
    printf(rank < 0 ? ", of any shape" : " [");
    for (int d = 0; d < rank; d++) {
        const int64_t dim = ln_context_tensor_dim(ctx, entry->name, d);
        const char *symbol = ln_context_tensor_symbol(ctx, entry->name, d);
        printf(d > 0 ? ", " : "");
        if (dim >= 0)
            printf("%lld", (long long)dim);
        else
            print_name(symbol ? symbol : "?");
    }
    printf(rank < 0 ? "\n" : "]\n");
}

static ln_status print_ops(const ln_context *ctx)
{
    type_counts counts;
    LN_TRY(count_types_of(ctx, &counts));
    printf("operators  %d\n", ln_list_length(ctx->ops));
    for (size_t i = 0; i < counts.count; i++)
        printf("%10zu %s\n", counts.items[i].count, printable(counts.items[i].optype));
    free(counts.items);
    return LN_OK;
}

static ln_status print_contents(const ln_context *ctx)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++)
        print_tensor(ctx, "input", entry);
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++)
        print_tensor(ctx, "output", entry);
    LN_TRY(print_ops(ctx));
    printf("parameters %s\n", grouped(count_parameters(ctx)));
    return LN_OK;
}

// ---- Costs ----

static int has_open_input(const ln_context *ctx)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        if (ln_context_input_is_open(ctx, i))
            return 1;
    }
    return 0;
}

// One peak: of ranges, that of the largest shape.
static void print_memory_of(const ln_context *ctx, ln_mem_type mtype)
{
    const char *worst = ln_context_range_worst(ctx);
    ln_unplanned unplanned = ln_context_unplanned(ctx);
    int is_all = unplanned.tensor_count == 0 && unplanned.op_count == 0;
    if (ln_context_peak_bytes(ctx, mtype) == 0)
        return;
    printf("memory     %s on %s: static %s + workspace %s", ln_mem_type_title(mtype),
           ln_context_target(ctx), grouped(ln_context_static_bytes(ctx, mtype)),
           grouped(ln_context_workspace_bytes(ctx, mtype)));
    if (worst)
        printf(" with %s; peak %s bytes for all shapes in the ranges\n", worst,
               grouped(ln_context_range_peak_bytes(ctx, mtype)));
    else
        printf(" = peak %s%s bytes\n", is_all ? "" : "of what is fixed ",
               grouped(ln_context_peak_bytes(ctx, mtype)));
}

static void print_memory(const ln_context *ctx)
{
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++)
        print_memory_of(ctx, (ln_mem_type)m);
    const ln_context *failover = ln_context_failover(ctx);
    if (failover) {
        printf("failover   to %s, in main memory: static %s", ln_context_target(failover),
               grouped(ln_context_static_bytes(failover, LN_MEM_CPU)));
        printf(" + workspace %s", grouped(ln_context_workspace_bytes(failover, LN_MEM_CPU)));
        printf(" = peak %s bytes\n", grouped(ln_context_peak_bytes(failover, LN_MEM_CPU)));
    }
    if (ln_context_mapped_bytes(ctx) > 0)
        printf("in file    %s bytes of constants, read where they are in the model's file\n",
               grouped(ln_context_mapped_bytes(ctx)));
}

static void print_fallback(const ln_context *ctx)
{
    char text[1024];
    if (fallback_of(ctx).ref_count == 0)
        return;
    fallback_text(ctx, text, sizeof text);
    printf("on ref     %s\n", text);
}

// Of a model that has quantized numbers; less than all is not told as 100 %.
static void print_on_bytes(const ln_context *ctx)
{
    const char *optype;
    const on_bytes b = on_bytes_of(ctx);
    if (b.product_count == 0 || (b.byte_count == 0 && count_rounding(ctx, &optype) == 0))
        return;
    printf("on bytes   %zu of %zu products, %.0f %% of the multiply-accumulates\n", b.byte_count,
           b.product_count, floor(100 * b.byte_macs / b.macs));
}

typedef struct watcher {
    size_t refused_count;
    offload_notes notes;
} watcher;

static void note_firing(void *user, const ln_firing *firing)
{
    watcher *w = user;
    w->refused_count += firing->is_refused != 0;
    if (w->notes.is_verbose)
        say_firing(NULL, firing);
}

static void note_decision(void *user, const ln_offload *offload)
{
    watcher *w = user;
    note_offload(&w->notes, offload);
}

// The caller frees the notes of *w, also where this fails.
static ln_status compile(ln_context *ctx, inspect_options *o, watcher *w)
{
    ln_optimize_options options = *compile_flags_options(&o->flags);
    w->notes.is_verbose = o->flags.is_verbose;
    options.on_firing = note_firing;
    options.on_offload = note_decision;
    options.user = w;
    return compile_if_needed(ctx, ln_context_source(ctx), o->target, &options);
}

static void print_work(double macs, size_t unknown_count, int is_bound)
{
    if (unknown_count > 0 && macs == 0)
        printf("work       not known: shapes are dynamic%s\n",
               is_bound ? "" : "; give them with -s");
    else
        printf("work       %s%.0f multiply-accumulates a run%s\n", unknown_count ? "at least " : "",
               macs, unknown_count ? ", without what has a dynamic shape" : "");
}

// Inner graphs have some too, which `opt` leaves as they are.
static void print_refused(const char *model, size_t count)
{
    static const option_id own[] = {OPT_VERBOSE};
    char *next = options_command("lightnet inspect --verbose", &inspect_usage, own, 1, model);
    printf("refused    %zu rewrite%s: `%s` lists the reasons\n", count, count == 1 ? "" : "s",
           next ? next : "lightnet inspect --verbose");
    free(next);
}

static void print_costs(const ln_context *ctx, const char *model, size_t refused_count,
                        int is_bound)
{
    if (refused_count > 0)
        print_refused(model, refused_count);
    size_t open_count = ln_context_unplanned(ctx).tensor_count;
    print_on_bytes(ctx);
    print_memory(ctx);
    print_fallback(ctx);
    if (open_count > 0)
        printf("open       %zu tensors, whose work and memory are not in these numbers%s\n",
               open_count, is_bound ? "" : ": give shapes with -s");
}

// ---- The command ----

static int has_no_text(const inspect_options *o)
{
    return o->is_svg || (o->json && strcmp(o->json, "-") == 0);
}

static ln_status draw_to(const char *path, const ln_context *ctx, const ln_plan *plan,
                         const model_split *split, const offload_notes *notes)
{
    if (strcmp(path, "-") == 0)
        return plan_write_svg(stdout, ctx, plan, split, notes);
    FILE *out = fopen(path, "w");
    if (!out)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    ln_status status = plan_write_svg(out, ctx, plan, split, notes);
    int is_bad = ferror(out);
    if (fclose(out) != 0 || is_bad)
        status = LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    if (status != LN_OK)
        file_discard(path);
    return status;
}

static ln_status draw(const ln_context *ctx, const inspect_options *o, const model_split *split,
                      const offload_notes *notes)
{
    ln_plan *plan;
    LN_TRY(ln_context_plan_create(ctx, &plan));
    ln_status status = draw_to(o->outfile, ctx, plan, split, notes);
    ln_context_plan_free(plan);
    return status;
}

static ln_status write_costs(ln_context *ctx, const inspect_options *o, const watcher *w,
                             json_out *j, double macs, int is_bound)
{
    model_split split;
    LN_TRY(split_init(&split, ctx));
    if (!has_no_text(o)) {
        print_costs(ctx, o->model, w->refused_count, is_bound);
        split_print(stdout, &split, &w->notes);
    }
    if (o->json) {
        inspect_put_costs(j, ctx, macs, w->refused_count);
        split_put_json(j, &split, ctx, &w->notes);
    }
    ln_status status = o->is_svg ? draw(ctx, o, &split, &w->notes) : LN_OK;
    split_deinit(&split);
    return status;
}

static ln_status inspect(ln_context *ctx, inspect_options *o, const ln_preflight *report,
                         json_out *j)
{
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    if (o->json)
        LN_TRY(inspect_put_contents(j, report, ctx, o->shapes.count > 0));
    if (!has_no_text(o)) {
        if (!report)
            print_producer(ctx);
        print_info(ctx);
        print_defaults(ctx);
        if (!report)
            LN_TRY(print_contents(ctx));
    }
    int is_bound = !has_open_input(ctx);
    double macs = ln_context_macs(ctx);
    if (!has_no_text(o))
        print_work(macs, ln_context_unplanned(ctx).tensor_count, is_bound);
    watcher w = {.refused_count = 0};
    ln_status status = compile(ctx, o, &w);
    if (status == LN_OK)
        status = write_costs(ctx, o, &w, j, macs, is_bound);
    offload_notes_free(&w.notes);
    return status;
}

static int inspect_model(inspect_options *o, const ln_preflight *report, json_out *j)
{
    ln_context *ctx = open_model(o->model);
    if (!ctx)
        return EXIT_FAILED;
    int code = inspect(ctx, o, report, j) == LN_OK ? EXIT_OK : say_failure();
    close_model(ctx);
    if (code == EXIT_OK && o->json && json_finish(j, o->json) != LN_OK)
        code = say_failure();
    return code;
}

// A model that cannot be read, with all reasons.
static int inspect_problems(const inspect_options *o, const ln_preflight *report, json_out *j)
{
    if (!o->json)
        return EXIT_FAILED;
    ln_status status = inspect_put_contents(j, report, NULL, false);
    if (status == LN_OK) {
        inspect_put_costs(j, NULL, 0, 0);
        status = json_finish(j, o->json);
    }
    return status == LN_OK ? EXIT_FAILED : say_failure();
}

static int check_output(const inspect_options *o)
{
    if (o->is_svg && o->json)
        return say_usage_error("inspect", "one of --svg and --json at a time");
    if (!o->is_svg && given_value(OPT_OUTFILE))
        return say_usage_error("inspect", "-o says where the picture goes that --svg draws");
    return plan_check_ending("inspect", o->outfile, o->is_svg);
}

int cmd_inspect(int argc, char **argv)
{
    inspect_options o = {.outfile = "-"};
    json_out json = {0};
    compile_flags_init(&o.flags);
    int code = options_parse_one(&inspect_usage, "model", argc, argv, &o, &o.model);
    if (code == EXIT_OK)
        code = check_output(&o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    o.target = compile_flags_target(&o.flags, o.target);
    if (check_source(o.model) != LN_OK || file_check_writable(o.json) != LN_OK)
        return say_failure();
    ln_preflight *report = NULL;
    // A report is of a whole file, as it is read without more.
    ln_status status = strcmp(o.model, "-") == 0 || has_signature()
                           ? LN_UNSUPPORTED
                           : ln_preflight_create(o.model, &report);
    if (status != LN_OK && status != LN_UNSUPPORTED)
        return say_failure();
    if (report && !has_no_text(&o))
        print_report(report);
    if (o.json)
        code = json_begin(&json) == LN_OK ? EXIT_OK : say_failure();
    if (o.json && code == EXIT_OK)
        json_text(&json, "model", o.model);
    if (code == EXIT_OK)
        code = report && report->problem_count > 0 ? inspect_problems(&o, report, &json)
                                                   : inspect_model(&o, report, &json);
    ln_preflight_destroy(report);
    json_discard(&json);
    return code;
}
