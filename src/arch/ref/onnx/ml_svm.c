// SPDX-License-Identifier: Apache-2.0
// Decision functions of support vector machines, in double.

#include "op/onnx/ml_svm.h"
#include "arch/ref/functions.h"
#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "op/prepare.h"
#include "tensor/elem.h"

// Support vectors whose kernels are computed at once, each of them as if it were alone.
enum { LANES = 8 };

// What `prepare` makes of the parameters.
typedef struct model {
    ln_svm_model svm;
    const double *blocks; // vectors by LANES: | column 0 of each | column 1 of each | ...
} model;

// Rows whose kernels are computed together, so that a block of vectors is read once for them.
enum { BLOCK_ROWS = 16 };

typedef struct machine {
    ln_call *call;
    const model *model; // NULL while memory is counted
    size_t rows, columns;
    double *values;  // BLOCK_ROWS rows of the input
    double *kernels; // of these rows, each with all vectors and those that fill the last block
    size_t kernel_stride;
    double *functions; // of one row
} machine;

// ---- What is made once ----

// Vectors that fill the last block are zeros.
static ln_status keep_blocks(ln_call *call, model *m)
{
    const ln_svm_model *svm = &m->svm;
    if (svm->vector_count == 0)
        return LN_OK;
    size_t columns = svm->value_count / svm->vector_count;
    size_t block_count = svm->vector_count / LANES + 2; // one row goes through two at once
    double *blocks = ln_call_keep(call, block_count * LANES * columns + 1, sizeof *blocks);
    if (!blocks)
        return ln_error_status();
    for (size_t v = 0; v < svm->vector_count; v++) {
        double *lane = blocks + v / LANES * LANES * columns + v % LANES;
        for (size_t c = 0; c < columns; c++)
            lane[c * LANES] = svm->vectors[v * columns + c];
    }
    m->blocks = blocks;
    return LN_OK;
}

static ln_status prepare_ml_svm_regressor(ln_call *call, model *m)
{
    LN_TRY(ln_svm_read_regressor(call, &m->svm));
    return keep_blocks(call, m);
}

LN_PREPARE(ln_ref_prepare_ml_svm_regressor, model, prepare_ml_svm_regressor)

static ln_status prepare_ml_svm_classifier(ln_call *call, model *m)
{
    LN_TRY(ln_svm_read_classifier(call, &m->svm));
    return keep_blocks(call, m);
}

LN_PREPARE(ln_ref_prepare_ml_svm_classifier, model, prepare_ml_svm_classifier)

// ---- Kernels ----

// `sizes` are those of the model.
static ln_status open_machine(ln_call *call, const ln_svm_model *sizes, machine *s)
{
    int rows, columns;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    *s = (machine){.call = call, .rows = (size_t)rows, .columns = (size_t)columns};
    s->kernel_stride = sizes->vector_count + 2 * LANES;
    s->values = ln_call_scratch(call, BLOCK_ROWS * s->columns + 1, sizeof *s->values);
    s->kernels = ln_call_scratch(call, BLOCK_ROWS * s->kernel_stride, sizeof *s->kernels);
    s->functions = ln_call_scratch(call, ln_svm_function_count(sizes), sizeof *s->functions);
    if (!s->values || !s->kernels || !s->functions)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    s->model = ln_call_prepared(call);
    return ln_svm_check_columns(call, &s->model->svm, s->columns);
}

// Products of two rows, each with the vectors of its block, added up in the order of the columns: a
// sum waits for its last addition, and so sixteen go at once.
static void multiply_blocks(const double *const rows[2], const double *const blocks[2],
                            size_t columns, double *const sums[2])
{
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    double p = 0, q = 0, r = 0, s = 0, t = 0, u = 0, v = 0, w = 0;
    const double *first = rows[0], *second = rows[1], *one = blocks[0], *two = blocks[1];
    for (size_t i = 0; i < columns; i++, one += LANES, two += LANES) {
        double x = first[i], y = second[i];
        a += x * one[0], b += x * one[1], c += x * one[2], d += x * one[3];
        e += x * one[4], f += x * one[5], g += x * one[6], h += x * one[7];
        p += y * two[0], q += y * two[1], r += y * two[2], s += y * two[3];
        t += y * two[4], u += y * two[5], v += y * two[6], w += y * two[7];
    }
    double *to = sums[0];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d, to[4] = e, to[5] = f, to[6] = g, to[7] = h;
    to = sums[1];
    to[0] = p, to[1] = q, to[2] = r, to[3] = s, to[4] = t, to[5] = u, to[6] = v, to[7] = w;
}

static inline double square(double x)
{
    return x * x;
}

// Squares of the distances of a row from each vector of a block.
static void measure_block(const double *row, const double *block, size_t columns, double *sums)
{
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (size_t i = 0; i < columns; i++, block += LANES) {
        double x = row[i];
        a += square(x - block[0]), b += square(x - block[1]);
        c += square(x - block[2]), d += square(x - block[3]);
        e += square(x - block[4]), f += square(x - block[5]);
        g += square(x - block[6]), h += square(x - block[7]);
    }
    sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
    sums[4] = e, sums[5] = f, sums[6] = g, sums[7] = h;
}

// The kernels of two rows, each with the vectors of its block.
static void compute_blocks(const model *m, const double *const rows[2],
                           const double *const blocks[2], size_t columns, double *const sums[2])
{
    if (m->svm.kind == LN_SVM_RBF) {
        measure_block(rows[0], blocks[0], columns, sums[0]);
        measure_block(rows[1], blocks[1], columns, sums[1]);
    } else {
        multiply_blocks(rows, blocks, columns, sums);
    }
    for (size_t r = 0; r < 2 && m->svm.kind != LN_SVM_LINEAR; r++)
        for (size_t k = 0; k < LANES; k++)
            sums[r][k] = ln_svm_finish_kernel(&m->svm, sums[r][k]);
}

// One row goes through two blocks at once, the last of which may be there for that alone.
static void compute_row(const machine *s)
{
    const model *m = s->model;
    const double *rows[] = {s->values, s->values};
    for (size_t v = 0; v < m->svm.vector_count && !ln_deadline_passed(); v += 2 * LANES) {
        const double *blocks[] = {m->blocks + v * s->columns, m->blocks + (v + LANES) * s->columns};
        double *sums[] = {s->kernels + v, s->kernels + v + LANES};
        compute_blocks(m, rows, blocks, s->columns, sums);
    }
}

// Of two or more rows two go through a block at once; the last one may go twice.
static void compute_rows(const machine *s, size_t count)
{
    const model *m = s->model;
    for (size_t v = 0; v < m->svm.vector_count && !ln_deadline_passed(); v += LANES) {
        const double *block = m->blocks + v * s->columns, *blocks[] = {block, block};
        for (size_t r = 0; r < count; r += 2) {
            size_t other = r + 1 < count ? r + 1 : r - 1;
            const double *rows[] = {s->values + r * s->columns, s->values + other * s->columns};
            double *sums[] = {s->kernels + r * s->kernel_stride + v,
                              s->kernels + other * s->kernel_stride + v};
            compute_blocks(m, rows, blocks, s->columns, sums);
        }
    }
}

// Loads `count` rows from `first` on and computes their kernels.
static void load_rows(machine *s, size_t first, size_t count)
{
    const tl_tensor *src = ln_call_in(s->call, 0);
    for (size_t i = 0; i < count * s->columns; i++)
        s->values[i] = ln_elem_real(src, first * s->columns + i);
    if (count == 1)
        compute_row(s);
    else
        compute_rows(s, count);
}

// ---- Decision functions ----

// `sum` and the products of `count` pairs of numbers.
static double add_products(double sum, const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void compare_classes(const machine *s, const double *kernels)
{
    const ln_svm_model *m = &s->model->svm;
    const size_t *starts = m->class_starts;
    size_t pair = 0;
    for (size_t i = 0; i + 1 < m->class_count; i++) {
        for (size_t j = i + 1; j < m->class_count; j++, pair++) {
            const double *against_j = m->coefficients + (j - 1) * m->vector_count;
            const double *against_i = m->coefficients + i * m->vector_count;
            double sum = add_products(m->rho[pair], against_j + starts[i], kernels + starts[i],
                                      starts[i + 1] - starts[i]);
            s->functions[pair] = add_products(sum, against_i + starts[j], kernels + starts[j],
                                              starts[j + 1] - starts[j]);
        }
    }
}

// Those of row `r` of the present ones.
static void compute_functions(const machine *s, size_t r)
{
    const ln_svm_model *m = &s->model->svm;
    const double *kernels = s->kernels + r * s->kernel_stride, *row = s->values + r * s->columns;
    if (m->vector_count > 0 && m->class_count > 0) {
        compare_classes(s, kernels);
        return;
    }
    size_t count = m->vector_count ? m->vector_count : s->columns;
    for (size_t f = 0; f < ln_svm_function_count(m); f++)
        s->functions[f] = add_products(m->rho[0], m->coefficients + f * count,
                                       m->vector_count ? kernels : row, count);
}

ln_status ln_ref_ml_svm_regressor(ln_call *call)
{
    machine s;
    ln_svm_model sizes;
    LN_TRY(ln_svm_count_regressor(call, &sizes));
    LN_TRY(open_machine(call, &sizes, &s));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t first = 0; first < s.rows && !ln_deadline_passed(); first += BLOCK_ROWS) {
        size_t count = s.rows - first < BLOCK_ROWS ? s.rows - first : BLOCK_ROWS;
        load_rows(&s, first, count);
        for (size_t r = 0; r < count; r++) {
            compute_functions(&s, r);
            ln_elem_set_real(ln_call_dst(call, 0), first + r,
                             ln_svm_regress(&s.model->svm, s.functions[0]));
        }
    }
    return LN_OK;
}

ln_status ln_ref_ml_svm_classifier(ln_call *call)
{
    machine s;
    ln_svm_classifier c;
    ln_svm_model sizes;
    LN_TRY(ln_svm_count_classifier(call, &sizes));
    LN_TRY(open_machine(call, &sizes, &s));
    LN_TRY(ln_svm_open_classifier(call, s.model ? &s.model->svm : &sizes, &c));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t first = 0; first < s.rows && !ln_deadline_passed(); first += BLOCK_ROWS) {
        size_t count = s.rows - first < BLOCK_ROWS ? s.rows - first : BLOCK_ROWS;
        load_rows(&s, first, count);
        for (size_t r = 0; r < count; r++) {
            compute_functions(&s, r);
            LN_TRY(ln_svm_classify(&c, first + r, s.functions));
        }
    }
    return LN_OK;
}
