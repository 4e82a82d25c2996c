// SPDX-License-Identifier: Apache-2.0
// Runs every case in cases/ on each arch and compares with what ONNX Runtime gave.
//
// Uses the public headers only. The cases are files, so the tests need nothing else; README.md
// says how they were made.

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/param.h>
#include <lightnet/tensor_file.h>

#include "tests/test.h"

#define CASES_DIR LN_SOURCE_DIR "/tests/oracle/cases"
#define MAX_CASES 4096

// How far a result may be off: atol + rtol * |expected|. Operators that are not listed only move
// values or compare them, and must agree in every bit (0 and -0 alike).
static const struct {
    const char *optype;
    double atol;
    double rtol;
    const char *why;
} tolerances[] = {
    {"conv2d", 3e-7, 1e-5, "rounding of a sum of K products near 1, times sqrt(K)"},
    {"deconv2d", 3e-7, 1e-5, "as conv2d"},
    {"dot_product", 3e-7, 1e-5, "as conv2d"},
    {"avgpool2d", 2e-7, 1e-5, "a sum of values near 1 in another order"},
    {"batchnorm", 2e-6, 1e-5, "results near 0 are differences of values near 10"},
    {"elew", 0, 1e-6, "TL_POW only: right to a few units in the last place; the rest is exact"},
    {"sigmoid", 1e-7, 1e-5, "ONNX Runtime's own is right to 6e-8, and 0 below -18"},
    {"softmax", 1e-7, 1e-5, "exp, and a sum in another order"},
};

typedef struct tolerance {
    double atol;
    double rtol;
} tolerance;

// ---- Tolerances ----

// How often an operator's atol counts: sqrt(K) for K products in one result.
static double tolerance_scale(const ln_op *op)
{
    if (strcmp(op->op_arg->optype, "elew") == 0) {
        const ln_param_entry *elew_op = ln_param_list_find(op->op_arg->params, "elew_op");
        return strcmp(elew_op->value_string, "TL_POW") == 0;
    }
    if (strcmp(op->op_arg->optype, "dot_product") == 0)
        return sqrt(ln_op_find_tensor_entry(op, "src1")->tensor->len);
    const ln_tensor_entry *weight = ln_op_find_tensor_entry(op, "weight");
    return weight ? sqrt((double)weight->tensor->len / weight->tensor->dims[0]) : 1;
}

// Of a model as written: operators follow each other, so their tolerances add up.
static tolerance tolerance_of(const ln_context *ctx)
{
    tolerance total = {0};
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        for (size_t i = 0; i < sizeof tolerances / sizeof tolerances[0]; i++) {
            if (strcmp(tolerances[i].optype, op->op_arg->optype) != 0)
                continue;
            double scale = tolerance_scale(op);
            total.atol += tolerances[i].atol * scale;
            total.rtol = fmax(total.rtol, scale > 0 ? tolerances[i].rtol : 0);
        }
    }
    return total;
}

// ---- One tensor ----

// The deviation as a share of what is allowed: at most 1 is fine, infinity a plain mismatch.
static double deviation(double got, double expected, tolerance allowed)
{
    if (got == expected || (isnan(got) && isnan(expected)))
        return 0;
    double limit = allowed.atol + allowed.rtol * fabs(expected);
    double gap = fabs(got - expected);
    return limit > 0 && isfinite(gap) ? gap / limit : INFINITY;
}

static double element(const tl_tensor *tensor, const void *data, int i)
{
    return tensor->dtype == TL_FLOAT ? (double)((const float *)data)[i]
                                     : (double)((const int32_t *)data)[i];
}

static bool is_same_kind(const tl_tensor *a, const tl_tensor *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return a->dtype == TL_FLOAT || a->dtype == TL_INT32;
}

// The worst deviation; says on standard output where, if it is over 1.
static double compare(ln_context *ctx, const ln_tensor_entry *entry, const tl_tensor *expected,
                      tolerance allowed)
{
    const void *got = ln_context_get_data(ctx, entry->name, NULL);
    if (!got || !is_same_kind(entry->tensor, expected)) {
        printf("  '%s' has no data, or another type or shape than expected\n", entry->name);
        return INFINITY;
    }
    double worst = 0;
    int worst_index = 0;
    for (int i = 0; i < expected->len; i++) {
        double off = deviation(element(expected, got, i), element(expected, expected->data, i),
                               expected->dtype == TL_FLOAT ? allowed : (tolerance){0});
        if (off > worst) {
            worst = off;
            worst_index = i;
        }
    }
    if (worst > 1)
        printf("  '%s'[%d] is %.9g, expected %.9g\n", entry->name, worst_index,
               element(expected, got, worst_index), element(expected, expected->data, worst_index));
    return worst;
}

// ---- One case ----

static ln_status set_inputs(ln_context *ctx, const ln_tensor_file *file)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, i);
        const tl_tensor *value =
            ln_tensor_file_tensor(file, ln_tensor_file_find(file, entry->name));
        if (!value || !is_same_kind(value, entry->tensor))
            return LN_FAIL(LN_NOT_FOUND, "no fitting value for input '%s'", entry->name);
        LN_TRY(ln_context_set_data(ctx, entry->name, value->data));
    }
    return LN_OK;
}

static ln_status compare_outputs(ln_context *ctx, const ln_tensor_file *file, tolerance allowed,
                                 double *out_worst)
{
    size_t count = ln_context_output_count(ctx);
    if (count == 0)
        return LN_FAIL(LN_NOT_FOUND, "the model has no outputs");
    for (size_t i = 0; i < count; i++) {
        const ln_tensor_entry *entry = ln_context_output(ctx, i);
        const tl_tensor *expected =
            ln_tensor_file_tensor(file, ln_tensor_file_find(file, entry->name));
        if (!expected)
            return LN_FAIL(LN_NOT_FOUND, "no expected value of output '%s'", entry->name);
        *out_worst = fmax(*out_worst, compare(ctx, entry, expected, allowed));
    }
    return LN_OK;
}

// Runs twice: a second run must not depend on what the first left behind.
static ln_status run_model(ln_context *ctx, const char *model, const char *data,
                           const ln_tensor_file *file, const char *target, double *out_worst)
{
    LN_TRY(ln_context_init(ctx, model));
    tolerance allowed = tolerance_of(ctx);
    LN_TRY(ln_context_compile(ctx, target));
    LN_TRY(ln_context_load(ctx, data));
    for (int i = 0; i < 2; i++) {
        LN_TRY(set_inputs(ctx, file));
        LN_TRY(ln_context_run(ctx));
        LN_TRY(compare_outputs(ctx, file, allowed, out_worst));
    }
    return LN_OK;
}

// NAME_static takes its data from NAME: the same model, whose weights come from the file.
static void data_path(char *path, size_t size, const char *name)
{
    static const char ending[] = "_static";
    size_t len = strlen(name), ending_len = sizeof ending - 1;
    if (len > ending_len && strcmp(name + len - ending_len, ending) == 0)
        len -= ending_len;
    snprintf(path, size, "%s/%.*s.safetensors", CASES_DIR, (int)len, name);
}

// 1 if the case holds; prints its worst deviation or why it could not run.
static int run_case(const char *name, const char *target)
{
    char model[4096], data[4096];
    snprintf(model, sizeof model, "%s/%s.net", CASES_DIR, name);
    data_path(data, sizeof data, name);

    double worst = 0;
    ln_tensor_file *file = NULL;
    ln_context *ctx = ln_context_create();
    ln_status status = ctx ? ln_tensor_file_open(data, &file) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = run_model(ctx, model, data, file, target, &worst);
    ln_context_free(ctx);
    ln_tensor_file_close(file);

    if (status != LN_OK)
        printf("%-5s %-40s %s\n", target, name, ln_error_message());
    else
        printf("%-5s %-40s %5.1f%% of its tolerance%s\n", target, name, 100 * worst,
               worst <= 1 ? "" : "  WRONG");
    return status == LN_OK && worst <= 1;
}

// ---- All cases ----

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The names of all models in the folder, sorted; 0 if there are none, or no folder.
static size_t find_cases(char **names)
{
    DIR *dir = opendir(CASES_DIR);
    if (!dir)
        return 0;
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(dir)) && count < MAX_CASES;) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending && strcmp(ending, ".net") == 0)
            names[count++] = strndup(entry->d_name, (size_t)(ending - entry->d_name));
    }
    closedir(dir);
    qsort(names, count, sizeof *names, compare_names);
    return count;
}

static void run_all(const char *target)
{
    CHECK_OK(ln_arch_init());
    if (!ln_arch_find(target)) {
        ln_arch_cleanup();
        SKIP("the library was built without this arch");
    }
    static char *names[MAX_CASES];
    size_t count = find_cases(names);
    size_t right_count = 0;
    for (size_t i = 0; i < count; i++) {
        right_count += run_case(names[i], target);
        free(names[i]);
    }
    ln_arch_cleanup();
    printf("%s: %zu of %zu cases hold\n", target, right_count, count);
    CHECK(count > 0);
    CHECK_EQ(right_count, count);
}

TEST(ref_gives_what_onnx_runtime_gives)
{
    run_all("ref");
}

TEST(cpu_gives_what_onnx_runtime_gives)
{
    run_all("cpu");
}

TEST_LIST(ref_gives_what_onnx_runtime_gives, cpu_gives_what_onnx_runtime_gives)
