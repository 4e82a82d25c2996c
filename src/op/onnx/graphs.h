// SPDX-License-Identifier: Apache-2.0
// Whether the graphs of If, Loop, Scan and SequenceMap fit the operators that run them.

#ifndef LN_OP_ONNX_GRAPHS_H
#define LN_OP_ONNX_GRAPHS_H

#include <lightnet/call.h>

// Each gives the numbers of inputs and outputs of the graph. Fails: LN_INVALID if they do not fit
// the operator, LN_NOT_FOUND if there is no such graph.
ln_status ln_if_graph(ln_call *call, const char *branch, int *out_in_count, int *out_out_count);
ln_status ln_loop_graph(ln_call *call, int *out_in_count, int *out_out_count);
ln_status ln_map_graph(ln_call *call, int *out_in_count, int *out_out_count);

// The same for Scan, whose states and scan inputs are `given` inputs.
ln_status ln_scan_graph(ln_call *call, int given, int *out_in_count, int *out_out_count);

// Checks the graphs of any operator, also where shapes are not known: what is not one of these four
// has none.
ln_status ln_call_check_graphs(ln_call *call);

#endif
