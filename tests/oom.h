// SPDX-License-Identifier: Apache-2.0
// Running out of memory on purpose: the library's allocator, refusing from the nth request on, and
// then, in a second sweep, only the nth. After a single refusal the next request succeeds, so that
// a failure which somebody forgets is not found out a moment later.
//
//     OOM_SWEEP(n) {                  // n = 0, 1, 2, ... until nothing was refused; twice
//         ln_graph *copy = ln_graph_copy(graph);
//         ...
//     }
//
// The body runs with the failing allocator. After each round it must have freed all it allocated.
// Its results are LN_NO_MEMORY or right: after a single refusal they may be both.
// Checks in it may fail, and then leave the failing allocator installed: that test has failed
// anyway.
//
// Long sweeps take steps, so that they last no longer than one of each request would: after the
// first 200 rounds each second request is refused, of the single ones each fourth after the first
// 100. Under the address sanitizer it is each third, and each twelfth, after 30 rounds. Under the
// thread sanitizer, which does not look at memory, there is one round, in which nothing is refused.

#ifndef LN_TESTS_OOM_H
#define LN_TESTS_OOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/sanitizer.h"
#include "tests/test.h"

#if TEST_TSAN
#define TEST_OOM_FIRST SIZE_MAX
#else
#define TEST_OOM_FIRST 0
#endif

// Rounds without steps, and then the step, of both sweeps.
#if TEST_ASAN
static const size_t test_oom_all[2] = {30, 30}, test_oom_step[2] = {3, 12};
#else
static const size_t test_oom_all[2] = {200, 100}, test_oom_step[2] = {2, 4};
#endif

typedef struct test_oom {
    int is_single;   // only one request is refused
    size_t allowed;  // requests to be granted before the first refusal
    size_t requests; // so far
    size_t refused;
    long live; // blocks
} test_oom;

static inline void *test_oom_resize(void *user, void *p, size_t size)
{
    test_oom *oom = user;
    size_t request = oom->requests++;
    if (oom->is_single ? request == oom->allowed : request >= oom->allowed) {
        oom->refused++;
        return NULL;
    }
    void *resized = realloc(p, size);
    if (resized && !p)
        oom->live++;
    return resized;
}

static inline void test_oom_release(void *user, void *p)
{
    test_oom *oom = user;
    oom->live--;
    free(p);
}

// Memory from before is given back through the old way only if both use malloc, as here.
static inline void test_oom_install(test_oom *oom)
{
    ln_allocator_set(
        &(ln_allocator){.resize = test_oom_resize, .release = test_oom_release, .user = oom});
}

static inline void test_oom_start(test_oom *oom, size_t allowed)
{
    *oom = (test_oom){.allowed = allowed};
    test_oom_install(oom);
}

// Refuses one request, after `allowed` others.
static inline void test_oom_start_single(test_oom *oom, size_t allowed)
{
    *oom = (test_oom){.is_single = 1, .allowed = allowed};
    test_oom_install(oom);
}

static inline void test_oom_stop(void)
{
    ln_allocator_set(NULL);
}

// Ends a round; true if another one follows.
static inline int test_oom_again(test_oom *oom, size_t *n)
{
    test_oom_stop();
    CHECK_EQ(oom->live, 0);
    int is_single = oom->is_single, is_over = oom->refused == 0;
    if (is_over && (is_single || TEST_OOM_FIRST > 0))
        return 0;
    if (is_over)
        *n = 0;
    else
        *n += *n < test_oom_all[is_single] ? 1 : test_oom_step[is_single];
    if (is_single || is_over)
        test_oom_start_single(oom, *n);
    else
        test_oom_start(oom, *n);
    return 1;
}

#define OOM_SWEEP(n)                                                                               \
    test_oom oom_##n;                                                                              \
    size_t n = 0;                                                                                  \
    test_oom_start(&oom_##n, TEST_OOM_FIRST);                                                      \
    for (int run_##n = 1; run_##n; run_##n = test_oom_again(&oom_##n, &n))

#endif
