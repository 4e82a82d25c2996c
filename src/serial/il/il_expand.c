// SPDX-License-Identifier: Apache-2.0
// A stack of token lists that are being read: the body of a macro, inside it the body of another.
//
//     file ... relu(x) ...
//                 | act ( x ) |          body of relu, relu is active
//                    | y = x |           body of act, act is active
//
// A macro stops being active when its list has been read. A list with `is_barrier` is an argument
// that is expanded by itself: reading does not go past its end.

#include "serial/il/il_expand.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "serial/il/il_limits.h"

typedef struct ln_il_context {
    ln_il_tokens owned;       // empty when the list is borrowed
    const ln_il_token *items; // `owned` or borrowed
    size_t count;
    size_t next;
    ln_il_macro *macro; // NULL for an argument
    bool is_barrier;
} context;

// One argument of a call: a part of `call.raw`.
typedef struct argument {
    size_t first;
    size_t count;
    bool is_expanded;
    ln_il_tokens expanded;
} argument;

typedef struct call {
    const ln_il_macro *macro;
    ln_il_token name;
    const ln_il_expansion *expansion;
    ln_il_tokens raw;
    argument *args; // one for each parameter and one to spare
    size_t arg_count;
} call;

ln_il_macro *ln_il_expander_find(const ln_il_expander *expander, const ln_il_token *name)
{
    ln_il_name *entry = ln_il_names_find(&expander->macros, name->text, name->len);
    return entry ? entry->item : NULL;
}

// ---- The stack ----

static ln_status push_context(ln_il_expander *x, const ln_il_token *where, const context *added)
{
    if (x->context_count == LN_IL_MAX_DEPTH)
        return ln_il_fail(where, LN_LIMIT, "macros nest deeper than %d expansions",
                          LN_IL_MAX_DEPTH);
    if (x->context_count == x->context_capacity) {
        size_t capacity = x->context_capacity ? x->context_capacity * 2 : 16;
        context *contexts = ln_realloc(x->contexts, capacity * sizeof *contexts);
        if (!contexts)
            return LN_NO_MEMORY;
        x->contexts = contexts;
        x->context_capacity = capacity;
    }
    x->contexts[x->context_count++] = *added;
    return LN_OK;
}

static void pop_context(ln_il_expander *x)
{
    context *top = &x->contexts[--x->context_count];
    if (top->macro)
        top->macro->is_active = false;
    ln_il_tokens_deinit(&top->owned, x->budget);
}

// The next token before expansion.
static ln_status read_raw(ln_il_expander *x, bool is_in_call, ln_il_token *out)
{
    bool is_read = false;
    while (x->context_count > 0 && !is_read) {
        context *top = &x->contexts[x->context_count - 1];
        if (top->next < top->count) {
            *out = top->items[top->next++];
            is_read = true;
        } else if (top->is_barrier) {
            *out = (ln_il_token){.kind = LN_IL_END, .text = ""};
            return LN_OK;
        } else {
            pop_context(x);
        }
    }
    if (!is_read)
        LN_TRY(x->feed.read(x->feed.user, is_in_call, out));
    if (x->has_pending_space) {
        out->is_after_space = true;
        x->has_pending_space = false;
    }
    if (out->kind == LN_IL_NAME && !out->is_final) {
        const ln_il_macro *macro = ln_il_expander_find(x, out);
        out->is_final = macro && macro->is_active;
    }
    return LN_OK;
}

static bool is_call_next(const ln_il_expander *x)
{
    for (size_t i = x->context_count; i-- > 0;) {
        const context *c = &x->contexts[i];
        if (c->next < c->count)
            return ln_il_is(&c->items[c->next], '(');
        if (c->is_barrier)
            return false;
    }
    return x->feed.is_call_next(x->feed.user);
}

// ---- Arguments ----

static ln_status check_arg_count(const call *c)
{
    size_t wanted = c->macro->param_count, given = c->arg_count;
    // Nothing between the parentheses is no argument or one empty one, whichever fits.
    bool is_empty = given == 1 && c->raw.count == 0;
    if (given == wanted || (is_empty && wanted == 0))
        return LN_OK;
    if (c->macro->is_variadic && given + 1 == wanted)
        return LN_OK;
    return ln_il_fail(&c->name, LN_SYNTAX,
                      "macro '%s' (defined at %s:%d:%d) takes %s%zu argument%s, here are %zu",
                      c->macro->name, c->macro->place.file, c->macro->place.line,
                      c->macro->place.column, c->macro->is_variadic ? "at least " : "",
                      wanted - c->macro->is_variadic,
                      wanted - c->macro->is_variadic == 1 ? "" : "s", is_empty ? 0 : given);
}

// Reads `(a, (b, c), d)`. Arguments beyond the last parameter are only counted.
static ln_status collect_args(ln_il_expander *x, call *c)
{
    size_t wanted = c->macro->param_count, depth = 0;
    c->args = ln_alloc_array(wanted + 1, sizeof *c->args);
    if (!c->args)
        return LN_NO_MEMORY;
    c->arg_count = 1;
    ln_il_token token;
    LN_TRY(read_raw(x, true, &token)); // the parenthesis that is_call_next saw
    for (;;) {
        LN_TRY(read_raw(x, true, &token));
        if (token.kind == LN_IL_END)
            return ln_il_fail(&c->name, LN_SYNTAX, "the call of macro '%s' has no ')'",
                              c->macro->name);
        if (ln_il_is(&token, ')') && depth == 0)
            return check_arg_count(c);
        depth += ln_il_is(&token, '(');
        depth -= ln_il_is(&token, ')');
        bool takes_all = c->macro->is_variadic && c->arg_count == wanted;
        if (ln_il_is(&token, ',') && depth == 0 && !takes_all) {
            c->arg_count++;
            if (c->arg_count <= wanted)
                c->args[c->arg_count - 1].first = c->raw.count;
            continue;
        }
        LN_TRY(ln_il_tokens_push(&c->raw, x->budget, &token));
        if (c->arg_count <= wanted)
            c->args[c->arg_count - 1].count++;
    }
}

ln_status ln_il_expander_list(ln_il_expander *x, const ln_il_token *tokens, size_t count,
                              ln_il_tokens *out)
{
    if (count == 0)
        return LN_OK;
    context barrier = {.items = tokens, .count = count, .is_barrier = true};
    LN_TRY(push_context(x, &tokens[0], &barrier));
    for (;;) {
        ln_il_token token;
        LN_TRY(ln_il_expander_next(x, &token));
        if (token.kind == LN_IL_END)
            break;
        LN_TRY(ln_il_tokens_push(out, x->budget, &token));
    }
    x->has_pending_space = false;
    pop_context(x);
    return LN_OK;
}

// ---- Substitution ----

// Appends the parts of a macro's body with arguments in place of parameters.
typedef struct substitution {
    ln_il_expander *x;
    call *call;
    ln_il_tokens *out;
    bool has_pending_space; // something empty had a space before it
    size_t chain_start;     // where the left side of a `##` begins in `out`
    ln_place chain_place;   // and in the macro's body
} substitution;

static ln_status append(substitution *s, ln_il_token token)
{
    token.is_after_space |= s->has_pending_space;
    s->has_pending_space = false;
    return ln_il_tokens_push(s->out, s->x->budget, &token);
}

static ln_il_token body_token(const substitution *s, const ln_il_part *part)
{
    ln_il_token token = part->token;
    token.expansion = s->call->expansion;
    return token;
}

// How many bytes a token takes inside a string.
static size_t quoted_len(const ln_il_token *token)
{
    size_t len = token->len;
    for (size_t i = 0; token->kind == LN_IL_STRING && i < token->len; i++)
        len += token->text[i] == '"' || token->text[i] == '\\';
    return len;
}

static char *put_quoted(char *out, const ln_il_token *token)
{
    for (size_t i = 0; i < token->len; i++) {
        char c = token->text[i];
        if (token->kind == LN_IL_STRING && (c == '"' || c == '\\'))
            *out++ = '\\';
        *out++ = c;
    }
    return out;
}

// The argument as it is written, in quotes; what separates its tokens becomes one space.
static ln_status make_string(substitution *s, const ln_il_part *part, ln_il_token *out)
{
    const argument *arg = &s->call->args[part->param];
    const ln_il_token *items = arg->count > 0 ? s->call->raw.items + arg->first : NULL;
    ln_il_budget *budget = s->x->budget;
    size_t len = 2;
    for (size_t i = 0; i < arg->count && len <= LN_IL_MAX_NAME; i++)
        len += quoted_len(&items[i]) + (i > 0 && items[i].is_after_space);
    *out = body_token(s, part);
    if (len > LN_IL_MAX_NAME)
        return ln_il_fail(out, LN_LIMIT, "a string made with '#' has more than %d bytes",
                          LN_IL_MAX_NAME);
    if (budget->joined_bytes + len > LN_IL_MAX_JOINED_BYTES)
        return ln_il_fail(out, LN_LIMIT, "names and strings put together have more than %d bytes",
                          LN_IL_MAX_JOINED_BYTES);
    budget->joined_bytes += len;
    char *text = ln_document_alloc(s->x->arena, len + 1);
    if (!text)
        return LN_NO_MEMORY;
    char *p = text;
    *p++ = '"';
    for (size_t i = 0; i < arg->count; i++) {
        if (i > 0 && items[i].is_after_space)
            *p++ = ' ';
        p = put_quoted(p, &items[i]);
    }
    *p = '"';
    out->kind = LN_IL_STRING;
    out->text = text;
    out->len = (uint32_t)len;
    return LN_OK;
}

// What a part stands for. `*out_items` is borrowed from the call or from `*single`.
static ln_status resolve(substitution *s, const ln_il_part *part, bool is_joined,
                         ln_il_token *single, const ln_il_token **out_items, size_t *out_count)
{
    if (part->param < 0 || part->is_string) {
        *single = body_token(s, part);
        if (part->is_string)
            LN_TRY(make_string(s, part, single));
        *out_items = single;
        *out_count = 1;
        return LN_OK;
    }
    argument *arg = &s->call->args[part->param];
    const ln_il_token *raw = s->call->raw.items;
    *out_items = arg->count > 0 ? raw + arg->first : NULL;
    *out_count = arg->count;
    if (is_joined)
        return LN_OK;
    if (!arg->is_expanded) {
        arg->is_expanded = true;
        LN_TRY(ln_il_expander_list(s->x, *out_items, *out_count, &arg->expanded));
    }
    *out_items = arg->expanded.items;
    *out_count = arg->expanded.count;
    return LN_OK;
}

// `left ## ${eval ...}` cannot be joined before the eval has a value; without a space between them
// they will be joined then.
static bool is_joined_later(const ln_il_token *left, const ln_il_token *right)
{
    return right->kind == LN_IL_EVAL || ln_il_is(left, '}');
}

static ln_status join_last(substitution *s, const ln_il_token *right)
{
    ln_il_token *left = &s->out->items[s->out->count - 1];
    if (is_joined_later(left, right)) {
        ln_il_token token = *right;
        token.is_after_space = false;
        return append(s, token);
    }
    // The new name was made here, whoever gave its halves.
    left->expansion = s->call->expansion;
    left->place = s->chain_place;
    return ln_il_token_join(s->x->arena, s->x->budget, left, right);
}

// `, ## __VA_ARGS__`: the comma goes away when there are no more arguments, and is not joined.
static bool is_optional_comma(const ln_il_macro *macro, size_t i)
{
    return macro->is_variadic && macro->parts[i].is_joined_to_next &&
           ln_il_is(&macro->parts[i].token, ',') &&
           macro->parts[i + 1].param == (int)macro->param_count - 1;
}

static ln_status substitute(substitution *s)
{
    const ln_il_macro *macro = s->call->macro;
    bool joins_left = false;
    for (size_t i = 0; i < macro->part_count; i++) {
        const ln_il_part *part = &macro->parts[i];
        bool joins_right = part->is_joined_to_next;
        if (is_optional_comma(macro, i)) {
            bool is_kept = s->call->args[macro->param_count - 1].count > 0;
            if (is_kept)
                LN_TRY(append(s, body_token(s, part)));
            joins_left = false;
            if (!is_kept)
                i++;
            continue;
        }
        const ln_il_token *items;
        size_t count, first = 0;
        ln_il_token single;
        LN_TRY(resolve(s, part, joins_left || joins_right, &single, &items, &count));
        if (!joins_left) {
            s->chain_start = s->out->count;
            s->chain_place = part->token.place;
        } else if (s->out->count > s->chain_start && count > 0) {
            LN_TRY(join_last(s, &items[first++]));
        }
        if (count == 0 && !joins_left)
            s->has_pending_space |= part->token.is_after_space;
        for (bool is_first = first == 0; first < count; first++, is_first = false) {
            ln_il_token token = items[first];
            if (is_first)
                token.is_after_space = part->token.is_after_space;
            LN_TRY(append(s, token));
        }
        joins_left = joins_right;
    }
    return LN_OK;
}

// ---- Expansion ----

static ln_status begin_expansion(ln_il_expander *x, call *c)
{
    if (x->budget->expansions == LN_IL_MAX_EXPANSIONS)
        return ln_il_fail(&c->name, LN_LIMIT, "more than %d macro expansions",
                          LN_IL_MAX_EXPANSIONS);
    x->budget->expansions++;
    if (c->macro->part_count == 0)
        return LN_OK;
    ln_il_expansion *expansion = ln_document_alloc(x->arena, sizeof *expansion);
    if (!expansion)
        return LN_NO_MEMORY;
    *expansion = (ln_il_expansion){c->name.expansion, c->macro->name, c->name.place};
    c->expansion = expansion;
    return LN_OK;
}

static void deinit_call(ln_il_expander *x, call *c)
{
    for (size_t i = 0; c->args && i < c->macro->param_count; i++)
        ln_il_tokens_deinit(&c->args[i].expanded, x->budget);
    ln_free(c->args);
    ln_il_tokens_deinit(&c->raw, x->budget);
}

static ln_status make_body(ln_il_expander *x, call *c, ln_il_tokens *body)
{
    LN_TRY(begin_expansion(x, c));
    if (c->macro->is_function)
        LN_TRY(collect_args(x, c));
    substitution s = {.x = x, .call = c, .out = body};
    LN_TRY(substitute(&s));
    if (body->count > 0)
        body->items[0].is_after_space = c->name.is_after_space;
    else
        x->has_pending_space |= c->name.is_after_space;
    return LN_OK;
}

// Pushes what the call of `macro` stands for.
static ln_status expand(ln_il_expander *x, ln_il_macro *macro, const ln_il_token *name)
{
    call c = {.macro = macro, .name = *name};
    context added = {.macro = macro};
    ln_status status = make_body(x, &c, &added.owned);
    deinit_call(x, &c);
    if (status == LN_OK) {
        added.items = added.owned.items;
        added.count = added.owned.count;
        status = push_context(x, name, &added);
    }
    if (status != LN_OK) {
        ln_il_tokens_deinit(&added.owned, x->budget);
        return status;
    }
    macro->is_active = true;
    return LN_OK;
}

ln_status ln_il_expander_next(ln_il_expander *x, ln_il_token *out_token)
{
    for (;;) {
        LN_TRY(read_raw(x, false, out_token));
        if (out_token->kind != LN_IL_NAME || out_token->is_final)
            return LN_OK;
        ln_il_macro *macro = ln_il_expander_find(x, out_token);
        if (!macro || (macro->is_function && !is_call_next(x)))
            return LN_OK;
        LN_TRY(expand(x, macro, out_token));
    }
}

void ln_il_expander_deinit(ln_il_expander *x)
{
    while (x->context_count > 0)
        pop_context(x);
    ln_free(x->contexts);
    x->contexts = NULL;
    x->context_capacity = 0;
}
