// SPDX-License-Identifier: Apache-2.0
// `lightnet bench`: how long a model takes, and where the time goes.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_inputs.h"
#include "bench_measure.h"
#include "bench_profile.h"
#include "cli.h"
#include "compile_flags.h"
#include "device_option.h"
#include "file_bytes.h"
#include "input_options.h"
#include "json_out.h"
#include "model_io.h"
#include "plugin_option.h"
#include "progress.h"
#include "threads_option.h"
#include "write_option.h"

#define MAX_RUNS        1000000
#define DEFAULT_RUNS    20
#define DEFAULT_SECONDS 1.0
#define MAX_WATCHED     100  // runs that are watched operator by operator
#define PEAK_SECONDS    0.05 // before the runs, and again after them

typedef struct bench_options {
    const char *model;
    const char *datafile;
    const char *target;
    const char *json; // NULL: none; "-": standard output
    const char *trace;
    option_texts inputs;
    option_texts shapes;
    int runs; // 0: not given
    int warmup;
    double min_time; // below 0: not given
    int is_zero;
    uint64_t seed;
    int has_profile;
    int is_ordered;
    input_options files;
    compile_flags flags;
} bench_options;

// What one call finds out; times in seconds.
typedef struct bench_result {
    double load;
    double compile;
    double first;
    bench_times times; // sorted, here and below
    bench_times cpu;   // of the calling thread in the same runs
    size_t thread_count;
    double work; // multiply-accumulates of a run
    bench_peak peak;
    size_t static_bytes;
    size_t workspace_bytes;
    size_t rss_bytes;
    bench_profile profile;
} bench_result;

// ---- The command line ----

static int take_profile(void *member, const char *verb, const char *order)
{
    bench_options *o = member;
    o->has_profile = 1;
    o->is_ordered = order && strcmp(order, "run") == 0;
    if (!order || o->is_ordered || strcmp(order, "slowest") == 0)
        return EXIT_OK;
    return say_usage_error(verb, "--profile takes slowest or run, not '%s'", order);
}

static const verb_option takes[] = {
    TAKES(DATAFILE, bench_options, datafile),
    TAKES(TARGET, bench_options, target),
    TAKES(INPUT, bench_options, inputs),
    NOTE(SHAPE, bench_options, shapes, "; what stays open is 1"),
    CALLS(THREADS, bench_options, model, take_threads),
    CALLS(ALLOW_WRITE, bench_options, model, take_allow_write),
    TAKES(RUNS, bench_options, runs),
    TAKES(MIN_TIME, bench_options, min_time),
    TAKES(WARMUP, bench_options, warmup),
    TAKES(ZERO, bench_options, is_zero),
    NOTE(SEED, bench_options, seed, "(default 0)"),
    {OPT_PROFILE, 0, take_profile, NULL, 0},
    TAKES(TRACE, bench_options, trace),
    TAKES(JSON, bench_options, json),
    INPUT_OPTIONS(bench_options, files),
    COMPILE_FLAGS(bench_options, flags),
    TAKES_PLUGIN,
    TAKES_DEVICE,
    TAKES_HELP,
    END_OF_OPTIONS,
};

const verb_usage bench_usage = {
    .name = "bench",
    .synopsis = "[OPTION...] MODEL",
    .about =
        "Measures MODEL: reading, compiling and the first run; then, after a warm-up, runs "
        "until both 20 runs and a second are reached, or as often as --runs says. Prints the median, the times "
        "that 10 % and 90 % of the runs stay below, GFLOP/s and what share they are of this "
        "machine's peak, which a loop of multiply-adds measures before and after, and memory. "
        "Weights that are not given are zeros, inputs that are not given are random numbers, "
        "and zeros where they are no floats.",
    .options = takes,
};

// ---- Measuring ----

static ln_status prepare(ln_context *ctx, const bench_options *o, given_inputs *given)
{
    LN_TRY(given_inputs_override(ctx, o->inputs.items, (size_t)o->inputs.count));
    LN_TRY(model_set_shapes(ctx, &o->shapes));
    LN_TRY(given_inputs_read(ctx, o->inputs.items, (size_t)o->inputs.count, &o->files, given));
    if (ln_context_get_state(ctx) >= LN_CONTEXT_PLANNED)
        return LN_OK;
    LN_TRY(given_inputs_bind_shapes(ctx, given));
    return bench_close_shapes(ctx, given);
}

static ln_status time_run(const ln_context *ctx, double *out_seconds)
{
    double start = bench_clock();
    ln_status status = ln_context_run(ctx);
    *out_seconds = bench_clock() - start;
    return status;
}

static ln_status time_runs(const ln_context *ctx, const bench_options *o, bench_result *r)
{
    double seconds;
    LN_TRY(time_run(ctx, &r->first));
    for (int i = 1; i < o->warmup; i++)
        LN_TRY(time_run(ctx, &seconds));
    double end = bench_clock() + o->min_time;
    while (r->times.count < MAX_RUNS && (r->times.count < (size_t)o->runs || bench_clock() < end)) {
        double cpu = bench_cpu_clock();
        LN_TRY(time_run(ctx, &seconds));
        LN_TRY(bench_times_add(&r->times, seconds));
        LN_TRY(bench_times_add(&r->cpu, bench_cpu_clock() - cpu));
    }
    bench_times_sort(&r->times);
    bench_times_sort(&r->cpu);
    return LN_OK;
}

static void measure_peak(const ln_context *ctx, bench_result *r)
{
    char first[64];
    const char *target = ln_context_target(ctx) ? ln_context_target(ctx) : "";
    snprintf(first, sizeof first, "%.*s", (int)strcspn(target, ","), target);
    bench_peak_measure(first, r->thread_count, PEAK_SECONDS, &r->peak);
}

static ln_status run_watched(ln_context *ctx, const bench_options *o, bench_result *r)
{
    if (!o->has_profile && !o->trace)
        return LN_OK;
    r->profile.isa = r->peak.isa;
    r->profile.arch_name = "cpu";
    return bench_profile_run(&r->profile, ctx, o->runs < MAX_WATCHED ? o->runs : MAX_WATCHED);
}

// Compiles and loads; what reading took is in r->load.
static ln_status make_runnable(ln_context *ctx, bench_options *o, bench_result *r)
{
    double start = bench_clock();
    if (ln_context_get_state(ctx) < LN_CONTEXT_PLANNED) {
        LN_TRY(compile_if_needed(ctx, o->model, o->target, compile_flags_options(&o->flags)));
        r->compile = bench_clock() - start;
    } else {
        LN_TRY(compile_if_needed(ctx, o->model, o->target, compile_flags_options(&o->flags)));
    }
    start = bench_clock();
    LN_TRY(load_model(ctx, o->datafile));
    r->load += bench_clock() - start;
    return LN_OK;
}

static ln_status measure(ln_context *ctx, bench_options *o, const given_inputs *given,
                         bench_result *r)
{
    LN_TRY(make_runnable(ctx, o, r));
    LN_TRY(bench_set_inputs(ctx, given, o->is_zero, o->seed));
    r->thread_count = ln_context_thread_count(ctx);
    r->work = ln_context_macs(ctx);
    for (int m = 1; m < LN_MEM_TYPE_SIZE; m++) {
        r->static_bytes += ln_context_static_bytes(ctx, (ln_mem_type)m);
        r->workspace_bytes += ln_context_workspace_bytes(ctx, (ln_mem_type)m);
    }
    progress_begin("measuring %s", o->model);
    measure_peak(ctx, r);
    ln_status status = time_runs(ctx, o, r);
    r->rss_bytes = bench_peak_rss();
    if (status == LN_OK)
        measure_peak(ctx, r);
    if (status == LN_OK)
        status = run_watched(ctx, o, r);
    progress_end();
    return status;
}

// ---- Telling ----

static double milliseconds(const bench_result *r, double share)
{
    return bench_times_at(&r->times, share) * 1e3;
}

static double gflops(const bench_result *r)
{
    return bench_giga(2 * r->work, bench_times_at(&r->times, 0.5));
}

static void print_result(const ln_context *ctx, const bench_options *o, const bench_result *r)
{
    put_printable(o->model, stdout);
    printf(" on %s%s%s%s, %zu thread%s, %zu runs\n", ln_context_target(ctx),
           r->peak.isa ? " (" : "", r->peak.isa ? r->peak.isa : "", r->peak.isa ? ")" : "",
           r->thread_count, r->thread_count == 1 ? "" : "s", r->times.count);
    printf("load       %.3f ms\n", r->load * 1e3);
    printf("compile    %.3f ms\n", r->compile * 1e3);
    printf("first run  %.3f ms\n", r->first * 1e3);
    printf("median     %.3f ms, p10 %.3f, p90 %.3f, best %.3f\n", milliseconds(r, 0.5),
           milliseconds(r, 0.1), milliseconds(r, 0.9), milliseconds(r, 0));
    printf("speed      %.1f GFLOP/s", gflops(r));
    if (r->peak.flops > 0)
        printf(", %.1f %% of this machine's %.1f", 100 * gflops(r) / (r->peak.flops * 1e-9),
               r->peak.flops * 1e-9);
    printf("\nmemory     plan %s bytes: static %s, workspace %s; resident %s at most\n",
           grouped(r->static_bytes + r->workspace_bytes), grouped(r->static_bytes),
           grouped(r->workspace_bytes), grouped(r->rss_bytes));
}

static ln_status put_json(FILE *out, const ln_context *ctx, const bench_options *o,
                          const bench_result *r)
{
    fputs("{\n  \"model\": ", out);
    print_json_string(out, o->model);
    fprintf(out, ",\n  \"threads\": %zu,\n  \"runs\": %zu,\n", r->thread_count, r->times.count);
    fprintf(out, "  \"load_ms\": %.6f,\n  \"compile_ms\": %.6f,\n  \"first_ms\": %.6f,\n",
            r->load * 1e3, r->compile * 1e3, r->first * 1e3);
    fprintf(out, "  \"median_ms\": %.6f,\n  \"p10_ms\": %.6f,\n  \"p90_ms\": %.6f,\n",
            milliseconds(r, 0.5), milliseconds(r, 0.1), milliseconds(r, 0.9));
    fprintf(out, "  \"gflops\": %.3f,\n", gflops(r));
    if (r->peak.flops > 0)
        fprintf(out, "  \"peak_share\": %.6f,\n", gflops(r) / (r->peak.flops * 1e-9));
    else
        fputs("  \"peak_share\": null,\n", out);
    fprintf(out, "  \"plan_bytes\": %zu,\n  \"rss_bytes\": %zu,\n",
            r->static_bytes + r->workspace_bytes, r->rss_bytes);
    fputs("  \"target\": ", out);
    print_json_string(out, ln_context_target(ctx) ? ln_context_target(ctx) : "");
    fputs(",\n  \"isa\": ", out);
    print_json_string(out, r->peak.isa ? r->peak.isa : "");
    fprintf(out, ",\n  \"peak_gflops\": %.3f,\n  \"work\": %.0f,\n  \"min_ms\": %.6f,\n",
            r->peak.flops * 1e-9, r->work, milliseconds(r, 0));
    fprintf(out, "  \"cpu_ms\": %.6f,\n  \"cpu_p10_ms\": %.6f,\n",
            bench_times_at(&r->cpu, 0.5) * 1e3, bench_times_at(&r->cpu, 0.1) * 1e3);
    fprintf(out, "  \"static_bytes\": %zu,\n  \"workspace_bytes\": %zu", r->static_bytes,
            r->workspace_bytes);
    if (o->has_profile) {
        fputs(",\n  ", out);
        LN_TRY(bench_profile_write_json(out, &r->profile));
    }
    fputs("\n}\n", out);
    return LN_OK;
}

static ln_status write_json(const ln_context *ctx, const bench_options *o, const bench_result *r)
{
    if (strcmp(o->json, "-") == 0)
        return put_json(stdout, ctx, o, r);
    FILE *out = fopen(o->json, "w");
    if (!out)
        return LN_FAIL(LN_IO, "cannot write %s: %s", o->json, strerror(errno));
    ln_status status = put_json(out, ctx, o, r);
    int is_bad = ferror(out);
    if (fclose(out) != 0 || is_bad)
        return LN_FAIL(LN_IO, "cannot write %s: %s", o->json, strerror(errno));
    return status;
}

static ln_status tell(const ln_context *ctx, const bench_options *o, const bench_result *r)
{
    if (o->trace)
        LN_TRY(bench_profile_write_trace(o->trace, &r->profile, o->model));
    if (o->json) {
        json_note_written();
        LN_TRY(write_json(ctx, o, r));
    }
    if (o->json && strcmp(o->json, "-") == 0)
        return LN_OK;
    print_result(ctx, o, r);
    return o->has_profile ? bench_profile_print(stdout, &r->profile, o->is_ordered) : LN_OK;
}

int cmd_bench(int argc, char **argv)
{
    bench_options o = {.warmup = 3, .min_time = -1};
    compile_flags_init(&o.flags);
    int code = options_parse_one(&bench_usage, "model", argc, argv, &o, &o.model);
    if (code != EXIT_OK)
        return code == -1 ? EXIT_OK : code;
    static const option_id of_random = OPT_SEED;
    if (o.is_zero && options_check_unused(&bench_usage, &of_random, 1,
                                          "with --zero, which leaves nothing random") != EXIT_OK)
        return EXIT_USAGE;
    o.target = compile_flags_target(&o.flags, o.target);
    if (o.min_time < 0)
        o.min_time = o.runs > 0 ? 0 : DEFAULT_SECONDS; // a number of runs alone is exact
    if (o.runs == 0)
        o.runs = DEFAULT_RUNS;

    if (file_check_writable(o.json) != LN_OK || file_check_writable(o.trace) != LN_OK)
        return say_failure();
    bench_result result = {0};
    double start = bench_clock();
    ln_context *ctx = open_model(o.model);
    result.load = bench_clock() - start;
    if (!ctx)
        return EXIT_FAILED;
    given_inputs given = {0};
    ln_status status = prepare(ctx, &o, &given);
    if (status == LN_OK)
        status = measure(ctx, &o, &given, &result);
    if (status == LN_OK)
        status = tell(ctx, &o, &result);
    code = status == LN_OK ? EXIT_OK : say_failure();
    bench_profile_free(&result.profile);
    bench_times_free(&result.times);
    bench_times_free(&result.cpu);
    given_inputs_free(&given);
    close_model(ctx);
    return code;
}
