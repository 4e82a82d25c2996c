// SPDX-License-Identifier: Apache-2.0
// Messages of LightNet to the loggers of clients: each comes up in the thread of a call, which has
// noted its logger there.

#include "compat/ort/ort.h"

static _Thread_local const ort_logger *current;

const ort_logger *ort_log_to(const ort_logger *logger)
{
    const ort_logger *before = current;
    current = logger;
    return before;
}

void ort_log(ort_severity severity, const char *text)
{
    const ort_logger *logger = current;
    if (logger && logger->function && (int)severity >= logger->severity)
        logger->function(logger->user, severity, "lightnet", logger->id, "liblightnet-ort", text);
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
