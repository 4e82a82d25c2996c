// SPDX-License-Identifier: Apache-2.0
// What operators on tables and texts make of their parameters is made once, at load: runs take no
// memory for it, a clone has it without the model it came from, and parameters that do not fit are
// refused before any run.

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/api/values.h"

static atomic_size_t request_count;

static void *counted_resize(void *user, void *p, size_t size)
{
    (void)user;
    atomic_fetch_add(&request_count, 1);
    return realloc(p, size);
}

static void counted_release(void *user, void *p)
{
    (void)user;
    free(p);
}

#define INTS "input(| dst=x | dtype=TL_INT64, dims=[2, 3]);\n"

#define REALS_IN "input(| dst=x | dtype=TL_FLOAT, dims=[3, 2]);\n"

typedef struct model_row {
    const char *why;
    bool makes_strings;  // which take memory
    const char *text;    // of a model with input x
    int64_t ints[6];     // x
    double expected[12]; // y
} model_row;

static const model_row model_rows[] = {
    {"labels",
     false,
     INTS "ml_LabelEncoder(X=x | Y=y | keys_int64s=[900, 7, -3, 7], values_int64s=[1, 2, 3, 4]);\n",
     {7, 900, 0, -3, 900, 8},
     {4, 1, -1, 3, 1, -1}},
    {"positions",
     true,
     INTS "ml_LabelEncoder(X=x | Y=s | since=1, classes_strings=[\"a\", \"b\", \"c\"]);\n"
          "ml_LabelEncoder(X=s | Y=y | since=1, classes_strings=[\"c\", \"b\"]);\n",
     {0, 1, 2, 3, -1, 1},
     {-1, 1, 0, -1, -1, 1}},
    {"categories",
     true,
     INTS "ml_CategoryMapper(X=x | Y=s | cats_strings=[\"a\", \"b\"], cats_int64s=[70, 5]);\n"
          "ml_CategoryMapper(X=s | Y=y | cats_strings=[\"b\", \"a\"], cats_int64s=[11, 12]);\n",
     {70, 5, 6, 5, 70, 0},
     {12, 11, -1, 11, 12, -1}},
    {"rows with a 1",
     false,
     INTS "ml_OneHotEncoder(X=x | Y=y | cats_int64s=[9, 4]);\n",
     {4, 9, 5, 9, 4, 0},
     {0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0}},
    {"n-grams that share their beginnings",
     false,
     INTS "TfIdfVectorizer(X=x | Y=y | mode=\"TF\", min_gram_length=1, max_gram_length=3, "
          "max_skip_count=0, ngram_counts=[0, 1, 5], ngram_indexes=[0, 1, 2, 3, 5], "
          "pool_int64s=[5, 5, 5, 5, 6, 5, 5, 6, 5, 6, 6]);\n",
     {5, 5, 6, 5, 6, 6},
     {2, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1}},
};

static void check_model(ln_context *ctx, const model_row *row)
{
    CHECK_OK(ln_context_set_data(ctx, "x", row->ints));
    CHECK_OK(ln_context_run(ctx));
    const tl_tensor *y = ln_tensor_table_find(ctx->tensor_table, "y")->tensor;
    for (int i = 0; i < y->len; i++) {
        double got = y->dtype == TL_INT64 ? (double)((const int64_t *)y->data)[i]
                                          : (double)((const float *)y->data)[i];
        if (got != row->expected[i])
            printf("%s: element %d is %g instead of %g\n", row->why, i, got, row->expected[i]);
        CHECK(got == row->expected[i]);
    }
}

TEST(tables_are_made_once_and_outlive_the_model)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof model_rows / sizeof *model_rows; i++) {
        ln_context *ctx = load_text(model_rows[i].text, "ref"), *clone = NULL;
        check_model(ctx, &model_rows[i]);
        CHECK_OK(ln_context_clone(ctx, &clone));
        close_context(ctx);
        check_model(clone, &model_rows[i]);
        close_context(clone);
    }
    ln_arch_cleanup();
}

TEST(runs_take_no_memory)
{
    ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    ln_allocator_set(&counted);
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof model_rows / sizeof *model_rows; i++) {
        if (model_rows[i].makes_strings)
            continue;
        ln_context *ctx = load_text(model_rows[i].text, "ref");
        check_model(ctx, &model_rows[i]);
        size_t before = atomic_load(&request_count);
        for (int k = 0; k < 5; k++)
            CHECK_OK(ln_context_run(ctx));
        CHECK_EQ(atomic_load(&request_count), before);
        close_context(ctx);
    }
    ln_arch_cleanup();
    ln_allocator_set(NULL);
}

// A plain evaluation of support vector machines.
enum { ROWS = 130, COLUMNS = 3, MAX_VECTORS = 25 };

static double plain_kernel(const char *kind, double degree, const float *row, const double *vector)
{
    double product = 0, distance = 0;
    for (int c = 0; c < COLUMNS; c++) {
        product += (double)row[c] * vector[c];
        distance += ((double)row[c] - vector[c]) * ((double)row[c] - vector[c]);
    }
    if (strcmp(kind, "RBF") == 0)
        return exp(-0.5 * distance);
    if (strcmp(kind, "POLY") == 0)
        return pow(0.5 * product + 2, degree);
    return strcmp(kind, "SIGMOID") == 0 ? tanh(0.5 * product + 2) : product;
}

static size_t put_numbers(char *text, size_t size, const char *name, const double *values,
                          size_t count)
{
    size_t used = (size_t)snprintf(text, size, ", %s=[", name);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", i ? ", " : "", values[i]);
    return used + (size_t)snprintf(text + used, size - used, "]");
}

static void check_machine(const char *target, const char *kind, double degree, int rows,
                          int vector_count)
{
    double vectors[MAX_VECTORS * COLUMNS], coefficients[MAX_VECTORS];
    float x[ROWS * COLUMNS], y[ROWS];
    for (int i = 0; i < MAX_VECTORS * COLUMNS; i++)
        vectors[i] = (i * 37 % 64) / 32.0 - 1;
    for (int i = 0; i < MAX_VECTORS; i++)
        coefficients[i] = (i * 29 % 32) / 8.0 - 2;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)(i * 11 % 16) / 8 - 1;
    char text[8000];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d]);\n"
                                   "ml_SVMRegressor(X=x | Y=y | kernel_type=\"%s\", "
                                   "kernel_params=[0.5, 2, %g], n_supports=%d, rho=[0.75]",
                                   rows, COLUMNS, kind, degree, vector_count);
    used += put_numbers(text + used, sizeof text - used, "support_vectors", vectors,
                        (size_t)vector_count * COLUMNS);
    used += put_numbers(text + used, sizeof text - used, "coefficients", coefficients,
                        (size_t)vector_count);
    snprintf(text + used, sizeof text - used, ");\n");
    ln_context *ctx = load_text(text, target);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    for (int r = 0; r < rows; r++) {
        double sum = 0.75, all = 1;
        for (int v = 0; v < vector_count; v++) {
            const double *vector = vectors + v * COLUMNS;
            double part = coefficients[v] * plain_kernel(kind, degree, x + r * COLUMNS, vector);
            sum += part;
            all += fabs(part);
        }
        CHECK_NEAR((double)y[r], sum, 1e-6 * all);
    }
    close_context(ctx);
}

TEST(every_support_vector_counts_in_every_row)
{
    static const char *const targets[] = {"ref", "cpu"};
    static const struct {
        const char *name;
        double degree;
    } kinds[] = {{"LINEAR", 0}, {"POLY", 2}, {"POLY", 3},
                 {"POLY", 2.5}, {"RBF", 0},  {"SIGMOID", 0}};
    static const int row_counts[] = {1, 2, 3, 7, ROWS},
                     vector_counts[] = {1, 8, 15, 16, MAX_VECTORS};
    CHECK_OK(ln_arch_init());
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 6; k++)
            for (int r = 0; r < 5; r++)
                for (int v = 0; v < 5; v++)
                    check_machine(targets[t], kinds[k].name, kinds[k].degree, row_counts[r],
                                  vector_counts[v]);
    ln_arch_cleanup();
}

// Scores and classes of a classifier on a target.
typedef struct classified {
    int64_t classes[ROWS];
    float scores[ROWS * 10];
} classified;

static void classify(const char *text, const char *target, classified *out)
{
    float x[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)((i * 11 + i / 7) % 16) / 8 - 1;
    ln_context *ctx = load_text(text, target);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", out->classes));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "z", out->scores));
    close_context(ctx);
}

static void check_same_classes(const char *text, int score_count)
{
    classified ref, cpu;
    classify(text, "ref", &ref);
    classify(text, "cpu", &cpu);
    for (int i = 0; i < ROWS * score_count; i++)
        CHECK_NEAR((double)cpu.scores[i], (double)ref.scores[i],
                   1e-5 * (1 + fabs((double)ref.scores[i])));
    for (int r = 0; r < ROWS; r++)
        CHECK_EQ(cpu.classes[r], ref.classes[r]);
}

// The first class has no vectors, the others 1, 2, 3, ... of them.
static void check_classifier(const char *kind, int class_count, bool has_probabilities)
{
    double numbers[MAX_VECTORS * 5], rho[10], ints[5];
    int vector_count = class_count * (class_count - 1) / 2;
    for (int i = 0; i < MAX_VECTORS * 5; i++)
        numbers[i] = (i * 37 % 61) / 32.0 - 1;
    for (int i = 0; i < 10; i++)
        rho[i] = i / 16.0 - 0.3;
    for (int i = 0; i < 5; i++)
        ints[i] = i;
    size_t pairs = (size_t)vector_count;
    char text[8000];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d]);\n"
                                   "ml_SVMClassifier(X=x | Y=y, Z=z | kernel_type=\"%s\", "
                                   "kernel_params=[0.5, 2, 3]",
                                   ROWS, COLUMNS, kind);
    used +=
        put_numbers(text + used, sizeof text - used, "support_vectors", numbers, pairs * COLUMNS);
    used += put_numbers(text + used, sizeof text - used, "coefficients", numbers + 7,
                        pairs * (size_t)(class_count - 1));
    used += put_numbers(text + used, sizeof text - used, "rho", rho, pairs);
    used += put_numbers(text + used, sizeof text - used, "vectors_per_class", ints,
                        (size_t)class_count);
    used +=
        put_numbers(text + used, sizeof text - used, "classlabels_ints", ints, (size_t)class_count);
    if (has_probabilities) {
        used += put_numbers(text + used, sizeof text - used, "prob_a", numbers + 3, pairs);
        used += put_numbers(text + used, sizeof text - used, "prob_b", rho, pairs);
    }
    snprintf(text + used, sizeof text - used, ");\n");
    check_same_classes(text, has_probabilities || class_count == 2 ? class_count : (int)pairs);
}

TEST(machines_classify_alike_on_ref_and_cpu)
{
    static const char *const kinds[] = {"LINEAR", "POLY", "SIGMOID"};
    CHECK_OK(ln_arch_init());
    for (int k = 0; k < 3; k++)
        for (int n = 2; n <= 5; n++)
            for (int p = 0; p < 2; p++)
                check_classifier(kinds[k], n, p);
    check_same_classes("input(| dst=x | dtype=TL_FLOAT, dims=[130, 3]);\n"
                       "ml_SVMClassifier(X=x | Y=y, Z=z | coefficients=[1, 2, 3, -1, 0.5, 2], "
                       "rho=[0.25], classlabels_ints=[4, 9]);\n",
                       2);
    ln_arch_cleanup();
}

TEST(linear_models_say_the_same_on_ref_and_cpu)
{
    static const char *const transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                             "PROBIT"};
    CHECK_OK(ln_arch_init());
    for (int t = 0; t < 5; t++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "input(| dst=x | dtype=TL_FLOAT, dims=[130, 3]);\n"
            "ml_LinearClassifier(X=x | Y=y, Z=z | coefficients=[0.113, 0.207, 0.311, 0.2, 0.05, 0.1, "
            "0.203, 0, 0.109], intercepts=[0.7, 0.6, 0.55], classlabels_ints=[4, 9, 2], "
            "post_transform=\"%s\");\n",
            transforms[t]);
        check_same_classes(text, 3);
        snprintf(text, sizeof text,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[130, 3]);\n"
                 "ml_LinearClassifier(X=x | Y=y, Z=z | coefficients=[0.1, 0.2, 0.3], "
                 "intercepts=[0.7], classlabels_ints=[4, 9], post_transform=\"%s\");\n",
                 transforms[t]);
        check_same_classes(text, 2);
        snprintf(text, sizeof text,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[130, 3]);\n"
                 "ml_LinearRegressor(X=x | Y=z | coefficients=[0.1, 0.2, 0.3, 0.2, 0.05, 0.1], "
                 "intercepts=[0.7, 0.6], targets=2, post_transform=\"%s\");\n"
                 "create(| dst=y | dtype=TL_INT64, dims=[130], data=[0]);\n",
                 transforms[t]);
        check_same_classes(text, 2);
    }
    ln_arch_cleanup();
}

TEST(parameters_that_do_not_fit_are_refused_at_load)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {INTS "ml_LabelEncoder(X=x | Y=y | keys_int64s=[1, 2], values_int64s=[1]);\n",
         "2 keys of type int64 for 1 values"},
        {INTS "ml_CategoryMapper(X=x | Y=y | cats_strings=[\"a\"], cats_int64s=[7, 8]);\n",
         "1 strings for 2 numbers"},
        {INTS "TfIdfVectorizer(X=x | Y=y | mode=\"TF\", min_gram_length=1, max_gram_length=2, "
              "max_skip_count=0, ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], "
              "pool_int64s=[1, 2, 3]);\n",
         "are from 2 to 3"},
        {INTS "TfIdfVectorizer(X=x | Y=y | mode=\"COUNT\", min_gram_length=1, max_gram_length=1, "
              "max_skip_count=0, ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1]);\n",
         "mode \"COUNT\" is none of"},
        {REALS_IN "ml_SVMRegressor(X=x | Y=y | n_supports=2, support_vectors=[1, 2, 3, 4], "
                  "coefficients=[1, 2, 3], rho=[0]);\n",
         "3 coefficients instead of 2"},
        {REALS_IN "ml_SVMRegressor(X=x | Y=y | n_supports=2147483647, support_vectors=[], "
                  "coefficients=[1], rho=[0]);\n",
         "1 coefficients instead of 2147483647"},
        {REALS_IN "ml_SVMClassifier(X=x | Y=c, Z=y | vectors_per_class=[1, 1], "
                  "support_vectors=[1, 2, 3], coefficients=[1, -1], rho=[0], "
                  "classlabels_ints=[0, 1]);\n",
         "2 support vectors of 3 values in all"},
        {REALS_IN "ml_SVMClassifier(X=x | Y=c, Z=y | vectors_per_class=[1, 1], "
                  "support_vectors=[1, 2, 3, 4], coefficients=[1, -1], rho=[0], prob_a=[1], "
                  "classlabels_ints=[0, 1]);\n",
         "1 prob_a and 0 prob_b for 1 pairs"},
        {REALS_IN "ml_LinearClassifier(X=x | Y=c, Z=y | coefficients=[1, -1], "
                  "post_transform=\"TANH\", classlabels_ints=[0, 1]);\n",
         "post_transform \"TANH\" is not known"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ln_context *ctx = open_text(rows[i].text);
        CHECK_OK(ln_context_compile(ctx, "ref"));
        CHECK_EQ(ln_context_load(ctx, NULL), LN_INVALID);
        CHECK_NOT_NULL(strstr(ln_error_message(), rows[i].message));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- What changes is made again ----

// A recurrence whose weights cpu packs: it is packed again when they are set, in the clone too.
TEST(what_is_made_of_a_constant_is_made_again_when_that_is_set)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[9, 1, 6]);\n"
                               "create(| dst=w | dtype=TL_FLOAT, dims=[1, 32, 6], ran=[-1, 1]);\n"
                               "create(| dst=r | dtype=TL_FLOAT, dims=[1, 32, 8], ran=[-1, 1]);\n"
                               "LSTM(X=x, W=w, R=r | Y=y | hidden_size=8);\n"
                               "output(src=y | |);\n";
    static float x[54], r[2][256], y[2][72], first[72], expected[72];
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 54; i++)
        x[i] = (float)(i % 11) / 4 - 1;
    for (int i = 0; i < 256; i++) {
        r[0][i] = (float)(i % 17) / 16 - 0.5f;
        r[1][i] = (float)(i % 5) / 8 - 0.25f;
    }
    ln_context *ctx = load_text(text, "cpu"), *clone;
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", first, sizeof first));
    CHECK_OK(ln_context_clone(ctx, &clone));
    ln_context *both[2] = {ctx, clone};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data_n(both[i], "x", x, sizeof x));
        CHECK_OK(ln_context_set_data_n(both[i], "r", r[i], sizeof r[i]));
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_run(both[i]));
        CHECK_OK(ln_context_get_data_n(both[i], "y", y[i], sizeof y[i]));
        CHECK(memcmp(y[i], first, sizeof first) != 0);
        // The same weights in a context that has never had others.
        ln_context *fresh = load_text(text, "cpu");
        CHECK_OK(ln_context_set_data_n(fresh, "r", r[i], sizeof r[i]));
        CHECK_OK(ln_context_set_data_n(fresh, "x", x, sizeof x));
        CHECK_OK(ln_context_run(fresh));
        CHECK_OK(ln_context_get_data_n(fresh, "y", expected, sizeof expected));
        CHECK_MEM_EQ(y[i], expected, sizeof expected);
        close_context(fresh);
        // On ref, which packs nothing, but for rounding.
        ln_context *ref = load_text(text, "ref");
        CHECK_OK(ln_context_set_data_n(ref, "r", r[i], sizeof r[i]));
        CHECK_OK(ln_context_set_data_n(ref, "x", x, sizeof x));
        CHECK_OK(ln_context_run(ref));
        CHECK_OK(ln_context_get_data_n(ref, "y", expected, sizeof expected));
        for (int k = 0; k < 72; k++)
            CHECK_NEAR(y[i][k], expected[k], 1e-5);
        close_context(ref);
    }
    close_context(clone);
    // Set again where it is: nothing but its version tells.
    CHECK_OK(ln_context_set_data_n(ctx, "r", r[1], sizeof r[1]));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", y[0], sizeof y[0]));
    CHECK_MEM_EQ(y[0], y[1], sizeof y[0]);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(what_is_made_of_a_parameter_is_made_again_when_that_is_set)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_INT64, dims=[3]);\n"
                                "ml_LabelEncoder(X=x | Y=y | keys_int64s=[900, 7], "
                                "values_int64s=[1, 2]);\n",
                                "ref");
    static const double keys[2][2] = {{7, 900}, {5, 6}};
    static const int64_t x[3] = {7, 900, 6}, expected[3][3] = {{2, 1, -1}, {1, 2, -1}, {-1, -1, 2}};
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof x));
    for (int i = 0; i < 3; i++) {
        int64_t y[3];
        if (i > 0)
            CHECK_OK(ln_context_set_param(ctx, "ml_LabelEncoder0", "keys_int64s", keys[i - 1], 2));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
        CHECK_MEM_EQ(y, expected[i], sizeof y);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(what_is_made_of_a_constant_is_made_again_when_that_is_set,
          what_is_made_of_a_parameter_is_made_again_when_that_is_set,
          tables_are_made_once_and_outlive_the_model, runs_take_no_memory,
          every_support_vector_counts_in_every_row, machines_classify_alike_on_ref_and_cpu,
          linear_models_say_the_same_on_ref_and_cpu, parameters_that_do_not_fit_are_refused_at_load)
