// SPDX-License-Identifier: Apache-2.0
// The list of instances, for the files that fill it.

#ifndef LN_PROGRAM_INSTANCES_INSIDE_H
#define LN_PROGRAM_INSTANCES_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "compile/reshape.h"
#include "ir/turn.h"
#include "program/instances.h"

// How many are kept when sessions hold fewer, if the memory limit allows that.
#define MAX_KEPT LN_PLANS_KEPT

typedef enum ln_row_state { MAKING, READY, REFUSED, FAILED, ABANDONED } ln_row_state;

typedef struct ln_row {
    ln_held_instance held; // first: what sessions have of it
    ln_instance *instance; // NULL: the plan is no frame
    ln_context *ctx;       // of the instance, without a workspace; NULL: `home` has its plan
    ln_context *idle;      // a copy of `ctx` that no session has, without one; NULL: none
    ln_row_state state;
    ln_status status; // of FAILED, with the reason
    char *reason;
    bool is_of_device; // it is a device that has failed
    bool is_listed;
    size_t byte_count;   // of constants that it does not share
    size_t holder_count; // sessions, and who makes it or waits for it
    size_t last_use;
    struct ln_row *next;
    size_t shape_count;
    int shapes[]; // for each input the rank and TL_MAXDIM dimensions
} ln_row;

struct ln_instances {
    ln_context *home;
    ln_row *current;      // whose plan `home` has; NULL: it keeps its own, and no other
    bool has_first;       // `home` is one: its constants are shared
    bool is_shared;       // of the maker that is the first: they are, by now
    ln_turn home_turn;    // at its memory, and at the next
    ln_context *origin;   // of clones, loaded anew; NULL: `home` is, or none was made
    pthread_mutex_t lock; // of all below, but for what a row has once it is READY
    pthread_cond_t changed;
    ln_row *rows;
    size_t count, use_count;
    size_t byte_count;                  // of constants: of the rows, and those that they share
    size_t workspace_byte_count;        // of `current`, beside which the others are
    atomic_bool has_plan_without_frame; // such as others of the model are likely to be
    enum { NO_FIRST, MAKING_FIRST, HAS_FIRST } sharing; // of constants, which the first one has
};

ln_row *ln_row_create(size_t count, const ln_input_shape *shapes); // NULL: out of memory
void ln_row_destroy(ln_row *row);

// ---- All with the lock, where there are several threads ----

ln_row *ln_row_find(const ln_instances *all, size_t count, const ln_input_shape *shapes);
void ln_row_list(ln_instances *all, ln_row *row);
void ln_row_unlist(ln_instances *all, ln_row *row);

// Takes rows that are too many off the list; they are to be destroyed without the lock.
ln_row *ln_rows_take_surplus(ln_instances *all);
void ln_rows_destroy(ln_row *rows);
bool ln_rows_are_too_much(const ln_instances *all);

// The constants of `home`, if it is the first, are those that others have too.
ln_status ln_instances_share_home(ln_instances *all);

#endif
