// SPDX-License-Identifier: Apache-2.0
// The outer two layers of the preprocessor: files and directives below the expander, ${eval} above.

#include "serial/il/il_preprocess.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/msg.h>

#include "serial/il/il_eval.h"
#include "serial/il/il_source.h"

// ---- Files ----

static ln_il_file *current_file(ln_il_preprocessor *pp)
{
    return &pp->files[pp->file_count - 1];
}

static ln_status push_file(ln_il_preprocessor *pp, const char *text, size_t len, const char *name,
                           const char *path, const ln_il_token *include)
{
    ln_il_file *file = &pp->files[pp->file_count];
    *file = (ln_il_file){.path = path, .condition_count = pp->condition_count};
    if (include)
        file->include = *include;
    LN_TRY(ln_il_lexer_init(&file->lexer, text, len, name));
    pp->file_count++;
    pp->bytes_read += len;
    return LN_OK;
}

static ln_status check_conditions_closed(ln_il_preprocessor *pp)
{
    if (pp->condition_count == current_file(pp)->condition_count)
        return LN_OK;
    return ln_il_fail(&pp->conditions[pp->condition_count - 1].start, LN_SYNTAX,
                      "this condition has no #endif in its file");
}

static ln_status fail_cycle(ln_il_preprocessor *pp, const ln_il_token *where, const char *path,
                            size_t first)
{
    char chain[1024];
    size_t len = 0;
    for (size_t i = first; i < pp->file_count && len < sizeof chain; i++) {
        int put = snprintf(chain + len, sizeof chain - len, "%.100s includes ", pp->files[i].path);
        len += put > 0 ? (size_t)put : 0;
    }
    return ln_il_fail(where, LN_INVALID, "files include each other: %s%.100s", chain, path);
}

// `path` as the included file's name from the folder: beside the file that includes it.
static ln_status resolve_path(ln_il_preprocessor *pp, const char *written, size_t len,
                              const char **out_path)
{
    const char *from = current_file(pp)->path;
    const char *slash = strrchr(from, '/');
    size_t folder_len = slash && *written != '/' ? (size_t)(slash - from) + 1 : 0;
    char *path = ln_document_alloc(pp->document, folder_len + len + 1);
    if (!path)
        return LN_NO_MEMORY;
    memcpy(path, from, folder_len);
    memcpy(path + folder_len, written, len);
    path[folder_len + len] = '\0';
    *out_path = path;
    return LN_OK;
}

// The name that places show.
static ln_status name_file(ln_il_preprocessor *pp, const char *path, const char **out_name)
{
    *out_name = path;
    if (strcmp(pp->folder, ".") == 0)
        return LN_OK;
    size_t folder_len = strlen(pp->folder), path_len = strlen(path);
    bool has_slash = folder_len > 0 && pp->folder[folder_len - 1] == '/';
    char *name = ln_document_alloc(pp->document, folder_len + path_len + 2);
    if (!name)
        return LN_NO_MEMORY;
    memcpy(name, pp->folder, folder_len);
    memcpy(name + folder_len, "/", 2);
    memcpy(name + folder_len + !has_slash, path, path_len + 1);
    *out_name = name;
    return LN_OK;
}

static ln_status include_file(ln_il_preprocessor *pp, const ln_il_token *name)
{
    if (name->kind != LN_IL_STRING || name->len <= 2)
        return ln_il_fail_expected(name, "the name of a file in double quotes");
    if (!pp->folder)
        return ln_il_fail(
            name, LN_UNSUPPORTED,
            "this text does not come from a file, so it has no folder to include from");
    if (memchr(name->text, '\\', name->len))
        return ln_il_fail(name, LN_INVALID, "the name of an included file has no backslash");
    const char *path, *shown, *text;
    size_t len;
    LN_TRY(resolve_path(pp, name->text + 1, name->len - 2, &path));
    if (ln_il_names_find(&pp->read_once, path, strlen(path)))
        return LN_OK;
    for (size_t i = 0; i < pp->file_count; i++)
        if (strcmp(pp->files[i].path, path) == 0)
            return fail_cycle(pp, name, path, i);
    if (pp->file_count > LN_IL_MAX_INCLUDE_DEPTH)
        return ln_il_fail(name, LN_LIMIT, "includes nest deeper than %d files",
                          LN_IL_MAX_INCLUDE_DEPTH);
    if (pp->files_read == LN_IL_MAX_FILES)
        return ln_il_fail(name, LN_LIMIT, "more than %d files are included", LN_IL_MAX_FILES);
    pp->files_read++;

    ln_status status = ln_il_source_read(pp->arena, pp->folder, path,
                                         LN_IL_MAX_BYTES - pp->bytes_read, &text, &len);
    if (status != LN_OK)
        return status == LN_NO_MEMORY ? status : ln_il_fail(name, status, "%s", ln_error_message());
    LN_TRY(name_file(pp, path, &shown));
    return push_file(pp, text, len, shown, path, name);
}

// ---- Lines of directives ----

// The tokens up to the end of the line.
static ln_status read_line(ln_il_preprocessor *pp, ln_il_tokens *line)
{
    for (;;) {
        ln_il_token token;
        ln_il_lexer *lexer = &current_file(pp)->lexer;
        ln_il_lexer before = *lexer;
        LN_TRY(ln_il_lex(lexer, &token));
        if (token.kind == LN_IL_END)
            *lexer = before; // to be read again as the end of the file
        if (token.kind == LN_IL_END || token.kind == LN_IL_NEWLINE)
            return LN_OK;
        LN_TRY(ln_il_tokens_push(line, &pp->budget, &token));
    }
}

static ln_status expect_line_end(const ln_il_tokens *line, size_t used)
{
    if (used < line->count)
        return ln_il_fail_expected(&line->items[used], "the end of the line");
    return LN_OK;
}

static ln_status expect_only_name(const ln_il_token *directive, const ln_il_tokens *line)
{
    if (line->count == 0)
        return ln_il_fail(directive, LN_SYNTAX, "'#%.*s' needs the name of a macro",
                          (int)directive->len, directive->text);
    if (line->items[0].kind != LN_IL_NAME)
        return ln_il_fail_expected(&line->items[0], "the name of a macro");
    return expect_line_end(line, 1);
}

// ---- #define, #undef ----

static ln_status define(ln_il_preprocessor *pp, const ln_il_token *directive,
                        const ln_il_tokens *line)
{
    ln_il_macro *macro;
    LN_TRY(ln_il_macro_parse(pp->arena, directive, line->items, line->count, &macro));
    ln_il_name *entry =
        ln_il_names_add(&pp->expander.macros, pp->arena, macro->name, strlen(macro->name));
    if (!entry)
        return LN_NO_MEMORY;
    const ln_il_macro *old = entry->item;
    if (old && !ln_il_macro_is_equal(old, macro))
        return ln_il_fail(&line->items[0], LN_SYNTAX,
                          "macro '%s' is defined at %s:%d:%d with another meaning; #undef it first",
                          old->name, old->place.file, old->place.line, old->place.column);
    if (!old)
        entry->item = macro;
    return LN_OK;
}

static ln_status undefine(ln_il_preprocessor *pp, const ln_il_token *directive,
                          const ln_il_tokens *line)
{
    LN_TRY(expect_only_name(directive, line));
    ln_il_name *entry =
        ln_il_names_find(&pp->expander.macros, line->items[0].text, line->items[0].len);
    if (entry)
        entry->item = NULL;
    return LN_OK;
}

// ---- Conditions ----

// Puts 0 and 1 in place of `defined X` and `defined(X)`, before X could be expanded.
static ln_status replace_defined(ln_il_preprocessor *pp, const ln_il_tokens *line,
                                 ln_il_tokens *out)
{
    for (size_t i = 0; i < line->count; i++) {
        ln_il_token token = line->items[i];
        if (ln_il_is_name(&token, "defined")) {
            bool has_parens = i + 1 < line->count && ln_il_is(&line->items[i + 1], '(');
            i += 1 + has_parens;
            if (i >= line->count || line->items[i].kind != LN_IL_NAME)
                return ln_il_fail(&token, LN_SYNTAX, "'defined' needs the name of a macro");
            bool is_defined = ln_il_expander_find(&pp->expander, &line->items[i]) != NULL;
            i += has_parens;
            if (has_parens && (i >= line->count || !ln_il_is(&line->items[i], ')')))
                return ln_il_fail(&token, LN_SYNTAX, "'defined(' needs a ')' after the name");
            token.kind = LN_IL_NUMBER;
            token.text = is_defined ? "1" : "0";
            token.len = 1;
        }
        LN_TRY(ln_il_tokens_push(out, &pp->budget, &token));
    }
    return LN_OK;
}

static ln_status test_expression(ln_il_preprocessor *pp, const ln_il_token *directive,
                                 const ln_il_tokens *line, bool *out_is_true)
{
    if (line->count == 0)
        return ln_il_fail(directive, LN_SYNTAX, "'#%.*s' needs an expression", (int)directive->len,
                          directive->text);
    ln_il_tokens replaced = {0}, expanded = {0};
    ln_il_number number = {0};
    ln_status status = replace_defined(pp, line, &replaced);
    if (status == LN_OK)
        status = ln_il_expander_list(&pp->expander, replaced.items, replaced.count, &expanded);
    if (status == LN_OK)
        status =
            ln_il_eval(expanded.items, expanded.count, directive, LN_IL_ARITHMETIC_IF, &number);
    ln_il_tokens_deinit(&replaced, &pp->budget);
    ln_il_tokens_deinit(&expanded, &pp->budget);
    *out_is_true = number.whole != 0;
    return status;
}

static ln_status test_condition(ln_il_preprocessor *pp, const ln_il_token *directive,
                                const ln_il_tokens *line, bool *out_is_true)
{
    if (!ln_il_is_name(directive, "ifdef") && !ln_il_is_name(directive, "ifndef"))
        return test_expression(pp, directive, line, out_is_true);
    LN_TRY(expect_only_name(directive, line));
    bool is_defined = ln_il_expander_find(&pp->expander, &line->items[0]) != NULL;
    *out_is_true = is_defined == ln_il_is_name(directive, "ifdef");
    return LN_OK;
}

// Goes to the #elif, #else or #endif that ends a group which is left out; reads only its '#'.
static ln_status skip_group(ln_il_preprocessor *pp)
{
    ln_il_lexer *lexer = &current_file(pp)->lexer;
    size_t depth = 0;
    while (lexer->p < lexer->end) {
        ln_il_lexer line = *lexer;
        ln_il_token hash, name;
        // Whatever is no token is no directive either.
        if (ln_il_lex(lexer, &hash) == LN_OK && hash.is_at_line_start && ln_il_is(&hash, '#')) {
            ln_il_lexer after_hash = *lexer;
            if (ln_il_lex(lexer, &name) == LN_OK && name.kind == LN_IL_NAME) {
                bool is_if = ln_il_is_name(&name, "if") || ln_il_is_name(&name, "ifdef") ||
                             ln_il_is_name(&name, "ifndef");
                bool is_end = ln_il_is_name(&name, "endif");
                bool is_else = ln_il_is_name(&name, "else") || ln_il_is_name(&name, "elif");
                if (depth == 0 && (is_end || is_else)) {
                    *lexer = line;
                    return LN_OK;
                }
                depth += is_if;
                depth -= is_end;
            }
            *lexer = after_hash;
        } else {
            *lexer = line;
        }
        LN_TRY(ln_il_lex_skip_line(lexer));
    }
    return LN_OK; // the end of the file finds the open condition
}

static ln_status begin_condition(ln_il_preprocessor *pp, const ln_il_token *directive,
                                 const ln_il_tokens *line)
{
    if (pp->condition_count == LN_IL_MAX_CONDITIONS)
        return ln_il_fail(directive, LN_LIMIT, "conditions nest deeper than %d levels",
                          LN_IL_MAX_CONDITIONS);
    bool is_true;
    LN_TRY(test_condition(pp, directive, line, &is_true));
    pp->conditions[pp->condition_count++] =
        (ln_il_condition){.start = *directive, .is_taken = is_true};
    return is_true ? LN_OK : skip_group(pp);
}

// #elif, #else, #endif
static ln_status continue_condition(ln_il_preprocessor *pp, const ln_il_token *directive,
                                    const ln_il_tokens *line)
{
    if (pp->condition_count == current_file(pp)->condition_count)
        return ln_il_fail(directive, LN_SYNTAX, "'#%.*s' without an #if in this file",
                          (int)directive->len, directive->text);
    ln_il_condition *condition = &pp->conditions[pp->condition_count - 1];
    bool is_elif = ln_il_is_name(directive, "elif");
    if (!is_elif)
        LN_TRY(expect_line_end(line, 0));
    if (ln_il_is_name(directive, "endif")) {
        pp->condition_count--;
        return LN_OK;
    }
    if (condition->has_else)
        return ln_il_fail(directive, LN_SYNTAX, "'#%.*s' after the #else of the same #if",
                          (int)directive->len, directive->text);
    condition->has_else = !is_elif;
    if (condition->is_taken)
        return skip_group(pp);
    condition->is_taken = true;
    if (is_elif)
        LN_TRY(test_expression(pp, directive, line, &condition->is_taken));
    return condition->is_taken ? LN_OK : skip_group(pp);
}

// ---- Directives ----

static ln_status include(ln_il_preprocessor *pp, const ln_il_token *directive,
                         const ln_il_tokens *line)
{
    if (line->count == 0)
        return ln_il_fail(directive, LN_SYNTAX, "'#include' needs a file name in double quotes");
    LN_TRY(expect_line_end(line, line->items[0].kind == LN_IL_STRING ? 1 : line->count));
    return include_file(pp, &line->items[0]);
}

// `#pragma once`; others are for compilers.
static ln_status pragma(ln_il_preprocessor *pp, const ln_il_token *directive,
                        const ln_il_tokens *line)
{
    (void)directive;
    const char *path = current_file(pp)->path;
    if (line->count == 0 || !ln_il_is_name(&line->items[0], "once") || *path == '\0')
        return LN_OK;
    return ln_il_names_add(&pp->read_once, pp->arena, path, strlen(path)) ? LN_OK : LN_NO_MEMORY;
}

// `#line 7 "model.net"`, and `# 7 "model.net"` in what another preprocessor has left: where the
// text came from. Places are those of the text at hand.
static ln_status origin(ln_il_preprocessor *pp, const ln_il_token *directive,
                        const ln_il_tokens *line)
{
    (void)pp;
    (void)directive;
    (void)line;
    return LN_OK;
}

static const struct {
    const char *name;
    ln_status (*run)(ln_il_preprocessor *pp, const ln_il_token *directive,
                     const ln_il_tokens *line);
} directives[] = {
    {"define", define},
    {"undef", undefine},
    {"include", include},
    {"if", begin_condition},
    {"ifdef", begin_condition},
    {"ifndef", begin_condition},
    {"elif", continue_condition},
    {"else", continue_condition},
    {"endif", continue_condition},
    {"pragma", pragma},
    {"line", origin},
};

// `#error` and `#warning`, whose text need not consist of tokens.
static ln_status say(ln_il_preprocessor *pp, const ln_il_token *name)
{
    const char *text;
    size_t len;
    ln_il_lex_rest(&current_file(pp)->lexer, &text, &len);
    int shown = len > 500 ? 500 : (int)len;
    if (ln_il_is_name(name, "error"))
        return ln_il_fail(name, LN_SYNTAX, "#error %.*s", shown, text);
    ln_msg_warn("%s:%d:%d: %.*s", name->place.file, name->place.line, name->place.column, shown,
                text);
    return LN_OK;
}

static ln_status run_directive(ln_il_preprocessor *pp, const ln_il_token *name)
{
    if (ln_il_is_name(name, "error") || ln_il_is_name(name, "warning"))
        return say(pp, name);
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        bool is_origin = name->kind == LN_IL_NUMBER && directives[i].run == origin;
        if (!ln_il_is_name(name, directives[i].name) && !is_origin)
            continue;
        ln_il_tokens line = {0};
        ln_status status = read_line(pp, &line);
        if (status == LN_OK)
            status = directives[i].run(pp, name, &line);
        ln_il_tokens_deinit(&line, &pp->budget);
        return status;
    }
    return ln_il_fail_expected(name, "define, undef, include, if, ifdef, ifndef, elif, else, "
                                     "endif, error, warning, pragma or line after '#'");
}

// ---- What the expander reads ----

static ln_status read_directive(ln_il_preprocessor *pp)
{
    ln_il_token name;
    ln_il_lexer *lexer = &current_file(pp)->lexer;
    ln_il_lexer after_hash = *lexer;
    LN_TRY(ln_il_lex(lexer, &name));
    if (name.kind == LN_IL_END)
        *lexer = after_hash;
    if (name.kind == LN_IL_END || name.kind == LN_IL_NEWLINE)
        return LN_OK; // a '#' alone does nothing, as in C
    return run_directive(pp, &name);
}

static ln_status read_files(void *user, bool is_in_call, ln_il_token *out_token)
{
    ln_il_preprocessor *pp = user;
    for (;;) {
        LN_TRY(ln_il_lex(&current_file(pp)->lexer, out_token));
        bool is_hash = ln_il_is(out_token, '#') && out_token->is_at_line_start;
        if (is_hash && is_in_call)
            return ln_il_fail(out_token, LN_SYNTAX,
                              "a directive cannot stand inside the arguments of a macro");
        if (is_hash) {
            LN_TRY(read_directive(pp));
        } else if (out_token->kind == LN_IL_END) {
            if (!is_in_call)
                LN_TRY(check_conditions_closed(pp));
            if (is_in_call || pp->file_count == 1)
                return LN_OK;
            pp->file_count--;
        } else if (out_token->kind != LN_IL_NEWLINE) {
            return LN_OK;
        }
    }
}

static bool is_call_next(void *user)
{
    ln_il_lexer ahead = current_file(user)->lexer;
    ln_il_token token;
    do {
        // What cannot be read is found again, and reported, when it is read.
        if (ln_il_lex(&ahead, &token) != LN_OK)
            return false;
    } while (token.kind == LN_IL_NEWLINE);
    return ln_il_is(&token, '(');
}

// ---- ${eval} ----

static bool is_word(const ln_il_token *token)
{
    return token->kind == LN_IL_NAME || token->kind == LN_IL_NUMBER;
}

// Computes `tokens`, the inside of the eval that began with `start`, into one number token.
static ln_status finish_eval(ln_il_preprocessor *pp, const ln_il_token *tokens, size_t count,
                             const ln_il_token *start, ln_il_token *out)
{
    ln_il_number number;
    char spelling[32];
    LN_TRY(ln_il_eval(tokens, count, start, LN_IL_ARITHMETIC_EVAL, &number));
    ln_il_number_print(&number, spelling);
    size_t len = strlen(spelling);
    char *text = ln_document_strdup(pp->arena, spelling, len);
    if (!text)
        return LN_NO_MEMORY;
    *out = *start;
    out->kind = LN_IL_NUMBER;
    out->text = text;
    out->len = (uint32_t)len;
    return LN_OK;
}

// Adds a word to the inside of an eval, as part of the word before it when one of the two is the
// value of an eval and nothing stands between them.
static ln_status add_word(ln_il_preprocessor *pp, ln_il_tokens *inside, size_t first,
                          const ln_il_token *word, bool is_value, bool *inout_last_is_value)
{
    bool touches = inside->count > first && !word->is_after_space && is_word(word) &&
                   is_word(&inside->items[inside->count - 1]) && (is_value || *inout_last_is_value);
    if (touches)
        return ln_il_token_join(pp->arena, &pp->budget, &inside->items[inside->count - 1], word);
    *inout_last_is_value = is_value;
    return ln_il_tokens_push(inside, &pp->budget, word);
}

// Reads the inside of an eval up to its '}', with the evals in it, and gives its value.
static ln_status read_eval(ln_il_preprocessor *pp, ln_il_tokens *inside, ln_il_token *inout_token)
{
    ln_il_token starts[LN_IL_MAX_EVAL_DEPTH];
    size_t firsts[LN_IL_MAX_EVAL_DEPTH];
    size_t depth = 0;
    bool last_is_value = false;
    ln_il_token token = *inout_token;
    for (;;) {
        if (token.kind == LN_IL_EVAL) {
            if (depth == LN_IL_MAX_EVAL_DEPTH)
                return ln_il_fail(&token, LN_LIMIT, "evals nest deeper than %d levels",
                                  LN_IL_MAX_EVAL_DEPTH);
            firsts[depth] = inside->count;
            starts[depth++] = token;
        } else if (token.kind == LN_IL_END || ln_il_is(&token, ';')) {
            return ln_il_fail(&starts[depth - 1], LN_SYNTAX, "this ${eval has no '}'");
        } else if (ln_il_is(&token, '}')) {
            size_t first = firsts[--depth];
            const ln_il_token *tokens = inside->count > first ? inside->items + first : NULL;
            LN_TRY(finish_eval(pp, tokens, inside->count - first, &starts[depth], inout_token));
            if (depth == 0)
                return LN_OK;
            ln_il_tokens_cut(inside, &pp->budget, first);
            LN_TRY(add_word(pp, inside, firsts[depth - 1], inout_token, true, &last_is_value));
            last_is_value = true;
        } else {
            LN_TRY(add_word(pp, inside, firsts[depth - 1], &token, false, &last_is_value));
        }
        LN_TRY(ln_il_expander_next(&pp->expander, &token));
    }
}

// The next token, an eval replaced by its value.
static ln_status next_value(ln_il_preprocessor *pp, ln_il_token *out, bool *out_is_value)
{
    *out_is_value = false;
    LN_TRY(ln_il_expander_next(&pp->expander, out));
    if (out->kind != LN_IL_EVAL)
        return LN_OK;
    *out_is_value = true;
    ln_il_tokens inside = {0};
    ln_status status = read_eval(pp, &inside, out);
    ln_il_tokens_deinit(&inside, &pp->budget);
    return status;
}

// ---- The whole ----

ln_status ln_il_preprocessor_next(ln_il_preprocessor *pp, ln_il_token *out_token)
{
    bool is_value = false, next_is_value;
    if (pp->has_held) {
        *out_token = pp->held;
        is_value = pp->held_is_value;
        pp->has_held = false;
    } else {
        LN_TRY(next_value(pp, out_token, &is_value));
    }
    while (is_word(out_token)) {
        ln_il_token next;
        LN_TRY(next_value(pp, &next, &next_is_value));
        if (next.is_after_space || !is_word(&next) || !(is_value || next_is_value)) {
            pp->held = next;
            pp->held_is_value = next_is_value;
            pp->has_held = true;
            return LN_OK;
        }
        LN_TRY(ln_il_token_join(pp->arena, &pp->budget, out_token, &next));
        is_value = true;
    }
    return LN_OK;
}

ln_status ln_il_preprocessor_init(ln_il_preprocessor *pp, ln_document *document, const char *text,
                                  size_t len, const char *folder, const char *path)
{
    memset(pp, 0, sizeof *pp);
    pp->document = document;
    pp->folder = folder;
    if (len > LN_IL_MAX_BYTES)
        return LN_FAIL(LN_LIMIT, "%s: a text of %zu bytes, at most %d are read",
                       ln_document_file(document), len, LN_IL_MAX_BYTES);
    LN_TRY(push_file(pp, text, len, ln_document_file(document), path, NULL));
    LN_TRY(ln_document_create(NULL, &pp->arena));
    pp->expander = (ln_il_expander){
        .arena = pp->arena,
        .budget = &pp->budget,
        .feed = {.read = read_files, .is_call_next = is_call_next, .user = pp},
    };
    return LN_OK;
}

void ln_il_preprocessor_deinit(ln_il_preprocessor *pp)
{
    ln_il_expander_deinit(&pp->expander);
    ln_document_destroy(pp->arena);
    pp->arena = NULL;
}
