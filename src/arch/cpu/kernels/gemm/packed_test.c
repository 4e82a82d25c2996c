// SPDX-License-Identifier: Apache-2.0
// Products with packed weights against the chain that their contract states, bit for bit on every
// instruction set.

#include "arch/cpu/kernels/gemm/packed.h"

#include "arch/cpu/kernels/gemm/partition.h"
#include "arch/cpu/kernels/gemm/tile.h"
#include "arch/cpu/kernels/kernel_test.h"
#include "arch/cpu/simd/f32__generic.h"

#include "arch/cpu/kernels/actf.h"

typedef struct problem {
    size_t m, n, k;
    size_t gap; // what each stride has beyond the row
    bool is_transposed;
    bool bias, addend, is_addend_last;
    ln_act act;
} problem;

static size_t extent(size_t rows, size_t columns, size_t stride)
{
    return rows ? (rows - 1) * stride + columns : 0;
}

static float activation(ln_act act, float x)
{
    const vf alpha = vf_set1(0.25f), beta = vf_set1(0.5f), v = vf_set1(x);
    switch (act) {
#define CASE(constant, name, doc)                                                                  \
    case LN_ACT_##constant: return vf_act(LN_ACT_##constant, alpha, beta, v)[0];
        LN_ACT_LIST(CASE)
#undef CASE
    default: return x;
    }
}

static float expected(const problem *p, const ln_gemm_packed_f32_args *a, const float *w, size_t i,
                      size_t j)
{
    float sum = 0;
    for (size_t q = 0; q < p->k; q++)
        sum =
            fmaf(a->a[i * a->a_stride + q], w[p->is_transposed ? j * p->k + q : q * p->n + j], sum);
    if (p->bias)
        sum += a->epilogue.bias[j];
    float other = p->addend ? a->epilogue.addend[i * a->epilogue.addend_stride + j] : 0;
    if (p->addend && !p->is_addend_last)
        sum += other;
    sum = activation(p->act, sum);
    return p->addend && p->is_addend_last ? sum + other : sum;
}

static void check_side(const problem *p, bool at_end)
{
    size_t as = p->k + p->gap, ys = p->n + p->gap, zs = ys + 3;
    guarded a = guarded_make(extent(p->m, p->k, as), at_end);
    guarded w = guarded_make(p->k * p->n, at_end);
    guarded packed = guarded_make(ln_gemm_packed_len(p->k, p->n), at_end);
    guarded bias = guarded_make(p->n, at_end);
    guarded addend = guarded_make(extent(p->m, p->n, zs), at_end);
    fill_random(a.p, a.count);
    fill_random(w.p, w.count);
    fill_random(bias.p, bias.count);
    fill_random(addend.p, addend.count);
    FOR_EACH_ISA(isa)
    {
        fill_nan(packed.p, packed.count);
        ln_gemm_pack_f32(isa, p->k, p->n, w.p, p->is_transposed ? 1 : p->n,
                         p->is_transposed ? p->k : 1, packed.p, NULL);
        guarded y = guarded_make(extent(p->m, p->n, ys), at_end);
        for (size_t i = 0; i < y.count; i++)
            y.p[i] = 77;
        ln_gemm_packed_f32_args args = {.m = p->m,
                                        .n = p->n,
                                        .k = p->k,
                                        .a = a.p,
                                        .a_stride = as,
                                        .packed = packed.p,
                                        .y = y.p,
                                        .y_stride = ys,
                                        .epilogue = {.bias = p->bias ? bias.p : NULL,
                                                     .addend = p->addend ? addend.p : NULL,
                                                     .addend_stride = zs,
                                                     .is_addend_last = p->is_addend_last,
                                                     .act = p->act,
                                                     .alpha = 0.25f,
                                                     .beta = 0.5f}};
        ln_gemm_packed_f32(isa, &args, NULL);
        for (size_t i = 0; i < p->m; i++) {
            for (size_t j = 0; j < p->n; j++) {
                float want = expected(p, &args, w.p, i, j), got = y.p[i * ys + j];
                if (!same_bits(want, got))
                    fail_msg("%zux%zux%zu: [%zu, %zu] is %.9g for %s, not %.9g", p->m, p->n, p->k,
                             i, j, (double)got, ln_cpu_isa_name(isa), (double)want);
            }
            for (size_t j = p->n; j < ys && i + 1 < p->m; j++)
                CHECK_NEAR(y.p[i * ys + j], 77, 0); // between the rows
        }
        guarded_free(&y);
    }
    guarded_free(&a);
    guarded_free(&w);
    guarded_free(&packed);
    guarded_free(&bias);
    guarded_free(&addend);
}

static void check_problem(problem p)
{
    check_side(&p, true);
    check_side(&p, false);
}

TEST(tiles_of_all_sizes_are_right)
{
    for (size_t m = 1; m <= 2 * LN_TILE_MAX_ROWS + 1; m++) {
        for (size_t n = 1; n <= 80; n += 1 + n / 3 + m % 2)
            check_problem((problem){.m = m, .n = n, .k = 1 + (m + n) % 7, .gap = m % 3});
    }
}

TEST(lone_panels_are_right_for_every_length)
{
    for (size_t m = 12; m <= LN_TILE_MAX_ROWS; m++) {
        for (size_t k = 8; k <= 13; k++)
            check_problem((problem){.m = m, .n = 5 + k % 12, .k = k, .gap = k % 3, .bias = true});
    }
}

TEST(weights_may_be_packed_from_columns)
{
    check_problem((problem){.m = 3, .n = 37, .k = 150, .is_transposed = true});
    check_problem((problem){.m = 20, .n = 16, .k = 64, .is_transposed = true});
}

TEST(weights_may_be_packed_from_anywhere)
{
    float w[20 * 41], packed[2 * 7 * LN_TILE_LANES];
    fill_random(w, sizeof w / sizeof *w);
    FOR_EACH_ISA(isa)
    {
        ln_gemm_pack_f32(isa, 7, 20, w, 2, 41, packed, NULL);
        for (size_t p = 0; p < 7; p++)
            for (size_t j = 0; j < 2 * LN_TILE_LANES; j++)
                CHECK(packed[(j / LN_TILE_LANES * 7 + p) * LN_TILE_LANES + j % LN_TILE_LANES] ==
                      (j < 20 ? w[p * 2 + j * 41] : 0));
    }
}

// `row` of [channels, pixels] among [pixels, channels].
static size_t image_row(size_t row, size_t channels, size_t pixels)
{
    return row % pixels * channels + row / pixels;
}

static void check_image(ln_cpu_isa isa, size_t channels, size_t pixels, size_t row_step,
                        size_t column_step)
{
    enum { N = 21, MOST = 60 };
    float w[N * MOST + MOST], packed[2 * LN_TILE_LANES * MOST];
    size_t k = channels * pixels;
    fill_random(w, sizeof w / sizeof *w);
    fill_nan(packed, sizeof packed / sizeof *packed);
    ln_gemm_pack_image_f32(isa, k, N, channels, w, row_step, column_step, packed, NULL);
    for (size_t p = 0; p < k; p++) {
        for (size_t j = 0; j < N; j++) {
            size_t at = j / LN_TILE_LANES * k + image_row(p, channels, pixels);
            CHECK(packed[at * LN_TILE_LANES + j % LN_TILE_LANES] ==
                  w[p * row_step + j * column_step]);
        }
    }
}

TEST(rows_of_an_image_are_packed_channels_last)
{
    FOR_EACH_ISA(isa)
    {
        for (size_t channels = 1; channels <= 7; channels++) {
            for (size_t pixels = 1; pixels <= 8; pixels++) {
                check_image(isa, channels, pixels, 1, channels * pixels);
                check_image(isa, channels, pixels, 21, 1);
                if (pixels * channels <= 29)
                    check_image(isa, channels, pixels, 2, 2 * channels * pixels);
            }
        }
    }
}

TEST(weights_may_lie_at_any_address)
{
    enum { K = 37, N = 21 };
    float w[K * N + 1], aligned[K * 2 * LN_TILE_LANES], packed[K * 2 * LN_TILE_LANES];
    unsigned char bytes[sizeof w];
    fill_random(w, K * N);
    memcpy(bytes + 1, w, K * N * sizeof *w);
    FOR_EACH_ISA(isa)
    {
        for (int is_transposed = 0; is_transposed <= 1; is_transposed++) {
            size_t row_step = is_transposed ? 1 : N, column_step = is_transposed ? K : 1;
            ln_gemm_pack_f32(isa, K, N, w, row_step, column_step, aligned, NULL);
            ln_gemm_pack_f32(isa, K, N, (const float *)(const void *)(bytes + 1), row_step,
                             column_step, packed, NULL);
            CHECK(memcmp(packed, aligned, sizeof packed) == 0);
        }
    }
}

TEST(columns_after_the_last_are_zeros)
{
    float w[2 * 50], packed[4 * 2 * LN_TILE_LANES];
    fill_random(w, sizeof w / sizeof *w);
    FOR_EACH_ISA(isa)
    {
        for (size_t n = 1; n <= 50; n++) {
            fill_nan(packed, sizeof packed / sizeof *packed);
            ln_gemm_pack_f32(isa, 2, n, w, 50, 1, packed, NULL);
            for (size_t j = n; j % LN_TILE_LANES != 0; j++)
                for (size_t p = 0; p < 2; p++)
                    CHECK(packed[(j / LN_TILE_LANES * 2 + p) * LN_TILE_LANES + j % LN_TILE_LANES] ==
                          0);
        }
    }
}

TEST(rows_in_the_same_cache_sets_are_right)
{
    for (size_t n = 1; n < 100; n += 16)
        check_problem((problem){.m = 23, .n = n, .k = 24, .gap = 1000});
}

TEST(every_epilogue_is_right)
{
    for (int act = 0; act < LN_ACT_COUNT; act++) {
        for (int bits = 0; bits < 8; bits++) {
            check_problem((problem){.m = bits & 1 ? 9 : 2 * LN_TILE_MAX_ROWS + 3,
                                    .n = 32 + (size_t)(bits + act) % 2 * 5,
                                    .k = 3,
                                    .bias = bits & 1,
                                    .addend = bits & 2,
                                    .is_addend_last = bits & 4,
                                    .act = (ln_act)act});
        }
    }
}

TEST(empty_sums_and_results_are_right)
{
    check_problem((problem){.m = 5, .n = 35, .k = 0, .bias = true});
    check_problem((problem){.m = 0, .n = 9, .k = 4});
    check_problem((problem){.m = 9, .n = 0, .k = 4});
}

TEST(chunks_of_panels_do_not_change_a_bit)
{
    check_problem((problem){.m = 30, .n = 100, .k = 3000, .bias = true});
}

TEST(a_row_with_weights_in_memory_is_right)
{
    check_problem((problem){.m = 1, .n = 301, .k = 700, .bias = true, .act = LN_ACT_GELU});
}

TEST(threads_do_not_change_a_bit)
{
    enum { M = 150, N = 300, K = 200 };
    float *a = malloc(M * K * sizeof *a), *w = malloc(N * K * sizeof *w);
    float *packed = malloc(ln_gemm_packed_len(K, N) * sizeof *packed);
    float *y[2] = {malloc(M * N * sizeof(float)), malloc(M * N * sizeof(float))};
    CHECK(a && w && packed && y[0] && y[1]);
    fill_random(a, M * K);
    fill_random(w, N * K);
    for (size_t threads = 1; threads <= 4; threads++) {
        ln_pool *pool;
        CHECK_OK(ln_pool_create(threads, &pool));
        FOR_EACH_ISA(isa)
        {
            ln_gemm_pack_f32(isa, K, N, w, 1, K, packed, pool);
            for (size_t m = 1; m <= M; m += 37) {
                ln_gemm_packed_f32_args args = {.m = m,
                                                .n = N,
                                                .k = K,
                                                .a = a,
                                                .a_stride = K,
                                                .packed = packed,
                                                .y = y[0],
                                                .y_stride = N,
                                                .epilogue = {.act = LN_ACT_SILU}};
                ln_gemm_packed_f32(isa, &args, NULL);
                args.y = y[1];
                fill_nan(y[1], M * N);
                ln_gemm_packed_f32(isa, &args, pool);
                check_same_bits("threads", isa, y[0], y[1], m * N);
            }
        }
        ln_pool_release(pool);
    }
    free(a);
    free(w);
    free(packed);
    free(y[0]);
    free(y[1]);
}

TEST(odd_values_give_the_same_on_all_instruction_sets)
{
    float w[2 * ODD_COUNT], packed[2 * 2 * LN_TILE_LANES], y[2][2 * ODD_COUNT];
    CHECK(ln_gemm_packed_len(2, ODD_COUNT) == sizeof packed / sizeof *packed);
    for (size_t i = 0; i < ODD_COUNT; i++) {
        for (size_t j = 0; j < ODD_COUNT; j++) {
            w[j] = odd_values[j];
            w[ODD_COUNT + j] = odd_values[(i + j) % ODD_COUNT];
        }
        ln_gemm_pack_f32(ln_cpu_isa_get(), 2, ODD_COUNT, w, ODD_COUNT, 1, packed, NULL);
        FOR_EACH_ISA(isa)
        {
            const float a[] = {odd_values[i], 1.0f, odd_values[i], 1e-20f};
            const int at = isa != LN_CPU_ISA_generic;
            ln_gemm_packed_f32_args args = {
                .m = 2,
                .n = ODD_COUNT,
                .k = 2,
                .a = a,
                .a_stride = 2,
                .packed = packed,
                .y = y[at],
                .y_stride = ODD_COUNT,
                .epilogue = {.act = (ln_act)(i % 3), .alpha = -1, .beta = 2}};
            ln_gemm_packed_f32(isa, &args, NULL);
            check_same_bits("packed", isa, y[0], y[at], 2 * ODD_COUNT);
        }
    }
}

TEST(packed_weights_that_overflow_are_refused)
{
    CHECK(ln_gemm_packed_len(10, 17) == 320);
    CHECK(ln_gemm_packed_len(SIZE_MAX / 8, 17) == SIZE_MAX);
}

TEST(shares_are_even_and_complete)
{
    for (size_t total = 0; total < 40; total++) {
        for (size_t count = 1; count < 9; count++) {
            CHECK_EQ(ln_task_start(total, count, 0), 0);
            CHECK_EQ(ln_task_start(total, count, count), total);
            for (size_t i = 0; i < count; i++) {
                size_t share = ln_task_start(total, count, i + 1) - ln_task_start(total, count, i);
                CHECK(share == total / count || share == ln_div_up(total, count));
            }
        }
    }
}

TEST_LIST(tiles_of_all_sizes_are_right, lone_panels_are_right_for_every_length,
          a_row_with_weights_in_memory_is_right, weights_may_be_packed_from_columns,
          weights_may_be_packed_from_anywhere, rows_of_an_image_are_packed_channels_last,
          weights_may_lie_at_any_address, columns_after_the_last_are_zeros,
          rows_in_the_same_cache_sets_are_right, every_epilogue_is_right,
          empty_sums_and_results_are_right, chunks_of_panels_do_not_change_a_bit,
          threads_do_not_change_a_bit, odd_values_give_the_same_on_all_instruction_sets,
          packed_weights_that_overflow_are_refused, shares_are_even_and_complete)
