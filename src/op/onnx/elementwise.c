// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that work element by element.

#include "op/onnx/elementwise.h"

#include <string.h>

#include "op/functions.h"
#include "tensor/elem.h"

ln_status ln_infer_same(ln_call *call)
{
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_same_two(ln_call *call)
{
    if (!tl_tensor_issameshape(ln_call_in(call, 0), ln_call_in(call, 1)))
        return ln_call_fail(call, LN_INVALID, "has two inputs of different shapes");
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_same_bool(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    return ln_call_out(call, 0, TL_BOOL, src->ndim, src->dims);
}

// ---- Broadcasting ----

static void shape_of(const tl_tensor *t, ln_shaped *out_shape)
{
    out_shape->ndim = t->ndim;
    for (int d = 0; d < t->ndim; d++)
        out_shape->dims[d] = t->dims[d];
}

// Before version 7 the shape of the first input is that of the output.
int ln_commutes_since_7(ln_op_arg *op_arg)
{
    const ln_call *call = op_arg->priv;
    return call && ln_call_since(call) >= 7;
}

ln_status ln_second_operand(ln_call *call, ln_shaped *out_shape)
{
    const tl_tensor *a = ln_call_in(call, 0), *b = ln_call_in(call, 1);
    shape_of(b, out_shape);
    if (ln_call_since(call) >= 7 || ln_call_since(call) == 0) // the core has no versions
        return LN_OK;
    if (!ln_call_int(call, "broadcast")) {
        if (!tl_tensor_issameshape(a, b))
            return ln_call_fail(call, LN_INVALID,
                                "has inputs of different shapes without `broadcast`");
        return LN_OK;
    }
    if (!ln_call_has(call, "axis") || b->ndim == 0)
        return LN_OK;
    int axis;
    LN_TRY(ln_call_axis(call, "axis", a->ndim, &axis));
    if (b->ndim > a->ndim - axis)
        return ln_call_fail(call, LN_INVALID,
                            "has a second input of rank %d from axis %d of rank %d", b->ndim, axis,
                            a->ndim);
    out_shape->ndim = a->ndim - axis;
    for (int d = b->ndim; d < out_shape->ndim; d++)
        out_shape->dims[d] = 1;
    return LN_OK;
}

ln_status ln_prelu_slope(ln_call *call, ln_shaped *out_shape)
{
    const tl_tensor *src = ln_call_in(call, 0), *slope = ln_call_in(call, 1);
    shape_of(slope, out_shape);
    if (!ln_call_since(call) || ln_call_since(call) >= 7 || slope->ndim != 1 || src->ndim < 2 ||
        slope->dims[0] != src->dims[1])
        return LN_OK;
    out_shape->ndim = src->ndim - 1;
    for (int d = 1; d < out_shape->ndim; d++)
        out_shape->dims[d] = 1;
    return LN_OK;
}

static tl_tensor view_of(const tl_tensor *t, ln_shaped *shape)
{
    tl_tensor view = *t;
    view.ndim = shape->ndim;
    view.dims = shape->dims;
    return view;
}

// The common shape of the inputs; of two, the second as it lines up.
static ln_status common_shape(ln_call *call, int *out_ndim, int *out_dims)
{
    int count = ln_call_in_count(call);
    enum { FEW = 8 };
    const tl_tensor *few[FEW], **tensors = few;
    if (count > FEW)
        tensors = ln_call_scratch(call, (size_t)count, sizeof *tensors);
    if (!tensors)
        return LN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        tensors[i] = ln_call_in(call, i);
        if (!tensors[i])
            return ln_call_fail(call, LN_INVALID, "has no input %d", i + 1);
    }
    if (count == 1) {
        ln_shaped shape;
        shape_of(tensors[0], &shape);
        *out_ndim = shape.ndim;
        memcpy(out_dims, shape.dims, (size_t)shape.ndim * sizeof *out_dims);
        return LN_OK;
    }
    return ln_call_broadcast(call, count, tensors, out_ndim, out_dims);
}

static ln_status operands_shape(ln_call *call, int *out_ndim, int *out_dims)
{
    ln_shaped second;
    LN_TRY(ln_second_operand(call, &second));
    tl_tensor view = view_of(ln_call_in(call, 1), &second);
    const tl_tensor *tensors[] = {ln_call_in(call, 0), &view};
    return ln_call_broadcast(call, 2, tensors, out_ndim, out_dims);
}

ln_status ln_infer_broadcast(ln_call *call)
{
    int ndim, dims[TL_MAXDIM];
    if (ln_call_in_count(call) == 2 && ln_call_in(call, 0) && ln_call_since(call) < 7)
        LN_TRY(operands_shape(call, &ndim, dims));
    else
        LN_TRY(common_shape(call, &ndim, dims));
    return ln_call_out(call, 0, ln_call_in(call, 0)->dtype, ndim, dims);
}

ln_status ln_infer_compare(ln_call *call)
{
    int ndim, dims[TL_MAXDIM];
    LN_TRY(operands_shape(call, &ndim, dims));
    return ln_call_out(call, 0, TL_BOOL, ndim, dims);
}

static ln_status check_fits_first(ln_call *call, int ndim, const int *dims)
{
    const tl_tensor *first = ln_call_in(call, 0);
    if (ndim != first->ndim || memcmp(dims, first->dims, (size_t)ndim * sizeof *dims) != 0)
        return ln_call_fail(call, LN_INVALID,
                            "has an input that is not broadcast to the first one");
    return LN_OK;
}

ln_status ln_infer_broadcast_to_first(ln_call *call)
{
    int count = 0, ndim, dims[TL_MAXDIM];
    const tl_tensor *tensors[4];
    for (int i = 0; i < ln_call_in_count(call) && count < 4; i++)
        if (ln_call_in(call, i))
            tensors[count++] = ln_call_in(call, i);
    if (count > 1) {
        LN_TRY(ln_call_broadcast(call, count, tensors, &ndim, dims));
        LN_TRY(check_fits_first(call, ndim, dims));
    }
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_prelu(ln_call *call)
{
    ln_shaped shape;
    int ndim, dims[TL_MAXDIM];
    LN_TRY(ln_prelu_slope(call, &shape));
    tl_tensor view = view_of(ln_call_in(call, 1), &shape);
    const tl_tensor *tensors[] = {ln_call_in(call, 0), &view};
    LN_TRY(ln_call_broadcast(call, 2, tensors, &ndim, dims));
    LN_TRY(check_fits_first(call, ndim, dims));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_where(ln_call *call)
{
    int ndim, dims[TL_MAXDIM];
    LN_TRY(common_shape(call, &ndim, dims));
    return ln_call_out(call, 0, ln_call_in(call, 1)->dtype, ndim, dims);
}

ln_status ln_infer_bit_shift(ln_call *call)
{
    const char *direction = ln_call_string(call, "direction");
    if (!direction || (strcmp(direction, "LEFT") != 0 && strcmp(direction, "RIGHT") != 0))
        return ln_call_fail(call, LN_INVALID, "has a `direction` other than LEFT and RIGHT");
    return ln_infer_broadcast(call);
}

// ---- Others ----

ln_status ln_infer_clip(ln_call *call)
{
    for (int i = 1; i < 3; i++) {
        const tl_tensor *bound = ln_call_in(call, i);
        if (bound && bound->len != 1)
            return ln_call_fail(call, LN_INVALID, "has a bound of %d elements", bound->len);
    }
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_image_scaler(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    if (src->ndim < 2 || ln_call_count(call, "bias") != src->dims[1])
        return ln_call_fail(call, LN_INVALID, "has %d numbers in `bias`, not one for each channel",
                            ln_call_count(call, "bias"));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_infer_identity(ln_call *call)
{
    if (ln_call_in(call, 0)->dtype == TL_OBJECT)
        return ln_call_out_object(call, 0);
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_dropout_ratio(ln_call *call, int ratio_in, int mode_in, double *out_ratio)
{
    const tl_tensor *ratio = ln_call_in(call, ratio_in), *mode = ln_call_in(call, mode_in);
    *out_ratio = 0;
    if (!mode || mode->len != 1 || !ln_elem_int(mode, 0))
        return LN_OK;
    *out_ratio = ratio ? ln_elem_real(ratio, 0) : 0.5;
    if (!(*out_ratio >= 0 && *out_ratio < 1))
        return ln_call_fail(call, LN_INVALID, "has the ratio %g, which is not in [0, 1)",
                            *out_ratio);
    return LN_OK;
}

// 1 if Dropout drops, or may do, and no parameter `seed` is given.
int ln_is_dropping(const ln_op_arg *op_arg)
{
    const char *name = ln_tensor_list_find_name(op_arg->tensors_in, "training_mode");
    const ln_tensor_entry *mode = name ? ln_tensor_table_find(op_arg->tensor_table, name) : NULL;
    if (!mode || ln_param_list_find(op_arg->params, "seed"))
        return 0;
    if (!mode->known || mode->is_input || mode->tensor->len != 1)
        return 1;
    tl_tensor shown = {
        .dtype = mode->tensor->dtype, .len = 1, .data = (void *)(uintptr_t)mode->known};
    return ln_elem_int(&shown, 0) != 0;
}

static ln_status check_scalar(ln_call *call, int index, const char *what)
{
    const tl_tensor *t = ln_call_in(call, index);
    if (t && t->len != 1)
        return ln_call_fail(call, LN_INVALID, "has a %s of %d elements", what, t->len);
    return LN_OK;
}

ln_status ln_infer_dropout(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    LN_TRY(check_scalar(call, 1, "ratio"));
    LN_TRY(check_scalar(call, 2, "training_mode"));
    LN_TRY(ln_call_out_like(call, 0, 0));
    tl_dtype mask_dtype = ln_call_since(call) < 10 ? data->dtype : TL_BOOL;
    return ln_call_out(call, 1, mask_dtype, data->ndim, data->dims);
}

ln_status ln_infer_bias_dropout(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0), *residual = ln_call_in(call, 2);
    int ndim, dims[TL_MAXDIM];
    const tl_tensor *tensors[] = {data, ln_call_in(call, 1)};
    LN_TRY(ln_call_broadcast(call, 2, tensors, &ndim, dims));
    LN_TRY(check_fits_first(call, ndim, dims));
    if (residual && !tl_tensor_issameshape(data, residual))
        return ln_call_fail(call, LN_INVALID, "has a residual of another shape than the data");
    LN_TRY(check_scalar(call, 3, "ratio"));
    LN_TRY(check_scalar(call, 4, "training_mode"));
    LN_TRY(ln_call_out_like(call, 0, 0));
    return ln_call_out(call, 1, TL_BOOL, data->ndim, data->dims);
}

// After rate and step come n tensors of each kind: values, gradients and one or two kinds of state;
// the outputs are values and state.
ln_status ln_infer_training(ln_call *call)
{
    int kinds = ln_call_has(call, "norm_coefficient_post") ? 4 : 3;
    int count = ln_call_in_count(call) - 2;
    if (count <= 0 || count % kinds != 0)
        return ln_call_fail(call, LN_INVALID, "has %d tensors, no multiple of %d", count, kinds);
    int n = count / kinds;
    LN_TRY(check_scalar(call, 0, "rate"));
    LN_TRY(check_scalar(call, 1, "step"));
    if (ln_call_out_count(call) > (kinds - 1) * n)
        return ln_call_fail(call, LN_INVALID, "has more than %d outputs", (kinds - 1) * n);
    for (int i = 2; i < count + 2; i++) {
        const tl_tensor *first = ln_call_in(call, 2 + (i - 2) % n), *t = ln_call_in(call, i);
        if (!t || !first || t->dtype != first->dtype || !tl_tensor_issameshape(t, first))
            return ln_call_fail(call, LN_INVALID, "has an input %d that is not as input %d", i,
                                2 + (i - 2) % n);
    }
    for (int i = 0; i < ln_call_out_count(call); i++)
        LN_TRY(ln_call_out_like(call, i, 2 + i % n));
    return LN_OK;
}
