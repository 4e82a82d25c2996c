// SPDX-License-Identifier: Apache-2.0
// The data flow graph against a naive model: after each step, edges and dangling ends are what the
// operators' lists say.

#include "ir/dfg.h"

#include <stdlib.h>

#include "ir/test_ops.h"
#include "tests/oom.h"
#include "tests/random.h"
#include "tests/test.h"

static size_t count_dangling(const ln_list *list, const ln_op *op, const char *tname)
{
    size_t count = 0;
    const ln_graph_edge_node *edge;
    LN_LIST_FOREACH (edge, list)
        count += edge->node->data == op && strcmp(edge->edge_data, tname) == 0;
    return count;
}

static const ln_op *maker_of(ln_op *const *ops, const int *is_in, size_t count, const char *tname)
{
    for (size_t i = 0; i < count; i++)
        if (is_in[i] && ln_tensor_list_find_by_name(ops[i]->op_arg->tensors_out, tname))
            return ops[i];
    return NULL;
}

static size_t reader_count(ln_op *const *ops, const int *is_in, size_t count, const char *tname)
{
    size_t readers = 0;
    for (size_t i = 0; i < count; i++)
        readers += is_in[i] && ln_tensor_list_find_by_name(ops[i]->op_arg->tensors_in, tname);
    return readers;
}

// The walk over readers meets those of the list in order, some of them twice in a row.
static void check_walk(const ln_dfg *dfg, const char *tname, const ln_list *nexts)
{
    ln_dfg_readers readers = ln_dfg_find_readers(dfg, tname);
    const ln_op *reader, *before = NULL;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        if (reader == before)
            continue;
        CHECK_PTR_EQ(reader, nexts ? nexts->data : NULL);
        nexts = nexts->next;
        before = reader;
    }
    CHECK_NULL(nexts);
}

// What the naive model says about the operators that are in the graph.
static void check_against_model(const ln_dfg *dfg, ln_op *const *ops, const int *is_in,
                                size_t count)
{
    size_t in_ends = 0, out_ends = 0, nodes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_in[i])
            continue;
        nodes++;
        const ln_tensor_list_entry *t;
        LN_LIST_FOREACH (t, ops[i]->op_arg->tensors_in) {
            const ln_op *maker = maker_of(ops, is_in, count, t->name);
            CHECK_PTR_EQ(ln_dfg_prev(dfg, ops[i], t->name), maker);
            CHECK_PTR_EQ(ln_dfg_maker(dfg, t->name), maker);
            CHECK_EQ(count_dangling(dfg->dangling_ins, ops[i], t->name) > 0, maker == NULL);
            in_ends += maker == NULL;
        }
        LN_LIST_FOREACH (t, ops[i]->op_arg->tensors_out) {
            size_t readers = reader_count(ops, is_in, count, t->name);
            ln_list *nexts = ln_dfg_nexts(dfg, ops[i], t->name);
            CHECK_EQ(ln_list_length(nexts), (int)readers);
            CHECK_PTR_EQ(ln_dfg_next(dfg, ops[i], t->name), nexts ? nexts->data : NULL);
            check_walk(dfg, t->name, nexts);
            ln_list_free(nexts);
            CHECK_EQ(count_dangling(dfg->dangling_outs, ops[i], t->name), readers == 0);
            out_ends += readers == 0;
        }
    }
    CHECK_EQ(dfg->graph->size, nodes);
    CHECK_EQ(ln_hash_size(dfg->node_table), (int)nodes);
    CHECK_EQ(ln_list_length(dfg->dangling_ins), (int)in_ends);
    CHECK_EQ(ln_list_length(dfg->dangling_outs), (int)out_ends);
    CHECK_EQ(ln_dfg_check(dfg), in_ends == 0);
}

#define OP_COUNT 24

// Operator i makes t<i> from two tensors of operators before it, maybe the same one twice.
static void make_ops(test_random *random, ln_op **ops)
{
    for (int i = 0; i < OP_COUNT; i++) {
        char name[32], dst[32], src1[32], src2[32];
        snprintf(name, sizeof name, "op%d", i);
        snprintf(dst, sizeof dst, "t%d", i);
        if (i == 0) {
            ops[i] = test_op(&test_make, name, NULL, NULL, dst);
        } else {
            snprintf(src1, sizeof src1, "t%zu", test_random_below(random, (size_t)i));
            snprintf(src2, sizeof src2, "t%zu", test_random_below(random, (size_t)i));
            ops[i] = test_op(&test_add, name, src1, src2, dst);
        }
        CHECK_NOT_NULL(ops[i]);
    }
}

TEST(random_adding_and_removing_agrees_with_the_lists)
{
    test_random random = test_random_start();
    for (int round = 0; round < 20; round++) {
        ln_op *ops[OP_COUNT];
        int is_in[OP_COUNT] = {0};
        make_ops(&random, ops);
        ln_dfg *dfg = ln_dfg_create();
        for (int step = 0; step < 100; step++) {
            size_t i = test_random_below(&random, OP_COUNT);
            CHECK_OK(is_in[i] ? ln_dfg_remove(dfg, ops[i]) : ln_dfg_add(dfg, ops[i]));
            is_in[i] = !is_in[i];
            check_against_model(dfg, ops, is_in, OP_COUNT);
        }
        ln_dfg_free(dfg);
        for (int i = 0; i < OP_COUNT; i++)
            ln_op_free_lists_too(ops[i]);
    }
}

TEST(links_are_undone_and_redone)
{
    ln_op *make = test_op(&test_make, "make0", NULL, NULL, "x");
    ln_op *add = test_op(&test_add, "add0", "x", "x", "y");
    ln_dfg *dfg = ln_dfg_create();
    CHECK_OK(ln_dfg_add(dfg, add));
    CHECK_OK(ln_dfg_add(dfg, make));
    CHECK_EQ(make ? ((ln_graph_node *)ln_hash_find(dfg->node_table, "make0"))->outdegree : 0, 2);
    ln_list *nexts = ln_dfg_nexts(dfg, make, "x");
    CHECK_EQ(ln_list_length(nexts), 1);
    ln_list_free(nexts);

    CHECK_OK(ln_dfg_unlink(dfg, make, add, "nothing"));
    CHECK_OK(ln_dfg_unlink(dfg, make, add, "x"));
    CHECK_NULL(ln_dfg_next(dfg, make, "x"));
    CHECK_EQ(ln_list_length(dfg->dangling_ins), 2);
    CHECK_EQ(ln_list_length(dfg->dangling_outs), 2);
    CHECK_EQ(ln_dfg_check(dfg), 0);
    CHECK_MESSAGE("'add0' (add) reads tensor 'x'");
    CHECK_OK(ln_dfg_link(dfg, make, add, "x"));
    CHECK_PTR_EQ(ln_dfg_prev(dfg, add, "x"), make);
    CHECK_EQ(ln_dfg_check(dfg), 1);
    CHECK_FAILS(ln_dfg_link(dfg, make, add, "y"), LN_INVALID);
    CHECK_FAILS(ln_dfg_link(dfg, add, add, "y"), LN_INVALID);
    CHECK_FAILS(ln_dfg_link(NULL, make, add, "x"), LN_INVALID);
    ln_dfg_free(dfg);
    ln_op_free_lists_too(make);
    ln_op_free_lists_too(add);
}

TEST(a_name_or_a_tensor_is_there_once)
{
    ln_op *a = test_op(&test_make, "a", NULL, NULL, "x");
    ln_op *same_name = test_op(&test_make, "a", NULL, NULL, "y");
    ln_op *same_tensor = test_op(&test_make, "b", NULL, NULL, "x");
    ln_dfg *dfg = ln_dfg_create();
    CHECK_OK(ln_dfg_add(dfg, a));
    CHECK_FAILS(ln_dfg_add(dfg, same_name), LN_EXISTS);
    CHECK_FAILS(ln_dfg_add(dfg, same_tensor), LN_EXISTS);
    CHECK_MESSAGE("'a' and 'b' both make tensor 'x'");
    CHECK_FAILS(ln_dfg_remove(dfg, same_name), LN_NOT_FOUND);
    CHECK_FAILS(ln_dfg_remove(dfg, NULL), LN_NOT_FOUND);
    CHECK_FAILS(ln_dfg_add(NULL, a), LN_INVALID);
    CHECK_EQ(dfg->graph->size, 1);
    CHECK_EQ(ln_hash_size(dfg->tensors), 1);
    ln_op_free_lists_too(a); // the graph may outlive its operators
    ln_dfg_free(dfg);
    ln_dfg_free(NULL);
    ln_op_free_lists_too(same_name);
    ln_op_free_lists_too(same_tensor);
}

TEST(an_operator_that_reads_what_it_makes_is_found_out)
{
    ln_op *loop = test_op(&test_copy, "loop", "x", NULL, "x");
    ln_dfg *dfg = ln_dfg_create();
    CHECK_OK(ln_dfg_add(dfg, loop));
    CHECK_EQ(ln_dfg_check(dfg), 0);
    CHECK_OK(ln_dfg_remove(dfg, loop));
    CHECK_EQ(ln_hash_size(dfg->tensors), 0);
    CHECK_NULL(dfg->dangling_ins);
    CHECK_NULL(dfg->dangling_outs);
    ln_dfg_free(dfg);
    ln_op_free_lists_too(loop);
}

TEST(printing_shows_edges)
{
    char *text = NULL;
    size_t byte_count = 0;
    ln_op *make = test_op(&test_make, "make0", NULL, NULL, "x");
    ln_op *copy = test_op(&test_copy, "copy0", "x", NULL, "y");
    ln_dfg *dfg = ln_dfg_create();
    CHECK_OK(ln_dfg_add(dfg, make));
    CHECK_OK(ln_dfg_add(dfg, copy));
    FILE *fp = open_memstream(&text, &byte_count);
    ln_dfg_fprint(fp, dfg);
    fclose(fp);
    CHECK_STR_EQ(text, "make0(make)-> --x-copy0(copy)\ncopy0(copy)->\n");
    free(text);
    ln_dfg_free(dfg);
    ln_op_free_lists_too(make);
    ln_op_free_lists_too(copy);
}

TEST(running_out_of_memory_leaves_the_graph_as_it_was)
{
    ln_op *ops[3] = {test_op(&test_make, "op0", NULL, NULL, "x"),
                     test_op(&test_add, "op1", "x", "x", "y"),
                     test_op(&test_add, "op2", "x", "y", "z")};
    OOM_SWEEP(n)
    {
        int is_in[3] = {0};
        ln_dfg *dfg = ln_dfg_create();
        static const int steps[] = {1, 0, 2, 1, 1, 0, 0, 2};
        for (size_t i = 0; dfg && i < sizeof steps / sizeof steps[0]; i++) {
            int k = steps[i];
            ln_status status = is_in[k] ? ln_dfg_remove(dfg, ops[k]) : ln_dfg_add(dfg, ops[k]);
            if (status == LN_OK)
                is_in[k] = !is_in[k];
            size_t refused = oom_n.refused;
            oom_n.allowed += 1000; // looking needs memory, too
            check_against_model(dfg, ops, is_in, 3);
            oom_n.allowed -= 1000;
            oom_n.refused = refused;
        }
        ln_dfg_free(dfg);
    }
    for (int i = 0; i < 3; i++)
        ln_op_free_lists_too(ops[i]);
}

TEST_LIST(random_adding_and_removing_agrees_with_the_lists, links_are_undone_and_redone,
          a_name_or_a_tensor_is_there_once, an_operator_that_reads_what_it_makes_is_found_out,
          printing_shows_edges, running_out_of_memory_leaves_the_graph_as_it_was)
