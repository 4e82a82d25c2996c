// SPDX-License-Identifier: Apache-2.0
// Weights that a model brings along: used where they lie, unless they are set.

#include "tests/api/values.h"

// v is a view of w, which the model brings.
#define MODEL                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 2]);\n"                                              \
    "create(| dst=w | dtype=TL_FLOAT, dims=[4], ran=[0, 0], data=[0], from_file=true);\n"          \
    "reshape(src=w | dst=v | dims=[2, 2]);\n"                                                      \
    "Add(A=x, B=v | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

// A context of `text` that carries four floats at `w`, loaded.
static ln_context *load_carrying(const char *text, const void *w)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    CHECK_OK(ln_context_carry(ctx, "w", TL_FLOAT, 1, DIMS(4), w));
    CHECK_OK(ln_context_rerun_ops(ctx));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void check_sum(ln_context *ctx, double first)
{
    const float x[4] = {10, 10, 10, 10};
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 2),
                  NUMBERS(first, first + 1, first + 2, first + 3));
}

TEST(weights_stay_where_the_model_has_them)
{
    CHECK_OK(ln_arch_init());
    static const _Alignas(16) float w[4] = {1, 2, 3, 4};
    ln_context *ctx = load_carrying(MODEL, w);
    CHECK_PTR_EQ(ln_context_get_data(ctx, "w", NULL), w);
    CHECK_PTR_EQ(ln_context_get_data(ctx, "v", NULL), w);
    check_sum(ctx, 11);
    ln_context *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_PTR_EQ(ln_context_get_data(clone, "w", NULL), w);
    close_context(ctx);
    check_sum(clone, 11);
    close_context(clone);
    ln_arch_cleanup();
}

TEST(weights_that_are_not_aligned_are_copied)
{
    CHECK_OK(ln_arch_init());
    static _Alignas(16) char bytes[17];
    memcpy(bytes + 1, (const float[]){1, 2, 3, 4}, 16);
    ln_context *ctx = load_carrying(MODEL, bytes + 1);
    CHECK_EQ((uintptr_t)ln_context_get_data(ctx, "w", NULL) % sizeof(float), 0);
    check_sum(ctx, 11);
    ln_context *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_context_set_data(clone, "w", (const float[]){21, 22, 23, 24}));
    check_sum(clone, 31);
    check_sum(ctx, 11);
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(weights_that_are_set_are_the_contexts_own)
{
    CHECK_OK(ln_arch_init());
    static const _Alignas(16) float w[4] = {1, 2, 3, 4};
    ln_context *ctx = load_carrying(MODEL, w), *before, *after;
    CHECK_OK(ln_context_clone(ctx, &before));
    CHECK_OK(ln_context_set_data(ctx, "w", (const float[]){5, 6, 7, 8}));
    CHECK_NEAR(w[0], 1, 0);
    CHECK_NEAR(((const float *)ln_context_get_data(ctx, "v", NULL))[0], 5, 0);
    check_sum(ctx, 15);
    check_sum(before, 11);
    CHECK_OK(ln_context_clone(ctx, &after));
    check_sum(after, 15);
    CHECK_OK(ln_context_set_data(after, "w", (const float[]){7, 8, 9, 10}));
    check_sum(after, 17);
    check_sum(ctx, 15);

    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_sum(ctx, 11); // as the model has them
    close_context(before);
    close_context(after);
    close_context(ctx);
    ln_arch_cleanup();
}

static void count_release(void *block)
{
    ++*(int *)block;
}

TEST(what_the_weights_lie_in_ends_with_the_last_context)
{
    CHECK_OK(ln_arch_init());
    static const _Alignas(16) float w[4] = {1, 2, 3, 4};
    int releases = 0;
    ln_context *ctx = load_carrying(MODEL, w), *clone;
    CHECK_OK(ln_context_keep(ctx, &releases, count_release));
    CHECK_OK(ln_context_clone(ctx, &clone));
    close_context(ctx);
    CHECK_EQ(releases, 0);
    close_context(clone);
    CHECK_EQ(releases, 1);
    CHECK_FAILS(ln_context_keep(NULL, &releases, count_release), LN_INVALID);
    CHECK_EQ(releases, 2);
    ln_arch_cleanup();
}

TEST(a_attached_tensor_has_one_name_and_one_shape)
{
    CHECK_OK(ln_arch_init());
    static const _Alignas(16) float w[4] = {1, 2, 3, 4};
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_carry(ctx, "w", TL_FLOAT, 1, DIMS(4), w));
    CHECK_FAILS(ln_context_carry(ctx, "w", TL_FLOAT, 1, DIMS(4), w), LN_EXISTS);
    CHECK(ln_context_carry(ctx, "u", TL_FLOAT, 1, DIMS(-4), w) != LN_OK);
    CHECK_FAILS(ln_context_carry(NULL, "w", TL_FLOAT, 1, DIMS(4), w), LN_INVALID);
    close_context(ctx);
    ln_arch_cleanup();
}

// A constant that decides a shape, which a run looks at once it was set.
#define SHAPED                                                                                     \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"                                              \
    "create(| dst=s | dtype=TL_INT64, dims=[2], ran=[0, 0], data=[2, 3], from_file=false);\n"      \
    "CenterCropPad(input_data=x, shape=s | output_data=y |);\n"                                    \
    "output(src=y | |);\n"

TEST(a_constant_that_would_change_a_shape_stops_the_run)
{
    static const int64_t others[][2] = {{3, 2}, {2, 4}, {1, 3}};
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SHAPED, "ref");
    CHECK_EQ(ln_context_data_size(ctx, "y"), 24);
    CHECK_OK(ln_context_run(ctx));
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(ln_context_set_data(ctx, "s", others[i]));
        CHECK_FAILS(ln_context_run(ctx), LN_STATE);
        CHECK_MESSAGE("another shape than planned");
        CHECK_OK(ln_context_set_data(ctx, "s", (const int64_t[]){2, 3}));
        CHECK_OK(ln_context_run(ctx)); // the shape it has
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(weights_stay_where_the_model_has_them, weights_that_are_not_aligned_are_copied,
          weights_that_are_set_are_the_contexts_own,
          what_the_weights_lie_in_ends_with_the_last_context,
          a_attached_tensor_has_one_name_and_one_shape,
          a_constant_that_would_change_a_shape_stops_the_run)
