// SPDX-License-Identifier: Apache-2.0
// Sorting: bottom-up merge sort between the result and a spare tensor. Stable, n log n for every
// input, nothing allocated.

#include "arch/ref/kernels.h"

#include <string.h>

#include "arch/ref/element.h"
#include "base/deadline.h"

typedef struct sort {
    tl_tensor *key, *val; // hold what is to be sorted, and then the result; `val` may be NULL
    tl_tensor *spare_key, *spare_val;
    bool descends;
} sort;

static ln_status check(const tl_tensor *key, const tl_tensor *val, const sort *s, tl_sort_dir dir)
{
    LN_TRY(ln_ref_expect_any(key, "key"));
    if (key->ndim != 1)
        return LN_FAIL(LN_INVALID, "key has rank %d instead of 1", key->ndim);
    if (!tl_sort_dir_name(dir))
        return LN_FAIL(LN_INVALID, "%d is not a sort direction", (int)dir);
    LN_TRY(ln_ref_expect(s->key, "dst_key", key->dtype, 1, key->dims));
    LN_TRY(ln_ref_expect(s->spare_key, "spare_key", key->dtype, 1, key->dims));
    if (!val)
        return LN_OK;
    LN_TRY(ln_ref_expect(val, "val", val->dtype, 1, key->dims));
    LN_TRY(ln_ref_expect(s->val, "dst_val", val->dtype, 1, key->dims));
    return ln_ref_expect(s->spare_val, "spare_val", val->dtype, 1, key->dims);
}

// Whether key `right` goes before key `left`, which stands in front of it.
LN_REF_INLINE bool is_out_of_order(ln_ref_number left, ln_ref_number right, tl_dtype dtype,
                                   bool descends)
{
    bool left_is_nan = left.real != left.real, right_is_nan = right.real != right.real;
    if (left_is_nan || right_is_nan)
        return left_is_nan && !right_is_nan;
    return descends ? ln_ref_less(left, right, dtype) : ln_ref_less(right, left, dtype);
}

static void move(void *to, size_t to_index, const void *from, size_t from_index, size_t size)
{
    memcpy((char *)to + to_index * size, (const char *)from + from_index * size, size);
}

// Merges the sorted runs [start, middle) and [middle, end) of `from` into `to`.
LN_REF_INLINE void merge(const sort *s, tl_dtype dtype, bool is_from_spare, size_t start,
                         size_t middle, size_t end)
{
    const tl_tensor *from = is_from_spare ? s->spare_key : s->key;
    tl_tensor *to = is_from_spare ? s->key : s->spare_key;
    size_t left = start, right = middle;
    for (size_t i = start; i < end && !ln_deadline_passed_at(i); i++) {
        bool takes_right =
            left == middle || (right < end && is_out_of_order(ln_ref_load(from->data, left, dtype),
                                                              ln_ref_load(from->data, right, dtype),
                                                              dtype, s->descends));
        size_t taken = takes_right ? right++ : left++;
        move(to->data, i, from->data, taken, tl_size_of(dtype));
        if (s->val)
            move(is_from_spare ? s->val->data : s->spare_val->data, i,
                 is_from_spare ? s->spare_val->data : s->val->data, taken,
                 tl_size_of(s->val->dtype));
    }
}

LN_REF_INLINE void merge_all(const sort *s, tl_dtype dtype)
{
    size_t count = (size_t)s->key->len;
    bool is_in_spare = false;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count && !ln_deadline_passed_at(start); start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = start + 2 * width < count ? start + 2 * width : count;
            merge(s, dtype, is_in_spare, start, middle, end);
        }
        is_in_spare = !is_in_spare;
    }
    if (!is_in_spare)
        return;
    memcpy(s->key->data, s->spare_key->data, tl_tensor_size(s->key));
    if (s->val)
        memcpy(s->val->data, s->spare_val->data, tl_tensor_size(s->val));
}

ln_status ln_ref_sort1d(const tl_tensor *key, const tl_tensor *val, tl_tensor *dst_key,
                        tl_tensor *dst_val, tl_tensor *spare_key, tl_tensor *spare_val,
                        tl_sort_dir dir)
{
    sort s = {dst_key, val ? dst_val : NULL, spare_key, spare_val, dir == TL_SORT_DIR_DESCENDING};
    LN_TRY(check(key, val, &s, dir));
    if (key->len == 0)
        return LN_OK;
    memcpy(dst_key->data, key->data, tl_tensor_size(key));
    if (val)
        memcpy(dst_val->data, val->data, tl_tensor_size(val));
    LN_REF_FOR_DTYPE(key->dtype, merge_all, &s);
    return LN_OK;
}
