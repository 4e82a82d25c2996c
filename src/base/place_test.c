// SPDX-License-Identifier: Apache-2.0
// Places: a thread goes where it is told not to stay away from.

#define _GNU_SOURCE // masks of processors

#include "base/place.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/test.h"

#ifdef __linux__

typedef struct wanderer {
    pthread_t thread;
    atomic_int place;
    atomic_bool is_ending;
} wanderer;

static void *note_place(void *argument)
{
    wanderer *w = argument;
    while (!atomic_load(&w->is_ending)) {
        atomic_store(&w->place, ln_place_now());
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return NULL;
}

static void check_leaves(wanderer *w, int place)
{
    atomic_store(&w->place, place);
    for (int i = 0; i < 1000 && atomic_load(&w->place) == place; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(atomic_load(&w->place) != place);
}

TEST(a_thread_leaves_the_place_it_is_kept_from)
{
    cpu_set_t before, after;
    CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2)
        SKIP("there is one processor");
    wanderer w = {.is_ending = false};
    CHECK_EQ(pthread_create(&w.thread, NULL, note_place, &w), 0);
    int barred = LN_PLACE_UNKNOWN;
    for (int place = 0; place < CPU_SETSIZE; place++) {
        if (!CPU_ISSET(place, &before))
            continue;
        CHECK(ln_place_apart(w.thread, place, 1, &barred));
        CHECK_EQ(barred, place);
        check_leaves(&w, place);
        CHECK_EQ(pthread_getaffinity_np(w.thread, sizeof after, &after), 0);
        CHECK_EQ(CPU_COUNT(&after), CPU_COUNT(&before) - 1); // the one before is allowed again
    }
    CHECK(!ln_place_apart(w.thread, LN_PLACE_UNKNOWN, 1, &barred));
    CHECK(!ln_place_apart(w.thread, barred, (size_t)CPU_COUNT(&before), &barred));
    atomic_store(&w.is_ending, true);
    pthread_join(w.thread, NULL);
}

TEST(a_thread_runs_where_it_may)
{
    cpu_set_t mask;
    CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof mask, &mask), 0);
    int place = ln_place_now();
    CHECK(place >= 0 && CPU_ISSET(place, &mask));
}

#else

TEST(a_thread_leaves_the_place_it_is_kept_from)
{
    int barred = LN_PLACE_UNKNOWN;
    CHECK(!ln_place_apart(pthread_self(), 0, 1, &barred));
}

TEST(a_thread_runs_where_it_may)
{
    CHECK_EQ(ln_place_now(), LN_PLACE_UNKNOWN);
}

#endif

TEST_LIST(a_thread_leaves_the_place_it_is_kept_from, a_thread_runs_where_it_may)
