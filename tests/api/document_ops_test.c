// SPDX-License-Identifier: Apache-2.0
// Operators as the data structure document writes them: foo_cpu, lists and tables.

#include <lightnet/lightnet.h>

#include "tests/test.h"

static char calls[64];

static void foo_pre_run(ln_op_arg *op_arg)
{
    strcat(calls, "p");
    ln_tensor_list_entry *dst = ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "dst");
    tl_tensor *tensor = tl_tensor_create(NULL, 1, (int[]){2}, TL_FLOAT);
    ln_tensor_entry *entry = ln_tensor_entry_create(dst->name, tensor);
    ln_tensor_entry_set_creater(entry, op_arg->name);
    entry->mtype = LN_MEM_CPU;
    ln_tensor_table_insert(op_arg->tensor_table, entry);
    op_arg->priv = calls;
}

static void foo_static_run(ln_op_arg *op_arg)
{
    CHECK_PTR_EQ(op_arg->priv, calls);
    strcat(calls, "s");
}

static void foo_run(ln_op_arg *op_arg)
{
    CHECK_PTR_EQ(op_arg->priv, calls);
    strcat(calls, "r");
}

static void foo_post_run(ln_op_arg *op_arg)
{
    ln_tensor_table_remove(op_arg->tensor_table,
                           ln_tensor_list_find_name(op_arg->tensors_out, "dst"));
    strcat(calls, "e");
}

static size_t foo_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    return op_arg->priv && te ? te->offset : 0;
}

static const char *in_arg_names[] = {"src", NULL};

static const char *out_arg_names[] = {"dst", NULL};

static const char *param_arg_names[] = {"param", NULL};

static const ln_param_type param_ptypes[] = {
    LN_PARAM_STRING,
};

static ln_op_arg op_arg_foo = {
    .optype = "foo_cpu",
    .arch = "cpu",
    .in_arg_names = in_arg_names,
    .out_arg_names = out_arg_names,
    .param_arg_names = param_arg_names,
    .param_ptypes = param_ptypes,
};

ln_op ln_opimpl_foo_cpu = {
    .op_arg = &op_arg_foo,
    .pre_run = foo_pre_run,
    .static_run = foo_static_run,
    .run = foo_run,
    .post_run = foo_post_run,
    .calc_offset = foo_calc_offset,
};

static ln_op_arg op_arg_bar = {
    .optype = "bar_cpu",
    .arch = "cpu",
    .in_arg_names = in_arg_names,
    .out_arg_names = out_arg_names,
    .param_arg_names = param_arg_names,
    .param_ptypes = param_ptypes,
};

/* NULL functions are equivalent to empty functions */
static ln_op ln_opimpl_bar_cpu = {
    .op_arg = &op_arg_bar,
    .pre_run = NULL,
    .static_run = NULL,
    .run = NULL,
    .post_run = NULL,
    .calc_offset = NULL,
};

static ln_op *ops_cpu[] = {&ln_opimpl_foo_cpu, &ln_opimpl_bar_cpu, NULL};

static ln_op *new_op(const ln_op *op_proto, const char *name, ln_hash *tensor_table)
{
    ln_list *tensors_in = ln_tensor_list_append(NULL, "src", "x");
    char dst[32];
    snprintf(dst, sizeof dst, "%s_dst", name);
    ln_list *tensors_out = ln_tensor_list_append(NULL, "dst", dst);
    ln_list *params = ln_param_list_append_string(NULL, "param", "p");
    return ln_op_create_from_proto(op_proto, name, tensors_in, tensors_out, params, tensor_table);
}

TEST(operators_are_created_copied_and_freed)
{
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_op *op = new_op(&ln_opimpl_foo_cpu, "foo1", tensor_table);
    CHECK_STR_EQ(op->op_arg->name, "foo1");
    CHECK_STR_EQ(op->op_arg->optype, "foo_cpu");
    CHECK_STR_EQ(op->op_arg->arch, "cpu");
    CHECK_PTR_EQ(op->op_arg->tensor_table, tensor_table);
    CHECK_PTR_EQ(op->op_arg->in_arg_names, in_arg_names);
    CHECK_PTR_EQ(op->op_arg->param_ptypes, param_ptypes);
    CHECK(op->pre_run == foo_pre_run);
    CHECK(op->run == foo_run);
    CHECK(op->calc_offset == foo_calc_offset);

    ln_op *copy = ln_op_copy(op);
    CHECK_STR_EQ(copy->op_arg->name, "foo1");
    CHECK(copy->op_arg->tensors_in != op->op_arg->tensors_in);
    CHECK_STR_EQ(ln_param_list_find(copy->op_arg->params, "param")->value_string, "p");
    ln_op_free_lists_too(copy);

    ln_list *tensors_in = op->op_arg->tensors_in, *tensors_out = op->op_arg->tensors_out;
    ln_list *params = op->op_arg->params;
    ln_op_free(op);
    ln_tensor_list_free(tensors_in);
    ln_tensor_list_free(tensors_out);
    ln_param_list_free(params);
    ln_tensor_table_free(tensor_table);
}

TEST(operators_get_unique_names)
{
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_list *ops = NULL;
    for (int i = 0; i < 3; i++) {
        ln_op *op = ln_op_create_with_names(&ln_opimpl_foo_cpu, ops, tensor_table);
        CHECK_NULL(ln_op_list_find_by_name(ops, op->op_arg->name));
        CHECK_STR_EQ(ln_tensor_list_find_name(op->op_arg->tensors_in, "src"), "");
        const char *dst = ln_tensor_list_find_name(op->op_arg->tensors_out, "dst");
        ln_op *other;
        LN_LIST_FOREACH (other, ops) {
            CHECK(strcmp(ln_tensor_list_find_name(other->op_arg->tensors_out, "dst"), dst) != 0);
        }
        ln_param_entry *param = ln_param_list_find(op->op_arg->params, "param");
        CHECK_EQ(param->type, LN_PARAM_STRING);
        CHECK_NULL(param->value_string);
        ops = ln_list_append(ops, op);
    }
    ln_op *named = ln_op_create_with_opname(&ln_opimpl_foo_cpu, tensor_table);
    CHECK_STR_EQ(named->op_arg->optype, "foo_cpu");
    CHECK_NOT_NULL(named->op_arg->name);
    ln_op_free_lists_too(named);

    char buf[LN_MAX_NAME_LEN];
    int number = ln_op_list_unique_name(ops, buf, "foo_cpu");
    char expected[32];
    snprintf(expected, sizeof expected, "foo_cpu%d", number);
    CHECK_STR_EQ(buf, expected);
    CHECK_NULL(ln_op_list_find_by_name(ops, buf));
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(tensor_table);
}

static uint32_t hash_text(const void *key)
{
    const char *text = key;
    return (uint32_t)text[0];
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(operators_are_copied_to_another_type)
{
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_hash *op_proto_table = ln_hash_create(hash_text, compare_texts, NULL, NULL);
    ln_hash_insert(op_proto_table, "foo_cpu", &ln_opimpl_foo_cpu);
    ln_hash_insert(op_proto_table, "bar_cpu", &ln_opimpl_bar_cpu);
    ln_op *op = new_op(&ln_opimpl_foo_cpu, "foo1", tensor_table);
    ln_op *bar = ln_op_copy_to_optype(op_proto_table, op, "bar_cpu");
    CHECK_STR_EQ(bar->op_arg->optype, "bar_cpu");
    CHECK_STR_EQ(ln_tensor_list_find_name(bar->op_arg->tensors_out, "dst"), "foo1_dst");
    CHECK(bar->run == NULL);
    CHECK_NULL(ln_op_copy_to_optype(op_proto_table, op, "nothing_cpu"));
    ln_op_free_lists_too(bar);
    ln_op_free_lists_too(op);
    ln_hash_free(op_proto_table);
    ln_tensor_table_free(tensor_table);
}

TEST(operator_lists_run_their_life_cycle_in_order)
{
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_op *first = new_op(&ln_opimpl_foo_cpu, "foo1", tensor_table);
    ln_op *second = new_op(&ln_opimpl_bar_cpu, "bar1", tensor_table);
    ln_op *op_array[] = {first, second, NULL};
    ln_list *ops = ln_op_list_create_from_array(op_array);
    CHECK_EQ(ln_list_length(ops), 2);
    CHECK_PTR_EQ(ln_op_list_find_by_optype(ops, "bar_cpu"), second);
    CHECK_PTR_EQ(ln_op_list_find_by_name(ops, "foo1"), first);
    CHECK_NULL(ln_op_list_find_by_optype(ops, "none"));
    CHECK_PTR_EQ(ln_op_array_find_by_optype(ops_cpu, "bar_cpu"), &ln_opimpl_bar_cpu);
    CHECK_NULL(ln_op_array_find_by_optype(ops_cpu, "none"));

    calls[0] = '\0';
    ln_op_list_do_pre_run(ops);
    const ln_op *checked = first;
    CHECK_STR_EQ(ln_op_find_tensor_entry(checked, "dst")->name, "foo1_dst");
    CHECK_NULL(ln_op_find_tensor_entry(checked, "src"));
    CHECK_STR_EQ(ln_op_find_tensor_list_entry(checked, "src")->name, "x");
    CHECK_NULL(ln_op_find_tensor_list_entry(checked, "other"));
    ln_op_list_do_static_run(ops);
    ln_op_list_do_run(ops);
    ln_op_list_do_run(ops);
    ln_op_list_do_post_run(ops);
    CHECK_STR_EQ(calls, "psrre");
    ln_op_list_free_lists_too(ops);
    ln_op_list_free(NULL);

    // The list alone: the operators may be static.
    static ln_op one, other;
    ln_list *list = ln_op_list_create_from_array((ln_op *[]){&one, &other, NULL});
    CHECK_EQ(ln_list_length(list), 2);
    ln_op_list_free(list);
    ln_op_list_free_ops_too(NULL);
    ln_tensor_table_free(tensor_table);
}

static void set_through_vset(ln_hash *table, const char *opname, const char *pname, ...)
{
    va_list ap;
    va_start(ap, pname);
    ln_op_table_vset_param(table, opname, pname, ap);
    va_end(ap);
}

TEST(operator_tables_own_their_operators)
{
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_hash *table = ln_op_table_create();
    ln_op *op = new_op(&ln_opimpl_foo_cpu, "foo1", tensor_table);
    CHECK_EQ(ln_op_table_insert(table, op), 1);
    CHECK_EQ(ln_op_table_insert(table, new_op(&ln_opimpl_bar_cpu, "bar1", tensor_table)), 1);
    CHECK_PTR_EQ(ln_op_table_find(table, "foo1"), op);
    ln_op_table_set_param(table, "foo1", "param", "changed");
    CHECK_STR_EQ(ln_param_list_find(op->op_arg->params, "param")->value_string, "changed");
    set_through_vset(table, "foo1", "param", "again");
    CHECK_STR_EQ(ln_param_list_find(op->op_arg->params, "param")->value_string, "again");
    CHECK_EQ(ln_op_table_remove(table, "bar1"), 1);
    CHECK_EQ(ln_op_table_remove(table, "bar1"), 0);
    CHECK_NULL(ln_op_table_find(table, "bar1"));
    ln_op_table_free(table);
    ln_tensor_table_free(tensor_table);
}

static void empty_pre_run(ln_op_arg *op_arg)
{
    (void)op_arg;
    strcat(calls, "p");
}

TEST(empty_functions_do_nothing)
{
    ln_op proto = {.op_arg = &op_arg_foo, .pre_run = empty_pre_run};
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_list *ops = ln_list_append(NULL, new_op(&proto, "foo1", tensor_table));
    ops = ln_list_append(ops, new_op(&proto, "foo2", tensor_table));
    calls[0] = '\0';
    CHECK_OK(ln_op_list_do_pre_run(ops));
    CHECK_OK(ln_op_list_do_static_run(ops));
    CHECK_OK(ln_op_list_do_run(ops));
    CHECK_OK(ln_op_list_do_post_run(ops));
    CHECK_STR_EQ(calls, "pp");
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(tensor_table);
}

TEST_LIST(operators_are_created_copied_and_freed, operators_get_unique_names,
          operators_are_copied_to_another_type, operator_lists_run_their_life_cycle_in_order,
          operator_tables_own_their_operators, empty_functions_do_nothing)
