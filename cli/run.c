// SPDX-License-Identifier: Apache-2.0
// `lightnet run`: a model on given inputs; its outputs are summarised or saved.

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "fallback.h"
#include "file_bytes.h"
#include "folder_input.h"
#include "given_options.h"
#include "input_options.h"
#include "json_out.h"
#include "labels.h"
#include "model_io.h"
#include "normalization.h"
#include "plugin_option.h"
#include "progress.h"
#include "save_outputs.h"
#include "summary.h"
#include "threads_option.h"
#include "write_option.h"

typedef struct run_options {
    const char *model;
    const char *datafile;
    const char *target;
    const char *outdir;
    const char *labels;
    const char *json; // NULL: none; "-": standard output, in place of the text
    option_texts inputs;
    option_texts shapes;
    int repeat;
    int top;         // -1: not given
    int takes_zeros; // for what is not given
    int is_of_size;  // what fails now may fail for the sizes of inputs
    input_options files;
    compile_flags flags;
} run_options;

// What --json holds of the runs, while they go on.
typedef struct run_result {
    json_out json;
    int is_whole;
    double median, best; // seconds of a run
} run_result;

static const verb_option takes[] = {
    TAKES(DATAFILE, run_options, datafile),
    TAKES(TARGET, run_options, target),
    TAKES(INPUT, run_options, inputs),
    NOTE(SHAPE, run_options, shapes, "; what is left open takes the shape of the data"),
    NOTE(ZERO, run_options, takes_zeros,
         ": those that are not given, and weights (default: an error)"),
    TAKES(OUTDIR, run_options, outdir),
    TAKES(REPEAT, run_options, repeat),
    CALLS(THREADS, run_options, model, take_threads),
    CALLS(ALLOW_WRITE, run_options, model, take_allow_write),
    TAKES(LABELS, run_options, labels),
    TAKES(TOP, run_options, top),
    TAKES(JSON, run_options, json),
    INPUT_OPTIONS(run_options, files),
    COMPILE_FLAGS(run_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage run_usage = {
    .name = "run",
    .synopsis = "[OPTION...] MODEL",
    .about = "Compiles MODEL (unless it is compiled), loads its weights and inputs, runs it, and "
             "shows each output's type, shape and range.",
    .options = takes,
};

// ---- Running ----

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ln_status run_repeatedly(const ln_context *ctx, int repeat, run_result *r)
{
    double *seconds = malloc((size_t)repeat * sizeof *seconds);
    if (!seconds)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for %d times", repeat);
    ln_status status = LN_OK;
    progress_begin("running");
    for (int i = 0; i < repeat && status == LN_OK; i++) {
        double start = ln_clock();
        status = ln_context_run(ctx);
        seconds[i] = ln_clock() - start;
        progress_set((size_t)i + 1, (size_t)repeat);
    }
    progress_end();
    fflush(stdout);
    if (status == LN_OK) {
        qsort(seconds, (size_t)repeat, sizeof *seconds, compare_doubles);
        r->median = seconds[repeat / 2];
        r->best = seconds[0];
        if (repeat == 1)
            say_info("run time: %.6fs", r->best);
        else
            say_info("run time: median %.6fs of %d runs, best %.6fs", r->median, repeat, r->best);
    }
    free(seconds);
    return status;
}

static int has_numbers(const ln_op *op, const char *pname)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, pname);
    for (int i = 0; param && param->type == LN_PARAM_ARRAY_NUMBER && i < param->array_len; i++)
        if (param->value_array_double[i] != 0)
            return 1;
    return 0;
}

// What the model states for an input that is not given.
static const char *stated_value(const ln_context *ctx, const ln_tensor_entry *entry)
{
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    const ln_param_entry *from_file =
        op ? ln_param_list_find(op->op_arg->params, "from_file") : NULL;
    if (from_file && from_file->type == LN_PARAM_BOOL && from_file->value_bool)
        return "what the data file has for it, or zeros";
    if (op && has_numbers(op, "ran"))
        return "random";
    return op && has_numbers(op, "data") ? "what the model states" : "zeros";
}

// An input of an old model that is not given has some value, which is hardly meant.
static void warn_of_stated(const ln_context *ctx, const given_inputs *given)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (model_states_input(ctx, entry) && !given_inputs_find(given, entry->name))
            say_warning("input '%s' is not given, so it is %s", entry->name,
                        stated_value(ctx, entry));
    }
}

// Whether nothing but the object goes to standard output.
static int has_json_only(const run_options *o)
{
    return o->json && strcmp(o->json, "-") == 0;
}

// Shapes first: what is planned depends on them.
static ln_status bind(ln_context *ctx, run_options *o, const given_inputs *given)
{
    o->is_of_size = 1;
    if (ln_context_get_state(ctx) < LN_CONTEXT_PLANNED)
        LN_TRY(given_inputs_bind_shapes(ctx, given));
    o->is_of_size = 0;
    if (o->takes_zeros && ln_context_get_state(ctx) < LN_CONTEXT_PLANNED)
        LN_TRY(given_inputs_bind_zeros(ctx, given));
    warn_of_stated(ctx, given);
    return given_inputs_check(ctx, given, o->takes_zeros);
}

static ln_status prepare(ln_context *ctx, run_options *o, given_inputs *given)
{
    LN_TRY(given_inputs_override(ctx, o->inputs.items, (size_t)o->inputs.count));
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    LN_TRY(given_inputs_read(ctx, o->inputs.items, (size_t)o->inputs.count, &o->files, given));
    return bind(ctx, o, given);
}

// A tenth of the work is worth a line, if it is more than a millisecond.
static void tell_of_fallback(const ln_context *ctx)
{
    char text[1024];
    fallback f = fallback_of(ctx);
    if (f.work <= 0.1 || f.ref_cost <= 1e6)
        return;
    fallback_text(ctx, text, sizeof text);
    say_info("%s", text);
}

// Where shapes, a compilation or a run failed.
static void tell_of_size(const char *path)
{
    if (input_is_sound(path))
        say_info("the input's length came from the sound %s: if the model takes a piece at a time, "
                 "such as 512 samples, give it a file that is as long",
                 path);
    else
        say_info("the input's size came from the picture %s: if the model takes other sizes, such "
                 "as multiples of 32, try --resize=WxH",
                 path);
}

static ln_status load(ln_context *ctx, run_options *o, const labels *names)
{
    o->is_of_size = 1;
    LN_TRY(compile_if_needed(ctx, o->model, o->target, compile_flags_options(&o->flags)));
    o->is_of_size = 0;
    tell_of_fallback(ctx);
    if (!o->datafile && !o->takes_zeros)
        LN_TRY(model_check_weights(ctx, "give it with -f FILE, or zeros with --zero"));
    if (o->labels)
        LN_TRY(check_labels(ctx, names));
    if (has_json_only(o))
        silence_prints(ctx);
    return load_model(ctx, o->datafile);
}

static ln_status put_run(run_result *r, ln_context *ctx, const run_options *o,
                         const top_options *top)
{
    json_text(&r->json, "model", o->model);
    json_text(&r->json, "target", ln_context_target(ctx));
    json_int(&r->json, "runs", o->repeat);
    json_number(&r->json, "median_seconds", r->median);
    json_number(&r->json, "best_seconds", r->best);
    LN_TRY(put_outputs(&r->json, ctx, top));
    r->is_whole = 1;
    return LN_OK;
}

static ln_status run_model(ln_context *ctx, run_options *o, const given_inputs *given,
                           const labels *names, run_result *r)
{
    LN_TRY(load(ctx, o, names));
    LN_TRY(given_inputs_set(ctx, given));
    o->is_of_size = 1;
    LN_TRY(run_repeatedly(ctx, o->repeat, r));
    o->is_of_size = 0;
    if (o->labels)
        LN_TRY(check_labels_of_run(ctx, names));
    top_options top = top_options_of(o->top, names->lines ? names : NULL);
    if (!has_json_only(o))
        LN_TRY(print_outputs(ctx, &top, 0));
    if (o->json)
        LN_TRY(put_run(r, ctx, o, &top));
    if (!o->outdir)
        return LN_OK;
    return is_output_file(o->outdir) ? save_output_file(ctx, o->outdir)
                                     : save_outputs(ctx, o->outdir);
}

// ---- A folder ----

// The first file that can be read says the shapes, for all.
static ln_status load_for_folder(ln_context *ctx, run_options *o, const given_inputs *given,
                                 const labels *names)
{
    if (given->sized_by && input_is_picture(given->sized_by))
        return LN_FAIL(LN_INVALID,
                       "the model leaves the size of pictures open; those of a folder need one: "
                       "--resize=WxH");
    LN_TRY(bind(ctx, o, given));
    LN_TRY(load(ctx, o, names));
    o->files.is_quiet = 1;
    return LN_OK;
}

static ln_status run_file(ln_context *ctx, const run_options *o, const given_inputs *given,
                          const char *file, const labels *names, json_out *j)
{
    top_options top =
        top_options_of(o->top < 0 && names->lines ? 1 : o->top, names->lines ? names : NULL);
    LN_TRY(given_inputs_set(ctx, given));
    LN_TRY(ln_context_run(ctx));
    if (o->labels)
        LN_TRY(check_labels_of_run(ctx, names));
    if (!has_json_only(o))
        LN_TRY(print_outputs_in_line(ctx, file, &top));
    if (o->json)
        LN_TRY(put_outputs(j, ctx, &top));
    if (!o->outdir)
        return LN_OK;
    char *outdir = ln_strdup_printf("%s/%s", o->outdir, file);
    if (!outdir)
        return LN_NO_MEMORY;
    ln_status status = outdir_make(outdir);
    if (status == LN_OK)
        status = save_outputs(ctx, outdir);
    ln_free(outdir);
    return status;
}

// Runs the model on one file of a folder. *out_fatal is what concerns the model, and ends it all.
static ln_status run_folder_file(ln_context *ctx, run_options *o, const char *file,
                                 const labels *names, json_out *j, ln_status *out_fatal)
{
    given_inputs given = {0};
    ln_status status =
        given_inputs_read(ctx, o->inputs.items, (size_t)o->inputs.count, &o->files, &given);
    *out_fatal = status == LN_OK && ln_context_get_state(ctx) < LN_CONTEXT_LOADED
                     ? load_for_folder(ctx, o, &given, names)
                     : LN_OK;
    if (status == LN_OK && *out_fatal == LN_OK)
        status = run_file(ctx, o, &given, file, names, j);
    given_inputs_free(&given);
    return status;
}

// The same with an item of "files", which also a file that fails has.
static ln_status run_folder_item(ln_context *ctx, run_options *o, const char *file,
                                 const labels *names, json_out *j, ln_status *out_fatal)
{
    json_out item;
    char *text;
    if (!o->json)
        return run_folder_file(ctx, o, file, names, NULL, out_fatal);
    LN_TRY(*out_fatal = json_begin_item(&item));
    json_text(&item, "file", file);
    ln_status status = run_folder_file(ctx, o, file, names, &item, out_fatal);
    if (status != LN_OK) {
        json_discard(&item);
        LN_TRY(*out_fatal = json_begin_item(&item));
        json_text(&item, "file", file);
        json_text(&item, "error", ln_error_message());
    }
    if (json_finish_item(&item, &text) == LN_OK)
        json_raw(j, NULL, text);
    free(text);
    return status;
}

// Files that fail are said and counted; what concerns the model ends it.
static ln_status run_folder(ln_context *ctx, run_options *o, const folder_input *folder,
                            const labels *names, run_result *r)
{
    size_t bad_count = 0;
    if (given_value(OPT_REPEAT))
        return LN_FAIL(LN_INVALID, "--repeat has no effect with a folder of inputs, each of which "
                                   "runs once");
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    if (o->json) {
        json_text(&r->json, "model", o->model);
        json_open(&r->json, "files", '[');
    }
    for (size_t i = 0; i < folder->count; i++) {
        ln_status fatal;
        o->inputs.items[folder->at] = folder->texts[i];
        ln_status status =
            run_folder_item(ctx, o, folder->texts[i] + folder->file_at, names, &r->json, &fatal);
        LN_TRY(fatal);
        if (status != LN_OK) {
            say_failure();
            bad_count++;
        }
    }
    if (o->json) {
        json_close(&r->json, ']');
        json_text(&r->json, "target", ln_context_target(ctx));
        r->is_whole = 1;
    }
    if (bad_count == 0)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "%zu of %zu files failed", bad_count, folder->count);
}

static ln_status prepare_out(const ln_context *ctx, const char *out, int is_folder)
{
    if (!is_output_file(out))
        return outdir_make(out);
    if (is_folder)
        return LN_FAIL(LN_INVALID, "a folder of inputs needs a folder for outputs, not -o %s", out);
    return output_file_check(ctx, out);
}

static int takes_bytes_only(const ln_context *ctx)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        tl_dtype dtype = ln_context_tensor_dtype(ctx, ln_context_input_name(ctx, i));
        if (dtype != TL_INT8 && dtype != TL_UINT8)
            return 0;
    }
    return 1;
}

// The most frequent reason of wrong classes.
static void hint_at_preset(const ln_context *ctx, const run_options *o, const labels *names)
{
    const input_options *f = &o->files;
    char stated[256];
    if (takes_bytes_only(ctx))
        return;
    int has_stated = normalization_options(ctx, stated, sizeof stated);
    for (int i = 0; (names->lines || has_stated) && i < o->inputs.count; i++) {
        if (!f->preset && !f->has_mean && !f->has_scale &&
            given_path(o->inputs.items[i], input_is_picture)) {
            if (has_stated) {
                say_info("pixels are given as 0 to 255; the model states that it takes %s", stated);
                return;
            }
            say_info(
                "pixels are given as 0 to 255; if classes are wrong, try --preset=imagenet, caffe, unit or signed");
            return;
        }
    }
}

int cmd_run(int argc, char **argv)
{
    run_options o = {.repeat = 1, .top = -1};
    compile_flags_init(&o.flags);
    int code = options_parse_one(&run_usage, "model", argc, argv, &o, &o.model);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    o.target = compile_flags_target(&o.flags, o.target);
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_FAILED;
    given_inputs given = {0};
    labels names = {0};
    folder_input folder = {.at = -1};
    run_result result = {0};
    ln_status status = o.labels ? labels_read(o.labels, &names) : LN_OK;
    if (status == LN_OK && !o.labels)
        labels_find(ctx, o.model, &names);
    if (names.packed)
        say_info("names of classes are those of %s; --labels=FILE has others", names.packed);
    if (status == LN_OK)
        status = file_check_writable(o.json);
    if (status == LN_OK && o.json)
        status = json_begin(&result.json);
    if (status == LN_OK)
        status = folder_input_find(&o.inputs, &folder);
    int is_folder = folder.at >= 0;
    if (status == LN_OK && !is_folder)
        status = prepare(ctx, &o, &given);
    if (status == LN_OK && !is_folder)
        hint_at_preset(ctx, &o, &names);
    if (status == LN_OK && o.outdir)
        status = prepare_out(ctx, o.outdir, is_folder);
    if (status == LN_OK)
        status = is_folder ? run_folder(ctx, &o, &folder, &names, &result)
                           : run_model(ctx, &o, &given, &names, &result);
    code = status == LN_OK ? EXIT_OK : say_failure();
    if (result.is_whole && json_finish(&result.json, o.json) != LN_OK)
        code = say_failure();
    json_discard(&result.json);
    if (status != LN_OK && given.sized_by && o.is_of_size)
        tell_of_size(given.sized_by);
    folder_input_free(&folder);
    given_inputs_free(&given);
    labels_free(&names);
    close_model(ctx);
    return code;
}
