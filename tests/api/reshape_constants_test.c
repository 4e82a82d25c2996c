// SPDX-License-Identifier: Apache-2.0
// Plans of a loaded model for several shapes: constants are made once, the workspace is one, and
// what is computed is what a context that never had another shape computes.

#include <malloc.h>

#include "tests/api/model.h"
#include "tests/oom.h"
#include "tests/random.h"

#define WIDTH 64

// Two layers whose weights are packed, and a table as long as the input, which no two plans share.
#define LAYERS                                                                                     \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"rows\", \"\"]);\n"                    \
    "create(| dst=w1 | dtype=TL_FLOAT, dims=[64, 256], ran=[-1, 1]);\n"                            \
    "create(| dst=w2 | dtype=TL_FLOAT, dims=[256, 64], ran=[-1, 1]);\n"                            \
    "create(| dst=one | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[0.5]);\n"                      \
    "MatMul(A=x, B=w1 | Y=a |);\n"                                                                 \
    "Relu(X=a | Y=b |);\n"                                                                         \
    "MatMul(A=b, B=w2 | Y=c |);\n"                                                                 \
    "Shape(data=x | shape=s |);\n"                                                                 \
    "Expand(input=one, shape=s | output=t |);\n"                                                   \
    "Exp(input=t | output=e |);\n"                                                                 \
    "Add(A=c, B=e | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

static ln_status reshape(ln_context *ctx, int rows)
{
    int dims[2] = {rows, WIDTH};
    return ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 2, .dims = dims});
}

static ln_context *load_for(int rows)
{
    ln_context *ctx = open_text(LAYERS);
    CHECK_OK(ln_context_set_symbol(ctx, "rows", rows));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

#define MAX_ROWS 40

static void run(ln_context *ctx, int rows, float y[MAX_ROWS * WIDTH])
{
    float x[MAX_ROWS * WIDTH];
    for (int i = 0; i < rows * WIDTH; i++)
        x[i] = (float)((i * 37 + rows) % 19 - 9) / 8;
    CHECK_EQ(ln_context_data_size(ctx, "y"), (size_t)rows * WIDTH * sizeof *y);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
}

// The context, which has that shape, computes what a fresh one does.
static void check_as_fresh(ln_context *ctx, int rows)
{
    float y[MAX_ROWS * WIDTH], expected[MAX_ROWS * WIDTH];
    ln_context *fresh = load_for(rows);
    run(ctx, rows, y);
    run(fresh, rows, expected);
    CHECK(memcmp(y, expected, (size_t)rows * WIDTH * sizeof *y) == 0);
    close_context(fresh);
}

// The longest constant that runs read.
static const void *largest_constant(const ln_context *ctx)
{
    const void *data = NULL;
    int len = 1000;
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        if (!entry->isstatic || !entry->tensor->data || entry->tensor->len <= len)
            continue;
        len = entry->tensor->len;
        data = entry->tensor->data;
    }
    return data;
}

TEST(constants_are_made_once_for_all_shapes)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_for(3);
    const void *first = largest_constant(ctx);
    CHECK_NOT_NULL(first);
    for (int rows = 1; rows <= MAX_ROWS; rows += 3) {
        CHECK_OK(reshape(ctx, rows));
        CHECK(largest_constant(ctx) == first);
        check_as_fresh(ctx, rows);
        ln_plan *plan;
        CHECK_OK(ln_context_plan_create(ctx, &plan));
        CHECK_OK(ln_plan_check(plan));
        ln_context_plan_free(plan);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// Not even clones make them again, whichever of them has a shape first.
TEST(clones_have_the_constants_of_all_shapes_in_common)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_for(3), *clone, *of_clone;
    const void *first = largest_constant(ctx);
    CHECK_OK(ln_context_clone(ctx, &clone));
    for (int rows = 4; rows < 10; rows++) {
        CHECK_OK(reshape(rows % 2 ? ctx : clone, rows));
        CHECK(largest_constant(rows % 2 ? ctx : clone) == first);
    }
    CHECK_OK(ln_context_clone(clone, &of_clone));
    close_context(ctx);
    CHECK_OK(reshape(of_clone, 11));
    CHECK(largest_constant(of_clone) == first);
    check_as_fresh(of_clone, 11);
    check_as_fresh(clone, 8);
    close_context(clone);
    check_as_fresh(of_clone, 11);
    CHECK_OK(reshape(of_clone, 3));
    check_as_fresh(of_clone, 3);
    close_context(of_clone);
    ln_arch_cleanup();
}

// ---- Memory ----

static size_t used;

static void *count_resize(void *user, void *p, size_t size)
{
    (void)user;
    size_t before = p ? malloc_usable_size(p) : 0;
    void *resized = realloc(p, size);
    if (resized)
        used += malloc_usable_size(resized) - before;
    return resized;
}

static void count_release(void *user, void *p)
{
    (void)user;
    used -= p ? malloc_usable_size(p) : 0;
    free(p);
}

TEST(a_thousand_lengths_in_random_order_take_no_more_memory_than_twenty)
{
    ln_allocator_set(&(ln_allocator){.resize = count_resize, .release = count_release});
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    ln_context *ctx = load_for(MAX_ROWS);
    size_t after_twenty = 0;
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(reshape(ctx, 1 + (int)test_random_below(&random, MAX_ROWS)));
        if (i == 20)
            after_twenty = used;
        CHECK(i < 20 || used < after_twenty + after_twenty / 10);
    }
    CHECK_OK(reshape(ctx, 7));
    check_as_fresh(ctx, 7);
    close_context(ctx);
    ln_arch_cleanup();
    ln_allocator_set(NULL);
    CHECK_EQ(used, 0);
}

// A constant as long as the input: no two plans share it.
#define TABLE                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"n\"]);\n"                                 \
    "create(| dst=one | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[0.5], from_file=false);\n"     \
    "Shape(data=x | shape=s |);\n"                                                                 \
    "Expand(input=one, shape=s | output=t |);\n"                                                   \
    "Exp(input=t | output=e |);\n"                                                                 \
    "Add(A=x, B=e | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

TEST(all_plans_together_stay_within_the_limit_of_memory)
{
    ln_allocator_set(&(ln_allocator){.resize = count_resize, .release = count_release});
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(TABLE);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = (size_t)2 << 20;
    (void)ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_set_symbol(ctx, "n", 1 << 16));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    size_t before = used - ctx->mem_sizes[LN_MEM_CPU], most = 0; // what the model takes beside
    for (int i = 1; i < 14; i++) {
        int dims[1] = {(1 << 16) + i};
        ln_input_shape shape = {.tname = "x", .ndim = 1, .dims = dims};
        CHECK_OK(ln_context_reshape(ctx, 1, &shape));
        most = used - before > most ? used - before : most;
    }
    printf("at most %zu bytes\n", most);
    CHECK(most < limits.memory_byte_count + limits.memory_byte_count / 4);
    close_context(ctx);
    ln_arch_cleanup();
    ln_allocator_set(NULL);
    CHECK_EQ(used, 0);
}

static ln_status reshape_table(ln_context *ctx, int len)
{
    return ln_context_reshape(ctx, 1,
                              &(ln_input_shape){.tname = "x", .ndim = 1, .dims = (int[]){len}});
}

static void check_table(ln_context *ctx, int len)
{
    float *x = ln_context_get_data(ctx, "x", NULL);
    for (int i = 0; i < len; i++)
        x[i] = (float)(i % 7);
    CHECK_OK(ln_context_run(ctx));
    const float *y = ln_context_get_data(ctx, "y", NULL);
    for (int i = 0; i < len; i += 1000)
        CHECK_NEAR(y[i], (double)(i % 7) + 1.6487213, 1e-6);
}

static ln_context *load_table(int len, size_t limit)
{
    ln_context *ctx = open_text(TABLE);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = limit;
    (void)ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_set_symbol(ctx, "n", len));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

// A plan has three floats for each element, one of them constant; that of the first stays.
TEST(a_plan_gives_way_to_the_next_where_both_are_too_much)
{
    enum { LEN = 1 << 16, FLOATS = LEN * 4, LIMIT = 4 * FLOATS + FLOATS / 2 };
    ln_allocator_set(&(ln_allocator){.resize = count_resize, .release = count_release});
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_table(LEN, LIMIT);
    size_t before = used - ctx->mem_sizes[LN_MEM_CPU];
    for (int i = 1; i < 8; i++) {
        CHECK_OK(reshape_table(ctx, LEN - i * 16));
        CHECK(used - before < LIMIT + FLOATS / 4);
        check_table(ctx, LEN - i * 16);
        CHECK_FAILS(reshape_table(ctx, 2 * LEN), LN_LIMIT);
        check_table(ctx, LEN - i * 16); // which came back
    }
    close_context(ctx);
    ln_arch_cleanup();
    ln_allocator_set(NULL);
    CHECK_EQ(used, 0);
}

static size_t asked;

static void *count_requests(void *user, void *p, size_t size)
{
    asked++;
    return count_resize(user, p, size);
}

// What plans that were dropped had is not counted for ever.
TEST(plans_that_fit_the_limit_are_there_after_many_others)
{
    enum { LEN = 1 << 12, LIMIT = 8 * LEN * 4 };
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_table(LEN, LIMIT);
    for (int i = 0; i < 100; i++)
        CHECK_OK(reshape_table(ctx, LEN - 1 - i));
    CHECK_OK(reshape_table(ctx, 500));
    CHECK_OK(reshape_table(ctx, 600));
    asked = 0;
    ln_allocator_set(&(ln_allocator){.resize = count_requests, .release = count_release});
    CHECK_OK(reshape_table(ctx, 500));
    CHECK_OK(reshape_table(ctx, 600));
    ln_allocator_set(NULL);
    CHECK(asked < 8);
    check_table(ctx, 600);
    close_context(ctx);
    ln_arch_cleanup();
    used = 0;
}

TEST(a_model_that_is_unloaded_and_loaded_shares_anew)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_for(MAX_ROWS);
    CHECK_OK(reshape(ctx, 5));
    CHECK_OK(reshape(ctx, 6));
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    const void *constant = largest_constant(ctx);
    check_as_fresh(ctx, 6);
    for (int rows = 5; rows < 9; rows++) {
        CHECK_OK(reshape(ctx, rows));
        CHECK(largest_constant(ctx) == constant);
        check_as_fresh(ctx, rows);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(inputs_that_are_not_set_are_zero_after_each_change)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_for(4);
    float y[MAX_ROWS * WIDTH];
    for (int i = 0; i < 4; i++) {
        CHECK_OK(reshape(ctx, 9 + i % 2));
        const float *x = ln_context_get_data(ctx, "x", NULL);
        for (int k = 0; k < 9 * WIDTH; k++)
            CHECK(x[k] == 0);
        run(ctx, 9 + i % 2, y);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Constants that change ----

// The first element of y for an input of zeros.
static float constant_of(ln_context *ctx)
{
    CHECK_OK(ln_context_run(ctx));
    const float *y = ln_context_get_data(ctx, "y", NULL);
    return y[0];
}

#define SUM                                                                                        \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=[\"rows\", \"\"]);\n"                     \
    "create(| dst=w | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[3, 5]);\n"                       \
    "Add(A=x, B=w | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

static ln_status reshape_sum(ln_context *ctx, int rows)
{
    int dims[2] = {rows, 2};
    return ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 2, .dims = dims});
}

TEST(a_constant_that_is_set_is_that_of_its_context_and_shape)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SUM), *clone;
    CHECK_OK(ln_context_set_symbol(ctx, "rows", 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(reshape_sum(ctx, 2));
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_context_set_data(clone, "w", (float[]){7, 7}));
    CHECK_NEAR(constant_of(clone), 7, 0);
    CHECK_NEAR(constant_of(ctx), 3, 0);
    CHECK_OK(ln_context_set_data(ctx, "w", (float[]){8, 8}));
    CHECK_NEAR(constant_of(ctx), 8, 0);
    for (int i = 0; i < 3; i++) { // from the model again
        CHECK_OK(reshape_sum(ctx, 1 + i));
        CHECK_NEAR(constant_of(ctx), 3, 0);
    }
    CHECK_OK(ln_context_set_data(ctx, "w", (float[]){9, 9}));
    CHECK_OK(reshape_sum(ctx, 4));
    CHECK_NEAR(constant_of(ctx), 3, 0);
    close_context(ctx);
    CHECK_NEAR(constant_of(clone), 7, 0);
    close_context(clone);
    ln_arch_cleanup();
}

TEST(a_constant_that_is_set_before_the_first_change_is_not_shared)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SUM);
    CHECK_OK(ln_context_set_symbol(ctx, "rows", 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "w", (float[]){8, 8}));
    CHECK_OK(reshape_sum(ctx, 2));
    CHECK_NEAR(constant_of(ctx), 3, 0);
    CHECK_OK(reshape_sum(ctx, 3));
    CHECK_NEAR(constant_of(ctx), 3, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Failure ----

// A context that has had two shapes is given a third while memory runs out.
static size_t check_without_memory(size_t n, int is_single, int step)
{
    ln_context *ctx = load_for(3);
    CHECK_OK(reshape(ctx, 8));
    test_oom oom = {0};
    if (is_single)
        test_oom_start_single(&oom, n);
    else
        test_oom_start(&oom, n);
    ln_status status = reshape(ctx, step);
    test_oom_stop();
    CHECK(status == LN_OK || status == LN_NO_MEMORY);
    if (ctx->state == LN_CONTEXT_PLANNED)
        CHECK_OK(ln_context_load(ctx, NULL));
    check_as_fresh(ctx, status == LN_OK ? step : 8);
    CHECK_OK(reshape(ctx, 3));
    check_as_fresh(ctx, 3);
    close_context(ctx);
    return oom.refused;
}

TEST(a_change_that_lacks_memory_leaves_the_model_as_it_was)
{
    CHECK_OK(ln_arch_init());
    for (int is_single = 0; is_single < 2; is_single++) {
        size_t n = 0;
        while (check_without_memory(n, is_single, 3) > 0) // was there before
            n += 1 + n / 4;
        for (n = 0; check_without_memory(n, is_single, 12) > 0; n += 1 + n / 8)
            ;
    }
    ln_arch_cleanup();
}

// ---- Constants that are made alike ----

// Constants that differ in one way each: in a later number of an array, in a string, in which
// argument a constant is, in a number, in the random numbers that they are made of.
#define ALIKE                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4, 4, 4], names=[\"rows\", \"\", \"\", \"\"]);\n"   \
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 4], ran=[1, 2]);\n"                              \
    "create(| dst=v | dtype=TL_FLOAT, dims=[4, 4, 4], ran=[1, 2]);\n"                              \
    "transpose(src=w | dst=c1 | axes=[1, 0, 2]);\n"                                                \
    "transpose(src=w | dst=c2 | axes=[1, 2, 0]);\n"                                                \
    "transpose(src=w | dst=c3 | axes=[2, 0, 1]);\n"                                                \
    "transpose(src=w | dst=c4 | axes=[2, 1, 0]);\n"                                                \
    "elew(src1=w, src2=v | dst=c5 | elew_op=TL_SUB);\n"                                            \
    "elew(src1=w, src2=v | dst=c6 | elew_op=TL_DIV);\n"                                            \
    "elew(src1=w, src2=v | dst=c7 | elew_op=TL_MUL);\n"                                            \
    "elew(src1=w, src2=v | dst=c8 | elew_op=TL_POW);\n"                                            \
    "elew(src2=w, src1=v | dst=c9 | elew_op=TL_SUB);\n"                                            \
    "elew(src2=w, src1=v | dst=c10 | elew_op=TL_DIV);\n"                                           \
    "act(src=w | dst=c11 | act=clip, alpha=0, beta=1.3);\n"                                        \
    "act(src=w | dst=c12 | act=clip, alpha=0, beta=1.6);\n"                                        \
    "act(src=w | dst=c13 | act=tanh);\n"                                                           \
    "act(src=v | dst=c14 | act=tanh);\n"

enum { ALIKE_COUNT = 14, ALIKE_LEN = 64 };

static ln_context *load_alike(int rows, const char *target)
{
    char text[4096] = ALIKE;
    for (int i = 1; i <= ALIKE_COUNT; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len,
                 "elew(src1=x, src2=c%d | dst=y%d | elew_op=TL_MUL);\noutput(src=y%d | |);\n", i, i,
                 i);
    }
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_set_symbol(ctx, "rows", rows));
    CHECK_OK(ln_context_compile(ctx, target));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void run_alike(ln_context *ctx, int rows, float y[ALIKE_COUNT][3 * ALIKE_LEN])
{
    float x[3 * ALIKE_LEN];
    for (int i = 0; i < rows * ALIKE_LEN; i++)
        x[i] = 1 + (float)(i % 7);
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, (size_t)(rows * ALIKE_LEN) * sizeof *x));
    CHECK_OK(ln_context_run(ctx));
    for (int i = 0; i < ALIKE_COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i + 1);
        CHECK_OK(ln_context_get_data_n(ctx, name, y[i], (size_t)(rows * ALIKE_LEN) * sizeof *x));
    }
}

TEST(constants_that_are_made_alike_are_not_taken_for_each_other)
{
    static float y[ALIKE_COUNT][3 * ALIKE_LEN], expected[ALIKE_COUNT][3 * ALIKE_LEN];
    CHECK_OK(ln_arch_init());
    for (int arch = 0; arch < 2; arch++) {
        ln_context *ctx = load_alike(2, arch ? "cpu" : "ref");
        for (int rows = 3; rows >= 1; rows -= 2) {
            int dims[4] = {rows, 4, 4, 4};
            CHECK_OK(ln_context_reshape(ctx, 1,
                                        &(ln_input_shape){.tname = "x", .ndim = 4, .dims = dims}));
            ln_context *fresh = load_alike(rows, arch ? "cpu" : "ref");
            run_alike(ctx, rows, y);
            run_alike(fresh, rows, expected);
            for (int i = 0; i < ALIKE_COUNT; i++)
                CHECK_MEM_EQ(y[i], expected[i], (size_t)(rows * ALIKE_LEN) * sizeof(float));
            close_context(fresh);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(constants_that_are_made_alike_are_not_taken_for_each_other,
          constants_are_made_once_for_all_shapes,
          a_thousand_lengths_in_random_order_take_no_more_memory_than_twenty,
          all_plans_together_stay_within_the_limit_of_memory,
          clones_have_the_constants_of_all_shapes_in_common,
          a_plan_gives_way_to_the_next_where_both_are_too_much,
          plans_that_fit_the_limit_are_there_after_many_others,
          a_model_that_is_unloaded_and_loaded_shares_anew,
          inputs_that_are_not_set_are_zero_after_each_change,
          a_constant_that_is_set_is_that_of_its_context_and_shape,
          a_constant_that_is_set_before_the_first_change_is_not_shared,
          a_change_that_lacks_memory_leaves_the_model_as_it_was)
