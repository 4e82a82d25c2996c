// SPDX-License-Identifier: Apache-2.0
// Neighbours in the list of operators that run together on a device, as one step.

#ifndef LN_RUN_GROUP_H
#define LN_RUN_GROUP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <lightnet/arch.h>

// A run that ended early has left the device computing, with these addresses.
typedef struct ln_flight {
    struct ln_flight *next;
    tl_tensor *const *addresses;
    pid_t process; // whose thread the device has
} ln_flight;

typedef struct ln_group {
    const ln_arch *arch;
    void *device;       // what its functions are given: see `ln_arch_device`
    void *prepared;     // by the arch
    const ln_op *first; // in the list of the context
    ln_list *ops;       // as the device sees them: see arch/ordered.h
    size_t op_count;
    pthread_mutex_t lock; // of the next
    ln_flight *left;
    atomic_size_t left_count;
    double cost; // of its operators, in work units
    size_t address_count;
    tl_tensor *addresses[]; // in the context: see `run` of lightnet/arch.h; NULL: none
} ln_group;

// Prepares the group of `arch` that begins at `ops`, the rest of a context's list.
ln_status ln_group_create(const ln_arch *arch, const ln_list *ops, ln_group **out_group);
void ln_group_destroy(ln_group *group); // NULL is fine

// The function of its step: runs `group` and waits until it is done.
ln_status ln_group_run(void *group, tl_tensor *const *addresses);

// The functions of its two steps, where an operator `wait` names it: one that may only start it,
// and one that returns when it is done. What was started is waited for in any case, with the same
// addresses.
ln_status ln_group_start(void *group, tl_tensor *const *addresses);
// A wait whose thread runs out of time, or is cancelled, returns early if the device can be asked
// and has memory of its own: what it still computes is then left to `finish`.
ln_status ln_group_wait(void *group, tl_tensor *const *addresses);

// Returns when the device has ended what early waits left with these addresses, NULL: with any. To
// be called before they are used again, or freed.
void ln_group_finish(ln_group *group, tl_tensor *const *addresses);

// The same in a run of `ctx`: LN_TIMEOUT or LN_CANCELLED if that has to end before.
ln_status ln_group_finish_in_time(const ln_context *ctx, ln_group *group,
                                  tl_tensor *const *addresses);

bool ln_op_is_wait(const ln_op *op);
const char *ln_wait_group(const ln_op *wait); // the name of the group's first operator

// The group of those given that `wait` names; NULL: none of them, or `wait` is another operator.
ln_group *ln_group_of_wait(ln_group *const *groups, size_t count, const ln_op *wait);

#endif
