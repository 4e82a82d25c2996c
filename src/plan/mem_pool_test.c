// SPDX-License-Identifier: Apache-2.0
// The virtual pool: exact traces, best fit, failures, the printed map.

#include <lightnet/mem.h>

#include <stdlib.h>

#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

typedef struct trace_step {
    size_t size; // 0: free
    size_t addr;
} trace_step;

static void replay(size_t size, size_t align, const trace_step *steps, size_t count)
{
    ln_mem_pool *pool = ln_mem_pool_create(size, align);
    CHECK_NOT_NULL(pool);
    for (size_t i = 0; i < count; i++) {
        if (steps[i].size) {
            CHECK_EQ(ln_mem_pool_alloc(pool, steps[i].size), steps[i].addr);
            CHECK(ln_mem_pool_exist(pool, steps[i].addr));
        } else {
            CHECK_OK(ln_mem_pool_dealloc(pool, steps[i].addr));
            CHECK(!ln_mem_pool_exist(pool, steps[i].addr));
        }
    }
    ln_mem_pool_free(pool);
}

TEST(the_trace_without_alignment)
{
    const trace_step steps[] = {{10, 1}, {8, 11}, {2, 19}, {4, 21}, {6, 25}, {0, 11},
                                {0, 21}, {2, 21}, {0, 19}, {9, 11}, {0, 21}, {5, 20}};
    replay(4096, 1, steps, sizeof steps / sizeof steps[0]);
}

TEST(the_trace_with_alignment_8)
{
    const trace_step steps[] = {{10, 8}, {9, 24}, {2, 40}, {4, 48},  {6, 56}, {0, 24},
                                {0, 48}, {8, 48}, {0, 40}, {11, 24}, {0, 48}, {16, 40}};
    replay(4096, 8, steps, sizeof steps / sizeof steps[0]);
}

TEST(the_whole_pool_can_be_used)
{
    const trace_step all[] = {{4096, 1}, {0, 1}, {4096, 1}};
    replay(4096, 1, all, 3);
    ln_mem_pool *pool = ln_mem_pool_create(128, 64);
    CHECK_EQ(ln_mem_pool_alloc(pool, 66), 0);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK_MESSAGE("66");
    CHECK_MESSAGE("65");
    CHECK_EQ(ln_mem_pool_alloc(pool, 64), 64);
    CHECK_EQ(ln_mem_pool_alloc(pool, 1), 128);
    CHECK_EQ(ln_mem_pool_alloc(pool, 1), 0);
    ln_mem_pool_free(pool);
}

TEST(bad_arguments_are_refused)
{
    CHECK_NULL(ln_mem_pool_create(0, 1));
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_NULL(ln_mem_pool_create(SIZE_MAX, 1));
    CHECK_NULL(ln_mem_pool_create(10, 0));
    CHECK_NULL(ln_mem_pool_create(10, 24));
    CHECK_MESSAGE("24");
    ln_mem_pool *pool = ln_mem_pool_create(100, 1);
    CHECK_EQ(ln_mem_pool_alloc(pool, 0), 0);
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_EQ(ln_mem_pool_alloc(pool, SIZE_MAX), 0);
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK_FAILS(ln_mem_pool_dealloc(pool, 1), LN_NOT_FOUND);
    CHECK_EQ(ln_mem_pool_alloc(pool, 10), 1);
    CHECK_FAILS(ln_mem_pool_dealloc(pool, 2), LN_NOT_FOUND);
    CHECK_FAILS(ln_mem_pool_dealloc(pool, 0), LN_NOT_FOUND);
    CHECK(!ln_mem_pool_exist(pool, 0));
    CHECK_OK(ln_mem_pool_dealloc(pool, 1));
    CHECK_FAILS(ln_mem_pool_dealloc(pool, 1), LN_NOT_FOUND);
    CHECK_FAILS(ln_mem_pool_dump(pool, NULL), LN_INVALID);
    ln_mem_pool_free(pool);

    CHECK_EQ(ln_mem_pool_alloc(NULL, 1), 0);
    CHECK_FAILS(ln_mem_pool_dealloc(NULL, 1), LN_INVALID);
    CHECK_FAILS(ln_mem_pool_dump(NULL, stdout), LN_INVALID);
    CHECK(!ln_mem_pool_exist(NULL, 1));
    ln_mem_pool_free(NULL);
}

static void check_dump(ln_mem_pool *pool, const char *expected)
{
    char *text = NULL;
    size_t byte_count = 0;
    FILE *fp = open_memstream(&text, &byte_count);
    CHECK_OK(ln_mem_pool_dump(pool, fp));
    fclose(fp);
    CHECK_STR_EQ(text, expected);
    free(text);
}

TEST(the_map_lists_holes_and_used_blocks)
{
    ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
    CHECK_EQ(ln_mem_pool_alloc(pool, 1000), 64);
    check_dump(pool, "======= Lightnet Memory Plan Map: =======\n"
                     "0x000000000001-0x000000000040 H\n"
                     "0x000000000040-0x000000000428 S\n"
                     "0x000000000428-0x000000001001 H\n");
    CHECK_OK(ln_mem_pool_dealloc(pool, 64));
    check_dump(pool, "======= Lightnet Memory Plan Map: =======\n"
                     "0x000000000001-0x000000001001 H\n");
    ln_mem_pool_free(pool);
}

TEST(running_out_of_memory_leaves_the_pool_as_it_was)
{
    OOM_SWEEP(n)
    {
        ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
        size_t addr = pool ? ln_mem_pool_alloc(pool, 100) : 0;
        CHECK(addr == 64 || ln_error_status() == LN_NO_MEMORY);
        if (pool)
            check_dump(pool, addr ? "======= Lightnet Memory Plan Map: =======\n"
                                    "0x000000000001-0x000000000040 H\n"
                                    "0x000000000040-0x0000000000a4 S\n"
                                    "0x0000000000a4-0x000000001001 H\n"
                                  : "======= Lightnet Memory Plan Map: =======\n"
                                    "0x000000000001-0x000000001001 H\n");
        ln_mem_pool_free(pool);
    }
}

TEST(the_table_has_a_pool_for_each_memory_type)
{
    ln_hash *table = ln_mem_pool_table_create();
    CHECK_NOT_NULL(table);
    CHECK_EQ(ln_hash_size(table), LN_MEM_DPU);
    for (intptr_t mtype = LN_MEM_CPU; mtype <= LN_MEM_DPU; mtype++) {
        ln_mem_pool *pool = ln_hash_find(table, (void *)mtype);
        CHECK_NOT_NULL(pool);
        CHECK_EQ(ln_mem_pool_alloc(pool, 100), 64);
        CHECK_EQ(ln_mem_pool_alloc(pool, 100), 192);
    }
    CHECK_NULL(ln_hash_find(table, (void *)(intptr_t)LN_MEM_NONE));
    ln_mem_pool_table_free(table);
    ln_mem_pool_table_free(NULL);
}

TEST(a_table_is_made_whole_or_not_at_all)
{
    OOM_SWEEP(n)
    {
        ln_hash *table = ln_mem_pool_table_create();
        CHECK(table ? ln_hash_size(table) == LN_MEM_DPU : ln_error_status() == LN_NO_MEMORY);
        ln_mem_pool_table_free(table);
    }
}

// A byte map is the model: every allocation is free before and disjoint after.
TEST(random_use_never_overlaps)
{
    enum { SIZE = 2000, LIVE = 64 };
    static unsigned char used[SIZE + 1];
    size_t addrs[LIVE] = {0}, sizes[LIVE] = {0};
    test_random random = test_random_start();
    ln_mem_pool *pool = ln_mem_pool_create(SIZE, 16);
    memset(used, 0, sizeof used);
    for (int i = 0; i < 20000; i++) {
        size_t slot = test_random_below(&random, LIVE);
        if (addrs[slot]) {
            memset(used + addrs[slot], 0, sizes[slot]);
            CHECK_OK(ln_mem_pool_dealloc(pool, addrs[slot]));
            addrs[slot] = 0;
            continue;
        }
        sizes[slot] = 1 + test_random_below(&random, 100);
        addrs[slot] = ln_mem_pool_alloc(pool, sizes[slot]);
        if (!addrs[slot])
            continue;
        CHECK_EQ(addrs[slot] % 16, 0);
        CHECK(addrs[slot] + sizes[slot] <= SIZE + 1);
        for (size_t k = 0; k < sizes[slot]; k++)
            CHECK_EQ(used[addrs[slot] + k]++, 0);
    }
    ln_mem_pool_free(pool);
}

TEST_LIST(the_trace_without_alignment, the_trace_with_alignment_8, the_whole_pool_can_be_used,
          bad_arguments_are_refused, the_map_lists_holes_and_used_blocks,
          running_out_of_memory_leaves_the_pool_as_it_was,
          the_table_has_a_pool_for_each_memory_type, a_table_is_made_whole_or_not_at_all,
          random_use_never_overlaps)
