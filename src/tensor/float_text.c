// SPDX-License-Identifier: Apache-2.0
// Numbers out of a text file, whatever stands between them.
//
// A number is what C reads as a decimal one. The scanner looks one character ahead, so that a sign
// or a point without digits is punctuation.

#include <lightnet/dtype.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define MAX_WORD 512 // more digits than any number needs to be told from its neighbours

typedef struct scanner {
    FILE *fp;
    int c; // the next character, or EOF
    int line;
    char word[MAX_WORD + 1];
    size_t len;
} scanner;

static void advance(scanner *s)
{
    s->line += s->c == '\n';
    s->c = getc(s->fp);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_in_word(int c)
{
    return is_digit(c) || is_letter(c) || c == '.' || c == '+' || c == '-';
}

// A sign belongs to a number at its start and after the e of an exponent only.
static bool ends_word(const scanner *s)
{
    bool is_sign = s->c == '+' || s->c == '-';
    char last = s->len ? s->word[s->len - 1] : 'e';
    return !is_in_word(s->c) || (is_sign && last != 'e' && last != 'E');
}

// The next run of characters that a number may have; empty at the end of the file.
static void read_word(scanner *s)
{
    s->len = 0;
    while (s->c != EOF && !is_in_word(s->c))
        advance(s);
    while (s->c != EOF && !ends_word(s)) {
        if (s->len < MAX_WORD)
            s->word[s->len++] = (char)s->c;
        advance(s);
    }
    s->word[s->len] = '\0';
}

static bool is_punctuation(const char *word)
{
    return word[strspn(word, ".+-")] == '\0';
}

static bool read_special(const char *word, double *out_number)
{
    bool is_negative = *word == '-';
    const char *name = word + (is_negative || *word == '+');
    bool is_inf = strcmp(name, "inf") == 0, is_nan = strcmp(name, "nan") == 0;
    *out_number = is_inf ? INFINITY : NAN;
    if (is_negative)
        *out_number = -*out_number;
    return is_inf || is_nan;
}

// [+-] digits [. digits] [e [+-] digits], where one of the first two may be missing. Written as
// ln_number_read wants it, with a digit on both sides of a point.
static bool read_number(const char *word, double *out_number)
{
    char spelling[MAX_WORD + 4];
    size_t len = 0, digits = strspn(word + (*word == '+' || *word == '-'), "0123456789");
    if (*word == '-')
        spelling[len++] = '-';
    const char *at = word + (*word == '+' || *word == '-');
    if (digits == 0)
        spelling[len++] = '0';
    memcpy(spelling + len, at, digits);
    len += digits;
    at += digits;
    size_t decimals = *at == '.' ? strspn(at + 1, "0123456789") : 0;
    if (digits + decimals == 0)
        return false;
    if (decimals > 0) {
        memcpy(spelling + len, at, decimals + 1);
        len += decimals + 1;
    }
    at += *at == '.' ? decimals + 1 : 0;
    if (*at) {
        size_t sign = at[1] == '+' || at[1] == '-', power = strspn(at + 1 + sign, "0123456789");
        if ((*at != 'e' && *at != 'E') || power == 0 || at[1 + sign + power])
            return false;
        memcpy(spelling + len, at, 1 + sign + power);
        len += 1 + sign + power;
    }
    ln_number_read(spelling, len, out_number); // too large: infinite
    return true;
}

static int read_all(scanner *s, const char *file, int n, float *buf)
{
    int count = 0;
    while (count < n) {
        double number;
        read_word(s);
        if (s->len == 0) {
            ln_fail(LN_SYNTAX, "%s: ends after %d of %d numbers", file, count, n);
            return count;
        }
        if (is_punctuation(s->word))
            continue;
        if (!read_number(s->word, &number) && !read_special(s->word, &number)) {
            ln_fail(LN_SYNTAX, "%s:%d: number %d of %d is missing: found '%.40s'", file, s->line,
                    count + 1, n, s->word);
            return count;
        }
        buf[count++] = (float)number;
    }
    return count;
}

int tl_read_floats(const char *file, int n, float *buf)
{
    if (!file || n < 0 || (n > 0 && !buf)) {
        ln_fail(LN_INVALID, "reading %d numbers needs a file and a buffer", n);
        return -1;
    }
    scanner s = {.fp = fopen(file, "r"), .line = 1};
    if (!s.fp) {
        ln_fail(LN_IO, "cannot open %s: %s", file, strerror(errno));
        return -1;
    }
    s.c = getc(s.fp);
    int count = read_all(&s, file, n, buf);
    bool has_failed = ferror(s.fp) != 0;
    fclose(s.fp);
    if (!has_failed)
        return count;
    ln_fail(LN_IO, "cannot read %s", file);
    return -1;
}
