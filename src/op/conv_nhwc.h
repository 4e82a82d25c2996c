// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images [N, H, W, C] with packed weights: algorithms, the layouts of
// their weights, shapes.
//
// The weights are packed once, by `conv2d_pack`; what they look like depends on the algorithm and
// on nothing else, so that a packed file serves every processor. With n = LN_PACK_LANES:
//
//   direct      for each group, for each n output channels of it, for each kernel row, kernel
//               column, input channel:      | o0 ... o15 |          (zeros behind the last channel)
//   depthwise   for each kernel row, kernel column:      | o0 ... o(O-1) |
//   narrow      (one group, n divides the input channels, at most LN_CONV_NARROW_OUTS output
//   channels)
//               for each kernel row, kernel column, n input channels, output channel:
//                                      | c0 ... c15 |
//   winogradM   (3x3, stride 1, one group) for each of the (M+2)^2 points, for each n output
//               channels, for each input channel:        | o0 ... o15 |          of G g G^T

#ifndef LN_OP_CONV_NHWC_H
#define LN_OP_CONV_NHWC_H

#include <stddef.h>

#include <lightnet/status.h>
#include <lightnet/tensor.h>

LN_CPPSTART

#define LN_PACK_LANES       16
#define LN_CONV_NARROW_OUTS 4

/* The one list of algorithms: X(CONSTANT, "name"). */
#define LN_CONV_ALGORITHM_LIST(X)                                                                  \
    X(DIRECT, "direct")                                                                            \
    X(DEPTHWISE, "depthwise")                                                                      \
    X(WINOGRAD2, "winograd2")                                                                      \
    X(WINOGRAD4, "winograd4")                                                                      \
    X(WINOGRAD6, "winograd6")                                                                      \
    X(NARROW, "narrow")

typedef enum ln_conv_algorithm {
#define LN_CONV_ALGORITHM_ENUM(constant, name) LN_CONV_##constant,
    LN_CONV_ALGORITHM_LIST(LN_CONV_ALGORITHM_ENUM)
#undef LN_CONV_ALGORITHM_ENUM
        LN_CONV_ALGORITHM_COUNT
} ln_conv_algorithm;

// The algorithm of that name; -1 for names that are none.
int ln_conv_algorithm_from_str(const char *name);
const char *ln_conv_algorithm_name(ln_conv_algorithm algorithm); // never NULL

// The side of the squares of outputs that a Winograd algorithm makes at once; 0 for others.
int ln_conv_winograd_tile(ln_conv_algorithm algorithm);

// Whether the algorithm can do a convolution with weights [O, C / group, kernel height, width].
bool ln_conv_algorithm_fits(ln_conv_algorithm algorithm, const int weight_dims[4], int group,
                            const int stride[2], const int dilation[2]);

// Floats of the packed weights; -1 with a recorded failure if the algorithm does not fit or they
// are too many.
int ln_conv_packed_len(ln_conv_algorithm algorithm, const int weight_dims[4], int group);

// Where the weight of output channel `o`, input channel `c` of its group, and a tap is in weights
// that are packed for `direct` or `depthwise`.
size_t ln_conv_packed_at(ln_conv_algorithm algorithm, const int weight_dims[4], int group, int o,
                         int c, int ky, int kx);

// ---- For the descriptions ----

// What `conv2d_nhwc` says about its weights: [channels, C / group, size[0], size[1]].
void ln_conv_nhwc_weight_dims(int weight_dims[4], const tl_tensor *src, int src_channels, int group,
                              int channels, const int size[2]);

// Shapes as in lightnet/opshape.h: fill in `dims` and return the rank, or -1 with a recorded
// failure.
int ln_shape_conv2d_pack(int *dims, const tl_tensor *weight, int group, int algorithm);
int ln_shape_conv2d_nhwc(int *dims, const tl_tensor *src, const tl_tensor *packed,
                         const tl_tensor *bias, const tl_tensor *addend, const tl_tensor *into,
                         int group, int channels, const int size[2], const int stride[2],
                         const int padding[4], const int dilation[2], int algorithm, int src_first,
                         int src_channels, int dst_first, int dst_channels, int addend_first);
// For `calc_offset` of operators that write `count` channels (0: as many as they read) of `into`,
// or over `addend` if there is no `into`: 0 if they may do so in its place, LN_NO_OFFSET if it is
// also read where other channels of it are written.
size_t ln_place_over_nhwc(const tl_tensor *src, int src_first, int src_channels,
                          const tl_tensor *into, const tl_tensor *addend, int addend_first,
                          int dst_first, int count);

int ln_shape_put_channels(int *dims, const tl_tensor *src, const tl_tensor *into, int src_first,
                          int src_channels, int dst_first, int dst_channels);

// What `put_channels` does, on any arch whose tensors are in main memory.
void ln_put_channels(const tl_tensor *src, const tl_tensor *into, tl_tensor *dst, int src_first,
                     int src_channels, int dst_first);

int ln_shape_interleave(int *dims, const tl_tensor *src1, const tl_tensor *src2, int src1_first,
                        int src2_first, int channels);

// What `interleave` does, likewise.
void ln_interleave(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst, int src1_first,
                   int src2_first);

LN_CPPEND

#endif
