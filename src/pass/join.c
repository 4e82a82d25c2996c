// SPDX-License-Identifier: Apache-2.0
// Join: parts of a concat of channels are written where the whole will be, and parts of an image
// are read where they lie, so that neither is copied.
//
// Channels of a channels-last image are no row of neighbours, so this is not a matter of places in
// memory but of operators: some read a window of their input's channels (`src_first`), and write
// into one of a wider image (`into`, `dst_first`). A concat becomes a chain of versions of the
// whole; each operator that makes a part makes the next version, which memory planning lays over
// the one before. Readers of a part read its window of the newest version there is when they run.
//
//     a = conv(x)                          v1 = conv(x | dst_channels=96)
//     b = conv(y)               =>         y  = conv2d_nhwc over v1's window instead of `a`
//     y = concat(a, b)                     y  = conv(y, into=v1 | dst_first=64)
//
// A concat inside a concat is the same whole. What cannot be written in place is copied into it.

#include "pass/pass.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "ir/op_life.h"
#include "pass/firing.h"

#define CHANNELS   3   // the axis
#define MAX_PIECES 256 // of one whole, and operators that read them

// Some channels of a tensor.
typedef struct window {
    const char *tname;
    int first, count;
} window;

// A part of the whole. Its maker writes it there, or it is copied.
typedef struct piece {
    window from;
    int at;             // the first channel in the whole
    const ln_op *maker; // that writes it in place; NULL: a copy does
    size_t step;        // when it is there: the position of what makes it
} piece;

// A concat that is a part of the whole, in its turn made of pieces.
typedef struct inner {
    const ln_op *concat;
    int at; // its first channel in the whole
} inner;

typedef struct joiner {
    ln_context *ctx;
    ln_hash *positions;  // operator name -> its position in the list + 1, as a pointer
    const ln_op *concat; // or the slice
    piece pieces[MAX_PIECES];
    size_t piece_count;
    inner inners[MAX_PIECES];
    size_t inner_count;
    const ln_op *old_ops[4 * MAX_PIECES]; // that go, each once
    size_t old_count;
    ln_op *new_ops[4 * MAX_PIECES]; // owned until the context takes them
    size_t new_positions[4 * MAX_PIECES];
    size_t new_count;
    char *versions[MAX_PIECES]; // names, in the order of the chain
    bool is_too_large;
} joiner;

// ---- The model ----

static const ln_tensor_entry *find(const joiner *j, const char *tname)
{
    return ln_tensor_table_find(j->ctx->tensor_table, tname);
}

static const ln_op *maker_of(const joiner *j, const char *tname)
{
    const ln_tensor_entry *entry = find(j, tname);
    return entry && entry->creater ? ln_op_table_find(j->ctx->op_table, entry->creater) : NULL;
}

// 0 for an operator that came later.
static size_t position_of(const joiner *j, const ln_op *op)
{
    return (size_t)(uintptr_t)ln_hash_find(j->positions, op->op_arg->name);
}

static const char *name_in(const ln_op *op, const char *arg_name)
{
    return ln_tensor_list_find_name(op->op_arg->tensors_in, arg_name);
}

static const char *first_out(const ln_op *op)
{
    return ((const ln_tensor_list_entry *)op->op_arg->tensors_out->data)->name;
}

static int int_param(const ln_op *op, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param ? param->value_int : 0;
}

static bool has_param(const ln_op *op, const char *name)
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

static bool is_along_channels(const joiner *j, const ln_op *op, const char *optype)
{
    const ln_tensor_entry *out = find(j, first_out(op));
    return ln_streq(op->op_arg->optype, optype) && out && !out->is_open && !out->known &&
           out->tensor->ndim == 4 && out->tensor->dtype == TL_FLOAT && out->tensor->len > 0 &&
           int_param(op, "axis") == CHANNELS;
}

// ---- What operators can do ----

// The parameter that moves the window which input `arg_name` is read through; NULL if it is read
// whole.
static const char *window_param(const ln_op *op, const char *arg_name)
{
    static const char *const windows[][2] = {{"src", "src_first"},
                                             {"addend", "addend_first"},
                                             {"src1", "src1_first"},
                                             {"src2", "src2_first"}};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
        if (ln_streq(arg_name, windows[i][0]) && has_param(op, windows[i][1]))
            return windows[i][1];
    return NULL;
}

static bool reads_windows_of(const ln_op *op, const char *tname)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in)
        if (ln_streq(in->name, tname) && !window_param(op, in->arg_name))
            return false;
    return true;
}

static bool can_write_into(const ln_op *op)
{
    return has_input(op, "into") && has_param(op, "dst_first") && has_param(op, "dst_channels") &&
           !name_in(op, "into") && int_param(op, "dst_channels") == 0;
}

static bool is_old(const joiner *j, const ln_op *op)
{
    for (size_t i = 0; i < j->old_count; i++)
        if (j->old_ops[i] == op)
            return true;
    return false;
}

static void add_old(joiner *j, const ln_op *op)
{
    if (is_old(j, op))
        return;
    if (j->old_count == sizeof j->old_ops / sizeof j->old_ops[0])
        j->is_too_large = true;
    else
        j->old_ops[j->old_count++] = op;
}

// Whether all who read `tname`, as itself or through slices of its channels, are concats of this
// whole or read windows.
static bool are_readers_able(const joiner *j, const char *tname, int depth)
{
    const ln_op *maker = maker_of(j, tname);
    ln_list *readers = maker ? ln_dfg_nexts(j->ctx->dfg, maker, tname) : NULL;
    bool is_able = readers != NULL;
    const ln_op *reader;
    LN_LIST_FOREACH (reader, readers) {
        if (!is_able || is_old(j, reader))
            continue;
        if (position_of(j, reader) == 0)
            is_able = false;
        else if (depth == 0 && is_along_channels(j, reader, "slice"))
            is_able = are_readers_able(j, first_out(reader), 1);
        else
            is_able = reads_windows_of(reader, tname);
    }
    ln_list_free(readers);
    return is_able;
}

// ---- Pieces ----

static int channels_of(const joiner *j, const char *tname)
{
    return find(j, tname)->tensor->dims[CHANNELS];
}

// What a slice of channels is a window of.
static window window_of(const joiner *j, const char *tname)
{
    const ln_op *maker = maker_of(j, tname);
    if (maker && is_along_channels(j, maker, "slice"))
        return (window){name_in(maker, "src"), int_param(maker, "start"), channels_of(j, tname)};
    return (window){tname, 0, channels_of(j, tname)};
}

// Of the pieces found so far.
static int count_channels(const joiner *j)
{
    const piece *last = j->piece_count ? &j->pieces[j->piece_count - 1] : NULL;
    return last ? last->at + last->from.count : 0;
}

static void add_piece(joiner *j, window from)
{
    piece *last = j->piece_count ? &j->pieces[j->piece_count - 1] : NULL;
    if (last && ln_streq(last->from.tname, from.tname) &&
        last->from.first + last->from.count == from.first) {
        last->from.count += from.count;
        return;
    }
    if (j->piece_count == MAX_PIECES) {
        j->is_too_large = true;
        return;
    }
    int at = count_channels(j);
    j->pieces[j->piece_count++] = (piece){.from = from, .at = at};
}

static void add_inner(joiner *j, const ln_op *concat)
{
    add_old(j, concat);
    if (j->inner_count == MAX_PIECES)
        j->is_too_large = true;
    else
        j->inners[j->inner_count++] = (inner){concat, count_channels(j)};
}

// NULL for an operator that is none.
static const inner *find_inner(const joiner *j, const ln_op *op)
{
    for (size_t i = 0; i < j->inner_count; i++)
        if (j->inners[i].concat == op)
            return &j->inners[i];
    return NULL;
}

// A concat that is nothing but a part of this whole to all who read it.
static bool is_inner(const joiner *j, const char *tname)
{
    const ln_op *maker = maker_of(j, tname);
    return maker && is_along_channels(j, maker, "concat") && position_of(j, maker) != 0 &&
           !is_old(j, maker) && are_readers_able(j, tname, 0);
}

// The inputs of the concat in order, with those of inner concats in their place.
static ln_status find_pieces(joiner *j)
{
    ln_list *open = NULL; // of ln_tensor_list_entry, the next one first
    const ln_tensor_list_entry *in;
    ln_status status = LN_OK;
    add_old(j, j->concat);
    for (const ln_list *l = j->concat->op_arg->tensors_in; l && status == LN_OK; l = l->next)
        status = ln_list_push(&open, l->data);
    while (open && status == LN_OK && !j->is_too_large) {
        in = open->data;
        open = ln_list_remove_nth(open, 0);
        if (!is_inner(j, in->name)) {
            add_piece(j, window_of(j, in->name));
            continue;
        }
        const ln_op *concat = maker_of(j, in->name);
        add_inner(j, concat);
        int n = 0;
        for (const ln_list *l = concat->op_arg->tensors_in; l && status == LN_OK; l = l->next) {
            ln_list *longer = ln_list_insert_nth(open, l->data, n++);
            status = longer ? LN_OK : LN_NO_MEMORY;
            open = longer ? longer : open;
        }
    }
    ln_list_free(open);
    return status;
}

// Whether a piece would be copied from an inner concat, which goes.
static bool is_any_of_inner(const joiner *j)
{
    for (size_t i = 0; i < j->piece_count; i++)
        if (find_inner(j, maker_of(j, j->pieces[i].from.tname)))
            return true;
    return false;
}

static bool is_twice(const joiner *j, size_t index)
{
    for (size_t i = 0; i < j->piece_count; i++)
        if (i != index && ln_streq(j->pieces[i].from.tname, j->pieces[index].from.tname))
            return true;
    return false;
}

// Finds who makes each piece. False if nobody writes in place.
static bool find_makers(joiner *j)
{
    bool is_any = false;
    for (size_t i = 0; i < j->piece_count; i++) {
        piece *p = &j->pieces[i];
        const ln_op *maker = maker_of(j, p->from.tname);
        bool is_whole = p->from.first == 0 && p->from.count == channels_of(j, p->from.tname);
        p->step = maker ? position_of(j, maker) : 0;
        if (!maker || p->step == 0 || !is_whole || !can_write_into(maker) || is_twice(j, i) ||
            !are_readers_able(j, p->from.tname, 0))
            continue;
        p->maker = maker;
        is_any = true;
    }
    return is_any;
}

// ---- Versions ----

// Pieces in the order in which they are there; a copy stands behind what it copies.
static bool is_before(const piece *a, const piece *b)
{
    if (a->step != b->step)
        return a->step < b->step;
    return a->maker && !b->maker;
}

static void sort_pieces(joiner *j)
{
    for (size_t i = 1; i < j->piece_count; i++) {
        piece moved = j->pieces[i];
        size_t k = i;
        for (; k > 0 && is_before(&moved, &j->pieces[k - 1]); k--)
            j->pieces[k] = j->pieces[k - 1];
        j->pieces[k] = moved;
    }
}

static ln_status name_versions(joiner *j)
{
    const char *whole = first_out(j->concat);
    unsigned number = 0;
    for (size_t i = 0; i < j->piece_count; i++) {
        char name[LN_MAX_NAME_LEN];
        if (i + 1 == j->piece_count)
            snprintf(name, sizeof name, "%s", whole);
        else
            do
                snprintf(name, sizeof name, "%.300s_v%u", whole, ++number);
            while (find(j, name));
        j->versions[i] = ln_strdup(name);
        if (!j->versions[i])
            return LN_NO_MEMORY;
    }
    return LN_OK;
}

// The newest version when the operator at `position` runs; NULL if there is none.
static const char *version_at(const joiner *j, size_t position)
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
static bool find_place(const joiner *j, const char *tname, int *out_at)
{
    window from = window_of(j, tname);
    const inner *concat = find_inner(j, maker_of(j, from.tname));
    if (concat) {
        *out_at = concat->at + from.first;
        return true;
    }
    for (size_t i = 0; i < j->piece_count; i++) {
        const piece *p = &j->pieces[i];
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
static ln_status redirect(const joiner *j, ln_op *op, size_t position)
{
    ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        int at;
        const char *param = window_param(op, in->arg_name);
        if (!param || !find_place(j, in->name, &at))
            continue;
        int count = channels_of(j, in->name);
        if (at > 0)
            LN_TRY(set_int(op, param, int_param(op, param) + at));
        if (ln_streq(param, "src_first") && has_param(op, "src_channels") &&
            int_param(op, "src_channels") == 0)
            LN_TRY(set_int(op, "src_channels", count));
        const char *version = version_at(j, position);
        LN_TRY(version ? rename_entry(in, version) : LN_FAIL(LN_INTERNAL, "no version yet"));
    }
    return LN_OK;
}

// Takes `op`. New operators stay in the order of those that they take the place of, so that who
// reads a version does so before the next one is written.
static ln_status add_new(joiner *j, ln_op *op, size_t position, ln_status status)
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

static ln_status add_reader(joiner *j, const ln_op *reader)
{
    ln_op *op = ln_op_copy(reader);
    if (!op)
        return LN_NO_MEMORY;
    size_t position = position_of(j, reader);
    return add_new(j, op, position, redirect(j, op, position));
}

static ln_status make_version(joiner *j, ln_op *op, size_t index)
{
    const piece *p = &j->pieces[index];
    int total = channels_of(j, first_out(j->concat));
    LN_TRY(rename_entry(op->op_arg->tensors_out->data, j->versions[index]));
    if (index > 0)
        LN_TRY(ln_tensor_list_push(&op->op_arg->tensors_in, "into", j->versions[index - 1]));
    else
        LN_TRY(set_int(op, "dst_channels", total));
    return p->at > 0 ? set_int(op, "dst_first", p->at) : LN_OK;
}

static bool is_new(const joiner *j, const char *op_name)
{
    for (size_t i = 0; i < j->new_count; i++)
        if (ln_streq(j->new_ops[i]->op_arg->name, op_name))
            return true;
    return false;
}

static ln_op *create_copier(const joiner *j, const piece *p)
{
    const ln_op *proto = ln_op_find("put_channels");
    ln_list *ins = ln_tensor_list_append(NULL, "src", p->from.tname);
    ln_list *outs = ln_tensor_list_append(NULL, "dst", first_out(j->concat));
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

static ln_status add_copier(joiner *j, size_t index)
{
    const window *from = &j->pieces[index].from;
    ln_op *op = create_copier(j, &j->pieces[index]);
    if (!op)
        return LN_NO_MEMORY;
    ln_status status = make_version(j, op, index);
    if (status == LN_OK && from->first > 0)
        status = set_int(op, "src_first", from->first);
    if (status == LN_OK && from->count != channels_of(j, from->tname))
        status = set_int(op, "src_channels", from->count);
    return add_new(j, op, j->pieces[index].step, status);
}

static ln_status add_writer(joiner *j, size_t index)
{
    const piece *p = &j->pieces[index];
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
static ln_status note_readers(joiner *j, const char *tname, const ln_op **readers, size_t *count)
{
    const ln_op *maker = maker_of(j, tname);
    ln_list *found = ln_dfg_nexts(j->ctx->dfg, maker, tname);
    ln_status status = LN_OK;
    const ln_op *reader;
    LN_LIST_FOREACH (reader, found) {
        if (status != LN_OK || is_old(j, reader))
            continue;
        add_old(j, reader);
        if (is_along_channels(j, reader, "slice"))
            status = note_readers(j, first_out(reader), readers, count);
        else if (*count == 2 * MAX_PIECES)
            j->is_too_large = true;
        else
            readers[(*count)++] = reader;
    }
    ln_list_free(found);
    return status;
}

static bool is_writer(const joiner *j, const ln_op *op)
{
    for (size_t i = 0; i < j->piece_count; i++)
        if (j->pieces[i].maker == op)
            return true;
    return false;
}

// A slice that only this whole was made of goes with it; makers and readers are made over, and may
// go on reading it.
static void add_slices(joiner *j, const ln_op *concat)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, concat->op_arg->tensors_in) {
        const ln_op *maker = maker_of(j, in->name);
        if (!maker || !is_along_channels(j, maker, "slice"))
            continue;
        ln_list *readers = ln_dfg_nexts(j->ctx->dfg, maker, in->name);
        bool is_read = readers == NULL;
        const ln_op *reader;
        LN_LIST_FOREACH (reader, readers)
            is_read = is_read || (reader != j->concat && !find_inner(j, reader));
        ln_list_free(readers);
        if (!is_read)
            add_old(j, maker);
    }
}

// All who read what goes, but for the writers, which are made over anyway.
static ln_status find_readers(joiner *j, const ln_op **readers, size_t *count)
{
    size_t concat_count = j->old_count;
    for (size_t i = 0; i < j->piece_count; i++)
        if (j->pieces[i].maker)
            add_old(j, j->pieces[i].maker);
    for (size_t i = 1; i < concat_count; i++)
        LN_TRY(note_readers(j, first_out(j->old_ops[i]), readers, count));
    for (size_t i = 0; i < j->piece_count; i++)
        if (j->pieces[i].maker)
            LN_TRY(note_readers(j, j->pieces[i].from.tname, readers, count));
    for (size_t i = 0; i < concat_count; i++)
        add_slices(j, j->old_ops[i]);
    return LN_OK;
}

// ---- Joining ----

static ln_status build(joiner *j)
{
    const ln_op *readers[2 * MAX_PIECES];
    size_t reader_count = 0;
    sort_pieces(j);
    LN_TRY(name_versions(j));
    LN_TRY(find_readers(j, readers, &reader_count));
    if (j->is_too_large)
        return LN_OK;
    for (size_t i = 0; i < j->piece_count; i++)
        LN_TRY(add_writer(j, i));
    for (size_t i = 0; i < reader_count; i++)
        if (!is_writer(j, readers[i]))
            LN_TRY(add_reader(j, readers[i]));
    return LN_OK;
}

static ln_status exchange(joiner *j)
{
    ln_list_builder old_ops = {0}, new_ops = {0};
    ln_status status = LN_OK;
    for (size_t i = 0; i < j->old_count && status == LN_OK; i++)
        status = ln_list_builder_push(&old_ops, (void *)(uintptr_t)j->old_ops[i]);
    for (size_t i = 0; i < j->new_count && status == LN_OK; i++)
        status = ln_list_builder_push(&new_ops, j->new_ops[i]);
    if (status == LN_OK)
        status = ln_context_subgraph(j->ctx, old_ops.list, new_ops.list);
    if (status == LN_OK)
        j->new_count = 0; // they are the context's now
    ln_list_free(old_ops.list);
    ln_list_free(new_ops.list);
    return status;
}

static ln_status fire(ln_compilation *compilation, joiner *j, const char *rule,
                      ln_status (*build_new)(joiner *j))
{
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass(rule, j->concat, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    ln_status status = build_new(j);
    if (status == LN_OK && !j->is_too_large)
        status = exchange(j);
    return ln_firing_done(compilation, &firing, status);
}

static void joiner_deinit(joiner *j)
{
    for (size_t i = 0; i < j->new_count; i++)
        ln_op_free_lists_too(j->new_ops[i]);
    for (size_t i = 0; i < MAX_PIECES; i++)
        ln_free(j->versions[i]);
    ln_free(j);
}

// ---- Slices of what is no part of a whole ----

// All who read the slice read a window of what it is a slice of instead.
static ln_status build_window(joiner *j)
{
    const ln_op *readers[2 * MAX_PIECES];
    size_t reader_count = 0;
    const char *source = name_in(j->concat, "src");
    j->pieces[0] = (piece){.from = {source, 0, channels_of(j, source)}, .maker = j->concat};
    j->piece_count = 1;
    j->versions[0] = ln_strdup(source);
    if (!j->versions[0])
        return LN_NO_MEMORY;
    add_old(j, j->concat);
    LN_TRY(note_readers(j, first_out(j->concat), readers, &reader_count));
    for (size_t i = 0; i < reader_count && !j->is_too_large; i++)
        LN_TRY(add_reader(j, readers[i]));
    return LN_OK;
}

static bool can_be_window(const joiner *j)
{
    return are_readers_able(j, first_out(j->concat), 1);
}

static ln_status try_at(ln_compilation *compilation, joiner *j)
{
    if (is_along_channels(j, j->concat, "slice"))
        return can_be_window(j) ? fire(compilation, j, "window", build_window) : LN_OK;
    LN_TRY(find_pieces(j));
    if (j->is_too_large || is_any_of_inner(j) || !find_makers(j))
        return LN_OK;
    return fire(compilation, j, "join", build);
}

// `op` is a concat or a slice, of channels or of anything else.
static ln_status try_join(ln_compilation *compilation, const ln_op *op, ln_hash *positions)
{
    joiner *j = ln_alloc(sizeof *j);
    if (!j)
        return LN_NO_MEMORY;
    *j = (joiner){.ctx = compilation->ctx, .positions = positions, .concat = op};
    ln_status status = LN_OK;
    if ((is_along_channels(j, op, "concat") || is_along_channels(j, op, "slice")) &&
        position_of(j, op) != 0)
        status = try_at(compilation, j);
    joiner_deinit(j);
    return status;
}

// ---- The pass ----

// Names of concats and slices, each from the last to the first: a concat that is part of another
// goes with it, and what slices are left is seen when the concats are done.
static ln_status find_names(const ln_context *ctx, ln_hash *positions, ln_list **out_concats,
                            ln_list **out_slices)
{
    size_t position = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        char *name = ln_strdup(arg->name);
        if (!name || ln_hash_insert(positions, name, (void *)++position) < 0) {
            ln_free(name);
            return LN_NO_MEMORY;
        }
        if (ln_streq(arg->optype, "concat"))
            LN_TRY(ln_list_push_front(out_concats, name));
        else if (ln_streq(arg->optype, "slice"))
            LN_TRY(ln_list_push_front(out_slices, name));
    }
    return LN_OK;
}

static ln_status try_all(ln_compilation *compilation, const ln_list *names, ln_hash *positions)
{
    for (const ln_list *l = names; l; l = l->next) {
        const ln_op *op = ln_op_table_find(compilation->ctx->op_table, l->data);
        if (op)
            LN_TRY(try_join(compilation, op, positions));
    }
    return LN_OK;
}

ln_status ln_pass_join(ln_compilation *compilation)
{
    if (!compilation->archs[0]->is_channels_last)
        return LN_OK;
    ln_list *concats = NULL, *slices = NULL;
    ln_hash *positions = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    ln_status status =
        positions ? find_names(compilation->ctx, positions, &concats, &slices) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = try_all(compilation, concats, positions);
    if (status == LN_OK)
        status = try_all(compilation, slices, positions);
    ln_list_free(concats);
    ln_list_free(slices);
    ln_hash_free(positions);
    return status;
}
