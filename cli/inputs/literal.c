// SPDX-License-Identifier: Apache-2.0
// One pass over the text counts and one fills; lists in lists give the shape of an array.

#include "literal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#define FILL           "fill:"
#define MAX_TEXT       65536 // bytes of a list; more is a file's task
#define MAX_EXACT_REAL 9007199254740992.0

typedef struct literal {
    const char *at;
    int ndim; // of the first element found; -1: none yet
    int dims[TL_MAXDIM];
    double *numbers; // NULL: counting only
    size_t count;
    const char *fault; // the first; NULL: none
} literal;

// 0: the text is not a value, for this reason, unless there is one already.
static int fail(literal *l, const char *fault)
{
    if (!l->fault)
        l->fault = fault;
    return 0;
}

static void skip_blanks(literal *l)
{
    l->at += strspn(l->at, " \t");
}

static int take_word(literal *l, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(l->at, word, len) != 0)
        return 0;
    l->at += len;
    return 1;
}

// A number, true or false.
static int take_number(literal *l)
{
    double number;
    if (take_word(l, "true")) {
        number = 1;
    } else if (take_word(l, "false")) {
        number = 0;
    } else {
        char *end;
        if (!strchr("+-.0123456789", *l->at) && strncmp(l->at, "nan", 3) != 0 &&
            strncmp(l->at, "inf", 3) != 0)
            return fail(l, "a number is expected");
        number = strtod(l->at, &end);
        if (end == l->at)
            return fail(l, "a number is expected");
        if (isinf(number) && !memchr(l->at, 'i', (size_t)(end - l->at)) &&
            !memchr(l->at, 'I', (size_t)(end - l->at)))
            return fail(l, "the number is beyond float64");
        l->at = end;
    }
    if (l->numbers)
        l->numbers[l->count] = number;
    l->count++;
    return 1;
}

// An element at this depth: all are as deep, and all lists of a depth as long.
static int take_value(literal *l, int depth)
{
    skip_blanks(l);
    if (*l->at != '[') {
        if (l->ndim < 0)
            l->ndim = depth;
        return l->ndim == depth ? take_number(l) : fail(l, "numbers and lists stand side by side");
    }
    if (depth == TL_MAXDIM)
        return fail(l, "lists are nested too deep");
    if (l->ndim >= 0 && depth >= l->ndim)
        return fail(l, "numbers and lists stand side by side");
    int is_first = l->ndim < 0 || l->dims[depth] < 0, count = 0;
    l->at++;
    do {
        if (!take_value(l, depth + 1))
            return 0;
        count++;
        skip_blanks(l);
    } while (take_word(l, ","));
    if (is_first)
        l->dims[depth] = count;
    if (!take_word(l, "]"))
        return fail(l, "a comma or ] is expected");
    return l->dims[depth] == count || fail(l, "lists side by side differ in length");
}

static int scan(const char *text, literal *l)
{
    l->at = text;
    l->ndim = -1;
    l->count = 0;
    l->fault = NULL;
    for (int i = 0; i < TL_MAXDIM; i++)
        l->dims[i] = -1;
    if (!*text || !take_value(l, 0))
        return 0;
    skip_blanks(l);
    return !*l->at || fail(l, "more follows the value");
}

static const char *without_fill(const char *text)
{
    return strncmp(text, FILL, strlen(FILL)) == 0 ? text + strlen(FILL) : text;
}

int literal_is(const char *text)
{
    literal l = {.numbers = NULL};
    const char *value = without_fill(text);
    return strlen(text) < MAX_TEXT && scan(value, &l) && (value == text || l.ndim == 0);
}

const char *literal_fault(const char *text, char *buffer, size_t size)
{
    literal l = {.numbers = NULL};
    const char *value = without_fill(text);
    if ((*text != '[' && value == text) || literal_is(text))
        return NULL;
    if (strlen(text) >= MAX_TEXT)
        snprintf(buffer, size, "a value in words has at most %d bytes", MAX_TEXT - 1);
    else if (scan(value, &l))
        snprintf(buffer, size, "fill: takes one number");
    else
        snprintf(buffer, size, *value && *l.at ? "%s at '%.20s'" : "%s at the end",
                 l.fault ? l.fault : "a number is expected", l.at);
    return buffer;
}

static ln_status check_number(const input_wish *wish, double number)
{
    if (TL_DTYPE_IS_NARROW(wish->dtype) || wish->dtype == TL_FLOAT || wish->dtype == TL_DOUBLE)
        return LN_OK;
    char elem[16] = "";
    double back = NAN;
    (void)tl_convert(elem, wish->dtype, &number, TL_DOUBLE);
    (void)tl_convert(&back, TL_DOUBLE, elem, wish->dtype);
    if (back == number && fabs(number) <= MAX_EXACT_REAL)
        return LN_OK;
    return LN_FAIL(LN_INVALID, "input '%s' is %s, which does not hold %.17g", wish->name,
                   tl_dtype_title(wish->dtype), number);
}

static ln_status make(const literal *l, const input_wish *wish, int is_fill, ln_object **out_object)
{
    int ndim = is_fill ? wish->ndim : l->ndim;
    const int *dims = is_fill ? wish->dims : l->dims;
    for (size_t i = 0; i < l->count; i++)
        LN_TRY(check_number(wish, l->numbers[i]));
    LN_TRY(input_check_floats("the value", wish, TL_DOUBLE, l->numbers, l->count));
    ln_object *object = ln_object_new_tensor(wish->dtype, ndim, dims, NULL);
    if (!object)
        return ln_error_status();
    tl_tensor *tensor = ln_object_tensor(object);
    for (int i = 0; i < tensor->len; i++)
        (void)tl_convert(tl_padd(tensor->data, i, tl_size_of(wish->dtype)), wish->dtype,
                         &l->numbers[is_fill ? 0 : i], TL_DOUBLE);
    *out_object = object;
    return LN_OK;
}

ln_status literal_parse(const char *text, const input_wish *wish, ln_object **out_object)
{
    *out_object = NULL;
    literal l = {.numbers = NULL};
    const char *value = without_fill(text);
    if (!literal_is(text) || !scan(value, &l))
        return LN_FAIL(LN_INVALID, "'%s' is no number, list or fill:NUMBER", text);
    if (wish->dtype == TL_STRING || wish->dtype == TL_OBJECT || wish->dtype == TL_COMPLEX64 ||
        wish->dtype == TL_COMPLEX128)
        return LN_FAIL(LN_INVALID, "input '%s' takes no numbers; give a file", wish->name);
    if (value != text && !input_wish_is_static(wish))
        return LN_FAIL(LN_INVALID, "-i %s=%s: the input's shape is not known; give it with -s",
                       wish->name, text);
    l.numbers = malloc((l.count + 1) * sizeof *l.numbers);
    if (!l.numbers)
        return LN_FAIL(LN_NO_MEMORY, "out of memory for input '%s'", wish->name);
    scan(value, &l);
    ln_status status = make(&l, wish, value != text, out_object);
    free(l.numbers);
    return status;
}
