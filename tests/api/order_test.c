// SPDX-License-Identifier: Apache-2.0
// The pass `order`: other orders need less memory and compute the same.

#include <stdio.h>

#include "tests/api/model.h"
#include "tests/oom.h"

// Three branches that grow before they shrink, interleaved.
#define BRANCHES                                                                                   \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 8, 8]);\n"                                        \
    "input(| dst=z | dtype=TL_FLOAT, dims=[1, 4, 8, 8]);\n"                                        \
    "upsample(src=x | dst=a | scales=[1, 1, 4, 4], mode=TL_NEAREST);\n"                            \
    "upsample(src=x | dst=b | scales=[1, 1, 4, 4], mode=TL_LINEAR);\n"                             \
    "upsample(src=z | dst=c | scales=[1, 1, 4, 4], mode=TL_NEAREST);\n"                            \
    "maxreduce(src=a | dst=p | axis=2);\n"                                                         \
    "maxreduce(src=b | dst=q | axis=2);\n"                                                         \
    "maxreduce(src=c | dst=r | axis=2);\n"                                                         \
    "elew(src1=p, src2=q | dst=s | elew_op=TL_SUM);\n"                                             \
    "elew(src1=s, src2=r | dst=y | elew_op=TL_SUB);\n"

static ln_context *load_with(const char *text, const char *passes, const size_t *skip)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = passes;
    options.skip = skip;
    options.skip_count = skip != NULL;
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void run_on_numbers(ln_context *ctx, float y[128])
{
    float x[256];
    for (int i = 0; i < 256; i++)
        x[i] = (float)(i * 37 % 101) - 50;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
}

TEST(another_order_needs_less_and_computes_the_same)
{
    CHECK_OK(ln_arch_init());
    ln_context *given = load_with(BRANCHES, "fold,expand", NULL);
    ln_context *ordered = load_with(BRANCHES, NULL, NULL);
    CHECK_EQ(ln_context_data_size(given, "y"), 128 * sizeof(float));
    // Three large tensors at once, and one.
    CHECK(given->mem_sizes[LN_MEM_CPU] > 3 * 16384);
    CHECK(ordered->mem_sizes[LN_MEM_CPU] < 2 * 16384);
    float y[128], z[128];
    run_on_numbers(given, y);
    run_on_numbers(ordered, z);
    CHECK_MEM_EQ(y, z, sizeof y);
    close_context(given);
    close_context(ordered);
    ln_arch_cleanup();
}

// The names of the operators in their order.
static void list_ops(const ln_context *ctx, char *text, size_t room)
{
    text[0] = '\0';
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        size_t len = strlen(text);
        snprintf(text + len, room - len, "%s ", ((const ln_op *)l->data)->op_arg->name);
    }
}

TEST(an_order_that_is_good_stays)
{
    static const char *const models[] = {SMALL_MODEL, CONV_MODEL};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < 2; i++) {
        char given[512], ordered[512];
        ln_context *a = load_with(models[i], "fold,expand", NULL);
        ln_context *b = load_with(models[i], NULL, NULL);
        list_ops(a, given, sizeof given);
        list_ops(b, ordered, sizeof ordered);
        CHECK_STR_EQ(ordered, given);
        close_context(a);
        close_context(b);
    }
    ln_arch_cleanup();
}

TEST(what_is_printed_comes_in_the_given_order)
{
    CHECK_OK(ln_arch_init());
    char ops[512];
    ln_context *ctx = open_text(BRANCHES "print(src=r | | msg=\"r\");\n"
                                         "print(src=p | | msg=\"p\");\n"
                                         "print(src=x | | msg=\"x\");\n");
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK(ctx->mem_sizes[LN_MEM_CPU] < 2 * 16384);
    list_ops(ctx, ops, sizeof ops);
    const char *first = strstr(ops, "print0"), *second = strstr(ops, "print1");
    CHECK_NOT_NULL(first);
    CHECK_NOT_NULL(second);
    CHECK(first < second && second < strstr(ops, "print2"));
    close_context(ctx);
    ln_arch_cleanup();
}

typedef struct seen_order {
    size_t number;
    int is_skipped;
} seen_order;

static void note_order(void *user, const ln_firing *firing)
{
    if (strcmp(firing->pass, "order") == 0)
        *(seen_order *)user = (seen_order){firing->number, firing->is_skipped};
}

TEST(a_new_order_is_a_firing)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    seen_order seen = {0};
    options.on_firing = note_order;
    options.user = &seen;
    ln_context *ctx = open_text(BRANCHES);
    CHECK_OK(ln_context_optimize_with(ctx, "ref", &options));
    close_context(ctx);
    CHECK(seen.number > 0 && !seen.is_skipped);
    options.skip = &seen.number;
    options.skip_count = 1;
    ctx = open_text(BRANCHES);
    CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
    CHECK(seen.is_skipped);
    CHECK(ctx->mem_sizes[LN_MEM_CPU] > 3 * 16384);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(models_that_are_not_lowered_are_left_alone)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = "order";
    ln_context *ctx = open_text(BRANCHES);
    CHECK_OK(ln_context_optimize_with(ctx, "ref", &options));
    char ops[512];
    list_ops(ctx, ops, sizeof ops);
    CHECK_STR_EQ(ops,
                 "input0 input1 upsample0 upsample1 upsample2 maxreduce0 maxreduce1 maxreduce2 "
                 "elew0 elew1 output0 ");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(ordering_survives_every_failed_allocation)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? ln_context_init_mem(ctx, BRANCHES, strlen(BRANCHES), "model.net") : LN_NO_MEMORY;
        if (status == LN_OK)
            status = ln_context_optimize(ctx, "ref", NULL);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(another_order_needs_less_and_computes_the_same, an_order_that_is_good_stays,
          what_is_printed_comes_in_the_given_order, a_new_order_is_a_firing,
          models_that_are_not_lowered_are_left_alone, ordering_survives_every_failed_allocation)
