// SPDX-License-Identifier: Apache-2.0
// Operands that a step may overwrite, derived from operator descriptions for the plan checker.
//
// The planner derives its choices with separate code (plan_records.c), so that a mistake in one of
// the two causes a rejected plan, not wrong numbers.

#include "ir/plan_overs.h"

#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "ir/attached.h"

// ---- Descriptions ----

// `arg_name` is what a description calls `called`, or "called<n>" where that is variadic.
static bool is_argument(const char *arg_name, const char *called, const ln_arg_info *described)
{
    size_t len = strlen(called);
    if (strncmp(arg_name, called, len) != 0)
        return false;
    const char *rest = arg_name + len;
    if (!*rest)
        return true;
    const ln_arg_info *at = described;
    while (at && at->arg_name && strcmp(at->arg_name, called) != 0)
        at++;
    return at && at->arg_name && (at->flags & LN_ARG_VARIADIC) &&
           rest[strspn(rest, "0123456789")] == '\0';
}

// The first operand that row `place` names; NULL if there is none.
static const ln_tensor_list_entry *find_operand(const ln_op_arg *arg, const ln_place_info *place)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, arg->tensors_in)
        if (is_argument(in->arg_name, place->in, arg->info->ins))
            return in;
    return NULL;
}

// The tensor that `out` may overwrite because `calc_offset` of its operator has considered all
// operands; NULL if there is none.
static const char *find_only_one(const ln_op *op, const ln_tensor_list_entry *out,
                                 ln_tensor_entry *entry)
{
    const ln_op_arg *arg = op->op_arg;
    for (const ln_place_info *place = arg->info->places; place->out; place++) {
        if (place->kind != LN_PLACE_OVER_FIRST ||
            !is_argument(out->arg_name, place->out, arg->info->outs))
            continue;
        const ln_tensor_list_entry *in = find_operand(arg, place);
        if (in)
            return op->calc_offset && op->calc_offset(op->op_arg, entry) != LN_NO_OFFSET ? in->name
                                                                                         : NULL;
    }
    return NULL;
}

static bool is_over(const ln_op_arg *arg, const ln_tensor_list_entry *out,
                    const ln_tensor_list_entry *in)
{
    for (const ln_place_info *place = arg->info->places; place->out; place++)
        if (place->kind == LN_PLACE_OVER &&
            is_argument(out->arg_name, place->out, arg->info->outs) &&
            is_argument(in->arg_name, place->in, arg->info->ins))
            return true;
    return false;
}

// ---- Steps ----

// The end of the chain of owners that operators assign; NO_ROOT for a cycle.
#define NO_ROOT UINT32_MAX

static uint32_t find_described_root(const ln_plan_records *r, uint32_t i)
{
    for (size_t length = 0; length <= r->plan.value_count; length++) {
        if (!r->is_described[i] || r->owners[i] == i)
            return i;
        i = r->owners[i];
    }
    return NO_ROOT;
}

// An operator that makes an operand the owner of its output overwrites that one operand.
static bool is_only_operand_under(const ln_plan_records *r, const ln_plan_step *step,
                                  uint32_t written, uint32_t read)
{
    uint32_t root = find_described_root(r, written);
    size_t operand_count = 0;
    for (size_t k = 0; k < step->read_count; k++)
        operand_count += find_described_root(r, step->reads[k]) == root;
    return root != NO_ROOT && operand_count == 1 && find_described_root(r, read) == root;
}

// About output `listed` of the step, which is value `written`.
typedef struct question {
    const ln_plan_records *records;
    const ln_op *op;
    const ln_plan_step *step;
    const ln_tensor_list_entry *listed;
    uint32_t written;
    const char *only_one;
} question;

static bool may_be_over(const question *q, const ln_tensor_list_entry *in, uint32_t read)
{
    bool computes = q->op->run || q->op->static_run;
    if (q->records->is_described[q->written])
        return computes && is_only_operand_under(q->records, q->step, q->written, read);
    const ln_plan_records *r = q->records;
    if (!q->op->op_arg->info || !q->op->op_arg->info->places || !computes ||
        tl_size_of(r->entries[q->written]->tensor->dtype) !=
            tl_size_of(r->entries[read]->tensor->dtype))
        return false;
    return (q->only_one && ln_streq(q->only_one, in->name)) ||
           is_over(q->op->op_arg, q->listed, in);
}

static ln_status add_over(ln_plan_records *r, ln_plan_over over)
{
    if (r->over_count == r->over_room) {
        size_t room = r->over_room ? 2 * r->over_room : 64;
        ln_plan_over *overs = ln_realloc(r->overs, room * sizeof *overs);
        if (!overs)
            return LN_NO_MEMORY;
        r->overs = overs;
        r->over_room = room;
    }
    r->overs[r->over_count++] = over;
    return LN_OK;
}

static ln_status add_overs_of(ln_plan_records *r, const question *q, uint32_t position)
{
    uint32_t read = 0;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, q->op->op_arg->tensors_in) {
        if (may_be_over(q, in, q->step->reads[read]))
            LN_TRY(add_over(r, (ln_plan_over){position, read}));
        read++;
    }
    return LN_OK;
}

// Operators are not asked about tensors of dynamic shape, which have no memory in the plan.
static bool has_open(const ln_plan_records *r, const ln_plan_step *step)
{
    bool is_any = false;
    for (size_t k = 0; k < step->read_count; k++)
        is_any = is_any || r->entries[step->reads[k]]->is_open;
    for (size_t k = 0; k < step->write_count; k++)
        is_any = is_any || r->entries[step->writes[k]]->is_open;
    return is_any;
}

static bool has_any(const ln_plan_records *r, const ln_op *op, const ln_plan_step *step)
{
    bool is_any = op->op_arg->info && op->op_arg->info->places;
    for (size_t k = 0; k < step->write_count; k++)
        is_any = is_any || r->is_described[step->writes[k]];
    return is_any;
}

static ln_status add_overs(ln_plan_records *r, const ln_op *op, ln_plan_step *step)
{
    uint32_t position = 0;
    step->over_count = r->over_count; // the index of the first one until all are added
    if (!has_any(r, op, step))
        return LN_OK;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        uint32_t written;
        if (!ln_plan_records_find(r, out->name, &written) || position == step->write_count ||
            step->writes[position] != written)
            continue; // the caller writes it
        question q = {.records = r, .op = op, .step = step, .listed = out, .written = written};
        if (op->op_arg->info && op->op_arg->info->places && !has_open(r, step))
            q.only_one = find_only_one(op, out, r->entries[written]);
        LN_TRY(add_overs_of(r, &q, position++));
    }
    return LN_OK;
}

ln_status ln_plan_records_add_overs(const ln_context *ctx, ln_plan_records *r)
{
    ln_plan_step *step = r->steps;
    for (const ln_list *l = ctx->ops; l; l = l->next)
        LN_TRY(add_overs(r, l->data, step++));
    size_t end = r->over_count;
    while (step-- > r->steps) {
        size_t first = step->over_count;
        step->overs = r->overs ? r->overs + first : NULL; // none has any
        step->over_count = end - first;
        end = first;
    }
    return LN_OK;
}
