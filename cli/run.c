// SPDX-License-Identifier: Apache-2.0
// `lightnet run`: a model on given inputs; its outputs are summarised or saved.

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "compile_flags.h"
#include "progress.h"
#include "tensor_input.h"

#define MAX_INPUTS 64

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
    "  -i, --input=NAME=FILE   data of input NAME: .npy, safetensors, params dictionary, or raw\n"
    "                          bytes of the right size; with one input the name may be left out\n"
    "                          (-i FILE), and an input may be given by position (-i 0=FILE)\n"
    "  -o, --outdir=DIR        save each output as DIR/NAME.npy and list them in DIR/outputs.json\n"
    "  -n, --repeat=COUNT      run COUNT times, show the median time (default 1)\n"
    "  -v                      as --verbose\n" COMPILE_FLAGS_HELP
    "  -h, --help              show this help\n";

typedef struct run_options {
    const char *model;
    const char *datafile;
    const char *target;
    const char *outdir;
    const char *inputs[MAX_INPUTS];
    int input_count;
    int repeat;
    compile_flags flags;
} run_options;

static int parse(int argc, char **argv, run_options *o)
{
    static const struct option long_options[] = {
        {"datafile", required_argument, NULL, 'f'}, {"target", required_argument, NULL, 't'},
        {"input", required_argument, NULL, 'i'},    {"outdir", required_argument, NULL, 'o'},
        {"repeat", required_argument, NULL, 'n'},   COMPILE_FLAGS_OPTIONS,
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, ":f:t:i:o:n:vh", long_options, NULL)) != -1) {
        switch (option) {
        case 'f': o->datafile = optarg; break;
        case 't': o->target = optarg; break;
        case 'o': o->outdir = optarg; break;
        case 'i':
            if (o->input_count == MAX_INPUTS)
                return say_usage_error("run", "more than %d inputs", MAX_INPUTS);
            o->inputs[o->input_count++] = optarg;
            break;
        case 'n': {
            char *end;
            long count = strtol(optarg, &end, 10);
            if (*end || end == optarg || count < 1 || count > 1000000)
                return say_usage_error("run", "--repeat takes 1 to 1000000, not '%s'", optarg);
            o->repeat = (int)count;
            break;
        }
        case 'v': o->flags.is_verbose = 1; break;
        case 'h': fputs(help, stdout); return -1;
        case OPTION_RULES:
        case OPTION_SKIP:
        case OPTION_VERBOSE:
        case OPTION_BUDGET:
            if (compile_flags_take(&o->flags, "run", option, optarg) != EXIT_OK)
                return EXIT_USAGE;
            break;
        case ':': return say_usage_error("run", "option %s needs a value", argv[optind - 1]);
        default: return say_usage_error("run", "unknown option %s", argv[optind - 1]);
        }
    }
    if (optind + 1 != argc)
        return say_usage_error("run", optind == argc ? "no model" : "one model at a time");
    o->model = argv[optind];
    return EXIT_OK;
}

// ---- Inputs ----

static ln_status set_input(ln_context *ctx, const char *text)
{
    const ln_tensor_entry *entry;
    const char *path;
    LN_TRY(tensor_input_find(ctx, text, &entry, &path));
    tl_tensor *tensor;
    LN_TRY(tensor_read(path, entry->name, entry->tensor, &tensor));
    ln_status status = ln_context_set_data(ctx, entry->name, tensor->data);
    tl_tensor_free_data_too(tensor);
    return status;
}

// ---- Outputs ----

static void summarise(const ln_tensor_entry *entry)
{
    const tl_tensor *tensor = entry->tensor;
    char shape[128];
    ln_sprint_shape(shape, sizeof shape, tensor->ndim, tensor->dims);
    printf("%s: %s %s", entry->name, tl_dtype_name(tensor->dtype), shape);

    double least = INFINITY, most = -INFINITY, sum = 0;
    int nan_count = 0;
    for (int i = 0; i < tensor->len; i++) {
        double value;
        tl_convert(&value, TL_DOUBLE, tl_padd(tensor->data, i, tl_size_of(tensor->dtype)),
                   tensor->dtype);
        nan_count += value != value;
        least = value < least ? value : least;
        most = value > most ? value : most;
        sum += value;
    }
    if (tensor->len > 0)
        printf(" min %.6g max %.6g mean %.6g", least, most, sum / tensor->len);
    if (nan_count > 0)
        printf(" (%d NaN)", nan_count);
    putchar('\n');
    if (tensor->len <= 16)
        tl_tensor_print(tensor, tensor->dtype <= TL_FLOAT ? "%.6g" : NULL);
}

// A tensor's name as the name of a file, where it can be one; else the output's number.
static void file_name(const char *tensor_name, size_t index, char *buffer, size_t size)
{
    int can_be = tensor_name[0] != '.' && strlen(tensor_name) + sizeof ".npy" <= size;
    for (const char *c = tensor_name; *c; c++)
        can_be &= *c != '/' && (unsigned char)*c >= 0x20;
    if (can_be)
        snprintf(buffer, size, "%s.npy", tensor_name);
    else
        snprintf(buffer, size, "#%zu.npy", index);
}

// The names that ONNX gives to the types.
static const char *onnx_dtype_name(tl_dtype dtype)
{
    switch (dtype) {
    case TL_DOUBLE: return "DOUBLE";
    case TL_FLOAT: return "FLOAT";
    case TL_INT64: return "INT64";
    case TL_INT32: return "INT32";
    case TL_INT16: return "INT16";
    case TL_INT8: return "INT8";
    case TL_UINT64: return "UINT64";
    case TL_UINT32: return "UINT32";
    case TL_UINT16: return "UINT16";
    case TL_UINT8: return "UINT8";
    default: return "BOOL";
    }
}

static ln_status save_output(const ln_tensor_entry *entry, size_t index, const char *outdir,
                             FILE *list)
{
    char name[256], path[4096];
    file_name(entry->name, index, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", outdir, name);
    LN_TRY(npy_write(path, entry->tensor));

    fprintf(list, "%s    {\"name\": ", index ? ",\n" : "");
    print_json_string(list, entry->name);
    fprintf(list, ", \"file\": ");
    print_json_string(list, name);
    fprintf(list, ", \"dtype\": \"%s\", \"shape\": [", onnx_dtype_name(entry->tensor->dtype));
    for (int i = 0; i < entry->tensor->ndim; i++)
        fprintf(list, "%s%d", i ? ", " : "", entry->tensor->dims[i]);
    fprintf(list, "]}");
    return LN_OK;
}

static ln_status save_outputs(const ln_context *ctx, const char *outdir)
{
    if (mkdir(outdir, 0777) != 0 && errno != EEXIST)
        return ln_fail(LN_IO, "cannot make folder %s: %s", outdir, strerror(errno));
    char path[4096];
    snprintf(path, sizeof path, "%s/outputs.json", outdir);
    FILE *list = fopen(path, "w");
    if (!list)
        return ln_fail(LN_IO, "cannot open %s: %s", path, strerror(errno));
    fputs("[\n", list);
    ln_status status = LN_OK;
    const ln_tensor_entry *entry;
    for (size_t i = 0; status == LN_OK && (entry = ln_context_output(ctx, i)); i++)
        status = save_output(entry, i, outdir, list);
    fputs("\n]\n", list);
    if (fclose(list) != 0 && status == LN_OK)
        status = ln_fail(LN_IO, "cannot write %s: %s", path, strerror(errno));
    return status;
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

static ln_status run_model(ln_context *ctx, const run_options *o)
{
    LN_TRY(load_model(ctx, o->datafile));
    for (int i = 0; i < o->input_count; i++)
        LN_TRY(set_input(ctx, o->inputs[i]));
    LN_TRY(run_repeatedly(ctx, o->repeat));
    const ln_tensor_entry *entry;
    for (size_t i = 0; (entry = ln_context_output(ctx, i)); i++)
        summarise(entry);
    return o->outdir ? save_outputs(ctx, o->outdir) : LN_OK;
}

int cmd_run(int argc, char **argv)
{
    run_options o = {.target = "cpu", .repeat = 1};
    compile_flags_init(&o.flags);
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    ln_context *ctx = open_compiled(o.model, o.target, compile_flags_options(&o.flags));
    if (!ctx)
        return EXIT_FAILED;
    code = run_model(ctx, &o) == LN_OK ? EXIT_OK : say_failure();
    close_model(ctx);
    return code;
}
