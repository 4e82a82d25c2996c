// SPDX-License-Identifier: Apache-2.0
// Tensor entries, tables and lists as the data structure document writes their calls.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <stdlib.h>

static ln_tensor_entry *new_entry(const char *name, int rows)
{
    ln_tensor_entry *entry =
        ln_tensor_entry_create(name, tl_tensor_create(NULL, 2, (int[]){rows, 2}, TL_FLOAT));
    entry->mtype = LN_MEM_CPU;
    return entry;
}

TEST(tensors_and_entries_have_the_documented_fields)
{
    float data[6] = {0};
    struct tl_tensor *tensor = tl_tensor_create(data, 2, (int[]){2, 3}, TL_FLOAT);
    tl_dtype dtype = tensor->dtype;
    int len = tensor->len, ndim = tensor->ndim, *dims = tensor->dims;
    void *bytes = tensor->data;
    tl_tensor *owner = tensor->owner;
    CHECK_EQ(dtype, TL_FLOAT);
    CHECK_EQ(len, 6);
    CHECK_EQ(ndim, 2);
    CHECK_EQ(dims[1], 3);
    CHECK_PTR_EQ(bytes, data);
    CHECK_NULL(owner);
    CHECK_NULL(tensor->backend_data);

    struct ln_tensor_entry *entry = ln_tensor_entry_create("t", tensor);
    CHECK_STR_EQ(entry->name, "t");
    CHECK_PTR_EQ(entry->tensor, tensor);
    CHECK_NULL(entry->owner);
    CHECK_NULL(entry->creater);
    CHECK_EQ(entry->offset, 0);
    CHECK_EQ(entry->isstatic, 0);
    CHECK_EQ(entry->mtype, LN_MEM_NONE);
    ln_tensor_entry_set_creater(entry, "op1");
    ln_tensor_entry_set_creater(entry, "op2");
    CHECK_STR_EQ(entry->creater, "op2");
    ln_tensor_entry_free(entry);
    CHECK_EQ(tensor->len, 6);
    ln_tensor_entry_free_tensor_too(ln_tensor_entry_create("t", tensor));
}

TEST(the_enumeration_holds_the_documented_dtypes)
{
    static const tl_dtype dtypes[] = {TL_DOUBLE, TL_FLOAT,  TL_INT32, TL_INT16, TL_INT8,
                                      TL_UINT32, TL_UINT16, TL_UINT8, TL_BOOL};
    CHECK_EQ(TL_DTYPE_INVALID, -1);
    CHECK_EQ(TL_DOUBLE, 0);
    CHECK_EQ(TL_FLOAT, 1);
    for (size_t i = 0; i < 9; i++)
        CHECK(dtypes[i] >= 0 && dtypes[i] < TL_DTYPE_SIZE);
}

TEST(tables_insert_find_and_remove)
{
    ln_hash *table = ln_tensor_table_create();
    CHECK_EQ(ln_tensor_table_insert(table, new_entry("a", 1)), 1);
    CHECK_EQ(ln_tensor_table_insert(table, new_entry("b", 2)), 1);
    CHECK_EQ(ln_tensor_table_insert(table, new_entry("a", 3)), 0);
    ln_tensor_entry *a = ln_tensor_table_find(table, "a");
    CHECK_EQ(a->tensor->dims[0], 3);
    CHECK_NULL(ln_tensor_table_find(table, "c"));
    char owner[] = "b";
    ln_tensor_entry_set_owner(a, table, owner);
    CHECK_STR_EQ(a->owner, "b");
    CHECK_EQ(ln_tensor_table_remove(table, "a"), 1);
    CHECK_EQ(ln_tensor_table_remove(table, "a"), 0);
    ln_tensor_table_free(table);
}

TEST(tables_copy_data_in_and_out)
{
    float memory[4], in[4] = {1, 2, 3, 4}, out[4];
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = new_entry("a", 2);
    entry->tensor->data = memory;
    ln_tensor_table_insert(table, entry);
    CHECK_EQ(ln_tensor_table_data_size(table, "a"), sizeof in);
    ln_tensor_table_set_data(table, "a", in);
    CHECK_MEM_EQ(memory, in, sizeof in);
    CHECK_NOT_NULL(ln_tensor_table_get_data(table, "a", out));
    CHECK_MEM_EQ(out, in, sizeof in);
    ln_tensor_table_free(table);
}

TEST(tables_load_weight_files)
{
    char path[] = LN_BUILD_DIR "/lightnet_weights_XXXXXX";
    FILE *fp = fdopen(mkstemp(path), "w");
    fprintf(fp, "1\na 0 4 3f800000 40000000 c0000000 00000000\n");
    fclose(fp);
    float memory[4] = {9, 9, 9, 9}, expected[4] = {1, 2, -2, 0};
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = new_entry("a", 2);
    entry->tensor->data = memory;
    ln_tensor_table_insert(table, entry);
    ln_tensor_table_load_trt_weight_file(table, path);
    CHECK_MEM_EQ(memory, expected, sizeof memory);
    ln_tensor_table_free(table);
    remove(path);
}

TEST(lists_append_copy_and_find)
{
    ln_tensor_list_entry *single = ln_tensor_list_entry_create("src", "t1");
    CHECK_STR_EQ(single->arg_name, "src");
    CHECK_STR_EQ(single->name, "t1");
    CHECK_EQ(single->offset, 0);
    ln_tensor_list_entry_free(single);

    ln_list *list = NULL;
    list = ln_tensor_list_append(list, "src1", "t1");
    list = ln_tensor_list_append(list, "src2", "t2");
    CHECK_EQ(ln_tensor_list_length(list), 2);
    ln_list *copy = ln_tensor_list_copy(list);
    ln_tensor_list_free(list);
    CHECK_STR_EQ(ln_tensor_list_find_name(copy, "src2"), "t2");
    CHECK_NULL(ln_tensor_list_find_name(copy, "dst"));
    CHECK_STR_EQ(ln_tensor_list_find_by_arg_name(copy, "src1")->name, "t1");
    CHECK_STR_EQ(ln_tensor_list_find_by_name(copy, "t2")->arg_name, "src2");
    CHECK_NULL(ln_tensor_list_find_by_name(copy, "t3"));

    ln_hash *tensor_table = ln_tensor_table_create();
    ln_tensor_table_insert(tensor_table, new_entry("t1", 1));
    ln_tensor_entry *found = ln_tensor_list_find_entry(copy, tensor_table, "src1");
    CHECK_STR_EQ(found->name, "t1");
    CHECK_NULL(ln_tensor_list_find_entry(copy, tensor_table, "src2"));
    ln_tensor_table_free(tensor_table);
    ln_tensor_list_free(copy);
}

TEST(lists_make_unique_argument_names)
{
    char buf[LN_MAX_NAME_LEN];
    ln_list *list = ln_tensor_list_append(NULL, "src", "t1");
    int number = ln_tensor_list_unique_arg_name(list, buf, "src");
    char expected[32];
    snprintf(expected, sizeof expected, "src%d", number);
    CHECK_STR_EQ(buf, expected);
    list = ln_tensor_list_append(list, buf, "t2");
    CHECK(ln_tensor_list_unique_arg_name(list, buf, "src") > number);
    CHECK_NULL(ln_tensor_list_find_by_arg_name(list, buf));
    ln_tensor_list_free(list);
}

TEST_LIST(tensors_and_entries_have_the_documented_fields,
          the_enumeration_holds_the_documented_dtypes, tables_insert_find_and_remove,
          tables_copy_data_in_and_out, tables_load_weight_files, lists_append_copy_and_find,
          lists_make_unique_argument_names)
