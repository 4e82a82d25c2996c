// SPDX-License-Identifier: Apache-2.0
// The cost model of convolutions: which algorithm is the fastest.
//
// It counts in steps of one multiply-add of 32 lanes, the most that a core of the widest
// instruction set does in a cycle. The numbers were measured there and stay what they are
// elsewhere: the algorithm decides the bits.

#include "arch/cpu/conv_choice.h"

#include <limits.h>
#include <stdint.h>

#include "ir/op_param.h"

// What of a core's peak the products reach.
#define COST_EFFICIENCY  0.9
// Bytes of weights a step. Each is read once for an image, mostly from beyond the second cache,
// while products are made but for a part of the time.
#define COST_BYTES       10.0
#define COST_BYTES_APART 0.1
// The end of a sum over input channels takes as long as so many of them.
#define COST_SUM_END     5.0
// Winograd must win by 5 %, since its packed weights are 1.8, 4 and 7 times those of direct; F(6,3)
// also by 20 % over F(4,3), because its error is six times larger.
#define COST_PENALTY_6   1.20
#define COST_PENALTY     1.05

static double round_to_lanes(int n)
{
    return (double)(((int64_t)n + LN_PACK_LANES - 1) / LN_PACK_LANES * LN_PACK_LANES);
}

static double product_cost(double steps, double weights)
{
    double memory = weights * (double)sizeof(float) / COST_BYTES;
    steps /= COST_EFFICIENCY;
    return (steps > memory ? steps : memory) + COST_BYTES_APART * memory;
}

// Taps that meet padding are left out; a 3x3 window is taken to have padding of 1.
static double direct_cost(const int weight_dims[4], const int size_out[2])
{
    double taps = (3.0 * size_out[0] - 2) * (3.0 * size_out[1] - 2);
    double pair = round_to_lanes(weight_dims[0]) * weight_dims[1];
    return product_cost(taps * pair / 32, 9 * pair);
}

static double winograd_cost(int m, const int weight_dims[4], const int size_out[2])
{
    // Of one tile and 16 channels, to V and from M.
    static const double into[3] = {85, 230, 390}, out_of[3] = {70, 170, 340};
    double tiles = ((size_out[0] - 1) / m + 1) * (double)((size_out[1] - 1) / m + 1);
    double points = (m + 2) * (m + 2);
    double in = weight_dims[1], out = round_to_lanes(weight_dims[0]);
    double transforms = round_to_lanes(weight_dims[1]) / LN_PACK_LANES * into[m / 2 - 1] +
                        out / LN_PACK_LANES * out_of[m / 2 - 1];
    double steps = points * tiles * (in + COST_SUM_END) * out / 32;
    double cost = product_cost(steps, points * in * out) + tiles * transforms;
    return cost * COST_PENALTY * (m == 6 ? COST_PENALTY_6 : 1);
}

// Outputs below which all algorithms are fast enough.
#define NARROW_LEAST_PIXELS 64
// Adding up the lanes of an output.
#define COST_LANES          6.0

// Of an output pixel, all taps inside.
static double narrow_cost(const int weight_dims[4])
{
    double products = (double)weight_dims[0] * weight_dims[1] * weight_dims[2] * weight_dims[3];
    return products / 32 / COST_EFFICIENCY + COST_LANES * weight_dims[0];
}

// The best of those that can do any convolution of one group, and its cost for all outputs.
static ln_conv_algorithm choose_general(const int weight_dims[4], int group, const int size_out[2],
                                        double direct, double *out_cost)
{
    const int ones[2] = {1, 1};
    double pixels = (double)size_out[0] * size_out[1], narrow = pixels * narrow_cost(weight_dims);
    bool is_narrow = ln_conv_algorithm_fits(LN_CONV_NARROW, weight_dims, group, ones, ones) &&
                     pixels >= NARROW_LEAST_PIXELS && narrow < direct;
    *out_cost = is_narrow ? narrow : direct;
    return is_narrow ? LN_CONV_NARROW : LN_CONV_DIRECT;
}

ln_conv_algorithm ln_cpu_choose_conv(const int weight_dims[4], int group, const int size_out[2],
                                     const int stride[2], const int dilation[2])
{
    static const ln_conv_algorithm winograds[] = {LN_CONV_WINOGRAD2, LN_CONV_WINOGRAD4,
                                                  LN_CONV_WINOGRAD6};
    if (ln_conv_algorithm_fits(LN_CONV_DEPTHWISE, weight_dims, group, stride, dilation))
        return LN_CONV_DEPTHWISE;
    double best_cost, lanes = round_to_lanes(weight_dims[0]) / 32 / COST_EFFICIENCY;
    if (!ln_conv_algorithm_fits(LN_CONV_WINOGRAD2, weight_dims, group, stride, dilation) ||
        size_out[0] < 1 || size_out[1] < 1) {
        double direct = (double)weight_dims[1] * weight_dims[2] * weight_dims[3] * lanes *
                        size_out[0] * size_out[1];
        return choose_general(weight_dims, group, size_out, direct, &best_cost);
    }
    ln_conv_algorithm best = choose_general(weight_dims, group, size_out,
                                            direct_cost(weight_dims, size_out), &best_cost);
    for (size_t i = 0; i < sizeof winograds / sizeof winograds[0]; i++) {
        int m = ln_conv_winograd_tile(winograds[i]);
        double packed_len = round_to_lanes(weight_dims[0]) * weight_dims[1] * (m + 2) * (m + 2);
        double cost = winograd_cost(m, weight_dims, size_out);
        if (cost < best_cost && packed_len <= INT_MAX) {
            best = winograds[i];
            best_cost = cost;
        }
    }
    return best;
}

ln_conv_algorithm ln_cpu_permit_conv(ln_conv_algorithm algorithm, bool avoids_winograd)
{
    return avoids_winograd && ln_conv_winograd_tile(algorithm) != 0 ? LN_CONV_DIRECT : algorithm;
}

// ---- By measuring ----

static const char *const algorithms[] = {
#define ALGORITHM_NAME(constant, name) name,
    LN_CONV_ALGORITHM_LIST(ALGORITHM_NAME)
#undef ALGORITHM_NAME
        NULL,
};

static const int *ints_param(const ln_op *op, const char *name, const int *usual)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param ? param->value_array_int : usual;
}

static bool fits(const ln_op *op, const tl_tensor *weight, int algorithm)
{
    static const int ones[2] = {1, 1};
    return ln_conv_algorithm_fits((ln_conv_algorithm)algorithm, weight->dims,
                                  ln_op_int_param(op, "group", 1), ints_param(op, "stride", ones),
                                  ints_param(op, "dilation", ones));
}

// ---- Once more, for another size ----

// Of an image or volume, channels last: height and width of what the window makes of it.
static int choose(const ln_op *op, const tl_tensor *weight, const int *src_dims,
                  bool avoids_winograd)
{
    static const int ones[3] = {1, 1, 1}, zeros[6] = {0};
    const int axis_count = weight->ndim - 2, *w = weight->dims + axis_count;
    const int *size = ints_param(op, "size", ones), *stride = ints_param(op, "stride", ones);
    const int *padding = ints_param(op, "padding", zeros);
    const int *dilation = ints_param(op, "dilation", ones);
    const int plane[4] = {weight->dims[0], weight->dims[1], w[0], w[1]};
    int size_out[2];
    for (int i = 0; i < 2; i++) {
        int axis = axis_count - 2 + i;
        int64_t room = (int64_t)src_dims[1 + axis] + padding[axis] + padding[axis_count + axis] -
                       (int64_t)dilation[axis] * (size[axis] - 1) - 1;
        size_out[i] = room < 0 ? 0 : (int)(room / stride[axis] + 1);
    }
    return (int)ln_cpu_permit_conv(ln_cpu_choose_conv(plane, ln_op_int_param(op, "group", 1),
                                                      size_out, stride + axis_count - 2,
                                                      dilation + axis_count - 2),
                                   avoids_winograd);
}

const ln_choice ln_cpu_choices[] = {
    {"conv2d_nhwc_cpu", "conv2d_pack_cpu", algorithms, fits, choose},
    {"conv2d_maxpool_nhwc_cpu", "conv2d_pack_cpu", algorithms, NULL, choose},
    {"conv3d_ndhwc_cpu", "conv3d_pack_cpu", algorithms, NULL, choose},
    {NULL, NULL, NULL, NULL, NULL},
};
