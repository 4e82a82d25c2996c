// SPDX-License-Identifier: Apache-2.0
// Reference kernels of operators of com.microsoft that no other family has.

#include "arch/ref/functions.h"

#include <math.h>
#include <string.h>

#include "arch/ref/onnx/move.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// ---- CDist ----

ln_status ln_ref_ms_cdist(ln_call *call)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    bool has_root = strcmp(ln_call_string(call, "metric"), "euclidean") == 0;
    size_t columns = (size_t)a->dims[1];
    for (size_t i = 0; i < (size_t)dst->len && !ln_deadline_passed_at(i); i++) {
        size_t row_a = i / (size_t)b->dims[0], row_b = i % (size_t)b->dims[0];
        double sum = 0;
        for (size_t c = 0; c < columns; c++) {
            double d = ln_elem_real(a, row_a * columns + c) - ln_elem_real(b, row_b * columns + c);
            sum += d * d;
        }
        ln_elem_set_real(dst, i, has_root ? sqrt(sum) : sum);
    }
    return LN_OK;
}

// ---- CropAndResize ----

// Rows, or columns, of a box in an image. Positions are floats, as where they are specified: the
// nearest pixel depends on it.
typedef struct ruler {
    float first, step;
    float last; // of the image
} ruler;

static ruler make_ruler(float from, float to, int count, int dim)
{
    float last = (float)(dim - 1);
    if (count == 1)
        return (ruler){.first = 0.5f * (from + to) * last, .last = last};
    return (ruler){
        .first = from * last, .step = (to - from) * last / (float)(count - 1), .last = last};
}

static float position(const ruler *r, int i)
{
    return r->first + (float)i * r->step;
}

// Whether it is in the image; not for NaN.
static bool is_inside(const ruler *r, float at)
{
    return at >= 0 && at <= r->last;
}

static double pixel(const tl_tensor *x, size_t plane, double row, double column)
{
    return ln_elem_real(x, (plane * (size_t)x->dims[2] + (size_t)row) * (size_t)x->dims[3] +
                               (size_t)column);
}

static double sample(const tl_tensor *x, size_t plane, float y, float x_at, bool is_bilinear)
{
    if (!is_bilinear)
        return pixel(x, plane, roundf(y), roundf(x_at));
    double top = floorf(y), left = floorf(x_at), bottom = ceilf(y), right = ceilf(x_at);
    double dy = y - top, dx = x_at - left;
    double upper = pixel(x, plane, top, left), lower = pixel(x, plane, bottom, left);
    upper += (pixel(x, plane, top, right) - upper) * dx;
    lower += (pixel(x, plane, bottom, right) - lower) * dx;
    return upper + (lower - upper) * dy;
}

static void crop_box(ln_call *call, size_t box, size_t image, bool is_bilinear)
{
    const tl_tensor *x = ln_call_in(call, 0), *rois = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    double outside = ln_call_float(call, "extrapolation_value");
    const float *corners = (const float *)rois->data + box * 4;
    ruler rows = make_ruler(corners[0], corners[2], dst->dims[2], x->dims[2]);
    ruler columns = make_ruler(corners[1], corners[3], dst->dims[3], x->dims[3]);
    size_t channels = (size_t)dst->dims[1],
           at = box * channels * (size_t)dst->dims[2] * (size_t)dst->dims[3];
    for (size_t c = 0; c < channels; c++) {
        for (int row = 0; row < dst->dims[2]; row++) {
            for (int column = 0; column < dst->dims[3]; column++) {
                float y_at = position(&rows, row), x_at = position(&columns, column);
                bool is_in = is_inside(&rows, y_at) && is_inside(&columns, x_at);
                ln_elem_set_real(dst, at++,
                                 is_in ? sample(x, image * channels + c, y_at, x_at, is_bilinear)
                                       : outside);
            }
        }
    }
}

ln_status ln_ref_ms_crop_and_resize(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0), *batch = ln_call_in(call, 2);
    bool is_bilinear = strcmp(ln_call_string(call, "mode"), "bilinear") == 0;
    if (ln_call_dst(call, 0)->len == 0)
        return LN_OK;
    for (size_t box = 0; box < (size_t)batch->len; box++) {
        int64_t image = ln_elem_int(batch, box);
        if (image < 0 || image >= x->dims[0])
            return ln_call_fail(call, LN_INVALID, "batch_indices has %lld for %d images",
                                (long long)image, x->dims[0]);
        crop_box(call, box, (size_t)image, is_bilinear);
    }
    return LN_OK;
}

// ---- DynamicTimeWarping ----

enum { STEP_BOTH, STEP_ROW, STEP_COLUMN };

// Fills steps[M + 1, N + 1]: how each element is reached best; two rows of sums are enough.
static void find_steps(const tl_tensor *x, size_t rows, size_t columns, double *sums,
                       uint8_t *steps)
{
    double *above = sums, *now = sums + columns + 1;
    for (size_t c = 0; c <= columns; c++) {
        above[c] = c == 0 ? 0 : (double)INFINITY;
        steps[c] = STEP_COLUMN;
    }
    for (size_t r = 1; r <= rows; r++) {
        uint8_t *step = steps + r * (columns + 1);
        now[0] = (double)INFINITY;
        step[0] = STEP_ROW;
        for (size_t c = 1; c <= columns; c++) {
            double both = above[c - 1], row = above[c], column = now[c - 1];
            step[c] = both < row && both < column  ? STEP_BOTH
                      : row < both && row < column ? STEP_ROW
                                                   : STEP_COLUMN;
            double best = step[c] == STEP_BOTH ? both : step[c] == STEP_ROW ? row : column;
            now[c] = best + ln_elem_real(x, (r - 1) * columns + c - 1);
        }
        double *other = above;
        above = now;
        now = other;
    }
}

ln_status ln_ref_ms_dynamic_time_warping(ln_call *call)
{
    const tl_tensor *x = ln_call_in(call, 0);
    size_t rows = (size_t)x->dims[x->ndim - 2], columns = (size_t)x->dims[x->ndim - 1];
    double *sums = ln_call_scratch(call, 2 * (columns + 1), sizeof *sums);
    uint8_t *steps = sums ? ln_call_scratch(call, rows + 1, columns + 1) : NULL;
    int32_t *path = steps ? ln_call_scratch(call, rows + columns + 1, 2 * sizeof *path) : NULL;
    if (!path)
        return ln_error_status();
    find_steps(x, rows, columns, sums, steps);
    size_t r = rows, c = columns, count = 0;
    while (r > 0 || c > 0) {
        path[2 * count] = (int32_t)r - 1;
        path[2 * count++ + 1] = (int32_t)c - 1;
        uint8_t step = steps[r * (columns + 1) + c];
        r -= step != STEP_COLUMN;
        c -= step != STEP_ROW;
    }
    int dims[] = {2, (int)count};
    ln_object *object = ln_object_new_tensor(TL_INT32, 2, dims, ln_call_meter(call));
    if (!object)
        return ln_error_status();
    int32_t *to = ln_object_tensor(object)->data;
    for (size_t i = 0; i < count; i++) {
        to[i] = path[2 * (count - 1 - i)];
        to[count + i] = path[2 * (count - 1 - i) + 1];
    }
    ln_status status = ln_call_set_object(call, 0, object);
    ln_object_release(object);
    return status;
}

// ---- ExpandDims, UnfoldTensor ----

ln_status ln_ref_ms_expand_dims(ln_call *call)
{
    return ln_move_all(call, 0, ln_call_in(call, 0));
}

ln_status ln_ref_ms_unfold_tensor(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0), *dst = ln_call_dst(call, 0);
    int axis;
    LN_TRY(ln_call_axis(call, "dim", src->ndim, &axis));
    ln_box box = {.ndim = dst->ndim};
    ln_dense_strides(src->ndim, src->dims, box.from_strides);
    ln_dense_strides(dst->ndim, dst->dims, box.to_strides);
    for (int i = 0; i < dst->ndim; i++)
        box.dims[i] = dst->dims[i];
    box.from_strides[src->ndim] = box.from_strides[axis];
    if (dst->dims[axis] > 1) // else the step may be any number
        box.from_strides[axis] *= ln_call_int(call, "step");
    return ln_move_box(call, 0, src, &box);
}

// ---- MurmurHash3 ----

static uint32_t rotated(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t mixed(uint32_t block)
{
    return rotated(block * 0xcc9e2d51u, 15) * 0x1b873593u;
}

// MurmurHash3_x86_32 of Austin Appleby, who gave it to the public domain; blocks are little-endian.
static uint32_t murmur_hash(const uint8_t *bytes, size_t len, uint32_t hash)
{
    uint32_t tail = 0;
    for (size_t i = 0; i + 4 <= len; i += 4) {
        uint32_t block = (uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 |
                         (uint32_t)bytes[i + 2] << 16 | (uint32_t)bytes[i + 3] << 24;
        hash = rotated(hash ^ mixed(block), 13) * 5 + 0xe6546b64u;
    }
    for (size_t i = len % 4; i > 0; i--)
        tail = tail << 8 | bytes[len / 4 * 4 + i - 1];
    hash ^= mixed(tail) ^ (uint32_t)len;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

ln_status ln_ref_ms_murmur_hash(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    uint32_t *dst = ln_call_dst(call, 0)->data; // of int32 the same bits
    uint32_t seed = (uint32_t)ln_call_int(call, "seed");
    size_t size = tl_size_of(src->dtype);
    for (size_t i = 0; i < (size_t)src->len && !ln_deadline_passed_at(i); i++) {
        const char *bytes = (const char *)src->data + i * size;
        size_t len = size;
        if (src->dtype == TL_STRING) {
            bytes = ((const char *const *)src->data)[i];
            bytes = bytes ? bytes : "";
            len = strlen(bytes);
        }
        dst[i] = murmur_hash((const uint8_t *)bytes, len, seed);
    }
    return LN_OK;
}

// ---- NGramRepeatBlock ----

// Whether the `count` tokens from `at` on are those at the end of the row.
static bool repeats(const int64_t *row, size_t len, size_t at, size_t count)
{
    return count == 0 || memcmp(row + at, row + len - count, count * sizeof *row) == 0;
}

ln_status ln_ref_ms_ngram_repeat_block(ln_call *call)
{
    const tl_tensor *ids = ln_call_in(call, 0), *scores = ln_call_in(call, 1);
    tl_tensor *dst = ln_call_dst(call, 0);
    size_t len = (size_t)ids->dims[1], words = (size_t)scores->dims[1];
    int64_t n = ln_call_int(call, "ngram_size");
    LN_TRY(ln_move_all(call, 0, scores));
    for (size_t r = 0; r < (size_t)ids->dims[0] && (uint64_t)n <= len; r++) {
        const int64_t *row = (const int64_t *)ids->data + r * len;
        for (size_t at = 0; at + (size_t)n <= len; at++) {
            int64_t token = row[at + (size_t)n - 1];
            if (!repeats(row, len, at, (size_t)n - 1))
                continue;
            if (token < 0 || (uint64_t)token >= words)
                return ln_call_fail(call, LN_INVALID, "token %lld of a vocabulary of %zu",
                                    (long long)token, words);
            ((float *)dst->data)[r * words + (size_t)token] = -INFINITY;
        }
    }
    return LN_OK;
}
