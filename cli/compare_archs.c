// SPDX-License-Identifier: Apache-2.0
// `lightnet compare`: a model on two archs, tensor by tensor.

#include <getopt.h>
#include <string.h>

#include "cli.h"
#include "compare.h"
#include "compile_flags.h"
#include "model_io.h"
#include "option_values.h"
#include "threads_option.h"
#include "trial.h"

#define MAX_INPUTS 64

static const char help[] =
    "Usage: lightnet compare [OPTION...] MODEL\n"
    "\n"
    "Runs MODEL on two archs with the same data and compares every tensor that both compute, in the\n"
    "order of execution: the first operator whose result deviates, and the largest deviation, in\n"
    "absolute and relative terms and in units of the last place (ulp).\n"
    "\n"
    "Options:\n"
    "  -a, --a=TARGET          what is right (default ref)\n"
    "  -b, --b=TARGET          what is compared with it (default cpu)\n"
    "  -f, --datafile=FILE     weights (default: the model's own, or random ones)\n"
    "  -i, --input=NAME=FILE   data of input NAME, as `lightnet run` takes it; other inputs are\n"
    "                          random\n"
    "  -s, --shape=NAME=SHAPE  shape of input NAME, or size of a symbolic dimension\n"
    "      --seed=N            where random numbers start (default 1)\n"
    "      --rtol=X            allowed deviation, relative to the number (default 1e-4;\n"
    "                          float16 2^-9, bfloat16 2^-6, integers 0)\n"
    "      --atol=X            and beside it (default: 1e-5 of the largest in the tensor;\n"
    "                          float16 2^-9, bfloat16 2^-6 of it, integers 0)\n"
    "      --all               one line for each tensor\n" THREADS_OPTION_HELP INPUT_OPTIONS_HELP
    "  -h, --help              show this help\n"
    "\n"
    "Exit status: 0 they agree, 1 a tensor deviates, or the model or a file is wrong, 2 the command\n"
    "line is wrong.\n";

typedef struct compare_options {
    const char *model;
    const char *a;
    const char *b;
    const char *inputs[MAX_INPUTS];
    const char *shapes[MAX_INPUTS];
    int shape_count;
    trial_source source;
    tolerance allowed;
    int shows_all;
} compare_options;

// ---- The command line ----

enum { SEED = 256, RTOL, ATOL, ALL };

// The options whose values can be wrong; EXIT_OK, EXIT_USAGE, or -1 for others.
static int take_checked(compare_options *o, int option)
{
    switch (option) {
    case 'i':
        return take_text("compare", "inputs", optarg, MAX_INPUTS, o->inputs,
                         &o->source.input_count);
    case 's': return take_text("compare", "shapes", optarg, MAX_INPUTS, o->shapes, &o->shape_count);
    case SEED: return take_seed("compare", optarg, &o->source.seed);
    case RTOL: return take_tolerance("compare", "--rtol", optarg, &o->allowed.rtol);
    case ATOL: return take_tolerance("compare", "--atol", optarg, &o->allowed.atol);
    case OPTION_THREADS: return threads_option_take("compare", optarg);
    default: return input_options_take(&o->source.files, "compare", option, optarg);
    }
}

static int parse(int argc, char **argv, compare_options *o)
{
    static const struct option long_options[] = {{"a", required_argument, NULL, 'a'},
                                                 {"b", required_argument, NULL, 'b'},
                                                 {"datafile", required_argument, NULL, 'f'},
                                                 {"input", required_argument, NULL, 'i'},
                                                 {"shape", required_argument, NULL, 's'},
                                                 {"seed", required_argument, NULL, SEED},
                                                 {"rtol", required_argument, NULL, RTOL},
                                                 {"atol", required_argument, NULL, ATOL},
                                                 {"all", no_argument, NULL, ALL},
                                                 THREADS_OPTION,
                                                 INPUT_OPTIONS,
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":a:b:f:i:s:h", long_options, NULL)) != -1) {
        int code = take_checked(o, option);
        if (code == EXIT_OK)
            continue;
        if (code != -1)
            return code;
        switch (option) {
        case 'a': o->a = optarg; break;
        case 'b': o->b = optarg; break;
        case 'f': o->source.datafile = optarg; break;
        case ALL: o->shows_all = 1; break;
        case 'h': fputs(help, stdout); return -1;
        default: return say_bad_option("compare", option, argv);
        }
    }
    o->source.inputs = o->inputs;
    return take_model("compare", argc, argv, &o->model);
}

// ---- Words ----

static void print_deviation(const char *what, const deviation *d, ln_context *expected)
{
    char words[512];
    const ln_tensor_entry *entry = ln_tensor_table_find(expected->tensor_table, d->tensor);
    describe_deviation(d, entry ? entry->tensor : NULL, words, sizeof words);
    printf("%s tensor '", what);
    put_printable(d->tensor, stdout);
    printf("' of operator '");
    put_printable(d->op, stdout);
    printf("' (%s): %s\n", d->optype, words);
}

static void print_each(void *user, const deviation *d)
{
    ln_context *expected = user;
    if (d->excess > 0) {
        print_deviation(d->excess > 1 ? "WRONG" : "near ", d, expected);
        return;
    }
    printf("same  tensor '");
    put_printable(d->tensor, stdout);
    printf("' of operator '");
    put_printable(d->op, stdout);
    printf("' (%s)\n", d->optype);
}

static void print_comparison(const compare_options *o, const comparison *c, ln_context *expected)
{
    printf("%zu tensors compared, %zu deviate\n", c->tensor_count, c->wrong_count);
    if (c->wrong_count > 0)
        print_deviation("first:  ", &c->first, expected);
    if (c->tensor_count > 0 && c->worst.excess > 0)
        print_deviation("largest:", &c->worst, expected);
    else if (c->wrong_count == 0)
        printf("%s and %s give the same\n", o->a, o->b);
}

// ---- Comparing ----

static ln_status run_both(const compare_options *o, ln_context *model, const trial_data *data,
                          int *out_code)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_tensors = 1;
    ln_context *a, *b = NULL;
    LN_TRY(trial_run(model, o->a, &options, data, 1, NULL, &a));
    comparison c;
    ln_status status = trial_run(model, o->b, &options, data, 1, NULL, &b);
    if (status == LN_OK)
        status = compare_models(
            b, a, &o->allowed,
            &(compare_scope){.on_tensor = o->shows_all ? print_each : NULL, .user = a}, &c);
    if (status == LN_OK) {
        print_comparison(o, &c, a);
        *out_code = c.wrong_count ? EXIT_FAILED : EXIT_OK;
    }
    close_model(a);
    close_model(b);
    return status;
}

static ln_status compare(const compare_options *o, ln_context *model, int *out_code)
{
    if (model->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "%s is compiled already; compare the model it came from",
                       o->model);
    for (int i = 0; i < o->shape_count; i++)
        LN_TRY(model_set_shape(model, o->shapes[i]));
    trial_data *data;
    LN_TRY(trial_data_create(model, &o->source, &data));
    ln_status status = trial_bind_shapes(model, data);
    if (status == LN_OK)
        status = run_both(o, model, data, out_code);
    trial_data_destroy(data);
    return status;
}

int cmd_compare(int argc, char **argv)
{
    compare_options o = {
        .a = "ref", .b = "cpu", .source = {.seed = 1}, .allowed = TOLERANCE_DEFAULT};
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    ln_context *model = open_model(o.model);
    if (!model)
        return EXIT_FAILED;
    if (compare(&o, model, &code) != LN_OK)
        code = say_failure();
    close_model(model);
    return code;
}
