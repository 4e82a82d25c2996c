// SPDX-License-Identifier: Apache-2.0
// Decoding of detection heads into boxes: SqueezeDet and YOLOv3. Computed in double and rounded
// once, so that a box is as exact as its numbers allow, however far it reaches beyond its anchor.

#include <lightnet/tensor.h>

#include <math.h>

#include "tensor/tensor_check.h"

static bool is_float(const tl_tensor *t, const char *arg_name)
{
    if (!tensor_is_usable(t, arg_name))
        return false;
    if (t->dtype == TL_FLOAT)
        return true;
    ln_fail(LN_INVALID, "'%s' is %s instead of float32", arg_name, tl_dtype_title(t->dtype));
    return false;
}

// ---- SqueezeDet ----

// exp with a linear tail, so that a wild delta gives a large box and no infinity.
static double safe_exp(double v)
{
    return v < 1 ? exp(v) : v * 2.718281828459045;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

// One direction of a box: from delta and anchor to the two ends.
static void decode_span(double centre_delta, double size_delta, double anchor_centre,
                        double anchor_size, double scale, double shift, double image_size,
                        float *out_low, float *out_high)
{
    double centre = (anchor_centre + centre_delta * anchor_size) * scale + shift;
    double size = anchor_size * safe_exp(size_delta) * scale;
    *out_low = (float)clamp(centre - size / 2, 0, image_size - 1);
    *out_high = (float)clamp(centre + size / 2, 0, image_size - 1);
}

tl_tensor *tl_tensor_transform_bboxSQD(const tl_tensor *delta, const tl_tensor *anchor,
                                       tl_tensor *dst, int width, int height, int img_width,
                                       int img_height, int x_shift, int y_shift)
{
    if (!is_float(delta, "delta") || !is_float(anchor, "anchor") ||
        !tensors_are_one_or_apart(delta, dst) || !tensors_are_one_or_apart(anchor, dst))
        return NULL;
    if (!tl_tensor_issameshape(delta, anchor) || delta->ndim < 1 ||
        delta->dims[delta->ndim - 1] != 4) {
        ln_fail(LN_INVALID, "'delta' and 'anchor' must have one shape that ends in 4");
        return NULL;
    }
    if (width <= 0 || height <= 0 || img_width <= 0 || img_height <= 0) {
        ln_fail(LN_INVALID, "sizes %dx%d and %dx%d must be above 0", width, height, img_width,
                img_height);
        return NULL;
    }
    dst = tensor_result(dst, delta->ndim, delta->dims, TL_FLOAT);
    if (!dst)
        return NULL;

    double x_scale = (double)img_width / width, y_scale = (double)img_height / height;
    const float *d = delta->data, *a = anchor->data;
    float *box = dst->data;
    for (int i = 0; i < delta->len; i += 4, d += 4, a += 4, box += 4) {
        float ends[4];
        decode_span(d[0], d[2], a[0], a[2], x_scale, x_shift, img_width, &ends[0], &ends[2]);
        decode_span(d[1], d[3], a[1], a[3], y_scale, y_shift, img_height, &ends[1], &ends[3]);
        for (int k = 0; k < 4; k++)
            box[k] = ends[k];
    }
    return dst;
}

// ---- YOLOv3 ----

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

// `t` is NULL or float [1, anchors, channels, height, width].
static bool check_output(const tl_tensor *t, const char *arg_name, const int *dims,
                         const tl_tensor *feature)
{
    if (!t)
        return true;
    const tl_tensor wanted = {.ndim = 5, .dims = (int[]){1, dims[0], dims[1], dims[2], dims[3]}};
    if (!is_float(t, arg_name) || !tensors_are_apart(feature, t))
        return false;
    if (tl_tensor_issameshape(t, &wanted))
        return true;
    ln_fail(LN_INVALID, "'%s' must be [1, %d, %d, %d, %d]", arg_name, dims[0], dims[1], dims[2],
            dims[3]);
    return false;
}

// What one anchor reads and writes: planes of height * width elements; NULL where not wanted.
typedef struct yolo_anchor {
    const float *feature;
    float *centers, *sizes, *boxes, *confs, *probs;
    double anchor_width, anchor_height;
} yolo_anchor;

static float *planes_of(tl_tensor *t, size_t anchor, size_t channels, size_t plane)
{
    return t ? (float *)t->data + anchor * channels * plane : NULL;
}

static void decode_yolo_anchor(const yolo_anchor *a, int height, int width, size_t class_count,
                               double x_scale, double y_scale)
{
    size_t plane = (size_t)height * (size_t)width;
    for (size_t i = 0; i < plane; i++) {
        const float *t = a->feature + i;
        double cx = (sigmoid(t[0]) + (double)(i % (size_t)width)) * x_scale;
        double cy = (sigmoid(t[plane]) + (double)(i / (size_t)width)) * y_scale;
        double w = a->anchor_width * clamp(exp(t[2 * plane]), 1e-9, 50);
        double h = a->anchor_height * clamp(exp(t[3 * plane]), 1e-9, 50);
        if (a->centers) {
            a->centers[i] = (float)cx;
            a->centers[plane + i] = (float)cy;
        }
        if (a->sizes) {
            a->sizes[i] = (float)w;
            a->sizes[plane + i] = (float)h;
        }
        if (a->boxes) {
            a->boxes[i] = (float)(cx - w / 2);
            a->boxes[plane + i] = (float)(cy - h / 2);
            a->boxes[2 * plane + i] = (float)(cx + w / 2);
            a->boxes[3 * plane + i] = (float)(cy + h / 2);
        }
        if (a->confs)
            a->confs[i] = (float)sigmoid(t[4 * plane]);
        for (size_t k = 0; a->probs && k < class_count; k++)
            a->probs[k * plane + i] = (float)sigmoid(t[(5 + k) * plane]);
    }
}

ln_status tl_tensor_detect_yolov3(const tl_tensor *feature, const tl_tensor *anchors,
                                  tl_tensor *box_centers, tl_tensor *box_sizes, tl_tensor *boxes,
                                  tl_tensor *confs, tl_tensor *probs, int img_width, int img_height)
{
    if (!is_float(feature, "feature") || !is_float(anchors, "anchors"))
        return LN_INVALID;
    if (feature->ndim != 4 || feature->dims[0] != 1 || anchors->ndim != 2 || anchors->dims[0] < 1 ||
        anchors->dims[1] != 2)
        return LN_FAIL(LN_INVALID, "'feature' must be [1, C, H, W] and 'anchors' [A, 2]");
    if (img_width <= 0 || img_height <= 0)
        return LN_FAIL(LN_INVALID, "the image size %dx%d must be above 0", img_width, img_height);
    int count = anchors->dims[0], channels = feature->dims[1] / count;
    int height = feature->dims[2], width = feature->dims[3];
    if (channels < 5 || channels * count != feature->dims[1])
        return LN_FAIL(LN_INVALID, "%d channels are not %d anchors times 5 or more",
                       feature->dims[1], count);
    if (!check_output(box_centers, "box_centers", (int[]){count, 2, height, width}, feature) ||
        !check_output(box_sizes, "box_sizes", (int[]){count, 2, height, width}, feature) ||
        !check_output(boxes, "boxes", (int[]){count, 4, height, width}, feature) ||
        !check_output(confs, "confs", (int[]){count, 1, height, width}, feature) ||
        !check_output(probs, "probs", (int[]){count, channels - 5, height, width}, feature))
        return LN_INVALID;
    if (feature->len == 0)
        return LN_OK;

    size_t plane = (size_t)height * (size_t)width, class_count = (size_t)channels - 5;
    const float *sizes = anchors->data;
    for (size_t i = 0; i < (size_t)count; i++) {
        yolo_anchor a = {
            .feature = (const float *)feature->data + i * (size_t)channels * plane,
            .centers = planes_of(box_centers, i, 2, plane),
            .sizes = planes_of(box_sizes, i, 2, plane),
            .boxes = planes_of(boxes, i, 4, plane),
            .confs = planes_of(confs, i, 1, plane),
            .probs = planes_of(probs, i, class_count, plane),
            .anchor_width = sizes[2 * i],
            .anchor_height = sizes[2 * i + 1],
        };
        decode_yolo_anchor(&a, height, width, class_count, (double)img_width / width,
                           (double)img_height / height);
    }
    return LN_OK;
}
