// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar of docs/rules.md, without recursion: nothing nests deeper than
// an array. Each statement is checked against the names known so far, so every error has its place.

#include "desc/rule.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "desc/rule_parser.h"

typedef ln_rule_parser parser;

// ---- Tokens ----

static ln_status next(parser *p)
{
    return ln_rule_next(p);
}

static bool at_sign(const parser *p, char sign)
{
    return ln_rule_at_sign(p, sign);
}

static bool at_word(const parser *p, const char *word)
{
    return ln_rule_at_word(p, word);
}

static bool is_reserved(const char *word)
{
    static const char *const words[] = {"rule", "lower", "where",  "true",  "false",
                                        "not",  "after", "before", "absent"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

bool ln_rule_at_name(const parser *p)
{
    return p->token.kind == LN_RULE_TOKEN_WORD && !is_reserved(p->token.text);
}

static bool at_name(const parser *p)
{
    return ln_rule_at_name(p);
}

ln_status ln_rule_fail_expected(const parser *p, const char *what)
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
        return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found '%s'", what, t->text);
    case LN_RULE_TOKEN_END: break;
    }
    return ln_fail_at(t->place, LN_SYNTAX, "expected %s, found the end", what);
}

static ln_status fail_expected(const parser *p, const char *what)
{
    return ln_rule_fail_expected(p, what);
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

const void *ln_rule_keep(parser *p, const void *items, size_t count, size_t size, ln_status *status)
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

ln_status ln_rule_take_text(parser *p, const char **out_text)
{
    *out_text = ln_document_strdup(p->arena, p->token.text, strlen(p->token.text));
    return *out_text ? next(p) : LN_NO_MEMORY;
}

static ln_status take_name(parser *p, const char *what, const char **out_text)
{
    return at_name(p) ? ln_rule_take_text(p, out_text) : fail_expected(p, what);
}

ln_status ln_rule_check_room(const parser *p, size_t count, size_t limit, const char *what)
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
    LN_TRY(ln_rule_check_room(p, p->name_count, LN_RULE_MAX_NAMES, "names in a rule"));
    name = (int)p->name_count;
    LN_TRY(ln_rule_take_text(p, &p->names[name]));
    p->infos[name] = (ln_rule_name){.is_value = is_value, .maker = -1};
    p->name_count++;
    *out_name = name;
    return LN_OK;
}

ln_status ln_rule_take_known(parser *p, bool is_value, int *out_name)
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

// In a pattern a value is a literal or a name; what is computed belongs in a result or a condition.
static ln_status parse_value(parser *p, bool is_result, ln_rule_value *out_value)
{
    if (is_result)
        return ln_rule_parse_expr(p, out_value);
    if (at_word(p, "_"))
        return fail_expected(p, "a value or its name");
    if (at_name(p)) {
        *out_value = (ln_rule_value){.kind = LN_RULE_NAME};
        return take_known_or_new(p, true, &out_value->name);
    }
    ln_place place = p->token.place;
    LN_TRY(ln_rule_parse_expr(p, out_value));
    if (out_value->kind == LN_RULE_EXPR)
        return ln_fail_at(place, LN_SYNTAX,
                          "a pattern computes nothing; give the value a name, and compare it "
                          "behind `where`");
    return LN_OK;
}

// ---- Tensors of a statement ----

// `...` or `?` behind a name. Names of several tensors always have it, others never.
static ln_status parse_mark(parser *p, ln_place place, bool is_new, ln_rule_arg *arg)
{
    arg->is_rest = at_sign(p, LN_RULE_SIGN_REST);
    arg->is_maybe = at_sign(p, '?');
    bool is_list = arg->is_rest || arg->is_maybe;
    if (is_list)
        LN_TRY(next(p));
    if (arg->name == LN_RULE_ANY)
        return LN_OK;
    ln_rule_name *info = &p->infos[arg->name];
    if (is_new)
        info->is_list = is_list;
    const char *name = p->names[arg->name];
    if (info->is_list && !is_list)
        return ln_fail_at(place, LN_SYNTAX,
                          "'%s' may stand for several tensors or none; write '%s...' or '%s?' as "
                          "in the pattern",
                          name, name, name);
    if (!info->is_list && is_list)
        return ln_fail_at(place, LN_SYNTAX, "'%s' stands for one tensor; write it without '%s'",
                          name, arg->is_rest ? "..." : "?");
    return LN_OK;
}

// NAME, `_`, or for inputs ARG_NAME=NAME; NAME may have a mark.
static ln_status parse_in(parser *p, bool is_result, ln_rule_arg *out_arg)
{
    *out_arg = (ln_rule_arg){.name = LN_RULE_ANY};
    if (!at_name(p))
        return fail_expected(p, "an input");
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    LN_TRY(ln_rule_lex(&ahead, &after));
    if (after.kind == LN_RULE_TOKEN_SIGN && after.sign == '=') {
        LN_TRY(ln_rule_take_text(p, &out_arg->arg_name));
        LN_TRY(next(p));
        if (!at_name(p))
            return fail_expected(p, "the name of a tensor");
    }
    ln_place place = p->token.place;
    bool is_any = at_word(p, "_");
    if (is_any && is_result)
        return ln_fail_at(place, LN_SYNTAX, "a result names every tensor it reads");
    if (is_any) {
        LN_TRY(next(p));
        return parse_mark(p, place, false, out_arg);
    }
    size_t before = p->name_count;
    LN_TRY(is_result ? ln_rule_take_known(p, false, &out_arg->name)
                     : take_known_or_new(p, false, &out_arg->name));
    LN_TRY(parse_mark(p, place, p->name_count > before, out_arg));
    ln_rule_name *info = &p->infos[out_arg->name];
    info->is_read = true;
    info->is_read_as_is = info->is_read_as_is || (is_result && !info->is_made);
    return LN_OK;
}

// The order of a statement's inputs: by position, then by name; `xs...` by position only, since
// the names of what follows it depend on how many there are.
static ln_status check_in_place(const ln_rule_arg *ins, size_t index, bool is_result,
                                ln_place place)
{
    const ln_rule_arg *in = &ins[index];
    if (in->is_rest && in->arg_name)
        return ln_fail_at(place, LN_SYNTAX, "`...` stands for inputs by position");
    if (!in->arg_name && index > 0 && in[-1].arg_name)
        return ln_fail_at(place, LN_SYNTAX, "an input by position stands before those by name");
    size_t rest_count = 0;
    for (size_t i = 0; i <= index; i++) {
        rest_count += ins[i].is_rest;
        if (rest_count > 0 && (in->arg_name || ins[i].is_maybe))
            return ln_fail_at(place, LN_SYNTAX,
                              "a statement with `...` has inputs by position only, without `?`");
        if (i < index && in->arg_name && ins[i].arg_name &&
            strcmp(ins[i].arg_name, in->arg_name) == 0)
            return ln_fail_at(place, LN_SYNTAX, "input '%s' is there twice", in->arg_name);
    }
    if (rest_count > 2 && !is_result)
        return ln_fail_at(place, LN_SYNTAX, "a statement of a pattern has `...` at most twice");
    return LN_OK;
}

static ln_status parse_ins(parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_arg ins[LN_RULE_MAX_ARGS];
    while (!at_sign(p, '|') && !at_sign(p, ')')) {
        LN_TRY(ln_rule_check_room(p, op->in_count, LN_RULE_MAX_ARGS, "inputs of a statement"));
        ln_place place = p->token.place;
        LN_TRY(parse_in(p, is_result, &ins[op->in_count]));
        LN_TRY(check_in_place(ins, op->in_count, is_result, place));
        op->in_count++;
        if (!at_sign(p, ','))
            break;
        LN_TRY(next(p));
    }
    KEEP(p, ins, op->in_count, op->ins);
    return LN_OK;
}

// A statement of the pattern makes names that nobody makes yet.
static ln_status check_pattern_out(parser *p, ln_place place, int name)
{
    ln_rule_name *info = &p->infos[name];
    if (info->maker >= 0)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is made twice", p->names[name]);
    info->maker = (int)p->pattern_count;
    return LN_OK;
}

// A statement of the result makes outputs of the pattern's operators and new names.
static ln_status check_result_out(parser *p, ln_place place, int name, bool is_new)
{
    ln_rule_name *info = &p->infos[name];
    if (info->is_made)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is made twice", p->names[name]);
    if (!is_new && info->maker < 0)
        return ln_fail_at(place, LN_SYNTAX,
                          "'%s' is made by no operator of the pattern; a result makes what those "
                          "make, and new tensors",
                          p->names[name]);
    if (info->is_read_as_is)
        return ln_fail_at(place, LN_SYNTAX,
                          "the result reads '%s' before it makes it, so its operator stays",
                          p->names[name]);
    info->is_made = true;
    return LN_OK;
}

static ln_status parse_out(parser *p, bool is_result, ln_rule_arg *out)
{
    ln_place place = p->token.place;
    *out = (ln_rule_arg){.name = LN_RULE_ANY};
    if (at_word(p, "_")) {
        if (is_result || p->pattern_count == 0)
            return ln_fail_at(place, LN_SYNTAX, "all outputs of %s have names",
                              is_result ? "a result" : "the root");
        return next(p);
    }
    size_t before = p->name_count;
    LN_TRY(take_known_or_new(p, false, &out->name));
    bool is_new = p->name_count > before;
    if (is_result && is_new && (at_sign(p, LN_RULE_SIGN_REST) || at_sign(p, '?')))
        return ln_fail_at(place, LN_SYNTAX, "'%s' is new; how many tensors would it stand for?",
                          p->names[out->name]);
    LN_TRY(parse_mark(p, place, is_new, out));
    if (out->is_maybe)
        return ln_fail_at(place, LN_SYNTAX, "an output cannot be left out: no '?' here");
    return is_result ? check_result_out(p, place, out->name, is_new)
                     : check_pattern_out(p, place, out->name);
}

static ln_status parse_outs(parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_arg outs[LN_RULE_MAX_ARGS];
    bool has_rest = false;
    for (;;) {
        LN_TRY(ln_rule_check_room(p, op->out_count, LN_RULE_MAX_ARGS, "outputs of a statement"));
        if (!at_name(p))
            return fail_expected(p, "the name of an output");
        ln_place place = p->token.place;
        LN_TRY(parse_out(p, is_result, &outs[op->out_count]));
        if (outs[op->out_count].is_rest && has_rest)
            return ln_fail_at(place, LN_SYNTAX, "a statement has `...` once among its outputs");
        has_rest = has_rest || outs[op->out_count].is_rest;
        op->out_count++;
        if (!at_sign(p, ','))
            break;
        LN_TRY(next(p));
    }
    KEEP(p, outs, op->out_count, op->outs);
    return LN_OK;
}

// ---- Parameters of a statement ----

// params(NAME), after `params` was read.
static ln_status parse_params_from(parser *p, ln_place place, ln_rule_op *op)
{
    LN_TRY(next(p));
    int name;
    ln_place name_place = p->token.place;
    LN_TRY(ln_rule_take_known(p, false, &name));
    if (op->params_from >= 0)
        return ln_fail_at(place, LN_SYNTAX, "parameters are copied twice");
    op->params_from = p->infos[name].maker;
    if (op->params_from < 0)
        return ln_fail_at(name_place, LN_SYNTAX, "no operator of the pattern makes '%s'",
                          p->names[name]);
    return expect_sign(p, ')');
}

static ln_status parse_param_value(parser *p, bool is_result, ln_rule_value *value)
{
    if (is_result || !at_word(p, "absent"))
        return parse_value(p, is_result, value);
    *value = (ln_rule_value){.kind = LN_RULE_ABSENT};
    return next(p);
}

static ln_status parse_params(parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_param params[LN_RULE_MAX_ARGS];
    while (!at_sign(p, ')')) {
        ln_place place = p->token.place;
        LN_TRY(
            ln_rule_check_room(p, op->param_count, LN_RULE_MAX_ARGS, "parameters of a statement"));
        ln_rule_param *param = &params[op->param_count];
        LN_TRY(take_name(p, "the name of a parameter", &param->arg_name));
        if (is_result && strcmp(param->arg_name, "params") == 0 && at_sign(p, '(')) {
            LN_TRY(parse_params_from(p, place, op));
        } else {
            LN_TRY(expect_sign(p, '='));
            LN_TRY(parse_param_value(p, is_result, &param->value));
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

// ---- Statements ----

// An operator after the first is found by walking along the data flow from those before it.
static bool makes_read(const parser *p, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->out_count; i++)
        if (op->outs[i].name >= 0 && p->infos[op->outs[i].name].is_read)
            return true;
    return false;
}

static bool is_before_bracket(const parser *p)
{
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    return !at_name(p) || (ln_rule_lex(&ahead, &after) == LN_OK &&
                           after.kind == LN_RULE_TOKEN_SIGN && after.sign == '(');
}

// From one of the inputs the readers are looked through, so it must be one tensor.
static bool reads_known(const parser *p, const ln_rule_op *op, size_t known_count)
{
    for (size_t i = 0; i < op->in_count; i++) {
        int name = op->ins[i].name;
        if (name >= 0 && (size_t)name < known_count && !p->infos[name].is_list)
            return true;
    }
    return false;
}

static ln_status check_not_from_itself(const parser *p, ln_place place, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->in_count; i++) {
        int name = op->ins[i].name;
        for (size_t j = 0; name >= 0 && j < op->out_count; j++)
            if (op->outs[j].name == name)
                return ln_fail_at(place, LN_SYNTAX, "'%s' is made from itself", p->names[name]);
    }
    return LN_OK;
}

// OPTYPE(INPUTS | PARAMETERS), after `=`.
static ln_status parse_operator(parser *p, bool is_result, ln_rule_op *op)
{
    LN_TRY(take_name(p, "an operator type", &op->optype));
    LN_TRY(expect_sign(p, '('));
    LN_TRY(parse_ins(p, is_result, op));
    if (at_sign(p, '|')) {
        LN_TRY(next(p));
        LN_TRY(parse_params(p, is_result, op));
    }
    return expect_sign(p, ')');
}

// NAME, after `=` in a result: an operator `forward` that a firing removes again if it can.
static ln_status parse_alias(parser *p, ln_place place, ln_rule_op *op)
{
    ln_rule_arg in;
    ln_place in_place = p->token.place;
    LN_TRY(parse_in(p, true, &in));
    if (op->out_count != 1 || op->outs[0].is_rest || in.is_rest || in.is_maybe || in.arg_name)
        return ln_fail_at(in_place, LN_SYNTAX, "`y = x` is for one tensor on each side");
    if (p->infos[op->outs[0].name].maker < 0)
        return ln_fail_at(place, LN_SYNTAX,
                          "'%s' is made by no operator of the pattern; `y = x` needs no new name",
                          p->names[op->outs[0].name]);
    if (p->infos[in.name].is_made && p->infos[in.name].maker < 0)
        return ln_fail_at(in_place, LN_SYNTAX, "'%s' is new; let its operator make '%s' instead",
                          p->names[in.name], p->names[op->outs[0].name]);
    op->is_alias = true;
    op->in_count = 1;
    op->optype = "forward";
    const ln_rule_arg ins[] = {in};
    KEEP(p, ins, 1, op->ins);
    return LN_OK;
}

static ln_status parse_statement(parser *p, bool is_result, ln_rule_op *op)
{
    ln_place place = p->token.place;
    *op = (ln_rule_op){.line = place.line, .params_from = -1};
    LN_TRY(parse_outs(p, is_result, op));
    op->is_producer = !is_result && p->pattern_count > 0 && makes_read(p, op);
    size_t known_count = p->name_count;
    LN_TRY(expect_sign(p, '='));
    bool is_operator = !is_result || is_before_bracket(p);
    LN_TRY(is_operator ? parse_operator(p, is_result, op) : parse_alias(p, place, op));
    if (at_sign(p, ';'))
        LN_TRY(next(p));
    LN_TRY(check_not_from_itself(p, place, op));
    if (is_result || p->pattern_count == 0 || op->is_producer || reads_known(p, op, known_count))
        return LN_OK;
    return ln_fail_at(
        place, LN_SYNTAX,
        "the statement makes no tensor that an earlier one reads, and reads none that "
        "an earlier one reads or makes");
}

// Takes away operators that need nothing of the others, again and again; what is left depends on
// itself, which no model has.
static ln_status check_acyclic(const parser *p, ln_place place)
{
    bool is_gone[LN_RULE_MAX_STATEMENTS] = {false};
    size_t left = p->pattern_count;
    for (size_t before = left + 1; left < before;) {
        before = left;
        for (size_t i = 0; i < p->pattern_count; i++) {
            bool waits = is_gone[i];
            for (size_t j = 0; j < p->pattern[i].in_count && !waits; j++) {
                int name = p->pattern[i].ins[j].name;
                int maker = name >= 0 ? p->infos[name].maker : -1;
                waits = maker >= 0 && !is_gone[maker];
            }
            is_gone[i] = is_gone[i] || !waits;
            left -= !waits;
        }
    }
    if (left == 0)
        return LN_OK;
    return ln_fail_at(place, LN_SYNTAX, "%zu statements of the pattern depend on themselves", left);
}

static ln_status parse_pattern(parser *p)
{
    ln_place place = p->token.place;
    p->name_count = p->pattern_count = p->condition_count = p->result_count = 0;
    do {
        LN_TRY(ln_rule_check_room(p, p->pattern_count, LN_RULE_MAX_STATEMENTS,
                                  "statements in a pattern"));
        LN_TRY(parse_statement(p, false, &p->pattern[p->pattern_count]));
        p->pattern_count++;
    } while (at_name(p));
    return check_acyclic(p, place);
}

// ---- Conditions ----

static const char *predicate_name(int i)
{
    return ln_rule_predicate_name((ln_rule_predicate)i);
}

static ln_status fail_unknown_predicate(const parser *p)
{
    char hint[LN_RULE_MAX_WORD + 32];
    return ln_fail_at(
        p->token.place, LN_SYNTAX, "there is no predicate '%s'%s", p->token.text,
        ln_rule_did_you_mean(p->token.text, predicate_name, LN_RULE_PREDICATE_COUNT, hint));
}

// In a `lower` statement tensors are named by the operator's arguments, which are not known here.
static ln_status parse_condition_arg(parser *p, char letter, bool is_lower,
                                     ln_rule_value *out_value)
{
    bool is_tensor = letter == 't' || letter == 'T' || letter == 'L';
    *out_value = (ln_rule_value){.kind = LN_RULE_STRING};
    if (is_tensor && is_lower)
        return take_name(p, "the name of an argument", &out_value->string);
    if (is_tensor) {
        out_value->kind = LN_RULE_NAME;
        ln_rule_token token = p->token;
        LN_TRY(ln_rule_take_known(p, false, &out_value->name));
        if (letter == 't' && p->infos[out_value->name].is_list)
            return ln_fail_at(token.place, LN_SYNTAX,
                              "'%s' may stand for several tensors or none; one is needed here",
                              token.text);
        return LN_OK;
    }
    if (letter == 'w' && p->token.kind != LN_RULE_TOKEN_STRING)
        return take_name(p, "a word", &out_value->string);
    if (letter == 'w')
        return ln_rule_take_text(p, &out_value->string);
    return ln_rule_parse_expr(p, out_value);
}

// PREDICATE(ARGUMENTS)
static ln_status parse_predicate(parser *p, bool is_lower, ln_rule_condition *condition)
{
    int predicate = ln_rule_find_predicate(p->token.text);
    if (predicate < 0)
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
    bool is_static = predicate == LN_RULE_PREDICATE_static && !condition->is_negated;
    if (is_static && !is_lower)
        p->infos[args[0].name].is_static = true;
    LN_TRY(expect_sign(p, ')'));
    KEEP(p, args, condition->arg_count, condition->args);
    return LN_OK;
}

// The comparisons, as predicates over two values.
static const struct {
    char sign;
    ln_rule_predicate predicate;
    bool is_negated;
    bool is_swapped;
} comparisons[] = {
    {LN_RULE_SIGN_EQUAL, LN_RULE_PREDICATE_equal, false, false},
    {LN_RULE_SIGN_DIFFERS, LN_RULE_PREDICATE_equal, true, false},
    {'<', LN_RULE_PREDICATE_less, false, false},
    {'>', LN_RULE_PREDICATE_less, false, true},
    {LN_RULE_SIGN_AT_MOST, LN_RULE_PREDICATE_at_most, false, false},
    {LN_RULE_SIGN_AT_LEAST, LN_RULE_PREDICATE_at_most, false, true},
};

// VALUE SIGN VALUE
static ln_status parse_comparison(parser *p, ln_rule_condition *condition)
{
    ln_rule_value args[2];
    LN_TRY(ln_rule_parse_expr(p, &args[0]));
    size_t i = 0, count = sizeof comparisons / sizeof comparisons[0];
    while (i < count && !at_sign(p, comparisons[i].sign))
        i++;
    if (i == count)
        return fail_expected(p, "==, !=, <, <=, > or >=");
    LN_TRY(next(p));
    LN_TRY(ln_rule_parse_expr(p, &args[1]));
    if (comparisons[i].is_swapped) {
        ln_rule_value first = args[0];
        args[0] = args[1];
        args[1] = first;
    }
    condition->predicate = comparisons[i].predicate;
    condition->is_negated = condition->is_negated != comparisons[i].is_negated;
    condition->arg_count = 2;
    KEEP(p, args, 2, condition->args);
    return LN_OK;
}

// Some names are both: `rank(t, 4)` asks, `rank(t) == 4` compares. Whether nothing that continues
// an expression follows the call at the next token.
static ln_status look_behind_call(const parser *p, bool *out_is_predicate)
{
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token token;
    size_t depth = 0;
    do {
        LN_TRY(ln_rule_lex(&ahead, &token));
        bool is_sign = token.kind == LN_RULE_TOKEN_SIGN;
        depth += is_sign && token.sign == '(';
        depth -= is_sign && token.sign == ')';
    } while (depth > 0 && token.kind != LN_RULE_TOKEN_END);
    LN_TRY(ln_rule_lex(&ahead, &token));
    *out_is_predicate = token.kind != LN_RULE_TOKEN_SIGN || !strchr("+-*/[<>edlg", token.sign);
    return LN_OK;
}

static ln_status parse_condition(parser *p, bool is_lower)
{
    LN_TRY(
        ln_rule_check_room(p, p->condition_count, LN_RULE_MAX_CONDITIONS, "conditions of a rule"));
    ln_rule_condition *condition = &p->conditions[p->condition_count];
    *condition = (ln_rule_condition){.is_negated = at_word(p, "not")};
    if (condition->is_negated)
        LN_TRY(next(p));
    bool is_call = at_name(p) && is_before_bracket(p);
    bool is_predicate = is_call && (ln_rule_find_predicate(p->token.text) >= 0 ||
                                    ln_rule_find_function(p->token.text) < 0);
    if (is_predicate && ln_rule_find_function(p->token.text) >= 0)
        LN_TRY(look_behind_call(p, &is_predicate));
    LN_TRY(is_predicate ? parse_predicate(p, is_lower, condition) : parse_comparison(p, condition));
    p->condition_count++;
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

// ---- Rules ----

static bool is_read_by_pattern(const parser *p, int name)
{
    for (size_t i = 0; i < p->pattern_count; i++)
        for (size_t j = 0; j < p->pattern[i].in_count; j++)
            if (p->pattern[i].ins[j].name == name)
                return true;
    return false;
}

// What no operator of the pattern reads, somebody else does, or it is an output of the model.
static ln_status check_all_made(const parser *p, ln_place place)
{
    for (size_t i = 0; i < p->pattern_count; i++) {
        const ln_rule_op *op = &p->pattern[i];
        for (size_t j = 0; j < op->out_count && !op->is_kept; j++) {
            int name = op->outs[j].name;
            if (name >= 0 && !p->infos[name].is_made && !is_read_by_pattern(p, name))
                return ln_fail_at(place, LN_SYNTAX,
                                  i == 0 ? "the result does not make the root's output '%s'"
                                         : "the result does not make '%s', which no operator of "
                                           "the pattern reads",
                                  p->names[name]);
        }
    }
    return LN_OK;
}

static ln_status check_new_read(const parser *p, ln_place place)
{
    for (size_t i = 0; i < p->name_count; i++)
        if (p->infos[i].is_made && p->infos[i].maker < 0 && !p->infos[i].is_read)
            return ln_fail_at(
                place, LN_SYNTAX,
                "nobody reads '%s', which the result makes: it would become an output "
                "of the model",
                p->names[i]);
    return LN_OK;
}

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
    LN_TRY(ln_rule_check_room(p, count, LN_RULE_MAX_RULES, what));
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
    ln_rule rule = {
        .file = ln_document_file(p->arena), .line = p->token.place.line, .stage = p->stage};
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
        LN_TRY(ln_rule_check_room(p, p->result_count, LN_RULE_MAX_STATEMENTS,
                                  "statements in a result"));
        LN_TRY(parse_statement(p, true, &p->result[p->result_count]));
        p->result_count++;
    } while (at_name(p));

    LN_TRY(ln_rule_mark_kept(p, place, &rule));
    LN_TRY(check_all_made(p, place));
    LN_TRY(check_new_read(p, place));
    LN_TRY(ln_rule_check_measure(p, place, &rule));
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

// `after expand` or `before expand`: when the rules behind it are tried.
static ln_status parse_stage(parser *p)
{
    p->stage = at_word(p, "after") ? LN_RULE_AFTER_EXPAND : LN_RULE_BEFORE_EXPAND;
    LN_TRY(next(p));
    return at_word(p, "expand") ? next(p) : fail_expected(p, "'expand'");
}

static ln_status parse_file(parser *p)
{
    LN_TRY(next(p));
    while (p->token.kind != LN_RULE_TOKEN_END) {
        if (at_word(p, "after") || at_word(p, "before"))
            LN_TRY(parse_stage(p));
        else if (at_word(p, "rule"))
            LN_TRY(parse_rule(p));
        else if (at_word(p, "lower"))
            LN_TRY(parse_lower(p));
        else
            return fail_expected(p, "'rule', 'lower', 'after' or 'before'");
    }
    return LN_OK;
}

static ln_status make_set(parser *p, ln_rule_set **out_set)
{
    ln_rule_set *set = ln_document_alloc(p->arena, sizeof *set);
    if (!set)
        return LN_NO_MEMORY;
    *set = (ln_rule_set){.file = ln_document_file(p->arena),
                         .rule_count = p->rule_count,
                         .lower_count = p->lower_count,
                         .arena = p->arena};
    KEEP(p, p->rules, p->rule_count, set->rules);
    KEEP(p, p->lowers, p->lower_count, set->lowers);
    *out_set = set;
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
        ln_document_destroy(set->arena);
}
