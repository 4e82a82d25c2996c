// SPDX-License-Identifier: Apache-2.0
// Which sanitizers a test is built with, 0 or 1: gcc defines a macro for each, clang has features.

#ifndef LN_TESTS_SANITIZER_H
#define LN_TESTS_SANITIZER_H

#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#define TEST_HAS_FEATURE(name) __has_feature(name)
#else
#define TEST_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || TEST_HAS_FEATURE(address_sanitizer)
#define TEST_ASAN 1
#else
#define TEST_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || TEST_HAS_FEATURE(thread_sanitizer)
#define TEST_TSAN 1
#else
#define TEST_TSAN 0
#endif

// How many of `count` cases are taken: a third where the address sanitizer makes each many times as
// long, as what it finds does not depend on how many of a kind there are. `make test-long` takes
// all.
static inline int test_share(int count)
{
    const char *is_long = getenv("LN_LONG");
    return TEST_ASAN && !(is_long && strcmp(is_long, "1") == 0) ? (count + 2) / 3 : count;
}

#endif
