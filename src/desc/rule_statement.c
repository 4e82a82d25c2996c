// SPDX-License-Identifier: Apache-2.0
// Statements of patterns and results. Each is checked against the names known so far, so every
// error has its place.

#include "desc/rule_parser.h"

// ---- Values ----

// In a pattern a value is a literal or a name; what is computed belongs in a result or a condition.
static ln_status parse_value(ln_rule_parser *p, bool is_result, ln_rule_value *out_value)
{
    if (is_result)
        return ln_rule_parse_expr(p, out_value);
    if (ln_rule_at_word(p, "_"))
        return ln_rule_fail_expected(p, "a value or its name");
    if (ln_rule_at_name(p)) {
        *out_value = (ln_rule_value){.kind = LN_RULE_NAME};
        return ln_rule_take_known_or_new(p, true, &out_value->name);
    }
    ln_place place = p->token.place;
    LN_TRY(ln_rule_parse_expr(p, out_value));
    if (out_value->kind == LN_RULE_EXPR)
        return ln_fail_at(place, LN_SYNTAX,
                          "a pattern computes nothing; give the value a name, and compare it "
                          "after `where`");
    return LN_OK;
}

// ---- Tensors of a statement ----

// `...` or `?` after a name. Names of several tensors always have it, others never.
static ln_status parse_mark(ln_rule_parser *p, ln_place place, bool is_new, ln_rule_arg *arg)
{
    arg->is_rest = ln_rule_at_sign(p, LN_RULE_SIGN_REST);
    arg->is_maybe = ln_rule_at_sign(p, '?');
    bool is_list = arg->is_rest || arg->is_maybe;
    if (is_list)
        LN_TRY(ln_rule_next(p));
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
static ln_status parse_in(ln_rule_parser *p, bool is_result, ln_rule_arg *out_arg)
{
    *out_arg = (ln_rule_arg){.name = LN_RULE_ANY};
    if (!ln_rule_at_name(p))
        return ln_rule_fail_expected(p, "an input");
    ln_rule_lexer ahead = p->lexer;
    ln_rule_token after;
    LN_TRY(ln_rule_lex(&ahead, &after));
    if (after.kind == LN_RULE_TOKEN_SIGN && after.sign == '=') {
        LN_TRY(ln_rule_take_text(p, &out_arg->arg_name));
        LN_TRY(ln_rule_next(p));
        if (!ln_rule_at_name(p))
            return ln_rule_fail_expected(p, "the name of a tensor");
    }
    ln_place place = p->token.place;
    bool is_any = ln_rule_at_word(p, "_");
    if (is_any && is_result)
        return ln_fail_at(place, LN_SYNTAX, "a result names every tensor it reads");
    if (is_any) {
        LN_TRY(ln_rule_next(p));
        return parse_mark(p, place, false, out_arg);
    }
    size_t before = p->name_count;
    LN_TRY(is_result ? ln_rule_take_known(p, false, &out_arg->name)
                     : ln_rule_take_known_or_new(p, false, &out_arg->name));
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

static ln_status parse_ins(ln_rule_parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_arg ins[LN_RULE_MAX_ARGS];
    while (!ln_rule_at_sign(p, '|') && !ln_rule_at_sign(p, ')')) {
        LN_TRY(ln_rule_check_room(p, op->in_count, LN_RULE_MAX_ARGS, "inputs of a statement"));
        ln_place place = p->token.place;
        LN_TRY(parse_in(p, is_result, &ins[op->in_count]));
        LN_TRY(check_in_place(ins, op->in_count, is_result, place));
        op->in_count++;
        if (!ln_rule_at_sign(p, ','))
            break;
        LN_TRY(ln_rule_next(p));
    }
    KEEP(p, ins, op->in_count, op->ins);
    return LN_OK;
}

// A statement of the pattern makes names that nobody makes yet.
static ln_status check_pattern_out(ln_rule_parser *p, ln_place place, int name)
{
    ln_rule_name *info = &p->infos[name];
    if (info->maker >= 0)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is made twice", p->names[name]);
    info->maker = (int)p->pattern_count;
    return LN_OK;
}

// A statement of the result makes outputs of the pattern's operators and new names.
static ln_status check_result_out(ln_rule_parser *p, ln_place place, int name, bool is_new)
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

static ln_status parse_out(ln_rule_parser *p, bool is_result, bool is_first, ln_rule_arg *out)
{
    ln_place place = p->token.place;
    *out = (ln_rule_arg){.name = LN_RULE_ANY};
    if (ln_rule_at_word(p, "_")) {
        if (is_result || (is_first && p->pattern_count == 0))
            return ln_fail_at(place, LN_SYNTAX, "%s",
                              is_result ? "all outputs of a result have names"
                                        : "the first output of the root has a name");
        return ln_rule_next(p);
    }
    size_t before = p->name_count;
    LN_TRY(ln_rule_take_known_or_new(p, false, &out->name));
    bool is_new = p->name_count > before;
    if (is_result && is_new && ln_rule_at_sign(p, LN_RULE_SIGN_REST))
        return ln_fail_at(place, LN_SYNTAX, "'%s' is new; how many tensors would it stand for?",
                          p->names[out->name]);
    LN_TRY(parse_mark(p, place, is_new, out));
    return is_result ? check_result_out(p, place, out->name, is_new)
                     : check_pattern_out(p, place, out->name);
}

static ln_status parse_outs(ln_rule_parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_arg outs[LN_RULE_MAX_ARGS];
    bool has_rest = false, has_maybe = false;
    for (;;) {
        LN_TRY(ln_rule_check_room(p, op->out_count, LN_RULE_MAX_ARGS, "outputs of a statement"));
        if (!ln_rule_at_name(p))
            return ln_rule_fail_expected(p, "the name of an output");
        ln_place place = p->token.place;
        LN_TRY(parse_out(p, is_result, op->out_count == 0, &outs[op->out_count]));
        has_maybe = has_maybe || outs[op->out_count].is_maybe;
        if (outs[op->out_count].is_rest && has_rest)
            return ln_fail_at(place, LN_SYNTAX, "a statement has `...` once among its outputs");
        has_rest = has_rest || outs[op->out_count].is_rest;
        if (has_rest && has_maybe)
            return ln_fail_at(place, LN_SYNTAX, "outputs have `...` or `?`, not both");
        op->out_count++;
        if (!ln_rule_at_sign(p, ','))
            break;
        LN_TRY(ln_rule_next(p));
    }
    KEEP(p, outs, op->out_count, op->outs);
    return LN_OK;
}

// each NAME of OUTPUT...
static ln_status parse_each(ln_rule_parser *p, ln_rule_op *op)
{
    LN_TRY(ln_rule_next(p));
    ln_place place = p->token.place;
    size_t before = p->name_count;
    if (!ln_rule_at_name(p))
        return ln_rule_fail_expected(p, "the name of an output");
    LN_TRY(ln_rule_take_known_or_new(p, false, &op->each));
    if (p->name_count == before)
        return ln_fail_at(place, LN_SYNTAX, "'%s' is there already; `each` has a name of its own",
                          p->names[op->each]);
    p->infos[op->each].is_made = p->infos[op->each].is_read = true;
    if (!ln_rule_at_word(p, "of"))
        return ln_rule_fail_expected(p, "'of'");
    LN_TRY(ln_rule_next(p));
    place = p->token.place;
    LN_TRY(parse_outs(p, true, op));
    if (op->out_count == 1 && op->outs[0].is_rest)
        return LN_OK;
    return ln_fail_at(place, LN_SYNTAX, "`each` is for the outputs that one `xs...` stands for");
}

// ---- Parameters of a statement ----

// params(NAME), after `params` was read.
static ln_status parse_params_from(ln_rule_parser *p, ln_place place, ln_rule_op *op)
{
    LN_TRY(ln_rule_next(p));
    int name;
    ln_place name_place = p->token.place;
    LN_TRY(ln_rule_take_known(p, false, &name));
    if (op->params_from >= 0)
        return ln_fail_at(place, LN_SYNTAX, "parameters are copied twice");
    op->params_from = p->infos[name].maker;
    if (op->params_from < 0)
        return ln_fail_at(name_place, LN_SYNTAX, "no operator of the pattern makes '%s'",
                          p->names[name]);
    return ln_rule_expect_sign(p, ')');
}

static ln_status parse_param_value(ln_rule_parser *p, bool is_result, ln_rule_value *value)
{
    if (is_result || !ln_rule_at_word(p, "absent"))
        return parse_value(p, is_result, value);
    *value = (ln_rule_value){.kind = LN_RULE_ABSENT};
    return ln_rule_next(p);
}

// any(NAME, ...) "why": the next token is `any`, and a bracket follows.
static ln_status parse_waivers(ln_rule_parser *p, ln_rule_waiver *waivers, ln_rule_op *op)
{
    size_t first = op->waiver_count;
    do {
        LN_TRY(ln_rule_next(p)); // `any` the first time, then what is before a name
        if (op->waiver_count == first)
            LN_TRY(ln_rule_expect_sign(p, '('));
        LN_TRY(ln_rule_check_room(p, op->waiver_count, LN_RULE_MAX_ARGS,
                                  "waived parameters of a statement"));
        ln_rule_waiver *waiver = &waivers[op->waiver_count];
        waiver->line = p->token.place.line;
        LN_TRY(ln_rule_take_name(p, "the name of a parameter", &waiver->arg_name));
        op->waiver_count++;
    } while (ln_rule_at_sign(p, ','));
    LN_TRY(ln_rule_expect_sign(p, ')'));
    if (p->token.kind != LN_RULE_TOKEN_STRING || p->token.text[0] == '\0')
        return ln_rule_fail_expected(p, "why these parameters may have any value, a string");
    const char *why;
    LN_TRY(ln_rule_take_text(p, &why));
    for (size_t i = first; i < op->waiver_count; i++)
        waivers[i].why = why;
    return LN_OK;
}

static ln_status parse_params(ln_rule_parser *p, bool is_result, ln_rule_op *op)
{
    ln_rule_param params[LN_RULE_MAX_ARGS];
    ln_rule_waiver waivers[LN_RULE_MAX_ARGS];
    while (!ln_rule_at_sign(p, ')')) {
        ln_place place = p->token.place;
        if (!is_result && ln_rule_at_word(p, "any") && ln_rule_is_before_bracket(p)) {
            LN_TRY(parse_waivers(p, waivers, op));
            if (!ln_rule_at_sign(p, ','))
                break;
            LN_TRY(ln_rule_next(p));
            continue;
        }
        LN_TRY(
            ln_rule_check_room(p, op->param_count, LN_RULE_MAX_ARGS, "parameters of a statement"));
        ln_rule_param *param = &params[op->param_count];
        LN_TRY(ln_rule_take_name(p, "the name of a parameter", &param->arg_name));
        if (is_result && strcmp(param->arg_name, "params") == 0 && ln_rule_at_sign(p, '(')) {
            LN_TRY(parse_params_from(p, place, op));
        } else {
            LN_TRY(ln_rule_expect_sign(p, '='));
            LN_TRY(parse_param_value(p, is_result, &param->value));
            for (size_t i = 0; i < op->param_count; i++)
                if (strcmp(params[i].arg_name, param->arg_name) == 0)
                    return ln_fail_at(place, LN_SYNTAX, "parameter '%s' is there twice",
                                      param->arg_name);
            op->param_count++;
        }
        if (!ln_rule_at_sign(p, ','))
            break;
        LN_TRY(ln_rule_next(p));
    }
    KEEP(p, params, op->param_count, op->params);
    KEEP(p, waivers, op->waiver_count, op->waivers);
    return LN_OK;
}

// ---- Statements ----

// An operator after the first is found by walking along the data flow from those before it.
static bool makes_read(const ln_rule_parser *p, const ln_rule_op *op)
{
    for (size_t i = 0; i < op->out_count; i++)
        if (op->outs[i].name >= 0 && p->infos[op->outs[i].name].is_read)
            return true;
    return false;
}

// From one of the inputs the readers are looked through, so it must be one tensor.
static bool reads_known(const ln_rule_parser *p, const ln_rule_op *op, size_t known_count)
{
    for (size_t i = 0; i < op->in_count; i++) {
        int name = op->ins[i].name;
        if (name >= 0 && (size_t)name < known_count && !p->infos[name].is_list)
            return true;
    }
    return false;
}

static ln_status check_not_from_itself(const ln_rule_parser *p, ln_place place,
                                       const ln_rule_op *op)
{
    for (size_t i = 0; i < op->in_count; i++) {
        int name = op->ins[i].name;
        for (size_t j = 0; name >= 0 && j < op->out_count; j++)
            if (op->outs[j].name == name || op->each == name)
                return ln_fail_at(place, LN_SYNTAX, "'%s' is made from itself", p->names[name]);
    }
    return LN_OK;
}

// OPTYPE(INPUTS | PARAMETERS), after `=`.
static ln_status parse_operator(ln_rule_parser *p, bool is_result, ln_rule_op *op)
{
    op->is_of_rows = p->is_substituted;
    LN_TRY(ln_rule_take_name(p, "an operator type", &op->optype));
    LN_TRY(ln_rule_expect_sign(p, '('));
    LN_TRY(parse_ins(p, is_result, op));
    if (ln_rule_at_sign(p, '|')) {
        LN_TRY(ln_rule_next(p));
        LN_TRY(parse_params(p, is_result, op));
    }
    return ln_rule_expect_sign(p, ')');
}

// NAME, after `=` in a result: an operator `forward` that a firing removes again if it can.
static ln_status parse_alias(ln_rule_parser *p, ln_place place, ln_rule_op *op)
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

ln_status ln_rule_parse_statement(ln_rule_parser *p, bool is_result, ln_rule_op *op)
{
    ln_place place = p->token.place;
    *op = (ln_rule_op){.line = place.line, .params_from = -1, .each = LN_RULE_ANY};
    bool has_each = is_result && ln_rule_at_keyword(p, "each");
    LN_TRY(has_each ? parse_each(p, op) : parse_outs(p, is_result, op));
    op->is_producer = !is_result && p->pattern_count > 0 && makes_read(p, op);
    size_t known_count = p->name_count;
    LN_TRY(ln_rule_expect_sign(p, '='));
    bool is_operator = !is_result || has_each || ln_rule_is_before_bracket(p);
    LN_TRY(is_operator ? parse_operator(p, is_result, op) : parse_alias(p, place, op));
    if (ln_rule_at_sign(p, ';'))
        LN_TRY(ln_rule_next(p));
    LN_TRY(check_not_from_itself(p, place, op));
    if (has_each)
        p->infos[op->each].is_over = true;
    if (is_result || p->pattern_count == 0 || op->is_producer || reads_known(p, op, known_count))
        return LN_OK;
    return ln_fail_at(
        place, LN_SYNTAX,
        "the statement makes no tensor that an earlier one reads, and reads none that "
        "an earlier one reads or makes");
}

// Takes away operators that need nothing of the others, again and again; what is left depends on
// itself, which no model has.
static ln_status check_acyclic(const ln_rule_parser *p, ln_place place)
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

ln_status ln_rule_parse_pattern(ln_rule_parser *p)
{
    ln_place place = p->token.place;
    p->name_count = p->pattern_count = p->condition_count = p->result_count = 0;
    do {
        LN_TRY(ln_rule_check_room(p, p->pattern_count, LN_RULE_MAX_STATEMENTS,
                                  "statements in a pattern"));
        LN_TRY(ln_rule_parse_statement(p, false, &p->pattern[p->pattern_count]));
        p->pattern_count++;
    } while (ln_rule_at_name(p));
    return check_acyclic(p, place);
}
