// SPDX-License-Identifier: Apache-2.0
// Which sanitizers a test is built with, 0 or 1: gcc defines a macro for each, clang has features.

#ifndef LN_TESTS_SANITIZER_H
#define LN_TESTS_SANITIZER_H

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

#endif
