// SPDX-License-Identifier: Apache-2.0
// What a concat of channels is made of, and which operators can write a part of it in its place.

#include "pass/join.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/op_param.h"
#include "op/types.h"

// Types of images that are joined.
#define JOINED (LN_TYPES_BYTE | LN_TYPE(TL_FLOAT))

// ---- The model ----

const ln_tensor_entry *ln_join_find(const ln_join *j, const char *tname)
{
    return ln_tensor_table_find(j->ctx->tensor_table, tname);
}

const ln_op *ln_join_maker_of(const ln_join *j, const char *tname)
{
    return ln_dfg_maker(j->ctx->dfg, tname);
}

size_t ln_join_position_of(const ln_join *j, const ln_op *op)
{
    return (size_t)(uintptr_t)ln_hash_find(j->positions, op->op_arg->name);
}

const char *ln_join_name_in(const ln_op *op, const char *arg_name)
{
    return ln_tensor_list_find_name(op->op_arg->tensors_in, arg_name);
}

const char *ln_join_first_out(const ln_op *op)
{
    return ((const ln_tensor_list_entry *)op->op_arg->tensors_out->data)->name;
}

bool ln_join_has_param(const ln_op *op, const char *name)
{
    const char **names = op->op_arg->param_arg_names;
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

static bool has_input(const ln_op *op, const char *name)
{
    const char **names = op->op_arg->in_arg_names;
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

bool ln_join_is_along_channels(const ln_join *j, const ln_op *op, const char *optype)
{
    const ln_tensor_entry *out = ln_join_find(j, ln_join_first_out(op));
    return ln_streq(op->op_arg->optype, optype) && out && !out->is_open && !out->known &&
           out->tensor->ndim == 4 && JOINED >> out->tensor->dtype & 1 && out->tensor->len > 0 &&
           ln_op_int_param(op, "axis", 0) == LN_JOIN_CHANNELS;
}

// ---- What operators can do ----

const char *ln_join_window_param(const ln_op *op, const char *arg_name)
{
    static const char *const windows[][2] = {{"src", "src_first"},
                                             {"addend", "addend_first"},
                                             {"src1", "src1_first"},
                                             {"src2", "src2_first"}};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
        if (ln_streq(arg_name, windows[i][0]) && ln_join_has_param(op, windows[i][1]))
            return windows[i][1];
    return NULL;
}

static bool reads_windows_of(const ln_op *op, const char *tname)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in)
        if (ln_streq(in->name, tname) && !ln_join_window_param(op, in->arg_name))
            return false;
    return true;
}

static bool can_write_into(const ln_op *op)
{
    return has_input(op, "into") && ln_join_has_param(op, "dst_first") &&
           ln_join_has_param(op, "dst_channels") && !ln_join_name_in(op, "into") &&
           ln_op_int_param(op, "dst_channels", 0) == 0;
}

bool ln_join_is_old(const ln_join *j, const ln_op *op)
{
    for (size_t i = 0; i < j->old_count; i++)
        if (j->old_ops[i] == op)
            return true;
    return false;
}

void ln_join_add_old(ln_join *j, const ln_op *op)
{
    if (ln_join_is_old(j, op))
        return;
    if (j->old_count == sizeof j->old_ops / sizeof j->old_ops[0])
        j->is_too_large = true;
    else
        j->old_ops[j->old_count++] = op;
}

bool ln_join_are_readers_able(const ln_join *j, const char *tname, int depth)
{
    ln_dfg_readers readers = ln_dfg_find_readers(j->ctx->dfg, tname);
    bool is_able = false;
    const ln_op *reader;
    while ((reader = ln_dfg_next_reader(&readers)) != NULL) {
        is_able = true;
        if (ln_join_is_old(j, reader))
            continue;
        if (ln_join_position_of(j, reader) == 0)
            return false;
        if (depth == 0 && ln_join_is_along_channels(j, reader, "slice"))
            is_able = ln_join_are_readers_able(j, ln_join_first_out(reader), 1);
        else
            is_able = reads_windows_of(reader, tname);
        if (!is_able)
            return false;
    }
    return is_able;
}

// ---- Pieces ----

int ln_join_channels_of(const ln_join *j, const char *tname)
{
    return ln_join_find(j, tname)->tensor->dims[LN_JOIN_CHANNELS];
}

ln_join_window ln_join_window_of(const ln_join *j, const char *tname)
{
    const ln_op *maker = ln_join_maker_of(j, tname);
    if (maker && ln_join_is_along_channels(j, maker, "slice"))
        return (ln_join_window){ln_join_name_in(maker, "src"), ln_op_int_param(maker, "start", 0),
                                ln_join_channels_of(j, tname)};
    return (ln_join_window){tname, 0, ln_join_channels_of(j, tname)};
}

// Of the pieces found so far.
static int count_channels(const ln_join *j)
{
    const ln_join_piece *last = j->piece_count ? &j->pieces[j->piece_count - 1] : NULL;
    return last ? last->at + last->from.count : 0;
}

static void add_piece(ln_join *j, ln_join_window from)
{
    ln_join_piece *last = j->piece_count ? &j->pieces[j->piece_count - 1] : NULL;
    if (last && ln_streq(last->from.tname, from.tname) &&
        last->from.first + last->from.count == from.first) {
        last->from.count += from.count;
        return;
    }
    if (j->piece_count == LN_JOIN_MAX_PIECES) {
        j->is_too_large = true;
        return;
    }
    int at = count_channels(j);
    j->pieces[j->piece_count++] = (ln_join_piece){.from = from, .at = at};
}

static void add_inner(ln_join *j, const ln_op *concat)
{
    ln_join_add_old(j, concat);
    if (j->inner_count == LN_JOIN_MAX_PIECES)
        j->is_too_large = true;
    else
        j->inners[j->inner_count++] = (ln_join_inner){concat, count_channels(j)};
}

const ln_join_inner *ln_join_find_inner(const ln_join *j, const ln_op *op)
{
    for (size_t i = 0; i < j->inner_count; i++)
        if (j->inners[i].concat == op)
            return &j->inners[i];
    return NULL;
}

// A concat that is nothing but a part of this whole to all who read it.
static bool is_inner(const ln_join *j, const char *tname)
{
    const ln_op *maker = ln_join_maker_of(j, tname);
    return maker && ln_join_is_along_channels(j, maker, "concat") &&
           ln_join_position_of(j, maker) != 0 && !ln_join_is_old(j, maker) &&
           ln_join_are_readers_able(j, tname, 0);
}

ln_status ln_join_find_pieces(ln_join *j)
{
    ln_list *open = NULL; // of ln_tensor_list_entry, the next one first
    const ln_tensor_list_entry *in;
    ln_status status = LN_OK;
    ln_join_add_old(j, j->concat);
    for (const ln_list *l = j->concat->op_arg->tensors_in; l && status == LN_OK; l = l->next)
        status = ln_list_push(&open, l->data);
    while (open && status == LN_OK && !j->is_too_large) {
        in = open->data;
        open = ln_list_remove_nth(open, 0);
        if (!is_inner(j, in->name)) {
            add_piece(j, ln_join_window_of(j, in->name));
            continue;
        }
        const ln_op *concat = ln_join_maker_of(j, in->name);
        add_inner(j, concat);
        int n = 0;
        for (const ln_list *l = concat->op_arg->tensors_in; l && status == LN_OK; l = l->next)
            status = ln_list_push_nth(&open, l->data, n++);
    }
    ln_list_free(open);
    return status;
}

bool ln_join_is_any_of_inner(const ln_join *j)
{
    for (size_t i = 0; i < j->piece_count; i++)
        if (ln_join_find_inner(j, ln_join_maker_of(j, j->pieces[i].from.tname)))
            return true;
    return false;
}

static bool is_twice(const ln_join *j, size_t index)
{
    for (size_t i = 0; i < j->piece_count; i++)
        if (i != index && ln_streq(j->pieces[i].from.tname, j->pieces[index].from.tname))
            return true;
    return false;
}

bool ln_join_find_makers(ln_join *j)
{
    bool is_any = false;
    for (size_t i = 0; i < j->piece_count; i++) {
        ln_join_piece *p = &j->pieces[i];
        const ln_op *maker = ln_join_maker_of(j, p->from.tname);
        bool is_whole =
            p->from.first == 0 && p->from.count == ln_join_channels_of(j, p->from.tname);
        p->step = maker ? ln_join_position_of(j, maker) : 0;
        if (!maker || p->step == 0 || !is_whole || !can_write_into(maker) || is_twice(j, i) ||
            !ln_join_are_readers_able(j, p->from.tname, 0))
            continue;
        p->maker = maker;
        is_any = true;
    }
    return is_any;
}
