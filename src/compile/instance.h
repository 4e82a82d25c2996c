// SPDX-License-Identifier: Apache-2.0
// What a program's instance for one shape is made of: a plan that is loaded beside others.

#ifndef LN_COMPILE_INSTANCE_H
#define LN_COMPILE_INSTANCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "compile/constants.h"
#include "ir/memory.h"

// Constants that all instances of a program share: those of the first, and, from when it is made,
// forms of weights that a later one was the first to pack. An instance is planned and loaded with
// those of one moment.
typedef struct ln_shared_constants {
    ln_constants *constants;
    ln_memory *statics; // where they are
    struct ln_shared_constants *earlier;
} ln_shared_constants;

// Counted: a context, its clones and their programs have one. NULL for one is that there are none.
typedef struct ln_instance_constants ln_instance_constants;

ln_status ln_instance_constants_create(ln_instance_constants **out_shared);
ln_instance_constants *ln_instance_constants_retain(ln_instance_constants *shared);
void ln_instance_constants_release(ln_instance_constants *shared);
ln_constants *ln_instance_constants_latest(ln_instance_constants *shared); // NULL: none

// As their namesakes below, which are asked with the context of a program. `workspace` of
// `instance` is that block; NULL: one that is there as long as it is loaded.
ln_status ln_instance_constants_share(ln_instance_constants *shared, const ln_context *first);
ln_status ln_instance_constants_extend(ln_instance_constants *shared, const ln_context *instance,
                                       bool *out_has_joined);
ln_status ln_instance_load(ln_instance_constants *shared, const ln_context *ctx,
                           ln_context *instance, ln_memory *workspace);

// ---- Of the context of a program ----

// Whether runs of `ctx`, LOADED, whose inputs were never bound, take the plan for the shapes of the
// values that they hold. Else shapes are found operator by operator.
bool ln_plans_follow(const ln_context *ctx);

// Whether a program of `ctx`, LOADED, has an instance for each set of shapes: it follows, or is
// bound to shapes that may change.
bool ln_plans_have_instances(const ln_context *ctx);

// *out_instance, the caller's, is PLANNED for `shapes`, those of the dynamic inputs of `ctx`, with
// the limits and time of `caller`; then LOADED, with the constants that are shared. Any number of
// threads may call them at once. `ctx` need no longer be LOADED.
ln_status ln_plans_make_instance(const ln_context *ctx, const ln_context *caller, size_t count,
                                 const ln_input_shape *shapes, ln_context **out_instance);

// The same, spared of operators that compute what is shared; and the instance with all operators
// for the shapes of one that is `spared`.
ln_status ln_plans_make_spared(const ln_context *ctx, const ln_context *caller, size_t count,
                               const ln_input_shape *shapes, ln_context **out_instance);
ln_status ln_plans_make_whole(const ln_context *ctx, const ln_context *caller,
                              const ln_context *spared, ln_context **out_instance);
ln_status ln_plans_load_instance(const ln_context *ctx, ln_context *instance);

// Whether there are constants that instances share, those of clones of `ctx` too.
bool ln_plans_have_constants(const ln_context *ctx);

// Instances that are made afterwards have constants of `first`, which is one or is bound, where it
// has them. Nothing happens if there are some.
ln_status ln_plans_share_constants(const ln_context *ctx, const ln_context *first);

// They have forms of weights, too, that `instance`, LOADED, was the first to pack; *out_has_joined:
// it has some, so that its constants stay in memory. Any number of threads may ask at once; one of
// two that were made at the same time joins.
ln_status ln_plans_extend_constants(const ln_context *ctx, const ln_context *instance,
                                    bool *out_has_joined);

// ---- Of a context that changes its shapes ----

// The plan that `ctx`, LOADED, has is as it is now: just loaded. And whether it still is, no
// constant or parameter having been set.
void ln_plans_note_loaded(const ln_context *ctx);
bool ln_plans_is_as_loaded(const ln_context *ctx);

// `plan`, of ln_plans_make_instance, PLANNED or LOADED, is LOADED, in the workspace that plans of
// `ctx` have one after the other, with inputs as after loading; `have_room`: it is large enough,
// else those that are not in use have to leave theirs.
ln_status ln_plans_enter(const ln_context *ctx, ln_context *plan);
bool ln_plans_have_room(const ln_context *ctx, const ln_context *plan);

// `ctx`, PLANNED, has a plan for the shapes that `shapes` says, and those that it had.
ln_status ln_plans_replan(ln_context *ctx, size_t count, const ln_input_shape *shapes);

#endif
