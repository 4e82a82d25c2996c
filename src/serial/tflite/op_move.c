// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: as they are stored where input and output have the same scale, else
// as real numbers.

#include "serial/tflite/builder.h"

// "To the end" of a slice, forwards and backwards.
#define TO_END   INT64_MAX
#define TO_START INT64_MIN

// Its one input, moved by one operator of ONNX.
static const char *begin_move(ln_tflite_op *op, const char *optype, size_t i, bool *is_moved)
{
    *is_moved = ln_tflite_is_moved(op, i, 1);
    return ln_tflite_unary(op->b, optype, ln_tflite_moved(op, i, *is_moved));
}

// The same, with a second operand.
static void move_by(ln_tflite_op *op, const char *optype, const char *by)
{
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved);
    ln_tflite_give_moved(op, 0, ln_tflite_binary(op->b, optype, x, by), is_moved);
}

// ---- Shapes ----

void ln_tflite_read_reshape(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    int64_t dims[TL_MAXDIM];
    size_t count;
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved), *y;
    if (ln_tflite_has(op, 1) && !ln_tflite_is_known(op, 1)) {
        y = ln_tflite_dims(op, 1);
        y = ln_tflite_binary(b, "Reshape", x, y);
    } else if (ln_tflite_has(op, 1)) {
        if (!ln_tflite_known(op, 1, "shape", TL_MAXDIM, dims, &count))
            return;
        y = ln_tflite_reshape(b, x, (int)count, dims);
    } else {
        ln_flat_vector shape = ln_flat_list(b->file, op->options, 0, 4);
        if (shape.count > TL_MAXDIM) {
            ln_tflite_problem(op, NULL, "its shape has %zu dimensions", shape.count);
            return;
        }
        for (size_t i = 0; i < shape.count; i++)
            dims[i] = ln_flat_number_at(b->file, shape, i, LN_FLAT_I32);
        // A list of one 0 is how old files have a scalar.
        count = shape.count == 1 && dims[0] == 0 ? 0 : shape.count;
        y = ln_tflite_reshape(b, x, (int)count, dims);
    }
    ln_tflite_give_moved(op, 0, y, is_moved);
}

void ln_tflite_read_squeeze(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_moved;
    ln_flat_vector list = ln_flat_list(b->file, op->options, 0, 4);
    int64_t axes[TL_MAXDIM];
    if (list.count > TL_MAXDIM) {
        ln_tflite_problem(op, NULL, "it has %zu axes", list.count);
        return;
    }
    for (size_t i = 0; i < list.count; i++)
        axes[i] = ln_flat_number_at(b->file, list, i, LN_FLAT_I32);
    if (ln_tflite_input(op, 0)->ndim == 0 && list.count > 0)
        ln_tflite_problem(op, NULL, "it has axis %lld of a scalar", (long long)axes[0]);
    const char *y = begin_move(op, "Squeeze", 0, &is_moved);
    if (list.count > 0)
        ln_tflite_in(b, ln_tflite_ints(b, list.count, axes));
    ln_tflite_give_moved(op, 0, y, is_moved);
}

void ln_tflite_read_expand_dims(ln_tflite_op *op)
{
    move_by(op, "Unsqueeze", ln_tflite_axes(op, 1));
}

void ln_tflite_read_shape(ln_tflite_op *op)
{
    const char *y = ln_tflite_unary(op->b, "Shape", ln_tflite_raw(op, 0));
    if (ln_tflite_output(op, 0)->dtype != TL_INT64)
        y = ln_tflite_cast(op->b, y, ln_tflite_output(op, 0)->dtype);
    ln_tflite_give_raw(op, 0, y);
}

void ln_tflite_read_transpose(ln_tflite_op *op)
{
    int64_t axes[TL_MAXDIM];
    double perm[TL_MAXDIM];
    size_t count;
    bool is_moved;
    if (!ln_tflite_known(op, 1, "order", TL_MAXDIM, axes, &count))
        return;
    for (size_t i = 0; i < count; i++)
        perm[i] = ln_tflite_axis(op, axes[i], (int)count);
    const char *y = begin_move(op, "Transpose", 0, &is_moved);
    ln_tflite_numbers(op->b, "perm", count, perm);
    ln_tflite_give_moved(op, 0, y, is_moved);
}

void ln_tflite_read_tile(ln_tflite_op *op)
{
    move_by(op, "Tile", ln_tflite_dims(op, 1));
}

void ln_tflite_read_broadcast_to(ln_tflite_op *op)
{
    move_by(op, "Expand", ln_tflite_dims(op, 1));
}

// ---- Padding ----

// [axes, 2] as a list: of all axes what is put before, then after.
static const char *pads_of(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    int64_t pairs[2 * TL_MAXDIM], pads[2 * TL_MAXDIM];
    size_t count;
    if (!ln_tflite_is_known(op, 1)) {
        const char *moved = ln_tflite_transpose(b, ln_tflite_dims(op, 1), 2, (const int[]){1, 0});
        return ln_tflite_reshape(b, moved, 1, (const int64_t[]){-1});
    }
    if (!ln_tflite_known(op, 1, "padding", 2 * TL_MAXDIM, pairs, &count))
        return "";
    for (size_t i = 0; i < count / 2; i++) {
        pads[i] = pairs[2 * i];
        pads[count / 2 + i] = pairs[2 * i + 1];
    }
    return ln_tflite_ints(b, count / 2 * 2, pads);
}

// PADV2 states what is put there; of PAD it is the number 0.
void ln_tflite_read_pad(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool has_value = ln_tflite_has(op, 2);
    bool is_moved = ln_tflite_is_moved(op, 0, 1) && (!has_value || ln_tflite_is_moved(op, 2, 1));
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    const char *x = ln_tflite_moved(op, 0, is_moved), *pads = pads_of(op), *value = NULL;
    if (has_value) {
        value = ln_tflite_moved(op, 2, is_moved);
    } else if (is_moved && ln_tflite_is_quantized(in)) {
        int64_t zero =
            in->zeros.count > 0 ? ln_flat_number_at(b->file, in->zeros, 0, LN_FLAT_I64) : 0;
        value = ln_tflite_scalar(b, in->dtype, (double)zero);
    }
    const char *y = ln_tflite_binary(b, "Pad", x, pads);
    if (value)
        ln_tflite_in(b, value);
    ln_tflite_give_moved(op, 0, y, is_moved);
}

// Axes that are taken whole are not named, so that most slices are of one axis. The size that a
// file states for a tensor may be another one in the run, so an end that is written cuts.
static const char *slice(ln_tflite_builder *b, const char *x, size_t count, int64_t *starts,
                         int64_t *ends, int64_t *axes, int64_t *steps)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_whole = starts[i] == 0 && ends[i] == TO_END && steps[i] == 1;
        if (is_whole && (kept > 0 || i + 1 < count))
            continue;
        starts[kept] = starts[i];
        ends[kept] = ends[i];
        axes[kept] = axes[i];
        steps[kept++] = steps[i];
    }
    const char *from = ln_tflite_ints(b, kept, starts), *to = ln_tflite_ints(b, kept, ends);
    const char *on = ln_tflite_ints(b, kept, axes), *by = ln_tflite_ints(b, kept, steps);
    ln_tflite_begin(b, "Slice");
    ln_tflite_in(b, x);
    ln_tflite_in(b, from);
    ln_tflite_in(b, to);
    ln_tflite_in(b, on);
    ln_tflite_in(b, by);
    return ln_tflite_out(b);
}

// Mirrored with the outermost element: the elements at both ends, backwards, around the tensor.
static const char *mirror_all(ln_tflite_op *op, const char *x, size_t rank, const int64_t *pairs)
{
    ln_tflite_builder *b = op->b;
    for (int64_t axis = 0; axis < (int64_t)rank; axis++) {
        int64_t before = pairs[2 * axis], after = pairs[2 * axis + 1];
        if (before == 0 && after == 0)
            continue;
        int64_t step = -1, start = before - 1, end = TO_START, last = -1, past = -1 - after;
        const char *head = before ? slice(b, x, 1, &start, &end, &axis, &step) : NULL;
        const char *tail = after ? slice(b, x, 1, &last, &past, &axis, &step) : NULL;
        ln_tflite_begin(b, "Concat");
        if (head)
            ln_tflite_in(b, head);
        ln_tflite_in(b, x);
        if (tail)
            ln_tflite_in(b, tail);
        x = ln_tflite_out(b);
        ln_tflite_number(b, "axis", (double)axis);
    }
    return x;
}

void ln_tflite_read_mirror_pad(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved), *y;
    if (ln_tflite_small_option(op, 0) == 0) {
        const char *pads = pads_of(op);
        y = ln_tflite_binary(b, "Pad", x, pads);
        ln_tflite_string(b, "mode", "reflect");
    } else {
        int64_t pairs[2 * TL_MAXDIM];
        size_t count;
        if (!ln_tflite_known(op, 1, "padding", 2 * TL_MAXDIM, pairs, &count))
            return;
        y = mirror_all(op, ln_tflite_unary(b, "Identity", x), count / 2, pairs);
    }
    ln_tflite_give_moved(op, 0, y, is_moved);
}

// ---- Parts ----

void ln_tflite_read_slice(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved);
    int64_t starts[TL_MAXDIM], sizes[TL_MAXDIM], ends[TL_MAXDIM];
    int64_t axes[TL_MAXDIM], steps[TL_MAXDIM];
    size_t count, size_count;
    const char *y;
    if (ln_tflite_is_known(op, 1) && ln_tflite_is_known(op, 2)) {
        if (!ln_tflite_known(op, 1, "start", TL_MAXDIM, starts, &count) ||
            !ln_tflite_known(op, 2, "size", TL_MAXDIM, sizes, &size_count))
            return;
        for (size_t i = 0; i < count && i < size_count; i++) {
            axes[i] = (int64_t)i;
            steps[i] = 1;
            ends[i] = sizes[i] < 0 ? TO_END : starts[i] + sizes[i];
        }
        if (count != size_count)
            ln_tflite_problem(op, NULL, "it has %zu starts and %zu sizes", count, size_count);
        y = slice(b, x, count, starts, ends, axes, steps);
    } else {
        const char *from = ln_tflite_dims(op, 1), *size = ln_tflite_dims(op, 2);
        const char *zero = ln_tflite_scalar(b, TL_INT64, 0);
        const char *end = ln_tflite_scalar(b, TL_INT64, (double)INT32_MAX);
        const char *to_end = ln_tflite_binary(b, "Less", size, zero);
        const char *to = ln_tflite_binary(b, "Add", from, size);
        ln_tflite_begin(b, "Where");
        ln_tflite_in(b, to_end);
        ln_tflite_in(b, end);
        ln_tflite_in(b, to);
        to = ln_tflite_out(b);
        y = ln_tflite_binary(b, "Slice", x, from);
        ln_tflite_in(b, to);
    }
    ln_tflite_give_moved(op, 0, y, is_moved);
}

// A strided slice: what it cuts, the axes of 1 that it adds, and those that go.
typedef struct strided {
    size_t count;
    int64_t starts[TL_MAXDIM], ends[TL_MAXDIM], axes[TL_MAXDIM], steps[TL_MAXDIM];
    // Where the file has what the others come from, and 1 where a mask or one index says the end.
    int64_t written[TL_MAXDIM], has_start[TL_MAXDIM], has_end[TL_MAXDIM], is_one[TL_MAXDIM];
    size_t added_count, gone_count;
    int64_t added[2 * TL_MAXDIM]; // in what is sliced, before axes go
    int64_t gone[TL_MAXDIM];
} strided;

// Masks have a bit for each index as it is written, of which some are no axis of the input.
static bool expand_masks(ln_tflite_op *op, int rank, size_t written, const int64_t *starts,
                         const int64_t *ends, const int64_t *steps, strided *s)
{
    int64_t start_mask = ln_tflite_option(op, 0, 0), end_mask = ln_tflite_option(op, 1, 0);
    int64_t ellipsis = ln_tflite_option(op, 2, 0), added = ln_tflite_option(op, 3, 0);
    int64_t shrink = ln_tflite_option(op, 4, 0);
    bool has_offsets = ln_tflite_small_option(op, 5) != 0;
    int named = 0, axis = 0, sliced = 0; // axis of the input, and of it with those that are added
    for (size_t i = 0; i < written; i++)
        named += !(ellipsis >> i & 1) && !(added >> i & 1);
    for (size_t i = 0; i < written; i++) {
        if (ellipsis >> i & 1) {
            int skipped = rank > named ? rank - named : 0;
            axis += skipped;
            sliced += skipped;
            named = rank; // a second one is for no axis
            continue;
        }
        if (added >> i & 1) {
            s->added[s->added_count++] = sliced++;
            continue;
        }
        if (axis >= rank || s->count == TL_MAXDIM) {
            ln_tflite_problem(op, NULL, "it has more indices than its input has axes, %d", rank);
            return false;
        }
        int64_t step = steps[i], start = starts[i], end = ends[i];
        bool is_one = shrink >> i & 1;
        if (step == 0) {
            ln_tflite_problem(op, NULL, "it has a step of 0");
            return false;
        }
        if (has_offsets)
            end += start;
        if (is_one) {
            step = 1;
            end = start == -1 ? TO_END : start + 1;
            s->gone[s->gone_count++] = sliced;
        } else {
            if (start_mask >> i & 1)
                start = step > 0 ? 0 : TO_END;
            if (end_mask >> i & 1)
                end = step > 0 ? TO_END : TO_START;
        }
        s->written[s->count] = (int64_t)i;
        s->has_start[s->count] = !is_one && (start_mask >> i & 1);
        s->has_end[s->count] = !is_one && (end_mask >> i & 1);
        s->is_one[s->count] = is_one;
        s->starts[s->count] = start;
        s->ends[s->count] = end;
        s->axes[s->count] = axis++;
        s->steps[s->count++] = step;
        sliced++;
    }
    return true;
}

// `yes` where `flags` are 1, else `no`.
static const char *choose(ln_tflite_builder *b, size_t count, const int64_t *flags, const char *yes,
                          const char *no)
{
    const char *one = ln_tflite_scalar(b, TL_INT64, 1);
    const char *is_yes = ln_tflite_binary(b, "Equal", ln_tflite_ints(b, count, flags), one);
    return ln_tflite_ternary(b, "Where", is_yes, yes, no);
}

// The slice, of starts and ends that are computed.
static const char *slice_computed(ln_tflite_op *op, const char *x, const strided *s)
{
    ln_tflite_builder *b = op->b;
    size_t n = s->count;
    const char *written = ln_tflite_ints(b, n, s->written);
    const char *from = ln_tflite_along(b, "Gather", ln_tflite_dims(op, 1), written, 0);
    const char *to = ln_tflite_along(b, "Gather", ln_tflite_dims(op, 2), written, 0);
    if (ln_tflite_small_option(op, 5) != 0)
        to = ln_tflite_binary(b, "Add", from, to);
    const char *last = ln_tflite_scalar(b, TL_INT64, -1), *one = ln_tflite_scalar(b, TL_INT64, 1);
    const char *end = ln_tflite_ints(b, 1, (const int64_t[]){TO_END});
    const char *is_last = ln_tflite_binary(b, "Equal", from, last);
    const char *next = ln_tflite_binary(b, "Add", from, one);
    next = ln_tflite_ternary(b, "Where", is_last, end, next);
    to = choose(b, n, s->is_one, next, to);
    to = choose(b, n, s->has_end, ln_tflite_ints(b, n, s->ends), to);
    from = choose(b, n, s->has_start, ln_tflite_ints(b, n, s->starts), from);
    const char *on = ln_tflite_ints(b, n, s->axes), *by = ln_tflite_ints(b, n, s->steps);
    const char *y = ln_tflite_ternary(b, "Slice", x, from, to);
    ln_tflite_in(b, on);
    ln_tflite_in(b, by);
    return y;
}

// Indices of a start or an end: those that are computed count as 0.
static bool read_indices(ln_tflite_op *op, size_t i, const char *what, int64_t *values,
                         size_t *out_count)
{
    const ln_tflite_tensor *t = ln_tflite_input(op, i);
    if (t->is_const)
        return ln_tflite_known(op, i, what, 2 * TL_MAXDIM, values, out_count);
    if (!ln_tflite_is_going(op->b))
        return false;
    if (t->ndim != 1 || t->dims[0] < 0 || t->dims[0] > 2 * TL_MAXDIM) {
        ln_tflite_problem(op, NULL, "its %s '%s' is not a list of known length", what, t->name);
        return false;
    }
    *out_count = (size_t)t->dims[0];
    for (size_t k = 0; k < *out_count; k++)
        values[k] = 0;
    return true;
}

void ln_tflite_read_strided_slice(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    int64_t starts[2 * TL_MAXDIM], ends[2 * TL_MAXDIM], steps[2 * TL_MAXDIM];
    size_t count, end_count, step_count;
    strided s = {0};
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *y = ln_tflite_moved(op, 0, is_moved);
    if (!read_indices(op, 1, "start", starts, &count) ||
        !read_indices(op, 2, "end", ends, &end_count) ||
        !ln_tflite_known(op, 3, "step", 2 * TL_MAXDIM, steps, &step_count))
        return;
    if (end_count != count || step_count != count) {
        ln_tflite_problem(op, NULL, "it has %zu starts, %zu ends and %zu steps", count, end_count,
                          step_count);
        return;
    }
    if (!expand_masks(op, ln_tflite_input(op, 0)->ndim, count, starts, ends, steps, &s))
        return;
    if (ln_tflite_is_known(op, 1) && ln_tflite_is_known(op, 2))
        y = slice(b, y, s.count, s.starts, s.ends, s.axes, s.steps);
    else
        y = slice_computed(op, y, &s);
    if (s.added_count > 0)
        y = ln_tflite_binary(b, "Unsqueeze", y, ln_tflite_ints(b, s.added_count, s.added));
    if (s.gone_count > 0)
        y = ln_tflite_binary(b, "Squeeze", y, ln_tflite_ints(b, s.gone_count, s.gone));
    ln_tflite_give_moved(op, 0, y, is_moved);
}

static bool are_outputs_moved(ln_tflite_op *op, size_t i)
{
    const ln_tflite_tensor *first = ln_tflite_output(op, 0);
    for (size_t k = 1; k < op->outs.count; k++) {
        const ln_tflite_tensor *out = ln_tflite_output(op, k);
        if (ln_tflite_is_quantized(out) != ln_tflite_is_quantized(first))
            return false;
    }
    return ln_tflite_is_moved(op, i, 1);
}

// One output for each of the file's, in names[], which the caller gives.
static void split(ln_tflite_op *op, size_t input, int axis, const char *lengths, bool is_moved,
                  const char **names)
{
    ln_tflite_builder *b = op->b;
    const char *x = ln_tflite_moved(op, input, is_moved);
    ln_tflite_begin(b, "Split");
    ln_tflite_in(b, x);
    if (lengths)
        ln_tflite_in(b, lengths);
    for (size_t i = 0; i < op->outs.count; i++)
        names[i] = ln_tflite_out(b);
    ln_tflite_number(b, "axis", axis);
    if (!lengths)
        ln_tflite_number(b, "num_outputs", (double)op->outs.count);
}

static bool has_too_many(ln_tflite_op *op)
{
    if (op->outs.count <= LN_TFLITE_MAX_ARGS)
        return false;
    ln_tflite_problem(op, NULL, "it has %zu outputs, more than %d", op->outs.count,
                      LN_TFLITE_MAX_ARGS);
    return true;
}

static void give_all(ln_tflite_op *op, const char *const *names, bool is_moved)
{
    for (size_t i = 0; i < op->outs.count; i++)
        ln_tflite_give_moved(op, i, names[i], is_moved);
}

void ln_tflite_read_split(ln_tflite_op *op)
{
    const char *names[LN_TFLITE_MAX_ARGS];
    int64_t axis;
    size_t count;
    if (has_too_many(op) || !ln_tflite_known(op, 0, "axis", 1, &axis, &count))
        return;
    bool is_moved = are_outputs_moved(op, 1);
    split(op, 1, ln_tflite_axis(op, axis, ln_tflite_input(op, 1)->ndim), NULL, is_moved, names);
    give_all(op, names, is_moved);
}

void ln_tflite_read_split_v(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *names[LN_TFLITE_MAX_ARGS];
    int64_t lengths[LN_TFLITE_MAX_ARGS], axis, sum = 0;
    size_t count, axis_count, open = 0, open_count = 0;
    if (has_too_many(op) ||
        !ln_tflite_known(op, 1, "list of lengths", LN_TFLITE_MAX_ARGS, lengths, &count) ||
        !ln_tflite_known(op, 2, "axis", 1, &axis, &axis_count))
        return;
    int on = ln_tflite_axis(op, axis, ln_tflite_input(op, 0)->ndim);
    for (size_t i = 0; i < count; i++) {
        if (lengths[i] < 0)
            open = i;
        open_count += lengths[i] < 0;
        sum += lengths[i] < 0 ? 0 : lengths[i];
    }
    if (!ln_tflite_is_going(b))
        return;
    int dim = ln_tflite_input(op, 0)->dims[on];
    if (count != op->outs.count || open_count > 1 || (open_count == 1 && dim < sum)) {
        ln_tflite_problem(op, NULL, "it has %zu lengths, of which %zu are open, for %zu outputs",
                          count, open_count, op->outs.count);
        return;
    }
    if (open_count == 1)
        lengths[open] = dim - sum;
    bool is_moved = are_outputs_moved(op, 0);
    split(op, 0, on, ln_tflite_ints(b, count, lengths), is_moved, names);
    give_all(op, names, is_moved);
}

void ln_tflite_read_unpack(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    const char *names[LN_TFLITE_MAX_ARGS];
    if (has_too_many(op))
        return;
    int axis = ln_tflite_axis(op, ln_tflite_option(op, 1, 0), ln_tflite_input(op, 0)->ndim);
    bool is_moved = are_outputs_moved(op, 0);
    const char *axes = ln_tflite_ints(b, 1, (const int64_t[]){axis});
    split(op, 0, axis, NULL, is_moved, names);
    for (size_t i = 0; i < op->outs.count && ln_tflite_is_going(b); i++)
        ln_tflite_give_moved(op, i, ln_tflite_binary(b, "Squeeze", names[i], axes), is_moved);
}

// ---- Together ----

static void join(ln_tflite_op *op, int axis, bool is_pack, int64_t activation)
{
    ln_tflite_builder *b = op->b;
    const char *parts[LN_TFLITE_MAX_ARGS];
    size_t count = op->ins.count;
    if (count > LN_TFLITE_MAX_ARGS || count == 0) {
        ln_tflite_problem(op, NULL, "it has %zu inputs", count);
        return;
    }
    bool is_moved = activation == 0 && ln_tflite_is_moved(op, 0, count);
    const char *axes = is_pack ? ln_tflite_ints(b, 1, (const int64_t[]){axis}) : NULL;
    for (size_t i = 0; i < count && ln_tflite_is_going(b); i++) {
        parts[i] = ln_tflite_moved(op, i, is_moved);
        if (is_pack)
            parts[i] = ln_tflite_binary(b, "Unsqueeze", parts[i], axes);
    }
    ln_tflite_begin(b, "Concat");
    for (size_t i = 0; i < count && ln_tflite_is_going(b); i++)
        ln_tflite_in(b, parts[i]);
    const char *y = ln_tflite_out(b);
    ln_tflite_number(b, "axis", axis);
    if (is_moved)
        ln_tflite_give_raw(op, 0, y);
    else
        ln_tflite_give(op, 0, y, activation);
}

void ln_tflite_read_concatenation(ln_tflite_op *op)
{
    int axis = ln_tflite_axis(op, ln_tflite_option(op, 0, 0), ln_tflite_input(op, 0)->ndim);
    join(op, axis, false, ln_tflite_small_option(op, 1));
}

void ln_tflite_read_pack(ln_tflite_op *op)
{
    int axis = ln_tflite_axis(op, ln_tflite_option(op, 1, 0), ln_tflite_input(op, 0)->ndim + 1);
    join(op, axis, true, 0);
}

// ---- Chosen ----

void ln_tflite_read_gather(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved), *y;
    int axis = ln_tflite_axis(op, ln_tflite_option(op, 0, 0), ln_tflite_input(op, 0)->ndim);
    int64_t batch = ln_tflite_option(op, 1, 0);
    if (batch == 0) {
        const char *indices = ln_tflite_raw(op, 1);
        y = ln_tflite_binary(b, "Gather", x, indices);
        ln_tflite_number(b, "axis", axis);
    } else {
        if (batch != axis)
            ln_tflite_problem(op, NULL, "it gathers on axis %d of batches of %lld axes", axis,
                              (long long)batch);
        const char *indices = ln_tflite_dims(op, 1);
        const char *axes = ln_tflite_ints(b, 1, (const int64_t[]){-1});
        indices = ln_tflite_binary(b, "Unsqueeze", indices, axes);
        y = ln_tflite_binary(b, "GatherND", x, indices);
        ln_tflite_number(b, "batch_dims", (double)batch);
    }
    ln_tflite_give_moved(op, 0, y, is_moved);
}

void ln_tflite_read_gather_nd(ln_tflite_op *op)
{
    move_by(op, "GatherND", ln_tflite_dims(op, 1));
}

void ln_tflite_read_reverse(ln_tflite_op *op)
{
    int64_t axes[TL_MAXDIM], starts[TL_MAXDIM], ends[TL_MAXDIM], steps[TL_MAXDIM];
    size_t count;
    if (!ln_tflite_known(op, 1, "list of axes", TL_MAXDIM, axes, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        starts[i] = TO_END;
        ends[i] = TO_START;
        steps[i] = -1;
    }
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved);
    ln_tflite_give_moved(op, 0, slice(op->b, x, count, starts, ends, axes, steps), is_moved);
}

// Of each batch the steps before its length, backwards. ONNX has steps and batches first.
void ln_tflite_read_reverse_sequence(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    int rank = ln_tflite_input(op, 0)->ndim, perm[TL_MAXDIM], back[TL_MAXDIM], count = 2;
    perm[0] = ln_tflite_axis(op, ln_tflite_option(op, 0, 0), rank);
    perm[1] = ln_tflite_axis(op, ln_tflite_option(op, 1, 0), rank);
    if (!ln_tflite_is_going(b))
        return;
    if (perm[0] == perm[1]) {
        ln_tflite_problem(op, NULL, "axis %d is of steps and of batches", perm[0]);
        return;
    }
    for (int i = 0; i < rank; i++) {
        if (i != perm[0] && i != perm[1])
            perm[count++] = i;
    }
    for (int i = 0; i < rank; i++)
        back[perm[i]] = i;
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved), *lengths = ln_tflite_dims(op, 1);
    x = ln_tflite_binary(b, "ReverseSequence", ln_tflite_transpose(b, x, rank, perm), lengths);
    ln_tflite_number(b, "time_axis", 0);
    ln_tflite_number(b, "batch_axis", 1);
    ln_tflite_give_moved(op, 0, ln_tflite_transpose(b, x, rank, back), is_moved);
}

void ln_tflite_read_top_k(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    bool is_moved = ln_tflite_is_moved(op, 0, 1);
    const char *x = ln_tflite_moved(op, 0, is_moved);
    const char *count = ln_tflite_dims(op, 1);
    count = ln_tflite_reshape(b, count, 1, (const int64_t[]){1});
    const char *values = ln_tflite_binary(b, "TopK", x, count);
    const char *indices = ln_tflite_out(b);
    ln_tflite_give_moved(op, 0, values, is_moved);
    ln_tflite_give_raw(op, 1, ln_tflite_cast(b, indices, ln_tflite_output(op, 1)->dtype));
}

// ---- Blocks ----

// The blocks' sizes, and what is put around the axes that they are of or cut from them.
typedef struct blocks {
    size_t count;
    int64_t size[TL_MAXDIM];
    int64_t edges[2 * TL_MAXDIM];
    int rank;
} blocks;

static bool read_blocks(ln_tflite_op *op, blocks *s)
{
    size_t edge_count;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    if (!ln_tflite_known(op, 1, "block", TL_MAXDIM, s->size, &s->count) ||
        !ln_tflite_known(op, 2, "list of edges", 2 * TL_MAXDIM, s->edges, &edge_count))
        return false;
    s->rank = in->ndim;
    bool is_known = edge_count == 2 * s->count && s->rank > (int)s->count &&
                    s->rank + (int)s->count <= TL_MAXDIM;
    for (size_t i = 0; is_known && i < s->count; i++)
        is_known = s->size[i] > 0 && s->size[i] <= INT32_MAX && in->dims[i + 1] >= 0 &&
                   s->edges[2 * i] >= 0 && s->edges[2 * i] <= INT32_MAX &&
                   s->edges[2 * i + 1] >= 0 && s->edges[2 * i + 1] <= INT32_MAX;
    for (int i = (int)s->count + 1; is_known && i < s->rank; i++)
        is_known = in->dims[i] >= 0;
    if (!is_known)
        ln_tflite_problem(op, NULL, "its blocks do not fit '%s', of rank %d", in->name, in->ndim);
    return is_known;
}

// [N, H b, ...] as [N, H, b, ...], whose blocks go before N.
void ln_tflite_read_space_to_batch(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    blocks s;
    if (!read_blocks(op, &s))
        return;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    int m = (int)s.count, rest = s.rank - m - 1, perm[TL_MAXDIM];
    int64_t pads[2 * TL_MAXDIM] = {0}, parts[TL_MAXDIM] = {-1}, dims[TL_MAXDIM] = {-1};
    for (int i = 0; i < m; i++) {
        pads[i + 1] = s.edges[2 * i];
        pads[s.rank + i + 1] = s.edges[2 * i + 1];
        int64_t dim = in->dims[i + 1] + s.edges[2 * i] + s.edges[2 * i + 1];
        if (dim % s.size[i] != 0)
            ln_tflite_problem(op, NULL, "%lld rows of axis %d are no blocks of %lld",
                              (long long)dim, i + 1, (long long)s.size[i]);
        parts[2 * i + 1] = dims[i + 1] = dim / s.size[i];
        parts[2 * i + 2] = s.size[i];
        perm[i] = 2 * i + 2;
        perm[m + 1 + i] = 2 * i + 1;
    }
    perm[m] = 0;
    for (int i = 0; i < rest; i++) {
        parts[2 * m + 1 + i] = dims[m + 1 + i] = in->dims[m + 1 + i];
        perm[2 * m + 1 + i] = 2 * m + 1 + i;
    }
    const char *x = ln_tflite_real(op, 0);
    const char *around = ln_tflite_ints(b, 2 * (size_t)s.rank, pads);
    x = ln_tflite_reshape(b, ln_tflite_binary(b, "Pad", x, around), s.rank + m, parts);
    x = ln_tflite_transpose(b, x, s.rank + m, perm);
    ln_tflite_give(op, 0, ln_tflite_reshape(b, x, s.rank, dims), 0);
}

// The way back: [b, ..., N, H, ...] as [N, H, b, ...].
void ln_tflite_read_batch_to_space(ln_tflite_op *op)
{
    ln_tflite_builder *b = op->b;
    blocks s;
    if (!read_blocks(op, &s))
        return;
    const ln_tflite_tensor *in = ln_tflite_input(op, 0);
    int m = (int)s.count, rest = s.rank - m - 1, perm[TL_MAXDIM];
    int64_t parts[TL_MAXDIM], dims[TL_MAXDIM] = {-1}, starts[TL_MAXDIM], ends[TL_MAXDIM];
    int64_t axes[TL_MAXDIM], steps[TL_MAXDIM];
    parts[m] = -1;
    perm[0] = m;
    for (int i = 0; i < m; i++) {
        parts[i] = s.size[i];
        parts[m + 1 + i] = in->dims[i + 1];
        perm[2 * i + 1] = m + 1 + i;
        perm[2 * i + 2] = i;
        dims[i + 1] = in->dims[i + 1] * s.size[i];
        starts[i] = s.edges[2 * i];
        ends[i] = dims[i + 1] - s.edges[2 * i + 1];
        if (starts[i] > ends[i])
            ln_tflite_problem(op, NULL, "%lld and %lld rows are cut from %lld of axis %d",
                              (long long)starts[i], (long long)s.edges[2 * i + 1],
                              (long long)dims[i + 1], i + 1);
        axes[i] = i + 1;
        steps[i] = 1;
    }
    for (int i = 0; i < rest; i++) {
        parts[2 * m + 1 + i] = dims[m + 1 + i] = in->dims[m + 1 + i];
        perm[2 * m + 1 + i] = 2 * m + 1 + i;
    }
    const char *x = ln_tflite_reshape(b, ln_tflite_real(op, 0), s.rank + m, parts);
    x = ln_tflite_transpose(b, x, s.rank + m, perm);
    x = ln_tflite_reshape(b, x, s.rank, dims);
    ln_tflite_give(op, 0, slice(b, x, s.count, starts, ends, axes, steps), 0);
}
