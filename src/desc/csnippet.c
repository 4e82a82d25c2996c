// SPDX-License-Identifier: Apache-2.0
// Literals and snippets in generated C.

#include "desc/csnippet.h"

#include <string.h>

#define BLANKS " \t\r\n"

void ln_c_string(ln_text *text, const char *s)
{
    if (!s) {
        ln_text_puts(text, "NULL");
        return;
    }
    ln_text_puts(text, "\"");
    for (const char *p = s; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '\n')
            ln_text_puts(text, "\\n");
        else if (c == '"' || c == '\\')
            ln_text_printf(text, "\\%c", c);
        else if (c < ' ' || c == '?') // ?? could start a trigraph
            ln_text_printf(text, c == '?' ? "\\?" : "\\%03o", c);
        else
            ln_text_append(text, p, 1);
    }
    ln_text_puts(text, "\"");
}

void ln_c_comment(ln_text *text, const char *s)
{
    for (const char *p = s; *p; p++)
        ln_text_append(text, (unsigned char)*p < ' ' || *p == '\\' ? "?" : p, 1);
}

bool ln_c_is_blank(const char *snippet)
{
    return !snippet || snippet[strspn(snippet, BLANKS)] == '\0';
}

// Fewest columns before the text of any line after the first.
static size_t common_indent(const char *snippet)
{
    size_t common = 1000;
    for (const char *line = strchr(snippet, '\n'); line; line = strchr(line + 1, '\n')) {
        size_t columns = strspn(line + 1, " \t");
        if (line[1 + columns] != '\n' && line[1 + columns] != '\0' && columns < common)
            common = columns;
    }
    return common;
}

void ln_c_statements(ln_text *text, const char *snippet, int indent)
{
    if (ln_c_is_blank(snippet))
        return;
    size_t first = strspn(snippet, BLANKS);
    size_t len = strlen(snippet);
    while (strchr(BLANKS, snippet[len - 1]))
        len--;
    // Blank lines above the first line count as none; lines below keep their shape.
    size_t remove = common_indent(snippet);
    const char *line = snippet + first;
    const char *end = snippet + len;
    while (line < end) {
        size_t line_len = strcspn(line, "\n");
        if (line + line_len > end)
            line_len = (size_t)(end - line);
        size_t shown = line_len;
        while (shown > 0 && (line[shown - 1] == ' ' || line[shown - 1] == '\r'))
            shown--;
        if (shown > 0)
            ln_text_indent(text, indent);
        ln_text_append(text, line, shown);
        line += line_len;
        if (line < end) {
            ln_text_puts(text, "\n");
            line++;
            size_t blanks = strspn(line, " \t");
            line += blanks < remove ? blanks : remove;
        }
    }
    if (end[-1] != ';' && end[-1] != '}')
        ln_text_puts(text, ";");
    ln_text_puts(text, "\n");
}

// The first comma outside of brackets and literals that a string literal follows.
static bool has_message(const char *snippet)
{
    int depth = 0;
    for (const char *p = snippet; *p; p++) {
        if (*p == '"' || *p == '\'') {
            char quote = *p++;
            while (*p && *p != quote)
                p += p[0] == '\\' && p[1] ? 2 : 1;
            if (!*p)
                return false;
        } else if (strchr("([{", *p)) {
            depth++;
        } else if (strchr(")]}", *p)) {
            depth--;
        } else if (*p == ',' && depth == 0) {
            return p[1 + strspn(p + 1, BLANKS)] == '"';
        }
    }
    return false;
}

void ln_c_check(ln_text *text, const char *snippet, int indent)
{
    if (ln_c_is_blank(snippet))
        return;
    ln_text_indent(text, indent);
    ln_text_printf(text, "ln_opck_satisfy%s(", has_message(snippet) ? "_msg" : "");
    const char *start = snippet + strspn(snippet, BLANKS);
    size_t len = strlen(start);
    while (strchr(BLANKS, start[len - 1]))
        len--;
    ln_text_append(text, start, len);
    ln_text_puts(text, ");\n");
}
