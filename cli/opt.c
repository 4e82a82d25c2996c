// SPDX-License-Identifier: Apache-2.0
// `lightnet opt`: a model with the passes of the compiler, one by one: what each does, how long it
// takes, and whether the model still computes the same.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/spelling.h>

#include "cli.h"
#include "compare.h"
#include "compile_flags.h"
#include "device_option.h"
#include "given_options.h"
#include "model_io.h"
#include "pass/why_api.h"
#include "plugin_option.h"
#include "trial.h"

#define MAX_INPUTS 1024 // names of --inputs

typedef struct opt_options {
    const char *model;
    const char *outfile; // NULL: standard output
    const char *target;
    const char *dump_after;
    const char *dump_dir;
    const char *input_names;
    const char *rule; // of --why; NULL: none
    int has_times;
    int verifies;
    option_texts shapes;
    trial_source source;
    compile_flags flags;
} opt_options;

static const verb_option takes[] = {
    TAKES(PASSES, opt_options, flags.options.passes),
    TAKES(STOP_AFTER, opt_options, flags.options.stop_after),
    TAKES(TARGET, opt_options, target),
    NOTE(OUTFILE, opt_options, outfile,
         ": .json or .net (default \"-\": JSON for a model in JSON, else IL)"),
    TAKES(DUMP_AFTER, opt_options, dump_after),
    TAKES(DUMP_DIR, opt_options, dump_dir),
    TAKES(WHY, opt_options, rule),
    TAKES(TIME, opt_options, has_times),
    TAKES(VERIFY, opt_options, verifies),
    NOTE(SEED, opt_options, source.seed, "(default 1)"),
    NOTE(DATAFILE, opt_options, source.datafile, "; for --verify (default: random ones)"),
    NOTE(INPUT, opt_options, source.inputs, "; for --verify, other inputs are random"),
    TAKES(INPUTS, opt_options, input_names),
    TAKES(SHAPE, opt_options, shapes),
    INPUT_OPTIONS(opt_options, source.files),
    COMPILE_FLAGS(opt_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage opt_usage = {
    .name = "opt",
    .synopsis = "[OPTION...] MODEL",
    .about = "Rewrites MODEL with the passes of the compiler and prints the result, which is not "
             "planned: to see what a pass does, and to test rules.",
    .options = takes,
};

// The library and its archs have rules of a name, or files have: those are read with the model.
static int check_rule(const opt_options *o)
{
    ln_why_watch *why;
    if (!o->rule || given_value(OPT_PLUGIN) || o->flags.options.rule_file_count > 0)
        return EXIT_OK;
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return say_failure();
    const char *target = compile_flags_target(&o->flags, o->target);
    ln_status status = ln_why_watch_create(o->rule, target, &o->flags.options, ctx, &why);
    ln_why_watch_destroy(why);
    ln_context_free(ctx);
    return status == LN_OK ? EXIT_OK : say_usage_error("opt", "%s", ln_error_message());
}

static int parse(int argc, char **argv, opt_options *o)
{
    static const option_id of_data[] = {OPT_DATAFILE, OPT_SEED, INPUT_OPTION_IDS};
    int code = options_parse_one(&opt_usage, "model", argc, argv, o, &o->model);
    if (o->dump_dir && !o->dump_after)
        o->dump_after = "all";
    if (code == EXIT_OK && o->rule && o->verifies)
        return say_usage_error("opt", "--why and --verify exclude each other");
    if (code == EXIT_OK && !o->verifies)
        code = options_check_unused(&opt_usage, of_data, sizeof of_data / sizeof of_data[0],
                                    "without --verify, which runs the model");
    return code == EXIT_OK ? check_rule(o) : code;
}

// ---- After each pass ----

typedef struct watcher {
    const opt_options *o;
    trial_data *data;     // if the passes are verified
    ln_context *before;   // the model before the pass, LOADED, and run
    int is_exact;         // all that fired in the pass keeps the bits
    size_t firing_count;  // in the pass
    size_t refused_count; // in all passes
    double total_seconds; // of all passes
    int has_dumped;
    ln_nearest nearest; // to the pass of --dump-after, of those that have run
    ln_why_watch *why;  // NULL: not asked for
} watcher;

static void note_firing(void *user, const ln_firing *firing)
{
    watcher *w = user;
    if (w->o->flags.is_verbose)
        say_firing(NULL, firing);
    if (w->why)
        ln_why_note_firing(w->why, firing);
    w->refused_count += firing->is_refused != 0;
    if (firing->is_skipped || firing->is_refused)
        return;
    w->firing_count++;
    // Kernels of another arch may sum in another order.
    w->is_exact &= !firing->is_lowering && firing->tag && strcmp(firing->tag, "exact") == 0;
}

static ln_status dump(watcher *w, const char *pass, const ln_context *ctx)
{
    if (!w->o->dump_after ||
        (strcmp(w->o->dump_after, "all") != 0 && strcmp(w->o->dump_after, pass) != 0))
        return LN_OK;
    w->has_dumped = 1;
    if (w->o->dump_dir) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.net", w->o->dump_dir, pass);
        return ln_context_print(ctx, path);
    }
    char *text;
    size_t byte_count;
    LN_TRY(ln_context_write(ctx, "il", &text, &byte_count));
    fprintf(stderr, "// after %s\n%.*s", pass, (int)byte_count, text);
    ln_free(text);
    return LN_OK;
}

// `blame` minds what leaves the tolerance; bits that an exact rule lost are found without one, and
// without kernels, which have other bits anyway.
static char *blame_command(const opt_options *o, ln_context *now, ln_context *before)
{
    static const option_id own[] = {OPT_TARGET, OPT_OUTFILE, OPT_VERBOSE};
    tolerance allowed = TOLERANCE_DEFAULT;
    comparison c;
    ln_status status = compare_models(now, before, &allowed, NULL, &c);
    int is_exact = status == LN_OK && c.wrong_count == 0;
    return options_command(is_exact ? "lightnet blame -t ref --rtol=0 --atol=0" : "lightnet blame",
                           &blame_usage, is_exact ? own : own + 1, is_exact ? 3 : 2, o->model);
}

static ln_status fail_other_result(const opt_options *o, const char *pass, const comparison *c,
                                   ln_context *now, ln_context *before)
{
    char words[512];
    const ln_tensor_entry *entry = ln_tensor_table_find(before->tensor_table, c->first.tensor);
    describe_deviation(&c->first, entry ? entry->tensor : NULL, words, sizeof words);
    char *next = blame_command(o, now, before);
    ln_status status = LN_FAIL(
        LN_INVALID,
        "after pass '%s' the model computes something else: tensor '%s' of '%s' (%s): %s; "
        "`%s` finds the firing",
        pass, c->first.tensor, c->first.op, c->first.optype, words, next ? next : "lightnet blame");
    free(next);
    return status;
}

static ln_status verify(watcher *w, const char *pass, const ln_context *ctx)
{
    tolerance allowed = TOLERANCE_DEFAULT;
    allowed.is_exact = w->is_exact;
    ln_context *now;
    if (!ln_context_check(ctx))
        return ln_fail_prefix("after pass '%s'", pass);
    if (w->firing_count == 0) {
        say_info("%s: no firings", pass);
        return LN_OK;
    }
    LN_TRY(trial_reference(ctx, w->data, &now));
    comparison c;
    ln_status status = compare_models(now, w->before, &allowed, NULL, &c);
    if (status == LN_OK && c.wrong_count > 0)
        status = fail_other_result(w->o, pass, &c, now, w->before);
    if (status == LN_OK)
        say_info("%s: %zu firings, %zu tensors agree (%s)", pass, w->firing_count, c.tensor_count,
                 w->is_exact ? "same bits" : "within the tolerance");
    close_model(w->before);
    w->before = now;
    return status;
}

static ln_status watch_pass(void *user, const char *pass, double seconds, const ln_context *ctx)
{
    watcher *w = user;
    ln_nearest_try(&w->nearest, pass);
    w->total_seconds += seconds;
    if (w->why)
        ln_why_note_pass(w->why, pass, ctx);
    if (w->o->has_times)
        say_info("%s: %.6fs", pass, seconds);
    LN_TRY(dump(w, pass, ctx));
    if (w->o->verifies)
        LN_TRY(verify(w, pass, ctx));
    w->is_exact = 1;
    w->firing_count = 0;
    return LN_OK;
}

// ---- The command ----

// What a model in JSON becomes on standard output is JSON too; any other model becomes IL.
static int is_json(const char *path)
{
    char start[4096];
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    if (!file)
        return 0;
    size_t count = fread(start, 1, sizeof start, file);
    fclose(file);
    const ln_serializer *serializer = ln_serializer_probe(path, start, count);
    return serializer && strcmp(serializer->name, "ir") == 0;
}

static ln_status write_result(const ln_context *ctx, const opt_options *o)
{
    const char *outfile = o->outfile ? o->outfile : "-";
    if (strcmp(outfile, "-") != 0 || is_json(o->model))
        return ln_context_print(ctx, outfile);
    char *text;
    size_t byte_count;
    LN_TRY(ln_context_write(ctx, "il", &text, &byte_count));
    size_t written = fwrite(text, 1, byte_count, stdout);
    ln_free(text);
    if (written == byte_count && fflush(stdout) == 0)
        return LN_OK;
    return LN_FAIL(LN_IO, "cannot write to standard output");
}

static ln_status prepare_verifying(watcher *w, const ln_context *ctx)
{
    show_messages(0, 1, 0); // random weights are meant here
    LN_TRY(trial_data_create(ctx, &w->o->source, &w->data));
    return trial_reference(ctx, w->data, &w->before);
}

// `names` are divided by commas.
static ln_status set_inputs(ln_context *ctx, const char *names)
{
    const char *tnames[MAX_INPUTS];
    size_t count = 0;
    char *copy = ln_strdup(names);
    if (!copy)
        return LN_NO_MEMORY;
    for (char *name = strtok(copy, ","); name && count < MAX_INPUTS; name = strtok(NULL, ","))
        tnames[count++] = name;
    ln_status status = ln_context_set_inputs(ctx, count, tnames);
    ln_free(copy);
    return status;
}

static ln_status print_why(const ln_why_watch *why)
{
    char *text;
    LN_TRY(ln_why_watch_text(why, &text));
    put_printable(text, stdout);
    ln_free(text);
    return LN_OK;
}

static ln_status watch_graph(ln_context *graph, void *user)
{
    watcher *w = user;
    return ln_context_optimize_with(graph, w->o->target, &w->o->flags.options);
}

static ln_status note_pass(void *user, const char *pass, double seconds, const ln_context *ctx)
{
    watcher *w = user;
    (void)seconds;
    ln_why_note_pass(w->why, pass, ctx);
    return LN_OK;
}

// Compiling rewrites the graphs inside a model too, by the same rules; what is written here has
// them as they are, so that a copy is watched.
static ln_status watch_graphs(const ln_context *ctx, opt_options *o, watcher *w)
{
    ln_context *copy;
    const ln_optimize_options own = o->flags.options;
    LN_TRY(ln_context_clone(ctx, &copy));
    o->flags.options.on_pass = note_pass;
    ln_status status = ln_why_each_graph(copy, watch_graph, w);
    o->flags.options = own;
    close_model(copy);
    return status;
}

static ln_status optimize(ln_context *ctx, opt_options *o, watcher *w)
{
    if (o->input_names)
        LN_TRY(set_inputs(ctx, o->input_names));
    LN_TRY(given_inputs_override(ctx, o->source.inputs.items, (size_t)o->source.inputs.count));
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    if (o->verifies)
        LN_TRY(prepare_verifying(w, ctx));
    compile_flags_options(&o->flags);
    o->flags.options.on_firing = note_firing;
    o->flags.options.on_pass = watch_pass;
    o->flags.options.user = w;
    if (o->rule)
        LN_TRY(ln_why_watch_create(o->rule, o->target, &o->flags.options, ctx, &w->why));
    if (w->why)
        LN_TRY(watch_graphs(ctx, o, w));
    LN_TRY(ln_context_optimize_with(ctx, o->target, &o->flags.options));
    if (o->flags.is_verbose && w->refused_count > 0)
        say_info("%zu rewrite%s refused", w->refused_count,
                 w->refused_count == 1 ? " was" : "s were");
    if (o->dump_after && !w->has_dumped)
        return LN_FAIL(LN_NOT_FOUND, "no pass '%s' has run, so there was nothing to dump%s%s%s",
                       o->dump_after, w->nearest.name ? "; did you mean '" : "",
                       w->nearest.name ? w->nearest.name : "", w->nearest.name ? "'?" : "");
    if (o->has_times)
        say_info("all passes: %.6fs", w->total_seconds);
    if (w->why)
        LN_TRY(print_why(w->why));
    return w->why && !o->outfile ? LN_OK : write_result(ctx, o);
}

int cmd_opt(int argc, char **argv)
{
    opt_options o = {.source = {.seed = 1}};
    compile_flags_init(&o.flags);
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    o.target = compile_flags_target(&o.flags, o.target);
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_FAILED;
    watcher w = {
        .o = &o, .is_exact = 1, .nearest = ln_nearest_to(o.dump_after ? o.dump_after : "")};
    code = optimize(ctx, &o, &w) == LN_OK ? EXIT_OK : say_failure();
    ln_why_watch_destroy(w.why);
    trial_data_destroy(w.data);
    close_model(w.before);
    close_model(ctx);
    return code;
}
