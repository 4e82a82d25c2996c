// SPDX-License-Identifier: Apache-2.0
// Unique: rows are sorted by their elements, so that equal ones stand side by side.

#include <string.h>

#include <lightnet/op_support.h>

#include "op/functions.h"
#include "op/onnx/select.h"

// Row r has elements (o, i) for o < outer, i < inner, at (o * row_count + r) * inner + i.
typedef struct rows {
    const tl_tensor *data;
    size_t outer, row_count, inner;
} rows;

static int compare_reals(double a, double b)
{
    return tl_cmp(&a, &b, TL_DOUBLE);
}

static int compare_elements(const tl_tensor *t, size_t a, size_t b)
{
    size_t size = tl_size_of(t->dtype);
    const char *pa = (const char *)t->data + a * size, *pb = (const char *)t->data + b * size;
    if (t->dtype == TL_COMPLEX64) {
        const tl_complex64 *za = (const void *)pa, *zb = (const void *)pb;
        int order = compare_reals((double)za->real, (double)zb->real);
        return order ? order : compare_reals((double)za->imag, (double)zb->imag);
    }
    if (t->dtype == TL_COMPLEX128) {
        const tl_complex128 *za = (const void *)pa, *zb = (const void *)pb;
        int order = compare_reals(za->real, zb->real);
        return order ? order : compare_reals(za->imag, zb->imag);
    }
    return tl_cmp(pa, pb, t->dtype);
}

static int compare_rows(const rows *all, int a, int b)
{
    for (size_t o = 0; o < all->outer; o++) {
        size_t at_a = (o * all->row_count + (size_t)a) * all->inner;
        size_t at_b = (o * all->row_count + (size_t)b) * all->inner;
        for (size_t i = 0; i < all->inner; i++) {
            int order = compare_elements(all->data, at_a + i, at_b + i);
            if (order)
                return order;
        }
    }
    return 0;
}

static bool row_less(const void *context, int a, int b)
{
    return compare_rows(context, a, b) < 0;
}

static bool first_less(const void *context, int a, int b)
{
    const int *first_of = context;
    return first_of[a] < first_of[b];
}

static rows rows_of(const tl_tensor *data, int axis)
{
    rows all = {.data = data, .outer = 1, .row_count = (size_t)data->len, .inner = 1};
    if (axis < 0)
        return all;
    all.row_count = (size_t)data->dims[axis];
    for (int i = 0; i < axis; i++)
        all.outer *= (size_t)data->dims[i];
    for (int i = axis + 1; i < data->ndim; i++)
        all.inner *= (size_t)data->dims[i];
    if (all.inner == 0)
        all.outer = 0; // rows without elements, of which there may be any number of parts
    return all;
}

// Numbers the groups in sorted order; the sort is stable, so a group's first row comes first.
static void group_rows(const rows *all, const int *order, ln_unique *unique)
{
    unique->group_count = 0;
    for (int i = 0; i < unique->row_count; i++) {
        if (i == 0 || compare_rows(all, order[i - 1], order[i]) != 0) {
            unique->first_of[unique->group_count] = order[i];
            unique->counts[unique->group_count++] = 0;
        }
        unique->group_of[order[i]] = unique->group_count - 1;
        unique->counts[unique->group_count - 1]++;
    }
}

// Numbers the groups anew in the order of their first rows.
static void order_by_first(ln_unique *unique, int *order, int *buffer)
{
    int count = unique->group_count;
    for (int i = 0; i < count; i++)
        order[i] = i;
    ln_sort_positions(order, buffer, count, first_less, unique->first_of);

    for (int i = 0; i < count; i++)
        buffer[order[i]] = i;
    for (int i = 0; i < unique->row_count; i++)
        unique->group_of[i] = buffer[unique->group_of[i]];
    memset(unique->counts, 0, (size_t)count * sizeof *unique->counts);
    for (int i = unique->row_count - 1; i >= 0; i--) {
        unique->first_of[unique->group_of[i]] = i;
        unique->counts[unique->group_of[i]]++;
    }
}

ln_status ln_unique_find(ln_call *call, const tl_tensor *data, ln_unique *unique)
{
    unique->axis = -1;
    if (ln_call_has(call, "axis"))
        LN_TRY(ln_call_axis(call, "axis", data->ndim, &unique->axis));
    rows all = rows_of(data, unique->axis);
    unique->row_count = (int)all.row_count;
    LN_TRY(ln_call_charge(call, ln_cost_sort((double)all.row_count) *
                                    (1 + (double)all.outer * (double)all.inner)));

    int *scratch = ln_call_scratch(call, all.row_count + 1, 5 * sizeof *scratch);
    if (!scratch)
        return LN_NO_MEMORY;
    if (ln_call_is_counting(call))
        return LN_OK;
    int *order = scratch, *buffer = order + all.row_count;
    unique->group_of = buffer + all.row_count;
    unique->first_of = unique->group_of + all.row_count;
    unique->counts = unique->first_of + all.row_count;

    for (int i = 0; i < unique->row_count; i++)
        order[i] = i;
    ln_sort_positions(order, buffer, unique->row_count, row_less, &all);
    group_rows(&all, order, unique);
    if (ln_call_int(call, "sorted") == 0)
        order_by_first(unique, order, buffer);
    return LN_OK;
}

ln_status ln_infer_unique(ln_call *call)
{
    tl_tensor data;
    int dims[TL_MAXDIM] = {0}, ndim = 1;
    ln_unique unique;
    if (!ln_given_tensor(call, 0, &data))
        return ln_call_out_open(call);
    LN_TRY(ln_unique_find(call, &data, &unique));
    if (unique.axis >= 0) {
        ndim = data.ndim;
        memcpy(dims, data.dims, (size_t)ndim * sizeof *dims);
    }
    dims[unique.axis < 0 ? 0 : unique.axis] = unique.group_count;
    LN_TRY(ln_call_out(call, 0, data.dtype, ndim, dims));
    LN_TRY(ln_call_out(call, 1, TL_INT64, 1, &unique.group_count));
    LN_TRY(ln_call_out(call, 2, TL_INT64, 1, &unique.row_count));
    return ln_call_out(call, 3, TL_INT64, 1, &unique.group_count);
}
