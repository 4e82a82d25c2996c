// SPDX-License-Identifier: Apache-2.0
// Padding of channels-last images.

#include <stddef.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/nhwc.h"
#include "arch/cpu/pad.h"
#include "op/prepare.h"

typedef struct padding {
    int pads[4];
    int mode; // ln_cpu_pad_mode
    float value;
} padding;

static ln_status read_padding(ln_call *call, padding *pad)
{
    static const ln_nhwc_param params[] = {{"pads", 4, 0, offsetof(padding, pads)},
                                           {NULL, 0, 0, 0}};
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap", NULL};
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    *pad = (padding){.value = (float)ln_call_float(call, "value")};
    LN_TRY(ln_nhwc_read(call, params, pad));
    return ln_nhwc_read_word(call, "mode", modes, &pad->mode);
}

ln_status ln_cpu_infer_pad_nhwc(ln_call *call)
{
    padding pad;
    LN_TRY(read_padding(call, &pad));
    const int *in = ln_call_in(call, 0)->dims;
    const int64_t dims[] = {in[0], (int64_t)in[1] + pad.pads[0] + pad.pads[2],
                            (int64_t)in[2] + pad.pads[1] + pad.pads[3], in[3]};
    return ln_call_out64(call, 0, TL_FLOAT, 4, dims);
}

LN_PREPARE(ln_cpu_prepare_pad_nhwc, padding, read_padding)

ln_status ln_cpu_pad_nhwc(ln_call *call)
{
    const padding *pad = ln_call_prepared(call);
    ln_cpu_pad_args args = {.mode = (ln_cpu_pad_mode)pad->mode,
                            .begins = {0, pad->pads[0], pad->pads[1], 0}};
    memcpy(&args.value, &pad->value, sizeof pad->value);
    ln_cpu_pad_tensor(&args, ln_call_in(call, 0), ln_call_dst(call, 0), ln_cpu_call_pool(call));
    return LN_OK;
}
