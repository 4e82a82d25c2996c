// SPDX-License-Identifier: Apache-2.0
// `lightnet verify`: models against stored inputs and outputs, one or thousands.

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "file_bytes.h"
#include "option_values.h"
#include "threads_option.h"
#include "verify.h"

static const char help[] =
    "Usage: lightnet verify [OPTION...] PATH...\n"
    "\n"
    "Runs models on stored inputs and compares what comes out with stored outputs. PATH is a model,\n"
    "or a folder with model.onnx or one other .onnx; the data lie beside the model, as\n"
    "test_data_set_K/input_N.pb and output_N.pb (or .npy). An element passes if it is as near as\n"
    "atol + rtol * |stored|; types, shapes and strings must be the same, NaN equals NaN. What is\n"
    "allowed follows from the type and the largest number of the output, as in `lightnet compare`.\n"
    "\n"
    "Options:\n"
    "  -t, --target=TARGET    the arch to compile for (default cpu)\n"
    "      --rtol=X           relative tolerance (default 1e-4; float16 2^-9, bfloat16 2^-6, integers 0)\n"
    "      --atol=X           absolute tolerance (default 1e-5 of the largest in the output; float16\n"
    "                         2^-9, bfloat16 2^-6 of it; integers 0, quantized ones of 8 bits 1)\n"
    "      --shape-only       compare types and shapes, not numbers\n"
    "      --open             leave shapes that the model leaves open to the run, so that one plan\n"
    "                         serves all data sets\n"
    "      --through=FORMATS  write the model in these formats, such as il,ir,onnx, read it again each\n"
    "                         time, and run what has come out\n"
    "      --list=FILE        more models, one a line: PATH, and behind tabs perhaps rtol=X, atol=X,\n"
    "                         shape-only\n"
    "      --summary          one line for each model\n"
    "      --isolate          run each model in a process of its own, so that a crash is one line\n"
    "      --timeout=SECONDS  and stop it after this time\n"
    "      --threads=COUNT    threads that run a model (default: the processors that may be used,\n"
    "                         or LN_THREADS)\n"
    "      --budget=BYTES     refuse a model whose peak of memory is above (default 4Gi)\n"
    "  -h, --help             show this help\n"
    "\n"
    "Exit status: 0 all pass, 1 one does not, 2 the command line is wrong.\n";

enum { REASON_SIZE = 8192 };

typedef struct list_options {
    verify_options run;
    tolerance allowed;
    int is_shape_only;
    const char *list;
    int is_summary;
    int is_isolated;
    unsigned timeout_s;
} list_options;

typedef struct tally {
    size_t pass_count;
    size_t wrong_count;
    size_t failed_count;
} tally;

// ---- The command line ----

static int parse_timeout(const char *text, list_options *o)
{
    char *end;
    long seconds = strtol(text, &end, 10);
    if (end == text || *end || seconds < 1 || seconds > 1000000)
        return say_usage_error("verify", "--timeout takes seconds, not '%s'", text);
    o->timeout_s = (unsigned)seconds;
    o->is_isolated = 1;
    return EXIT_OK;
}

enum { RTOL = 256, ATOL, SHAPE_ONLY, OPEN, LIST, SUMMARY, ISOLATE, TIMEOUT, BUDGET, THROUGH };

static int parse(int argc, char **argv, list_options *o)
{
    static const struct option long_options[] = {{"target", required_argument, NULL, 't'},
                                                 {"rtol", required_argument, NULL, RTOL},
                                                 {"atol", required_argument, NULL, ATOL},
                                                 {"shape-only", no_argument, NULL, SHAPE_ONLY},
                                                 {"open", no_argument, NULL, OPEN},
                                                 {"list", required_argument, NULL, LIST},
                                                 {"summary", no_argument, NULL, SUMMARY},
                                                 {"isolate", no_argument, NULL, ISOLATE},
                                                 {"timeout", required_argument, NULL, TIMEOUT},
                                                 {"through", required_argument, NULL, THROUGH},
                                                 {"budget", required_argument, NULL, BUDGET},
                                                 THREADS_OPTION,
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int option, code = EXIT_OK;
    opterr = 0;
    while (code == EXIT_OK &&
           (option = getopt_long(argc, argv, ":t:h", long_options, NULL)) != -1) {
        switch (option) {
        case 't': o->run.target = optarg; break;
        case RTOL: code = take_tolerance("verify", "--rtol", optarg, &o->allowed.rtol); break;
        case ATOL: code = take_tolerance("verify", "--atol", optarg, &o->allowed.atol); break;
        case SHAPE_ONLY: o->is_shape_only = 1; break;
        case OPEN: o->run.keeps_open = 1; break;
        case LIST: o->list = optarg; break;
        case SUMMARY: o->is_summary = 1; break;
        case ISOLATE: o->is_isolated = 1; break;
        case TIMEOUT: code = parse_timeout(optarg, o); break;
        case THROUGH: o->run.through = optarg; break;
        case OPTION_THREADS: code = threads_option_take("verify", optarg); break;
        case BUDGET: code = set_budget("verify", optarg); break;
        case 'h': fputs(help, stdout); return -1;
        default: return say_bad_option("verify", option, argv);
        }
    }
    if (code == EXIT_OK && optind == argc && !o->list)
        return say_usage_error("verify", "no model");
    return code;
}

// ---- One model ----

static void print_verdict(const verify_case *c, verify_result v, const char *reason)
{
    static const char *const words[] = {"pass", "WRONG", "FAILED"};
    printf("%-6s ", words[v]);
    put_printable(c->path, stdout);
    if (v != VERIFY_PASS) {
        fputs(": ", stdout);
        // One line, whatever a message holds.
        for (const char *at = reason; *at;) {
            char line[REASON_SIZE];
            size_t len = strcspn(at, "\n");
            snprintf(line, sizeof line, "%.*s", (int)len, at);
            put_printable(line, stdout);
            at += len;
            if (*at && *++at)
                fputs(" | ", stdout);
        }
    }
    putchar('\n');
    fflush(stdout);
}

static verify_result run_here(const verify_case *c, const list_options *o)
{
    static char reason[REASON_SIZE];
    verify_options run = o->run;
    run.is_quiet = o->is_summary;
    verify_result v = verify_run(c, &run, reason, sizeof reason);
    print_verdict(c, v, reason);
    return v;
}

static verify_result run_isolated(const verify_case *c, const list_options *o)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(o->timeout_s);
        verify_result v = run_here(c, o);
        fflush(stdout);
        _exit((int)v);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= VERIFY_FAILED)
        return (verify_result)WEXITSTATUS(status);
    char reason[128];
    int number = child > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGALRM)
        snprintf(reason, sizeof reason, "stopped after %u seconds", o->timeout_s);
    else
        snprintf(reason, sizeof reason, "its process ended with %s%s",
                 number ? "signal: " : "an unknown status", number ? strsignal(number) : "");
    print_verdict(c, VERIFY_FAILED, reason);
    return VERIFY_FAILED;
}

static void run_case(const verify_case *c, const list_options *o, tally *t)
{
    verify_result v = o->is_isolated ? run_isolated(c, o) : run_here(c, o);
    t->pass_count += v == VERIFY_PASS;
    t->wrong_count += v == VERIFY_WRONG;
    t->failed_count += v == VERIFY_FAILED;
}

// ---- Many ----

static verify_case default_case(const list_options *o, const char *path)
{
    return (verify_case){path, o->allowed, o->is_shape_only};
}

// "PATH<tab>rtol=X<tab>atol=X<tab>shape-only", which is changed.
static int parse_line(char *line, int number, const list_options *o, verify_case *c)
{
    *c = default_case(o, line);
    char *at = strchr(line, '\t');
    while (at) {
        *at++ = '\0';
        char *next = strchr(at, '\t');
        if (next)
            *next = '\0';
        int code = EXIT_OK;
        if (strncmp(at, "rtol=", 5) == 0)
            code = take_tolerance("verify", "rtol", at + 5, &c->allowed.rtol);
        else if (strncmp(at, "atol=", 5) == 0)
            code = take_tolerance("verify", "atol", at + 5, &c->allowed.atol);
        else if (strcmp(at, "shape-only") == 0)
            c->is_shape_only = 1;
        else
            code = say_usage_error("verify", "line %d of %s says '%s'", number, o->list, at);
        if (code != EXIT_OK)
            return code;
        at = next;
    }
    return EXIT_OK;
}

static int run_list(const list_options *o, tally *t)
{
    char *text;
    size_t size;
    if (file_read(o->list, &text, &size) != LN_OK)
        return say_failure();
    int code = EXIT_OK, number = 0;
    for (char *line = text; code == EXIT_OK && *line;) {
        char *end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        number++;
        verify_case c;
        if (*line)
            code = parse_line(line, number, o, &c);
        if (*line && code == EXIT_OK)
            run_case(&c, o, t);
        line = next;
    }
    free(text);
    return code;
}

int cmd_verify(int argc, char **argv)
{
    list_options o = {.run = {.target = "cpu"}, .allowed = TOLERANCE_DEFAULT};
    int code = parse(argc, argv, &o);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    tally t = {0};
    for (int i = optind; i < argc; i++) {
        verify_case c = default_case(&o, argv[i]);
        run_case(&c, &o, &t);
    }
    if (o.list)
        code = run_list(&o, &t);
    if (code != EXIT_OK)
        return code;
    size_t count = t.pass_count + t.wrong_count + t.failed_count;
    if (count != 1)
        printf("%zu models: %zu pass, %zu are wrong, %zu cannot run\n", count, t.pass_count,
               t.wrong_count, t.failed_count);
    return t.pass_count == count ? EXIT_OK : EXIT_FAILED;
}
