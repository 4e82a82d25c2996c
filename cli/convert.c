// SPDX-License-Identifier: Apache-2.0
// `lightnet convert`: a model or weights in one format, out in another.

#include <getopt.h>

#include "cli.h"
#include "convert_weights.h"

static const char help[] =
    "Usage: lightnet convert MODEL -o FILE\n"
    "       lightnet convert WEIGHTS -o FILE\n"
    "\n"
    "Writes MODEL in the format that FILE's name says: .json for JSON IR, .net for IL; a name that\n"
    "says neither gives JSON IR, and \"-\" writes that to standard output.\n"
    "\n"
    "Writes WEIGHTS, which are safetensors, .wts or a params dictionary, told apart by content, as\n"
    "FILE's name says: .safetensors, .wts or .params. Floats of 16 bits become 32 bits. .wts holds\n"
    "float and int8 only, and lengths in place of shapes.\n"
    "\n"
    "Options:\n"
    "  -o, --outfile=FILE  where to write (required)\n"
    "  -h, --help          show this help\n";

typedef struct convert_options {
    const char *model;
    const char *outfile;
} convert_options;

static int parse(int argc, char **argv, convert_options *o)
{
    static const struct option long_options[] = {{"outfile", required_argument, NULL, 'o'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'o': o->outfile = optarg; break;
        case 'h': fputs(help, stdout); return -1;
        case ':': return say_usage_error("convert", "option %s needs a value", argv[optind - 1]);
        default: return say_usage_error("convert", "unknown option %s", argv[optind - 1]);
        }
    }
    if (optind + 1 != argc)
        return say_usage_error("convert", optind == argc ? "no model" : "one model at a time");
    o->model = argv[optind];
    if (!o->outfile)
        return say_usage_error("convert", "say where to write with -o FILE");
    return EXIT_OK;
}

int cmd_convert(int argc, char **argv)
{
    convert_options o = {0};
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    ln_tensor_file_format format;
    if (ln_tensor_file_format_of(o.outfile, &format) == LN_OK)
        return convert_weights(o.model, o.outfile, format);
    if (is_weights(o.model))
        return say_usage_error("convert",
                               "%s holds weights, which go to a file whose name ends in "
                               ".safetensors, .wts or .params",
                               o.model);
    ln_context *ctx = open_model(o.model);
    if (!ctx)
        return EXIT_FAILED;
    code = ln_context_print(ctx, o.outfile) == LN_OK ? EXIT_OK : say_failure();
    close_model(ctx);
    return code;
}
