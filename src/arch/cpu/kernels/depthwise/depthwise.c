// SPDX-License-Identifier: Apache-2.0
// Drives depthwise convolution: packs weights, and cuts the output into rows for the threads.

#include "arch/cpu/kernels/depthwise/depthwise.h"

#include "arch/cpu/kernels/select.h"

typedef struct kernel_row {
    ln_cpu_isa isa;
    ln_depthwise_f32_fn *kernel;
} kernel_row;

static const kernel_row kernels[] = {
#define K(isa, type, kernel) {LN_CPU_ISA_##isa, kernel},
#include "arch/cpu/kernels/depthwise/depthwise.inc"
#undef K
};

void ln_depthwise_nhwc_f32_pack(const ln_conv_shape *s, const float *weight, float *packed)
{
    size_t taps = s->kernel_h * s->kernel_w;
    for (size_t o = 0; o < s->out_channels; o++)
        for (size_t tap = 0; tap < taps; tap++)
            packed[tap * s->out_channels + o] = *weight++;
}

// Multiplications that take about 20 microseconds; less than twice that stays in one thread.
#define PIECE_PRODUCTS ((double)(1 << 20))
#define PIECES_MAX     64

typedef struct job {
    const ln_conv_nhwc_f32_args *args;
    ln_depthwise_f32_fn *kernel;
    size_t pieces;
} job;

static void run_piece(void *user, size_t index)
{
    const job *j = user;
    size_t rows = j->args->shape.batch * j->args->shape.out_h;
    j->kernel(j->args, index * rows / j->pieces, (index + 1) * rows / j->pieces);
}

void ln_depthwise_nhwc_f32(ln_cpu_isa isa, const ln_conv_nhwc_f32_args *args, ln_pool *pool)
{
    const ln_conv_shape *s = &args->shape;
    size_t rows = s->batch * s->out_h;
    if (rows == 0 || s->out_w == 0 || s->out_channels == 0)
        return;
    double products = (double)(rows * s->out_w * s->out_channels) *
                      (double)(s->kernel_h * s->kernel_w) / PIECE_PRODUCTS;
    size_t pieces = products < 2 ? 1 : products < PIECES_MAX ? (size_t)products : PIECES_MAX;
    job j = {.args = args,
             .kernel = LN_SELECT_KERNEL(kernels, isa)->kernel,
             .pieces = pieces < rows ? pieces : rows};
    ln_pool_run(pool, j.pieces, run_piece, &j);
}
