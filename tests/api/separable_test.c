// SPDX-License-Identifier: Apache-2.0
// Blocks around depthwise convolutions, large enough to be made band by band: the same bits as from
// one convolution after the other, and less memory.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arch/cpu/isa.h"

#include "tests/api/bands.h"

#define BLOCKS 7

typedef struct block {
    char text[2048];
    size_t len;
    test_random random;
} block;

static int pick(block *b, int least, int most)
{
    return least + (int)test_random_below(&b->random, (uint64_t)(most - least + 1));
}

__attribute__((format(printf, 2, 3))) static void say(block *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    b->len += (size_t)vsnprintf(b->text + b->len, sizeof b->text - b->len, format, args);
    va_end(args);
    CHECK(b->len < sizeof b->text);
}

// A convolution from `src` to `dst` with weights named after it, and an activation behind it.
static void say_conv(block *b, const char *src, const char *dst, const int weight_dims[4],
                     const char *params)
{
    static const char *const acts[] = {"none", "relu", "silu", "clip, beta=0.5"};
    say(b, "create(| dst=%s_w | dtype=TL_FLOAT, dims=[%d, %d, %d, %d], ran=[-0.5, 0.5]);\n", dst,
        weight_dims[0], weight_dims[1], weight_dims[2], weight_dims[3]);
    say(b, "create(| dst=%s_b | dtype=TL_FLOAT, dims=[%d], ran=[-1, 1]);\n", dst, weight_dims[0]);
    say(b, "conv2d(src=%s, weight=%s_w, bias=%s_b | dst=%s_c | size=[%d, %d]%s);\n", src, dst, dst,
        dst, weight_dims[2], weight_dims[3], params);
    say(b, "act(src=%s_c | dst=%s | act=%s);\n", dst, dst, acts[pick(b, 0, 3)]);
}

// Images between its convolutions have 1.1 to 4 MiB.
static void write_block(block *b)
{
    const int has_expand = pick(b, 0, 2) > 0, has_project = !has_expand || pick(b, 0, 1);
    const int channels = pick(b, 110, 140), narrow = pick(b, 3, 20), batch = pick(b, 1, 2);
    const int height = pick(b, 52, 60), width = pick(b, 52, 60), size = pick(b, 0, 2) ? 3 : 5;
    const int stride = has_expand ? pick(b, 1, 2) : 1, pad = pick(b, 0, 3) ? size / 2 : 0;
    char params[128];
    b->len = 0;
    say(b, "input(| dst=x | dtype=TL_FLOAT, dims=[%d, %d, %d, %d]);\n", batch,
        has_expand ? narrow : channels, height, width);
    if (has_expand)
        say_conv(b, "x", "e", (int[]){channels, narrow, 1, 1}, "");
    snprintf(params, sizeof params, ", group=%d, stride=[%d, %d], padding=[%d, %d, %d, %d]",
             channels, stride, stride, pad, pad, pad, pad);
    say_conv(b, has_expand ? "e" : "x", "d", (int[]){channels, 1, size, size}, params);
    if (has_project)
        say_conv(b, "d", "p", (int[]){narrow, channels, 1, 1}, "");
    if (has_expand && has_project && stride == 1 && pad)
        say(b, "elew(src1=p, src2=x | dst=y | elew_op=TL_SUM);\n");
    else
        say(b, "relu(src=%s | dst=y |);\n", has_project ? "p" : "d");
}

static ln_context *run_block(const char *text, const char *passes, size_t threads)
{
    ln_context *ctx = bands_open(text, "separable_nhwc_cpu", passes, threads);
    CHECK_OK(ln_context_run(ctx));
    return ctx;
}

static void check_same_bits(const ln_context *a, const ln_context *b, const char *text)
{
    const tl_tensor *x = ln_tensor_table_find(a->tensor_table, "y")->tensor;
    const tl_tensor *y = ln_tensor_table_find(b->tensor_table, "y")->tensor;
    CHECK(tl_tensor_issameshape(x, y));
    if (memcmp(x->data, y->data, tl_tensor_size(x)) != 0)
        fail_msg("%s\nother bits", text);
}

TEST(blocks_have_the_bits_of_their_convolutions)
{
    block b = {.random = test_random_start()};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < BLOCKS; i++) {
        write_block(&b);
        ln_context *apart = run_block(b.text, PASSES_APART, 1);
        for (size_t threads = 1; threads <= 4; threads++) {
            ln_context *ctx = run_block(b.text, NULL, threads);
            check_same_bits(apart, ctx, b.text);
            close_context(ctx);
        }
        CHECK_OK(ln_cpu_isa_set(i % 2 ? "generic" : "avx2"));
        ln_context *other = run_block(b.text, NULL, 2);
        CHECK_OK(ln_cpu_isa_set(NULL));
        check_same_bits(apart, other, b.text);
        close_context(other);
        close_context(apart);
    }
    ln_arch_cleanup();
}

TEST(the_image_between_needs_no_memory)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[1, 16, 112, 112]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[96, 16, 1, 1], ran=[-1, 1]);\n"
        "create(| dst=v | dtype=TL_FLOAT, dims=[96, 1, 3, 3], ran=[-1, 1]);\n"
        "create(| dst=b | dtype=TL_FLOAT, dims=[96], ran=[-1, 1]);\n"
        "conv2d(src=x, weight=w, bias=b | dst=e | size=[1, 1]);\n"
        "conv2d(src=e, weight=v, bias=b | dst=y | size=[3, 3], group=96, stride=[2, 2], "
        "padding=[1, 1, 1, 1]);\n";
    CHECK_OK(ln_arch_init());
    check_bands_need_less(text); // the image has 4.6 MiB
    ln_arch_cleanup();
}

// ---- Bytes between ----

#define ZERO(name, dtype)                                                                          \
    "create(| dst=" name " | dtype=" dtype ", dims=[], data=[3], from_file=false);\n"
#define OF_BYTES(zeros)                                                                               \
    "input(| dst=x | dtype=TL_UINT8, dims=[1, 6, 6, 8]);\n"                                           \
    "create(| dst=s | dtype=TL_FLOAT, dims=[], data=[0.5], from_file=false);\n" ZERO("u",             \
                                                                                     "TL_UINT8")      \
        ZERO(                                                                                         \
            "i",                                                                                      \
            "TL_INT8") "create(| dst=w | dtype=TL_INT8, dims=[16, 8, 1, 1], ran=[-9, 9]);\n"          \
                       "create(| dst=k | dtype=TL_INT8, dims=[16, 1, 3, 3], ran=[-9, 9]);\n"          \
                       "quant_conv_pack_cpu(weight=w | dst=p |);\n"                                   \
                       "quant_conv_pack_cpu(weight=k | dst=t | group=16);\n"                          \
                       "quant_conv_depthwise_nhwc_cpu(src=x, packed=p, src_scale=s, weight_scale=s, " \
                       "between_scale=s, taps=t, taps_src_scale=s, taps_scale=s, dst_scale=s" zeros   \
                       " | dst=y | channels=16, size=[1, 1], taps_size=[3, 3]);\n"

TEST(bytes_are_read_in_the_type_that_they_are_made_in)
{
    static const struct {
        const char *text, *words; // NULL: it is right
    } cases[] = {
        {OF_BYTES(", between_zero=u, taps_src_zero=u"), NULL},
        {OF_BYTES(", between_zero=i, taps_src_zero=i"), NULL},
        {OF_BYTES(", between_zero=i"), NULL},
        {OF_BYTES(", taps_src_zero=u"), NULL},
        {OF_BYTES(""), NULL},
        {OF_BYTES(", between_zero=u, taps_src_zero=i"), "is made as uint8, but read as int8"},
        {OF_BYTES(", between_zero=i, taps_src_zero=u"), "is made as int8, but read as uint8"},
        {OF_BYTES(", taps_src_zero=i"), "is made as uint8, but read as int8: the types of "
                                        "between_zero and taps_src_zero"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].words) {
            onnx_check_refused(cases[i].text, cases[i].words);
            continue;
        }
        CHECK_OK(ln_arch_init());
        ln_context *ctx = open_text(cases[i].text);
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        close_context(ctx);
        ln_arch_cleanup();
    }
}

TEST_LIST(blocks_have_the_bits_of_their_convolutions, the_image_between_needs_no_memory,
          bytes_are_read_in_the_type_that_they_are_made_in)
