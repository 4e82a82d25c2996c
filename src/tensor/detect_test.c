// SPDX-License-Identifier: Apache-2.0
// Box decoding against the formulas in double precision, and wrong arguments.

#include <lightnet/tensor.h>

#include <math.h>

#include "tests/test.h"

enum { ANCHORS = 2, CLASSES = 3, HEIGHT = 2, WIDTH = 3, PLANE = HEIGHT * WIDTH };

typedef struct head {
    tl_tensor *feature, *anchors, *centers, *sizes, *boxes, *confs, *probs;
} head;

static tl_tensor *make_output(int channels)
{
    return tl_tensor_zeros(5, (int[]){1, ANCHORS, channels, HEIGHT, WIDTH}, TL_FLOAT);
}

static head make_head(void)
{
    head h = {
        .feature = tl_tensor_zeros(4, (int[]){1, ANCHORS * (5 + CLASSES), HEIGHT, WIDTH}, TL_FLOAT),
        .anchors = tl_tensor_zeros(2, (int[]){ANCHORS, 2}, TL_FLOAT),
        .centers = make_output(2),
        .sizes = make_output(2),
        .boxes = make_output(4),
        .confs = make_output(1),
        .probs = make_output(CLASSES),
    };
    float *feature = h.feature->data, *anchors = h.anchors->data;
    for (int i = 0; i < h.feature->len; i++)
        feature[i] = (float)((i * 37) % 101 - 50) * 0.11f;
    for (int i = 0; i < h.anchors->len; i++)
        anchors[i] = (float)(10 * i + 7);
    return h;
}

static void free_head(head *h)
{
    tl_tensor *all[] = {h->feature, h->anchors, h->centers, h->sizes, h->boxes, h->confs, h->probs};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        tl_tensor_free_data_too(all[i]);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

// What one rounding to float may change.
static double step(double x)
{
    return fabs(x) * 6e-8 + 1e-12;
}

static double at(const tl_tensor *t, int anchor, int channel, int i)
{
    int channels = t->dims[2];
    return ((const float *)t->data)[(anchor * channels + channel) * PLANE + i];
}

TEST(yolo_boxes_follow_the_formulas_to_one_rounding)
{
    head h = make_head();
    const double image[2] = {60, 40}, grid[2] = {WIDTH, HEIGHT};
    CHECK_OK(tl_tensor_detect_yolov3(h.feature, h.anchors, h.centers, h.sizes, h.boxes, h.confs,
                                     h.probs, 60, 40));
    const float *feature = h.feature->data, *anchors = h.anchors->data;
    for (int a = 0; a < ANCHORS; a++) {
        const float *t = feature + a * (5 + CLASSES) * PLANE;
        for (int i = 0; i < PLANE; i++) {
            for (int d = 0; d < 2; d++) {
                int cell = d == 0 ? i % WIDTH : i / WIDTH;
                double center = (sigmoid(t[d * PLANE + i]) + cell) * image[d] / grid[d];
                double size =
                    anchors[2 * a + d] * fmax(1e-9, fmin(50, exp(t[(2 + d) * PLANE + i])));
                const double ends[2] = {center - size / 2, center + size / 2};
                CHECK_NEAR(at(h.centers, a, d, i), center, step(center));
                CHECK_NEAR(at(h.sizes, a, d, i), size, step(size));
                CHECK_NEAR(at(h.boxes, a, d, i), ends[0], step(ends[0]));
                CHECK_NEAR(at(h.boxes, a, 2 + d, i), ends[1], step(ends[1]));
            }
            for (int k = -1; k < CLASSES; k++) { // -1: the confidence
                double prob = sigmoid(t[(5 + k) * PLANE + i]);
                CHECK_NEAR(k < 0 ? at(h.confs, a, 0, i) : at(h.probs, a, k, i), prob, step(prob));
            }
        }
    }
    free_head(&h);
}

TEST(yolo_outputs_are_optional_and_checked)
{
    head h = make_head();
    CHECK_OK(tl_tensor_detect_yolov3(h.feature, h.anchors, NULL, NULL, h.boxes, NULL, NULL, 9, 9));
    CHECK_FAILS(
        tl_tensor_detect_yolov3(h.feature, h.anchors, h.boxes, NULL, NULL, NULL, NULL, 9, 9),
        LN_INVALID);
    CHECK_MESSAGE("'box_centers' must be [1, 2, 2, 2, 3]");
    CHECK_FAILS(tl_tensor_detect_yolov3(h.feature, h.anchors, NULL, NULL, NULL, NULL, NULL, 0, 9),
                LN_INVALID);
    CHECK_FAILS(tl_tensor_detect_yolov3(NULL, h.anchors, NULL, NULL, NULL, NULL, NULL, 9, 9),
                LN_INVALID);
    CHECK_FAILS(tl_tensor_detect_yolov3(h.anchors, h.anchors, NULL, NULL, NULL, NULL, NULL, 9, 9),
                LN_INVALID);
    tl_tensor *anchors = tl_tensor_zeros(2, (int[]){5, 2}, TL_FLOAT);
    CHECK_FAILS(tl_tensor_detect_yolov3(h.feature, anchors, NULL, NULL, NULL, NULL, NULL, 9, 9),
                LN_INVALID);
    CHECK_MESSAGE("16 channels are not 5 anchors");
    tl_tensor_free_data_too(anchors);
    free_head(&h);
}

TEST(squeezedet_boxes_are_clamped_and_may_be_decoded_in_place)
{
    float delta[] = {0, 0, 0, 0, 0, 0, 2, 0}, anchor[] = {50, 50, 20, 10, 0, 0, 10, 10};
    tl_tensor *d = tl_tensor_create(delta, 2, (int[]){2, 4}, TL_FLOAT);
    tl_tensor *a = tl_tensor_create(anchor, 2, (int[]){2, 4}, TL_FLOAT);
    CHECK_PTR_EQ(tl_tensor_transform_bboxSQD(d, a, d, 100, 100, 200, 50, 1, -1), d);
    const double expected[] = {81, 21.5, 121, 26.5, 0, 0, 1 + 2 * 2.718281828459045 * 10, 1.5};
    for (int i = 0; i < 8; i++)
        CHECK_NEAR(delta[i], expected[i], 1e-4);
    CHECK_NULL(tl_tensor_transform_bboxSQD(d, a, NULL, 0, 100, 200, 50, 0, 0));
    CHECK_NULL(tl_tensor_transform_bboxSQD(d, NULL, NULL, 100, 100, 200, 50, 0, 0));
    CHECK_OK(tl_tensor_reshape_src(a, 1, (int[]){8}));
    CHECK_NULL(tl_tensor_transform_bboxSQD(d, a, NULL, 100, 100, 200, 50, 0, 0));
    CHECK_NULL(tl_tensor_transform_bboxSQD(a, a, NULL, 100, 100, 200, 50, 0, 0));
    tl_tensor_free(d);
    tl_tensor_free(a);
}

TEST_LIST(yolo_boxes_follow_the_formulas_to_one_rounding, yolo_outputs_are_optional_and_checked,
          squeezedet_boxes_are_clamped_and_may_be_decoded_in_place)
