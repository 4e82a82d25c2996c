// SPDX-License-Identifier: Apache-2.0
// Models whose inputs change their shapes while they are loaded.

#include "tests/api/values.h"
#include "tests/oom.h"

// y = x and b side by side, doubled; both have as many rows.
#define TWO_INPUTS                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=[\"N\", \"\"]);\n"                        \
    "input(| dst=b | dtype=TL_FLOAT, dims=[-1, 2], names=[\"N\", \"\"]);\n"                        \
    "Concat(inputs1=x, inputs2=b | concat_result=c | axis=1);\n"                                   \
    "Add(A=c, B=c | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

// y = x * w, with w as long as a row.
#define WEIGHTED                                                                                   \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=[\"N\", \"\"]);\n"                        \
    "create(| dst=w | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[3, 5], from_file=false);\n"      \
    "Mul(A=x, B=w | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

static ln_status reshape(ln_context *ctx, int rows)
{
    int dims[2] = {rows, 2};
    return ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 2, .dims = dims});
}

static ln_status reshape_both(ln_context *ctx, int x_rows, int b_rows)
{
    int x[2] = {x_rows, 2}, b[2] = {b_rows, 2};
    ln_input_shape shapes[] = {{.tname = "x", .ndim = 2, .dims = x},
                               {.tname = "b", .ndim = 2, .dims = b}};
    return ln_context_reshape(ctx, 2, shapes);
}

// A context of WEIGHTED that is loaded for one row.
static ln_context *load_weighted(void)
{
    ln_context *ctx = open_text(WEIGHTED);
    CHECK_OK(ln_context_set_symbol(ctx, "N", 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static ln_status run_rows(ln_context *ctx, int rows)
{
    float x[64] = {0};
    x[2 * rows - 1] = (float)rows;
    LN_TRY(ln_context_set_data(ctx, "x", x));
    LN_TRY(ln_context_run(ctx));
    const float *y = ln_context_get_data(ctx, "y", NULL);
    CHECK_EQ(ln_context_data_size(ctx, "y"), (size_t)rows * 8);
    CHECK_NEAR(y[2 * rows - 1], 5.0F * (float)rows, 0);
    return LN_OK;
}

TEST(a_loaded_model_runs_on_other_shapes)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    for (int rows = 1; rows <= 20; rows++) {
        CHECK_OK(reshape(ctx, rows));
        CHECK_EQ(ctx->state, LN_CONTEXT_LOADED);
        CHECK(ln_context_check(ctx));
        CHECK_OK(run_rows(ctx, rows));
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(what_the_program_set_outlasts_a_change_of_shape)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    ln_limits limits = ctx->limits;
    limits.work /= 2;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_set_timeout(ctx, 1000));
    for (int rows = 5; rows < 8; rows++) {
        CHECK_OK(reshape(ctx, rows % 6));
        CHECK_NEAR(ctx->timeout, 1000, 0);
        CHECK_NEAR(ctx->limits.work, limits.work, 0);
    }
    CHECK_OK(ln_context_set_timeout(ctx, 1e-9));
    CHECK_FAILS(reshape(ctx, 9), LN_TIMEOUT);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Plans are kept ----

typedef struct counts {
    size_t requests;
    long blocks;
} counts;

static void *count_resize(void *user, void *p, size_t size)
{
    counts *c = user;
    c->requests++;
    void *resized = realloc(p, size);
    c->blocks += resized && !p;
    return resized;
}

static void count_release(void *user, void *p)
{
    counts *c = user;
    c->blocks -= p != NULL;
    free(p);
}

TEST(shapes_that_were_there_before_are_not_planned_again)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    counts c = {0};
    ln_allocator_set(&(ln_allocator){.resize = count_resize, .release = count_release, .user = &c});
    CHECK_OK(reshape(ctx, 2));
    size_t first = c.requests;
    CHECK_OK(reshape(ctx, 3));
    c.requests = 0;
    CHECK_OK(reshape(ctx, 2));
    size_t again = c.requests;
    c.requests = 0;
    CHECK_OK(reshape(ctx, 2));
    size_t same = c.requests;
    ln_allocator_set(NULL);
    printf("requests: %zu, again %zu, same %zu\n", first, again, same);
    CHECK(again * 3 < first);
    CHECK(same < again);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_thousand_changes_of_shape_take_no_more_than_a_hundred)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    counts c = {0};
    ln_allocator_set(&(ln_allocator){.resize = count_resize, .release = count_release, .user = &c});
    long after_hundred = 0;
    for (int i = 1; i <= 1000; i++) {
        int rows = 1 + i * 7 % 20; // all of 20 shapes, of which 16 have a plan
        CHECK_OK(reshape(ctx, rows));
        CHECK_OK(run_rows(ctx, rows));
        if (i == 100)
            after_hundred = c.blocks;
    }
    CHECK_EQ(c.blocks, after_hundred);
    ln_allocator_set(NULL);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- What belongs together ----

TEST(inputs_that_must_agree_change_together)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(TWO_INPUTS);
    CHECK_OK(reshape_both(ctx, 2, 2));
    CHECK_OK(reshape_both(ctx, 4, 4));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(reshape_both(ctx, 3, 3));
    CHECK_EQ(ln_context_data_size(ctx, "y"), 3 * 4 * 4);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(shapes_that_the_model_refuses_leave_it_as_it_was)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(TWO_INPUTS);
    CHECK_FAILS(reshape_both(ctx, 2, 3), LN_INVALID);
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK(ln_context_input_is_open(ctx, 0) && ln_context_input_is_open(ctx, 1));
    CHECK_OK(ln_context_set_symbol(ctx, "N", 2));
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, DIMS(5, 2)), LN_INVALID);
    CHECK_EQ(ln_context_data_size(ctx, "y"), 2 * 4 * 4);
    CHECK(ln_context_check(ctx));

    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_FAILS(reshape_both(ctx, 2, 3), LN_INVALID);
    CHECK_EQ(ctx->state, LN_CONTEXT_LOADED);
    CHECK_EQ(ln_context_data_size(ctx, "y"), 2 * 4 * 4);
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(what_cannot_be_a_shape_is_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    CHECK_FAILS(reshape(ctx, -1), LN_INVALID);
    CHECK_FAILS(ln_context_reshape(ctx, 1, NULL), LN_INVALID);
    ln_input_shape wrong[] = {
        {.tname = "z", .ndim = 2, .dims = DIMS(1, 2)},
        {.tname = NULL, .ndim = 0},
        {.tname = "x", .ndim = 2, .dims = DIMS(1, 3)},
        {.tname = "x", .ndim = 1, .dims = DIMS(1)},
        {.tname = "x", .ndim = 99, .dims = DIMS(1)},
        {.tname = "x", .ndim = 2, .dims = NULL},
        {.tname = "x", .ndim = 2, .dims = DIMS(INT32_MAX, 2)},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(ln_context_reshape(ctx, 1, &wrong[i]) != LN_OK);
        CHECK_EQ(ctx->state, LN_CONTEXT_LOADED);
    }
    CHECK_OK(run_rows(ctx, 1));
    CHECK_OK(ln_context_reshape(ctx, 0, NULL));
    close_context(ctx);

    ctx = load_text(SMALL_MODEL, "cpu");
    CHECK_FAILS(
        ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 2, .dims = DIMS(3, 3)}),
        LN_STATE);
    close_context(ctx);
    ctx = ln_context_create();
    CHECK_FAILS(ln_context_reshape(ctx, 0, NULL), LN_STATE);
    CHECK_FAILS(ln_context_reshape(NULL, 0, NULL), LN_INVALID);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(rows_may_be_none)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    CHECK_OK(reshape(ctx, 0));
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_context_data_size(ctx, "y"), 0);
    CHECK_OK(reshape(ctx, 1));
    CHECK_OK(run_rows(ctx, 1));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(an_input_of_any_rank_can_be_bound_too)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[], open=true);\n"
                                "Add(A=x, B=x | C=y |);\n");
    CHECK(ln_context_input_is_open(ctx, 0));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int i = 0; i < 2; i++) {
        ln_input_shape shape = {.tname = "x", .ndim = 2, .dims = DIMS(3, 2)};
        CHECK_OK(ln_context_reshape(ctx, 1, &shape));
        CHECK_EQ(ln_context_data_size(ctx, "y"), 24);
    }
    CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 0}));
    CHECK_EQ(ln_context_data_size(ctx, "y"), 4);
    close_context(ctx);
    ln_arch_cleanup();
}

static void set_dynamic(ln_context *ctx, const char *name, int ndim, const int *dims,
                        const float *data)
{
    ln_object *object = ln_object_new_tensor(TL_FLOAT, ndim, dims, NULL);
    CHECK_NOT_NULL(object);
    const tl_tensor *tensor = ln_object_tensor(object);
    memcpy(tensor->data, data, tl_tensor_size(tensor));
    CHECK_OK(ln_context_set_object(ctx, name, object));
    ln_object_release(object);
}

TEST(inputs_whose_shapes_are_not_given_stay_dynamic)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2]);\n"
                                "input(| dst=z | dtype=TL_FLOAT, dims=[-1, 2]);\n"
                                "input(| dst=v | dtype=TL_FLOAT, dims=[], open=true);\n"
                                "Add(A=x, B=x | C=y |);\n"
                                "Add(A=z, B=z | C=u |);\n"
                                "Add(A=v, B=v | C=t |);\n");
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int rows = 1; rows < 4; rows++) {
        CHECK_OK(reshape(ctx, rows));
        CHECK_EQ(ln_context_data_size(ctx, "y"), (size_t)rows * 8);
        CHECK(!ln_context_input_is_open(ctx, 0));
        CHECK(ln_context_input_is_open(ctx, 1) && ln_context_input_is_open(ctx, 2));
        float x[8] = {1, 2}, z[] = {3, 4, 5, 6}, v[] = {7};
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        set_dynamic(ctx, "z", 2, DIMS(2, 2), z);
        set_dynamic(ctx, "v", 1, DIMS(1), v);
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "u", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(6, 8, 10, 12));
        check_numbers(ctx, "t", TL_FLOAT, 1, DIMS(1), NUMBERS(14));
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// y = -x by a rule of the caller, where the model says y = relu(-x).
TEST(rules_of_the_caller_hold_for_all_shapes)
{
    static const char text[] = "rule kept [rounds]\n  y = Relu(a)\n  a = Neg(x)\n  => y = Neg(x)\n";
    const char *path = LN_BUILD_DIR "/reshape_test.rules";
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    options.rule_files = &path;
    options.rule_file_count = 1;
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=[\"N\", "
                  "\"\"]);\nNeg(X=x | Y=a |);\nRelu(X=a | Y=y |);\noutput(src=y | |);\n");
    CHECK_OK(ln_context_set_symbol(ctx, "N", 3));
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    path = NULL; // the context has its own
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int rows = 3; rows > 0; rows--) {
        float x[6] = {1, 2, 3, 4, 5, 6}, y[6];
        CHECK_OK(reshape(ctx, rows));
        CHECK_OK(ln_context_set_data_n(ctx, "x", x, (size_t)rows * 8));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_data_n(ctx, "y", y, (size_t)rows * 8));
        CHECK_NEAR(y[2 * rows - 1], -2.0F * (float)rows, 0);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(limits_stay_those_of_the_context)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_weighted();
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 4096;
    ln_context_set_limits(ctx, &limits);
    CHECK_FAILS(reshape(ctx, 100000), LN_LIMIT);
    CHECK_EQ(ctx->state, LN_CONTEXT_LOADED);
    CHECK_OK(reshape(ctx, 2));
    CHECK_EQ(ctx->limits.memory_byte_count, 4096);
    CHECK_OK(run_rows(ctx, 2));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(running_out_of_memory_leaves_the_old_shape)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (!ctx)
            continue;
        ln_status status = ln_context_init_mem(ctx, WEIGHTED, strlen(WEIGHTED), "model.net");
        if (status == LN_OK)
            status = ln_context_set_symbol(ctx, "N", 1);
        if (status == LN_OK)
            status = ln_context_compile(ctx, "ref");
        if (status == LN_OK)
            status = ln_context_load(ctx, NULL);
        if (status == LN_OK && reshape(ctx, 2) != LN_OK)
            CHECK(ctx->state == LN_CONTEXT_PLANNED || ln_context_data_size(ctx, "y") == 8);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(a_loaded_model_runs_on_other_shapes, shapes_that_were_there_before_are_not_planned_again,
          a_thousand_changes_of_shape_take_no_more_than_a_hundred,
          inputs_that_must_agree_change_together, shapes_that_the_model_refuses_leave_it_as_it_was,
          what_cannot_be_a_shape_is_refused, rows_may_be_none,
          an_input_of_any_rank_can_be_bound_too, limits_stay_those_of_the_context,
          what_the_program_set_outlasts_a_change_of_shape,
          inputs_whose_shapes_are_not_given_stay_dynamic, rules_of_the_caller_hold_for_all_shapes,
          running_out_of_memory_leaves_the_old_shape)
