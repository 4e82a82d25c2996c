// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals on arch `ref`. Objects are immutable, so that a changed sequence is a new
// one which shares its items with the old one.

#include <string.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/pieces.h"
#include "tensor/elem.h"
#include "tensor/object.h"

// Gives `object`, which may be NULL after a failure, as output 0.
static ln_status give(ln_call *call, ln_object *object)
{
    if (!object)
        return ln_error_status();
    ln_status status = ln_call_set_object(call, 0, object);
    ln_object_release(object);
    return status;
}

// Memory for `count` objects, at least one byte of it.
static ln_object **object_array(ln_call *call, size_t count)
{
    return ln_call_scratch(call, count ? count : 1, sizeof(ln_object *));
}

// *out_sequence = input 0, borrowed.
static ln_status get_sequence(ln_call *call, ln_object **out_sequence)
{
    *out_sequence = ln_call_object(call, 0);
    if (!*out_sequence || ln_object_get_kind(*out_sequence) != LN_OBJECT_SEQUENCE)
        return ln_call_fail(call, LN_INVALID, "the input is not a sequence");
    return LN_OK;
}

// *out_position = a place in a sequence of `count` items: input `index`, 0 to `last`, where
// negative numbers count from the end of the items. `absent` if the input was left out.
static ln_status get_position(ln_call *call, int index, size_t count, size_t last, size_t absent,
                              size_t *out_position)
{
    *out_position = absent;
    const tl_tensor *position = ln_call_in(call, index);
    if (!position)
        return LN_OK;
    if (position->len != 1)
        return ln_call_fail(call, LN_INVALID, "a position of %d elements", position->len);
    int64_t at = ln_elem_int(position, 0);
    int64_t from_start = at < 0 ? at + (int64_t)count : at;
    if (from_start < 0 || from_start > (int64_t)last)
        return ln_call_fail(call, LN_INVALID, "position %lld is outside a sequence of %zu items",
                            (long long)at, count);
    *out_position = (size_t)from_start;
    return LN_OK;
}

static ln_status pass_object(ln_call *call)
{
    return give(call, ln_call_in_object(call, 0));
}

ln_status ln_ref_sequence_construct(ln_call *call)
{
    size_t count = (size_t)ln_call_in_count(call), made = 0;
    ln_object **items = object_array(call, count);
    if (!items)
        return ln_error_status();
    while (made < count && (items[made] = ln_call_in_object(call, (int)made)))
        made++;
    ln_object *sequence = NULL;
    if (made == count) {
        tl_dtype dtype = count ? ln_object_elem_dtype(items[0]) : TL_FLOAT;
        sequence = ln_object_make_sequence(dtype, count, items, ln_call_meter(call));
    }
    ln_ref_release_all(items, made);
    return give(call, sequence);
}

ln_status ln_ref_sequence_empty(ln_call *call)
{
    tl_dtype dtype = TL_FLOAT;
    if (ln_call_has(call, "dtype"))
        LN_TRY(ln_call_dtype(call, "dtype", &dtype));
    return give(call, ln_object_make_sequence(dtype, 0, NULL, ln_call_meter(call)));
}

ln_status ln_ref_sequence_insert(ln_call *call)
{
    ln_object *sequence;
    size_t at;
    LN_TRY(get_sequence(call, &sequence));
    size_t count = ln_object_count(sequence);
    LN_TRY(get_position(call, 2, count, count, count, &at));
    ln_object *item = ln_call_in_object(call, 1);
    if (!item)
        return ln_error_status();

    tl_dtype dtype = ln_object_elem_dtype(item);
    ln_object **items = object_array(call, count + 1);
    ln_object *longer = NULL;
    if (count > 0 && dtype != ln_object_elem_dtype(sequence)) {
        (void)ln_call_fail(call, LN_INVALID, "an item of type %s for a sequence of %s",
                           tl_dtype_title(dtype), tl_dtype_title(ln_object_elem_dtype(sequence)));
    } else if (items) {
        for (size_t i = 0; i <= count; i++)
            items[i] = i == at ? item : ln_object_item(sequence, i - (i > at));
        longer = ln_object_make_sequence(dtype, count + 1, items, ln_call_meter(call));
    }
    ln_object_release(item);
    return give(call, longer);
}

ln_status ln_ref_sequence_erase(ln_call *call)
{
    ln_object *sequence;
    size_t at;
    LN_TRY(get_sequence(call, &sequence));
    size_t count = ln_object_count(sequence);
    if (count == 0)
        return ln_call_fail(call, LN_INVALID, "the sequence has no items");
    LN_TRY(get_position(call, 1, count, count - 1, count - 1, &at));
    ln_object **items = object_array(call, count);
    if (!items)
        return ln_error_status();
    for (size_t i = 0; i + 1 < count; i++)
        items[i] = ln_object_item(sequence, i + (i >= at));
    return give(call, ln_object_make_sequence(ln_object_elem_dtype(sequence), count - 1, items,
                                              ln_call_meter(call)));
}

ln_status ln_ref_sequence_at(ln_call *call)
{
    ln_object *sequence;
    size_t at;
    LN_TRY(get_sequence(call, &sequence));
    size_t count = ln_object_count(sequence);
    if (count == 0)
        return ln_call_fail(call, LN_INVALID, "the sequence has no items");
    LN_TRY(get_position(call, 1, count, count - 1, 0, &at));
    return ln_call_set_object(call, 0, ln_object_item(sequence, at));
}

ln_status ln_ref_sequence_length(ln_call *call)
{
    ln_object *sequence;
    LN_TRY(get_sequence(call, &sequence));
    ln_elem_set_int(ln_call_dst(call, 0), 0, (int64_t)ln_object_count(sequence));
    return LN_OK;
}

// ---- Tensors and sequences ----

// *out_count, *out_lens = how many parts SplitToSequence makes, and the length of each.
static ln_status get_lens(ln_call *call, int total, size_t *out_count, int **out_lens)
{
    *out_count = 0;
    *out_lens = NULL;
    const tl_tensor *split = ln_call_in(call, 1);
    if (split && split->ndim > 1)
        return ln_call_fail(call, LN_INVALID, "`split` has rank %d instead of 0 or 1", split->ndim);
    bool is_list = split && split->ndim == 1;
    int64_t len = split && !is_list ? ln_elem_int(split, 0) : 1;
    if (len <= 0)
        return ln_call_fail(call, LN_INVALID, "parts of length %lld", (long long)len);
    // A sum of both could overflow: `len` is any number of the data.
    size_t count = is_list ? (size_t)split->len : (size_t)(total / len + (total % len != 0));
    int *lens = ln_call_scratch(call, count ? count : 1, sizeof *lens);
    if (!lens)
        return ln_error_status();
    int64_t left = total;
    for (size_t i = 0; i < count; i++) {
        int64_t wanted = is_list ? ln_elem_int(split, i) : (len < left ? len : left);
        if (wanted < 0 || wanted > left)
            return ln_call_fail(call, LN_INVALID, "part %zu of length %lld with %lld elements left",
                                i, (long long)wanted, (long long)left);
        lens[i] = (int)wanted;
        left -= wanted;
    }
    if (left != 0)
        return ln_call_fail(call, LN_INVALID, "%lld elements belong to no part", (long long)left);
    *out_count = count;
    *out_lens = lens;
    return LN_OK;
}

ln_status ln_ref_split_to_sequence(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis, *lens;
    size_t count, made = 0;
    LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    LN_TRY(get_lens(call, src->dims[axis], &count, &lens));
    ln_object **items = object_array(call, count);
    if (!items)
        return ln_error_status();
    bool keeps_axis = ln_call_in(call, 1) || ln_call_int(call, "keepdims") != 0;
    for (int start = 0; made < count; start += lens[made++]) {
        items[made] = ln_ref_slice_object(call, src, axis, start, lens[made], keeps_axis);
        if (!items[made])
            break;
    }
    ln_object *sequence =
        made == count ? ln_object_make_sequence(src->dtype, count, items, ln_call_meter(call))
                      : NULL;
    ln_ref_release_all(items, made);
    return give(call, sequence);
}

ln_status ln_ref_concat_from_sequence(ln_call *call)
{
    ln_object *sequence;
    LN_TRY(get_sequence(call, &sequence));
    size_t count = ln_object_count(sequence);
    if (count == 0)
        return ln_call_fail(call, LN_INVALID, "the sequence has no items");
    int64_t new_axis = ln_call_int(call, "new_axis");
    if (new_axis != 0 && new_axis != 1)
        return ln_call_fail(call, LN_INVALID, "new_axis is %lld instead of 0 or 1",
                            (long long)new_axis);
    ln_object **items = object_array(call, count);
    if (!items)
        return ln_error_status();
    for (size_t i = 0; i < count; i++)
        items[i] = ln_object_item(sequence, i);
    return give(call,
                ln_ref_join_objects(call, ln_call_int(call, "axis"), new_axis == 1, count, items));
}

// ---- Optionals ----

ln_status ln_ref_optional(ln_call *call)
{
    if (!ln_call_in(call, 0))
        return give(call, ln_object_make_optional(NULL, ln_call_meter(call)));
    ln_object *item = ln_call_in_object(call, 0);
    if (!item)
        return ln_error_status();
    ln_object *optional = ln_object_make_optional(item, ln_call_meter(call));
    ln_object_release(item);
    return give(call, optional);
}

ln_status ln_ref_optional_has_element(ln_call *call)
{
    ln_object *object = ln_call_object(call, 0);
    bool has = ln_call_in(call, 0) != NULL;
    if (object && ln_object_get_kind(object) == LN_OBJECT_OPTIONAL)
        has = ln_object_item(object, 0) != NULL;
    ln_elem_set_int(ln_call_dst(call, 0), 0, has);
    return LN_OK;
}

ln_status ln_ref_optional_get_element(ln_call *call)
{
    ln_object *object = ln_call_object(call, 0);
    if (!object || ln_object_get_kind(object) != LN_OBJECT_OPTIONAL)
        return pass_object(call);
    ln_object *item = ln_object_item(object, 0);
    if (!item)
        return ln_call_fail(call, LN_INVALID, "the optional is empty");
    return ln_call_set_object(call, 0, item);
}
