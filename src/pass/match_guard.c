// SPDX-License-Identifier: Apache-2.0
// What a firing would do to the rest of the model: it loses nothing that somebody reads, makes no
// output of what was none, and lessens the measure of desc/rule_weight.h.
//
// Outputs of a model are the tensors that no operator reads. So when a firing takes the last reader
// of a tensor away, the tensor's operator has to go as well, and so on upwards.

#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "desc/rule_weight.h"
#include "ir/context.h"
#include "ir/dfg.h"
#include "op/op_words.h"
#include "pass/match.h"
#include "pass/op_args.h"
#include "pass/why.h"

// ---- What the result reads and makes ----

static bool stand_for(const ln_match *match, const ln_rule_arg *args, size_t count,
                      const char *tensor)
{
    for (size_t i = 0; i < count; i++) {
        size_t tensor_count;
        const char *const *tensors = ln_match_tensors(match, args[i].name, &tensor_count);
        for (size_t j = 0; j < tensor_count; j++)
            if (ln_streq(tensors[j], tensor))
                return true;
    }
    return false;
}

static bool result_makes(const ln_match *match, const char *tensor)
{
    for (size_t i = 0; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        if (!match->is_left_out[i] && stand_for(match, op->outs, op->out_count, tensor))
            return true;
    }
    return false;
}

static bool result_reads(const ln_match *match, const char *tensor)
{
    for (size_t i = 0; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        if (!match->is_left_out[i] && stand_for(match, op->ins, op->in_count, tensor))
            return true;
    }
    return false;
}

// ---- Readers ----

// Whether an operator that stays reads `tensor`; *out_is_read says whether any does.
static bool is_needed(const ln_context *ctx, const ln_match *match, const char *tensor,
                      bool *out_is_read)
{
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tensor);
    const ln_op *reader;
    *out_is_read = false;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        *out_is_read = true;
        if (!ln_match_removes(match, reader))
            return true;
    }
    return false;
}

static bool is_read(const ln_context *ctx, const char *tensor)
{
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tensor);
    return ln_dfg_next_reader(&readers) != NULL;
}

bool ln_match_reads_output(const ln_context *ctx, const ln_match *match, const ln_op *op)
{
    for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *out = l->data;
        if (result_reads(match, out->name) && !is_read(ctx, out->name))
            return true;
    }
    return false;
}

// An operator that goes away is removed with its outputs. What the result does not make anew,
// somebody must read (else it is an output of the model), and only operators that go away may.
static bool is_removable(const ln_context *ctx, const ln_match *match, const ln_op *op)
{
    for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *out = l->data;
        bool was_read;
        if (result_makes(match, out->name))
            continue;
        if (is_needed(ctx, match, out->name, &was_read))
            return false;
        if (!was_read && !ln_op_is_scratch(op->op_arg, out->arg_name))
            return false;
    }
    return true;
}

static bool result_makes_any(const ln_match *match, const ln_op *op)
{
    for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next)
        if (result_makes(match, ((const ln_tensor_list_entry *)l->data)->name))
            return true;
    return false;
}

static bool makes_name(const ln_rule_op *statement, int name)
{
    for (size_t i = 0; i < statement->out_count; i++)
        if (statement->outs[i].name == name)
            return true;
    return false;
}

static bool makes_tensor(const ln_op *op, const char *tensor)
{
    return ln_tensor_list_find_by_name(op->op_arg->tensors_out, tensor) != NULL;
}

// Different names may stand for one tensor. If the result reads the output of an operator under
// another name than the pattern gives it there, the operator stays. False if the result makes that
// output anew, since it may be read before it is made.
static bool keep_what_other_names_read(ln_match *match, const ln_rule_arg *in)
{
    size_t count;
    const char *const *tensors = ln_match_tensors(match, in->name, &count);
    for (size_t i = 0; i < match->rule->pattern_count; i++) {
        if (makes_name(&match->rule->pattern[i], in->name))
            continue;
        for (size_t j = 0; j < count; j++) {
            if (!makes_tensor(match->ops[i], tensors[j]))
                continue;
            if (result_makes(match, tensors[j]))
                return false;
            match->stays[i] = true;
        }
    }
    return true;
}

// An operator that cannot go stays, and then what it reads from is needed too. But it cannot both
// stay and have its outputs made anew.
static bool find_staying(const ln_context *ctx, ln_match *match)
{
    const ln_rule *rule = match->rule;
    for (size_t i = 0; i < rule->pattern_count; i++)
        match->stays[i] = rule->pattern[i].is_kept;
    for (size_t i = 0; i < rule->result_count; i++)
        for (size_t j = 0; j < rule->result[i].in_count; j++)
            if (!keep_what_other_names_read(match, &rule->result[i].ins[j]))
                return false;
    for (size_t i = 0; i < rule->pattern_count; i++)
        if (match->stays[i] && result_makes_any(match, match->ops[i]))
            return false;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < rule->pattern_count; i++) {
            if (match->stays[i] || is_removable(ctx, match, match->ops[i]))
                continue;
            if (result_makes_any(match, match->ops[i]))
                return false;
            match->stays[i] = has_changed = true;
        }
    }
    return true;
}

// ---- What nobody reads any more ----

// Whether `op`, an input of which a removed operator read, can go as well: it is no input of the
// model, and all its outputs were read by operators that go.
static bool is_unused(const ln_context *ctx, const ln_match *match, const ln_op *op)
{
    for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *out = l->data;
        if (ln_op_is_scratch(op->op_arg, out->arg_name))
            continue;
        bool was_read;
        if (is_needed(ctx, match, out->name, &was_read) || !was_read ||
            result_reads(match, out->name))
            return false;
    }
    return !ln_op_is_input(op->op_arg);
}

typedef bool (*visit_func)(const ln_context *ctx, ln_match *match, ln_op *maker,
                           const char *tensor);

// Calls `visit` for each tensor that `op` reads and the operator that makes it, if that stays.
static bool visit_inputs(const ln_context *ctx, ln_match *match, const ln_op *op, visit_func visit)
{
    for (const ln_list *l = op->op_arg->tensors_in; l; l = l->next) {
        const ln_tensor_list_entry *in = l->data;
        ln_op *maker = ln_dfg_maker(ctx->dfg, in->name);
        if (!maker)
            return false;
        if (!ln_match_removes(match, maker) && !visit(ctx, match, maker, in->name))
            return false;
    }
    return true;
}

static bool visit_removed(const ln_context *ctx, ln_match *match, visit_func visit)
{
    for (size_t i = 0; i < match->rule->pattern_count; i++)
        if (!match->stays[i] && !visit_inputs(ctx, match, match->ops[i], visit))
            return false;
    for (size_t i = 0; i < match->unused_count; i++)
        if (!visit_inputs(ctx, match, match->unused[i], visit))
            return false;
    return true;
}

static bool add_unused(const ln_context *ctx, ln_match *match, ln_op *maker, const char *tensor)
{
    (void)tensor;
    if (!is_unused(ctx, match, maker))
        return true;
    if (match->unused_count == LN_MATCH_MAX_UNUSED)
        return false;
    match->unused[match->unused_count++] = maker;
    return true;
}

// A tensor that was read stays read, so that it does not become an output of the model.
static bool stays_read(const ln_context *ctx, ln_match *match, ln_op *maker, const char *tensor)
{
    (void)maker;
    bool was_read;
    return result_reads(match, tensor) || is_needed(ctx, match, tensor, &was_read);
}

static bool find_unused(const ln_context *ctx, ln_match *match)
{
    size_t before;
    do {
        before = match->unused_count;
        if (!visit_removed(ctx, match, add_unused))
            return false;
    } while (match->unused_count > before);
    return visit_removed(ctx, match, stays_read);
}

// Outputs of matched operators stay what they are: one that the result makes anew and that was read
// is read again. ln_match_reads_output has seen to the others.
static bool outputs_stay(const ln_context *ctx, ln_match *match)
{
    for (size_t i = 0; i < match->rule->pattern_count; i++) {
        const ln_op *op = match->ops[i];
        for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next) {
            const ln_tensor_list_entry *out = l->data;
            bool was_read;
            if (!result_makes(match, out->name) || result_reads(match, out->name))
                continue;
            if (!is_needed(ctx, match, out->name, &was_read) && was_read)
                return false;
        }
    }
    return true;
}

// ---- y = x ----

bool ln_match_is_captured(const ln_context *ctx, const char *tensor)
{
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tensor);
    const ln_op *reader;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, reader->op_arg->tensors_in) {
            if (ln_streq(in->name, tensor) && ln_is_prefix_plus_digit(in->arg_name, "capture"))
                return true;
        }
    }
    return false;
}

// Readers of y can read x: one shape, type and memory; and x is there as early as y.
static bool alias_fits(const ln_context *ctx, const ln_match *match, const ln_rule_op *alias)
{
    const char *to = match->tensors[alias->outs[0].name],
               *from = match->tensors[alias->ins[0].name];
    const ln_tensor_entry *y = to ? ln_tensor_table_find(ctx->tensor_table, to) : NULL;
    const ln_tensor_entry *x = from ? ln_tensor_table_find(ctx->tensor_table, from) : NULL;
    if (!x || !y || x->is_open || y->is_open || (y->mtype != LN_MEM_NONE && x->mtype != y->mtype) ||
        x->tensor->dtype != y->tensor->dtype || x->tensor->ndim != y->tensor->ndim ||
        (y->isstatic && !x->isstatic) || ln_match_is_captured(ctx, to))
        return false;
    for (int i = 0; i < x->tensor->ndim; i++)
        if (x->tensor->dims[i] != y->tensor->dims[i])
            return false;
    return true;
}

// ---- The measure ----

size_t ln_rule_result_runs(const ln_rule *rule, int *out_weight)
{
    size_t count = 0;
    *out_weight = 0;
    for (size_t i = 0; i < rule->result_count; i++) {
        const ln_rule_op *op = &rule->result[i];
        const ln_op *proto = op->is_static ? ln_op_find(op->optype) : NULL;
        if (op->is_alias || (proto && ln_op_may_be_constant(proto)))
            continue;
        count += (size_t)ln_rule_steps(op->optype);
        *out_weight += ln_rule_weight_of(op);
    }
    return count;
}

// The operator that makes x can make y instead, as pass/apply.c does it: it stays, reads something,
// makes nothing else, and nobody but this alias reads x then.
static bool can_make_output(const ln_context *ctx, const ln_match *match, const ln_rule_op *alias)
{
    const char *x = match->tensors[alias->ins[0].name];
    const ln_op *maker = ln_dfg_maker(ctx->dfg, x);
    if (!maker || ln_match_removes(match, maker) || !maker->op_arg->tensors_in ||
        maker->op_arg->tensors_out->next)
        return false;
    size_t read_count = 0;
    for (size_t i = 0; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        read_count += stand_for(match, op->ins, op->in_count, x);
    }
    bool was_read;
    return read_count == 1 && !is_needed(ctx, match, x, &was_read);
}

// How a tensor is an output of the model: nobody reads it, or an operator `output` does, which then
// has to be the only reader if another operator is to make it.
typedef enum output_kind { NO_OUTPUT, OUTPUT, SHARED_OUTPUT } output_kind;

static output_kind find_output_kind(const ln_context *ctx, const char *tensor)
{
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, tensor);
    size_t reader_count = 0, output_count = 0;
    const ln_op *reader;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        reader_count++;
        output_count += (size_t)ln_op_is_type(reader->op_arg, "output");
    }
    if (reader_count == 0)
        return OUTPUT;
    return output_count == 0 ? NO_OUTPUT : reader_count == 1 ? OUTPUT : SHARED_OUTPUT;
}

// An alias of an output of the model stays as an operator, a `forward`.
static size_t count_lasting_aliases(const ln_context *ctx, const ln_match *match)
{
    size_t count = 0;
    for (size_t i = 0; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        if (!op->is_alias)
            continue;
        const char *tensor = match->tensors[op->outs[0].name];
        output_kind kind = find_output_kind(ctx, tensor);
        count += kind == SHARED_OUTPUT || (kind == OUTPUT && !can_make_output(ctx, match, op));
    }
    return count;
}

// The parser has compared the statements; here some operators of the pattern may happen to be
// static, so that removing them saves no run, and aliases may have to stay.
static bool lessens(const ln_context *ctx, const ln_match *match)
{
    if (match->rule->stage == LN_RULE_TO_ONNX)
        return !match->stays[0];
    size_t before = 0, removed_count = 0, matched_count = 0;
    int weight_before = 0, weight_after;
    for (size_t i = 0; i < match->rule->pattern_count; i++) {
        matched_count++;
        // Into the core, all count: it is the core that computes constants, too.
        if (match->stays[i] ||
            (match->rule->stage != LN_RULE_TO_CORE && !ln_op_runs(match->ops[i])))
            continue;
        removed_count++;
        before += (size_t)ln_rule_steps(match->ops[i]->op_arg->optype);
        weight_before += ln_rule_weight(match->ops[i]->op_arg->optype);
    }
    size_t lasting = count_lasting_aliases(ctx, match);
    if (lasting > 0 && match->rule->stage == LN_RULE_AFTER_EXPAND)
        return false; // nothing would lower the `forward`
    size_t after = ln_rule_result_runs(match->rule, &weight_after);
    weight_after += (int)lasting * ln_rule_weight("forward");
    if (after != before)
        return after < before;
    if (weight_after != weight_before)
        return weight_after < weight_before;
    return match->rule->is_sinking && removed_count == matched_count;
}

// A number that the operator takes in no model: its check sees it only where shapes are known.
static bool is_below(const ln_rule_op *op, const char *arg_name, const ln_expr_value *value)
{
    const ln_op *proto = ln_op_find(op->optype);
    double least;
    if (!proto || !ln_op_least_number(proto->op_arg, arg_name, &least))
        return false;
    if (value->kind == LN_RULE_NUMBER)
        return value->number < least;
    for (size_t i = 0; value->kind == LN_RULE_ARRAY && i < value->count; i++)
        if (value->numbers[i] < least)
            return true;
    return false;
}

static bool has_values_of(const ln_context *ctx, const ln_match *match, const ln_rule_op *op)
{
    double buffer[LN_RULE_MAX_ELEMENTS];
    ln_expr_value value;
    for (size_t i = 0; i < op->param_count; i++) {
        const ln_rule_param *param = &op->params[i];
        const bool has_value = ln_match_value(ctx, match, &param->value, buffer, &value);
        if (param->value.kind == LN_RULE_EXPR && !has_value)
            return LN_MISS(match, LN_WHY_EFFECT + 50, NULL,
                           "parameter %s of the result's %s, %s, has no value", param->arg_name,
                           op->optype, ln_why_value(match, &param->value));
        if (has_value && is_below(op, param->arg_name, &value))
            return LN_MISS(match, LN_WHY_EFFECT + 50, NULL,
                           "parameter %s of the result's %s, %s, is less than it takes",
                           param->arg_name, op->optype, ln_why_value(match, &param->value));
    }
    return true;
}

// Every expression of the result has a value, for each operator that it makes.
static bool has_values(const ln_context *ctx, ln_match *match)
{
    for (size_t i = 0; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        for (size_t j = 0; !match->is_left_out[i] && ln_match_each(match, op, j); j++)
            if (!has_values_of(ctx, match, op))
                return false;
    }
    return true;
}

static size_t count_staying(const ln_match *match)
{
    size_t count = 0;
    for (size_t i = 0; i < match->rule->pattern_count; i++)
        count += match->stays[i];
    return count;
}

bool ln_match_is_allowed(const ln_context *ctx, ln_match *match)
{
    const ln_rule *rule = match->rule;
    ln_match_find_left_out(match);
    for (size_t i = 0; i < rule->result_count; i++)
        if (rule->result[i].is_alias && !alias_fits(ctx, match, &rule->result[i]))
            return LN_MISS(match, LN_WHY_EFFECT, NULL,
                           "readers of one tensor cannot read the other, as shape, type or memory "
                           "differ, or one is not constant: %s; %s",
                           ln_why_tensors(ctx, match, rule->result[i].outs[0].name),
                           ln_why_tensors(ctx, match, rule->result[i].ins[0].name));
    if (!find_staying(ctx, match))
        return LN_MISS(match, LN_WHY_EFFECT + 10, NULL,
                       "an operator that the result replaces makes another tensor, which is "
                       "needed");
    if (!lessens(ctx, match))
        return LN_MISS(match, LN_WHY_EFFECT + 20, NULL,
                       "the model would not become smaller: %zu of the rule's %zu operators stay, "
                       "as others need what they make",
                       count_staying(match), rule->pattern_count);
    if (!outputs_stay(ctx, match))
        return LN_MISS(match, LN_WHY_EFFECT + 30, NULL,
                       "a tensor that the result makes would become an output of the model");
    if (!find_unused(ctx, match))
        return LN_MISS(match, LN_WHY_EFFECT + 40, NULL,
                       "an input of the model, or a part of what an operator makes, would be left "
                       "unread");
    return has_values(ctx, match);
}
