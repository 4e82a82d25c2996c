// SPDX-License-Identifier: Apache-2.0
// Statuses: NULL, or a code and a text.

#include "compat/ort/ort.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ort_status {
    ort_code code;
    char text[];
};

static ort_status no_memory = {.code = ORT_FAIL};

ort_status *ort_status_new(ort_code code, const char *text)
{
    size_t len = strlen(text);
    ort_status *status = ln_alloc(sizeof *status + len + 1);
    if (!status)
        return &no_memory;
    status->code = code;
    memcpy(status->text, text, len + 1);
    return status;
}

ort_status *ort_fail(ort_code code, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return ort_status_new(code, text);
}

ort_status *ort_fail_memory(void)
{
    return ort_fail(ORT_FAIL, "out of memory");
}

ort_status *ort_fail_lightnet(ort_code invalid)
{
    ort_code code = ORT_FAIL;
    switch (ln_error_status()) {
    case LN_INVALID: code = invalid; break;
    case LN_NOT_FOUND: code = ORT_INVALID_ARGUMENT; break;
    case LN_SYNTAX: code = ORT_INVALID_PROTOBUF; break;
    case LN_UNSUPPORTED: code = ORT_NOT_IMPLEMENTED; break;
    default: break;
    }
    return ort_status_new(code, ln_error_message());
}

static ort_status *CreateStatus(ort_code code, const char *text)
{
    return ort_status_new(code, text ? text : "");
}

ort_code ort_status_code(const ort_status *status)
{
    return status ? status->code : ORT_OK;
}

const char *ort_status_text(const ort_status *status)
{
    return status == &no_memory ? "out of memory" : status ? status->text : "";
}

void ort_status_free(ort_status *status)
{
    if (status != &no_memory)
        ln_free(status);
}

const ort_row ort_status_slots[] = {
    SLOT(CreateStatus),
    SLOT_AS(GetErrorCode, ort_status_code),
    SLOT_AS(GetErrorMessage, ort_status_text),
    SLOT_AS(ReleaseStatus, ort_status_free),
    SLOT_END,
};
