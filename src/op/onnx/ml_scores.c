// SPDX-License-Identifier: Apache-2.0
// Scores of classifiers and regressors.

#include "op/onnx/ml_scores.h"

#include <math.h>
#include <string.h>

#include "op/onnx/param_array.h"
#include "tensor/elem.h"

static const double PI = 3.14159265358979323846;

ln_status ln_ml_transform_read(ln_call *call, ln_ml_transform *out_transform)
{
    static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
    const char *name = ln_call_string(call, "post_transform");
    for (int i = 0; i <= LN_ML_PROBIT; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        *out_transform = (ln_ml_transform)i;
        return LN_OK;
    }
    return ln_call_fail(call, LN_INVALID, "post_transform \"%s\" is not known", name);
}

double ln_ml_logistic(double x)
{
    double y = 1 / (1 + exp(-fabs(x)));
    return x < 0 ? 1 - y : y;
}

// The inverse of the error function by Winitzki's formula, which everybody else uses here: it is
// off by up to 0.002, so that the exact value would be the odd one out.
static double inverse_erf(double x)
{
    const double a = 0.147;
    double log_part = log((1 - x) * (1 + x));
    double v = 2 / (PI * a) + 0.5 * log_part;
    double y = sqrt(sqrt(v * v - log_part / a) - v);
    return x < 0 ? -y : y;
}

static double probit(double x)
{
    return sqrt(2.0) * inverse_erf(2 * x - 1);
}

size_t ln_ml_largest(const double *values, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] > values[best])
            best = i;
    }
    return best;
}

static void softmax(double *scores, size_t count, bool keeps_zeros)
{
    const double nearly_zero = 1e-7;
    double most = scores[ln_ml_largest(scores, count)], sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (keeps_zeros && fabs(scores[i]) <= nearly_zero)
            scores[i] *= exp(-most);
        else
            scores[i] = exp(scores[i] - most);
        sum += scores[i];
    }
    for (size_t i = 0; i < count; i++)
        scores[i] = sum != 0 ? scores[i] / sum : 0.5; // all of them zeros
}

void ln_ml_transform_apply(ln_ml_transform transform, double *scores, size_t count)
{
    switch (transform) {
    case LN_ML_NONE: break;
    case LN_ML_LOGISTIC:
        for (size_t i = 0; i < count; i++)
            scores[i] = ln_ml_logistic(scores[i]);
        break;
    case LN_ML_PROBIT:
        for (size_t i = 0; i < count; i++)
            scores[i] = probit(scores[i]);
        break;
    case LN_ML_SOFTMAX:
    case LN_ML_SOFTMAX_ZERO:
        if (count > 1)
            softmax(scores, count, transform == LN_ML_SOFTMAX_ZERO);
        break;
    }
}

void ln_ml_transform_pair(ln_ml_transform transform, bool are_probabilities, double *scores)
{
    double score = scores[0];
    if (transform == LN_ML_PROBIT) {
        scores[0] = probit(score);
        scores[1] = score;
    } else if (transform == LN_ML_LOGISTIC) {
        scores[0] = ln_ml_logistic(-score);
        scores[1] = ln_ml_logistic(score);
    } else if (are_probabilities) {
        scores[0] = 1 - score;
        scores[1] = score;
    } else {
        scores[0] = -score;
        scores[1] = score;
    }
}

ln_status ln_ml_classes_keep(ln_call *call, const char *ints, ln_ml_classes *out_classes)
{
    *out_classes = (ln_ml_classes){0};
    size_t count;
    const char *const *strings;
    const int64_t *numbers;
    LN_TRY(ln_array_strings(call, "classlabels_strings", &count, &strings));
    if (count > 0)
        return ln_array_keep_strings(call, strings, count, &out_classes->strings);
    LN_TRY(ln_array_ints(call, ints, &count, &numbers));
    int64_t *kept = ln_call_keep(call, count + 1, sizeof *kept);
    if (!kept)
        return ln_error_status();
    if (count)
        memcpy(kept, numbers, count * sizeof *kept);
    out_classes->ints = kept;
    return LN_OK;
}

ln_status ln_ml_classes_set(ln_call *call, const ln_ml_classes *classes, size_t at, size_t index)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    if (!dst)
        return LN_OK;
    if (classes->strings)
        return ln_call_set_string(call, 0, at, classes->strings[index],
                                  strlen(classes->strings[index]));
    ln_elem_set_int(dst, at, classes->ints[index]);
    return LN_OK;
}
