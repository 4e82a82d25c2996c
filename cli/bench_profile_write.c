// SPDX-License-Identifier: Apache-2.0
// A profile as tables, as JSON, and as a trace.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_profile.h"
#include "cli.h"

#define TRACED_RUNS 5

// ---- Sums by type ----

typedef struct type_sum {
    char optype[LN_MAX_NAME_LEN + 16];
    size_t count;
    double flops;
    double bytes;
    double seconds;
    double best;
} type_sum;

static int compare_seconds(double a, double b)
{
    return (a < b) - (a > b);
}

static int compare_sums(const void *a, const void *b)
{
    return compare_seconds(((const type_sum *)a)->seconds, ((const type_sum *)b)->seconds);
}

static int compare_ops(const void *a, const void *b)
{
    const bench_op *x = a, *y = b;
    int order = compare_seconds(x->seconds, y->seconds);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

static type_sum *find_sum(type_sum *sums, size_t *count, const char *optype)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(sums[i].optype, optype) == 0)
            return &sums[i];
    }
    snprintf(sums[*count].optype, sizeof sums[*count].optype, "%s", optype);
    return &sums[(*count)++];
}

// The largest first. The caller frees *out_sums.
static ln_status sum_by_type(const bench_profile *profile, type_sum **out_sums, size_t *out_count)
{
    *out_count = 0;
    *out_sums = calloc(profile->count ? profile->count : 1, sizeof **out_sums);
    if (!*out_sums)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for the sums of a profile");
    for (size_t i = 0; i < profile->count; i++) {
        const bench_op *op = &profile->ops[i];
        char name[LN_MAX_NAME_LEN + 16];
        snprintf(name, sizeof name, op->op_count > 1 ? "groups of %s" : "%s",
                 op->op_count > 1 ? op->op->op_arg->arch : op->op->op_arg->optype);
        type_sum *sum = find_sum(*out_sums, out_count, name);
        sum->count++;
        sum->flops += op->is_started ? 0 : op->flops;
        sum->bytes += op->is_started ? 0 : op->bytes;
        sum->seconds += op->seconds;
        sum->best += op->best;
    }
    qsort(*out_sums, *out_count, sizeof **out_sums, compare_sums);
    return LN_OK;
}

static double share_of(const bench_profile *profile, double seconds)
{
    return profile->seconds > 0 ? seconds / profile->seconds : 0;
}

// ---- Tables ----

static void print_rates(FILE *out, const bench_profile *profile, const type_sum *sum)
{
    fprintf(out, "%10.4f %10.4f %6.1f%% %9.1f %8.1f  ", sum->seconds * 1e3, sum->best * 1e3,
            100 * share_of(profile, sum->seconds), bench_giga(sum->flops, sum->seconds),
            bench_giga(sum->bytes, sum->seconds));
}

// An operator as a sum of one. A start is no time to have computed in.
static type_sum sum_of(const bench_op *op)
{
    return (type_sum){.count = 1,
                      .flops = op->is_started ? 0 : op->flops,
                      .bytes = op->is_started ? 0 : op->bytes,
                      .seconds = op->seconds,
                      .best = op->best};
}

static void print_op(FILE *out, const bench_profile *profile, const bench_op *op)
{
    char kernel[64], shape[128];
    bench_op_kernel(profile, op, kernel, sizeof kernel);
    bench_op_shape(op->op, shape, sizeof shape);
    fprintf(out, "%5zu ", op->position + 1);
    type_sum sum = sum_of(op);
    print_rates(out, profile, &sum);
    fprintf(out, "%-24s %-20s %-18s ", kernel, op->op->op_arg->optype, shape);
    put_printable(op->op->op_arg->name, out);
    fputc('\n', out);
}

// What devices do while the host goes on, and what it waits for at once.
static void print_groups(FILE *out, const bench_profile *profile)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->count; i++) {
        const bench_op *op = &profile->ops[i];
        if (!op->is_group)
            continue;
        if (count++ == 0)
            fprintf(out, "\n%5s %10s %9s %8s  %-24s %s\n", "step", "ms", "GFLOP/s", "GB/s",
                    "from start to end", "first operator");
        fprintf(out, "%5zu %10.4f %9.1f %8.1f  %-12s %4zu operator%s ", op->position + 1,
                op->span * 1e3, bench_giga(op->flops, op->span), bench_giga(op->bytes, op->span),
                op->op->op_arg->arch, op->op_count, op->op_count == 1 ? " " : "s");
        put_printable(op->op->op_arg->name, out);
        fputc('\n', out);
    }
}

ln_status bench_profile_print(FILE *out, const bench_profile *profile, int is_ordered)
{
    type_sum *sums;
    size_t count;
    LN_TRY(sum_by_type(profile, &sums, &count));
    fprintf(out, "\n%5s %10s %10s %7s %9s %8s  %s\n", "count", "ms", "best", "share", "GFLOP/s",
            "GB/s", "type");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%5zu ", sums[i].count);
        print_rates(out, profile, &sums[i]);
        fprintf(out, "%s\n", sums[i].optype);
    }
    free(sums);

    bench_op *ops = calloc(profile->count ? profile->count : 1, sizeof *ops);
    if (!ops)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for a table of %zu operators", profile->count);
    for (size_t i = 0; i < profile->count; i++)
        ops[i] = profile->ops[i];
    if (!is_ordered)
        qsort(ops, profile->count, sizeof *ops, compare_ops);
    fprintf(out, "\n%5s %10s %10s %7s %9s %8s  %-24s %-20s %-18s %s\n", "step", "ms", "best",
            "share", "GFLOP/s", "GB/s", "kernel", "type", "shape", "operator");
    for (size_t i = 0; i < profile->count; i++)
        print_op(out, profile, &ops[i]);
    free(ops);
    print_groups(out, profile);
    if (profile->failovers.count > 0)
        fprintf(out, "\n%zu of %zu runs failed over to the host and are not in these times: %s\n",
                profile->failovers.count, profile->failovers.count + profile->run_count,
                printable(profile->reason));
    return LN_OK;
}

// ---- JSON ----

static void put_rates(FILE *out, double seconds, double flops, double bytes)
{
    fprintf(out, "\"gflops\": %.3f, \"bytes\": %.0f, \"gbytes_per_s\": %.3f",
            bench_giga(flops, seconds), bytes, bench_giga(bytes, seconds));
}

static void put_times(FILE *out, const bench_profile *profile, const type_sum *sum)
{
    fprintf(out, "\"ms\": %.6f, \"best_ms\": %.6f, \"share\": %.6f, ", sum->seconds * 1e3,
            sum->best * 1e3, share_of(profile, sum->seconds));
}

// What an operator is, and its rates at `seconds`; members without braces.
static void put_op(FILE *out, const bench_profile *profile, const bench_op *op, double seconds)
{
    char kernel[64], shape[128];
    bench_op_kernel(profile, op, kernel, sizeof kernel);
    bench_op_shape(op->op, shape, sizeof shape);
    fputs("\"type\": ", out);
    print_json_string(out, op->op->op_arg->optype);
    fputs(", \"arch\": ", out);
    print_json_string(out, op->op->op_arg->arch);
    fputs(", \"kernel\": ", out);
    print_json_string(out, kernel);
    fputs(", \"shape\": ", out);
    print_json_string(out, shape);
    fputs(", ", out);
    put_rates(out, seconds, op->flops, op->bytes);
    if (op->is_group)
        fprintf(out, ", \"operators\": %zu, \"span_ms\": %.6f", op->op_count, op->span * 1e3);
    if (op->to != LN_MEM_NONE)
        fprintf(out, ", \"from\": \"%s\", \"to\": \"%s\"", ln_mem_type_name(op->from),
                ln_mem_type_name(op->to));
}

ln_status bench_profile_write_json(FILE *out, const bench_profile *profile)
{
    type_sum *sums;
    size_t count;
    LN_TRY(sum_by_type(profile, &sums, &count));
    fputs("\"types\": [", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s\n    {\"type\": ", i ? "," : "");
        print_json_string(out, sums[i].optype);
        fprintf(out, ", \"count\": %zu, ", sums[i].count);
        put_times(out, profile, &sums[i]);
        put_rates(out, sums[i].seconds, sums[i].flops, sums[i].bytes);
        fputc('}', out);
    }
    free(sums);
    fputs("\n  ],\n  \"operators\": [", out);
    for (size_t i = 0; i < profile->count; i++) {
        const bench_op *op = &profile->ops[i];
        fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
        print_json_string(out, op->op->op_arg->name);
        fputs(", ", out);
        type_sum sum = sum_of(op);
        put_times(out, profile, &sum);
        put_op(out, profile, op, op->is_group ? op->span : op->seconds);
        fputc('}', out);
    }
    fputs("\n  ]", out);
    if (profile->failovers.count > 0)
        fprintf(out, ",\n  \"failovers\": %zu", profile->failovers.count);
    return LN_OK;
}

// ---- The trace ----

// A complete event ("X"), open after its times. Microseconds since the first slice.
static void begin_slice(FILE *out, const char *name, const char *category, double start,
                        double seconds)
{
    fputs(",\n  {\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"name\": ", out);
    print_json_string(out, name);
    fputs(", \"cat\": ", out);
    print_json_string(out, category);
    fprintf(out, ", \"ts\": %.3f, \"dur\": %.3f", start * 1e6, seconds * 1e6);
}

// One end of an asynchronous event: 'b' or 'e'. Those of one name are drawn on one line.
static void begin_end(FILE *out, char end, const bench_op *op, size_t id, double time)
{
    fprintf(out, ",\n  {\"ph\": \"%c\", \"pid\": 1, \"tid\": 1, \"id\": %zu, \"name\": ", end, id);
    print_json_string(out, op->op->op_arg->arch);
    fprintf(out, ", \"cat\": \"device\", \"ts\": %.3f", time * 1e6);
}

static void put_span(FILE *out, const bench_profile *profile, size_t at, size_t run,
                     const double *starts, const double *ends, double origin)
{
    const bench_op *op = &profile->ops[at];
    double start = starts[at] - origin, end = ends[bench_op_end(profile, at)] - origin;
    size_t id = run * profile->count + at + 1;
    begin_end(out, 'b', op, id, start);
    fputs(", \"args\": {\"group\": ", out);
    print_json_string(out, op->op->op_arg->name);
    fprintf(out, ", \"operators\": %zu, ", op->op_count);
    put_rates(out, end - start, op->flops, op->bytes);
    fputs("}}", out);
    begin_end(out, 'e', op, id, end);
    fputc('}', out);
}

static void put_run(FILE *out, const bench_profile *profile, size_t run, double origin)
{
    const double *starts = profile->starts.items + run * profile->count;
    const double *ends = profile->ends.items + run * profile->count;
    char name[32];
    snprintf(name, sizeof name, "run %zu", run + 1);
    begin_slice(out, name, "run", starts[0] - origin, ends[profile->count - 1] - starts[0]);
    fputc('}', out);
    for (size_t i = 0; i < profile->count; i++) {
        const bench_op *op = &profile->ops[i];
        double seconds = ends[i] - starts[i];
        begin_slice(out, op->op->op_arg->name, "operator", starts[i] - origin, seconds);
        fputs(", \"args\": {", out);
        put_op(out, profile, op, op->is_started ? 0 : seconds);
        fputs("}}", out);
        if (op->is_group)
            put_span(out, profile, i, run, starts, ends, origin);
    }
}

// An instant, where the run itself is not among those that are drawn.
static void put_failover(FILE *out, const bench_profile *profile, double time)
{
    if (time < 0)
        return;
    fprintf(out,
            ",\n  {\"ph\": \"i\", \"pid\": 1, \"tid\": 1, \"s\": \"p\", \"name\": \"failover\", "
            "\"cat\": \"device\", \"ts\": %.3f, \"args\": {\"reason\": ",
            time * 1e6);
    print_json_string(out, profile->reason);
    fputs("}}", out);
}

static void put_trace(FILE *out, const bench_profile *profile, const char *model)
{
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
          "  {\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": ",
          out);
    print_json_string(out, model);
    fputs("}}", out);
    size_t first = profile->run_count > TRACED_RUNS ? profile->run_count - TRACED_RUNS : 0;
    for (size_t r = first; r < profile->run_count && profile->count > 0; r++)
        put_run(out, profile, r, profile->starts.items[first * profile->count]);
    for (size_t i = 0; i < profile->failovers.count && profile->count > 0; i++)
        put_failover(out, profile,
                     profile->failovers.items[i] - profile->starts.items[first * profile->count]);
    fputs("\n]}\n", out);
}

ln_status bench_profile_write_trace(const char *path, const bench_profile *profile,
                                    const char *model)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    put_trace(out, profile, model);
    int is_bad = ferror(out);
    if (fclose(out) != 0 || is_bad)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    return LN_OK;
}
