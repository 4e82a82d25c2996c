/* SPDX-License-Identifier: Apache-2.0 */
/* A directed graph as adjacency lists. Parallel edges and loops are allowed.
 *
 * Each edge is written down twice: in the out-list of the node it leaves, and in the in-list of the
 * node it enters. Both lists, and the list of nodes, are in the order of insertion. Read the
 * structs freely, but change them only through the functions, which keep both ends consistent.
 *
 * Node data and edge data belong to the caller. A comparison is called as cmp(data in the graph,
 * data given), says "equal" with 0, and compares pointers if NULL. No function recurses.
 * Reading a graph from several threads is fine while none changes it.
 */

#ifndef LIGHTNET_GRAPH_H
#define LIGHTNET_GRAPH_H

#include <stddef.h>
#include <stdio.h>

#include <lightnet/export.h>
#include <lightnet/list.h>
#include <lightnet/status.h>
#include <lightnet/util.h>

LN_CPPSTART

struct ln_graph;

struct ln_graph_node {
    void *data;
    ln_list *out_edge_nodes; /* of ln_graph_edge_node: the edge and the node it enters */
    ln_list *in_edge_nodes;  /* of ln_graph_edge_node: the edge and the node it leaves */
    ln_cmp_func node_data_cmp;
    size_t indegree;
    size_t outdegree;

    /* Beyond the documented fields. */
    struct ln_graph *graph;         /* the graph the node is in; NULL outside */
    size_t index;                   /* below graph->index_end; rises in the order of graph->nodes */
    struct ln_graph_node *previous; /* the node before it in graph->nodes; NULL for the first */
    ln_list *place;                 /* its place in graph->nodes */
    ln_list *last_out;              /* the last nodes of the two lists */
    ln_list *last_in;
};
typedef struct ln_graph_node ln_graph_node;

struct ln_graph_edge_node {
    void *edge_data;
    ln_graph_node *node;
    ln_cmp_func edge_data_cmp;
};
typedef struct ln_graph_edge_node ln_graph_edge_node;

struct ln_graph {
    size_t size;    /* number of nodes */
    ln_list *nodes; /* of ln_graph_node */
    ln_cmp_func node_data_cmp;
    ln_cmp_func edge_data_cmp;

    /* Beyond the documented fields. */
    ln_list *last_node; /* the last node of the list */
    size_t index_end;   /* indexes of nodes are below; at most twice `size`, and a few */
};
typedef struct ln_graph ln_graph;

/* ---- Nodes and edges outside a graph ---- */

/* A node without edges; NULL when memory is gone. */
LN_API ln_graph_node *ln_graph_node_create(void *data, ln_cmp_func node_data_cmp);

/* Frees a node that is in no graph, with its edge nodes. NULL is fine. */
LN_API void ln_graph_node_free(ln_graph_node *node);

/* NULL when memory is gone. */
LN_API ln_graph_edge_node *ln_graph_edge_node_create(void *edge_data, ln_graph_node *node,
                                                     ln_cmp_func edge_data_cmp);

/* Frees an edge node that is in no list. NULL is fine. */
LN_API void ln_graph_edge_node_free(ln_graph_edge_node *edge_node);

/* ---- Life ---- */

/* An empty graph; NULL when memory is gone. */
LN_API ln_graph *ln_graph_create(ln_cmp_func node_cmp, ln_cmp_func edge_cmp);

/* Frees a graph with its nodes and edges. NULL is fine. */
LN_API void ln_graph_free(ln_graph *graph);

/* A graph of the same data with nodes and edges in the same order; NULL for NULL and when memory
 * is gone. O(nodes + edges). */
LN_API ln_graph *ln_graph_copy(const ln_graph *graph);

/* ---- Nodes ---- */

/* Adds a node and returns it; NULL when memory is gone or `graph` is NULL. O(1); does not look
 * whether the graph has such a node. */
LN_API ln_graph_node *ln_graph_add(ln_graph *graph, void *data);

/* The first node whose data equals `data`; NULL if there is none. O(nodes). */
LN_API ln_graph_node *ln_graph_find(const ln_graph *graph, const void *data);

/* Removes the first node whose data equals `data`, with all its edges, and returns its data. NULL
 * with a recorded LN_NOT_FOUND if there is none. Data of its edges stays with the caller.
 * O(nodes). */
LN_API void *ln_graph_remove(ln_graph *graph, const void *data);

/* The same for a node; NULL with a recorded LN_INVALID if it is not in `graph`. Takes time in
 * proportion to the edges of the node and of its neighbours. */
LN_API void *ln_graph_remove_node(ln_graph *graph, ln_graph_node *node);

/* ---- Edges ---- */

/* Links the first node with `data1` to the first node with `data2` by a new edge.
 * LN_NOT_FOUND if one is missing; O(nodes). On failure the graph is as it was. */
LN_API ln_status ln_graph_link(ln_graph *graph, const void *data1, const void *data2,
                               void *edge_data);

/* Links `node1` to `node2` by a new edge. LN_INVALID if one is not in `graph`; O(1). On failure
 * the graph is as it was. */
LN_API ln_status ln_graph_link_node(ln_graph *graph, ln_graph_node *node1, ln_graph_node *node2,
                                    void *edge_data);

/* Removes the first edge from the first node with `data1` to the first node with `data2` whose
 * data equals `edge_data` (NULL: whatever its data), and returns the data of the edge. NULL with a
 * recorded LN_NOT_FOUND if there is no such edge. */
LN_API void *ln_graph_unlink(ln_graph *graph, const void *data1, const void *data2,
                             const void *edge_data);

/* The same from node to node. */
LN_API void *ln_graph_unlink_node(ln_graph_node *node1, ln_graph_node *node2,
                                  const void *edge_data);

/* ---- Questions ---- */

/* The number of nodes without any edge. */
LN_API int ln_graph_num_outlier(const ln_graph *graph);

/* Sorts the graph into layers: the first holds the nodes without predecessors, each other one the
 * nodes whose last predecessor is in the layer before. *layers receives a list of lists of
 * ln_graph_node, to be freed with ln_graph_free_topsortlist.
 * Returns the number of layers, 0 for an empty graph. -1 with a recorded failure if the graph has a
 * cycle (LN_INVALID) or memory is gone (LN_NO_MEMORY); *layers is then NULL. O(nodes + edges). */
LN_API int ln_graph_topsort(const ln_graph *graph, ln_list **layers);

/* Frees what ln_graph_topsort returned. NULL is fine. */
LN_API void ln_graph_free_topsortlist(ln_list *layers);

/* Walks the graph depth first so that each node comes once, after all its predecessors; of the
 * nodes that could come next, the one that became ready last comes first. *res receives a list of
 * ln_graph_node, to be freed with ln_list_free.
 * Returns the number of nodes. -1 with a recorded failure if the graph is empty or has a cycle
 * (LN_INVALID), or memory is gone (LN_NO_MEMORY); *res is then NULL. O(nodes + edges). */
LN_API int ln_graph_dft_after_prev(const ln_graph *graph, ln_list **res);

/* Prints one line for each node: `node-> --edge-node, --edge-node`. A NULL function prints
 * nothing. */
LN_API void ln_graph_fprint(FILE *fp, const ln_graph *graph, ln_fprint_func print_node,
                            ln_fprint_func print_edge);

LN_CPPEND

#endif
