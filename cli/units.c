// SPDX-License-Identifier: Apache-2.0
// The reference, the model as read or a compilation that keeps its tensors, is run operator by
// operator; what is a unit off takes the bytes of the other run, before anything reads it.

#include "units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op.h>

#include "cli.h"
#include "model_io.h"

// Operators of floats between bytes and the bytes that are made of them; beyond, nothing is
// allowed.
#define MAX_STEPS 64

// ---- Roundings ----

static char by_rule, by_kernel;

void rounding_list_note(rounding_list *list, const ln_firing *firing)
{
    const int is_kernel = firing->is_lowering && !strstr(firing->rule, "_ref");
    const int is_rule = !firing->is_lowering && firing->tag && strcmp(firing->tag, "exact") != 0;
    if (firing->is_skipped || firing->is_refused || firing->is_failed || (!is_kernel && !is_rule))
        return;
    if (!list->ops)
        list->ops = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    if (list->ops && is_kernel && ln_hash_find(list->ops, firing->op))
        return;
    char *name = list->ops ? ln_strdup(firing->op) : NULL;
    if (name && ln_hash_insert(list->ops, name, is_rule ? &by_rule : &by_kernel) >= 0)
        return;
    ln_free(name);
    list->is_short = 1;
}

void rounding_list_release(rounding_list *list)
{
    ln_hash_free(list->ops);
    *list = (rounding_list){0};
}

// ---- Bytes ----

void unit_list_release(unit_list *list)
{
    free(list->items);
    *list = (unit_list){0};
}

const deviation *unit_list_find(const unit_list *list, const char *tensor)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].tensor, tensor) == 0)
            return &list->items[i];
    return NULL;
}

typedef struct follower {
    ln_context *reference, *got;
    const rounding_list *rounded;
    unit_list *list;
} follower;

static int is_byte(const ln_tensor_entry *entry)
{
    return entry->tensor->dtype == TL_INT8 || entry->tensor->dtype == TL_UINT8;
}

static const ln_op *maker_of(const follower *f, const ln_tensor_entry *entry)
{
    return entry->creater ? ln_op_table_find(f->reference->op_table, entry->creater) : NULL;
}

// What moves bytes and changes none, of ONNX and of the core.
static int is_move(const char *optype)
{
    static const char *const moves[] = {
        "reshape",  "transpose", "slice",     "forward", "Reshape", "Transpose", "Slice",
        "Identity", "Squeeze",   "Unsqueeze", "Flatten", "Split",   "tfl_Slice", "split"};
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        const size_t len = strlen(moves[i]);
        if (strncmp(optype, moves[i], len) == 0 && (!optype[len] || optype[len] == '_'))
            return 1;
    }
    return 0;
}

// Whether the operator, or one of floats that it reads the results of, may round otherwise. Floats
// come from bytes by `dequantize`, which rounds nothing that the next one would not; kernels of
// bytes give the bytes of `ref`.
static int rounds(const follower *f, const ln_op *op, int *left)
{
    const char *how = ln_hash_find(f->rounded->ops, op->op_arg->name);
    const ln_tensor_list_entry *out =
        op->op_arg->tensors_out ? op->op_arg->tensors_out->data : NULL;
    const ln_tensor_entry *made =
        out ? ln_tensor_table_find(f->reference->tensor_table, out->name) : NULL;
    if (!made || --*left < 0)
        return 0;
    if (how == &by_rule ||
        (how == &by_kernel && !is_byte(made) && !is_quantizing(op->op_arg->optype)))
        return 1;
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        const ln_tensor_entry *read = ln_tensor_table_find(f->reference->tensor_table, in->name);
        // Bytes that the other run shows have been followed.
        const int ends = !read || read->isstatic ||
                         (is_byte(read) && ln_tensor_table_find(f->got->tensor_table, in->name));
        const ln_op *maker = ends ? NULL : maker_of(f, read);
        if (maker && rounds(f, maker, left))
            return 1;
    }
    return 0;
}

// Whether it makes bytes of real numbers, or moves what one has made that the other run does not
// show.
static int is_quantized_by(const follower *f, const ln_op *op)
{
    for (int i = 0; op && i < MAX_STEPS; i++) {
        if (is_quantizing(op->op_arg->optype))
            return 1;
        const ln_tensor_list_entry *in =
            op->op_arg->tensors_in ? op->op_arg->tensors_in->data : NULL;
        const ln_tensor_entry *read =
            in ? ln_tensor_table_find(f->reference->tensor_table, in->name) : NULL;
        if (!read || !is_move(op->op_arg->optype) ||
            ln_tensor_table_find(f->got->tensor_table, in->name))
            return 0;
        op = maker_of(f, read);
    }
    return 0;
}

static void add(unit_list *list, const deviation *d)
{
    deviation *items = realloc(list->items, (list->count + 1) * sizeof *items);
    list->is_short = list->is_short || !items;
    if (!items)
        return;
    list->items = items;
    items[list->count++] = *d;
}

static void follow_tensor(follower *f, const ln_op *op, const char *tname)
{
    const ln_tensor_entry *mine = ln_tensor_table_find(f->reference->tensor_table, tname);
    const ln_tensor_entry *got = ln_tensor_table_find(f->got->tensor_table, tname);
    const tolerance same = {.is_exact = 1}, unit = {.atol = 1};
    int left = MAX_STEPS;
    deviation d;
    if (!mine || !got || mine->is_open || got->is_open || got->mtype != LN_MEM_CPU ||
        !is_byte(mine) || !compare_tensors(got->tensor, mine->tensor, &same, &d) ||
        compare_tensors(got->tensor, mine->tensor, &unit, &d) || !is_quantized_by(f, op) ||
        !rounds(f, op, &left))
        return;
    snprintf(d.tensor, sizeof d.tensor, "%s", tname);
    snprintf(d.op, sizeof d.op, "%s", op->op_arg->name);
    snprintf(d.optype, sizeof d.optype, "%s", op->op_arg->optype);
    add(f->list, &d);
    memcpy(mine->tensor->data, got->tensor->data, tl_tensor_size(mine->tensor));
}

static void follow(void *user, const ln_op *op)
{
    follower *f = user;
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out)
        follow_tensor(f, op, out->name);
}

// The reference's numbers are moved to those of the other run; that is what it is run again for.
static ln_status run_along(follower *f)
{
    const ln_observer observer = {.after = follow, .user = f};
    LN_TRY(ln_context_set_observer(f->reference, &observer));
    LN_TRY(ln_context_run(f->reference));
    if (f->list->is_short || f->rounded->is_short)
        return LN_FAIL(LN_NO_MEMORY, "no memory for the list of bytes that are a unit off");
    return LN_OK;
}

ln_status units_follow(ln_context *reference, ln_context *got, const rounding_list *rounded,
                       unit_list *out_list)
{
    follower f = {.reference = reference, .got = got, .rounded = rounded, .list = out_list};
    *out_list = (unit_list){0};
    if (!rounded->ops)
        return LN_OK;
    ln_status status = run_along(&f);
    (void)ln_context_set_observer(reference, NULL);
    return status;
}

ln_status units_reference(const ln_context *model, const trial_data *data, ln_context *got,
                          const rounding_list *rounded, ln_context **out_loaded,
                          unit_list *out_list)
{
    ln_context *reference;
    *out_list = (unit_list){0};
    *out_loaded = NULL;
    if (!rounded->ops)
        return LN_OK;
    LN_TRY(trial_reference(model, data, &reference));
    ln_status status = units_follow(reference, got, rounded, out_list);
    if (status != LN_OK || out_list->count == 0) {
        close_model(reference);
        return status;
    }
    *out_loaded = reference;
    return LN_OK;
}
