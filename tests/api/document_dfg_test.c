// SPDX-License-Identifier: Apache-2.0
// The data flow graph as the data structure document writes its calls.

#include <lightnet/lightnet.h>

#include "tests/test.h"

#include <stdlib.h>

static const char *src_names[] = {"src", NULL};
static const char *dst_names[] = {"dst", NULL};
static const char *no_names[] = {NULL};

static ln_op_arg op_arg_step = {
    .optype = "step",
    .arch = "none",
    .in_arg_names = src_names,
    .out_arg_names = dst_names,
    .param_arg_names = no_names,
};

static ln_op step = {.op_arg = &op_arg_step};

static ln_op *new_step(const char *name, const char *src, const char *dst, ln_hash *tensor_table)
{
    ln_list *tensors_in = src ? ln_tensor_list_append(NULL, "src", src) : NULL;
    ln_list *tensors_out = dst ? ln_tensor_list_append(NULL, "dst", dst) : NULL;
    return ln_op_create_from_proto(&step, name, tensors_in, tensors_out, NULL, tensor_table);
}

TEST(nodes_link_by_their_tensors)
{
    ln_hash *tensor_table = ln_tensor_table_create();
    ln_op *a = new_step("a", NULL, "x", tensor_table);
    ln_op *b = new_step("b", "x", "y", tensor_table);
    ln_op *c = new_step("c", "x", "z", tensor_table);
    ln_dfg *dfg = ln_dfg_create();
    CHECK_EQ(dfg->graph->size, 0);
    ln_dfg_add(dfg, b);
    CHECK_EQ(ln_dfg_check(dfg) == 0, ln_list_length(dfg->dangling_ins) > 0);
    CHECK_EQ(ln_list_length(dfg->dangling_ins), 1);
    ln_dfg_add(dfg, a);
    ln_dfg_add(dfg, c);
    CHECK_EQ(ln_list_length(dfg->dangling_ins), 0);
    CHECK_EQ(ln_list_length(dfg->dangling_outs), 2);
    CHECK_EQ(ln_hash_size(dfg->node_table), 3);
    CHECK(ln_dfg_check(dfg));

    const ln_dfg *read_only = dfg;
    const ln_op *first = a;
    CHECK_PTR_EQ(ln_dfg_prev(read_only, b, "x"), a);
    CHECK_NULL(ln_dfg_prev(read_only, first, "x"));
    ln_op *next = ln_dfg_next(read_only, first, "x");
    CHECK(next == b || next == c);
    ln_list *nexts = ln_dfg_nexts(read_only, first, "x");
    CHECK_EQ(ln_list_length(nexts), 2);
    ln_list_free(nexts);
    CHECK_NULL(ln_dfg_nexts(read_only, b, "y"));

    ln_dfg_unlink(dfg, a, c, "no such tensor");
    ln_dfg_unlink(dfg, a, c, "x");
    CHECK_PTR_EQ(ln_dfg_next(dfg, a, "x"), b);
    ln_dfg_link(dfg, a, c, "x");
    CHECK_PTR_EQ(ln_dfg_prev(dfg, c, "x"), a);

    char *text;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    ln_dfg_fprint(fp, read_only);
    fclose(fp);
    CHECK(size > 0);
    free(text);
    ln_dfg_print(read_only);

    ln_dfg_remove(dfg, a);
    CHECK_EQ(ln_hash_size(dfg->node_table), 2);
    CHECK_EQ(ln_list_length(dfg->dangling_ins), 2);
    CHECK_EQ(dfg->graph->size, 2);
    ln_dfg_free(dfg);
    ln_op_free_lists_too(a);
    ln_op_free_lists_too(b);
    ln_op_free_lists_too(c);
    ln_tensor_table_free(tensor_table);
}

TEST_LIST(nodes_link_by_their_tensors)
