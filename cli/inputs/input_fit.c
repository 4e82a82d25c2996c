// SPDX-License-Identifier: Apache-2.0
// Values in the type and shape that an input takes.

#include "input_file.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "npy_types.h"

const char *input_wish_shape_text(const input_wish *wish, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, wish->ndim < 0 ? "any shape" : "[");
    for (int i = 0; i < wish->ndim && used < size; i++) {
        const char *comma = i ? ", " : "";
        if (wish->dims[i] < 0)
            used += (size_t)snprintf(buffer + used, size - used, "%s?", comma);
        else
            used += (size_t)snprintf(buffer + used, size - used, "%s%d", comma, wish->dims[i]);
    }
    if (wish->ndim >= 0 && used < size)
        snprintf(buffer + used, size - used, "]");
    return buffer;
}

input_wish input_wish_like(const char *name, const tl_tensor *like)
{
    input_wish wish = {
        .name = name, .dtype = like->dtype, .ndim = like->ndim, .elem_dtype = TL_DTYPE_INVALID};
    for (int i = 0; i < like->ndim; i++)
        wish.dims[i] = like->dims[i];
    return wish;
}

int input_wish_is_static(const input_wish *wish)
{
    int is_static = wish->ndim >= 0 && wish->dtype != TL_OBJECT;
    for (int i = 0; i < wish->ndim; i++)
        is_static &= wish->dims[i] >= 0;
    return is_static;
}

// Dimensions of 1 may be there or not; anything else would read the elements in another order.
static ln_status fit_shape(const char *path, const input_wish *wish, ln_object *object,
                           ln_object **out_object)
{
    const tl_tensor *tensor = ln_object_tensor(object);
    int dims[TL_MAXDIM];
    *out_object = NULL;
    if (wish->ndim < 0) {
        *out_object = ln_object_retain(object);
        return LN_OK;
    }
    if (ln_shape_fit(tensor->ndim, tensor->dims, wish->ndim, wish->dims, dims)) {
        *out_object = ln_object_reshape(object, wish->ndim, dims);
        return *out_object ? LN_OK : ln_error_status();
    }
    char got[LN_SHAPE_TEXT_BYTES], wanted[LN_SHAPE_TEXT_BYTES], advice[512];
    ln_sprint_shape(got, sizeof got, tensor->ndim, tensor->dims);
    input_wish_shape_text(wish, wanted, sizeof wanted);
    if (tensor->ndim == 0)
        return LN_FAIL(
            LN_INVALID,
            "%s is one number, input '%s' takes %s; fill:NUMBER gives it to all elements", path,
            wish->name, wanted);
    return LN_FAIL(
        LN_INVALID, "%s has shape %s, input '%s' takes %s%s", path, got, wish->name, wanted,
        ln_shape_advice(advice, sizeof advice, tensor->ndim, tensor->dims, wish->ndim, wish->dims));
}

// Whether unsigned integers in a file are the bits of elements: in no other way can NumPy have
// them.
int input_are_patterns(tl_dtype from, tl_dtype to)
{
    const npy_type *type = npy_type_of(to);
    return type && type->is_pattern && tl_size_of(from) == tl_size_of(to) &&
           (from == TL_UINT8 || from == TL_UINT16) && to != TL_INT4 && to != TL_INT2 &&
           to != TL_UINT4 && to != TL_UINT2;
}

static ln_status check_patterns(const char *path, const tl_tensor *tensor, tl_dtype to)
{
    for (int i = 0; to == TL_FLOAT4E2M1 && i < tensor->len; i++) {
        if (((const uint8_t *)tensor->data)[i] > 15)
            return LN_FAIL(LN_INVALID, "%s: %d at element %d is no pattern of 4 bits", path,
                           ((const uint8_t *)tensor->data)[i], i);
    }
    return LN_OK;
}

static int is_real(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

static int is_integer(tl_dtype dtype)
{
    return dtype == TL_INT8 || dtype == TL_INT16 || dtype == TL_INT32 || dtype == TL_INT64 ||
           dtype == TL_UINT8 || dtype == TL_UINT16 || dtype == TL_UINT32 || dtype == TL_UINT64;
}

// The smallest number that is nearer to what follows the type's largest one than to that.
static double overflow_of(tl_dtype dtype)
{
    const double huge = DBL_MAX;
    double largest = 0, before = 0;
    uint64_t bits = 0;
    (void)tl_convert(&bits, dtype, &huge, TL_DOUBLE);
    (void)tl_convert(&largest, TL_DOUBLE, &bits, dtype);
    bits--;
    (void)tl_convert(&before, TL_DOUBLE, &bits, dtype);
    return largest + (largest - before) / 2;
}

ln_status input_check_floats(const char *what, const input_wish *wish, tl_dtype dtype,
                             const void *elems, size_t count)
{
    if (wish->dtype != TL_FLOAT && !TL_DTYPE_IS_NARROW(wish->dtype))
        return LN_OK;
    double overflow = overflow_of(wish->dtype);
    for (size_t i = 0; i < count; i++) {
        double number = 0;
        LN_TRY(tl_convert(&number, TL_DOUBLE, (const char *)elems + i * tl_size_of(dtype), dtype));
        if (isfinite(number) && fabs(number) >= overflow)
            return LN_FAIL(LN_INVALID,
                           "%s: input '%s' is %s, which does not hold %.17g, element %zu", what,
                           wish->name, tl_dtype_title(wish->dtype), number, i);
    }
    return LN_OK;
}

// An integer type that does not hold a number would get another: 0 for NaN, 2 for 2.5.
static ln_status check_whole(const char *path, const input_wish *wish, const tl_tensor *from)
{
    tl_dtype to = wish->dtype;
    size_t size = tl_size_of(from->dtype);
    if (!is_integer(to) || !(is_real(from->dtype) || is_integer(from->dtype)))
        return LN_OK;
    for (int i = 0; i < from->len; i++) {
        const char *elem = (const char *)from->data + (size_t)i * size;
        char there[8] = "", back[8] = "";
        double number = NAN, again = NAN;
        LN_TRY(tl_convert(there, to, elem, from->dtype));
        LN_TRY(tl_convert(back, from->dtype, there, to));
        LN_TRY(tl_convert(&number, TL_DOUBLE, elem, from->dtype));
        LN_TRY(tl_convert(&again, TL_DOUBLE, there, to));
        // The double of INT64_MAX is 2^63, which an int64 does not hold; 2^64 likewise.
        int is_held = is_real(from->dtype)
                          ? number == again && number < (to == TL_UINT64 ? 0x1p64 : 0x1p63)
                          : number == again && memcmp(back, elem, size) == 0;
        if (!is_held)
            return LN_FAIL(LN_INVALID,
                           "%s: input '%s' is %s, which does not hold %.17g, element %d", path,
                           wish->name, tl_dtype_title(to), number, i);
    }
    return LN_OK;
}

static ln_status check_held(const char *path, const input_wish *wish, const tl_tensor *from)
{
    if (is_real(from->dtype) || is_integer(from->dtype))
        LN_TRY(input_check_floats(path, wish, from->dtype, from->data, (size_t)from->len));
    return check_whole(path, wish, from);
}

static ln_status convert(const char *path, tl_dtype dtype, ln_object *object,
                         ln_object **out_object)
{
    const tl_tensor *from = ln_object_tensor(object);
    int is_number = from->dtype != TL_STRING && dtype != TL_STRING && dtype != TL_OBJECT;
    if (!is_number)
        return LN_FAIL(LN_INVALID, "%s holds %s where %s is needed", path,
                       tl_dtype_title(from->dtype),
                       dtype == TL_OBJECT ? "a sequence or an optional" : tl_dtype_title(dtype));
    ln_object *made = ln_object_new_tensor(dtype, from->ndim, from->dims, NULL);
    if (!made)
        return ln_error_status();
    ln_status status = LN_OK;
    if (input_are_patterns(from->dtype, dtype)) {
        status = check_patterns(path, from, dtype);
        if (status == LN_OK && from->len > 0)
            memcpy(ln_object_tensor(made)->data, from->data, tl_tensor_size(from));
    } else {
        status = tl_convert_n(ln_object_tensor(made)->data, dtype, from->data, from->dtype,
                              (size_t)from->len);
    }
    if (status != LN_OK) {
        ln_object_release(made);
        return ln_fail_prefix("%s", path);
    }
    *out_object = made;
    return LN_OK;
}

static ln_status fit_tensor(const char *path, const input_wish *wish, ln_object *object,
                            ln_object **out_object)
{
    if (ln_object_elem_dtype(object) == wish->dtype)
        return fit_shape(path, wish, object, out_object);
    ln_object *converted = NULL;
    tl_dtype dtype = ln_object_elem_dtype(object);
    if (!input_are_patterns(dtype, wish->dtype))
        LN_TRY(check_held(path, wish, ln_object_tensor(object)));
    LN_TRY(convert(path, wish->dtype, object, &converted));
    ln_status status = fit_shape(path, wish, converted, out_object);
    ln_object_release(converted);
    if (status == LN_OK && !input_are_patterns(dtype, wish->dtype))
        say_info("%s: converted from %s to %s", path, tl_dtype_title(dtype),
                 tl_dtype_title(wish->dtype));
    return status;
}

ln_status input_fit(const char *path, const input_wish *wish, ln_object *object,
                    ln_object **out_object)
{
    *out_object = NULL;
    int is_tensor = ln_object_get_kind(object) == LN_OBJECT_TENSOR;
    if (wish->dtype != TL_OBJECT)
        return is_tensor ? fit_tensor(path, wish, object, out_object)
                         : LN_FAIL(LN_INVALID, "%s holds no tensor, which input '%s' takes", path,
                                   wish->name);
    if (wish->kind == LN_OBJECT_OPTIONAL && ln_object_get_kind(object) != LN_OBJECT_OPTIONAL)
        *out_object = ln_object_new_optional(object);
    else if (wish->kind && wish->kind != ln_object_get_kind(object))
        return LN_FAIL(LN_INVALID, "%s holds another kind of value than input '%s' takes", path,
                       wish->name);
    else
        *out_object = ln_object_retain(object);
    return *out_object ? LN_OK : ln_error_status();
}
