// SPDX-License-Identifier: Apache-2.0
// Statements of a result that make no operator.
//
// Forwards: a statement all of whose outputs are marked `?` is left out where an input that its
// type needs is not there, or where it makes outputs of the pattern alone and none of them is
// there. Backwards: what nobody reads of the new `t?` is not made, and so is what only makes that.

#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "pass/match.h"
#include "pass/op_args.h"

// A new name has no tensor yet; one that is bound to none stands for nothing.
static bool is_there(const ln_match *match, int name)
{
    size_t count;
    (void)ln_match_tensors(match, name, &count);
    return count > 0 || !match->lists[name].is_bound;
}

static bool is_new(const ln_match *match, int name)
{
    return match->tensors[name] == NULL && !match->lists[name].is_bound;
}

static void leave_out(ln_match *match, int name)
{
    match->lists[name].is_bound = true;
    match->lists[name].first = match->lists[name].count = 0;
}

size_t ln_match_next_position(const ln_op_arg *proto, const ln_rule_arg *in, size_t position,
                              size_t count)
{
    char buffer[LN_MAX_NAME_LEN];
    bool is_gap = count == 0 && !in->is_rest && ln_op_in_name(proto, position, buffer) != buffer;
    return position + (is_gap ? 1 : count);
}

static bool gives(const ln_match *match, const ln_rule_op *statement, const ln_op_arg *proto,
                  const ln_arg_info *wanted)
{
    char buffer[LN_MAX_NAME_LEN];
    size_t position = 0;
    for (size_t i = 0; i < statement->in_count; i++) {
        const ln_rule_arg *in = &statement->ins[i];
        const char *name = in->arg_name ? in->arg_name : ln_op_in_name(proto, position, buffer);
        bool is_wanted = name && (wanted->flags & LN_ARG_VARIADIC
                                      ? ln_is_prefix_plus_digit(name, wanted->arg_name)
                                      : ln_streq(name, wanted->arg_name));
        if (is_wanted && is_there(match, in->name))
            return true;
        size_t count = 1;
        if (!is_new(match, in->name))
            (void)ln_match_tensors(match, in->name, &count);
        position = ln_match_next_position(proto, in, position, count);
    }
    return false;
}

static bool has_inputs(const ln_match *match, const ln_rule_op *statement)
{
    const ln_op *proto = ln_op_find(statement->optype);
    const ln_arg_info *in = proto && proto->op_arg->info ? proto->op_arg->info->ins : NULL;
    for (; in && in->arg_name; in++)
        if (!(in->flags & LN_ARG_OPTIONAL) && !gives(match, statement, proto->op_arg, in))
            return false;
    return true;
}

static bool has_marks_only(const ln_rule_op *statement)
{
    for (size_t i = 0; i < statement->out_count; i++)
        if (!statement->outs[i].is_maybe)
            return false;
    return true;
}

static bool makes_any(const ln_match *match, const ln_rule_op *statement)
{
    for (size_t i = 0; i < statement->out_count; i++)
        if (is_there(match, statement->outs[i].name))
            return true;
    return false;
}

static bool is_read_after(const ln_match *match, size_t index, int name)
{
    for (size_t i = index + 1; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        for (size_t j = 0; !match->is_left_out[i] && j < op->in_count; j++)
            if (op->ins[j].name == name)
                return true;
    }
    return false;
}

void ln_match_find_left_out(ln_match *match)
{
    const ln_rule *rule = match->rule;
    for (size_t i = 0; i < rule->result_count; i++) {
        const ln_rule_op *op = &rule->result[i];
        match->is_left_out[i] =
            has_marks_only(op) && (!makes_any(match, op) || !has_inputs(match, op));
        for (size_t j = 0; match->is_left_out[i] && j < op->out_count; j++)
            if (is_new(match, op->outs[j].name))
                leave_out(match, op->outs[j].name);
    }
    for (size_t i = rule->result_count; i-- > 0;) {
        const ln_rule_op *op = &rule->result[i];
        for (size_t j = 0; j < op->out_count; j++)
            if (op->outs[j].is_maybe && is_new(match, op->outs[j].name) &&
                !is_read_after(match, i, op->outs[j].name))
                leave_out(match, op->outs[j].name);
        match->is_left_out[i] =
            match->is_left_out[i] || (has_marks_only(op) && !makes_any(match, op));
    }
}
