// SPDX-License-Identifier: Apache-2.0
// Custom operators that public models have: TFLite_Detection_PostProcess, the end of detectors of
// the SSD family, and Convolution2DTransposeBias of MediaPipe, which op_window.c reads.

#include <math.h>
#include <string.h>

#include "serial/tflite/builder.h"
#include "serial/tflite/flex.h"

#define MAX_DETECTIONS 100000

// What the options state, and the tensors between the parts.
typedef struct detection {
    int64_t most, classes_each, classes, class_most, boxes, score_width;
    bool is_regular;
    float least_score, share;
    const char *corners; // [boxes, 4]: y, x of two corners
    const char *scores;  // [boxes, classes]
} detection;

static bool read_options(ln_tflite_op *op, detection *d)
{
    ln_flex map = {.bytes = op->b->file->bytes + op->custom.at, .len = op->custom.count};
    const ln_tflite_tensor *codes = ln_tflite_input(op, 0), *scores = ln_tflite_input(op, 1);
    double most = ln_flex_number(map, "max_detections", 0);
    double each = ln_flex_number(map, "max_classes_per_detection", 0);
    double classes = ln_flex_number(map, "num_classes", 0);
    double class_most = ln_flex_number(map, "detections_per_class", 100);
    d->is_regular = ln_flex_number(map, "use_regular_nms", 0) != 0;
    d->least_score = (float)ln_flex_number(map, "nms_score_threshold", 0);
    d->share = (float)ln_flex_number(map, "nms_iou_threshold", 0);
    if (!ln_tflite_is_going(op->b))
        return false;
    if (codes->ndim != 3 || codes->dims[0] != 1 || codes->dims[1] < 1 || codes->dims[2] < 4 ||
        scores->ndim != 3 || scores->dims[0] != 1 || scores->dims[1] != codes->dims[1]) {
        ln_tflite_problem(op, NULL, "'%s' and '%s' are not boxes and scores of one image",
                          codes->name, scores->name);
        return false;
    }
    // Each comparison fails for NaN.
    if (!(most >= 1 && most <= MAX_DETECTIONS) || !(each >= 1 && each <= MAX_DETECTIONS) ||
        !(classes >= 1 && classes <= scores->dims[2]) ||
        !(class_most >= 1 && class_most <= MAX_DETECTIONS) || !(d->share > 0 && d->share <= 1)) {
        ln_tflite_problem(op, NULL,
                          "its options are max_detections %g, max_classes_per_detection %g, "
                          "num_classes %g of %d, detections_per_class %g, nms_iou_threshold %g",
                          most, each, classes, scores->dims[2], class_most, (double)d->share);
        return false;
    }
    d->most = (int64_t)most;
    d->classes = (int64_t)classes;
    d->classes_each = each < classes ? (int64_t)each : d->classes;
    d->class_most = class_most < codes->dims[1] ? (int64_t)class_most : codes->dims[1];
    d->boxes = codes->dims[1];
    d->score_width = scores->dims[2];
    return true;
}

// Columns `from` and up to `to` of a matrix.
static const char *columns(ln_tflite_builder *b, const char *x, int64_t from, int64_t to)
{
    const char *first = ln_tflite_ints(b, 1, &from), *past = ln_tflite_ints(b, 1, &to);
    const char *y = ln_tflite_ternary(b, "Slice", x, first, past);
    ln_tflite_in(b, ln_tflite_ints(b, 1, (const int64_t[]){1}));
    return y;
}

// Middle and half size along one side: column `i` of the middles, i + 2 of the sizes.
static void decode(ln_tflite_op *op, const char *codes, const char *anchors, int64_t i,
                   const char **out_middle, const char **out_half)
{
    static const char *const keys[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
    ln_tflite_builder *b = op->b;
    ln_flex map = {.bytes = b->file->bytes + op->custom.at, .len = op->custom.count};
    const char *size = columns(b, anchors, i + 2, i + 3), *scaled[2];
    for (int64_t k = 0; k < 2; k++) {
        double scale = ln_flex_number(map, keys[i + 2 * k], 0);
        if (!(scale > 0) || !isfinite(scale))
            ln_tflite_problem(op, NULL, "its option %s is %g", keys[i + 2 * k], scale);
        const char *code = columns(b, codes, i + 2 * k, i + 2 * k + 1);
        scaled[k] = ln_tflite_binary(b, "Div", code, ln_tflite_scalar(b, TL_FLOAT, (float)scale));
    }
    const char *middle = ln_tflite_binary(b, "Mul", scaled[0], size);
    *out_middle = ln_tflite_binary(b, "Add", middle, columns(b, anchors, i, i + 1));
    const char *half = ln_tflite_scalar(b, TL_FLOAT, 0.5);
    half = ln_tflite_binary(b, "Mul", ln_tflite_unary(b, "Exp", scaled[1]), half);
    *out_half = ln_tflite_binary(b, "Mul", half, size);
}

static void find_boxes(ln_tflite_op *op, detection *d)
{
    ln_tflite_builder *b = op->b;
    const char *codes = ln_tflite_real(op, 0), *anchors = ln_tflite_real(op, 2);
    const char *scores = ln_tflite_real(op, 1), *middle[2], *half[2], *corner[4];
    codes = ln_tflite_reshape(b, codes, 2, (const int64_t[]){d->boxes, -1});
    for (int i = 0; i < 2; i++) {
        decode(op, codes, anchors, i, &middle[i], &half[i]);
        corner[i] = ln_tflite_binary(b, "Sub", middle[i], half[i]);
        corner[i + 2] = ln_tflite_binary(b, "Add", middle[i], half[i]);
    }
    ln_tflite_begin(b, "Concat");
    for (int i = 0; i < 4; i++)
        ln_tflite_in(b, corner[i]);
    d->corners = ln_tflite_out(b);
    ln_tflite_number(b, "axis", 1);
    // Classes that are not counted, such as the background, come first.
    scores = ln_tflite_reshape(b, scores, 2, (const int64_t[]){d->boxes, d->score_width});
    d->scores = columns(b, scores, d->score_width - d->classes, d->score_width);
}

// The boxes that are left of each row of scores [1, rows, boxes], as [n, 3]. A score that is the
// threshold itself counts here and not in ONNX.
static const char *suppress(ln_tflite_builder *b, const detection *d, const char *scores,
                            int64_t most)
{
    const char *least = ln_tflite_scalar(b, TL_FLOAT, nextafterf(d->least_score, -INFINITY));
    const char *share = ln_tflite_scalar(b, TL_FLOAT, d->share);
    const char *first = ln_tflite_ints(b, 1, (const int64_t[]){0});
    const char *boxes = ln_tflite_binary(b, "Unsqueeze", d->corners, first);
    const char *number = ln_tflite_ints(b, 1, &most);
    const char *chosen = ln_tflite_ternary(b, "NonMaxSuppression", boxes, scores, number);
    ln_tflite_in(b, share);
    ln_tflite_in(b, least);
    return chosen;
}

static const char *list_of(ln_tflite_builder *b, const char *x)
{
    return ln_tflite_reshape(b, x, 1, (const int64_t[]){-1});
}

// A list of known length that begins with `list`, of length `count`, and is `fill` from there.
static const char *at_length(ln_tflite_builder *b, const char *list, const char *count,
                             int64_t length, const char *fill)
{
    const char *zero = ln_tflite_scalar(b, TL_INT64, 0), *one = ln_tflite_scalar(b, TL_INT64, 1);
    const char *places = ln_tflite_ternary(b, "Range", zero, count, one);
    places = ln_tflite_reshape(b, places, 2, (const int64_t[]){-1, 1});
    const char *into = ln_tflite_filled(b, fill, 1, &length);
    return ln_tflite_ternary(b, "ScatterND", into, places, list);
}

// Rows [length, width] of `x` where they are valid, zeros elsewhere and up to the output's length.
static void give_rows(ln_tflite_op *op, size_t i, const char *x, const char *is_valid,
                      int64_t length, int64_t width, int64_t wanted)
{
    ln_tflite_builder *b = op->b;
    x = ln_tflite_reshape(b, x, 2, (const int64_t[]){length, width});
    x = ln_tflite_ternary(b, "Where", is_valid, x, ln_tflite_scalar(b, TL_FLOAT, 0));
    if (length * width < wanted) {
        const int64_t pads[] = {0, 0, wanted / width - length, 0};
        x = ln_tflite_binary(b, "Pad", x, ln_tflite_ints(b, 4, pads));
    }
    // Boxes have four numbers each.
    int64_t dims[] = {1, i == 0 ? wanted / 4 : wanted, 4};
    ln_tflite_give_raw(op, i, ln_tflite_reshape(b, x, i == 0 ? 3 : 2, dims));
}

static const char *valid_rows(ln_tflite_builder *b, const char *count, int64_t length)
{
    const char *is_valid = ln_tflite_binary(b, "Less", ln_tflite_steps(b, length, 1), count);
    return ln_tflite_reshape(b, is_valid, 2, (const int64_t[]){-1, 1});
}

static void give_count(ln_tflite_op *op, const char *count)
{
    count = ln_tflite_cast(op->b, count, TL_FLOAT);
    ln_tflite_give_raw(op, 3, ln_tflite_reshape(op->b, count, 1, (const int64_t[]){1}));
}

// Each box counts once, by its best class, and is given with its best classes.
static void detect_fast(ln_tflite_op *op, const detection *d)
{
    ln_tflite_builder *b = op->b;
    const char *each = ln_tflite_ints(b, 1, &d->classes_each);
    const char *best = ln_tflite_binary(b, "TopK", d->scores, each);
    const char *classes = ln_tflite_out(b);
    ln_tflite_number(b, "axis", 1);
    const char *first =
        ln_tflite_reshape(b, columns(b, best, 0, 1), 3, (const int64_t[]){1, 1, d->boxes});
    const char *chosen = list_of(b, columns(b, suppress(b, d, first, d->most), 2, 3));
    const char *count = ln_tflite_unary(b, "Size", chosen);
    chosen = at_length(b, chosen, count, d->most, ln_tflite_scalar(b, TL_INT64, 0));
    const char *is_valid = valid_rows(b, count, d->most);
    int64_t k = d->classes_each, total = d->most * k;
    const char *boxes = ln_tflite_along(b, "Gather", d->corners, chosen, 0);
    boxes = ln_tflite_reshape(b, boxes, 3, (const int64_t[]){d->most, 1, 4});
    boxes = ln_tflite_filled(b, boxes, 3, (const int64_t[]){d->most, k, 4});
    give_rows(op, 0, boxes, is_valid, d->most, 4 * k, 4 * total);
    classes = ln_tflite_cast(b, ln_tflite_along(b, "Gather", classes, chosen, 0), TL_FLOAT);
    give_rows(op, 1, classes, is_valid, d->most, k, total);
    give_rows(op, 2, ln_tflite_along(b, "Gather", best, chosen, 0), is_valid, d->most, k, total);
    give_count(op, count);
}

// Each class on its own, and of all that are left those with the best scores.
static void detect_regular(ln_tflite_op *op, const detection *d)
{
    ln_tflite_builder *b = op->b;
    int64_t all = d->classes * d->class_most, length = d->most < all ? d->most : all;
    const char *rows = ln_tflite_transpose(b, d->scores, 2, (const int[]){1, 0});
    rows = ln_tflite_reshape(b, rows, 3, (const int64_t[]){1, d->classes, d->boxes});
    const char *chosen = suppress(b, d, rows, d->class_most);
    const char *class = list_of(b, columns(b, chosen, 1, 2));
    const char *box = list_of(b, columns(b, chosen, 2, 3));
    const char *width = ln_tflite_scalar(b, TL_INT64, (double)d->classes);
    const char *place = ln_tflite_binary(b, "Add", ln_tflite_binary(b, "Mul", box, width), class);
    const char *count = ln_tflite_unary(b, "Size", place);
    const char *flat = list_of(b, d->scores);
    const char *scores = ln_tflite_along(b, "Gather", flat, place, 0);
    scores = at_length(b, scores, count, all, ln_tflite_scalar(b, TL_FLOAT, -INFINITY));
    place = at_length(b, place, count, all, ln_tflite_scalar(b, TL_INT64, 0));
    const char *best = ln_tflite_binary(b, "TopK", scores, ln_tflite_ints(b, 1, &length));
    const char *at = ln_tflite_out(b);
    place = ln_tflite_along(b, "Gather", place, at, 0);
    count = ln_tflite_binary(b, "Min", count, ln_tflite_scalar(b, TL_INT64, (double)length));
    const char *is_valid = valid_rows(b, count, length);
    box = ln_tflite_binary(b, "Div", place, width);
    class = ln_tflite_cast(b, ln_tflite_binary(b, "Mod", place, width), TL_FLOAT);
    int64_t total = d->most * d->classes_each;
    give_rows(op, 0, ln_tflite_along(b, "Gather", d->corners, box, 0), is_valid, length, 4,
              4 * total);
    give_rows(op, 1, class, is_valid, length, 1, total);
    give_rows(op, 2, best, is_valid, length, 1, total);
    give_count(op, count);
}

bool ln_tflite_read_custom(ln_tflite_op *op, const char *name)
{
    if (strcmp(name, "Convolution2DTransposeBias") == 0) {
        ln_tflite_read_transpose_bias(op);
        return true;
    }
    if (strcmp(name, "TFLite_Detection_PostProcess") != 0)
        return false;
    detection d = {0};
    if (!read_options(op, &d))
        return true;
    find_boxes(op, &d);
    if (d.is_regular)
        detect_regular(op, &d);
    else
        detect_fast(op, &d);
    return true;
}
