// SPDX-License-Identifier: Apache-2.0
// Saturating conversion between all pairs of element types.
//
// Every conversion goes through the widest type of the source's kind (double, int64_t, uint64_t),
// which holds each source value exactly, a block at a time. Integers then get the range of
// their type, whichever it is, and are stored by their size. This needs a loop for each type that
// is loaded and a few for those that are stored, instead of one for each pair.

#include <lightnet/dtype.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tensor/elem.h"

#define BLOCK_ELEMS 256

typedef struct block {
    enum { WIDE_DOUBLE, WIDE_SIGNED, WIDE_UNSIGNED } kind;
    union {
        double f64[BLOCK_ELEMS];
        int64_t i64[BLOCK_ELEMS];
        uint64_t u64[BLOCK_ELEMS];
    };
} block;

// ---- Load: any type to the wide type of its kind ----

#define LOAD_FLOATING(type)                                                                        \
    b->kind = WIDE_DOUBLE;                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
        b->f64[i] = (double)((const type *)src)[i];
#define LOAD_SIGNED(type)                                                                          \
    b->kind = WIDE_SIGNED;                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
        b->i64[i] = (int64_t)((const type *)src)[i];
#define LOAD_UNSIGNED(type)                                                                        \
    b->kind = WIDE_UNSIGNED;                                                                       \
    for (size_t i = 0; i < count; i++)                                                             \
        b->u64[i] = (uint64_t)((const type *)src)[i];
#define LOAD_BOOLEAN(type)                                                                         \
    b->kind = WIDE_SIGNED;                                                                         \
    for (size_t i = 0; i < count; i++)                                                             \
        b->i64[i] = ((const type *)src)[i] != 0;
#define LOAD_INTEGER LOAD_SIGNED

static void load_narrow(block *b, const char *src, tl_dtype dtype, size_t count)
{
    b->kind = WIDE_DOUBLE;
    for (size_t i = 0; i < count; i++)
        b->f64[i] = ln_data_real(src, dtype, i);
}

static void load(block *b, const char *src, tl_dtype dtype, size_t first, size_t count)
{
    src += first * tl_size_of(dtype);
    switch (dtype) {
#define LOAD_CASE(name, type, kind, fmt, min, max)                                                 \
    case name: LOAD_##kind(type) break;
        TL_DTYPE_LIST(LOAD_CASE)
#undef LOAD_CASE
#define LOAD_SMALL_CASE(name, type, kind, fmt, min, max)                                           \
    case name: LOAD_INTEGER(type) break;
        TL_DTYPE_SMALL_INT_LIST(LOAD_SMALL_CASE)
#undef LOAD_SMALL_CASE
#define LOAD_NARROW_CASE(name, type, kind, fmt, min, max) case name:
        TL_DTYPE_NARROW_LIST(LOAD_NARROW_CASE) load_narrow(b, src, dtype, count);
        break;
#undef LOAD_NARROW_CASE
    default: memset(b, 0, sizeof *b); // no such dtype: the caller has checked
    }
}

// ---- Store: a wide type to any type ----

static inline float narrow_double(double x)
{
    // Infinities and NaN pass through.
    if (x > FLT_MAX && x <= DBL_MAX)
        return FLT_MAX;
    if (x < -FLT_MAX && x >= -DBL_MAX)
        return -FLT_MAX;
    return (float)x;
}

// The range of a whole type.
typedef struct range {
    int64_t min;
    uint64_t max;
} range;

static inline uint64_t whole_double(double x, range r)
{
    const double above = 2.0 * (double)(r.max / 2 + 1); // max + 1 is exact, max may not be
    if (x != x)
        return 0;
    if (x >= above)
        return r.max;
    if (x <= (double)r.min)
        return (uint64_t)r.min;
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static inline uint64_t whole_signed(int64_t x, range r)
{
    if (x < r.min)
        return (uint64_t)r.min;
    return x > 0 && (uint64_t)x > r.max ? r.max : (uint64_t)x;
}

#define EACH(to, from, expr)                                                                       \
    for (size_t i = 0; i < count; i++) {                                                           \
        __typeof__(b->from[0]) x = b->from[i];                                                     \
        (to)[i] = (expr);                                                                          \
    }                                                                                              \
    break;

// What is stored of integers, in as many low bits as they have.
static void make_whole(block *b, range r, size_t count)
{
    switch (b->kind) {
    case WIDE_DOUBLE: EACH(b->u64, f64, whole_double(x, r))
    case WIDE_SIGNED: EACH(b->u64, i64, whole_signed(x, r))
    case WIDE_UNSIGNED: EACH(b->u64, u64, x > r.max ? r.max : x)
    }
}

static void make_bool(block *b, size_t count)
{
    if (b->kind == WIDE_DOUBLE) {
        for (size_t i = 0; i < count; i++)
            b->u64[i] = b->f64[i] != 0;
        return;
    }
    for (size_t i = 0; i < count; i++)
        b->u64[i] = b->u64[i] != 0;
}

static void store_whole(const block *b, char *dst, size_t size, size_t count)
{
    switch (size) {
    case 1: EACH((uint8_t *)dst, u64, (uint8_t)x)
    case 2: EACH((uint16_t *)dst, u64, (uint16_t)x)
    case 4: EACH((uint32_t *)dst, u64, (uint32_t)x)
    default: EACH((uint64_t *)dst, u64, x)
    }
}

static void store_double(const block *b, double *dst, size_t count)
{
    switch (b->kind) {
    case WIDE_DOUBLE: EACH(dst, f64, x)
    case WIDE_SIGNED: EACH(dst, i64, (double)x)
    case WIDE_UNSIGNED: EACH(dst, u64, (double)x)
    }
}

static void store_float(const block *b, float *dst, size_t count)
{
    switch (b->kind) {
    case WIDE_DOUBLE: EACH(dst, f64, narrow_double(x))
    case WIDE_SIGNED: EACH(dst, i64, (float)x)
    case WIDE_UNSIGNED: EACH(dst, u64, (float)x)
    }
}

// Infinities pass through where there are any; all else keeps to the range.
static void store_narrow(const block *b, char *dst, tl_dtype dtype, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double x = b->kind == WIDE_DOUBLE   ? b->f64[i]
                   : b->kind == WIDE_SIGNED ? ln_sticky_double(b->i64[i])
                                            : ln_sticky_unsigned(b->u64[i]);
        uint32_t bits = ln_narrow_encode(x, dtype, dtype != TL_FLOAT8E5M2 || !isinf(x));
        if (tl_size_of(dtype) == 2)
            ((uint16_t *)dst)[i] = (uint16_t)bits;
        else
            ((uint8_t *)dst)[i] = (uint8_t)bits;
    }
}

static range range_of(tl_dtype dtype)
{
    switch (dtype) {
#define RANGE_FLOATING(min, max) {0}
#define RANGE_SIGNED(min, max)                                                                     \
    {                                                                                              \
        (min), (max)                                                                               \
    }
#define RANGE_UNSIGNED RANGE_SIGNED
#define RANGE_INTEGER  RANGE_SIGNED // of 4 and 2 bits
#define RANGE_BOOLEAN  RANGE_SIGNED
#define RANGE_CASE(name, type, kind, fmt, min, max)                                                \
    case name: return (range)RANGE_##kind(min, max);
        TL_DTYPE_LIST(RANGE_CASE)
        TL_DTYPE_SMALL_INT_LIST(RANGE_CASE)
#undef RANGE_CASE
    default: return (range){0};
    }
}

static void store(block *b, char *dst, tl_dtype dtype, size_t first, size_t count)
{
    const size_t size = tl_size_of(dtype);
    dst += first * size;
    switch (dtype) {
    case TL_DOUBLE: store_double(b, (double *)dst, count); return;
    case TL_FLOAT: store_float(b, (float *)dst, count); return;
    case TL_BOOL: make_bool(b, count); break;
#define STORE_NARROW_CASE(name, type, kind, fmt, min, max) case name:
        TL_DTYPE_NARROW_LIST(STORE_NARROW_CASE) store_narrow(b, dst, dtype, count);
        return;
#undef STORE_NARROW_CASE
    default: make_whole(b, range_of(dtype), count);
    }
    store_whole(b, dst, size, count);
}

// ---- Public ----

static bool is_numeric(tl_dtype dtype)
{
    return dtype < TL_COMPLEX64;
}

ln_status tl_convert_n(void *pd, tl_dtype dtype_d, const void *ps, tl_dtype dtype_s, size_t count)
{
    size_t size = tl_size_of(dtype_d);
    if (!size || !tl_size_of(dtype_s))
        return LN_FAIL(LN_INVALID, "cannot convert dtype %d to dtype %d", (int)dtype_s,
                       (int)dtype_d);
    if (count == 0)
        return LN_OK;
    if (!pd || !ps)
        return LN_FAIL(LN_INVALID, "conversion of %zu elements at NULL", count);

    // Bools are normalised, all else is as it was.
    if (dtype_d == dtype_s && dtype_d != TL_BOOL) {
        memmove(pd, ps, count * size);
        return LN_OK;
    }
    if (!is_numeric(dtype_d) || !is_numeric(dtype_s))
        return LN_FAIL(LN_UNSUPPORTED, "cannot convert %s to %s", tl_dtype_title(dtype_s),
                       tl_dtype_title(dtype_d));
    block b; // loaded before it is stored; clearing it would cost a single element most
    for (size_t first = 0; first < count; first += BLOCK_ELEMS) {
        size_t n = count - first < BLOCK_ELEMS ? count - first : BLOCK_ELEMS;
        load(&b, ps, dtype_s, first, n);
        store(&b, pd, dtype_d, first, n);
    }
    return LN_OK;
}

ln_status tl_convert(void *pd, tl_dtype dtype_d, const void *ps, tl_dtype dtype_s)
{
    return tl_convert_n(pd, dtype_d, ps, dtype_s, 1);
}
