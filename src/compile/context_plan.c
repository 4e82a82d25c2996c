// SPDX-License-Identifier: Apache-2.0
// The plan of a context: made, or stated by a file and proved; and what then happens to tensors.

#include "compile/context_plan.h"

#include <lightnet/allocator.h>
#include <lightnet/plan.h>
#include <lightnet/util.h>

#include "compile/budget.h"
#include "compile/constants.h"
#include "compile/load_part.h"
#include "compile/range.h"
#include "ir/attached.h"
#include "ir/compiled.h"
#include "ir/plan_records.h"
#include "ir/use.h"
#include "run/waits.h"

// ---- Planning ----

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

// Names of the owners that the plan gives; NULL where there is none, or the operator's own.
static ln_status copy_owner_names(const ln_plan_records *r, char **names)
{
    for (size_t i = 0; i < r->plan.value_count; i++) {
        if (r->owners[i] == i || r->is_described[i])
            continue;
        names[i] = ln_strdup(r->values[r->owners[i]].name);
        if (!names[i])
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

// Takes the names over.
static void set_owners(const ln_plan_records *r, char **names)
{
    for (size_t i = 0; i < r->plan.value_count; i++) {
        ln_tensor_entry *entry = r->entries[i];
        // The plan has no place for what stays in the model's file, views of it included.
        if (r->is_described[i] || ln_entry_is_in_place(entry))
            continue;
        ln_free(entry->owner);
        entry->owner = names[i];
        entry->is_placed = names[i] != NULL;
        names[i] = NULL;
    }
}

static ln_status publish_owners(const ln_plan_records *r)
{
    char **names = ln_alloc_array(r->plan.value_count, sizeof *names);
    if (!names)
        return LN_NO_MEMORY;
    ln_status status = copy_owner_names(r, names);
    if (status == LN_OK)
        set_owners(r, names);
    for (size_t i = 0; i < r->plan.value_count; i++)
        ln_free(names[i]);
    ln_free(names);
    return status;
}

static ln_status publish(ln_context *ctx, const ln_plan_records *r)
{
    LN_TRY(publish_owners(r));
    for (size_t i = 0; i < r->plan.value_count; i++) {
        r->entries[i]->offset = r->values[i].offset;
        r->entries[i]->is_load = r->values[i].is_load;
    }
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        ctx->load_sizes[m] = r->plan.totals[m].load_byte_count;
        ctx->static_sizes[m] = r->plan.totals[m].static_byte_count;
        ctx->mem_sizes[m] = r->plan.totals[m].peak_byte_count;
    }
    copy_offsets_to_lists(ctx);
    return LN_OK;
}

// An output is there to the end. What an operator overwrites in place cannot be.
static void make_all_outputs(ln_plan_records *r)
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

static ln_status plan_memory(ln_context *ctx, ln_plan_reuse reuse)
{
    ln_plan_records *r;
    LN_TRY(ln_context_sink_constants(ctx));
    LN_TRY(ln_waits_check(ctx));
    LN_TRY(ln_plan_records_create(ctx, &r));
    for (size_t i = 0; i < r->plan.value_count; i++)
        r->entries[i]->is_shared = 0;
    if (reuse == LN_PLAN_REUSE_NOTHING)
        make_all_outputs(r);
    ln_plan_records_ask_offsets(ctx, r);
    if (ctx->envelope)
        ln_envelope_apply(ctx->envelope, r);
    bool is_sharing = reuse == LN_PLAN_REUSE_ALL || reuse == LN_PLAN_REUSE_CONSTANTS;
    ln_status status = reuse == LN_PLAN_REUSE_CONSTANTS ? ln_plan_records_freeze(r) : LN_OK;
    if (status == LN_OK && is_sharing)
        status = ln_plan_mark_load(ctx, r);
    if (status == LN_OK)
        status = ln_plan_records_layout(r, is_sharing);
    if (status == LN_OK && ctx->envelope)
        ln_envelope_leave_parts(r);
    if (status == LN_OK && ctx->constants)
        status = ln_constants_pin(ctx->constants, ctx, r);
    if (status == LN_OK)
        status = ln_plan_check_budget(&r->plan, ctx->limits.memory_byte_count);
    if (status == LN_OK)
        status = ln_plan_check(&r->plan);
    if (status == LN_OK)
        status = publish(ctx, r);
    ln_plan_records_destroy(r);
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

// The owner that the file states, or the operator gives.
static ln_status take_owner(ln_plan_records *r, const ln_compiled_tensor *stated, uint32_t i)
{
    if (!stated->owner)
        return LN_OK;
    uint32_t owner;
    if (!ln_plan_records_find(r, stated->owner, &owner))
        return LN_FAIL(LN_INVALID, "%s: tensor '%s' is said to be in '%s', which does not exist",
                       stated->place, stated->name, stated->owner);
    if (r->is_described[i] && owner != r->owners[i])
        return LN_FAIL(LN_INVALID,
                       "%s: tensor '%s' is said to be in '%s', but its operator puts "
                       "it in '%s'; compile the model again",
                       stated->place, stated->name, stated->owner, r->values[r->owners[i]].name);
    r->owners[i] = owner;
    r->values[i].owner = r->values[owner].name;
    return LN_OK;
}

// A view is where its operator says; `distances` are those to the owners.
static ln_status check_view(const ln_plan_records *r, const ln_compiled_tensor *stated, uint32_t i,
                            size_t distance)
{
    const ln_plan_value *view = &r->values[i], *owner = &r->values[r->owners[i]];
    if (!r->is_described[i] || view->offset - owner->offset == distance)
        return LN_OK;
    return LN_FAIL(LN_INVALID,
                   "%s: tensor '%s' is stated at offset %zu, but it is %zu bytes after the "
                   "start of '%s' at %zu; compile the model again",
                   stated->place, view->name, view->offset, distance, owner->name, owner->offset);
}

// Others would be read, or written, when their memory is gone.
static ln_status take_load(ln_plan_records *r, const ln_compiled_tensor *stated, uint32_t i,
                           const bool *may_load)
{
    if (!stated->is_load)
        return LN_OK;
    if (!may_load[i])
        return LN_FAIL(LN_INVALID,
                       "%s: tensor '%s' is said to be there while loading only, but it is needed "
                       "in a run; compile the model again",
                       stated->place, stated->name);
    r->values[i].is_load = r->values[i].is_static = 1;
    return LN_OK;
}

static ln_status take_stated_loads(const ln_context *ctx, ln_plan_records *r,
                                   const uint32_t *indexes)
{
    bool *may_load = ln_alloc_array(r->plan.value_count, sizeof *may_load);
    if (!may_load)
        return LN_NO_MEMORY;
    ln_plan_find_load(ctx, r, may_load);
    ln_status status = LN_OK;
    for (size_t k = 0; k < ctx->compiled->tensor_count && status == LN_OK; k++)
        status = take_load(r, &ctx->compiled->tensors[k], indexes[k], may_load);
    ln_free(may_load);
    return status;
}

static ln_status take_stated_tensors(const ln_compiled *compiled, ln_plan_records *r,
                                     uint32_t *indexes, size_t *distances)
{
    for (size_t i = 0; i < r->plan.value_count; i++)
        distances[i] = r->values[i].offset;
    for (size_t k = 0; k < compiled->tensor_count; k++) {
        r->values[indexes[k]].offset = compiled->tensors[k].offset;
        LN_TRY(take_owner(r, &compiled->tensors[k], indexes[k]));
    }
    for (size_t k = 0; k < compiled->tensor_count; k++)
        LN_TRY(check_view(r, &compiled->tensors[k], indexes[k], distances[indexes[k]]));
    return LN_OK;
}

static ln_status take_stated_plan(const ln_context *ctx, ln_plan_records *r)
{
    const ln_compiled *compiled = ctx->compiled;
    uint32_t *indexes = ln_alloc_array(compiled->tensor_count, sizeof *indexes);
    size_t *distances = ln_alloc_array(r->plan.value_count, sizeof *distances);
    ln_status status = indexes && distances ? LN_OK : LN_NO_MEMORY;
    for (size_t k = 0; k < compiled->tensor_count && status == LN_OK; k++) {
        const ln_compiled_tensor *stated = &compiled->tensors[k];
        if (ln_plan_records_find(r, stated->name, &indexes[k]))
            status = compare_tensor(ctx, stated);
        else
            status = LN_FAIL(LN_INVALID, "%s: tensor '%s' is made by no operator", stated->place,
                             stated->name);
    }
    if (status == LN_OK)
        status = take_stated_loads(ctx, r, indexes);
    if (status == LN_OK)
        status = take_stated_tensors(compiled, r, indexes, distances);
    ln_free(distances);
    ln_free(indexes);
    return status;
}

static ln_status prove_stated_plan(ln_context *ctx, ln_plan_records *r)
{
    const ln_compiled *compiled = ctx->compiled;
    ln_plan_records_ask_offsets(ctx, r);
    LN_TRY(take_stated_plan(ctx, r));
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        r->plan.totals[m] = (ln_plan_totals){
            .static_byte_count = compiled->static_sizes[m],
            .workspace_byte_count = compiled->mem_sizes[m] - compiled->static_sizes[m],
            .peak_byte_count = compiled->mem_sizes[m],
            .load_byte_count = compiled->load_sizes[m],
        };
    }
    LN_TRY(ln_plan_records_derive(r));
    LN_TRY(ln_plan_check_budget(&r->plan, ctx->limits.memory_byte_count));
    return ln_plan_check(&r->plan);
}

static ln_status adopt_stated_plan(ln_context *ctx, ln_plan_reuse reuse)
{
    (void)reuse; // the file says
    ln_plan_records *r;
    LN_TRY(ln_plan_records_create(ctx, &r));
    ln_status status = ln_waits_check(ctx);
    if (status == LN_OK)
        status = prove_stated_plan(ctx, r);
    if (status == LN_OK)
        status = publish(ctx, r);
    ln_plan_records_destroy(r);
    return status == LN_OK
               ? LN_OK
               : ln_fail_prefix("the compiled plan is refused, compile the model again");
}

// ---- A planned context ----

// Makes the plan with `plan`, and then the context PLANNED for `target`.
static ln_status become_planned(ln_context *ctx, const char *target, ln_plan_reuse reuse,
                                ln_status (*plan)(ln_context *ctx, ln_plan_reuse reuse))
{
    ln_uses *uses;
    LN_TRY(ln_uses_hold(target, &uses));
    char *target_copy = ln_strdup(target);
    ln_status status = target_copy ? plan(ctx, reuse) : LN_NO_MEMORY;
    if (status != LN_OK) {
        ln_free(target_copy);
        ln_uses_drop(uses);
        return status;
    }
    ln_free(ctx->target);
    ln_uses_drop(ctx->uses);
    ctx->target = target_copy;
    ctx->uses = uses;
    ctx->plan_reuse = (int)reuse;
    ctx->state = LN_CONTEXT_PLANNED;
    return LN_OK;
}

ln_status ln_context_plan_memory(ln_context *ctx, const char *target, ln_plan_reuse reuse)
{
    return become_planned(ctx, target, reuse, plan_memory);
}

ln_status ln_context_adopt_plan(ln_context *ctx)
{
    return become_planned(ctx, ctx->compiled->target, LN_PLAN_REUSE_ALL, adopt_stated_plan);
}

// ---- The public view ----

static void fill_totals(const ln_context *ctx, ln_plan *plan)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        plan->totals[m].static_byte_count = ctx->static_sizes[m];
        plan->totals[m].peak_byte_count = ctx->mem_sizes[m];
        plan->totals[m].workspace_byte_count = ctx->mem_sizes[m] - ctx->static_sizes[m];
        plan->totals[m].load_byte_count = ctx->load_sizes[m];
    }
}

ln_status ln_context_plan_create(const ln_context *ctx, ln_plan **out_plan)
{
    if (!out_plan)
        return LN_FAIL(LN_INVALID, "the place for the plan is NULL");
    *out_plan = NULL;
    if (!ctx || ctx->state < LN_CONTEXT_PLANNED)
        return LN_FAIL(LN_STATE, "the model is not compiled; call ln_context_compile first");
    ln_plan_records *r;
    LN_TRY(ln_plan_records_create(ctx, &r));
    ln_status status = ln_plan_records_derive(r);
    if (status != LN_OK) {
        ln_plan_records_destroy(r);
        return status;
    }
    fill_totals(ctx, &r->plan);
    *out_plan = &r->plan;
    return LN_OK;
}

void ln_context_plan_free(ln_plan *plan)
{
    ln_plan_records_destroy((ln_plan_records *)plan);
}
