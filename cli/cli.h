// SPDX-License-Identifier: Apache-2.0
// What the commands share: messages, options, exit codes. Public headers of the library only.

#ifndef LN_CLI_CLI_H
#define LN_CLI_CLI_H

#include <stdio.h>

#include <lightnet/lightnet.h>

#include "options.h"

enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1, // the model, a file or a run
    EXIT_USAGE = 2,  // the command line
};

// ---- Commands: each takes argv from its own name on and returns an exit code ----

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const verb_usage *usage;
    const char *doc;
} command;

extern const command commands[]; // ends with a NULL name

// NULL if there is none of that name.
const command *find_command(const char *name);

// "; did you mean `lightnet NAME`?", or "" if no command has a name near to that.
const char *near_command(const char *name, char *buffer, size_t size);

extern const verb_usage compile_and_run_usage;
extern const verb_usage run_usage, bench_usage, plan_usage, verify_usage, compare_usage,
    inspect_usage, convert_usage, opt_usage, stats_usage, easyjson_usage, blame_usage, genwts_usage,
    gen_op_usage, ops_usage, archs_usage, formats_usage, completion_usage, help_usage;

int cmd_compile_and_run(int argc, char **argv); // `lightnet [options] SOURCE`
int cmd_run(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_opt(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_easyjson(int argc, char **argv);
int cmd_blame(int argc, char **argv);
int cmd_genwts(int argc, char **argv);
int cmd_gen_op(int argc, char **argv);
int cmd_ops(int argc, char **argv);
int cmd_archs(int argc, char **argv);
int cmd_formats(int argc, char **argv);
int cmd_completion(int argc, char **argv);
int cmd_help(int argc, char **argv);

// ---- Messages, on standard error; coloured on a terminal ----

void say_info(const char *fmt, ...) LN_PRINTF(1, 2);
void say_warning(const char *fmt, ...) LN_PRINTF(1, 2);
void say_error(const char *fmt, ...) LN_PRINTF(1, 2);

// Chooses which messages of the library are shown.
void show_messages(int warnings, int internal_warnings, int debug);

// Shows warnings of the library or not, until they are shown again; returns whether they were
// shown.
int show_warnings(int is_shown);

// The library's last message as an error; returns EXIT_FAILED.
int say_failure(void);

// The last error that was said and its status, LN_OK where it is not the library's; NULL: none.
const char *last_error(ln_status *out_status);

// What this program is called in messages: "lightnet", unless it is another.
const char *program_name(void);
void set_program_name(const char *name); // borrowed

// "error: ...; try `lightnet run --help`", for NULL `lightnet --help`; returns EXIT_USAGE.
int say_usage_error(const char *command_name, const char *fmt, ...) LN_PRINTF(2, 3);

// Opens what is missing of standard input, output and error, for nothing to be written to. Called
// first, so that no file of the user gets one of their numbers.
void keep_standard_files(void);

// ---- A context for one command ----

// --budget: what planned memory may come to, in models opened from here on: "64000000", "64M"
// (10^6), "64Mi" (2^20).
int take_budget(void *unused, const char *verb, const char *text);

// 1 if --budget was given.
int has_budget(void);

// --work: what a run of them may cost, in work units; --timeout: how long the command may last,
// from here on.
int take_work(void *unused, const char *verb, const char *text);
int take_timeout(void *unused, const char *verb, const char *text);

// What --timeout has said; 0: nothing.
double timeout_seconds(void);

// Begins to count that time anew: for the process of one model of many.
void begin_timeout(void);

// --strict: faults of files that are taken with a warning are errors.
int take_strict(void *unused, const char *verb, const char *value);

// --signature: the entry of models that have several.
int take_signature(void *unused, const char *verb, const char *value);
bool has_signature(void);

// --rounding: of integers of 8 bits in TensorFlow Lite models.
int take_rounding(void *unused, const char *verb, const char *value);

// --resizable: other sizes than those that a TensorFlow Lite model states.
int take_resizable(void *unused, const char *verb, const char *value);

// Reads `source`, as these options choose, into an empty context.
ln_status read_model(ln_context *ctx, const char *source);

// Rows of a verb's options that hold for each model it opens from here on. They write no member.
#define OPENS_MODELS {OPT_TIMEOUT, 0, take_timeout, NULL, 0}, OPENS_MODELS_UNTIMED

// The same of verbs that do more with --timeout.
#define OPENS_MODELS_UNTIMED                                                                       \
    {OPT_BUDGET, 0, take_budget, NULL, 0}, {OPT_WORK, 0, take_work, NULL, 0},                      \
        {OPT_SIGNATURE, 0, take_signature, NULL, 0}, {OPT_ROUNDING, 0, take_rounding, NULL, 0},    \
        {OPT_RESIZABLE, 0, take_resizable, NULL, 0},                                               \
    {                                                                                              \
        OPT_STRICT, 0, take_strict, NULL, 0                                                        \
    }

// LN_INVALID, with what to do, for a folder and for an empty file, which are no models.
ln_status check_source(const char *source);

// Creates a context and reads `source` into it. NULL after having said why.
ln_context *open_model(const char *source);

// Compiles a model that is not compiled already; options for what has no effect then are an error.
ln_status compile_if_needed(ln_context *ctx, const char *source, const char *target,
                            const ln_optimize_options *options);

// ln_context_compile_with (NULL: the defaults), constants frozen, and ln_context_load, both with
// progress.
ln_status compile_model(ln_context *ctx, const char *target, const ln_optimize_options *options);
ln_status load_model(ln_context *ctx, const char *datafile);

void close_model(ln_context *ctx); // accepts NULL

// `text` as it may be shown (ln_sprint_safe), so that what a file says does not steer the terminal;
// the second in a static buffer, one of four.
void put_printable(const char *text, FILE *file);
const char *printable(const char *text);

// `text` between quotes, as JSON wants it.
void print_json_string(FILE *file, const char *text);

// Writes a text to the file `outfile`, or for "-" to standard output. An exit code, the failure
// said.
int write_text(const char *outfile, const char *text);

// "1,234,567" in a static buffer, one of four.
const char *grouped(size_t number);

#endif
