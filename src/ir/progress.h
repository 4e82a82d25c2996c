// SPDX-License-Identifier: Apache-2.0
// How far a run is, for other threads that ask meanwhile: work units of the steps that are done,
// and of all. NULL: it is not counted.

#ifndef LN_IR_PROGRESS_H
#define LN_IR_PROGRESS_H

#include <stdatomic.h>

struct ln_progress {
    _Atomic double done, total;
};

static inline void ln_progress_begin(struct ln_progress *progress, double total)
{
    if (!progress)
        return;
    atomic_store(&progress->done, 0);
    atomic_store(&progress->total, total);
}

static inline void ln_progress_set(struct ln_progress *progress, double done)
{
    if (progress)
        atomic_store(&progress->done, done);
}

static inline void ln_progress_end(struct ln_progress *progress)
{
    if (progress)
        atomic_store(&progress->done, atomic_load(&progress->total));
}

static inline void ln_progress_read(struct ln_progress *progress, double *out_done,
                                    double *out_total)
{
    if (out_done)
        *out_done = progress ? atomic_load(&progress->done) : 0;
    if (out_total)
        *out_total = progress ? atomic_load(&progress->total) : 0;
}

#endif
