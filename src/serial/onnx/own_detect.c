// SPDX-License-Identifier: Apache-2.0
// Boxes of detectors, decoded by the operators that ONNX has for arithmetic.

#include "serial/onnx/own.h"

#include <lightnet/allocator.h>
#include <lightnet/tensor_entry.h>

typedef char name[LN_MAX_NAME_LEN];

static ln_status add_scalar(ln_onnx_writer *w, double value, char *out_name)
{
    return ln_onnx_add_floats(w, 0, NULL, &value, out_name);
}

static ln_status add_pair(ln_onnx_writer *w, double first, double second, char *out_name)
{
    return ln_onnx_add_floats(w, 1, (int[]){2}, (double[]){first, second}, out_name);
}

// centre - size / 2 and centre + size / 2.
static ln_status add_ends(ln_onnx_writer *w, const char *centre, const char *size, char *low,
                          char *high)
{
    name half, half_size;
    LN_TRY(add_scalar(w, 0.5, half));
    ln_own_new2(w, "Mul", size, half, half_size);
    ln_own_new2(w, "Sub", centre, half_size, low);
    ln_own_new2(w, "Add", centre, half_size, high);
    return LN_OK;
}

static void put_concat(ln_onnx_writer *w, const char *in1, const char *in2, int axis,
                       const char *out)
{
    ln_onnx_begin(w, "Concat");
    ln_onnx_in(w, in1);
    ln_onnx_in(w, in2);
    ln_onnx_out_name(w, out);
    ln_onnx_attr_int(w, "axis", axis);
    ln_onnx_end(w);
}

// ---- SqueezeDet ----

// exp(x) below 1, and x * e from there.
static ln_status add_safe_exp(ln_onnx_writer *w, const char *x, char *out)
{
    name one, e, is_small, small, large;
    LN_TRY(add_scalar(w, 1, one));
    LN_TRY(add_scalar(w, 2.718281828459045, e));
    ln_own_new2(w, "Less", x, one, is_small);
    ln_own_new1(w, "Exp", x, small);
    ln_own_new2(w, "Mul", x, e, large);
    ln_onnx_new_name(w, out);
    ln_onnx_begin(w, "Where");
    ln_onnx_in(w, is_small);
    ln_onnx_in(w, small);
    ln_onnx_in(w, large);
    ln_onnx_out_name(w, out);
    ln_onnx_end(w);
    return LN_OK;
}

// Within the picture.
static ln_status add_clamped(ln_onnx_writer *w, const char *x, const char *last, char *out)
{
    name zero, from_zero;
    LN_TRY(add_scalar(w, 0, zero));
    ln_own_new2(w, "Max", x, zero, from_zero);
    ln_own_new2(w, "Min", from_zero, last, out);
    return LN_OK;
}

typedef struct box_parts {
    name delta_centre, delta_size, anchor_centre, anchor_size, scale;
} box_parts;

static ln_status split_boxes(ln_onnx_writer *w, int axis, box_parts *p)
{
    const char *delta = ln_own_in(w, "src_delta"), *anchor = ln_own_in(w, "src_anchor");
    LN_TRY(ln_own_new_slice(w, delta, axis, 0, 2, p->delta_centre));
    LN_TRY(ln_own_new_slice(w, delta, axis, 2, 4, p->delta_size));
    LN_TRY(ln_own_new_slice(w, anchor, axis, 0, 2, p->anchor_centre));
    LN_TRY(ln_own_new_slice(w, anchor, axis, 2, 4, p->anchor_size));
    return add_pair(w, ln_own_number(w, "img_width") / ln_own_number(w, "width"),
                    ln_own_number(w, "img_height") / ln_own_number(w, "height"), p->scale);
}

static ln_status add_centre(ln_onnx_writer *w, const box_parts *p, char *out)
{
    name moved, centre, scaled, shift;
    LN_TRY(add_pair(w, ln_own_number(w, "x_shift"), ln_own_number(w, "y_shift"), shift));
    ln_own_new2(w, "Mul", p->delta_centre, p->anchor_size, moved);
    ln_own_new2(w, "Add", p->anchor_centre, moved, centre);
    ln_own_new2(w, "Mul", centre, p->scale, scaled);
    ln_own_new2(w, "Add", scaled, shift, out);
    return LN_OK;
}

static ln_status add_size(ln_onnx_writer *w, const box_parts *p, char *out)
{
    name factor, size;
    LN_TRY(add_safe_exp(w, p->delta_size, factor));
    ln_own_new2(w, "Mul", p->anchor_size, factor, size);
    ln_own_new2(w, "Mul", size, p->scale, out);
    return LN_OK;
}

static ln_status write_boxes(ln_onnx_writer *w, box_parts *p)
{
    name centre, size, low, high, last, first_corner, second_corner;
    const char *dst = ln_own_out(w, "dst");
    int axis = ln_own_tensor(w, dst)->ndim - 1;
    LN_TRY(split_boxes(w, axis, p));
    LN_TRY(add_centre(w, p, centre));
    LN_TRY(add_size(w, p, size));
    LN_TRY(add_ends(w, centre, size, low, high));
    LN_TRY(
        add_pair(w, ln_own_number(w, "img_width") - 1, ln_own_number(w, "img_height") - 1, last));
    LN_TRY(add_clamped(w, low, last, first_corner));
    LN_TRY(add_clamped(w, high, last, second_corner));
    put_concat(w, first_corner, second_corner, axis, dst);
    return LN_OK;
}

ln_status ln_own_write_boxes(ln_onnx_writer *w)
{
    box_parts p;
    return write_boxes(w, &p);
}

// ---- YOLOv3 ----

// The name of an output, or a new one where nobody wants it.
static const char *out_or_new(ln_onnx_writer *w, const char *arg_name, char *room)
{
    const char *out = ln_own_out(w, arg_name);
    if (out)
        return out;
    ln_onnx_new_name(w, room);
    return room;
}

// [1, 1, 2, H, W]: the column, then the row, of each place.
static ln_status add_grid(ln_onnx_writer *w, int height, int width, char *out_name)
{
    size_t plane = (size_t)height * (size_t)width;
    double *grid = ln_alloc_array(2 * plane, sizeof *grid);
    if (!grid)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < plane; i++) {
        grid[i] = (double)(i % (size_t)width);
        grid[plane + i] = (double)(i / (size_t)width);
    }
    ln_status status = ln_onnx_add_floats(w, 5, (int[]){1, 1, 2, height, width}, grid, out_name);
    ln_free(grid);
    return status;
}

static ln_status write_centers(ln_onnx_writer *w, const char *maps, int height, int width,
                               const char *out)
{
    name part, unit, grid, place, scale;
    const double scales[2] = {ln_own_number(w, "img_width") / width,
                              ln_own_number(w, "img_height") / height};
    LN_TRY(ln_own_new_slice(w, maps, 2, 0, 2, part));
    ln_own_new1(w, "Sigmoid", part, unit);
    LN_TRY(add_grid(w, height, width, grid));
    ln_own_new2(w, "Add", unit, grid, place);
    LN_TRY(ln_onnx_add_floats(w, 5, (int[]){1, 1, 2, 1, 1}, scales, scale));
    ln_own_node2(w, "Mul", place, scale, out);
    return LN_OK;
}

static ln_status write_sizes(ln_onnx_writer *w, const char *maps, int count, const char *out)
{
    name part, factor, least, from_least, most, clamped, shape, anchors;
    LN_TRY(ln_own_new_slice(w, maps, 2, 2, 4, part));
    ln_own_new1(w, "Exp", part, factor);
    LN_TRY(add_scalar(w, 1e-9, least));
    LN_TRY(add_scalar(w, 50, most));
    ln_own_new2(w, "Max", factor, least, from_least);
    ln_own_new2(w, "Min", from_least, most, clamped);
    LN_TRY(ln_onnx_add_ints(w, 5, (int[]){1, count, 2, 1, 1}, shape));
    ln_own_new2(w, "Reshape", ln_own_in(w, "anchors"), shape, anchors);
    ln_own_node2(w, "Mul", clamped, anchors, out);
    return LN_OK;
}

static ln_status write_unit(ln_onnx_writer *w, const char *maps, int start, int end,
                            const char *out)
{
    name part;
    if (!out)
        return LN_OK;
    LN_TRY(ln_own_new_slice(w, maps, 2, start, end, part));
    ln_own_node1(w, "Sigmoid", part, out);
    return LN_OK;
}

ln_status ln_own_write_yolo(ln_onnx_writer *w)
{
    const tl_tensor *feature = ln_own_tensor(w, ln_own_in(w, "feature"));
    int count = ln_own_tensor(w, ln_own_in(w, "anchors"))->dims[0];
    int channels = feature->dims[1] / count, height = feature->dims[2], width = feature->dims[3];
    name shape, maps, centers_room, sizes_room, low, high;
    LN_TRY(ln_onnx_add_ints(w, 5, (int[]){1, count, channels, height, width}, shape));
    ln_own_new2(w, "Reshape", ln_own_in(w, "feature"), shape, maps);
    const char *centers = out_or_new(w, "box_centers", centers_room);
    const char *sizes = out_or_new(w, "box_sizes", sizes_room);
    LN_TRY(write_centers(w, maps, height, width, centers));
    LN_TRY(write_sizes(w, maps, count, sizes));
    LN_TRY(add_ends(w, centers, sizes, low, high));
    if (ln_own_out(w, "boxes"))
        put_concat(w, low, high, 2, ln_own_out(w, "boxes"));
    LN_TRY(write_unit(w, maps, 4, 5, ln_own_out(w, "confs")));
    return write_unit(w, maps, 5, channels, ln_own_out(w, "probs"));
}
