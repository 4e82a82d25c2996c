// SPDX-License-Identifier: Apache-2.0
// Reports of what a model file holds: growing arrays of copied texts, and the way to the reader
// that fills them in.

#include <lightnet/preflight.h>

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/serializer.h>

#include "base/checked.h"
#include "base/text.h"
#include "serial/choose.h"

#define PROBE_BYTES 4096

// ---- Growing ----

// Room for one more element in an array of `count`; arrays double, so at powers of two.
static ln_status grow(void **array, size_t count, size_t size)
{
    if (count & (count - 1))
        return LN_OK;
    size_t byte_count;
    if (!ln_size_mul(count ? count * 2 : 1, size, &byte_count))
        return LN_FAIL(LN_LIMIT, "a report of %zu entries is too long", count);
    void *larger = ln_realloc(*array, byte_count);
    if (!larger)
        return LN_NO_MEMORY;
    *array = larger;
    return LN_OK;
}

static char *copy(const char *text)
{
    return ln_strdup(text ? text : "");
}

static void free_problem(ln_preflight_problem *p)
{
    ln_free(p->node);
    ln_free(p->optype);
    ln_free(p->domain);
    ln_free(p->place);
    ln_free(p->reason);
    ln_free(p->help);
}

static void free_tensors(ln_preflight_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ln_free(tensors[i].name);
        ln_free(tensors[i].type);
    }
    ln_free(tensors);
}

ln_preflight *ln_preflight_new(const char *format)
{
    ln_preflight *report = ln_alloc(sizeof *report);
    if (!report)
        return NULL;
    report->format = copy(format);
    report->producer = copy(NULL);
    if (!report->format || !report->producer) {
        ln_preflight_destroy(report);
        return NULL;
    }
    return report;
}

void ln_preflight_destroy(ln_preflight *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->problem_count; i++)
        free_problem(&report->problems[i]);
    for (size_t i = 0; i < report->opset_count; i++)
        ln_free(report->opsets[i].domain);
    for (size_t i = 0; i < report->type_count; i++)
        ln_free(report->types[i].optype);
    free_tensors(report->inputs, report->input_count);
    free_tensors(report->outputs, report->output_count);
    ln_free(report->problems);
    ln_free(report->opsets);
    ln_free(report->types);
    ln_free(report->format);
    ln_free(report->producer);
    ln_free(report);
}

ln_status ln_preflight_add_problem(ln_preflight *report, const ln_preflight_problem *problem)
{
    if (report->problem_count >= LN_PREFLIGHT_MAX_PROBLEMS) {
        report->more_problem_count++;
        return LN_OK;
    }
    LN_TRY(grow((void **)&report->problems, report->problem_count, sizeof *report->problems));
    ln_preflight_problem p = {
        .node = copy(problem->node),
        .optype = copy(problem->optype),
        .domain = copy(problem->domain),
        .opset = problem->opset,
        .place = copy(problem->place),
        .reason = copy(problem->reason),
        .help = copy(problem->help),
    };
    if (!p.node || !p.optype || !p.domain || !p.place || !p.reason || !p.help) {
        free_problem(&p);
        return LN_NO_MEMORY;
    }
    report->problems[report->problem_count++] = p;
    return LN_OK;
}

ln_status ln_preflight_add_opset(ln_preflight *report, const char *domain, int version)
{
    LN_TRY(grow((void **)&report->opsets, report->opset_count, sizeof *report->opsets));
    char *text = copy(domain);
    if (!text)
        return LN_NO_MEMORY;
    report->opsets[report->opset_count++] =
        (ln_preflight_opset){.domain = text, .version = version};
    return LN_OK;
}

static ln_status add_tensor(ln_preflight_tensor **tensors, size_t *count, const char *name,
                            const char *type)
{
    LN_TRY(grow((void **)tensors, *count, sizeof **tensors));
    ln_preflight_tensor tensor = {.name = copy(name), .type = copy(type)};
    if (!tensor.name || !tensor.type) {
        ln_free(tensor.name);
        ln_free(tensor.type);
        return LN_NO_MEMORY;
    }
    (*tensors)[(*count)++] = tensor;
    return LN_OK;
}

ln_status ln_preflight_add_input(ln_preflight *report, const char *name, const char *type)
{
    return add_tensor(&report->inputs, &report->input_count, name, type);
}

ln_status ln_preflight_add_output(ln_preflight *report, const char *name, const char *type)
{
    return add_tensor(&report->outputs, &report->output_count, name, type);
}

// Types stay sorted by name; there are few hundred at most that are known, and of the others as
// many as are kept.
ln_status ln_preflight_count_node(ln_preflight *report, const char *optype, int is_bad)
{
    report->node_count++;
    report->bad_node_count += is_bad != 0;
    size_t low = 0, high = report->type_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(optype, report->types[middle].optype);
        if (order == 0) {
            report->types[middle].count++;
            report->types[middle].bad_count += is_bad != 0;
            return LN_OK;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    if (report->type_count >= 1000)
        return LN_OK;
    LN_TRY(grow((void **)&report->types, report->type_count, sizeof *report->types));
    char *text = copy(optype);
    if (!text)
        return LN_NO_MEMORY;
    memmove(&report->types[low + 1], &report->types[low],
            (report->type_count - low) * sizeof *report->types);
    report->types[low] = (ln_preflight_type){.optype = text, .count = 1, .bad_count = is_bad != 0};
    report->type_count++;
    return LN_OK;
}

// ---- As a message ----

static int print_problem(char *buf, size_t size, const ln_preflight_problem *p)
{
    char version[32] = "";
    if (p->opset)
        snprintf(version, sizeof version, " %d", p->opset);
    if (!*p->node && !*p->optype)
        return snprintf(buf, size, "%s%s%s", p->reason, *p->help ? "; " : "", p->help);
    return snprintf(buf, size, "node '%s' (%s, %s%s) in %s: %s%s%s", p->node, p->optype, p->domain,
                    version, p->place, p->reason, *p->help ? "; " : "", p->help);
}

ln_status ln_preflight_fail(const ln_preflight *report, const char *name)
{
    size_t total = report->problem_count + report->more_problem_count, shown = 0, len = 0;
    char text[3600];
    text[0] = '\0';
    for (; shown < report->problem_count; shown++) {
        char line[1200];
        int wrote = print_problem(line, sizeof line, &report->problems[shown]);
        size_t line_len = wrote < 0 ? 0 : strlen(line);
        if (len + line_len + 3 > sizeof text)
            break;
        len += (size_t)snprintf(text + len, sizeof text - len, "\n  %s", line);
    }
    if (total == 1 && shown == 1)
        return LN_FAIL(LN_UNSUPPORTED, "%s: %s", name, text + 3);
    if (shown == total)
        return LN_FAIL(LN_UNSUPPORTED, "%s: %zu problems:%s", name, total, text);
    return LN_FAIL(LN_UNSUPPORTED,
                   "%s: %zu problems:%s\n  and %zu more; `lightnet inspect` lists %s", name, total,
                   text, total - shown, report->more_problem_count ? "100" : "all");
}

// ---- The way to a reader ----

static ln_status choose_and_preflight(const char *path, const char *bytes, size_t byte_count,
                                      const char *name, ln_preflight **out_report)
{
    ln_serializer *serializer;
    LN_TRY(ln_serializer_choose(path, bytes, byte_count, name, &serializer));
    if (!serializer->preflight)
        return LN_FAIL(LN_UNSUPPORTED, "%s: format '%s' has no preflight", name, serializer->name);
    ln_preflight *report = ln_preflight_new(serializer->name);
    if (!report)
        return LN_NO_MEMORY;
    ln_status status =
        serializer->preflight(serializer, path, path ? NULL : bytes, byte_count, name, report);
    if (status != LN_OK) {
        ln_preflight_destroy(report);
        return status;
    }
    *out_report = report;
    return LN_OK;
}

static ln_status preflight_with(const char *path, const char *bytes, size_t byte_count,
                                const char *name, ln_preflight **out_report)
{
    *out_report = NULL;
    ln_serializers_enter();
    ln_status status = choose_and_preflight(path, bytes, byte_count, name, out_report);
    ln_serializers_leave();
    return status;
}

ln_status ln_preflight_create(const char *path, ln_preflight **out_report)
{
    if (!out_report)
        return LN_FAIL(LN_INVALID, "the result for a report is NULL");
    *out_report = NULL;
    if (!path)
        return LN_FAIL(LN_INVALID, "the path is NULL");
    char bytes[PROBE_BYTES];
    size_t len;
    LN_TRY(ln_text_read_start(path, bytes, sizeof bytes, &len));
    return preflight_with(path, bytes, len, path, out_report);
}

ln_status ln_preflight_create_mem(const void *bytes, size_t byte_count, const char *name,
                                  ln_preflight **out_report)
{
    if (!out_report)
        return LN_FAIL(LN_INVALID, "the result for a report is NULL");
    *out_report = NULL;
    if (!bytes && byte_count > 0)
        return LN_FAIL(LN_INVALID, "the model's bytes are NULL");
    return preflight_with(NULL, bytes ? bytes : "", byte_count, name ? name : "<memory>",
                          out_report);
}
