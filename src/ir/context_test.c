// SPDX-License-Identifier: Apache-2.0
// Contexts: building, changing and checking models of hand-written operators.

#include "ir/context.h"

#include <stdlib.h>
#include <time.h>

#include "ir/op_order.h"
#include "ir/test_ops.h"
#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

//     make0 -> x,  copy0(x) -> y,  add0(x, y) -> z,  copy1(z) -> w
static ln_status append_model(ln_context *ctx)
{
    LN_TRY(test_append(ctx, test_op(&test_make, "make0", NULL, NULL, "x")));
    LN_TRY(test_append(ctx, test_op(&test_copy, "copy0", "x", NULL, "y")));
    LN_TRY(test_append(ctx, test_op(&test_add, "add0", "x", "y", "z")));
    return test_append(ctx, test_op(&test_copy, "copy1", "z", NULL, "w"));
}

static ln_context *model(void)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(append_model(ctx));
    CHECK_OK(ln_context_init_ops(ctx));
    ctx->state = LN_CONTEXT_READY;
    return ctx;
}

// Operator types and names in order, and tensors: "make make0 -> x; ...".
static const char *describe(const ln_context *ctx)
{
    static char text[1024];
    text[0] = '\0';
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s %s->%s; ", arg->optype, arg->name,
                 ln_tensor_list_find_name(arg->tensors_out, "dst"));
    }
    return text;
}

#define MODEL "make make0->x; copy copy0->y; add add0->z; copy copy1->w; "

static void check_is(const ln_context *ctx, const char *text)
{
    CHECK_STR_EQ(describe(ctx), text);
    if (!ln_context_check(ctx))
        fail_msg("%s", ln_error_message());
}

// ---- Building ----

TEST(a_model_is_checked_and_linked)
{
    ln_context *ctx = model();
    check_is(ctx, MODEL);
    CHECK_EQ(ln_hash_size(ctx->tensor_table), 4);
    CHECK_STR_EQ(ln_tensor_table_find(ctx->tensor_table, "z")->creater, "add0");
    CHECK_EQ(ln_context_data_size(ctx, "w"), 24);
    CHECK_EQ(ln_context_data_size(ctx, "q"), 0);
    CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
    CHECK_EQ(ln_context_output_count(ctx), 1);
    CHECK_STR_EQ(ln_context_output(ctx, 0)->name, "w");
    CHECK_NULL(ln_context_output(ctx, 1));
    CHECK_EQ(ln_context_input_count(ctx), 0);
    CHECK_NEAR(ln_context_macs(ctx), 12, 0); // two copies of 6 elements
    CHECK_FAILS(ln_context_init_ops(ctx), LN_STATE);
    CHECK_OK(ln_context_rerun_ops(ctx));
    check_is(ctx, MODEL);
    ln_context_free(ctx);
}

static void check_init_fails(ln_op *op, ln_status status, const char *message)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(append_model(ctx));
    op->op_arg->place = ln_strdup("m.net:9:1");
    CHECK_OK(ln_context_append_op(ctx, op));
    CHECK_FAILS(ln_context_init_ops(ctx), status);
    CHECK_STR_EQ(ln_error_message(), message);
    CHECK_EQ(ln_hash_size(ctx->tensor_table), 0);
    CHECK_EQ(ln_hash_size(ctx->op_table), 0);
    CHECK_EQ(ctx->dfg->graph->size, 0);
    CHECK_EQ(ln_list_length(ctx->ops), 5);
    ln_context_free(ctx);
}

TEST(a_wrong_model_is_refused_with_the_place)
{
    check_init_fails(test_op(&test_copy, "copy0", "x", NULL, "q"), LN_EXISTS,
                     "m.net:9:1: there are two operators named 'copy0', a copy and a copy");
    check_init_fails(test_op(&test_copy, "copy2", "nothing", NULL, "q"), LN_INVALID,
                     "m.net:9:1: copy: `copy2` tensor `nothing` should have been defined before");
    check_init_fails(test_op(&test_copy, "copy2", "x", NULL, "y"), LN_INVALID,
                     "m.net:9:1: copy: `copy2` tensor `y` shouldn't have been defined before");
    check_init_fails(test_failing_copy("copy2", "x", "q"), LN_INVALID,
                     "m.net:9:1: copy: `copy2` fails on purpose");
}

TEST(null_arguments_are_refused)
{
    ln_list *position = NULL;
    ln_context_free(NULL);
    ln_context_cleanup_ops(NULL);
    ln_context_dealloc_mem(NULL);
    ln_context_set_limits(NULL, NULL);
    CHECK_FAILS(ln_context_init_ops(NULL), LN_INVALID);
    CHECK_FAILS(ln_context_rerun_ops(NULL), LN_INVALID);
    CHECK_FAILS(ln_context_append_op(NULL, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_replace_ops(NULL, &position, 0, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_subgraph(NULL, NULL, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_alloc_mem(NULL), LN_INVALID);
    CHECK_FAILS(ln_context_set_param(NULL, "a", "b", 1.0), LN_INVALID);
    CHECK_EQ(ln_context_check(NULL), 0);
    CHECK_EQ(ln_context_data_size(NULL, "x"), 0);
    CHECK_EQ(ln_context_input_count(NULL), 0);
    CHECK_NULL(ln_context_output(NULL, 0));
    CHECK_NEAR(ln_context_macs(NULL), 0, 0);
}

// ---- Replacing neighbours ----

static ln_list *position_of(const ln_context *ctx, int n)
{
    return ln_list_nth(ctx->ops, n);
}

TEST(an_operator_is_lowered_under_its_own_names)
{
    ln_context *ctx = model();
    ln_list *position = position_of(ctx, 1);
    const ln_op *old = position->data;
    ln_hash *protos = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_op cpu = test_copy_cpu;
    ln_hash_insert(protos, "copy_cpu", &cpu);
    ln_op *lowered = ln_op_copy_to_optype(protos, old, "copy_cpu");
    CHECK_OK(ln_context_replace_ops(ctx, &position, 1, ln_list_append(NULL, lowered)));
    check_is(ctx, "make make0->x; copy_cpu copy0->y; add add0->z; copy copy1->w; ");
    CHECK_PTR_EQ(position->data, lowered);
    CHECK_PTR_EQ(ln_dfg_prev(ctx->dfg, ln_op_table_find(ctx->op_table, "add0"), "y"), lowered);
    // Later operators may still look at what they were checked with.
    CHECK_NEAR(ln_context_macs(ctx), 12, 0);
    CHECK_OK(ln_context_rerun_ops(ctx));
    check_is(ctx, "make make0->x; copy_cpu copy0->y; add add0->z; copy copy1->w; ");
    ln_hash_free(protos);
    ln_context_free(ctx);
}

TEST(lists_of_all_lengths_take_each_others_place)
{
    for (int at = 1; at <= 3; at++) {
        for (int new_count = 1; new_count <= 3; new_count++) {
            ln_context *ctx = model();
            ln_list *position = position_of(ctx, at);
            const ln_op *old = position->data;
            char src[16] = "x", dst[16];
            snprintf(dst, sizeof dst, "%s",
                     ln_tensor_list_find_name(old->op_arg->tensors_out, "dst"));
            ln_list *new_ops = NULL;
            for (int i = 0; i < new_count; i++) {
                char name[32], out[32];
                snprintf(name, sizeof name, "new%d", i);
                snprintf(out, sizeof out, "n%d", i);
                if (i == new_count - 1)
                    snprintf(out, sizeof out, "%s", dst);
                new_ops = ln_list_append(new_ops, test_op(&test_copy, name, src, NULL, out));
                snprintf(src, sizeof src, "%.15s", out);
            }
            CHECK_OK(ln_context_replace_ops(ctx, &position, 1, new_ops));
            CHECK_STR_EQ(((ln_op *)position->data)->op_arg->name, "new0");
            CHECK_EQ(ln_list_length(ctx->ops), 3 + new_count);
            CHECK_PTR_EQ(ln_list_nth(ctx->ops, at), position);
            if (!ln_context_check(ctx))
                fail_msg("%s", ln_error_message());
            ln_context_free(ctx);
        }
    }
}

TEST(several_become_one)
{
    ln_context *ctx = model();
    ln_list *position = position_of(ctx, 1);
    ln_list *fused = ln_list_append(NULL, test_op(&test_copy, "fused", "x", NULL, "w"));
    CHECK_OK(ln_context_replace_ops(ctx, &position, 3, fused));
    check_is(ctx, "make make0->x; copy fused->w; ");
    ln_context_free(ctx);
}

TEST(a_failure_leaves_the_old_operators_in_place)
{
    ln_context *ctx = model();
    const ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    ln_list *position = position_of(ctx, 1);
    ln_list *new_ops = ln_list_append(NULL, test_op(&test_copy, "copy0", "x", NULL, "y"));
    new_ops = ln_list_append(new_ops, test_failing_copy("bad", "y", "q"));
    CHECK_FAILS(ln_context_replace_ops(ctx, &position, 2, new_ops), LN_INVALID);
    CHECK_STR_EQ(ln_error_message(), "copy: `bad` fails on purpose");
    check_is(ctx, MODEL);
    CHECK_PTR_EQ(position, position_of(ctx, 1));
    CHECK_PTR_EQ(ln_tensor_table_find(ctx->tensor_table, "y"), y); // pointers to it stay good
    CHECK_EQ(((ln_op *)new_ops->data)->op_arg->is_checked, 0);
    ln_op_list_free_lists_too(new_ops);

    // A name that is taken, and one that is not there.
    new_ops = ln_list_append(NULL, test_op(&test_copy, "make0", "x", NULL, "y"));
    CHECK_FAILS(ln_context_replace_ops(ctx, &position, 1, new_ops), LN_EXISTS);
    check_is(ctx, MODEL);
    ln_op_list_free_lists_too(new_ops);
    new_ops = ln_list_append(NULL, test_op(&test_copy, "copy9", "nothing", NULL, "y"));
    CHECK_FAILS(ln_context_replace_ops(ctx, &position, 1, new_ops), LN_INVALID);
    check_is(ctx, MODEL);
    ln_op_list_free_lists_too(new_ops);
    CHECK_FAILS(ln_context_replace_ops(ctx, &position, 4, NULL), LN_INVALID);
    ln_list *twice = ln_list_append(NULL, position_of(ctx, 0)->data);
    CHECK_FAILS(ln_context_replace_ops(ctx, &position, 1, twice), LN_EXISTS);
    check_is(ctx, MODEL);
    ln_list_free(twice);
    CHECK_OK(ln_context_rerun_ops(ctx));
    ln_context_free(ctx);
}

TEST(operators_are_added_and_removed_anywhere)
{
    ln_context *ctx = model();
    ln_list *position = NULL;
    CHECK_OK(ln_context_add_op(ctx, &position, test_op(&test_copy, "last", "w", NULL, "v")));
    CHECK_STR_EQ(((ln_op *)position->data)->op_arg->name, "last");
    position = ctx->ops;
    CHECK_OK(ln_context_add_op(ctx, &position, test_op(&test_make, "first", NULL, NULL, "u")));
    CHECK_PTR_EQ(position, ctx->ops);
    position = position_of(ctx, 2);
    CHECK_OK(ln_context_add_op(ctx, &position, test_op(&test_copy, "middle", "x", NULL, "t")));
    check_is(ctx, "make first->u; make make0->x; copy middle->t; copy copy0->y; add add0->z; "
                  "copy copy1->w; copy last->v; ");

    position = position_of(ctx, 6);
    CHECK_OK(ln_context_remove_op(ctx, &position));
    CHECK_NULL(position);
    position = position_of(ctx, 2);
    CHECK_OK(ln_context_remove_op(ctx, &position));
    CHECK_STR_EQ(((ln_op *)position->data)->op_arg->name, "copy0");
    position = ctx->ops;
    CHECK_OK(ln_context_remove_op(ctx, &position));
    check_is(ctx, MODEL);
    position = NULL;
    CHECK_FAILS(ln_context_remove_op(ctx, &position), LN_INVALID);

    ln_op *bad = test_failing_copy("bad", "x", "q");
    CHECK_FAILS(ln_context_add_op(ctx, &position, bad), LN_INVALID);
    ln_op_free_lists_too(bad);
    check_is(ctx, MODEL);
    while (ctx->ops) {
        position = ln_list_nth(ctx->ops, ln_list_length(ctx->ops) - 1);
        CHECK_OK(ln_context_remove_op(ctx, &position));
    }
    check_is(ctx, "");
    ln_context_free(ctx);
}

TEST(a_removed_producer_is_noticed)
{
    ln_context *ctx = model();
    ln_list *position = position_of(ctx, 1);
    CHECK_OK(ln_context_remove_op(ctx, &position));
    CHECK_EQ(ln_context_check(ctx), 0);
    CHECK_MESSAGE("operator 'add0' reads tensor 'y', which no operator makes");
    CHECK_FAILS(ln_context_rerun_ops(ctx), LN_INVALID);
    CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
    CHECK_NULL(ctx->ops);
    ln_context_free(ctx);
}

// ---- Check ----

TEST(check_sees_what_is_wrong)
{
    ln_context *ctx = model();
    ln_list *first = ctx->ops, *second = first->next;
    void *op = first->data;
    first->data = second->data;
    second->data = op;
    CHECK_EQ(ln_context_check(ctx), 0);
    CHECK_MESSAGE("operator 'copy0' reads tensor 'x' before it is made");
    second->data = first->data;
    first->data = op;
    CHECK_EQ(ln_context_check(ctx), 1);
    ln_tensor_entry_set_creater(ln_tensor_table_find(ctx->tensor_table, "x"), "other");
    CHECK_EQ(ln_context_check(ctx), 0);
    CHECK_MESSAGE("has creater 'other'");
    ln_tensor_entry_set_creater(ln_tensor_table_find(ctx->tensor_table, "x"), "make0");
    ln_dfg_remove(ctx->dfg, op);
    CHECK_EQ(ln_context_check(ctx), 0);
    CHECK_MESSAGE("'make0' of the list is not in the data flow graph");
    ln_dfg_add(ctx->dfg, op);
    ln_context_free(ctx);
}

// ---- Subgraphs ----

TEST(a_subgraph_finds_its_order)
{
    ln_context *ctx = model();
    // copy0 and copy1, not neighbours, become late -> w and early -> y, given in the wrong order.
    ln_list *old_ops = ln_list_append(NULL, ln_op_table_find(ctx->op_table, "copy0"));
    old_ops = ln_list_append(old_ops, ln_op_table_find(ctx->op_table, "copy1"));
    ln_list *new_ops = ln_list_append(NULL, test_op(&test_copy, "late", "z", NULL, "w"));
    new_ops = ln_list_append(new_ops, test_op(&test_copy, "early", "mid", NULL, "y"));
    new_ops = ln_list_append(new_ops, test_op(&test_copy, "first", "x", NULL, "mid"));
    // `late` reads z, which reads y, which `early` makes: it cannot be checked in its place, but
    // z is in the table already.
    CHECK_OK(ln_context_subgraph(ctx, old_ops, new_ops));
    check_is(ctx, "make make0->x; copy first->mid; copy early->y; add add0->z; copy late->w; ");
    CHECK_OK(ln_context_rerun_ops(ctx));
    ln_list_free(old_ops);
    ln_list_free(new_ops);
    ln_context_free(ctx);
}

TEST(a_subgraph_that_fails_changes_nothing)
{
    ln_context *ctx = model();
    ln_op *copy0 = ln_op_table_find(ctx->op_table, "copy0");
    ln_list *old_ops = ln_list_append(NULL, copy0);
    ln_list *cycle = ln_list_append(NULL, test_op(&test_copy, "a", "w", NULL, "y"));
    CHECK_FAILS(ln_context_subgraph(ctx, old_ops, cycle), LN_INVALID);
    CHECK_MESSAGE("wait for each other");
    check_is(ctx, MODEL);
    ln_list *bad = ln_list_append(NULL, test_failing_copy("a", "x", "y"));
    CHECK_FAILS(ln_context_subgraph(ctx, old_ops, bad), LN_INVALID);
    check_is(ctx, MODEL);
    ln_list *twice = ln_list_append(old_ops, copy0);
    CHECK_FAILS(ln_context_subgraph(ctx, twice, bad), LN_INVALID);
    check_is(ctx, MODEL);
    CHECK_FAILS(ln_context_subgraph(ctx, bad, NULL), LN_NOT_FOUND);
    check_is(ctx, MODEL);
    ln_list_free(old_ops);
    ln_op_list_free_lists_too(cycle);
    ln_op_list_free_lists_too(bad);
    ln_context_free(ctx);
}

TEST(a_right_order_stays_as_it_is)
{
    ln_context *ctx = model();
    ln_list *ordered;
    CHECK_OK(ln_op_list_order(ctx->ops, &ordered));
    for (const ln_list *a = ctx->ops, *b = ordered; a || b; a = a->next, b = b->next)
        CHECK_PTR_EQ(a->data, b->data);
    ln_list_free(ordered);
    CHECK_OK(ln_op_list_order(NULL, &ordered));
    CHECK_NULL(ordered);
    ln_context_free(ctx);
}

// ---- Parameters ----

TEST(shapes_follow_a_parameter)
{
    ln_context *ctx = model();
    const double dims[] = {4, 5, 6};
    CHECK_OK(ln_context_set_param(ctx, "make0", "dims", dims, 3));
    CHECK_EQ(ln_context_data_size(ctx, "w"), 480);
    check_is(ctx, MODEL);
    const double wrong[] = {4, -5};
    CHECK_FAILS(ln_context_set_param(ctx, "make0", "dims", wrong, 2), LN_INVALID);
    CHECK_EQ(ln_context_data_size(ctx, "w"), 480);
    CHECK_FAILS(ln_context_set_param(ctx, "make0", "dims", NULL, 2), LN_INVALID);
    CHECK_FAILS(ln_context_set_param(ctx, "copy0", "fail", 1.0), LN_INVALID);
    CHECK_FAILS(ln_context_set_param(ctx, "make1", "dims", dims, 3), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_set_param(ctx, "make0", "dim", dims, 3), LN_NOT_FOUND);
    check_is(ctx, MODEL);
    ln_context_free(ctx);
}

TEST(a_change_that_later_operators_refuse_is_undone)
{
    ln_context *ctx = model();
    ln_list *end = NULL;
    CHECK_OK(ln_context_add_op(ctx, &end, test_op(&test_make, "make1", NULL, NULL, "c")));
    end = NULL;
    CHECK_OK(ln_context_add_op(ctx, &end, test_op(&test_add, "add1", "c", "w", "sum")));
    const double dims[] = {7};
    CHECK_FAILS(ln_context_set_param(ctx, "make1", "dims", dims, 1), LN_INVALID);
    CHECK_MESSAGE("`add1` tensors `c` and `w` should have the same shape");
    CHECK_EQ(ln_context_data_size(ctx, "c"), 24);
    CHECK_EQ(ln_context_check(ctx), 1);
    ln_context_free(ctx);
}

TEST(a_planned_shape_does_not_change)
{
    ln_context *ctx = model();
    ctx->state = LN_CONTEXT_PLANNED;
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    const double other[] = {3, 2}, same[] = {2, 3};
    CHECK_FAILS(ln_context_set_param(ctx, "make0", "dims", other, 2), LN_STATE);
    CHECK_OK(ln_context_set_param(ctx, "make0", "dims", same, 2));
    CHECK_PTR_EQ(ln_tensor_table_find(ctx->tensor_table, "x"), x);
    CHECK_EQ(ln_context_check(ctx), 1);
    ln_context_free(ctx);
}

static void view_pre_run(ln_op_arg *op_arg)
{
    test_copy_pre_run(op_arg);
    ln_tensor_entry *dst =
        ln_tensor_list_find_entry(op_arg->tensors_out, op_arg->tensor_table, "dst");
    if (dst)
        ln_tensor_entry_set_owner(dst, op_arg->tensor_table,
                                  ln_tensor_list_find_name(op_arg->tensors_in, "src"));
}

// A view that begins `fail` * 64 bytes after its owner; a fraction does not make pre_run fail.
static size_t view_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *entry)
{
    (void)entry;
    return (size_t)(ln_param_list_find(op_arg->params, "fail")->value_double * 64);
}

TEST(a_planned_view_does_not_move)
{
    ln_context *ctx = model();
    ln_op *view = ln_op_table_find(ctx->op_table, "copy1");
    view->pre_run = view_pre_run;
    view->calc_offset = view_calc_offset;
    CHECK_OK(ln_context_rerun_ops(ctx));
    CHECK_OK(ln_context_set_param(ctx, "copy1", "fail", 0.25));
    ctx->state = LN_CONTEXT_PLANNED;
    CHECK_OK(ln_context_set_param(ctx, "copy1", "fail", 0.25));
    CHECK_FAILS(ln_context_set_param(ctx, "copy1", "fail", 0.5), LN_STATE);
    ln_context_free(ctx);
}

// ---- Memory ----

TEST(tensors_lie_where_they_are_planned)
{
    ln_context *ctx = model();
    CHECK_FAILS(ln_context_alloc_mem(ctx), LN_STATE);
    size_t offset = 64;
    for (const char *const *name = (const char *const[]){"x", "y", "z", "w", NULL}; *name; name++) {
        ln_tensor_table_find(ctx->tensor_table, *name)->offset = offset;
        offset += 64;
    }
    ctx->mem_sizes[LN_MEM_CPU] = 4 * 64 + 24;
    CHECK_OK(ln_context_alloc_mem(ctx));
    CHECK_FAILS(ln_context_alloc_mem(ctx), LN_STATE);
    char *start = ctx->mem_starts[LN_MEM_CPU];
    CHECK_PTR_EQ(ln_tensor_table_find(ctx->tensor_table, "w")->tensor->data, start + 256);
    const float in[6] = {1, 2, 3, 4, 5, 6};
    CHECK_OK(ln_tensor_table_set_data(ctx->tensor_table, "w", in));
    ln_context_dealloc_mem(ctx);
    CHECK_NULL(ln_tensor_table_find(ctx->tensor_table, "w")->tensor->data);
    ctx->mem_sizes[LN_MEM_CPU]--;
    CHECK_FAILS(ln_context_alloc_mem(ctx), LN_INVALID);
    CHECK_NULL(ctx->mem_starts[LN_MEM_CPU]);
    ln_tensor_table_find(ctx->tensor_table, "w")->offset = SIZE_MAX;
    CHECK_FAILS(ln_context_alloc_mem(ctx), LN_INVALID);
    ctx->mem_sizes[LN_MEM_DPU] = 64;
    CHECK_FAILS(ln_context_alloc_mem(ctx), LN_UNSUPPORTED);
    ln_context_free(ctx);
}

TEST(limits_are_finite_and_movable)
{
    ln_context *ctx = ln_context_create();
    ln_limits limits = ln_limits_default();
    CHECK_EQ(limits.op_count, 1000000);
    limits.op_count = 5;
    ln_context_set_limits(ctx, &limits);
    CHECK_EQ(ctx->limits.op_count, 5);
    ln_context_set_limits(ctx, NULL);
    CHECK_EQ(ctx->limits.op_count, 1000000);
    ln_context_free(ctx);
}

// ---- Running out of memory, and size ----

static void change_model(ln_context *ctx)
{
    ln_list *position = position_of(ctx, 1);
    ln_list *new_ops = NULL;
    ln_op *op = test_op(&test_copy_cpu, "copy0", "x", NULL, "y");
    if (!op || ln_list_push(&new_ops, op) != LN_OK) {
        ln_op_free_lists_too(op);
        return;
    }
    ln_status status = ln_context_replace_ops(ctx, &position, 1, new_ops);
    if (status != LN_OK)
        ln_op_list_free_lists_too(new_ops);
    if (ctx->state == LN_CONTEXT_EMPTY)
        return;
    op = test_op(&test_copy, "side", "z", NULL, "s");
    ln_list *old_op = NULL, *new_op = NULL;
    if (op && ln_list_push(&new_op, op) == LN_OK &&
        ln_list_push(&old_op, ln_op_table_find(ctx->op_table, "copy1")) == LN_OK &&
        ln_context_subgraph(ctx, old_op, new_op) == LN_OK)
        op = NULL;
    ln_op_free_lists_too(op);
    ln_list_free(new_op);
    ln_list_free(old_op);
    if (ctx->state == LN_CONTEXT_EMPTY)
        return;
    const double dims[] = {4, 4};
    ln_context_set_param(ctx, "make0", "dims", dims, 2);
    if (ctx->state != LN_CONTEXT_EMPTY)
        ln_context_rerun_ops(ctx);
}

TEST(running_out_of_memory_leaves_a_consistent_context)
{
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status = ctx ? append_model(ctx) : LN_NO_MEMORY;
        if (status == LN_OK)
            status = ln_context_init_ops(ctx);
        if (status == LN_OK) {
            ctx->state = LN_CONTEXT_READY;
            change_model(ctx);
            size_t refused = oom_n.refused;
            oom_n.allowed += 10000; // looking needs memory, too
            if (!ln_context_check(ctx))
                fail_msg("%zu: %s", n, ln_error_message());
            oom_n.allowed -= 10000;
            oom_n.refused = refused;
        } else {
            CHECK_EQ(status, LN_NO_MEMORY);
        }
        ln_context_free(ctx);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

TEST(a_large_model_is_built_and_lowered_in_linear_time)
{
    enum { COUNT = 100000 };
    ln_context *ctx = ln_context_create();
    double start = seconds();
    char name[32], src[32], dst[32];
    CHECK_OK(test_append(ctx, test_op(&test_make, "make", NULL, NULL, "t0")));
    for (int i = 1; i < COUNT; i++) {
        snprintf(name, sizeof name, "copy%d", i);
        // Half of them form a chain, the others all read the first tensor.
        snprintf(src, sizeof src, "t%d", i % 2 && i > 1 ? i - 2 : 0);
        snprintf(dst, sizeof dst, "t%d", i);
        CHECK_OK(test_append(ctx, test_op(&test_copy, name, src, NULL, dst)));
    }
    CHECK_OK(ln_context_init_ops(ctx));
    print_message("built in %.2f s\n", seconds() - start);
    ctx->state = LN_CONTEXT_READY;
    start = seconds();
    ln_hash *protos = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_op cpu = test_copy_cpu;
    ln_hash_insert(protos, "copy_cpu", &cpu);
    for (ln_list *position = ctx->ops->next; position; position = position->next) {
        ln_op *lowered = ln_op_copy_to_optype(protos, position->data, "copy_cpu");
        CHECK_OK(ln_context_replace_ops(ctx, &position, 1, ln_list_append(NULL, lowered)));
    }
    CHECK_OK(ln_context_rerun_ops(ctx));
    print_message("lowered in %.2f s\n", seconds() - start);
    CHECK_EQ(ln_context_check(ctx), 1);
    start = seconds();
    ln_context_free(ctx);
    print_message("freed in %.2f s\n", seconds() - start);
    ln_hash_free(protos);
}

TEST_LIST(a_model_is_checked_and_linked, a_wrong_model_is_refused_with_the_place,
          null_arguments_are_refused, an_operator_is_lowered_under_its_own_names,
          lists_of_all_lengths_take_each_others_place, several_become_one,
          a_failure_leaves_the_old_operators_in_place, operators_are_added_and_removed_anywhere,
          a_removed_producer_is_noticed, check_sees_what_is_wrong, a_subgraph_finds_its_order,
          a_subgraph_that_fails_changes_nothing, a_right_order_stays_as_it_is,
          shapes_follow_a_parameter, a_change_that_later_operators_refuse_is_undone,
          a_planned_shape_does_not_change, a_planned_view_does_not_move,
          tensors_lie_where_they_are_planned, limits_are_finite_and_movable,
          running_out_of_memory_leaves_a_consistent_context,
          a_large_model_is_built_and_lowered_in_linear_time)
