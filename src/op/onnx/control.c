// SPDX-License-Identifier: Apache-2.0
// The operators that run graphs: their shapes come in the run, but what the graphs take and give
// is known before.

#include "op/onnx/graphs.h"

#include "op/call.h"
#include "op/functions.h"

ln_status ln_if_graph(ln_call *call, const char *branch, int *out_in_count, int *out_out_count)
{
    LN_TRY(ln_call_graph_arity(call, branch, out_in_count, out_out_count));
    if (*out_in_count == 0 && *out_out_count >= ln_call_out_count(call))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "`%s` has %d inputs and %d outputs instead of 0 and %d",
                        branch, *out_in_count, *out_out_count, ln_call_out_count(call));
}

ln_status ln_loop_graph(ln_call *call, int *out_in_count, int *out_out_count)
{
    enum { STATES = 2 }; // after the largest number of runs and the condition
    int given = ln_call_in_count(call) > STATES ? ln_call_in_count(call) - STATES : 0;
    LN_TRY(ln_call_graph_arity(call, "body", out_in_count, out_out_count));
    if (*out_in_count == 2 + given && *out_out_count >= 1 + given &&
        ln_call_out_count(call) <= *out_out_count - 1)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID,
                        "`body` has %d inputs and %d outputs, which does not fit %d states and %d "
                        "outputs of the loop",
                        *out_in_count, *out_out_count, given, ln_call_out_count(call));
}

ln_status ln_map_graph(ln_call *call, int *out_in_count, int *out_out_count)
{
    int given = ln_call_in_count(call);
    LN_TRY(ln_call_graph_arity(call, "body", out_in_count, out_out_count));
    if (*out_in_count == given && *out_out_count >= ln_call_out_count(call))
        return LN_OK;
    return ln_call_fail(call, LN_INVALID,
                        "`body` has %d inputs and %d outputs instead of %d and %d", *out_in_count,
                        *out_out_count, given, ln_call_out_count(call));
}

ln_status ln_scan_graph(ln_call *call, int given, int *out_in_count, int *out_out_count)
{
    int64_t scan_count = ln_call_int(call, "num_scan_inputs");
    LN_TRY(ln_call_graph_arity(call, "body", out_in_count, out_out_count));
    if (scan_count < 1 || scan_count > given)
        return ln_call_fail(call, LN_INVALID, "num_scan_inputs is %lld of %d inputs",
                            (long long)scan_count, given);
    if (*out_in_count == given && *out_out_count >= given - scan_count &&
        ln_call_out_count(call) <= *out_out_count)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID,
                        "`body` has %d inputs and %d outputs, which does not fit %d inputs and %d "
                        "outputs of the scan",
                        *out_in_count, *out_out_count, given, ln_call_out_count(call));
}

// ---- Before shapes are known ----

static ln_status check_if(ln_call *call)
{
    int in_count, out_count;
    LN_TRY(ln_if_graph(call, "then_branch", &in_count, &out_count));
    return ln_if_graph(call, "else_branch", &in_count, &out_count);
}

// What the body states of the condition that it gives. Its inputs are what the loop gives, whatever
// it states of them.
static ln_status check_loop(ln_call *call)
{
    int in_count, out_count;
    LN_TRY(ln_loop_graph(call, &in_count, &out_count));
    tl_dtype dtype = ln_call_graph_out_dtype(call, "body", 0);
    if (dtype == TL_DTYPE_INVALID || dtype == TL_BOOL)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "output 0 of `body`, the condition, is %s instead of %s",
                        tl_dtype_title(dtype), tl_dtype_title(TL_BOOL));
}

static ln_status check_scan(ln_call *call)
{
    int in_count, out_count, is_old = ln_call_since(call) == 8; // has lengths before its states
    return ln_scan_graph(call, ln_call_in_count(call) - is_old, &in_count, &out_count);
}

static ln_status check_map(ln_call *call)
{
    int in_count, out_count;
    return ln_map_graph(call, &in_count, &out_count);
}

ln_status ln_call_check_graphs(ln_call *call)
{
    static const struct {
        ln_status (*infer)(ln_call *call), (*check)(ln_call *call);
    } rows[] = {
        {ln_infer_if, check_if},
        {ln_infer_loop, check_loop},
        {ln_infer_scan, check_scan},
        {ln_infer_sequence_map, check_map},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (call->info->infer == rows[i].infer)
            return rows[i].check(call);
    return LN_OK;
}

// ---- Shapes ----

ln_status ln_infer_if(ln_call *call)
{
    LN_TRY(check_if(call));
    return ln_infer_in_run(call);
}

ln_status ln_infer_loop(ln_call *call)
{
    LN_TRY(check_loop(call));
    return ln_infer_in_run(call);
}

ln_status ln_infer_scan(ln_call *call)
{
    LN_TRY(check_scan(call));
    return ln_infer_in_run(call);
}

ln_status ln_infer_sequence_map(ln_call *call)
{
    LN_TRY(check_map(call));
    for (int i = 0; i < ln_call_out_count(call); i++)
        LN_TRY(ln_call_out_object(call, i));
    return LN_OK;
}
