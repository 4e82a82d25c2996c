// SPDX-License-Identifier: Apache-2.0
// Windows of channels and sums are written in the place of what they extend, where nobody notices.

#include "tests/api/model.h"

#include <stdio.h>

#define HEAD                                                                                       \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 4, 8]);\n"                                        \
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 8, 3, 3], ran=[-1, 1], data=[0]);\n"                \
    "create(| dst=u | dtype=TL_FLOAT, dims=[4, 4, 3, 3], ran=[-1, 1], data=[0]);\n"                \
    "conv2d_pack_cpu(weight=w | dst=p | );\n"                                                      \
    "conv2d_pack_cpu(weight=u | dst=q | );\n"                                                      \
    "conv2d_nhwc_cpu(src=x, packed=p | dst=v | channels=4, size=[3, 3], padding=[1, 1, 1, 1], "    \
    "dst_channels=8);\n"                                                                           \
    "put_channels(src=x, into=v | dst=t | src_channels=4, dst_first=4);\n"

static ln_context *load(const char *text, int keeps_tensors)
{
    ln_context *ctx = open_text(text);
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_tensors = keeps_tensors;
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    ln_context_plan_free(plan);
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void check_same(ln_context *a, ln_context *b, size_t count)
{
    float x[128], y[128], z[128];
    for (int i = 0; i < 128; i++)
        x[i] = (float)(i * 7 % 13) - 6;
    ln_context *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data(both[i], "x", x));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_NOT_NULL(ln_context_get_data(both[i], "y", i ? z : y));
    }
    CHECK_MEM_EQ(y, z, count * sizeof *y);
}

static size_t offset_of(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    CHECK_NOT_NULL(entry);
    return entry->offset;
}

TEST(results_lie_over_what_they_extend_unless_it_is_read_there)
{
    static const struct {
        const char *why, *text, *over;
        size_t count;
        bool is_over;
    } rows[] = {
        {"a window beside what is read",
         HEAD "conv2d_nhwc_cpu(src=t, packed=q, into=t | dst=y | channels=4, size=[3, 3], "
              "padding=[1, 1, 1, 1], src_first=4, src_channels=4);\n",
         "t", 128, true},
        {"a window that is read around each pixel",
         HEAD "conv2d_nhwc_cpu(src=t, packed=q, into=t | dst=y | channels=4, size=[3, 3], "
              "padding=[1, 1, 1, 1], src_first=2, src_channels=4);\n",
         "t", 128, false},
        {"the addend of each element",
         HEAD "put_channels(src=t | dst=a | src_channels=4);\n"
              "put_channels(src=t | dst=b | src_channels=4, src_first=4);\n"
              "conv2d_nhwc_cpu(src=b, packed=q, addend=a | dst=y | channels=4, size=[3, 3], "
              "padding=[1, 1, 1, 1]);\n",
         "a", 64, true},
        {"an addend that is convolved too",
         HEAD "put_channels(src=t | dst=a | src_channels=4);\n"
              "conv2d_nhwc_cpu(src=a, packed=q, addend=a | dst=y | channels=4, size=[3, 3], "
              "padding=[1, 1, 1, 1]);\n",
         "a", 64, false},
        {"other channels come before the addend",
         HEAD
         "put_channels(src=x, into=t | dst=a | src_channels=4);\n"
         "put_channels(src=x | dst=b | src_channels=8);\n"
         "conv2d_nhwc_cpu(src=x, packed=p, into=a, addend=b | dst=y | channels=4, size=[3, 3], "
         "padding=[1, 1, 1, 1], addend_first=2);\n",
         "a", 128, true},
        {"other channels of the addend",
         HEAD "conv2d_nhwc_cpu(src=x, packed=p, into=t, addend=t | dst=y | channels=4, "
              "size=[3, 3], padding=[1, 1, 1, 1], addend_first=1);\n",
         "t", 128, false},
        {"the same channels of the addend",
         HEAD "conv2d_nhwc_cpu(src=x, packed=p, into=t, addend=t | dst=y | channels=4, "
              "size=[3, 3], padding=[1, 1, 1, 1], addend_first=2, dst_first=2);\n",
         "t", 128, true},
        {"a window beside the addend's",
         HEAD "conv2d_nhwc_cpu(src=x, packed=p, into=t, addend=t | dst=y | channels=4, "
              "size=[3, 3], padding=[1, 1, 1, 1], addend_first=4);\n",
         "t", 128, true},
        {"another name of what is read",
         HEAD "reshape_ref(src=t | dst=r | dims=[1, 4, 4, 8]);\n"
              "conv2d_nhwc_cpu(src=r, packed=q, into=t | dst=y | channels=4, size=[3, 3], "
              "padding=[1, 1, 1, 1], src_first=2, src_channels=4);\n",
         "t", 128, false},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = load(rows[i].text, 0), *kept = load(rows[i].text, 1);
        if ((offset_of(ctx, rows[i].over) == offset_of(ctx, "y")) != rows[i].is_over) {
            fprintf(stderr, "ERROR: %s\n", rows[i].why);
            CHECK(false);
        }
        check_same(ctx, kept, rows[i].count);
        close_context(ctx);
        close_context(kept);
    }
    ln_arch_cleanup();
}

TEST_LIST(results_lie_over_what_they_extend_unless_it_is_read_there)
