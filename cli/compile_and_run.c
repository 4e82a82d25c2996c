// SPDX-License-Identifier: Apache-2.0
// `lightnet [options] SOURCE`: compile a model, write the compiled form, run it.

#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "compile_flags.h"
#include "option_values.h"
#include "progress.h"
#include "threads_option.h"

static const char help[] =
    "Usage: lightnet [OPTION...] SOURCE\n"
    "       lightnet COMMAND [OPTION...] ...\n"
    "\n"
    "Compiles the model SOURCE (JSON IR, compiled IR or IL, told apart by content; \"-\" reads\n"
    "standard input), writes its compiled form, and runs it.\n"
    "\n"
    "Options:\n"
    "  -h, --help           show this help\n"
    "  -v, --version        show the version\n"
    "  -o, --outfile=FILE   where the compiled form goes (default out.json); \"-\" is standard\n"
    "                       output, \"!\" writes nothing\n"
    "  -t, --target=TARGET  the arch to compile for, or a list in order of preference such as\n"
    "                       cpu,ref (default cpu); `lightnet archs` lists them\n"
    "  -f, --datafile=FILE  tensor data: safetensors, .wts or a params dictionary,\n"
    "                       told apart by content\n"
    "  -c, --compile        only compile\n"
    "      --no-weights     do not store weights beside the compiled form. Otherwise those that\n"
    "                       the model brings, with -c also those of -f, are folded and packed\n"
    "                       once, now, into out.safetensors\n"
    "  -r, --run            only run; SOURCE must be a compiled form\n"
    "  -d, --debug          show what the passes do\n" THREADS_OPTION_HELP COMPILE_FLAGS_HELP
    "  -Wwarn, -w, -Wno-warn    show or hide warnings (shown)\n"
    "  -Winter, -Wno-inter      show or hide internal warnings (shown)\n"
    "\n"
    "Commands (`lightnet COMMAND --help` tells more):\n";

typedef struct options {
    const char *source;
    const char *outfile;
    const char *target;
    const char *datafile;
    int compile;
    int run;
    int debug;
    int is_without_weights;
    int has_stored; // the weights are in the compiled form
    int shows_warnings;
    int shows_internal;
    compile_flags flags;
} options;

static void print_help(void)
{
    fputs(help, stdout);
    for (const command *c = commands; c->name; c++)
        printf("  %-10s %s\n", c->name, c->doc);
    fputs("\nExit status: 0 success, 1 a model, file or run failed, 2 bad command line.\n", stdout);
}

static void print_version(void)
{
    printf("lightnet %s\n"
           "Copyright (C) the LightNet authors\n"
           "Licence: Apache-2.0\n",
           ln_version());
}

// EXIT_OK to go on; -1 if the answer was given already; else an exit code.
static int parse(int argc, char **argv, options *o)
{
    enum { WWARN = 256, WNO_WARN, WINTER, WNO_INTER, NO_WEIGHTS };
    static const struct option long_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {"outfile", required_argument, NULL, 'o'},
        {"target", required_argument, NULL, 't'},
        {"datafile", required_argument, NULL, 'f'},
        {"compile", no_argument, NULL, 'c'},
        {"run", no_argument, NULL, 'r'},
        {"debug", no_argument, NULL, 'd'},
        {"no-weights", no_argument, NULL, NO_WEIGHTS},
        {"Wwarn", no_argument, NULL, WWARN},
        {"Wno-warn", no_argument, NULL, WNO_WARN},
        {"Winter", no_argument, NULL, WINTER},
        {"Wno-inter", no_argument, NULL, WNO_INTER},
        THREADS_OPTION,
        COMPILE_FLAGS_OPTIONS,
        {NULL, 0, NULL, 0},
    };
    opterr = 0;
    int option, code;
    while ((option = getopt_long_only(argc, argv, ":hvo:t:f:crdw", long_options, NULL)) != -1) {
        switch (option) {
        case 'h': print_help(); return -1;
        case 'v': print_version(); return -1;
        case 'o': o->outfile = optarg; break;
        case 't': o->target = optarg; break;
        case 'f': o->datafile = optarg; break;
        case 'c': o->compile = 1; break;
        case 'r': o->run = 1; break;
        case 'd': o->debug = 1; break;
        case NO_WEIGHTS: o->is_without_weights = 1; break;
        case WWARN: o->shows_warnings = 1; break;
        case 'w':
        case WNO_WARN: o->shows_warnings = 0; break;
        case WINTER: o->shows_internal = 1; break;
        case WNO_INTER: o->shows_internal = 0; break;
        case OPTION_THREADS:
            if (threads_option_take(NULL, optarg) != EXIT_OK)
                return EXIT_USAGE;
            break;
        default:
            code = compile_flags_take(&o->flags, NULL, option, optarg);
            if (code != EXIT_OK)
                return code == -1 ? say_bad_option(NULL, option, argv) : code;
        }
    }
    if (optind >= argc)
        return say_usage_error(NULL, "no input file");
    if (optind + 1 < argc)
        return say_usage_error(NULL, "one input file at a time, '%s' is too many",
                               argv[optind + 1]);
    o->source = argv[optind];
    if (!o->compile && !o->run)
        o->compile = o->run = 1;
    return EXIT_OK;
}

static ln_status check_only_run(const options *o)
{
    if (!compile_flags_any(&o->flags))
        return LN_OK;
    return ln_fail(LN_STATE, "-r only runs %s; --skip and --rules belong to where it is compiled",
                   o->source);
}

static int is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

// Weights go beside the compiled form, where there is a file to lie beside.
static ln_status store_weights(ln_context *ctx, options *o)
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
        status = ln_fail(LN_EXISTS,
                         "the packed weights would replace %s; name another file with -o, or leave "
                         "them out with --no-weights",
                         datafile);
    if (status == LN_OK)
        status = ln_context_store(ctx, datafile, path, &count);
    o->has_stored = count > 0;
    ln_free(path);
    return status;
}

static ln_status compile(ln_context *ctx, options *o)
{
    if (!o->compile) {
        if (ctx->state >= LN_CONTEXT_PLANNED)
            return check_only_run(o);
        return ln_fail(LN_STATE,
                       "%s is not compiled, so it cannot only be run; leave out -r, or "
                       "compile it first: lightnet -c -o compiled.json %s",
                       o->source, o->source);
    }
    if (ctx->state >= LN_CONTEXT_PLANNED)
        return ln_fail(LN_STATE, "%s is compiled already; run it with: lightnet -r %s", o->source,
                       o->source);
    LN_TRY(compile_model(ctx, o->target, compile_flags_options(&o->flags)));
    if (strcmp(o->outfile, "!") == 0)
        return LN_OK;
    LN_TRY(store_weights(ctx, o));
    return ln_context_print(ctx, o->outfile);
}

static ln_status run(ln_context *ctx, const options *o)
{
    LN_TRY(load_model(ctx, o->has_stored ? NULL : o->datafile));
    double start = ln_clock();
    progress_begin("running");
    ln_status status = ln_context_run(ctx);
    progress_end();
    double seconds = ln_clock() - start;
    fflush(stdout);
    if (status == LN_OK)
        say_info("run time: %.6fs", seconds);
    ln_context_unload(ctx);
    return status;
}

int cmd_compile_and_run(int argc, char **argv)
{
    options o = {.outfile = "out.json", .target = "cpu", .shows_warnings = 1, .shows_internal = 1};
    compile_flags_init(&o.flags);
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    show_messages(o.shows_warnings, o.shows_warnings && o.shows_internal, o.debug);

    ln_context *ctx = open_model(o.source);
    if (!ctx)
        return EXIT_FAILED;
    ln_status status = compile(ctx, &o);
    if (status == LN_OK && o.run)
        status = run(ctx, &o);
    if (status != LN_OK)
        say_failure();
    close_model(ctx);
    return status == LN_OK ? EXIT_OK : EXIT_FAILED;
}
