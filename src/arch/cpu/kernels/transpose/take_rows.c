// SPDX-License-Identifier: Apache-2.0
// Rows by number: a loop for each common size, since a call of memcpy takes longer than a few
// bytes.

#include "arch/cpu/kernels/transpose/take_rows.h"

#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/tasks.h"

#define BYTES_PER_MICROSECOND 12500.0
#define ROWS_PER_MICROSECOND  1000.0

// Some of the numbers, of one table.
typedef struct take {
    const char *x;
    char *y;
    size_t rows, row_bytes;
    const void *numbers;
    size_t first, end;
} take;

typedef void take_fn(const take *t);

typedef struct job {
    const ln_take_rows_args *args;
    take_fn *run;
    size_t tasks;
} job;

static inline __attribute__((always_inline)) int64_t number_at(const void *numbers, bool is_wide,
                                                               size_t i)
{
    return is_wide ? ((const int64_t *)numbers)[i] : ((const int32_t *)numbers)[i];
}

static inline __attribute__((always_inline)) void take_of(const take *t, bool is_wide, size_t bytes)
{
    for (size_t i = t->first; i < t->end; i++) {
        int64_t number = number_at(t->numbers, is_wide, i);
        size_t row = (size_t)number + (number < 0 ? t->rows : 0);
        row = ln_min(row,
                     t->rows - 1); // also if somebody has changed the number since it was checked
        memcpy(t->y + i * bytes, t->x + row * bytes, bytes);
    }
}

#define TAKES(type, is_wide)                                                                       \
    static void take_4_##type(const take *t)                                                       \
    {                                                                                              \
        take_of(t, is_wide, 4);                                                                    \
    }                                                                                              \
    static void take_8_##type(const take *t)                                                       \
    {                                                                                              \
        take_of(t, is_wide, 8);                                                                    \
    }                                                                                              \
    static void take_any_##type(const take *t)                                                     \
    {                                                                                              \
        take_of(t, is_wide, t->row_bytes);                                                         \
    }

TAKES(int32, false)
TAKES(int64, true)

static take_fn *function_for(size_t bytes, bool is_wide)
{
    switch (bytes) {
    case 4: return is_wide ? take_4_int64 : take_4_int32;
    case 8: return is_wide ? take_8_int64 : take_8_int32;
    default: return is_wide ? take_any_int64 : take_any_int32;
    }
}

static void run_task(void *user, size_t index)
{
    const job *j = user;
    const ln_take_rows_args *a = j->args;
    take t = {.rows = a->rows,
              .row_bytes = a->row_bytes,
              .numbers = a->numbers,
              .first = ln_task_start(a->count, j->tasks, index),
              .end = ln_task_start(a->count, j->tasks, index + 1)};
    for (size_t o = 0; o < a->outer; o++) {
        t.x = (const char *)a->x + o * a->rows * a->row_bytes;
        t.y = (char *)a->y + o * a->count * a->row_bytes;
        j->run(&t);
    }
}

size_t ln_take_rows_find_bad(const ln_take_rows_args *args)
{
    const int64_t least = args->is_from_end ? -(int64_t)args->rows : 0;
    for (size_t i = 0; i < args->count; i++) {
        int64_t number = number_at(args->numbers, args->is_wide, i);
        if (number < least || number >= (int64_t)args->rows)
            return i;
    }
    return args->count;
}

void ln_take_rows(const ln_take_rows_args *args, ln_pool *pool)
{
    double rows = (double)args->outer * (double)args->count;
    if (rows == 0 || args->row_bytes == 0)
        return;
    double microseconds =
        rows / ROWS_PER_MICROSECOND + rows * (double)args->row_bytes / BYTES_PER_MICROSECOND;
    job j = {.args = args,
             .run = function_for(args->row_bytes, args->is_wide),
             .tasks = ln_task_count(microseconds, args->count, pool)};
    ln_pool_run(pool, j.tasks, run_task, &j);
}
