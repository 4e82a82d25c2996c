// SPDX-License-Identifier: Apache-2.0
// The operators of a joined whole: writers of its versions, copies, and readers of windows.

#include "pass/join.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/op_life.h"
#include "ir/op_param.h"

// ---- Versions ----

// Pieces in the order in which they are there; a copy stands after what it copies.
static bool is_before(const ln_join_piece *a, const ln_join_piece *b)
{
    if (a->step != b->step)
        return a->step < b->step;
    return a->maker && !b->maker;
}

static void sort_pieces(ln_join *j)
{
    for (size_t i = 1; i < j->piece_count; i++) {
        ln_join_piece moved = j->pieces[i];
        size_t k = i;
        for (; k > 0 && is_before(&moved, &j->pieces[k - 1]); k--)
            j->pieces[k] = j->pieces[k - 1];
        j->pieces[k] = moved;
    }
}

static ln_status name_versions(ln_join *j)
{
    const char *whole = ln_join_first_out(j->concat);
    unsigned number = 0;
    for (size_t i = 0; i < j->piece_count; i++) {
        char name[LN_MAX_NAME_LEN];
        if (i + 1 == j->piece_count)
            snprintf(name, sizeof name, "%s", whole);
        else
            do
                snprintf(name, sizeof name, "%.300s_v%u", whole, ++number);
            while (ln_join_find(j, name));
        j->versions[i] = ln_strdup(name);
        if (!j->versions[i])
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

// The newest version when the operator at `position` runs; NULL if there is none.
static const char *version_at(const ln_join *j, size_t position)
{
    const char *newest = NULL;
    for (size_t i = 0; i < j->piece_count; i++) {
        if (j->pieces[i].step < position)
            newest = j->versions[i];
    }
    return newest;
}

// Where in the whole a tensor is that goes: a piece, an inner concat, or a slice of one. False for
// others.
static bool find_place(const ln_join *j, const char *tname, int *out_at)
{
    ln_join_window from = ln_join_window_of(j, tname);
    const ln_join_inner *concat = ln_join_find_inner(j, ln_join_maker_of(j, from.tname));
    if (concat) {
        *out_at = concat->at + from.first;
        return true;
    }
    for (size_t i = 0; i < j->piece_count; i++) {
        const ln_join_piece *p = &j->pieces[i];
        if (!p->maker || !ln_streq(p->from.tname, from.tname))
            continue;
        *out_at = p->at + from.first - p->from.first;
        return true;
    }
    return false;
}

// ---- New operators ----

static ln_status set_int(ln_op *op, const char *name, int value)
{
    ln_list **params = &op->op_arg->params;
    ln_param_entry *param = ln_param_list_find(*params, name);
    if (param)
        return ln_param_set_satu_number(param, value);
    *params = ln_param_list_append_int(*params, name, value);
    return ln_param_list_find(*params, name) ? LN_OK : LN_NO_MEMORY;
}

static ln_status rename_entry(ln_tensor_list_entry *entry, const char *name)
{
    char *copy = ln_strdup(name);
    if (!copy)
        return LN_NO_MEMORY;
    ln_tensor_list_entry_take_name(entry, copy);
    return LN_OK;
}

// The operator reads windows of versions instead of what goes.
static ln_status redirect(const ln_join *j, ln_op *op, size_t position)
{
    ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        int at;
        const char *param = ln_join_window_param(op, in->arg_name);
        if (!param || !find_place(j, in->name, &at))
            continue;
        int count = ln_join_channels_of(j, in->name);
        if (at > 0)
            LN_TRY(set_int(op, param, ln_op_int_param(op, param, 0) + at));
        if (ln_streq(param, "src_first") && ln_join_has_param(op, "src_channels") &&
            ln_op_int_param(op, "src_channels", 0) == 0)
            LN_TRY(set_int(op, "src_channels", count));
        const char *version = version_at(j, position);
        LN_TRY(version ? rename_entry(in, version) : LN_FAIL(LN_INTERNAL, "no version yet"));
    }
    return LN_OK;
}

// Takes `op`. New operators stay in the order of those that they take the place of, so that who
// reads a version does so before the next one is written.
static ln_status add_new(ln_join *j, ln_op *op, size_t position, ln_status status)
{
    if (status == LN_OK && j->new_count == sizeof j->new_ops / sizeof j->new_ops[0])
        status = LN_FAIL(LN_INTERNAL, "more operators than pieces and readers");
    if (status != LN_OK) {
        ln_op_free_lists_too(op);
        return status;
    }
    size_t k = j->new_count++;
    for (; k > 0 && j->new_positions[k - 1] > position; k--) {
        j->new_ops[k] = j->new_ops[k - 1];
        j->new_positions[k] = j->new_positions[k - 1];
    }
    j->new_ops[k] = op;
    j->new_positions[k] = position;
    return LN_OK;
}

static ln_status add_reader(ln_join *j, const ln_op *reader)
{
    ln_op *op = ln_op_copy(reader);
    if (!op)
        return LN_NO_MEMORY;
    size_t position = ln_join_position_of(j, reader);
    return add_new(j, op, position, redirect(j, op, position));
}

static ln_status make_version(ln_join *j, ln_op *op, size_t index)
{
    const ln_join_piece *p = &j->pieces[index];
    int total = ln_join_channels_of(j, ln_join_first_out(j->concat));
    LN_TRY(rename_entry(op->op_arg->tensors_out->data, j->versions[index]));
    if (index > 0)
        LN_TRY(ln_tensor_list_push(&op->op_arg->tensors_in, "into", j->versions[index - 1]));
    else
        LN_TRY(set_int(op, "dst_channels", total));
    return p->at > 0 ? set_int(op, "dst_first", p->at) : LN_OK;
}

static bool is_new(const ln_join *j, const char *op_name)
{
    for (size_t i = 0; i < j->new_count; i++)
        if (ln_streq(j->new_ops[i]->op_arg->name, op_name))
            return true;
    return false;
}

static ln_op *create_copier(const ln_join *j, const ln_join_piece *p)
{
    const ln_op *proto = ln_op_find("put_channels");
    ln_list *ins = ln_tensor_list_append(NULL, "src", p->from.tname);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", ln_join_first_out(j->concat));
    ln_op *op = NULL;
    if (proto && ins && outs) {
        char name[LN_MAX_NAME_LEN];
        unsigned number = 1;
        do
            snprintf(name, sizeof name, "%.300s_copy%u", j->concat->op_arg->name, number++);
        while (ln_op_table_find(j->ctx->op_table, name) || is_new(j, name));
        op = ln_op_create_from_proto(proto, name, ins, outs, NULL, j->ctx->tensor_table);
    }
    if (!op) {
        ln_tensor_list_free(ins);
        ln_tensor_list_free(outs);
    }
    return op;
}

static ln_status add_copier(ln_join *j, size_t index)
{
    const ln_join_window *from = &j->pieces[index].from;
    ln_op *op = create_copier(j, &j->pieces[index]);
    if (!op)
        return LN_NO_MEMORY;
    ln_status status = make_version(j, op, index);
    if (status == LN_OK && from->first > 0)
        status = set_int(op, "src_first", from->first);
    if (status == LN_OK && from->count != ln_join_channels_of(j, from->tname))
        status = set_int(op, "src_channels", from->count);
    return add_new(j, op, j->pieces[index].step, status);
}

static ln_status add_writer(ln_join *j, size_t index)
{
    const ln_join_piece *p = &j->pieces[index];
    if (!p->maker)
        return add_copier(j, index);
    ln_op *op = ln_op_copy(p->maker);
    if (!op)
        return LN_NO_MEMORY;
    ln_status status = redirect(j, op, p->step);
    if (status == LN_OK)
        status = make_version(j, op, index);
    return add_new(j, op, p->step, status);
}

// ---- Readers ----

// Notes those who read `tname`, and slices of it, which go.
static void note_readers(ln_join *j, const char *tname, const ln_op **readers, size_t *count)
{
    ln_dfg_readers found = ln_dfg_find_readers(j->ctx->dfg, tname);
    const ln_op *reader;
    while ((reader = ln_dfg_next_reader(&found)) != NULL) {
        if (ln_join_is_old(j, reader))
            continue;
        ln_join_add_old(j, reader);
        if (ln_join_is_along_channels(j, reader, "slice"))
            note_readers(j, ln_join_first_out(reader), readers, count);
        else if (*count == 2 * LN_JOIN_MAX_PIECES)
            j->is_too_large = true;
        else
            readers[(*count)++] = reader;
    }
}

static bool is_writer(const ln_join *j, const ln_op *op)
{
    for (size_t i = 0; i < j->piece_count; i++)
        if (j->pieces[i].maker == op)
            return true;
    return false;
}

// A slice that only this whole was made of goes with it; makers and readers are made over, and may
// go on reading it.
static void add_slices(ln_join *j, const ln_op *concat)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, concat->op_arg->tensors_in) {
        const ln_op *maker = ln_join_maker_of(j, in->name);
        if (!maker || !ln_join_is_along_channels(j, maker, "slice"))
            continue;
        ln_dfg_readers readers = ln_dfg_find_readers(j->ctx->dfg, in->name);
        bool is_read = false;
        const ln_op *reader;
        while (!is_read && (reader = ln_dfg_next_reader(&readers)) != NULL)
            is_read = reader != j->concat && !ln_join_find_inner(j, reader);
        if (!is_read)
            ln_join_add_old(j, maker);
    }
}

// All who read what goes, but for the writers, which are made over anyway.
static void find_readers(ln_join *j, const ln_op **readers, size_t *count)
{
    size_t concat_count = j->old_count;
    for (size_t i = 0; i < j->piece_count; i++)
        if (j->pieces[i].maker)
            ln_join_add_old(j, j->pieces[i].maker);
    for (size_t i = 1; i < concat_count; i++)
        note_readers(j, ln_join_first_out(j->old_ops[i]), readers, count);
    for (size_t i = 0; i < j->piece_count; i++)
        if (j->pieces[i].maker)
            note_readers(j, j->pieces[i].from.tname, readers, count);
    for (size_t i = 0; i < concat_count; i++)
        add_slices(j, j->old_ops[i]);
}

// ---- Joining ----

ln_status ln_join_build(ln_join *j)
{
    const ln_op *readers[2 * LN_JOIN_MAX_PIECES];
    size_t reader_count = 0;
    sort_pieces(j);
    LN_TRY(name_versions(j));
    find_readers(j, readers, &reader_count);
    if (j->is_too_large)
        return LN_OK;
    for (size_t i = 0; i < j->piece_count; i++)
        LN_TRY(add_writer(j, i));
    for (size_t i = 0; i < reader_count; i++)
        if (!is_writer(j, readers[i]))
            LN_TRY(add_reader(j, readers[i]));
    return LN_OK;
}

ln_status ln_join_build_window(ln_join *j)
{
    const ln_op *readers[2 * LN_JOIN_MAX_PIECES];
    size_t reader_count = 0;
    const char *source = ln_join_name_in(j->concat, "src");
    j->pieces[0] =
        (ln_join_piece){.from = {source, 0, ln_join_channels_of(j, source)}, .maker = j->concat};
    j->piece_count = 1;
    j->versions[0] = ln_strdup(source);
    if (!j->versions[0])
        return LN_NO_MEMORY;
    ln_join_add_old(j, j->concat);
    note_readers(j, ln_join_first_out(j->concat), readers, &reader_count);
    for (size_t i = 0; i < reader_count && !j->is_too_large; i++)
        LN_TRY(add_reader(j, readers[i]));
    return LN_OK;
}
