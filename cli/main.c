// SPDX-License-Identifier: Apache-2.0
// lightnet: the command. Without the name of a command it compiles and runs a model.

#include <string.h>

#include <lightnet/spelling.h>

#include "cli.h"
#include "device_option.h"
#include "given_options.h"
#include "image_decoder.h"
#include "json_out.h"
#include "progress.h"

const command commands[] = {
    {"run", cmd_run, &run_usage, "run a model on given inputs; summarise or save its outputs"},
    {"bench", cmd_bench, &bench_usage,
     "measure a model: time, speed, memory; operator by operator"},
    {"verify", cmd_verify, &verify_usage,
     "run models on stored inputs; compare with stored outputs"},
    {"compare", cmd_compare, &compare_usage,
     "hold a compiled model against the model as read, tensor by tensor"},
    {"plan", cmd_plan, &plan_usage, "show the memory plan: each tensor, and the peak"},
    {"inspect", cmd_inspect, &inspect_usage,
     "show inputs, outputs, operators, parameters, work and memory"},
    {"convert", cmd_convert, &convert_usage, "write a model, or weights, in another format"},
    {"opt", cmd_opt, &opt_usage, "rewrite a model with chosen passes and print it"},
    {"blame", cmd_blame, &blame_usage, "find the rule or kernel that makes a model wrong"},
    {"stats", cmd_stats, &stats_usage, "show the range, mean and zeros of each tensor of a file"},
    {"easyjson", cmd_easyjson, &easyjson_usage,
     "turn JSON with comments and long strings into JSON"},
    {"genwts", cmd_genwts, &genwts_usage, "make weights from text, or random ones for a model"},
    {"gen-op", cmd_gen_op, &gen_op_usage, "turn operator descriptions into C"},
    {"ops", cmd_ops, &ops_usage, "list the operators, or describe one"},
    {"archs", cmd_archs, &archs_usage, "list the archs that models can be compiled for"},
    {"formats", cmd_formats, &formats_usage, "list the formats that are read and written"},
    {"completion", cmd_completion, &completion_usage, "print completions for a shell"},
    {"help", cmd_help, &help_usage, "show this list, or what a command takes"},
    {NULL, NULL, NULL, NULL},
};

const command *find_command(const char *name)
{
    for (const command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

const char *near_command(const char *name, char *buffer, size_t size)
{
    static const struct {
        const char *word, *here;
    } others[] = {
        {"version", "--version"}, {"infer", "run"},        {"predict", "run"},
        {"exec", "run"},          {"info", "inspect"},     {"show", "inspect"},
        {"summary", "inspect"},   {"describe", "inspect"}, {"benchmark", "bench"},
        {"perf", "bench"},        {"time", "bench"},       {"profile", "bench --profile"},
        {"build", "-c"},          {"compile", "-c"},       {"export", "convert"},
        {"translate", "convert"}, {"test", "verify"},      {"check", "verify"},
        {"diff", "compare"},      {"optimize", "opt"},     {"simplify", "opt"},
        {"operators", "ops"},     {"targets", "archs"},    {"devices", "archs"},
        {"providers", "archs"},   {"backends", "archs"},   {"memory", "plan"},
        {"validate", "verify"},   {"optimise", "opt"},     {"evaluate", "verify"},
        {"list", "ops"},          {"bisect", "blame"},     {"debug", "blame"},
    };
    ln_nearest nearest = ln_nearest_to(name);
    for (const command *c = commands; c->name; c++)
        ln_nearest_try(&nearest, c->name);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].word, name) == 0)
            nearest.name = others[i].here;
    snprintf(buffer, size, "%s%s%s", nearest.name ? "; did you mean `lightnet " : "",
             nearest.name ? nearest.name : "", nearest.name ? "`?" : "");
    return buffer;
}

// ---- help ----

static const verb_option help_takes[] = {TAKES_HELP, END_OF_OPTIONS};

const verb_usage help_usage = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .about = "Lists the commands and the options of `lightnet` without one; with a COMMAND, shows "
             "what it does and takes, as `lightnet COMMAND --help` does.",
    .options = help_takes,
};

static void list_commands(FILE *out)
{
    fputs("Commands (`lightnet help COMMAND` tells more):\n", out);
    for (const command *c = commands; c->name; c++)
        fprintf(out, "  %-11s %s\n", c->name, c->doc);
}

static int help_all(void)
{
    options_print_help(&compile_and_run_usage, stdout);
    putchar('\n');
    list_commands(stdout);
    fputs("\nExit status: 0 success, 1 a model, file or run failed, 2 bad command line.\n", stdout);
    return EXIT_OK;
}

int cmd_help(int argc, char **argv)
{
    int count;
    char **operands, near[64];
    int code = options_parse(&help_usage, argc, argv, NULL, &count, &operands);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    if (count == 0)
        return help_all();
    if (count > 1)
        return say_usage_error("help", "one command at a time; '%s' is too many", operands[1]);
    const command *c = find_command(operands[0]);
    if (!c)
        return say_usage_error(NULL, "unknown command '%s'%s", operands[0],
                               near_command(operands[0], near, sizeof near));
    options_print_help(c->usage, stdout);
    return EXIT_OK;
}

// ---- The command ----

// `lightnet` alone.
static int say_nothing_to_do(void)
{
    fputs("Usage: lightnet COMMAND [OPTION...] ...\n"
          "       lightnet [OPTION...] SOURCE\n\n",
          stderr);
    list_commands(stderr);
    return say_usage_error(NULL, "no command and no input file");
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return say_nothing_to_do();
    const command *found = find_command(argv[1]);
    if (found)
        return found->run(argc - 1, argv + 1);
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return help_all();
    return cmd_compile_and_run(argc, argv);
}

int main(int argc, char **argv)
{
    keep_standard_files();
    show_messages(1, 1, 0);
    if (ln_arch_init() != LN_OK || register_image_decoder() != LN_OK)
        return say_failure();

    int code = dispatch(argc, argv);
    progress_end();
    if (code == EXIT_OK)
        device_option_warn();
    if (code == EXIT_FAILED && given_value(OPT_JSON))
        json_write_error(given_value(OPT_JSON));
    ln_arch_cleanup();

    // A full disk or a closed pipe must not look like success.
    if (fflush(stdout) != 0 || ferror(stdout)) {
        say_error("cannot write standard output");
        return code == EXIT_OK ? EXIT_FAILED : code;
    }
    return code;
}
