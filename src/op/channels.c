// SPDX-License-Identifier: Apache-2.0
// Which channels operators read and write, and where that lets their results be.

#include "op/channels.h"

#include <limits.h>
#include <string.h>

#include <lightnet/opshape.h>
#include <lightnet/shape.h>
#include <lightnet/tensor_entry.h>

#include "op/functions.h"
#include "op/prepare.h"

// ---- Parameters and shapes ----

static ln_status read_numbers(ln_call *call, int count, const char *const *names, int *numbers)
{
    for (int i = 0; i < count; i++) {
        int64_t number = ln_call_int(call, names[i]);
        if (number < 0 || number > INT_MAX)
            return ln_call_fail(call, LN_INVALID, "%s is %lld", names[i], (long long)number);
        numbers[i] = (int)number;
    }
    return LN_OK;
}

ln_status ln_channels_read(ln_call *call, ln_channels *out_channels)
{
    static const char *const names[] = {"src_first", "src_channels", "dst_first", "dst_channels"};
    int numbers[4];
    LN_TRY(read_numbers(call, 4, names, numbers));
    *out_channels = (ln_channels){numbers[0], numbers[1], numbers[2], numbers[3]};
    return LN_OK;
}

static ln_status check_window(int first, int count, int all)
{
    if (first > all || count > all - first)
        return LN_FAIL(LN_INVALID, "channels from %d on are not among %d", first, all);
    return LN_OK;
}

ln_status ln_channels_shape(int dims[4], const tl_tensor *src, const tl_tensor *into,
                            const ln_channels *channels, int count)
{
    LN_TRY(check_window(channels->src_first, ln_channels_count(src, channels), src->dims[3]));
    dims[0] = src->dims[0];
    dims[3] = into ? into->dims[3] : channels->dst_channels ? channels->dst_channels : count;
    for (int i = 0; into && i < 3; i++)
        if (into->dims[i] != dims[i])
            return LN_FAIL(LN_INVALID, "`into` has %d pixels or images where the result has %d",
                           into->dims[i], dims[i]);
    LN_TRY(check_window(channels->dst_first, count, dims[3]));
    return ln_compute_length(4, dims) < 0 ? ln_error_status() : LN_OK;
}

// ---- Places ----

static bool do_windows_meet(int64_t a_first, int64_t a_count, int64_t b_first, int64_t b_count)
{
    return a_first < b_first + b_count && b_first < a_first + a_count;
}

// `calc_offset` of operators that write channels of `into`, or over `addend` if there is no `into`:
// 0 if they may do so in its place, LN_NO_OFFSET if it is also read where other channels of it are
// written. How many are written, `project_channels` or `channels` say, or else as many as are read.
size_t ln_offset_over_channels(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    const ln_call *call = op_arg->priv;
    const tl_tensor *src = ln_call_in_named(call, "src"), *into = ln_call_in_named(call, "into");
    const tl_tensor *addend = ln_call_in_named(call, "addend"), *over = into ? into : addend;
    int64_t src_first = ln_call_int(call, "src_first"), read = ln_call_int(call, "src_channels");
    int64_t dst_first = ln_call_int(call, "dst_first"), count = ln_call_int(call, "channels");
    int64_t addend_first = ln_call_int(call, "addend_first");
    (void)te;
    if (!over)
        return LN_NO_OFFSET;
    read = read ? read : src->dims[3];
    if (ln_call_has(call, "project_channels"))
        count = ln_call_int(call, "project_channels");
    count = count ? count : read;
    // Pixels around a window are read when some of them are written already.
    if (src == over && do_windows_meet(src_first, read, dst_first, count))
        return LN_NO_OFFSET;
    if (addend == over && addend_first != dst_first &&
        do_windows_meet(addend_first, count, dst_first, count))
        return LN_NO_OFFSET;
    return 0;
}

// ---- put_channels ----

ln_status ln_infer_put_channels(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *into = ln_call_in(call, 1);
    ln_channels channels;
    int dims[4];
    if (src->ndim != 4 || (into && into->ndim != 4))
        return ln_call_fail(call, LN_INVALID, "is for images [N, H, W, C]");
    LN_TRY(ln_channels_read(call, &channels));
    memcpy(dims, src->dims, sizeof dims);
    if (ln_channels_shape(dims, src, into, &channels, ln_channels_count(src, &channels)) != LN_OK)
        return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    return ln_call_out(call, 0, src->dtype, 4, dims);
}

LN_PREPARE(ln_prepare_put_channels, ln_channels, ln_channels_read)

ln_status ln_put_channels(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *into = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    const ln_channels *channels = ln_call_prepared(call);
    if (dst->len == 0)
        return LN_OK;
    if (into && into->data != dst->data)
        memcpy(dst->data, into->data, tl_tensor_size(dst));
    const size_t size = tl_size_of(dst->dtype);
    size_t from_step = (size_t)src->dims[3] * size, to_step = (size_t)dst->dims[3] * size;
    size_t bytes = (size_t)ln_channels_count(src, channels) * size;
    const char *from = (const char *)src->data + (size_t)channels->src_first * size;
    char *to = (char *)dst->data + (size_t)channels->dst_first * size;
    for (size_t pixels = (size_t)dst->len / (size_t)dst->dims[3]; pixels > 0; pixels--) {
        memmove(to, from, bytes);
        from += from_step;
        to += to_step;
    }
    return LN_OK;
}

// ---- interleave ----

ln_status ln_infer_interleave(ln_call *call)
{
    static const char *const names[] = {"channels", "src1_first", "src2_first"};
    const tl_tensor *src1 = ln_call_in(call, 0), *src2 = ln_call_in(call, 1);
    int numbers[3];
    LN_TRY(read_numbers(call, 3, names, numbers));
    if (src1->ndim != 4 || src2->ndim != 4 || memcmp(src1->dims, src2->dims, 3 * sizeof(int)) != 0)
        return ln_call_fail(call, LN_INVALID, "is for two images [N, H, W, C] of one size");
    for (int i = 0; i < 2; i++)
        if (check_window(numbers[1 + i], numbers[0], ln_call_in(call, i)->dims[3]) != LN_OK)
            return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    if (numbers[0] < 1)
        return ln_call_fail(call, LN_INVALID, "channels is 0");
    const int64_t dims[] = {src1->dims[0], src1->dims[1], src1->dims[2], 2 * (int64_t)numbers[0]};
    return ln_call_out64(call, 0, TL_FLOAT, 4, dims);
}
