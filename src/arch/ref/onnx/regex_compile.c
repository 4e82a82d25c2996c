// SPDX-License-Identifier: Apache-2.0
// Compiles a regular expression in one pass from left to right, with a stack of open groups.
//
//     a|b     split(1, 3)  a  jump(2)  b         the jumps wait until the group is closed
//     a*      split(1, 3)  a  jump(-2)
//     a{2,}   a  a  split(-1, 1)
//     a{1,2}  a  split(1, 2)  a

#include <string.h>

#include "arch/ref/onnx/regex.h"
#include "arch/ref/onnx/regex_code.h"
#include "base/utf8.h"

enum {
    MOST_GROUPS = 1000,
    MOST_REPEATS = 1000,
    NO_ATOM = -1, // nothing here that could be repeated
    NO_JUMP = -1,
    NO_LIMIT = -1, // of repeats
};

typedef struct flags {
    bool is_folded, has_lines, dot_takes_all;
} flags;

typedef struct group {
    int start;       // its first step
    int alternative; // first step of the present one
    int jump;        // the last of those that wait, each of which names the one before
    flags outer;     // what holds again after the group
} group;

typedef struct compiler {
    ln_call *call;
    ln_regex *regex;
    const char *pattern, *at;
    flags flags;
    group *groups;
    int depth;
    int atom; // first step of what a repetition would repeat
} compiler;

static ln_status fail(compiler *c, const char *what)
{
    return ln_call_fail(c->call, LN_INVALID, "pattern \"%.200s\": %s at byte %zu", c->pattern, what,
                        (size_t)(c->at - c->pattern));
}

// ---- Steps ----

static ln_status make_room(compiler *c, int64_t count)
{
    if (count > LN_REGEX_MOST_STEPS - c->regex->step_count)
        return fail(c, "it is too large");
    return LN_OK;
}

static void append(compiler *c, ln_regex_step step)
{
    c->regex->steps[c->regex->step_count++] = step;
}

static void insert(compiler *c, int at, ln_regex_step step)
{
    ln_regex_step *steps = c->regex->steps;
    memmove(steps + at + 1, steps + at, (size_t)(c->regex->step_count - at) * sizeof *steps);
    steps[at] = step;
    c->regex->step_count++;
}

static ln_regex_step split_step(int first, int second)
{
    return (ln_regex_step){.op = LN_REGEX_SPLIT, .first = first, .second = second};
}

static ln_regex_step jump_step(int distance)
{
    return (ln_regex_step){.op = LN_REGEX_JUMP, .first = distance};
}

static ln_status append_assert(compiler *c, ln_regex_place place)
{
    LN_TRY(make_room(c, 1));
    c->atom = c->regex->step_count;
    append(c, (ln_regex_step){.op = LN_REGEX_ASSERT, .first = (int32_t)place});
    return LN_OK;
}

// ---- Sets ----

static ln_status add_range(compiler *c, uint32_t first, uint32_t last)
{
    if (c->regex->range_count == c->regex->range_room)
        return fail(c, "it has too many classes");
    c->regex->ranges[c->regex->range_count++] = (ln_regex_range){first, last};
    return LN_OK;
}

// A set of the ranges from `first_range` on.
static ln_status append_set(compiler *c, int first_range, bool is_negated)
{
    LN_TRY(make_room(c, 1));
    c->atom = c->regex->step_count;
    append(c, (ln_regex_step){
                  .op = LN_REGEX_SET,
                  .is_negated = is_negated,
                  .is_folded = c->flags.is_folded,
                  .first = first_range,
                  .second = c->regex->range_count - first_range,
              });
    return LN_OK;
}

static ln_status append_code(compiler *c, uint32_t code)
{
    int first = c->regex->range_count;
    LN_TRY(add_range(c, code, code));
    return append_set(c, first, false);
}

typedef struct named_class {
    const char *name;
    const char *bounds; // first and last of each range, ascending
} named_class;

static const named_class classes[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", "\x01\x7F"},
    {"blank", "\t\t  "},
    {"cntrl", "\x01\x1F\x7F\x7F"},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZ__az"},
    {"xdigit", "09AFaf"},
    // The letters of escapes; \s is without the vertical tab.
    {"d", "09"},
    {"s", "\t\n\f\r  "},
    {"w", "09AZ__az"},
};

static const named_class *find_class(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strlen(classes[i].name) == len && memcmp(classes[i].name, name, len) == 0)
            return &classes[i];
    }
    return NULL;
}

static ln_status add_class(compiler *c, const named_class *named, bool is_negated)
{
    uint32_t next = 0;
    for (const char *bounds = named->bounds; *bounds; bounds += 2) {
        uint32_t first = (unsigned char)bounds[0], last = (unsigned char)bounds[1];
        if (!is_negated)
            LN_TRY(add_range(c, first, last));
        else if (first > next)
            LN_TRY(add_range(c, next, first - 1));
        next = last + 1;
    }
    return is_negated ? add_range(c, next, LN_REGEX_LAST_CODE) : LN_OK;
}

// ---- Escapes ----

static int hex_digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

// Behind "\x": two digits, or any number in braces.
static ln_status read_hex(compiler *c, uint32_t *out_code)
{
    bool has_braces = *c->at == '{';
    c->at += has_braces;
    uint32_t code = 0;
    int count = 0;
    for (; hex_digit(*c->at) >= 0 && (has_braces || count < 2); c->at++, count++) {
        code = code << 4 | (uint32_t)hex_digit(*c->at);
        if (code > LN_REGEX_LAST_CODE)
            return fail(c, "there is no such character");
    }
    if (count == 0 || (!has_braces && count < 2) || (has_braces && *c->at++ != '}'))
        return fail(c, "an unfinished \\x");
    *out_code = code;
    return LN_OK;
}

// *out_class = the class of the escape sequence at hand; NULL, and its character in *out_code, if
// it stands for that. Starts after the backslash.
static ln_status read_escape(compiler *c, const named_class **out_class, bool *out_is_negated,
                             uint32_t *out_code)
{
    static const char letters[] = "nrtfva", codes[] = "\n\r\t\f\v\a";
    *out_class = NULL;
    char ch = *c->at;
    if (ch == '\0')
        return fail(c, "a backslash at the end");
    if (ch == 'd' || ch == 'w' || ch == 's' || ch == 'D' || ch == 'W' || ch == 'S') {
        char lower = (char)(ch | 0x20);
        *out_is_negated = ch != lower;
        *out_class = find_class(&lower, 1);
        c->at++;
        return LN_OK;
    }
    const char *letter = strchr(letters, ch);
    if (letter) {
        *out_code = (unsigned char)codes[letter - letters];
        c->at++;
        return LN_OK;
    }
    if (ch == 'x') {
        c->at++;
        return read_hex(c, out_code);
    }
    if (ch == '0') {
        *out_code = 0;
        for (int i = 0; i < 3 && *c->at >= '0' && *c->at <= '7'; i++)
            *out_code = *out_code << 3 | (uint32_t)(*c->at++ - '0');
        return LN_OK;
    }
    if ((ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z'))
        return fail(c, "an escape sequence that is not known");
    c->at += ln_utf8_get(c->at, out_code);
    return LN_OK;
}

// "\Q" up to "\E": as it stands.
static ln_status read_quoted(compiler *c)
{
    while (*c->at && !(c->at[0] == '\\' && c->at[1] == 'E')) {
        uint32_t code;
        c->at += ln_utf8_get(c->at, &code);
        LN_TRY(append_code(c, code));
    }
    c->at += *c->at ? 2 : 0;
    return LN_OK;
}

static ln_status compile_escape(compiler *c)
{
    switch (*c->at) {
    case 'b': c->at++; return append_assert(c, LN_REGEX_WORD_EDGE);
    case 'B': c->at++; return append_assert(c, LN_REGEX_NO_WORD_EDGE);
    case 'A': c->at++; return append_assert(c, LN_REGEX_TEXT_START);
    case 'z': c->at++; return append_assert(c, LN_REGEX_TEXT_END);
    case 'Q': c->at++; return read_quoted(c);
    default: break;
    }
    const named_class *named;
    bool is_negated;
    uint32_t code;
    LN_TRY(read_escape(c, &named, &is_negated, &code));
    if (!named)
        return append_code(c, code);
    int first = c->regex->range_count;
    LN_TRY(add_class(c, named, false));
    return append_set(c, first, is_negated);
}

// ---- Classes in brackets ----

// The end of "[:name:]", or NULL if there is no such thing here.
static const char *named_end(const char *at)
{
    if (at[0] != '[' || at[1] != ':')
        return NULL;
    for (at += 2; (*at >= 'a' && *at <= 'z') || *at == '^'; at++)
        ;
    return at[0] == ':' && at[1] == ']' ? at : NULL;
}

// One character or escape of a class; *out_is_code is false where it was a class of its own.
static ln_status read_member(compiler *c, bool *out_is_code, uint32_t *out_code)
{
    const char *end = named_end(c->at);
    const named_class *named = NULL;
    bool is_negated = false;
    if (end) {
        const char *name = c->at + 2;
        is_negated = *name == '^';
        name += is_negated;
        named = find_class(name, name < end ? (size_t)(end - name) : 0);
        if (!named || end - name == 1)
            return fail(c, "a class that is not known");
        c->at = end + 2;
    } else if (*c->at == '\\') {
        c->at++;
        LN_TRY(read_escape(c, &named, &is_negated, out_code));
    } else {
        c->at += ln_utf8_get(c->at, out_code);
    }
    *out_is_code = !named;
    return named ? add_class(c, named, is_negated) : LN_OK;
}

static ln_status compile_brackets(compiler *c)
{
    bool is_negated = *c->at == '^';
    c->at += is_negated;
    int first_range = c->regex->range_count;
    for (bool is_first = true; *c->at != ']' || is_first; is_first = false) {
        if (*c->at == '\0')
            return fail(c, "a class without its ]");
        bool is_code;
        uint32_t code = 0;
        LN_TRY(read_member(c, &is_code, &code));
        if (!is_code)
            continue;
        uint32_t last = code;
        if (c->at[0] == '-' && c->at[1] != ']' && c->at[1] != '\0') {
            c->at++;
            LN_TRY(read_member(c, &is_code, &last));
            if (!is_code || last < code)
                return fail(c, "a range that ends before it starts");
        }
        LN_TRY(add_range(c, code, last));
    }
    c->at++;
    return append_set(c, first_range, is_negated);
}

// ---- Repetition ----

static void append_copy(compiler *c, int start, int len)
{
    ln_regex_step *steps = c->regex->steps;
    memcpy(steps + c->regex->step_count, steps + start, (size_t)len * sizeof *steps);
    c->regex->step_count += len;
}

static ln_status repeat(compiler *c, int least, int most)
{
    if (c->atom == NO_ATOM)
        return fail(c, "nothing that could be repeated");
    int start = c->atom, len = c->regex->step_count - start;
    int copies = most == NO_LIMIT ? (least ? least : 1) : most;
    LN_TRY(make_room(c, (int64_t)copies * (len + 1) + 1));
    c->atom = NO_ATOM;
    if (*c->at == '?') // as few as can be: the same language
        c->at++;
    if (most == 0) {
        c->regex->step_count = start;
        return LN_OK;
    }
    if (least == 0 && most == NO_LIMIT) {
        insert(c, start, split_step(1, len + 2));
        append(c, jump_step(-(len + 1)));
        return LN_OK;
    }
    int optional = most - least;
    if (least == 0) {
        insert(c, start++, split_step(1, most * (len + 1)));
        optional--;
    }
    for (int i = 1; i < least; i++)
        append_copy(c, start, len);
    if (most == NO_LIMIT) {
        append(c, split_step(-len, 1));
        return LN_OK;
    }
    for (; optional > 0; optional--) {
        append(c, split_step(1, optional * (len + 1)));
        append_copy(c, start, len);
    }
    return LN_OK;
}

static const char *read_count(const char *at, int *out_count)
{
    *out_count = NO_LIMIT;
    if (*at < '0' || *at > '9')
        return at;
    for (*out_count = 0; *at >= '0' && *at <= '9'; at++) {
        if (*out_count <= MOST_REPEATS)
            *out_count = *out_count * 10 + (*at - '0');
    }
    return at;
}

// "{m}", "{m,}" or "{m,n}" after the brace; anything else is no repetition, and the brace stands
// for itself.
static ln_status compile_braces(compiler *c)
{
    int least, most;
    const char *at = read_count(c->at, &least);
    most = least;
    if (*at == ',')
        at = read_count(at + 1, &most);
    if (least == NO_LIMIT || *at != '}')
        return append_code(c, '{');
    if (least > MOST_REPEATS || most > MOST_REPEATS || (most != NO_LIMIT && most < least))
        return fail(c, "a repetition that cannot be");
    c->at = at + 1;
    return repeat(c, least, most);
}

// ---- Groups ----

// "i", "-s" and so on after "(?", up to the colon or bracket, which is returned.
static ln_status read_flags(compiler *c, char *out_end)
{
    bool value = true;
    for (; *c->at != ':' && *c->at != ')'; c->at++) {
        switch (*c->at) {
        case '-': value = false; break;
        case 'i': c->flags.is_folded = value; break;
        case 'm': c->flags.has_lines = value; break;
        case 's': c->flags.dot_takes_all = value; break;
        case 'U': break; // prefers few repeats: the same language
        default: return fail(c, "a kind of group that is not known");
        }
    }
    *out_end = *c->at++;
    return LN_OK;
}

static ln_status open_group(compiler *c)
{
    flags outer = c->flags;
    if (*c->at == '?') {
        c->at++;
        const char *name = c->at[0] == 'P' ? c->at + 1 : c->at;
        if (name[0] == '<' && name[1] != '=' && name[1] != '!') {
            c->at = strchr(name, '>');
            if (!c->at) {
                c->at = name;
                return fail(c, "a name without its end");
            }
            c->at++;
        } else {
            char end = ':';
            LN_TRY(read_flags(c, &end));
            c->atom = NO_ATOM;
            if (end == ')')
                return LN_OK;
        }
    }
    if (c->depth == MOST_GROUPS)
        return fail(c, "too many groups in each other");
    int here = c->regex->step_count;
    c->groups[++c->depth] = (group){here, here, NO_JUMP, outer};
    c->atom = NO_ATOM;
    return LN_OK;
}

static ln_status next_alternative(compiler *c)
{
    group *g = &c->groups[c->depth];
    LN_TRY(make_room(c, 2));
    insert(c, g->alternative, split_step(1, c->regex->step_count - g->alternative + 2));
    append(c, jump_step(g->jump));
    g->jump = c->regex->step_count - 1;
    g->alternative = c->regex->step_count;
    c->atom = NO_ATOM;
    return LN_OK;
}

static void close_group(compiler *c)
{
    group *g = &c->groups[c->depth];
    for (int at = g->jump; at != NO_JUMP;) {
        int before = c->regex->steps[at].first;
        c->regex->steps[at].first = c->regex->step_count - at;
        at = before;
    }
    c->flags = g->outer;
    c->atom = g->start;
    c->depth--;
}

// ---- All of it ----

static ln_status compile_dot(compiler *c)
{
    int first = c->regex->range_count;
    if (c->flags.dot_takes_all) {
        LN_TRY(add_range(c, 0, LN_REGEX_LAST_CODE));
        return append_set(c, first, false);
    }
    LN_TRY(add_range(c, '\n', '\n'));
    return append_set(c, first, true);
}

static ln_status compile_next(compiler *c)
{
    uint32_t code;
    switch (*c->at++) {
    case '(': return open_group(c);
    case '|': return next_alternative(c);
    case ')':
        if (c->depth == 0)
            return fail(c, "a ) without its (");
        close_group(c);
        return LN_OK;
    case '*': return repeat(c, 0, NO_LIMIT);
    case '+': return repeat(c, 1, NO_LIMIT);
    case '?': return repeat(c, 0, 1);
    case '{': return compile_braces(c);
    case '[': return compile_brackets(c);
    case '.': return compile_dot(c);
    case '^':
        return append_assert(c, c->flags.has_lines ? LN_REGEX_LINE_START : LN_REGEX_TEXT_START);
    case '$': return append_assert(c, c->flags.has_lines ? LN_REGEX_LINE_END : LN_REGEX_TEXT_END);
    case '\\': return compile_escape(c);
    default:
        c->at--;
        c->at += ln_utf8_get(c->at, &code);
        return append_code(c, code);
    }
}

static ln_status compile_all(compiler *c)
{
    while (*c->at)
        LN_TRY(compile_next(c));
    if (c->depth > 0)
        return fail(c, "a ( without its )");
    close_group(c);
    LN_TRY(make_room(c, 1));
    append(c, (ln_regex_step){.op = LN_REGEX_MATCH});
    return LN_OK;
}

static ln_status keep(ln_call *call, const ln_regex *regex, const ln_regex **out_regex)
{
    size_t step_count = (size_t)regex->step_count, range_count = (size_t)regex->range_count;
    ln_regex *kept = ln_call_keep(call, 1, sizeof *kept);
    ln_regex_step *steps = ln_call_keep(call, step_count, sizeof *steps);
    ln_regex_range *ranges = ln_call_keep(call, range_count + 1, sizeof *ranges);
    if (!kept || !steps || !ranges)
        return ln_error_status();
    memcpy(steps, regex->steps, step_count * sizeof *steps);
    memcpy(ranges, regex->ranges, range_count * sizeof *ranges);
    *kept = (ln_regex){.steps = steps, .step_count = (int)step_count, .ranges = ranges};
    *out_regex = kept;
    return LN_OK;
}

ln_status ln_regex_compile(ln_call *call, const char *pattern, const ln_regex **out_regex)
{
    *out_regex = NULL;
    // A class of two characters, such as \W, adds five ranges at most.
    size_t range_room = 3 * strlen(pattern) + 1;
    if (range_room > INT32_MAX)
        return ln_call_fail(call, LN_LIMIT, "a pattern of %zu bytes", strlen(pattern));
    ln_regex *regex = ln_call_scratch(call, 1, sizeof *regex);
    compiler c = {.call = call, .regex = regex, .pattern = pattern, .at = pattern, .atom = NO_ATOM};
    c.groups = ln_call_scratch(call, MOST_GROUPS + 1, sizeof *c.groups);
    if (!regex || !c.groups)
        return ln_error_status();
    c.groups[0] = (group){.jump = NO_JUMP};
    regex->range_room = (int)range_room;
    regex->ranges = ln_call_scratch(call, range_room, sizeof *regex->ranges);
    regex->steps = ln_call_scratch(call, LN_REGEX_MOST_STEPS, sizeof *regex->steps);
    if (!regex->ranges || !regex->steps)
        return ln_error_status();
    LN_TRY(compile_all(&c));
    return keep(call, regex, out_regex);
}
