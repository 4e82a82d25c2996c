// SPDX-License-Identifier: Apache-2.0
// Integers in another scale, rounded as gemmlowp does; other roundings are computed on ref.

#include "op/rescale.h"

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/rescale/rescale.h"
#include "arch/cpu/kernels/tasks.h"

// Elements that one thread rescales in a microsecond, about.
#define ELEMENTS_PER_MICROSECOND 1000.0

static bool find_type(tl_dtype dtype, ln_rescale_type *out_type)
{
    switch (dtype) {
    case TL_INT8: *out_type = LN_RESCALE_INT8; return true;
    case TL_UINT8: *out_type = LN_RESCALE_UINT8; return true;
    case TL_INT16: *out_type = LN_RESCALE_INT16; return true;
    case TL_INT32: *out_type = LN_RESCALE_INT32; return true;
    default: return false;
    }
}

// Zero points of int32 may take a number out of 32 bits.
ln_status ln_cpu_accepts_rescale(ln_call *call)
{
    ln_rescale r;
    ln_rescale_type type;
    LN_TRY(ln_rescale_read(call, &r));
    if (r.rounding != LN_ROUNDING_Q31 || !find_type(r.src->dtype, &type) ||
        !find_type(r.dtype, &type) || (r.src_zero && r.src->dtype == TL_INT32) ||
        (r.dst_zero && r.dtype == TL_INT32))
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for these types and roundings here");
    return LN_OK;
}

// ---- Spans ----

typedef struct work {
    const ln_rescale *r;
    ln_rescale_of of;
    ln_rescale_kernel *kernel;
    const char *x;
    char *y;
    size_t x_size, y_size; // of an element
    size_t len, inner, axis_len;
    size_t task_count;
} work;

typedef struct span_factors {
    int32_t multiplier[LN_RESCALE_SPAN], left[LN_RESCALE_SPAN], right[LN_RESCALE_SPAN];
} span_factors;

// Those of elements `first` to `first + count - 1`. What is past them is read, and never used.
static void set_factors(const work *w, span_factors *f, size_t first, size_t count)
{
    const int32_t *shifts = w->r->shift->data, *multipliers = w->r->multiplier->data;
    size_t at = first / w->inner % w->axis_len, rest = w->inner - first % w->inner;
    for (size_t i = 0; i < count; i++) {
        const int left = w->r->left + (shifts[at] > 0 ? shifts[at] : 0);
        f->multiplier[i] = multipliers[at];
        f->left[i] = left < 31 ? left : 31; // more saturates all but 0, too
        f->right[i] = shifts[at] < 0 ? -shifts[at] : 0;
        if (--rest == 0) {
            rest = w->inner;
            at = at + 1 < w->axis_len ? at + 1 : 0;
        }
    }
    for (size_t i = count; i < LN_RESCALE_SPAN; i++)
        f->multiplier[i] = f->left[i] = f->right[i] = 0;
}

// Elements that have the same factors span by span: whole turns of the axis, or any number of them
// where one is for all; 0 where there are none.
static size_t period_of(const work *w)
{
    if (w->axis_len == 1)
        return LN_RESCALE_SPAN;
    const bool is_short = w->inner <= LN_RESCALE_SPAN && w->axis_len <= LN_RESCALE_SPAN / w->inner;
    const size_t turn = is_short ? w->inner * w->axis_len : 0;
    return is_short ? LN_RESCALE_SPAN / turn * turn : 0;
}

static void rescale_task(void *user, size_t index)
{
    const work *w = user;
    span_factors f;
    const ln_rescale_factors factors = {f.multiplier, f.left, f.right, NULL};
    const size_t first = ln_task_start(w->len, w->task_count, index);
    const size_t end = ln_task_start(w->len, w->task_count, index + 1), period = period_of(w);
    size_t count;
    for (size_t i = first; i < end; i += count) {
        count = ln_min(period > 0 ? period : LN_RESCALE_SPAN, end - i);
        if (period == 0 || i == first)
            set_factors(w, &f, i, count);
        w->kernel(&w->of, &factors, count, w->x + i * w->x_size, w->y + i * w->y_size);
    }
}

// ---- The operator ----

static int32_t zero_of(const tl_tensor *t)
{
    if (!t)
        return 0;
    return t->dtype == TL_INT16   ? *(const int16_t *)t->data
           : t->dtype == TL_UINT8 ? *(const uint8_t *)t->data
                                  : *(const int8_t *)t->data;
}

static bool has_left(const ln_rescale *r)
{
    const int32_t *shifts = r->shift->data;
    for (int i = 0; i < r->shift->len; i++)
        if (shifts[i] > 0)
            return true;
    return r->left > 0;
}

static work work_of(const ln_rescale *r, const tl_tensor *dst)
{
    work w = {.r = r,
              .of = {.has_left = has_left(r),
                     .src_zero = zero_of(r->src_zero),
                     .dst_zero = zero_of(r->dst_zero),
                     .low = (int32_t)r->low,
                     .high = (int32_t)r->high},
              .kernel = ln_rescale_select(ln_cpu_isa_get()),
              .x = r->src->data,
              .y = dst->data,
              .x_size = tl_size_of(r->src->dtype),
              .y_size = tl_size_of(dst->dtype),
              .len = (size_t)dst->len,
              .inner = r->grid.is_single ? (size_t)dst->len : (size_t)r->grid.inner,
              .axis_len = r->grid.is_single ? 1 : (size_t)r->grid.axis_len};
    (void)find_type(r->src->dtype, &w.of.src);
    (void)find_type(dst->dtype, &w.of.dst);
    return w;
}

ln_status ln_cpu_rescale(ln_call *call)
{
    ln_rescale r;
    const tl_tensor *dst = ln_call_dst(call, 0);
    LN_TRY(ln_rescale_read(call, &r));
    LN_TRY(ln_rescale_check_shifts(call, &r));
    if (dst->len == 0)
        return LN_OK;
    work w = work_of(&r, dst);
    const double microseconds = (double)w.len / ELEMENTS_PER_MICROSECOND;
    ln_pool *pool = ln_tasks_pool(ln_cpu_call_pool(call), microseconds);
    w.task_count = ln_task_count(microseconds, w.len, pool);
    ln_pool_run(pool, w.task_count, rescale_task, &w);
    return LN_OK;
}
