// SPDX-License-Identifier: Apache-2.0
// Dropout, and what else works element by element while a model is trained.

#include <math.h>
#include <string.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "arch/ref/onnx/random.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// ---- Dropout ----

// Drops elements of `dst`, which has them all, and says in `mask`, if wanted, which are left.
static void drop(ln_call *call, tl_tensor *dst, tl_tensor *mask, double ratio)
{
    ln_random random;
    ln_random_start(call, &random);
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++) {
        bool is_kept = ratio == 0 || ln_random_uniform(&random) >= ratio;
        if (mask)
            ln_elem_set_int(mask, i, is_kept);
        if (ratio != 0)
            ln_elem_set_real(dst, i, is_kept ? ln_elem_real(dst, i) / (1 - ratio) : 0);
    }
}

// Up to operator set 10 there is no input that says that the model is trained: nothing is dropped,
// whatever `is_test` says.
ln_status ln_ref_onnx_dropout(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0), *mask = ln_call_dst(call, 1);
    double ratio;
    LN_TRY(ln_dropout_ratio(call, 1, 2, &ratio));
    if (src->len > 0)
        memcpy(dst->data, src->data, tl_tensor_size(src));
    if (mask || ratio != 0)
        drop(call, dst, mask, ratio);
    return LN_OK;
}

// dropout(data + bias) + residual
ln_status ln_ref_onnx_bias_dropout(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *bias = ln_call_in(call, 1);
    const tl_tensor *residual = ln_call_in(call, 2);
    tl_tensor *dst = ln_call_dst(call, 0), *mask = ln_call_dst(call, 1);
    double ratio;
    LN_TRY(ln_dropout_ratio(call, 3, 4, &ratio));
    ln_ref_rows rows;
    LN_TRY(ln_ref_rows_init(call, &rows, 1, dst->ndim, dst->dims));
    ln_ref_rows_operand(&rows, 0, bias->ndim, bias->dims);
    while (ln_ref_rows_next(&rows))
        for (size_t i = 0; i < rows.len; i++)
            ln_elem_set_real(dst, rows.start + i,
                             ln_elem_real(data, rows.start + i) +
                                 ln_elem_real(bias, ln_ref_rows_at(&rows, 0, i)));
    if (mask || ratio != 0)
        drop(call, dst, mask, ratio);
    for (size_t i = 0; residual && i < (size_t)dst->len; i++)
        ln_elem_set_real(dst, i, ln_elem_real(dst, i) + ln_elem_real(residual, i));
    return LN_OK;
}

// ---- One step of an optimiser ----

// The tensors of one value that is trained, and what all have in common.
typedef struct step {
    double rate, count; // learning rate, steps so far
    const tl_tensor *value, *gradient, *state[2];
    tl_tensor *new_value, *new_state[2];
} step;

static int64_t step_count(ln_call *call)
{
    return ln_elem_int(ln_call_in(call, 1), 0);
}

static int value_count(ln_call *call, int kinds)
{
    return (ln_call_in_count(call) - 2) / kinds;
}

static step get_step(ln_call *call, int index, int count, int kinds)
{
    step s = {
        .rate = ln_elem_real(ln_call_in(call, 0), 0),
        .count = (double)step_count(call),
        .value = ln_call_in(call, 2 + index),
        .gradient = ln_call_in(call, 2 + count + index),
        .new_value = ln_call_dst(call, index),
    };
    for (int k = 0; k < kinds - 2; k++) {
        s.state[k] = ln_call_in(call, 2 + (2 + k) * count + index);
        s.new_state[k] = ln_call_dst(call, (1 + k) * count + index);
    }
    return s;
}

static void set_if_wanted(tl_tensor *dst, size_t i, double x)
{
    if (dst)
        ln_elem_set_real(dst, i, x);
}

ln_status ln_ref_onnx_adagrad(ln_call *call)
{
    double decay = ln_call_float(call, "decay_factor"), epsilon = ln_call_float(call, "epsilon");
    double norm = ln_call_float(call, "norm_coefficient");
    int count = value_count(call, 3);
    for (int k = 0; k < count; k++) {
        step s = get_step(call, k, count, 3);
        double rate = s.rate / (1 + s.count * decay);
        for (size_t i = 0; i < (size_t)s.value->len; i++) {
            double x = ln_elem_real(s.value, i);
            double gradient = norm * x + ln_elem_real(s.gradient, i);
            double squares = ln_elem_real(s.state[0], i) + gradient * gradient;
            set_if_wanted(s.new_value, i, x - rate * gradient / (sqrt(squares) + epsilon));
            set_if_wanted(s.new_state[0], i, squares);
        }
    }
    return LN_OK;
}

ln_status ln_ref_onnx_adam(ln_call *call)
{
    double alpha = ln_call_float(call, "alpha"), beta = ln_call_float(call, "beta");
    double epsilon = ln_call_float(call, "epsilon"), norm = ln_call_float(call, "norm_coefficient");
    double norm_post = ln_call_float(call, "norm_coefficient_post");
    int count = value_count(call, 4);
    for (int k = 0; k < count; k++) {
        step s = get_step(call, k, count, 4);
        double rate = s.rate;
        if (s.count > 0) // the averages begin with 0, which counts for much at first
            rate *= sqrt(1 - pow(beta, s.count)) / (1 - pow(alpha, s.count));
        for (size_t i = 0; i < (size_t)s.value->len; i++) {
            double x = ln_elem_real(s.value, i);
            double gradient = norm * x + ln_elem_real(s.gradient, i);
            double mean = alpha * ln_elem_real(s.state[0], i) + (1 - alpha) * gradient;
            double squares = beta * ln_elem_real(s.state[1], i) + (1 - beta) * gradient * gradient;
            x -= rate * mean / (sqrt(squares) + epsilon);
            set_if_wanted(s.new_value, i, (1 - norm_post) * x);
            set_if_wanted(s.new_state[0], i, mean);
            set_if_wanted(s.new_state[1], i, squares);
        }
    }
    return LN_OK;
}

ln_status ln_ref_onnx_momentum(ln_call *call)
{
    double alpha = ln_call_float(call, "alpha"), beta = ln_call_float(call, "beta");
    double norm = ln_call_float(call, "norm_coefficient");
    const char *mode = ln_call_string(call, "mode");
    bool is_nesterov = strcmp(mode, "nesterov") == 0;
    if (!is_nesterov && strcmp(mode, "standard") != 0)
        return ln_call_fail(call, LN_INVALID, "has a `mode` other than standard and nesterov");
    int count = value_count(call, 3);
    double share = step_count(call) > 0 ? beta : 1;
    for (int k = 0; k < count; k++) {
        step s = get_step(call, k, count, 3);
        for (size_t i = 0; i < (size_t)s.value->len; i++) {
            double x = ln_elem_real(s.value, i);
            double gradient = norm * x + ln_elem_real(s.gradient, i);
            double momentum = alpha * ln_elem_real(s.state[0], i) + share * gradient;
            double direction = is_nesterov ? gradient + alpha * momentum : momentum;
            set_if_wanted(s.new_value, i, x - s.rate * direction);
            set_if_wanted(s.new_state[0], i, momentum);
        }
    }
    return LN_OK;
}
