// SPDX-License-Identifier: Apache-2.0
// What is after `ln_call`: the private data of an operator in call form.
//
//     call.c         resolving arguments, checking, pre_run, run
//     call_args.c    inputs and parameters, as lightnet/call.h shows them
//     call_out.c     outputs
//     call_scratch.c memory for a call
//     call_graph.c   graphs

#ifndef LN_OP_CALL_H
#define LN_OP_CALL_H

#include <stdbool.h>

#include <lightnet/call.h>
#include <lightnet/op_info.h>

// What `infer` has said about an output.
typedef struct ln_call_output {
    ln_tensor_entry *entry; // NULL: not wanted, or not made yet
    bool is_wanted;
    bool is_stated;
    bool is_object;
    tl_dtype dtype;
    int ndim;
    int dims[TL_MAXDIM];
} ln_call_output;

// All that a run needs of a call once nothing is left to find out in it.
typedef struct ln_call_step {
    ln_call_func compute; // NULL: the run checks, infers, chooses or prepares something first
    const void *block;    // the first that `prepare` has kept; NULL: none
    tl_tensor **tensors;  // by position: the inputs, then the outputs; NULL: left out
    tl_tensor *workspace; // where blocks are in a run; NULL: none is planned
} ln_call_step;

struct ln_call {
    ln_call_step step;
    ln_op_arg *op_arg;
    const ln_op_info *info;
    int since;
    int in_count; // positions of `ins`; attributes are not among them
    int out_count;
    ln_tensor_entry **ins; // NULL: left out
    ln_call_output *outs;
    void (*when_defined)(ln_call *call); // set by `infer`, called when the outputs are there
    bool is_run;
    bool is_checking;             // for `ln_call_check`: nothing is defined
    bool takes_open;              // some input has its type and shape only in a run
    bool takes_extra;             // some input has no position
    bool is_open;                 // `infer` cannot say
    bool has_late_shapes;         // planning did not know all shapes, so each run charges the cost
    bool is_fixed;                // what was inferred and chosen is the same in all runs
    bool is_settled;              // a run has nothing to infer, to check or to choose
    bool is_of_constants;         // some of that was made of constants, which may be set
    bool has_read_values;         // `infer`, or `prepare`, which others may tell something else
    bool is_over_budget;          // `infer` may charge no more while the model is planned
    const ln_op_info *by;         // the variant that computes; NULL: none takes these inputs
    unsigned version;             // of the model's parameters, for which it was chosen
    unsigned constants_version;   // likewise
    double step_cost;             // work units for a step of that variant
    double cost;                  // of what is settled, in steps; negative: not counted
    bool is_counting;             // `workspace` runs: blocks are counted, not taken
    bool is_preparing;            // `prepare` runs, whose memory is no workspace
    bool has_read_shapes;         // `prepare`, likewise
    bool has_read_constants;      // `infer`, or `prepare`
    size_t workspace_bytes;       // what a run takes at most; SIZE_MAX: nobody knows
    size_t infer_bytes;           // what `infer` takes of it
    struct ln_scratch *scratch;   // blocks of this call of `compute` or `infer` that are elsewhere
    size_t scratch_bytes;         // sum of all blocks
    struct ln_prepared *prepared; // by `prepare`; NULL: not yet
    ln_object **captured; // values of tensors around graphs, once for each call of `compute`
    int captured_count;
};

// Input `index` is there, and the same in all runs until somebody sets it.
static inline bool ln_call_is_constant(const ln_call *call, int index)
{
    const ln_tensor_entry *entry = index < call->in_count ? call->ins[index] : NULL;
    return entry && entry->isstatic && !entry->is_input;
}

// Position i of the description's `infos` and, after a variadic one, of what it stands for.
const ln_arg_info *ln_call_info_at(const ln_arg_info *infos, int position);

// The number after `prefix` in `name`, from 1 to 9999 without leading zeros; 0 if it is no such
// name.
int ln_arg_number(const char *name, const char *prefix);

// What the description says of a parameter; NULL: it has none of that name.
const ln_param_info *ln_op_info_find_param(const ln_op_info *info, const char *name);

// Notes that `entry`, stated as closed, holds these elements in each run; a copy is taken.
ln_status ln_call_know(ln_tensor_entry *entry, const void *elements);

// Makes the table entries of the outputs, as `infer` has stated them.
ln_status ln_call_define_outputs(ln_call *call);

// Before `compute`, once `infer` has stated them: open outputs get their shapes, without memory.
void ln_call_show_outputs(ln_call *call);

// After that: gives open outputs memory, and checks that the others have stayed as planned.
ln_status ln_call_prepare_outputs(ln_call *call);

// Open outputs hold nothing any more.
void ln_call_drop_outputs(ln_call *call);

// After it: every output has a value.
ln_status ln_call_finish_outputs(ln_call *call);

// Counts the cost of a call that is settled: planning, loading and limits ask for it.
void ln_call_note_cost(ln_call *call);

// Elements of a tensor or map, with what the bytes of strings add to that; 1 for other objects.
double ln_object_steps(const ln_object *object);

// ln_call_charge in work units.
ln_status ln_call_charge_units(ln_call *call, double units);

// Counts the parameters that were set in a model.
unsigned ln_call_version(const ln_call *call);

// The same of its constants.
unsigned ln_call_constants_version(const ln_call *call);

// Whether a run has nothing to infer, to check or to choose, whatever has been set since.
bool ln_call_is_settled(const ln_call *call);

// Has `prepare` of `info`, whose `compute` comes next, run where that is needed. In a run.
ln_status ln_call_need_prepared(ln_call *call, const ln_op_info *info);
void ln_call_drop_prepared(ln_call *call);

// That has run, and will not until a parameter or a constant is set.
bool ln_call_stays_prepared(const ln_call *call);

// Whether each run of the call is the same function of the same block, whatever inputs hold; then
// `complete` makes its step so, before it has run.
bool ln_call_is_complete(const ln_call *call);
void ln_call_complete(ln_call *call);

// Finds out what a run will take, once the outputs are there, where `info` computes it.
void ln_call_count_workspace(ln_call *call, const ln_op_info *info);

// Makes the tensor for it where the operator lists one.
ln_status ln_call_define_workspace(ln_call *call);

// Bytes of workspace that an operator takes and lists no tensor for; SIZE_MAX: nobody knows. 0 for
// one that is not in call form or does not compute.
size_t ln_call_unplanned_workspace(const ln_op_arg *op_arg);

void ln_call_release_scratch(ln_call *call);

// The tensors of the call show their known values, or none again.
void ln_call_show_known(ln_call *call, bool is_shown);
void ln_call_release_captured(ln_call *call);

// How the reference variant of a type is found, for computing constants while a model is planned;
// set by the registry, NULL before.
extern ln_op *(*ln_call_find_reference)(const char *optype);

// The element type that the graph that a parameter names states of its output number `index`;
// TL_DTYPE_INVALID where it states none.
tl_dtype ln_call_graph_out_dtype(ln_call *call, const char *param, int index);

#endif
