// SPDX-License-Identifier: Apache-2.0
// Cumulative sums: each goes on in double from element to element of its line, and is rounded where
// it is stored. Adjacent lines are done together, some columns at a time.

#include "arch/cpu/functions.h"

#include <stdbool.h>

#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/reduce/cumsum.h"
#include "arch/cpu/kernels/tasks.h"
#include "base/minmax.h"
#include "op/onnx/reduce.h"
#include "op/prepare.h"
#include "tensor/elem.h"

#define ELEMS_PER_MICROSECOND 4096.0

typedef struct running {
    ln_cumsum_f32_fn *kernel;
    const float *x;
    float *y;
    ln_lines lines;
    size_t per_outer; // tasks: sets of columns
    bool is_exclusive, is_reverse;
} running;

static void run_columns(void *user, size_t index)
{
    const running *r = user;
    size_t inner = r->lines.inner, column = index % r->per_outer * LN_CUMSUM_COLUMNS;
    size_t first = index / r->per_outer * r->lines.count * inner + column;
    if (r->is_reverse)
        first += (r->lines.count - 1) * inner;
    r->kernel(&(ln_cumsum_columns){.count = r->lines.count,
                                   .width = ln_min(LN_CUMSUM_COLUMNS, inner - column),
                                   .step = r->is_reverse ? -(ptrdiff_t)inner : (ptrdiff_t)inner,
                                   .is_exclusive = r->is_exclusive,
                                   .x = r->x + first,
                                   .y = r->y + first});
}

ln_status ln_cpu_accepts_cumsum(ln_call *call)
{
    if (ln_call_in(call, 0)->dtype != TL_FLOAT)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    return LN_OK;
}

static ln_status prepare_cumsum(ln_call *call, running *r)
{
    *r = (running){.lines = {1, 1, 1},
                   .is_exclusive = ln_call_int(call, "exclusive") != 0,
                   .is_reverse = ln_call_int(call, "reverse") != 0};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_cumsum, running, prepare_cumsum)

ln_status ln_cpu_cumsum(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *axes = ln_call_in(call, 1);
    running r = *(const running *)ln_call_prepared(call);
    r.kernel = ln_cumsum_f32_select(ln_cpu_isa_get());
    r.x = src->data;
    r.y = ln_call_dst(call, 0)->data;
    if (src->ndim > 0) {
        int axis;
        LN_TRY(ln_call_check_axis(call, "axis", ln_elem_int(axes, 0), src->ndim, &axis));
        r.lines = ln_lines_along(src, axis);
    }
    if (src->len == 0)
        return LN_OK;
    r.per_outer = ln_div_up(r.lines.inner, LN_CUMSUM_COLUMNS);
    ln_pool *pool = ln_tasks_pool(ln_cpu_call_pool(call), src->len / ELEMS_PER_MICROSECOND);
    ln_pool_run(pool, r.lines.outer * r.per_outer, run_columns, &r);
    return LN_OK;
}
