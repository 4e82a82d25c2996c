// SPDX-License-Identifier: Apache-2.0
// Sums of rows of tables, and their normalization.

#include "arch/cpu/functions.h"

#include "arch/cpu/call.h"
#include "arch/cpu/elementwise.h"
#include "op/prepare.h"

enum { IDS, SEGMENT_IDS, WORDS, POSITIONS, SEGMENTS, GAMMA, BETA, MASK, POSITION_IDS };

ln_status ln_cpu_accepts_ms_embed_layer_norm(ln_call *call)
{
    const tl_tensor *words = ln_call_in(call, WORDS);
    for (int i = WORDS; i <= BETA; i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    }
    if (words->dims[1] == 0)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for rows with elements here");
    return LN_OK;
}

static ln_status find_row(ln_call *call, const tl_tensor *table, int32_t row, const char *what,
                          const float **out_row)
{
    if (row < 0 || row >= table->dims[0])
        return ln_call_fail(call, LN_INVALID, "has %s id %d of %d", what, (int)row, table->dims[0]);
    *out_row = (const float *)table->data + (size_t)row * (size_t)table->dims[1];
    return LN_OK;
}

static ln_status add_rows(ln_call *call, size_t token, float *sum)
{
    const tl_tensor *ids = ln_call_in(call, IDS), *words = ln_call_in(call, WORDS);
    const tl_tensor *segment_ids = ln_call_in(call, SEGMENT_IDS);
    const tl_tensor *position_ids = ln_call_in(call, POSITION_IDS);
    const float *word, *position, *segment = NULL;
    int32_t place = (int32_t)(token % (size_t)ids->dims[1]);
    if (position_ids)
        place = ((const int32_t *)position_ids->data)[token % (size_t)position_ids->len];
    LN_TRY(find_row(call, words, ((const int32_t *)ids->data)[token], "word", &word));
    LN_TRY(find_row(call, ln_call_in(call, POSITIONS), place, "position", &position));
    if (segment_ids)
        LN_TRY(find_row(call, ln_call_in(call, SEGMENTS),
                        ((const int32_t *)segment_ids->data)[token], "segment", &segment));
    for (size_t i = 0; i < (size_t)words->dims[1]; i++) {
        float value = word[i] + position[i];
        sum[i] = segment ? value + segment[i] : value;
    }
    return LN_OK;
}

static void count_masks(const tl_tensor *ids, const tl_tensor *mask, tl_tensor *dst)
{
    size_t length = (size_t)ids->dims[1];
    int32_t *counts = dst->data;
    for (size_t b = 0; b < (size_t)ids->dims[0]; b++) {
        counts[b] = 0;
        for (size_t s = 0; mask && s < length; s++)
            counts[b] += ((const int32_t *)mask->data)[b * length + s] == 1;
    }
}

static ln_status read_epsilon(ln_call *call, float *epsilon)
{
    *epsilon = (float)ln_call_float(call, "epsilon");
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_ms_embed_layer_norm, float, read_epsilon)

ln_status ln_cpu_ms_embed_layer_norm(ln_call *call)
{
    const float *epsilon = ln_call_prepared(call);
    const tl_tensor *ids = ln_call_in(call, IDS);
    tl_tensor *dst = ln_call_dst(call, 0), *kept = ln_call_dst(call, 2), *sum = kept ? kept : dst;
    size_t width = (size_t)dst->dims[dst->ndim - 1];
    for (size_t token = 0; token < (size_t)ids->len; token++)
        LN_TRY(add_rows(call, token, (float *)sum->data + token * width));
    if (ln_call_dst(call, 1))
        count_masks(ids, ln_call_in(call, MASK), ln_call_dst(call, 1));
    return ln_cpu_layernorm(ln_cpu_call_pool(call), sum, ln_call_in(call, GAMMA),
                            ln_call_in(call, BETA), dst, *epsilon, LN_TRUE);
}
