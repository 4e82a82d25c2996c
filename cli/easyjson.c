// SPDX-License-Identifier: Apache-2.0
// `lightnet easyjson`: JSON as people write it into JSON.

#include "cli.h"

typedef struct easyjson_options {
    const char *outfile;
} easyjson_options;

static const verb_option takes[] = {
    NOTE(OUTFILE, easyjson_options, outfile, "(default standard output)"),
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage easyjson_usage = {
    .name = "easyjson",
    .synopsis = "[OPTION...] [FILE]",
    .about = "Turns FILE (default: standard input), which is JSON with comments, commas after the "
             "last member, and '''strings over lines''', into JSON.",
    .options = takes,
};

int cmd_easyjson(int argc, char **argv)
{
    easyjson_options o = {.outfile = "-"};
    int count;
    char **files;
    int code = options_parse(&easyjson_usage, argc, argv, &o, &count, &files);
    if (code == EXIT_OK && count > 1)
        code = say_usage_error("easyjson", "one file at a time");
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;

    char *json;
    if (ln_easyjson_to_json(count > 0 ? files[0] : "-", &json) != LN_OK)
        return say_failure();
    code = write_text(o.outfile, json);
    ln_free(json);
    return code;
}
