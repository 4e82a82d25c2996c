// SPDX-License-Identifier: Apache-2.0
// Random numbers for property tests: the same ones at every run.
//
//     test_random random = test_random_start();
//     size_t n = test_random_below(&random, 10);
//
// The seed is printed; LN_TEST_SEED sets another one.

#ifndef LN_TESTS_RANDOM_H
#define LN_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct test_random {
    uint64_t state;
} test_random;

static inline test_random test_random_start(void)
{
    const char *seed = getenv("LN_TEST_SEED");
    test_random random = {.state = seed ? strtoull(seed, NULL, 10) : 20240521};
    printf("seed: LN_TEST_SEED=%llu\n", (unsigned long long)random.state);
    return random;
}

// splitmix64
static inline uint64_t test_random_next(test_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// 0..limit-1; `limit` is not 0.
static inline size_t test_random_below(test_random *random, size_t limit)
{
    return (size_t)(test_random_next(random) % limit);
}

#endif
