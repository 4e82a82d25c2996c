/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: `ndim` dimensions, the slowest first, each 0 or more. A scalar has none. */

#ifndef LIGHTNET_SHAPE_H
#define LIGHTNET_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* The most dimensions a tensor has. */
#define LN_MAXDIM 8

/* Bytes that hold the text of every shape, the final zero included. */
#define LN_SHAPE_TEXT_BYTES 128

/* The number of elements, 1 for a scalar. -1 with a recorded failure if it does not fit an int
 * (LN_LIMIT), or if a dimension is negative, `ndim` is outside 0..LN_MAXDIM, or `dims` is NULL
 * with `ndim` above 0 (LN_INVALID). */
LN_API int ln_compute_length(int ndim, const int *dims);

/* Writes `[2, 3]` to `text`, which has `byte_count` bytes; a longer text is cut. Returns `text`.
 * `dims` NULL and `ndim` out of range give `[?]`. */
LN_API char *ln_sprint_shape(char *text, size_t byte_count, int ndim, const int *dims);

/* Prints the same to `fp`. */
LN_API void ln_print_shape(FILE *fp, int ndim, const int *dims);

/* The smallest multiple of `power2` that is not below `n`: 40 for 39 and 8, -8 for -15 and 8.
 * `n` itself with a recorded LN_INVALID if `power2` is no power of two, or LN_LIMIT if the result
 * does not fit an int. */
LN_API int ln_next_multiple_power2(int n, int power2);

/* ---- Arrays for tensors of another shape ---- */

/* Whether an array of `dims` has the elements of a tensor of shape `wanted` in the same order: both
 * shapes are equal but for dimensions of 1. In `wanted`, -1 is a dynamic dimension, which takes any
 * size; the array may lack leading ones, which are then 1. `out_dims`, of `wanted_ndim` elements
 * (NULL: not needed), receives the shape of the tensor. */
LN_API bool ln_shape_fit(int ndim, const int *dims, int wanted_ndim, const int *wanted,
                         int *out_dims);

/* The axes with which `numpy.transpose` or `ln_ndarray_transpose` turns an array of `dims` into one
 * that fits `wanted`; of several permutations the one that moves the channels of an image, else the
 * first in lexical order. False if no permutation fits. `out_axes` has `ndim` elements. */
LN_API bool ln_shape_find_transpose(int ndim, const int *dims, int wanted_ndim, const int *wanted,
                                    int *out_axes);

/* Writes what to do with an array of `dims` that does not fit `wanted` to `text`, which has
 * `byte_count` bytes: "; transpose it with axes 0,3,1,2: np.transpose(x, (0, 3, 1, 2))", or that it
 * can be reshaped, or nothing. Returns `text`. */
LN_API char *ln_shape_advice(char *text, size_t byte_count, int ndim, const int *dims,
                             int wanted_ndim, const int *wanted);

LN_CPPEND

#endif
