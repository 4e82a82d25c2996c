// SPDX-License-Identifier: Apache-2.0
// Memory types and pools as the data structure document writes their calls.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <stdlib.h>

TEST(every_memory_type_has_a_name_and_information)
{
    CHECK_EQ(LN_MEM_NONE, 0);
    CHECK_EQ(LN_MEM_CPU, 1);
    CHECK(LN_MEM_TYPE_SIZE > LN_MEM_CPU);
    for (ln_mem_type mtype = LN_MEM_NONE; mtype < LN_MEM_TYPE_SIZE; mtype++)
        CHECK_NOT_NULL(ln_mem_type_name(mtype));
    CHECK_STR_EQ(ln_mem_type_name(LN_MEM_CPU), "LN_MEM_CPU");

    const ln_mem_info info = ln_mem_type_info(LN_MEM_CPU);
    CHECK_STR_EQ(info.name, "LN_MEM_CPU");
    CHECK(info.max_size > 0);
    CHECK(info.align_size > 0);
    unsigned char *bytes = info.alloc_func(16);
    CHECK_NOT_NULL(bytes);
    CHECK_PTR_EQ(info.memset_func(bytes, 7, 16), bytes);
    CHECK_EQ(bytes[15], 7);

    unsigned char copied[16];
    ln_copy_func copy = ln_mem_type_copy_func(LN_MEM_CPU, LN_MEM_CPU);
    CHECK_PTR_EQ(copy(copied, bytes, 16), copied);
    CHECK_EQ(copied[15], 7);
    info.free_func(bytes);
}

TEST(pools_allocate_deallocate_and_dump)
{
    ln_mem_pool *mem_pool = ln_mem_pool_create(4096, 8);
    size_t first = ln_mem_pool_alloc(mem_pool, 10);
    size_t second = ln_mem_pool_alloc(mem_pool, 20);
    CHECK_EQ(first % 8, 0);
    CHECK(second >= first + 10);
    CHECK_EQ(ln_mem_pool_exist(mem_pool, first), 1);
    ln_mem_pool_dealloc(mem_pool, first);
    CHECK_EQ(ln_mem_pool_exist(mem_pool, first), 0);
    CHECK_EQ(ln_mem_pool_exist(mem_pool, second), 1);

    char *text;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    ln_mem_pool_dump(mem_pool, fp);
    fclose(fp);
    CHECK(size > 0);
    free(text);
    ln_mem_pool_free(mem_pool);
}

TEST(the_pool_table_holds_a_pool_for_every_type)
{
    ln_hash *mpt = ln_mem_pool_table_create();
    ln_mem_pool *mem_pool = ln_hash_find(mpt, (void *)LN_MEM_CPU);
    CHECK_NOT_NULL(mem_pool);
    size_t address = ln_mem_pool_alloc(mem_pool, 100);
    CHECK_EQ(ln_mem_pool_exist(mem_pool, address), 1);
    ln_mem_pool_table_free(mpt);
}

TEST_LIST(every_memory_type_has_a_name_and_information, pools_allocate_deallocate_and_dump,
          the_pool_table_holds_a_pool_for_every_type)
