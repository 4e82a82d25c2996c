// SPDX-License-Identifier: Apache-2.0
// Memory types: fixed values, what the CPU can do, registration by plug-ins.

#include <lightnet/mem.h>

#include "tests/test.h"

TEST(values_do_not_depend_on_build_options)
{
    CHECK_EQ(LN_MEM_NONE, 0);
    CHECK_EQ(LN_MEM_CPU, 1);
    CHECK_EQ(LN_MEM_CUDA, 2);
    CHECK_EQ(LN_MEM_DPU, 3);
    CHECK_EQ(LN_MEM_TYPE_SIZE, 32);
}

TEST(names_go_both_ways)
{
    for (int i = 0; i <= LN_MEM_DPU; i++)
        CHECK_EQ(ln_mem_type_from_str(ln_mem_type_name((ln_mem_type)i)), i);
    CHECK_STR_EQ(ln_mem_type_name(LN_MEM_CUDA), "LN_MEM_CUDA");
    CHECK_STR_EQ(ln_mem_type_name((ln_mem_type)77), "LN_MEM_NONE");
    CHECK_STR_EQ(ln_mem_type_name((ln_mem_type)-1), "LN_MEM_NONE");
    CHECK_EQ(ln_mem_type_from_str("LN_MEM_TYPE_SIZE"), -1);
    CHECK_EQ(ln_mem_type_from_str(""), -1);
    CHECK_EQ(ln_mem_type_from_str(NULL), -1);
}

TEST(cpu_memory_is_aligned_and_writable)
{
    ln_mem_info info = ln_mem_type_info(LN_MEM_CPU);
    CHECK_STR_EQ(info.name, "LN_MEM_CPU");
    CHECK_EQ(info.align_size, 64);
    unsigned char *p = info.alloc_func(100);
    CHECK_NOT_NULL(p);
    CHECK_EQ((uintptr_t)p % 64, 0);
    info.memset_func(p, 7, 100);
    CHECK_EQ(p[99], 7);

    ln_copy_func copy = ln_mem_type_copy_func(LN_MEM_CPU, LN_MEM_CPU);
    p[0] = 1;
    copy(p + 1, p, 50);
    CHECK_EQ(p[1], 1);
    CHECK_EQ(p[2], 7);
    info.free_func(p);
}

TEST(other_types_can_do_nothing_yet)
{
    const struct {
        ln_mem_type mtype;
        const char *name;
    } rows[] = {{LN_MEM_NONE, "LN_MEM_NONE"},
                {LN_MEM_CUDA, "LN_MEM_CUDA"},
                {LN_MEM_DPU, "LN_MEM_DPU"},
                {(ln_mem_type)99, "LN_MEM_NONE"},
                {(ln_mem_type)-1, "LN_MEM_NONE"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_mem_info info = ln_mem_type_info(rows[i].mtype);
        CHECK_STR_EQ(info.name, rows[i].name);
        CHECK(!info.alloc_func && !info.free_func && !info.memset_func);
        CHECK(!ln_mem_type_copy_func(rows[i].mtype, LN_MEM_CPU));
        CHECK(!ln_mem_type_copy_func(LN_MEM_CPU, rows[i].mtype));
    }
}

static void *fake_copy(void *dest, const void *src, size_t n)
{
    return memcpy(dest, src, n);
}

static void *other_copy(void *dest, const void *src, size_t n)
{
    return memmove(dest, src, n);
}

TEST(a_plug_in_fills_in_its_type_once_and_takes_it_back)
{
    ln_mem_info info = ln_mem_type_info(LN_MEM_CPU);
    info.name = "mine";
    info.max_size = 1000;
    info.align_size = 256;
    CHECK_OK(ln_mem_type_register(LN_MEM_CUDA, &info));
    CHECK_STR_EQ(ln_mem_type_info(LN_MEM_CUDA).name, "LN_MEM_CUDA");
    CHECK_EQ(ln_mem_type_info(LN_MEM_CUDA).max_size, 1000);
    CHECK_EQ(ln_mem_type_info(LN_MEM_CUDA).align_size, 256);
    CHECK_FAILS(ln_mem_type_register(LN_MEM_CUDA, &info), LN_EXISTS);
    CHECK_OK(ln_mem_type_register(LN_MEM_CUDA, NULL));
    CHECK(!ln_mem_type_info(LN_MEM_CUDA).alloc_func);
    CHECK_OK(ln_mem_type_register(LN_MEM_CUDA, NULL));
}

TEST(copies_have_a_direction)
{
    CHECK_OK(ln_mem_type_register_copy(LN_MEM_CUDA, LN_MEM_CPU, fake_copy));
    CHECK_OK(ln_mem_type_register_copy(LN_MEM_CUDA, LN_MEM_CPU, fake_copy));
    CHECK_FAILS(ln_mem_type_register_copy(LN_MEM_CUDA, LN_MEM_CPU, other_copy), LN_EXISTS);
    CHECK(ln_mem_type_copy_func(LN_MEM_CUDA, LN_MEM_CPU) == fake_copy);
    CHECK(!ln_mem_type_copy_func(LN_MEM_CPU, LN_MEM_CUDA));
    CHECK_OK(ln_mem_type_register_copy(LN_MEM_CUDA, LN_MEM_CPU, NULL));
    CHECK(!ln_mem_type_copy_func(LN_MEM_CUDA, LN_MEM_CPU));
}

TEST(bad_registrations_are_refused)
{
    ln_mem_info good = ln_mem_type_info(LN_MEM_CPU);
    CHECK_FAILS(ln_mem_type_register(LN_MEM_NONE, &good), LN_INVALID);
    CHECK_FAILS(ln_mem_type_register(LN_MEM_CPU, &good), LN_INVALID);
    CHECK_FAILS(ln_mem_type_register((ln_mem_type)50, &good), LN_INVALID);
    ln_mem_info bad = good;
    bad.alloc_func = NULL;
    CHECK_FAILS(ln_mem_type_register(LN_MEM_DPU, &bad), LN_INVALID);
    bad = good;
    bad.align_size = 96;
    CHECK_FAILS(ln_mem_type_register(LN_MEM_DPU, &bad), LN_INVALID);
    CHECK_MESSAGE("96");
    bad.align_size = 32;
    CHECK_FAILS(ln_mem_type_register(LN_MEM_DPU, &bad), LN_INVALID);
    bad = good;
    bad.max_size = 0;
    CHECK_FAILS(ln_mem_type_register(LN_MEM_DPU, &bad), LN_INVALID);
    CHECK_FAILS(ln_mem_type_register_copy(LN_MEM_CPU, LN_MEM_CPU, fake_copy), LN_INVALID);
    CHECK_FAILS(ln_mem_type_register_copy(LN_MEM_NONE, LN_MEM_CPU, fake_copy), LN_INVALID);
    CHECK_FAILS(ln_mem_type_register_copy(LN_MEM_CPU, (ln_mem_type)9, fake_copy), LN_INVALID);
    CHECK_FAILS(ln_mem_type_register((ln_mem_type)9, &good), LN_INVALID);
    CHECK_MESSAGE("ln_mem_type_add");
    CHECK(!ln_mem_type_info(LN_MEM_DPU).alloc_func);
}

// ---- Types that are added ----

TEST(an_added_type_has_a_number_a_name_and_a_title)
{
    ln_mem_info info = ln_mem_type_info(LN_MEM_CPU);
    info.max_size = 1000;
    ln_mem_type first, second;
    CHECK_OK(ln_mem_type_add("LN_MEM_ECHO", "echo memory", &info, &first));
    CHECK_OK(ln_mem_type_add("LN_MEM_FAR", NULL, &info, &second));
    CHECK_EQ(first, LN_MEM_DPU + 1);
    CHECK_EQ(second, first + 1);
    CHECK_STR_EQ(ln_mem_type_name(first), "LN_MEM_ECHO");
    CHECK_STR_EQ(ln_mem_type_title(first), "echo memory");
    CHECK_STR_EQ(ln_mem_type_title(second), "LN_MEM_FAR");
    CHECK_EQ(ln_mem_type_from_str("LN_MEM_FAR"), second);
    CHECK_EQ(ln_mem_type_info(first).max_size, 1000);
    CHECK_STR_EQ(ln_mem_type_info(first).name, "LN_MEM_ECHO");
    CHECK_OK(ln_mem_type_register_copy(first, LN_MEM_CPU, fake_copy));
    CHECK_OK(ln_mem_type_register_copy(second, first, fake_copy));

    CHECK_OK(ln_mem_type_remove(first));
    CHECK_STR_EQ(ln_mem_type_name(first), "LN_MEM_NONE");
    CHECK_EQ(ln_mem_type_from_str("LN_MEM_ECHO"), -1);
    CHECK(!ln_mem_type_info(first).alloc_func);
    CHECK_FAILS(ln_mem_type_remove(first), LN_NOT_FOUND);
    CHECK_OK(ln_mem_type_add("LN_MEM_NEXT", "next", &info, &first)); // the number is free again
    CHECK_EQ(first, LN_MEM_DPU + 1);
    CHECK(!ln_mem_type_copy_func(first, LN_MEM_CPU)); // and none of the old copies is there
    CHECK(!ln_mem_type_copy_func(second, first));
    CHECK_OK(ln_mem_type_remove(first));
    CHECK_OK(ln_mem_type_remove(second));
}

TEST(as_many_types_are_added_as_there_are_numbers)
{
    ln_mem_info info = ln_mem_type_info(LN_MEM_CPU);
    ln_mem_type mtype;
    char name[32];
    for (int i = LN_MEM_DPU + 1; i < LN_MEM_TYPE_SIZE; i++) {
        snprintf(name, sizeof name, "LN_MEM_%d", i);
        CHECK_OK(ln_mem_type_add(name, NULL, &info, &mtype));
        CHECK_EQ(mtype, i);
    }
    CHECK_FAILS(ln_mem_type_add("LN_MEM_MORE", NULL, &info, &mtype), LN_LIMIT);
    CHECK_MESSAGE("32");
    CHECK_EQ(mtype, LN_MEM_NONE);
    for (int i = LN_MEM_DPU + 1; i < LN_MEM_TYPE_SIZE; i++)
        CHECK_OK(ln_mem_type_remove((ln_mem_type)i));
}

TEST(types_that_cannot_be_added_are_refused)
{
    ln_mem_info good = ln_mem_type_info(LN_MEM_CPU), bad = good;
    bad.free_func = NULL;
    char too_long[LN_MAX_NAME_LEN + 1];
    memset(too_long, 'm', LN_MAX_NAME_LEN);
    too_long[LN_MAX_NAME_LEN] = 0;
    ln_mem_type mtype, other;
    CHECK_OK(ln_mem_type_add("LN_MEM_TAKEN", NULL, &good, &other));
    const struct {
        const char *name;
        const ln_mem_info *info;
        ln_status status;
    } rows[] = {{NULL, &good, LN_INVALID},        {"", &good, LN_INVALID},
                {"a b", &good, LN_INVALID},       {"a\"b", &good, LN_INVALID},
                {too_long, &good, LN_INVALID},    {"LN_MEM_TAKEN", &good, LN_EXISTS},
                {"LN_MEM_CPU", &good, LN_EXISTS}, {"LN_MEM_FAR", NULL, LN_INVALID},
                {"LN_MEM_FAR", &bad, LN_INVALID}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_FAILS(ln_mem_type_add(rows[i].name, NULL, rows[i].info, &mtype), rows[i].status);
        CHECK_EQ(mtype, LN_MEM_NONE);
    }
    CHECK_FAILS(ln_mem_type_remove(LN_MEM_CPU), LN_NOT_FOUND);
    CHECK_FAILS(ln_mem_type_remove(LN_MEM_TYPE_SIZE), LN_NOT_FOUND);
    CHECK_OK(ln_mem_type_remove(other));
}

TEST_LIST(an_added_type_has_a_number_a_name_and_a_title,
          as_many_types_are_added_as_there_are_numbers, types_that_cannot_be_added_are_refused,
          values_do_not_depend_on_build_options, names_go_both_ways,
          cpu_memory_is_aligned_and_writable, other_types_can_do_nothing_yet,
          a_plug_in_fills_in_its_type_once_and_takes_it_back, copies_have_a_direction,
          bad_registrations_are_refused)
