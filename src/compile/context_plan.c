// SPDX-License-Identifier: Apache-2.0
// The plan of a context: operators become steps, their outputs become values.

#include "compile/context_plan.h"

#include <stdint.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>
#include <lightnet/plan.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "compile/budget.h"
#include "ir/compiled.h"
#include "plan/layout.h"

// A plan with the arrays it points into.
typedef struct records {
    ln_plan plan; // first, so that the public pointer is this one
    ln_plan_value *values;
    ln_tensor_entry **entries; // entries[i] is the tensor of value i
    uint32_t *owners;          // index of the value that value i lies in, or i
    uint32_t *roots;           // index of the value whose memory value i uses
    ln_plan_step *steps;
    uint32_t *indexes; // the steps' reads and writes
    ln_hash *index_of; // tensor name -> index + 1
} records;

// ---- Records of a context ----

static void records_destroy(records *r)
{
    if (!r)
        return;
    ln_free(r->values);
    ln_free(r->entries);
    ln_free(r->owners);
    ln_free(r->roots);
    ln_free(r->steps);
    ln_free(r->indexes);
    if (r->index_of)
        ln_hash_free(r->index_of);
    ln_free(r);
}

static ln_status records_alloc(const ln_context *ctx, records *r)
{
    size_t op_count = 0, value_count = 0, index_count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        size_t out_count = (size_t)ln_tensor_list_length(arg->tensors_out);
        op_count++;
        value_count += out_count;
        index_count += out_count + (size_t)ln_tensor_list_length(arg->tensors_in);
    }
    if (value_count >= UINT32_MAX || op_count >= UINT32_MAX)
        return LN_FAIL(LN_LIMIT, "%zu tensors are over the limit of a plan", value_count);

    r->values = ln_alloc_array(value_count, sizeof *r->values);
    r->entries = ln_alloc_array(value_count, sizeof *r->entries);
    r->owners = ln_alloc_array(value_count, sizeof *r->owners);
    r->roots = ln_alloc_array(value_count, sizeof *r->roots);
    r->steps = ln_alloc_array(op_count, sizeof *r->steps);
    r->indexes = ln_alloc_array(index_count, sizeof *r->indexes);
    r->index_of = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    r->plan.values = r->values;
    r->plan.steps = r->steps;
    int is_whole =
        r->values && r->entries && r->owners && r->roots && r->steps && r->indexes && r->index_of;
    return is_whole ? LN_OK : LN_NO_MEMORY;
}

static uint32_t index_of(const records *r, const char *tname)
{
    return (uint32_t)((uintptr_t)ln_hash_find(r->index_of, tname) - 1);
}

// What the caller fills in before a run: made by an operator that neither reads nor computes.
static int is_input(const ln_op *op, const ln_tensor_entry *entry)
{
    return !op->op_arg->tensors_in && !op->run && !op->static_run && !entry->isstatic;
}

static ln_status add_value(const ln_context *ctx, records *r, const ln_op *op,
                           const ln_tensor_list_entry *listed)
{
    ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
    if (!entry)
        return LN_FAIL(LN_INTERNAL, "operator '%s' did not define its output '%s'",
                       op->op_arg->name, listed->name);
    if (entry->mtype == LN_MEM_NONE)
        return LN_FAIL(LN_INVALID, "tensor '%s' of operator '%s' (%s) has no memory type",
                       listed->name, op->op_arg->name, op->op_arg->optype);

    uint32_t index = (uint32_t)r->plan.value_count++;
    r->entries[index] = entry;
    r->owners[index] = index;
    r->values[index] = (ln_plan_value){
        .name = entry->name,
        .offset = entry->offset,
        .byte_count = tl_tensor_size(entry->tensor),
        .mtype = entry->mtype,
        .is_static = entry->isstatic,
        .is_input = is_input(op, entry),
        .is_output = !ln_op_is_scratch(op->op_arg, listed->arg_name), // until somebody reads it
    };
    void *position = (void *)((uintptr_t)index + 1);
    return ln_hash_insert(r->index_of, entry->name, position) < 0 ? LN_NO_MEMORY : LN_OK;
}

static ln_status add_values(const ln_context *ctx, records *r)
{
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next)
            LN_TRY(add_value(ctx, r, op, out->data));
    }
    for (size_t i = 0; i < r->plan.value_count; i++) {
        const char *owner = r->entries[i]->owner;
        if (!owner)
            continue;
        if (!ln_hash_find(r->index_of, owner))
            return LN_FAIL(LN_INVALID, "tensor '%s' lies in '%s', which does not exist",
                           r->values[i].name, owner);
        r->owners[i] = index_of(r, owner);
        r->values[i].owner = r->values[r->owners[i]].name;
    }
    return LN_OK;
}

static ln_plan_aliasing aliasing_of(const records *r, const ln_op *op)
{
    for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next) {
        const ln_tensor_list_entry *listed = out->data;
        uint32_t index = index_of(r, listed->name);
        if (r->owners[index] != index)
            return op->run ? LN_PLAN_IN_PLACE : LN_PLAN_VIEW;
    }
    return LN_PLAN_APART;
}

static ln_status add_steps(const ln_context *ctx, records *r)
{
    uint32_t *next = r->indexes;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        ln_plan_step *step = &r->steps[r->plan.step_count++];
        step->op = op->op_arg->name;
        step->aliasing = aliasing_of(r, op);
        step->reads = next;
        for (const ln_list *in = op->op_arg->tensors_in; in; in = in->next) {
            const ln_tensor_list_entry *listed = in->data;
            if (!ln_hash_find(r->index_of, listed->name))
                return LN_FAIL(LN_INVALID, "operator '%s' reads '%s', which nobody makes",
                               op->op_arg->name, listed->name);
            *next = index_of(r, listed->name);
            r->values[*next++].is_output = 0;
            step->read_count++;
        }
        step->writes = next;
        for (const ln_list *out = op->op_arg->tensors_out; out; out = out->next) {
            const ln_tensor_list_entry *listed = out->data;
            uint32_t index = index_of(r, listed->name);
            if (r->values[index].is_input)
                continue; // the caller writes it
            *next++ = index;
            step->write_count++;
        }
    }
    return LN_OK;
}

static ln_status records_create(const ln_context *ctx, records **out_records)
{
    *out_records = NULL;
    records *r = ln_alloc(sizeof *r);
    if (!r)
        return LN_NO_MEMORY;
    ln_status status = records_alloc(ctx, r);
    if (status == LN_OK)
        status = add_values(ctx, r);
    if (status == LN_OK)
        status = add_steps(ctx, r);
    if (status != LN_OK) {
        records_destroy(r);
        return status;
    }
    *out_records = r;
    return LN_OK;
}

// ---- Planning ----

// How far behind the start of its owner a view begins.
static size_t view_offset(const ln_context *ctx, ln_tensor_entry *entry)
{
    const ln_op *op = ln_op_table_find(ctx->op_table, entry->creater);
    return op && op->calc_offset ? op->calc_offset(op->op_arg, entry) : 0;
}

// `calc_offset` answers relative to its owner's offset, so all offsets are 0 while it is asked.
static void ask_view_offsets(const ln_context *ctx, records *r)
{
    for (size_t i = 0; i < r->plan.value_count; i++)
        r->entries[i]->offset = 0;
    for (size_t i = 0; i < r->plan.value_count; i++) {
        int is_view = r->owners[i] != i;
        r->values[i].offset = is_view ? view_offset(ctx, r->entries[i]) : 0;
    }
}

// The listed entries of all operators show the offsets of the table.
static void copy_offsets_to_lists(ln_context *ctx)
{
    for (ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        ln_list *lists[] = {arg->tensors_in, arg->tensors_out};
        for (size_t i = 0; i < 2; i++) {
            for (ln_list *t = lists[i]; t; t = t->next) {
                ln_tensor_list_entry *listed = t->data;
                listed->offset = ln_tensor_table_find(ctx->tensor_table, listed->name)->offset;
            }
        }
    }
}

static void publish(ln_context *ctx, const records *r)
{
    for (size_t i = 0; i < r->plan.value_count; i++)
        r->entries[i]->offset = r->values[i].offset;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        ctx->static_sizes[m] = r->plan.totals[m].static_byte_count;
        ctx->mem_sizes[m] = r->plan.totals[m].peak_byte_count;
    }
    copy_offsets_to_lists(ctx);
}

// An output is there to the end. What an operator overwrites in place cannot be.
static void make_all_outputs(records *r)
{
    for (size_t i = 0; i < r->plan.value_count; i++)
        r->values[i].is_output = 1;
    for (size_t s = 0; s < r->plan.step_count; s++) {
        const ln_plan_step *step = &r->steps[s];
        if (step->aliasing != LN_PLAN_IN_PLACE)
            continue;
        for (size_t k = 0; k < step->write_count; k++) {
            uint32_t owner = r->owners[step->writes[k]];
            if (owner != step->writes[k])
                r->values[owner].is_output = 0;
        }
    }
}

static ln_status plan_memory(ln_context *ctx, int keeps_tensors)
{
    records *r;
    LN_TRY(records_create(ctx, &r));
    if (keeps_tensors)
        make_all_outputs(r);
    ask_view_offsets(ctx, r);
    ln_status status = ln_plan_layout(r->values, r->owners, r->plan.value_count, r->steps,
                                      r->plan.step_count, r->plan.totals);
    if (status == LN_OK)
        status = ln_plan_check_budget(&r->plan, ctx->limits.memory_byte_count);
    if (status == LN_OK)
        status = ln_plan_check(&r->plan);
    if (status == LN_OK)
        publish(ctx, r);
    records_destroy(r);
    return status;
}

// ---- A compiled file's plan ----

static ln_status compare_tensor(const ln_context *ctx, const ln_compiled_tensor *stated)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, stated->name);
    const tl_tensor *tensor = entry->tensor;
    int is_same_shape = tensor->ndim == stated->ndim;
    for (int i = 0; i < stated->ndim && is_same_shape; i++)
        is_same_shape = tensor->dims[i] == stated->dims[i];
    if (is_same_shape && tensor->dtype == stated->dtype && entry->mtype == stated->mtype &&
        !entry->isstatic == !stated->is_static)
        return LN_OK;

    char stated_shape[128], derived_shape[128];
    ln_sprint_shape(stated_shape, sizeof stated_shape, stated->ndim, stated->dims);
    ln_sprint_shape(derived_shape, sizeof derived_shape, tensor->ndim, tensor->dims);
    return LN_FAIL(LN_INVALID,
                   "%s: tensor '%s' is stated as %s %s %s%s, but its operator makes %s %s %s%s; "
                   "compile the model again",
                   stated->place, stated->name, tl_dtype_name(stated->dtype), stated_shape,
                   ln_mem_type_name(stated->mtype), stated->is_static ? " static" : "",
                   tl_dtype_name(tensor->dtype), derived_shape, ln_mem_type_name(entry->mtype),
                   entry->isstatic ? " static" : "");
}

static void touch(ln_plan_value *value, uint32_t first_step, uint32_t last_step)
{
    if (first_step < value->first_step)
        value->first_step = first_step;
    if (last_step > value->last_step)
        value->last_step = last_step;
}

// The end of each value's chain of owners. An operator's output lies in one of its inputs, so
// owners come before what lies in them; the checker finds out if not.
static void find_roots(records *r)
{
    for (uint32_t i = 0; i < r->plan.value_count; i++)
        r->roots[i] = r->owners[i] < i ? r->roots[r->owners[i]] : r->owners[i];
}

// The lifetimes of a file's plan are not in the file: what each value needs is what the steps say,
// and the memory of an owner is needed as long as anything that lies in it.
static void derive_lifetimes(records *r)
{
    uint32_t last = r->plan.step_count ? (uint32_t)r->plan.step_count - 1 : 0;
    for (size_t i = 0; i < r->plan.value_count; i++) {
        ln_plan_value *value = &r->values[i];
        int is_always = value->is_static || value->is_input;
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
    find_roots(r);
    for (size_t i = 0; i < r->plan.value_count; i++)
        touch(&r->values[r->roots[i]], r->values[i].first_step, r->values[i].last_step);
}

static ln_status prove_stated_plan(ln_context *ctx, records *r)
{
    const ln_compiled *compiled = ctx->compiled;
    for (size_t i = 0; i < compiled->tensor_count; i++) {
        const ln_compiled_tensor *stated = &compiled->tensors[i];
        if (!ln_hash_find(r->index_of, stated->name))
            return LN_FAIL(LN_INVALID, "%s: tensor '%s' is made by no operator", stated->place,
                           stated->name);
        LN_TRY(compare_tensor(ctx, stated));
        r->values[index_of(r, stated->name)].offset = stated->offset;
    }
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        r->plan.totals[m] = (ln_plan_totals){
            .static_byte_count = compiled->static_sizes[m],
            .workspace_byte_count = compiled->mem_sizes[m] - compiled->static_sizes[m],
            .peak_byte_count = compiled->mem_sizes[m],
        };
    }
    derive_lifetimes(r);
    LN_TRY(ln_plan_check_budget(&r->plan, ctx->limits.memory_byte_count));
    return ln_plan_check(&r->plan);
}

static ln_status adopt_stated_plan(ln_context *ctx, int keeps_tensors)
{
    (void)keeps_tensors; // the file says what is reused
    records *r;
    LN_TRY(records_create(ctx, &r));
    ln_status status = prove_stated_plan(ctx, r);
    if (status == LN_OK)
        publish(ctx, r);
    records_destroy(r);
    return status == LN_OK ? LN_OK : ln_fail_prefix("the compiled plan is refused");
}

// ---- A planned context ----

// Makes the plan with `plan`, and then the context PLANNED for `target`.
static ln_status become_planned(ln_context *ctx, const char *target, int keeps_tensors,
                                ln_status (*plan)(ln_context *ctx, int keeps_tensors))
{
    char *target_copy = ln_strdup(target);
    if (!target_copy)
        return LN_NO_MEMORY;
    ln_status status = plan(ctx, keeps_tensors);
    if (status != LN_OK) {
        ln_free(target_copy);
        return status;
    }
    ln_free(ctx->target);
    ctx->target = target_copy;
    ctx->state = LN_CONTEXT_PLANNED;
    return LN_OK;
}

ln_status ln_context_plan_memory(ln_context *ctx, const char *target, int keeps_tensors)
{
    return become_planned(ctx, target, keeps_tensors, plan_memory);
}

ln_status ln_context_adopt_plan(ln_context *ctx)
{
    return become_planned(ctx, ctx->compiled->target, 0, adopt_stated_plan);
}

// ---- The public view ----

static void fill_totals(const ln_context *ctx, ln_plan *plan)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        plan->totals[m].static_byte_count = ctx->static_sizes[m];
        plan->totals[m].peak_byte_count = ctx->mem_sizes[m];
        plan->totals[m].workspace_byte_count = ctx->mem_sizes[m] - ctx->static_sizes[m];
    }
}

ln_status ln_context_plan_create(const ln_context *ctx, ln_plan **out_plan)
{
    if (!out_plan)
        return LN_FAIL(LN_INVALID, "the place for the plan is NULL");
    *out_plan = NULL;
    if (!ctx || ctx->state < LN_CONTEXT_PLANNED)
        return LN_FAIL(LN_STATE, "the model is not compiled; call ln_context_compile first");
    records *r;
    LN_TRY(records_create(ctx, &r));
    derive_lifetimes(r);
    fill_totals(ctx, &r->plan);
    *out_plan = &r->plan;
    return LN_OK;
}

void ln_context_plan_free(ln_plan *plan)
{
    records_destroy((records *)plan);
}
