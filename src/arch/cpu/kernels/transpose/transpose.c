// SPDX-License-Identifier: Apache-2.0
// Drives transposes: axes that stay neighbours become one, then the result is rows that are copied,
// or matrices that are transposed between the axis whose elements follow each other in x and the
// one whose elements follow each other in y.

#include "arch/cpu/kernels/transpose/transpose.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/tasks.h"
#include "arch/cpu/kernels/transpose/transpose_u8.h"
#include "base/minmax.h"

#define BYTES_PER_MICROSECOND 40000.0
// Elements of a matrix that are about one unit of work, whole cache lines of each row of x.
#define UNIT_ELEMENTS         ((size_t)16384)
#define UNIT_LINE             ((size_t)64)

// ---- Axes ----

typedef struct axis {
    size_t dim, x_step, y_step;
} axis;

// The axes of the result with more than one element, neighbours made one. Returns how many.
static int merge_axes(const ln_transpose_args *args, axis *axes)
{
    int count = 0;
    size_t y_step = 1;
    axis backwards[LN_TRANSPOSE_MAX_AXES];
    for (int i = args->ndim - 1; i >= 0; i--) {
        axis next = {args->dims[i], args->x_step[i], y_step};
        y_step *= args->dims[i];
        axis *last = count ? &backwards[count - 1] : NULL;
        if (next.dim == 1)
            continue;
        if (last && next.x_step == last->x_step * last->dim)
            last->dim *= next.dim;
        else
            backwards[count++] = next;
    }
    for (int i = 0; i < count; i++)
        axes[i] = backwards[count - 1 - i];
    return count;
}

// ---- Matrices of other sizes than four bytes ----

#define PLAIN(type)                                                                                \
    static void transpose_##type(const ln_transpose_matrices *m)                                   \
    {                                                                                              \
        for (size_t n = 0; n < m->count; n++) {                                                    \
            const type *x = (const type *)m->x + n * m->x_next;                                    \
            type *y = (type *)m->y + n * m->y_next;                                                \
            for (size_t top = 0; top < m->rows; top += 16)                                         \
                for (size_t j = 0; j < m->columns; j++)                                            \
                    for (size_t i = top; i < ln_min(m->rows, top + 16); i++)                       \
                        y[i * m->y_step + j] = x[j * m->x_step + i];                               \
        }                                                                                          \
    }
PLAIN(uint8_t)
PLAIN(uint16_t)
PLAIN(uint64_t)

static void transpose_bytes(const ln_transpose_matrices *m)
{
#ifdef SQUARE_SHUFFLES
    for (size_t n = 0; m->rows >= 4 && m->columns >= 4 && n < m->count; n++)
        transpose_squares(m, (const uint8_t *)m->x + n * m->x_next,
                          (uint8_t *)m->y + n * m->y_next);
    if (m->rows >= 4 && m->columns >= 4)
        return;
#endif
    transpose_uint8_t(m);
}

static ln_transpose_u32_fn *byte_function(ln_cpu_isa isa, size_t columns, size_t y_step)
{
    const bool has_planes = columns >= 2 && columns <= 4 && y_step == columns;
    return has_planes ? ln_join_planes_select(isa) : transpose_bytes;
}

static ln_transpose_u32_fn *matrix_function(ln_cpu_isa isa, size_t elem_size, size_t columns,
                                            size_t y_step)
{
    switch (elem_size) {
    case 1: return byte_function(isa, columns, y_step);
    case 2: return transpose_uint16_t;
    case 8: return transpose_uint64_t;
    default: return ln_transpose_u32_select(isa);
    }
}

// ---- Tasks ----

// Units of work are numbered through `outer` axes; each is some rows of a matrix, or copied rows.
typedef struct job {
    const ln_transpose_args *args;
    ln_transpose_u32_fn *matrix; // NULL: rows are copied
    axis outer[LN_TRANSPOSE_MAX_AXES];
    int outer_count;
    axis rows, columns; // of y; a copied row is `columns`
    size_t unit_rows, units_of_matrix, units, tasks;
} job;

// The unit at the given places, and of those that follow on the last outer axis `count` in all.
static void run_units(const job *j, size_t of_matrix, size_t x, size_t y, size_t count)
{
    size_t size = j->args->elem_size;
    const char *from = (const char *)j->args->x + x * size;
    char *to = (char *)j->args->y + y * size;
    size_t first = of_matrix * j->unit_rows, end = ln_min(j->rows.dim, first + j->unit_rows);
    const axis next = j->outer_count ? j->outer[j->outer_count - 1] : (axis){1, 0, 0};
    if (j->matrix) {
        const ln_transpose_matrices m = {.rows = end - first,
                                         .columns = j->columns.dim,
                                         .x = from + first * size,
                                         .x_step = j->columns.x_step,
                                         .y = to + first * j->rows.y_step * size,
                                         .y_step = j->rows.y_step,
                                         .count = count,
                                         .x_next = next.x_step,
                                         .y_next = next.y_step};
        j->matrix(&m);
        return;
    }
    for (size_t n = 0; n < count; n++)
        for (size_t i = first; i < end; i++)
            memcpy(to + (n * next.y_step + i * j->rows.y_step) * size,
                   from + (n * next.x_step + i * j->rows.x_step) * size, j->columns.dim * size);
}

static void run_task(void *user, size_t index)
{
    const job *j = user;
    const int last = j->outer_count - 1;
    size_t unit = index * j->units / j->tasks, end = (index + 1) * j->units / j->tasks;
    size_t of_matrix = unit % j->units_of_matrix, rest = unit / j->units_of_matrix;
    size_t at[LN_TRANSPOSE_MAX_AXES], x = 0, y = 0;
    for (int i = last; i >= 0; i--) {
        at[i] = rest % j->outer[i].dim;
        rest /= j->outer[i].dim;
        x += at[i] * j->outer[i].x_step;
        y += at[i] * j->outer[i].y_step;
    }
    while (unit < end) {
        size_t count = 1;
        if (j->units_of_matrix == 1 && last >= 0)
            count = ln_min(end - unit, j->outer[last].dim - at[last]);
        run_units(j, of_matrix, x, y, count);
        unit += count;
        if (++of_matrix < j->units_of_matrix)
            continue;
        of_matrix = 0;
        for (int i = last; i >= 0; i--, count = 1) {
            x += count * j->outer[i].x_step;
            y += count * j->outer[i].y_step;
            at[i] += count;
            if (at[i] < j->outer[i].dim)
                break;
            at[i] = 0;
            x -= j->outer[i].dim * j->outer[i].x_step;
            y -= j->outer[i].dim * j->outer[i].y_step;
        }
    }
}

// The rows of y's matrices: the axis along which elements follow each other in x, or if there is
// none, or it is the last one, the longest of the others.
static int choose_rows(const axis *axes, int count)
{
    int best = -1;
    for (int i = 0; i < count - 1; i++) {
        if (axes[i].x_step == 1)
            return i;
        if (best < 0 || axes[i].dim > axes[best].dim)
            best = i;
    }
    return best;
}

void ln_transpose(ln_cpu_isa isa, const ln_transpose_args *args, ln_pool *pool)
{
    axis axes[LN_TRANSPOSE_MAX_AXES];
    size_t len = 1;
    for (int i = 0; i < args->ndim; i++)
        len *= args->dims[i];
    if (len == 0)
        return;

    int count = merge_axes(args, axes), rows = choose_rows(axes, count);
    const axis one = {1, 1, 1};
    job j = {.args = args,
             .rows = rows >= 0 ? axes[rows] : one,
             .columns = count > 0 ? axes[count - 1] : one};
    for (int i = 0; i + 1 < count; i++)
        if (i != rows)
            j.outer[j.outer_count++] = axes[i];
    bool is_matrix = j.columns.x_step != 1 && j.rows.x_step == 1;
    if (!is_matrix && j.columns.x_step != 1) { // rows of one element
        j.outer[j.outer_count++] = j.rows;
        j.rows = j.columns;
        j.columns = one;
    }
    j.matrix =
        is_matrix ? matrix_function(isa, args->elem_size, j.columns.dim, j.rows.y_step) : NULL;
    j.unit_rows = (UNIT_ELEMENTS / j.columns.dim / UNIT_LINE + 1) * UNIT_LINE;
    j.units_of_matrix = (j.rows.dim - 1) / j.unit_rows + 1;
    j.units = j.units_of_matrix;
    for (int i = 0; i < j.outer_count; i++)
        j.units *= j.outer[i].dim;
    j.tasks =
        ln_task_count((double)len * (double)args->elem_size / BYTES_PER_MICROSECOND, j.units, pool);
    ln_pool_run(pool, j.tasks, run_task, &j);
}

// ---- Pairs ----

typedef struct interleave_job {
    const ln_interleave_rows *args;
    ln_interleave_u32_fn *kernel;
    size_t tasks;
} interleave_job;

static void interleave_task(void *user, size_t index)
{
    const interleave_job *j = user;
    ln_interleave_rows rows = *j->args;
    size_t first = index * rows.rows / j->tasks, end = (index + 1) * rows.rows / j->tasks;
    rows.rows = end - first;
    rows.a = (const uint32_t *)rows.a + first * rows.a_step;
    rows.b = (const uint32_t *)rows.b + first * rows.b_step;
    rows.y = (uint32_t *)rows.y + first * 2 * rows.columns;
    j->kernel(&rows);
}

void ln_interleave_u32(ln_cpu_isa isa, const ln_interleave_rows *args, ln_pool *pool)
{
    if (args->rows == 0 || args->columns == 0)
        return;
    double bytes = (double)args->rows * (double)args->columns * 2 * sizeof(uint32_t);
    interleave_job j = {.args = args,
                        .kernel = ln_interleave_u32_select(isa),
                        .tasks = ln_task_count(bytes / BYTES_PER_MICROSECOND, args->rows, pool)};
    ln_pool_run(pool, j.tasks, interleave_task, &j);
}
