// SPDX-License-Identifier: Apache-2.0
// Messages of LightNet to the loggers of clients: each comes up in the thread of a call, which has
// noted its logger there.

#include "compat/ort/ort.h"

#include <stdio.h>

static _Thread_local const ort_logger *current;

const ort_logger *ort_log_to(const ort_logger *logger)
{
    const ort_logger *before = current;
    current = logger;
    return before;
}

const ort_logger *ort_log_current(void)
{
    return current;
}

void ort_log_at(int severity, const char *location, const char *text)
{
    const ort_logger *logger = current;
    if (logger && logger->function && severity >= logger->severity)
        logger->function(logger->user, severity, "lightnet", logger->id, location, text);
}

void ort_log(ort_severity severity, const char *text)
{
    ort_log_at(severity, "liblightnet-ort", text);
}

ort_status *ort_log_failure(ort_status *status)
{
    if (status)
        ort_log(ORT_ERROR, ort_status_text(status));
    return status;
}

static void pass_on(const ln_msg *msg, void *user)
{
    static const ort_severity severities[LN_MSG_LEVEL_SIZE] = {
        [LN_MSG_ERROR] = ORT_ERROR,        [LN_MSG_ERROR_SYS] = ORT_ERROR,
        [LN_MSG_INTER_ERROR] = ORT_ERROR,  [LN_MSG_INTER_ERROR_SYS] = ORT_ERROR,
        [LN_MSG_WARN] = ORT_WARNING,       [LN_MSG_WARN_SYS] = ORT_WARNING,
        [LN_MSG_INTER_WARN] = ORT_WARNING, [LN_MSG_INTER_WARN_SYS] = ORT_WARNING,
        [LN_MSG_DEBUG] = ORT_VERBOSE,      [LN_MSG_INFO] = ORT_INFO,
    };
    (void)user;
    if ((unsigned)msg->level < LN_MSG_LEVEL_SIZE)
        ort_log(severities[msg->level], msg->text);
}

static void start(void)
{
    ln_msg_set_handler(pass_on, NULL);
}

void ort_log_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, start);
}

// ---- Loggers that kernels ask for: each is that of the call which the thread is in ----

static const char logger_of_call;

static ort_status *KernelInfo_GetLogger(const void *info, const void **out)
{
    OUT(out, NULL);
    NEED(info);
    *out = &logger_of_call;
    return NULL;
}

static ort_status *KernelContext_GetLogger(const void *context, const void **out)
{
    OUT(out, NULL);
    NEED(context);
    *out = &logger_of_call;
    return NULL;
}

static ort_status *Logger_LogMessage(const void *logger, int severity, const char *message,
                                     const char *file, int line, const char *function)
{
    char location[512];
    NEED(logger);
    NEED(message);
    snprintf(location, sizeof location, "%s:%d %s", file ? file : "", line,
             function ? function : "");
    ort_log_at(severity, location, message);
    return NULL;
}

static ort_status *Logger_GetLoggingSeverityLevel(const void *logger, int *out)
{
    OUT(out, 0);
    NEED(logger);
    *out = current ? current->severity : ORT_WARNING;
    return NULL;
}

const ort_row ort_log_slots[] = {
    SLOT(KernelInfo_GetLogger),
    SLOT(KernelContext_GetLogger),
    SLOT(Logger_LogMessage),
    SLOT(Logger_GetLoggingSeverityLevel),
    SLOT_END,
};
