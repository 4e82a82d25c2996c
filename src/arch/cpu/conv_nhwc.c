// SPDX-License-Identifier: Apache-2.0
// Which algorithms can do a convolution, and how long its packed weights are.

#include "arch/cpu/conv_nhwc.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "arch/cpu/kernels/few_outputs/few_outputs.h"

static const char *const names[] = {
#define LN_CONV_ALGORITHM_NAME(constant, name) name,
    LN_CONV_ALGORITHM_LIST(LN_CONV_ALGORITHM_NAME)
#undef LN_CONV_ALGORITHM_NAME
};

int ln_conv_algorithm_from_str(const char *name)
{
    for (int i = 0; name && i < LN_CONV_ALGORITHM_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

const char *ln_conv_algorithm_name(ln_conv_algorithm algorithm)
{
    return (unsigned)algorithm < LN_CONV_ALGORITHM_COUNT ? names[algorithm] : "unknown";
}

int ln_conv_winograd_tile(ln_conv_algorithm algorithm)
{
    switch (algorithm) {
    case LN_CONV_WINOGRAD2: return 2;
    case LN_CONV_WINOGRAD4: return 4;
    case LN_CONV_WINOGRAD6: return 6;
    default: return 0;
    }
}

static bool is_depthwise(const int weight_dims[4], int group)
{
    return weight_dims[1] == 1 && weight_dims[0] == group && group > 1;
}

bool ln_conv_algorithm_fits(ln_conv_algorithm algorithm, const int weight_dims[4], int group,
                            const int stride[2], const int dilation[2])
{
    if (algorithm == LN_CONV_DIRECT)
        return true;
    if (algorithm == LN_CONV_DEPTHWISE)
        return is_depthwise(weight_dims, group);
    if (algorithm == LN_CONV_NARROW)
        return group == 1 && weight_dims[0] <= LN_FEW_OUTPUTS_MAX && weight_dims[1] > 0 &&
               weight_dims[1] % LN_PACK_LANES == 0;
    return group == 1 && weight_dims[2] == 3 && weight_dims[3] == 3 && stride[0] == 1 &&
           stride[1] == 1 && dilation[0] == 1 && dilation[1] == 1;
}

// ---- Packed weights ----

static int64_t round_up(int64_t n)
{
    return (n + LN_PACK_LANES - 1) / LN_PACK_LANES * LN_PACK_LANES;
}

int ln_conv_packed_len(ln_conv_algorithm algorithm, const int weight_dims[4], int group)
{
    const int ones[2] = {1, 1};
    if (group < 1 || weight_dims[0] % group != 0) {
        ln_fail(LN_INVALID, "%d output channels cannot be shared by %d groups", weight_dims[0],
                group);
        return -1;
    }
    if (!ln_conv_algorithm_fits(algorithm, weight_dims, group, ones, ones)) {
        ln_fail(LN_INVALID, "weights [%d, %d, %d, %d] in %d groups are not for algorithm '%s'",
                weight_dims[0], weight_dims[1], weight_dims[2], weight_dims[3], group,
                ln_conv_algorithm_name(algorithm));
        return -1;
    }
    int64_t side = ln_conv_winograd_tile(algorithm) + 2;
    int64_t per_channel = round_up(weight_dims[0] / group) * group;
    if (algorithm == LN_CONV_DEPTHWISE || algorithm == LN_CONV_NARROW)
        per_channel = weight_dims[0];
    double len = (double)per_channel * weight_dims[1] *
                 (ln_conv_winograd_tile(algorithm) ? (double)(side * side)
                                                   : (double)weight_dims[2] * weight_dims[3]);
    if (len > INT_MAX) {
        ln_fail(LN_LIMIT, "%.0f packed weights do not fit a tensor", len);
        return -1;
    }
    return (int)len;
}
