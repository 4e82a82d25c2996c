// SPDX-License-Identifier: Apache-2.0
// From source files to tokens: directives, #include, macros and ${eval}.
//
//     ln_il_preprocessor pp;
//     LN_TRY(ln_il_preprocessor_init(&pp, document, text, len, folder, name));
//     do status = ln_il_preprocessor_next(&pp, &token); while (...);
//     ln_il_preprocessor_deinit(&pp);

#ifndef LN_SERIAL_IL_IL_PREPROCESS_H
#define LN_SERIAL_IL_IL_PREPROCESS_H

#include "serial/il/il_expand.h"
#include "serial/il/il_lex.h"
#include "serial/il/il_limits.h"

LN_CPPSTART

// A file that is being read.
typedef struct ln_il_file {
    ln_il_lexer lexer;
    const char *path;       // below the folder; "" for a text from memory
    ln_il_token include;    // the #include that led here
    size_t condition_count; // #ifs that were open when it began
} ln_il_file;

// An #if whose #endif has not been read.
typedef struct ln_il_condition {
    ln_il_token start;
    bool is_taken; // one of its groups has been used
    bool has_else;
} ln_il_condition;

typedef struct ln_il_preprocessor {
    ln_document *document; // keeps the names of files
    ln_document *arena;    // keeps all else, and dies with the preprocessor
    const char *folder;    // NULL: no includes
    ln_il_budget budget;
    ln_il_expander expander;
    ln_il_file files[LN_IL_MAX_INCLUDE_DEPTH + 1];
    size_t file_count;
    size_t files_read;
    size_t bytes_read;
    ln_il_names read_once; // files with `#pragma once`
    ln_il_condition conditions[LN_IL_MAX_CONDITIONS];
    size_t condition_count;
    ln_il_token held; // read already while looking for what touches an ${eval}
    bool held_is_value;
    bool has_held;
} ln_il_preprocessor;

// Starts with a text, which outlives the preprocessor. Its places name `document`'s file. `folder`
// is where #include looks, NULL refuses it; `path` is the text's own name in there, or "". All
// three strings are borrowed. Do not move the preprocessor. On failure nothing is left to deinit.
ln_status ln_il_preprocessor_init(ln_il_preprocessor *pp, ln_document *document, const char *text,
                                  size_t len, const char *folder, const char *path);

// The next token: a name, a number, a string, a punctuation; LN_IL_END at the end. Its text lives
// as long as the preprocessor. After a failure only deinit may follow.
ln_status ln_il_preprocessor_next(ln_il_preprocessor *pp, ln_il_token *out_token);

void ln_il_preprocessor_deinit(ln_il_preprocessor *pp);

LN_CPPEND

#endif
