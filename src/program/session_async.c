// SPDX-License-Identifier: Apache-2.0
// Runs of a session in a thread of its own.
//
// The thread is made for the first such run and waits for the next, so that a run costs no thread.
// A process that was forked has the session without its thread.

#include "program/session_async.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/deadline.h"
#include "base/error_state.h"
#include "ir/turn.h"
#include "program/session.h"

typedef enum run_state {
    NO_RUN,  // the thread waits for one
    WANTED,  // the thread does it, or will do so
    FREEING, // the session is freed when the run has ended, which its callback asked for
    ENDING   // the thread is to end
} run_state;

struct ln_session_async {
    ln_session *session;
    pid_t process; // that has the thread
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    run_state state;        // with the lock held
    atomic_bool is_running; // from the start of a run to the end of its callback
    ln_session_done_func done;
    void *user;
    ln_error_state result; // of the last run
};

// Whose run this thread does.
static _Thread_local const ln_session *own_session;

// ---- In the thread ----

// Callbacks get the status as everybody does, with the reason in `ln_error_message`.
static void do_run(struct ln_session_async *async)
{
    ln_error_clear();
    ln_status status = ln_session_run_now(async->session);
    ln_error_save(&async->result);
    async->result.status = status;
    if (async->done)
        async->done(async->user, status);
}

// Waits for something to do; false if that is to end.
static bool wait_for_work(struct ln_session_async *async)
{
    pthread_mutex_lock(&async->lock);
    while (async->state == NO_RUN)
        pthread_cond_wait(&async->changed, &async->lock);
    bool is_wanted = async->state == WANTED;
    pthread_mutex_unlock(&async->lock);
    return is_wanted;
}

// True if the session is to be freed now.
static bool end_run(struct ln_session_async *async)
{
    pthread_mutex_lock(&async->lock);
    bool is_freeing = async->state == FREEING;
    if (async->state == WANTED)
        async->state = NO_RUN;
    atomic_store_explicit(&async->is_running, false, memory_order_release);
    pthread_cond_broadcast(&async->changed);
    pthread_mutex_unlock(&async->lock);
    return is_freeing;
}

static void *work(void *arg)
{
    struct ln_session_async *async = arg;
    while (wait_for_work(async)) {
        own_session = async->session;
        do_run(async);
        own_session = NULL;
        if (end_run(async)) {
            pthread_detach(pthread_self());
            ln_session_free(async->session); // with `async`
            break;
        }
    }
    return NULL;
}

// ---- The thread's life ----

static bool init_locks(struct ln_session_async *async)
{
    if (pthread_mutex_init(&async->lock, NULL) != 0)
        return false;
    if (ln_changes_init(&async->changed))
        return true;
    pthread_mutex_destroy(&async->lock);
    return false;
}

// Signals are for the threads of the program.
static bool start_thread(struct ln_session_async *async)
{
    sigset_t all, before;
    sigfillset(&all);
    bool is_masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    bool is_started = pthread_create(&async->thread, NULL, work, async) == 0;
    if (is_masked)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void destroy(struct ln_session_async *async)
{
    if (async->process == getpid()) {
        pthread_cond_destroy(&async->changed);
        pthread_mutex_destroy(&async->lock);
    }
    ln_free(async);
}

// A child process makes its own; what the parent's was is left as it is.
static ln_status need_thread(ln_session *session)
{
    if (session->async && session->async->process == getpid())
        return LN_OK;
    struct ln_session_async *async = ln_alloc(sizeof *async);
    if (!async)
        return LN_NO_MEMORY;
    async->session = session;
    async->process = getpid();
    if (!init_locks(async)) {
        ln_free(async);
        return LN_FAIL(LN_NO_MEMORY, "the system gives no lock for a run");
    }
    if (!start_thread(async)) {
        destroy(async);
        return LN_FAIL(LN_NO_MEMORY, "the system gives no thread for a run");
    }
    ln_free(session->async);
    session->async = async;
    return LN_OK;
}

static bool is_freeing(struct ln_session_async *async)
{
    pthread_mutex_lock(&async->lock);
    bool is = async->state == FREEING;
    pthread_mutex_unlock(&async->lock);
    return is;
}

bool ln_session_end_async(ln_session *session)
{
    struct ln_session_async *async = session->async;
    if (!async)
        return true;
    if (async->process == getpid() && own_session == session) {
        pthread_mutex_lock(&async->lock);
        async->state = FREEING;
        pthread_mutex_unlock(&async->lock);
        return false;
    }
    if (async->process == getpid() && !is_freeing(async)) {
        (void)ln_session_wait(session);
        pthread_mutex_lock(&async->lock);
        async->state = ENDING;
        pthread_cond_broadcast(&async->changed);
        pthread_mutex_unlock(&async->lock);
        pthread_join(async->thread, NULL);
    }
    destroy(async);
    session->async = NULL;
    return true;
}

// ---- Whether a run goes on ----

static bool is_running(const ln_session *session)
{
    return session && session->async &&
           atomic_load_explicit(&session->async->is_running, memory_order_acquire);
}

ln_status ln_session_check_ended(const ln_session *session)
{
    if (!is_running(session))
        return LN_OK;
    if (session->async->process != getpid())
        return LN_FAIL(LN_STATE, "the run of this session goes on in the process that forked; "
                                 "make another session");
    return LN_FAIL(LN_STATE, "a run of this session goes on; ln_session_wait waits for it");
}

ln_status ln_session_check_idle(const ln_session *session)
{
    return own_session && own_session == session ? LN_OK : ln_session_check_ended(session);
}

// ---- What programs call ----

ln_status ln_session_run_async(ln_session *session, ln_session_done_func done, void *user)
{
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    LN_TRY(ln_session_check_ended(session));
    LN_TRY(need_thread(session));
    struct ln_session_async *async = session->async;
    async->done = done;
    async->user = user;
    pthread_mutex_lock(&async->lock);
    async->state = WANTED;
    atomic_store_explicit(&async->is_running, true, memory_order_release);
    pthread_cond_broadcast(&async->changed);
    pthread_mutex_unlock(&async->lock);
    return LN_OK;
}

static ln_status check_waits(const ln_session *session)
{
    if (!session)
        return LN_FAIL(LN_INVALID, "the session is NULL");
    if (!session->async)
        return LN_FAIL(LN_STATE, "no run of this session was started; ln_session_run_async does");
    if (own_session == session)
        return LN_FAIL(LN_STATE, "the callback of a run cannot wait for that run");
    return session->async->process == getpid() ? LN_OK : ln_session_check_ended(session);
}

ln_status ln_session_poll(const ln_session *session, double seconds, int *out_has_ended)
{
    if (!out_has_ended)
        return LN_FAIL(LN_INVALID, "the place for the answer is NULL");
    *out_has_ended = 0;
    LN_TRY(check_waits(session));
    if (!(seconds >= 0))
        return LN_FAIL(LN_INVALID, "a time to wait of %g seconds is not possible", seconds);
    struct ln_session_async *async = session->async;
    int64_t most = (int64_t)1 << 60; // ns: 36 years
    int64_t wait_ns = seconds < 1e9 ? (int64_t)(seconds * 1e9) : most;
    int64_t until_ns = ln_now_ns() + wait_ns;
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                             .tv_nsec = (long)(until_ns % 1000000000)};
    pthread_mutex_lock(&async->lock);
    while (async->state == WANTED && wait_ns > 0 &&
           pthread_cond_timedwait(&async->changed, &async->lock, &until) != ETIMEDOUT)
        continue;
    *out_has_ended = async->state == NO_RUN;
    pthread_mutex_unlock(&async->lock);
    return LN_OK;
}

ln_status ln_session_wait(ln_session *session)
{
    LN_TRY(check_waits(session));
    struct ln_session_async *async = session->async;
    pthread_mutex_lock(&async->lock);
    while (async->state == WANTED)
        pthread_cond_wait(&async->changed, &async->lock);
    ln_status status = async->result.status;
    if (status != LN_OK)
        ln_error_restore(&async->result);
    pthread_mutex_unlock(&async->lock);
    return status;
}
