// SPDX-License-Identifier: Apache-2.0
// Messages and the handler they go to.
//
// A message must get out when memory is gone, so emitting writes to the stack only.

#include <lightnet/msg.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

static const struct {
    const char *name;
    bool has_errno;
    ln_status status; // recorded as a failure if not LN_OK
} levels[] = {
    [LN_MSG_ERROR] = {"error", false, LN_INVALID},
    [LN_MSG_ERROR_SYS] = {"error", true, LN_INVALID},
    [LN_MSG_INTER_ERROR] = {"internal error", false, LN_INTERNAL},
    [LN_MSG_INTER_ERROR_SYS] = {"internal error", true, LN_INTERNAL},
    [LN_MSG_WARN] = {"warning", false, LN_OK},
    [LN_MSG_WARN_SYS] = {"warning", true, LN_OK},
    [LN_MSG_INTER_WARN] = {"internal warning", false, LN_OK},
    [LN_MSG_INTER_WARN_SYS] = {"internal warning", true, LN_OK},
    [LN_MSG_DEBUG] = {"debug", false, LN_OK},
    [LN_MSG_INFO] = {"info", false, LN_OK},
};

_Static_assert(sizeof levels / sizeof levels[0] == LN_MSG_LEVEL_SIZE, "each level has a row");

static struct {
    ln_msg_handler call;
    void *user;
} handler;

static bool is_level(ln_msg_level level)
{
    return (size_t)level < LN_MSG_LEVEL_SIZE;
}

// Writes the message to `text`, which has LN_MSG_BYTES bytes.
static void write_text(char *text, ln_msg_level level, int err, const char *fmt, va_list ap)
{
    char raw[LN_MSG_BYTES];
    if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
        raw[0] = '\0';
    ln_sprint_safe(text, LN_MSG_BYTES, raw);
    size_t len = strlen(text);
    if (!levels[level].has_errno)
        return;
    char reason[256];
    if (strerror_r(err, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "unknown error %d", err);
    snprintf(text + len, LN_MSG_BYTES - len, ": %s", reason);
}

static void deliver(const ln_msg *msg)
{
    if (levels[msg->level].status != LN_OK)
        ln_fail(levels[msg->level].status, "%s", msg->text);
    if (handler.call)
        handler.call(msg, handler.user);
}

const char *ln_msg_level_name(ln_msg_level level)
{
    return is_level(level) ? levels[level].name : "unknown";
}

void ln_msg_set_handler(ln_msg_handler call, void *user)
{
    handler.call = call;
    handler.user = user;
}

ln_msg *ln_msg_create(ln_msg_level level, const char *fmt, ...)
{
    int err = errno;
    if (!is_level(level)) {
        ln_fail(LN_INVALID, "%d is no message level", (int)level);
        return NULL;
    }
    char text[LN_MSG_BYTES];
    va_list ap;
    va_start(ap, fmt);
    write_text(text, level, err, fmt, ap);
    va_end(ap);

    ln_msg *msg = ln_alloc(sizeof *msg);
    char *copy = ln_strdup(text);
    if (!msg || !copy) {
        ln_free(msg);
        ln_free(copy);
        return NULL;
    }
    msg->level = level;
    msg->err = levels[level].has_errno ? err : 0;
    msg->text = copy;
    return msg;
}

void ln_msg_free(ln_msg *msg)
{
    if (!msg)
        return;
    ln_free(msg->text);
    ln_free(msg);
}

void ln_msg_handle(ln_msg **msg)
{
    if (!msg || !*msg)
        return;
    deliver(*msg);
    ln_msg_free(*msg);
    *msg = NULL;
}

void ln_msg_emit(ln_msg_level level, const char *fmt, ...)
{
    int err = errno;
    if (!is_level(level))
        level = LN_MSG_INTER_WARN;
    char text[LN_MSG_BYTES];
    va_list ap;
    va_start(ap, fmt);
    write_text(text, level, err, fmt, ap);
    va_end(ap);
    deliver(&(ln_msg){.level = level, .err = levels[level].has_errno ? err : 0, .text = text});
}
