// SPDX-License-Identifier: Apache-2.0
// `lightnet gen-op`: operator descriptions to C.

#include <string.h>

#include "cli.h"
#include "desc/opdesc_api.h"

typedef struct gen_op_options {
    option_texts bases;
    const char *outfile;
} gen_op_options;

static const verb_option takes[] = {
    TAKES(BASE, gen_op_options, bases),
    NOTE(OUTFILE, gen_op_options, outfile, "the C (default standard output)"),
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage gen_op_usage = {
    .name = "gen-op",
    .synopsis = "[OPTION...] FILE...",
    .about = "Reads operator descriptions (JSON, easy JSON, or the NAME : BASE {} form) and writes "
             "the C definition of each operator, for use with <lightnet/lightnet.h>.",
    .options = takes,
};

int cmd_gen_op(int argc, char **argv)
{
    gen_op_options o = {.outfile = "-"};
    int count;
    char **files;
    int code = options_parse(&gen_op_usage, argc, argv, &o, &count, &files);
    if (code == EXIT_OK && count == 0)
        code = say_usage_error("gen-op", "no description");
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;

    size_t base_count = (size_t)o.bases.count, path_count = base_count + (size_t)count;
    const char **paths = ln_alloc_array(path_count, sizeof *paths);
    if (!paths)
        return say_failure();
    memcpy(paths, o.bases.items, base_count * sizeof *paths);
    memcpy(paths + base_count, files, (size_t)count * sizeof *paths);
    char *text;
    ln_status status = ln_opdesc_generate(paths, path_count, base_count, &text);
    ln_free(paths);
    if (status != LN_OK)
        return say_failure();
    code = write_text(o.outfile, text);
    ln_free(text);
    return code;
}
