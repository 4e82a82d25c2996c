// SPDX-License-Identifier: Apache-2.0
// Elements of tensors of strings, which have a length: any byte may be in them.

#include "compat/ort/ort.h"

#include <string.h>

static ort_status *need_strings(const ort_value *value)
{
    NEED(value);
    return value->texts ? NULL : ort_fail(ORT_FAIL, "the value is no tensor of strings");
}

static ort_status *need_string(const ort_value *value, size_t index)
{
    TRY(need_strings(value));
    return index < value->count
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT, "element %zu, of %zu", index, value->count);
}

// A buffer of `len` bytes for element `index`, with a 0 byte after them.
static ort_status *resize(ort_value *value, size_t index, size_t len, char **out)
{
    char *bytes = len < SIZE_MAX ? ln_alloc(len + 1) : NULL;
    if (!bytes)
        return ort_fail_memory();
    ln_free(value->texts[index].bytes);
    value->texts[index] = (ort_text){.bytes = bytes, .len = len};
    *out = bytes;
    return NULL;
}

ort_status *ort_text_set(ort_value *value, size_t index, const char *bytes, size_t len)
{
    char *buffer;
    if (value->texts[index].bytes == bytes && bytes)
        return NULL;
    TRY(resize(value, index, len, &buffer));
    if (len > 0)
        memcpy(buffer, bytes, len);
    return NULL;
}

static ort_status *FillStringTensorElement(ort_value *value, const char *text, size_t index)
{
    TRY(need_string(value, index));
    NEED(text);
    return ort_text_set(value, index, text, strlen(text));
}

static ort_status *FillStringTensor(ort_value *value, const char *const *texts, size_t count)
{
    TRY(need_strings(value));
    if (count != value->count)
        return ort_fail(ORT_INVALID_ARGUMENT, "%zu strings for %zu elements", count, value->count);
    if (count > 0)
        NEED(texts);
    for (size_t i = 0; i < count; i++)
        TRY(FillStringTensorElement(value, texts[i], i));
    return NULL;
}

static ort_status *GetResizedStringTensorElementBuffer(ort_value *value, size_t index, size_t len,
                                                       char **out)
{
    OUT(out, NULL);
    TRY(need_string(value, index));
    return resize(value, index, len, out);
}

static ort_status *GetStringTensorDataLength(const ort_value *value, size_t *out)
{
    OUT(out, 0);
    TRY(need_strings(value));
    for (size_t i = 0; i < value->count; i++)
        *out += value->texts[i].len;
    return NULL;
}

static ort_status *GetStringTensorContent(const ort_value *value, void *bytes, size_t byte_count,
                                          size_t *offsets, size_t offset_count)
{
    size_t needed = 0;
    TRY(GetStringTensorDataLength(value, &needed));
    if (byte_count < needed || offset_count < value->count || (needed > 0 && !bytes) ||
        (value->count > 0 && !offsets))
        return ort_fail(ORT_FAIL,
                        "the buffers have %zu bytes and %zu offsets, the value has %zu bytes and "
                        "%zu elements",
                        byte_count, offset_count, needed, value->count);
    size_t at = 0;
    for (size_t i = 0; i < value->count; i++) {
        const ort_text *text = &value->texts[i];
        offsets[i] = at;
        if (text->len > 0)
            memcpy((char *)bytes + at, text->bytes, text->len);
        at += text->len;
    }
    return NULL;
}

static ort_status *GetStringTensorElementLength(const ort_value *value, size_t index, size_t *out)
{
    OUT(out, 0);
    TRY(need_string(value, index));
    *out = value->texts[index].len;
    return NULL;
}

static ort_status *GetStringTensorElement(const ort_value *value, size_t byte_count, size_t index,
                                          void *bytes)
{
    TRY(need_string(value, index));
    NEED(bytes);
    const ort_text *text = &value->texts[index];
    if (byte_count < text->len)
        return ort_fail(ORT_FAIL, "the buffer has %zu bytes, the string %zu", byte_count,
                        text->len);
    if (text->len > 0)
        memcpy(bytes, text->bytes, text->len);
    return NULL;
}

const ort_row ort_string_slots[] = {
    SLOT(FillStringTensor),
    SLOT(FillStringTensorElement),
    SLOT(GetResizedStringTensorElementBuffer),
    SLOT(GetStringTensorDataLength),
    SLOT(GetStringTensorContent),
    SLOT(GetStringTensorElementLength),
    SLOT(GetStringTensorElement),
    SLOT_END,
};
