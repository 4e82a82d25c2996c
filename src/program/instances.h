// SPDX-License-Identifier: Apache-2.0
// The instances of a program whose inputs have dynamic dimensions: one for each set of shapes, made
// when a session first runs with them, shared by all, and dropped when unused for longest.
//
// Any thread may ask at any time. Whoever asks first for some shapes makes their instance, outside
// of the lock; those who ask for the same meanwhile wait for it, others do not.

#ifndef LN_PROGRAM_INSTANCES_H
#define LN_PROGRAM_INSTANCES_H

#include "program/instance.h"

typedef struct ln_instances ln_instances;

// One that a session holds; it stays as it is until the session lets it go.
typedef struct ln_held_instance {
    const ln_instance *instance; // NULL: its plan is no frame, so that copies of its context run it
} ln_held_instance;

// Of `home`, LOADED, which is borrowed, and is itself the instance for `shapes`, of which `first`,
// borrowed too, is the frame; NULL: it is none. The others share its constants. `shapes` NULL: it
// is no instance, and is unloaded once another has constants.
ln_status ln_instances_create(ln_context *home, const ln_instance *first, size_t count,
                              const ln_input_shape *shapes, ln_instances **out_instances);
void ln_instances_destroy(ln_instances *instances); // when nothing is held; NULL is fine

// Of `home`, LOADED, which has the plan of one of them, for the shapes of all its inputs now, and
// may change over to another. `home` is the caller of all of them, in one thread.
ln_status ln_instances_create_changing(ln_context *home, size_t count, const ln_input_shape *shapes,
                                       ln_instances **out_instances);

// `home` has the plan for `key`, the shapes of all its inputs, of which `shapes` are those that are
// given; those of rank -1 stay dynamic. Pointers to `home` stay right: its contents and those of a
// plan change places. One that it had before is there as it was, unless constants were set. On
// failure `home` has the plan that it had; PLANNED if memory is too short even for that.
ln_status ln_instances_change(ln_instances *instances, size_t key_count, const ln_input_shape *key,
                              size_t count, const ln_input_shape *shapes);

// Holds the instance for `shapes`, those of all dynamic inputs, always in the same order; *out_held
// is NULL if the model refuses them and there is no first one: then a clone of `home` has to run.
// Making it has the limits and time of `caller`, whose thread is in a phase of it. Fails: as
// compiling and loading do; all fail who wait for it, but with LN_TIMEOUT and LN_CANCELLED the
// caller alone.
ln_status ln_instances_hold(ln_instances *instances, const ln_context *caller, size_t count,
                            const ln_input_shape *shapes, const ln_held_instance **out_held);
void ln_instances_let_go(ln_instances *instances, const ln_held_instance *held); // NULL is fine

// A context, LOADED, with the plan of `held`, or, if that is NULL, a clone of `home`, which runs
// any shapes; `give` takes it back. The values of its inputs are undefined.
ln_status ln_instances_take_context(ln_instances *instances, const ln_context *caller,
                                    const ln_held_instance *held, ln_context **out_ctx);
void ln_instances_give_context(ln_instances *instances, const ln_held_instance *held,
                               ln_context *ctx); // NULL is fine

// Whether `held` is for these shapes.
bool ln_instance_is_for(const ln_held_instance *held, size_t count, const ln_input_shape *shapes);

#endif
