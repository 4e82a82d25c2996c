// SPDX-License-Identifier: Apache-2.0
// Broadcasting of two shapes.

#include "base/broadcast.h"

#include <stdbool.h>

// Dimension `axis` of a shape written with `ndim` dimensions; 1 in front of its own.
static int dim_at(int own_ndim, const int *dims, int ndim, int axis)
{
    int own = axis - (ndim - own_ndim);
    return own < 0 ? 1 : dims[own];
}

int ln_broadcast_shape(int *dims, int a_ndim, const int *a, int b_ndim, const int *b)
{
    int ndim = a_ndim > b_ndim ? a_ndim : b_ndim;
    for (int i = 0; i < ndim; i++) {
        int a_dim = dim_at(a_ndim, a, ndim, i), b_dim = dim_at(b_ndim, b, ndim, i);
        if (a_dim != b_dim && a_dim != 1 && b_dim != 1) {
            char a_text[LN_SHAPE_TEXT_BYTES], b_text[LN_SHAPE_TEXT_BYTES];
            ln_fail(LN_INVALID,
                    "the shapes %s and %s do not fit: from the last on, dimensions should be "
                    "equal, or one of them 1",
                    ln_sprint_shape(a_text, sizeof a_text, a_ndim, a),
                    ln_sprint_shape(b_text, sizeof b_text, b_ndim, b));
            return -1;
        }
        dims[i] = a_dim == 1 ? b_dim : a_dim;
    }
    return ln_compute_length(ndim, dims) < 0 ? -1 : ndim;
}

// An axis of the result, from the last to the first: joins the one after it if both operands go on
// there as they do here.
static void add_axis(ln_broadcast *walk, int dim, const bool is_repeated[2], const size_t size[2])
{
    int last = walk->ndim - 1;
    bool joins = walk->ndim > 0;
    for (int k = 0; k < 2 && joins; k++)
        joins = is_repeated[k] == (walk->strides[k][last] == 0);
    if (joins) {
        walk->dims[last] *= (size_t)dim;
        return;
    }
    walk->dims[walk->ndim] = (size_t)dim;
    for (int k = 0; k < 2; k++)
        walk->strides[k][walk->ndim] = is_repeated[k] ? 0 : size[k];
    walk->ndim++;
}

// The innermost of the joined axes is the row; its strides are 0 or 1.
static void take_row(ln_broadcast *walk)
{
    walk->count = 1;
    if (walk->ndim == 0)
        return;
    walk->count = walk->dims[0];
    for (int k = 0; k < 2; k++)
        walk->step[k] = walk->strides[k][0];
    walk->ndim--;
    for (int i = 0; i < walk->ndim; i++) {
        walk->dims[i] = walk->dims[i + 1];
        for (int k = 0; k < 2; k++)
            walk->strides[k][i] = walk->strides[k][i + 1];
    }
}

void ln_broadcast_start(ln_broadcast *walk, int ndim, const int *dims, int a_ndim, const int *a,
                        int b_ndim, const int *b)
{
    *walk = (ln_broadcast){.step = {1, 1}};
    size_t size[2] = {1, 1}; // of what is after the axis in each operand
    for (int i = ndim - 1; i >= 0; i--) {
        if (dims[i] == 0)
            return; // no rows
        int own[2] = {dim_at(a_ndim, a, ndim, i), dim_at(b_ndim, b, ndim, i)};
        if (dims[i] > 1)
            add_axis(walk, dims[i], (bool[]){own[0] == 1, own[1] == 1}, size);
        for (int k = 0; k < 2; k++)
            size[k] *= (size_t)own[k];
    }
    take_row(walk);
    walk->rows_left = 1;
    for (int i = 0; i < walk->ndim; i++)
        walk->rows_left *= walk->dims[i];
}

void ln_broadcast_next(ln_broadcast *walk)
{
    walk->rows_left--;
    walk->to += walk->count;
    for (int i = 0; i < walk->ndim; i++) {
        for (int k = 0; k < 2; k++)
            walk->at[k] += walk->strides[k][i];
        if (++walk->coords[i] < walk->dims[i])
            return;
        for (int k = 0; k < 2; k++)
            walk->at[k] -= walk->strides[k][i] * walk->dims[i];
        walk->coords[i] = 0;
    }
}
