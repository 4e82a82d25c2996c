// SPDX-License-Identifier: Apache-2.0
// Constants of strings, concatenation, splitting, case and stop words.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/regex.h"
#include "base/deadline.h"
#include "base/utf8.h"
#include "op/onnx/letters.h"
#include "op/onnx/text.h"
#include "op/prepare.h"
#include "tensor/elem.h"

static const char *string_at(const tl_tensor *tensor, size_t index)
{
    const char *string = ((const char *const *)tensor->data)[index];
    return string ? string : "";
}

ln_status ln_ref_strings(ln_call *call)
{
    for (int i = 0; i < ln_call_count(call, "data"); i++) {
        const char *string = ln_call_string_at(call, "data", i);
        LN_TRY(ln_call_set_string(call, 0, (size_t)i, string, strlen(string)));
    }
    return LN_OK;
}

// ---- StringConcat ----

// *buffer, which has `capacity` bytes, gets space for `needed`; scratch memory cannot grow.
static ln_status reserve(ln_call *call, char **buffer, size_t *capacity, size_t needed)
{
    if (needed <= *capacity)
        return LN_OK;
    if (needed > SIZE_MAX / 2)
        return ln_call_fail(call, LN_LIMIT, "a string of %zu bytes", needed);
    *buffer = ln_call_scratch(call, 2 * needed, 1);
    *capacity = *buffer ? 2 * needed : 0;
    return *buffer ? LN_OK : ln_error_status();
}

ln_status ln_ref_string_concat(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    const tl_tensor *dst = ln_call_dst(call, 0);
    int64_t strides_a[TL_MAXDIM], strides_b[TL_MAXDIM];
    ln_broadcast_strides(a, dst->ndim, strides_a);
    ln_broadcast_strides(b, dst->ndim, strides_b);
    char *buffer = NULL;
    size_t capacity = 0;
    for (int i = 0; i < dst->len && !ln_deadline_passed_at((size_t)i); i++) {
        int64_t at_a = 0, at_b = 0;
        for (int d = dst->ndim - 1, left = i; d >= 0; d--) {
            at_a += left % dst->dims[d] * strides_a[d];
            at_b += left % dst->dims[d] * strides_b[d];
            left /= dst->dims[d];
        }
        const char *head = string_at(a, (size_t)at_a), *tail = string_at(b, (size_t)at_b);
        size_t head_len = strlen(head), tail_len = strlen(tail);
        LN_TRY(reserve(call, &buffer, &capacity, head_len + tail_len + 1));
        memcpy(buffer, head, head_len);
        memcpy(buffer + head_len, tail, tail_len);
        LN_TRY(ln_call_set_string(call, 0, (size_t)i, buffer, head_len + tail_len));
    }
    return LN_OK;
}

// ---- StringSplit ----

ln_status ln_ref_string_split(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *parts = ln_call_dst(call, 0);
    tl_tensor *counts = ln_call_dst(call, 1);
    size_t width = parts ? (size_t)parts->dims[parts->ndim - 1] : 0;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        ln_splitter splitter = ln_split_start(call, string_at(src, i));
        const char *part;
        size_t count = 0, len;
        while (ln_split_next(&splitter, &part, &len)) {
            if (parts)
                LN_TRY(ln_call_set_string(call, 0, i * width + count, part, len));
            count++;
        }
        if (counts)
            ln_elem_set_int(counts, i, (int64_t)count);
        for (; count < width; count++)
            LN_TRY(ln_call_set_string(call, 0, i * width + count, "", 0));
    }
    return LN_OK;
}

// ---- StringNormalizer ----

typedef enum letter_case { CASE_KEPT, CASE_LOWER, CASE_UPPER } letter_case;

static ln_status read_case(ln_call *call, letter_case *out_case)
{
    static const char *const names[] = {"NONE", "LOWER", "UPPER"};
    const char *name = ln_call_string(call, "case_change_action");
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        *out_case = (letter_case)i;
        return LN_OK;
    }
    return ln_call_fail(call, LN_INVALID, "case_change_action \"%s\" is none of NONE, LOWER, UPPER",
                        name);
}

// Strings in another case, in one buffer that grows.
typedef struct recaser {
    letter_case wanted;
    char *buffer;
    size_t capacity;
} recaser;

static ln_status set_in_case(ln_call *call, size_t at, const char *string, recaser *r)
{
    size_t len = strlen(string), out_len = 0;
    if (r->wanted == CASE_KEPT)
        return ln_call_set_string(call, 0, at, string, len);
    if (len >= SIZE_MAX / LN_UTF8_MAX_LEN)
        return ln_call_fail(call, LN_LIMIT, "a string of %zu bytes", len);
    LN_TRY(reserve(call, &r->buffer, &r->capacity, (len + 1) * LN_UTF8_MAX_LEN));
    while (*string) {
        uint32_t code;
        string += ln_utf8_get(string, &code);
        code = r->wanted == CASE_LOWER ? ln_letter_lower(code) : ln_letter_upper(code);
        out_len += ln_utf8_put(code, r->buffer + out_len);
    }
    return ln_call_set_string(call, 0, at, r->buffer, out_len);
}

ln_status ln_ref_string_normalizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    recaser r = {.wanted = CASE_KEPT};
    LN_TRY(read_case(call, &r.wanted));
    size_t count = 0;
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        const char *string = string_at(src, i);
        if (!ln_is_stop_word(call, string))
            LN_TRY(set_in_case(call, count++, string, &r));
    }
    return count ? LN_OK : ln_call_set_string(call, 0, 0, "", 0);
}

static ln_status read_pattern(ln_call *call, const ln_regex **pattern)
{
    return ln_regex_compile(call, ln_call_string(call, "pattern"), pattern);
}

LN_PREPARE(ln_ref_prepare_regex_full_match, const ln_regex *, read_pattern)

// ---- RegexFullMatch ----

ln_status ln_ref_regex_full_match(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const ln_regex *const *pattern = ln_call_prepared(call);
    ln_regex_search *search;
    LN_TRY(ln_regex_begin(call, *pattern, &search));
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        bool matches;
        LN_TRY(ln_regex_matches(call, search, string_at(src, i), &matches));
        ln_elem_set_int(ln_call_dst(call, 0), i, matches);
    }
    return LN_OK;
}
