// SPDX-License-Identifier: Apache-2.0
// Arrays whose shape is not the tensor's: those that have its elements in the same order, and the
// transpose that would give it.

#include <lightnet/shape.h>

static bool is_shape(int ndim, const int *dims)
{
    return ndim >= 0 && ndim <= LN_MAXDIM && (ndim == 0 || dims);
}

// ---- Dimensions of 1 ----

static bool takes(int wanted, int dim)
{
    return wanted < 0 || wanted == dim;
}

// Aligns both shapes from the last dimension on. Dimensions of 1 may be left out on either side,
// and dynamic ones where the array has no more dimensions.
static bool align(int ndim, const int *dims, int wanted_ndim, const int *wanted, int *out_dims)
{
    if (wanted_ndim == 0) {
        for (int i = 0; i < ndim; i++) {
            if (dims[i] != 1)
                return false;
        }
        return true;
    }
    int last = wanted_ndim - 1;
    if (ndim > 0 && takes(wanted[last], dims[ndim - 1]) &&
        align(ndim - 1, dims, last, wanted, out_dims)) {
        out_dims[last] = dims[ndim - 1];
        return true;
    }
    if ((wanted[last] == 1 || (wanted[last] < 0 && ndim == 0)) &&
        align(ndim, dims, last, wanted, out_dims)) {
        out_dims[last] = 1;
        return true;
    }
    return ndim > 0 && dims[ndim - 1] == 1 && align(ndim - 1, dims, wanted_ndim, wanted, out_dims);
}

bool ln_shape_fit(int ndim, const int *dims, int wanted_ndim, const int *wanted, int *out_dims)
{
    int own_dims[LN_MAXDIM];
    return is_shape(ndim, dims) && is_shape(wanted_ndim, wanted) &&
           align(ndim, dims, wanted_ndim, wanted, out_dims ? out_dims : own_dims);
}

// ---- Transposes ----

// The dimensions that are not 1: how many, and on which axes.
static int find_long_axes(int ndim, const int *dims, int *out_axes)
{
    int count = 0;
    for (int i = 0; i < ndim; i++) {
        if (dims[i] != 1)
            out_axes[count++] = i;
    }
    return count;
}

// Moves axis `from` to `to`; the others keep their order.
static bool moves(int ndim, const int *dims, const int *wanted, int from, int to, int *axes)
{
    int next = 0;
    for (int i = 0; i < ndim; i++) {
        if (next == from)
            next++;
        axes[i] = i == to ? from : next++;
        if (!takes(wanted[i], dims[axes[i]]))
            return false;
    }
    return true;
}

// Extends a permutation of `count` axes, of which `done` are chosen, in lexical order.
static bool permute(int count, const int *dims, const int *wanted, int done, unsigned used,
                    int *axes)
{
    if (done == count)
        return true;
    for (int i = 0; i < count; i++) {
        axes[done] = i;
        if (!(used >> i & 1) && takes(wanted[done], dims[i]) &&
            permute(count, dims, wanted, done + 1, used | 1u << i, axes))
            return true;
    }
    return false;
}

static bool find_permutation(int ndim, const int *dims, const int *wanted, int *axes)
{
    for (int first = 0; first < 2 && ndim > 2; first++) {
        if (moves(ndim, dims, wanted, ndim - 1, 1 - first, axes) ||
            moves(ndim, dims, wanted, 1 - first, ndim - 1, axes))
            return true;
    }
    return permute(ndim, dims, wanted, 0, 0, axes);
}

// Shapes of different rank: dimensions of 1 go to the front, the others are permuted.
static bool find_long_permutation(int ndim, const int *dims, int wanted_ndim, const int *wanted,
                                  int *axes)
{
    int from[LN_MAXDIM], to[LN_MAXDIM], own[LN_MAXDIM], wish[LN_MAXDIM], order[LN_MAXDIM];
    int count = find_long_axes(ndim, dims, from);
    if (count != find_long_axes(wanted_ndim, wanted, to))
        return false;
    for (int i = 0; i < count; i++) {
        own[i] = dims[from[i]];
        wish[i] = wanted[to[i]];
    }
    if (!find_permutation(count, own, wish, order))
        return false;
    int next = 0;
    for (int i = 0; i < ndim; i++) {
        if (dims[i] == 1)
            axes[next++] = i;
    }
    for (int i = 0; i < count; i++)
        axes[next++] = from[order[i]];
    return true;
}

bool ln_shape_find_transpose(int ndim, const int *dims, int wanted_ndim, const int *wanted,
                             int *out_axes)
{
    if (!is_shape(ndim, dims) || !is_shape(wanted_ndim, wanted) || !out_axes)
        return false;
    if (ndim == wanted_ndim && find_permutation(ndim, dims, wanted, out_axes))
        return true;
    return find_long_permutation(ndim, dims, wanted_ndim, wanted, out_axes);
}

// ---- Advice ----

static void print_axes(char *text, size_t byte_count, int ndim, const int *axes, const char *comma)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < ndim && used < byte_count; i++)
        used += (size_t)snprintf(text + used, byte_count - used, "%s%d", i ? comma : "", axes[i]);
}

static bool has_same_length(int ndim, const int *dims, int wanted_ndim, const int *wanted)
{
    double length = 1, wanted_length = 1; // exact up to 2^53, and an advice only
    for (int i = 0; i < ndim; i++)
        length *= dims[i];
    for (int i = 0; i < wanted_ndim; i++) {
        if (wanted[i] < 0)
            return false;
        wanted_length *= wanted[i];
    }
    return length == wanted_length;
}

char *ln_shape_advice(char *text, size_t byte_count, int ndim, const int *dims, int wanted_ndim,
                      const int *wanted)
{
    if (!text || byte_count == 0)
        return text;
    text[0] = '\0';
    int axes[LN_MAXDIM];
    char tight[LN_SHAPE_TEXT_BYTES], wide[LN_SHAPE_TEXT_BYTES];
    if (ln_shape_find_transpose(ndim, dims, wanted_ndim, wanted, axes)) {
        print_axes(tight, sizeof tight, ndim, axes, ",");
        print_axes(wide, sizeof wide, ndim, axes, ", ");
        snprintf(text, byte_count, "; transpose it with axes %s: np.transpose(x, (%s))", tight,
                 wide);
    } else if (is_shape(ndim, dims) && is_shape(wanted_ndim, wanted) &&
               has_same_length(ndim, dims, wanted_ndim, wanted)) {
        print_axes(wide, sizeof wide, wanted_ndim, wanted, ", ");
        snprintf(text, byte_count,
                 "; if its elements are in that order, reshape it: np.reshape(x, (%s%s))", wide,
                 wanted_ndim == 1 ? "," : "");
    }
    return text;
}
