/* SPDX-License-Identifier: Apache-2.0 */
/* The data flow graph: which operator reads what which operator makes.
 *
 * Nodes are operators, edges carry tensor names. A tensor that is read and not made in the graph,
 * or made and not read, is a dangling edge. Adding and removing takes time in proportion to the
 * operator's edges.
 *
 * Operators are borrowed: an operator stays as it is, names included, while it is in the graph.
 * Read the structs freely, but change them only through the functions. Reading a graph from
 * several threads is fine while none changes it.
 */

#ifndef LIGHTNET_DFG_H
#define LIGHTNET_DFG_H

#include <stdio.h>

#include <lightnet/export.h>
#include <lightnet/graph.h>
#include <lightnet/hash.h>
#include <lightnet/list.h>
#include <lightnet/op.h>
#include <lightnet/status.h>

LN_CPPSTART

struct ln_dfg {
    ln_graph *graph;        /* of ln_op; edge data is the tensor's name */
    ln_hash *node_table;    /* operator name -> ln_graph_node */
    ln_list *dangling_ins;  /* of ln_graph_edge_node: tensor name, and the node that reads it */
    ln_list *dangling_outs; /* of ln_graph_edge_node: tensor name, and the node that makes it */

    /* Beyond the documented fields. */
    ln_hash *tensors; /* tensor name -> who makes it and who waits for it */
};
typedef struct ln_dfg ln_dfg;

/* An empty graph; NULL when memory is gone. */
LN_API ln_dfg *ln_dfg_create(void);

/* Frees a graph, not its operators. NULL is fine. */
LN_API void ln_dfg_free(ln_dfg *dfg);

/* Adds an operator, with edges from those that make its inputs and to those that read its outputs.
 * LN_EXISTS if the graph has an operator of that name or one that makes the same tensor. On failure
 * the graph is as it was. */
LN_API ln_status ln_dfg_add(ln_dfg *dfg, ln_op *op);

/* Removes an operator with its edges; their other ends dangle. LN_NOT_FOUND if it is not in the
 * graph. On failure (LN_NO_MEMORY) the graph is as it was. */
LN_API ln_status ln_dfg_remove(ln_dfg *dfg, ln_op *op);

/* Links `op1`, which makes `tname`, to `op2`, which reads it; both are in the graph. Their dangling
 * ends go. LN_INVALID if it is not so; nothing if they are linked. On failure the graph is as it
 * was. */
LN_API ln_status ln_dfg_link(ln_dfg *dfg, ln_op *op1, ln_op *op2, const char *tname);

/* The opposite: the ends dangle. If there is no such link, does nothing. */
LN_API ln_status ln_dfg_unlink(ln_dfg *dfg, ln_op *op1, ln_op *op2, const char *tname);

/* The first operator that reads output `tname` of `op`; NULL if there is none. Deprecated: there
 * may be others. */
LN_API ln_op *ln_dfg_next(const ln_dfg *dfg, const ln_op *op, const char *tname);

/* All operators that read output `tname` of `op`, each once, in a new list; the caller frees it
 * with `ln_list_free`. NULL if there is none, and with a recorded LN_NO_MEMORY when memory is gone.
 */
LN_API ln_list *ln_dfg_nexts(const ln_dfg *dfg, const ln_op *op, const char *tname);

/* The operator that makes input `tname` of `op`; NULL if there is none. */
LN_API ln_op *ln_dfg_prev(const ln_dfg *dfg, const ln_op *op, const char *tname);

/* 1 if every input is made by an operator of the graph; else 0, and one of those that are not is
 * recorded with its reader (LN_INVALID). */
LN_API int ln_dfg_check(const ln_dfg *dfg);

/* Prints a line for each operator: `name(optype)-> --tensor-name(optype), ...`. `print` prints to
 * standard output. */
LN_API void ln_dfg_fprint(FILE *fp, const ln_dfg *dfg);
LN_API void ln_dfg_print(const ln_dfg *dfg);

LN_CPPEND

#endif
