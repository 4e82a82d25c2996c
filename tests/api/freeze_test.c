// SPDX-License-Identifier: Apache-2.0
// Frozen constants: what is folded is where the constants were, and nothing computes from what is
// gone.

#include "tests/api/model.h"
#include "tests/oom.h"

#define COUNT (1 * 4 * 8 * 8) // elements of y in CONV_MODEL

static ln_context *load_frozen(const char *text, int is_frozen)
{
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    options.freezes_constants = is_frozen;
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void run_both(ln_context *a, ln_context *b)
{
    float x[192], y[COUNT], z[COUNT];
    for (int i = 0; i < 192; i++)
        x[i] = (float)(i % 13) - 6;
    ln_context *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data(both[i], "x", x));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_NOT_NULL(ln_context_get_data(both[i], "y", i ? z : y));
    }
    CHECK_MEM_EQ(y, z, sizeof y);
}

TEST(folded_weights_take_the_place_of_the_constants)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1), *kept = load_frozen(CONV_MODEL, 0);
    size_t weight_bytes = 4 * 3 * 3 * 3 * sizeof(float); // 432, a multiple of 16 and not of 64
    CHECK_EQ(kept->static_sizes[LN_MEM_CPU], frozen->static_sizes[LN_MEM_CPU]);
    // The others have the constants while loading.
    CHECK(kept->load_sizes[LN_MEM_CPU] >= frozen->load_sizes[LN_MEM_CPU] + weight_bytes);
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(frozen, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
    run_both(frozen, kept);
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_constant_that_is_set_anew_is_folded_anew)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1), *kept = load_frozen(CONV_MODEL, 0);
    float w[108];
    for (int i = 0; i < 108; i++)
        w[i] = (float)(i % 5) / 4;
    for (int round = 0; round < 2; round++) {
        CHECK_OK(ln_context_set_data(frozen, "w", w));
        CHECK_OK(ln_context_set_data(kept, "w", w));
        run_both(frozen, kept);
    }
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_change_that_needs_a_spent_constant_is_refused_and_changes_nothing)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1), *kept = load_frozen(CONV_MODEL, 0);
    const float ones[4] = {1, 1, 1, 1};
    CHECK_FAILS(ln_context_set_data(frozen, "s", ones), LN_STATE);
    CHECK_MESSAGE("was overwritten");
    run_both(frozen, kept);
    ln_context *clone;
    CHECK_OK(ln_context_clone(frozen, &clone));
    CHECK_FAILS(ln_context_set_data(clone, "s", ones), LN_STATE);
    run_both(clone, kept);
    CHECK_OK(ln_context_set_data(kept, "s", ones));
    close_context(clone);
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_frozen_plan_is_read_back_and_proved)
{
    CHECK_OK(ln_arch_init());
    ln_context *frozen = load_frozen(CONV_MODEL, 1);
    char *text;
    size_t byte_count;
    CHECK_OK(ln_context_write(frozen, "ir", &text, &byte_count));
    ln_context *again = ln_context_create();
    CHECK_OK(ln_context_init_mem(again, text, byte_count, "frozen.json"));
    CHECK_EQ(again->static_sizes[LN_MEM_CPU], frozen->static_sizes[LN_MEM_CPU]);
    CHECK_OK(ln_context_load(again, NULL));
    run_both(frozen, again);
    close_context(again);
    close_context(frozen);
    ln_free(text);
    ln_arch_cleanup();
}

TEST(a_constant_that_somebody_else_reads_is_kept)
{
    CHECK_OK(ln_arch_init());
    static const char model[] = CONV_MODEL "elew(src1=w, src2=w | dst=twice | elew_op=TL_SUM);\n";
    ln_context *frozen = load_frozen(model, 1), *kept = load_frozen(model, 0);
    run_both(frozen, kept);
    float a[108], b[108];
    CHECK_NOT_NULL(ln_context_get_data(frozen, "twice", a));
    CHECK_NOT_NULL(ln_context_get_data(kept, "twice", b));
    CHECK_MEM_EQ(a, b, sizeof a);
    close_context(frozen);
    close_context(kept);
    ln_arch_cleanup();
}

TEST_LIST(folded_weights_take_the_place_of_the_constants,
          a_constant_that_is_set_anew_is_folded_anew,
          a_change_that_needs_a_spent_constant_is_refused_and_changes_nothing,
          a_frozen_plan_is_read_back_and_proved, a_constant_that_somebody_else_reads_is_kept)
