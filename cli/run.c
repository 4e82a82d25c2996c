// SPDX-License-Identifier: Apache-2.0
// `lightnet run`: a model on given inputs; its outputs are summarised or saved.

#include <getopt.h>
#include <stdlib.h>

#include "cli.h"
#include "compile_flags.h"
#include "input_options.h"
#include "labels.h"
#include "model_io.h"
#include "option_values.h"
#include "progress.h"
#include "save_outputs.h"
#include "summary.h"
#include "threads_option.h"

#define MAX_INPUTS  256
#define MAX_SHAPES  64
#define DEFAULT_TOP 5

static const char help[] =
    "Usage: lightnet run [OPTION...] MODEL\n"
    "\n"
    "Compiles MODEL (unless it is compiled), loads its weights and inputs, runs it, and shows each\n"
    "output's type, shape and range.\n"
    "\n"
    "Options:\n"
    "  -f, --datafile=FILE     weights: safetensors, .wts or a params dictionary, told apart by\n"
    "                          content\n"
    "  -t, --target=TARGET     the arch to compile for (default cpu)\n"
    "  -i, --input=NAME=FILE   data of input NAME: .npy, .npz, ONNX .pb, safetensors, params\n"
    "                          dictionary, a picture, WAV, or raw bytes of the right size;\n"
    "                          with one input the name may be left out (-i FILE), and an input may\n"
    "                          be given by position (-i 0=FILE)\n"
    "  -s, --shape=NAME=SHAPE  shape of input NAME (x=1x3x224x224), or size of a symbolic dimension\n"
    "                          (batch=4); what is left open takes the shape of the data\n"
    "  -o, --outdir=DIR        save each output as DIR/NAME.npy and list them in DIR/outputs.json\n"
    "  -n, --repeat=COUNT      run COUNT times, show the median time (default 1)\n" THREADS_OPTION_HELP
    "      --labels=FILE       names of classes, one a line: show the top ones\n"
    "      --top=COUNT         how many (default 5), also without names\n" INPUT_OPTIONS_HELP
    "  -v                      as --verbose\n" COMPILE_FLAGS_HELP
    "  -h, --help              show this help\n";

typedef struct run_options {
    const char *model;
    const char *datafile;
    const char *target;
    const char *outdir;
    const char *labels;
    const char *inputs[MAX_INPUTS];
    int input_count;
    const char *shapes[MAX_SHAPES];
    int shape_count;
    int repeat;
    int top; // -1: not given
    input_options files;
    compile_flags flags;
} run_options;

// ---- The command line ----

enum { LABELS = 256, TOP };

// The options whose values can be wrong; EXIT_OK, EXIT_USAGE, or -1 for others.
static int take_checked(run_options *o, int option)
{
    switch (option) {
    case 'i': return take_text("run", "inputs", optarg, MAX_INPUTS, o->inputs, &o->input_count);
    case 's': return take_text("run", "shapes", optarg, MAX_SHAPES, o->shapes, &o->shape_count);
    case 'n': return take_count("run", "--repeat", optarg, 1000000, &o->repeat);
    case OPTION_THREADS: return threads_option_take("run", optarg);
    case TOP: return take_count("run", "--top", optarg, 1000, &o->top);
    default: break;
    }
    int code = input_options_take(&o->files, "run", option, optarg);
    return code != -1 ? code : compile_flags_take(&o->flags, "run", option, optarg);
}

static int parse(int argc, char **argv, run_options *o)
{
    static const struct option long_options[] = {{"datafile", required_argument, NULL, 'f'},
                                                 {"target", required_argument, NULL, 't'},
                                                 {"input", required_argument, NULL, 'i'},
                                                 {"shape", required_argument, NULL, 's'},
                                                 {"outdir", required_argument, NULL, 'o'},
                                                 {"repeat", required_argument, NULL, 'n'},
                                                 THREADS_OPTION,
                                                 {"labels", required_argument, NULL, LABELS},
                                                 {"top", required_argument, NULL, TOP},
                                                 INPUT_OPTIONS,
                                                 COMPILE_FLAGS_OPTIONS,
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, ":f:t:i:s:o:n:vh", long_options, NULL)) != -1) {
        int code = take_checked(o, option);
        if (code == EXIT_OK)
            continue;
        if (code != -1)
            return code;
        switch (option) {
        case 'f': o->datafile = optarg; break;
        case 't': o->target = optarg; break;
        case 'o': o->outdir = optarg; break;
        case LABELS: o->labels = optarg; break;
        case 'v': o->flags.is_verbose = 1; break;
        case 'h': fputs(help, stdout); return -1;
        default: return say_bad_option("run", option, argv);
        }
    }
    return take_model("run", argc, argv, &o->model);
}

// ---- Running ----

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ln_status run_repeatedly(const ln_context *ctx, int repeat)
{
    double *seconds = malloc((size_t)repeat * sizeof *seconds);
    if (!seconds)
        return ln_fail(LN_NO_MEMORY, "out of memory for %d times", repeat);
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
        if (repeat == 1)
            say_info("run time: %.6fs", seconds[0]);
        else
            say_info("run time: median %.6fs of %d runs, best %.6fs", seconds[repeat / 2], repeat,
                     seconds[0]);
    }
    free(seconds);
    return status;
}

static ln_status print_outputs(ln_context *ctx, const top_options *top)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++) {
        ln_object *value;
        LN_TRY(model_get_output(ctx, entry, &value));
        print_value(entry->name, value, top);
        ln_object_release(value);
    }
    return LN_OK;
}

// An input that nobody gives is zeros, which is hardly meant.
static void warn_of_missing(const ln_context *ctx, const given_inputs *given)
{
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_input(ctx, i)); i++) {
        if (!entry->isstatic && !given_inputs_find(given, entry->name))
            say_warning("input '%s' is not given, so it is zeros", entry->name);
    }
}

// Shapes first: what is planned depends on them.
static ln_status prepare(ln_context *ctx, const run_options *o, given_inputs *given)
{
    for (int i = 0; i < o->shape_count; i++)
        LN_TRY(model_set_shape(ctx, o->shapes[i]));
    LN_TRY(given_inputs_read(ctx, o->inputs, (size_t)o->input_count, &o->files, given));
    warn_of_missing(ctx, given);
    return ctx->state < LN_CONTEXT_PLANNED ? given_inputs_bind_shapes(ctx, given) : LN_OK;
}

static ln_status run_model(ln_context *ctx, run_options *o, const given_inputs *given,
                           const labels *names)
{
    LN_TRY(compile_if_needed(ctx, o->model, o->target, compile_flags_options(&o->flags)));
    LN_TRY(load_model(ctx, o->datafile));
    LN_TRY(given_inputs_set(ctx, given));
    LN_TRY(run_repeatedly(ctx, o->repeat));
    top_options top = {.count = o->top > 0  ? o->top
                                : o->labels ? DEFAULT_TOP
                                            : 0,
                       .all = o->labels ? names : NULL};
    LN_TRY(print_outputs(ctx, &top));
    return o->outdir ? save_outputs(ctx, o->outdir) : LN_OK;
}

int cmd_run(int argc, char **argv)
{
    run_options o = {.target = "cpu", .repeat = 1, .top = -1};
    compile_flags_init(&o.flags);
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_FAILED;
    given_inputs given = {0};
    labels names = {0};
    ln_status status = o.labels ? labels_read(o.labels, &names) : LN_OK;
    if (status == LN_OK)
        status = prepare(ctx, &o, &given);
    if (status == LN_OK)
        status = run_model(ctx, &o, &given, &names);
    code = status == LN_OK ? EXIT_OK : say_failure();
    given_inputs_free(&given);
    labels_free(&names);
    close_model(ctx);
    return code;
}
