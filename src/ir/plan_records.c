// SPDX-License-Identifier: Apache-2.0
// Records of a context. What a step does with its bytes follows from where its tensors are: a
// slice whose output is where it should be in the input is a view, else a copy.

#include "ir/plan_records.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/attached.h"
#include "ir/context.h"
#include "ir/plan_overs.h"
#include "plan/layout.h"

// ---- Memory ----

void ln_plan_records_trim(ln_plan_records *r)
{
    ln_free(r->entries);
    ln_free(r->roots);
    ln_free(r->aligns);
    ln_free(r->is_described);
    ln_free(r->choices);
    ln_hash_free(r->index_of);
    r->entries = NULL;
    r->roots = NULL;
    r->aligns = NULL;
    r->is_described = NULL;
    r->choices = NULL;
    r->index_of = NULL;
}

void ln_plan_records_destroy(ln_plan_records *r)
{
    if (!r)
        return;
    ln_plan_records_trim(r);
    ln_free(r->values);
    ln_free(r->owners);
    ln_free(r->steps);
    ln_free(r->overs);
    ln_free(r->indexes);
    ln_free(r);
}

// At most so many choices: each row of places is about each output or each input.
static size_t most_choices(const ln_op_arg *arg, size_t tensor_count)
{
    size_t row_count = 0;
    const ln_place_info *place = arg->info ? arg->info->places : NULL;
    for (; place && place->out; place++)
        row_count++;
    return row_count * tensor_count;
}

static ln_status alloc_arrays(const ln_context *ctx, ln_plan_records *r)
{
    size_t op_count = 0, value_count = 0, index_count = 0, choice_count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        size_t out_count = (size_t)ln_tensor_list_length(arg->tensors_out);
        size_t tensor_count = out_count + (size_t)ln_tensor_list_length(arg->tensors_in);
        op_count++;
        value_count += out_count;
        index_count += tensor_count;
        choice_count += most_choices(arg, tensor_count);
    }
    if (value_count >= UINT32_MAX || op_count >= UINT32_MAX)
        return LN_FAIL(LN_LIMIT, "%zu tensors are over the limit of a plan", value_count);

    r->values = ln_alloc_array(value_count, sizeof *r->values);
    r->entries = ln_alloc_array(value_count, sizeof *r->entries);
    r->owners = ln_alloc_array(value_count, sizeof *r->owners);
    r->roots = ln_alloc_array(value_count, sizeof *r->roots);
    r->aligns = ln_alloc_array(value_count, sizeof *r->aligns);
    r->is_described = ln_alloc_array(value_count, sizeof *r->is_described);
    r->steps = ln_alloc_array(op_count, sizeof *r->steps);
    r->indexes = ln_alloc_array(index_count, sizeof *r->indexes);
    r->choices = ln_alloc_array(choice_count, sizeof *r->choices);
    r->index_of = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    r->plan.values = r->values;
    r->plan.steps = r->steps;
    bool is_whole = r->values && r->entries && r->owners && r->roots && r->aligns &&
                    r->is_described && r->steps && r->indexes && r->choices && r->index_of;
    return is_whole ? LN_OK : LN_NO_MEMORY;
}

// ---- Values ----

bool ln_plan_records_find(const ln_plan_records *r, const char *tname, uint32_t *out_index)
{
    uintptr_t position = (uintptr_t)ln_hash_find(r->index_of, tname);
    *out_index = position ? (uint32_t)(position - 1) : 0;
    return position != 0;
}

// Of a tensor that an operator makes, so that it is there.
static uint32_t index_of(const ln_plan_records *r, const ln_tensor_list_entry *listed)
{
    uint32_t index;
    ln_plan_records_find(r, listed->name, &index);
    return index;
}

static ln_status add_value(const ln_context *ctx, ln_plan_records *r, const ln_op *op,
                           const ln_tensor_list_entry *listed)
{
    ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
    if (!entry)
        return LN_FAIL(LN_INTERNAL, "operator '%s' did not define its output '%s'",
                       op->op_arg->name, listed->name);
    if (entry->mtype == LN_MEM_NONE)
        return LN_FAIL(LN_INVALID, "tensor '%s' of operator '%s' (%s) has no memory type",
                       listed->name, op->op_arg->name, op->op_arg->optype);

    // What an earlier plan has said counts as long as that plan does.
    int is_load = entry->is_load && ctx->state >= LN_CONTEXT_PLANNED;
    uint32_t index = (uint32_t)r->plan.value_count++;
    r->entries[index] = entry;
    r->owners[index] = index;
    r->aligns[index] = (uint8_t)tl_size_of(entry->tensor->dtype);
    r->is_described[index] = ln_entry_planned_owner(entry) && !entry->is_placed;
    r->values[index] = (ln_plan_value){
        .name = entry->name,
        .offset = entry->offset,
        .byte_count = ln_entry_is_in_place(entry) ? 0 : tl_tensor_size(entry->tensor),
        .mapped_byte_count = ln_entry_is_in_place(entry) ? tl_tensor_size(entry->tensor) : 0,
        .mtype = entry->mtype,
        .is_static = entry->isstatic || is_load,
        .is_load = is_load,
        .is_input = ln_op_is_filled(op, entry),
        .is_output = !ln_op_is_scratch(op->op_arg, listed->arg_name), // until somebody reads it
    };
    void *position = (void *)((uintptr_t)index + 1);
    return ln_hash_insert(r->index_of, entry->name, position) < 0 ? LN_NO_MEMORY : LN_OK;
}

static ln_status add_values(const ln_context *ctx, ln_plan_records *r)
{
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next)
            LN_TRY(add_value(ctx, r, op, out->data));
    }
    for (size_t i = 0; i < r->plan.value_count; i++) {
        const char *owner = ln_entry_planned_owner(r->entries[i]);
        if (r->entries[i]->is_placed && ctx->state < LN_CONTEXT_PLANNED)
            owner = NULL; // left by a plan that is forgotten
        if (owner && !ln_plan_records_find(r, owner, &r->owners[i]))
            return LN_FAIL(LN_INVALID, "tensor '%s' is in '%s', which does not exist",
                           r->values[i].name, owner);
        r->values[i].owner = owner ? r->values[r->owners[i]].name : NULL;
    }
    return LN_OK;
}

// ---- Steps ----

static ln_status add_step(ln_plan_records *r, const ln_op *op, uint32_t **next)
{
    ln_plan_step *step = &r->steps[r->plan.step_count++];
    step->op = op->op_arg->name;
    step->reads = *next;
    for (const ln_list *in = op->op_arg->tensors_in; in; in = in->next) {
        const ln_tensor_list_entry *listed = in->data;
        if (!ln_plan_records_find(r, listed->name, *next))
            return LN_FAIL(LN_INVALID, "operator '%s' reads '%s', which nobody makes",
                           op->op_arg->name, listed->name);
        uint32_t read = *(*next)++;
        r->values[read].is_output = 0;
        step->read_count++;
    }
    step->writes = *next;
    for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next) {
        uint32_t index = index_of(r, out->data);
        if (r->is_described[index])
            step->aliasing = op->run || op->static_run ? LN_PLAN_IN_PLACE : LN_PLAN_VIEW;
        if (r->values[index].is_input)
            continue; // the caller writes it
        *(*next)++ = index;
        step->write_count++;
    }
    return LN_OK;
}

// ---- Choices ----

// Whether `listed` stands for argument `arg_name` of `infos`, or for one of the variadic ones.
static bool stands_for(const ln_tensor_list_entry *listed, const ln_arg_info *infos,
                       const char *arg_name)
{
    size_t len = strlen(arg_name);
    if (ln_streq(listed->arg_name, arg_name))
        return true;
    for (; infos && infos->arg_name; infos++) {
        if (!ln_streq(infos->arg_name, arg_name))
            continue;
        if (!(infos->flags & LN_ARG_VARIADIC))
            return false;
        const char *number = listed->arg_name + len;
        return strncmp(listed->arg_name, arg_name, len) == 0 && *number &&
               strspn(number, "0123456789") == strlen(number);
    }
    return false;
}

static void add_choice(ln_plan_records *r, const ln_op *op, ln_place_kind place, uint32_t in,
                       uint32_t out)
{
    if (r->entries[in]->is_open || r->entries[out]->is_open) // it has no memory in the plan
        return;
    if (ln_entry_is_in_place(r->entries[in]) || ln_entry_is_in_place(r->entries[out]))
        return;
    ln_share choice = {.step = (uint32_t)r->plan.step_count - 1, .inner = out, .outer = in};
    switch (place) {
    case LN_PLACE_OVER_FIRST:
        if (!op->calc_offset ||
            op->calc_offset(op->op_arg, r->entries[choice.inner]) == LN_NO_OFFSET)
            return;
        // falls through
    case LN_PLACE_OVER: // elements of one size meet one by one
        choice.kind = LN_SHARE_OVER;
        if (r->aligns[in] != r->aligns[out])
            return;
        break;
    case LN_PLACE_INSIDE: choice.kind = LN_SHARE_INSIDE; break;
    case LN_PLACE_AROUND:
        choice.kind = LN_SHARE_AROUND;
        choice.inner = in;
        choice.outer = out;
        break;
    default: return;
    }
    if (choice.kind != LN_SHARE_OVER)
        choice.offset =
            op->calc_offset ? op->calc_offset(op->op_arg, r->entries[choice.inner]) : LN_NO_OFFSET;
    if (choice.offset != LN_NO_OFFSET)
        r->choices[r->choice_count++] = choice;
}

// `calc_offset` considers all operands, so that its answer holds for each operand that is `name`.
static void add_first_choices(ln_plan_records *r, const ln_op *op, const char *name, uint32_t out)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in)
        if (ln_streq(in->name, name))
            add_choice(r, op, LN_PLACE_OVER_FIRST, index_of(r, in), out);
}

// An operator that does not compute writes no bytes that could be anywhere.
static void add_choices(ln_plan_records *r, const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    const ln_place_info *place = info && (op->run || op->static_run) ? info->places : NULL;
    bool has_first = false;
    for (; place && place->out; place++) {
        bool is_first = place->kind == LN_PLACE_OVER_FIRST;
        if (is_first && has_first)
            continue;
        for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next) {
            if (!stands_for(out->data, info->outs, place->out))
                continue;
            for (const ln_list *in = op->op_arg->tensors_in; in; in = in->next) {
                if (!stands_for(in->data, info->ins, place->in))
                    continue;
                if (!is_first)
                    add_choice(r, op, place->kind, index_of(r, in->data), index_of(r, out->data));
                else if (!has_first)
                    add_first_choices(r, op, ((const ln_tensor_list_entry *)in->data)->name,
                                      index_of(r, out->data));
                has_first = has_first || is_first;
            }
        }
    }
}

// In a model with `output` operators their tensors are the outputs, whoever else reads them.
static void mark_outputs(const ln_context *ctx, ln_plan_records *r)
{
    if (!ctx->has_output)
        return;
    for (size_t i = 0; i < r->plan.value_count; i++)
        r->values[i].is_output = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_is_type(op->op_arg, "output"))
            r->values[index_of(r, op->op_arg->tensors_in->data)].is_output = 1;
}

static ln_status fill_records(const ln_context *ctx, ln_plan_records *r)
{
    LN_TRY(alloc_arrays(ctx, r));
    LN_TRY(add_values(ctx, r));
    uint32_t *next = r->indexes;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        LN_TRY(add_step(r, l->data, &next));
        add_choices(r, l->data);
    }
    mark_outputs(ctx, r);
    return ln_plan_records_add_overs(ctx, r);
}

ln_status ln_plan_records_create(const ln_context *ctx, ln_plan_records **out_records)
{
    *out_records = NULL;
    ln_plan_records *r = ln_alloc(sizeof *r);
    if (!r)
        return LN_NO_MEMORY;
    ln_status status = fill_records(ctx, r);
    if (status != LN_OK) {
        ln_plan_records_destroy(r);
        return status;
    }
    *out_records = r;
    return LN_OK;
}

// ---- How steps use their places ----

static bool overlap(const ln_plan_value *a, const ln_plan_value *b)
{
    return a->offset < b->offset + b->byte_count && b->offset < a->offset + a->byte_count;
}

// `inner` is where the choice says.
static bool is_used(const ln_plan_records *r, const ln_share *c)
{
    const ln_plan_value *inner = &r->values[c->inner], *outer = &r->values[c->outer];
    return r->roots[c->inner] == r->roots[c->outer] && inner->offset == outer->offset + c->offset &&
           (c->kind != LN_SHARE_OVER || inner->byte_count == outer->byte_count);
}

static ln_status check_joined(const ln_plan_records *r, const ln_share *c)
{
    const ln_plan_value *part = &r->values[c->inner], *whole = &r->values[c->outer];
    if (is_used(r, c) || r->roots[c->inner] != r->roots[c->outer] || !overlap(part, whole))
        return LN_OK;
    return LN_FAIL(LN_INVALID,
                   "operator '%s' joins '%.200s', which is at offset %zu, but not where it "
                   "belongs in '%.200s' at offset %zu",
                   r->steps[c->step].op, part->name, part->offset, whole->name, whole->offset);
}

// Choices [from, to) are those of one step.
static ln_status find_step_aliasing(ln_plan_records *r, size_t from, size_t to)
{
    ln_plan_step *step = &r->steps[r->choices[from].step];
    size_t used_counts[3] = {0};
    if (step->aliasing != LN_PLAN_APART)
        return LN_OK;
    for (size_t k = from; k < to; k++)
        used_counts[r->choices[k].kind] += is_used(r, &r->choices[k]);
    if (used_counts[LN_SHARE_INSIDE] > 0 && used_counts[LN_SHARE_INSIDE] == step->write_count)
        step->aliasing = LN_PLAN_VIEW;
    else if (used_counts[LN_SHARE_AROUND] > 0)
        step->aliasing = LN_PLAN_JOIN;
    else if (used_counts[LN_SHARE_OVER] > 0)
        step->aliasing = LN_PLAN_IN_PLACE;
    for (size_t k = from; k < to && step->aliasing == LN_PLAN_JOIN; k++)
        LN_TRY(check_joined(r, &r->choices[k]));
    return LN_OK;
}

static ln_status find_aliasing(ln_plan_records *r)
{
    for (size_t from = 0, to; from < r->choice_count; from = to) {
        to = from;
        while (to < r->choice_count && r->choices[to].step == r->choices[from].step)
            to++;
        LN_TRY(find_step_aliasing(r, from, to));
    }
    return LN_OK;
}

// The end of each value's chain of owners. A walk goes up to a value whose root is known, or back
// to where it has been, and then again to note the root.
static ln_status find_roots(ln_plan_records *r)
{
    size_t count = r->plan.value_count;
    for (uint32_t i = 0; i < count; i++)
        r->roots[i] = r->owners[i] == i ? i : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (size_t length = 0; r->roots[at] == UINT32_MAX; length++) {
            if (length > count)
                return LN_FAIL(LN_INVALID, "the owners of tensor '%s' lead round in a circle",
                               r->values[i].name);
            at = r->owners[at];
        }
        uint32_t root = r->roots[at];
        for (at = i; r->roots[at] == UINT32_MAX; at = r->owners[at])
            r->roots[at] = root;
    }
    return LN_OK;
}

// ---- Constants ----

// Which steps read a value last, and whether one of them runs more than once.
typedef struct reader {
    uint32_t last_step;
    uint32_t last_count; // operands of that step that it is
    bool is_run;
    bool is_owner; // other values are in it
} reader;

static bool is_static_step(const ln_plan_records *r, const ln_plan_step *step)
{
    for (size_t k = 0; k < step->write_count; k++) {
        if (!r->values[step->writes[k]].is_static)
            return false;
    }
    return step->write_count > 0;
}

static void find_readers(const ln_plan_records *r, reader *readers)
{
    for (uint32_t s = 0; s < r->plan.step_count; s++) {
        const ln_plan_step *step = &r->steps[s];
        bool is_static = is_static_step(r, step);
        for (size_t k = 0; k < step->read_count; k++) {
            reader *found = &readers[step->reads[k]];
            found->last_count = found->last_step == s ? found->last_count + 1 : 1;
            found->last_step = s;
            found->is_run = found->is_run || !is_static;
        }
    }
    for (uint32_t i = 0; i < r->plan.value_count; i++)
        readers[r->owners[i]].is_owner = readers[r->owners[i]].is_owner || r->owners[i] != i;
}

// Whether each operand that is the constant may be overwritten.
static bool is_choice_for_all(const ln_plan_records *r, const reader *readers, const ln_share *c)
{
    const ln_share *k = c, *end = r->choices + r->choice_count;
    size_t count = 0;
    while (k > r->choices && k[-1].step == c->step)
        k--;
    for (; k < end && k->step == c->step; k++)
        count += k->kind == c->kind && k->inner == c->inner && k->outer == c->outer;
    return count >= readers[c->outer].last_count;
}

// The constant is the step's to overwrite: whatever reads it does so once, before.
static bool can_freeze(const ln_plan_records *r, const reader *readers, const ln_share *c)
{
    const ln_plan_value *inner = &r->values[c->inner], *outer = &r->values[c->outer];
    const reader *found = &readers[c->outer];
    return c->kind == LN_SHARE_OVER && inner->is_static && outer->is_static && !inner->is_load &&
           !outer->is_load && inner->byte_count == outer->byte_count &&
           inner->mtype == outer->mtype && r->owners[c->inner] == c->inner &&
           r->owners[c->outer] == c->outer && found->last_step == c->step && !found->is_run &&
           !found->is_owner && is_choice_for_all(r, readers, c);
}

ln_status ln_plan_records_freeze(ln_plan_records *r)
{
    reader *readers = ln_alloc_array(r->plan.value_count, sizeof *readers);
    if (!readers)
        return LN_NO_MEMORY;
    find_readers(r, readers);
    for (size_t k = 0; k < r->choice_count; k++) {
        const ln_share *c = &r->choices[k];
        if (!can_freeze(r, readers, c))
            continue;
        r->owners[c->inner] = c->outer;
        r->values[c->inner].offset = 0;
        r->values[c->inner].owner = r->values[c->outer].name;
        readers[c->outer].is_owner = true;
    }
    ln_free(readers);
    return LN_OK;
}

// ---- Planning ----

// `calc_offset` answers relative to its owner's offset, so all offsets are 0 while it is asked.
void ln_plan_records_ask_offsets(const ln_context *ctx, ln_plan_records *r)
{
    for (size_t i = 0; i < r->plan.value_count; i++)
        r->entries[i]->offset = 0;
    for (size_t i = 0; i < r->plan.value_count; i++) {
        ln_tensor_entry *entry = r->entries[i];
        const ln_op *op =
            r->is_described[i] ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
        r->values[i].offset = op && op->calc_offset ? op->calc_offset(op->op_arg, entry) : 0;
    }
}

static ln_status lay_out(ln_plan_records *r)
{
    return ln_plan_layout(r->values, r->owners, r->plan.value_count, r->steps, r->plan.step_count,
                          r->plan.totals);
}

static size_t workspace_bytes(const ln_plan_records *r)
{
    size_t sum = 0;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        sum += r->plan.totals[m].workspace_byte_count;
    return sum;
}

// Shared values are large and live long, so that the arena may pack them worse than their parts;
// then it is as if there were no choices. `apart` is a copy of the records, from before. What needs
// `limit` bytes or more in any case is not laid out.
static ln_status lay_out_shared(ln_plan_records *r, ln_plan_records *apart, size_t limit,
                                bool *out_is_below)
{
    size_t count = r->plan.value_count;
    ln_share_needs needs;
    LN_TRY(ln_plan_share(r->values, r->owners, r->aligns, count, r->steps, r->plan.step_count,
                         r->choices, r->choice_count, &needs));
    *out_is_below = needs.shared < limit;
    if (!*out_is_below)
        return LN_OK;
    LN_TRY(lay_out(r));
    if (workspace_bytes(r) <= needs.apart)
        return LN_OK;
    LN_TRY(lay_out(apart));
    if (workspace_bytes(r) <= workspace_bytes(apart))
        return LN_OK;
    memcpy(r->values, apart->values, count * sizeof *r->values);
    memcpy(r->owners, apart->owners, count * sizeof *r->owners);
    memcpy(r->plan.totals, apart->plan.totals, sizeof r->plan.totals);
    return LN_OK;
}

static ln_status lay_out_best(ln_plan_records *r, size_t limit, bool *out_is_below)
{
    size_t count = r->plan.value_count;
    ln_plan_records apart = *r;
    apart.values = ln_alloc_array(count, sizeof *apart.values);
    apart.owners = ln_alloc_array(count, sizeof *apart.owners);
    ln_status status = apart.values && apart.owners ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK && count) {
        memcpy(apart.values, r->values, count * sizeof *r->values);
        memcpy(apart.owners, r->owners, count * sizeof *r->owners);
    }
    if (status == LN_OK)
        status = lay_out_shared(r, &apart, limit, out_is_below);
    ln_free(apart.values);
    ln_free(apart.owners);
    return status;
}

ln_status ln_plan_records_layout(ln_plan_records *r, bool is_sharing)
{
    bool is_below;
    LN_TRY(is_sharing ? lay_out_best(r, SIZE_MAX, &is_below) : lay_out(r));
    LN_TRY(find_roots(r));
    return find_aliasing(r);
}

ln_status ln_plan_records_measure(ln_plan_records *r, size_t limit, size_t *out_byte_count)
{
    bool is_below;
    *out_byte_count = limit;
    ln_hash_free(r->index_of);
    r->index_of = NULL;
    LN_TRY(lay_out_best(r, limit, &is_below));
    if (is_below && workspace_bytes(r) < limit)
        *out_byte_count = workspace_bytes(r);
    return LN_OK;
}

// ---- Lifetimes ----

static void touch(ln_plan_value *value, uint32_t first_step, uint32_t last_step)
{
    if (first_step < value->first_step)
        value->first_step = first_step;
    if (last_step > value->last_step)
        value->last_step = last_step;
}

// What each value needs is what the steps say, and the memory of an owner is needed as long as
// anything that is in it.
static void derive_lifetimes(ln_plan_records *r)
{
    uint32_t last = r->plan.step_count ? (uint32_t)r->plan.step_count - 1 : 0;
    for (size_t i = 0; i < r->plan.value_count; i++) {
        ln_plan_value *value = &r->values[i];
        int is_always = (value->is_static && !value->is_load) || value->is_input;
        value->first_step = is_always ? 0 : UINT32_MAX;
        value->last_step = is_always || value->is_output ? last : 0;
    }
    for (uint32_t s = 0; s < r->plan.step_count; s++) {
        const ln_plan_step *step = &r->steps[s];
        for (size_t k = 0; k < step->read_count; k++)
            touch(&r->values[step->reads[k]], s, s);
        for (size_t k = 0; k < step->write_count; k++)
            touch(&r->values[step->writes[k]], s, s);
    }
    for (size_t i = 0; i < r->plan.value_count; i++)
        touch(&r->values[r->roots[i]], r->values[i].first_step, r->values[i].last_step);
}

ln_status ln_plan_records_derive(ln_plan_records *r)
{
    LN_TRY(find_roots(r));
    derive_lifetimes(r);
    return find_aliasing(r);
}
