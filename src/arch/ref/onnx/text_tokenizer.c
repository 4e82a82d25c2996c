// SPDX-License-Identifier: Apache-2.0
// Tokenizer of com.microsoft.

#include "arch/ref/functions.h"

#include <string.h>

#include "arch/ref/onnx/regex.h"
#include "base/utf8.h"
#include "op/prepare.h"

// A part of a string of the input.
typedef struct piece {
    const char *text;
    size_t len;
} piece;

// What is made once.
typedef struct patterns {
    size_t min_chars;
    bool has_marks, is_by_chars, has_separators;
    int count;
    const ln_regex **regexes; // separators, or one for tokens
} patterns;

typedef struct tokenizer {
    ln_call *call;
    const patterns *patterns;
    ln_regex_search **searches; // one for each pattern
    piece *tokens, *cut;        // of the string at hand: a string of n bytes has at most n + 1
} tokenizer;

static size_t next_char(piece p, size_t at)
{
    uint32_t code;
    size_t len = at < p.len ? ln_utf8_get(p.text + at, &code) : 1;
    return at + len;
}

static bool is_long_enough(const tokenizer *t, piece p)
{
    size_t chars = 0;
    for (size_t at = 0; at < p.len && chars < t->patterns->min_chars; at = next_char(p, at))
        chars++;
    return chars >= t->patterns->min_chars;
}

static void add(const tokenizer *t, piece p, piece *tokens, size_t *count)
{
    if (is_long_enough(t, p))
        tokens[(*count)++] = p;
}

static void split_chars(const tokenizer *t, piece all, size_t *count)
{
    for (size_t at = 0, end; at < all.len; at = end) {
        end = next_char(all, at);
        add(t, (piece){all.text + at, end - at}, t->tokens, count);
    }
}

// A separator of no characters divides, and its next character belongs to no token, as in ONNX
// Runtime.
static ln_status cut_at(const tokenizer *t, ln_regex_search *separator, piece p, piece *out,
                        size_t *count)
{
    size_t at = 0, match = 0, len = 0;
    bool is_found;
    do {
        LN_TRY(ln_regex_find(t->call, separator, p.text, p.len, at, &is_found, &match, &len));
        if (!is_found)
            match = p.len;
        add(t, (piece){p.text + at, match - at}, out, count);
        at = len > 0 ? match + len : next_char(p, match);
    } while (is_found && at < p.len);
    return LN_OK;
}

static ln_status split_at_separators(tokenizer *t, piece all, size_t *count)
{
    t->tokens[0] = all;
    *count = 1;
    for (int s = 0; s < t->patterns->count; s++) {
        size_t cut_count = 0;
        for (size_t i = 0; i < *count; i++)
            LN_TRY(cut_at(t, t->searches[s], t->tokens[i], t->cut, &cut_count));
        piece *cut = t->cut;
        t->cut = t->tokens;
        t->tokens = cut;
        *count = cut_count;
    }
    return LN_OK;
}

static ln_status find_tokens(const tokenizer *t, piece all, size_t *count)
{
    size_t at = 0, match, len;
    bool is_found = true;
    while (at < all.len && is_found) {
        LN_TRY(
            ln_regex_find(t->call, t->searches[0], all.text, all.len, at, &is_found, &match, &len));
        if (!is_found)
            break;
        add(t, (piece){all.text + match, len}, t->tokens, count);
        at = len > 0 ? match + len : next_char(all, match);
    }
    return LN_OK;
}

// The tokens of a string, in t->tokens.
static ln_status split(tokenizer *t, const char *string, size_t *out_count)
{
    piece all = {string ? string : "", string ? strlen(string) : 0};
    *out_count = 0;
    if (t->patterns->has_separators && !t->patterns->is_by_chars)
        return split_at_separators(t, all, out_count);
    if (!t->patterns->is_by_chars)
        return find_tokens(t, all, out_count);
    split_chars(t, all, out_count);
    return LN_OK;
}

static ln_status prepare_ms_tokenizer(ln_call *call, patterns *p)
{
    int separators = ln_call_count(call, "separators");
    bool is_by_chars = separators == 1 && !*ln_call_string_at(call, "separators", 0);
    *p = (patterns){.min_chars = (size_t)ln_call_int(call, "mincharnum"),
                    .has_marks = ln_call_int(call, "mark") != 0,
                    .is_by_chars = is_by_chars,
                    .has_separators = separators > 0,
                    .count = is_by_chars  ? 0
                             : separators ? separators
                                          : 1};
    p->regexes = ln_call_keep(call, (size_t)p->count + 1, sizeof *p->regexes);
    if (!p->regexes)
        return ln_error_status();
    for (int i = 0; i < p->count; i++)
        LN_TRY(ln_regex_compile(call,
                                separators ? ln_call_string_at(call, "separators", i)
                                           : ln_call_string(call, "tokenexp"),
                                &p->regexes[i]));
    return LN_OK;
}

LN_PREPARE(ln_ref_prepare_ms_tokenizer, patterns, prepare_ms_tokenizer)

static ln_status make_tokenizer(ln_call *call, tokenizer *t)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const patterns *p = ln_call_prepared(call);
    *t = (tokenizer){.call = call, .patterns = p};
    t->searches = ln_call_scratch(call, (size_t)p->count + 1, sizeof *t->searches);
    if (!t->searches)
        return ln_error_status();
    for (int i = 0; i < p->count; i++)
        LN_TRY(ln_regex_begin(call, p->regexes[i], &t->searches[i]));
    size_t longest = 0;
    for (int i = 0; i < src->len; i++) {
        const char *string = ((const char *const *)src->data)[i];
        size_t len = string ? strlen(string) : 0;
        longest = len > longest ? len : longest;
    }
    t->tokens = ln_call_scratch(call, longest + 1, sizeof *t->tokens);
    t->cut = t->tokens ? ln_call_scratch(call, longest + 1, sizeof *t->cut) : NULL;
    return t->cut ? LN_OK : ln_error_status();
}

// A row of the output.
static ln_status fill_row(const tokenizer *t, size_t count, ln_object *dst, size_t at, size_t width)
{
    const char *pad = ln_call_string(t->call, "pad_value");
    size_t end = at + width;
    if (t->patterns->has_marks)
        LN_TRY(ln_object_set_string(dst, at++, "\x02", 1));
    for (size_t i = 0; i < count; i++)
        LN_TRY(ln_object_set_string(dst, at++, t->tokens[i].text, t->tokens[i].len));
    if (t->patterns->has_marks)
        LN_TRY(ln_object_set_string(dst, at++, "\x03", 1));
    while (at < end)
        LN_TRY(ln_object_set_string(dst, at++, pad, strlen(pad)));
    return LN_OK;
}

static ln_status fill(tokenizer *t, ln_object *dst, size_t width)
{
    const tl_tensor *src = ln_call_in(t->call, 0);
    for (size_t i = 0; i < (size_t)src->len && width > 0; i++) {
        size_t count;
        LN_TRY(split(t, ((const char *const *)src->data)[i], &count));
        LN_TRY(fill_row(t, count, dst, i * width, width));
    }
    return LN_OK;
}

ln_status ln_ref_ms_tokenizer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tokenizer t;
    LN_TRY(make_tokenizer(call, &t));
    size_t width = 0;
    for (int i = 0; i < src->len; i++) {
        size_t count;
        LN_TRY(split(&t, ((const char *const *)src->data)[i], &count));
        width = count > width ? count : width;
    }
    width += width > 0 && t.patterns->has_marks ? 2 : 0;
    if (width > INT32_MAX)
        return ln_call_fail(call, LN_LIMIT, "a string of %zu tokens", width);
    int dims[] = {src->dims[0], src->ndim == 2 ? src->dims[1] : (int)width, (int)width};
    int ndim = src->len == 0 ? src->ndim : src->ndim + 1; // nothing has no tokens either
    if (src->len == 0)
        dims[src->ndim - 1] = 0;
    ln_object *object = ln_object_new_tensor(TL_STRING, ndim, dims, ln_call_meter(call));
    if (!object)
        return ln_error_status();
    ln_status status = fill(&t, object, width);
    if (status == LN_OK)
        status = ln_call_set_object(call, 0, object);
    ln_object_release(object);
    return status;
}
