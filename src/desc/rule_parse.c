// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar of docs/rules.md, without recursion: nothing nests deeper than
// an array. Each statement is checked against the names known so far, so every error has its place.

#include "desc/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/spelling.h"
#include "base/value.h"
#include "desc/rule_lex.h"

typedef struct name_info {
    bool is_value;  // of a parameter; else a tensor
    bool is_made;   // by a statement of the result
    bool is_read;   // by a statement of the pattern
    bool is_static; // by a condition, or made from static tensors
    int maker;      // the statement of the pattern that makes it; -1
} name_info;

typedef struct parser {
    ln_rule_lexer lexer;
    ln_rule_token token; // the next one
    ln_document *arena;

    ln_rule *rules;
    size_t rule_count;
    ln_rule_lower *lowers;
    size_t lower_count;

    // The rule being read.
    const char *names[LN_RULE_MAX_NAMES];
    name_info infos[LN_RULE_MAX_NAMES];
    size_t name_count;
    ln_rule_op pattern[LN_RULE_MAX_STATEMENTS];
    size_t pattern_count;
    ln_rule_op result[LN_RULE_MAX_STATEMENTS];
    size_t result_count;
    ln_rule_condition conditions[LN_RULE_MAX_CONDITIONS];
    size_t condition_count;
} parser;

// ---- Tokens ----

static ln_status next(parser *p)
{
    return ln_rule_lex(&p->lexer, &p->token);
}

static bool at_sign(const parser *p, char sign)
{
    return p->token.kind == LN_RULE_TOKEN_SIGN && p->token.sign == sign;
}

static bool at_word(const parser *p, const char *word)
{
    return p->token.kind == LN_RULE_TOKEN_WORD && strcmp(p->token.text, word) == 0;
}

static bool is_reserved(const char *word)
{
    static const char *const words[] = {"rule", "lower", "where", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

// A word that may be a name.
static bool at_name(const parser *p)
{
    return p->token.kind == LN_RULE_TOKEN_WORD && !is_reserved(p->token.text);
}

// "expected X, found Y" at the next token.
static ln_status fail_expected(const parser *p, const char *what)
{
    const ln_rule_token *t = &p->token;
    switch (t->kind) {
    case LN_RULE_TOKEN_WORD:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '%s'", what, t->text);
    case LN_RULE_TOKEN_NUMBER:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found a number", what);
    case LN_RULE_TOKEN_STRING:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found \"%s\"", what, t->text);
    case LN_RULE_TOKEN_ARROW:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '=>'", what);
    case LN_RULE_TOKEN_SIGN:
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '%c'", what, t->sign);
    case LN_RULE_TOKEN_END: break;
    }
    return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found the end", what);
}

static ln_status expect_sign(parser *p, char sign)
{
    char what[] = {'\'', sign, '\'', '\0'};
    return at_sign(p, sign) ? next(p) : fail_expected(p, what);
}

static ln_status expect_arrow(parser *p)
{
    return p->token.kind == LN_RULE_TOKEN_ARROW ? next(p) : fail_expected(p, "'=>'");
}

// ---- Memory: everything lives in the arena in the end ----

// A copy of `count` items; NULL, with *status set, when memory is gone. No items give NULL too.
static const void *keep(parser *p, const void *items, size_t count, size_t size, ln_status *status)
{
    *status = LN_OK;
    if (count == 0)
        return NULL;
    void *copy = ln_document_alloc(p->arena, count * size); // counts are below the limits
    if (copy)
        memcpy(copy, items, count * size);
    else
        *status = LN_NO_MEMORY;
    return copy;
}

// Sets `member` to a copy of the first `count` items of an array.
#define KEEP(p, items, count, member)                                                              \
    do {                                                                                           \
        ln_status keep_status_;                                                                    \
        (member) = keep((p), (items), (count), sizeof(items)[0], &keep_status_);                   \
        LN_TRY(keep_status_);                                                                      \
    } while (0)

// Takes the token's text, which is then the arena's, and reads on.
static ln_status take_text(parser *p, const char **out_text)
{
    *out_text = ln_document_strdup(p->arena, p->token.text, strlen(p->token.text));
    return *out_text ? next(p) : LN_NO_MEMORY;
}

static ln_status take_name(parser *p, const char *what, const char **out_text)
{
    return at_name(p) ? take_text(p, out_text) : fail_expected(p, what);
}

static ln_status check_room(const parser *p, size_t count, size_t limit, const char *what)
{
    if (count < limit)
        return LN_OK;
    return ln_fail_at(p->token.place, LN_LIMIT, "at most %zu %s are allowed", limit, what);
}

// ---- Names ----

static int find_name(const parser *p, const char *text)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (strcmp(p->names[i], text) == 0)
            return (int)i;
    return -1;
}

// The number of the name at the next token, which is new if it was not there.
static ln_status take_known_or_new(parser *p, bool is_value, int *out_name)
{
    ln_rule_token token = p->token;
    int name = find_name(p, token.text);
    if (name >= 0 && p->infos[name].is_value != is_value)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' stands for a %s already", token.text,
                          is_value ? "tensor" : "parameter's value");
    if (name >= 0) {
        *out_name = name;
        return next(p);
    }
    LN_TRY(check_room(p, p->name_count, LN_RULE_MAX_NAMES, "names in a rule"));
    name = (int)p->name_count;
    LN_TRY(take_text(p, &p->names[name]));
    p->infos[name] = (name_info){.is_value = is_value, .maker = -1};
    p->name_count++;
    *out_name = name;
    return LN_OK;
}

// The number of the name at the next token, which must be there.
static ln_status take_known(parser *p, bool is_value, int *out_name)
{
    ln_rule_token token = p->token;
    int name = at_name(p) ? find_name(p, token.text) : -1;
    if (!at_name(p))
        return fail_expected(p, is_value ? "a value" : "the name of a tensor");
    if (name < 0)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' is not bound: no statement before has it",
                          token.text);
    if (p->infos[name].is_value != is_value)
        return ln_fail_at(token.place, LN_SYNTAX, "'%s' stands for a %s, not for a %s", token.text,
                          is_value ? "tensor" : "parameter's value",
                          is_value ? "parameter's value" : "tensor");
    *out_name = name;
    return next(p);
}

// ---- Values ----

static ln_status parse_scalar(parser *p, ln_rule_value *out_value)
{
    const ln_rule_token *t = &p->token;
    *out_value = (ln_rule_value){.kind = LN_RULE_NUMBER, .number = t->number};
    if (t->kind == LN_RULE_TOKEN_NUMBER)
        return next(p);
    if (at_word(p, "true") || at_word(p, "false")) {
        *out_value = (ln_rule_value){.kind = LN_RULE_BOOL, .boolean = at_word(p, "true")};
        return next(p);
    }
    if (t->kind != LN_RULE_TOKEN_STRING)
        return fail_expected(p, "a number, a string, true, false or an array");
    out_value->kind = LN_RULE_STRING;
    return take_text(p, &out_value->string);
}

static ln_status parse_array(parser *p, ln_rule_value *out_value)
{
    ln_rule_value elements[LN_RULE_MAX_ELEMENTS];
    size_t count = 0;
    LN_TRY(next(p));
    while (!at_sign(p, ']')) {
        LN_TRY(check_room(p, count, LN_RULE_MAX_ELEMENTS, "elements of an array"));
        ln_place place = p->token.place;
        LN_TRY(parse_scalar(p, &elements[count]));
        if (elements[count].kind != elements[0].kind)
            return ln_fail_at(place, LN_SYNTAX, "the elements of an array are of one kind");
        count++;
        if (!at_sign(p, ','))
            break;
        LN_TRY(next(p));
    }
    LN_TRY(expect_sign(p, ']'));
    *out_value = (ln_rule_value){.kind = LN_RULE_ARRAY, .count = count};
    KEEP(p, elements, count, out_value->elements);
    return LN_OK;
}

static ln_status parse_value(parser *p, bool is_result, ln_rule_value *out_value)
{
    *out_value = (ln_rule_value){.kind = LN_RULE_NAME};
    if (at_sign(p, '['))
        return parse_array(p, out_value);
    if (!at_name(p))
        return parse_scalar(p, out_value);
    if (strcmp(p->token.text, "_") == 0)
        return fail_expected(p, "a value or its name");
    return is_result ? take_known(p, true, &out_value->name)
                     : take_known_or_new(p, true, &out_value->name);
}

// ---- Statements ----

// One tensor of a statement: NAME, `_`, or for inputs ARG_NAME=NAME.
static ln_status parse_in(parser *p, bool is_result, ln_rule_arg *out_arg)
{
    *out_arg = (ln_rule_arg){.name = LN_RULE_ANY};
    if (!at_name(p))
        return fail_expected(p, "an input");
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    LN_TRY(ln_rule_lex(&ahead, &after));
    if (after.kind == LN_RULE_TOKEN_SIGN && after.sign == '=') {
        LN_TRY(take_text(p, &out_arg->arg_name));
        LN_TRY(next(p));
        if (!at_name(p))
            return fail_expected(p, "the name of a tensor");
    }
    ln_place place = p->token.place;
    bool is_any = at_word(p, "_");
    if (is_any && is_result)
        return ln_fail_at(place, LN_SYNTAX, "a result names every tensor it reads");
    if (is_any)
        return next(p);
    LN_TRY(is_result ? take_known(p, false, &out_arg->name)
                     : take_known_or_new(p, false, &out_arg->name));
    name_info *info = &p->infos[out_arg->name];
    info->is_read = true;
    if (info->maker == 0 && !info->is_made)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is read before %s makes it",
                          p->names[out_arg->name], is_result ? "the result" : "the root");
    return LN_OK;
}

static ln_status parse_ins(parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_arg ins[LN_RULE_MAX_ARGS];
    while (!at_sign(p, '|') && !at_sign(p, ')')) {
        LN_TRY(check_room(p, op->in_count, LN_RULE_MAX_ARGS, "inputs of a statement"));
        ln_place place = p->token.place;
        ln_rule_arg *in = &ins[op->in_count];
        LN_TRY(parse_in(p, is_result, in));
        if (!in->arg_name && op->in_count > 0 && in[-1].arg_name)
            return ln_fail_at(place, LN_SYNTAX, "an input by position stands before those by name");
        for (size_t i = 0; in->arg_name && i < op->in_count; i++)
            if (ins[i].arg_name && strcmp(ins[i].arg_name, in->arg_name) == 0)
                return ln_fail_at(place, LN_SYNTAX, "input '%s' is there twice", in->arg_name);
        op->in_count++;
        if (!at_sign(p, ','))
            break;
        LN_TRY(next(p));
    }
    KEEP(p, ins, op->in_count, op->ins);
    return LN_OK;
}

// params(NAME), after `params` was read.
static ln_status parse_params_from(parser *p, ln_place place, ln_rule_op *op)
{
    LN_TRY(next(p));
    int name;
    ln_place name_place = p->token.place;
    LN_TRY(take_known(p, false, &name));
    if (op->params_from >= 0)
        return ln_fail_at(place, LN_SYNTAX, "parameters are copied twice");
    op->params_from = p->infos[name].maker;
    if (op->params_from < 0)
        return ln_fail_at(name_place, LN_SYNTAX, "no operator of the pattern makes '%s'",
                          p->names[name]);
    return expect_sign(p, ')');
}

static ln_status parse_params(parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_param params[LN_RULE_MAX_ARGS];
    while (!at_sign(p, ')')) {
        ln_place place = p->token.place;
        LN_TRY(check_room(p, op->param_count, LN_RULE_MAX_ARGS, "parameters of a statement"));
        ln_rule_param *param = &params[op->param_count];
        LN_TRY(take_name(p, "the name of a parameter", &param->arg_name));
        if (is_result && strcmp(param->arg_name, "params") == 0 && at_sign(p, '(')) {
            LN_TRY(parse_params_from(p, place, op));
        } else {
            LN_TRY(expect_sign(p, '='));
            LN_TRY(parse_value(p, is_result, &param->value));
            for (size_t i = 0; i < op->param_count; i++)
                if (strcmp(params[i].arg_name, param->arg_name) == 0)
                    return ln_fail_at(place, LN_SYNTAX, "parameter '%s' is there twice",
                                      param->arg_name);
            op->param_count++;
        }
        if (!at_sign(p, ','))
            break;
        LN_TRY(next(p));
    }
    KEEP(p, params, op->param_count, op->params);
    return LN_OK;
}

// A statement of the pattern makes names that nobody makes yet.
static ln_status check_pattern_out(parser *p, ln_place place, int name)
{
    name_info *info = &p->infos[name];
    if (info->maker >= 0)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is made twice", p->names[name]);
    info->maker = (int)p->pattern_count;
    return LN_OK;
}

// A statement of the result makes the root's outputs and new names.
static ln_status check_result_out(parser *p, ln_place place, int name, bool is_new)
{
    name_info *info = &p->infos[name];
    if (info->is_made)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is made twice", p->names[name]);
    if (!is_new && info->maker != 0)
        return ln_fail_at(place, LN_SYNTAX,
                          "'%s' is no output of the root; a result makes those and new tensors",
                          p->names[name]);
    info->is_made = true;
    return LN_OK;
}

static ln_status parse_outs(parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_arg outs[LN_RULE_MAX_ARGS];
    for (;;) {
        LN_TRY(check_room(p, op->out_count, LN_RULE_MAX_ARGS, "outputs of a statement"));
        if (!at_name(p))
            return fail_expected(p, "the name of an output");
        ln_place place = p->token.place;
        ln_rule_arg *out = &outs[op->out_count++];
        *out = (ln_rule_arg){.name = LN_RULE_ANY};
        if (at_word(p, "_")) {
            if (is_result || p->pattern_count == 0)
                return ln_fail_at(place, LN_SYNTAX, "all outputs of %s have names",
                                  is_result ? "a result" : "the root");
            LN_TRY(next(p));
        } else {
            size_t before = p->name_count;
            LN_TRY(take_known_or_new(p, false, &out->name));
            bool is_new = p->name_count > before;
            LN_TRY(is_result ? check_result_out(p, place, out->name, is_new)
                             : check_pattern_out(p, place, out->name));
        }
        if (!at_sign(p, ','))
            break;
        LN_TRY(next(p));
    }
    KEEP(p, outs, op->out_count, op->outs);
    return LN_OK;
}

// 1 if the statement makes a tensor that an earlier one reads.
static bool is_connected(const parser *p, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->out_count; i++)
        if (op->outs[i].name >= 0 && p->infos[op->outs[i].name].is_read)
            return true;
    return false;
}

static ln_status parse_statement(parser *p, bool is_result, ln_rule_op *op)
{
    ln_place place = p->token.place;
    *op = (ln_rule_op){.line = place.line, .params_from = -1};
    LN_TRY(parse_outs(p, is_result, op));
    if (!is_result && p->pattern_count > 0 && !is_connected(p, op))
        return ln_fail_at(place, LN_SYNTAX,
                          "the statement makes no tensor that an earlier one reads");
    LN_TRY(expect_sign(p, '='));
    LN_TRY(take_name(p, "an operator type", &op->optype));
    LN_TRY(expect_sign(p, '('));
    LN_TRY(parse_ins(p, is_result, op));
    if (at_sign(p, '|')) {
        LN_TRY(next(p));
        LN_TRY(parse_params(p, is_result, op));
    }
    LN_TRY(expect_sign(p, ')'));
    if (at_sign(p, ';'))
        LN_TRY(next(p));

    for (size_t i = 0; i < op->in_count; i++) {
        int name = op->ins[i].name;
        for (size_t j = 0; name >= 0 && j < op->out_count; j++)
            if (op->outs[j].name == name)
                return ln_fail_at(place, LN_SYNTAX, "'%s' is made from itself", p->names[name]);
    }
    return LN_OK;
}

static ln_status parse_pattern(parser *p)
{
    p->name_count = p->pattern_count = p->condition_count = p->result_count = 0;
    do {
        LN_TRY(check_room(p, p->pattern_count, LN_RULE_MAX_STATEMENTS, "statements in a pattern"));
        LN_TRY(parse_statement(p, false, &p->pattern[p->pattern_count]));
        p->pattern_count++;
    } while (at_name(p));
    return LN_OK;
}

// ---- Conditions ----

static ln_status fail_unknown_predicate(const parser *p)
{
    const char *nearest = NULL;
    size_t distance = 4; // further away is another word
    for (int i = 0; i < LN_RULE_PREDICATE_COUNT; i++) {
        const char *name = ln_rule_predicate_name((ln_rule_predicate)i);
        size_t d = ln_spelling_distance(p->token.text, name);
        if (d < distance) {
            distance = d;
            nearest = name;
        }
    }
    return ln_fail_at(p->token.place, LN_SYNTAX, "there is no predicate '%s'%s%s%s", p->token.text,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

// In a `lower` statement tensors are named by the operator's arguments, which are not known here.
static ln_status parse_condition_arg(parser *p, char kind, bool is_lower, ln_rule_value *out_value)
{
    *out_value = (ln_rule_value){.kind = LN_RULE_STRING};
    if (kind == 't' && is_lower)
        return take_name(p, "the name of an argument", &out_value->string);
    if (kind == 't') {
        out_value->kind = LN_RULE_NAME;
        return take_known(p, false, &out_value->name);
    }
    if (kind == 'w') {
        if (p->token.kind == LN_RULE_TOKEN_STRING)
            return take_text(p, &out_value->string);
        return take_name(p, "a word", &out_value->string);
    }
    *out_value = (ln_rule_value){.kind = LN_RULE_NUMBER, .number = p->token.number};
    if (p->token.kind != LN_RULE_TOKEN_NUMBER || p->token.number != floor(p->token.number) ||
        fabs(p->token.number) > 1e9)
        return fail_expected(p, "a whole number");
    return next(p);
}

static ln_status parse_condition(parser *p, bool is_lower)
{
    LN_TRY(check_room(p, p->condition_count, LN_RULE_MAX_CONDITIONS, "conditions of a rule"));
    if (!at_name(p))
        return fail_expected(p, "a predicate");
    ln_rule_condition *condition = &p->conditions[p->condition_count];
    *condition = (ln_rule_condition){0};
    int predicate = 0;
    while (predicate < LN_RULE_PREDICATE_COUNT &&
           !at_word(p, ln_rule_predicate_name((ln_rule_predicate)predicate)))
        predicate++;
    if (predicate == LN_RULE_PREDICATE_COUNT)
        return fail_unknown_predicate(p);
    condition->predicate = (ln_rule_predicate)predicate;
    LN_TRY(next(p));
    LN_TRY(expect_sign(p, '('));

    ln_rule_value args[LN_RULE_MAX_ARGS];
    const char *signature = ln_rule_predicate_signature(condition->predicate);
    for (; signature[condition->arg_count]; condition->arg_count++) {
        if (condition->arg_count > 0)
            LN_TRY(expect_sign(p, ','));
        LN_TRY(parse_condition_arg(p, signature[condition->arg_count], is_lower,
                                   &args[condition->arg_count]));
    }
    if (condition->predicate == LN_RULE_PREDICATE_static && !is_lower)
        p->infos[args[0].name].is_static = true;
    p->condition_count++;
    LN_TRY(expect_sign(p, ')'));
    KEEP(p, args, condition->arg_count, condition->args);
    return LN_OK;
}

static ln_status parse_where(parser *p, bool is_lower)
{
    if (!at_word(p, "where"))
        return LN_OK;
    do {
        LN_TRY(next(p));
        LN_TRY(parse_condition(p, is_lower));
    } while (at_sign(p, ','));
    return LN_OK;
}

// ---- What follows from a rule ----

// Operators that the result reads from stay, and so do those that these read from.
static void mark_kept(parser *p)
{
    const ln_rule_op *readers[2 * LN_RULE_MAX_STATEMENTS];
    size_t reader_count = 0;
    for (size_t i = 0; i < p->result_count; i++)
        readers[reader_count++] = &p->result[i];
    for (size_t i = 0; i < reader_count; i++) {
        for (size_t j = 0; j < readers[i]->in_count; j++) {
            int name = readers[i]->ins[j].name;
            int maker = name >= 0 ? p->infos[name].maker : -1;
            if (maker <= 0 || p->pattern[maker].is_kept)
                continue;
            p->pattern[maker].is_kept = true;
            readers[reader_count++] = &p->pattern[maker];
        }
    }
}

// All inputs are known to be static; without inputs nothing is known.
static bool reads_static_only(const parser *p, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->in_count; i++)
        if (op->ins[i].name < 0 || !p->infos[op->ins[i].name].is_static)
            return false;
    return op->in_count > 0;
}

// The result runs fewer operators than those it removes, so rewriting comes to an end.
static ln_status check_measure(parser *p, ln_place place)
{
    size_t before = 0, after = 0;
    for (size_t i = 0; i < p->result_count; i++) {
        ln_rule_op *op = &p->result[i];
        op->is_static = reads_static_only(p, op);
        for (size_t j = 0; op->is_static && j < op->out_count; j++)
            p->infos[op->outs[j].name].is_static = true;
        after += !op->is_static;
    }
    for (size_t i = 0; i < p->pattern_count; i++)
        before += !p->pattern[i].is_kept && !reads_static_only(p, &p->pattern[i]);
    if (after < before)
        return LN_OK;
    return ln_fail_at(place, LN_SYNTAX,
                      "the rule does not shrink the model: its result runs %zu operators, and the "
                      "pattern only %zu that it removes",
                      after, before);
}

static ln_status check_root_made(const parser *p, ln_place place)
{
    for (size_t i = 0; i < p->pattern[0].out_count; i++) {
        int name = p->pattern[0].outs[i].name;
        if (!p->infos[name].is_made)
            return ln_fail_at(place, LN_SYNTAX, "the result does not make the root's output '%s'",
                              p->names[name]);
    }
    return LN_OK;
}

// ---- Rules ----

static ln_status parse_tag(parser *p, ln_rule_tag *out_tag)
{
    LN_TRY(expect_sign(p, '['));
    for (int i = 0; i < LN_RULE_TAG_COUNT; i++) {
        if (at_word(p, ln_rule_tag_name((ln_rule_tag)i))) {
            *out_tag = (ln_rule_tag)i;
            LN_TRY(next(p));
            return expect_sign(p, ']');
        }
    }
    return fail_expected(p, "a tag: exact, reorders or rounds");
}

// Makes room for one more; the array is freed by the caller of the parser.
static ln_status grow(parser *p, void **items, size_t count, size_t size, const char *what)
{
    LN_TRY(check_room(p, count, LN_RULE_MAX_RULES, what));
    if (count & (count - 1)) // not at a power of two: there is room
        return LN_OK;
    void *grown = ln_realloc(*items, (count ? 2 * count : 1) * size);
    if (!grown)
        return LN_NO_MEMORY;
    *items = grown;
    return LN_OK;
}

static ln_status keep_rule(parser *p, ln_rule *rule)
{
    rule->name_count = p->name_count;
    rule->pattern_count = p->pattern_count;
    rule->condition_count = p->condition_count;
    rule->result_count = p->result_count;
    KEEP(p, p->names, p->name_count, rule->names);
    KEEP(p, p->pattern, p->pattern_count, rule->pattern);
    KEEP(p, p->conditions, p->condition_count, rule->conditions);
    KEEP(p, p->result, p->result_count, rule->result);
    return LN_OK;
}

static ln_status parse_rule(parser *p)
{
    ln_rule rule = {.line = p->token.place.line};
    LN_TRY(next(p));
    ln_place place = p->token.place;
    LN_TRY(take_name(p, "the name of the rule", &rule.name));
    for (size_t i = 0; i < p->rule_count; i++)
        if (strcmp(p->rules[i].name, rule.name) == 0)
            return ln_fail_at(place, LN_SYNTAX, "rule '%s' is there already, at line %d", rule.name,
                              p->rules[i].line);
    LN_TRY(parse_tag(p, &rule.tag));
    LN_TRY(parse_pattern(p));
    LN_TRY(parse_where(p, false));
    LN_TRY(expect_arrow(p));
    do {
        LN_TRY(check_room(p, p->result_count, LN_RULE_MAX_STATEMENTS, "statements in a result"));
        LN_TRY(parse_statement(p, true, &p->result[p->result_count]));
        p->result_count++;
    } while (at_name(p));

    LN_TRY(check_root_made(p, place));
    mark_kept(p);
    LN_TRY(check_measure(p, place));
    LN_TRY(keep_rule(p, &rule));
    LN_TRY(grow(p, (void **)&p->rules, p->rule_count, sizeof rule, "rules in a file"));
    p->rules[p->rule_count++] = rule;
    return LN_OK;
}

static ln_status parse_lower(parser *p)
{
    ln_rule_lower lower = {.line = p->token.place.line};
    p->condition_count = 0;
    LN_TRY(next(p));
    if (at_sign(p, '*'))
        LN_TRY(next(p));
    else
        LN_TRY(take_name(p, "an operator type or '*'", &lower.from));
    if (at_sign(p, '['))
        LN_TRY(parse_tag(p, &lower.tag));
    LN_TRY(expect_arrow(p));

    lower.has_star = at_sign(p, '*');
    ln_place star = p->token.place;
    if (lower.has_star)
        LN_TRY(next(p));
    if (lower.has_star && (p->token.place.line != star.line ||
                           p->token.place.column != star.column + 1 || !at_name(p)))
        return ln_fail_at(star, LN_SYNTAX, "an ending follows '*' directly, as in '*_cpu'");
    if (!lower.has_star && !lower.from)
        return fail_expected(p, "'*' with an ending, as the statement is for any operator");
    ln_place place = p->token.place;
    LN_TRY(take_name(p, "an operator type", &lower.to));
    if (!lower.has_star && strcmp(lower.from, lower.to) == 0)
        return ln_fail_at(place, LN_SYNTAX, "'%s' would be lowered to itself", lower.to);

    LN_TRY(parse_where(p, true));
    if (at_sign(p, ';'))
        LN_TRY(next(p));
    lower.condition_count = p->condition_count;
    KEEP(p, p->conditions, p->condition_count, lower.conditions);
    LN_TRY(grow(p, (void **)&p->lowers, p->lower_count, sizeof lower, "lower statements"));
    p->lowers[p->lower_count++] = lower;
    return LN_OK;
}

static ln_status parse_file(parser *p)
{
    LN_TRY(next(p));
    while (p->token.kind != LN_RULE_TOKEN_END) {
        if (at_word(p, "rule"))
            LN_TRY(parse_rule(p));
        else if (at_word(p, "lower"))
            LN_TRY(parse_lower(p));
        else
            return fail_expected(p, "'rule' or 'lower'");
    }
    return LN_OK;
}

// A set that was read; its parts, and it itself, live in the arena.
typedef struct read_set {
    ln_rule_set set; // first: its address is the struct's
    ln_document *arena;
} read_set;

static ln_status make_set(parser *p, ln_rule_set **out_set)
{
    read_set *read = ln_document_alloc(p->arena, sizeof *read);
    if (!read)
        return LN_NO_MEMORY;
    *read = (read_set){.set = {.file = ln_document_file(p->arena),
                               .rule_count = p->rule_count,
                               .lower_count = p->lower_count},
                       .arena = p->arena};
    KEEP(p, p->rules, p->rule_count, read->set.rules);
    KEEP(p, p->lowers, p->lower_count, read->set.lowers);
    *out_set = &read->set;
    return LN_OK;
}

// ---- Public functions ----

ln_status ln_rule_set_parse(const char *text, size_t len, const char *file, ln_rule_set **out_set)
{
    *out_set = NULL;
    if (!text)
        return LN_FAIL(LN_INVALID, "no rules: the text is NULL");
    if (len > LN_RULE_MAX_BYTES)
        return LN_FAIL(LN_LIMIT, "%s: %zu bytes; rules have at most %d", file ? file : "rules", len,
                       LN_RULE_MAX_BYTES);
    parser *p = ln_alloc(sizeof *p);
    if (!p)
        return LN_NO_MEMORY;
    ln_status status = ln_document_create(file, &p->arena);
    if (status == LN_OK) {
        p->lexer.at = text;
        p->lexer.end = text + len;
        p->lexer.place = (ln_place){ln_document_file(p->arena), 1, 1};
        status = parse_file(p);
    }
    if (status == LN_OK)
        status = make_set(p, out_set);
    if (status != LN_OK)
        ln_document_destroy(p->arena);
    ln_free(p->rules);
    ln_free(p->lowers);
    ln_free(p);
    return status;
}

ln_status ln_rule_set_read(const char *file, ln_rule_set **out_set)
{
    *out_set = NULL;
    char *text;
    size_t len;
    LN_TRY(ln_text_read_file(file, LN_RULE_MAX_BYTES, &text, &len));
    ln_status status = ln_rule_set_parse(text, len, file, out_set);
    ln_free(text);
    return status;
}

void ln_rule_set_destroy(ln_rule_set *set)
{
    if (set)
        ln_document_destroy(((read_set *)set)->arena);
}
