// SPDX-License-Identifier: Apache-2.0
// Support vector machines in f32: all their functions of many rows are products with packed
// matrices.
//
// A classifier whose kernel is linear is linear itself: its vectors are added up, times their
// coefficients, when the model is loaded; rules do the same of a regressor. Of the others the
// kernels are one product, with gamma in the vectors and coef0 as bias, and the sums over the
// vectors of each class another. Their distances from the vectors are left to `ref`: a product
// would cancel digits.

#include "arch/cpu/functions.h"

#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/few_outputs/few_outputs.h"
#include "arch/cpu/kernels/gemm/packed.h"
#include "base/checked.h"
#include "base/deadline.h"
#include "base/minmax.h"
#include "op/onnx/ml.h"
#include "op/onnx/ml_svm.h"
#include "op/prepare.h"

// Rows whose functions are computed together, and the most floats for them.
#define BLOCK_ROWS   56
#define BLOCK_FLOATS ((size_t)1 << 22)

#define POWER_FLOATS 2048

// ---- Functions of rows ----

// Y[rows, count] = act(X[rows, length] * W + bias).
typedef struct functions {
    size_t count, length;
    const float *packed;
    const float *bias; // NULL: none
} functions;

// Space for those of W[j][i], and where to put it.
static float *take_matrix(ln_call *call, size_t count, size_t length)
{
    size_t len;
    if (!ln_size_mul(count, length, &len) || ln_gemm_packed_len(length, count) == SIZE_MAX) {
        (void)ln_call_fail(call, LN_LIMIT, "%zu functions of %zu numbers", count, length);
        return NULL;
    }
    return ln_call_scratch(call, len + 1, sizeof(float));
}

// One function of as many numbers as fill the lanes of a sum: no panel, of which most would be
// empty.
static bool is_one_sum(size_t count, size_t length)
{
    return count == 1 && length % LN_FEW_OUTPUTS_LANES == 0;
}

// As a convolution of a line of pixels.
static ln_conv_shape shape_of_sums(size_t rows, size_t length)
{
    return (ln_conv_shape){.batch = 1,
                           .in_h = 1,
                           .in_w = rows,
                           .in_channels = length,
                           .out_h = 1,
                           .out_w = rows,
                           .out_channels = 1,
                           .group = 1,
                           .kernel_h = 1,
                           .kernel_w = 1,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1};
}

// In `prepare`: `matrix` is [count, length].
static ln_status keep_functions(ln_call *call, const float *matrix, size_t count, size_t length,
                                functions *out_functions)
{
    *out_functions = (functions){.count = count, .length = length};
    if (count == 0 || length == 0)
        return LN_OK;
    bool is_one = is_one_sum(count, length);
    size_t len = is_one ? length : ln_gemm_packed_len(length, count);
    float *packed = ln_call_keep(call, len, sizeof *packed);
    if (!packed)
        return ln_error_status();
    const ln_conv_shape shape = shape_of_sums(1, length);
    if (is_one)
        ln_few_outputs_f32_pack(&shape, matrix, packed);
    else
        ln_gemm_pack_f32(ln_cpu_isa_get(), length, count, matrix, 1, length, packed,
                         ln_cpu_call_pool(call));
    out_functions->packed = packed;
    return LN_OK;
}

static void compute(ln_call *call, const functions *f, ln_act act, size_t rows, const float *x,
                    size_t stride, float *y)
{
    ln_gemm_packed_f32_args args = {.m = rows,
                                    .n = f->count,
                                    .k = f->length,
                                    .a = x,
                                    .a_stride = stride,
                                    .packed = f->packed,
                                    .y = y,
                                    .y_stride = f->count,
                                    .epilogue = {.bias = f->bias, .act = act}};
    if (f->packed && is_one_sum(f->count, f->length))
        ln_few_outputs_f32(ln_cpu_isa_get(),
                           &(ln_conv_nhwc_f32_args){.shape = shape_of_sums(rows, f->length),
                                                    .x = x,
                                                    .x_stride = stride,
                                                    .packed = f->packed,
                                                    .y = y,
                                                    .y_stride = 1,
                                                    .epilogue = args.epilogue},
                           ln_cpu_call_pool(call));
    else if (f->packed)
        ln_gemm_packed_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    else
        memset(y, 0, rows * f->count * sizeof *y);
}

static ln_status accepts_floats(ln_call *call)
{
    if (ln_call_in(call, 0)->dtype != TL_FLOAT)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    return LN_OK;
}

// ---- Support vector machines ----

typedef struct machine {
    ln_svm_model model;
    functions kernels; // none of a linear machine
    functions *sums;   // of each class over its vectors; one of a regressor and a linear machine
} machine;

typedef struct rows {
    ln_call *call;
    const machine *machine; // NULL while memory is counted
    size_t columns, count;  // of rows, computed together
    float *kernels;         // [rows, vectors]
    float *sums;            // [class, rows, functions]
    double *functions;      // of one row
} rows;

static bool is_linear(const ln_svm_model *m)
{
    return m->kind == LN_SVM_LINEAR;
}

static size_t sum_count(const ln_svm_model *m)
{
    return is_linear(m) || m->class_count == 0 ? 1 : m->class_count;
}

// Kernels of a row. A regressor has as many as fill the lanes of its one sum; those of vectors that
// are not there count 0 times.
static size_t kernel_count(const ln_svm_model *m)
{
    return m->class_count ? m->vector_count : ln_round_up(m->vector_count, LN_FEW_OUTPUTS_LANES);
}

// Functions of all sums.
static size_t all_sums(const ln_svm_model *m)
{
    if (is_linear(m))
        return ln_svm_function_count(m);
    return m->class_count ? m->class_count * (m->class_count - 1) : 1;
}

// Adds the vectors from `start` on, times `coefficients`, to a function.
static void add_vectors(const ln_svm_model *m, size_t columns, const double *coefficients,
                        size_t start, size_t end, double *function)
{
    for (size_t v = start; v < end; v++)
        for (size_t c = 0; c < columns; c++)
            function[c] += coefficients[v] * m->vectors[v * columns + c];
}

static void round_function(double *function, size_t columns, float *to)
{
    for (size_t c = 0; c < columns; c++)
        to[c] = (float)function[c];
    memset(function, 0, columns * sizeof *function);
}

// The functions of a classifier with a linear kernel, one after another; `function` is zeros.
static void add_up_linear(const ln_svm_model *m, size_t columns, double *function, float *matrix)
{
    const size_t *starts = m->class_starts;
    for (size_t i = 0; i + 1 < m->class_count; i++) {
        for (size_t j = i + 1; j < m->class_count; j++, matrix += columns) {
            const double *against_j = m->coefficients + (j - 1) * m->vector_count;
            const double *against_i = m->coefficients + i * m->vector_count;
            add_vectors(m, columns, against_j, starts[i], starts[i + 1], function);
            add_vectors(m, columns, against_i, starts[j], starts[j + 1], function);
            round_function(function, columns, matrix);
        }
    }
}

static ln_status keep_linear_machine(ln_call *call, machine *s)
{
    const ln_svm_model *m = &s->model;
    size_t n = ln_svm_function_count(m);
    size_t columns = m->vector_count ? m->value_count / m->vector_count : m->coefficient_count / n;
    double *function = ln_call_scratch(call, columns + 1, sizeof *function);
    float *matrix = take_matrix(call, n, columns);
    if (!function || !matrix)
        return ln_error_status();
    if (m->vector_count)
        add_up_linear(m, columns, function, matrix);
    else
        for (size_t i = 0; i < n * columns; i++)
            matrix[i] = (float)m->coefficients[i];
    return keep_functions(call, matrix, n, columns, &s->sums[0]);
}

static ln_status keep_kernels(ln_call *call, machine *s)
{
    const ln_svm_model *m = &s->model;
    size_t columns = m->value_count / m->vector_count, count = kernel_count(m);
    float *matrix = take_matrix(call, count, columns);
    float *bias = ln_call_keep(call, count, sizeof *bias);
    if (!matrix || !bias)
        return ln_error_status();
    for (size_t i = 0; i < count * columns; i++)
        matrix[i] = i < m->value_count ? (float)(m->gamma * m->vectors[i]) : 0;
    for (size_t v = 0; v < count; v++)
        bias[v] = (float)m->coef0;
    LN_TRY(keep_functions(call, matrix, count, columns, &s->kernels));
    s->kernels.bias = bias;
    return LN_OK;
}

// Sums of the kernels of each class with all rows of coefficients.
static ln_status keep_sums(ln_call *call, machine *s)
{
    const ln_svm_model *m = &s->model;
    size_t n = m->class_count ? m->class_count - 1 : 1;
    for (size_t i = 0; i < sum_count(&s->model); i++) {
        size_t start = m->class_count ? m->class_starts[i] : 0;
        size_t end = m->class_count ? m->class_starts[i + 1] : kernel_count(m);
        float *matrix = take_matrix(call, n, end - start);
        if (!matrix)
            return ln_error_status();
        for (size_t f = 0; f < n; f++)
            for (size_t v = start; v < end; v++)
                matrix[f * (end - start) + v - start] =
                    v < m->vector_count ? (float)m->coefficients[f * m->vector_count + v] : 0;
        LN_TRY(keep_functions(call, matrix, n, end - start, &s->sums[i]));
    }
    return LN_OK;
}

static ln_status keep_machine(ln_call *call, machine *s)
{
    s->sums = ln_call_keep(call, sum_count(&s->model), sizeof *s->sums);
    if (!s->sums)
        return ln_error_status();
    if (is_linear(&s->model))
        return keep_linear_machine(call, s);
    LN_TRY(keep_kernels(call, s));
    return keep_sums(call, s);
}

static ln_status prepare_ml_svm_regressor(ln_call *call, machine *s)
{
    LN_TRY(ln_svm_read_regressor(call, &s->model));
    return keep_machine(call, s);
}

LN_PREPARE(ln_cpu_prepare_ml_svm_regressor, machine, prepare_ml_svm_regressor)

static ln_status prepare_ml_svm_classifier(ln_call *call, machine *s)
{
    LN_TRY(ln_svm_read_classifier(call, &s->model));
    return keep_machine(call, s);
}

LN_PREPARE(ln_cpu_prepare_ml_svm_classifier, machine, prepare_ml_svm_classifier)

ln_status ln_cpu_accepts_ml_svm_classifier(ln_call *call)
{
    const char *kernel = ln_call_string(call, "kernel_type");
    if (kernel && strcmp(kernel, "RBF") == 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for products of vectors here");
    return accepts_floats(call);
}

// Linear ones are the core's; those that no rule says are left to `ref`.
ln_status ln_cpu_accepts_ml_svm_regressor(ln_call *call)
{
    const char *kernel = ln_call_string(call, "kernel_type");
    bool is_linear = kernel && strcmp(kernel, "LINEAR") == 0;
    if (is_linear || ln_call_int(call, "n_supports") == 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for kernels that are not linear here");
    return ln_cpu_accepts_ml_svm_classifier(call);
}

// `sizes` are those of the model.
static ln_status open_rows(ln_call *call, const ln_svm_model *sizes, rows *r, size_t *out_row_count)
{
    int row_count, columns;
    LN_TRY(ln_ml_table(call, 0, &row_count, &columns));
    *out_row_count = (size_t)row_count;
    *r = (rows){.call = call, .columns = (size_t)columns};
    size_t kernels = is_linear(sizes) ? 0 : kernel_count(sizes), sums = all_sums(sizes);
    size_t most = BLOCK_FLOATS / (kernels + sums + 1);
    most = most < BLOCK_ROWS ? most : BLOCK_ROWS;
    r->count = most < 1 ? 1 : most < *out_row_count ? most : *out_row_count;
    r->kernels = ln_call_scratch(call, r->count * kernels + 1, sizeof *r->kernels);
    r->sums = ln_call_scratch(call, r->count * sums + 1, sizeof *r->sums);
    r->functions = ln_call_scratch(call, ln_svm_function_count(sizes), sizeof *r->functions);
    if (!r->kernels || !r->sums || !r->functions)
        return ln_error_status();
    if (ln_call_is_counting(call))
        return LN_OK;
    r->machine = ln_call_prepared(call);
    return ln_svm_check_columns(call, &r->machine->model, r->columns);
}

static void multiply(size_t count, const float *a, const float *b, float *to)
{
    const int dims[] = {(int)count};
    ln_binary_f32_args args = {.op = LN_BINARY_MUL,
                               .x1_ndim = 1,
                               .x2_ndim = 1,
                               .ndim = 1,
                               .x1_dims = dims,
                               .x2_dims = dims,
                               .dims = dims,
                               .x1 = a,
                               .x2 = b,
                               .y = to};
    ln_binary_f32(ln_cpu_isa_get(), &args, NULL);
}

// Small integer powers are products, of as many at a time as stay in the nearest cache.
static void raise(float *x, size_t count, double degree)
{
    float power = (float)degree, squares[POWER_FLOATS];
    if (degree != 2 && degree != 3) {
        ln_power_f32(ln_cpu_isa_get(), count, x, 1, &power, 0, x);
        return;
    }
    for (size_t done = 0; done < count; done += POWER_FLOATS) {
        size_t part = ln_min(count - done, POWER_FLOATS);
        multiply(part, x + done, x + done, degree == 2 ? x + done : squares);
        if (degree == 3)
            multiply(part, squares, x + done, x + done);
    }
}

// The sums of `count` rows from `first` on.
static void compute_sums(const rows *r, size_t first, size_t count)
{
    const machine *s = r->machine;
    const ln_svm_model *m = &s->model;
    const float *x = (const float *)ln_call_in(r->call, 0)->data + first * r->columns;
    if (is_linear(&s->model)) {
        compute(r->call, &s->sums[0], LN_ACT_NONE, count, x, r->columns, r->sums);
        return;
    }
    ln_act act = m->kind == LN_SVM_SIGMOID ? LN_ACT_TANH : LN_ACT_NONE;
    compute(r->call, &s->kernels, act, count, x, r->columns, r->kernels);
    if (m->kind == LN_SVM_POLY)
        raise(r->kernels, count * s->kernels.count, m->degree);
    float *sums = r->sums;
    for (size_t i = 0; i < sum_count(&s->model); i++) {
        size_t start = m->class_count ? m->class_starts[i] : 0;
        compute(r->call, &s->sums[i], LN_ACT_NONE, count, r->kernels + start, s->kernels.count,
                sums);
        sums += count * s->sums[i].count;
    }
}

// The decision functions of row `row` of `count`.
static void find_functions(const rows *r, size_t row, size_t count)
{
    const ln_svm_model *m = &r->machine->model;
    size_t n = m->class_count, function_count = ln_svm_function_count(m), pair = 0;
    if (is_linear(m) || n == 0) {
        for (size_t f = 0; f < function_count; f++)
            r->functions[f] =
                m->rho[m->vector_count && n ? f : 0] + (double)r->sums[row * function_count + f];
        return;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        for (size_t j = i + 1; j < n; j++, pair++) {
            const float *of_i = r->sums + (i * count + row) * (n - 1);
            const float *of_j = r->sums + (j * count + row) * (n - 1);
            r->functions[pair] = m->rho[pair] + (double)of_i[j - 1] + (double)of_j[i];
        }
    }
}

ln_status ln_cpu_ml_svm_regressor(ln_call *call)
{
    rows r;
    size_t row_count;
    ln_svm_model sizes;
    LN_TRY(ln_svm_count_regressor(call, &sizes));
    LN_TRY(open_rows(call, &sizes, &r, &row_count));
    if (ln_call_is_counting(call))
        return LN_OK;
    float *y = ln_call_dst(call, 0)->data;
    for (size_t first = 0; first < row_count && !ln_deadline_passed(); first += r.count) {
        size_t count = row_count - first < r.count ? row_count - first : r.count;
        compute_sums(&r, first, count);
        for (size_t i = 0; i < count; i++) {
            find_functions(&r, i, count);
            y[first + i] = (float)ln_svm_regress(&r.machine->model, r.functions[0]);
        }
    }
    return LN_OK;
}

ln_status ln_cpu_ml_svm_classifier(ln_call *call)
{
    rows r;
    size_t row_count;
    ln_svm_classifier c;
    ln_svm_model sizes;
    LN_TRY(ln_svm_count_classifier(call, &sizes));
    LN_TRY(open_rows(call, &sizes, &r, &row_count));
    LN_TRY(ln_svm_open_classifier(call, r.machine ? &r.machine->model : &sizes, &c));
    if (ln_call_is_counting(call))
        return LN_OK;
    for (size_t first = 0; first < row_count && !ln_deadline_passed(); first += r.count) {
        size_t count = row_count - first < r.count ? row_count - first : r.count;
        compute_sums(&r, first, count);
        for (size_t i = 0; i < count; i++) {
            find_functions(&r, i, count);
            LN_TRY(ln_svm_classify(&c, first + i, r.functions));
        }
    }
    return LN_OK;
}
