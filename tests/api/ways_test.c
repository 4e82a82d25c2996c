// SPDX-License-Identifier: Apache-2.0
// Options of a compilation hold for whatever becomes of it: plans for other shapes, ranges, clones,
// instances of programs, compiled files. Each has the operators that the same options give a model
// that is compiled for the shape alone.

#include <stdio.h>

#include "compile/instance.h"
#include "tests/api/model.h"

#define RULES LN_BUILD_DIR "/ways.rules"

// Rewrites in every pass that has some: a Winograd convolution with its ReLU, an image, halves.
#define NETWORK                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 16, 12, 12], names=[\"n\", \"\", \"\", \"\"]);\n"   \
    "create(| dst=w | dtype=TL_FLOAT, dims=[16, 16, 3, 3], ran=[-1, 1]);\n"                        \
    "create(| dst=b | dtype=TL_FLOAT, dims=[16], ran=[-1, 1]);\n"                                  \
    "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3], padding=[1, 1, 1, 1]);\n"               \
    "relu(src=c | dst=r |);\n"                                                                     \
    "maxpool2d(src=r | dst=y | size=[2, 2], stride=[2, 2]);\n"                                     \
    "input(| dst=h | dtype=TL_FLOAT16, dims=[-1, 8], names=[\"n\", \"\"]);\n"                      \
    "relu(src=h | dst=k |);\n"                                                                     \
    "sigmoid(src=k | dst=z |);\n"

#define FIRST 2 // the size that the model is compiled for
#define OTHER 3

static int refuse_conv_relu(void *user, const ln_firing *firing)
{
    (void)user;
    return strcmp(firing->rule, "conv_relu") != 0;
}

// ---- Options ----

// Numbers of firings: of the last of pass `core`, of the one that computes halves in floats.
enum { LAST_INTO_CORE = 5, HALVES_IN_FLOATS = 6 };

typedef struct option_row {
    const char *name, *target;
    ln_optimize_options options; // what differs from the defaults
    bool is_in_file;             // a compiled file states it
} option_row;

static const size_t skip[] = {HALVES_IN_FLOATS};
static const char *const rule_files[] = {RULES};

// clang-format off
static const option_row rows[] = {
    {"none", "cpu", {0}, true},
    {"passes", "cpu", {.passes = "core,fold,expand,scratch,order"}, false},
    {"stop_after", "cpu", {.stop_after = "subgraph"}, false},
    {"rule_files", "cpu", {.rule_files = rule_files, .rule_file_count = 1}, false},
    {"skip", "cpu", {.skip = skip, .skip_count = 1}, false},
    {"firing_limit", "cpu,ref", {.firing_limit = LAST_INTO_CORE}, false},
    {"wants_firing", "cpu", {.wants_firing = refuse_conv_relu}, false},
    {"keeps_tensors", "cpu", {.keeps_tensors = 1}, true},
    {"freezes_constants", "cpu", {.freezes_constants = 1}, true},
    {"avoids_winograd", "cpu", {.avoids_winograd = 1}, true},
    {"keeps_halves", "cpu", {.keeps_halves = 1}, true},
    {"stays_as_read", "ref", {.stays_as_read = 1}, true},
};
// clang-format on

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static ln_optimize_options options_of(const option_row *row)
{
    ln_optimize_options options = row->options;
    if (options.firing_limit == 0)
        options.firing_limit = SIZE_MAX;
    return options;
}

static void write_rules(void)
{
    FILE *file = fopen(RULES, "w");
    CHECK_NOT_NULL(file);
    fprintf(file, "rule no_relu [rounds]\n  y = act(k | act=\"sigmoid\")\n"
                  "  k = act(x | act=\"relu\")\n  => y = act(x | act=\"sigmoid\")\n");
    CHECK_EQ(fclose(file), 0);
}

// ---- Ways ----

static ln_context *compile(const option_row *row, int size, int range_to)
{
    ln_context *ctx = open_text(NETWORK);
    ln_optimize_options options = options_of(row);
    if (range_to > 0)
        CHECK_OK(ln_context_set_range(ctx, "n", size, range_to));
    else if (size > 0)
        CHECK_OK(ln_context_set_symbol(ctx, "n", size));
    CHECK_OK(ln_context_compile_with(ctx, row->target, &options));
    return ctx;
}

#define SHAPES(size)                                                                               \
    (ln_input_shape[])                                                                             \
    {                                                                                              \
        {"x", 4, (int[]){size, 16, 12, 12}},                                                       \
        {                                                                                          \
            "h", 2, (int[])                                                                        \
            {                                                                                      \
                size, 8                                                                            \
            }                                                                                      \
        }                                                                                          \
    }

static ln_context *by_reshape(const option_row *row)
{
    ln_context *ctx = compile(row, FIRST, 0);
    CHECK_OK(ln_context_reshape(ctx, 2, SHAPES(OTHER)));
    return ctx;
}

// NULL: without sizes other rules fire, so that other firings are left out.
static ln_context *by_binding(const option_row *row)
{
    if (row->options.skip_count > 0 || row->options.wants_firing)
        return NULL;
    ln_context *ctx = compile(row, 0, 0);
    CHECK_OK(ln_context_reshape(ctx, 2, SHAPES(OTHER)));
    return ctx;
}

static ln_context *by_range(const option_row *row)
{
    ln_context *ctx = compile(row, 1, OTHER + 1);
    CHECK_OK(ln_context_reshape(ctx, 2, SHAPES(OTHER)));
    return ctx;
}

// The plan at the upper end, which is the first.
static ln_context *by_end_of_range(const option_row *row)
{
    return compile(row, 1, OTHER);
}

static ln_context *by_clone(const option_row *row)
{
    ln_context *ctx = compile(row, FIRST, 0), *clone;
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_clone(ctx, &clone));
    close_context(ctx);
    CHECK_OK(ln_context_reshape(clone, 2, SHAPES(OTHER)));
    return clone;
}

static ln_context *by_instance(const option_row *row)
{
    ln_context *ctx = compile(row, FIRST, 0), *instance;
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_plans_make_instance(ctx, ctx, 2, SHAPES(OTHER), &instance));
    close_context(ctx);
    return instance;
}

// NULL: the file has the plan of one shape.
static ln_context *by_file(const option_row *row)
{
    ln_context *ctx = compile(row, 1, OTHER + 1), *again = ln_context_create();
    char *json;
    size_t len;
    CHECK_OK(ln_context_write(ctx, "ir", &json, &len));
    CHECK_OK(ln_context_init_mem(again, json, len, "ways.json"));
    ln_free(json);
    close_context(ctx);
    if (row->is_in_file) {
        CHECK_OK(ln_context_reshape(again, 2, SHAPES(OTHER)));
        return again;
    }
    CHECK_FAILS(ln_context_reshape(again, 2, SHAPES(OTHER)), LN_STATE);
    close_context(again);
    return NULL;
}

static const struct {
    const char *name;
    ln_context *(*make)(const option_row *row);
    bool shares_constants; // so that none is frozen
} ways[] = {
    {"another shape", by_reshape, false}, {"a first shape", by_binding, false},
    {"a range", by_range, true},          {"the end of a range", by_end_of_range, true},
    {"a clone", by_clone, false},         {"an instance", by_instance, false},
    {"a compiled file", by_file, true},
};

// ---- Comparing ----

// The operators, their algorithms, and how memory is planned. The caller frees it.
static char *describe(const ln_context *ctx, bool has_reuse)
{
    static char text[16384];
    size_t used = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_param_entry *algorithm = ln_param_list_find(op->op_arg->params, "algorithm");
        const ln_param_entry *act = ln_param_list_find(op->op_arg->params, "act");
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s %s %d %s %s\n", op->op_arg->name,
                             op->op_arg->optype, ln_list_length(op->op_arg->tensors_out),
                             algorithm && algorithm->value_string ? algorithm->value_string : "",
                             act && act->value_string ? act->value_string : "");
        CHECK(used < sizeof text);
    }
    if (has_reuse)
        snprintf(text + used, sizeof text - used, "reuse %d", (int)ctx->plan_reuse);
    char *copy = ln_strdup(text);
    CHECK_NOT_NULL(copy);
    return copy;
}

TEST(each_way_keeps_each_option)
{
    CHECK_OK(ln_arch_init());
    write_rules();
    for (size_t r = 0; r < ROW_COUNT; r++) {
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            ln_context *wanted = compile(&rows[r], OTHER, 0), *got = ways[w].make(&rows[r]);
            if (got) {
                bool has_reuse = !ways[w].shares_constants || !rows[r].options.freezes_constants;
                char *want = describe(wanted, has_reuse), *have = describe(got, has_reuse);
                if (strcmp(want, have) != 0)
                    fail_msg("option %s is lost in %s:\n%s\ninstead of\n%s", rows[r].name,
                             ways[w].name, have, want);
                CHECK(ln_context_check(got));
                ln_free(want);
                ln_free(have);
            }
            close_context(got);
            close_context(wanted);
        }
    }
    remove(RULES);
    ln_arch_cleanup();
}

// Else the table would prove nothing.
TEST(each_option_makes_a_difference)
{
    CHECK_OK(ln_arch_init());
    write_rules();
    ln_context *usual = compile(&rows[0], OTHER, 0);
    char *as_usual = describe(usual, true);
    for (size_t r = 1; r < ROW_COUNT; r++) {
        ln_context *ctx = compile(&rows[r], OTHER, 0);
        char *have = describe(ctx, true);
        // Nothing after the pass at which it stops has something to do, or it would not run.
        if (strcmp(have, as_usual) == 0 && !rows[r].options.stop_after)
            fail_msg("option %s changes nothing", rows[r].name);
        ln_free(have);
        close_context(ctx);
    }
    ln_free(as_usual);
    close_context(usual);
    remove(RULES);
    ln_arch_cleanup();
}

// The peak that is stated for all shapes is what the largest plan takes.
TEST(the_peak_of_a_range_is_that_of_plans_with_its_options)
{
    CHECK_OK(ln_arch_init());
    write_rules();
    for (size_t r = 0; r < ROW_COUNT; r++) {
        ln_context *range = compile(&rows[r], 1, OTHER), *alone = compile(&rows[r], OTHER, 0);
        CHECK(ln_context_range_peak_bytes(range, LN_MEM_CPU) >=
              ln_context_peak_bytes(range, LN_MEM_CPU));
        if (!rows[r].options.freezes_constants)
            CHECK(ln_context_range_peak_bytes(range, LN_MEM_CPU) >=
                  ln_context_peak_bytes(alone, LN_MEM_CPU));
        CHECK_OK(ln_context_load(range, NULL));
        close_context(range);
        close_context(alone);
    }
    remove(RULES);
    ln_arch_cleanup();
}

TEST_LIST(each_way_keeps_each_option, each_option_makes_a_difference,
          the_peak_of_a_range_is_that_of_plans_with_its_options)
