// SPDX-License-Identifier: Apache-2.0
// gemm against sums in double, and its instruction sets against each other.

#include "arch/cpu/kernels/gemm/gemm.h"

#include "arch/cpu/kernels/kernel_test.h"

typedef struct problem {
    size_t m, n, k;
    size_t gap; // what each stride has beyond the row
    bool row_bias, col_bias;
    ln_act act;
} problem;

static size_t extent(size_t rows, size_t cols, size_t stride)
{
    return rows ? (rows - 1) * stride + cols : 0;
}

// The exact element, and in *out_bound how far a sum with one rounding for each of its k products
// and each bias may be from it: (k + 2) u times the sum of the magnitudes (Higham, 2002,
// section 3.1), with a little room for the bound's own second-order terms.
static double exact(const problem *p, const ln_gemm_f32_args *args, size_t i, size_t j,
                    double *out_bound)
{
    double sum = 0, magnitude = 0;
    for (size_t q = 0; q < p->k; q++) {
        double term =
            (double)args->a[i * args->a_stride + q] * (double)args->b[q * args->b_stride + j];
        sum += term;
        magnitude += fabs(term);
    }
    double row_bias = p->row_bias ? (double)args->row_bias[i] : 0;
    double col_bias = p->col_bias ? (double)args->col_bias[j] : 0;
    sum += row_bias + col_bias;
    magnitude += fabs(row_bias) + fabs(col_bias);
    *out_bound = 1.01 * 0x1p-24 * (double)(p->k + 2) * magnitude;
    return p->act == LN_ACT_RELU && sum < 0 ? 0 : sum;
}

static void check_problem(const problem *p, bool at_end)
{
    size_t as = p->k + p->gap, bs = p->n + p->gap, cs = p->n + p->gap;
    size_t c_count = extent(p->m, p->n, cs);
    guarded a = guarded_make(extent(p->m, p->k, as), at_end);
    guarded b = guarded_make(extent(p->k, p->n, bs), at_end);
    guarded row_bias = guarded_make(p->m, at_end), col_bias = guarded_make(p->n, at_end);
    float *first = calloc(c_count + 1, sizeof *first);
    CHECK_NOT_NULL(first);
    fill_random(a.p, a.count);
    fill_random(b.p, b.count);
    fill_random(row_bias.p, p->m);
    fill_random(col_bias.p, p->n);

    FOR_EACH_ISA(isa)
    {
        guarded c = guarded_make(c_count, at_end);
        guarded workspace = guarded_make(ln_gemm_f32_workspace(p->k) / sizeof(float), at_end);
        fill_nan(workspace.p, workspace.count);
        for (size_t i = 0; i < c_count; i++)
            c.p[i] = 77;
        ln_gemm_f32_args args = {.m = p->m,
                                 .n = p->n,
                                 .k = p->k,
                                 .a = a.p,
                                 .a_stride = as,
                                 .b = b.p,
                                 .b_stride = bs,
                                 .c = c.p,
                                 .c_stride = cs,
                                 .row_bias = p->row_bias ? row_bias.p : NULL,
                                 .col_bias = p->col_bias ? col_bias.p : NULL,
                                 .act = p->act};
        ln_gemm_f32(isa, &args, workspace.p);
        for (size_t i = 0; i < p->m; i++) {
            for (size_t j = 0; j < p->n; j++) {
                double bound, sum = exact(p, &args, i, j, &bound);
                CHECK_NEAR((double)c.p[i * cs + j], sum, bound);
            }
            for (size_t j = p->n; j < cs && i + 1 < p->m; j++)
                CHECK_NEAR(c.p[i * cs + j], 77, 0); // between the rows
        }
        if (isa == LN_CPU_ISA_generic && c_count)
            memcpy(first, c.p, c_count * sizeof *first);
        check_same_bits("gemm", isa, first, c.p, c_count);
        guarded_free(&c);
        guarded_free(&workspace);
    }
    free(first);
    guarded_free(&a);
    guarded_free(&b);
    guarded_free(&row_bias);
    guarded_free(&col_bias);
}

static void check_both_sides(problem p)
{
    check_problem(&p, true);
    check_problem(&p, false);
}

TEST(results_are_right_around_every_tile)
{
    FOR_EACH_ISA(isa)
    {
        const ln_gemm_f32_kernel *kernel = ln_gemm_f32_select(isa);
        const size_t ms[] = {kernel->mr, 2 * kernel->mr, kernel->mr - 1, kernel->mr + 1, 1};
        const size_t ns[] = {kernel->nr, 2 * kernel->nr, kernel->nr - 1, kernel->nr + 1, 1};
        for (size_t i = 0; i < 5; i++) {
            for (size_t j = 0; j < 5; j++)
                check_both_sides((problem){.m = ms[i], .n = ns[j], .k = 9, .gap = (i + j) % 2 * 5});
        }
    }
}

TEST(enough_rows_for_packing_give_the_same)
{
    check_both_sides((problem){.m = 37, .n = 70, .k = 33, .gap = 3});
    check_both_sides((problem){.m = 64, .n = 64, .k = 64});
}

TEST(biases_and_activation_come_after_the_sum)
{
    for (int bits = 0; bits < 8; bits++) {
        check_both_sides((problem){.m = 13,
                                   .n = 35,
                                   .k = 5,
                                   .row_bias = bits & 1,
                                   .col_bias = bits & 2,
                                   .act = bits & 4 ? LN_ACT_RELU : LN_ACT_NONE});
    }
}

TEST(an_empty_sum_is_the_bias)
{
    check_both_sides((problem){.m = 5, .n = 35, .k = 0, .row_bias = true, .col_bias = true});
    check_both_sides((problem){.m = 30, .n = 3, .k = 0, .act = LN_ACT_RELU});
}

TEST(nothing_is_touched_for_an_empty_result)
{
    check_both_sides((problem){.m = 0, .n = 9, .k = 4, .row_bias = true, .col_bias = true});
    check_both_sides((problem){.m = 9, .n = 0, .k = 4, .row_bias = true, .col_bias = true});
    ln_gemm_f32_args nothing = {0};
    FOR_EACH_ISA(isa)
    ln_gemm_f32(isa, &nothing, NULL);
}

TEST(random_shapes_are_right_and_equal_on_all_instruction_sets)
{
    for (int i = 0; i < 60; i++) {
        check_both_sides((problem){.m = test_random_in(1, 40),
                                   .n = test_random_in(1, 80),
                                   .k = test_random_in(0, 70),
                                   .gap = test_random_in(0, 3),
                                   .row_bias = test_random() & 1,
                                   .col_bias = test_random() & 1,
                                   .act = test_random() & 1 ? LN_ACT_RELU : LN_ACT_NONE});
    }
}

// The documented order: one fused chain, ascending. 2^24 + 1 + 1 shows the order, and 1 + 2^-24
// squared shows the fusing.
TEST(the_sum_ascends_and_is_fused)
{
    const float a[] = {0x1p24f, 1, 1, -0x1p24f}, ones[] = {1, 1, 1, 1};
    const float x[] = {1, 1 + 0x1p-12f}, y[] = {-1, 1 + 0x1p-12f};
    FOR_EACH_ISA(isa)
    {
        float c[1], workspace[4 * LN_GEMM_F32_MAX_NR];
        ln_gemm_f32_args args = {.m = 1,
                                 .n = 1,
                                 .k = 4,
                                 .a = a,
                                 .a_stride = 4,
                                 .b = ones,
                                 .b_stride = 1,
                                 .c = c,
                                 .c_stride = 1};
        ln_gemm_f32(isa, &args, workspace);
        CHECK_NEAR((double)c[0], 0, 0);

        args.k = 2;
        args.a = x;
        args.b = y;
        ln_gemm_f32(isa, &args, workspace);
        CHECK_NEAR((double)c[0], 0x1p-11 + 0x1p-24, 0);
    }
}

TEST(odd_values_give_the_same_on_all_instruction_sets)
{
    float b[ODD_COUNT * ODD_COUNT], c[2][2 * ODD_COUNT];
    float workspace[2 * LN_GEMM_F32_MAX_NR];
    for (size_t i = 0; i < ODD_COUNT; i++) {
        FOR_EACH_ISA(isa)
        {
            const float a[] = {odd_values[i], 1.0f, odd_values[i], 1e-20f};
            const int at = isa != LN_CPU_ISA_generic;
            memcpy(b, odd_values, sizeof odd_values);
            memcpy(b + ODD_COUNT, odd_values + i, (ODD_COUNT - i) * sizeof *b);
            memcpy(b + 2 * ODD_COUNT - i, odd_values, i * sizeof *b);
            ln_gemm_f32_args args = {.m = 2,
                                     .n = ODD_COUNT,
                                     .k = 2,
                                     .a = a,
                                     .a_stride = 2,
                                     .b = b,
                                     .b_stride = ODD_COUNT,
                                     .c = c[at],
                                     .c_stride = ODD_COUNT,
                                     .act = i & 1 ? LN_ACT_RELU : LN_ACT_NONE};
            ln_gemm_f32(isa, &args, workspace);
            check_same_bits("gemm", isa, c[0], c[at], 2 * ODD_COUNT);
        }
    }
}

TEST(a_workspace_that_overflows_is_refused)
{
    CHECK(ln_gemm_f32_workspace(10) == 10 * LN_GEMM_F32_MAX_NR * sizeof(float));
    CHECK(ln_gemm_f32_workspace(SIZE_MAX / 8) == SIZE_MAX);
}

TEST(features_that_no_kernel_needs_change_nothing)
{
    CHECK_PTR_EQ(ln_gemm_f32_select(ln_cpu_isa_detect() | 1u << 31),
                 ln_gemm_f32_select(ln_cpu_isa_detect()));
    CHECK_PTR_EQ(ln_gemm_f32_select(LN_CPU_ISA_generic), &ln_k_gemm_f32__generic);
}

TEST_LIST(results_are_right_around_every_tile, enough_rows_for_packing_give_the_same,
          biases_and_activation_come_after_the_sum, an_empty_sum_is_the_bias,
          nothing_is_touched_for_an_empty_result,
          random_shapes_are_right_and_equal_on_all_instruction_sets, the_sum_ascends_and_is_fused,
          odd_values_give_the_same_on_all_instruction_sets, a_workspace_that_overflows_is_refused,
          features_that_no_kernel_needs_change_nothing)
