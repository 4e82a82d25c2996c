// SPDX-License-Identifier: Apache-2.0
// Support vector machines. The classifier decides between each two classes and counts votes; its
// probabilities are coupled from those of the pairs (Wu, Lin and Weng 2004, second method).

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/ml_scores.h"
#include "arch/ref/onnx/param_array.h"
#include "base/deadline.h"
#include "op/onnx/ml.h"
#include "tensor/elem.h"

typedef enum kernel_kind { KERNEL_LINEAR, KERNEL_POLY, KERNEL_RBF, KERNEL_SIGMOID } kernel_kind;

typedef struct kernel {
    kernel_kind kind;
    double gamma, coef0, degree;
} kernel;

// Support vectors whose kernels are computed at once, each of them as if it were alone.
enum { LANES = 8 };

// What `prepare` makes of the parameters.
typedef struct model {
    kernel kernel;
    ln_ml_transform transform;
    size_t vector_count;   // 0: linear functions
    size_t value_count;    // of all vectors
    const double *vectors; // by blocks of LANES: | column 0 of each | column 1 of each | ...
    const double *coefficients;
    size_t coefficient_count;
    const double *rho;
    size_t rho_count;
    bool is_one_class; // of a regressor
    // Of a classifier:
    size_t class_count, pair_count;
    const size_t *class_starts; // among the vectors; and the end of the last one's
    const double *prob_a, *prob_b;
    size_t prob_count;
    bool are_all_positive; // coefficients
    ln_ml_classes classes;
} model;

// Rows whose kernels are computed together, so that a block of vectors is read once for them.
enum { BLOCK_ROWS = 16 };

typedef struct svm {
    ln_call *call;
    const model *model;
    size_t rows, columns;
    double *values;  // BLOCK_ROWS rows of the input
    double *kernels; // of these rows, each with all vectors and those that fill the last block
    size_t kernel_stride;
} svm;

// ---- What both have ----

static ln_status read_kernel(ln_call *call, kernel *out_kernel)
{
    static const char *const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    const char *name = ln_call_string(call, "kernel_type");
    int kind = 0;
    while (kind < 4 && strcmp(name, names[kind]) != 0)
        kind++;
    int count = ln_call_count(call, "kernel_params");
    if (kind == 4 || (count != 0 && count != 3))
        return ln_call_fail(call, LN_INVALID, "kernel \"%s\" with %d parameters", name, count);
    *out_kernel = (kernel){.kind = (kernel_kind)kind};
    if (count == 3) {
        out_kernel->gamma = ln_call_float_at(call, "kernel_params", 0);
        out_kernel->coef0 = ln_call_float_at(call, "kernel_params", 1);
        out_kernel->degree = ln_call_float_at(call, "kernel_params", 2);
    }
    return LN_OK;
}

// Vectors that fill the last block are zeros.
static ln_status keep_vectors(ln_call *call, model *m)
{
    const double *values;
    LN_TRY(ln_ref_param_reals(call, "support_vectors", NULL, &m->value_count, &values));
    if (m->vector_count == 0)
        return LN_OK;
    // Divided, not multiplied: the number of vectors is what a model says.
    if (m->value_count % m->vector_count != 0)
        return ln_call_fail(call, LN_INVALID, "%zu support vectors of %zu values in all",
                            m->vector_count, m->value_count);
    size_t columns = m->value_count / m->vector_count;
    size_t block_count = m->vector_count / LANES + 2; // one row goes through two at once
    double *packed = ln_call_keep(call, block_count * LANES * columns + 1, sizeof *packed);
    if (!packed)
        return ln_error_status();
    for (size_t v = 0; v < m->vector_count; v++) {
        double *lane = packed + v / LANES * LANES * columns + v % LANES;
        for (size_t c = 0; c < columns; c++)
            lane[c * LANES] = values[v * columns + c];
    }
    m->vectors = packed;
    return LN_OK;
}

// Everything that both have but `vector_count`, which is set.
static ln_status keep_model(ln_call *call, model *m)
{
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(read_kernel(call, &m->kernel));
    if (m->vector_count == 0)
        m->kernel.kind = KERNEL_LINEAR;
    LN_TRY(keep_vectors(call, m));
    LN_TRY(ln_ref_keep_reals(call, "coefficients", NULL, &m->coefficient_count, &m->coefficients));
    LN_TRY(ln_ref_keep_reals(call, "rho", NULL, &m->rho_count, &m->rho));
    if (m->rho_count == 0)
        return ln_call_fail(call, LN_INVALID, "rho is empty");
    return LN_OK;
}

// Rows of coefficients: one of a regressor; of a classifier a class against each other one, or a
// function for each class, and maybe more.
static ln_status check_coefficients(ln_call *call, const model *m, size_t rows, size_t wide)
{
    bool has_all = wide > 0 && m->coefficient_count > 0 && m->coefficient_count / wide >= rows;
    if (m->class_count == 0 && m->coefficient_count != wide)
        return ln_call_fail(call, LN_INVALID, "%zu coefficients instead of %zu",
                            m->coefficient_count, wide);
    if (m->class_count > 0 && !has_all)
        return ln_call_fail(call, LN_INVALID, "%zu coefficients instead of %zu times %zu",
                            m->coefficient_count, rows, wide);
    return LN_OK;
}

// `sizes` stands for what `prepare` makes while the memory of a run is counted.
static ln_status open_svm(ln_call *call, const model *sizes, svm *s)
{
    int rows, columns;
    LN_TRY(ln_ml_table(call, 0, &rows, &columns));
    const model *m = ln_call_is_counting(call) ? sizes : ln_call_prepared(call);
    *s = (svm){.call = call, .model = m, .rows = (size_t)rows, .columns = (size_t)columns};
    if (!ln_call_is_counting(call) && m->vector_count > 0 &&
        m->value_count / m->vector_count != s->columns)
        return ln_call_fail(call, LN_INVALID,
                            "%zu support vectors of %zu values in all for %zu columns",
                            m->vector_count, m->value_count, s->columns);
    // `prepare` refuses more vectors than coefficients.
    if (ln_call_is_counting(call) && m->vector_count > (size_t)ln_call_count(call, "coefficients"))
        return LN_INVALID;
    s->kernel_stride = m->vector_count + 2 * LANES;
    s->values = ln_call_scratch(call, BLOCK_ROWS * s->columns + 1, sizeof *s->values);
    s->kernels = ln_call_scratch(call, BLOCK_ROWS * s->kernel_stride, sizeof *s->kernels);
    return s->values && s->kernels ? LN_OK : ln_error_status();
}

// Small whole powers are products: faster than `pow`, and the same whatever C library there is.
static double power(double x, double degree)
{
    if (degree == 2)
        return x * x;
    return degree == 3 ? x * x * x : pow(x, degree);
}

static double finish_kernel(const kernel *k, double sum)
{
    switch (k->kind) {
    case KERNEL_LINEAR: break;
    case KERNEL_POLY: return power(k->gamma * sum + k->coef0, k->degree);
    case KERNEL_RBF: return exp(-k->gamma * sum);
    case KERNEL_SIGMOID: return tanh(k->gamma * sum + k->coef0);
    }
    return sum;
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
    if (m->kernel.kind == KERNEL_RBF) {
        measure_block(rows[0], blocks[0], columns, sums[0]);
        measure_block(rows[1], blocks[1], columns, sums[1]);
    } else {
        multiply_blocks(rows, blocks, columns, sums);
    }
    for (size_t r = 0; r < 2 && m->kernel.kind != KERNEL_LINEAR; r++)
        for (size_t k = 0; k < LANES; k++)
            sums[r][k] = finish_kernel(&m->kernel, sums[r][k]);
}

// One row goes through two blocks at once, the last of which may be there for that alone.
static void compute_row(const svm *s)
{
    const model *m = s->model;
    const double *rows[] = {s->values, s->values};
    for (size_t v = 0; v < m->vector_count && !ln_deadline_passed(); v += 2 * LANES) {
        const double *blocks[] = {m->vectors + v * s->columns,
                                  m->vectors + (v + LANES) * s->columns};
        double *sums[] = {s->kernels + v, s->kernels + v + LANES};
        compute_blocks(m, rows, blocks, s->columns, sums);
    }
}

// Of two or more rows two go through a block at once; the last one may go twice.
static void compute_rows(const svm *s, size_t count)
{
    const model *m = s->model;
    for (size_t v = 0; v < m->vector_count && !ln_deadline_passed(); v += LANES) {
        const double *block = m->vectors + v * s->columns, *blocks[] = {block, block};
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
static void load_rows(svm *s, size_t first, size_t count)
{
    const tl_tensor *src = ln_call_in(s->call, 0);
    for (size_t i = 0; i < count * s->columns; i++)
        s->values[i] = ln_elem_real(src, first * s->columns + i);
    if (count == 1)
        compute_row(s);
    else
        compute_rows(s, count);
}

// The product of a row and as many coefficients.
static double multiply(const double *row, const double *coefficients, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += row[i] * coefficients[i];
    return sum;
}

// ---- SVMRegressor ----

static ln_status count_supports(ln_call *call, model *m)
{
    int64_t vector_count = ln_call_int(call, "n_supports");
    if (vector_count < 0 || vector_count > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "n_supports is %lld", (long long)vector_count);
    m->vector_count = (size_t)vector_count;
    return LN_OK;
}

ln_status ln_ref_prepare_ml_svm_regressor(ln_call *call)
{
    model *m = ln_call_keep(call, 1, sizeof *m);
    if (!m)
        return ln_error_status();
    LN_TRY(count_supports(call, m));
    m->is_one_class = ln_call_int(call, "one_class") != 0;
    LN_TRY(keep_model(call, m));
    return m->vector_count ? check_coefficients(call, m, 1, m->vector_count) : LN_OK;
}

static double regress(const svm *s, size_t r)
{
    const model *m = s->model;
    const double *kernels = s->kernels + r * s->kernel_stride;
    double sum = m->rho[0];
    for (size_t v = 0; v < m->vector_count; v++)
        sum += m->coefficients[v] * kernels[v];
    if (m->vector_count == 0)
        sum += multiply(s->values + r * s->columns, m->coefficients, s->columns);
    ln_ml_transform_apply(m->transform, &sum, 1);
    return m->is_one_class ? (sum > 0 ? 1 : -1) : sum;
}

ln_status ln_ref_ml_svm_regressor(ln_call *call)
{
    svm s;
    model sizes = {0};
    if (ln_call_is_counting(call))
        LN_TRY(count_supports(call, &sizes));
    LN_TRY(open_svm(call, &sizes, &s));
    if (ln_call_is_counting(call))
        return LN_OK;
    if (s.model->vector_count == 0)
        LN_TRY(check_coefficients(call, s.model, 1, s.columns));
    for (size_t first = 0; first < s.rows && !ln_deadline_passed(); first += BLOCK_ROWS) {
        size_t count = s.rows - first < BLOCK_ROWS ? s.rows - first : BLOCK_ROWS;
        load_rows(&s, first, count);
        for (size_t r = 0; r < count; r++)
            ln_elem_set_real(ln_call_dst(call, 0), first + r, regress(&s, r));
    }
    return LN_OK;
}

// ---- SVMClassifier ----

typedef struct classifier {
    svm s;
    bool has_probabilities;
    const double *row, *kernels; // the present one's
    double *pairs;               // the score of each pair of classes
    double *votes;               // for each class
    double *scores;              // what comes out
    double *couplings;           // [classes, classes]: probability of one class against another
    double *matrix, *products;   // of `couple`
} classifier;

// Numbers of classes, pairs and vectors; `starts` receives where the vectors of each class begin,
// or is NULL.
static ln_status count_classes(ln_call *call, model *m, size_t *starts)
{
    int class_count;
    size_t size_count;
    const double *sizes = ln_call_floats(call, "vectors_per_class", &size_count);
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    m->class_count = (size_t)class_count;
    for (size_t i = 0; i < size_count; i++) {
        int64_t size = ln_call_to_int(sizes[i]);
        if (size < 0 || size > INT32_MAX - (int64_t)m->vector_count)
            return ln_call_fail(call, LN_INVALID, "vectors_per_class has %lld", (long long)size);
        m->vector_count += (size_t)size;
        if (starts)
            starts[i + 1] = m->vector_count;
    }
    bool has_vectors = m->vector_count > 0;
    if (has_vectors && (size_count != m->class_count || class_count < 2))
        return ln_call_fail(call, LN_INVALID, "vectors of %zu classes for %zu classes", size_count,
                            m->class_count);
    m->pair_count = has_vectors ? m->class_count * (m->class_count - 1) / 2 : 0;
    m->prob_count = (size_t)ln_call_count(call, "prob_a");
    return LN_OK;
}

static ln_status keep_classes(ln_call *call, model *m)
{
    size_t size_count = (size_t)ln_call_count(call, "vectors_per_class");
    size_t *starts = ln_call_keep(call, size_count + 1, sizeof *starts);
    if (!starts)
        return ln_error_status();
    m->class_starts = starts;
    LN_TRY(count_classes(call, m, starts));
    return ln_ml_classes_keep(call, "classlabels_ints", &m->classes);
}

ln_status ln_ref_prepare_ml_svm_classifier(ln_call *call)
{
    model *m = ln_call_keep(call, 1, sizeof *m);
    if (!m)
        return ln_error_status();
    LN_TRY(keep_classes(call, m));
    LN_TRY(keep_model(call, m));
    size_t b_count;
    LN_TRY(ln_ref_keep_reals(call, "prob_a", NULL, &m->prob_count, &m->prob_a));
    LN_TRY(ln_ref_keep_reals(call, "prob_b", NULL, &b_count, &m->prob_b));
    bool has_vectors = m->vector_count > 0;
    if (m->prob_count != b_count || (has_vectors && b_count > 0 && b_count < m->pair_count))
        return ln_call_fail(call, LN_INVALID, "%zu prob_a and %zu prob_b for %zu pairs",
                            m->prob_count, b_count, m->pair_count);
    if (has_vectors)
        LN_TRY(check_coefficients(call, m, m->class_count - 1, m->vector_count));
    if (has_vectors && m->rho_count < m->pair_count)
        return ln_call_fail(call, LN_INVALID, "%zu rho for %zu pairs", m->rho_count, m->pair_count);
    m->are_all_positive = true;
    for (size_t i = 0; i < m->coefficient_count; i++)
        m->are_all_positive = m->are_all_positive && m->coefficients[i] >= 0;
    return LN_OK;
}

static ln_status allocate(classifier *c)
{
    const model *m = c->s.model;
    size_t n = m->class_count, scores = n > m->pair_count ? n : m->pair_count;
    ln_call *call = c->s.call;
    c->has_probabilities = m->vector_count > 0 && m->prob_count > 0;
    c->votes = ln_call_scratch(call, n, sizeof(double));
    c->pairs = ln_call_scratch(call, scores + 1, sizeof(double));
    c->scores = ln_call_scratch(call, scores + 1, sizeof(double));
    // Two square matrices, and only where there is a model as large: a list of n^2 / 2 numbers.
    size_t square = c->has_probabilities ? n * n : 1;
    c->couplings = ln_call_scratch(call, square, sizeof(double));
    c->matrix = ln_call_scratch(call, square, sizeof(double));
    c->products = ln_call_scratch(call, n, sizeof(double));
    bool has_all = c->votes && c->pairs && c->scores && c->couplings && c->matrix && c->products;
    return has_all ? LN_OK : ln_error_status();
}

// `sum` and the products of the coefficients and kernels from `start` on.
static double add_products(double sum, const double *coefficients, const double *kernels,
                           size_t start, size_t end)
{
    for (size_t v = start; v < end; v++)
        sum += coefficients[v] * kernels[v];
    return sum;
}

// Scores of all pairs and the votes that follow from them.
static void compare_classes(classifier *c)
{
    const model *m = c->s.model;
    const size_t *starts = m->class_starts;
    memset(c->votes, 0, m->class_count * sizeof *c->votes);
    size_t pair = 0;
    for (size_t i = 0; i + 1 < m->class_count; i++) {
        for (size_t j = i + 1; j < m->class_count; j++, pair++) {
            const double *against_j = m->coefficients + (j - 1) * m->vector_count;
            const double *against_i = m->coefficients + i * m->vector_count;
            double sum =
                add_products(m->rho[pair], against_j, c->kernels, starts[i], starts[i + 1]);
            sum = add_products(sum, against_i, c->kernels, starts[j], starts[j + 1]);
            c->pairs[pair] = sum;
            c->votes[sum > 0 ? i : j]++;
        }
    }
}

// One round over all classes; `probabilities` stay such that their sum is 1.
static void improve(const classifier *c, double *probabilities, double value)
{
    size_t n = c->s.model->class_count;
    const double *matrix = c->matrix;
    double *products = c->products;
    for (size_t i = 0; i < n; i++) {
        double diagonal = matrix[i * n + i];
        double step = (value - products[i]) / diagonal, whole = 1 + step;
        probabilities[i] += step;
        value = (value + step * (step * diagonal + 2 * products[i])) / whole / whole;
        for (size_t j = 0; j < n; j++) {
            products[j] = (products[j] + step * matrix[i * n + j]) / whole;
            probabilities[j] /= whole;
        }
    }
}

// `scores` = the probabilities that fit those of the pairs best.
static void couple(classifier *c)
{
    enum { MOST_ROUNDS = 100 };
    size_t n = c->s.model->class_count;
    const double *r = c->couplings;
    double enough = 0.005 / (double)n;
    for (size_t i = 0; i < n; i++) {
        c->scores[i] = 1 / (double)n;
        c->matrix[i * n + i] = 0;
        for (size_t j = 0; j < n; j++) {
            if (j == i)
                continue;
            c->matrix[i * n + i] += r[j * n + i] * r[j * n + i];
            c->matrix[i * n + j] = -r[j * n + i] * r[i * n + j];
        }
    }
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double value = 0, error = 0;
        for (size_t i = 0; i < n; i++) {
            c->products[i] = 0;
            for (size_t j = 0; j < n; j++)
                c->products[i] += c->matrix[i * n + j] * c->scores[j];
            value += c->scores[i] * c->products[i];
        }
        for (size_t i = 0; i < n; i++)
            error = fmax(error, fabs(c->products[i] - value));
        if (error < enough)
            return;
        improve(c, c->scores, value);
    }
}

static void find_probabilities(classifier *c)
{
    const double least = 1e-7;
    const model *m = c->s.model;
    size_t n = m->class_count, pair = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = i + 1; j < n; j++, pair++) {
            double p = 1 - ln_ml_logistic(c->pairs[pair] * m->prob_a[pair] + m->prob_b[pair]);
            p = fmin(fmax(p, least), 1 - least);
            c->couplings[i * n + j] = p;
            c->couplings[j * n + i] = 1 - p;
        }
    }
    couple(c);
}

// The present row by its linear functions. Of two classes the second wins as soon as any score is
// positive, or is large where all coefficients are positive.
static size_t classify_linear(classifier *c)
{
    const model *m = c->s.model;
    size_t columns = c->s.columns;
    for (size_t i = 0; i < m->class_count; i++)
        c->scores[i] = m->rho[0] + multiply(c->row, m->coefficients + i * columns, columns);
    size_t best = ln_ml_largest(c->scores, m->class_count);
    double most = c->scores[best];
    if (m->class_count == 2 && (m->are_all_positive ? most >= 0.5 : most > 0))
        return 1;
    return best;
}

// *out_count scores of the present row, transformed; returns its class.
static size_t classify_row(classifier *c, size_t *out_count)
{
    const model *m = c->s.model;
    *out_count = m->class_count;
    size_t best;
    if (m->vector_count == 0) {
        best = classify_linear(c);
        ln_ml_transform_apply(m->transform, c->scores, *out_count);
        return best;
    }
    compare_classes(c);
    best = ln_ml_largest(c->votes, m->class_count);
    if (c->has_probabilities) {
        find_probabilities(c);
        ln_ml_transform_apply(m->transform, c->scores, *out_count);
        return best;
    }
    memcpy(c->scores, c->pairs, m->pair_count * sizeof *c->scores);
    if (m->class_count == 2) {
        ln_ml_transform_pair(m->transform, m->transform != LN_ML_NONE, c->scores);
        return best;
    }
    *out_count = m->pair_count;
    ln_ml_transform_apply(m->transform, c->scores, *out_count);
    return best;
}

ln_status ln_ref_ml_svm_classifier(ln_call *call)
{
    classifier c = {0};
    model sizes = {0};
    if (ln_call_is_counting(call))
        LN_TRY(count_classes(call, &sizes, NULL));
    LN_TRY(open_svm(call, &sizes, &c.s));
    if (!ln_call_is_counting(call) && c.s.model->vector_count == 0)
        LN_TRY(check_coefficients(call, c.s.model, c.s.model->class_count, c.s.columns));
    LN_TRY(allocate(&c));
    if (ln_call_is_counting(call))
        return LN_OK;
    tl_tensor *dst = ln_call_dst(call, 1);
    for (size_t first = 0; first < c.s.rows && !ln_deadline_passed(); first += BLOCK_ROWS) {
        size_t left = c.s.rows - first, row_count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        load_rows(&c.s, first, row_count);
        for (size_t r = 0; r < row_count; r++) {
            c.row = c.s.values + r * c.s.columns;
            c.kernels = c.s.kernels + r * c.s.kernel_stride;
            size_t count, best = classify_row(&c, &count);
            LN_TRY(ln_ml_classes_set(call, &c.s.model->classes, first + r, best));
            for (size_t i = 0; dst && i < count; i++)
                ln_elem_set_real(dst, (first + r) * count + i, c.scores[i]);
        }
    }
    return LN_OK;
}
