// SPDX-License-Identifier: Apache-2.0
// Convolutions with a pooling behind them, large enough to be made band by band: the same bits as
// from one after the other, and less memory.

#include <stdio.h>
#include <string.h>

#include "arch/cpu/isa.h"

#include "tests/api/bands.h"

#define MODELS 8

static int pick(test_random *random, int least, int most)
{
    return least + (int)test_random_below(random, (uint64_t)(most - least + 1));
}

// An image between of 1.1 to 4 MiB. Few channels in front of it are convolved directly, others by
// one of Winograd's algorithms.
static void write_model(test_random *random, char *text, size_t byte_count)
{
    static const char *const acts[] = {"none", "relu", "silu", "clip, beta=0.5"};
    const int is_first = pick(random, 0, 1), in = is_first ? 3 : pick(random, 20, 40);
    const int out = pick(random, 60, 80), stride = is_first ? pick(random, 1, 2) : 1;
    const int height = stride * pick(random, 72, 90), width = stride * pick(random, 72, 90);
    const int size = is_first ? 2 * pick(random, 1, 3) + 1 : 3, pad = pick(random, 0, size / 2);
    const int window = pick(random, 2, 3), pool_pad = pick(random, 0, 1);
    int length =
        snprintf(text, byte_count,
                 "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d, %d]);\n"
                 "create(| dst=w | dtype=TL_FLOAT, dims=[%d, %d, %d, %d], ran=[-0.5, 0.5]);\n"
                 "create(| dst=b | dtype=TL_FLOAT, dims=[%d], ran=[-1, 1]);\n"
                 "conv2d(src=x, weight=w, bias=b | dst=c | size=[%d, %d], stride=[%d, %d], "
                 "padding=[%d, %d, %d, %d]);\n"
                 "act(src=c | dst=a | act=%s);\n"
                 "MaxPool(X=a | Y=y | kernel_shape=[%d, %d], strides=[2, 2], pads=[%d, %d, 0, %d], "
                 "ceil_mode=%d);\n",
                 pick(random, 1, 2), in, height, width, out, in, size, size, out, size, size,
                 stride, stride, pad, pad, pad, pad, acts[pick(random, 0, 3)], window, window,
                 pool_pad, pool_pad, pool_pad, pick(random, 0, 1));
    CHECK(length > 0 && (size_t)length < byte_count);
}

static ln_context *run_model(const char *text, const char *passes, size_t threads)
{
    ln_context *ctx = bands_open(text, "conv2d_maxpool_nhwc_cpu", passes, threads);
    float *x = ln_tensor_table_find(ctx->tensor_table, "x")->tensor->data;
    x[100] = x[5000] = NAN;
    CHECK_OK(ln_context_run(ctx));
    return ctx;
}

static void check_same_bits(const ln_context *a, const ln_context *b, const char *text)
{
    const tl_tensor *x = ln_tensor_table_find(a->tensor_table, "y")->tensor;
    const tl_tensor *y = ln_tensor_table_find(b->tensor_table, "y")->tensor;
    CHECK(tl_tensor_issameshape(x, y));
    const float *want = x->data, *got = y->data;
    for (int i = 0; i < x->len; i++) {
        if (memcmp(&want[i], &got[i], sizeof *want) != 0 && !(isnan(want[i]) && isnan(got[i])))
            fail_msg("%s\nelement %d is %.9g, not %.9g", text, i, (double)got[i], (double)want[i]);
    }
}

TEST(models_have_the_bits_of_their_operators)
{
    test_random random = test_random_start();
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < MODELS; i++) {
        char text[1024];
        write_model(&random, text, sizeof text);
        ln_context *apart = run_model(text, PASSES_APART, 1);
        for (size_t threads = 1; threads <= 4; threads++) {
            ln_context *ctx = run_model(text, NULL, threads);
            check_same_bits(apart, ctx, text);
            close_context(ctx);
        }
        CHECK_OK(ln_cpu_isa_set(i % 2 ? "generic" : "avx2"));
        ln_context *other = run_model(text, NULL, 2);
        CHECK_OK(ln_cpu_isa_set(NULL));
        check_same_bits(apart, other, text);
        close_context(other);
        close_context(apart);
    }
    ln_arch_cleanup();
}

TEST(the_image_between_needs_no_memory)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 300, 300]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[32, 3, 3, 3], ran=[-1, 1]);\n"
        "create(| dst=b | dtype=TL_FLOAT, dims=[32], ran=[-1, 1]);\n"
        "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3], padding=[1, 1, 1, 1]);\n"
        "maxpool2d(src=c | dst=y | size=[2, 2], stride=[2, 2]);\n";
    CHECK_OK(ln_arch_init());
    check_bands_need_less(text); // the image has 11.5 MB
    ln_arch_cleanup();
}

TEST_LIST(models_have_the_bits_of_their_operators, the_image_between_needs_no_memory)
