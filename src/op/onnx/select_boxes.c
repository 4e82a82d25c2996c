// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: of boxes that overlap, the one with the highest score stays.
//
// Boxes are compared in float, so that a box at the very threshold fares as in other engines.

#include <limits.h>
#include <math.h>

#include "op/functions.h"
#include "op/onnx/select.h"

typedef struct box {
    float y_min, x_min, y_max, x_max;
} box;

typedef struct box_limits {
    int64_t most; // boxes of one class
    double iou;
    double score;
    bool has_score;
    bool is_center;
    bool are_known;
} box_limits;

static ln_status find_limits(ln_call *call, box_limits *out)
{
    int most_count, iou_count, score_count;
    *out = (box_limits){.most = 0};
    LN_TRY(ln_given_int(call, 2, &out->most, &most_count));
    LN_TRY(ln_given_real(call, 3, &out->iou, &iou_count));
    LN_TRY(ln_given_real(call, 4, &out->score, &score_count));
    out->has_score = score_count == 1;
    out->is_center = ln_call_int(call, "center_point_box") != 0;
    out->are_known = most_count != LN_GIVEN_UNKNOWN && iou_count != LN_GIVEN_UNKNOWN &&
                     score_count != LN_GIVEN_UNKNOWN;
    return LN_OK;
}

static box box_at(const float *p, bool is_center)
{
    if (is_center)
        return (box){p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
    return (box){fminf(p[0], p[2]), fminf(p[1], p[3]), fmaxf(p[0], p[2]), fmaxf(p[1], p[3])};
}

static float area(box b)
{
    return (b.y_max - b.y_min) * (b.x_max - b.x_min);
}

static bool overlap(box a, box b, double threshold)
{
    box both = {fmaxf(a.y_min, b.y_min), fmaxf(a.x_min, b.x_min), fminf(a.y_max, b.y_max),
                fminf(a.x_max, b.x_max)};
    if (!(both.y_max > both.y_min) || !(both.x_max > both.x_min))
        return false;
    float common = area(both), of_a = area(a), of_b = area(b), in_all = of_a + of_b - common;
    if (!(common > 0) || !(of_a > 0) || !(of_b > 0) || !(in_all > 0))
        return false;
    return (double)(common / in_all) > threshold;
}

static bool score_is_higher(const void *context, int a, int b)
{
    const float *scores = context;
    return scores[a] > scores[b];
}

// Puts the boxes of one class that stay at the start of `order`, in the order of their scores.
static ln_status choose(ln_call *call, const float *boxes, const float *scores, int box_count,
                        const box_limits *limits, int *order, int *out_count)
{
    int candidate_count = 0, *buffer = order + box_count;
    *out_count = 0;
    for (int i = 0; i < box_count; i++)
        if (!isnan(scores[i]) && (!limits->has_score || (double)scores[i] > limits->score))
            order[candidate_count++] = i;
    ln_sort_positions(order, buffer, candidate_count, score_is_higher, scores);

    for (int i = 0; i < candidate_count && *out_count < limits->most; i++) {
        box candidate = box_at(boxes + 4 * (size_t)order[i], limits->is_center);
        bool stays = true;
        for (int j = 0; j < *out_count && stays; j++)
            stays = !overlap(candidate, box_at(boxes + 4 * (size_t)order[j], limits->is_center),
                             limits->iou);
        if (ln_call_is_run(call))
            LN_TRY(ln_call_charge(call, 8.0 * *out_count));
        if (stays)
            order[(*out_count)++] = order[i];
    }
    return LN_OK;
}

static ln_status check_shapes(ln_call *call)
{
    const tl_tensor *boxes = ln_call_in(call, 0), *scores = ln_call_in(call, 1);
    if (boxes->ndim != 3 || scores->ndim != 3 || boxes->dims[2] != 4)
        return ln_call_fail(call, LN_INVALID, "boxes and scores are not [N, B, 4] and [N, C, B]");
    if (boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
        return ln_call_fail(call, LN_INVALID, "boxes of a batch of %d by %d, scores of %d by %d",
                            boxes->dims[0], boxes->dims[1], scores->dims[0], scores->dims[2]);
    return LN_OK;
}

ln_status ln_nms_find(ln_call *call, int64_t **out_chosen, int *out_count)
{
    const tl_tensor *scores = ln_call_in(call, 1);
    int batch = scores->dims[0], classes = scores->dims[1], box_count = scores->dims[2];
    box_limits limits;
    LN_TRY(find_limits(call, &limits));
    *out_count = 0;
    *out_chosen = ln_call_scratch(call, (size_t)scores->len + 1, 3 * sizeof **out_chosen);
    int *order = ln_call_scratch(call, (size_t)box_count + 1, 2 * sizeof *order);
    if (!*out_chosen || !order)
        return LN_NO_MEMORY;
    if (scores->len == 0 || ln_call_is_counting(call))
        return LN_OK;

    const float *all_boxes = ln_call_value(call, 0), *all_scores = ln_call_value(call, 1);
    for (int b = 0; b < batch; b++)
        for (int c = 0; c < classes; c++) {
            size_t row = (size_t)b * (size_t)classes + (size_t)c;
            int stay = 0;
            LN_TRY(choose(call, all_boxes + (size_t)b * (size_t)box_count * 4,
                          all_scores + row * (size_t)box_count, box_count, &limits, order, &stay));
            for (int i = 0; i < stay; i++) {
                int64_t *chosen = *out_chosen + 3 * (size_t)(*out_count)++;
                chosen[0] = b;
                chosen[1] = c;
                chosen[2] = order[i];
            }
        }
    return LN_OK;
}

ln_status ln_infer_non_max_suppression(ln_call *call)
{
    box_limits limits;
    int64_t *chosen;
    int dims[] = {0, 3};
    LN_TRY(check_shapes(call));
    LN_TRY(find_limits(call, &limits));
    int score_count = ln_call_in(call, 1)->len;
    bool has_boxes = score_count > 0;
    if (!ln_call_is_run(call) && score_count > 4096)
        return ln_call_out_open(call); // nothing counts the work before a run
    if (!limits.are_known || (has_boxes && (!ln_call_value(call, 0) || !ln_call_value(call, 1))))
        return ln_call_out_open(call);
    LN_TRY(ln_nms_find(call, &chosen, &dims[0]));
    return ln_call_out(call, 0, TL_INT64, 2, dims);
}
