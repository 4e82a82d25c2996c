// SPDX-License-Identifier: Apache-2.0
// Profiles: how long a session took to be created, and each of its runs and operators, as events of
// the Trace Event Format (JSON), which viewers of such files show. Times are microseconds since the
// profile began.

#include "compat/ort/ort.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// As many as there; what follows is left out.
#define MAX_EVENTS 1000000

struct ort_profile {
    pthread_mutex_t lock; // of what follows: runs go on at once
    FILE *file;           // NULL: it has ended
    int event_count;
    char *name;
    int64_t began;      // nanoseconds of a clock that is never set
    uint64_t wall_time; // the same, since 1970
};

// ---- Time ----

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t ort_profile_now(const ort_profile *profile)
{
    return profile ? (read_clock(CLOCK_MONOTONIC) - profile->began) / 1000 : 0;
}

// ---- Life ----

static char *make_name(const char *prefix)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y-%m-%d_%H-%M-%S", &local);
    return ln_strdup_printf("%s_%s.json", prefix, stamp);
}

static ort_status *open_file(ort_profile *profile, const char *prefix)
{
    profile->name = make_name(prefix);
    if (!profile->name)
        return ort_fail_memory();
    profile->file = fopen(profile->name, "w");
    if (!profile->file)
        return ort_fail(ORT_FAIL, "cannot write the profile '%s': %s", profile->name,
                        strerror(errno));
    fputs("[\n", profile->file);
    return NULL;
}

ort_status *ort_profile_open(const char *prefix, ort_profile **out)
{
    ort_profile *profile = *out = ln_alloc(sizeof *profile);
    if (!profile)
        return ort_fail_memory();
    pthread_mutex_init(&profile->lock, NULL);
    profile->began = read_clock(CLOCK_MONOTONIC);
    profile->wall_time = (uint64_t)read_clock(CLOCK_REALTIME);
    return open_file(profile, prefix);
}

// With the lock. Later events go nowhere.
static ort_status *end_file(ort_profile *profile)
{
    if (!profile->file)
        return NULL;
    fputs("\n]\n", profile->file);
    bool has_failed = ferror(profile->file);
    has_failed = fclose(profile->file) != 0 || has_failed;
    profile->file = NULL;
    return has_failed
               ? ort_fail(ORT_FAIL, "the profile '%s' could not be written whole", profile->name)
               : NULL;
}

void ort_profile_close(ort_profile *profile)
{
    if (!profile)
        return;
    ort_status_free(ort_log_failure(end_file(profile)));
    pthread_mutex_destroy(&profile->lock);
    ln_free(profile->name);
    ln_free(profile);
}

// ---- Events ----

typedef struct event {
    const char *category, *name, *suffix;
    const char *type; // of an operator; NULL: of the session
    int64_t began, ended;
} event;

// From 1 on, in the order in which threads have events.
static int thread_number(void)
{
    static atomic_int count;
    static _Thread_local int number;
    if (number == 0)
        number = atomic_fetch_add(&count, 1) + 1;
    return number;
}

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
            fprintf(file, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, file);
}

static void put_event(FILE *file, const event *e, bool is_first)
{
    fprintf(file, "%s{\"cat\":\"%s\",\"pid\":%ld,\"tid\":%d,\"dur\":%lld,\"ts\":%lld,\"ph\":\"X\",",
            is_first ? "" : ",\n", e->category, (long)getpid(), thread_number(),
            (long long)(e->ended - e->began), (long long)e->began);
    fputs("\"name\":\"", file);
    put_text(file, e->name);
    fprintf(file, "%s\",\"args\":{", e->suffix);
    if (e->type) {
        fputs("\"op_name\":\"", file);
        put_text(file, e->type);
        fputs("\",\"provider\":\"CPUExecutionProvider\"", file);
    }
    fputs("}}", file);
}

static void add_event(ort_profile *profile, const event *e)
{
    pthread_mutex_lock(&profile->lock);
    if (profile->file && profile->event_count < MAX_EVENTS)
        put_event(profile->file, e, profile->event_count++ == 0);
    pthread_mutex_unlock(&profile->lock);
}

void ort_profile_note(ort_profile *profile, const char *what, int64_t began)
{
    if (profile)
        add_event(profile, &(event){.category = "Session",
                                    .name = what,
                                    .suffix = "",
                                    .began = began,
                                    .ended = ort_profile_now(profile)});
}

// ---- Runs ----

typedef struct watch {
    ort_profile *profile;
    int64_t began; // the operator that runs
} watch;

static void note_begin(void *user, const ln_op *op)
{
    watch *w = user;
    (void)op;
    w->began = ort_profile_now(w->profile);
}

static void note_end(void *user, const ln_op *op)
{
    const watch *w = user;
    add_event(w->profile, &(event){.category = "Node",
                                   .name = op->op_arg->name,
                                   .suffix = "_kernel_time",
                                   .type = op->op_arg->optype,
                                   .began = w->began,
                                   .ended = ort_profile_now(w->profile)});
}

ln_status ort_profile_run(ort_profile *profile, ln_session *run)
{
    watch w = {.profile = profile, .began = ort_profile_now(profile)};
    const ln_observer observer = {.before = note_begin, .after = note_end, .user = &w};
    int64_t began = w.began;
    LN_TRY(ln_session_set_observer(run, &observer));
    ln_status status = ln_session_run(run);
    (void)ln_session_set_observer(run, NULL);
    if (status == LN_OK)
        ort_profile_note(profile, "model_run", began);
    return status;
}

// ---- Asked by clients ----

// An empty name where there is no profile, as there.
static ort_status *SessionEndProfiling(ort_session *session, ort_allocator *allocator, char **out)
{
    OUT(out, NULL);
    NEED(session);
    NEED(allocator);
    ort_profile *profile = session->profile;
    if (!profile)
        return ort_copy_text(allocator, "", out);
    pthread_mutex_lock(&profile->lock);
    ort_status *status = end_file(profile);
    pthread_mutex_unlock(&profile->lock);
    return status ? status : ort_copy_text(allocator, profile->name, out);
}

static ort_status *SessionGetProfilingStartTimeNs(const ort_session *session, uint64_t *out)
{
    OUT(out, 0);
    NEED(session);
    *out = session->profile ? session->profile->wall_time : 0;
    return NULL;
}

const ort_row ort_profile_slots[] = {
    SLOT(SessionEndProfiling),
    SLOT(SessionGetProfilingStartTimeNs),
    SLOT_END,
};
