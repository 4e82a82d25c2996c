// SPDX-License-Identifier: Apache-2.0
// Draws of the generator: true in so many of a hundred cases, one of a list.

#ifndef LN_TESTS_DIFFERENTIAL_DRAW_H
#define LN_TESTS_DIFFERENTIAL_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/random.h"

static inline bool chance(test_random *random, int percent)
{
    return test_random_below(random, 100) < (size_t)percent;
}

static inline int one_of(test_random *random, const int *values, int count)
{
    return values[test_random_below(random, (size_t)count)];
}

#define PICK(random, ...)                                                                          \
    one_of(random, (const int[]){__VA_ARGS__},                                                     \
           (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

#define WORD(random, ...)                                                                          \
    ((const char *const[]){__VA_ARGS__}[test_random_below(                                         \
        random, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

#endif
