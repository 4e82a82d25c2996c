// SPDX-License-Identifier: Apache-2.0
// Operators: made, copied, named and run, among them one written only from the documentation.

#include <lightnet/op.h>

#include <stdlib.h>

#include "ir/op_life.h"
#include "ir/test_ops.h"
#include "tests/oom.h"
#include "tests/test.h"

// ---- The documentation's example, as it stands there ----

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wwrite-strings"

static int foo_runs;

// The least that a pre_run does: neither creater nor memory type nor offset.
static void foo_pre_run(ln_op_arg *op_arg)
{
    ln_tensor_list_entry *src_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_in, "src");
    ln_opck_tensor_in_exist(src_list_entry, "src");
    ln_tensor_entry *src_entry = ln_tensor_table_find(op_arg->tensor_table, src_list_entry->name);
    ln_opck_tensor_defined(src_entry, src_list_entry->name);
    ln_param_entry *param_entry = ln_param_list_find(op_arg->params, "param");
    ln_opck_param_exist(param_entry, "param");
    ln_opck_param_type(param_entry, LN_PARAM_STRING);
    char *dst_name = ln_tensor_list_find_name(op_arg->tensors_out, "dst");
    tl_tensor *dst = tl_tensor_create(NULL, src_entry->tensor->ndim, src_entry->tensor->dims,
                                      src_entry->tensor->dtype);
    ln_tensor_table_insert(op_arg->tensor_table, ln_tensor_entry_create(dst_name, dst));
}

static void foo_run(ln_op_arg *op_arg)
{
    (void)op_arg;
    foo_runs++;
}

static void foo_post_run(ln_op_arg *op_arg)
{
    ln_tensor_table_remove(op_arg->tensor_table,
                           ln_tensor_list_find_name(op_arg->tensors_out, "dst"));
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

/* NULL functions are equivalent to empty functions */
static ln_op ln_opimpl_foo_cpu = {
    .op_arg = &op_arg_foo,
    .pre_run = foo_pre_run,
    .static_run = NULL,
    .run = foo_run,
    .post_run = foo_post_run,
    .calc_offset = NULL,
};

// All that a pre_run may do: everything in the entry, and private data.
static void full_pre_run(ln_op_arg *op_arg)
{
    ln_tensor_list_entry *src_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_in, "src");
    ln_opck_tensor_in_exist(src_list_entry, "src");
    char *src_name = src_list_entry->name;
    ln_tensor_entry *src_entry = ln_tensor_table_find(op_arg->tensor_table, src_name);
    ln_opck_tensor_defined(src_entry, src_name);
    int tensors_in_n = ln_tensor_list_length(op_arg->tensors_in);
    ln_opck_tensors_in_len_eq(tensors_in_n, 1);
    ln_tensor_list_entry *dst_list_entry =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "dst");
    ln_opck_tensor_out_exist(dst_list_entry, "dst");
    char *dst_name = dst_list_entry->name;
    ln_tensor_entry *dst_entry = ln_tensor_table_find(op_arg->tensor_table, dst_name);
    ln_opck_tensor_not_defined(dst_entry, dst_name);

    tl_tensor *dst = tl_tensor_create(NULL, src_entry->tensor->ndim, src_entry->tensor->dims,
                                      src_entry->tensor->dtype);
    dst_entry = ln_tensor_entry_create(dst_name, dst);
    if (!dst_entry) {
        tl_tensor_free(dst);
        return;
    }
    dst_entry->offset = dst_list_entry->offset;
    ln_tensor_entry_set_creater(dst_entry, op_arg->name);
    ln_tensor_entry_set_owner(dst_entry, op_arg->tensor_table, src_name);
    dst_entry->mtype = LN_MEM_CPU;
    if (ln_tensor_table_insert(op_arg->tensor_table, dst_entry) < 0) {
        ln_tensor_entry_free_tensor_too(dst_entry);
        return;
    }
    op_arg->priv = dst_entry;
}

static void full_post_run(ln_op_arg *op_arg)
{
    ln_tensor_entry *dst_entry = op_arg->priv;
    ln_tensor_table_remove(op_arg->tensor_table, dst_entry->name);
}

#pragma GCC diagnostic pop

static ln_list *foo_model(const ln_op *foo, ln_hash *table)
{
    ln_op *make = test_op(&test_make, "make0", NULL, NULL, "x");
    make->op_arg->tensor_table = table;
    ln_op *op = ln_op_create_from_proto(foo, "foo0", ln_tensor_list_append(NULL, "src", "x"),
                                        ln_tensor_list_append(NULL, "dst", "y"),
                                        ln_param_list_append_string(NULL, "param", "s"), table);
    ln_tensor_list_find_by_arg_name(op->op_arg->tensors_out, "dst")->offset = 128;
    return ln_list_append(ln_list_append(NULL, make), op);
}

TEST(an_operator_from_the_documentation_works)
{
    ln_hash *table = ln_tensor_table_create();
    ln_list *ops = foo_model(&ln_opimpl_foo_cpu, table);
    CHECK_OK(ln_op_list_do_pre_run(ops));
    ln_tensor_entry *y = ln_tensor_table_find(table, "y");
    CHECK_STR_EQ(y->creater, "foo0");
    CHECK_EQ(y->offset, 128);
    CHECK_EQ(y->tensor->len, 6);
    CHECK_PTR_EQ(ln_op_find_tensor_entry(ln_op_list_find_by_name(ops, "foo0"), "dst"), y);
    foo_runs = 0;
    CHECK_OK(ln_op_list_do_static_run(ops));
    CHECK_OK(ln_op_list_do_run(ops));
    CHECK_OK(ln_op_list_do_run(ops));
    CHECK_EQ(foo_runs, 2);
    CHECK_OK(ln_op_list_do_post_run(ops));
    CHECK_EQ(ln_hash_size(table), 0);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}

TEST(an_operator_without_post_run_leaves_no_tensor)
{
    ln_op forgetful = ln_opimpl_foo_cpu;
    forgetful.post_run = NULL;
    ln_hash *table = ln_tensor_table_create();
    ln_list *ops = foo_model(&forgetful, table);
    CHECK_OK(ln_op_list_do_pre_run(ops));
    CHECK_OK(ln_op_list_do_post_run(ops));
    CHECK_EQ(ln_hash_size(table), 0);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}

TEST(an_operator_with_everything_in_its_entry_works)
{
    ln_op full = ln_opimpl_foo_cpu;
    full.pre_run = full_pre_run;
    full.post_run = full_post_run;
    ln_hash *table = ln_tensor_table_create();
    ln_list *ops = foo_model(&full, table);
    CHECK_OK(ln_op_list_do_pre_run(ops));
    CHECK_STR_EQ(ln_tensor_table_find(table, "y")->owner, "x");
    CHECK_OK(ln_op_list_do_post_run(ops));
    CHECK_EQ(ln_hash_size(table), 0);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}

TEST(in_a_context_it_survives_running_out_of_memory)
{
    ln_op full = ln_opimpl_foo_cpu;
    full.pre_run = full_pre_run;
    full.post_run = full_post_run;
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? test_append(ctx, test_op(&test_make, "m", NULL, NULL, "x")) : LN_NO_MEMORY;
        ln_op *op = status == LN_OK ? test_op(&full, "foo0", "x", NULL, "y") : NULL;
        if (op && test_append(ctx, op) == LN_OK) {
            status = ln_context_init_ops(ctx);
            CHECK(status == LN_OK || status == LN_NO_MEMORY);
        }
        ln_context_free(ctx);
    }
}

// ---- What functions may get wrong ----

static void define_nothing(ln_op_arg *op_arg)
{
    (void)op_arg;
}

static void fail_without_message(ln_op_arg *op_arg)
{
    op_arg->status = LN_LIMIT;
}

static ln_status pre_run_with(ln_op_func pre_run, const char *place)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op proto = test_make;
    proto.pre_run = pre_run;
    ln_op *op = test_op(&proto, "op0", NULL, NULL, "x");
    op->op_arg->tensor_table = table;
    op->op_arg->place = ln_strdup(place);
    ln_list *ops = ln_list_append(NULL, op);
    ln_status status = ln_op_pre_run(op);
    CHECK_EQ(ln_hash_size(table), 0);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
    return status;
}

TEST(what_pre_run_leaves_out_is_an_error)
{
    CHECK_FAILS(pre_run_with(define_nothing, NULL), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "make: `op0` has not defined its output tensor `x`");
    CHECK_FAILS(pre_run_with(NULL, NULL), LN_INVALID);
    CHECK_FAILS(pre_run_with(fail_without_message, "m.net:12:3"), LN_LIMIT);
    CHECK_STR_EQ(ln_error_message(), "m.net:12:3: make: `op0` failed: over a limit");
}

TEST(tensors_are_made_once_and_before_they_are_read)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *make = test_op(&test_make, "make0", NULL, NULL, "x");
    ln_op *again = test_op(&test_make, "make1", NULL, NULL, "x");
    ln_op *copy = test_op(&test_copy, "copy0", "y", NULL, "z");
    make->op_arg->tensor_table = again->op_arg->tensor_table = copy->op_arg->tensor_table = table;
    again->op_arg->place = ln_strdup("m.net:2:1");

    ln_list *ops = ln_list_append(ln_list_append(NULL, make), again);
    CHECK_FAILS(ln_op_list_do_pre_run(ops), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(),
                 "m.net:2:1: make: `make1` tensor `x` shouldn't have been defined before");
    CHECK_NOT_NULL(ln_tensor_table_find(table, "x"));
    CHECK_EQ(make->op_arg->is_checked, 1);
    CHECK_EQ(again->op_arg->is_checked, 0);
    CHECK_OK(ln_op_list_do_post_run(ops));
    ln_list_free(ops);

    ops = ln_list_append(NULL, copy);
    CHECK_FAILS(ln_op_list_do_pre_run(ops), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "copy: `copy0` tensor `src` should have been defined before");
    ops = ln_list_append(ln_list_append(ops, make), again);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}

TEST(one_operator_does_not_make_a_tensor_twice)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *make = test_op(&test_make, "make0", NULL, NULL, "x");
    make->op_arg->tensor_table = table;
    make->op_arg->tensors_out = ln_tensor_list_append(make->op_arg->tensors_out, "dst2", "x");
    ln_list *ops = ln_list_append(NULL, make);
    CHECK_FAILS(ln_op_list_do_pre_run(ops), LN_INVALID);
    CHECK_EQ(ln_hash_size(table), 0);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}

TEST(the_first_failure_wins)
{
    ln_op *op = test_op(&test_make, "op0", NULL, NULL, "x");
    CHECK_FAILS(ln_op_fail(op->op_arg, LN_LIMIT, "is %d", 1), LN_LIMIT);
    CHECK_FAILS(ln_op_fail(op->op_arg, LN_INVALID, "is %d", 2), LN_LIMIT);
    CHECK_STR_EQ(ln_error_message(), "make: `op0` is 1");
    CHECK_FAILS(ln_op_fail(NULL, LN_IO, "alone"), LN_IO);
    CHECK_STR_EQ(ln_error_message(), "alone");
    ln_op_free_lists_too(op);
}

// ---- Making and naming ----

TEST(names_are_new_and_lists_as_described)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *copy = test_op(&test_copy, "copy4", "a", NULL, "b");
    ln_list *ops = ln_list_append(NULL, copy);
    ln_op *op = ln_op_create_with_names(&test_copy, ops, table);
    CHECK_STR_EQ(op->op_arg->name, "copy5");
    CHECK_STR_EQ(ln_tensor_list_find_name(op->op_arg->tensors_in, "src"), "");
    CHECK_STR_EQ(ln_tensor_list_find_name(op->op_arg->tensors_out, "dst"), "copy5_dst");
    CHECK_EQ(ln_param_list_find(op->op_arg->params, "fail")->type, LN_PARAM_NUMBER);
    CHECK_NOT_NULL(ln_op_find_tensor_list_entry(op, "src"));
    CHECK_NOT_NULL(ln_op_find_tensor_list_entry(op, "dst"));
    CHECK_NULL(ln_op_find_tensor_list_entry(op, "bias"));
    CHECK_NULL(ln_op_find_tensor_entry(op, "dst"));

    // A tensor that happens to be named like the output moves the number on.
    tl_tensor *t = tl_tensor_create(NULL, 0, NULL, TL_FLOAT);
    ln_tensor_table_insert(table, ln_tensor_entry_create("copy5_dst", t));
    ln_op *next = ln_op_create_with_names(&test_copy, ops, table);
    CHECK_STR_EQ(next->op_arg->name, "copy6");

    ln_tensor_entry_set_creater(ln_tensor_table_find(table, "copy5_dst"), "copy41");
    ln_op *named = ln_op_create_with_opname(&test_copy, table);
    CHECK_STR_EQ(named->op_arg->name, "copy42");
    CHECK_NULL(named->op_arg->tensors_out);
    ln_op *scoped = ln_op_create_with_opname_scoped(&test_copy, ops, table);
    CHECK_STR_EQ(scoped->op_arg->name, "copy5");

    ln_op_free_lists_too(op);
    ln_op_free_lists_too(next);
    ln_op_free_lists_too(named);
    ln_op_free_lists_too(scoped);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}

TEST(a_copy_is_deep_and_fresh)
{
    ln_op *op = test_op(&test_copy, "copy0", "a", NULL, "b");
    op->op_arg->place = ln_strdup("m.net:1:1");
    op->op_arg->status = LN_INVALID;
    op->op_arg->is_checked = 1;
    ln_hash *protos = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_op cpu = test_copy_cpu;
    ln_hash_insert(protos, "copy_cpu", &cpu);

    ln_op *copy = ln_op_copy(op);
    ln_op *lowered = ln_op_copy_to_optype(protos, op, "copy_cpu");
    CHECK_NULL(ln_op_copy_to_optype(protos, op, "copy_cuda"));
    CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
    ln_op_free_lists_too(op);
    CHECK_STR_EQ(copy->op_arg->name, "copy0");
    CHECK_STR_EQ(copy->op_arg->place, "m.net:1:1");
    CHECK_EQ(copy->op_arg->status, LN_OK);
    CHECK_EQ(copy->op_arg->is_checked, 0);
    CHECK_STR_EQ(lowered->op_arg->optype, "copy_cpu");
    CHECK_STR_EQ(lowered->op_arg->arch, "cpu");
    CHECK_STR_EQ(ln_tensor_list_find_name(lowered->op_arg->tensors_in, "src"), "a");
    ln_op_free_lists_too(copy);
    ln_op_free_lists_too(lowered);
    ln_hash_free(protos);
    CHECK_NULL(ln_op_copy(NULL));
}

TEST(renaming_takes_the_outputs_along)
{
    ln_op *op = test_op(&test_copy, "copy0", "a", NULL, "b");
    CHECK_OK(ln_op_update_names(op, "mine"));
    CHECK_STR_EQ(op->op_arg->name, "mine");
    CHECK_STR_EQ(ln_tensor_list_find_name(op->op_arg->tensors_out, "dst"), "mine_dst");
    CHECK_FAILS(ln_op_update_names(op, ""), LN_INVALID);
    CHECK_FAILS(ln_op_update_names(op, NULL), LN_INVALID);
    op->op_arg->is_checked = 1;
    CHECK_FAILS(ln_op_update_names(op, "other"), LN_STATE);
    ln_op_free_lists_too(op);
}

static void check_wants_two_params(ln_op_arg *op_arg)
{
    int param_count = ln_param_list_length(op_arg->params);
    ln_opck_params_len_eq(param_count, 2);
}

TEST(a_type_is_asked_without_changing_anything)
{
    ln_op_info info = {.check = check_wants_two_params};
    ln_op_arg arg = *test_copy_cpu.op_arg;
    arg.info = &info;
    ln_op proto = test_copy_cpu;
    proto.op_arg = &arg;
    ln_op *op = test_op(&test_copy, "copy0", "a", NULL, "b");
    CHECK_FAILS(ln_op_accepts(&proto, op), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "copy_cpu: `copy0` needs 2 params, but gets 1 params");
    CHECK_EQ(arg.status, LN_OK);
    CHECK_EQ(op->op_arg->status, LN_OK);
    CHECK_OK(ln_op_accepts(&test_copy_cpu, op));
    CHECK_FAILS(ln_op_accepts(NULL, op), LN_INVALID);
    ln_op_free_lists_too(op);
}

// ---- Lists and tables ----

TEST(lists_find_by_type_and_name)
{
    ln_op *a = test_op(&test_make, "make0", NULL, NULL, "x");
    ln_op *b = test_op(&test_copy, "copy0", "x", NULL, "y");
    ln_op *array[] = {a, b, NULL};
    ln_list *ops = ln_op_list_create_from_array(array);
    CHECK_PTR_EQ(ln_op_list_find_by_optype(ops, "copy"), b);
    CHECK_PTR_EQ(ln_op_array_find_by_optype(array, "copy"), b);
    CHECK_PTR_EQ(ln_op_list_find_by_name(ops, "make0"), a);
    CHECK_NULL(ln_op_list_find_by_name(ops, NULL));
    CHECK_NULL(ln_op_array_find_by_optype(NULL, "copy"));
    CHECK_NULL(ln_op_list_create_from_array(NULL));
    ln_op_list_free_lists_too(ops);
}

TEST(a_table_refuses_a_second_operator_of_a_name)
{
    ln_hash *table = ln_op_table_create();
    ln_op *a = test_op(&test_make, "op0", NULL, NULL, "x");
    ln_op *b = test_op(&test_copy, "op0", "x", NULL, "y");
    CHECK_EQ(ln_op_table_insert(table, a), 1);
    CHECK_EQ(ln_op_table_insert(table, b), 0);
    CHECK_EQ(ln_error_status(), LN_EXISTS);
    CHECK_STR_EQ(ln_error_message(), "there are two operators named 'op0', a make and a copy");
    CHECK_PTR_EQ(ln_op_table_find(table, "op0"), a);
    CHECK_EQ(ln_op_table_insert(table, NULL), -1);
    CHECK_EQ(ln_op_table_remove(table, "other"), 0);
    CHECK_EQ(ln_op_table_remove(table, a->op_arg->name), 1);
    CHECK_EQ(ln_op_table_insert(table, b), 1);
    ln_op_table_free(table);
}

TEST(a_table_sets_parameters)
{
    ln_hash *table = ln_op_table_create();
    ln_op *op = test_op(&test_copy, "copy0", "x", NULL, "y");
    ln_op_table_insert(table, op);
    CHECK_OK(ln_op_table_set_param(table, "copy0", "fail", 1.0));
    CHECK_EQ(ln_param_list_find(op->op_arg->params, "fail")->value_int, 1);
    CHECK_FAILS(ln_op_table_set_param(table, "copy1", "fail", 1.0), LN_NOT_FOUND);
    CHECK_STR_EQ(ln_error_message(), "there is no operator 'copy1'; there are: copy0");
    CHECK_FAILS(ln_op_table_set_param(table, "copy0", "flop", 1.0), LN_NOT_FOUND);
    CHECK_STR_EQ(ln_error_message(),
                 "operator 'copy0' (copy) has no parameter 'flop'; it has: fail");
    CHECK_FAILS(ln_op_table_set_param(NULL, NULL, NULL), LN_NOT_FOUND);
    ln_op_table_free(table);
}

TEST(a_long_list_of_names_is_cut)
{
    ln_hash *table = ln_op_table_create();
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "operator%d", i);
        ln_op_table_insert(table, test_op(&test_copy, name, "x", NULL, "y"));
    }
    CHECK_FAILS(ln_op_table_set_param(table, "copy1", "fail", 1.0), LN_NOT_FOUND);
    CHECK_MESSAGE("operator0, operator1, ");
    CHECK_MESSAGE("...");
    ln_op_table_free(table);
}

TEST(running_out_of_memory_leaks_nothing)
{
    OOM_SWEEP(n)
    {
        ln_op *op = test_op(&test_copy, "copy0", "a", NULL, "b");
        ln_list *ops = NULL;
        if (op && ln_list_push(&ops, op) != LN_OK)
            ln_op_free_lists_too(op);
        ln_op *named = ln_op_create_with_names(&test_copy, ops, NULL);
        ln_op *copy = named ? ln_op_copy(named) : NULL;
        if (copy && ln_op_update_names(copy, "new") != LN_OK)
            CHECK_STR_EQ(ln_tensor_list_find_name(copy->op_arg->tensors_out, "dst"),
                         ln_tensor_list_find_name(named->op_arg->tensors_out, "dst"));
        ln_op_free_lists_too(copy);
        ln_op_free_lists_too(named);
        ln_op_list_free_lists_too(ops);
    }
}

TEST_LIST(an_operator_from_the_documentation_works, an_operator_without_post_run_leaves_no_tensor,
          an_operator_with_everything_in_its_entry_works,
          in_a_context_it_survives_running_out_of_memory, what_pre_run_leaves_out_is_an_error,
          tensors_are_made_once_and_before_they_are_read, one_operator_does_not_make_a_tensor_twice,
          the_first_failure_wins, names_are_new_and_lists_as_described, a_copy_is_deep_and_fresh,
          renaming_takes_the_outputs_along, a_type_is_asked_without_changing_anything,
          lists_find_by_type_and_name, a_table_refuses_a_second_operator_of_a_name,
          a_table_sets_parameters, a_long_list_of_names_is_cut, running_out_of_memory_leaks_nothing)
