// SPDX-License-Identifier: Apache-2.0
// Runs an automaton on a text: all states at once, each at most once for each character.

#include <stddef.h>
#include <string.h>

#include "arch/ref/onnx/regex.h"
#include "arch/ref/onnx/regex_code.h"
#include "base/deadline.h"
#include "base/utf8.h"
#include "op/onnx/letters.h"

struct ln_regex_search {
    const ln_regex *regex;
    int *now, *next, *stack; // steps that a match is at
    uint64_t *marks;         // of each step: when it was reached last
    uint64_t time;
};

// What stands before the start and after the end of a text.
static const uint32_t NOTHING = UINT32_MAX;

static bool is_word(uint32_t code)
{
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
           (code >= 'a' && code <= 'z') || code == '_';
}

static bool is_place(ln_regex_place place, uint32_t before, uint32_t after)
{
    switch (place) {
    case LN_REGEX_TEXT_START: return before == NOTHING;
    case LN_REGEX_TEXT_END: return after == NOTHING;
    case LN_REGEX_LINE_START: return before == NOTHING || before == '\n';
    case LN_REGEX_LINE_END: return after == NOTHING || after == '\n';
    case LN_REGEX_WORD_EDGE: return is_word(before) != is_word(after);
    case LN_REGEX_NO_WORD_EDGE: return is_word(before) == is_word(after);
    }
    return false;
}

static bool is_in_ranges(const ln_regex *regex, const ln_regex_step *step, uint32_t code)
{
    const ln_regex_range *range = regex->ranges + step->first;
    for (int i = 0; i < step->second; i++) {
        if (code >= range[i].first && code <= range[i].last)
            return true;
    }
    return false;
}

static bool takes(const ln_regex *regex, const ln_regex_step *step, uint32_t code)
{
    bool is_in = is_in_ranges(regex, step, code);
    if (!is_in && step->is_folded)
        is_in = is_in_ranges(regex, step, ln_letter_lower(code)) ||
                is_in_ranges(regex, step, ln_letter_upper(code));
    return is_in != step->is_negated;
}

static void push(ln_regex_search *s, int *depth, int step)
{
    if (s->marks[step] == s->time)
        return;
    s->marks[step] = s->time;
    s->stack[(*depth)++] = step;
}

// Adds the sets and the end that can be reached from `start` without a character.
static void follow(ln_regex_search *s, int *list, int *count, int start, uint32_t before,
                   uint32_t after)
{
    int depth = 0;
    push(s, &depth, start);
    while (depth > 0) {
        int at = s->stack[--depth];
        const ln_regex_step *step = &s->regex->steps[at];
        switch ((ln_regex_op)step->op) {
        case LN_REGEX_SPLIT:
            push(s, &depth, at + step->second);
            push(s, &depth, at + step->first);
            break;
        case LN_REGEX_JUMP: push(s, &depth, at + step->first); break;
        case LN_REGEX_ASSERT:
            if (is_place((ln_regex_place)step->first, before, after))
                push(s, &depth, at + 1);
            break;
        case LN_REGEX_SET:
        case LN_REGEX_MATCH: list[(*count)++] = at; break;
        }
    }
}

static size_t get(const char *text, const char *end, uint32_t *out_code)
{
    *out_code = NOTHING;
    return text < end ? ln_utf8_get(text, out_code) : 0;
}

static bool has_match(const ln_regex *regex, const int *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (regex->steps[list[i]].op == LN_REGEX_MATCH)
            return true;
    }
    return false;
}

// The end of the longest match that begins at `text`, after character `before`; NULL: there is
// none.
static const char *longest_match(ln_regex_search *s, const char *text, const char *end,
                                 uint32_t before)
{
    uint32_t code, after;
    int count = 0;
    size_t len = get(text, end, &code);
    s->time++;
    follow(s, s->now, &count, 0, before, code);
    const char *found = has_match(s->regex, s->now, count) ? text : NULL;
    while (len > 0 && count > 0 && !ln_deadline_passed()) {
        text += len;
        len = get(text, end, &after);
        int next_count = 0;
        s->time++;
        for (int i = 0; i < count; i++) {
            const ln_regex_step *step = &s->regex->steps[s->now[i]];
            if (step->op == LN_REGEX_SET && takes(s->regex, step, code))
                follow(s, s->next, &next_count, s->now[i] + 1, code, after);
        }
        int *list = s->now;
        s->now = s->next;
        s->next = list;
        count = next_count;
        code = after;
        found = has_match(s->regex, s->now, count) ? text : found;
    }
    return found;
}

ln_status ln_regex_begin(ln_call *call, const ln_regex *regex, ln_regex_search **out_search)
{
    size_t count = (size_t)regex->step_count;
    ln_regex_search *s = ln_call_scratch(call, 1, sizeof *s);
    *out_search = s;
    if (!s)
        return ln_error_status();
    s->regex = regex;
    s->now = ln_call_scratch(call, count, sizeof *s->now);
    s->next = ln_call_scratch(call, count, sizeof *s->next);
    s->stack = ln_call_scratch(call, count, sizeof *s->stack);
    s->marks = ln_call_scratch(call, count, sizeof *s->marks);
    return s->now && s->next && s->stack && s->marks ? LN_OK : ln_error_status();
}

ln_status ln_regex_matches(ln_call *call, ln_regex_search *s, const char *text, bool *out_matches)
{
    size_t len = strlen(text);
    LN_TRY(ln_call_charge(call, (double)(1 + len) * s->regex->step_count));
    *out_matches = longest_match(s, text, text + len, NOTHING) == text + len;
    return LN_OK;
}

ln_status ln_regex_find(ln_call *call, ln_regex_search *s, const char *text, size_t len,
                        size_t from, bool *out_is_found, size_t *out_start, size_t *out_len)
{
    uint32_t before = NOTHING;
    const char *at = text, *end = text + len;
    *out_is_found = false;
    while (at < text + from)
        at += get(at, end, &before);
    for (;;) {
        uint64_t time = s->time;
        const char *match_end = longest_match(s, at, end, before);
        LN_TRY(ln_call_charge(call, (double)(s->time - time) * s->regex->step_count));
        if (match_end) {
            *out_is_found = true;
            *out_start = (size_t)(at - text);
            *out_len = (size_t)(match_end - at);
            return LN_OK;
        }
        if (at >= end)
            return LN_OK;
        at += get(at, end, &before);
    }
}
