// SPDX-License-Identifier: Apache-2.0
// The directed graph: adjacency lists, and two topological orders after Kahn.
//
// Both orders count, in an array beside the graph, the predecessors of each node that are still to
// come. A node is ready when its count reaches 0; parallel edges count once each on both sides, so
// a node becomes ready once.

#include <lightnet/graph.h>

#include <stddef.h>
#include <stdint.h>

#include <lightnet/allocator.h>
#include <lightnet/hash.h>

#define SPARE_INDEXES 16

static int matches(const void *data, const void *wanted, ln_cmp_func cmp)
{
    return cmp ? cmp(data, wanted) == 0 : data == wanted;
}

// ---- Lists that know their last node ----

// Appends `node`, a list of one element.
static void append_node(ln_list **list, ln_list **last, ln_list *node)
{
    if (*last)
        (*last)->next = node;
    else
        *list = node;
    *last = node;
}

static ln_status append(ln_list **list, ln_list **last, void *data)
{
    ln_list_builder builder = {.list = *list, .last = *last};
    LN_TRY(ln_list_builder_push(&builder, data));
    *list = builder.list;
    *last = builder.last;
    return LN_OK;
}

// Takes out the element after `previous`, or the first one if that is NULL.
static void take_after(ln_list **list, ln_list **last, ln_list *previous)
{
    ln_list **link = previous ? &previous->next : list;
    if (*last == *link)
        *last = previous;
    *link = ln_list_remove_nth(*link, 0);
}

// ---- Edges ----

// An end of an edge, with its place in the list of its node. It knows the one before it, so that an
// edge goes in no time, however many there are.
typedef struct edge_end {
    ln_list place; // its data is `edge_node`
    ln_graph_edge_node edge_node;
    struct edge_end *before;
} edge_end;

typedef struct edge_pair {
    edge_end out; // first; in the list of the node that it leaves
    edge_end in;  // in the list of the node that it enters
} edge_pair;

static edge_pair *edge_of_out(ln_list *place)
{
    return (edge_pair *)place;
}

static edge_pair *edge_of_in(ln_list *place)
{
    return (edge_pair *)((char *)place - offsetof(edge_pair, in));
}

static edge_pair *edge_create(ln_graph_node *from, ln_graph_node *to, void *data, ln_cmp_func cmp)
{
    edge_pair *e = ln_alloc(sizeof *e);
    if (!e)
        return NULL;
    e->out.edge_node = (ln_graph_edge_node){.edge_data = data, .node = to, .edge_data_cmp = cmp};
    e->in.edge_node = (ln_graph_edge_node){.edge_data = data, .node = from, .edge_data_cmp = cmp};
    e->out.place.data = &e->out.edge_node;
    e->in.place.data = &e->in.edge_node;
    return e;
}

static void append_end(ln_list **list, ln_list **last, edge_end *end)
{
    end->before = (edge_end *)*last;
    append_node(list, last, &end->place);
}

static void take_end(ln_list **list, ln_list **last, const edge_end *end)
{
    ln_list *next = end->place.next;
    *(end->before ? &end->before->place.next : list) = next;
    if (next)
        ((edge_end *)next)->before = end->before;
    else
        *last = (ln_list *)end->before;
}

// ---- Nodes and edges outside a graph ----

static void free_edge_node(void *edge_node)
{
    ln_graph_edge_node_free(edge_node);
}

ln_graph_node *ln_graph_node_create(void *data, ln_cmp_func node_data_cmp)
{
    ln_graph_node *node = ln_alloc(sizeof *node);
    if (!node)
        return NULL;
    node->data = data;
    node->node_data_cmp = node_data_cmp;
    return node;
}

void ln_graph_node_free(ln_graph_node *node)
{
    if (!node)
        return;
    ln_list_free_deep(node->out_edge_nodes, free_edge_node);
    ln_list_free_deep(node->in_edge_nodes, free_edge_node);
    ln_free(node);
}

ln_graph_edge_node *ln_graph_edge_node_create(void *edge_data, ln_graph_node *node,
                                              ln_cmp_func edge_data_cmp)
{
    ln_graph_edge_node *edge_node = ln_alloc(sizeof *edge_node);
    if (!edge_node)
        return NULL;
    edge_node->edge_data = edge_data;
    edge_node->node = node;
    edge_node->edge_data_cmp = edge_data_cmp;
    return edge_node;
}

void ln_graph_edge_node_free(ln_graph_edge_node *edge_node)
{
    ln_free(edge_node);
}

// ---- Life ----

ln_graph *ln_graph_create(ln_cmp_func node_cmp, ln_cmp_func edge_cmp)
{
    ln_graph *graph = ln_alloc(sizeof *graph);
    if (!graph)
        return NULL;
    graph->node_data_cmp = node_cmp;
    graph->edge_data_cmp = edge_cmp;
    return graph;
}

static void free_out_edges(ln_graph_node *node)
{
    for (ln_list *l = node->out_edge_nodes, *next; l; l = next) {
        next = l->next;
        ln_free(edge_of_out(l));
    }
    node->out_edge_nodes = node->in_edge_nodes = NULL;
}

// The edges that enter go with the nodes that they leave.
static void free_node(void *node)
{
    free_out_edges(node);
    ln_graph_node_free(node);
}

void ln_graph_free(ln_graph *graph)
{
    if (!graph)
        return;
    ln_list_free_deep(graph->nodes, free_node);
    ln_free(graph);
}

// Copies the edges that leave `old`, as far as their own end; `copies` receives old edge -> copy.
static ln_status copy_outs(const ln_graph_node *old, ln_graph_node *const *nodes, ln_hash *copies)
{
    ln_graph_node *node = nodes[old->index];
    for (ln_list *l = old->out_edge_nodes; l; l = l->next) {
        const ln_graph_edge_node *end = l->data;
        edge_pair *e =
            edge_create(node, nodes[end->node->index], end->edge_data, end->edge_data_cmp);
        if (!e)
            return LN_NO_MEMORY;
        append_end(&node->out_edge_nodes, &node->last_out, &e->out);
        if (ln_hash_insert(copies, edge_of_out(l), e) < 0)
            return ln_error_status();
    }
    node->outdegree = old->outdegree;
    return LN_OK;
}

static void copy_ins(const ln_graph_node *old, ln_graph_node *const *nodes, const ln_hash *copies)
{
    ln_graph_node *node = nodes[old->index];
    for (ln_list *l = old->in_edge_nodes; l; l = l->next) {
        edge_pair *e = ln_hash_find(copies, edge_of_in(l));
        append_end(&node->in_edge_nodes, &node->last_in, &e->in);
    }
    node->indegree = old->indegree;
}

// Fills `copy`, which has no nodes yet. `nodes` has room for all of them.
static ln_status copy_nodes(const ln_graph *graph, ln_graph *copy, ln_graph_node **nodes,
                            ln_hash *copies)
{
    const ln_graph_node *old;
    LN_LIST_FOREACH (old, graph->nodes) {
        ln_graph_node *node = ln_graph_add(copy, old->data);
        if (!node)
            return LN_NO_MEMORY;
        node->node_data_cmp = old->node_data_cmp;
        nodes[old->index] = node;
    }
    LN_LIST_FOREACH (old, graph->nodes)
        LN_TRY(copy_outs(old, nodes, copies));
    LN_LIST_FOREACH (old, graph->nodes)
        copy_ins(old, nodes, copies);
    return LN_OK;
}

static uint32_t hash_address(const void *address)
{
    uintptr_t bits = (uintptr_t)address;
    return (uint32_t)(bits ^ bits >> 16 >> 16);
}

static int compare_addresses(const void *a, const void *b)
{
    return a != b;
}

ln_graph *ln_graph_copy(const ln_graph *graph)
{
    if (!graph)
        return NULL;
    ln_graph *copy = ln_graph_create(graph->node_data_cmp, graph->edge_data_cmp);
    ln_graph_node **nodes = ln_alloc_array(graph->index_end, sizeof(ln_graph_node *));
    ln_hash *copies = ln_hash_create(hash_address, compare_addresses, NULL, NULL);
    if (!copy || !nodes || !copies || copy_nodes(graph, copy, nodes, copies) != LN_OK) {
        ln_graph_free(copy);
        copy = NULL;
    }
    ln_hash_free(copies);
    ln_free(nodes);
    return copy;
}

// ---- Nodes ----

ln_graph_node *ln_graph_add(ln_graph *graph, void *data)
{
    if (!graph) {
        ln_fail(LN_INVALID, "no graph to add a node to");
        return NULL;
    }
    ln_graph_node *node = ln_graph_node_create(data, graph->node_data_cmp);
    if (!node)
        return NULL;
    ln_graph_node *previous = graph->last_node ? graph->last_node->data : NULL;
    if (append(&graph->nodes, &graph->last_node, node) != LN_OK) {
        ln_graph_node_free(node);
        return NULL;
    }
    node->graph = graph;
    node->previous = previous;
    node->place = graph->last_node;
    node->index = graph->index_end++;
    graph->size++;
    return node;
}

ln_graph_node *ln_graph_find(const ln_graph *graph, const void *data)
{
    if (!graph)
        return NULL;
    ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes) {
        if (matches(node->data, data, graph->node_data_cmp))
            return node;
    }
    return NULL;
}

static void take_edge(edge_pair *e)
{
    ln_graph_node *from = e->in.edge_node.node, *to = e->out.edge_node.node;
    take_end(&from->out_edge_nodes, &from->last_out, &e->out);
    take_end(&to->in_edge_nodes, &to->last_in, &e->in);
    from->outdegree--;
    to->indegree--;
    ln_free(e);
}

void *ln_graph_remove(ln_graph *graph, const void *data)
{
    ln_graph_node *node = ln_graph_find(graph, data);
    if (!node) {
        ln_fail(LN_NOT_FOUND, "the graph has no such node to remove");
        return NULL;
    }
    return ln_graph_remove_node(graph, node);
}

// Removing leaves gaps; closing them when they are half of all costs each removal O(1) on average.
static void close_index_gaps(ln_graph *graph)
{
    graph->index_end = 0;
    ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes)
        node->index = graph->index_end++;
}

void *ln_graph_remove_node(ln_graph *graph, ln_graph_node *node)
{
    if (!graph || !node || node->graph != graph) {
        ln_fail(LN_INVALID, "the node to remove is not in the graph");
        return NULL;
    }
    while (node->out_edge_nodes)
        take_edge(edge_of_out(node->out_edge_nodes));
    while (node->in_edge_nodes)
        take_edge(edge_of_in(node->in_edge_nodes));

    if (node->place->next)
        ((ln_graph_node *)node->place->next->data)->previous = node->previous;
    take_after(&graph->nodes, &graph->last_node, node->previous ? node->previous->place : NULL);
    graph->size--;
    if (graph->index_end > 2 * graph->size + SPARE_INDEXES)
        close_index_gaps(graph);

    void *data = node->data;
    ln_graph_node_free(node);
    return data;
}

// ---- Linking ----

ln_status ln_graph_link(ln_graph *graph, const void *data1, const void *data2, void *edge_data)
{
    if (!graph)
        return LN_FAIL(LN_INVALID, "no graph to link nodes in");
    ln_graph_node *node1 = ln_graph_find(graph, data1);
    ln_graph_node *node2 = ln_graph_find(graph, data2);
    if (!node1 || !node2)
        return LN_FAIL(LN_NOT_FOUND, "the graph has no such node to link %s",
                       node1 ? "to" : "from");
    return ln_graph_link_node(graph, node1, node2, edge_data);
}

ln_status ln_graph_link_node(ln_graph *graph, ln_graph_node *node1, ln_graph_node *node2,
                             void *edge_data)
{
    if (!graph || !node1 || !node2 || node1->graph != graph || node2->graph != graph)
        return LN_FAIL(LN_INVALID, "a node to link is not in the graph");

    edge_pair *e = edge_create(node1, node2, edge_data, graph->edge_data_cmp);
    if (!e)
        return LN_NO_MEMORY;
    append_end(&node1->out_edge_nodes, &node1->last_out, &e->out);
    append_end(&node2->in_edge_nodes, &node2->last_in, &e->in);
    node1->outdegree++;
    node2->indegree++;
    return LN_OK;
}

void *ln_graph_unlink(ln_graph *graph, const void *data1, const void *data2, const void *edge_data)
{
    ln_graph_node *node1 = ln_graph_find(graph, data1);
    ln_graph_node *node2 = ln_graph_find(graph, data2);
    if (!node1 || !node2) {
        ln_fail(LN_NOT_FOUND, "the graph has no such node to unlink %s", node1 ? "to" : "from");
        return NULL;
    }
    return ln_graph_unlink_node(node1, node2, edge_data);
}

void *ln_graph_unlink_node(ln_graph_node *node1, ln_graph_node *node2, const void *edge_data)
{
    if (!node1 || !node2) {
        ln_fail(LN_INVALID, "no node to unlink");
        return NULL;
    }
    for (ln_list *l = node1->out_edge_nodes; l; l = l->next) {
        const ln_graph_edge_node *end = l->data;
        if (end->node != node2)
            continue;
        if (edge_data && !matches(end->edge_data, edge_data, end->edge_data_cmp))
            continue;
        void *data = end->edge_data;
        take_edge(edge_of_out(l));
        return data;
    }
    ln_fail(LN_NOT_FOUND, "the graph has no such edge to unlink");
    return NULL;
}

// ---- Questions ----

int ln_graph_num_outlier(const ln_graph *graph)
{
    if (!graph)
        return 0;
    int count = 0;
    const ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes) {
        if (node->indegree == 0 && node->outdegree == 0)
            count++;
    }
    return count;
}

// The indegree of each node by index, to be freed by the caller; NULL when memory is gone.
static size_t *copy_indegrees(const ln_graph *graph)
{
    size_t *indegrees = ln_alloc_array(graph->index_end, sizeof *indegrees);
    if (!indegrees)
        return NULL;
    const ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes)
        indegrees[node->index] = node->indegree;
    return indegrees;
}

static ln_status fail_cycle(const ln_graph *graph, size_t sorted_count)
{
    return LN_FAIL(LN_INVALID, "the graph has a cycle: %zu of %zu nodes are in it or after it",
                   graph->size - sorted_count, graph->size);
}

// Appends to `ready` the nodes that wait for nothing once `node` is done.
static ln_status release_nexts(const ln_graph_node *node, size_t *pending, ln_list_builder *ready)
{
    const ln_graph_edge_node *edge;
    LN_LIST_FOREACH (edge, node->out_edge_nodes) {
        if (--pending[edge->node->index] == 0)
            LN_TRY(ln_list_builder_push(ready, edge->node));
    }
    return LN_OK;
}

// Puts the layers one after the other in `layers`. On failure they are the caller's to free, too.
static ln_status sort_layers(const ln_graph *graph, size_t *pending, ln_list_builder *layers)
{
    ln_list_builder layer = {0};
    ln_status status = LN_OK;
    ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes) {
        if (status == LN_OK && node->indegree == 0)
            status = ln_list_builder_push(&layer, node);
    }
    size_t sorted_count = 0;
    while (status == LN_OK && layer.list) {
        status = ln_list_builder_push(layers, layer.list);
        if (status != LN_OK)
            break;
        const ln_list *done = layer.list;
        layer = (ln_list_builder){0};
        LN_LIST_FOREACH (node, done) {
            sorted_count++;
            if (status == LN_OK)
                status = release_nexts(node, pending, &layer);
        }
    }
    ln_list_free(layer.list);
    LN_TRY(status);
    return sorted_count == graph->size ? LN_OK : fail_cycle(graph, sorted_count);
}

int ln_graph_topsort(const ln_graph *graph, ln_list **layers)
{
    if (layers)
        *layers = NULL;
    if (!graph || !layers) {
        ln_fail(LN_INVALID, "no graph to sort or no place for the layers");
        return -1;
    }
    size_t *pending = copy_indegrees(graph);
    ln_list_builder sorted = {0};
    if (!pending || sort_layers(graph, pending, &sorted) != LN_OK) {
        ln_free(pending);
        ln_graph_free_topsortlist(sorted.list);
        return -1;
    }
    ln_free(pending);
    *layers = sorted.list;
    return ln_list_length(sorted.list);
}

static void free_layer(void *layer)
{
    ln_list_free(layer);
}

void ln_graph_free_topsortlist(ln_list *layers)
{
    ln_list_free_deep(layers, free_layer);
}

// Appends all nodes to `order`. `stack` has room for all of them.
static ln_status walk_depth_first(const ln_graph *graph, size_t *pending, ln_graph_node **stack,
                                  ln_list_builder *order)
{
    size_t stacked_count = 0;
    size_t done_count = 0;
    ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes) {
        if (node->indegree == 0)
            stack[stacked_count++] = node;
    }
    while (stacked_count > 0) {
        node = stack[--stacked_count];
        LN_TRY(ln_list_builder_push(order, node));
        done_count++;
        const ln_graph_edge_node *edge;
        LN_LIST_FOREACH (edge, node->out_edge_nodes) {
            if (--pending[edge->node->index] == 0)
                stack[stacked_count++] = edge->node;
        }
    }
    return done_count == graph->size ? LN_OK : fail_cycle(graph, done_count);
}

int ln_graph_dft_after_prev(const ln_graph *graph, ln_list **res)
{
    if (res)
        *res = NULL;
    if (!graph || !res || graph->size == 0) {
        ln_fail(LN_INVALID, "no graph to walk, or an empty one, or no place for the nodes");
        return -1;
    }
    size_t *pending = copy_indegrees(graph);
    ln_graph_node **stack = ln_alloc_array(graph->size, sizeof(ln_graph_node *));
    ln_list_builder order = {0};
    ln_status status = LN_NO_MEMORY;
    if (pending && stack)
        status = walk_depth_first(graph, pending, stack, &order);
    ln_free(pending);
    ln_free(stack);
    if (status != LN_OK) {
        ln_list_free(order.list);
        return -1;
    }
    *res = order.list;
    return (int)graph->size;
}

void ln_graph_fprint(FILE *fp, const ln_graph *graph, ln_fprint_func print_node,
                     ln_fprint_func print_edge)
{
    if (!fp || !graph)
        return;
    const ln_graph_node *node;
    LN_LIST_FOREACH (node, graph->nodes) {
        if (print_node)
            print_node(fp, node->data);
        fputs("->", fp);
        const char *before = " --";
        const ln_graph_edge_node *edge;
        LN_LIST_FOREACH (edge, node->out_edge_nodes) {
            fputs(before, fp);
            if (print_edge)
                print_edge(fp, edge->edge_data);
            fputc('-', fp);
            if (print_node)
                print_node(fp, edge->node->data);
            before = ", --";
        }
        fputc('\n', fp);
    }
}
