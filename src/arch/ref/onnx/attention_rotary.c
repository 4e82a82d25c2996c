// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements of each head turn by an angle that depends on the token's
// place.

#include "arch/ref/functions.h"
#include "base/deadline.h"
#include "op/onnx/attention.h"
#include "tensor/elem.h"

// The row of the tables for a token; a negative position counts from the end.
static ln_status table_row(ln_call *call, const ln_rotary *r, size_t b, size_t at, size_t *out_row)
{
    size_t token = b * (size_t)r->x.len + at;
    *out_row = token;
    if (!r->positions)
        return LN_OK;
    int64_t rows = r->cos->dims[0], position;
    if (r->positions->len == 1)
        position = ln_elem_int(r->positions, 0);
    else
        position = ln_elem_int(r->positions, token);
    if (position < -rows || position >= rows)
        return ln_call_fail(call, LN_INVALID, "has position %lld, but angles for %lld",
                            (long long)position, (long long)rows);
    if (position < 0)
        position += rows;
    if (r->positions->len == 1 && r->positions->ndim < 2)
        position += (int64_t)at;
    if (position >= rows)
        return ln_call_fail(call, LN_INVALID, "has position %lld, but angles for %lld",
                            (long long)position, (long long)rows);
    *out_row = (size_t)position;
    return LN_OK;
}

static void rotate_head(const ln_rotary *r, const tl_tensor *x, tl_tensor *y, size_t first,
                        size_t row)
{
    size_t half = (size_t)r->rotated / 2, size = (size_t)r->x.size;
    size_t angles = row * (size_t)r->cos->dims[r->cos->ndim - 1];
    for (size_t i = 0; i < half; i++) {
        size_t i1 = first + (r->is_interleaved ? 2 * i : i);
        size_t i2 = r->is_interleaved ? i1 + 1 : i1 + half;
        double x1 = ln_elem_real(x, i1), x2 = ln_elem_real(x, i2);
        double cos = ln_elem_real(r->cos, angles + i), sin = ln_elem_real(r->sin, angles + i);
        ln_elem_set_real(y, i1, cos * x1 - sin * x2);
        ln_elem_set_real(y, i2, sin * x1 + cos * x2);
    }
    for (size_t i = first + 2 * half; i < first + size; i++)
        ln_elem_set_real(y, i, ln_elem_real(x, i));
}

static ln_status rotate(ln_call *call, const ln_rotary *r)
{
    const tl_tensor *x = ln_call_in(call, 0);
    tl_tensor *y = ln_call_dst(call, 0);
    if (x->len == 0)
        return LN_OK;
    for (size_t b = 0; b < (size_t)r->x.batch; b++) {
        for (size_t at = 0; at < (size_t)r->x.len && !ln_deadline_passed(); at++) {
            size_t row;
            LN_TRY(table_row(call, r, b, at, &row));
            for (size_t head = 0; head < (size_t)r->x.heads; head++)
                rotate_head(r, x, y, ln_heads_at(&r->x, b, head, at), row);
        }
    }
    return LN_OK;
}

ln_status ln_ref_rotary(ln_call *call)
{
    ln_rotary r;
    LN_TRY(ln_rotary_read(call, &r));
    return rotate(call, &r);
}

ln_status ln_ref_ms_rotary(ln_call *call)
{
    ln_rotary r;
    LN_TRY(ln_ms_rotary_read(call, &r));
    return rotate(call, &r);
}
