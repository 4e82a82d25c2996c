// SPDX-License-Identifier: Apache-2.0
// Taking turns.

#include "ir/turn.h"

#include <time.h>

#include "base/deadline.h"
#include "ir/phase.h"

// How often who waits looks whether to wait on, if that can end early.
#define LOOK_NS 5000000

bool ln_changes_init(pthread_cond_t *changed)
{
    pthread_condattr_t clock;
    if (pthread_condattr_init(&clock) != 0)
        return false;
    bool is_made = pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0 &&
                   pthread_cond_init(changed, &clock) == 0;
    pthread_condattr_destroy(&clock);
    return is_made;
}

ln_status ln_changes_wait(pthread_cond_t *changed, pthread_mutex_t *lock, const ln_context *caller)
{
    if (ln_deadline_get() == 0 && !ln_cancel_watched()) {
        pthread_cond_wait(changed, lock);
        return LN_OK;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(changed, lock, &until);
    return ln_phase_check(caller, NULL);
}

ln_status ln_turn_init(ln_turn *turn)
{
    turn->is_taken = false;
    if (pthread_mutex_init(&turn->lock, NULL) == 0) {
        if (ln_changes_init(&turn->changed))
            return LN_OK;
        pthread_mutex_destroy(&turn->lock);
    }
    return LN_FAIL(LN_NO_MEMORY, "out of memory for a lock");
}

void ln_turn_deinit(ln_turn *turn)
{
    pthread_cond_destroy(&turn->changed);
    pthread_mutex_destroy(&turn->lock);
}

ln_status ln_turn_take(ln_turn *turn, const ln_context *caller)
{
    ln_status status = LN_OK;
    pthread_mutex_lock(&turn->lock);
    while (turn->is_taken && status == LN_OK)
        status = ln_changes_wait(&turn->changed, &turn->lock, caller);
    if (status == LN_OK)
        turn->is_taken = true;
    pthread_mutex_unlock(&turn->lock);
    return status;
}

void ln_turn_give(ln_turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    turn->is_taken = false;
    pthread_cond_signal(&turn->changed);
    pthread_mutex_unlock(&turn->lock);
}
