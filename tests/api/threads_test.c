// SPDX-License-Identifier: Apache-2.0
// Threads: contexts run side by side, registries are locked, failures are per thread.

#include "tests/api/model.h"

#include <pthread.h>

#include "tests/sanitizer.h"

#define THREADS 4

static void *run_a_model(void *argument)
{
    float *first = argument;
    *first = -1;
    if (ln_arch_init() != LN_OK)
        return NULL;
    for (int round = 0; round < 5; round++) {
        ln_context *ctx = ln_context_create();
        float x[192] = {0}, y[256];
        if (ctx && ln_context_init_mem(ctx, CONV_MODEL, strlen(CONV_MODEL), NULL) == LN_OK &&
            ln_context_compile(ctx, "cpu") == LN_OK && ln_context_load(ctx, NULL) == LN_OK &&
            ln_context_set_data(ctx, "x", x) == LN_OK && ln_context_run(ctx) == LN_OK &&
            ln_context_get_data(ctx, "y", y))
            *first = y[7];
        ln_context_cleanup(ctx);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
    return NULL;
}

TEST(contexts_run_side_by_side)
{
    CHECK_OK(ln_arch_init());
    pthread_t threads[THREADS];
    float results[THREADS], alone;
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, run_a_model, &results[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    run_a_model(&alone);
    CHECK(alone >= 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_MEM_EQ(&results[i], &alone, sizeof alone);
    ln_arch_cleanup();
}

static void *register_and_unregister(void *argument)
{
    ln_arch *arch = argument;
    for (int i = 0; i < 200; i++) {
        if (ln_arch_register(arch) == LN_OK) {
            ln_arch_find(arch->arch_name);
            ln_op_find("relu");
            ln_arch_unregister(arch->arch_name);
        }
    }
    return NULL;
}

TEST(registries_are_locked)
{
    CHECK_OK(ln_arch_init());
    size_t before = ln_arch_count();
    static char names[THREADS][8] = {"a", "b", "c", "c"}; // two fight for one name
    ln_arch archs[THREADS] = {0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        archs[i].arch_name = names[i];
        CHECK_EQ(pthread_create(&threads[i], NULL, register_and_unregister, &archs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(ln_arch_count(), before);
    ln_arch_cleanup();
}

// ---- Stacks ----

// Sanitizers keep variables apart.
#define SMALL_STACK ((size_t)(TEST_ASAN || TEST_TSAN ? 1024 : 128) << 10)

static const char STACK_MODEL[] =
    "input(| dst=x | dtype=TL_UINT8, dims=[1, 32, 16, 16]);\n"
    "create(| dst=w | dtype=TL_INT8, dims=[64, 32, 3, 3], ran=[-90, 90]);\n"
    "create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.01]);\n"
    "quant_conv(src=x, weight=w, src_scale=s, weight_scale=s | dst=c | padding=[1, 1, 1, 1]);\n"
    "create(| dst=v | dtype=TL_FLOAT, dims=[64, 64, 3, 3], ran=[-1, 1]);\n"
    "create(| dst=b | dtype=TL_FLOAT, dims=[64], data=[0]);\n"
    "conv2d(src=c, weight=v, bias=b | dst=d | size=[3, 3], padding=[1, 1, 1, 1]);\n"
    "avgpool2d(src=d | dst=p | size=[3, 3], stride=[2, 2]);\n"
    "softmax(src=p | dst=y | axis=3);\n"
    "output(src=y | |);\n";

static void *run_here(void *argument)
{
    ln_context *ctx = argument;
    return ln_context_run(ctx) == LN_OK ? ctx : NULL;
}

TEST(a_run_needs_little_stack)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, STACK_MODEL, strlen(STACK_MODEL), NULL));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    pthread_attr_t attributes;
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, &attributes, run_here, ctx), 0);
    pthread_attr_destroy(&attributes);
    void *result;
    pthread_join(thread, &result);
    CHECK(result == ctx);
    ln_context_cleanup(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

static void *fail_here(void *argument)
{
    (void)argument;
    ln_fail(LN_LIMIT, "in the other thread");
    return NULL;
}

TEST(failures_are_per_thread)
{
    ln_fail(LN_INVALID, "in this thread");
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, fail_here, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "in this thread");
}

TEST_LIST(contexts_run_side_by_side, registries_are_locked, a_run_needs_little_stack,
          failures_are_per_thread)
