// SPDX-License-Identifier: Apache-2.0
// A thread wakes up a second after the start, and from then on some times a second, and draws the
// line anew. The command itself only counts.

#include "progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/util.h>

#define FIRST_MILLISECONDS 1000
#define NEXT_MILLISECONDS  200
#define CLEAR_LINE         "\r\x1b[K"

static struct {
    pthread_t thread;
    pthread_mutex_t lock; // of all below, but for the counters
    pthread_cond_t wake;
    bool is_active;
    bool is_shown;
    double start;
    char what[256];
    char drawn[384]; // the line that is shown
    atomic_size_t done;
    atomic_size_t total; // 0: unknown
} p = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- Drawing; with the lock held ----

static void hide(void)
{
    if (p.is_shown)
        fputs(CLEAR_LINE, stderr);
    p.is_shown = false;
}

static size_t terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

static size_t count_columns(const char *line)
{
    size_t columns = 0;
    for (; *line; line++)
        columns += ((unsigned char)*line & 0xc0) != 0x80;
    return columns;
}

// A character of several bytes is kept or cut as a whole.
static void cut(char *line, size_t columns)
{
    char *c = line;
    for (; *c; c++) {
        if (((unsigned char)*c & 0xc0) != 0x80 && columns-- == 0)
            break;
    }
    *c = '\0';
}

// What is long, a path, makes way for what is news: how far it is. The last column is left to the
// cursor.
static void make_line(char *line, size_t size)
{
    char news[96];
    size_t done = atomic_load(&p.done), total = atomic_load(&p.total), used = 0;
    if (total > 0)
        used = (size_t)snprintf(news, sizeof news, ": %zu of %zu", done, total);
    snprintf(news + used, sizeof news - used, " (%.0f s)", ln_clock() - p.start);
    size_t width = terminal_width() - 1, room = width - strlen(news);
    snprintf(line, size, "%s", p.what);
    if (strlen(news) + 8 < width && count_columns(line) > room) {
        cut(line, room - 3);
        snprintf(line + strlen(line), size - strlen(line), "...");
    }
    snprintf(line + strlen(line), size - strlen(line), "%s", news);
    cut(line, width);
}

static void draw(void)
{
    char line[sizeof p.what + 128];
    make_line(line, sizeof line);
    if (p.is_shown && strcmp(line, p.drawn) == 0)
        return;
    snprintf(p.drawn, sizeof p.drawn, "%s", line);
    // The cursor goes back to the start: what somebody else prints overwrites the line.
    fprintf(stderr, CLEAR_LINE "%s\r", line);
    fflush(stderr);
    p.is_shown = true;
}

// ---- The thread ----

static struct timespec in_milliseconds(long milliseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += milliseconds * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void *show(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&p.lock);
    struct timespec next = in_milliseconds(FIRST_MILLISECONDS);
    while (p.is_active) {
        if (pthread_cond_timedwait(&p.wake, &p.lock, &next) == 0)
            continue; // woken up to look whether it is over
        draw();
        next = in_milliseconds(NEXT_MILLISECONDS);
    }
    hide();
    pthread_mutex_unlock(&p.lock);
    return NULL;
}

static bool is_wanted(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

static bool start_thread(void)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool is_started = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(&p.wake, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (!is_started)
        return false;
    p.is_active = true;
    if (pthread_create(&p.thread, NULL, show, NULL) == 0)
        return true;
    p.is_active = false;
    pthread_cond_destroy(&p.wake);
    return false;
}

// ---- For the command ----

void progress_begin(const char *fmt, ...)
{
    progress_end();
    if (!is_wanted())
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p.what, sizeof p.what, fmt, ap);
    va_end(ap);
    for (char *c = p.what; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?'; // what a file is called must not steer the terminal
    }
    atomic_store(&p.done, 0);
    atomic_store(&p.total, 0);
    p.start = ln_clock();
    start_thread(); // a command works without
}

void progress_set(size_t done, size_t total)
{
    atomic_store_explicit(&p.done, done, memory_order_relaxed);
    atomic_store_explicit(&p.total, total, memory_order_relaxed);
}

void progress_end(void)
{
    if (!p.is_active)
        return;
    pthread_mutex_lock(&p.lock);
    p.is_active = false;
    pthread_cond_signal(&p.wake);
    pthread_mutex_unlock(&p.lock);
    pthread_join(p.thread, NULL);
    pthread_cond_destroy(&p.wake);
}

void progress_lock(void)
{
    pthread_mutex_lock(&p.lock);
    hide();
}

void progress_unlock(void)
{
    pthread_mutex_unlock(&p.lock);
}
