// SPDX-License-Identifier: Apache-2.0
// Elements of tensors of strings.

#include "compat/ort/ort.h"

#include <string.h>

static ort_status *need_strings(const ort_value *value)
{
    NEED(value);
    return value->shape.type == ORT_STRING ? NULL
                                           : ort_fail(ORT_INVALID_ARGUMENT, "no tensor of strings");
}

static const char *string_at(const ort_value *value, size_t index)
{
    const char *text = ((const char *const *)value->data)[index];
    return text ? text : "";
}

ort_status *ort_string_set(ort_value *value, const char *text, size_t index)
{
    ort_status *status = need_strings(value);
    if (status)
        return status;
    NEED(text);
    if (index >= value->count)
        return ort_fail(ORT_INVALID_ARGUMENT, "element %zu, of %zu", index, value->count);
    return ln_object_set_string(value->object, index, text, strlen(text)) == LN_OK
               ? NULL
               : ort_fail_lightnet(ORT_INVALID_ARGUMENT);
}

static ort_status *FillStringTensor(ort_value *value, const char *const *texts, size_t count)
{
    ort_status *status = need_strings(value);
    if (status)
        return status;
    if (count != value->count)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu strings for %zu elements", count, value->count);
    if (count > 0)
        NEED(texts);
    for (size_t i = 0; i < count && !status; i++)
        status = ort_string_set(value, texts[i], i);
    return status;
}

static ort_status *GetStringTensorDataLength(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    ort_status *status = need_strings(value);
    for (size_t i = 0; !status && i < value->count; i++)
        *out += strlen(string_at(value, i));
    return status;
}

static ort_status *GetStringTensorContent(const ort_value *value, void *bytes, size_t byte_count,
                                          size_t *offsets, size_t offset_count)
{
    size_t needed = 0;
    ort_status *status = GetStringTensorDataLength(value, &needed);
    if (status)
        return status;
    if (byte_count < needed || offset_count < value->count || (needed > 0 && !bytes) ||
        (value->count > 0 && !offsets))
        return ort_fail(ORT_INVALID_ARGUMENT,
                        "room for %zu bytes and %zu offsets, of %zu bytes and %zu elements",
                        byte_count, offset_count, needed, value->count);
    size_t at = 0;
    for (size_t i = 0; i < value->count; i++) {
        size_t len = strlen(string_at(value, i));
        offsets[i] = at;
        if (len > 0)
            memcpy((char *)bytes + at, string_at(value, i), len);
        at += len;
    }
    return NULL;
}

static ort_status *GetStringTensorElementLength(const ort_value *value, size_t index, size_t *out)
{
    OUT(out, 0);
    ort_status *status = need_strings(value);
    if (status)
        return status;
    if (index >= value->count)
        return ort_fail(ORT_INVALID_ARGUMENT, "element %zu, of %zu", index, value->count);
    *out = strlen(string_at(value, index));
    return NULL;
}

static ort_status *GetStringTensorElement(const ort_value *value, size_t byte_count, size_t index,
                                          void *bytes)
{
    size_t len = 0;
    ort_status *status = GetStringTensorElementLength(value, index, &len);
    if (status)
        return status;
    NEED(bytes);
    if (byte_count < len)
        return ort_fail(ORT_INVALID_ARGUMENT, "room for %zu bytes, of %zu", byte_count, len);
    memcpy(bytes, string_at(value, index), len);
    return NULL;
}

const ort_row ort_string_slots[] = {
    SLOT(FillStringTensor),
    SLOT(GetStringTensorDataLength),
    SLOT(GetStringTensorContent),
    SLOT(GetStringTensorElementLength),
    SLOT(GetStringTensorElement),
    SLOT_AS(FillStringTensorElement, ort_string_set),
    SLOT_END,
};
