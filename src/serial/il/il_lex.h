// SPDX-License-Identifier: Apache-2.0
// Cuts one IL source text into tokens. Comments and a backslash at a line's end are white space.

#ifndef LN_SERIAL_IL_IL_LEX_H
#define LN_SERIAL_IL_IL_LEX_H

#include "serial/il/il_token.h"

LN_CPPSTART

// A place in a text that is being cut. A copy of it is a place to return to.
typedef struct ln_il_lexer {
    const char *p;
    const char *end;
    const char *line_start;
    int line;
    const char *file;
    bool is_at_line_start;
} ln_il_lexer;

// Starts at the first byte of a text, which outlives the lexer. LN_SYNTAX when the text is not
// UTF-8 or has a NUL byte. `file` names it in places and outlives them.
ln_status ln_il_lexer_init(ln_il_lexer *lexer, const char *text, size_t len, const char *file);

// The next token, LN_IL_NEWLINE at line ends and LN_IL_END, again and again, at the end.
ln_status ln_il_lex(ln_il_lexer *lexer, ln_il_token *out_token);

// Goes to the start of the next line without looking at more than comments and strings: text in a
// group that is left out need not consist of tokens.
ln_status ln_il_lex_skip_line(ln_il_lexer *lexer);

// What the rest of the line says, without white space at both ends.
void ln_il_lex_rest(ln_il_lexer *lexer, const char **out_text, size_t *out_len);

// The kind of the only token in `text`: a name or a number, LN_IL_END when it is neither.
ln_il_kind ln_il_lex_kind(const char *text, size_t len);

// True when the bytes are UTF-8 without NUL; otherwise *out_at is the first wrong byte.
bool ln_il_is_utf8(const char *text, size_t len, size_t *out_at);

LN_CPPEND

#endif
