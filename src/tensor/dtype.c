// SPDX-License-Identifier: Apache-2.0
// What is known about each element type: name, size, range; and helpers that only need the size.

#include <lightnet/dtype.h>

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/checked.h"
#include "tensor/elem.h"

static const struct {
    const char *name;
    const char *fmt;
    size_t size;
    double min;
    double max;
} dtypes[] = {
#define DTYPE_ROW(name, type, kind, fmt, min, max)                                                 \
    {#name, fmt, sizeof(type), (double)(min), (double)(max)},
    TL_DTYPE_LIST(DTYPE_ROW) TL_DTYPE_STORED_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};

#define NAME_ROW(name) #name,
static const char *const elew_ops[] = {TL_ELEW_OP_LIST(NAME_ROW)};
static const char *const resize_types[] = {TL_RESIZE_TYPE_LIST(NAME_ROW)};
static const char *const sort_dirs[] = {TL_SORT_DIR_LIST(NAME_ROW)};
#undef NAME_ROW

static bool is_dtype(tl_dtype dtype)
{
    return (int)dtype >= 0 && dtype < TL_DTYPE_SIZE;
}

static const char *name_at(const char *const *names, int count, int index)
{
    return index >= 0 && index < count ? names[index] : NULL;
}

static int index_of(const char *const *names, int count, const char *name)
{
    for (int i = 0; name && i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

// ---- Names and sizes ----

size_t tl_size_of(tl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].size : 0;
}

const char *tl_dtype_name(tl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].name : NULL;
}

static const char *const titles[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = "float64",
    [TL_FLOAT] = "float32",
    [TL_INT32] = "int32",
    [TL_INT16] = "int16",
    [TL_INT8] = "int8",
    [TL_UINT32] = "uint32",
    [TL_UINT16] = "uint16",
    [TL_UINT8] = "uint8",
    [TL_BOOL] = "bool",
    [TL_INT64] = "int64",
    [TL_UINT64] = "uint64",
    [TL_FLOAT16] = "float16",
    [TL_BFLOAT16] = "bfloat16",
    [TL_FLOAT8E4M3FN] = "float8e4m3fn",
    [TL_FLOAT8E4M3FNUZ] = "float8e4m3fnuz",
    [TL_FLOAT8E5M2] = "float8e5m2",
    [TL_FLOAT8E5M2FNUZ] = "float8e5m2fnuz",
    [TL_FLOAT8E8M0] = "float8e8m0",
    [TL_FLOAT4E2M1] = "float4e2m1",
    [TL_INT4] = "int4",
    [TL_UINT4] = "uint4",
    [TL_INT2] = "int2",
    [TL_UINT2] = "uint2",
    [TL_COMPLEX64] = "complex64",
    [TL_COMPLEX128] = "complex128",
    [TL_STRING] = "string",
    [TL_OBJECT] = "object",
};

const char *tl_dtype_title(tl_dtype dtype)
{
    return is_dtype(dtype) ? titles[dtype] : NULL;
}

const char *tl_dtype_fmt(tl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].fmt : NULL;
}

tl_dtype tl_dtype_from_str(const char *str)
{
    for (int i = 0; str && i < TL_DTYPE_SIZE; i++) {
        if (strcmp(dtypes[i].name, str) == 0)
            return (tl_dtype)i;
    }
    return TL_DTYPE_INVALID;
}

const char *tl_elew_op_name(tl_elew_op op)
{
    return name_at(elew_ops, TL_ELEW_OP_SIZE, (int)op);
}

tl_elew_op tl_elew_op_from_str(const char *str)
{
    return (tl_elew_op)index_of(elew_ops, TL_ELEW_OP_SIZE, str);
}

const char *tl_resize_type_name(tl_resize_type type)
{
    return name_at(resize_types, TL_RESIZE_TYPE_SIZE, (int)type);
}

tl_resize_type tl_resize_type_from_str(const char *str)
{
    return (tl_resize_type)index_of(resize_types, TL_RESIZE_TYPE_SIZE, str);
}

const char *tl_sort_dir_name(tl_sort_dir dir)
{
    return name_at(sort_dirs, TL_SORT_DIR_SIZE, (int)dir);
}

tl_sort_dir tl_sort_dir_from_str(const char *str)
{
    return (tl_sort_dir)index_of(sort_dirs, TL_SORT_DIR_SIZE, str);
}

// `bound` as an element of a dtype that is not native.
static ln_status bound_of_stored(tl_dtype dtype, double bound, void *out_element)
{
    if (!is_dtype(dtype))
        return LN_FAIL(LN_INVALID, "%d is not a dtype", (int)dtype);
    if (isnan(bound))
        return LN_FAIL(LN_UNSUPPORTED, "%s has no smallest and no largest value",
                       tl_dtype_title(dtype));
    ln_data_set_real(out_element, dtype, 0, bound);
    return LN_OK;
}

ln_status tl_dtype_max(tl_dtype dtype, void *max)
{
    if (!max)
        return LN_FAIL(LN_INVALID, "no place for the largest value");
    switch (dtype) {
#define MAX_CASE(name, type, kind, fmt, low, high)                                                 \
    case name: *(type *)max = (type)(high); return LN_OK;
        TL_DTYPE_LIST(MAX_CASE)
#undef MAX_CASE
    default: return bound_of_stored(dtype, tl_dtype_max_double(dtype), max);
    }
}

ln_status tl_dtype_min(tl_dtype dtype, void *min)
{
    if (!min)
        return LN_FAIL(LN_INVALID, "no place for the smallest value");
    switch (dtype) {
#define MIN_CASE(name, type, kind, fmt, low, high)                                                 \
    case name: *(type *)min = (type)(low); return LN_OK;
        TL_DTYPE_LIST(MIN_CASE)
#undef MIN_CASE
    default: return bound_of_stored(dtype, tl_dtype_min_double(dtype), min);
    }
}

double tl_dtype_max_double(tl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].max : NAN;
}

double tl_dtype_min_double(tl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].min : NAN;
}

// ---- Comparison ----

#define NAN_ORDER_FLOATING(a, b) (((a) != (a)) - ((b) != (b)))
#define NAN_ORDER_SIGNED(a, b)   0
#define NAN_ORDER_UNSIGNED(a, b) 0
#define NAN_ORDER_BOOLEAN(a, b)  0

#define CMP_FUNC(name, type, kind, fmt, min, max)                                                  \
    static int cmp_##name(const void *p1, const void *p2)                                          \
    {                                                                                              \
        type a = *(const type *)p1, b = *(const type *)p2;                                         \
        int order = (a > b) - (a < b);                                                             \
        return order ? order : NAN_ORDER_##kind(a, b);                                             \
    }
TL_DTYPE_LIST(CMP_FUNC)
#undef CMP_FUNC

#define CMP_STORED_FUNC(name, type, kind, fmt, min, max)                                           \
    static int cmp_##name(const void *p1, const void *p2)                                          \
    {                                                                                              \
        double a = ln_data_real(p1, name, 0), b = ln_data_real(p2, name, 0);                       \
        int order = (a > b) - (a < b);                                                             \
        return order ? order : NAN_ORDER_FLOATING(a, b);                                           \
    }
TL_DTYPE_NARROW_LIST(CMP_STORED_FUNC)
TL_DTYPE_SMALL_INT_LIST(CMP_STORED_FUNC)
#undef CMP_STORED_FUNC

static int cmp_TL_STRING(const void *p1, const void *p2)
{
    const char *a = *(const char *const *)p1, *b = *(const char *const *)p2;
    return strcmp(a ? a : "", b ? b : "");
}

tl_cmp_func tl_cmp_getfunc(tl_dtype dtype)
{
    switch (dtype) {
#define CMP_CASE(name, type, kind, fmt, min, max)                                                  \
    case name: return cmp_##name;
        TL_DTYPE_LIST(CMP_CASE)
        TL_DTYPE_NARROW_LIST(CMP_CASE)
        TL_DTYPE_SMALL_INT_LIST(CMP_CASE)
#undef CMP_CASE
    case TL_STRING: return cmp_TL_STRING;
    default: break;
    }
    if (is_dtype(dtype))
        ln_fail(LN_UNSUPPORTED, "%s has no order", tl_dtype_title(dtype));
    else
        ln_fail(LN_INVALID, "%d is not a dtype", (int)dtype);
    return NULL;
}

int tl_cmp(const void *p1, const void *p2, tl_dtype dtype)
{
    tl_cmp_func cmp = tl_cmp_getfunc(dtype);
    if (!cmp)
        return 0;
    if (!p1 || !p2) {
        ln_fail(LN_INVALID, "comparison with NULL");
        return 0;
    }
    return cmp(p1, p2);
}

// ---- Pointers to elements ----

// Callers hand in pointers to const or mutable data alike and know which it is, as with strchr.
static char *byte_address(const void *p, ptrdiff_t offset, size_t size)
{
    return (char *)((uintptr_t)p + (uintptr_t)offset * size);
}

ptrdiff_t tl_psub(const void *p1, const void *p2, size_t size)
{
    return size ? (ptrdiff_t)((intptr_t)p1 - (intptr_t)p2) / (ptrdiff_t)size : 0;
}

void *tl_padd(const void *p, ptrdiff_t offset, size_t size)
{
    return byte_address(p, offset, size);
}

void tl_passign(void *p1, ptrdiff_t offset1, const void *p2, ptrdiff_t offset2, size_t size)
{
    tl_pmove(p1, offset1, p2, offset2, size, 1);
}

void tl_pmove(void *p1, ptrdiff_t offset1, const void *p2, ptrdiff_t offset2, size_t size,
              size_t count)
{
    tl_memcpy(byte_address(p1, offset1, size), byte_address(p2, offset2, size), size * count);
}

ptrdiff_t tl_pointer_sub(const void *p1, const void *p2, tl_dtype dtype)
{
    return tl_psub(p1, p2, tl_size_of(dtype));
}

void *tl_pointer_add(const void *p, ptrdiff_t offset, tl_dtype dtype)
{
    return tl_padd(p, offset, tl_size_of(dtype));
}

void tl_pointer_assign(void *p1, ptrdiff_t offset1, const void *p2, ptrdiff_t offset2,
                       tl_dtype dtype)
{
    tl_passign(p1, offset1, p2, offset2, tl_size_of(dtype));
}

// ---- Bytes ----

void *tl_memcpy(void *dst, const void *src, size_t size)
{
    if (dst && src && size)
        memmove(dst, src, size);
    return dst;
}

void *tl_copy(void *dst, const void *src, size_t size)
{
    return tl_memcpy(dst, src, size);
}

void *tl_alloc(size_t size)
{
    if (size == 0) {
        ln_fail(LN_INVALID, "a block needs at least one byte");
        return NULL;
    }
    return ln_alloc(size);
}

void *tl_clone(const void *src, size_t size)
{
    return tl_repeat(src, size, 1);
}

void *tl_repeat(const void *src, size_t size, int times)
{
    if ((!src && size) || times < 0) {
        ln_fail(LN_INVALID, "cannot repeat %zu bytes %d times", size, times);
        return NULL;
    }
    char *copies = ln_alloc_array((size_t)times, size);
    for (int i = 0; copies && i < times; i++)
        tl_memcpy(copies + (size_t)i * size, src, size);
    return copies;
}
