// SPDX-License-Identifier: Apache-2.0
// From matrix products to gemm.
//
// Where enough rows use it, the right side is packed at run time, transposed or not; the left side
// has to have rows of neighbouring elements and is copied if it has not. Of a stack of products
// each thread makes whole ones.
//
// For few rows packing costs more than it saves: the right side is read in place. A product whose
// right side is transposed is the transpose of one whose left side is; the side with fewer elements
// to copy is taken. The bits are the same in all cases.

#include "arch/cpu/functions.h"
#include "op/functions.h"

#include <stdint.h>

#include "arch/cpu/call.h"
#include "arch/cpu/elementwise.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/gemm/gemm.h"
#include "arch/cpu/kernels/gemm/packed.h"
#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/matmul_stack.h"
#include "base/checked.h"
#include "base/deadline.h"
#include "base/grain.h"
#include "op/onnx/matmul.h"
#include "op/prepare.h"

// From so many rows on the right side is packed. Measured.
#define PACK_FROM_ROWS 6

typedef struct product {
    ln_matrix_stack a, b;
    const float *a_data, *b_data;
    const float *bias; // for each column
    ln_act act;
    float *c;                        // [a.rows, b.columns]
    float *workspace;                // of gemm
    float *copy_a, *copy_b, *copy_c; // NULL: not needed
} product;

// ---- Sides in rows ----

static bool has_rows(const ln_matrix_stack *m)
{
    return m->column_step == 1 || m->columns <= 1;
}

static size_t stride_of(const ln_matrix_stack *m)
{
    return (size_t)(m->row_step > m->columns ? m->row_step : m->columns);
}

// Tiles of 8 x 8, so that lines of the cache are used up while they are there.
static const float *copy_rows(const ln_matrix_stack *m, const float *from, float *to)
{
    for (int64_t i0 = 0; i0 < m->rows; i0 += 8) {
        int64_t i_end = i0 + 8 < m->rows ? i0 + 8 : m->rows;
        for (int64_t j0 = 0; j0 < m->columns; j0 += 8) {
            int64_t j_end = j0 + 8 < m->columns ? j0 + 8 : m->columns;
            for (int64_t i = i0; i < i_end; i++)
                for (int64_t j = j0; j < j_end; j++)
                    to[i * m->columns + j] = from[i * m->row_step + j * m->column_step];
        }
    }
    return to;
}

static ln_matrix_stack transposed(const ln_matrix_stack *m)
{
    return (ln_matrix_stack){.rows = m->columns,
                             .columns = m->rows,
                             .row_step = m->column_step,
                             .column_step = m->row_step};
}

// Whether b * a, both transposed, is the cheaper way.
static bool is_better_transposed(const product *p)
{
    ln_matrix_stack a = transposed(&p->a);
    if (has_rows(&p->b))
        return false;
    int64_t copied = p->a.rows * p->b.columns + (has_rows(&a) ? 0 : p->a.rows * p->a.columns);
    return copied < p->b.rows * p->b.columns;
}

// ---- Products ----

static float *carve_copy(ln_cpu_carver *c, const ln_matrix_stack *m)
{
    return has_rows(m) ? NULL : ln_cpu_carve(c, (size_t)(m->rows * m->columns));
}

// Memory for products of this shape.
static void carve_product(ln_cpu_carver *c, product *p)
{
    p->workspace = ln_cpu_carve(c, ln_gemm_f32_workspace((size_t)p->a.columns) / sizeof(float));
    if (!is_better_transposed(p)) {
        p->copy_a = carve_copy(c, &p->a);
        p->copy_b = carve_copy(c, &p->b);
        return;
    }
    ln_matrix_stack a = transposed(&p->a);
    p->copy_a = carve_copy(c, &a);
    p->copy_c = p->a.rows == 1 ? NULL : ln_cpu_carve(c, (size_t)(p->a.rows * p->b.columns));
}

static void multiply_transposed(const product *p)
{
    ln_matrix_stack a = transposed(&p->b), b = transposed(&p->a);
    ln_matrix_stack turned = {
        .rows = p->a.rows, .columns = p->b.columns, .row_step = 1, .column_step = p->a.rows};
    ln_gemm_f32_args args = {.m = (size_t)a.rows,
                             .n = (size_t)b.columns,
                             .k = (size_t)a.columns,
                             .a = p->b_data,
                             .a_stride = stride_of(&a),
                             .b = p->copy_a ? copy_rows(&b, p->a_data, p->copy_a) : p->a_data,
                             .b_stride = p->copy_a ? (size_t)b.columns : stride_of(&b),
                             .c = p->copy_c ? p->copy_c : p->c,
                             .c_stride = (size_t)b.columns,
                             .row_bias = p->bias,
                             .act = p->act};
    ln_gemm_f32(ln_cpu_isa_get(), &args, p->workspace);
    if (p->copy_c)
        copy_rows(&turned, p->copy_c, p->c);
}

static void multiply(const product *p)
{
    if (is_better_transposed(p)) {
        multiply_transposed(p);
        return;
    }
    ln_gemm_f32_args args = {.m = (size_t)p->a.rows,
                             .n = (size_t)p->b.columns,
                             .k = (size_t)p->a.columns,
                             .a = p->copy_a ? copy_rows(&p->a, p->a_data, p->copy_a) : p->a_data,
                             .a_stride = p->copy_a ? (size_t)p->a.columns : stride_of(&p->a),
                             .b = p->copy_b ? copy_rows(&p->b, p->b_data, p->copy_b) : p->b_data,
                             .b_stride = p->copy_b ? (size_t)p->b.columns : stride_of(&p->b),
                             .c = p->c,
                             .c_stride = (size_t)p->b.columns,
                             .col_bias = p->bias,
                             .act = p->act};
    ln_gemm_f32(ln_cpu_isa_get(), &args, p->workspace);
}

ln_status ln_cpu_accepts_product(ln_call *call)
{
    if (ln_call_in(call, 0)->dtype == TL_FLOAT)
        return LN_OK;
    return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
}

// ---- Stacks of products with packed right sides ----

#define MAX_SLOTS 8

// A part of B that is packed at once is used up while it is in the cache of the second level.
#define PART_BYTES       (size_t)(256 << 10)
#define PART_COLUMNS     (size_t)32 // a multiple of these
#define PARTS_PER_THREAD 3

// Units of work are parts of columns of products. Each slot, which has memory of its own, makes a
// range of them.
typedef struct stack_job {
    ln_gemm_packed_f32_args args;     // of the first product
    const ln_matrix_stack *a, *b, *y; // y is NULL where products follow each other
    const float *b_data;
    int batch_ndim;
    const int *batch_dims;
    size_t count, part, parts; // products, columns of a part, parts of a product
    size_t slots;
    float *packed, *copies; // for each slot; `copies` is NULL where A has rows
    size_t packed_len, copy_len;
    ln_pool *pool; // of one slot
} stack_job;

// Where matrix number `index` of a stack starts.
static int64_t offset_of(const stack_job *job, const ln_matrix_stack *stack, size_t index)
{
    int64_t offset = 0;
    for (int d = job->batch_ndim - 1; d >= 0; d--) {
        size_t dim = (size_t)job->batch_dims[d];
        offset += stack->steps[d] * (int64_t)(index % dim);
        index /= dim;
    }
    return offset;
}

static void run_slot(void *user, size_t slot)
{
    const stack_job *job = user;
    ln_gemm_packed_f32_args args = job->args;
    float *packed = job->packed + slot * job->packed_len;
    float *copy = job->copies ? job->copies + slot * job->copy_len : NULL;
    size_t units = job->count * job->parts, copied = SIZE_MAX;
    size_t end = ln_task_start(units, job->slots, slot + 1);
    args.packed = packed;
    for (size_t unit = ln_task_start(units, job->slots, slot); unit < end && !ln_deadline_passed();
         unit++) {
        size_t index = unit / job->parts, column = unit % job->parts * job->part;
        const float *b = job->b_data + offset_of(job, job->b, index);
        args.n = ln_min(job->part, job->args.n - column);
        ln_gemm_pack_f32(ln_cpu_isa_get(), args.k, args.n,
                         b + (int64_t)column * job->b->column_step, (size_t)job->b->row_step,
                         (size_t)job->b->column_step, packed, job->pool);
        args.a = job->args.a + offset_of(job, job->a, index);
        if (copy && copied != index)
            copy_rows(job->a, args.a, copy);
        copied = index;
        if (copy)
            args.a = copy;
        args.y = job->args.y + column +
                 (job->y ? (size_t)offset_of(job, job->y, index) : index * args.m * args.y_stride);
        if (args.epilogue.bias)
            args.epilogue.bias = job->args.epilogue.bias + column;
        if (args.epilogue.addend) // of the only product
            args.epilogue.addend = job->args.epilogue.addend + column;
        ln_gemm_packed_f32(ln_cpu_isa_get(), &args, job->pool);
    }
}

// With fewer units than threads, threads share each of them. A copy of A is made for a whole
// product, whose parts are no units then: or each slot would make one.
static void plan_stack(stack_job *job, size_t threads)
{
    size_t n = job->args.n, wanted = ln_div_up(threads * PARTS_PER_THREAD, job->count);
    size_t most = ln_grain(PART_BYTES) / sizeof(float) / (job->args.k ? job->args.k : 1);
    job->part = threads > 1 ? ln_min(most, ln_div_up(n, wanted)) : most;
    job->part = ln_div_up(job->part ? job->part : 1, PART_COLUMNS) * PART_COLUMNS;
    job->parts = ln_div_up(n, job->part);
    size_t units = has_rows(job->a) ? job->count * job->parts : job->count;
    job->slots = units < threads ? 1 : ln_min(units, threads);
}

static size_t slot_threads(size_t threads)
{
    return ln_min(threads, MAX_SLOTS);
}

static stack_job stack_of(const ln_matmul_call *matmul, const product *p)
{
    stack_job job = {.a = &matmul->a,
                     .b = &matmul->b,
                     .b_data = p->b_data,
                     .batch_ndim = matmul->batch_ndim,
                     .batch_dims = matmul->batch_dims,
                     .count = 1};
    for (int d = 0; d < matmul->batch_ndim; d++)
        job.count *= (size_t)matmul->batch_dims[d];
    job.args = (ln_gemm_packed_f32_args){.m = (size_t)p->a.rows,
                                         .n = (size_t)p->b.columns,
                                         .k = (size_t)p->a.columns,
                                         .a = p->a_data,
                                         .a_stride = stride_of(&p->a),
                                         .y = p->c,
                                         .y_stride = (size_t)p->b.columns};
    return job;
}

static void carve_stack(ln_cpu_carver *c, stack_job *job)
{
    size_t packed, copies;
    job->packed_len = ln_gemm_packed_len(job->args.k, job->part);
    job->copy_len = has_rows(job->a) ? 0 : job->args.m * job->args.k;
    if (!ln_size_mul(job->packed_len, job->slots, &packed) ||
        !ln_size_mul(job->copy_len, job->slots, &copies)) {
        c->taken = SIZE_MAX;
        return;
    }
    job->packed = ln_cpu_carve(c, packed);
    job->copies = job->copy_len ? ln_cpu_carve(c, copies) : NULL;
}

static void multiply_stack(const ln_matmul_call *matmul, const product *p, const ln_matrix_stack *y,
                           const ln_epilogue_f32 *epilogue, ln_pool *pool, float *workspace)
{
    ln_cpu_carver c = {.block = workspace};
    stack_job job = stack_of(matmul, p);
    job.y = y;
    if (y)
        job.args.y_stride = (size_t)y->row_step;
    job.args.epilogue = *epilogue;
    plan_stack(&job, slot_threads(ln_pool_thread_count(pool)));
    carve_stack(&c, &job);
    job.pool = job.slots > 1 ? NULL : pool;
    if (job.copies)
        job.args.a_stride = job.args.k;
    ln_pool_run(job.slots > 1 ? pool : NULL, job.slots, run_slot, &job);
}

// ---- Planning ----

static bool is_empty(const ln_matmul_call *matmul)
{
    for (int d = 0; d < matmul->batch_ndim; d++)
        if (matmul->batch_dims[d] == 0)
            return true;
    return matmul->a.rows == 0 || matmul->b.columns == 0;
}

// The same for every number of threads.
static size_t workspace_bytes(const ln_matmul_call *matmul, bool is_packed)
{
    product p = {.a = matmul->a, .b = matmul->b};
    ln_cpu_carver c = {0};
    size_t most = 0;
    if (is_empty(matmul))
        return 0;
    if (!is_packed) {
        carve_product(&c, &p);
        return ln_cpu_carved_bytes(&c);
    }
    stack_job job = stack_of(matmul, &p);
    for (size_t threads = 1; threads <= MAX_SLOTS; threads++) {
        plan_stack(&job, threads);
        c.taken = 0;
        carve_stack(&c, &job);
        most = ln_cpu_carved_bytes(&c) > most ? ln_cpu_carved_bytes(&c) : most;
    }
    return most;
}

// ---- Stacks ----

// A stack of matrices that are one after the other, times one matrix, is one tall matrix.
static void join_batch(ln_matmul_call *matmul)
{
    int64_t rows = matmul->a.rows;
    for (int d = matmul->batch_ndim - 1; d >= 0; d--) {
        bool is_next =
            matmul->a.steps[d] == rows * matmul->a.row_step || matmul->batch_dims[d] == 1;
        if (!is_next || (matmul->b.steps[d] != 0 && matmul->batch_dims[d] != 1) ||
            matmul->a.row_step == 0)
            return;
        rows *= matmul->batch_dims[d];
    }
    matmul->a.rows = rows;
    matmul->batch_ndim = 0;
}

static ln_status read_matmul(ln_call *call, ln_matmul_call *out_matmul)
{
    LN_TRY(ln_matmul_call_read(call, out_matmul));
    if (!is_empty(out_matmul))
        join_batch(out_matmul);
    return LN_OK;
}

ln_status ln_cpu_infer_matmul(ln_call *call)
{
    ln_matmul_call matmul;
    LN_TRY(ln_infer_matmul(call));
    LN_TRY(read_matmul(call, &matmul));
    return ln_cpu_call_infer_workspace(call, 1,
                                       workspace_bytes(&matmul, matmul.a.rows >= PACK_FROM_ROWS));
}

// A factor that is a float, as most are, is exact in a product of floats.
static ln_status scale(ln_call *call, tl_tensor *dst, double alpha)
{
    float factor = (float)alpha, *y = dst->data;
    tl_tensor one = {.data = &factor, .dtype = TL_FLOAT, .ndim = 1, .dims = (int[]){1}, .len = 1};
    if (alpha != 1 && (double)factor == alpha)
        return ln_cpu_elew(ln_cpu_call_pool(call), dst, &one, dst, TL_MUL, LN_ACT_NONE, 0, 0);
    for (int i = 0; alpha != 1 && i < dst->len; i++)
        y[i] = (float)(alpha * (double)y[i]);
    return LN_OK;
}

typedef struct prepared_matmul {
    ln_matmul_call shape;
    double alpha;
} prepared_matmul;

static ln_status prepare_matmul(ln_call *call, prepared_matmul *kept)
{
    kept->alpha = ln_call_float(call, "alpha");
    return read_matmul(call, &kept->shape);
}

LN_PREPARE(ln_cpu_prepare_matmul, prepared_matmul, prepare_matmul)

ln_status ln_cpu_matmul(ln_call *call)
{
    const prepared_matmul *kept = ln_call_prepared(call);
    const ln_matmul_call matmul = kept->shape;
    tl_tensor *dst = ln_call_dst(call, 0);
    if (dst->len == 0)
        return LN_OK;
    bool is_packed = matmul.a.rows >= PACK_FROM_ROWS;
    float *workspace = ln_cpu_call_workspace(call, 1, workspace_bytes(&matmul, is_packed));
    if (!workspace)
        return ln_error_status();
    product p = {.a = matmul.a,
                 .b = matmul.b,
                 .a_data = ln_call_in(call, 0)->data,
                 .b_data = ln_call_in(call, 1)->data,
                 .c = dst->data};
    if (is_packed) {
        multiply_stack(&matmul, &p, NULL, &(ln_epilogue_f32){.act = LN_ACT_NONE},
                       ln_cpu_call_pool(call), workspace);
        return scale(call, dst, kept->alpha);
    }
    carve_product(&(ln_cpu_carver){.block = workspace}, &p);

    int64_t at[TL_MAXDIM] = {0};
    int d;
    do {
        multiply(&p);
        p.c += p.a.rows * p.b.columns;
        for (d = matmul.batch_ndim - 1; d >= 0; d--) {
            p.a_data += matmul.a.steps[d];
            p.b_data += matmul.b.steps[d];
            if (++at[d] < matmul.batch_dims[d])
                break;
            p.a_data -= matmul.a.steps[d] * at[d];
            p.b_data -= matmul.b.steps[d] * at[d];
            at[d] = 0;
        }
    } while (d >= 0);
    return scale(call, dst, kept->alpha);
}

// ---- Stacks that others find ----

size_t ln_cpu_stack_workspace(const ln_cpu_stack *stack)
{
    return workspace_bytes(&stack->matmul, true);
}

void ln_cpu_stack_multiply(const ln_cpu_stack *stack, const float *a, const float *b, float *y,
                           ln_pool *pool, float *workspace)
{
    const ln_matmul_call *m = &stack->matmul;
    const product p = {.a = m->a, .b = m->b, .a_data = a, .b_data = b, .c = y};
    multiply_stack(m, &p, &stack->y, &(ln_epilogue_f32){.act = LN_ACT_NONE}, pool, workspace);
}

// ---- Rows and a matrix ----

static ln_matmul_call matmul_of(const ln_linear_call *linear)
{
    return (ln_matmul_call){.a = linear->a, .b = linear->b};
}

// Products in place have no other epilogue than a bias and relu.
static bool is_packed(const ln_linear_call *linear)
{
    ln_act act = linear->activation.act;
    return linear->a.rows >= PACK_FROM_ROWS || linear->addend ||
           (act != LN_ACT_NONE && act != LN_ACT_RELU);
}

ln_status ln_cpu_infer_linear(ln_call *call)
{
    ln_linear_call linear;
    LN_TRY(ln_infer_linear(call));
    LN_TRY(ln_linear_call_read(call, &linear));
    const ln_matmul_call one = matmul_of(&linear);
    return ln_cpu_call_infer_workspace(call, 1, workspace_bytes(&one, is_packed(&linear)));
}

LN_PREPARE(ln_cpu_prepare_linear, ln_linear_call, ln_linear_call_read)

ln_status ln_cpu_linear(ln_call *call)
{
    ln_linear_call linear = *(const ln_linear_call *)ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    linear.bias = ln_call_in(call, 2);
    linear.addend = ln_call_in(call, 3);
    if (dst->len == 0)
        return LN_OK;
    const ln_matmul_call one = matmul_of(&linear);
    float *workspace = ln_cpu_call_workspace(call, 1, workspace_bytes(&one, is_packed(&linear)));
    if (!workspace)
        return ln_error_status();

    const ln_activation *activation = &linear.activation;
    const float *bias = linear.bias ? linear.bias->data : NULL;
    product p = {.a = linear.a,
                 .b = linear.b,
                 .a_data = ln_call_in(call, 0)->data,
                 .b_data = ln_call_in(call, 1)->data,
                 .bias = bias,
                 .act = activation->act,
                 .c = dst->data};
    if (is_packed(&linear)) {
        const ln_epilogue_f32 epilogue = {.bias = bias,
                                          .addend = linear.addend ? linear.addend->data : NULL,
                                          .addend_stride = (size_t)linear.b.columns,
                                          .is_addend_last = linear.is_addend_last,
                                          .act = activation->act,
                                          .alpha = (float)activation->alpha,
                                          .beta = (float)activation->beta};
        multiply_stack(&one, &p, NULL, &epilogue, ln_cpu_call_pool(call), workspace);
        return LN_OK;
    }
    carve_product(&(ln_cpu_carver){.block = workspace}, &p);
    multiply(&p);
    return LN_OK;
}
