// SPDX-License-Identifier: Apache-2.0
// einsum: for each element of the output, the sum over all other labels of the product of terms.

#include "arch/ref/functions.h"
#include "arch/ref/onnx/reals.h"
#include "base/deadline.h"
#include "op/onnx/matmul.h"
#include "tensor/elem.h"

typedef struct sum_of_products {
    const ln_einsum_call *einsum;
    const ln_reals *terms; // all of one dtype
    int64_t *at;           // [term_count]: where each term is read
    tl_tensor *dst;
    bool has_summands;
    int64_t turns[LN_EINSUM_MAX_LABELS];
} sum_of_products;

// Turns loops [first, end), the last one fastest; false when all are back at their start.
static bool turn(sum_of_products *s, int first, int end)
{
    const ln_einsum_call *einsum = s->einsum;
    for (int loop = end - 1; loop >= first; loop--) {
        int64_t by = 1;
        bool is_within = ++s->turns[loop] < einsum->sizes[loop];
        if (!is_within) {
            by = 1 - s->turns[loop];
            s->turns[loop] = 0;
        }
        for (int t = 0; t < einsum->term_count; t++)
            s->at[t] += by * einsum->steps[t][loop];
        if (is_within)
            return true;
    }
    return false;
}

LN_REF_INLINE ln_ref_number product_here(const sum_of_products *s, tl_dtype dtype)
{
    ln_ref_number product = ln_ref_load_of(s->terms[0].data, (size_t)s->at[0], dtype);
    for (int t = 1; t < s->einsum->term_count; t++)
        product = ln_ref_mul(product, ln_ref_load_of(s->terms[t].data, (size_t)s->at[t], dtype));
    return product;
}

LN_REF_INLINE void sum_all(sum_of_products *s, tl_dtype dtype)
{
    int out_ndim = s->einsum->out_ndim;
    size_t product = 0;
    for (int64_t to = 0; to < s->dst->len && !ln_deadline_passed(); to++) {
        ln_ref_number sum = {0};
        if (s->has_summands) {
            do {
                sum = ln_ref_add(sum, product_here(s, dtype));
            } while (turn(s, out_ndim, s->einsum->loop_count) && !ln_deadline_passed_at(product++));
        }
        if (dtype == TL_INT64)
            ln_elem_set_int(s->dst, (size_t)to, (int64_t)sum.whole);
        else
            ln_ref_store_reals(s->dst, to, 1, &sum.real);
        turn(s, 0, out_ndim);
    }
}

ln_status ln_ref_einsum(ln_call *call)
{
    ln_einsum_call einsum;
    LN_TRY(ln_einsum_call_read(call, &einsum));
    size_t count = (size_t)einsum.term_count;
    ln_reals *terms = ln_call_scratch(call, count, sizeof *terms);
    int64_t *at = ln_call_scratch(call, count, sizeof *at);
    if (!terms || !at)
        return ln_error_status();
    for (int t = 0; t < einsum.term_count; t++) {
        ln_reals term;
        LN_TRY(ln_ref_numbers(call, ln_call_in(call, t), &term));
        if (!ln_call_is_counting(call))
            terms[t] = term;
    }
    if (ln_call_is_counting(call))
        return LN_OK;

    sum_of_products s = {.einsum = &einsum,
                         .terms = terms,
                         .at = at,
                         .dst = ln_call_dst(call, 0),
                         .has_summands = true};
    for (int loop = einsum.out_ndim; loop < einsum.loop_count; loop++)
        s.has_summands = s.has_summands && einsum.sizes[loop] > 0;
    LN_REF_FOR_NUMBERS(terms[0].dtype, sum_all, &s);
    return LN_OK;
}
