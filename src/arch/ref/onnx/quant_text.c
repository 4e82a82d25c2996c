// SPDX-License-Identifier: Apache-2.0
// Numbers as strings, and back. The C library's point depends on the locale, so only its digits and
// exponents are used.

#include "arch/ref/onnx/quant_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/elem.h"

enum {
    DOUBLE_DIGITS = 17,
    READ_DIGITS = 800, // more than any tie between two doubles has
    EXPONENT_MAX = 100000
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// ---- Numbers to text ----

// `count` digits of x > 0 without a point, and the power of ten of the first one.
static int digits_of(double x, int count, char *digits)
{
    char text[LN_NUMBER_TEXT_BYTES];
    snprintf(text, sizeof text, "%.*e", count - 1, x);
    const char *exponent = strchr(text, 'e');
    int at = 0;
    for (const char *c = text; c < exponent; c++)
        if (is_digit(*c))
            digits[at++] = *c;
    digits[at] = 0;
    return (int)strtol(exponent + 1, NULL, 10);
}

static bool is_same_again(const char *digits, int exponent, double x, tl_dtype dtype)
{
    char text[LN_NUMBER_TEXT_BYTES];
    snprintf(text, sizeof text, "%se%d", digits, exponent - (int)strlen(digits) + 1);
    double read = dtype == TL_FLOAT ? (double)strtof(text, NULL) : strtod(text, NULL);
    return ln_elem_round(read, dtype, 0) == x;
}

size_t ln_real_to_text(double x, tl_dtype dtype, char text[LN_NUMBER_TEXT_BYTES])
{
    if (!isfinite(x) || x == 0) {
        const char *name = isnan(x) ? "nan" : isinf(x) ? "inf" : "0.0";
        return (size_t)snprintf(text, LN_NUMBER_TEXT_BYTES, "%s%s",
                                signbit(x) && !isnan(x) ? "-" : "", name);
    }
    char digits[DOUBLE_DIGITS + 1];
    int exponent = 0;
    for (int count = 1; count <= DOUBLE_DIGITS; count++) {
        exponent = digits_of(fabs(x), count, digits);
        if (is_same_again(digits, exponent, fabs(x), dtype))
            break;
    }
    int count = (int)strlen(digits);
    const char *sign = x < 0 ? "-" : "";
    int len;
    if (exponent < -4 || exponent >= 16)
        len = snprintf(text, LN_NUMBER_TEXT_BYTES, "%s%c%s%se%c%02d", sign, digits[0],
                       count > 1 ? "." : "", digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        len =
            snprintf(text, LN_NUMBER_TEXT_BYTES, "%s0.%.*s%s", sign, -exponent - 1, "0000", digits);
    else if (count <= exponent + 1)
        len = snprintf(text, LN_NUMBER_TEXT_BYTES, "%s%s%.*s.0", sign, digits, exponent + 1 - count,
                       "0000000000000000");
    else
        len = snprintf(text, LN_NUMBER_TEXT_BYTES, "%s%.*s.%s", sign, exponent + 1, digits,
                       digits + exponent + 1);
    return (size_t)len;
}

// ---- Text to numbers ----

// Skips white space and a sign, at the front.
static const char *skip_sign(const char *text, bool *out_is_negative)
{
    while (is_space(*text))
        text++;
    *out_is_negative = *text == '-';
    return text + (*text == '-' || *text == '+');
}

static bool is_end(const char *text)
{
    while (is_space(*text))
        text++;
    return *text == 0;
}

// `text` without regard to case is `word`, in small letters, and nothing after it.
static bool is_word(const char *text, const char *word)
{
    for (; *word; text++, word++)
        if ((*text | 0x20) != *word)
            return false;
    return is_end(text);
}

// The exponent after an 'e'; NULL if it is none.
static const char *read_exponent(const char *text, long *exponent)
{
    bool is_negative = *text == '-';
    text += *text == '-' || *text == '+';
    if (!is_digit(*text))
        return NULL;
    long value = 0;
    for (; is_digit(*text); text++)
        value = value < EXPONENT_MAX ? 10 * value + (*text - '0') : value;
    *exponent += is_negative ? -value : value;
    return text;
}

// The digits that count, without leading zeros; an 1 at the end stands for all that have no room.
// The number is 0.DIGITS times ten to the exponent.
static const char *read_digits(const char *text, char digits[READ_DIGITS + 2], long *exponent)
{
    int count = 0;
    bool has_digits = false, has_point = false;
    *exponent = 0;
    for (;; text++) {
        if (*text == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (!is_digit(*text))
            break;
        has_digits = true;
        if (count == 0 && *text == '0') {
            *exponent -= has_point && *exponent > -EXPONENT_MAX;
            continue;
        }
        if (count < READ_DIGITS)
            digits[count++] = *text;
        else if (*text != '0')
            digits[READ_DIGITS] = '1';
        *exponent += !has_point && *exponent < EXPONENT_MAX;
    }
    if (count == READ_DIGITS && digits[READ_DIGITS] == '1')
        count++;
    digits[count] = 0;
    return has_digits ? text : NULL;
}

bool ln_real_from_text(const char *text, double *out_x)
{
    bool is_negative;
    char digits[READ_DIGITS + 2] = {0}, number[READ_DIGITS + 32];
    long exponent;
    text = skip_sign(text, &is_negative);
    double sign = is_negative ? -1 : 1;
    if (is_word(text, "nan") || is_word(text, "inf") || is_word(text, "infinity")) {
        *out_x = sign * (double)((*text | 0x20) == 'n' ? NAN : INFINITY);
        return true;
    }
    text = read_digits(text, digits, &exponent);
    if (text && (*text | 0x20) == 'e')
        text = read_exponent(text + 1, &exponent);
    if (!text || !is_end(text))
        return false;
    snprintf(number, sizeof number, "%se%ld", digits[0] ? digits : "0",
             exponent - (long)strlen(digits));
    *out_x = sign * strtod(number, NULL);
    return true;
}

bool ln_whole_from_text(const char *text, bool *out_is_negative, uint64_t *out_bits)
{
    uint64_t value = 0;
    text = skip_sign(text, out_is_negative);
    if (!is_digit(*text))
        return false;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    *out_bits = *out_is_negative ? -value : value;
    return is_end(text) && (!*out_is_negative || value <= (uint64_t)1 << 63);
}
