// SPDX-License-Identifier: Apache-2.0
// Runs that a client does not wait for: a queue of each session, and threads that live as long as
// there is work in it.
//
// A run in the queue holds the session, so that it may be released before the last one has ended,
// in a callback too. What the run works on stays the client's until its callback.

#include "compat/ort/ort.h"

// Threads of a session that run at once; more runs wait in the queue.
#define MAX_WORKERS 8

typedef void (*run_callback)(void *user, ort_value **outputs, size_t count, ort_status *status);

typedef struct ort_job {
    struct ort_job *next;
    ort_call call;
    run_callback callback;
    void *user;
} ort_job;

// The first run of the queue; NULL, and one worker fewer, if there is none.
static ort_job *take(ort_session *session)
{
    pthread_mutex_lock(&session->lock);
    ort_job *job = session->first_job;
    if (job)
        session->first_job = job->next;
    else
        session->worker_count--;
    if (!session->first_job)
        session->last_job = NULL;
    pthread_mutex_unlock(&session->lock);
    return job;
}

static void *work(void *arg)
{
    ort_session *session = arg;
    ort_job *job;
    while ((job = take(session))) {
        ort_status *status = ort_run(&job->call);
        // As in ONNX Runtime the status is the callback's to release, and outputs are none then.
        if (status)
            job->callback(job->user, NULL, 0, status);
        else
            job->callback(job->user, job->call.outputs, job->call.output_count, NULL);
        ln_free(job);
    }
    ort_session_release(session);
    return NULL;
}

static bool start_worker(ort_session *session)
{
    pthread_t thread;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    bool is_started = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0 &&
                      pthread_create(&thread, &attr, work, ort_session_retain(session)) == 0;
    pthread_attr_destroy(&attr);
    if (!is_started)
        ort_session_release(session);
    return is_started;
}

// With the lock held. False if there is no thread for the run, which is not in the queue then.
static bool add(ort_session *session, ort_job *job)
{
    if (session->worker_count < MAX_WORKERS) {
        if (start_worker(session))
            session->worker_count++;
        else if (session->worker_count == 0)
            return false;
    }
    if (session->last_job)
        session->last_job->next = job;
    else
        session->first_job = job;
    session->last_job = job;
    return true;
}

static ort_status *RunAsync(ort_session *session, ort_run_options *options,
                            const char *const *input_names, const ort_value *const *inputs,
                            size_t input_count, const char *const *output_names,
                            size_t output_count, ort_value **outputs, run_callback callback,
                            void *user)
{
    NEED(session);
    if (input_count > 0) {
        NEED(input_names);
        NEED(inputs);
    }
    if (output_count == 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "no output is asked for");
    NEED(output_names);
    NEED(outputs);
    NEED(callback);
    ort_job *job = ln_alloc(sizeof *job);
    if (!job)
        return ort_fail_memory();
    job->call = (ort_call){.session = session,
                           .options = options,
                           .input_names = input_names,
                           .inputs = inputs,
                           .input_count = input_count,
                           .output_names = output_names,
                           .outputs = outputs,
                           .output_count = output_count};
    job->callback = callback;
    job->user = user;
    pthread_mutex_lock(&session->lock);
    bool is_added = add(session, job);
    pthread_mutex_unlock(&session->lock);
    if (!is_added) {
        ln_free(job);
        return ort_fail(ORT_FAIL, "RunAsync: the system gives no thread");
    }
    return NULL;
}

const ort_row ort_async_slots[] = {SLOT(RunAsync), SLOT_END};
