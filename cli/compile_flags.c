// SPDX-License-Identifier: Apache-2.0
// --rules, --skip, --tune, --verbose, --budget, --strict.

#include "compile_flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Files that the command line gives; their rules are shown with the line.
static const char *given_rule_files[MAX_RULE_FILES];
static size_t given_rule_file_count;

static int is_given(const char *file)
{
    for (size_t i = 0; file && i < given_rule_file_count; i++)
        if (strcmp(given_rule_files[i], file) == 0)
            return 1;
    return 0;
}

void compile_flags_init(compile_flags *flags)
{
    *flags = (compile_flags){.options = ln_optimize_options_default()};
}

// "FIRST" or "FIRST-LAST" at *text, which is moved past it.
static int parse_range(const char **text, size_t *out_first, size_t *out_last)
{
    char *end;
    if (**text < '0' || **text > '9')
        return 0;
    *out_first = *out_last = strtoul(*text, &end, 10);
    if (*end == '-') {
        const char *last = end + 1;
        if (*last < '0' || *last > '9')
            return 0;
        *out_last = strtoul(last, &end, 10);
    }
    *text = end;
    return *out_first >= 1 && *out_first <= *out_last;
}

int take_rules(void *member, const char *verb, const char *path)
{
    compile_flags *flags = member;
    if (strcmp(path, "none") == 0) {
        flags->options.stays_as_read = 1;
        return EXIT_OK;
    }
    if (flags->options.rule_file_count == MAX_RULE_FILES)
        return say_usage_error(verb, "more than %d files of rules", MAX_RULE_FILES);
    flags->rule_files[flags->options.rule_file_count++] = path;
    if (given_rule_file_count < MAX_RULE_FILES)
        given_rule_files[given_rule_file_count++] = path;
    return EXIT_OK;
}

int take_skip(void *member, const char *verb, const char *list)
{
    compile_flags *flags = member;
    for (const char *text = list;; text++) {
        size_t first, last;
        first = last = 1;
        if (!parse_range(&text, &first, &last) || (*text != ',' && *text != '\0'))
            return say_usage_error(
                verb, "--skip takes numbers such as 3,7-9, not '%s'%s; --verbose lists them", list,
                first < 1      ? ": firings are numbered from 1"
                : first > last ? ": a range begins with the smaller number"
                               : "");
        if (last - first >= MAX_SKIPPED - flags->options.skip_count)
            return say_usage_error(verb,
                                   "--skip takes at most %d numbers, and %zu-%zu is beyond that",
                                   MAX_SKIPPED, first, last);
        for (size_t i = 0; i <= last - first; i++)
            flags->skip[flags->options.skip_count++] = first + i;
        if (*text == '\0')
            return EXIT_OK;
    }
}

const ln_optimize_options *compile_flags_options(compile_flags *flags)
{
    flags->options.rule_files = flags->rule_files;
    flags->options.skip = flags->skip;
    if (flags->is_verbose) {
        flags->options.on_firing = say_firing;
        flags->options.on_offload = say_offload;
    }
    return &flags->options;
}

const char *compile_flags_target(const compile_flags *flags, const char *target)
{
    if (target)
        return target;
    return flags->options.stays_as_read ? "ref" : "cpu";
}

int compile_flags_any(const compile_flags *flags)
{
    return flags->options.rule_file_count > 0 || flags->options.skip_count > 0 ||
           flags->options.tunes || flags->options.keeps_halves || flags->options.fails_over ||
           flags->options.stays_as_read;
}

void say_firing(void *user, const ln_firing *firing)
{
    (void)user;
    char place[512] = "";
    if (is_given(firing->file))
        snprintf(place, sizeof place, " (%s:%d)", firing->file, firing->line);
    char graph[LN_MAX_NAME_LEN + 16] = "";
    if (firing->graph)
        snprintf(graph, sizeof graph, " in graph '%s'", firing->graph);
    say_info("firing %zu: %s: %s%s%s%s%s at '%s' (%s)%s%s%s", firing->number, firing->pass,
             firing->rule, firing->tag ? " [" : "", firing->tag ? firing->tag : "",
             firing->tag ? "]" : "", place, firing->op, firing->optype, graph,
             firing->is_skipped   ? " is skipped"
             : firing->is_failed  ? " fails"
             : firing->is_refused ? " is refused: "
                                  : "",
             firing->reason ? firing->reason : "");
}

void say_offload(void *user, const ln_offload *offload)
{
    (void)user;
    char host[64] = "no host takes it";
    if (offload->reason) {
        say_info("device %s: does not compute '%s': %s", offload->arch, offload->op,
                 offload->reason);
        return;
    }
    if (offload->host_seconds >= 0)
        snprintf(host, sizeof host, "%.1f us on the host", 1e6 * offload->host_seconds);
    say_info("device %s: %s %zu operator%s from '%s' on: %.1f us there + %.1f us for %.0f bytes of "
             "copies, %s",
             offload->arch, offload->is_taken ? "computes" : "gives back", offload->op_count,
             offload->op_count == 1 ? "" : "s", offload->op, 1e6 * offload->device_seconds,
             1e6 * offload->copy_seconds, offload->copied_bytes, host);
}
