// SPDX-License-Identifier: Apache-2.0
// A scan over words of C that knows strings, comments and members, and nothing else.

#include "desc/cident.h"

#include <string.h>

#define MAX_NAME_BYTES 128

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool ln_is_identifier(const char *s)
{
    static const char *const keywords[] = {
        "auto",           "break",        "case",     "char",     "const",      "continue",
        "default",        "do",           "double",   "else",     "enum",       "extern",
        "float",          "for",          "goto",     "if",       "inline",     "int",
        "long",           "register",     "restrict", "return",   "short",      "signed",
        "sizeof",         "static",       "struct",   "switch",   "typedef",    "union",
        "unsigned",       "void",         "volatile", "while",    "_Alignas",   "_Alignof",
        "_Atomic",        "_Bool",        "_Complex", "_Generic", "_Imaginary", "_Noreturn",
        "_Static_assert", "_Thread_local"};
    size_t len = strlen(s);
    if (len == 0 || len > MAX_NAME_BYTES || (s[0] >= '0' && s[0] <= '9'))
        return false;
    for (const char *p = s; *p; p++)
        if (!is_word_byte(*p))
            return false;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (strcmp(s, keywords[i]) == 0)
            return false;
    return true;
}

bool ln_is_identifier_or_int(const char *s)
{
    return ln_is_identifier(s) || strcmp(s, "int") == 0 || strcmp(s, "unsigned") == 0;
}

// The end of the string, character or comment that starts at `p`; `p` itself if none does.
static const char *skip_literal(const char *p)
{
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'')
        return p;
    char quote = *p++;
    while (*p && *p != quote)
        p += p[0] == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

bool ln_snippet_mentions(const char *snippet, const char *name)
{
    size_t name_len = strlen(name);
    bool is_member = false; // the word that follows is one
    const char *p = snippet ? snippet : "";
    while (*p) {
        const char *after = skip_literal(p);
        if (after != p) {
            p = after;
        } else if (is_word_byte(*p)) {
            size_t len = 0;
            while (is_word_byte(p[len]))
                len++;
            if (len == name_len && !is_member && memcmp(p, name, len) == 0)
                return true;
            is_member = false;
            p += len;
        } else {
            bool is_arrow = p[0] == '-' && p[1] == '>';
            if (is_arrow || p[0] == '.')
                is_member = true;
            else if (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r')
                is_member = false;
            p += is_arrow ? 2 : 1;
        }
    }
    return false;
}
