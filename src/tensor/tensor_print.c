// SPDX-License-Identifier: Apache-2.0
// Tensors and single elements as text.
//
// A format from a caller may come out of a model file, so it never reaches printf: it is parsed,
// and a new one with our own length modifier is made from its parts.

#include <lightnet/tensor.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "tensor/elem.h"
#include "tensor/tensor_check.h"

#define FMT_BYTES  64
#define DIGITS_MAX 3

// Bytes of a number: 309 digits and up to 999 after the point, or 999 in all, and the text around.
#define NUMBER_BYTES 1500

// A checked format: "<text>%<flags><width><precision><ll><conversion><text>".
typedef struct element_format {
    char text[FMT_BYTES + 8];
    size_t prefix_len; // of the text in front of the conversion, as it is printed
    bool shows_bits;   // the conversion is for unsigned values
} element_format;

static const char *skip_digits(const char *p)
{
    return p + strspn(p, "0123456789");
}

// The end of the flags, width and precision that start at `p`; NULL when they are too long.
static const char *skip_modifiers(const char *p)
{
    p += strspn(p, "-+ #0");
    const char *end = skip_digits(p);
    if (end - p > DIGITS_MAX)
        return NULL;
    if (*end != '.')
        return end;
    p = end + 1;
    end = skip_digits(p);
    return end - p > DIGITS_MAX ? NULL : end;
}

// The end of text without a conversion that starts at `p`.
static const char *skip_text(const char *p)
{
    while (*p && (*p != '%' || p[1] == '%'))
        p += *p == '%' ? 2 : 1;
    return p;
}

static ln_status parse_format(element_format *format, const char *fmt, tl_dtype dtype)
{
    bool is_floating = dtype == TL_DOUBLE || dtype == TL_FLOAT || TL_DTYPE_IS_NARROW(dtype) ||
                       dtype == TL_COMPLEX64 || dtype == TL_COMPLEX128;
    bool is_text = dtype == TL_STRING || dtype == TL_OBJECT;
    bool is_unsigned = tl_dtype_min_double(dtype) == 0 && dtype != TL_BOOL;
    if (!fmt)
        fmt = tl_dtype_fmt(dtype);
    if (strlen(fmt) >= FMT_BYTES)
        return LN_FAIL(LN_INVALID, "the format is longer than %d bytes", FMT_BYTES - 1);

    const char *start = skip_text(fmt);
    const char *modifiers_end = *start ? skip_modifiers(start + 1) : NULL;
    const char *conversion = modifiers_end ? modifiers_end + strspn(modifiers_end, "hljzt") : NULL;
    const char *wanted = is_floating ? "aAeEfFgG" : is_text ? "s" : "diouxX";
    if (!conversion || conversion - modifiers_end > 2 || !*conversion ||
        !strchr(wanted, *conversion) || *skip_text(conversion + 1))
        return LN_FAIL(LN_INVALID, "format '%s' is not one conversion out of '%s' for %s", fmt,
                       wanted, tl_dtype_title(dtype));

    format->prefix_len = 0;
    for (const char *p = fmt; p < start; p += *p == '%' ? 2 : 1)
        format->prefix_len++;
    char letter = *conversion;
    bool is_decimal = letter == 'd' || letter == 'i';
    if (is_unsigned && is_decimal)
        letter = 'u';
    format->shows_bits = is_unsigned || !is_decimal;
    snprintf(format->text, sizeof format->text, "%.*s%s%c%s", (int)(modifiers_end - fmt), fmt,
             is_floating || is_text ? "" : "ll", letter, conversion + 1);
    return LN_OK;
}

// With a point whatever the locale has in its place.
static int print_real(FILE *fp, const element_format *format, double real)
{
    char text[NUMBER_BYTES], half[16];
    int len = snprintf(text, sizeof text, format->text, real);
    if (len < 0 || len >= NUMBER_BYTES)
        return -1;
    snprintf(half, sizeof half, "%.1f", 0.5); // the locale's point, of any length, between 0 and 5
    size_t point_len = strlen(half) - 2;
    half[1 + point_len] = '\0';
    char *point = strcmp(half + 1, ".") == 0 ? NULL : strstr(text + format->prefix_len, half + 1);
    if (point) {
        *point = '.';
        memmove(point + 1, point + point_len, strlen(point + point_len) + 1);
    }
    return fputs(text, fp) < 0 ? -1 : (int)strlen(text);
}

#define PRINT_FLOATING(type) print_real(fp, format, (double)*(const type *)p)
#define PRINT_SIGNED(type)                                                                         \
    (format->shows_bits                                                                            \
         ? fprintf(fp, format->text,                                                               \
                   (unsigned long long)*(const type *)p & (~0ULL >> (64 - 8 * sizeof(type))))      \
         : fprintf(fp, format->text, (long long)*(const type *)p))
#define PRINT_UNSIGNED(type) fprintf(fp, format->text, (unsigned long long)*(const type *)p)
#define PRINT_NARROW(type)   print_real(fp, format, ln_data_real(p, dtype, 0))
#define PRINT_INTEGER(type)  PRINT_SIGNED(type)
#define PRINT_COMPLEX(type)                                                                        \
    print_complex(fp, format, (double)((const type *)p)->real, (double)((const type *)p)->imag)
#define PRINT_STRING(type) print_string(fp, format, *(const char *const *)p)
#define PRINT_OBJECT(type) fprintf(fp, format->text, "object")

static int print_complex(FILE *fp, const element_format *format, double real, double imag)
{
    int first = print_real(fp, format, real);
    int plus = first < 0 || signbit(imag) ? 0 : fprintf(fp, "+");
    int second = plus < 0 ? -1 : print_real(fp, format, imag);
    int unit = second < 0 ? -1 : fprintf(fp, "i");
    return first < 0 || unit < 0 ? -1 : first + plus + second + unit;
}

// Strings come out of models, and must not steer a terminal.
static int print_string(FILE *fp, const element_format *format, const char *string)
{
    size_t size = ln_sprint_safe(NULL, 0, string) + 1;
    char *safe = ln_alloc(size);
    if (!safe)
        return -1;
    ln_sprint_safe(safe, size, string);
    int byte_count = fprintf(fp, format->text, safe);
    ln_free(safe);
    return byte_count;
}

#define PRINT_BOOLEAN(type) fprintf(fp, format->text, (long long)(*(const type *)p != 0))

// The number of bytes written; negative when writing failed.
static int print_element(FILE *fp, const element_format *format, const void *p, tl_dtype dtype)
{
    switch (dtype) {
#define PRINT_CASE(name, type, kind, fmt, min, max)                                                \
    case name: return PRINT_##kind(type);
        TL_DTYPE_LIST(PRINT_CASE)
        TL_DTYPE_STORED_LIST(PRINT_CASE)
#undef PRINT_CASE
    default: return -1;
    }
}

// ---- One element ----

int tl_fprintf(FILE *fp, const char *fmt, const void *p, tl_dtype dtype)
{
    element_format format;
    if (!fp || !p || !tl_size_of(dtype)) {
        ln_fail(LN_INVALID, "printing needs a stream, an element and a dtype");
        return -1;
    }
    if (parse_format(&format, fmt, dtype) != LN_OK)
        return -1;
    int byte_count = print_element(fp, &format, p, dtype);
    if (byte_count < 0)
        ln_fail(LN_IO, "cannot write: %s", strerror(errno));
    return byte_count < 0 ? -1 : byte_count;
}

#define PRINT_FUNC(name, type, kind, fmt, min, max)                                                \
    static int fprintf_##name(FILE *fp, const char *format, const void *p)                         \
    {                                                                                              \
        return tl_fprintf(fp, format, p, name);                                                    \
    }
TL_DTYPE_LIST(PRINT_FUNC)
TL_DTYPE_STORED_LIST(PRINT_FUNC)
#undef PRINT_FUNC

tl_fprintf_func tl_fprintf_getfunc(tl_dtype dtype)
{
    switch (dtype) {
#define FUNC_CASE(name, type, kind, fmt, min, max)                                                 \
    case name: return fprintf_##name;
        TL_DTYPE_LIST(FUNC_CASE)
        TL_DTYPE_STORED_LIST(FUNC_CASE)
#undef FUNC_CASE
    default: ln_fail(LN_INVALID, "%d is not a dtype", (int)dtype); return NULL;
    }
}

// ---- Tensors ----

static void repeat_char(FILE *stream, char c, int count)
{
    for (int i = 0; i < count; i++)
        fputc(c, stream);
}

// How many dimensions end before element `index`: 0 inside of a row, ndim at both ends.
static int dims_ended(const tl_tensor *t, int index)
{
    int ended = 0;
    for (int rest = index; ended < t->ndim && rest % t->dims[t->ndim - 1 - ended] == 0; ended++)
        rest /= t->dims[t->ndim - 1 - ended];
    return ended;
}

static void print_elements(FILE *stream, const tl_tensor *t, const element_format *format)
{
    const char *element = t->data;
    repeat_char(stream, '[', t->ndim);
    for (int i = 0; i < t->len; i++) {
        int ended = i == 0 ? 0 : dims_ended(t, i);
        if (ended > 0) {
            repeat_char(stream, ']', ended);
            fputc('\n', stream);
            repeat_char(stream, ' ', t->ndim - ended);
            repeat_char(stream, '[', ended);
        } else if (i > 0) {
            fputc(' ', stream);
        }
        print_element(stream, format, element, t->dtype);
        element += tl_size_of(t->dtype);
    }
    repeat_char(stream, ']', t->ndim);
    fputc('\n', stream);
}

ln_status tl_tensor_fprint(FILE *stream, const tl_tensor *t, const char *fmt)
{
    element_format format;
    if (!stream)
        return LN_FAIL(LN_INVALID, "printing needs a stream");
    if (!tensor_is_usable(t, "t"))
        return LN_INVALID;
    LN_TRY(parse_format(&format, fmt, t->dtype));
    if (t->len == 0)
        fputs("[]\n", stream);
    else
        print_elements(stream, t, &format);
    if (ferror(stream))
        return LN_FAIL(LN_IO, "cannot write the tensor: %s", strerror(errno));
    return LN_OK;
}

ln_status tl_tensor_print(const tl_tensor *t, const char *fmt)
{
    return tl_tensor_fprint(stdout, t, fmt);
}

int tl_tensor_save(const char *file_name, const tl_tensor *t, const char *fmt)
{
    // The old file is not touched for a tensor or a format that cannot be printed.
    element_format format;
    if (!file_name || !tensor_is_usable(t, "t")) {
        if (!file_name)
            ln_fail(LN_INVALID, "the file name is NULL");
        return -1;
    }
    if (parse_format(&format, fmt, t->dtype) != LN_OK)
        return -1;
    FILE *fp = fopen(file_name, "w");
    if (!fp) {
        ln_fail(LN_IO, "cannot open %s: %s", file_name, strerror(errno));
        return -1;
    }
    ln_status status = tl_tensor_fprint(fp, t, fmt);
    if (fclose(fp) != 0 && status == LN_OK)
        status = LN_FAIL(LN_IO, "cannot write %s: %s", file_name, strerror(errno));
    return status == LN_OK ? 0 : -1;
}
