// SPDX-License-Identifier: Apache-2.0
// Tree ensembles: every comparison on every kind of number, against a plain evaluation; and that
// trees are read once, not in each run.

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/api/values.h"

enum { TREES = 7, DEPTH = 4, NODES = (1 << (DEPTH + 1)) - 1, COLUMNS = 3, MAX_ROWS = 70 };

typedef struct forest {
    const char *mode;
    int features[TREES][NODES], nan_is_true[TREES][NODES];
    double values[TREES][NODES]; // of a leaf: its weight
} forest;

static uint64_t seed;

static int any(int count)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)count);
}

static double any_threshold(void)
{
    static const double values[] = {0, -0.0, 0.5, 1, -1, 1e30, 0.25};
    return values[any(7)];
}

static double any_input(void)
{
    static const double values[] = {0, -0.0, 0.5, 1, -1, 1e30, 0.25, NAN, INFINITY, -INFINITY, 0.3};
    return values[any(11)];
}

static void make_forest(forest *f, const char *mode)
{
    f->mode = mode;
    for (int t = 0; t < TREES; t++)
        for (int n = 0; n < NODES; n++) {
            f->features[t][n] = any(COLUMNS);
            f->nan_is_true[t][n] = any(2);
            f->values[t][n] = n < NODES / 2 ? any_threshold() : any(64) / 8.0 - 4;
        }
}

static bool is_true(const char *mode, double x, double value)
{
    const char *name = mode + strlen("BRANCH_");
    if (strcmp(name, "LEQ") == 0)
        return x <= value;
    if (strcmp(name, "LT") == 0)
        return x < value;
    if (strcmp(name, "GTE") == 0)
        return x >= value;
    if (strcmp(name, "GT") == 0)
        return x > value;
    return strcmp(name, "EQ") == 0 ? x == value : x != value;
}

static double evaluate(const forest *f, const float *row)
{
    double sum = 0;
    for (int t = 0; t < TREES; t++) {
        int n = 0;
        while (n < NODES / 2) {
            double x = (double)row[f->features[t][n]];
            bool goes_yes =
                is_true(f->mode, x, f->values[t][n]) || (f->nan_is_true[t][n] && isnan(x));
            n = 2 * n + (goes_yes ? 1 : 2);
        }
        sum += f->values[t][n];
    }
    return sum;
}

typedef enum list_kind {
    LIST_TREE,
    LIST_NODE,
    LIST_FEATURE,
    LIST_YES,
    LIST_NO,
    LIST_NAN,
    LIST_VALUE,
    LIST_MODE,
    LIST_TARGET,
    LIST_WEIGHT
} list_kind;

static size_t put_element(char *text, size_t size, const forest *f, list_kind kind, int t, int n)
{
    bool is_leaf = n >= NODES / 2;
    switch (kind) {
    case LIST_TREE: return (size_t)snprintf(text, size, "%d", t);
    case LIST_NODE: return (size_t)snprintf(text, size, "%d", n);
    case LIST_FEATURE: return (size_t)snprintf(text, size, "%d", f->features[t][n]);
    case LIST_YES: return (size_t)snprintf(text, size, "%d", is_leaf ? 0 : 2 * n + 1);
    case LIST_NO: return (size_t)snprintf(text, size, "%d", is_leaf ? 0 : 2 * n + 2);
    case LIST_NAN: return (size_t)snprintf(text, size, "%d", f->nan_is_true[t][n]);
    case LIST_VALUE: return (size_t)snprintf(text, size, "%.17g", is_leaf ? 0 : f->values[t][n]);
    case LIST_MODE: return (size_t)snprintf(text, size, "\"%s\"", is_leaf ? "LEAF" : f->mode);
    case LIST_TARGET: return (size_t)snprintf(text, size, "0");
    case LIST_WEIGHT: return (size_t)snprintf(text, size, "%.17g", f->values[t][n]);
    }
    return 0;
}

static size_t put_list(char *text, size_t size, const forest *f, const char *name, list_kind kind,
                       bool is_of_leaves)
{
    size_t used = (size_t)snprintf(text, size, ", %s=[", name);
    for (int t = 0; t < TREES; t++)
        for (int n = is_of_leaves ? NODES / 2 : 0; n < NODES; n++) {
            if (text[used - 1] != '[')
                used += (size_t)snprintf(text + used, size - used, ", ");
            used += put_element(text + used, size - used, f, kind, t, n);
        }
    return used + (size_t)snprintf(text + used, size - used, "]");
}

// A model with input x [rows, COLUMNS] and output y. `values` stands for the list of values.
static char *print_model(const forest *f, int rows, bool has_value_tensor)
{
    static const struct {
        const char *name;
        list_kind kind;
        bool is_of_leaves;
    } lists[] = {
        {"nodes_treeids", LIST_TREE, false},
        {"nodes_nodeids", LIST_NODE, false},
        {"nodes_featureids", LIST_FEATURE, false},
        {"nodes_truenodeids", LIST_YES, false},
        {"nodes_falsenodeids", LIST_NO, false},
        {"nodes_modes", LIST_MODE, false},
        {"nodes_missing_value_tracks_true", LIST_NAN, false},
        {"target_treeids", LIST_TREE, true},
        {"target_nodeids", LIST_NODE, true},
        {"target_ids", LIST_TARGET, true},
        {"target_weights", LIST_WEIGHT, true},
    };
    enum { SIZE = 200000 };
    char *text = malloc(SIZE);
    CHECK_NOT_NULL(text);
    size_t used = (size_t)snprintf(text, SIZE, "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d]);\n",
                                   rows, COLUMNS);
    if (has_value_tensor) {
        used +=
            (size_t)snprintf(text + used, SIZE - used,
                             "create(| dst=v | dtype=TL_DOUBLE, dims=[%d], data=[", TREES * NODES);
        for (int t = 0; t < TREES; t++)
            for (int n = 0; n < NODES; n++) {
                if (text[used - 1] != '[')
                    used += (size_t)snprintf(text + used, SIZE - used, ", ");
                used += put_element(text + used, SIZE - used, f, LIST_VALUE, t, n);
            }
        used += (size_t)snprintf(text + used, SIZE - used, "]);\n");
    }
    used += (size_t)snprintf(text + used, SIZE - used,
                             "ml_TreeEnsembleRegressor(X=x%s | Y=y | n_targets=1",
                             has_value_tensor ? ", nodes_values_as_tensor=v" : "");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        used += put_list(text + used, SIZE - used, f, lists[i].name, lists[i].kind,
                         lists[i].is_of_leaves);
    if (!has_value_tensor)
        used += put_list(text + used, SIZE - used, f, "nodes_values", LIST_VALUE, false);
    snprintf(text + used, SIZE - used, ");\n");
    return text;
}

static ln_context *load_forest(const forest *f, int rows, bool has_value_tensor)
{
    char *text = print_model(f, rows, has_value_tensor);
    ln_context *ctx = load_text(text, "ref");
    free(text);
    return ctx;
}

static void check_run(ln_context *ctx, const forest *f, int rows)
{
    static float x[MAX_ROWS * COLUMNS], y[MAX_ROWS];
    for (int i = 0; i < rows * COLUMNS; i++)
        x[i] = (float)any_input();
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    for (int r = 0; r < rows; r++)
        CHECK_NEAR(y[r], (float)evaluate(f, x + r * COLUMNS), 0);
}

TEST(trees_go_where_each_comparison_says)
{
    CHECK_OK(ln_arch_init());
    static const char *const modes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                        "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    static const int row_counts[] = {1, 2, 5, MAX_ROWS};
    static forest f;
    for (int m = 0; m < 6; m++) {
        make_forest(&f, modes[m]);
        for (int k = 0; k < 4; k++) {
            ln_context *ctx = load_forest(&f, row_counts[k], false);
            for (int round = 0; round < 3; round++)
                check_run(ctx, &f, row_counts[k]);
            close_context(ctx);
        }
    }
    ln_arch_cleanup();
}

TEST(a_constant_that_is_set_makes_other_trees_but_not_those_of_a_clone)
{
    CHECK_OK(ln_arch_init());
    static forest f, g;
    make_forest(&f, "BRANCH_LEQ");
    g = f;
    ln_context *ctx = load_forest(&f, 4, true), *clone = NULL;
    check_run(ctx, &f, 4);
    CHECK_OK(ln_context_clone(ctx, &clone));
    static double values[TREES * NODES];
    for (int t = 0; t < TREES; t++)
        for (int n = 0; n < NODES; n++) {
            g.values[t][n] = n < NODES / 2 ? any_threshold() : f.values[t][n];
            values[t * NODES + n] = n < NODES / 2 ? g.values[t][n] : 0;
        }
    CHECK_OK(ln_context_set_data(ctx, "v", values));
    for (int round = 0; round < 3; round++) {
        check_run(ctx, &g, 4);
        check_run(clone, &f, 4);
    }
    close_context(ctx);
    check_run(clone, &f, 4);
    ln_context_unload(clone);
    CHECK_OK(ln_context_load(clone, NULL));
    check_run(clone, &f, 4);
    close_context(clone);
    ln_arch_cleanup();
}

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

TEST(runs_allocate_nothing)
{
    ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    ln_allocator_set(&counted);
    CHECK_OK(ln_arch_init());
    static forest f;
    make_forest(&f, "BRANCH_LT");
    ln_context *ctx = load_forest(&f, MAX_ROWS, false);
    CHECK_OK(ln_context_run(ctx));
    size_t before = atomic_load(&request_count);
    for (int i = 0; i < 5; i++)
        CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(atomic_load(&request_count), before);
    close_context(ctx);
    ln_arch_cleanup();
    ln_allocator_set(NULL);
}

TEST_LIST(trees_go_where_each_comparison_says,
          a_constant_that_is_set_makes_other_trees_but_not_those_of_a_clone, runs_allocate_nothing)
