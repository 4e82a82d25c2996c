// SPDX-License-Identifier: Apache-2.0
// The context inside the library.

#ifndef LN_IR_CONTEXT_H
#define LN_IR_CONTEXT_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "ir/memory.h"

// post_run and pre_run of all operators, in place; the data flow graph stays. On failure the
// operators from the failing one on are not checked.
ln_status ln_context_recheck(ln_context *ctx);

// The same for operators of `ctx->ops` whose parameters have changed, and for all that depends on
// them. On failure not only those after the failing one are unchecked.
ln_status ln_context_recheck_from(ln_context *ctx, size_t count, ln_op *const *changed);

// Charges what finding out the elements of `entry` costs, while it is known, to what the model may
// cost in planning. 0 if that is used up: the elements are then found out in the run.
int ln_context_take_known(ln_context *ctx, ln_tensor_entry *entry, size_t cost);

// The same for the work of computing them, of which each phase has its own.
bool ln_context_take_known_work(ln_context *ctx, double units);

// ln_context_set_shape for all of `shapes` at once, so that inputs whose shapes depend on each
// other never disagree in between. On failure none is bound.
ln_status ln_context_set_shapes(ln_context *ctx, size_t count, const ln_input_shape *shapes);

// ln_context_cost, without operators that ran once at load: what a run is charged when it begins.
double ln_context_run_cost(const ln_context *ctx);

// What the model states of an input or output, whatever a run has made of it: *out_dtype, or
// TL_DTYPE_INVALID, and the dimensions, -1 where they are dynamic. Returns the rank; -1 if that is
// not stated.
int ln_context_stated_type(const ln_context *ctx, const char *tname, tl_dtype *out_dtype,
                           int dims[TL_MAXDIM]);

// Of a model that has been read: drops what its outputs state where planning knows the shape.
void ln_context_drop_known_outputs(ln_context *ctx);

// LN_INVALID, naming the input, if `object` contradicts the type, rank or fixed dimensions that the
// model states of the dynamic input `tname`.
ln_status ln_context_check_value(const ln_context *ctx, const char *tname, const ln_object *object);
ln_status ln_context_check_tensor(const ln_context *ctx, const char *tname, const tl_tensor *given);

// Whether the dynamic dimensions of the input `tname` are bound; and the same check of a tensor for
// it that may have others. NULL is no tensor.
bool ln_context_is_bound(const ln_context *ctx, const char *tname);
ln_status ln_context_check_unbound(const ln_context *ctx, const char *tname,
                                   const tl_tensor *given);

// What `load` prepares for `run`; `compile/` has more after these.
struct ln_runner {
    struct ln_group **groups; // on devices (run/group.h), in the order of the operators
    size_t group_count;
    void (*destroy)(struct ln_runner *runner);
    // Makes it anew because static tensors have moved; on failure *runner_p is as before.
    ln_status (*rebuild)(struct ln_runner **runner_p, const ln_context *ctx);
    // Before `first` (may be NULL) runs again and constant `tname` (may be NULL) changes:
    // LN_UNSUPPORTED where the shapes of a group's operator follow from what changes with them.
    ln_status (*check_change)(const ln_context *ctx, const ln_op *first, const char *tname);
    // Waits for what runs that ended early have left to devices. NULL: however long that takes;
    // else LN_TIMEOUT or LN_CANCELLED if what `caller` does has to end before.
    ln_status (*finish)(const struct ln_runner *runner, const ln_context *caller);
    // Runs the steps of a graph, in a run of its root.
    ln_status (*run)(const ln_context *ctx);
};

// What runs a model that was never bound; `program/` has more after this.
struct ln_follower {
    void (*destroy)(struct ln_follower *follower);
};

// Ranges of symbolic dimensions, counted; `compile/` has more after this.
struct ln_range_base {
    void (*release)(struct ln_range_base *range);
};

// Plans of the model for other shapes; `compile/` has more after this.
struct ln_plans {
    struct ln_follower *follower; // until the context is unloaded; NULL: none yet
    void (*destroy)(struct ln_plans *plans);
    // The memory for the plan that `ctx` has now.
    ln_status (*allocate)(struct ln_plans *plans, const ln_context *ctx, ln_memory **out_statics,
                          ln_memory **out_workspace);
    // Gives back what the plans that are not in use hold, and what they share with `ctx`.
    void (*unload)(struct ln_plans *plans, ln_context *ctx);
};

// Places the tensors of `ctx`, a copy of `from`, whose static tensors it then shares; the workspace
// is its own. The opposite is ln_context_dealloc_mem.
ln_status ln_context_share_mem(ln_context *ctx, const ln_context *from);

// Gives back the memory of `ctx` alone, not that of its plans for other shapes.
void ln_context_free_mem(ln_context *ctx);

// Takes the workspace from a context, which stays LOADED, and gives it one again, as `give` from
// the same plan.
void ln_context_take_workspace(ln_context *ctx);
ln_status ln_context_give_workspace(ln_context *ctx, ln_memory *workspace);

// Where the plan has put a tensor of a context whose memory is allocated, and in which memory.
ln_memory *ln_context_memory_of(const ln_context *ctx, const ln_tensor_entry *entry);
void *ln_context_planned_address(const ln_context *ctx, const ln_tensor_entry *entry);

// Memory for the tensors that are there while loading only, as long as operators compute from them.
// Not those that have been set since and so have memory of their own. `give` accepts NULL.
ln_status ln_context_take_load_memory(ln_context *ctx, ln_memory **out_memory);
void ln_context_give_load_memory(const ln_context *ctx, ln_memory *memory);

// Gives a tensor of a LOADED context memory of its own until the model is unloaded, if it has none
// that can be written: because it is in the model's file, or was there while loading only.
// Before the memory of `ctx` is used by others, or freed: see `finish` of ln_runner. Nothing where
// it has no groups.
ln_status ln_context_finish_devices(const ln_context *ctx, const ln_context *caller);

ln_status ln_context_make_writable(ln_context *ctx, ln_tensor_entry *entry);

// Makes the elements of a tensor of a LOADED context that was there while loading only once more,
// and copies them to `data`.
ln_status ln_context_remake(ln_context *ctx, const ln_tensor_entry *entry, void *data);

// To be called before a static tensor is written: if clones share them, the context takes a copy of
// its own first.
ln_status ln_context_own_static(ln_context *ctx);

// Forgets the memory plan: sizes and target.
void ln_context_forget_plan(ln_context *ctx);

// Forgets all that is known about a model beside its operators: the plan, and what was read.
void ln_context_forget(ln_context *ctx);

// `ln_context_cleanup_ops`, and the operators are freed too.
void ln_context_drop_ops(ln_context *ctx);

// What is left to do when not even undoing works, which only happens when memory is gone: frees all
// operators, so that the context is EMPTY and consistent. Returns `status`.
ln_status ln_context_abandon(ln_context *ctx, ln_status status);

// In a LOADED context, runs the static part of `first` again, and of all operators that depend on
// it or on the constant `tname`; either may be NULL.
// What runs is found before anything does; LN_STATE if a constant that it needs was overwritten.
ln_status ln_context_rerun_static(ln_context *ctx, const ln_op *first, const char *tname);

// To be called when an operator enters, leaves, moves in the list, or reads another tensor: inputs
// and outputs are then looked for again.
void ln_context_forget_ends(ln_context *ctx);
ln_status ln_context_check_ends(const ln_context *ctx); // LN_INTERNAL if that was forgotten

// 1 if the type is `name`, or its variant on some arch.
int ln_op_is_type(const ln_op_arg *op_arg, const char *name);

// 1 if the outputs are inputs of the model, as ln_context_input defines them.
int ln_op_is_input(const ln_op_arg *op_arg);

// The outermost context: itself, or what it is a graph of.
ln_context *ln_context_root(ln_context *ctx);

// `ln_attached_let_go` of what is attached to the model; NULL is a model without.
void ln_context_let_go(const ln_context *ctx, const void *bytes, size_t byte_count);

// Notes in `is_random` whether an operator of `ctx` is, once they are checked or have changed.
void ln_context_note_random(ln_context *ctx);

// Calls `function` for each graph of `ctx` up to the first that fails.
ln_status ln_context_each_graph(const ln_context *ctx,
                                ln_status (*function)(ln_context *graph, void *user), void *user);

// 1 if the caller fills `entry`, an output of `op`, before each run: the operator neither reads nor
// computes, and the tensor is not static.
int ln_op_is_filled(const ln_op *op, const ln_tensor_entry *entry);

// Lets `op` read tensor `to` wherever it reads `from`; both have one shape and type. Its outputs
// stay as they are. On failure nothing has changed, unless memory is too short to undo it: the
// context is then EMPTY.
ln_status ln_context_redirect(ln_context *ctx, ln_op *op, const char *from, const char *to);

// To be called before the static tensor `tname` of a LOADED context is written: whether the above
// could be done, and if clones share the tensor, the context takes a copy of its own.
ln_status ln_context_prepare_static(ln_context *ctx, const char *tname);

// Exchanges operators, the first `old_count` of the list, in the tables and the data flow graph,
// and frees the old ones; `ctx->ops` is the caller's to change, at once and without failing. The
// new operators read only what remaining ones, or new ones before them, make. Failures as with
// ln_context_replace_ops.
ln_status ln_context_exchange_ops(ln_context *ctx, const ln_list *old_ops, size_t old_count,
                                  const ln_list *new_ops);

// The same, but LN_INVALID if a tensor that the new operators make as the old ones did would have
// another type or shape.
ln_status ln_context_exchange_alike(ln_context *ctx, const ln_list *old_ops, size_t old_count,
                                    const ln_list *new_ops);

#endif
