// SPDX-License-Identifier: Apache-2.0
// Normalisation and rectifier of channels against plain loops, and the instruction sets and numbers
// of threads against each other.

#include "arch/cpu/kernels/groupnorm/groupnorm.h"

#include "arch/cpu/kernels/kernel_test.h"

typedef struct problem {
    size_t batch, pixels, channels, groups;
    float center; // the input's mean, about
    float spread; // the inputs differ from it by at most that much
} problem;

static double exact(const problem *p, const float *x, size_t image, size_t group, double *variance)
{
    size_t of_group = p->channels / p->groups;
    double sum = 0, squares = 0, count = (double)(p->pixels * of_group);
    const float *from = x + image * p->pixels * p->channels + group * of_group;
    for (size_t i = 0; i < p->pixels; i++)
        for (size_t c = 0; c < of_group; c++)
            sum += (double)from[i * p->channels + c];
    for (size_t i = 0; i < p->pixels; i++)
        for (size_t c = 0; c < of_group; c++) {
            double d = (double)from[i * p->channels + c] - sum / count;
            squares += d * d;
        }
    *variance = squares / count;
    return sum / count;
}

static void check_against_double(const problem *p, const ln_groupnorm_f32_args *a, const float *y)
{
    size_t of_group = p->channels / p->groups;
    for (size_t n = 0; n < p->batch; n++)
        for (size_t g = 0; g < p->groups; g++) {
            double variance, mean = exact(p, a->x, n, g, &variance);
            double deviation = sqrt(variance + (double)a->epsilon);
            for (size_t i = 0; i < p->pixels * of_group; i++) {
                size_t c = g * of_group + i % of_group;
                size_t at = (n * p->pixels + i / of_group) * p->channels + c;
                double want = ((double)a->x[at] - mean) / deviation * (double)a->scale[c] +
                              (double)a->offset[c];
                if (a->act.act == LN_ACT_RELU && want < 0)
                    want = 0;
                double bound = 4e-6;
                if (!(fabs((double)y[at] - want) <= bound))
                    fail_msg("element %zu is %.9g, not %.9g", at, (double)y[at], want);
            }
        }
}

static void check(problem p, ln_act act, bool at_end)
{
    size_t count = p.batch * p.pixels * p.channels;
    guarded x = guarded_make(count, at_end), scale = guarded_make(p.channels, at_end);
    guarded offset = guarded_make(p.channels, at_end);
    float *first = calloc(count + 1, sizeof *first);
    fill_random(x.p, count);
    for (size_t i = 0; i < count; i++)
        x.p[i] = x.p[i] * p.spread + p.center;
    fill_random(scale.p, p.channels);
    fill_random(offset.p, p.channels);
    FOR_EACH_ISA(isa)
    {
        for (size_t threads = 1; threads <= 3; threads += 2) {
            ln_pool *pool = NULL;
            CHECK_OK(ln_pool_create(threads, &pool));
            guarded y = guarded_make(count, at_end);
            size_t bytes = ln_groupnorm_f32_workspace(p.batch, p.pixels, p.channels);
            guarded workspace = guarded_make(bytes / sizeof(float), at_end);
            fill_nan(y.p, count);
            fill_nan(workspace.p, workspace.count);
            ln_groupnorm_f32_args args = {.batch = p.batch,
                                          .pixels = p.pixels,
                                          .channels = p.channels,
                                          .groups = p.groups,
                                          .x = x.p,
                                          .scale = scale.p,
                                          .offset = offset.p,
                                          .epsilon = 1e-5f,
                                          .y = y.p,
                                          .act = {.act = act}};
            ln_groupnorm_f32(isa, &args, pool, workspace.p);
            if (isa == LN_CPU_ISA_generic && threads == 1) {
                check_against_double(&p, &args, y.p);
                memcpy(first, y.p, count * sizeof *first);
            }
            check_same_bits("groupnorm", isa, first, y.p, count);
            guarded_free(&y);
            guarded_free(&workspace);
            ln_pool_release(pool);
        }
    }
    free(first);
    guarded_free(&x);
    guarded_free(&scale);
    guarded_free(&offset);
}

TEST(normalised_groups_are_right_and_equal_everywhere)
{
    for (size_t channels = 1; channels <= 40; channels += 3) {
        check((problem){1, 37, channels, channels, 0, 1}, LN_ACT_NONE, true);
        check((problem){2, 70, channels, 1, 3, 1}, LN_ACT_RELU, false);
    }
    check((problem){1, 1, 12, 4, 0, 1}, LN_ACT_NONE, true);
    check((problem){2, 33, 12, 4, 1, 1}, LN_ACT_NONE, true);
    check((problem){1, 0, 12, 4, 1, 1}, LN_ACT_NONE, true);
    check((problem){1, 20011, 36, 3, -2, 1}, LN_ACT_RELU, false); // several slices
}

TEST(a_mean_far_from_zero_does_not_hide_the_variance)
{
    check((problem){1, 4096, 16, 16, 1000, 1}, LN_ACT_NONE, true);
    check((problem){1, 20011, 36, 3, -1e5f, 0.5f}, LN_ACT_RELU, false);
    check((problem){2, 300, 12, 4, 1e4f, 0.02f}, LN_ACT_NONE, true);
}

// Of groups of one number, or of equal numbers, is left what is added.
TEST(equal_numbers_become_the_offset)
{
    const float values[] = {1e4f, 12345.678f, -7.7e5f};
    for (size_t pixels = 1; pixels <= 100; pixels += 33)
        FOR_EACH_ISA(isa)
        {
            float x[300], y[300];
            for (size_t i = 0; i < 3 * pixels; i++)
                x[i] = values[i % 3];
            float *workspace = malloc(ln_groupnorm_f32_workspace(1, pixels, 3));
            ln_groupnorm_f32_args args = {.batch = 1,
                                          .pixels = pixels,
                                          .channels = 3,
                                          .groups = 3,
                                          .x = x,
                                          .scale = (const float[]){1, 1, 1},
                                          .offset = (const float[]){0, -2, 0.5f},
                                          .epsilon = 1e-5f,
                                          .y = y};
            ln_groupnorm_f32(isa, &args, NULL, workspace);
            for (size_t i = 0; i < 3 * pixels; i++)
                if (y[i] != args.offset[i % 3])
                    fail_msg("%zu pixels of %g become %g", pixels, (double)x[i], (double)y[i]);
            free(workspace);
        }
}

TEST_LIST(normalised_groups_are_right_and_equal_everywhere,
          a_mean_far_from_zero_does_not_hide_the_variance, equal_numbers_become_the_offset)
