// SPDX-License-Identifier: Apache-2.0
// Numbers in text: cut into words, each judged by the grammar before the C library reads it.

#include "number_text.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <lightnet/allocator.h>

static bool is_separator(char c)
{
    return c == '\0' || strchr(" \t\r\n\v\f,;!|[](){}<>", c);
}

// ---- Words ----

typedef struct scanner {
    char *next;
    char *end;
    int line;
} scanner;

// The start of the next word, which ends at s->next; NULL at the end.
static char *next_word(scanner *s)
{
    while (s->next < s->end && is_separator(*s->next)) {
        s->line += *s->next == '\n';
        s->next++;
    }
    if (s->next == s->end)
        return NULL;
    char *word = s->next;
    while (s->next < s->end && !is_separator(*s->next))
        s->next++;
    return word;
}

static void note_word(word_note *note, const char *word, size_t len, int line)
{
    if (note->count++ > 0)
        return;
    note->line = line;
    len = len < sizeof note->word ? len : sizeof note->word - 1;
    memcpy(note->word, word, len);
    note->word[len] = '\0';
}

// ---- Numbers ----

static const char *skip_digits(const char *c, bool *io_has_digits)
{
    while (*c >= '0' && *c <= '9') {
        *io_has_digits = true;
        c++;
    }
    return c;
}

// Sign, digits with or without a point, exponent; or inf, infinity, nan. The C library would take
// hexadecimal numbers and "nan(...)" as well.
static bool is_number(const char *word)
{
    word += *word == '-' || *word == '+';
    if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0 ||
        strcasecmp(word, "nan") == 0)
        return true;
    bool has_digits = false, has_exponent = true;
    word = skip_digits(word, &has_digits);
    word = skip_digits(word + (*word == '.'), &has_digits);
    if (*word == 'e' || *word == 'E') {
        word++;
        has_exponent = false;
        word = skip_digits(word + (*word == '-' || *word == '+'), &has_exponent);
    }
    return has_digits && has_exponent && *word == '\0';
}

// ---- The array ----

typedef struct array {
    tl_dtype dtype;
    char *data;
    size_t count;
    size_t capacity;
} array;

static ln_status reserve(array *a)
{
    if (a->count < a->capacity)
        return LN_OK;
    size_t capacity = a->capacity ? 2 * a->capacity : 64;
    char *data = ln_realloc(a->data, capacity * tl_size_of(a->dtype));
    if (!data)
        return LN_NO_MEMORY;
    a->data = data;
    a->capacity = capacity;
    return LN_OK;
}

// Appends the number `word`; *out_fits says whether the type holds it.
static ln_status append(array *a, const char *word, bool *out_fits)
{
    LN_TRY(reserve(a));
    if (a->dtype == TL_FLOAT) {
        float value = strtof(word, NULL);
        ((float *)(void *)a->data)[a->count++] = value;
        *out_fits = !isinf(value) || strpbrk(word, "iI");
        return LN_OK;
    }
    double value = strtod(word, NULL);
    int8_t *to = (int8_t *)a->data + a->count++;
    (void)tl_convert(to, TL_INT8, &value, TL_DOUBLE);
    *out_fits = *to == value;
    return LN_OK;
}

static ln_status append_all(array *a, char *text, size_t len, number_notes *notes)
{
    scanner s = {.next = text, .end = text + len, .line = 1};
    for (char *word; (word = next_word(&s));) {
        size_t word_len = (size_t)(s.next - word);
        int is_line_end = *s.next == '\n';
        bool fits;
        *s.next = '\0';
        if (!is_number(word)) {
            note_word(&notes->no_numbers, word, word_len, s.line);
        } else {
            LN_TRY(append(a, word, &fits));
            if (!fits)
                note_word(&notes->unfit, word, word_len, s.line);
        }
        s.line += is_line_end;
    }
    return a->count <= INT_MAX ? LN_OK : LN_FAIL(LN_LIMIT, "%zu numbers are too many", a->count);
}

ln_status numbers_parse(char *text, size_t len, tl_dtype dtype, tl_tensor **out_tensor,
                        number_notes *out_notes)
{
    *out_tensor = NULL;
    *out_notes = (number_notes){0};
    array a = {.dtype = dtype};
    ln_status status = append_all(&a, text, len, out_notes);
    if (status == LN_OK) {
        *out_tensor = a.count > 0 ? tl_tensor_create(a.data, 1, (int[]){(int)a.count}, dtype)
                                  : tl_tensor_zeros(1, (int[]){0}, dtype);
        status = *out_tensor ? LN_OK : ln_error_status();
    }
    if (status != LN_OK)
        ln_free(a.data);
    return status;
}
