// SPDX-License-Identifier: Apache-2.0
// Finding constants by their recipes, and placing them.

#include "compile/constants.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/checked.h"
#include "base/name_hash.h"
#include "compile/context_plan.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "pass/choice.h"
#include "plan/mem_use.h"

struct ln_constants {
    ln_shared_constant *places; // sorted by `made`
    size_t count;
    size_t ends[LN_MEM_TYPE_SIZE];
};

// ---- The constants of a plan ----

static int compare_places(const void *a, const void *b)
{
    return memcmp(&((const ln_shared_constant *)a)->made, &((const ln_shared_constant *)b)->made,
                  sizeof(ln_recipe));
}

static bool has_graphs(const ln_context *ctx)
{
    return ctx->graphs && ln_hash_size(ctx->graphs) > 0;
}

static bool is_region_of(const ln_tensor_entry *entry)
{
    return entry->isstatic && !entry->is_input && !entry->is_open && !entry->is_load &&
           !entry->owner && entry->offset != 0 && entry->tensor->len > 0;
}

static ln_shared_constant describe(const ln_recipe *made, const ln_tensor_entry *entry)
{
    const tl_tensor *tensor = entry->tensor;
    ln_shared_constant c = {.made = *made,
                            .offset = entry->offset,
                            .mtype = entry->mtype,
                            .dtype = tensor->dtype,
                            .ndim = tensor->ndim};
    memcpy(c.dims, tensor->dims, (size_t)tensor->ndim * sizeof *c.dims);
    return c;
}

static ln_status list_places(ln_constants *c, const ln_recipes *r)
{
    c->places = ln_alloc_array(r->count + 1, sizeof *c->places);
    if (!c->places)
        return LN_NO_MEMORY;
    size_t cursor = 0;
    const void *name;
    void *made;
    while (ln_hash_next(r->by_name, &cursor, &name, &made)) {
        const ln_tensor_entry *entry = ln_tensor_table_find(r->ctx->tensor_table, name);
        if (is_region_of(entry) && (entry->tensor->data || r->ctx->state == LN_CONTEXT_PLANNED))
            c->places[c->count++] = describe(made, entry);
    }
    qsort(c->places, c->count, sizeof *c->places, compare_places);
    return LN_OK;
}

// Where a constant was computed over another one, that one is not what its operator makes.
static bool is_lasting(const ln_context *ctx)
{
    return !has_graphs(ctx) && ctx->plan_reuse != LN_PLAN_REUSE_CONSTANTS;
}

ln_status ln_constants_create(const ln_context *ctx, ln_constants **out_constants)
{
    *out_constants = NULL;
    if (!is_lasting(ctx))
        return LN_OK;
    ln_constants *c = ln_alloc(sizeof *c);
    if (!c)
        return LN_NO_MEMORY;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        c->ends[m] =
            ctx->static_sizes[m] ? ctx->static_sizes[m] : ln_mem_type_align((ln_mem_type)m);
    ln_recipes r;
    ln_status status = ln_recipes_init(&r, ctx);
    if (status == LN_OK)
        status = ln_recipes_find(&r, NULL);
    if (status == LN_OK)
        status = list_places(c, &r);
    ln_recipes_deinit(&r);
    if (status != LN_OK || c->count == 0) {
        ln_constants_destroy(c);
        return status;
    }
    *out_constants = c;
    return LN_OK;
}

bool ln_constants_find(const ln_constants *c, const ln_recipe *made, size_t *out_index)
{
    const ln_shared_constant key = {.made = *made};
    const ln_shared_constant *found =
        bsearch(&key, c->places, c->count, sizeof key, compare_places);
    *out_index = found ? (size_t)(found - c->places) : 0;
    return found != NULL;
}

const ln_shared_constant *ln_constants_at(const ln_constants *c, size_t index)
{
    return &c->places[index];
}

size_t ln_constants_count(const ln_constants *c)
{
    return c->count;
}

// The packed weights that `op` makes, at the end of `c`.
static void add_places(ln_constants *c, const ln_constants *known, const ln_recipes *r,
                       const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(r->ctx->tensor_table, out->name);
        const ln_recipe *made = ln_recipes_of(r, out->name);
        size_t index;
        if (made && entry && is_region_of(entry) && entry->tensor->data && !entry->is_shared &&
            !ln_constants_find(known, made, &index))
            c->places[c->count++] = describe(made, entry);
    }
}

static ln_status extend(ln_constants *c, const ln_constants *known, const ln_recipes *r)
{
    c->places = ln_alloc_array(known->count + r->count + 1, sizeof *c->places);
    if (!c->places)
        return LN_NO_MEMORY;
    const ln_op *op;
    LN_LIST_FOREACH (op, r->ctx->ops)
        if (ln_choice_packs(op->op_arg->optype))
            add_places(c, known, r, op);
    if (c->count == 0)
        return LN_OK;
    memcpy(c->places + c->count, known->places, known->count * sizeof *c->places);
    c->count += known->count;
    qsort(c->places, c->count, sizeof *c->places, compare_places);
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        c->ends[m] =
            r->ctx->static_sizes[m] > known->ends[m] ? r->ctx->static_sizes[m] : known->ends[m];
    return LN_OK;
}

// Nothing is after the region that it shares.
static bool has_no_own(const ln_constants *constants, const ln_context *ctx)
{
    bool has_none = true;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        has_none = has_none && ctx->static_sizes[m] <= ln_constants_ends(constants)[m];
    return has_none;
}

ln_status ln_constants_extend(const ln_constants *constants, const ln_context *ctx,
                              ln_constants **out_constants)
{
    *out_constants = NULL;
    if (has_no_own(constants, ctx) || !is_lasting(ctx))
        return LN_OK;
    ln_constants *c = ln_alloc(sizeof *c);
    if (!c)
        return LN_NO_MEMORY;
    ln_recipes r;
    ln_status status = ln_recipes_init(&r, ctx);
    if (status == LN_OK)
        status = ln_recipes_find(&r, NULL);
    if (status == LN_OK)
        status = extend(c, constants, &r);
    ln_recipes_deinit(&r);
    if (status != LN_OK || c->count == 0) {
        ln_constants_destroy(c);
        return status;
    }
    *out_constants = c;
    return LN_OK;
}

void ln_constants_destroy(ln_constants *c)
{
    if (!c)
        return;
    ln_free(c->places);
    ln_free(c);
}

const size_t *ln_constants_ends(const ln_constants *c)
{
    return c->ends;
}

// ---- A later plan ----

typedef struct pinning {
    const ln_constants *constants;
    ln_plan_records *r;
    bool *is_taken;     // of each place
    bool *is_shared;    // of each value that has its own memory
    size_t *old_offset; // of each value
    size_t ends[LN_MEM_TYPE_SIZE];
} pinning;

static bool is_like(const ln_shared_constant *c, const ln_tensor_entry *entry)
{
    const tl_tensor *tensor = entry->tensor;
    return c->mtype == entry->mtype && c->dtype == tensor->dtype && c->ndim == tensor->ndim &&
           memcmp(c->dims, tensor->dims, (size_t)c->ndim * sizeof *c->dims) == 0;
}

static bool is_region(const ln_plan_records *r, size_t i)
{
    const ln_plan_value *v = &r->values[i];
    return r->roots[i] == i && v->is_static && !v->is_load && v->byte_count > 0;
}

// Value `i` is the shared constant `at`.
static void pin_at(pinning *p, size_t i, size_t at)
{
    ln_plan_value *v = &p->r->values[i];
    p->is_taken[at] = p->is_shared[i] = true;
    v->offset = p->constants->places[at].offset;
    if (v->offset + v->byte_count > p->ends[v->mtype])
        p->ends[v->mtype] = v->offset + v->byte_count;
}

static void pin_value(pinning *p, const ln_recipes *made_by, size_t i)
{
    const ln_tensor_entry *entry = p->r->entries[i];
    const ln_recipe *made = ln_recipes_of(made_by, entry->name);
    size_t at;
    if (made && ln_constants_find(p->constants, made, &at) && !p->is_taken[at] &&
        is_like(&p->constants->places[at], entry))
        pin_at(p, i, at);
}

// Those that nothing else makes first.
static void pin_values(pinning *p, const ln_recipes *made_by)
{
    size_t count = p->r->plan.value_count;
    for (size_t i = 0; i < count; i++)
        if (p->r->entries[i]->shared_index)
            pin_at(p, i, p->r->entries[i]->shared_index - 1);
    for (size_t i = 0; i < count; i++)
        if (is_region(p->r, i) && !p->r->entries[i]->shared_index)
            pin_value(p, made_by, i);
}

// The others come after the whole region of the first plan.
static ln_status place_value(pinning *p, size_t i)
{
    ln_plan_value *v = &p->r->values[i];
    size_t *end = &p->ends[v->mtype], begin = p->constants->ends[v->mtype];
    v->offset = *end > begin ? *end : begin;
    size_t align = ln_mem_type_align(v->mtype);
    if (!ln_size_add(v->offset, v->byte_count, end) || !ln_size_align(*end, align, end))
        return LN_FAIL(LN_LIMIT, "the static values up to '%.200s' overflow", v->name);
    return LN_OK;
}

static ln_status place_regions(pinning *p, const ln_recipes *made_by)
{
    size_t count = p->r->plan.value_count;
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        p->ends[m] = ln_mem_type_align((ln_mem_type)m);
    pin_values(p, made_by);
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        (void)ln_size_align(p->ends[m], ln_mem_type_align((ln_mem_type)m),
                            &p->ends[m]); // inside a region that is there
    for (size_t i = 0; i < count; i++)
        if (is_region(p->r, i) && !p->is_shared[i])
            LN_TRY(place_value(p, i));
    return LN_OK;
}

// Views follow, and the workspace begins where the static values end now.
static ln_status place_rest(pinning *p)
{
    ln_plan_records *r = p->r;
    for (size_t i = 0; i < r->plan.value_count; i++) {
        ln_plan_value *v = &r->values[i];
        const ln_plan_totals *t = &r->plan.totals[v->mtype];
        if (v->is_static && !v->is_load && !is_region(r, i))
            v->offset = v->offset - p->old_offset[r->roots[i]] + r->values[r->roots[i]].offset;
        else if (!v->is_static)
            v->offset = v->offset - t->static_byte_count + p->ends[v->mtype];
    }
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        ln_plan_totals *t = &r->plan.totals[m];
        if (t->static_byte_count == 0)
            continue;
        t->static_byte_count = p->ends[m];
        if (!ln_size_add(t->static_byte_count, t->workspace_byte_count, &t->peak_byte_count))
            return LN_FAIL(LN_LIMIT, "the plan for another shape overflows");
    }
    return LN_OK;
}

static ln_status pin(pinning *p, const ln_recipes *made_by)
{
    size_t count = p->r->plan.value_count;
    p->is_taken = ln_alloc_array(p->constants->count + 1, sizeof *p->is_taken);
    p->is_shared = ln_alloc_array(count + 1, sizeof *p->is_shared);
    p->old_offset = ln_alloc_array(count + 1, sizeof *p->old_offset);
    if (!p->is_taken || !p->is_shared || !p->old_offset)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        p->old_offset[i] = p->r->values[i].offset;
    LN_TRY(place_regions(p, made_by));
    LN_TRY(place_rest(p));
    for (size_t i = 0; i < count; i++)
        p->r->entries[i]->is_shared = p->is_shared[p->r->roots[i]];
    return LN_OK;
}

ln_status ln_constants_pin(const ln_constants *constants, const ln_context *ctx,
                           ln_plan_records *records)
{
    ln_recipes made_by;
    ln_status status = ln_recipes_init(&made_by, ctx);
    if (status == LN_OK && !has_graphs(ctx))
        status = ln_recipes_find(&made_by, NULL);
    pinning p = {.constants = constants, .r = records};
    if (status == LN_OK)
        status = pin(&p, &made_by);
    ln_free(p.is_taken);
    ln_free(p.is_shared);
    ln_free(p.old_offset);
    ln_recipes_deinit(&made_by);
    return status;
}

// ---- What loading still does ----

// What runs load makes for others only, and what is there, need not be made.
static bool makes_needed(const ln_context *ctx, const ln_op *op, const ln_hash *wanted)
{
    if (!op->op_arg->tensors_out)
        return true;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
        if (!entry || ln_hash_find(wanted, out->name) || (!entry->is_shared && !entry->is_load))
            return true;
    }
    return false;
}

static ln_status find_needed(const ln_context *ctx, const ln_op **ops, size_t count,
                             ln_hash *wanted, bool *needed)
{
    for (size_t k = count; k-- > 0;) {
        const ln_op *op = ops[k];
        needed[k] = makes_needed(ctx, op, wanted);
        if (!needed[k]) // a view too hands on what it is in
            continue;
        const ln_tensor_list_entry *in;
        LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, in->name);
            if (entry && !entry->is_shared && ln_hash_insert(wanted, entry->name, wanted) < 0)
                return ln_error_status();
        }
    }
    return LN_OK;
}

ln_status ln_constants_find_needed(const ln_context *ctx, bool **out_needed)
{
    size_t count = (size_t)ln_list_length(ctx->ops), k = 0;
    ln_hash *wanted = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    const ln_op **ops = ln_alloc_array(count + 1, sizeof *ops);
    bool *needed = ln_alloc_array(count + 1, sizeof *needed);
    ln_status status = wanted && ops && needed ? LN_OK : LN_NO_MEMORY;
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next)
        ops[k++] = l->data;
    if (status == LN_OK)
        status = find_needed(ctx, ops, count, wanted, needed);
    ln_hash_free(wanted);
    ln_free(ops);
    if (status == LN_OK)
        *out_needed = needed;
    else
        ln_free(needed);
    return status;
}
