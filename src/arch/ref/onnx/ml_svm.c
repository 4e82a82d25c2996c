// SPDX-License-Identifier: Apache-2.0
// Support vector machines. The classifier decides between each two classes and counts votes; its
// probabilities are coupled from those of the pairs (Wu, Lin and Weng 2004, second method).

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/ml.h"
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

typedef struct svm {
    ln_call *call;
    kernel kernel;
    size_t rows, columns;
    size_t vector_count; // 0: linear functions
    const double *vectors;
    const double *coefficients;
    size_t coefficient_count;
    const double *rho;
    size_t rho_count;
    double *row; // one row of the input
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

// Everything but `vector_count`, which is set.
static ln_status open_svm(svm *s)
{
    int rows, columns;
    size_t value_count;
    LN_TRY(ln_ml_table(s->call, 0, &rows, &columns));
    s->rows = (size_t)rows;
    s->columns = (size_t)columns;
    LN_TRY(read_kernel(s->call, &s->kernel));
    if (s->vector_count == 0)
        s->kernel.kind = KERNEL_LINEAR;
    LN_TRY(ln_ref_param_reals(s->call, "support_vectors", NULL, &value_count, &s->vectors));
    LN_TRY(
        ln_ref_param_reals(s->call, "coefficients", NULL, &s->coefficient_count, &s->coefficients));
    LN_TRY(ln_ref_param_reals(s->call, "rho", NULL, &s->rho_count, &s->rho));
    // Divided, not multiplied: the number of vectors is what a model says.
    if (s->vector_count > 0 &&
        (value_count % s->vector_count != 0 || value_count / s->vector_count != s->columns))
        return ln_call_fail(s->call, LN_INVALID,
                            "%zu support vectors of %zu values in all for %zu columns",
                            s->vector_count, value_count, s->columns);
    if (s->rho_count == 0)
        return ln_call_fail(s->call, LN_INVALID, "rho is empty");
    s->row = ln_call_scratch(s->call, s->columns + 1, sizeof *s->row);
    return s->row ? LN_OK : ln_error_status();
}

static void load_row(svm *s, size_t row)
{
    for (size_t c = 0; c < s->columns; c++)
        s->row[c] = ln_elem_real(ln_call_in(s->call, 0), row * s->columns + c);
}

// The kernel of the present row and a vector of as many elements.
static double kernel_of(const svm *s, const double *vector)
{
    double sum = 0;
    for (size_t c = 0; c < s->columns; c++) {
        double difference = s->row[c] - vector[c];
        sum += s->kernel.kind == KERNEL_RBF ? difference * difference : s->row[c] * vector[c];
    }
    switch (s->kernel.kind) {
    case KERNEL_LINEAR: break;
    case KERNEL_POLY: return pow(s->kernel.gamma * sum + s->kernel.coef0, s->kernel.degree);
    case KERNEL_RBF: return exp(-s->kernel.gamma * sum);
    case KERNEL_SIGMOID: return tanh(s->kernel.gamma * sum + s->kernel.coef0);
    }
    return sum;
}

// ---- SVMRegressor ----

ln_status ln_ref_ml_svm_regressor(ln_call *call)
{
    svm s = {.call = call};
    int64_t vector_count = ln_call_int(call, "n_supports");
    if (vector_count < 0 || vector_count > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "n_supports is %lld", (long long)vector_count);
    s.vector_count = (size_t)vector_count;
    ln_ml_transform transform;
    LN_TRY(ln_ml_transform_read(call, &transform));
    LN_TRY(open_svm(&s));
    size_t needed = s.vector_count ? s.vector_count : s.columns;
    if (s.coefficient_count != needed)
        return ln_call_fail(call, LN_INVALID, "%zu coefficients instead of %zu",
                            s.coefficient_count, needed);
    bool is_one_class = ln_call_int(call, "one_class") != 0;
    for (size_t row = 0; row < s.rows && !ln_deadline_passed(); row++) {
        load_row(&s, row);
        double sum = s.rho[0];
        for (size_t v = 0; v < s.vector_count && !ln_deadline_passed(); v++)
            sum += s.coefficients[v] * kernel_of(&s, s.vectors + v * s.columns);
        if (s.vector_count == 0)
            sum += kernel_of(&s, s.coefficients);
        ln_ml_transform_apply(transform, &sum, 1);
        ln_elem_set_real(ln_call_dst(call, 0), row, is_one_class ? (sum > 0 ? 1 : -1) : sum);
    }
    return LN_OK;
}

// ---- SVMClassifier ----

typedef struct classifier {
    svm s;
    size_t class_count, pair_count;
    const int64_t *class_sizes; // vectors of each class
    size_t *class_starts;
    const double *prob_a, *prob_b;
    bool has_probabilities;
    bool are_all_positive;     // coefficients
    double *kernels;           // of each vector
    double *pairs;             // the score of each pair of classes
    double *votes;             // for each class
    double *scores;            // what comes out
    double *couplings;         // [classes, classes]: probability of one class against another
    double *matrix, *products; // of `couple`
} classifier;

static ln_status read_classes(classifier *c)
{
    int class_count;
    size_t size_count;
    LN_TRY(ln_ml_class_count(c->s.call, "classlabels_ints", &class_count));
    LN_TRY(ln_ref_param_ints(c->s.call, "vectors_per_class", &size_count, &c->class_sizes));
    c->class_count = (size_t)class_count;
    c->class_starts = ln_call_scratch(c->s.call, size_count + 1, sizeof *c->class_starts);
    if (!c->class_starts)
        return ln_error_status();
    for (size_t i = 0; i < size_count; i++) {
        if (c->class_sizes[i] < 0 || c->class_sizes[i] > INT32_MAX - (int64_t)c->s.vector_count)
            return ln_call_fail(c->s.call, LN_INVALID, "vectors_per_class has %lld",
                                (long long)c->class_sizes[i]);
        c->class_starts[i] = c->s.vector_count;
        c->s.vector_count += (size_t)c->class_sizes[i];
    }
    if (c->s.vector_count > 0 && (size_count != c->class_count || c->class_count < 2))
        return ln_call_fail(c->s.call, LN_INVALID, "vectors of %zu classes for %zu classes",
                            size_count, c->class_count);
    return LN_OK;
}

static ln_status check_model(classifier *c)
{
    size_t a_count, b_count;
    LN_TRY(ln_ref_param_reals(c->s.call, "prob_a", NULL, &a_count, &c->prob_a));
    LN_TRY(ln_ref_param_reals(c->s.call, "prob_b", NULL, &b_count, &c->prob_b));
    bool has_vectors = c->s.vector_count > 0;
    c->pair_count = has_vectors ? c->class_count * (c->class_count - 1) / 2 : 0;
    c->has_probabilities = has_vectors && a_count > 0;
    // Rows of coefficients: a class against each other one, or a function for each class.
    size_t wide = has_vectors ? c->s.vector_count : c->s.columns;
    size_t rows = has_vectors ? c->class_count - 1 : c->class_count;
    if (a_count != b_count || (c->has_probabilities && a_count < c->pair_count))
        return ln_call_fail(c->s.call, LN_INVALID, "%zu prob_a and %zu prob_b for %zu pairs",
                            a_count, b_count, c->pair_count);
    if (c->s.coefficient_count == 0 || wide == 0 || c->s.coefficient_count / wide < rows)
        return ln_call_fail(c->s.call, LN_INVALID, "%zu coefficients instead of %zu times %zu",
                            c->s.coefficient_count, rows, wide);
    if (has_vectors && c->s.rho_count < c->pair_count)
        return ln_call_fail(c->s.call, LN_INVALID, "%zu rho for %zu pairs", c->s.rho_count,
                            c->pair_count);
    c->are_all_positive = true;
    for (size_t i = 0; i < c->s.coefficient_count; i++)
        c->are_all_positive = c->are_all_positive && c->s.coefficients[i] >= 0;
    return LN_OK;
}

static ln_status allocate(classifier *c)
{
    size_t n = c->class_count, scores = n > c->pair_count ? n : c->pair_count;
    ln_call *call = c->s.call;
    c->kernels = ln_call_scratch(call, c->s.vector_count + 1, sizeof(double));
    c->votes = ln_call_scratch(call, n, sizeof(double));
    c->pairs = ln_call_scratch(call, scores + 1, sizeof(double));
    c->scores = ln_call_scratch(call, scores + 1, sizeof(double));
    // Two square matrices, and only where there is a model as large: a list of n^2 / 2 numbers.
    size_t square = c->has_probabilities ? n * n : 1;
    c->couplings = ln_call_scratch(call, square, sizeof(double));
    c->matrix = ln_call_scratch(call, square, sizeof(double));
    c->products = ln_call_scratch(call, n, sizeof(double));
    bool has_all =
        c->kernels && c->votes && c->pairs && c->scores && c->couplings && c->matrix && c->products;
    return has_all ? LN_OK : ln_error_status();
}

// Scores of all pairs and the votes that follow from them.
static void compare_classes(classifier *c)
{
    const svm *s = &c->s;
    for (size_t v = 0; v < s->vector_count && !ln_deadline_passed(); v++)
        c->kernels[v] = kernel_of(s, s->vectors + v * s->columns);
    memset(c->votes, 0, c->class_count * sizeof *c->votes);
    size_t pair = 0;
    for (size_t i = 0; i + 1 < c->class_count; i++) {
        for (size_t j = i + 1; j < c->class_count; j++, pair++) {
            double sum = s->rho[pair];
            const double *against_j = s->coefficients + (j - 1) * s->vector_count;
            const double *against_i = s->coefficients + i * s->vector_count;
            for (size_t v = 0; v < (size_t)c->class_sizes[i]; v++)
                sum += against_j[c->class_starts[i] + v] * c->kernels[c->class_starts[i] + v];
            for (size_t v = 0; v < (size_t)c->class_sizes[j]; v++)
                sum += against_i[c->class_starts[j] + v] * c->kernels[c->class_starts[j] + v];
            c->pairs[pair] = sum;
            c->votes[sum > 0 ? i : j]++;
        }
    }
}

// One round over all classes; `probabilities` stay such that their sum is 1.
static void improve(const classifier *c, double *probabilities, double value)
{
    size_t n = c->class_count;
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
    size_t n = c->class_count;
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
    size_t n = c->class_count, pair = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = i + 1; j < n; j++, pair++) {
            double p = 1 - ln_ml_logistic(c->pairs[pair] * c->prob_a[pair] + c->prob_b[pair]);
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
    for (size_t i = 0; i < c->class_count; i++)
        c->scores[i] = c->s.rho[0] + kernel_of(&c->s, c->s.coefficients + i * c->s.columns);
    size_t best = ln_ml_largest(c->scores, c->class_count);
    double most = c->scores[best];
    if (c->class_count == 2 && (c->are_all_positive ? most >= 0.5 : most > 0))
        return 1;
    return best;
}

// *out_count scores of the present row, transformed; returns its class.
static size_t classify_row(classifier *c, ln_ml_transform transform, size_t *out_count)
{
    *out_count = c->class_count;
    size_t best;
    if (c->s.vector_count == 0) {
        best = classify_linear(c);
        ln_ml_transform_apply(transform, c->scores, *out_count);
        return best;
    }
    compare_classes(c);
    best = ln_ml_largest(c->votes, c->class_count);
    if (c->has_probabilities) {
        find_probabilities(c);
        ln_ml_transform_apply(transform, c->scores, *out_count);
        return best;
    }
    memcpy(c->scores, c->pairs, c->pair_count * sizeof *c->scores);
    if (c->class_count == 2) {
        ln_ml_transform_pair(transform, transform != LN_ML_NONE, c->scores);
        return best;
    }
    *out_count = c->pair_count;
    ln_ml_transform_apply(transform, c->scores, *out_count);
    return best;
}

ln_status ln_ref_ml_svm_classifier(ln_call *call)
{
    classifier c = {.s = {.call = call}};
    ln_ml_transform transform;
    LN_TRY(ln_ml_transform_read(call, &transform));
    LN_TRY(read_classes(&c));
    LN_TRY(open_svm(&c.s));
    LN_TRY(check_model(&c));
    LN_TRY(allocate(&c));
    tl_tensor *dst = ln_call_dst(call, 1);
    for (size_t row = 0; row < c.s.rows && !ln_deadline_passed(); row++) {
        load_row(&c.s, row);
        size_t count, best = classify_row(&c, transform, &count);
        LN_TRY(ln_ml_set_class(call, "classlabels_ints", row, best));
        for (size_t i = 0; dst && i < count; i++)
            ln_elem_set_real(dst, row * count + i, c.scores[i]);
    }
    return LN_OK;
}
