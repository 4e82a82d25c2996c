// SPDX-License-Identifier: Apache-2.0
// Rows of padded images are dealt to threads.

#include "arch/cpu/nhwc_pad.h"

#include "arch/cpu/kernels/gemm/deal.h"

// Floats that are copied in about 20 microseconds.
#define PIECE_FLOATS ((size_t)128 << 10)

typedef struct job {
    const ln_pad_nhwc *pad;
    size_t rows, pieces;
} job;

static void run_piece(void *user, size_t index)
{
    const job *j = user;
    ln_pad_nhwc_rows(j->pad, ln_share_start(j->rows, j->pieces, index),
                     ln_share_start(j->rows, j->pieces, index + 1));
}

void ln_cpu_pad_nhwc(ln_pool *pool, const ln_pad_nhwc *pad)
{
    if (pad->dst->len == 0)
        return;
    job j = {.pad = pad, .rows = (size_t)pad->dst->dims[0] * (size_t)pad->dst->dims[1]};
    size_t pieces = (size_t)pad->dst->len / PIECE_FLOATS;
    j.pieces = ln_min(pieces ? pieces : 1, j.rows);
    ln_pool_run(pool, j.pieces, run_piece, &j);
}
