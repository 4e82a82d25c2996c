// SPDX-License-Identifier: Apache-2.0
// Arena offsets: reuse, gaps, alignment, the bound, limits.

#include "plan/arena.h"

#include <time.h>

#include "tests/random.h"
#include "tests/test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void check_valid(const ln_interval *v, size_t count, size_t align, size_t first_offset,
                        size_t byte_count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(v[i].offset % align, 0);
        CHECK(v[i].offset >= first_offset);
        CHECK(v[i].offset + v[i].byte_count <= first_offset + byte_count);
        for (size_t k = 0; k < i; k++) {
            if (v[i].last_step < v[k].first_step || v[k].last_step < v[i].first_step)
                continue;
            CHECK(v[i].offset + v[i].byte_count <= v[k].offset ||
                  v[k].offset + v[k].byte_count <= v[i].offset || !v[i].byte_count ||
                  !v[k].byte_count);
        }
    }
}

TEST(neighbours_reuse_memory)
{
    ln_interval v[] = {{.byte_count = 64, .first_step = 0, .last_step = 1},
                       {.byte_count = 64, .first_step = 2, .last_step = 3}};
    size_t bytes;
    CHECK_OK(ln_plan_arena(v, 2, 64, 64, &bytes));
    CHECK_EQ(bytes, 64);
    CHECK_EQ(v[0].offset, 64);
    CHECK_EQ(v[1].offset, 64);
}

TEST(touching_steps_do_not_share)
{
    ln_interval v[] = {{.byte_count = 64, .first_step = 0, .last_step = 1},
                       {.byte_count = 64, .first_step = 1, .last_step = 2}};
    size_t bytes;
    CHECK_OK(ln_plan_arena(v, 2, 64, 64, &bytes));
    CHECK_EQ(bytes, 128);
    CHECK_NE(v[0].offset, v[1].offset);
}

TEST(sizes_are_rounded_up_to_the_alignment)
{
    ln_interval v[] = {{.byte_count = 65}, {.byte_count = 1}, {.byte_count = 64}};
    size_t bytes, bound;
    CHECK_OK(ln_plan_arena(v, 3, 64, 640, &bytes));
    CHECK_EQ(bytes, 256);
    check_valid(v, 3, 64, 640, bytes);
    CHECK_OK(ln_plan_lower_bound(v, 3, 64, &bound));
    CHECK_EQ(bound, 256);
    CHECK_OK(ln_plan_lower_bound(v, 3, 1, &bound));
    CHECK_EQ(bound, 130);
}

TEST(empty_intervals_take_nothing_and_have_an_offset)
{
    ln_interval v[] = {{.byte_count = 0, .last_step = 5}, {.byte_count = 10, .last_step = 5}};
    size_t bytes;
    CHECK_OK(ln_plan_arena(v, 2, 64, 128, &bytes));
    CHECK_EQ(bytes, 64);
    CHECK_EQ(v[0].offset, 128);
    CHECK_EQ(v[1].offset, 128);
    CHECK_OK(ln_plan_arena(v, 1, 64, 128, &bytes));
    CHECK_EQ(bytes, 0);
    CHECK_OK(ln_plan_arena(NULL, 0, 64, 64, &bytes));
    CHECK_EQ(bytes, 0);
    CHECK_OK(ln_plan_lower_bound(NULL, 0, 64, &bytes));
    CHECK_EQ(bytes, 0);
}

TEST(the_order_of_sizes_alone_is_not_trusted)
{
    // Large first leaves a hole below the last; another order meets the bound.
    ln_interval v[] = {{.byte_count = 3 * 64, .first_step = 0, .last_step = 1},
                       {.byte_count = 4 * 64, .first_step = 3, .last_step = 4},
                       {.byte_count = 2 * 64, .first_step = 1, .last_step = 3},
                       {.byte_count = 1 * 64, .first_step = 2, .last_step = 3},
                       {.byte_count = 1 * 64, .first_step = 0, .last_step = 2}};
    size_t bytes, bound;
    CHECK_OK(ln_plan_arena(v, COUNT(v), 64, 64, &bytes));
    CHECK_OK(ln_plan_lower_bound(v, COUNT(v), 64, &bound));
    CHECK_EQ(bound, 7 * 64);
    CHECK_EQ(bytes, bound);
    check_valid(v, COUNT(v), 64, 64, bytes);
}

TEST(bad_arguments_are_refused)
{
    ln_interval v[] = {{.byte_count = 64, .first_step = 2, .last_step = 1, .offset = 7}};
    size_t bytes = 5;
    CHECK_FAILS(ln_plan_arena(v, 1, 64, 64, &bytes), LN_INVALID);
    CHECK_EQ(bytes, 0);
    CHECK_EQ(v[0].offset, 7);
    v[0].last_step = 2;
    CHECK_FAILS(ln_plan_arena(v, 1, 0, 64, &bytes), LN_INVALID);
    CHECK_FAILS(ln_plan_arena(v, 1, 48, 64, &bytes), LN_INVALID);
    CHECK_FAILS(ln_plan_arena(v, 1, 64, 0, &bytes), LN_INVALID);
    CHECK_FAILS(ln_plan_arena(v, 1, 64, 32, &bytes), LN_INVALID);
    CHECK_FAILS(ln_plan_arena(v, 1, 64, 64, NULL), LN_INVALID);
    CHECK_FAILS(ln_plan_arena(NULL, 1, 64, 64, &bytes), LN_INVALID);
    CHECK_FAILS(ln_plan_lower_bound(NULL, 1, 64, &bytes), LN_INVALID);
    CHECK_FAILS(ln_plan_lower_bound(v, 1, 64, NULL), LN_INVALID);
}

TEST(sizes_that_overflow_are_refused)
{
    ln_interval v[] = {{.byte_count = SIZE_MAX - 10}, {.byte_count = 64}};
    size_t bytes;
    CHECK_FAILS(ln_plan_arena(v, 2, 64, 64, &bytes), LN_LIMIT);
    v[0].byte_count = SIZE_MAX - 127;
    CHECK_FAILS(ln_plan_arena(v, 2, 64, 64, &bytes), LN_LIMIT);
    CHECK_FAILS(ln_plan_arena(v, 1, 64, 128, &bytes), LN_LIMIT);
    v[0].byte_count = (size_t)1 << 63;
    v[1].byte_count = (size_t)1 << 63;
    CHECK_FAILS(ln_plan_lower_bound(v, 2, 64, &bytes), LN_LIMIT);
    v[1].first_step = v[1].last_step = UINT32_MAX;
    CHECK_OK(ln_plan_arena(v, 2, 64, 64, &bytes));
    CHECK(bytes == (size_t)1 << 63);
}

// As check_valid, by a sweep over the steps that keeps the intervals that are alive: those that
// have ended are dropped as later ones begin, so that `v` is in the order of first_step.
static void check_apart(const ln_interval *v, size_t count, size_t byte_count)
{
    static uint32_t alive[20000];
    size_t alive_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t kept = 0, end = v[i].offset + v[i].byte_count;
        CHECK(v[i].offset % 64 == 0 && v[i].offset >= 64 && end <= 64 + byte_count);
        for (size_t k = 0; k < alive_count; k++) {
            const ln_interval *other = &v[alive[k]];
            if (other->last_step < v[i].first_step)
                continue;
            if (v[i].offset < other->offset + other->byte_count && other->offset < end)
                fail_msg("intervals %u and %zu overlap", alive[k], i);
            alive[kept++] = alive[k];
        }
        alive[kept++] = (uint32_t)i;
        alive_count = kept;
    }
}

static void check_many(uint32_t n, uint32_t longest)
{
    static ln_interval v[20000];
    test_random random = test_random_start();
    for (uint32_t i = 0; i < n; i++) {
        v[i] = (ln_interval){.byte_count = 1 + test_random_below(&random, 100000), .first_step = i};
        v[i].last_step = i + (uint32_t)test_random_below(&random, longest);
    }
    clock_t start = clock();
    size_t bytes, bound;
    CHECK_OK(ln_plan_arena(v, n, 64, 64, &bytes));
    CHECK_OK(ln_plan_lower_bound(v, n, 64, &bound));
    print_message("%u intervals of up to %u steps: %zu bytes, %.2f %% above the bound, %.2f s\n", n,
                  longest, bytes, 100.0 * (double)(bytes - bound) / (double)bound,
                  (double)(clock() - start) / CLOCKS_PER_SEC);
    CHECK(bytes >= bound);
    check_apart(v, n, bytes);
}

// Each interval is alive with a third of all: looking for gaps ends with the work that is allowed,
// and the rest goes on top of each other.
TEST(what_is_beyond_the_work_allowed_is_apart_too)
{
    check_many(20000, 13000);
}

TEST(twenty_thousand_short_intervals_are_fast)
{
    check_many(20000, 50);
}

TEST(thousands_of_long_intervals_are_fast)
{
    check_many(3000, 1000);
}

TEST_LIST(neighbours_reuse_memory, touching_steps_do_not_share,
          sizes_are_rounded_up_to_the_alignment, empty_intervals_take_nothing_and_have_an_offset,
          the_order_of_sizes_alone_is_not_trusted, bad_arguments_are_refused,
          sizes_that_overflow_are_refused, twenty_thousand_short_intervals_are_fast,
          thousands_of_long_intervals_are_fast, what_is_beyond_the_work_allowed_is_apart_too)
