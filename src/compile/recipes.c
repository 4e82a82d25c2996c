// SPDX-License-Identifier: Apache-2.0
// How a constant is made is a number of 128 bits, SipHash with two keys, of its operator's type and
// parameters and of the numbers of what that reads.

#include "compile/recipes.h"

#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "base/siphash.h"
#include "compile/constants.h"
#include "ir/context.h"
#include "ir/op_life.h"

void ln_recipes_deinit(ln_recipes *r)
{
    ln_hash_free(r->by_name);
    ln_free(r->all);
    ln_text_deinit(&r->text);
}

ln_status ln_recipes_init(ln_recipes *r, const ln_context *ctx)
{
    *r = (ln_recipes){
        .ctx = ctx,
        .by_name = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL),
        .all = ln_alloc_array((size_t)ln_hash_size(ctx->tensor_table) + 1, sizeof *r->all)};
    return r->by_name && r->all ? LN_OK : LN_NO_MEMORY;
}

// With its end, so that no two texts run together.
static void put_string(ln_text *text, const char *string)
{
    ln_text_append(text, string ? string : "", string ? strlen(string) + 1 : 1);
}

static void put_bytes(ln_text *text, const void *bytes, size_t count, size_t size)
{
    if (bytes && count > 0)
        ln_text_append(text, bytes, count * size);
}

static void put_param(ln_text *text, const ln_param_entry *param)
{
    size_t len = param->array_len > 0 ? (size_t)param->array_len : 0;
    put_string(text, param->arg_name);
    put_bytes(text, &param->type, 1, sizeof param->type);
    put_bytes(text, &len, 1, sizeof len);
    put_bytes(text, &param->value_double, 1, sizeof param->value_double);
    put_bytes(text, &param->value_bool, 1, sizeof param->value_bool);
    put_string(text, param->value_string);
    put_bytes(text, param->value_array_double, len, sizeof *param->value_array_double);
    put_bytes(text, param->value_array_bool, len, sizeof *param->value_array_bool);
    for (size_t i = 0; i < len && param->value_array_string; i++)
        put_string(text, param->value_array_string[i]);
}

// False if an input is made in a way that is not known.
static bool put_inputs(ln_recipes *r, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        const ln_recipe *made = ln_recipes_of(r, in->name);
        if (!made)
            return false;
        put_string(&r->text, in->arg_name);
        put_bytes(&r->text, made, 1, sizeof *made);
    }
    put_string(&r->text, "");
    return true;
}

static bool put_op(ln_recipes *r, const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    r->text.len = 0;
    if (!put_inputs(r, op)) // most are no constants
        return false;
    put_string(&r->text, arg->optype);
    const ln_param_entry *param;
    LN_LIST_FOREACH (param, arg->params)
        put_param(&r->text, param);
    return true;
}

static ln_recipe recipe_of_text(const ln_text *text)
{
    static const uint64_t keys[2][2] = {{UINT64_C(0x636f6e7374616e74), UINT64_C(0x6d616465)},
                                        {UINT64_C(0x726563697065), UINT64_C(0x736861726564)}};
    ln_recipe made;
    for (int i = 0; i < 2; i++)
        made.words[i] = ln_siphash(keys[i], text->bytes, text->len, 1, 3);
    return made;
}

static ln_status note(ln_recipes *r, const char *tname, ln_recipe made)
{
    ln_recipe *row = ln_hash_find(r->by_name, tname);
    bool is_new = !row;
    if (is_new)
        row = &r->all[r->count++];
    *row = made;
    return is_new && ln_hash_insert(r->by_name, tname, row) < 0 ? ln_error_status() : LN_OK;
}

// What has no inputs takes its elements by the name of its tensor, from a file or at random.
static ln_status note_outputs(ln_recipes *r, const ln_op *op)
{
    size_t len = r->text.len;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        const ln_tensor_entry *entry = ln_tensor_table_find(r->ctx->tensor_table, out->name);
        if (!entry || entry->is_open || !entry->isstatic || entry->is_input)
            continue;
        r->text.len = len;
        put_string(&r->text, out->arg_name);
        put_string(&r->text, op->op_arg->tensors_in ? "" : out->name);
        LN_TRY(r->text.status);
        LN_TRY(note(r, entry->name, recipe_of_text(&r->text)));
    }
    return LN_OK;
}

// Of a constant that another plan has made.
static const ln_recipe *find_shared(const ln_recipes *r, const ln_op *op)
{
    const ln_tensor_list_entry *out =
        op->op_arg->tensors_out ? op->op_arg->tensors_out->data : NULL;
    const ln_tensor_entry *entry =
        out ? ln_tensor_table_find(r->ctx->tensor_table, out->name) : NULL;
    return entry && entry->shared_index
               ? &ln_constants_at(r->ctx->constants, entry->shared_index - 1)->made
               : NULL;
}

static ln_status find_of_op(ln_recipes *r, const ln_op *op)
{
    const ln_op_arg *arg = op->op_arg;
    const ln_recipe *shared = find_shared(r, op);
    if (shared)
        return note(r, ((const ln_tensor_list_entry *)arg->tensors_out->data)->name, *shared);
    if (arg->info && !ln_op_is_random(arg) && put_op(r, op))
        LN_TRY(note_outputs(r, op));
    return r->text.status;
}

// Operators that have a description promise that their constants follow from what they are given.
ln_status ln_recipes_find(ln_recipes *r, const bool *varies)
{
    size_t index = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, r->ctx->ops)
        if (!varies || varies[index++])
            LN_TRY(find_of_op(r, op));
    return LN_OK;
}

const ln_recipe *ln_recipes_of(const ln_recipes *r, const char *tname)
{
    return ln_hash_find(r->by_name, tname);
}
