// SPDX-License-Identifier: Apache-2.0
// `lightnet gen-op`: operator descriptions to C.

#include <getopt.h>

#include "cli.h"
#include "option_values.h"

#define MAX_FILES 256

static const char help[] =
    "Usage: lightnet gen-op [OPTION...] FILE...\n"
    "\n"
    "Reads operator descriptions (JSON, easy JSON, or the NAME : BASE {} form) and writes the C\n"
    "definition of each operator, for use with <lightnet/lightnet.h>.\n"
    "\n"
    "Options:\n"
    "  -b, --base=FILE     descriptions that those in FILE... inherit from; may be repeated\n"
    "  -o, --outfile=FILE  where to write the C (default standard output)\n"
    "  -h, --help          show this help\n";

int cmd_gen_op(int argc, char **argv)
{
    static const struct option long_options[] = {{"base", required_argument, NULL, 'b'},
                                                 {"outfile", required_argument, NULL, 'o'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    const char *paths[MAX_FILES];
    size_t path_count = 0;
    const char *outfile = "-";
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":b:o:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'b':
            if (path_count == MAX_FILES)
                return say_usage_error("gen-op", "more than %d files", MAX_FILES);
            paths[path_count++] = optarg;
            break;
        case 'o': outfile = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_OK;
        default: return say_bad_option("gen-op", option, argv);
        }
    }
    if (optind == argc)
        return say_usage_error("gen-op", "no description");
    if ((size_t)(argc - optind) > MAX_FILES - path_count)
        return say_usage_error("gen-op", "more than %d files", MAX_FILES);
    size_t base_count = path_count;
    for (int i = optind; i < argc; i++)
        paths[path_count++] = argv[i];

    char *text;
    if (ln_opdesc_generate(paths, path_count, base_count, &text) != LN_OK)
        return say_failure();
    int code = write_text(outfile, text);
    ln_free(text);
    return code;
}
