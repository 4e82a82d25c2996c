// SPDX-License-Identifier: Apache-2.0
// Blocks of open devices, found by their addresses, and copies between them.

#include "plan/mem_device.h"

#include <string.h>

#include "plan/mem_copy.h"
#include "plan/mem_use.h"
#include "tests/test.h"

enum { BLOCK = 128 };

// Two devices whose blocks are neighbours in one reserve.
static _Alignas(64) char reserve[2 * BLOCK];

typedef struct part {
    char *start;
    int copy_count;
} part;

static ln_status alloc_part(void *device, size_t byte_count, void **out_start)
{
    (void)byte_count;
    *out_start = ((part *)device)->start;
    return LN_OK;
}

static void free_part(void *device, void *start)
{
    CHECK_PTR_EQ(((part *)device)->start, start);
}

static ln_status copy_part(void *device, void *dst, const void *src, size_t byte_count)
{
    ((part *)device)->copy_count++;
    memmove(dst, src, byte_count);
    return LN_OK;
}

static ln_mem_device device_of(part *p)
{
    return (ln_mem_device){.device = p,
                           .alloc = alloc_part,
                           .free = free_part,
                           .copy_in = copy_part,
                           .copy_out = copy_part,
                           .copy_within = copy_part};
}

TEST(a_block_ends_where_its_neighbour_begins)
{
    part parts[] = {{.start = reserve}, {.start = reserve + BLOCK}};
    const ln_mem_device first = device_of(&parts[0]), second = device_of(&parts[1]);
    void *starts[2];
    for (int is_reversed = 0; is_reversed < 2; is_reversed++) { // the list has the last one first
        CHECK_OK(ln_mem_device_alloc(LN_MEM_CUDA, is_reversed ? &second : &first, BLOCK,
                                     &starts[is_reversed]));
        CHECK_OK(ln_mem_device_alloc(LN_MEM_CUDA, is_reversed ? &first : &second, BLOCK,
                                     &starts[!is_reversed]));
        CHECK_PTR_EQ(ln_mem_device_at(reserve), &first);
        CHECK_PTR_EQ(ln_mem_device_at(reserve + BLOCK - 1), &first);
        CHECK_PTR_EQ(ln_mem_device_at(reserve + BLOCK), &second);
        CHECK_PTR_EQ(ln_mem_device_at(reserve + 2 * BLOCK - 1), &second);
        CHECK_NULL(ln_mem_device_at(reserve + 2 * BLOCK));
        ln_mem_device_free(reserve + BLOCK);
        CHECK_NULL(ln_mem_device_at(reserve + BLOCK));
        ln_mem_device_free(reserve);
        CHECK_NULL(ln_mem_device_at(reserve));
    }
}

TEST(a_device_copies_within_its_own_blocks_alone)
{
    part parts[] = {{.start = reserve}, {.start = reserve + BLOCK}};
    const ln_mem_device first = device_of(&parts[0]), second = device_of(&parts[1]);
    ln_mem_type mtype;
    void *start;
    char bytes[8];
    CHECK_OK(ln_mem_type_add_of_devices("LN_MEM_PARTS", "memory of parts", 1 << 20, 64, &mtype));
    CHECK_OK(ln_mem_device_alloc(mtype, &first, BLOCK, &start));
    CHECK_OK(ln_mem_device_alloc(mtype, &second, BLOCK, &start));
    CHECK_OK(ln_mem_copy(mtype, reserve, LN_MEM_CPU, bytes, sizeof bytes));
    CHECK_OK(ln_mem_copy(mtype, reserve + 64, mtype, reserve, sizeof bytes));
    CHECK_OK(ln_mem_copy(LN_MEM_CPU, bytes, mtype, reserve + BLOCK, sizeof bytes));
    CHECK_EQ(parts[0].copy_count, 2);
    CHECK_EQ(parts[1].copy_count, 1);
    CHECK_FAILS(ln_mem_copy(mtype, reserve, mtype, reserve + BLOCK, sizeof bytes), LN_UNSUPPORTED);
    CHECK_MESSAGE("the memory is that of another context's device");
    CHECK_FAILS(ln_mem_copy(mtype, reserve + 2 * BLOCK, LN_MEM_CPU, bytes, sizeof bytes),
                LN_INTERNAL);
    CHECK_EQ(parts[0].copy_count + parts[1].copy_count, 3);
    ln_mem_device_free(reserve);
    ln_mem_device_free(reserve + BLOCK);
    ln_mem_type_forget(mtype);
}

TEST_LIST(a_block_ends_where_its_neighbour_begins, a_device_copies_within_its_own_blocks_alone)
