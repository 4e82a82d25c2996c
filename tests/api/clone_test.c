// SPDX-License-Identifier: Apache-2.0
// Clones: they share what does not change, and are otherwise contexts of their own.

#include "tests/api/model.h"

#include <pthread.h>

#include "tests/oom.h"

// y = x + w, where both the sum's constant w and its copy are static.
#define SUM_MODEL                                                                                  \
    "input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"                                                 \
    "create(| dst=c | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[1, 2, 3, 4], "                   \
    "from_file=false);\n"                                                                          \
    "elew(src1=x, src2=c | dst=y | elew_op=TL_SUM);\n"

static ln_context *clone_of(const ln_context *ctx)
{
    ln_context *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_NOT_NULL(clone);
    return clone;
}

// Runs `ctx` on four times `x` and returns the first element of the result.
static float run_on(ln_context *ctx, float x)
{
    const float data[4] = {x, x, x, x};
    float y[4];
    CHECK_OK(ln_context_set_data(ctx, "x", data));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_NEAR(y[3] - y[0], 3, 0);
    return y[0];
}

TEST(a_clone_shares_static_tensors_and_nothing_else)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SUM_MODEL, "cpu");
    ln_context *clone = clone_of(ctx);
    CHECK_EQ(clone->state, LN_CONTEXT_LOADED);
    CHECK_PTR_EQ(ln_context_get_data(clone, "c", NULL), ln_context_get_data(ctx, "c", NULL));
    CHECK(ln_context_get_data(clone, "y", NULL) != ln_context_get_data(ctx, "y", NULL));
    CHECK(ln_context_check(clone));
    CHECK_NEAR(run_on(ctx, 10), 11, 0);
    CHECK_NEAR(run_on(clone, 20), 21, 0);
    CHECK_NEAR(((const float *)ln_context_get_data(ctx, "y", NULL))[0], 11, 0);
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_clone_outlives_its_origin)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SUM_MODEL, "cpu");
    ln_context *clone = clone_of(ctx);
    close_context(ctx);
    ln_context *second = clone_of(clone);
    CHECK_NEAR(run_on(clone, 1), 2, 0);
    close_context(clone);
    CHECK_NEAR(run_on(second, 2), 3, 0);
    close_context(second);
    ln_arch_cleanup();
}

TEST(who_changes_a_static_tensor_changes_it_for_nobody_else)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SUM_MODEL, "cpu");
    ln_context *first = clone_of(ctx), *second = clone_of(ctx);
    const float hundreds[4] = {101, 102, 103, 104};
    CHECK_OK(ln_context_set_data(first, "c", hundreds));
    CHECK_NEAR(run_on(first, 0), 101, 0);
    CHECK_NEAR(run_on(ctx, 0), 1, 0);
    CHECK_NEAR(run_on(second, 0), 1, 0);

    const double tens[4] = {11, 12, 13, 14};
    CHECK_OK(ln_context_set_param(ctx, "create0", "data", tens, 4));
    CHECK_NEAR(run_on(ctx, 0), 11, 0);
    CHECK_NEAR(run_on(first, 0), 101, 0);
    CHECK_NEAR(run_on(second, 0), 1, 0);

    // The last one of the old region is alone with it and writes in place.
    const float *before = ln_context_get_data(second, "c", NULL);
    CHECK_OK(ln_context_set_data(second, "c", hundreds));
    CHECK_PTR_EQ(ln_context_get_data(second, "c", NULL), before);
    close_context(ctx);
    close_context(first);
    close_context(second);
    ln_arch_cleanup();
}

TEST(a_clone_takes_over_the_state)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SUM_MODEL);
    ln_context *ready = clone_of(ctx);
    CHECK_EQ(ready->state, LN_CONTEXT_READY);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_context *planned = clone_of(ctx);
    CHECK_EQ(planned->state, LN_CONTEXT_PLANNED);
    CHECK_EQ(planned->mem_sizes[LN_MEM_CPU], ctx->mem_sizes[LN_MEM_CPU]);
    char *text, *clone_text;
    size_t byte_count, clone_byte_count;
    CHECK_OK(ln_context_write(ctx, "ir", &text, &byte_count));
    CHECK_OK(ln_context_write(planned, "ir", &clone_text, &clone_byte_count));
    CHECK_STR_EQ(clone_text, text);
    ln_free(text);
    ln_free(clone_text);
    CHECK_OK(ln_context_load(planned, NULL));
    CHECK_NEAR(run_on(planned, 5), 6, 0);
    close_context(planned);
    close_context(ready);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(there_is_nothing_to_clone_in_an_empty_context)
{
    ln_context *ctx = ln_context_create(), *clone = ctx;
    CHECK_FAILS(ln_context_clone(ctx, &clone), LN_STATE);
    CHECK_NULL(clone);
    CHECK_FAILS(ln_context_clone(NULL, &clone), LN_STATE);
    CHECK_FAILS(ln_context_clone(ctx, NULL), LN_INVALID);
    ln_context_free(ctx);
}

// ---- Memory ----

// Sums up requests of 16 KiB and more: nothing else here is that big.
static void *count_big(void *user, void *p, size_t size)
{
    size_t *byte_count = user;
    *byte_count += size >= (16 << 10) ? size : 0;
    return realloc(p, size);
}

static void give_back(void *user, void *p)
{
    (void)user;
    free(p);
}

#define THREADS 4
#define BIG_MODEL                                                                                  \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 8, 32, 32]);\n"                                      \
    "create(| dst=w | dtype=TL_FLOAT, dims=[64, 8, 3, 3], ran=[-1, 1], data=[0], "                 \
    "from_file=false);\n"                                                                          \
    "create(| dst=b | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0], from_file=false);\n"       \
    "conv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[3, 3], stride=[1, 1], "               \
    "padding=[1, 1, 1, 1], dilation=[1, 1], autopad=NOTSET);\n"

TEST(a_clone_costs_its_workspace)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(BIG_MODEL, "cpu");
    size_t workspace = ctx->mem_sizes[LN_MEM_CPU] - ctx->static_sizes[LN_MEM_CPU];
    CHECK(ctx->static_sizes[LN_MEM_CPU] > (16 << 10) && workspace > (16 << 10));
    size_t byte_count = 0;
    ln_allocator_set(
        &(ln_allocator){.resize = count_big, .release = give_back, .user = &byte_count});
    ln_context *clone = clone_of(ctx);
    ln_allocator_set(NULL);
    CHECK(byte_count >= workspace && byte_count <= workspace + 256); // alignment and its note
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(running_out_of_memory_leaves_the_origin_alone)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SUM_MODEL, "cpu");
    OOM_SWEEP(n)
    {
        ln_context *clone;
        const float ones[4] = {1, 2, 3, 4};
        if (ln_context_clone(ctx, &clone) == LN_OK) {
            if (ln_context_set_data(clone, "c", ones) == LN_OK)
                CHECK_NEAR(run_on(clone, 3), 4, 0);
            close_context(clone);
        }
    }
    CHECK_NEAR(run_on(ctx, 1), 2, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Threads ----

#define ROUNDS  20
#define BIG_OUT (64 * 32 * 32)

typedef struct worker {
    ln_context *ctx;
    float seed;
    double sum; // of the last result
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    static const size_t count = 8 * 32 * 32;
    float *x = calloc(count, sizeof *x);
    for (int round = 0; round < ROUNDS && x; round++) {
        for (size_t i = 0; i < count; i++)
            x[i] = w->seed + (float)(i % 7);
        ln_context_set_data(w->ctx, "x", x);
        ln_context_run(w->ctx);
        const float *y = ln_context_get_data(w->ctx, "y", NULL);
        w->sum = 0;
        for (size_t i = 0; i < BIG_OUT; i++)
            w->sum += y[i];
        if (round == ROUNDS / 2) { // clones come and go
            ln_context *clone = NULL;
            if (ln_context_clone(w->ctx, &clone) == LN_OK) {
                ln_context_free(w->ctx);
                w->ctx = clone;
            }
        }
    }
    free(x);
    return NULL;
}

TEST(clones_run_side_by_side)
{
    CHECK_OK(ln_arch_init());
    worker workers[THREADS] = {{.ctx = load_text(BIG_MODEL, "cpu"), .seed = 1}};
    for (int i = 1; i < THREADS; i++)
        workers[i] = (worker){.ctx = clone_of(workers[0].ctx), .seed = (float)(1 + i % 2)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(workers[0].sum == workers[2].sum && workers[1].sum == workers[3].sum);
    CHECK(workers[0].sum != workers[1].sum);
    for (int i = 0; i < THREADS; i++)
        close_context(workers[i].ctx);
    ln_arch_cleanup();
}

// ---- Plans of one source ----

#define ROWS_MODEL                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 8], names=[\"n\", \"\"]);\n"                        \
    "create(| dst=w | dtype=TL_FLOAT, dims=[8, 8], ran=[-1, 1], data=[0], from_file=false);\n"     \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Relu(X=m | Y=r |);\n"                                                                         \
    "Add(A=r, B=x | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

typedef struct reshaper {
    ln_context *ctx;
    int first, wrong_count;
    float sums[20]; // of the output, by rows
} reshaper;

static ln_status run_rows(ln_context *ctx, int rows, float *out_sum)
{
    float x[20 * 8], y[20 * 8];
    int dims[2] = {rows, 8};
    LN_TRY(ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 2, .dims = dims}));
    for (int i = 0; i < rows * 8; i++)
        x[i] = (float)(i % 11) / 8 - 0.5F;
    LN_TRY(ln_context_set_data_n(ctx, "x", x, sizeof *x * (size_t)rows * 8));
    LN_TRY(ln_context_run(ctx));
    LN_TRY(ln_context_get_data_n(ctx, "y", y, sizeof *y * (size_t)rows * 8));
    *out_sum = 0;
    for (int i = 0; i < rows * 8; i++)
        *out_sum += y[i];
    return LN_OK;
}

// There and back: the first plan of a clone may need more workspace than those after it.
TEST(a_clone_comes_back_to_the_shape_that_it_was_made_with)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(ROWS_MODEL);
    CHECK_OK(ln_context_set_symbol(ctx, "n", 19));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    float expected, sum;
    CHECK_OK(run_rows(ctx, 19, &expected));
    ln_context *clone = clone_of(ctx);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(run_rows(clone, 5 + i, &sum));
        CHECK_OK(run_rows(clone, 19, &sum));
        CHECK_NEAR(sum, expected, 0);
    }
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

// Each of them begins with other shapes, so that all make plans for all of them.
static void *reshape_often(void *user)
{
    reshaper *r = user;
    for (int i = 0; i < 200; i++) {
        int rows = 1 + (r->first + i * 7) % 19;
        float sum;
        r->wrong_count += run_rows(r->ctx, rows, &sum) != LN_OK || sum != r->sums[rows];
    }
    return NULL;
}

TEST(clones_make_plans_in_threads_of_their_own)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(ROWS_MODEL);
    CHECK_OK(ln_context_set_threads(ctx, 1));
    CHECK_OK(ln_context_set_symbol(ctx, "n", 3));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    reshaper all[THREADS] = {{.first = 0}};
    for (int rows = 1; rows < 20; rows++)
        CHECK_OK(run_rows(ctx, rows, &all[0].sums[rows]));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        memcpy(all[i].sums, all[0].sums, sizeof all[i].sums);
        all[i].ctx = clone_of(ctx);
        all[i].first = 5 * i;
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, reshape_often, &all[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(all[i].wrong_count, 0);
        close_context(all[i].ctx);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(a_clone_comes_back_to_the_shape_that_it_was_made_with,
          clones_make_plans_in_threads_of_their_own, a_clone_shares_static_tensors_and_nothing_else,
          a_clone_outlives_its_origin, who_changes_a_static_tensor_changes_it_for_nobody_else,
          a_clone_takes_over_the_state, there_is_nothing_to_clone_in_an_empty_context,
          a_clone_costs_its_workspace, running_out_of_memory_leaves_the_origin_alone,
          clones_run_side_by_side)
