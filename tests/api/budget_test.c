// SPDX-License-Identifier: Apache-2.0
// The budget of memory: known, and refused, before anything is allocated.

#include "tests/api/model.h"

#include <stdlib.h>

// 8 MiB of x, 16 MiB of y.
#define MODEL                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 1024, 1024]);\n"                                  \
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 2, 1, 1], ran=[-1, 1], data=[0], "                  \
    "from_file=false);\n"                                                                          \
    "create(| dst=b | dtype=TL_FLOAT, dims=[4], ran=[-1, 1], data=[0], from_file=false);\n"        \
    "conv2d(src=x, weight=w, bias=b | dst=y | group=1, size=[1, 1], stride=[1, 1], "               \
    "padding=[0, 0, 0, 0], dilation=[1, 1], autopad=NOTSET);\n"

#define PEAK ((size_t)64 + 64 + 64 + (8 << 20) + (16 << 20)) // reserved, b, w, x, y

static size_t largest_request;

static void *note_largest(void *user, void *p, size_t size)
{
    (void)user;
    if (size > largest_request)
        largest_request = size;
    return realloc(p, size);
}

static void give_back(void *user, void *p)
{
    (void)user;
    free(p);
}

static ln_status compile_within(size_t byte_count)
{
    ln_context *ctx = open_text(MODEL);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = byte_count;
    ln_context_set_limits(ctx, &limits);
    ln_status status = ln_context_compile(ctx, "ref");
    CHECK_EQ(ctx->state, status == LN_OK ? LN_CONTEXT_PLANNED : LN_CONTEXT_READY);
    close_context(ctx);
    return status;
}

TEST(the_budget_is_exact)
{
    CHECK_OK(ln_arch_init());
    CHECK_OK(compile_within(PEAK));
    CHECK_FAILS(compile_within(PEAK - 1), LN_LIMIT);
    ln_arch_cleanup();
}

TEST(a_refusal_has_the_figures_and_what_is_largest)
{
    CHECK_OK(ln_arch_init());
    CHECK_FAILS(compile_within(1 << 20), LN_LIMIT);
    CHECK_MESSAGE("the model needs 25166016 bytes of main memory (static 192, workspace 25165824), "
                  "the limit is 1048576; it peaks at operator 'conv2d0' with 'y' (16777216 bytes), "
                  "'x' (8388608 bytes)");
    ln_arch_cleanup();
}

TEST(a_refusal_has_allocated_nothing_of_that_size)
{
    CHECK_OK(ln_arch_init());
    largest_request = 0;
    ln_allocator_set(&(ln_allocator){.resize = note_largest, .release = give_back});
    CHECK_FAILS(compile_within(1 << 20), LN_LIMIT);
    ln_allocator_set(NULL);
    CHECK(largest_request < (64 << 10));
    ln_arch_cleanup();
}

// Two weights of 256 KiB become a third while loading; a run has next to nothing besides that.
#define FOLDED                                                                                     \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 256]);\n"                                            \
    "create(| dst=v | dtype=TL_FLOAT, dims=[256, 256], ran=[-1, 1]);\n"                            \
    "create(| dst=w | dtype=TL_FLOAT, dims=[256, 256], ran=[-1, 1]);\n"                            \
    "Add(A=v, B=w | C=u |);\n"                                                                     \
    "MatMul(A=x, B=u | Y=y |);\n"                                                                  \
    "output(src=y | |);\n"

static ln_status compile_folded(size_t byte_count, size_t *out_load, size_t *out_peak)
{
    ln_context *ctx = open_text(FOLDED);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = byte_count;
    ln_context_set_limits(ctx, &limits);
    ln_status status = ln_context_compile(ctx, "cpu");
    CHECK_EQ(ctx->state, status == LN_OK ? LN_CONTEXT_PLANNED : LN_CONTEXT_READY);
    ln_plan *plan;
    if (out_load) {
        CHECK_OK(ln_context_plan_create(ctx, &plan));
        const ln_plan_totals *totals = &plan->totals[LN_MEM_CPU];
        *out_load = totals->static_byte_count + totals->load_byte_count;
        *out_peak = totals->peak_byte_count;
        ln_context_plan_free(plan);
    }
    close_context(ctx);
    return status;
}

TEST(memory_for_loading_is_in_the_budget)
{
    size_t load, peak;
    CHECK_OK(ln_arch_init());
    CHECK_OK(compile_folded(SIZE_MAX, &load, &peak));
    CHECK(load > peak + (256 << 10));
    CHECK_OK(compile_folded(load, NULL, NULL));
    CHECK_FAILS(compile_folded(load - 1, NULL, NULL), LN_LIMIT);
    CHECK_MESSAGE("while it is loaded");
    CHECK_FAILS(compile_folded(peak, NULL, NULL), LN_LIMIT);
    CHECK_MESSAGE("while it is loaded");
    ln_arch_cleanup();
}

TEST_LIST(the_budget_is_exact, memory_for_loading_is_in_the_budget,
          a_refusal_has_the_figures_and_what_is_largest,
          a_refusal_has_allocated_nothing_of_that_size)
