// SPDX-License-Identifier: Apache-2.0
// Sorting 1-d tensors, and picking elements by position.
//
// Bottom-up merge sort: stable, n log n for every input, no recursion. With a second tensor the
// positions are sorted along with the keys, and its elements are then moved once.

#include <lightnet/tensor.h>

#include <stdint.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "tensor/tensor_check.h"

// Whether `b` must come before `a` that stands before it. NaN goes last in both directions.
#define AFTER_FLOATING(a, b, descends)                                                             \
    ((descends) ? (b) > (a) || ((a) != (a) && (b) == (b)) : (b) < (a) || ((a) != (a) && (b) == (b)))
#define AFTER_SIGNED(a, b, descends) ((descends) ? (b) > (a) : (b) < (a))
#define AFTER_UNSIGNED               AFTER_SIGNED
#define AFTER_BOOLEAN                AFTER_SIGNED

// Sorts `count` keys with `order`, which may be NULL; the spare arrays have the same sizes.
#define SORT_FUNC(name, type, kind, fmt, min, max)                                                 \
    static void sort_##name(void *keys, void *spare_keys, int32_t *order, int32_t *spare_order,    \
                            size_t count, bool descends)                                           \
    {                                                                                              \
        type *from = keys, *to = spare_keys;                                                       \
        for (size_t width = 1; width < count; width *= 2) {                                        \
            for (size_t start = 0; start < count; start += 2 * width) {                            \
                size_t middle = start + width < count ? start + width : count;                     \
                size_t end = start + 2 * width < count ? start + 2 * width : count;                \
                size_t left = start, right = middle;                                               \
                for (size_t i = start; i < end; i++) {                                             \
                    bool takes_right =                                                             \
                        left == middle ||                                                          \
                        (right < end && AFTER_##kind(from[left], from[right], descends));          \
                    size_t taken = takes_right ? right++ : left++;                                 \
                    to[i] = from[taken];                                                           \
                    if (order)                                                                     \
                        spare_order[i] = order[taken];                                             \
                }                                                                                  \
            }                                                                                      \
            type *sorted = to;                                                                     \
            to = from;                                                                             \
            from = sorted;                                                                         \
            int32_t *sorted_order = spare_order;                                                   \
            spare_order = order;                                                                   \
            order = sorted_order;                                                                  \
        }                                                                                          \
        if (from != (type *)keys)                                                                  \
            memcpy(keys, from, count * sizeof *from);                                              \
        if (order && from != (type *)keys)                                                         \
            memcpy(spare_order, order, count * sizeof *order);                                     \
    }
TL_DTYPE_LIST(SORT_FUNC)
#undef SORT_FUNC

static void sort_keys(tl_tensor *key, void *spare_keys, int32_t *order, int32_t *spare_order,
                      tl_sort_dir dir)
{
    bool descends = dir == TL_SORT_DIR_DESCENDING;
    switch (key->dtype) {
#define SORT_CASE(name, type, kind, fmt, min, max)                                                 \
    case name:                                                                                     \
        sort_##name(key->data, spare_keys, order, spare_order, (size_t)key->len, descends);        \
        break;
        TL_DTYPE_LIST(SORT_CASE)
#undef SORT_CASE
    default: break;
    }
}

static ln_status check_keys(const tl_tensor *t)
{
    return tensor_is_native(t, "key") ? LN_OK : LN_UNSUPPORTED;
}

static ln_status check_sortable(const tl_tensor *t, const char *arg_name, tl_sort_dir dir)
{
    if (!tensor_is_usable(t, arg_name))
        return LN_INVALID;
    if (t->ndim != 1)
        return LN_FAIL(LN_INVALID, "'%s' has %d dimensions instead of 1", arg_name, t->ndim);
    if (!tl_sort_dir_name(dir))
        return LN_FAIL(LN_INVALID, "%d is not a sort direction", (int)dir);
    return LN_OK;
}

ln_status tl_tensor_sort1d(tl_tensor *src, tl_sort_dir dir)
{
    LN_TRY(check_sortable(src, "src", dir));
    LN_TRY(check_keys(src));
    void *spare_keys = ln_alloc(tl_tensor_size(src));
    if (!spare_keys)
        return LN_NO_MEMORY;
    sort_keys(src, spare_keys, NULL, NULL, dir);
    ln_free(spare_keys);
    return LN_OK;
}

// dst[i] = src[order[i]].
static void permute(char *dst, const char *src, const int32_t *order, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * size, src + (size_t)order[i] * size, size);
}

ln_status tl_tensor_sort1d_by_key(tl_tensor *key, tl_tensor *val, tl_sort_dir dir)
{
    LN_TRY(check_sortable(key, "key", dir));
    LN_TRY(check_keys(key));
    LN_TRY(check_sortable(val, "val", dir));
    if (key->len != val->len)
        return LN_FAIL(LN_INVALID, "%d keys for %d values", key->len, val->len);
    if (!tensors_are_apart(key, val))
        return LN_INVALID;

    size_t count = (size_t)key->len, size = tl_size_of(val->dtype);
    void *spare_keys = ln_alloc(tl_tensor_size(key));
    int32_t *orders = ln_alloc_array(count, 2 * sizeof *orders);
    char *values = tl_clone(val->data, count * size);
    ln_status status = spare_keys && orders && values ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK) {
        for (size_t i = 0; i < count; i++)
            orders[i] = (int32_t)i;
        sort_keys(key, spare_keys, orders, orders + count, dir);
        permute(val->data, values, orders, count, size);
    }
    ln_free(values);
    ln_free(orders);
    ln_free(spare_keys);
    return status;
}

tl_tensor *tl_tensor_pick1d(const tl_tensor *src, const tl_tensor *index, tl_tensor *dst,
                            int stride, int len)
{
    if (!tensor_is_usable(src, "src") || !tensor_is_usable(index, "index") ||
        !tensors_are_apart(src, dst) || !tensors_are_apart(index, dst))
        return NULL;
    if (src->ndim != 1 || index->ndim != 1 || index->dtype != TL_INT32) {
        ln_fail(LN_INVALID, "'src' must have 1 dimension, and 'index' 1 of int32");
        return NULL;
    }
    int dst_len;
    if (stride < 1 || len < 0 || len > index->len ||
        __builtin_mul_overflow(len, stride, &dst_len)) {
        ln_fail(LN_INVALID, "cannot pick %d groups of %d elements by %d indices", len, stride,
                index->len);
        return NULL;
    }
    const int32_t *positions = index->data;
    for (int i = 0; i < len; i++) {
        if (positions[i] < 0 || positions[i] >= src->len / stride) {
            ln_fail(LN_INVALID, "index %d at %d is outside of %d groups of %d elements",
                    positions[i], i, src->len / stride, stride);
            return NULL;
        }
    }
    dst = tensor_result(dst, 1, &dst_len, src->dtype);
    if (dst && len > 0)
        permute(dst->data, src->data, positions, (size_t)len,
                (size_t)stride * tl_size_of(src->dtype));
    return dst;
}
