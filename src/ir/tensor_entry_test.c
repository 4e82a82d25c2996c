// SPDX-License-Identifier: Apache-2.0
// The tensor table and the tensor lists.

#include <lightnet/tensor_entry.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/oom.h"
#include "tests/test.h"

static ln_tensor_entry *entry_of(const char *name, int ndim, const int *dims)
{
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, dims, TL_FLOAT);
    ln_tensor_entry *entry = ln_tensor_entry_create(name, tensor);
    if (!entry)
        tl_tensor_free(tensor);
    return entry;
}

TEST(a_table_replaces_and_removes)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *first = entry_of("a", 1, (const int[]){2});
    ln_tensor_entry *second = entry_of("a", 1, (const int[]){3});
    CHECK_EQ(ln_tensor_table_insert(table, first), 1);
    CHECK_EQ(ln_tensor_table_insert(table, first), 1);
    CHECK_EQ(ln_tensor_table_insert(table, second), 0);
    CHECK_PTR_EQ(ln_tensor_table_find(table, "a"), second);
    CHECK_EQ(ln_tensor_table_data_size(table, "a"), 12);
    CHECK_EQ(ln_tensor_table_data_size(table, "b"), 0);
    CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
    CHECK_EQ(ln_tensor_table_remove(table, second->name), 1);
    CHECK_EQ(ln_tensor_table_remove(table, "a"), 0);
    CHECK_NULL(ln_tensor_table_find(table, NULL));
    CHECK_NULL(ln_tensor_table_find(NULL, "a"));
    CHECK_EQ(ln_tensor_table_insert(table, NULL), -1);
    CHECK_EQ(ln_tensor_table_insert(table, entry_of("left", 0, NULL)), 1);
    ln_tensor_table_free(table);
    ln_tensor_table_free(NULL);
}

TEST(an_owner_is_in_the_table)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *view = entry_of("view", 1, (const int[]){2});
    char owner[] = "whole";
    CHECK_FAILS(ln_tensor_entry_set_owner(view, table, owner), LN_NOT_FOUND);
    CHECK_EQ(ln_tensor_table_insert(table, entry_of("whole", 1, (const int[]){4})), 1);
    CHECK_OK(ln_tensor_entry_set_owner(view, table, owner));
    CHECK_STR_EQ(view->owner, "whole");
    CHECK_OK(ln_tensor_entry_set_owner(view, table, NULL));
    CHECK_NULL(view->owner);
    CHECK_OK(ln_tensor_entry_set_creater(view, "op1"));
    CHECK_OK(ln_tensor_entry_set_creater(view, view->creater));
    CHECK_STR_EQ(view->creater, "op1");
    CHECK_FAILS(ln_tensor_entry_set_creater(NULL, "x"), LN_INVALID);
    ln_tensor_entry_free_tensor_too(view);
    ln_tensor_table_free(table);
}

TEST(data_goes_in_and_out)
{
    float memory[2] = {0}, in[2] = {1, 2}, out[2] = {0};
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = entry_of("a", 1, (const int[]){2});
    entry->mtype = LN_MEM_CPU;
    ln_tensor_table_insert(table, entry);
    CHECK_FAILS(ln_tensor_table_set_data(table, "a", in), LN_STATE);
    CHECK_NULL(ln_tensor_table_get_data(table, "a", out));
    entry->tensor->data = memory;
    CHECK_OK(ln_tensor_table_set_data(table, "a", in));
    CHECK_MEM_EQ(memory, in, sizeof in);
    CHECK_PTR_EQ(ln_tensor_table_get_data(table, "a", out), out);
    CHECK_MEM_EQ(out, in, sizeof in);
    CHECK_PTR_EQ(ln_tensor_table_get_data(table, "a", NULL), memory);
    CHECK_FAILS(ln_tensor_table_set_data(table, "a", NULL), LN_INVALID);
    CHECK_FAILS(ln_tensor_table_set_data(table, "b", in), LN_NOT_FOUND);
    entry->mtype = LN_MEM_DPU;
    CHECK_FAILS(ln_tensor_table_set_data(table, "a", in), LN_UNSUPPORTED);
    ln_tensor_table_free(table);
}

TEST(weights_come_from_a_text_file)
{
    char path[] = LN_BUILD_DIR "/lightnet_wts_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    FILE *fp = fdopen(fd, "w");
    fputs("2\na 0 2 3f800000 c0000000\nother 0 1 3f800000\n", fp);
    fclose(fp);

    float memory[2] = {0};
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = entry_of("a", 1, (const int[]){2});
    entry->mtype = LN_MEM_CPU;
    entry->tensor->data = memory;
    ln_tensor_table_insert(table, entry);
    CHECK_OK(ln_tensor_table_load_trt_weight_file(table, path));
    CHECK_NEAR((double)memory[0], 1, 0);
    CHECK_NEAR((double)memory[1], -2, 0);
    entry->tensor->len = 1;
    CHECK_FAILS(ln_tensor_table_load_trt_weight_file(table, path), LN_INVALID);
    CHECK_FAILS(ln_tensor_table_load_trt_weight_file(table, "/nonexistent/x.wts"), LN_IO);
    CHECK_FAILS(ln_tensor_table_load_trt_weight_file(NULL, path), LN_INVALID);
    ln_tensor_table_free(table);
    remove(path);
}

TEST(a_list_finds_by_either_name)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_table_insert(table, entry_of("x", 0, NULL));
    ln_list *list = ln_tensor_list_append(NULL, "src", "x");
    list = ln_tensor_list_append(list, "weight", "w");
    ln_tensor_list_find_by_arg_name(list, "src")->offset = 64;
    ln_list *copy = ln_tensor_list_copy(list);
    ln_tensor_list_free(list);
    CHECK_EQ(ln_tensor_list_length(copy), 2);
    CHECK_EQ(ln_tensor_list_find_by_name(copy, "x")->offset, 64);
    CHECK_STR_EQ(ln_tensor_list_find_name(copy, "weight"), "w");
    CHECK_NULL(ln_tensor_list_find_name(copy, "bias"));
    CHECK_PTR_EQ(ln_tensor_list_find_entry(copy, table, "src"), ln_tensor_table_find(table, "x"));
    CHECK_NULL(ln_tensor_list_find_entry(copy, table, "weight"));
    CHECK_NULL(ln_tensor_list_find_entry(copy, table, "bias"));
    CHECK_PTR_EQ(ln_tensor_list_append(copy, NULL, "x"), copy);
    CHECK_EQ(ln_error_status(), LN_INVALID);

    char buf[LN_MAX_NAME_LEN];
    CHECK_EQ(ln_tensor_list_unique_arg_name(copy, buf, "src"), 0);
    copy = ln_tensor_list_append(copy, buf, "y");
    CHECK_EQ(ln_tensor_list_unique_arg_name(copy, buf, "src"), 1);
    CHECK_STR_EQ(buf, "src1");
    ln_tensor_list_free(copy);
    ln_tensor_table_free(table);
}

TEST(names_have_a_limit)
{
    char name[LN_MAX_NAME_LEN + 1];
    memset(name, 'x', LN_MAX_NAME_LEN);
    name[LN_MAX_NAME_LEN] = '\0';
    CHECK_NULL(ln_tensor_list_entry_create("src", name));
    CHECK_EQ(ln_error_status(), LN_LIMIT);
    CHECK_NULL(ln_tensor_list_entry_create(name, "x"));
    name[LN_MAX_NAME_LEN - 1] = '\0';
    ln_tensor_list_entry *entry = ln_tensor_list_entry_create(name, name);
    CHECK_NOT_NULL(entry);
    ln_tensor_list_entry_free(entry);
    ln_tensor_list_entry_free(NULL);
    CHECK_NULL(ln_tensor_entry_create("x", NULL));
}

TEST(running_out_of_memory_leaks_nothing)
{
    OOM_SWEEP(n)
    {
        ln_hash *table = ln_tensor_table_create();
        ln_tensor_entry *entry = entry_of("a", 1, (const int[]){2});
        if (entry && ln_tensor_entry_set_creater(entry, "op") != LN_OK)
            CHECK_EQ(ln_error_status(), LN_NO_MEMORY);
        if (!table || ln_tensor_table_insert(table, entry) < 0)
            ln_tensor_entry_free_tensor_too(entry);
        ln_tensor_table_free(table);
        ln_list *list = ln_tensor_list_append(NULL, "src", "x");
        list = ln_tensor_list_append(list, "dst", "y");
        ln_list *copy = ln_tensor_list_copy(list);
        ln_tensor_list_free(list);
        ln_tensor_list_free(copy);
    }
}

TEST_LIST(a_table_replaces_and_removes, an_owner_is_in_the_table, data_goes_in_and_out,
          weights_come_from_a_text_file, a_list_finds_by_either_name, names_have_a_limit,
          running_out_of_memory_leaks_nothing)
