/* SPDX-License-Identifier: Apache-2.0 */
/* Dense tensors in row-major order, and the routines on them.
 *
 *     int dims[] = {2, 3};
 *     tl_tensor *a = tl_tensor_arange(0, 6, 1, TL_FLOAT);     // [0 1 2 3 4 5]
 *     tl_tensor *b = tl_tensor_reshape(a, 2, dims);           // a view of a's data
 *     tl_tensor *c = tl_tensor_transpose(b, NULL, (int[]){1, 0});
 *     tl_tensor_print(c, NULL);
 *
 * Shapes have 0 to TL_MAXDIM dimensions. A dimension may be 0: the tensor is empty and every
 * routine accepts it. No dimensions make a scalar of one element. The number of elements fits int.
 *
 * Where a routine takes a `dst`, NULL makes a new tensor with new data, and a given one must have
 * the right dtype and shape; the result is `dst` or the new tensor. Anything that does not fit
 * (NULL, a wrong dtype, shape, axis or range, a tensor without data) is LN_INVALID, changes nothing
 * and returns NULL; so does LN_NO_MEMORY. In element-wise routines `dst` may be a source; elsewhere
 * the data of `dst` must be apart from the data of the sources.
 *
 * The caller owns returned tensors: `tl_tensor_free_data_too`, or `tl_tensor_free` where the data
 * is someone else's. Data made here comes from `ln_alloc`. A tensor belongs to one thread at a
 * time; reading it from many is fine.
 */

#ifndef LIGHTNET_TENSOR_H
#define LIGHTNET_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <lightnet/dtype.h>
#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

#define TL_MAXDIM 8

struct tl_tensor {
    tl_dtype dtype;          /* data type */
    int len;                 /* number of elements */
    int ndim;                /* number of dimensions */
    int *dims;               /* array of dimensions */
    void *data;              /* data pointer, aligned for the dtype */
    struct tl_tensor *owner; /* data owner, NULL if it's itself */
    void *backend_data;      /* for other backend dependent data */
};
typedef struct tl_tensor tl_tensor;

/* ---- Shapes ---- */

/* *out_len = the number of elements of a shape; false, and 0, when the number of dimensions or a
 * dimension is out of range or the product does not fit int. Records no error. */
LN_API bool tl_shape_len(int ndim, const int *dims, int *out_len);

/* The same with the error recorded; -1 on failure. */
LN_API int tl_compute_length(int ndim, const int *dims);

/* Bytes of data; 0 for NULL. */
LN_API size_t tl_tensor_size(const tl_tensor *t);

/* Position in memory of the element at `coords` (ndim of them); -1 when one is out of range. */
LN_API int tl_tensor_index(const tl_tensor *t, const int *coords);

/* Fills in `coords` (ndim of them) of the element at position `index`. */
LN_API ln_status tl_tensor_coords(const tl_tensor *t, int index, int *coords);

/* 1 when both have the same number of dimensions and the same dimensions, else 0; 0 for NULL. */
LN_API int tl_tensor_issameshape(const tl_tensor *t1, const tl_tensor *t2);

/* ---- Making and freeing ---- */

/* Wraps `data`, which stays the caller's and may be NULL: to be set before the tensor is used.
 * `dims` is copied. */
LN_API tl_tensor *tl_tensor_create(void *data, int ndim, const int *dims, tl_dtype dtype);

/* Frees the tensor and leaves its data alone; NULL is fine. */
LN_API void tl_tensor_free(tl_tensor *t);

/* Frees the tensor and its data. The data of a view (`owner` is set) is left alone. */
LN_API void tl_tensor_free_data_too(tl_tensor *t);

LN_API tl_tensor *tl_tensor_zeros(int ndim, const int *dims, tl_dtype dtype);
LN_API tl_tensor *tl_tensor_clone(const tl_tensor *src);

/* `times` >= 0 copies of `src` along a new first dimension. */
LN_API tl_tensor *tl_tensor_repeat(const tl_tensor *src, int times);

/* 1-d: start, start + step, ... up to but without `stop`; ceil((stop - start) / step) elements, 0
 * when `stop` is on the other side of `start`. `step` is not 0; all three are finite and in the
 * dtype's range.
 */
LN_API tl_tensor *tl_tensor_arange(double start, double stop, double step, tl_dtype dtype);

/* Overwrites the 1-d `src` by such a range, whose length must be the tensor's. */
LN_API ln_status tl_tensor_rearange(tl_tensor *src, double start, double stop, double step);

/* A new tensor of the shape of `src` but with `len` >= 0 on `axis`; around `data`, or zeros. */
LN_API tl_tensor *tl_tensor_create_slice(void *data, const tl_tensor *src, int axis, int len,
                                         tl_dtype dtype);
LN_API tl_tensor *tl_tensor_zeros_slice(const tl_tensor *src, int axis, int len, tl_dtype dtype);

/* ---- Printing ---- */

/* Nested brackets, elements separated by a space, each row on a line of its own, a final newline;
 * an empty tensor is "[]". `fmt` as in `tl_fprintf`. */
LN_API ln_status tl_tensor_fprint(FILE *stream, const tl_tensor *t, const char *fmt);
LN_API ln_status tl_tensor_print(const tl_tensor *t, const char *fmt);

/* The same into the file `file_name`, which is replaced; 0, or -1 on failure. */
LN_API int tl_tensor_save(const char *file_name, const tl_tensor *t, const char *fmt);

/* ---- Moving elements ---- */

/* The elements [start, start + len) on `axis`. */
LN_API tl_tensor *tl_tensor_slice(const tl_tensor *src, tl_tensor *dst, int axis, int start,
                                  int len);

/* The same as a view that shares the data of `src`; `axis` must be 0. A given `dst` gets its shape
 * checked and its data and owner replaced. */
LN_API tl_tensor *tl_tensor_slice_nocopy(const tl_tensor *src, tl_tensor *dst, int axis, int start,
                                         int len);

/* Joins two tensors of one dtype whose shapes differ at most on `axis`. */
LN_API tl_tensor *tl_tensor_concat(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                   int axis);

/* A view of `src` with other dimensions of the same product. */
LN_API tl_tensor *tl_tensor_reshape(const tl_tensor *src, int ndim, const int *dims);

/* The same in place. */
LN_API ln_status tl_tensor_reshape_src(tl_tensor *src, int ndim, const int *dims);

/* Dimension i of the result is dimension axes[i] of `src`; `axes` is a permutation. */
LN_API tl_tensor *tl_tensor_transpose(const tl_tensor *src, tl_tensor *dst, const int *axes);

/* ---- Arithmetic ---- */

/* The largest element along `axis`, whose dimension becomes 1; the axis must not be empty unless
 * the result is. `arg`, NULL or a TL_INT32 tensor of the result's shape, receives the position of
 * the first largest element. A NaN counts as the largest. */
LN_API tl_tensor *tl_tensor_maxreduce(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                                      int axis);

/* dst = src1 op src2, element by element; one dtype. Where the shapes differ, they are compared
 * from the last dimension on: missing ones count as 1, and where one is 1, its only row stands for
 * all of the other's. Nothing is written when it fails. See `tl_elew`. */
LN_API tl_tensor *tl_tensor_elew(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                 tl_elew_op op);

/* dst = src op param, with the parameter converted to the dtype first. */
LN_API tl_tensor *tl_tensor_elew_param(const tl_tensor *src, double param, tl_tensor *dst,
                                       tl_elew_op op);

/* The sum of products as a 1-d tensor of one element, computed in the dtype in memory order. */
LN_API tl_tensor *tl_tensor_dot_product(const tl_tensor *src1, const tl_tensor *src2,
                                        tl_tensor *dst);

/* See `tl_lrelu`. */
LN_API tl_tensor *tl_tensor_lrelu(const tl_tensor *src, tl_tensor *dst, float negslope);

/* `src` in another dtype. `dst` may be `src` itself only when the dtypes are equal in size. */
LN_API tl_tensor *tl_tensor_convert(const tl_tensor *src, tl_tensor *dst, tl_dtype dtype_d);

/* ---- Images and detection ---- */

/* `src` with the dimensions `new_dims` (ndim of them). With x = (i + 0.5) * in / out - 0.5 on each
 * axis, TL_NEAREST takes the element at x rounded half away from zero; TL_LINEAR interpolates
 * between the neighbours of x in double, and rounds to nearest for integers. */
LN_API tl_tensor *tl_tensor_resize(const tl_tensor *src, tl_tensor *dst, const int *new_dims,
                                   tl_resize_type type);

/* dst[c][h][w] = src[h][w][c] - mean[c], with 3 channels; computed in double, converted to the
 * dtype of `dst`, TL_FLOAT for a new one. Neither may be bool. */
LN_API tl_tensor *tl_tensor_submean(const tl_tensor *src, tl_tensor *dst, const double *mean);

/* SqueezeDet boxes. `delta`, `anchor` and the result are float with a last dimension of 4:
 * (dx, dy, dw, dh), (x, y, w, h) and (xmin, ymin, xmax, ymax). With e(v) = exp(v) below 1 and v * e
 * from there:
 *     x = (ax + dx * aw) * img_width / width + x_shift      w = aw * e(dw) * img_width / width
 * and likewise for y; corners are clamped to the image, [0, size - 1]. All sizes are > 0. */
LN_API tl_tensor *tl_tensor_transform_bboxSQD(const tl_tensor *delta, const tl_tensor *anchor,
                                              tl_tensor *dst, int width, int height, int img_width,
                                              int img_height, int x_shift, int y_shift);

/* YOLOv3 decoding of one feature map. All tensors are float; `feature` is [1, A * (5 + K), H, W]
 * with the channels (x, y, w, h, confidence, K classes) of each anchor, `anchors` is [A, 2] with
 * (w, h) in pixels. The outputs are given by the caller; one that is NULL is not wanted:
 *     box_centers [1, A, 2, H, W]   (sigmoid(t) + grid) * image / grid size
 *     box_sizes   [1, A, 2, H, W]   anchor * exp(t), with exp(t) limited to [1e-9, 50]
 *     boxes       [1, A, 4, H, W]   xmin, ymin, xmax, ymax
 *     confs       [1, A, 1, H, W]   sigmoid
 *     probs       [1, A, K, H, W]   sigmoid */
LN_API ln_status tl_tensor_detect_yolov3(const tl_tensor *feature, const tl_tensor *anchors,
                                         tl_tensor *box_centers, tl_tensor *box_sizes,
                                         tl_tensor *boxes, tl_tensor *confs, tl_tensor *probs,
                                         int img_width, int img_height);

/* ---- Sorting and picking ---- */

/* Sorts a 1-d tensor in place, any dtype. NaN goes last in both directions. */
LN_API ln_status tl_tensor_sort1d(tl_tensor *src, tl_sort_dir dir);

/* Sorts `key`, and moves the elements of `val` (1-d, same length, any dtype) along with their keys.
 * Elements with equal keys keep their order. */
LN_API ln_status tl_tensor_sort1d_by_key(tl_tensor *key, tl_tensor *val, tl_sort_dir dir);

/* dst[i * stride + k] = src[index[i] * stride + k] for i < len, k < stride. `src` is 1-d, `index` a
 * 1-d TL_INT32 tensor of at least `len` elements. An index outside of `src` is LN_INVALID. */
LN_API tl_tensor *tl_tensor_pick1d(const tl_tensor *src, const tl_tensor *index, tl_tensor *dst,
                                   int stride, int len);

LN_CPPEND

#endif
