// SPDX-License-Identifier: Apache-2.0
// `lightnet verify`: models against stored inputs and outputs, one or thousands.

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "file_bytes.h"
#include "option_values.h"
#include "plugin_option.h"
#include "threads_option.h"
#include "verify.h"

enum { REASON_SIZE = 8192 };

typedef struct list_options {
    verify_options run;
    compile_flags flags;
    tolerance allowed;
    int is_shape_only;
    const char *list;
    const char *json; // NULL: none; "-": standard output, in place of the text
    int is_summary;
    int is_isolated;
    unsigned timeout_s;
} list_options;

typedef struct tally {
    size_t pass_count;
    size_t wrong_count;
    size_t failed_count;
    json_out json;
} tally;

// ---- The command line ----

// Each model has a process of its own too, so that one that does not look at the time is ended.
static int take_each_timeout(void *member, const char *verb, const char *text)
{
    list_options *o = member;
    int code = take_timeout(NULL, verb, text);
    if (code != EXIT_OK)
        return code;
    alarm(0); // the time is that of each model
    double seconds = strtod(text, NULL);
    o->timeout_s = seconds < 1e6 ? 2 + (unsigned)(2 * seconds) : 0;
    o->is_isolated = 1;
    return EXIT_OK;
}

static const verb_option takes[] = {
    TAKES(TARGET, list_options, run.target),
    TAKES(RTOL, list_options, allowed.rtol),
    NOTE(ATOL, list_options, allowed.atol, "; quantized ones of 8 bits 1"),
    TAKES(SHAPE_ONLY, list_options, is_shape_only),
    TAKES(OPEN, list_options, run.keeps_open),
    TAKES(THROUGH, list_options, run.through),
    TAKES(COMPILED, list_options, run.checks_compiled),
    TAKES(LIST, list_options, list),
    TAKES(SUMMARY, list_options, is_summary),
    TAKES(JSON, list_options, json),
    TAKES(ISOLATE, list_options, is_isolated),
    {OPT_TIMEOUT, 0, take_each_timeout, NULL, 0},
    CALLS(THREADS, list_options, list, take_threads),
    COMPILE_FLAGS_UNTIMED(list_options, flags),
    OPENS_MODELS_UNTIMED,
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage verify_usage = {
    .name = "verify",
    .synopsis = "[OPTION...] PATH...",
    .about =
        "Runs models on stored inputs and compares what comes out with stored outputs. PATH is "
        "a model, or a folder with model.onnx or one other .onnx; the data are beside the "
        "model, as test_data_set_K/input_N.pb and output_N.pb (or .npy). An element passes if "
        "it is as near as atol + rtol * |stored|; types, shapes and strings must be the same, "
        "NaN equals NaN. Where no outputs are stored, the model as it was read, on ref and without "
        "rules, says what they should be; where one is wrong, whether that gives it. What is allowed follows from the type and the largest number of the "
        "output, as in `lightnet compare`.",
    .trailer = "Exit status: 0 all pass, 1 one does not, 2 the command line is wrong.",
    .options = takes,
};

// ---- One model ----

static int has_json_only(const list_options *o)
{
    return o->json && strcmp(o->json, "-") == 0;
}

static void print_verdict(const verify_case *c, verify_result v, const char *reason)
{
    static const char *const words[] = {"pass", "WRONG", "FAILED"};
    printf("%-6s ", words[v]);
    put_printable(c->path, stdout);
    if (*reason) {
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

static void put_verdict(json_out *j, const verify_case *c, verify_result v, const char *reason)
{
    static const char *const words[] = {"pass", "wrong", "failed"};
    json_text(j, "path", c->path);
    json_text(j, "result", words[v]);
    json_text(j, "reason", *reason ? reason : NULL);
}

static void tell_verdict(const list_options *o, json_out *item, const verify_case *c,
                         verify_result v, const char *reason)
{
    if (!has_json_only(o))
        print_verdict(c, v, reason);
    if (o->json)
        put_verdict(item, c, v, reason);
}

// `item` is the model's object, if there is to be one.
static verify_result run_here(const verify_case *c, const list_options *o, json_out *item)
{
    static char reason[REASON_SIZE];
    verify_options run = o->run;
    run.is_quiet = o->is_summary || has_json_only(o);
    run.json = o->json ? item : NULL;
    verify_result v = verify_run(c, &run, reason, sizeof reason);
    tell_verdict(o, item, c, v, reason);
    return v;
}

// The object of one model, as text; NULL if no memory is left for it. The caller frees it.
static char *run_for_text(const verify_case *c, const list_options *o, verify_result *out_result)
{
    json_out item = {0};
    char *text = NULL;
    if (o->json && json_begin_item(&item) != LN_OK) {
        *out_result = VERIFY_FAILED;
        return NULL;
    }
    *out_result = run_here(c, o, &item);
    if (o->json)
        (void)json_finish_item(&item, &text);
    return text;
}

// In the process of one model: its object goes to `fd`.
static verify_result run_as_child(const verify_case *c, const list_options *o, int fd)
{
    verify_result v;
    char *text = run_for_text(c, o, &v);
    for (size_t done = 0, size = text ? strlen(text) : 0; done < size;) {
        ssize_t count = write(fd, text + done, size - done);
        if (count <= 0 && errno != EINTR)
            return VERIFY_FAILED;
        done += count > 0 ? (size_t)count : 0;
    }
    return v;
}

// Everything that comes from `fd`, with a NUL after it; NULL if there is nothing.
static char *read_all(int fd)
{
    char *text = NULL, block[4096];
    size_t size = 0;
    ssize_t count;
    FILE *file = open_memstream(&text, &size);
    while (file && ((count = read(fd, block, sizeof block)) > 0 || (count < 0 && errno == EINTR)))
        if (count > 0)
            fwrite(block, 1, (size_t)count, file);
    if (file && fclose(file) == 0 && size > 0)
        return text;
    free(text);
    return NULL;
}

static verify_result fail_of_status(const verify_case *c, const list_options *o, int status,
                                    char **out_text)
{
    char reason[128];
    json_out item = {0};
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGALRM)
        snprintf(reason, sizeof reason, "stopped after %u seconds", o->timeout_s);
    else
        snprintf(reason, sizeof reason, "its process ended with %s%s",
                 number ? "signal: " : "an unknown status", number ? strsignal(number) : "");
    if (o->json && json_begin_item(&item) == LN_OK) {
        json_open(&item, "outputs", '[');
        json_close(&item, ']');
    }
    tell_verdict(o, &item, c, VERIFY_FAILED, reason);
    if (item.file)
        (void)json_finish_item(&item, out_text);
    return VERIFY_FAILED;
}

static verify_result run_isolated(const verify_case *c, const list_options *o, char **out_text)
{
    int ends[2] = {-1, -1};
    *out_text = NULL;
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        close(ends[0]);
        begin_timeout();
        alarm(o->timeout_s);
        verify_result v = run_as_child(c, o, ends[1]);
        fflush(stdout);
        _exit((int)v);
    }
    if (ends[1] >= 0)
        close(ends[1]);
    char *text = child > 0 ? read_all(ends[0]) : NULL;
    if (ends[0] >= 0)
        close(ends[0]);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= VERIFY_FAILED) {
        *out_text = text;
        return (verify_result)WEXITSTATUS(status);
    }
    free(text);
    return fail_of_status(c, o, child > 0 ? status : 0, out_text);
}

static void run_case(const verify_case *c, const list_options *o, tally *t)
{
    verify_result v;
    char *text = NULL;
    if (o->is_isolated)
        v = run_isolated(c, o, &text);
    else
        text = run_for_text(c, o, &v);
    if (text)
        json_raw(&t->json, NULL, text);
    free(text);
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
        int is_right = 1;
        if (strncmp(at, "rtol=", 5) == 0)
            is_right = parse_number(at + 5, &c->allowed.rtol);
        else if (strncmp(at, "atol=", 5) == 0)
            is_right = parse_number(at + 5, &c->allowed.atol);
        else if (strcmp(at, "shape-only") == 0)
            c->is_shape_only = 1;
        else
            is_right = 0;
        if (!is_right) {
            say_error("line %d of %s says '%s', which is none of rtol=X, atol=X and shape-only",
                      number, o->list, at);
            return EXIT_FAILED;
        }
        at = next;
    }
    return EXIT_OK;
}

// `text` of the list is cut into lines.
static int run_list(const list_options *o, char *text, tally *t)
{
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
    return code;
}

// What all of them come to, as an exit code.
static int tell_tally(const list_options *o, tally *t)
{
    size_t count = t->pass_count + t->wrong_count + t->failed_count;
    if (count != 1 && !has_json_only(o))
        printf("%zu models: %zu pass, %zu are wrong, %zu cannot run\n", count, t->pass_count,
               t->wrong_count, t->failed_count);
    if (o->json) {
        json_close(&t->json, ']');
        json_size(&t->json, "pass", t->pass_count);
        json_size(&t->json, "wrong", t->wrong_count);
        json_size(&t->json, "failed", t->failed_count);
        if (json_finish(&t->json, o->json) != LN_OK)
            return say_failure();
    }
    return t->pass_count == count ? EXIT_OK : EXIT_FAILED;
}

int cmd_verify(int argc, char **argv)
{
    list_options o = {.allowed = TOLERANCE_DEFAULT};
    static const option_id of_numbers[] = {OPT_RTOL, OPT_ATOL};
    compile_flags_init(&o.flags);
    int path_count;
    char **paths;
    int code = options_parse(&verify_usage, argc, argv, &o, &path_count, &paths);
    if (code == EXIT_OK && path_count == 0 && !o.list)
        code = say_usage_error("verify", "no model");
    if (code == EXIT_OK && o.is_shape_only)
        code = options_check_unused(&verify_usage, of_numbers, 2,
                                    "with --shape-only, which looks at no numbers");
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    o.run.target = compile_flags_target(&o.flags, o.run.target);
    o.run.options = compile_flags_options(&o.flags);
    tally t = {0};
    char *list = NULL;
    size_t list_size;
    if (o.list && file_read(o.list, &list, &list_size) != LN_OK)
        return say_failure();
    if (o.json) {
        if (file_check_writable(o.json) != LN_OK || json_begin(&t.json) != LN_OK) {
            free(list);
            return say_failure();
        }
        json_open(&t.json, "models", '[');
    }
    for (int i = 0; i < path_count; i++) {
        verify_case c = default_case(&o, paths[i]);
        run_case(&c, &o, &t);
    }
    if (list)
        code = run_list(&o, list, &t);
    free(list);
    if (code == EXIT_OK)
        code = tell_tally(&o, &t);
    json_discard(&t.json);
    return code;
}
