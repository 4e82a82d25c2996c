// SPDX-License-Identifier: Apache-2.0
// What is computed from each line of a tensor along an axis: running sums, softmax, norms, losses.

#include <math.h>
#include <string.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/reduce.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// ---- Running sums and products ----

typedef struct running {
    const tl_tensor *src;
    tl_tensor *dst;
    size_t count, inner;
    bool is_product, is_exclusive, is_reverse;
} running;

static void run_line(const running *r, size_t first)
{
    bool is_real = ln_number_kind_of(r->src->dtype) == LN_NUMBER_REAL;
    double real = r->is_product;
    uint64_t whole = r->is_product;
    for (size_t k = 0; k < r->count; k++) {
        size_t at = first + (r->is_reverse ? r->count - 1 - k : k) * r->inner;
        double x = is_real ? ln_elem_real(r->src, at) : 0;
        uint64_t n = is_real ? 0 : (uint64_t)ln_elem_int(r->src, at);
        double next_real = r->is_product ? real * x : real + x;
        uint64_t next_whole = r->is_product ? whole * n : whole + n;
        if (is_real)
            ln_elem_set_real(r->dst, at, r->is_exclusive ? real : next_real);
        else
            ln_elem_set_int(r->dst, at, (int64_t)(r->is_exclusive ? whole : next_whole));
        real = next_real;
        whole = next_whole;
    }
}

static ln_status cumulate(ln_call *call, bool is_product)
{
    const tl_tensor *src = ln_call_in(call, 0);
    running r = {
        .src = src,
        .dst = ln_call_dst(call, 0),
        .count = 1,
        .inner = 1,
        .is_product = is_product,
        .is_exclusive = ln_call_int(call, "exclusive") != 0,
        .is_reverse = ln_call_int(call, "reverse") != 0,
    };
    size_t outer = 1;
    if (src->ndim > 0) {
        int axis;
        LN_TRY(ln_call_check_axis(call, "axis", ln_elem_int(ln_call_in(call, 1), 0), src->ndim,
                                  &axis));
        ln_lines lines = ln_lines_along(src, axis);
        outer = lines.outer, r.count = lines.count, r.inner = lines.inner;
    }
    for (size_t o = 0; src->len > 0 && o < outer; o++)
        for (size_t i = 0; i < r.inner && !ln_deadline_passed(); i++)
            run_line(&r, o * r.count * r.inner + i);
    return LN_OK;
}

ln_status ln_ref_onnx_cum_sum(ln_call *call)
{
    return cumulate(call, false);
}

ln_status ln_ref_onnx_cum_prod(ln_call *call)
{
    return cumulate(call, true);
}

// ---- Softmax and its relatives ----

// Elements first, first + step, ... of `src` give those of `dst`.
typedef void (*line_function)(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count,
                              size_t step);

static void for_each_line(const ln_lines *lines, const tl_tensor *src, tl_tensor *dst,
                          line_function function)
{
    if (src->len == 0) // there may be any number of lines without elements
        return;
    for (size_t o = 0; o < lines->outer; o++)
        for (size_t i = 0; i < lines->inner && !ln_deadline_passed(); i++)
            function(src, dst, o * lines->count * lines->inner + i, lines->count, lines->inner);
}

static double largest_of(const tl_tensor *src, size_t first, size_t count, size_t step)
{
    double largest = -INFINITY;
    for (size_t k = 0; k < count; k++)
        largest = ln_real_max(largest, ln_elem_real(src, first + k * step));
    return largest;
}

// The sum of exp(x - shift), which for exp of the largest is 1.
static double sum_of_exp(const tl_tensor *src, size_t first, size_t count, size_t step,
                         double shift)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += exp(ln_elem_real(src, first + k * step) - shift);
    return sum;
}

static void softmax_line(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count,
                         size_t step)
{
    double shift = largest_of(src, first, count, step);
    double sum = sum_of_exp(src, first, count, step, shift);
    for (size_t k = 0; k < count; k++)
        ln_elem_set_real(dst, first + k * step,
                         exp(ln_elem_real(src, first + k * step) - shift) / sum);
}

static void log_softmax_line(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count,
                             size_t step)
{
    double shift = largest_of(src, first, count, step);
    double log_sum = log(sum_of_exp(src, first, count, step, shift));
    for (size_t k = 0; k < count; k++)
        ln_elem_set_real(dst, first + k * step,
                         ln_elem_real(src, first + k * step) - shift - log_sum);
}

static void hardmax_line(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count,
                         size_t step)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++) {
        double x = ln_elem_real(src, first + k * step);
        double most = ln_elem_real(src, first + best * step);
        if (x > most || (isnan(x) && !isnan(most)))
            best = k;
    }
    for (size_t k = 0; k < count; k++)
        ln_elem_set_real(dst, first + k * step, k == best);
}

static ln_status apply_to_lines(ln_call *call, line_function function)
{
    ln_lines lines;
    LN_TRY(ln_softmax_lines(call, &lines));
    for_each_line(&lines, ln_call_in(call, 0), ln_call_dst(call, 0), function);
    return LN_OK;
}

ln_status ln_ref_softmax(ln_call *call)
{
    return apply_to_lines(call, ln_call_int(call, "log") ? log_softmax_line : softmax_line);
}

ln_status ln_ref_onnx_hardmax(ln_call *call)
{
    return apply_to_lines(call, hardmax_line);
}

// ---- Lp norms ----

static void divide_line(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count,
                        size_t step, double norm)
{
    for (size_t k = 0; k < count; k++) {
        size_t at = first + k * step;
        ln_elem_set_real(dst, at, norm == 0 ? 0 : ln_elem_real(src, at) / norm);
    }
}

static void l1_line(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count, size_t step)
{
    double norm = 0;
    for (size_t k = 0; k < count; k++)
        norm += fabs(ln_elem_real(src, first + k * step));
    divide_line(src, dst, first, count, step, norm);
}

static void l2_line(const tl_tensor *src, tl_tensor *dst, size_t first, size_t count, size_t step)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        double x = ln_elem_real(src, first + k * step);
        sum += x * x;
    }
    divide_line(src, dst, first, count, step, sqrt(sum));
}

ln_status ln_ref_onnx_lp_normalization(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    bool is_l1 = ln_call_int(call, "p") == 1;
    ln_lines lines = {1, 1, 1};
    if (src->ndim > 0) {
        int axis;
        LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
        lines = ln_lines_along(src, axis);
    }
    for_each_line(&lines, src, ln_call_dst(call, 0), is_l1 ? l1_line : l2_line);
    return LN_OK;
}

// ---- Losses ----

typedef struct loss {
    const tl_tensor *labels, *weights;
    tl_tensor *dst;
    ln_lines lines; // classes of the scores
    bool is_ignoring, is_reduced, is_mean;
    int64_t ignored;
} loss;

static loss get_loss(ln_call *call)
{
    const char *reduction = ln_call_string(call, "reduction");
    return (loss){
        .labels = ln_call_in(call, 1),
        .weights = ln_call_in(call, 2),
        .dst = ln_call_dst(call, 0),
        .lines = ln_lines_along(ln_call_in(call, 0), 1),
        .is_ignoring = ln_call_has(call, "ignore_index"),
        .is_reduced = strcmp(reduction, "none") != 0,
        .is_mean = strcmp(reduction, "mean") == 0,
        .ignored = ln_call_int(call, "ignore_index"),
    };
}

// `log_prob(scores, lines, line, label)` is the logarithm of the probability of a label.
static ln_status add_up_losses(ln_call *call, const loss *l,
                               double (*log_prob)(const tl_tensor *scores, const ln_lines *lines,
                                                  size_t line, size_t label))
{
    const tl_tensor *scores = ln_call_in(call, 0);
    double sum = 0, weight_sum = 0;
    for (size_t i = 0; i < (size_t)l->labels->len; i++) {
        int64_t label = ln_elem_int(l->labels, i);
        double weight = 0, value = 0;
        if (!l->is_ignoring || label != l->ignored) {
            if (label < 0 || (uint64_t)label >= l->lines.count)
                return ln_call_fail(call, LN_INVALID, "has label %lld of %zu classes",
                                    (long long)label, l->lines.count);
            weight = l->weights ? ln_elem_real(l->weights, (size_t)label) : 1;
            value = -weight * log_prob(scores, &l->lines, i, (size_t)label);
        }
        if (!l->is_reduced && l->dst)
            ln_elem_set_real(l->dst, i, value);
        sum += value;
        weight_sum += weight;
    }
    if (l->is_reduced && l->dst)
        ln_elem_set_real(l->dst, 0, l->is_mean ? sum / weight_sum : sum);
    return LN_OK;
}

static size_t first_of_line(const ln_lines *lines, size_t line)
{
    return line / lines->inner * lines->count * lines->inner + line % lines->inner;
}

static double given_log_prob(const tl_tensor *scores, const ln_lines *lines, size_t line,
                             size_t label)
{
    return ln_elem_real(scores, first_of_line(lines, line) + label * lines->inner);
}

static double softmax_log_prob(const tl_tensor *scores, const ln_lines *lines, size_t line,
                               size_t label)
{
    size_t first = first_of_line(lines, line);
    double shift = largest_of(scores, first, lines->count, lines->inner);
    double log_sum = log(sum_of_exp(scores, first, lines->count, lines->inner, shift));
    return ln_elem_real(scores, first + label * lines->inner) - shift - log_sum;
}

ln_status ln_ref_onnx_negative_log_likelihood_loss(ln_call *call)
{
    loss l = get_loss(call);
    return add_up_losses(call, &l, given_log_prob);
}

ln_status ln_ref_onnx_softmax_cross_entropy_loss(ln_call *call)
{
    loss l = get_loss(call);
    tl_tensor *log_prob = ln_call_dst(call, 1);
    if (log_prob)
        for_each_line(&l.lines, ln_call_in(call, 0), log_prob, log_softmax_line);
    return add_up_losses(call, &l, softmax_log_prob);
}
