// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes: each operator's time, work and bytes, over some runs.

#ifndef LN_CLI_BENCH_PROFILE_H
#define LN_CLI_BENCH_PROFILE_H

#include <stdio.h>

#include <lightnet/context.h>

#include "bench_measure.h"

typedef struct bench_op {
    const ln_op *op; // of the context
    double flops;    // of one run; a multiply-add is two
    double bytes;    // of what it reads and writes, each tensor once; without what is in place
    double seconds;  // the median of the runs
    double best;     // the fastest
    size_t position; // in the order of a run, from 0
    size_t op_count; // of a group of a device: how many operators it has, of which `op` is first
    int is_group;
    double span;          // of a group: the median from its start until it has been waited for
    int is_started;       // a group that is waited for later: `seconds` are those of its start
    ln_mem_type from, to; // of a copy between memories; LN_MEM_NONE: it is none
} bench_op;

typedef struct bench_profile {
    bench_op *ops; // in the order of a run
    size_t count;
    size_t capacity;
    size_t run_count;
    bench_times starts;    // of run r and operator i at r * count + i, in seconds of bench_clock
    bench_times ends;      // the same
    double seconds;        // the sum of the operators' medians
    const char *arch_name; // whose operators run on the instruction set `isa`
    const char *isa;       // NULL: not known
    bench_times failovers; // when a device failed: these runs are in none of the times
    char reason[256];      // of the last
    int has_failed_over;   // the run that is watched has
    size_t at;             // the operator that is next in the run that is watched
    ln_status status;      // of what the observer did
} bench_profile;

// Watches `runs` runs of a LOADED context. *profile has `arch_name` and `isa` and is empty else; it
// is freed also after a failure, before the context is.
ln_status bench_profile_run(bench_profile *profile, ln_context *ctx, int runs);
void bench_profile_free(bench_profile *profile);

// A table of sums for each type and one of operators: the slowest first, or in the order of a run.
ln_status bench_profile_print(FILE *out, const bench_profile *profile, int is_ordered);

// Members of a JSON object, "types" and "operators".
ln_status bench_profile_write_json(FILE *out, const bench_profile *profile);

// The last runs as trace events for chrome://tracing and Perfetto: a slice for each run, and in it
// one for each operator. What a device computes is a span of its own, on a line of the device: from
// the start of a group until that is waited for.
ln_status bench_profile_write_trace(const char *path, const bench_profile *profile,
                                    const char *model);

// ---- For those that write it ----

// What computes it, with its window and steps: "winograd4 3x3 avx512", "2x2/2 avx512", "ref".
void bench_op_kernel(const bench_profile *profile, const bench_op *op, char *text,
                     size_t byte_count);

// The position after which the group of position `at` is done: that of its wait, or its own.
size_t bench_op_end(const bench_profile *profile, size_t at);

// The shape of its first output, such as "[1, 64, 56, 56]".
void bench_op_shape(const ln_op *op, char *text, size_t byte_count);

// A rate in 10^9 a second; 0 for no time at all.
double bench_giga(double amount, double seconds);

#endif
