// SPDX-License-Identifier: Apache-2.0
// Runs every case in cases/ and formulas/ on each arch, and as it was read, and compares with what
// ONNX Runtime and the formulas gave.
//
// Uses the public headers only. The cases are files, so the tests need nothing else; README.md
// says how they were made.

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/op_info.h>
#include <lightnet/optimize.h>
#include <lightnet/param.h>
#include <lightnet/tensor_file.h>

#include "tests/test.h"

#define ORACLE_DIR LN_SOURCE_DIR "/tests/oracle"
#define MAX_CASES  4096
#define MAX_TYPES  512

// How far a result may be off: atol + rtol * |expected|. Operators that are not listed only move
// values, compare them or compute them in double, and must agree in every bit (0 and -0 alike), as
// must all integers. Doubles get DOUBLE_SHARE of it. This is between two programs that both round,
// over many products; `rtol` in a description is what arch cpu may be off from ref in one element.
#define DOUBLE_SHARE 1e-7
static const struct {
    const char *optype;
    double atol;
    double rtol;
    const char *why;
} tolerances[] = {
    {"conv2d", 3e-7, 1e-5, "rounding of a sum of K products near 1, times sqrt(K)"},
    {"conv", 3e-7, 1e-5, "as conv2d"},
    {"deconv2d", 3e-7, 1e-5, "as conv2d"},
    {"deconv", 3e-7, 1e-5, "as conv2d"},
    {"dot_product", 3e-7, 1e-5, "as conv2d"},
    {"matmul", 3e-7, 1e-5, "as conv2d"},
    {"einsum", 3e-7, 1e-5, "as conv2d"},
    {"avgpool2d", 2e-7, 1e-5, "a sum of values near 1 in another order"},
    {"batchnorm", 2e-6, 1e-5, "results near 0 are differences of values near 10"},
    {"elew", 0, 1e-6,
     "TL_POW, TL_POWER: right to a few units in the last place; the rest is exact"},
    {"func", 1e-7, 1e-6, "log, sin, cos and the like: right to a few units in the last place"},
    {"rnn", 1e-6, 1e-5, "as conv, then exp, step after step"},
    {"sigmoid", 1e-7, 1e-5, "ONNX Runtime's own is right to 6e-8, and 0 below -18"},
    {"softmax", 1e-7, 1e-5, "exp, and a sum in another order"},
    {"resize", 3e-7, 1e-6, "TL_LINEAR only: a sum of values near 1 in another order"},
    {"upsample", 3e-7, 1e-6, "as resize"},
    {"bn_fold_weight", 0, 1e-6, "products and quotients in another order"},
    {"bn_fold_bias", 1e-6, 1e-6, "as bn_fold_weight; results near 0 are differences"},
    {"bn2scale_wts", 1e-6, 1e-6, "as bn_fold_bias"},
    {"transform_bboxSQD", 2e-4, 1e-6, "float: sums of pixels up to 1000, which may cancel"},
    {"act", 2e-7, 2e-6, "exp and the like; small results of gelu and mish are differences"},
    {"scale_shift", 2e-7, 2e-6, "a product and a sum of values near 1, then as act"},
    {"layernorm", 1e-6, 1e-5, "results near 0 are differences"},
    {"groupnorm", 1e-6, 1e-5, "as layernorm"},
    {"lrn", 0, 2e-6, "a sum of squares and a power: right to a few units in the last place"},
    {"attention", 1e-6, 1e-5, "as softmax, then a sum of values near 1"},
    {"conv2d_nhwc_cpu", 3e-7, 1e-5, "as conv2d; Winograd's algorithms lose some bits more"},
    {"conv2d_maxpool_nhwc_cpu", 3e-7, 1e-5, "as conv2d_nhwc"},
    {"separable_nhwc_cpu", 3e-7, 1e-5, "as conv2d_nhwc, of sums of sums"},
    {"conv3d_ndhwc_cpu", 3e-7, 1e-5, "as conv2d_nhwc"},
    {"deconv2d_nhwc_cpu", 3e-7, 1e-5, "as conv2d"},
    {"groupnorm_nhwc_cpu", 1e-6, 1e-5, "results near 0 are differences"},
    {"avgpool2d_nhwc_cpu", 2e-7, 1e-5, "as avgpool2d"},
    {"quant_mean_nhwc_cpu", 2e-7, 1e-5, "as avgpool2d"},
    {"resize_nhwc_cpu", 3e-7, 1e-6, "as resize"},
    {"linear", 3e-7, 1e-5, "as conv2d"},
    {"detect_yolov3", 2e-4, 2e-6, "float: as transform_bboxSQD; exp of up to 30"},
};

typedef struct tolerance {
    double atol;
    double rtol;
} tolerance;

// ---- Tolerances ----

// sqrt(K), and what an algorithm's transformed numbers are larger than their results.
static double tolerance_scale_nhwc(const ln_op *op)
{
    static const struct {
        const char *algorithm;
        double scale;
    } rows[] = {{"winograd2", 2}, {"winograd4", 6}, {"winograd6", 12}};
    const tl_tensor *src = ln_op_find_tensor_entry(op, "src")->tensor;
    const ln_param_entry *size = ln_param_list_find(op->op_arg->params, "size");
    const ln_param_entry *algorithm = ln_param_list_find(op->op_arg->params, "algorithm");
    double products = src->dims[src->ndim - 1];
    for (int i = 0; i < size->array_len; i++)
        products *= size->value_array_int[i];
    double scale = sqrt(products);
    for (size_t i = 0; algorithm && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(algorithm->value_string, rows[i].algorithm) == 0)
            scale *= rows[i].scale;
    return scale;
}

// Each convolution's sums make those of the one before larger: sqrt(K) of all of them, multiplied.
static double tolerance_scale_separable(const ln_op *op)
{
    const ln_param_entry *size = ln_param_list_find(op->op_arg->params, "size");
    const ln_param_entry *channels = ln_param_list_find(op->op_arg->params, "channels");
    double k = (double)size->value_array_int[0] * size->value_array_int[1];
    if (ln_op_find_tensor_entry(op, "expand"))
        k *= ln_op_find_tensor_entry(op, "src")->tensor->dims[3];
    if (ln_op_find_tensor_entry(op, "project"))
        k *= channels->value_int;
    return sqrt(k);
}

// How often an operator's atol counts: sqrt(K) for K products in one result.
static double tolerance_scale(const ln_op *op)
{
    if (strcmp(op->op_arg->optype, "elew") == 0) {
        const ln_param_entry *elew_op = ln_param_list_find(op->op_arg->params, "elew_op");
        return strncmp(elew_op->value_string, "TL_POW", 6) == 0;
    }
    const ln_param_entry *mode = ln_param_list_find(op->op_arg->params, "mode");
    if (mode)
        return strcmp(mode->value_string, "TL_LINEAR") == 0 ||
               strcmp(mode->value_string, "linear") == 0;
    if (strcmp(op->op_arg->optype, "dot_product") == 0)
        return sqrt(ln_op_find_tensor_entry(op, "src1")->tensor->len);
    if (strcmp(op->op_arg->optype, "matmul") == 0) {
        const tl_tensor *src = ln_op_find_tensor_entry(op, "src1")->tensor;
        return sqrt(
            src->dims[src->ndim - (ln_param_list_find(op->op_arg->params, "transA") ? 2 : 1)]);
    }
    if (strcmp(op->op_arg->optype, "linear") == 0) {
        const tl_tensor *src = ln_op_find_tensor_entry(op, "src")->tensor;
        return sqrt(src->dims[src->ndim - 1]);
    }
    if (strcmp(op->op_arg->optype, "conv2d_nhwc_cpu") == 0 ||
        strcmp(op->op_arg->optype, "conv2d_maxpool_nhwc_cpu") == 0 ||
        strcmp(op->op_arg->optype, "conv3d_ndhwc_cpu") == 0 ||
        strcmp(op->op_arg->optype, "deconv2d_nhwc_cpu") == 0)
        return tolerance_scale_nhwc(op);
    if (strcmp(op->op_arg->optype, "separable_nhwc_cpu") == 0)
        return tolerance_scale_separable(op);
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
    double value;
    size_t size = tl_size_of(tensor->dtype);
    CHECK_OK(tl_convert(&value, TL_DOUBLE, (const char *)data + (size_t)i * size, tensor->dtype));
    return value;
}

static bool is_floating(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE;
}

// As `deviation`; integers are equal or not, whatever a double can hold of them.
static double element_deviation(const tl_tensor *expected, const void *got, int i,
                                tolerance allowed)
{
    size_t size = tl_size_of(expected->dtype), at = (size_t)i * size;
    if (!is_floating(expected->dtype))
        return memcmp((const char *)got + at, (const char *)expected->data + at, size) == 0
                   ? 0
                   : INFINITY;
    double share = expected->dtype == TL_DOUBLE ? DOUBLE_SHARE : 1;
    return deviation(element(expected, got, i), element(expected, expected->data, i),
                     (tolerance){allowed.atol * share, allowed.rtol * share});
}

static bool is_same_kind(const tl_tensor *a, const tl_tensor *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
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
        double off = element_deviation(expected, got, i, allowed);
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

// Whether an input has numbers of its own: random ones, which are those of its name.
static bool has_first_value(const ln_context *ctx, const char *name)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_tensor_list_find_by_name(op->op_arg->tensors_out, name))
            return ln_param_list_find(op->op_arg->params, "ran") != NULL;
    return false;
}

static ln_status set_inputs(ln_context *ctx, const ln_tensor_file *file)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, i);
        const tl_tensor *value =
            ln_tensor_file_tensor(file, ln_tensor_file_find(file, entry->name));
        if (!value && has_first_value(ctx, entry->name))
            continue;
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

// The operators of all cases, as they are written and as they are computed.
static char *types_met[MAX_TYPES];

static void meet_types(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        char optype[LN_MAX_NAME_LEN];
        size_t i = 0, len = strlen(op->op_arg->optype);
        bool is_ref = strcmp(op->op_arg->arch, "ref") == 0;
        snprintf(optype, sizeof optype, "%.*s", (int)(is_ref ? len - strlen("_ref") : len),
                 op->op_arg->optype);
        while (i < MAX_TYPES && types_met[i] && strcmp(types_met[i], optype) != 0)
            i++;
        CHECK(i < MAX_TYPES);
        if (!types_met[i])
            types_met[i] = strdup(optype);
    }
}

static bool is_met(const char *optype)
{
    for (size_t i = 0; i < MAX_TYPES && types_met[i]; i++)
        if (strcmp(types_met[i], optype) == 0)
            return true;
    return false;
}

// In place of a target: on `ref`, by no rules.
#define AS_READ "as read"

static const char *arch_of(const char *target)
{
    return strcmp(target, AS_READ) == 0 ? "ref" : target;
}

static ln_status compile(ln_context *ctx, const char *target)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = strcmp(target, AS_READ) == 0;
    return ln_context_compile_with(ctx, arch_of(target), &options);
}

// Runs twice: a second run must not depend on what the first left behind.
static ln_status run_model(ln_context *ctx, const char *data, const ln_tensor_file *file,
                           const char *target, double *out_worst)
{
    meet_types(ctx);
    tolerance allowed = tolerance_of(ctx);
    LN_TRY(compile(ctx, target));
    meet_types(ctx);
    LN_TRY(ln_context_load(ctx, data));
    for (int i = 0; i < 2; i++) {
        LN_TRY(set_inputs(ctx, file));
        LN_TRY(ln_context_run(ctx));
        LN_TRY(compare_outputs(ctx, file, allowed, out_worst));
    }
    return LN_OK;
}

// NAME_static takes its data from NAME: the same model, whose weights come from the file.
static void data_path(char *path, size_t size, const char *folder, const char *name)
{
    static const char ending[] = "_static";
    size_t len = strlen(name), ending_len = sizeof ending - 1;
    if (len > ending_len && strcmp(name + len - ending_len, ending) == 0)
        len -= ending_len;
    snprintf(path, size, ORACLE_DIR "/%s/%.*s.safetensors", folder, (int)len, name);
}

// Whether the model is written in operators of another arch.
static bool is_of_another(const ln_context *ctx, const char *target)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (strcmp(op->op_arg->arch, "none") != 0 && strcmp(op->op_arg->arch, target) != 0)
            return true;
    return false;
}

typedef enum result { HOLDS, OF_ANOTHER, WRONG } result;

// Prints its worst deviation, or why it could not run.
static result run_case(const char *folder, const char *name, const char *target)
{
    char model[4096], data[4096];
    snprintf(model, sizeof model, ORACLE_DIR "/%s/%s.net", folder, name);
    data_path(data, sizeof data, folder, name);

    double worst = 0;
    ln_tensor_file *file = NULL;
    ln_context *ctx = ln_context_create();
    ln_status status = ctx ? ln_tensor_file_open(data, &file) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_init(ctx, model);
    bool is_skipped = status == LN_OK && is_of_another(ctx, arch_of(target));
    if (status == LN_OK && !is_skipped)
        status = run_model(ctx, data, file, target, &worst);
    ln_context_free(ctx);
    ln_tensor_file_close(file);

    if (status != LN_OK)
        printf("%-5s %-40s %s\n", target, name, ln_error_message());
    else
        printf("%-5s %-40s %5.1f%% of its tolerance%s\n", target, name, 100 * worst,
               worst <= 1 ? "" : "  WRONG");
    if (status != LN_OK || worst > 1)
        return WRONG;
    return is_skipped ? OF_ANOTHER : HOLDS;
}

// ---- All cases ----

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The names of all models in the folder, sorted; 0 if there are none, or no folder.
static size_t find_cases(const char *folder, char **names)
{
    char path[4096];
    snprintf(path, sizeof path, ORACLE_DIR "/%s", folder);
    DIR *dir = opendir(path);
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

static void run_folder(const char *folder, const char *target)
{
    static char *names[MAX_CASES];
    size_t count = find_cases(folder, names);
    size_t result_counts[3] = {0};
    for (size_t i = 0; i < count; i++) {
        result_counts[run_case(folder, names[i], target)]++;
        free(names[i]);
    }
    printf("%s: %zu of %zu %s hold, %zu are of another arch, %zu are wrong\n", target,
           result_counts[HOLDS], count, folder, result_counts[OF_ANOTHER], result_counts[WRONG]);
    CHECK(result_counts[HOLDS] > 0);
    CHECK_EQ(result_counts[WRONG], 0);
}

static void run_all(const char *folder, const char *target)
{
    CHECK_OK(ln_arch_init());
    if (!ln_arch_find(arch_of(target))) {
        ln_arch_cleanup();
        SKIP("the library was built without this arch");
    }
    run_folder(folder, target);
    ln_arch_cleanup();
}

TEST(ref_gives_what_onnx_runtime_gives)
{
    run_all("cases", "ref");
}

TEST(cpu_gives_what_onnx_runtime_gives)
{
    run_all("cases", "cpu");
}

TEST(ref_gives_what_the_formulas_give)
{
    run_all("formulas", "ref");
}

TEST(cpu_gives_what_the_formulas_give)
{
    run_all("formulas", "cpu");
}

TEST(as_read_it_gives_what_onnx_runtime_gives)
{
    run_all("cases", AS_READ);
}

TEST(as_read_it_gives_what_the_formulas_give)
{
    run_all("formulas", AS_READ);
}

// An operator of an arch that is no variant of an abstract one.
static bool is_own(const ln_op_arg *arg)
{
    char abstract[LN_MAX_NAME_LEN];
    size_t len = strlen(arg->optype) - strlen(arg->arch) - 1;
    snprintf(abstract, sizeof abstract, "%.*s", (int)len, arg->optype);
    return !ln_op_find(abstract);
}

// Every operator with numbers to get right that is no variant: all but those that show a tensor or
// wait, and those of ONNX, whose cases are the conformance data.
TEST(no_operator_is_without_a_case)
{
    static const char *const shows[] = {"print", "fprint", "output", "strings", "wait"};
    CHECK_OK(ln_arch_init());
    run_folder("cases", "ref"); // this test may run alone
    run_folder("formulas", "ref");
    if (ln_arch_find("cpu"))
        run_folder("formulas", "cpu");
    const ln_op *op;
    size_t missing_count = 0;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const char *optype = op->op_arg->optype;
        const ln_op_info *info = op->op_arg->info;
        bool is_abstract = strcmp(op->op_arg->arch, "none") == 0;
        bool is_exempt = is_met(optype) || (info && info->since && info->since[0]) ||
                         (!is_abstract && !is_own(op->op_arg));
        for (size_t k = 0; k < sizeof shows / sizeof shows[0]; k++)
            is_exempt = is_exempt || strcmp(optype, shows[k]) == 0;
        if (is_exempt)
            continue;
        printf("%s has no case\n", optype);
        missing_count++;
    }
    ln_arch_cleanup();
    for (size_t i = 0; i < MAX_TYPES; i++)
        free(types_met[i]);
    CHECK_EQ(missing_count, 0);
}

TEST_LIST(ref_gives_what_onnx_runtime_gives, cpu_gives_what_onnx_runtime_gives,
          ref_gives_what_the_formulas_give, cpu_gives_what_the_formulas_give,
          as_read_it_gives_what_onnx_runtime_gives, as_read_it_gives_what_the_formulas_give,
          no_operator_is_without_a_case)
