// SPDX-License-Identifier: Apache-2.0
// Waiting for other threads without losing sight of one's own time: who waits looks every few
// milliseconds whether the deadline of the phase has passed or its end was requested.

#ifndef LN_IR_TURN_H
#define LN_IR_TURN_H

#include <pthread.h>
#include <stdbool.h>

#include <lightnet/context.h>

// For `wait`. False: out of memory.
bool ln_changes_init(pthread_cond_t *changed);

// Waits until something has changed, in a phase of `caller`; LN_TIMEOUT or LN_CANCELLED if that is
// over. `lock` is held.
ln_status ln_changes_wait(pthread_cond_t *changed, pthread_mutex_t *lock, const ln_context *caller);

// What one thread at a time may have, for as long as compiling takes.
typedef struct ln_turn {
    pthread_mutex_t lock; // of the next
    pthread_cond_t changed;
    bool is_taken;
} ln_turn;

ln_status ln_turn_init(ln_turn *turn);
void ln_turn_deinit(ln_turn *turn);

// On failure, which is that of `wait`, there is nothing to give back.
ln_status ln_turn_take(ln_turn *turn, const ln_context *caller);
void ln_turn_give(ln_turn *turn);

#endif
