/* SPDX-License-Identifier: Apache-2.0 */
/* Element types of tensors and the arithmetic on single elements.
 *
 * Conversion between any two numeric types saturates to the range of the target and truncates
 * toward zero. NaN becomes 0 in an integer and stays NaN in a floating type; a double beyond the
 * range of float becomes the largest float, an infinity stays an infinity; a bool is `x != 0`.
 * Narrow floating types round to the nearest value, ties to even; an infinity that the type lacks
 * becomes its largest value of that sign, NaN becomes -0 in TL_FLOAT4E2M1, and what is below the
 * smallest TL_FLOAT8E8M0, 0 included, becomes that.
 *
 * Arithmetic happens in the element type: integers wrap, floating types follow IEEE 754, a bool
 * result says whether the result is not zero. The types of TL_DTYPE_STORED_LIST have none: what
 * would compute with them is LN_UNSUPPORTED.
 *
 * Nothing here keeps state: every function may be called from any thread. A dtype or an operation
 * outside its enumeration, or a NULL pointer, gives the error result that the function names and
 * is recorded as LN_INVALID.
 */

#ifndef LIGHTNET_DTYPE_H
#define LIGHTNET_DTYPE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* A bool element takes 4 bytes; 0 is false, all else is true, results are 0 or 1. */
typedef int32_t tl_bool;

#define TL_FALSE 0
#define TL_TRUE  1

/* The element types that C can compute with: X(name, C type, kind, default format, smallest,
 * largest). The kind is one of FLOATING, SIGNED, UNSIGNED, BOOLEAN. Values are stable. */
#define TL_DTYPE_LIST(X)                                                                           \
    X(TL_DOUBLE, double, FLOATING, "%.3f", -DBL_MAX, DBL_MAX)                                      \
    X(TL_FLOAT, float, FLOATING, "%.3f", -FLT_MAX, FLT_MAX)                                        \
    X(TL_INT32, int32_t, SIGNED, "%d", INT32_MIN, INT32_MAX)                                       \
    X(TL_INT16, int16_t, SIGNED, "%d", INT16_MIN, INT16_MAX)                                       \
    X(TL_INT8, int8_t, SIGNED, "%d", INT8_MIN, INT8_MAX)                                           \
    X(TL_UINT32, uint32_t, UNSIGNED, "%u", 0, UINT32_MAX)                                          \
    X(TL_UINT16, uint16_t, UNSIGNED, "%u", 0, UINT16_MAX)                                          \
    X(TL_UINT8, uint8_t, UNSIGNED, "%u", 0, UINT8_MAX)                                             \
    X(TL_BOOL, tl_bool, BOOLEAN, "%d", 0, 1)                                                       \
    X(TL_INT64, int64_t, SIGNED, "%ld", INT64_MIN, INT64_MAX)                                      \
    X(TL_UINT64, uint64_t, UNSIGNED, "%lu", 0, UINT64_MAX)

/* The element types that are only stored, moved and converted: X(name, C type, kind, default
 * format, smallest, largest), with values after those above. C type is how an element is in
 * memory; the types of 4 and 2 bits take a byte of their own. Kinds: NARROW floating types, which C
 * does not know, are stored as their bit pattern; INTEGER ones as their value; COMPLEX ones as real
 * and imaginary part; a STRING is a `const char *` to UTF-8 that ends with a 0 byte, NULL being "";
 * an OBJECT is an `ln_object *`. The last three kinds have no smallest and largest and convert to
 * no other type. */
#define TL_DTYPE_STORED_LIST(X)                                                                    \
    TL_DTYPE_NARROW_LIST(X)                                                                        \
    TL_DTYPE_SMALL_INT_LIST(X)                                                                     \
    TL_DTYPE_OTHER_LIST(X)

#define TL_DTYPE_NARROW_LIST(X)                                                                    \
    X(TL_FLOAT16, uint16_t, NARROW, "%.3f", -65504.0, 65504.0)                                     \
    X(TL_BFLOAT16, uint16_t, NARROW, "%.3f", -0x1.fep127, 0x1.fep127)                              \
    X(TL_FLOAT8E4M3FN, uint8_t, NARROW, "%.3f", -448.0, 448.0)                                     \
    X(TL_FLOAT8E4M3FNUZ, uint8_t, NARROW, "%.3f", -240.0, 240.0)                                   \
    X(TL_FLOAT8E5M2, uint8_t, NARROW, "%.3f", -57344.0, 57344.0)                                   \
    X(TL_FLOAT8E5M2FNUZ, uint8_t, NARROW, "%.3f", -57344.0, 57344.0)                               \
    X(TL_FLOAT8E8M0, uint8_t, NARROW, "%g", 0x1p-127, 0x1p127)                                     \
    X(TL_FLOAT4E2M1, uint8_t, NARROW, "%.3f", -6.0, 6.0)

#define TL_DTYPE_SMALL_INT_LIST(X)                                                                 \
    X(TL_INT4, int8_t, INTEGER, "%d", -8, 7)                                                       \
    X(TL_UINT4, uint8_t, INTEGER, "%u", 0, 15)                                                     \
    X(TL_INT2, int8_t, INTEGER, "%d", -2, 1)                                                       \
    X(TL_UINT2, uint8_t, INTEGER, "%u", 0, 3)

#define TL_DTYPE_OTHER_LIST(X)                                                                     \
    X(TL_COMPLEX64, tl_complex64, COMPLEX, "%.3f", NAN, NAN)                                       \
    X(TL_COMPLEX128, tl_complex128, COMPLEX, "%.3f", NAN, NAN)                                     \
    X(TL_STRING, const char *, STRING, "%s", NAN, NAN)                                             \
    X(TL_OBJECT, void *, OBJECT, "%s", NAN, NAN)

typedef struct tl_complex64 {
    float real, imag;
} tl_complex64;

typedef struct tl_complex128 {
    double real, imag;
} tl_complex128;

enum tl_dtype {
    TL_DTYPE_INVALID = -1,
#define TL_DTYPE_ENUM(name, type, kind, fmt, min, max) name,
    TL_DTYPE_LIST(TL_DTYPE_ENUM) TL_DTYPE_STORED_LIST(TL_DTYPE_ENUM)
#undef TL_DTYPE_ENUM
        TL_DTYPE_SIZE
};
typedef enum tl_dtype tl_dtype;

/* C can compute with the types below this one: those of TL_DTYPE_LIST. */
#define TL_DTYPE_NATIVE_SIZE      TL_FLOAT16
#define TL_DTYPE_IS_NATIVE(dtype) ((int)(dtype) >= 0 && (int)(dtype) < (int)TL_DTYPE_NATIVE_SIZE)

/* A floating type that C does not know. */
#define TL_DTYPE_IS_NARROW(dtype) ((int)(dtype) >= TL_FLOAT16 && (int)(dtype) <= TL_FLOAT4E2M1)

/* Sets of element types, as uint64_t: LN_TYPE(TL_INT32) | LN_TYPE(TL_INT64). */
#define LN_TYPE(dtype) (UINT64_C(1) << (dtype))
#define LN_TYPES_FLOAT                                                                             \
    (LN_TYPE(TL_FLOAT16) | LN_TYPE(TL_BFLOAT16) | LN_TYPE(TL_FLOAT) | LN_TYPE(TL_DOUBLE))
#define LN_TYPES_SIGNED                                                                            \
    (LN_TYPE(TL_INT8) | LN_TYPE(TL_INT16) | LN_TYPE(TL_INT32) | LN_TYPE(TL_INT64))
#define LN_TYPES_UNSIGNED                                                                          \
    (LN_TYPE(TL_UINT8) | LN_TYPE(TL_UINT16) | LN_TYPE(TL_UINT32) | LN_TYPE(TL_UINT64))
#define LN_TYPES_INT    (LN_TYPES_SIGNED | LN_TYPES_UNSIGNED)
#define LN_TYPES_NUMBER (LN_TYPES_FLOAT | LN_TYPES_INT)
#define LN_TYPES_FLOAT8                                                                            \
    (LN_TYPE(TL_FLOAT8E4M3FN) | LN_TYPE(TL_FLOAT8E4M3FNUZ) | LN_TYPE(TL_FLOAT8E5M2) |              \
     LN_TYPE(TL_FLOAT8E5M2FNUZ))
#define LN_TYPES_SMALL_INT                                                                         \
    (LN_TYPE(TL_INT4) | LN_TYPE(TL_UINT4) | LN_TYPE(TL_INT2) | LN_TYPE(TL_UINT2))
#define LN_TYPES_COMPLEX (LN_TYPE(TL_COMPLEX64) | LN_TYPE(TL_COMPLEX128))
#define LN_TYPES_NATIVE  (LN_TYPE(TL_DTYPE_NATIVE_SIZE) - 1) /* what C can compute with */
#define LN_TYPES_ANY     (LN_TYPE(TL_DTYPE_SIZE) - 1)        /* with TL_STRING and TL_OBJECT */

/* Element-wise operations of two arguments. */
#define TL_ELEW_OP_LIST(X)                                                                         \
    X(TL_MUL)                                                                                      \
    X(TL_DIV)                                                                                      \
    X(TL_SUM)                                                                                      \
    X(TL_SUB)                                                                                      \
    X(TL_MAX)                                                                                      \
    X(TL_MIN)                                                                                      \
    X(TL_POW)

enum tl_elew_op {
    TL_ELEW_OP_INVALID = -1,
#define TL_NAME_ENUM(name) name,
    TL_ELEW_OP_LIST(TL_NAME_ENUM) TL_ELEW_OP_SIZE
};
typedef enum tl_elew_op tl_elew_op;

/* How `tl_tensor_resize` finds the value of a new element. */
#define TL_RESIZE_TYPE_LIST(X)                                                                     \
    X(TL_NEAREST)                                                                                  \
    X(TL_LINEAR)

enum tl_resize_type {
    TL_RESIZE_TYPE_INVALID = -1,
    TL_RESIZE_TYPE_LIST(TL_NAME_ENUM) TL_RESIZE_TYPE_SIZE
};
typedef enum tl_resize_type tl_resize_type;

#define TL_SORT_DIR_LIST(X)                                                                        \
    X(TL_SORT_DIR_ASCENDING)                                                                       \
    X(TL_SORT_DIR_DESCENDING)

enum tl_sort_dir {
    TL_SORT_DIR_INVALID = -1,
    TL_SORT_DIR_LIST(TL_NAME_ENUM) TL_SORT_DIR_SIZE
#undef TL_NAME_ENUM
};
typedef enum tl_sort_dir tl_sort_dir;

/* ---- Names and sizes ---- */

/* Bytes of one element; 0 for an invalid dtype. */
LN_API size_t tl_size_of(tl_dtype dtype);

/* The name as in the source, such as "TL_FLOAT"; NULL for an invalid value. */
LN_API const char *tl_dtype_name(tl_dtype dtype);

/* The name for people, such as "float32", "uint8" or "bool": for text that shows a type. NULL for
 * an invalid value. */
LN_API const char *tl_dtype_title(tl_dtype dtype);
LN_API const char *tl_elew_op_name(tl_elew_op op);
LN_API const char *tl_resize_type_name(tl_resize_type type);
LN_API const char *tl_sort_dir_name(tl_sort_dir dir);

/* The value of a name; -1, the INVALID of each type, for an unknown name or NULL. Records no
 * error: asking is fine. */
LN_API tl_dtype tl_dtype_from_str(const char *str);
LN_API tl_elew_op tl_elew_op_from_str(const char *str);
LN_API tl_resize_type tl_resize_type_from_str(const char *str);
LN_API tl_sort_dir tl_sort_dir_from_str(const char *str);

/* The printf format used when the caller gives none, such as "%.3f"; NULL for an invalid dtype. */
LN_API const char *tl_dtype_fmt(tl_dtype dtype);

/* Writes the largest or smallest finite value of `dtype` to the element at `max` or `min`. */
LN_API ln_status tl_dtype_max(tl_dtype dtype, void *max);
LN_API ln_status tl_dtype_min(tl_dtype dtype, void *min);

/* The same as a double (rounded for 64-bit integers); NaN for an invalid dtype and for one without
 * order. */
LN_API double tl_dtype_max_double(tl_dtype dtype);
LN_API double tl_dtype_min_double(tl_dtype dtype);

/* ---- One element ---- */

/* *pd = *ps, converted by the rules above. */
LN_API ln_status tl_convert(void *pd, tl_dtype dtype_d, const void *ps, tl_dtype dtype_s);

/* `count` elements in one go. The two ranges must be the same, of one element size, or apart. */
LN_API ln_status tl_convert_n(void *pd, tl_dtype dtype_d, const void *ps, tl_dtype dtype_s,
                              size_t count);

/* *pd = *ps >= 0 ? *ps : *ps * negslope; the slope is first converted to `dtype`. */
LN_API ln_status tl_lrelu(void *pd, const void *ps, float negslope, tl_dtype dtype);

/* Negative, 0 or positive as *p1 is less than, equal to or greater than *p2. NaN equals NaN and is
 * greater than all else, so that the order is total; strings compare by their bytes. 0 for an
 * invalid dtype, and LN_UNSUPPORTED for complex numbers and objects. */
LN_API int tl_cmp(const void *p1, const void *p2, tl_dtype dtype);

/* The comparison of one dtype, to be given to qsort; NULL for an invalid dtype. */
typedef int (*tl_cmp_func)(const void *p1, const void *p2);
LN_API tl_cmp_func tl_cmp_getfunc(tl_dtype dtype);

/* *r = *p1 op *p2. Integer division by zero is LN_INVALID and leaves *r alone; the smallest
 * integer divided by -1 wraps to itself. TL_POW goes through double and saturates. TL_MAX and
 * TL_MIN are NaN when an argument is. `r` may be `p1` or `p2`. */
LN_API ln_status tl_elew(const void *p1, const void *p2, void *r, tl_elew_op op, tl_dtype dtype);

typedef ln_status (*tl_elew_func)(const void *p1, const void *p2, void *r, tl_elew_op op);
LN_API tl_elew_func tl_elew_getfunc(tl_dtype dtype);

/* Prints the element at `p`, complex numbers as "<real>+<imag>i" and objects as "object"; `fmt`
 * does not count for objects, and is for both parts of a complex number. `fmt` NULL means the
 * default format. Any other format must hold exactly one conversion that suits the dtype: one of
 * `aAeEfFgG` for floating types, one of `diouxX` for the others, `s` for strings; flags, width and
 * precision of up to three digits (no `*`), other text and `%%` are allowed, up to 64 bytes
 * together. A length modifier is accepted and not needed. `u`, `o`, `x` and `X` show the bits of a
 * signed integer in its own width. Returns the number of bytes written, or -1: LN_INVALID for a
 * format that breaks these rules, LN_IO when writing fails. */
LN_API int tl_fprintf(FILE *fp, const char *fmt, const void *p, tl_dtype dtype);

typedef int (*tl_fprintf_func)(FILE *fp, const char *fmt, const void *p);
LN_API tl_fprintf_func tl_fprintf_getfunc(tl_dtype dtype);

/* ---- Pointers to elements; sizes in bytes, offsets in elements. Nothing is checked. ---- */

/* The distance p1 - p2 in elements of `size` bytes; 0 when `size` is 0. */
LN_API ptrdiff_t tl_psub(const void *p1, const void *p2, size_t size);
/* The address of element `offset` after `p`. */
LN_API void *tl_padd(const void *p, ptrdiff_t offset, size_t size);
/* p1[offset1] = p2[offset2]. */
LN_API void tl_passign(void *p1, ptrdiff_t offset1, const void *p2, ptrdiff_t offset2, size_t size);
/* The same for `count` elements; the ranges may overlap. */
LN_API void tl_pmove(void *p1, ptrdiff_t offset1, const void *p2, ptrdiff_t offset2, size_t size,
                     size_t count);

/* The same with the element size of a dtype. */
LN_API ptrdiff_t tl_pointer_sub(const void *p1, const void *p2, tl_dtype dtype);
LN_API void *tl_pointer_add(const void *p, ptrdiff_t offset, tl_dtype dtype);
LN_API void tl_pointer_assign(void *p1, ptrdiff_t offset1, const void *p2, ptrdiff_t offset2,
                              tl_dtype dtype);

/* ---- Bytes ---- */

/* A new block of `size` bytes, all zero; NULL when `size` is 0 (LN_INVALID) or memory is gone. The
 * caller gives it back with `ln_free`. */
LN_API void *tl_alloc(size_t size);

/* Copies `size` bytes to `dst` and returns `dst`; the ranges may overlap, NULL copies nothing. */
LN_API void *tl_memcpy(void *dst, const void *src, size_t size);
LN_API void *tl_copy(void *dst, const void *src, size_t size);

/* A new block with a copy of `size` bytes, or with `times` copies one after the other. NULL on
 * failure. The caller gives it back with `ln_free`. */
LN_API void *tl_clone(const void *src, size_t size);
LN_API void *tl_repeat(const void *src, size_t size, int times);

/* Reads up to `n` decimal numbers from the text file `file` into `buf` and returns how many it has
 * read. White space and punctuation around numbers, such as brackets and commas, are passed over;
 * "inf" and "nan" are numbers. When there are fewer than `n`, because the file ends or at a word
 * that is none, LN_SYNTAX is recorded (`ln_error_status`) with the line. -1, with LN_IO or
 * LN_INVALID recorded, when the file cannot be read or an argument is wrong. The process locale
 * changes nothing. */
LN_API int tl_read_floats(const char *file, int n, float *buf);

LN_CPPEND

#endif
