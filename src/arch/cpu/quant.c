// SPDX-License-Identifier: Apache-2.0
// Quantized tensors element by element.

#include "op/quant.h"

#include <math.h>
#include <string.h>

#include "arch/cpu/broadcast_rows.h"
#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/quant/look_up.h"
#include "arch/cpu/kernels/quant/quant.h"
#include "arch/cpu/kernels/quant_words/quant_words.h"
#include "arch/cpu/kernels/tasks.h"
#include "op/elementwise.h"
#include "op/onnx/quant.h"
#include "op/prepare.h"
#include "op/types.h"
#include "tensor/elem.h"

// Elements that one thread converts in a microsecond, about.
#define ELEMENTS_PER_MICROSECOND 2000.0

static const ln_quant_kernels *kernels(void)
{
    return ln_quant_select(ln_cpu_isa_get());
}

static bool is_signed(const tl_tensor *t)
{
    return t && (t->dtype == TL_INT8 || t->dtype == TL_INT16);
}

// ---- Numbers to bytes or integers of 16 bits, and back ----

#define INTEGERS (LN_TYPES_BYTE | LN_TYPE(TL_INT16) | LN_TYPE(TL_UINT16))

static bool has_own_dtype(const ln_call *call, const char *param)
{
    return ln_call_string(call, param) || ln_call_int(call, param) != 0;
}

// Between integers and floats, without blocks. Output types are those of the zero point, or of the
// scale.
static ln_status accept(ln_call *call, tl_dtype integers, tl_dtype floats)
{
    if (!(INTEGERS >> integers & 1) || floats != TL_FLOAT ||
        ln_call_in_dtype(call, 1) != TL_FLOAT || ln_call_int(call, "block_size") != 0 ||
        has_own_dtype(call, "output_dtype"))
        return ln_call_fail(call, LN_UNSUPPORTED, "is not for these types here");
    return LN_OK;
}

ln_status ln_cpu_accepts_quantize(ln_call *call)
{
    tl_dtype zero = ln_call_in_dtype(call, 2);
    if (has_own_dtype(call, "precision"))
        return ln_call_fail(call, LN_UNSUPPORTED, "divides in TL_FLOAT here");
    return accept(call, zero == TL_DTYPE_INVALID ? TL_UINT8 : zero, ln_call_in_dtype(call, 0));
}

ln_status ln_cpu_accepts_dequantize(ln_call *call)
{
    return accept(call, ln_call_in_dtype(call, 0), TL_FLOAT);
}

// Elements in rows of `inner`, each of which has a scale.
typedef struct conversion {
    const tl_tensor *scale, *zero;
    const float *floats; // from or to which
    char *integers;
    tl_dtype dtype; // of these
    bool is_to_integers;
    size_t inner, axis_len;   // of a row; of the scales
    size_t row_count, pieces; // rows, and into how many pieces each is cut
} conversion;

static ln_quant_of quant_of(const conversion *c, size_t at)
{
    return (ln_quant_of){
        .scale = ((const float *)c->scale->data)[at],
        .zero = c->zero ? (int32_t)ln_elem_int(c->zero, at) : 0,
        .is_signed = c->dtype == TL_INT8 || c->dtype == TL_INT16,
    };
}

static void convert_elements(const conversion *c, const ln_quant_of *of, size_t n, char *integers,
                             float *floats)
{
    const ln_quant_words_kernels *words = ln_quant_words_select(ln_cpu_isa_get());
    const bool are_bytes = LN_TYPES_BYTE >> c->dtype & 1;
    if (c->is_to_integers)
        (are_bytes ? kernels()->to_bytes : words->to_words)(of, n, floats, integers);
    else
        (are_bytes ? kernels()->to_floats : words->to_floats)(of, n, integers, floats);
}

static void convert_piece(void *user, size_t index)
{
    const conversion *c = user;
    const size_t row = index / c->pieces, piece = index % c->pieces;
    const size_t first = row * c->inner + ln_task_start(c->inner, c->pieces, piece);
    const size_t end = row * c->inner + ln_task_start(c->inner, c->pieces, piece + 1);
    const ln_quant_of of = quant_of(c, c->axis_len > 1 ? row % c->axis_len : 0);
    convert_elements(c, &of, end - first, c->integers + first * tl_size_of(c->dtype),
                     (float *)(uintptr_t)c->floats + first);
}

static ln_status convert(ln_call *call, const tl_tensor *integers, const tl_tensor *floats,
                         bool is_to_integers)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_quant_grid grid;
    conversion c = {.scale = ln_call_in(call, 1),
                    .zero = ln_call_in(call, 2),
                    .floats = floats->data,
                    .integers = integers->data,
                    .dtype = integers->dtype,
                    .is_to_integers = is_to_integers};
    LN_TRY(ln_quant_grid_read(call, src, c.scale, c.zero, &grid));
    if (src->len == 0)
        return LN_OK;
    c.inner = grid.is_single ? (size_t)src->len : (size_t)grid.inner;
    c.axis_len = grid.is_single ? 1 : (size_t)grid.axis_len;
    c.row_count = (size_t)src->len / c.inner;
    ln_pool *pool =
        ln_tasks_pool(ln_cpu_call_pool(call), (double)src->len / ELEMENTS_PER_MICROSECOND);
    c.pieces = ln_task_count((double)c.inner / ELEMENTS_PER_MICROSECOND, c.inner, pool);
    ln_pool_run(pool, c.row_count * c.pieces, convert_piece, &c);
    return LN_OK;
}

ln_status ln_cpu_quantize(ln_call *call)
{
    return convert(call, ln_call_dst(call, 0), ln_call_in(call, 0), true);
}

ln_status ln_cpu_dequantize(ln_call *call)
{
    return convert(call, ln_call_in(call, 0), ln_call_dst(call, 0), false);
}

// ---- The range comes in the run ----

#define MAX_PIECES 64

typedef struct range {
    const ln_quant_kernels *kernels;
    const float *x;
    size_t n, pieces;
    float low[MAX_PIECES], high[MAX_PIECES];
} range;

static void find_range(void *user, size_t index)
{
    range *r = user;
    size_t first = ln_task_start(r->n, r->pieces, index);
    r->low[index] = r->high[index] = 0;
    r->kernels->range(ln_task_start(r->n, r->pieces, index + 1) - first, r->x + first,
                      &r->low[index], &r->high[index]);
}

ln_status ln_cpu_quantize_dynamic(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0), *scale = ln_call_dst(call, 1);
    tl_tensor *zero = ln_call_dst(call, 2);
    range r = {.kernels = kernels(), .x = src->data, .n = (size_t)src->len};
    ln_pool *pool =
        ln_tasks_pool(ln_cpu_call_pool(call), (double)src->len / ELEMENTS_PER_MICROSECOND);
    r.pieces = ln_task_count((double)r.n / ELEMENTS_PER_MICROSECOND, MAX_PIECES, pool);
    ln_pool_run(pool, r.pieces, find_range, &r);
    for (size_t i = 1; i < r.pieces; i++) {
        r.low[0] = fminf(r.low[0], r.low[i]);
        r.high[0] = fmaxf(r.high[0], r.high[i]);
    }
    ln_quant_of of = {.scale = (r.high[0] - r.low[0]) / 255};
    if (!(of.scale > 0))
        of.scale = 1; // nothing but zeros
    of.zero = (int32_t)rintf(fminf(fmaxf(0 - r.low[0] / of.scale, 0), 255));
    if (scale)
        *(float *)scale->data = of.scale;
    if (zero)
        *(uint8_t *)zero->data = (uint8_t)of.zero;
    if (!dst || dst->len == 0)
        return LN_OK;
    const float same[1] = {of.scale};
    const uint8_t same_zero[1] = {(uint8_t)of.zero};
    const tl_tensor scale_now = {.dtype = TL_FLOAT, .len = 1, .data = (void *)(uintptr_t)same};
    const tl_tensor zero_now = {.dtype = TL_UINT8, .len = 1, .data = (void *)(uintptr_t)same_zero};
    conversion c = {.scale = &scale_now,
                    .zero = &zero_now,
                    .floats = src->data,
                    .integers = dst->data,
                    .dtype = TL_UINT8,
                    .is_to_integers = true,
                    .inner = r.n,
                    .axis_len = 1,
                    .row_count = 1,
                    .pieces = r.pieces};
    ln_pool_run(pool, c.pieces, convert_piece, &c);
    return LN_OK;
}

// ---- Sums and products ----

typedef struct elew {
    ln_quant_op op;
    float low, high;
} elew;

static ln_status read_elew(ln_call *call, elew *e)
{
    int op;
    ln_activation activation;
    LN_TRY(ln_elew_op_read(call, &op));
    LN_TRY(ln_activation_read(call, &activation));
    bool is_clip = activation.act == LN_ACT_CLIP;
    e->op = op == TL_SUM ? LN_QUANT_SUM : op == TL_SUB ? LN_QUANT_DIFFERENCE : LN_QUANT_PRODUCT;
    e->low = activation.act == LN_ACT_RELU ? 0 : is_clip ? (float)activation.alpha : -INFINITY;
    e->high = is_clip ? (float)activation.beta : INFINITY;
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_quant_elew, elew, read_elew)

typedef struct joining {
    const ln_quant_kernels *kernels;
    ln_quant_pair pair;
    const uint8_t *src[2];
    uint8_t *dst;
    const ln_cpu_rows *rows;
} joining;

static void join_row(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const joining *j = self;
    ln_quant_pair pair = j->pair;
    pair.a_step = step[0];
    pair.b_step = step[1];
    j->kernels->join(&pair, n, j->src[0] + at[0], j->src[1] + at[1], j->dst + to);
}

// ---- Short rows ----
//
// A call takes longer than the few bytes of a row. So many rows are joined at once, and of an
// operand that is repeated over them the bytes are written out first.

#define BLOCK_BYTES     2048
#define BLOCKS_PER_TASK 8

// The bytes of an operand for rows [first, first + count), in `to` where they are not in memory.
static const uint8_t *rows_of_operand(const joining *j, int k, size_t first, size_t count,
                                      uint8_t to[BLOCK_BYTES])
{
    const size_t len = j->rows->dims[j->rows->ndim - 1];
    if (ln_cpu_rows_are_whole(j->rows, k))
        return j->src[k] + first * len;
    const bool is_repeated = j->rows->strides[k][j->rows->ndim - 1] == 0;
    for (size_t row = first; row < first + count; row++) {
        const uint8_t *from = j->src[k] + ln_cpu_rows_at(j->rows, k, row);
        uint8_t *into = to + (row - first) * len;
        if (is_repeated)
            memset(into, *from, len);
        else
            memcpy(into, from, len);
    }
    return to;
}

static void join_blocks(void *user, size_t index)
{
    const joining *j = user;
    uint8_t written[2][BLOCK_BYTES];
    const size_t len = j->rows->dims[j->rows->ndim - 1], rows = BLOCK_BYTES / len;
    const size_t end = ln_min(j->rows->count, (index + 1) * BLOCKS_PER_TASK * rows);
    for (size_t row = index * BLOCKS_PER_TASK * rows; row < end; row += rows) {
        const size_t count = ln_min(rows, end - row);
        const uint8_t *a = rows_of_operand(j, 0, row, count, written[0]);
        const uint8_t *b = rows_of_operand(j, 1, row, count, written[1]);
        j->kernels->join(&j->pair, count * len, a, b, j->dst + row * len);
    }
}

static void join_all(joining *j, const ln_cpu_rows *rows, ln_pool *pool)
{
    const size_t len = rows->dims[rows->ndim - 1];
    if (rows->count < 2 || len > BLOCK_BYTES / 2) {
        ln_cpu_rows_run(rows, pool, join_row, j);
        return;
    }
    j->rows = rows;
    j->pair.a_step = j->pair.b_step = 1;
    const size_t of_task = BLOCK_BYTES / len * BLOCKS_PER_TASK;
    const double microseconds = (double)(rows->count * len) / ELEMENTS_PER_MICROSECOND;
    ln_pool_run(ln_tasks_pool(pool, microseconds), ln_div_up(rows->count, of_task), join_blocks, j);
}

ln_status ln_cpu_quant_elew(ln_call *call)
{
    const elew *e = ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_map map;
    ln_quant_elew_read(call, &map);
    joining j = {.kernels = kernels(),
                 .pair = {.op = e->op,
                          .a = {map.scale[0], map.zero[0], is_signed(map.src[0])},
                          .b = {map.scale[1], map.zero[1], is_signed(map.src[1])},
                          .y = {map.dst_scale, map.dst_zero, is_signed(dst)},
                          .low = e->low,
                          .high = e->high},
                 .src = {map.src[0]->data, map.src[1]->data},
                 .dst = dst->data};
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, map.src, 2);
    join_all(&j, &rows, ln_cpu_call_pool(call));
    return LN_OK;
}

// ---- Functions, as tables ----

static ln_status read_act(ln_call *call, ln_act_f32_args *act)
{
    ln_activation activation;
    LN_TRY(ln_activation_read(call, &activation));
    *act = (ln_act_f32_args){activation.act, (float)activation.alpha, (float)activation.beta};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_quant_act, ln_act_f32_args, read_act)

typedef struct lookup {
    const uint8_t *src;
    uint8_t *dst, table[256];
    ln_look_up_i8_fn *kernel;
} lookup;

static void look_up(const void *self, size_t n, const size_t *at, const size_t *step, size_t to)
{
    const lookup *l = self;
    const uint8_t *from = l->src + at[0];
    uint8_t *into = l->dst + to;
    (void)step;
    l->kernel(l->table, n, from, into);
}

ln_status ln_cpu_quant_act(ln_call *call)
{
    const ln_act_f32_args *act = ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_map map;
    uint8_t all[256];
    float numbers[256];
    ln_quant_act_read(call, &map);
    const ln_quant_of from = {map.scale[0], map.zero[0], is_signed(map.src[0])};
    const ln_quant_of to = {map.dst_scale, map.dst_zero, is_signed(dst)};
    lookup l = {.src = map.src[0]->data,
                .dst = dst->data,
                .kernel = ln_look_up_i8_select(ln_cpu_isa_get())};
    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    kernels()->to_floats(&from, 256, all, numbers);
    if (act->act != LN_ACT_NONE)
        ln_act_f32(ln_cpu_isa_get(), act, 256, numbers, numbers, NULL);
    kernels()->to_bytes(&to, 256, numbers, l.table);
    ln_cpu_rows rows;
    ln_cpu_rows_init(&rows, dst, map.src, 1);
    ln_cpu_rows_run(&rows, ln_cpu_call_pool(call), look_up, &l);
    return LN_OK;
}
