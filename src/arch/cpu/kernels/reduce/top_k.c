// SPDX-License-Identifier: Apache-2.0
// The first elements of rows: a sorted list of those found so far, in plain C. Of neighbours, most
// are compared with the end of the list alone, a chunk at a time.

#include "arch/cpu/kernels/reduce/top_k.h"

#include <assert.h>
#include <string.h>

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define CHUNK                 4
#define ELEMS_PER_MICROSECOND 1024.0

typedef struct top_list {
    size_t count, k;
    int32_t keys[LN_TOP_K_MAX]; // descending
    size_t at[LN_TOP_K_MAX];
} top_list;

typedef struct top_k_job {
    const ln_top_k_f32_args *args;
    size_t rows, rows_per_task;
} top_k_job;

// An integer that is larger for what comes first, and the same for what is equal.
static int32_t key_of(float x, const ln_top_k_f32_args *a)
{
    if (x != x)
        return a->is_smallest || a->has_nan_last ? INT32_MIN : INT32_MAX;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t size = (int32_t)(bits & INT32_MAX);
    return (bits > INT32_MAX) == a->is_smallest ? size : -size;
}

// Elements come in the order of their positions, so one that is equal to another follows it.
static void offer(top_list *list, int32_t key, size_t at)
{
    size_t i = list->count;
    if (i == list->k) {
        if (key <= list->keys[i - 1])
            return;
        i--;
    } else {
        list->count++;
    }
    for (; i > 0 && key > list->keys[i - 1]; i--) {
        list->keys[i] = list->keys[i - 1];
        list->at[i] = list->at[i - 1];
    }
    list->keys[i] = key;
    list->at[i] = at;
}

// Whether one of a chunk may come before `last`; where that is a NaN, any may.
static bool has_better(const float *x, float last, bool is_smallest)
{
    int others = 0;
    if (is_smallest)
        for (size_t i = 0; i < CHUNK; i++)
            others |= !(x[i] >= last);
    else
        for (size_t i = 0; i < CHUNK; i++)
            others |= !(x[i] <= last);
    return others != 0;
}

static void run_row(const ln_top_k_f32_args *a, size_t row)
{
    const float *x = a->x + row / a->inner * a->n * a->inner + row % a->inner;
    top_list list = {.k = a->k};
    size_t i = 0;
    while (i < a->n) {
        size_t left = a->n - i;
        if (a->inner == 1 && left >= CHUNK && list.count == a->k &&
            !has_better(x + i, x[list.at[a->k - 1]], a->is_smallest)) {
            i += CHUNK;
            continue;
        }
        for (size_t end = i + ln_min(left, CHUNK); i < end; i++)
            offer(&list, key_of(x[i * a->inner], a), i);
    }
    size_t to = row / a->inner * a->k * a->inner + row % a->inner;
    for (size_t r = 0; r < a->k; r++, to += a->inner) {
        if (a->values)
            a->values[to] = x[list.at[r] * a->inner];
        if (a->positions)
            a->positions[to] = (int64_t)list.at[r];
    }
}

static void run_rows(void *user, size_t index)
{
    const top_k_job *job = user;
    size_t first = index * job->rows_per_task;
    size_t end = ln_min(first + job->rows_per_task, job->rows);
    for (size_t row = first; row < end; row++)
        run_row(job->args, row);
}

void ln_top_k_f32(const ln_top_k_f32_args *args, ln_pool *pool)
{
    assert(args->k >= 1 && args->k <= LN_TOP_K_MAX && args->k <= args->n);
    top_k_job job = {.args = args, .rows = args->outer * args->inner};
    if (job.rows == 0)
        return;
    double microseconds = (double)job.rows * (double)args->n / ELEMS_PER_MICROSECOND;
    size_t tasks = ln_task_count(microseconds, job.rows, pool);
    job.rows_per_task = ln_div_up(job.rows, ln_max(tasks, 1));
    ln_pool_run(ln_tasks_pool(pool, microseconds), ln_div_up(job.rows, job.rows_per_task), run_rows,
                &job);
}
