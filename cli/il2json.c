// SPDX-License-Identifier: Apache-2.0
// il2json: turns an IL model into JSON IR. Needs no operator to be registered.

#include <errno.h>
#include <string.h>

#include "cli.h"

typedef struct il2json_options {
    const char *outfile;
} il2json_options;

static const verb_option takes[] = {
    NOTE(OUTFILE, il2json_options, outfile, "(default: standard output)"),
    TAKES_HELP,
    END_OF_OPTIONS,
};

static const verb_usage usage = {
    .synopsis = "[OPTION...] [INFILE]",
    .about = "Turns the IL model INFILE (default: standard input) into JSON IR.",
    .options = takes,
};

const command commands[] = {{NULL, NULL, NULL, NULL}};

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
    il2json_options o = {.outfile = NULL};
    int count;
    char **files;
    keep_standard_files();
    set_program_name("il2json");
    int code = options_parse(&usage, argc, argv, &o, &count, &files);
    if (code == EXIT_OK && count > 1)
        code = say_usage_error(NULL, "one input file at a time");
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    char *json;
    if (ln_il_to_json(count > 0 ? files[0] : "-", &json) != LN_OK)
        return say_failure();
    code = write_json(o.outfile && strcmp(o.outfile, "-") == 0 ? NULL : o.outfile, json);
    ln_free(json);
    return code;
}
