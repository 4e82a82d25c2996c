// SPDX-License-Identifier: Apache-2.0
// Parts of a concat of channels that are written where the whole will be: what the files of the
// pass `join` share.
//
//     join_pieces.c   what the whole is made of, and who can write into it
//     join_build.c    the operators that take the place of the old ones
//     join.c          the pass

#ifndef LN_PASS_JOIN_H
#define LN_PASS_JOIN_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/context.h>
#include <lightnet/op.h>
#include <lightnet/tensor_entry.h>

LN_CPPSTART

#define LN_JOIN_CHANNELS   3   // the axis
#define LN_JOIN_MAX_PIECES 256 // of one whole, and operators that read them

// Some channels of a tensor.
typedef struct ln_join_window {
    const char *tname;
    int first, count;
} ln_join_window;

// A part of the whole. Its maker writes it there, or it is copied.
typedef struct ln_join_piece {
    ln_join_window from;
    int at;             // the first channel in the whole
    const ln_op *maker; // that writes it in place; NULL: a copy does
    size_t step;        // when it is there: the position of what makes it
} ln_join_piece;

// A concat that is a part of the whole, in its turn made of pieces.
typedef struct ln_join_inner {
    const ln_op *concat;
    int at; // its first channel in the whole
} ln_join_inner;

// A whole that is being joined: a concat of channels; or a slice of what is no part of one.
typedef struct ln_join {
    ln_context *ctx;
    ln_hash *positions;  // operator name -> its position in the list + 1, as a pointer
    const ln_op *concat; // or the slice
    ln_join_piece pieces[LN_JOIN_MAX_PIECES];
    size_t piece_count;
    ln_join_inner inners[LN_JOIN_MAX_PIECES];
    size_t inner_count;
    const ln_op *old_ops[4 * LN_JOIN_MAX_PIECES]; // that go, each once
    size_t old_count;
    ln_op *new_ops[4 * LN_JOIN_MAX_PIECES]; // owned until the context takes them
    size_t new_positions[4 * LN_JOIN_MAX_PIECES];
    size_t new_count;
    char *versions[LN_JOIN_MAX_PIECES]; // names, in the order of the chain
    bool is_too_large;
} ln_join;

// ---- join_pieces.c ----

// The tensor of that name, and the operator that makes it; NULL if there is none.
const ln_tensor_entry *ln_join_find(const ln_join *j, const char *tname);
const ln_op *ln_join_maker_of(const ln_join *j, const char *tname);

// 0 for an operator that came later.
size_t ln_join_position_of(const ln_join *j, const ln_op *op);

// Names of an operator's tensors; NULL for an input that it does not have.
const char *ln_join_name_in(const ln_op *op, const char *arg_name);
const char *ln_join_first_out(const ln_op *op);

bool ln_join_has_param(const ln_op *op, const char *name);

// Whether it is a concat or slice, as `optype` says, of channels of channels-last images.
bool ln_join_is_along_channels(const ln_join *j, const ln_op *op, const char *optype);

// The parameter that moves the window which input `arg_name` is read through; NULL if it is read
// whole.
const char *ln_join_window_param(const ln_op *op, const char *arg_name);

// Operators that go when this is done.
bool ln_join_is_old(const ln_join *j, const ln_op *op);
void ln_join_add_old(ln_join *j, const ln_op *op);

// Whether all who read `tname`, as itself or through slices of its channels, are concats of this
// whole or read windows.
bool ln_join_are_readers_able(const ln_join *j, const char *tname, int depth);

int ln_join_channels_of(const ln_join *j, const char *tname);

// What a slice of channels is a window of.
ln_join_window ln_join_window_of(const ln_join *j, const char *tname);

// NULL for an operator that is none.
const ln_join_inner *ln_join_find_inner(const ln_join *j, const ln_op *op);

// The inputs of the concat in order, with those of inner concats in their place.
ln_status ln_join_find_pieces(ln_join *j);

// Whether a piece would be copied from an inner concat, which goes.
bool ln_join_is_any_of_inner(const ln_join *j);

// Finds who makes each piece. False if nobody writes in place.
bool ln_join_find_makers(ln_join *j);

// ---- join_build.c ----

// Makes the operators that take the place of the old ones, unless there are too many.
ln_status ln_join_build(ln_join *j);

// All who read the slice read a window of what it is a slice of instead.
ln_status ln_join_build_window(ln_join *j);

LN_CPPEND

#endif
