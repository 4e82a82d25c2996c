// SPDX-License-Identifier: Apache-2.0
// `lightnet easyjson`: JSON as people write it into JSON.

#include <getopt.h>

#include "cli.h"
#include "option_values.h"

static const char help[] =
    "Usage: lightnet easyjson [OPTION...] [FILE]\n"
    "\n"
    "Turns FILE (default: standard input), which is JSON with comments, commas behind the last\n"
    "member, and '''strings over lines''', into JSON.\n"
    "\n"
    "Options:\n"
    "  -o, --outfile=FILE  where to write (default standard output)\n"
    "  -h, --help          show this help\n";

int cmd_easyjson(int argc, char **argv)
{
    static const struct option long_options[] = {{"outfile", required_argument, NULL, 'o'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    const char *outfile = "-";
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
        switch (option) {
        case 'o': outfile = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_OK;
        default: return say_bad_option("easyjson", option, argv);
        }
    }
    if (optind + 1 < argc)
        return say_usage_error("easyjson", "one file at a time");

    char *json;
    if (ln_easyjson_to_json(optind < argc ? argv[optind] : "-", &json) != LN_OK)
        return say_failure();
    int code = write_text(outfile, json);
    ln_free(json);
    return code;
}
