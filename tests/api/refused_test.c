// SPDX-License-Identifier: Apache-2.0
// Requests of memory that are refused, one or all from then on: LN_NO_MEMORY, or the right result.

#include "tests/api/values.h"
#include "tests/oom.h"

// A block of a densely connected network: d1 is written into d2.
#define WEIGHTS(name, dims)                                                                        \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims ", ran=[-1, 1], data=[0.5, 0.25, -1]);\n"
#define DENSE                                                                                           \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 16, 2, 2]);\n" WEIGHTS("w1", "[16, 16, 3, 3]")            \
        WEIGHTS("w2", "[16, 32, 3, 3]") WEIGHTS("w3", "[16, 48, 1, 1]") WEIGHTS(                        \
            "b",                                                                                        \
            "[16]") "conv2d(src=x, weight=w1, bias=b | dst=c1 | size=[3, 3], padding=[1, 1, 1, 1]);\n"  \
                    "conv2d(src=c1, weight=w1, bias=b | dst=c2 | size=[3, 3], padding=[1, 1, 1, 1]);\n" \
                    "concat(src1=c1, src2=c2 | dst=d1 | axis=1);\n"                                     \
                    "conv2d(src=d1, weight=w2, bias=b | dst=c3 | size=[3, 3], padding=[1, 1, 1, 1]);\n" \
                    "concat(src1=d1, src2=c3 | dst=d2 | axis=1);\n"                                     \
                    "conv2d(src=d2, weight=w3, bias=b | dst=y | size=[1, 1]);\n"

static char *print(const ln_context *ctx)
{
    char *text;
    size_t byte_count;
    CHECK_OK(ln_context_write(ctx, "ir", &text, &byte_count));
    return text;
}

static ln_status join(const ln_context *model, ln_context **out_joined)
{
    LN_TRY(ln_context_clone(model, out_joined));
    return ln_context_optimize(*out_joined, "cpu", "join");
}

// What a pass makes while a request is refused is what it makes anyway, or nothing.
TEST(joining_notices_each_refusal)
{
    CHECK_OK(ln_arch_init());
    ln_context *model = open_text(DENSE), *joined;
    CHECK_OK(ln_context_optimize(model, "cpu", "dead,core,fold,layout,settle"));
    CHECK_OK(join(model, &joined));
    char *before = print(model), *expected = print(joined);
    CHECK(strcmp(before, expected) != 0);
    close_context(joined);
    test_oom oom = {.refused = 1};
    for (size_t n = 0; oom.refused > 0; n++) {
        test_oom_start_single(&oom, n);
        joined = NULL;
        ln_status status = join(model, &joined);
        test_oom_stop();
        if (status == LN_OK) {
            char *text = print(joined);
            CHECK_STR_EQ(text, expected);
            ln_free(text);
        } else {
            CHECK_EQ(status, LN_NO_MEMORY);
        }
        ln_context_free(joined);
    }
    ln_free(before);
    ln_free(expected);
    close_context(model);
    ln_arch_cleanup();
}

static ln_status compute(const char *model, float y[64])
{
    ln_context *ctx = ln_context_create();
    ln_status status = ctx ? ln_context_init_mem(ctx, model, strlen(model), "m.net") : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_context_set_threads(ctx, 1);
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    float x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i % 7) - 3;
    if (status == LN_OK)
        status = ln_context_set_data(ctx, "x", x);
    if (status == LN_OK)
        status = ln_context_run(ctx);
    if (status == LN_OK)
        status = ln_context_get_data(ctx, "y", y) ? LN_OK : ln_error_status();
    ln_context_free(ctx);
    return status;
}

TEST(a_model_computes_the_same_or_says_that_memory_is_gone)
{
    CHECK_OK(ln_arch_init());
    float expected[64], y[64];
    CHECK_OK(compute(DENSE, expected));
    OOM_SWEEP(n)
    {
        ln_status status = compute(DENSE, y);
        if (status == LN_OK)
            CHECK_MEM_EQ(y, expected, sizeof y);
        else
            CHECK_EQ(status, LN_NO_MEMORY);
    }
    ln_arch_cleanup();
}

TEST_LIST(joining_notices_each_refusal, a_model_computes_the_same_or_says_that_memory_is_gone)
