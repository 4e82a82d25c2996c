// SPDX-License-Identifier: Apache-2.0
// Unit tests: a thin layer over cmocka.
//
//     TEST(neighbours_reuse_memory) { CHECK_EQ(1 + 1, 2); }
//     TEST_LIST(neighbours_reuse_memory)
//
// The name is the claim. `x_test NAME` runs the tests whose name matches NAME (`*` is allowed).

#ifndef LN_TESTS_TEST_H
#define LN_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <lightnet/status.h>

// An error of the compiler if `a` is floating: cmocka would compare whole parts. CHECK_NEAR(a, b,
// 0) compares numbers.
#define CHECK_IS_WHOLE(a)                                                                          \
    ((void)sizeof(struct {                                                                         \
        _Static_assert(_Generic((a), float : 0, double : 0, long double : 0, default : 1),         \
                       "numbers with a fraction are compared by CHECK_NEAR");                      \
        int needs_a_member;                                                                        \
    }))

#define TEST(name) static void name(void **test_state_ __attribute__((unused)))

#define CHECK(cond)                    assert_true(cond)
#define CHECK_EQ(a, b)                 (CHECK_IS_WHOLE(a), CHECK_IS_WHOLE(b), assert_int_equal((a), (b)))
#define CHECK_NE(a, b)                 (CHECK_IS_WHOLE(a), CHECK_IS_WHOLE(b), assert_int_not_equal((a), (b)))
#define CHECK_PTR_EQ(a, b)             assert_ptr_equal((a), (b))
#define CHECK_NULL(p)                  assert_null(p)
#define CHECK_NOT_NULL(p)              assert_non_null(p)
#define CHECK_STR_EQ(a, b)             assert_string_equal((a), (b))
#define CHECK_MEM_EQ(a, b, byte_count) assert_memory_equal((a), (b), (byte_count))

// `expr` succeeds; prints the library's message otherwise.
#define CHECK_OK(expr)                                                                             \
    do {                                                                                           \
        ln_status check_status_ = (expr);                                                          \
        if (check_status_ != LN_OK)                                                                \
            fail_msg("%s: %s: %s", #expr, ln_status_name(check_status_), ln_error_message());      \
    } while (0)

// `expr` fails with `status`.
#define CHECK_FAILS(expr, status)                                                                  \
    do {                                                                                           \
        ln_status check_status_ = (expr);                                                          \
        if (check_status_ != (status))                                                             \
            fail_msg("%s: %s instead of %s: %s", #expr, ln_status_name(check_status_), #status,    \
                     ln_error_message());                                                          \
    } while (0)

// The thread's last message contains `text`.
#define CHECK_MESSAGE(text)                                                                        \
    do {                                                                                           \
        if (!strstr(ln_error_message(), (text)))                                                   \
            fail_msg("message \"%s\" does not contain \"%s\"", ln_error_message(), (text));        \
    } while (0)

// |a - b| <= tolerance; NaN equals NaN.
#define CHECK_NEAR(a, b, tolerance)                                                                \
    do {                                                                                           \
        double check_a_ = (a), check_b_ = (b);                                                     \
        double check_gap_ = check_a_ < check_b_ ? check_b_ - check_a_ : check_a_ - check_b_;       \
        if (!(check_gap_ <= (tolerance)) && !(check_a_ != check_a_ && check_b_ != check_b_) &&     \
            check_a_ != check_b_)                                                                  \
            fail_msg("%s = %.9g, expected %.9g (tolerance %.3g)", #a, check_a_, check_b_,          \
                     (double)(tolerance));                                                         \
    } while (0)

// Ends the test without a verdict; the reason is printed.
#define SKIP(reason)                                                                               \
    do {                                                                                           \
        print_message("skipped: %s\n", (reason));                                                  \
        skip();                                                                                    \
    } while (0)

// ---- TEST_LIST(a, b, ...): expands to main ----

#define TEST_EXPAND1(...) TEST_EXPAND2(TEST_EXPAND2(TEST_EXPAND2(TEST_EXPAND2(__VA_ARGS__))))
#define TEST_EXPAND2(...) TEST_EXPAND3(TEST_EXPAND3(TEST_EXPAND3(TEST_EXPAND3(__VA_ARGS__))))
#define TEST_EXPAND3(...) TEST_EXPAND4(TEST_EXPAND4(TEST_EXPAND4(TEST_EXPAND4(__VA_ARGS__))))
#define TEST_EXPAND4(...) __VA_ARGS__
#define TEST_PARENS       ()
#define TEST_ROWS(first, ...)                                                                      \
    cmocka_unit_test(first), __VA_OPT__(TEST_ROWS_AGAIN TEST_PARENS(__VA_ARGS__))
#define TEST_ROWS_AGAIN() TEST_ROWS

#define TEST_LIST(...)                                                                             \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        const struct CMUnitTest tests[] = {TEST_EXPAND1(TEST_ROWS(__VA_ARGS__))};                  \
        if (argc > 1)                                                                              \
            cmocka_set_test_filter(argv[1]);                                                       \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }

#endif
