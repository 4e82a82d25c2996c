/* SPDX-License-Identifier: Apache-2.0 */
/* Words that every other header uses: callback types, limits, keys of hash tables, short strings.
 *
 * Shapes are in shape.h and the arithmetic of convolutions in convdim.h; both come along.
 * Nothing here keeps state: every function may be called from any thread.
 */

#ifndef LIGHTNET_UTIL_H
#define LIGHTNET_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <lightnet/convdim.h>
#include <lightnet/export.h>
#include <lightnet/shape.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef int ln_bool;

#define LN_FALSE 0
#define LN_TRUE  1

/* Bytes of a name of an operator, tensor or parameter, the final zero included. */
#define LN_MAX_NAME_LEN 512

/* Bytes of one line of text or one message, the final zero included. */
#define LN_MAXLINE 4096

/* Negative, 0 or positive, as `a` comes before, is equal to, or comes after `b`. */
typedef int (*ln_cmp_func)(const void *a, const void *b);

/* Frees what `p` points to. */
typedef void (*ln_free_func)(void *p);

/* Prints the object `p` to `fp`, without a newline. */
typedef void (*ln_fprint_func)(FILE *fp, const void *p);

/* Equal keys have equal hashes. */
typedef uint32_t (*ln_hash_func)(const void *key);

/* Copies `n` bytes from `src` to `dst` and returns `dst`, as memcpy does; the memories may be of
 * different types. */
typedef void *(*ln_copy_func)(void *dst, const void *src, size_t n);

/* ---- Keys ---- */

/* Strings: djb2 over the bytes; strcmp. NULL hashes to 0 and comes before every string. */
LN_API uint32_t ln_str_hash(const void *key);
LN_API int ln_str_cmp(const void *a, const void *b);

/* The pointers themselves; keys may be small integers cast to pointers, and NULL. */
LN_API uint32_t ln_direct_hash(const void *key);
LN_API int ln_direct_cmp(const void *a, const void *b);

/* ---- Strings: NULL is equal to nothing, prefix of nothing and suffix of nothing ---- */

/* True if the strings are equal. */
LN_API ln_bool ln_streq(const char *a, const char *b);

/* True if the first `n` bytes are equal, or both strings end before. */
LN_API ln_bool ln_streqn(const char *a, const char *b, size_t n);

/* True if `s` ends with `suffix`; every string ends with "". */
LN_API ln_bool ln_suffixed(const char *s, const char *suffix);

/* True if `s` is `prefix` followed by one or more decimal digits and nothing else. */
LN_API ln_bool ln_is_prefix_plus_digit(const char *s, const char *prefix);

/* Decimal digits of `number` without its sign: 1 for 0, 3 for -120. */
LN_API int ln_digit_num(int64_t number);

/* What follows the first `c` in `s`; NULL if there is no `c`, or if `c` is '\0'. */
LN_API const char *ln_next_token(const char *s, char c);

/* `a` and `b` in one new string, which the caller gives back with `ln_free`.
 * NULL with LN_INVALID if one of them is NULL, NULL with LN_NO_MEMORY when memory is gone. */
LN_API char *ln_strcat_alloc(const char *a, const char *b);

/* The same with `delim` between `a` and `b`. */
LN_API char *ln_strcat_delim_alloc(const char *a, const char *b, char delim);

/* ---- Text of files, to be shown ---- */

/* Writes `text` to `buf`, of `size` bytes, as it may be shown on a terminal: control characters but
 * for \n and \t, and characters that change the direction of text, are written out (\x1b, \u009b,
 * \u202e), and so are bytes that are no UTF-8 (\xff). Cut before the first character that does not
 * fit. Returns the length that `text` has when it is shown whole. What is safe already stays as it
 * is. The library's messages, and what `print` writes, have gone through this. NULL is "". */
LN_API size_t ln_sprint_safe(char *buf, size_t size, const char *text);

/* The same to a stream: 0, or -1 if it cannot be written. */
LN_API int ln_fprint_safe(FILE *fp, const char *text);

/* ---- Others ---- */

/* Seconds of the wall clock since 1970; 0 if there is no clock. It may jump when it is set. */
LN_API double ln_clock(void);

/* Turns an image into a tensor: `image` is height x width x channels bytes, `out` receives
 * channels x height x width floats, each the byte minus `mean[channel]`.
 * LN_INVALID for NULL, or for a size below 1. */
LN_API ln_status ln_img_submean(const unsigned char *image, const float *mean, float *out,
                                int height, int width, int channels);

LN_CPPEND

#endif
