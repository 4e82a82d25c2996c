/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: what the library has to say beyond the status of a call, such as warnings.
 *
 * They go to the handler that the program sets. Without one they are dropped: the library itself
 * never prints. A message of an error level is also recorded as the thread's last failure.
 *
 *     static void print(const ln_msg *msg, void *user)
 *     {
 *         if (msg->level < LN_MSG_DEBUG)
 *             fprintf(user, "%s: %s\n", ln_msg_level_name(msg->level), msg->text);
 *     }
 *     ln_msg_set_handler(print, stderr);
 */

#ifndef LIGHTNET_MSG_H
#define LIGHTNET_MSG_H

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* INTER levels speak of defects in the library, SYS levels append the reason in errno. */
typedef enum ln_msg_level {
    LN_MSG_ERROR = 0,
    LN_MSG_ERROR_SYS,
    LN_MSG_INTER_ERROR,
    LN_MSG_INTER_ERROR_SYS,
    LN_MSG_WARN,
    LN_MSG_WARN_SYS,
    LN_MSG_INTER_WARN,
    LN_MSG_INTER_WARN_SYS,
    LN_MSG_DEBUG,
    LN_MSG_INFO,
    LN_MSG_LEVEL_SIZE
} ln_msg_level;

/* Bytes of a message, the final zero included; longer ones are cut. */
#define LN_MSG_BYTES 4096

struct ln_msg {
    ln_msg_level level;
    int err; /* errno when the message was made; 0 for levels other than SYS */
    union {
        char *text;
        char *err_str; /* the same, as old programs call it */
    };
};
typedef struct ln_msg ln_msg;

typedef void (*ln_msg_handler)(const ln_msg *msg, void *user);

/* A word for the level: "error", "internal error", "warning", "internal warning", "debug", "info";
 * "unknown" for other values. */
LN_API const char *ln_msg_level_name(ln_msg_level level);

/* Sets who gets the messages; NULL drops them. The message is valid during the call. The handler
 * runs on the thread that has something to say and must not emit messages itself.
 * Set it before other threads use the library. */
LN_API void ln_msg_set_handler(ln_msg_handler handler, void *user);

/* A message with a printf-made text, to which SYS levels append ": " and the text of errno.
 * NULL with a recorded failure when memory is gone or the level is unknown. */
LN_API ln_msg *ln_msg_create(ln_msg_level level, const char *fmt, ...) LN_PRINTF(2, 3);

/* NULL is fine. */
LN_API void ln_msg_free(ln_msg *msg);

/* Records a message of an error level as a failure (LN_INVALID; LN_INTERNAL for INTER levels),
 * passes it to the handler, frees it and sets *msg to NULL. NULL and *msg NULL are fine. */
LN_API void ln_msg_handle(ln_msg **msg);

/* Creates and handles a message in one step, without allocating. */
LN_API void ln_msg_emit(ln_msg_level level, const char *fmt, ...) LN_PRINTF(2, 3);

#define ln_msg_error(...)           ln_msg_emit(LN_MSG_ERROR, __VA_ARGS__)
#define ln_msg_error_sys(...)       ln_msg_emit(LN_MSG_ERROR_SYS, __VA_ARGS__)
#define ln_msg_inter_error(...)     ln_msg_emit(LN_MSG_INTER_ERROR, __VA_ARGS__)
#define ln_msg_inter_error_sys(...) ln_msg_emit(LN_MSG_INTER_ERROR_SYS, __VA_ARGS__)
#define ln_msg_warn(...)            ln_msg_emit(LN_MSG_WARN, __VA_ARGS__)
#define ln_msg_warn_sys(...)        ln_msg_emit(LN_MSG_WARN_SYS, __VA_ARGS__)
#define ln_msg_inter_warn(...)      ln_msg_emit(LN_MSG_INTER_WARN, __VA_ARGS__)
#define ln_msg_inter_warn_sys(...)  ln_msg_emit(LN_MSG_INTER_WARN_SYS, __VA_ARGS__)
#define ln_msg_debug(...)           ln_msg_emit(LN_MSG_DEBUG, __VA_ARGS__)
#define ln_msg_info(...)            ln_msg_emit(LN_MSG_INFO, __VA_ARGS__)

LN_CPPEND

#endif
