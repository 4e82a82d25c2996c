// SPDX-License-Identifier: Apache-2.0
// Padding: a row of the result is a row of the source between two runs of items.
//
// A row is along the last dimension with pads; its items are what the dimensions after it make. An
// item that is long is a row alone.

#include "arch/cpu/pad.h"

#include <stdbool.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/kernels/tasks.h"
#include "op/functions.h"
#include "op/onnx/shape_move.h"
#include "tensor/elem.h"

#define BYTES_PER_MICROSECOND 25000.0
#define ROW_BYTES             ((size_t)4096) // from here on an item is a row

typedef struct axis {
    int64_t begin, left, out; // what is put before, what is left of the source, and all
    size_t step;              // bytes of the source
} axis;

typedef struct job {
    const ln_cpu_pad_args *args;
    axis outer[TL_MAXDIM], row;
    int outer_ndim;
    size_t rows, tasks;
    size_t item_bytes, elem_bytes;
    bool is_value_uniform; // its bytes are equal
    const char *x;         // the first element that is left
    char *y;
} job;

// The index on an axis of `count` that index `i` of the padded one repeats; -1: none.
static int64_t find_source(ln_cpu_pad_mode mode, int64_t i, int64_t count)
{
    if (i >= 0 && i < count)
        return i;
    switch (mode) {
    case LN_CPU_PAD_EDGE: return i < 0 ? 0 : count - 1;
    case LN_CPU_PAD_WRAP: return (i % count + count) % count;
    case LN_CPU_PAD_REFLECT: {
        int64_t period = count > 1 ? 2 * (count - 1) : 1, at = (i % period + period) % period;
        return at < count ? at : period - at;
    }
    case LN_CPU_PAD_CONSTANT: break;
    }
    return -1;
}

static void fill(const job *j, char *to, size_t byte_count)
{
    if (byte_count == 0)
        return;
    if (j->is_value_uniform) {
        memset(to, *(const char *)&j->args->value, byte_count);
        return;
    }
    // What is there already is copied after itself, twice as much each time.
    memcpy(to, &j->args->value, j->elem_bytes);
    for (size_t done = j->elem_bytes; done < byte_count; done *= 2)
        memcpy(to + done, to, ln_min(byte_count - done, done));
}

// Items [first, end) of a row, which are all before or all after what is left of the source.
static void put_items(const job *j, const char *from, int64_t first, int64_t end, char *to)
{
    char *item = to + (size_t)first * j->item_bytes;
    if (j->args->mode == LN_CPU_PAD_CONSTANT) {
        fill(j, item, (size_t)(end - first) * j->item_bytes);
        return;
    }
    for (int64_t i = first; i < end; i++, item += j->item_bytes) {
        int64_t at = find_source(j->args->mode, i - j->row.begin, j->row.left);
        memcpy(item, from + (size_t)at * j->item_bytes, j->item_bytes);
    }
}

static void put_row(const job *j, const char *from, char *to)
{
    const axis *row = &j->row;
    if (!from) {
        fill(j, to, (size_t)row->out * j->item_bytes);
        return;
    }
    put_items(j, from, 0, row->begin, to);
    memcpy(to + (size_t)row->begin * j->item_bytes, from, (size_t)row->left * j->item_bytes);
    put_items(j, from, row->begin + row->left, row->out, to);
}

// The row of the source that is at `at`; NULL: none.
static const char *source_row(const job *j, const int64_t *at)
{
    const char *from = j->x;
    for (int d = 0; d < j->outer_ndim; d++) {
        const axis *a = &j->outer[d];
        int64_t source = find_source(j->args->mode, at[d] - a->begin, a->left);
        if (source < 0)
            return NULL;
        from += (size_t)source * a->step;
    }
    return j->row.left > 0 ? from : NULL;
}

static void run_task(void *user, size_t index)
{
    const job *j = user;
    size_t first = ln_task_start(j->rows, j->tasks, index), rest = first;
    size_t end = ln_task_start(j->rows, j->tasks, index + 1);
    size_t row_bytes = (size_t)j->row.out * j->item_bytes;
    int64_t at[TL_MAXDIM];
    for (int d = j->outer_ndim - 1; d >= 0; rest /= (size_t)j->outer[d].out, d--)
        at[d] = (int64_t)(rest % (size_t)j->outer[d].out);
    for (size_t row = first; row < end; row++) {
        put_row(j, source_row(j, at), j->y + row * row_bytes);
        for (int d = j->outer_ndim - 1; d >= 0 && ++at[d] == j->outer[d].out; d--)
            at[d] = 0;
    }
}

// Dimension `d`; skips what is taken away before it.
static axis read_axis(job *j, const tl_tensor *src, const tl_tensor *dst, int d, size_t step)
{
    int64_t begin = j->args->begins[d], end = (int64_t)dst->dims[d] - src->dims[d] - begin;
    const int64_t taken = begin < 0 ? -begin : 0;
    j->x += (size_t)taken * step;
    return (axis){.begin = begin + taken,
                  .left = src->dims[d] - taken + (end < 0 ? end : 0),
                  .out = dst->dims[d],
                  .step = step};
}

static void read_axes(job *j, const tl_tensor *src, const tl_tensor *dst)
{
    int last = src->ndim - 1;
    while (last > 0 && src->dims[last] == dst->dims[last] && j->args->begins[last] == 0)
        j->item_bytes *= (size_t)src->dims[last--];
    size_t step = j->item_bytes;
    for (int d = last; d >= 0; step *= (size_t)src->dims[d--])
        j->outer[d] = read_axis(j, src, dst, d, step);
    j->outer_ndim = last + 1;
    j->row = (axis){.left = 1, .out = 1};
    if (last >= 0 && j->item_bytes < ROW_BYTES)
        j->row = j->outer[--j->outer_ndim];
    for (int d = 0; d < j->outer_ndim; d++)
        j->rows *= (size_t)dst->dims[d];
}

static bool is_uniform(const void *bytes, size_t count)
{
    const char *at = bytes;
    return memcmp(at, at + 1, count - 1) == 0;
}

void ln_cpu_pad_tensor(const ln_cpu_pad_args *args, const tl_tensor *src, const tl_tensor *dst,
                       ln_pool *pool)
{
    size_t size = tl_size_of(src->dtype);
    job j = {.args = args,
             .rows = 1,
             .item_bytes = size,
             .elem_bytes = size,
             .is_value_uniform = is_uniform(&args->value, size),
             .x = src->data,
             .y = dst->data};
    if (dst->len == 0)
        return;
    read_axes(&j, src, dst);
    double microseconds = (double)dst->len * (double)size / BYTES_PER_MICROSECOND;
    j.tasks = ln_task_count(microseconds, j.rows, pool);
    ln_pool_run(pool, j.tasks, run_task, &j);
}

// ---- The operator ----

static uint64_t read_value(const ln_call *call, tl_dtype dtype)
{
    const tl_tensor *filler = ln_call_in(call, 2);
    double number = ln_call_float(call, "value");
    uint64_t value = 0;
    if (filler && filler->len == 1)
        memcpy(&value, filler->data, tl_size_of(dtype));
    else if (!filler)
        ln_data_set_real(&value, dtype, 0, number);
    return value;
}

static ln_cpu_pad_mode mode_of(const char *word)
{
    return word[0] == 'e'   ? LN_CPU_PAD_EDGE
           : word[0] == 'r' ? LN_CPU_PAD_REFLECT
           : word[0] == 'w' ? LN_CPU_PAD_WRAP
                            : LN_CPU_PAD_CONSTANT;
}

ln_status ln_cpu_pad(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_pad_plan plan;
    LN_TRY(ln_pad_find(call, &plan));
    ln_cpu_pad_args args = {.mode = mode_of(ln_call_string(call, "mode")),
                            .value = read_value(call, src->dtype)};
    memcpy(args.begins, plan.begins, sizeof args.begins);
    ln_cpu_pad_tensor(&args, src, ln_call_dst(call, 0), ln_cpu_call_pool(call));
    return LN_OK;
}
