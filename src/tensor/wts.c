// SPDX-License-Identifier: Apache-2.0
// The .wts text format: `count`, then `name type length words...` per array.
//
// Words are the hexadecimal digits of the machine representation, most significant first. Tokens
// are separated by any white space; lines matter only in messages.

#include "tensor/tensor_file_format.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { TYPE_FLOAT = 0, TYPE_HALF = 1, TYPE_INT8 = 2 };

// ---- Reading ----

typedef struct scanner {
    const char *next;
    const char *end;
    int line;
} scanner;

typedef struct token {
    const char *text;
    size_t len;
} token;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Names may be UTF-8; only white space and control characters cannot be in one.
static bool is_name_byte(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f;
}

// The next token; its length is 0 at the end.
static token next_token(scanner *s)
{
    while (s->next < s->end && is_space(*s->next)) {
        s->line += *s->next == '\n';
        s->next++;
    }
    token t = {s->next, 0};
    while (s->next < s->end && !is_space(*s->next))
        s->next++;
    t.len = (size_t)(s->next - t.text);
    return t;
}

// A decimal number up to INT_MAX.
static ln_status next_number(scanner *s, const char *what, int *out_number)
{
    *out_number = 0;
    token t = next_token(s);
    int number = 0;
    for (size_t i = 0; i < t.len; i++) {
        char c = t.text[i];
        if (c < '0' || c > '9')
            return LN_FAIL(LN_SYNTAX, "line %d: %s is not a number", s->line, what);
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, c - '0', &number))
            return LN_FAIL(LN_LIMIT, "line %d: %s is over %d", s->line, what, INT_MAX);
    }
    if (t.len == 0)
        return LN_FAIL(LN_SYNTAX, "line %d: the file ends before %s", s->line, what);
    *out_number = number;
    return LN_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// A word of at most `digits_max` hexadecimal digits.
static ln_status next_word(scanner *s, int index, size_t digits_max, uint32_t *out_word)
{
    *out_word = 0;
    token t = next_token(s);
    uint32_t word = 0;
    if (t.len == 0)
        return LN_FAIL(LN_SYNTAX, "line %d: the file ends before word %d", s->line, index);
    for (size_t i = 0; i < t.len; i++) {
        int digit = hex_digit(t.text[i]);
        if (digit < 0 || i >= digits_max)
            return LN_FAIL(LN_SYNTAX, "line %d: word %d is not 1 to %zu hexadecimal digits",
                           s->line, index, digits_max);
        word = word << 4 | (uint32_t)digit;
    }
    *out_word = word;
    return LN_OK;
}

static ln_status parse_words(scanner *s, tl_tensor *t)
{
    for (int i = 0; i < t->len; i++) {
        uint32_t word;
        LN_TRY(next_word(s, i, 2 * tl_size_of(t->dtype), &word));
        if (t->dtype == TL_FLOAT)
            memcpy((float *)t->data + i, &word, sizeof word);
        else
            ((uint8_t *)t->data)[i] = (uint8_t)word;
    }
    return LN_OK;
}

static ln_status parse_array(ln_tensor_file *file, scanner *s)
{
    token name = next_token(s);
    if (name.len == 0)
        return LN_FAIL(LN_SYNTAX, "line %d: the file ends before the name of an array", s->line);
    if (name.len > LN_TENSOR_FILE_NAME_MAX)
        return LN_FAIL(LN_LIMIT, "line %d: a name is longer than %d bytes", s->line,
                       LN_TENSOR_FILE_NAME_MAX);
    for (size_t i = 0; i < name.len; i++) {
        if (!is_name_byte(name.text[i]))
            return LN_FAIL(LN_SYNTAX, "line %d: a name contains the byte 0x%02x", s->line,
                           (unsigned char)name.text[i]);
    }
    int type, len;
    LN_TRY(next_number(s, "the type of an array", &type));
    LN_TRY(next_number(s, "the length of an array", &len));
    if (type != TYPE_FLOAT && type != TYPE_INT8)
        return LN_FAIL(LN_UNSUPPORTED,
                       "line %d: type %d of array '%.*s' is not 0 (float) or 2 (int8)%s", s->line,
                       type, (int)name.len, name.text,
                       type == TYPE_HALF ? "; convert it to float" : "");
    // A word takes two bytes at least, with its separator: memory stays in proportion to the file.
    if ((size_t)len > (size_t)(s->end - s->next) / 2)
        return LN_FAIL(LN_SYNTAX, "line %d: the file is too short for %d words of array '%.*s'",
                       s->line, len, (int)name.len, name.text);
    tl_tensor *t;
    LN_TRY(ln_tensor_file_add(file, name.text, name.len, type == TYPE_FLOAT ? TL_FLOAT : TL_INT8, 1,
                              &len, &t));
    return parse_words(s, t);
}

ln_status ln_wts_parse(ln_tensor_file *file, const char *data, size_t byte_count)
{
    scanner s = {data, data + byte_count, 1};
    int count;
    LN_TRY(next_number(&s, "the number of arrays", &count));
    for (int i = 0; i < count; i++)
        LN_TRY(parse_array(file, &s));
    if (next_token(&s).len > 0)
        return LN_FAIL(LN_SYNTAX, "line %d: text follows after %d arrays", s.line, count);
    return LN_OK;
}

// ---- Writing ----

static ln_status check_writable(const ln_named_tensor *t)
{
    if (t->tensor->dtype != TL_FLOAT && t->tensor->dtype != TL_INT8)
        return LN_FAIL(LN_UNSUPPORTED,
                       "'%s' is %s, but .wts holds float32 and int8 only; write a .safetensors or "
                       ".params file",
                       t->name, tl_dtype_title(t->tensor->dtype));
    bool is_bad = t->name[0] == '\0';
    for (const char *c = t->name; *c; c++)
        is_bad |= !is_name_byte(*c);
    if (is_bad)
        return LN_FAIL(LN_INVALID, "'%s' cannot be a name in .wts", t->name);
    return LN_OK;
}

ln_status ln_wts_write(FILE *fp, const ln_named_tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        LN_TRY(check_writable(&tensors[i]));
    fprintf(fp, "%zu\n", count);
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *t = tensors[i].tensor;
        bool is_float = t->dtype == TL_FLOAT;
        fprintf(fp, "%s %d %d", tensors[i].name, is_float ? TYPE_FLOAT : TYPE_INT8, t->len);
        for (int k = 0; k < t->len; k++) {
            uint32_t word = 0;
            if (is_float)
                memcpy(&word, (const float *)t->data + k, sizeof word);
            else
                word = ((const uint8_t *)t->data)[k];
            fprintf(fp, is_float ? " %08x" : " %02x", (unsigned)word);
        }
        fputc('\n', fp);
    }
    if (ferror(fp))
        return LN_FAIL(LN_IO, "cannot write tensors: %s", strerror(errno));
    return LN_OK;
}
