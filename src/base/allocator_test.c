// SPDX-License-Identifier: Apache-2.0
// The allocator: alignment, overflow, replacement, empty blocks.

#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

static int is_zero(const void *p, size_t byte_count)
{
    const unsigned char *bytes = p;
    for (size_t i = 0; i < byte_count; i++)
        if (bytes[i] != 0)
            return 0;
    return 1;
}

TEST(memory_comes_zeroed)
{
    char *p = ln_alloc(1000);
    CHECK_NOT_NULL(p);
    CHECK(is_zero(p, 1000));
    ln_free(p);
    p = ln_alloc_array(10, 100);
    CHECK_NOT_NULL(p);
    CHECK(is_zero(p, 1000));
    ln_free(p);
}

TEST(empty_blocks_are_blocks)
{
    void *p = ln_alloc(0);
    void *q = ln_alloc_array(0, 8);
    void *r = ln_alloc_aligned(0, 64);
    CHECK_NOT_NULL(p);
    CHECK_NOT_NULL(q);
    CHECK_NOT_NULL(r);
    CHECK(p != q);
    p = ln_realloc(p, 0);
    CHECK_NOT_NULL(p);
    ln_free(p);
    ln_free(q);
    ln_free_aligned(r);
}

TEST(freeing_null_is_fine)
{
    ln_free(NULL);
    ln_free_aligned(NULL);
}

TEST(resizing_keeps_the_bytes)
{
    char *p = ln_realloc(NULL, 4);
    CHECK_NOT_NULL(p);
    memcpy(p, "abc", 4);
    p = ln_realloc(p, 4000);
    CHECK_NOT_NULL(p);
    CHECK_STR_EQ(p, "abc");
    ln_free(p);
}

TEST(aligned_memory_is_aligned_zeroed_and_wholly_usable)
{
    for (size_t align = sizeof(void *); align <= 4096; align *= 2) {
        for (size_t size = 0; size <= 130; size += 13) {
            unsigned char *p = ln_alloc_aligned(size, align);
            CHECK_NOT_NULL(p);
            CHECK_EQ((uintptr_t)p % align, 0);
            CHECK(is_zero(p, size));
            memset(p, 0xff, size);
            ln_free_aligned(p);
        }
    }
}

TEST(sizes_that_overflow_are_refused)
{
    ln_error_clear();
    CHECK_NULL(ln_alloc_array(SIZE_MAX / 2, 3));
    CHECK_EQ(ln_error_status(), LN_NO_MEMORY);
    CHECK_MESSAGE("3 bytes overflow");
    ln_error_clear();
    CHECK_NULL(ln_alloc_aligned(SIZE_MAX - 64, 64));
    CHECK_EQ(ln_error_status(), LN_NO_MEMORY);
    CHECK_MESSAGE("aligned to 64 overflow");
}

TEST(strings_are_copied_and_made)
{
    char *copy = ln_strdup("weight");
    CHECK_STR_EQ(copy, "weight");
    ln_free(copy);
    CHECK_NULL(ln_strdup(NULL));
    char *text = ln_strdup_printf("%s_%d", "conv", 12);
    CHECK_STR_EQ(text, "conv_12");
    ln_free(text);
    text = ln_strdup_printf("%s", "");
    CHECK_STR_EQ(text, "");
    ln_free(text);
}

TEST(a_replaced_allocator_serves_everything)
{
    test_oom oom;
    test_oom_start(&oom, 100);
    void *blocks[] = {ln_alloc(1),      ln_alloc_array(2, 2), ln_realloc(NULL, 3),
                      ln_strdup("abc"), ln_alloc(0),          ln_strdup_printf("%d", 1)};
    size_t count = sizeof blocks / sizeof blocks[0];
    void *aligned = ln_alloc_aligned(5, 64);
    CHECK_EQ(oom.live, (long)count + 1);
    for (size_t i = 0; i < count; i++)
        ln_free(blocks[i]);
    ln_free_aligned(aligned);
    CHECK_EQ(oom.live, 0);
    test_oom_stop();

    size_t requests = oom.requests;
    ln_free(ln_alloc(1));
    CHECK_EQ(oom.requests, requests);
}

TEST(a_refusal_is_null_and_recorded)
{
    char *kept = ln_alloc(8);
    test_oom oom;
    test_oom_start(&oom, 0);
    ln_error_clear();
    CHECK_NULL(ln_alloc(77));
    CHECK_EQ(ln_error_status(), LN_NO_MEMORY);
    CHECK_MESSAGE("77 bytes");
    CHECK_NULL(ln_alloc_array(2, 2));
    CHECK_NULL(ln_alloc_aligned(2, 64));
    CHECK_NULL(ln_strdup("abc"));
    CHECK_NULL(ln_strdup_printf("abc"));
    CHECK_NULL(ln_realloc(kept, 800));
    test_oom_stop();
    memcpy(kept, "kept it", 8);
    CHECK_STR_EQ(kept, "kept it");
    ln_free(kept);
}

TEST_LIST(memory_comes_zeroed, empty_blocks_are_blocks, freeing_null_is_fine,
          resizing_keeps_the_bytes, aligned_memory_is_aligned_zeroed_and_wholly_usable,
          sizes_that_overflow_are_refused, strings_are_copied_and_made,
          a_replaced_allocator_serves_everything, a_refusal_is_null_and_recorded)
