/* SPDX-License-Identifier: Apache-2.0 */
/* Errors are values: a status code, and a message with place and values for the thread.
 *
 * Every function that can fail returns an `ln_status`, or a pointer that is NULL on failure.
 * After a failure `ln_error_message()` tells what went wrong, where, and what would help.
 * The library never prints, exits, aborts or installs a handler.
 *
 *     if (ln_context_init(ctx, "model.net") != LN_OK)
 *         fprintf(stderr, "%s\n", ln_error_message());
 */

#ifndef LIGHTNET_STATUS_H
#define LIGHTNET_STATUS_H

#include <stdarg.h>

#include <lightnet/export.h>

LN_CPPSTART

/* The one list of status codes: X(name, text). Values are stable; new ones go to the end. */
#define LN_STATUS_LIST(X)                                                                          \
    X(LN_OK, "success")                                                                            \
    X(LN_INVALID, "invalid argument")                                                              \
    X(LN_NO_MEMORY, "out of memory")                                                               \
    X(LN_NOT_FOUND, "not found")                                                                   \
    X(LN_EXISTS, "exists already")                                                                 \
    X(LN_IO, "input or output failed")                                                             \
    X(LN_SYNTAX, "malformed input")                                                                \
    X(LN_UNSUPPORTED, "not supported")                                                             \
    X(LN_LIMIT, "over a limit")                                                                    \
    X(LN_STATE, "called in the wrong state")                                                       \
    X(LN_INTERNAL, "defect in the library")                                                        \
    X(LN_TIMEOUT, "out of time")                                                                   \
    X(LN_CANCELLED, "cancelled")

/* Where a program defines LN_CHECK_STATUS before it includes this header, clang warns of statuses
 * that are ignored; `(void)call()` says that one is dropped on purpose. */
#if defined(LN_CHECK_STATUS) && defined(__clang__)
#define LN_STATUS_CHECKED LN_MUST_USE
#else
#define LN_STATUS_CHECKED
#endif

typedef enum LN_STATUS_CHECKED ln_status {
#define LN_STATUS_ENUM(name, text) name,
    LN_STATUS_LIST(LN_STATUS_ENUM)
#undef LN_STATUS_ENUM
} ln_status;

/* The name of `status` as in the source, such as "LN_INVALID"; "LN_UNKNOWN" for other values. */
LN_API const char *ln_status_name(ln_status status);

/* One or two words for `status`, such as "invalid argument". Never NULL. */
LN_API const char *ln_status_text(ln_status status);

/* The message of the last failure on this thread; "" when there was none. Never NULL.
 * The text belongs to the thread and stays as it is until the next failure on it. */
LN_API const char *ln_error_message(void);

/* The status of the last failure on this thread; LN_OK when there was none. */
LN_API ln_status ln_error_status(void);

/* Forgets the last failure of this thread. */
LN_API void ln_error_clear(void);

/* Records a failure for this thread; for operators and readers written outside the library as much
 * as for our own code. The message is one sentence without a final full stop, names the thing at
 * fault and its values, and is cut at 4095 bytes. Allocates nothing. */
LN_API void ln_fail(ln_status status, const char *fmt, ...) LN_PRINTF(2, 3);
LN_API void ln_vfail(ln_status status, const char *fmt, va_list ap);

/* Puts "<prefix>: " in front of this thread's message, for a caller that knows the place
 * (a file, an operator). Returns the recorded status. */
LN_API ln_status ln_fail_prefix(const char *fmt, ...) LN_PRINTF(1, 2);

/* At the spot that knows why: `return LN_FAIL(LN_INVALID, "axis %d ...", axis);`. The result is the
 * status itself, so that the compiler sees the failure. */
#define LN_FAIL(status, ...) (ln_fail((status), __VA_ARGS__), (status))

/* Everywhere above it: hands a failure to the caller. Only where nothing has to be released. */
#define LN_TRY(expr)                                                                               \
    do {                                                                                           \
        ln_status ln_try_status_ = (expr);                                                         \
        if (ln_try_status_ != LN_OK)                                                               \
            return ln_try_status_;                                                                 \
    } while (0)

LN_CPPEND

#endif
