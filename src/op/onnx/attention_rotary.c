// SPDX-License-Identifier: Apache-2.0
// Shapes and attributes of RotaryEmbedding, of ONNX and of com.microsoft.

#include <stdint.h>

#include "op/functions.h"
#include "op/onnx/attention.h"

// How much of each head is rotated, and the tables of angles.
static ln_status read_tables(ln_call *call, ln_rotary *r)
{
    int64_t rotated = ln_call_int(call, "rotary_embedding_dim");
    if (rotated == 0)
        rotated = r->x.size;
    if (rotated < 0 || rotated > r->x.size || rotated % 2 != 0)
        return ln_call_fail(call, LN_INVALID, "cannot rotate %lld elements of heads of %d",
                            (long long)rotated, r->x.size);
    r->rotated = (int)rotated;
    r->is_interleaved = ln_call_int(call, "interleaved") != 0;

    const tl_tensor *cos = r->cos, *sin = r->sin;
    int rank = r->positions ? 2 : 3;
    if (cos->ndim != rank || !tl_tensor_issameshape(cos, sin))
        return ln_call_fail(call, LN_INVALID, "needs cos_cache and sin_cache of one shape, rank %d",
                            rank);
    if (cos->dims[rank - 1] < r->rotated / 2)
        return ln_call_fail(call, LN_INVALID, "has %d angles to rotate %d elements",
                            cos->dims[rank - 1], r->rotated);
    if (!r->positions && (cos->dims[0] != r->x.batch || cos->dims[1] != r->x.len))
        return ln_call_fail(call, LN_INVALID, "needs angles for %d sequences of %d tokens",
                            r->x.batch, r->x.len);
    return LN_OK;
}

static bool has_each_position(const ln_rotary *r)
{
    const tl_tensor *positions = r->positions;
    return positions->ndim == 2 && positions->dims[0] == r->x.batch &&
           positions->dims[1] == r->x.len;
}

ln_status ln_rotary_read(ln_call *call, ln_rotary *out_rotary)
{
    ln_rotary *r = out_rotary;
    *r = (ln_rotary){
        .cos = ln_call_in(call, 1), .sin = ln_call_in(call, 2), .positions = ln_call_in(call, 3)};
    int64_t heads = ln_call_int(call, "num_heads");
    LN_TRY(ln_heads_read(call, ln_call_in(call, 0), "X", heads, &r->x));
    if (r->positions && !has_each_position(r))
        return ln_call_fail(call, LN_INVALID, "needs a position for each of %d x %d tokens",
                            r->x.batch, r->x.len);
    return read_tables(call, r);
}

// There the positions come second, may be one number for the first token, and heads need not be
// counted where all of them is rotated.
ln_status ln_ms_rotary_read(ln_call *call, ln_rotary *out_rotary)
{
    ln_rotary *r = out_rotary;
    *r = (ln_rotary){
        .cos = ln_call_in(call, 2), .sin = ln_call_in(call, 3), .positions = ln_call_in(call, 1)};
    const tl_tensor *x = ln_call_in(call, 0);
    int64_t heads = ln_call_int(call, "num_heads");
    if (x->ndim == 3 && heads == 0 && r->cos->ndim == 2 && r->cos->dims[1] > 0)
        heads = x->dims[2] / (2 * (int64_t)r->cos->dims[1]);
    LN_TRY(ln_heads_read(call, x, "input", heads, &r->x));
    if (r->positions->len != 1 && !has_each_position(r))
        return ln_call_fail(call, LN_INVALID,
                            "needs one position, or one for each of %d x %d tokens", r->x.batch,
                            r->x.len);
    return read_tables(call, r);
}

ln_status ln_infer_rotary(ln_call *call)
{
    ln_rotary rotary;
    LN_TRY(ln_rotary_read(call, &rotary));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_ms_rotary(ln_call *call)
{
    ln_rotary rotary;
    LN_TRY(ln_ms_rotary_read(call, &rotary));
    return ln_call_out_like(call, 0, 0);
}
