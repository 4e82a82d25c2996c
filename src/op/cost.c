// SPDX-License-Identifier: Apache-2.0
// Estimates that many operators share, and those of an operator as a whole.
//
// A step is what the innermost loop does; `step_cost` of the variant that runs says how many work
// units it is. Each estimate bounds the steps from above, up to a constant factor.

#include "op/functions.h"

#include <math.h>

#include <lightnet/op_support.h>

#include "op/call.h"
#include "tensor/object.h"

// So many bytes of a string are read or written in the time that an element takes.
#define STRING_STEP_BYTES 8.0

static double tensor_steps(const ln_object *object)
{
    const tl_tensor *tensor = ln_object_tensor(object);
    double byte_count = (double)ln_object_string_bytes(object);
    return tensor ? tensor->len + byte_count / STRING_STEP_BYTES : 1;
}

// Sequences and optionals are passed on; who makes or walks one of many items charges for them.
double ln_object_steps(const ln_object *object)
{
    if (ln_object_get_kind(object) != LN_OBJECT_MAP)
        return tensor_steps(object);
    return tensor_steps(ln_object_item(object, 0)) + tensor_steps(ln_object_item(object, 1));
}

// What is held has its size only in a run.
static double steps_of(const ln_tensor_entry *entry)
{
    return entry->held ? ln_object_steps(entry->held) : entry->tensor->len;
}

double ln_cost_none(const ln_call *call)
{
    (void)call;
    return 0;
}

// Elements of all outputs: of what reads a part of its inputs, and no more than it writes.
double ln_cost_outputs(const ln_call *call)
{
    double count = 0;
    for (int i = 0; i < call->out_count; i++)
        if (call->outs[i].entry)
            count += steps_of(call->outs[i].entry);
    return count;
}

static double inputs_from(const ln_call *call, int first)
{
    double count = 0;
    for (int i = first; i < call->in_count; i++)
        if (call->ins[i])
            count += steps_of(call->ins[i]);
    return count;
}

// Elements of all outputs, and of all inputs but the first, of which a part is read.
double ln_cost_moved(const ln_call *call)
{
    return ln_cost_outputs(call) + inputs_from(call, 1);
}

static double macs_of(const ln_call *call)
{
    return call->info->call_macs ? call->info->call_macs(call) : 0;
}

// Elements of all inputs and outputs, and multiply-accumulates.
double ln_cost_steps(const ln_call *call)
{
    return ln_cost_outputs(call) + inputs_from(call, 0) + macs_of(call);
}

double ln_cost_sort(double count)
{
    return count * (1 + log2(1 + count));
}

// The same where elements are sorted: n log n.
double ln_cost_sorted(const ln_call *call)
{
    return ln_cost_sort(ln_cost_outputs(call) + inputs_from(call, 0));
}

// ---- Operators ----

static double elements_of(const ln_op_arg *arg, const ln_list *listed)
{
    double count = 0;
    const ln_tensor_list_entry *l;
    LN_LIST_FOREACH (l, listed) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, l->name);
        if (entry)
            count += steps_of(entry);
    }
    return count;
}

double ln_op_steps(ln_op_arg *op_arg)
{
    double macs = op_arg->info && op_arg->info->macs ? op_arg->info->macs(op_arg) : 0;
    return macs + elements_of(op_arg, op_arg->tensors_in) +
           elements_of(op_arg, op_arg->tensors_out);
}

double ln_call_macs(ln_op_arg *op_arg)
{
    const ln_call *call = op_arg->priv;
    return call && (!call->is_open || call->is_run) ? macs_of(call) : 0;
}

static double count_cost(const ln_call *call)
{
    return call->info->call_cost ? call->info->call_cost(call) : ln_cost_steps(call);
}

double ln_call_cost(ln_op_arg *op_arg)
{
    const ln_call *call = op_arg->priv;
    // Between runs a call of late shapes has those of the last run, which say nothing of the next.
    if (!call || (call->has_late_shapes && !call->is_run))
        return 0;
    return call->cost >= 0 && ln_call_is_settled(call) ? call->cost : count_cost(call);
}

void ln_call_note_cost(ln_call *call)
{
    if (call->info->compute && call->is_settled && !call->has_late_shapes)
        call->cost = count_cost(call);
}
