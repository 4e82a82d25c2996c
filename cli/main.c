// SPDX-License-Identifier: Apache-2.0
// lightnet: the command. Without the name of a command it compiles and runs a model.

#include <string.h>

#include "cli.h"
#include "image_decoder.h"
#include "progress.h"

const command commands[] = {
    {"run", cmd_run, "run a model on given inputs; summarise or save its outputs"},
    {"bench", cmd_bench, "measure a model: time, speed, memory; operator by operator"},
    {"verify", cmd_verify, "run models on stored inputs; compare with stored outputs"},
    {"compare", cmd_compare, "run a model on two archs; compare tensor by tensor"},
    {"plan", cmd_plan, "show where each tensor lies, and the exact peak of memory"},
    {"inspect", cmd_inspect, "show inputs, outputs, operators, parameters, work and memory"},
    {"convert", cmd_convert, "write a model, or weights, in another format"},
    {"opt", cmd_opt, "rewrite a model with chosen passes and print it"},
    {"blame", cmd_blame, "find the rule or kernel that makes a model wrong"},
    {"stats", cmd_stats, "show the range, mean and zeros of each tensor of a file"},
    {"easyjson", cmd_easyjson, "turn JSON with comments and long strings into JSON"},
    {"genwts", cmd_genwts, "make weights from text, or random ones for a model"},
    {"gen-op", cmd_gen_op, "turn operator descriptions into C"},
    {"ops", cmd_ops, "list the operators, or describe one"},
    {"archs", cmd_archs, "list the archs that models can be compiled for"},
    {NULL, NULL, NULL},
};

static const command *find_command(const char *name)
{
    for (const command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    keep_standard_files();
    show_messages(1, 1, 0);
    if (ln_arch_init() != LN_OK || register_image_decoder() != LN_OK)
        return say_failure();

    const command *found = argc > 1 ? find_command(argv[1]) : NULL;
    int code = found ? found->run(argc - 1, argv + 1) : cmd_compile_and_run(argc, argv);
    progress_end();
    ln_arch_cleanup();

    // A full disk or a closed pipe must not look like success.
    if (fflush(stdout) != 0 || ferror(stdout)) {
        say_error("cannot write standard output");
        return code == EXIT_OK ? EXIT_FAILED : code;
    }
    return code;
}
