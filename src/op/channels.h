// SPDX-License-Identifier: Apache-2.0
// Operators on channels-last images [N, H, W, C] that read some channels of one image and write
// some of another.

#ifndef LN_OP_CHANNELS_H
#define LN_OP_CHANNELS_H

#include <lightnet/call.h>
#include <lightnet/tensor.h>

LN_CPPSTART

// The parameters of these names.
typedef struct ln_channels {
    int src_first, src_channels; // as many as are read; 0: all
    int dst_first, dst_channels; // how many dst has, without `into`; 0: as many as are written
} ln_channels;

ln_status ln_channels_read(ln_call *call, ln_channels *out_channels);

// How many are read.
static inline int ln_channels_count(const tl_tensor *src, const ln_channels *channels)
{
    return channels->src_channels ? channels->src_channels : src->dims[3];
}

// Completes the dimensions [?, H', W', ?] of a result of which `count` channels are written, the
// others those of `into`, or nobody's if that is NULL. What does not fit fails, with a message.
ln_status ln_channels_shape(int dims[4], const tl_tensor *src, const tl_tensor *into,
                            const ln_channels *channels, int count);

// put_channels, on any arch whose tensors are in main memory.
ln_status ln_prepare_put_channels(ln_call *call);
ln_status ln_put_channels(ln_call *call);

LN_CPPEND

#endif
