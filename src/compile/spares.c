// SPDX-License-Identifier: Apache-2.0
// Which operators an instance is spared follows from the template and from the shared constants.

#include "compile/spares.h"

#include <lightnet/allocator.h>
#include <lightnet/arch.h>

#include "arch/registry.h"
#include "base/name_hash.h"
#include "compile/load_part.h"
#include "ir/attached.h"
#include "ir/context.h"
#include "ir/op_life.h"

typedef enum spared_as { WHOLE, SHARED, LEFT_OUT } spared_as;

typedef struct spare {
    const ln_op *op;
    const ln_tensor_entry *result; // what may be a shared constant; NULL: nothing
    bool is_load, has_readers;     // runs compute nothing of it; somebody reads it
    size_t first_maker;            // of its inputs, in `makers`
    size_t input_count;
    // For the parameters that the template has.
    spared_as as;
    size_t shared; // of SHARED: index of the constant
    bool is_read, is_read_in_runs;
} spare;

struct ln_spares {
    const ln_context *rewritten;
    const ln_constants *constants; // of the last search
    const ln_op *create;           // the type of what stays; NULL: nothing is spared
    spare *rows;                   // of each operator
    bool *varies;                  // whose recipes depend on the shape
    size_t *makers;                // of each input the index of the operator that makes it
    size_t count;
    bool *is_taken; // of each constant
    ln_recipes recipes;
    bool has_recipes;
};

void ln_spares_destroy(ln_spares *s)
{
    if (!s)
        return;
    ln_recipes_deinit(&s->recipes);
    ln_free(s->rows);
    ln_free(s->varies);
    ln_free(s->makers);
    ln_free(s->is_taken);
    ln_free(s);
}

// ---- Of a template ----

// Devices and groups have constants of their own.
static bool is_of_plain_arch(const ln_op *op)
{
    const ln_arch *arch = ln_arch_find(op->op_arg->arch);
    return arch && !ln_arch_runs_groups(arch) && !arch->prepare &&
           !(arch->sd_funcs && arch->sd_funcs[0]);
}

// What an operator computes alone while loading, in memory of its own, and nothing knows before.
static const ln_tensor_entry *find_result(const ln_context *ctx, const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    const ln_tensor_list_entry *out = arg->tensors_out ? arg->tensors_out->data : NULL;
    const ln_tensor_entry *entry =
        out && !arg->tensors_out->next ? ln_tensor_table_find(ctx->tensor_table, out->name) : NULL;
    bool is_computed = arg->tensors_in && entry && !entry->owner && !entry->known &&
                       !entry->attached && !ln_attached_find(ctx->attached, entry->name);
    return is_computed && entry->mtype == LN_MEM_CPU ? entry : NULL;
}

// The operators that make what `op` reads, by `index_of`, which counts from 1.
static void note_makers(ln_spares *s, const ln_hash *index_of, spare *row, size_t *end)
{
    bool *varies = &s->varies[row - s->rows];
    row->first_maker = *end;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, row->op->op_arg->tensors_in) {
        size_t maker = (size_t)ln_hash_find(index_of, in->name) - 1;
        s->makers[(*end)++] = maker;
        s->rows[maker].has_readers = true;
        *varies = *varies || s->varies[maker];
    }
    row->input_count = *end - row->first_maker;
}

static ln_status note_op(ln_spares *s, ln_hash *index_of, const ln_op *op, size_t index,
                         size_t *end)
{
    spare *row = &s->rows[index];
    *row = (spare){.op = op, .is_load = ln_op_is_load(s->rewritten, op)};
    row->result = row->is_load ? find_result(s->rewritten, op) : NULL;
    note_makers(s, index_of, row, end);
    if (!is_of_plain_arch(op))
        s->create = NULL;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out)
        if (ln_hash_insert(index_of, out->name, (void *)(index + 1)) < 0)
            return ln_error_status();
    return LN_OK;
}

static ln_status note_ops(ln_spares *s, ln_hash *index_of)
{
    size_t index = 0, end = 0;
    for (const ln_list *l = s->rewritten->ops; l; l = l->next)
        LN_TRY(note_op(s, index_of, l->data, index++, &end));
    return LN_OK;
}

static size_t count_inputs(const ln_context *ctx)
{
    size_t count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += (size_t)ln_tensor_list_length(op->op_arg->tensors_in);
    return count;
}

static ln_status fill(ln_spares *s, const bool *varies)
{
    s->rows = ln_alloc_array(s->count + 1, sizeof *s->rows);
    s->varies = ln_alloc_array(s->count + 1, sizeof *s->varies);
    s->makers = ln_alloc_array(count_inputs(s->rewritten) + 1, sizeof *s->makers);
    LN_TRY(ln_recipes_init(&s->recipes, s->rewritten));
    if (!s->rows || !s->varies || !s->makers)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < s->count; i++)
        s->varies[i] = varies[i];
    ln_hash *index_of = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = index_of ? note_ops(s, index_of) : LN_NO_MEMORY;
    ln_hash_free(index_of);
    return status;
}

ln_status ln_spares_create(const ln_context *rewritten, const bool *varies, ln_spares **out_spares)
{
    *out_spares = NULL;
    ln_spares *s = ln_alloc(sizeof *s);
    if (!s)
        return LN_NO_MEMORY;
    *s = (ln_spares){.rewritten = rewritten,
                     .create = ln_op_find_reference("create"),
                     .count = (size_t)ln_list_length(rewritten->ops)};
    ln_status status = fill(s, varies);
    if (status == LN_OK)
        *out_spares = s;
    else
        ln_spares_destroy(s);
    return status;
}

// ---- For a shape ----

static ln_status renew_recipes(ln_spares *s)
{
    LN_TRY(ln_recipes_find(&s->recipes, s->has_recipes ? s->varies : NULL));
    s->has_recipes = true;
    return LN_OK;
}

// Each constant is one tensor's.
static bool find_shared(ln_spares *s, spare *row)
{
    const ln_recipe *made = row->result ? ln_recipes_of(&s->recipes, row->result->name) : NULL;
    if (!made || !ln_constants_find(s->constants, made, &row->shared) || s->is_taken[row->shared] ||
        ln_constants_at(s->constants, row->shared)->mtype != LN_MEM_CPU)
        return false;
    s->is_taken[row->shared] = true;
    return true;
}

// Memory of what only loading reads is not planned like that of runs.
static spared_as decide(ln_spares *s, spare *row)
{
    if (!row->is_load || !row->has_readers)
        return WHOLE;
    if (!row->is_read)
        return LEFT_OUT;
    return row->is_read_in_runs && find_shared(s, row) ? SHARED : WHOLE;
}

static void note_reads(ln_spares *s, const spare *row)
{
    for (size_t i = 0; i < row->input_count; i++) {
        spare *maker = &s->rows[s->makers[row->first_maker + i]];
        maker->is_read = true;
        maker->is_read_in_runs = maker->is_read_in_runs || !row->is_load;
    }
}

ln_status ln_spares_find(ln_spares *s, const ln_constants *constants)
{
    s->constants = constants;
    ln_free(s->is_taken);
    s->is_taken = ln_alloc_array(ln_constants_count(constants) + 1, sizeof *s->is_taken);
    if (!s->is_taken)
        return LN_NO_MEMORY;
    LN_TRY(renew_recipes(s));
    for (size_t i = 0; i < s->count; i++)
        s->rows[i].is_read = s->rows[i].is_read_in_runs = false;
    for (size_t i = s->count; i-- > 0;) {
        spare *row = &s->rows[i];
        row->as = s->create ? decide(s, row) : WHOLE;
        if (row->as == WHOLE)
            note_reads(s, row);
    }
    return LN_OK;
}

// ---- In an instance ----

static ln_status make_create(const ln_spares *s, const spare *row, ln_op **out_copy)
{
    const ln_shared_constant *c = ln_constants_at(s->constants, row->shared);
    ln_list *params = NULL, *outs = NULL;
    params = ln_param_list_append_string(params, "dtype", tl_dtype_name(c->dtype));
    params = ln_param_list_append_array_int(params, "dims", c->ndim, c->dims);
    params = ln_param_list_append_bool(params, "from_file", 1);
    ln_status status = ln_list_length(params) == 3 ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = ln_tensor_list_push(&outs, "dst", row->result->name);
    if (status == LN_OK)
        *out_copy = ln_op_create_from_proto(s->create, row->op->op_arg->name, NULL, outs, params,
                                            s->rewritten->tensor_table);
    if (*out_copy)
        return LN_OK;
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return status == LN_OK ? ln_error_status() : status;
}

ln_status ln_spares_copy_op(const ln_spares *s, const ln_op *op, size_t index, ln_op **out_copy)
{
    const spare *row = &s->rows[index];
    *out_copy = NULL;
    if (row->as == LEFT_OUT)
        return LN_OK;
    if (row->as == SHARED)
        return make_create(s, row, out_copy);
    *out_copy = ln_op_copy(op);
    return *out_copy ? LN_OK : ln_error_status();
}

ln_status ln_spares_mark(const ln_spares *s, ln_context *instance)
{
    for (size_t i = 0; i < s->count; i++) {
        const spare *row = &s->rows[i];
        if (row->as != SHARED)
            continue;
        ln_tensor_entry *entry = ln_tensor_table_find(instance->tensor_table, row->result->name);
        if (!entry)
            return LN_FAIL(LN_INTERNAL, "tensor '%s' is lost in an instance", row->result->name);
        entry->shared_index = 1 + row->shared;
    }
    return LN_OK;
}

bool ln_context_is_spared(const ln_context *instance)
{
    size_t cursor = 0;
    void *entry;
    while (ln_hash_next(instance->tensor_table, &cursor, NULL, &entry))
        if (((const ln_tensor_entry *)entry)->shared_index)
            return true;
    return false;
}
