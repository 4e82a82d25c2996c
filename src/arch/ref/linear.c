// SPDX-License-Identifier: Apache-2.0
// Products with packed weights, one element after the other.

#include "arch/ref/linear.h"

#include <string.h>

#include "arch/ref/nhwc.h"
#include "base/deadline.h"
#include "op/linear.h"

void ln_ref_linear_pack(const tl_tensor *weight, tl_tensor *dst, bool is_transposed, int channels)
{
    const float *from = weight->data;
    float *to = dst->data;
    int k = weight->dims[is_transposed ? 1 : 0];
    if (dst->len)
        memset(to, 0, (size_t)dst->len * sizeof *to);
    for (int i = 0; i < weight->dims[0]; i++) {
        for (int j = 0; j < weight->dims[1]; j++) {
            int p = ln_linear_packed_row(k, channels, is_transposed ? j : i);
            to[ln_linear_packed_at(k, p, is_transposed ? i : j)] = *from++;
        }
    }
}

void ln_ref_linear(const ln_ref_linear_call *linear)
{
    int k = linear->src->dims[linear->src->ndim - 1], n = linear->outputs;
    const float *a = linear->src->data, *packed = linear->packed->data;
    const float *addend = linear->addend ? linear->addend->data : NULL;
    float *y = linear->dst->data;
    for (int at = 0; at < linear->dst->len && !ln_deadline_passed(); at++) {
        int j = at % n;
        double sum = 0;
        for (int p = 0; p < k; p++)
            sum += (double)a[p] * (double)packed[ln_linear_packed_at(k, p, j)];
        if (linear->bias)
            sum += (double)((const float *)linear->bias->data)[j];
        double other = addend ? (double)addend[at] : 0;
        if (addend && !linear->is_addend_last)
            sum += other;
        sum = ln_ref_act(linear->act, linear->alpha, linear->beta, sum);
        if (addend && linear->is_addend_last)
            sum += other;
        y[at] = (float)sum;
        if (j == n - 1)
            a += k;
    }
}
