// SPDX-License-Identifier: Apache-2.0
// Joins the axes that keep the order of all inputs, and cuts what is left into tasks.

#include "arch/cpu/broadcast_rows.h"

#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"

#define TASK_ELEMS            ((size_t)16384)
#define ELEMS_PER_MICROSECOND 16384.0

static void set_input(ln_cpu_rows *rows, const tl_tensor *in, size_t *strides)
{
    size_t stride = 1;
    for (int d = rows->ndim - 1; d >= 0; d--) {
        int own = in ? in->ndim - rows->ndim + d : -1;
        int dim = own >= 0 ? in->dims[own] : 1;
        strides[d] = dim == 1 ? 0 : stride;
        stride *= (size_t)dim;
    }
}

// Whether axis d and the one after it are one axis for all.
static bool can_join(const ln_cpu_rows *rows, int d)
{
    for (int k = 0; k < LN_CPU_ROWS_INPUTS; k++)
        if (rows->strides[k][d] != rows->strides[k][d + 1] * rows->dims[d + 1])
            return false;
    return true;
}

static void remove_axis(ln_cpu_rows *rows, int axis)
{
    rows->ndim--;
    for (int d = axis; d < rows->ndim; d++) {
        rows->dims[d] = rows->dims[d + 1];
        for (int k = 0; k < LN_CPU_ROWS_INPUTS; k++)
            rows->strides[k][d] = rows->strides[k][d + 1];
    }
}

static void join_axes(ln_cpu_rows *rows)
{
    for (int d = rows->ndim - 1; d >= 0; d--)
        if (rows->dims[d] == 1 && rows->ndim > 1)
            remove_axis(rows, d);
    for (int d = rows->ndim - 2; d >= 0; d--) {
        if (!can_join(rows, d))
            continue;
        rows->dims[d + 1] *= rows->dims[d];
        remove_axis(rows, d);
    }
}

void ln_cpu_rows_init(ln_cpu_rows *rows, const tl_tensor *dst, const tl_tensor *const *inputs,
                      int input_count)
{
    *rows = (ln_cpu_rows){.ndim = dst->ndim > 0 ? dst->ndim : 1, .dims = {1}};
    for (int d = 0; d < dst->ndim; d++)
        rows->dims[d] = (size_t)dst->dims[d];
    for (int k = 0; k < LN_CPU_ROWS_INPUTS; k++)
        set_input(rows, k < input_count ? inputs[k] : NULL, rows->strides[k]);
    rows->count = dst->len == 0 ? 0 : 1;
    if (rows->count == 0)
        return;
    join_axes(rows);
    for (int d = 0; d < rows->ndim - 1; d++)
        rows->count *= rows->dims[d];
}

size_t ln_cpu_rows_at(const ln_cpu_rows *rows, int k, size_t row)
{
    size_t at = 0;
    for (int d = rows->ndim - 2; d > 0; row /= rows->dims[d], d--)
        at += row % rows->dims[d] * rows->strides[k][d];
    return rows->ndim > 1 ? at + row * rows->strides[k][0] : 0;
}

bool ln_cpu_rows_are_whole(const ln_cpu_rows *rows, int k)
{
    size_t stride = 1;
    for (int d = rows->ndim - 1; d >= 0; stride *= rows->dims[d], d--)
        if (rows->strides[k][d] != stride)
            return false;
    return true;
}

typedef struct job {
    const ln_cpu_rows *rows;
    ln_cpu_row_fn *run;
    const void *self;
    size_t block_rows, block_len; // of a task: whole rows, or a part of one
    size_t per_row;
} job;

static void run_task(void *user, size_t index)
{
    const job *j = user;
    const ln_cpu_rows *rows = j->rows;
    size_t last = (size_t)rows->ndim - 1, len = rows->dims[last];
    size_t first = index / j->per_row * j->block_rows, start = index % j->per_row * j->block_len;
    size_t n = ln_min(j->block_len, len - start);
    size_t step[LN_CPU_ROWS_INPUTS], at[LN_CPU_ROWS_INPUTS];
    for (int k = 0; k < LN_CPU_ROWS_INPUTS; k++)
        step[k] = rows->strides[k][last];
    for (size_t row = first; row < rows->count && row < first + j->block_rows; row++) {
        for (int k = 0; k < LN_CPU_ROWS_INPUTS; k++)
            at[k] = start * step[k] + ln_cpu_rows_at(rows, k, row);
        j->run(j->self, n, at, step, row * len + start);
    }
}

void ln_cpu_rows_run(const ln_cpu_rows *rows, ln_pool *pool, ln_cpu_row_fn *run, const void *self)
{
    if (rows->count == 0)
        return;
    size_t len = rows->dims[rows->ndim - 1];
    job j = {rows, run, self, .block_rows = ln_max(1, TASK_ELEMS / len),
             .block_len = ln_min(len, TASK_ELEMS)};
    j.per_row = ln_div_up(len, j.block_len);
    double microseconds = (double)(rows->count * len) / ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), ln_div_up(rows->count, j.block_rows) * j.per_row,
                run_task, &j);
}
