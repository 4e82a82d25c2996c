// SPDX-License-Identifier: Apache-2.0
// Checks a definition once, so that expanding has nothing left to refuse but joins.

#include "serial/il/il_macro.h"

#include <string.h>

#include "serial/il/il_limits.h"

#define VARIADIC_NAME "__VA_ARGS__"

typedef struct definition {
    ln_document *arena;
    const ln_il_token *tokens;
    size_t count;
    size_t next;
    ln_il_token end; // what stands after the last token
} definition;

static bool is_hash_hash(const ln_il_token *token)
{
    return token->kind == LN_IL_PUNCT && token->len == 2;
}

static bool is_same_text(const ln_il_token *a, const ln_il_token *b)
{
    return a->kind == b->kind && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static const ln_il_token *here(const definition *d)
{
    return d->next < d->count ? &d->tokens[d->next] : &d->end;
}

static bool take(definition *d, char c)
{
    bool is_here = ln_il_is(here(d), c);
    d->next += is_here;
    return is_here;
}

static int find_param(const ln_il_macro *macro, const ln_il_token *token)
{
    for (size_t i = 0; token->kind == LN_IL_NAME && i < macro->param_count; i++)
        if (is_same_text(&macro->params[i], token))
            return (int)i;
    return -1;
}

static ln_status parse_name(definition *d, ln_il_macro *macro)
{
    const ln_il_token *token = here(d);
    if (token->kind != LN_IL_NAME)
        return ln_il_fail_expected(token, "the name of the macro");
    if (ln_il_is_name(token, "defined") || ln_il_is_name(token, VARIADIC_NAME))
        return ln_il_fail(token, LN_SYNTAX, "'%.*s' cannot be the name of a macro", (int)token->len,
                          token->text);
    macro->name = ln_document_strdup(d->arena, token->text, token->len);
    macro->place = token->place;
    d->next++;
    return macro->name ? LN_OK : LN_NO_MEMORY;
}

// `...` makes the macro variadic.
static ln_status take_ellipsis(definition *d, ln_il_macro *macro)
{
    for (int i = 0; i < 3; i++)
        if (!take(d, '.'))
            return i == 0 ? LN_OK : ln_il_fail_expected(here(d), "'...'");
    macro->is_variadic = true;
    return LN_OK;
}

static void add_unnamed_param(ln_il_macro *macro, const ln_il_token *first)
{
    ln_il_token *param = &macro->params[macro->param_count++];
    *param = *first;
    param->kind = LN_IL_NAME;
    param->text = VARIADIC_NAME;
    param->len = sizeof VARIADIC_NAME - 1;
}

static ln_status add_param(definition *d, ln_il_macro *macro)
{
    const ln_il_token *token = here(d);
    if (token->kind != LN_IL_NAME)
        return ln_il_fail_expected(token, "the name of a parameter or '...'");
    if (find_param(macro, token) >= 0 || ln_il_is_name(token, VARIADIC_NAME))
        return ln_il_fail(token, LN_SYNTAX, "macro '%s' cannot have a parameter '%.*s' here",
                          macro->name, (int)token->len, token->text);
    macro->params[macro->param_count++] = *token;
    d->next++;
    return LN_OK;
}

// `(a, b, ...)`; the parenthesis is consumed.
static ln_status parse_params(definition *d, ln_il_macro *macro)
{
    macro->is_function = true;
    macro->params = ln_document_alloc(d->arena, (LN_IL_MAX_PARAMS + 1) * sizeof *macro->params);
    if (!macro->params)
        return LN_NO_MEMORY;
    if (take(d, ')'))
        return LN_OK;
    for (;;) {
        const ln_il_token *token = here(d);
        if (macro->param_count == LN_IL_MAX_PARAMS)
            return ln_il_fail(token, LN_LIMIT, "macro '%s' has more than %d parameters",
                              macro->name, LN_IL_MAX_PARAMS);
        LN_TRY(take_ellipsis(d, macro));
        if (macro->is_variadic) {
            add_unnamed_param(macro, token);
        } else {
            LN_TRY(add_param(d, macro));
            LN_TRY(take_ellipsis(d, macro)); // `name...`
        }
        if (take(d, ')'))
            return LN_OK;
        if (macro->is_variadic || !take(d, ','))
            return ln_il_fail_expected(here(d),
                                       macro->is_variadic ? "')' after '...'" : "',' or ')'");
    }
}

static ln_status parse_body(definition *d, ln_il_macro *macro)
{
    if (d->next == d->count)
        return LN_OK;
    macro->parts = ln_document_alloc(d->arena, (d->count - d->next) * sizeof *macro->parts);
    if (!macro->parts)
        return LN_NO_MEMORY;
    for (; d->next < d->count; d->next++) {
        const ln_il_token *token = here(d);
        bool is_string = ln_il_is(token, '#');
        if (is_string) {
            d->next++;
            if (find_param(macro, here(d)) < 0)
                return ln_il_fail(token, LN_SYNTAX, "'#' makes a string of a parameter only");
        }
        if (is_hash_hash(token)) {
            if (macro->part_count == 0 || d->next + 1 == d->count ||
                is_hash_hash(&d->tokens[d->next + 1]))
                return ln_il_fail(token, LN_SYNTAX, "'##' needs something on both sides");
            macro->parts[macro->part_count - 1].is_joined_to_next = true;
            continue;
        }
        if (ln_il_is_name(token, VARIADIC_NAME) && find_param(macro, token) < 0)
            return ln_il_fail(token, LN_SYNTAX,
                              VARIADIC_NAME " needs a macro whose parameters end "
                                            "in '...'");
        macro->parts[macro->part_count++] = (ln_il_part){
            .token = *here(d), .param = find_param(macro, here(d)), .is_string = is_string};
    }
    return LN_OK;
}

ln_status ln_il_macro_parse(ln_document *arena, const ln_il_token *directive,
                            const ln_il_token *tokens, size_t count, ln_il_macro **out_macro)
{
    *out_macro = NULL;
    ln_il_macro *macro = ln_document_alloc(arena, sizeof *macro);
    if (!macro)
        return LN_NO_MEMORY;
    *macro = (ln_il_macro){0};
    definition d = {.arena = arena, .tokens = tokens, .count = count, .end = *directive};
    d.end.kind = LN_IL_NEWLINE;

    LN_TRY(parse_name(&d, macro));
    // Only a parenthesis right after the name opens parameters, as in C.
    if (ln_il_is(here(&d), '(') && !here(&d)->is_after_space) {
        d.next++;
        LN_TRY(parse_params(&d, macro));
    }
    LN_TRY(parse_body(&d, macro));
    *out_macro = macro;
    return LN_OK;
}

bool ln_il_macro_is_equal(const ln_il_macro *a, const ln_il_macro *b)
{
    if (a->is_function != b->is_function || a->is_variadic != b->is_variadic ||
        a->param_count != b->param_count || a->part_count != b->part_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (!is_same_text(&a->params[i], &b->params[i]))
            return false;
    for (size_t i = 0; i < a->part_count; i++)
        if (!is_same_text(&a->parts[i].token, &b->parts[i].token) ||
            a->parts[i].is_string != b->parts[i].is_string ||
            a->parts[i].is_joined_to_next != b->parts[i].is_joined_to_next)
            return false;
    return true;
}
