// SPDX-License-Identifier: Apache-2.0
// The data flow graph.
//
// For each tensor name there is a `flow`: who makes it, how many edges carry it, and its dangling
// ends. So an operator finds its neighbours by name, and dangling ends find their place in the
// documented lists, without a search:
//
//     flow "x":  maker conv1 --x--> relu1      edges: the graph's
//                            --|               dangling out: made, and no edge
//                            |--x--> add1      dangling in: read, and no edge
//
// Changing the graph first allocates all it needs and then commits, which cannot fail.

#include "ir/dfg.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"

typedef struct dangling dangling;
typedef struct flow flow;

struct dangling {
    ln_graph_edge_node edge; // first: the public lists point here
    flow *flow;
    ln_list *place; // the node of the public list
    int is_out;
    dangling *next; // of the flow's waiting readers, or of those not committed yet
};

struct flow {
    ln_graph_node *maker;
    size_t edge_count;
    dangling *out;     // when there is a maker without edges
    dangling *waiting; // readers without edges
    char name[];       // edge data points here
};

// ---- Dangling ends ----

static void dangling_free(dangling *d)
{
    if (!d)
        return;
    if (d->place)
        d->place->next = NULL; // the others belong to other ends
    ln_list_free(d->place);
    ln_free(d);
}

static void chain_free(dangling *chain)
{
    while (chain) {
        dangling *next = chain->next;
        dangling_free(chain);
        chain = next;
    }
}

// Puts a new end in front of `chain`, not yet committed.
static ln_status chain_push(dangling **chain, flow *f, ln_graph_node *node, int is_out)
{
    dangling *d = ln_alloc(sizeof *d);
    if (!d || ln_list_push(&d->place, d) != LN_OK) {
        ln_free(d);
        return LN_NO_MEMORY;
    }
    d->edge = (ln_graph_edge_node){.edge_data = f->name, .node = node};
    d->flow = f;
    d->is_out = is_out;
    d->next = *chain;
    *chain = d;
    return LN_OK;
}

static ln_list **list_of(ln_dfg *dfg, const dangling *d)
{
    return d->is_out ? &dfg->dangling_outs : &dfg->dangling_ins;
}

// Commits a chain: each end goes to its flow and to its public list.
static void chain_commit(ln_dfg *dfg, dangling *chain)
{
    while (chain) {
        dangling *d = chain;
        chain = d->next;
        if (d->is_out) {
            d->next = NULL;
            d->flow->out = d;
        } else {
            d->next = d->flow->waiting;
            d->flow->waiting = d;
        }
        ln_list **list = list_of(dfg, d);
        d->place->next = *list;
        *list = d->place;
    }
}

// Takes an end out of its public list and frees it; its flow has let go of it. The first end of the
// list moves to its place, since a list that is linked one way gives up only its first node
// quickly.
static void drop(ln_dfg *dfg, dangling *d)
{
    ln_list **list = list_of(dfg, d);
    ln_list *first = *list;
    dangling *moved = first->data;
    d->place->data = moved;
    moved->place = d->place;
    *list = first->next;
    first->next = NULL;
    d->place = first;
    dangling_free(d);
}

static void drop_out(ln_dfg *dfg, flow *f)
{
    if (f->out)
        drop(dfg, f->out);
    f->out = NULL;
}

// Drops the first end at which `node` waits, or the first of all if it is NULL. 0 if there is none.
static int drop_waiting(ln_dfg *dfg, flow *f, const ln_graph_node *node)
{
    for (dangling **link = &f->waiting; *link; link = &(*link)->next) {
        dangling *d = *link;
        if (node && d->edge.node != node)
            continue;
        *link = d->next;
        drop(dfg, d);
        return 1;
    }
    return 0;
}

// ---- Flows ----

static flow *find_flow(const ln_dfg *dfg, const char *tname)
{
    return tname ? ln_hash_find(dfg->tensors, tname) : NULL;
}

static void flow_free(flow *f)
{
    if (!f)
        return;
    dangling_free(f->out);
    chain_free(f->waiting);
    ln_free(f);
}

static flow *get_flow(ln_dfg *dfg, const char *tname)
{
    flow *f = find_flow(dfg, tname);
    if (f)
        return f;
    size_t byte_count = strlen(tname) + 1;
    f = ln_alloc(sizeof *f + byte_count);
    if (!f)
        return NULL;
    memcpy(f->name, tname, byte_count);
    if (ln_hash_insert(dfg->tensors, f->name, f) < 0) {
        flow_free(f);
        return NULL;
    }
    return f;
}

static void forget_if_unused(ln_dfg *dfg, const char *tname)
{
    flow *f = find_flow(dfg, tname);
    if (!f || f->maker || f->waiting)
        return;
    ln_hash_remove(dfg->tensors, f->name);
    flow_free(f);
}

static void forget_unused(ln_dfg *dfg, const ln_op_arg *arg)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, arg->tensors_in)
        forget_if_unused(dfg, listed->name);
    LN_LIST_FOREACH (listed, arg->tensors_out)
        forget_if_unused(dfg, listed->name);
}

// ---- Life ----

ln_dfg *ln_dfg_create(void)
{
    ln_dfg *dfg = ln_alloc(sizeof *dfg);
    if (!dfg)
        return NULL;
    dfg->graph = ln_graph_create(NULL, ln_str_cmp);
    dfg->node_table = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    dfg->tensors = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!dfg->graph || !dfg->node_table || !dfg->tensors) {
        ln_dfg_free(dfg);
        return NULL;
    }
    return dfg;
}

void ln_dfg_clear(ln_dfg *dfg)
{
    size_t cursor = 0;
    const void *key;
    void *value;
    while (ln_hash_next(dfg->tensors, &cursor, &key, &value)) {
        ln_hash_remove(dfg->tensors, key);
        flow_free(value);
    }
    // The list nodes were freed with the ends they held.
    dfg->dangling_ins = NULL;
    dfg->dangling_outs = NULL;
    cursor = 0;
    while (ln_hash_next(dfg->node_table, &cursor, &key, NULL))
        ln_hash_remove(dfg->node_table, key);
    while (dfg->graph->nodes)
        ln_graph_remove_node(dfg->graph, dfg->graph->nodes->data);
}

void ln_dfg_free(ln_dfg *dfg)
{
    if (!dfg)
        return;
    // Operators may be gone already, so nothing here looks at their names.
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(dfg->tensors, &cursor, NULL, &value))
        flow_free(value);
    ln_graph_free(dfg->graph);
    ln_hash_free(dfg->node_table);
    ln_hash_free(dfg->tensors);
    ln_free(dfg);
}

// ---- Adding ----

static ln_graph_node *find_node(const ln_dfg *dfg, const ln_op *op)
{
    if (!dfg || !op || !op->op_arg || !op->op_arg->name)
        return NULL;
    ln_graph_node *node = ln_hash_find(dfg->node_table, op->op_arg->name);
    return node && node->data == op ? node : NULL;
}

static ln_status prepare_in(ln_dfg *dfg, ln_graph_node *node, const char *tname, dangling **fresh)
{
    flow *f = get_flow(dfg, tname);
    if (!f)
        return LN_NO_MEMORY;
    if (f->maker)
        return ln_graph_link_node(dfg->graph, f->maker, node, f->name);
    return chain_push(fresh, f, node, 0);
}

static ln_status prepare_out(ln_dfg *dfg, ln_graph_node *node, const char *tname, dangling **fresh)
{
    flow *f = get_flow(dfg, tname);
    if (!f)
        return LN_NO_MEMORY;
    if (f->maker)
        return LN_FAIL(LN_EXISTS, "operators '%s' and '%s' both make tensor '%s'",
                       ((const ln_op *)f->maker->data)->op_arg->name,
                       ((const ln_op *)node->data)->op_arg->name, tname);
    f->maker = node;
    for (const dangling *d = f->waiting; d; d = d->next)
        LN_TRY(ln_graph_link_node(dfg->graph, node, d->edge.node, f->name));
    return f->waiting ? LN_OK : chain_push(fresh, f, node, 1);
}

// Makes edges and new dangling ends, and leaves everything else as it is.
static ln_status prepare(ln_dfg *dfg, ln_graph_node *node, const ln_op_arg *arg, dangling **fresh)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, arg->tensors_in)
        LN_TRY(prepare_in(dfg, node, listed->name, fresh));
    LN_LIST_FOREACH (listed, arg->tensors_out)
        LN_TRY(prepare_out(dfg, node, listed->name, fresh));
    return LN_OK;
}

// Takes back what `prepare` did, as far as it came.
static void take_back(ln_dfg *dfg, ln_graph_node *node, const ln_op_arg *arg, dangling *fresh)
{
    chain_free(fresh);
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, arg->tensors_out) {
        flow *f = find_flow(dfg, listed->name);
        if (f && f->maker == node)
            f->maker = NULL;
    }
    ln_graph_remove_node(dfg->graph, node);
    ln_hash_remove(dfg->node_table, arg->name);
    forget_unused(dfg, arg);
}

static void commit(ln_dfg *dfg, const ln_graph_node *node, const ln_op_arg *arg, dangling *fresh)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, arg->tensors_in) {
        flow *f = find_flow(dfg, listed->name);
        if (!f->maker || f->maker == node)
            continue; // an operator that reads what it makes waits for ever
        f->edge_count++;
        drop_out(dfg, f);
    }
    LN_LIST_FOREACH (listed, arg->tensors_out) {
        flow *f = find_flow(dfg, listed->name);
        while (drop_waiting(dfg, f, NULL))
            f->edge_count++;
    }
    chain_commit(dfg, fresh);
}

ln_status ln_dfg_add(ln_dfg *dfg, ln_op *op)
{
    if (!dfg || !op || !op->op_arg || !op->op_arg->name)
        return LN_FAIL(LN_INVALID, "no data flow graph, or no operator with a name to add");
    const ln_op_arg *arg = op->op_arg;
    if (ln_hash_find(dfg->node_table, arg->name))
        return LN_FAIL(LN_EXISTS, "the data flow graph has an operator '%s' already", arg->name);
    ln_graph_node *node = ln_graph_add(dfg->graph, op);
    if (!node)
        return LN_NO_MEMORY;
    dangling *fresh = NULL;
    ln_status status = ln_hash_insert(dfg->node_table, arg->name, node) < 0
                           ? ln_error_status()
                           : prepare(dfg, node, arg, &fresh);
    if (status != LN_OK) {
        take_back(dfg, node, arg, fresh);
        return status;
    }
    commit(dfg, node, arg, fresh);
    return LN_OK;
}

// ---- Removing ----

// Counts the edges of `node` off their flows, and makes the ends that their other sides get.
// *counted receives how many in-edges were counted off.
static ln_status prepare_removal(ln_dfg *dfg, ln_graph_node *node, size_t *counted,
                                 dangling **fresh)
{
    const ln_graph_edge_node *edge;
    *counted = 0;
    LN_LIST_FOREACH (edge, node->in_edge_nodes) {
        flow *f = find_flow(dfg, edge->edge_data);
        ++*counted;
        if (--f->edge_count == 0)
            LN_TRY(chain_push(fresh, f, f->maker, 1));
    }
    LN_LIST_FOREACH (edge, node->out_edge_nodes)
        LN_TRY(chain_push(fresh, find_flow(dfg, edge->edge_data), edge->node, 0));
    return LN_OK;
}

static void take_back_removal(const ln_dfg *dfg, const ln_graph_node *node, size_t counted,
                              dangling *fresh)
{
    chain_free(fresh);
    const ln_graph_edge_node *edge;
    LN_LIST_FOREACH (edge, node->in_edge_nodes) {
        if (counted == 0)
            return;
        counted--;
        find_flow(dfg, edge->edge_data)->edge_count++;
    }
}

static void commit_removal(ln_dfg *dfg, ln_graph_node *node, const ln_op_arg *arg, dangling *fresh)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, arg->tensors_in)
        drop_waiting(dfg, find_flow(dfg, listed->name), node);
    LN_LIST_FOREACH (listed, arg->tensors_out) {
        flow *f = find_flow(dfg, listed->name);
        drop_out(dfg, f);
        f->maker = NULL;
        f->edge_count = 0;
    }
    ln_graph_remove_node(dfg->graph, node);
    ln_hash_remove(dfg->node_table, arg->name);
    chain_commit(dfg, fresh);
    forget_unused(dfg, arg);
}

ln_status ln_dfg_remove(ln_dfg *dfg, ln_op *op)
{
    ln_graph_node *node = find_node(dfg, op);
    if (!node)
        return LN_FAIL(LN_NOT_FOUND, "operator '%s' is not in the data flow graph",
                       op && op->op_arg && op->op_arg->name ? op->op_arg->name : "(null)");
    dangling *fresh = NULL;
    size_t counted;
    ln_status status = prepare_removal(dfg, node, &counted, &fresh);
    if (status != LN_OK) {
        take_back_removal(dfg, node, counted, fresh);
        return status;
    }
    commit_removal(dfg, node, op->op_arg, fresh);
    return LN_OK;
}

// ---- Single links ----

// The flow of `tname` if `op1` makes it and `op2` reads it, both in the graph.
static flow *find_flow_between(const ln_dfg *dfg, const ln_op *op1, const ln_op *op2,
                               const char *tname)
{
    const ln_graph_node *maker = find_node(dfg, op1);
    if (!maker || !find_node(dfg, op2) || op1 == op2 ||
        !ln_tensor_list_find_by_name(op2->op_arg->tensors_in, tname))
        return NULL;
    flow *f = find_flow(dfg, tname);
    return f && f->maker == maker ? f : NULL;
}

static int is_waiting(const flow *f, const ln_graph_node *node)
{
    const dangling *d = f->waiting;
    while (d && d->edge.node != node)
        d = d->next;
    return d != NULL;
}

ln_status ln_dfg_link(ln_dfg *dfg, ln_op *op1, ln_op *op2, const char *tname)
{
    flow *f = find_flow_between(dfg, op1, op2, tname);
    if (!f)
        return LN_FAIL(LN_INVALID,
                       "cannot link: tensor '%s' does not lead from one operator of the "
                       "data flow graph to another",
                       tname ? tname : "(null)");
    ln_graph_node *reader = find_node(dfg, op2);
    while (is_waiting(f, reader)) {
        LN_TRY(ln_graph_link_node(dfg->graph, f->maker, reader, f->name));
        drop_waiting(dfg, f, reader);
        drop_out(dfg, f);
        f->edge_count++;
    }
    return LN_OK;
}

static int has_edge(const flow *f, const ln_graph_node *reader)
{
    const ln_graph_edge_node *edge;
    LN_LIST_FOREACH (edge, reader->in_edge_nodes) {
        if (edge->edge_data == f->name)
            return 1;
    }
    return 0;
}

ln_status ln_dfg_unlink(ln_dfg *dfg, ln_op *op1, ln_op *op2, const char *tname)
{
    flow *f = find_flow_between(dfg, op1, op2, tname);
    ln_graph_node *reader = find_node(dfg, op2);
    while (f && has_edge(f, reader)) {
        dangling *fresh = NULL;
        ln_status status = chain_push(&fresh, f, reader, 0);
        if (status == LN_OK && f->edge_count == 1)
            status = chain_push(&fresh, f, f->maker, 1);
        if (status != LN_OK) {
            chain_free(fresh);
            return status;
        }
        ln_graph_unlink_node(f->maker, reader, f->name);
        f->edge_count--;
        chain_commit(dfg, fresh);
    }
    return LN_OK;
}

// ---- Questions ----

ln_op *ln_dfg_maker(const ln_dfg *dfg, const char *tname)
{
    const flow *f = find_flow(dfg, tname);
    return f && f->maker ? f->maker->data : NULL;
}

ln_dfg_readers ln_dfg_find_readers(const ln_dfg *dfg, const char *tname)
{
    const flow *f = find_flow(dfg, tname);
    if (!f || !f->maker)
        return (ln_dfg_readers){0};
    return (ln_dfg_readers){.tname = f->name, .edges = f->maker->out_edge_nodes};
}

ln_op *ln_dfg_next_reader(ln_dfg_readers *readers)
{
    while (readers->edges) {
        const ln_graph_edge_node *edge = readers->edges->data;
        readers->edges = readers->edges->next;
        if (edge->edge_data == readers->tname)
            return edge->node->data;
    }
    return NULL;
}

ln_status ln_dfg_list_readers(const ln_dfg *dfg, const char *tname, ln_list **out_readers)
{
    *out_readers = NULL;
    ln_list_builder listed = {0};
    ln_dfg_readers readers = ln_dfg_find_readers(dfg, tname);
    ln_op *reader;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        // An operator that reads a tensor twice has its edges one after the other.
        if (listed.last && listed.last->data == reader)
            continue;
        if (ln_list_builder_push(&listed, reader) != LN_OK) {
            ln_list_free(listed.list);
            return LN_NO_MEMORY;
        }
    }
    *out_readers = listed.list;
    return LN_OK;
}

// The maker's node if `op` makes `tname`; else NULL.
static const ln_graph_node *find_maker(const ln_dfg *dfg, const ln_op *op, const char *tname,
                                       const flow **out_flow)
{
    const ln_graph_node *node = find_node(dfg, op);
    *out_flow = node ? find_flow(dfg, tname) : NULL;
    return *out_flow && (*out_flow)->maker == node ? node : NULL;
}

ln_op *ln_dfg_next(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const flow *f;
    const ln_graph_node *maker = find_maker(dfg, op, tname, &f);
    const ln_graph_edge_node *edge;
    LN_LIST_FOREACH (edge, maker ? maker->out_edge_nodes : NULL) {
        if (edge->edge_data == f->name)
            return edge->node->data;
    }
    return NULL;
}

ln_list *ln_dfg_nexts(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const flow *f;
    ln_list *readers = NULL;
    if (!find_maker(dfg, op, tname, &f) || ln_dfg_list_readers(dfg, tname, &readers) != LN_OK)
        return NULL;
    return readers;
}

ln_op *ln_dfg_prev(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const ln_graph_node *node = find_node(dfg, op);
    const flow *f = node ? find_flow(dfg, tname) : NULL;
    return f && f->maker && has_edge(f, node) ? f->maker->data : NULL;
}

int ln_dfg_check(const ln_dfg *dfg)
{
    if (!dfg) {
        ln_fail(LN_INVALID, "no data flow graph to check");
        return 0;
    }
    if (!dfg->dangling_ins)
        return 1;
    const ln_graph_edge_node *edge = dfg->dangling_ins->data;
    const ln_op *op = edge->node->data;
    ln_fail(LN_INVALID, "operator '%s' (%s) reads tensor '%s', which no operator makes",
            op->op_arg->name, op->op_arg->optype, (const char *)edge->edge_data);
    return 0;
}

static void print_op(FILE *fp, const void *data)
{
    const ln_op *op = data;
    fprintf(fp, "%s(%s)", op->op_arg->name, op->op_arg->optype);
}

static void print_tensor_name(FILE *fp, const void *name)
{
    fputs(name, fp);
}

void ln_dfg_fprint(FILE *fp, const ln_dfg *dfg)
{
    if (fp && dfg)
        ln_graph_fprint(fp, dfg->graph, print_op, print_tensor_name);
}

void ln_dfg_print(const ln_dfg *dfg)
{
    ln_dfg_fprint(stdout, dfg);
}
