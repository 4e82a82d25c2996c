// SPDX-License-Identifier: Apache-2.0
// Rows follow each other without gaps where they can; one long row is cut for the threads.

#include "arch/cpu/kernels/transpose/copy_rows.h"

#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/tasks.h"

#define BYTES_PER_MICROSECOND 25000.0

typedef struct job {
    ln_copy_rows_args rows;
    size_t tasks;
} job;

static void copy_row(char *y, const char *x, size_t byte_count)
{
    // A call takes longer than a few bytes.
    switch (byte_count) {
    case 4: memcpy(y, x, 4); return;
    case 8: memcpy(y, x, 8); return;
    case 16: memcpy(y, x, 16); return;
    case 32: memcpy(y, x, 32); return;
    case 64: memcpy(y, x, 64); return;
    default: memcpy(y, x, byte_count);
    }
}

static void run_task(void *user, size_t index)
{
    const job *j = user;
    const ln_copy_rows_args *a = &j->rows;
    const char *x = a->x;
    char *y = a->y;
    if (a->rows == 1) {
        size_t first = a->row_bytes / j->tasks * index;
        size_t end = index + 1 < j->tasks ? first + a->row_bytes / j->tasks : a->row_bytes;
        memcpy(y + first, x + first, end - first);
        return;
    }
    size_t end = (index + 1) * a->rows / j->tasks;
    for (size_t i = index * a->rows / j->tasks; i < end; i++)
        copy_row(y + i * a->y_step, x + i * a->x_step, a->row_bytes);
}

void ln_copy_rows(const ln_copy_rows_args *args, ln_pool *pool)
{
    job j = {.rows = *args};
    if (args->rows == 0 || args->row_bytes == 0)
        return;
    if (args->x_step == args->row_bytes && args->y_step == args->row_bytes) {
        j.rows.row_bytes *= args->rows;
        j.rows.rows = 1;
    }
    double bytes = (double)j.rows.rows * (double)j.rows.row_bytes;
    j.tasks = ln_task_count(bytes / BYTES_PER_MICROSECOND, j.rows.rows > 1 ? j.rows.rows : SIZE_MAX,
                            pool);
    ln_pool_run(pool, j.tasks, run_task, &j);
}
