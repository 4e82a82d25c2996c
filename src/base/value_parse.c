// SPDX-License-Identifier: Apache-2.0
// Reads JSON, easy JSON and operator descriptions into a document.
//
// One loop over a stack of open arrays and objects, so depth costs no call stack. `p` stands at the
// next unread byte; `line` and `line_start` follow it, so every byte has a place.

#include "base/value.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/number.h"
#include "base/utf8.h"

typedef struct reader {
    const char *p;
    const char *end;
    const char *line_start;
    int line;
    ln_dialect dialect;
    ln_document *document;
} reader;

// ---- Bytes and places ----

static ln_place place_of(const reader *r, const char *p)
{
    return (ln_place){ln_document_file(r->document), r->line, (int)(p - r->line_start) + 1};
}

static ln_place here(const reader *r)
{
    return place_of(r, r->p);
}

static void advance(reader *r)
{
    if (*r->p++ == '\n') {
        r->line++;
        r->line_start = r->p;
    }
}

static int peek(const reader *r)
{
    return r->p < r->end ? (unsigned char)*r->p : -1;
}

static bool starts_with(const reader *r, const char *s)
{
    size_t len = strlen(s);
    return (size_t)(r->end - r->p) >= len && memcmp(r->p, s, len) == 0;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_punctuation(int c)
{
    return c > ' ' && c < 0x7f && !is_digit(c) && (!is_letter(c) || c == '_');
}

// "expected <what>, found <the next byte>" at the next byte.
static ln_status fail_expected(const reader *r, const char *what)
{
    int c = peek(r);
    if (c < 0)
        return ln_fail_at(here(r), LN_SYNTAX, "expected %s, found the end of the text", what);
    if (c > ' ' && c < 0x7f)
        return ln_fail_at(here(r), LN_SYNTAX, "expected %s, found '%c'", what, c);
    return ln_fail_at(here(r), LN_SYNTAX, "expected %s, found byte 0x%02x", what, c);
}

// The length of the UTF-8 sequence at `p`, 0 when there is none. NUL is refused as well, since it
// would end a C string early.
static int utf8_len(const char *p, const char *end)
{
    unsigned char c = (unsigned char)*p;
    if (c < 0x80)
        return c != 0;
    int len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || end - p < len)
        return 0;
    unsigned code = c & (0xffu >> (len + 1));
    for (int i = 1; i < len; i++) {
        unsigned char next = (unsigned char)p[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (next & 0x3f);
    }
    bool is_overlong = (len == 3 && code < 0x800) || (len == 4 && code < 0x10000);
    bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return is_overlong || is_surrogate || code > 0x10ffff ? 0 : len;
}

bool ln_value_is_utf8(const char *text)
{
    const char *end = text + strlen(text);
    int len = 1;
    for (; text < end && len > 0; text += len)
        len = utf8_len(text, end);
    return len > 0;
}

// Whether all bytes are ASCII and none is NUL.
static bool is_plain(const char *p, const char *end)
{
    const uint64_t high = UINT64_C(0x8080808080808080), ones = high >> 7;
    uint64_t word;
    for (; (size_t)(end - p) >= sizeof word; p += sizeof word) {
        memcpy(&word, p, sizeof word);
        if ((word | (word - ones)) & high)
            return false;
    }
    while (p<end && * p> 0 && *p < 0x7f)
        p++;
    return p == end;
}

static ln_status check_utf8(reader r)
{
    if (is_plain(r.p, r.end))
        return LN_OK;
    while (r.p < r.end) {
        int len = utf8_len(r.p, r.end);
        if (len == 0 && *r.p == '\0')
            return ln_fail_at(here(&r), LN_SYNTAX, "a NUL byte is not text");
        if (len == 0)
            return ln_fail_at(here(&r), LN_SYNTAX, "byte 0x%02x is not UTF-8", peek(&r));
        if (len == 1)
            advance(&r);
        else
            r.p += len;
    }
    return LN_OK;
}

// Skips blanks, line ends and comments.
static ln_status skip_space(reader *r)
{
    for (;;) {
        int c = peek(r);
        if (is_blank(c) || c == '\n') {
            advance(r);
        } else if (c != '/') {
            return LN_OK;
        } else if (starts_with(r, "//")) {
            while (peek(r) >= 0 && peek(r) != '\n')
                advance(r);
        } else if (starts_with(r, "/*")) {
            ln_place start = here(r);
            r->p += 2;
            while (r->p < r->end && !starts_with(r, "*/"))
                advance(r);
            if (r->p == r->end)
                return ln_fail_at(start, LN_SYNTAX, "this comment has no end, add '*/'");
            r->p += 2;
        } else {
            return LN_OK;
        }
    }
}

// ---- Strings ----

static bool read_hex4(reader *r, unsigned *out_code)
{
    *out_code = 0;
    if (r->end - r->p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int c = r->p[i];
        int letter = c | 0x20;
        if (!is_digit(c) && (letter < 'a' || letter > 'f'))
            return false;
        *out_code = *out_code << 4 | (unsigned)(is_digit(c) ? c - '0' : letter - 'a' + 10);
    }
    r->p += 4;
    return true;
}

// \uXXXX, and the second half of a surrogate pair. `p` stands after the 'u'.
static ln_status read_unicode_escape(reader *r, ln_place place, char *out, size_t *inout_len)
{
    unsigned code, low;
    if (!read_hex4(r, &code))
        return ln_fail_at(place, LN_SYNTAX, "\\u needs four hexadecimal digits");
    if (code >= 0xd800 && code <= 0xdbff) {
        bool has_low = starts_with(r, "\\u");
        if (has_low)
            r->p += 2;
        if (!has_low || !read_hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
            return ln_fail_at(place, LN_SYNTAX,
                              "\\u%04x is the first half of a pair, \\udc00 to \\udfff must follow",
                              code);
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return ln_fail_at(place, LN_SYNTAX, "\\u%04x is the second half of a pair without a first",
                          code);
    }
    if (code == 0)
        return ln_fail_at(place, LN_SYNTAX, "\\u0000 is not text");
    *inout_len += ln_utf8_put(code, out + *inout_len);
    return LN_OK;
}

// An escape in a "..." string. `p` stands at the backslash, and a byte follows it.
static ln_status read_escape(reader *r, char *out, size_t *inout_len)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    ln_place place = here(r);
    r->p++;
    int c = peek(r);
    if (c == 'u') {
        r->p++;
        return read_unicode_escape(r, place, out, inout_len);
    }
    const char *known = strchr(from, c);
    bool is_plain =
        c == '"' || c == '\\' || c == '/' || (r->dialect == LN_DIALECT_OP && is_punctuation(c));
    if (!known && !is_plain)
        return ln_fail_at(place, LN_SYNTAX, "unknown escape, write \\\\ for a backslash");
    out[(*inout_len)++] = known ? to[known - from] : (char)c;
    r->p++;
    return LN_OK;
}

// The quote that ends the string whose content starts at `p`; NULL when there is none.
// *out_is_plain is set where the content is the string as it is, on one line.
static const char *find_quote(const reader *r, char quote, bool *out_is_plain)
{
    *out_is_plain = true;
    for (const char *p = r->p; p < r->end; p++) {
        if (*p == quote)
            return p;
        *out_is_plain = *out_is_plain && *p != '\\' && (unsigned char)*p >= ' ';
        if (*p == '\\' && p + 1 < r->end && (quote == '"' || p[1] == quote))
            p++;
    }
    return NULL;
}

// A string in quotes; `p` stands at the opening one.
static ln_status read_quoted(reader *r, const char **out_text, size_t *out_len)
{
    ln_place start = here(r);
    char quote = *r->p++;
    bool is_plain_text;
    const char *close = find_quote(r, quote, &is_plain_text);
    if (!close)
        return ln_fail_at(start, LN_SYNTAX, "this string has no end, add %c", quote);
    char *text = ln_document_alloc(r->document, (size_t)(close - r->p) + 1);
    if (!text)
        return LN_NO_MEMORY;

    size_t len = 0;
    if (is_plain_text) {
        len = (size_t)(close - r->p);
        memcpy(text, r->p, len);
        r->p = close;
    }
    while (r->p < close) {
        int c = peek(r);
        if (c == '\\' && quote == '"') {
            LN_TRY(read_escape(r, text, &len));
            continue;
        }
        if (c < ' ' && r->dialect != LN_DIALECT_OP)
            return c == '\n'
                       ? ln_fail_at(here(r), LN_SYNTAX, "a string cannot go over lines, write \\n")
                       : ln_fail_at(here(r), LN_SYNTAX,
                                    "control character in a string, write \\u%04x", c);
        if (c == '\\' && r->p[1] == quote)
            r->p++;
        text[len++] = *r->p;
        advance(r);
    }
    r->p = close + 1;
    text[len] = '\0';
    *out_text = text;
    *out_len = len;
    return LN_OK;
}

// ''' and a line end: the start of a heredoc.
static bool at_heredoc(const reader *r)
{
    if (r->dialect == LN_DIALECT_JSON || peek(r) != '\'' || !starts_with(r, "'''"))
        return false;
    const char *p = r->p + 3;
    while (p < r->end && is_blank((unsigned char)*p))
        p++;
    return p < r->end && *p == '\n';
}

static void skip_line(reader *r)
{
    while (peek(r) >= 0 && peek(r) != '\n')
        advance(r);
    if (r->p < r->end)
        advance(r);
}

static ln_status read_heredoc(reader *r, const char **out_text, size_t *out_len)
{
    ln_place start = here(r);
    skip_line(r);
    const char *content = r->p;
    while (r->p < r->end) {
        const char *line = r->p;
        while (is_blank(peek(r)))
            advance(r);
        if (starts_with(r, "'''")) {
            r->p += 3;
            size_t len = line == content ? 0 : (size_t)(line - content) - 1;
            *out_len = len;
            *out_text = ln_document_strdup(r->document, content, len);
            return *out_text ? LN_OK : LN_NO_MEMORY;
        }
        skip_line(r);
    }
    return ln_fail_at(start, LN_SYNTAX, "this string has no end, add ''' on a line of its own");
}

static bool at_string(const reader *r)
{
    int c = peek(r);
    return c == '"' || (r->dialect == LN_DIALECT_OP && (c == '\'' || c == '`')) || at_heredoc(r);
}

static ln_status read_string(reader *r, const char **out_text, size_t *out_len)
{
    return at_heredoc(r) ? read_heredoc(r, out_text, out_len) : read_quoted(r, out_text, out_len);
}

// ---- Numbers and words ----

static size_t skip_digits(reader *r)
{
    const char *start = r->p;
    while (is_digit(peek(r)))
        r->p++;
    return (size_t)(r->p - start);
}

static ln_status read_number(reader *r, ln_value *value)
{
    const char *start = r->p;
    r->p += peek(r) == '-';
    const char *whole = r->p;
    if (skip_digits(r) == 0)
        return fail_expected(r, "a digit");
    if (*whole == '0' && r->p - whole > 1)
        return ln_fail_at(value->place, LN_SYNTAX, "a number cannot start with 0");
    if (peek(r) == '.') {
        r->p++;
        if (skip_digits(r) == 0)
            return fail_expected(r, "a digit after the point");
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->p++;
        r->p += peek(r) == '+' || peek(r) == '-';
        if (skip_digits(r) == 0)
            return fail_expected(r, "a digit of the exponent");
    }
    if (is_letter(peek(r)) || peek(r) == '.')
        return fail_expected(r, "the end of the number");

    size_t len = (size_t)(r->p - start);
    if (len > LN_VALUE_MAX_DIGITS)
        return ln_fail_at(value->place, LN_LIMIT, "a number of more than %d bytes",
                          LN_VALUE_MAX_DIGITS);
    if (!ln_number_read(start, len, &value->number))
        return ln_fail_at(value->place, LN_LIMIT, "%.*s%s is too large for a double",
                          len > 40 ? 40 : (int)len, start, len > 40 ? "..." : "");
    value->text_len = len;
    value->text = ln_document_strdup(r->document, start, len);
    return value->text ? LN_OK : LN_NO_MEMORY;
}

static size_t word_len(const reader *r)
{
    const char *p = r->p;
    while (p < r->end && (is_letter((unsigned char)*p) || is_digit((unsigned char)*p)))
        p++;
    return is_letter(peek(r)) ? (size_t)(p - r->p) : 0;
}

static ln_status read_word(reader *r, ln_value *value)
{
    static const struct {
        const char *word;
        ln_value_kind kind;
    } words[] = {{"null", LN_VALUE_NULL}, {"true", LN_VALUE_BOOL}, {"false", LN_VALUE_BOOL}};

    size_t len = word_len(r);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].word) == len && memcmp(words[i].word, r->p, len) == 0) {
            value->kind = words[i].kind;
            value->boolean = *r->p == 't';
            r->p += len;
            return LN_OK;
        }
    }
    return len ? ln_fail_at(value->place, LN_SYNTAX,
                            "'%.*s' is no value; a string needs quotes, known words are true, "
                            "false and null",
                            len > 40 ? 40 : (int)len, r->p)
               : fail_expected(r, "a value");
}

// Reads a scalar, or the opening bracket of an array or object.
static ln_status read_value(reader *r, ln_value **out_value)
{
    LN_TRY(skip_space(r));
    ln_value *value = ln_value_new(r->document, LN_VALUE_NULL, here(r));
    if (!value)
        return ln_error_status();
    *out_value = value;
    int c = peek(r);
    if (c == '[' || c == '{') {
        value->kind = c == '[' ? LN_VALUE_ARRAY : LN_VALUE_OBJECT;
        r->p++;
        return LN_OK;
    }
    if (at_string(r)) {
        value->kind = LN_VALUE_STRING;
        return read_string(r, &value->text, &value->text_len);
    }
    bool is_minus_alone = c == '-' && (r->p + 1 == r->end || !is_digit((unsigned char)r->p[1]));
    if (is_minus_alone && r->dialect == LN_DIALECT_OP) {
        value->kind = LN_VALUE_DELETE;
        r->p++;
        return LN_OK;
    }
    if (is_digit(c) || c == '-') {
        value->kind = LN_VALUE_NUMBER;
        return read_number(r, value);
    }
    return read_word(r, value);
}

// ---- Objects ----

static int compare_members(const void *a, const void *b)
{
    const ln_value *x = *(ln_value *const *)a, *y = *(ln_value *const *)b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = (x->key_place.line > y->key_place.line) - (x->key_place.line < y->key_place.line);
    if (order == 0)
        order = (x->key_place.column > y->key_place.column) -
                (x->key_place.column < y->key_place.column);
    return order;
}

static ln_status check_keys_differ(const ln_value *object)
{
    if (object->count < 2)
        return LN_OK;
    const ln_value **members = ln_alloc_array(object->count, sizeof *members);
    if (!members)
        return LN_NO_MEMORY;
    size_t count = 0;
    for (const ln_value *member = object->first; member; member = member->next)
        members[count++] = member;
    qsort(members, count, sizeof *members, compare_members);

    ln_status status = LN_OK;
    for (size_t i = 1; i < count && status == LN_OK; i++)
        if (strcmp(members[i - 1]->key, members[i]->key) == 0)
            status =
                ln_fail_at(members[i]->key_place, LN_SYNTAX,
                           "'%s' is here a second time, the first is at %d:%d", members[i]->key,
                           members[i - 1]->key_place.line, members[i - 1]->key_place.column);
    ln_free(members);
    return status;
}

static void link_child(ln_value *parent, ln_value *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
}

static ln_status read_name(reader *r, const char *what, const char **out_name)
{
    size_t len = word_len(r);
    if (len == 0)
        return fail_expected(r, what);
    *out_name = ln_document_strdup(r->document, r->p, len);
    r->p += len;
    return *out_name ? LN_OK : LN_NO_MEMORY;
}

// `"key" :`
static ln_status read_key(reader *r, const char **out_key, ln_place *out_place)
{
    size_t len;
    *out_place = here(r);
    if (at_string(r))
        LN_TRY(read_string(r, out_key, &len));
    else if (r->dialect == LN_DIALECT_OP)
        LN_TRY(read_name(r, "a key", out_key));
    else
        return fail_expected(r, "a key in double quotes");
    LN_TRY(skip_space(r));
    if (peek(r) != ':')
        return fail_expected(r, "':' after the key");
    r->p++;
    return LN_OK;
}

// After a value of `container` or its opening bracket: consumes a comma, or the closing bracket.
static ln_status read_separator(reader *r, const ln_value *container, bool *out_is_closed)
{
    bool is_array = container->kind == LN_VALUE_ARRAY;
    int close = is_array ? ']' : '}';
    LN_TRY(skip_space(r));
    if (container->count > 0 && peek(r) != close) {
        if (peek(r) != ',')
            return fail_expected(r, is_array ? "',' or ']'" : "',' or '}'");
        ln_place comma = here(r);
        r->p++;
        LN_TRY(skip_space(r));
        if (peek(r) == close && r->dialect == LN_DIALECT_JSON)
            return ln_fail_at(comma, LN_SYNTAX, "JSON has no ',' before '%c'", close);
    }
    *out_is_closed = peek(r) == close;
    r->p += *out_is_closed;
    return LN_OK;
}

// ---- The tree ----

// One value with everything in it.
static ln_status read_tree(reader *r, size_t max_depth, ln_value **out_value)
{
    ln_value *open[LN_VALUE_MAX_DEPTH];
    size_t depth = 0;
    assert(max_depth <= LN_VALUE_MAX_DEPTH);

    ln_value *value;
    LN_TRY(read_value(r, &value));
    *out_value = value;
    for (;;) {
        if (value->kind == LN_VALUE_ARRAY || value->kind == LN_VALUE_OBJECT) {
            if (depth == max_depth)
                return ln_fail_at(value->place, LN_LIMIT, "values nest deeper than %d levels",
                                  LN_VALUE_MAX_DEPTH);
            open[depth++] = value;
        }
        bool is_closed = true;
        while (depth > 0) {
            LN_TRY(read_separator(r, open[depth - 1], &is_closed));
            if (!is_closed)
                break;
            if (open[--depth]->kind == LN_VALUE_OBJECT)
                LN_TRY(check_keys_differ(open[depth]));
        }
        if (depth == 0)
            return LN_OK;

        const char *key = NULL;
        ln_place key_place = {0};
        ln_value *container = open[depth - 1];
        if (container->kind == LN_VALUE_OBJECT)
            LN_TRY(read_key(r, &key, &key_place));
        LN_TRY(read_value(r, &value));
        value->key = key;
        value->key_place = key_place;
        link_child(container, value);
    }
}

// NAME { ... } NAME : BASE { ... }
static ln_status read_named_objects(reader *r, ln_value **out_root)
{
    ln_value *root = ln_value_new(r->document, LN_VALUE_OBJECT, here(r));
    if (!root)
        return ln_error_status();
    root->text = "";
    *out_root = root;
    while (r->p < r->end) {
        const char *name = NULL, *base = NULL;
        ln_place name_place = here(r);
        LN_TRY(read_name(r, "the name of an object", &name));
        LN_TRY(skip_space(r));
        if (peek(r) == ':') {
            r->p++;
            LN_TRY(skip_space(r));
            LN_TRY(read_name(r, "the name of the base", &base));
            LN_TRY(skip_space(r));
        }
        if (peek(r) != '{')
            return fail_expected(r, base ? "'{'" : "'{' or ': BASE {'");
        ln_value *object;
        LN_TRY(read_tree(r, LN_VALUE_MAX_DEPTH - 1, &object));
        object->key = name;
        object->key_place = name_place;
        object->text = base;
        link_child(root, object);
        LN_TRY(skip_space(r));
        if (peek(r) == ',') {
            r->p++;
            LN_TRY(skip_space(r));
        }
    }
    return check_keys_differ(root);
}

static ln_status read_document(reader *r)
{
    LN_TRY(check_utf8(*r));
    if (starts_with(r, "\xef\xbb\xbf"))
        r->p += 3; // the byte order mark that some editors put first
    LN_TRY(skip_space(r));
    ln_value *root;
    if (r->dialect == LN_DIALECT_OP && word_len(r) > 0)
        LN_TRY(read_named_objects(r, &root));
    else
        LN_TRY(read_tree(r, LN_VALUE_MAX_DEPTH, &root));
    LN_TRY(skip_space(r));
    if (r->p < r->end)
        return fail_expected(r, "the end of the text");
    ln_document_set_root(r->document, root);
    return LN_OK;
}

ln_status ln_document_parse(const char *text, size_t len, const char *file, ln_dialect dialect,
                            ln_document **out_document)
{
    *out_document = NULL;
    if (!text)
        return LN_FAIL(LN_INVALID, "no text to parse");
    if (len > LN_VALUE_MAX_BYTES)
        return LN_FAIL(LN_LIMIT, "%s: a text of %zu bytes, at most %d are read",
                       file ? file : "<text>", len, LN_VALUE_MAX_BYTES);
    ln_document *document;
    LN_TRY(ln_document_create(file, &document));
    reader r = {.p = text,
                .end = text + len,
                .line_start = text,
                .line = 1,
                .dialect = dialect,
                .document = document};
    ln_status status = read_document(&r);
    if (status != LN_OK) {
        ln_document_destroy(document);
        return status;
    }
    *out_document = document;
    return LN_OK;
}
