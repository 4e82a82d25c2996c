// SPDX-License-Identifier: Apache-2.0
// Constants of which the file has some elements: the others are 0.
//
// Such a tensor is a tree of levels, one for each axis, in whatever order, then one for each axis
// that is parted into blocks. A dense level has all indices; a sparse one has lists of indices, of
// which the node above says which part is its own. The elements are the leaves, in order.

#include "serial/tflite/builder.h"

#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

// Fields: of a tensor, of its sparsity, of a level, of a list.
enum { SPARSITY = 6 };
enum { ORDER = 0, BLOCK_AXES = 1, LEVELS = 2 };
enum { FORMAT = 0, SIZE = 1, SEGMENTS_KIND = 2, SEGMENTS = 3, INDICES_KIND = 4, INDICES = 5 };

#define MAX_LEVELS (2 * TL_MAXDIM)

// All constants that were sparse take at most so many times the bytes of the file.
#define MOST_TIMES 64

typedef struct list {
    ln_flat_vector numbers;
    ln_flat_kind kind;
} list;

typedef struct level {
    bool is_sparse;
    int64_t limit; // of its indices
    size_t step;   // elements of the dense tensor
    list segments, indices;
} level;

typedef struct walk {
    ln_flat *f;
    level levels[MAX_LEVELS];
    int count;
    size_t elem; // bytes
    const uint8_t *from;
    size_t left; // elements
    uint8_t *to;
} walk;

bool ln_tflite_is_sparse(const ln_tflite_builder *b, const ln_tflite_tensor *t)
{
    return ln_flat_has(b->file, t->table, SPARSITY);
}

// ---- Reading ----

static list read_list(ln_flat *f, ln_flat_table of, unsigned kind_field, unsigned field)
{
    static const ln_flat_kind kinds[] = {0, LN_FLAT_I32, LN_FLAT_U16, LN_FLAT_U8};
    const int64_t kind = ln_flat_number(f, of, kind_field, LN_FLAT_U8, 0);
    if (kind < 1 || kind > 3)
        return (list){{0, 0}, LN_FLAT_U8};
    const size_t size = kind == 1 ? 4 : kind == 2 ? 2 : 1;
    return (list){ln_flat_list(f, ln_flat_child(f, of, field), 0, size), kinds[kind]};
}

static int64_t number_at(const walk *w, const list *l, size_t i)
{
    return ln_flat_number_at(w->f, l->numbers, i, l->kind);
}

// The level of an axis or a block; -1: there is none.
static int level_of(const ln_flat *f, ln_flat_vector order, int64_t what)
{
    for (size_t i = 0; i < order.count; i++)
        if (ln_flat_number_at(f, order, i, LN_FLAT_I32) == what)
            return (int)i;
    return -1;
}

// What an index of the level of `axis` counts: elements, or the blocks that it is parted into.
static bool set_axis(walk *w, const ln_tflite_tensor *t, ln_flat_vector order,
                     ln_flat_vector block_axes, ln_flat_vector levels, int axis, size_t step)
{
    const int at = level_of(w->f, order, axis);
    int64_t block = 1;
    for (size_t i = 0; i < block_axes.count; i++) {
        const int inner = level_of(w->f, order, (int64_t)t->ndim + (int64_t)i);
        if (ln_flat_number_at(w->f, block_axes, i, LN_FLAT_I32) != axis)
            continue;
        if (inner < 0 || block != 1)
            return false;
        block = ln_flat_number(w->f, ln_flat_table_at(w->f, levels, (size_t)inner), SIZE,
                               LN_FLAT_I32, 0);
        w->levels[inner].limit = block;
        w->levels[inner].step = step;
    }
    if (at < 0 || block < 1 || t->dims[axis] % block != 0)
        return false;
    w->levels[at].limit = t->dims[axis] / block;
    w->levels[at].step = step * (size_t)block;
    return true;
}

static bool read_levels(walk *w, const ln_tflite_tensor *t)
{
    ln_flat *f = w->f;
    const ln_flat_table sparsity = ln_flat_child(f, t->table, SPARSITY);
    const ln_flat_vector order = ln_flat_list(f, sparsity, ORDER, 4);
    const ln_flat_vector block_axes = ln_flat_list(f, sparsity, BLOCK_AXES, 4);
    const ln_flat_vector levels = ln_flat_list(f, sparsity, LEVELS, 4);
    if (order.count != (size_t)t->ndim + block_axes.count || order.count != levels.count ||
        order.count > MAX_LEVELS)
        return false;
    w->count = (int)order.count;
    size_t step = 1;
    for (int axis = t->ndim - 1; axis >= 0; step *= (size_t)t->dims[axis--])
        if (!set_axis(w, t, order, block_axes, levels, axis, step))
            return false;
    for (int i = 0; i < w->count; i++) {
        const ln_flat_table table = ln_flat_table_at(f, levels, (size_t)i);
        level *l = &w->levels[i];
        l->is_sparse = ln_flat_number(f, table, FORMAT, LN_FLAT_U8, 0) != 0;
        l->segments = read_list(f, table, SEGMENTS_KIND, SEGMENTS);
        l->indices = read_list(f, table, INDICES_KIND, INDICES);
        if (l->limit < 1 ||
            (!l->is_sparse && ln_flat_number(f, table, SIZE, LN_FLAT_I32, 0) != l->limit))
            return false;
    }
    return f->status == LN_OK;
}

// ---- Elements ----

static bool fill(walk *w, int depth, size_t node, size_t at);

// The node's own indices, which ascend.
static bool fill_sparse(walk *w, int depth, size_t node, size_t at)
{
    const level *l = &w->levels[depth];
    if (node >= l->segments.numbers.count || l->segments.numbers.count - node < 2)
        return false;
    const int64_t end = number_at(w, &l->segments, node + 1);
    int64_t i = number_at(w, &l->segments, node), last = -1;
    if (i < 0 || end < i || (uint64_t)end > l->indices.numbers.count)
        return false;
    for (; i < end; i++) {
        const int64_t index = number_at(w, &l->indices, (size_t)i);
        if (index <= last || index >= l->limit ||
            !fill(w, depth + 1, (size_t)i, at + (size_t)index * l->step))
            return false;
        last = index;
    }
    return true;
}

static bool fill(walk *w, int depth, size_t node, size_t at)
{
    if (depth == w->count) {
        if (w->left == 0)
            return false;
        memcpy(w->to + at * w->elem, w->from, w->elem);
        w->from += w->elem;
        w->left--;
        return true;
    }
    const level *l = &w->levels[depth];
    if (l->is_sparse)
        return fill_sparse(w, depth, node, at);
    for (int64_t i = 0; i < l->limit; i++)
        if (!fill(w, depth + 1, node * (size_t)l->limit + (size_t)i, at + (size_t)i * l->step))
            return false;
    return true;
}

static bool count_elements(const ln_tflite_tensor *t, size_t *out_count)
{
    size_t count = 1;
    for (int i = 0; i < t->ndim; i++)
        if (t->dims[i] < 1 || !ln_size_mul(count, (size_t)t->dims[i], &count))
            return false;
    *out_count = count;
    return count <= INT32_MAX;
}

void ln_tflite_make_dense(ln_tflite_op *op, ln_tflite_tensor *t)
{
    ln_tflite_builder *b = op->b;
    walk w = {.f = b->file, .from = b->file->bytes + t->data.at};
    size_t count = 0, bytes = 0, all = 0;
    if (t->is_there)
        return;
    w.elem = t->type == LN_TFLITE_INT4 || t->type == LN_TFLITE_BOOL ? 0 : tl_size_of(t->dtype);
    const bool is_fit = w.elem > 0 && count_elements(t, &count) &&
                        ln_size_mul(count, w.elem, &bytes) &&
                        ln_size_add(b->dense_bytes, bytes, &all) &&
                        all / MOST_TIMES <= b->file->len && read_levels(&w, t);
    if (is_fit) {
        w.left = t->data.count / w.elem;
        w.to = ln_alloc(bytes);
        if (!w.to) {
            ln_tflite_stop(b, LN_NO_MEMORY, "constant '%s'", t->name);
            return;
        }
        memset(w.to, 0, bytes);
    }
    if (!is_fit || !fill(&w, 0, 0, 0) || w.left > 0) {
        ln_free(w.to);
        ln_tflite_problem(op, NULL, "the sparse constant '%s' has indices that do not fit it",
                          t->name);
        return;
    }
    t->is_there = true;
    b->dense_bytes = all;
    ln_tflite_constant(b, t->name, t->dtype, t->ndim, t->dims, w.to, w.to);
}
