// SPDX-License-Identifier: Apache-2.0
// The mean of each channel of quantized images, some channels at a time, whose numbers take four
// times the memory of their bytes: as the average pooling of dequantized images, bit by bit.

#include "op/quant.h"

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/pool/pool_nhwc.h"
#include "arch/cpu/kernels/quant/quant.h"
#include "arch/cpu/kernels/tasks.h"
#include "arch/cpu/nhwc.h"

#define BLOCK     ((size_t)64) // channels
#define MAX_TASKS ((size_t)8)  // each with the numbers of a block

#define ELEMENTS_PER_MICROSECOND 1000.0

typedef struct mean_job {
    size_t pixels, channels, blocks; // of an image
    size_t total, tasks;             // blocks of all images
    ln_quant_of of;
    const ln_quant_kernels *kernels;
    ln_pool_nhwc_f32_args pooling;
    const uint8_t *x;
    float *y, *numbers;
} mean_job;

static mean_job job_of(const tl_tensor *src)
{
    const size_t h = (size_t)src->dims[1], w = (size_t)src->dims[2];
    mean_job j = {.pixels = h * w, .channels = (size_t)src->dims[3]};
    j.blocks = ln_div_up(j.channels, BLOCK);
    j.total = (size_t)src->dims[0] * j.blocks;
    j.tasks = ln_min(j.total, MAX_TASKS);
    j.pooling = (ln_pool_nhwc_f32_args){
        .kind = LN_POOL_AVERAGE,
        .batch = 1,
        .out_h = 1,
        .out_w = 1,
        .rows = {.in = h, .kernel = h, .stride = 1, .dilation = 1},
        .columns = {.in = w, .kernel = w, .stride = 1, .dilation = 1},
    };
    return j;
}

static size_t task_floats(const mean_job *j)
{
    return j->pixels * ln_min(j->channels, BLOCK);
}

ln_status ln_cpu_infer_quant_mean_nhwc(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *scale = ln_call_in(call, 1),
                    *zero = ln_call_in(call, 2);
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    if (scale->len != 1 || (zero && zero->len != 1) || src->dims[1] == 0 || src->dims[2] == 0)
        return ln_call_fail(call, LN_INVALID, "takes pixels, and one scale and one zero point");
    const mean_job j = job_of(src);
    LN_TRY(ln_call_out(call, 0, TL_FLOAT, 4, (const int[]){src->dims[0], 1, 1, src->dims[3]}));
    return ln_cpu_call_infer_workspace(call, 1, j.tasks * task_floats(&j) * sizeof(float));
}

static void find_means(const mean_job *j, size_t index, float *numbers)
{
    const size_t image = index / j->blocks, first = index % j->blocks * BLOCK;
    const size_t count = ln_min(j->channels - first, BLOCK);
    const uint8_t *x = j->x + image * j->pixels * j->channels + first;
    for (size_t p = 0; p < j->pixels; p++)
        j->kernels->to_floats(&j->of, count, x + p * j->channels, numbers + p * count);
    ln_pool_nhwc_f32_args pooling = j->pooling;
    pooling.channels = pooling.x_stride = pooling.y_stride = count;
    pooling.x = numbers;
    pooling.y = j->y + image * j->channels + first;
    ln_pool_nhwc_f32(ln_cpu_isa_get(), &pooling, NULL);
}

static void run_task(void *user, size_t task)
{
    const mean_job *j = user;
    const size_t end = ln_task_start(j->total, j->tasks, task + 1);
    for (size_t i = ln_task_start(j->total, j->tasks, task); i < end; i++)
        find_means(j, i, j->numbers + task * task_floats(j));
}

ln_status ln_cpu_quant_mean_nhwc(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    mean_job j = job_of(src);
    j.of = (ln_quant_of){.scale = *(const float *)scale->data,
                         .zero = ln_quant_zero(ln_call_in(call, 2)),
                         .is_signed = src->dtype == TL_INT8};
    j.kernels = ln_quant_select(ln_cpu_isa_get());
    j.x = src->data;
    j.y = ln_call_dst(call, 0)->data;
    j.numbers = ln_cpu_call_workspace(call, 1, j.tasks * task_floats(&j) * sizeof(float));
    if (!j.numbers)
        return ln_error_status();
    ln_pool *pool =
        ln_tasks_pool(ln_cpu_call_pool(call), (double)src->len / ELEMENTS_PER_MICROSECOND);
    ln_pool_run(pool, j.tasks, run_task, &j);
    return LN_OK;
}
