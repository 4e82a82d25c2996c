// SPDX-License-Identifier: Apache-2.0
// Running out of memory on purpose: the library's allocator, refusing from the nth request on.
//
//     OOM_SWEEP(n) {                  // n = 0, 1, 2, ... until nothing was refused
//         ln_graph *copy = ln_graph_copy(graph);
//         ...
//     }
//
// The body runs with the failing allocator. After each round it must have freed all it allocated.
// Checks in it may fail, and then leave the failing allocator behind: that test has failed anyway.
// Under the address sanitizer, behind the first 30 rounds, each third request is the first that is
// refused. Under the thread sanitizer, to which memory is all the same, there is one round, in
// which nothing is refused.

#ifndef LN_TESTS_OOM_H
#define LN_TESTS_OOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "tests/test.h"

#if defined(__SANITIZE_THREAD__)
#define TEST_OOM_FIRST SIZE_MAX
#else
#define TEST_OOM_FIRST 0
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TEST_OOM_STEP 3 // behind TEST_OOM_ALL
#else
#define TEST_OOM_STEP 1
#endif

#define TEST_OOM_ALL 30

typedef struct test_oom {
    size_t allowed;  // requests to be granted before the first refusal
    size_t requests; // so far
    size_t refused;
    long live; // blocks
} test_oom;

static inline void *test_oom_resize(void *user, void *p, size_t size)
{
    test_oom *oom = user;
    if (oom->requests++ >= oom->allowed) {
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
static inline void test_oom_start(test_oom *oom, size_t allowed)
{
    *oom = (test_oom){.allowed = allowed};
    ln_allocator_set(
        &(ln_allocator){.resize = test_oom_resize, .release = test_oom_release, .user = oom});
}

static inline void test_oom_stop(void)
{
    ln_allocator_set(NULL);
}

// Ends a round; true if another one with more memory follows.
static inline int test_oom_again(test_oom *oom, size_t *n)
{
    test_oom_stop();
    CHECK_EQ(oom->live, 0);
    if (oom->refused == 0)
        return 0;
    *n += *n < TEST_OOM_ALL ? 1 : TEST_OOM_STEP;
    test_oom_start(oom, *n);
    return 1;
}

#define OOM_SWEEP(n)                                                                               \
    test_oom oom_##n;                                                                              \
    size_t n = 0;                                                                                  \
    test_oom_start(&oom_##n, TEST_OOM_FIRST);                                                      \
    for (int run_##n = 1; run_##n; run_##n = test_oom_again(&oom_##n, &n))

#endif
