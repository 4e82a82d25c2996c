// SPDX-License-Identifier: Apache-2.0
// Picks the element-wise kernels, and cuts their work: into blocks that stay in the nearest cache,
// so that an activation finds there what it is applied to, and that are dealt to the threads.

#include "arch/cpu/kernels/eltwise/eltwise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "arch/cpu/kernels/eltwise/sin_large.h"
#include "arch/cpu/kernels/tasks.h"
#include "base/broadcast.h"
#include "base/minmax.h"

// ---- Blocks ----

#define BLOCK_ELEMS 4096

#define ELEMS_PER_MICROSECOND        16384.0
#define COSTLY_ELEMS_PER_MICROSECOND 4096.0

bool ln_act_is_costly(ln_act act)
{
    return act >= LN_ACT_SIGMOID && act <= LN_ACT_SQRT && act != LN_ACT_HARD_SIGMOID &&
           act != LN_ACT_HARD_SWISH;
}

static void run_blocks(ln_pool *pool, size_t elems, ln_act act, size_t count, ln_pool_task *task,
                       void *job)
{
    double rate = ln_act_is_costly(act) ? COSTLY_ELEMS_PER_MICROSECOND : ELEMS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, (double)elems / rate), count, task, job);
}

// Rows of n elements cut into blocks of some whole rows, or into parts of one row.
typedef struct blocks {
    size_t rows, n;
    size_t block_rows, block_n;
    size_t per_row; // parts of a row
    size_t count;
} blocks;

typedef struct block {
    size_t row, rows; // the first one, and how many
    size_t at, n;     // the first element in each row, and how many
} block;

static blocks cut_rows(size_t rows, size_t n)
{
    blocks b = {.rows = rows, .n = n, .block_rows = 1, .block_n = ln_min(n, BLOCK_ELEMS)};
    if (rows == 0 || n == 0)
        return b;
    if (n < BLOCK_ELEMS)
        b.block_rows = BLOCK_ELEMS / n;
    b.per_row = ln_div_up(n, b.block_n);
    b.count = b.per_row * ln_div_up(rows, b.block_rows);
    return b;
}

static block block_at(const blocks *b, size_t index)
{
    size_t row = index / b->per_row * b->block_rows, at = index % b->per_row * b->block_n;
    return (block){.row = row,
                   .rows = ln_min(b->block_rows, b->rows - row),
                   .at = at,
                   .n = ln_min(b->block_n, b->n - at)};
}

// ---- Activations ----

typedef struct act_job {
    const ln_eltwise_f32_kernels *kernels;
    const ln_act_f32_args *act;
    size_t n;
    const float *x;
    float *y;
} act_job;

static void act_block(void *user, size_t index)
{
    const act_job *job = user;
    size_t at = index * BLOCK_ELEMS;
    job->kernels->act(job->act, ln_min(BLOCK_ELEMS, job->n - at), job->x + at, job->y + at);
}

void ln_act_f32(ln_cpu_isa isa, const ln_act_f32_args *act, size_t n, const float *x, float *y,
                ln_pool *pool)
{
    assert(act->act < LN_ACT_COUNT);
    if (act->act == LN_ACT_NONE && x == y)
        return;
    act_job job = {.kernels = ln_eltwise_f32_select(isa), .act = act, .n = n, .x = x, .y = y};
    run_blocks(pool, n, act->act, ln_div_up(n, BLOCK_ELEMS), act_block, &job);
}

// Defines ln_<name>_f32 by kernel `op`, which is as costly as `act`.
#define DEFINE_UNARY(name, op, act)                                                                \
    static void name##_block(void *user, size_t index)                                             \
    {                                                                                              \
        const act_job *job = user;                                                                 \
        size_t at = index * BLOCK_ELEMS;                                                           \
        job->kernels->unary(op, ln_min(BLOCK_ELEMS, job->n - at), job->x + at, job->y + at);       \
    }                                                                                              \
    void ln_##name##_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool)        \
    {                                                                                              \
        act_job job = {.kernels = ln_eltwise_f32_select(isa), .n = n, .x = x, .y = y};             \
        run_blocks(pool, n, act, ln_div_up(n, BLOCK_ELEMS), name##_block, &job);                   \
    }
DEFINE_UNARY(log, LN_UNARY_LOG, LN_ACT_EXP)
DEFINE_UNARY(floor, LN_UNARY_FLOOR, LN_ACT_NONE)
DEFINE_UNARY(ceil, LN_UNARY_CEIL, LN_ACT_NONE)
DEFINE_UNARY(round, LN_UNARY_ROUND, LN_ACT_NONE)
DEFINE_UNARY(sign, LN_UNARY_SIGN, LN_ACT_NONE)

// Elements are looked at so many at a time, which makes a loop of vectors.
#define LOOK_ELEMS ((size_t)64)

static bool has_large(const float *x)
{
    int count = 0;
    for (size_t i = 0; i < LOOK_ELEMS; i++)
        count += fabsf(x[i]) > LN_SIN_MAX;
    return count > 0;
}

// At most LOOK_ELEMS elements, of which some may be too large for the kernels.
static void sin_of_any(const act_job *job, ln_unary op, size_t n, const float *x, float *y)
{
    float kept[LOOK_ELEMS]; // x may be y
    memcpy(kept, x, n * sizeof *kept);
    job->kernels->unary(op, n, kept, y);
    for (size_t i = 0; i < n; i++)
        if (fabsf(kept[i]) > LN_SIN_MAX)
            y[i] = ln_sin_large(kept[i], op == LN_UNARY_COS);
}

static void sin_or_cos_block(const act_job *job, ln_unary op, size_t index)
{
    size_t start = index * BLOCK_ELEMS, end = start + ln_min(BLOCK_ELEMS, job->n - start);
    for (size_t at = start, n; at < end; at += n) {
        for (n = 0; n + LOOK_ELEMS <= end - at && !has_large(job->x + at + n);)
            n += LOOK_ELEMS;
        if (n > 0) {
            job->kernels->unary(op, n, job->x + at, job->y + at);
        } else {
            n = ln_min(LOOK_ELEMS, end - at);
            sin_of_any(job, op, n, job->x + at, job->y + at);
        }
    }
}

static void sin_block(void *user, size_t index)
{
    sin_or_cos_block(user, LN_UNARY_SIN, index);
}

static void cos_block(void *user, size_t index)
{
    sin_or_cos_block(user, LN_UNARY_COS, index);
}

void ln_sin_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool)
{
    act_job job = {.kernels = ln_eltwise_f32_select(isa), .n = n, .x = x, .y = y};
    run_blocks(pool, n, LN_ACT_EXP, ln_div_up(n, BLOCK_ELEMS), sin_block, &job);
}

void ln_cos_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool)
{
    act_job job = {.kernels = ln_eltwise_f32_select(isa), .n = n, .x = x, .y = y};
    run_blocks(pool, n, LN_ACT_EXP, ln_div_up(n, BLOCK_ELEMS), cos_block, &job);
}

void ln_power_f32(ln_cpu_isa isa, size_t n, const float *x, size_t x_step, const float *y,
                  size_t y_step, float *z)
{
    ln_eltwise_f32_select(isa)->power(n, &(ln_rows_f32){.p = x, .step = x_step},
                                      &(ln_rows_f32){.p = y, .step = y_step}, z);
}

// What the kernels of two operands do not do themselves, to a block that they have written.
static void finish_rows(const ln_eltwise_f32_kernels *k, const ln_act_f32_args *act, size_t rows,
                        size_t n, float *y, size_t y_row)
{
    if (act->act == LN_ACT_NONE || act->act == LN_ACT_RELU)
        return;
    if (y_row == n) {
        k->act(act, rows * n, y, y);
        return;
    }
    for (size_t r = 0; r < rows; r++)
        k->act(act, n, y + r * y_row, y + r * y_row);
}

// ---- Two operands ----

typedef struct binary_job {
    const ln_eltwise_f32_kernels *kernels;
    const ln_binary_f32_args *args;
    ln_broadcast walk; // its rows and the axis before them are what a kernel is handed
    size_t inner;      // how long that axis is
    blocks blocks;
} binary_job;

// The first element of a row of operand `k`, counted over all axes before it.
static size_t row_start(const ln_broadcast *walk, size_t row, int k)
{
    size_t at = 0;
    for (int i = 0; i < walk->ndim; i++) {
        at += row % walk->dims[i] * walk->strides[k][i];
        row /= walk->dims[i];
    }
    return at;
}

static void binary_block(void *user, size_t index)
{
    const binary_job *job = user;
    const ln_binary_f32_args *args = job->args;
    const ln_broadcast *walk = &job->walk;
    block b = block_at(&job->blocks, index);
    const float *x[] = {args->x1, args->x2};
    for (size_t row = b.row, end = b.row + b.rows; row < end;) {
        size_t rows = ln_min(end - row, job->inner - row % job->inner);
        ln_rows_f32 operands[2];
        for (int k = 0; k < 2; k++)
            operands[k] = (ln_rows_f32){
                .p = x[k] + row_start(walk, row, k) + b.at * walk->step[k],
                .row = walk->ndim > 0 ? walk->strides[k][0] : 0,
                .step = walk->step[k],
            };
        float *y = args->y + row * walk->count + b.at;
        job->kernels->binary(args->op, args->act.act == LN_ACT_RELU, rows, b.n, &operands[0],
                             &operands[1], y, walk->count);
        finish_rows(job->kernels, &args->act, rows, b.n, y, walk->count);
        row += rows;
    }
}

void ln_binary_f32(ln_cpu_isa isa, const ln_binary_f32_args *args, ln_pool *pool)
{
    assert(args->op < LN_BINARY_COUNT && args->act.act < LN_ACT_COUNT);
    binary_job job = {.kernels = ln_eltwise_f32_select(isa), .args = args};
    ln_broadcast_start(&job.walk, args->ndim, args->dims, args->x1_ndim, args->x1_dims,
                       args->x2_ndim, args->x2_dims);
    job.inner = job.walk.ndim > 0 ? job.walk.dims[0] : 1;
    job.blocks = cut_rows(job.walk.rows_left, job.walk.count);
    run_blocks(pool, job.walk.rows_left * job.walk.count, args->act.act, job.blocks.count,
               binary_block, &job);
}

// ---- Scale and offset ----

typedef struct scale_shift_job {
    const ln_eltwise_f32_kernels *kernels;
    const ln_scale_shift_f32_args *args;
    blocks blocks;
} scale_shift_job;

static void scale_shift_block(void *user, size_t index)
{
    const scale_shift_job *job = user;
    const ln_scale_shift_f32_args *args = job->args;
    block b = block_at(&job->blocks, index);
    size_t at = b.row * args->channels + b.at;
    job->kernels->scale_shift(
        args->act.act == LN_ACT_RELU, b.rows, b.n, args->x + b.row * args->x_row + b.at,
        args->x_row, args->mean ? args->mean + b.at : NULL, args->mean ? args->lost + b.at : NULL,
        args->scale + b.at, args->offset + b.at, args->y + at, args->channels);
    finish_rows(job->kernels, &args->act, b.rows, b.n, args->y + at, args->channels);
}

void ln_scale_shift_f32(ln_cpu_isa isa, const ln_scale_shift_f32_args *args, ln_pool *pool)
{
    assert(args->act.act < LN_ACT_COUNT);
    scale_shift_job job = {.kernels = ln_eltwise_f32_select(isa),
                           .args = args,
                           .blocks = cut_rows(args->rows, args->channels)};
    run_blocks(pool, args->rows * args->channels, args->act.act, job.blocks.count,
               scale_shift_block, &job);
}

typedef struct batchnorm_job {
    ln_affine_f32_fn *affine;
    const ln_batchnorm_f32_args *args;
} batchnorm_job;

static void batchnorm_plane(void *user, size_t index)
{
    const batchnorm_job *job = user;
    const ln_batchnorm_f32_args *args = job->args;
    size_t c = index % args->channels, at = index * args->inner;
    float factor = args->scale[c] / __builtin_sqrtf(args->var[c] + args->epsilon);
    job->affine(args->inner, args->x + at, args->mean[c], factor, args->offset[c], args->y + at);
}

void ln_batchnorm_f32(ln_cpu_isa isa, const ln_batchnorm_f32_args *args, ln_pool *pool)
{
    if (args->inner == 0)
        return;
    batchnorm_job job = {.affine = ln_eltwise_f32_select(isa)->affine, .args = args};
    size_t planes = args->batch * args->channels;
    run_blocks(pool, planes * args->inner, LN_ACT_NONE, planes, batchnorm_plane, &job);
}
