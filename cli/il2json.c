// SPDX-License-Identifier: Apache-2.0
// il2json: turns an IL model into JSON IR. Needs no operator to be registered.

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "cli.h"

static const char help[] = "Usage: il2json [OPTION...] [INFILE]\n"
                           "\n"
                           "Turns the IL model INFILE (default: standard input) into JSON IR.\n"
                           "\n"
                           "Options:\n"
                           "  -o, --outfile=FILE  where to write (default: standard output)\n"
                           "  -h, --help          show this help\n";

const command commands[] = {{NULL, NULL, NULL}};

static int write_json(const char *outfile, const char *json)
{
    FILE *file = outfile ? fopen(outfile, "w") : stdout;
    if (!file) {
        say_error("cannot open %s: %s", outfile, strerror(errno));
        return EXIT_FAILED;
    }
    int is_written = fputs(json, file) >= 0;
    if ((outfile ? fclose(file) : fflush(file)) != 0 || !is_written) {
        say_error("cannot write %s: %s", outfile ? outfile : "standard output", strerror(errno));
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {{"outfile", required_argument, NULL, 'o'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    const char *outfile = NULL;
    int option;
    keep_standard_files();
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'o': outfile = strcmp(optarg, "-") == 0 ? NULL : optarg; break;
        case 'h': fputs(help, stdout); return EXIT_OK;
        case ':':
            say_error("option %s needs a value; try `il2json --help`", argv[optind - 1]);
            return EXIT_USAGE;
        default:
            say_error("unknown option %s; try `il2json --help`", argv[optind - 1]);
            return EXIT_USAGE;
        }
    }
    if (optind + 1 < argc) {
        say_error("one input file at a time; try `il2json --help`");
        return EXIT_USAGE;
    }
    char *json;
    if (ln_il_to_json(optind < argc ? argv[optind] : "-", &json) != LN_OK)
        return say_failure();
    int code = write_json(outfile, json);
    ln_free(json);
    return code;
}
