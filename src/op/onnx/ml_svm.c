// SPDX-License-Identifier: Apache-2.0
// Support vector machines. The classifier decides between each two classes and counts votes; its
// probabilities are coupled from those of the pairs (Wu, Lin and Weng 2004, second method).

#include "op/onnx/ml_svm.h"

#include <math.h>
#include <string.h>

#include "op/onnx/ml.h"
#include "op/onnx/param_array.h"
#include "tensor/elem.h"

// ---- What both have ----

static ln_status read_kernel(ln_call *call, ln_svm_model *model)
{
    static const char *const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    const char *name = ln_call_string(call, "kernel_type");
    int kind = 0;
    while (kind < 4 && strcmp(name, names[kind]) != 0)
        kind++;
    int count = ln_call_count(call, "kernel_params");
    if (kind == 4 || (count != 0 && count != 3))
        return ln_call_fail(call, LN_INVALID, "kernel \"%s\" with %d parameters", name, count);
    model->kind = model->vector_count ? (ln_svm_kind)kind : LN_SVM_LINEAR;
    // `prepare` refuses more vectors than coefficients, and says how many.
    if (ln_call_is_counting(call) &&
        model->vector_count > (size_t)ln_call_count(call, "coefficients"))
        return LN_INVALID;
    if (count == 3) {
        model->gamma = ln_call_float_at(call, "kernel_params", 0);
        model->coef0 = ln_call_float_at(call, "kernel_params", 1);
        model->degree = ln_call_float_at(call, "kernel_params", 2);
    }
    return LN_OK;
}

// Everything that both have but what is counted.
static ln_status read_model(ln_call *call, ln_svm_model *m)
{
    LN_TRY(ln_ml_transform_read(call, &m->transform));
    LN_TRY(ln_array_reals(call, "support_vectors", NULL, &m->value_count, &m->vectors));
    // Divided, not multiplied: the number of vectors is what a model says.
    if (m->vector_count > 0 && m->value_count % m->vector_count != 0)
        return ln_call_fail(call, LN_INVALID, "%zu support vectors of %zu values in all",
                            m->vector_count, m->value_count);
    LN_TRY(
        ln_array_keep_reals(call, "coefficients", NULL, &m->coefficient_count, &m->coefficients));
    LN_TRY(ln_array_keep_reals(call, "rho", NULL, &m->rho_count, &m->rho));
    if (m->rho_count == 0)
        return ln_call_fail(call, LN_INVALID, "rho is empty");
    return LN_OK;
}

// Rows of coefficients: one of a regressor; of a classifier a class against each other one, or a
// function for each class, and maybe more.
static ln_status check_coefficients(ln_call *call, const ln_svm_model *m, size_t rows, size_t wide)
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

ln_status ln_svm_check_columns(ln_call *call, const ln_svm_model *m, size_t columns)
{
    if (m->vector_count == 0)
        return check_coefficients(call, m, m->class_count ? m->class_count : 1, columns);
    if (m->value_count / m->vector_count != columns)
        return ln_call_fail(call, LN_INVALID,
                            "%zu support vectors of %zu values in all for %zu columns",
                            m->vector_count, m->value_count, columns);
    return LN_OK;
}

// Small whole powers are products: faster than `pow`, and the same whatever C library there is.
static double power(double x, double degree)
{
    if (degree == 2)
        return x * x;
    return degree == 3 ? x * x * x : pow(x, degree);
}

double ln_svm_finish_kernel(const ln_svm_model *m, double sum)
{
    switch (m->kind) {
    case LN_SVM_LINEAR: break;
    case LN_SVM_POLY: return power(m->gamma * sum + m->coef0, m->degree);
    case LN_SVM_RBF: return exp(-m->gamma * sum);
    case LN_SVM_SIGMOID: return tanh(m->gamma * sum + m->coef0);
    }
    return sum;
}

size_t ln_svm_function_count(const ln_svm_model *m)
{
    if (m->class_count == 0)
        return 1;
    return m->vector_count ? m->pair_count : m->class_count;
}

// ---- SVMRegressor ----

ln_status ln_svm_count_regressor(ln_call *call, ln_svm_model *m)
{
    int64_t vector_count = ln_call_int(call, "n_supports");
    if (vector_count < 0 || vector_count > INT32_MAX)
        return ln_call_fail(call, LN_INVALID, "n_supports is %lld", (long long)vector_count);
    *m = (ln_svm_model){.vector_count = (size_t)vector_count};
    return read_kernel(call, m);
}

ln_status ln_svm_read_regressor(ln_call *call, ln_svm_model *m)
{
    LN_TRY(ln_svm_count_regressor(call, m));
    m->is_one_class = ln_call_int(call, "one_class") != 0;
    LN_TRY(read_model(call, m));
    return m->vector_count ? check_coefficients(call, m, 1, m->vector_count) : LN_OK;
}

double ln_svm_regress(const ln_svm_model *m, double value)
{
    ln_ml_transform_apply(m->transform, &value, 1);
    return m->is_one_class ? (value > 0 ? 1 : -1) : value;
}

// ---- SVMClassifier ----

// `starts` receives where the vectors of each class begin, or is NULL.
static ln_status count_classes(ln_call *call, ln_svm_model *m, size_t *starts)
{
    int class_count;
    size_t size_count;
    const double *sizes = ln_call_floats(call, "vectors_per_class", &size_count);
    LN_TRY(ln_ml_class_count(call, "classlabels_ints", &class_count));
    *m = (ln_svm_model){.class_count = (size_t)class_count, .class_starts = starts};
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
    return read_kernel(call, m);
}

ln_status ln_svm_count_classifier(ln_call *call, ln_svm_model *m)
{
    return count_classes(call, m, NULL);
}

ln_status ln_svm_read_classifier(ln_call *call, ln_svm_model *m)
{
    size_t size_count = (size_t)ln_call_count(call, "vectors_per_class");
    size_t *starts = ln_call_keep(call, size_count + 1, sizeof *starts);
    if (!starts)
        return ln_error_status();
    LN_TRY(count_classes(call, m, starts));
    LN_TRY(ln_ml_classes_keep(call, "classlabels_ints", &m->classes));
    LN_TRY(read_model(call, m));
    size_t b_count;
    LN_TRY(ln_array_keep_reals(call, "prob_a", NULL, &m->prob_count, &m->prob_a));
    LN_TRY(ln_array_keep_reals(call, "prob_b", NULL, &b_count, &m->prob_b));
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

static bool has_probabilities(const ln_svm_model *m)
{
    return m->vector_count > 0 && m->prob_count > 0;
}

ln_status ln_svm_open_classifier(ln_call *call, const ln_svm_model *m, ln_svm_classifier *c)
{
    size_t n = m->class_count, scores = n > m->pair_count ? n : m->pair_count;
    *c = (ln_svm_classifier){.call = call, .model = m};
    c->votes = ln_call_scratch(call, n, sizeof(double));
    c->scores = ln_call_scratch(call, scores + 1, sizeof(double));
    // Two square matrices, and only where there is a model as large: a list of n^2 / 2 numbers.
    size_t square = has_probabilities(m) ? n * n : 1;
    c->couplings = ln_call_scratch(call, square, sizeof(double));
    c->matrix = ln_call_scratch(call, square, sizeof(double));
    c->products = ln_call_scratch(call, n, sizeof(double));
    bool has_all = c->votes && c->scores && c->couplings && c->matrix && c->products;
    return has_all ? LN_OK : ln_error_status();
}

// The class with the most votes.
static size_t count_votes(const ln_svm_classifier *c, const double *pairs)
{
    size_t n = c->model->class_count;
    memset(c->votes, 0, n * sizeof *c->votes);
    for (size_t i = 0; i + 1 < n; i++)
        for (size_t j = i + 1; j < n; j++)
            c->votes[*pairs++ > 0 ? i : j]++;
    return ln_ml_largest(c->votes, n);
}

// One round over all classes; `probabilities` stay such that their sum is 1.
static void improve(const ln_svm_classifier *c, double *probabilities, double value)
{
    size_t n = c->model->class_count;
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
static void couple(const ln_svm_classifier *c)
{
    enum { MOST_ROUNDS = 100 };
    size_t n = c->model->class_count;
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

static void find_probabilities(const ln_svm_classifier *c, const double *pairs)
{
    const double least = 1e-7;
    const ln_svm_model *m = c->model;
    size_t n = m->class_count, pair = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = i + 1; j < n; j++, pair++) {
            double p = 1 - ln_ml_logistic(pairs[pair] * m->prob_a[pair] + m->prob_b[pair]);
            p = fmin(fmax(p, least), 1 - least);
            c->couplings[i * n + j] = p;
            c->couplings[j * n + i] = 1 - p;
        }
    }
    couple(c);
}

// Of linear functions. Of two classes the second wins as soon as any score is positive, or is large
// where all coefficients are positive.
static size_t choose_linear(const ln_svm_model *m, const double *functions)
{
    size_t best = ln_ml_largest(functions, m->class_count);
    double most = functions[best];
    if (m->class_count == 2 && (m->are_all_positive ? most >= 0.5 : most > 0))
        return 1;
    return best;
}

// *out_count scores, transformed; returns the class.
static size_t score(const ln_svm_classifier *c, const double *functions, size_t *out_count)
{
    const ln_svm_model *m = c->model;
    size_t best = m->vector_count ? count_votes(c, functions) : choose_linear(m, functions);
    *out_count = m->class_count;
    if (has_probabilities(m)) {
        find_probabilities(c, functions);
        ln_ml_transform_apply(m->transform, c->scores, *out_count);
        return best;
    }
    memcpy(c->scores, functions, ln_svm_function_count(m) * sizeof *c->scores);
    if (m->vector_count > 0 && m->class_count == 2) {
        ln_ml_transform_pair(m->transform, m->transform != LN_ML_NONE, c->scores);
        return best;
    }
    *out_count = ln_svm_function_count(m);
    ln_ml_transform_apply(m->transform, c->scores, *out_count);
    return best;
}

ln_status ln_svm_classify(const ln_svm_classifier *c, size_t row, const double *functions)
{
    tl_tensor *dst = ln_call_dst(c->call, 1);
    size_t count, best = score(c, functions, &count);
    LN_TRY(ln_ml_classes_set(c->call, &c->model->classes, row, best));
    for (size_t i = 0; dst && i < count; i++)
        ln_elem_set_real(dst, row * count + i, c->scores[i]);
    return LN_OK;
}
