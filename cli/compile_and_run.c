// SPDX-License-Identifier: Apache-2.0
// `lightnet [options] SOURCE`: compiles a model, runs it, shows its results; writes the compiled
// form where it is told to.

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "input_options.h"
#include "labels.h"
#include "model_io.h"
#include "plugin_option.h"
#include "progress.h"
#include "summary.h"
#include "tensor_input.h"
#include "threads_option.h"
#include "write_option.h"

typedef struct source_options {
    const char *source;
    const char *outfile;
    const char *target;
    const char *datafile;
    int compile;
    int writes; // the compiled form is wanted
    int run;
    int debug;
    int is_version_wanted;
    int is_without_weights;
    int has_stored; // the weights are in the compiled form
    int shows_warnings;
    int shows_internal;
    int takes_zeros; // for what is not given
    int top;         // -1: not given
    const char *labels_file;
    option_texts inputs;
    option_texts shapes;
    input_options files;
    given_inputs given;
    labels names;
    compile_flags flags;
} source_options;

static const verb_option takes[] = {
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    TAKES(VERSION, source_options, is_version_wanted),
    NOTE(OUTFILE, source_options, outfile,
         "the compiled form (default: with -c out.json, else none); \"-\" is standard output, "
         "\"!\" writes nothing"),
    TAKES(TARGET, source_options, target),
    TAKES(DATAFILE, source_options, datafile),
    TAKES(COMPILE, source_options, compile),
    TAKES(NO_WEIGHTS, source_options, is_without_weights),
    TAKES(RUN, source_options, run),
    TAKES(INPUT, source_options, inputs),
    TAKES(SHAPE, source_options, shapes),
    NOTE(ZERO, source_options, takes_zeros,
         ": those that are not given, and weights (default: an error)"),
    TAKES(LABELS, source_options, labels_file),
    TAKES(TOP, source_options, top),
    INPUT_OPTIONS(source_options, files),
    TAKES(DEBUG, source_options, debug),
    CALLS(THREADS, source_options, flags, take_threads),
    CALLS(ALLOW_WRITE, source_options, flags, take_allow_write),
    COMPILE_FLAGS(source_options, flags),
    TAKES(WWARN, source_options, shows_warnings),
    TAKES(WNO_WARN, source_options, shows_warnings),
    TAKES(WINTER, source_options, shows_internal),
    TAKES(WNO_INTER, source_options, shows_internal),
    END_OF_OPTIONS,
};

const verb_usage compile_and_run_usage = {
    .synopsis = "COMMAND [OPTION...] ...\n"
                "[OPTION...] SOURCE",
    .about =
        "Without a command: compiles the model SOURCE (ONNX, TensorFlow Lite, JSON IR, compiled IR or IL, told "
        "apart by content; \"-\" reads standard input), runs it, and shows its results as "
        "`lightnet run` does. Files are only written where -o or -c says so. Long options may "
        "also have one dash.",
    .options = takes,
    .has_long_only = 1,
};

static int print_version(void)
{
    printf("lightnet %s\n"
           "Copyright (C) the LightNet authors\n"
           "Licence: Apache-2.0\n",
           ln_version());
    return -1;
}

static int is_there(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 || stat(path, &info) == 0;
}

// A word that is no file: meant as a command, where it is near to one or more words follow.
static int say_bad_source(int count, char **operands)
{
    char near[64];
    const char *word = operands[0];
    if (find_command(word) && !is_there(word))
        return say_usage_error(NULL, "the command goes first: lightnet %s, then options", word);
    if (!is_there(word) && !strpbrk(word, "./") &&
        (*near_command(word, near, sizeof near) || count > 1))
        return say_usage_error(NULL, "unknown command '%s'%s", word,
                               near_command(word, near, sizeof near));
    if (count > 1)
        return say_usage_error(
            NULL,
            "one input file at a time, '%s' is too many; data for a model's inputs are given with -i",
            operands[1]);
    return EXIT_OK;
}

// Options of a run where none is asked for, and of compiling likewise.
static int check_unused(const source_options *o)
{
    static const option_id of_runs[] = {OPT_LABELS, OPT_TOP, OPT_ZERO, INPUT_OPTION_IDS};
    static const option_id of_compiling[] = {OPT_OUTFILE, OPT_TARGET, OPT_NO_WEIGHTS};
    static const option_id of_writing = OPT_NO_WEIGHTS;
    if (o->compile && o->run)
        return say_usage_error(NULL, "-c only compiles and -r only runs; without either a model is "
                                     "compiled and run");
    if (o->compile && !o->run)
        return options_check_unused(&compile_and_run_usage, of_runs,
                                    sizeof of_runs / sizeof of_runs[0],
                                    "with -c, which only compiles");
    if (o->run && !o->compile)
        return options_check_unused(&compile_and_run_usage, of_compiling,
                                    sizeof of_compiling / sizeof of_compiling[0],
                                    "with -r, which only runs");
    if (!o->compile && !o->outfile)
        return options_check_unused(&compile_and_run_usage, &of_writing, 1,
                                    "without -c or -o, which write");
    return EXIT_OK;
}

// EXIT_OK to go on; -1 if the answer was given already; else an exit code.
static int parse(int argc, char **argv, source_options *o)
{
    int count;
    char **operands;
    int code = options_parse(&compile_and_run_usage, argc, argv, o, &count, &operands);
    if (code != EXIT_OK)
        return code;
    if (o->is_version_wanted)
        return print_version();
    if (count == 0)
        return say_usage_error(NULL, "no input file");
    code = check_unused(o);
    if (code != EXIT_OK)
        return code;
    o->source = operands[0];
    o->target = compile_flags_target(&o->flags, o->target);
    o->writes = o->compile || o->outfile;
    if (!o->outfile)
        o->outfile = o->compile ? "out.json" : "!";
    if (!o->compile && !o->run)
        o->compile = o->run = 1;
    code = say_bad_source(count, operands);
    return code == EXIT_OK ? options_check_overwrite(&compile_and_run_usage, o->outfile, o->source)
                           : code;
}

static ln_status check_only_run(const source_options *o)
{
    if (!compile_flags_any(&o->flags))
        return LN_OK;
    return LN_FAIL(LN_STATE,
                   "%s is compiled already; --skip and --rules belong to where it is compiled",
                   o->source);
}

static int is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

// Weights go beside the compiled form, where there is a file to be beside.
static ln_status store_weights(ln_context *ctx, source_options *o)
{
    static const char ending[] = ".json", weights_ending[] = ".safetensors";
    size_t len = strlen(o->outfile);
    int is_json = len > strlen(ending) && strcmp(o->outfile + len - strlen(ending), ending) == 0;
    if (o->is_without_weights || !is_json)
        return LN_OK;
    const char *datafile = o->run ? NULL : o->datafile;
    char *path =
        ln_strdup_printf("%.*s%s", (int)(len - strlen(ending)), o->outfile, weights_ending);
    if (!path)
        return LN_NO_MEMORY;
    size_t count = 0;
    ln_status status = LN_OK;
    if (datafile && is_same_file(path, datafile))
        status = LN_FAIL(LN_EXISTS,
                         "the packed weights would replace %s; name another file with -o, or leave "
                         "them out with --no-weights",
                         datafile);
    if (status == LN_OK)
        status = ln_context_store(ctx, datafile, path, &count);
    o->has_stored = count > 0;
    ln_free(path);
    return status;
}

// What goes on with the model: `start` with the plug-ins at hand.
static ln_status fail_with_command(const char *text, const char *start, const source_options *o)
{
    option_id others[OPT_COUNT];
    size_t count = 0;
    for (int id = 0; id < OPT_COUNT; id++)
        if (id != OPT_PLUGIN)
            others[count++] = (option_id)id;
    char *next = options_command(start, &compile_and_run_usage, others, count, o->source);
    ln_status status = LN_FAIL(LN_STATE, "%s %s: %s", o->source, text, next ? next : start);
    free(next);
    return status;
}

static ln_status compile(ln_context *ctx, source_options *o)
{
    if (!o->compile) {
        if (ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED)
            return check_only_run(o);
        return fail_with_command("is not compiled, so it cannot only be run; leave out -r, or "
                                 "compile it first",
                                 "lightnet -c -o compiled.json", o);
    }
    if (ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED && !o->writes)
        return check_only_run(o);
    if (ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED)
        return fail_with_command("is compiled already; run it with", "lightnet -r", o);
    LN_TRY(compile_model(ctx, o->target, compile_flags_options(&o->flags)));
    if (strcmp(o->outfile, "!") == 0)
        return LN_OK;
    LN_TRY(store_weights(ctx, o));
    return ln_context_print(ctx, o->outfile);
}

// ---- Running ----

// Inputs that are given are not read where the model is only compiled, but are those of the model.
static ln_status check_inputs(const ln_context *ctx, const source_options *o)
{
    for (int i = 0; i < o->inputs.count; i++) {
        const ln_tensor_entry *entry;
        const char *path;
        LN_TRY(tensor_input_find(ctx, o->inputs.items[i], &entry, &path));
        say_warning("-i %s is not read: -c only compiles, and -s gives shapes", o->inputs.items[i]);
    }
    return LN_OK;
}

// Inputs, before compiling: what is planned depends on their shapes.
static ln_status prepare(ln_context *ctx, source_options *o)
{
    LN_TRY(given_inputs_override(ctx, o->inputs.items, (size_t)o->inputs.count));
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    if (!o->run)
        return check_inputs(ctx, o);
    if (o->labels_file)
        LN_TRY(labels_read(o->labels_file, &o->names));
    else
        labels_find(ctx, o->source, &o->names);
    if (o->names.packed)
        say_info("names of classes are those of %s; --labels=FILE has others", o->names.packed);
    LN_TRY(given_inputs_read(ctx, o->inputs.items, (size_t)o->inputs.count, &o->files, &o->given));
    if (ln_context_get_state(ctx) < LN_CONTEXT_PLANNED)
        LN_TRY(given_inputs_bind_shapes(ctx, &o->given));
    if (o->takes_zeros && ln_context_get_state(ctx) < LN_CONTEXT_PLANNED)
        LN_TRY(given_inputs_bind_zeros(ctx, &o->given));
    return LN_OK;
}

static ln_status load(ln_context *ctx, const source_options *o)
{
    const char *datafile = o->has_stored ? NULL : o->datafile;
    LN_TRY(given_inputs_check(ctx, &o->given, o->takes_zeros));
    if (!datafile && !o->takes_zeros)
        LN_TRY(model_check_weights(
            ctx, "give it with -f FILE, take zeros with --zero, or only compile with -c"));
    if (o->labels_file)
        LN_TRY(check_labels(ctx, &o->names));
    LN_TRY(load_model(ctx, datafile));
    return given_inputs_set(ctx, &o->given);
}

static ln_status run(ln_context *ctx, const source_options *o)
{
    LN_TRY(load(ctx, o));
    double start = ln_clock();
    progress_begin("running");
    ln_status status = ln_context_run(ctx);
    progress_end();
    double seconds = ln_clock() - start;
    fflush(stdout);
    if (status == LN_OK)
        say_info("run time: %.6fs", seconds);
    if (status == LN_OK && o->labels_file)
        status = check_labels_of_run(ctx, &o->names);
    // Standard output is the compiled form alone, where that goes there.
    top_options top = top_options_of(o->top, o->names.lines ? &o->names : NULL);
    if (status == LN_OK && strcmp(o->outfile, "-") != 0)
        status = print_outputs(ctx, &top, 1);
    ln_context_unload(ctx);
    return status;
}

int cmd_compile_and_run(int argc, char **argv)
{
    source_options o = {.top = -1, .shows_warnings = 1, .shows_internal = 1};
    compile_flags_init(&o.flags);
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    show_messages(o.shows_warnings, o.shows_warnings && o.shows_internal, o.debug);

    ln_context *ctx = open_model(o.source);
    if (!ctx)
        return EXIT_FAILED;
    ln_status status = prepare(ctx, &o);
    if (status == LN_OK)
        status = compile(ctx, &o);
    if (status == LN_OK && o.run)
        status = run(ctx, &o);
    if (status != LN_OK)
        say_failure();
    given_inputs_free(&o.given);
    labels_free(&o.names);
    close_model(ctx);
    return status == LN_OK ? EXIT_OK : EXIT_FAILED;
}
