// SPDX-License-Identifier: Apache-2.0
// Saturating conversion between all pairs of element types.
//
// Every conversion goes through the widest type of the source's kind (double, int64_t, uint64_t),
// which holds each source value exactly, a block at a time. This needs a load and three stores for
// each type instead of a loop for each pair, and both halves vectorise.

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

// For T with the range [min, max]: 2^digits = max + 1 and min are exact as double, max may not be.
#define TRUNCATE(x, type, min, max)                                                                \
    ((x) != (x)                     ? (type)0                                                      \
     : (x) >= 2.0 * ((max) / 2 + 1) ? (type)(max)                                                  \
     : (x) <= (double)(min)         ? (type)(min)                                                  \
                                    : (type)(x))

#define STORE_LOOP(type, source, expr)                                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
        __typeof__(b->source[0]) x = b->source[i];                                                 \
        ((type *)dst)[i] = (expr);                                                                 \
    }                                                                                              \
    break;

#define NARROW_double(x) (x)
#define NARROW_float(x)  narrow_double(x)

#define STORE_FLOATING(type, min, max)                                                             \
    switch (b->kind) {                                                                             \
    case WIDE_DOUBLE: STORE_LOOP(type, f64, NARROW_##type(x))                                      \
    case WIDE_SIGNED: STORE_LOOP(type, i64, (type)x)                                               \
    case WIDE_UNSIGNED: STORE_LOOP(type, u64, (type)x)                                             \
    }
#define STORE_SIGNED(type, min, max)                                                               \
    switch (b->kind) {                                                                             \
    case WIDE_DOUBLE: STORE_LOOP(type, f64, TRUNCATE(x, type, min, max))                           \
    case WIDE_SIGNED:                                                                              \
        STORE_LOOP(type, i64, x<(min) ? (type)(min) : x>(max) ? (type)(max) : (type)x)             \
    case WIDE_UNSIGNED: STORE_LOOP(type, u64, x > (uint64_t)(max) ? (type)(max) : (type)x)         \
    }
#define STORE_UNSIGNED(type, min, max)                                                             \
    switch (b->kind) {                                                                             \
    case WIDE_DOUBLE: STORE_LOOP(type, f64, TRUNCATE(x, type, min, max))                           \
    case WIDE_SIGNED:                                                                              \
        STORE_LOOP(type, i64, x<0 ? (type)0 : (uint64_t)x>(max) ? (type)(max) : (type)x)           \
    case WIDE_UNSIGNED: STORE_LOOP(type, u64, x > (max) ? (type)(max) : (type)x)                   \
    }
#define STORE_BOOLEAN(type, min, max)                                                              \
    switch (b->kind) {                                                                             \
    case WIDE_DOUBLE: STORE_LOOP(type, f64, x != 0)                                                \
    case WIDE_SIGNED: STORE_LOOP(type, i64, x != 0)                                                \
    case WIDE_UNSIGNED: STORE_LOOP(type, u64, x != 0)                                              \
    }

#define STORE_INTEGER STORE_SIGNED // of 4 and 2 bits: each limit fits in an int

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

static void store(const block *b, char *dst, tl_dtype dtype, size_t first, size_t count)
{
    dst += first * tl_size_of(dtype);
    switch (dtype) {
#define STORE_CASE(name, type, kind, fmt, min, max)                                                \
    case name: STORE_##kind(type, min, max) break;
        TL_DTYPE_LIST(STORE_CASE)
#undef STORE_CASE
#define STORE_SMALL_CASE(name, type, kind, fmt, min, max)                                          \
    case name: STORE_INTEGER(type, min, max) break;
        TL_DTYPE_SMALL_INT_LIST(STORE_SMALL_CASE)
#undef STORE_SMALL_CASE
#define STORE_NARROW_CASE(name, type, kind, fmt, min, max) case name:
        TL_DTYPE_NARROW_LIST(STORE_NARROW_CASE) store_narrow(b, dst, dtype, count);
        break;
#undef STORE_NARROW_CASE
    default: break;
    }
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
        return LN_FAIL(LN_UNSUPPORTED, "cannot convert %s to %s", tl_dtype_name(dtype_s),
                       tl_dtype_name(dtype_d));
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
