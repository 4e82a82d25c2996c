// SPDX-License-Identifier: Apache-2.0
// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, keys in any order. The format
// is described in NumPy's numpy.lib.format.

#include "npy_header.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"

#define MAX_HEADER 65536

// A text that ends with a NUL, and how far it has been read.
typedef struct reader {
    const char *path;
    const char *at;
} reader;

static ln_status malformed(const reader *r, const char *what)
{
    return LN_FAIL(LN_SYNTAX, "%s: the .npy header has %s at '%.20s'", r->path, what, r->at);
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

// Passes over `c`, with blanks around it, if it stands there.
static int take(reader *r, char c)
{
    skip_blanks(r);
    if (*r->at != c)
        return 0;
    r->at++;
    skip_blanks(r);
    return 1;
}

// A text in quotes of either kind, without any escape.
static ln_status parse_string(reader *r, char *out_text, size_t size)
{
    skip_blanks(r);
    char quote = *r->at;
    if (quote != '\'' && quote != '"')
        return malformed(r, "no text in quotes");
    const char *end = strchr(r->at + 1, quote);
    size_t len = end ? (size_t)(end - r->at) - 1 : size;
    if (len >= size)
        return malformed(r, "a text that is too long");
    memcpy(out_text, r->at + 1, len);
    out_text[len] = '\0';
    r->at = end + 1;
    return LN_OK;
}

// "<f4": byte order, kind, bytes of an element; of strings of kind U, characters of 4 bytes.
static ln_status parse_descr(reader *r, npy_header *h)
{
    skip_blanks(r);
    if (*r->at == '[')
        return LN_FAIL(LN_UNSUPPORTED, "%s: elements with fields are not supported; save one field",
                       r->path);
    char text[32];
    LN_TRY(parse_string(r, text, sizeof text));
    char order = text[0], kind = order ? text[1] : '\0';
    if (kind == 'O')
        return LN_FAIL(LN_UNSUPPORTED,
                       "%s holds Python objects, which are not supported; for strings save "
                       "x.astype(str)",
                       r->path);
    if (!order || !strchr("<>|=", order) || !kind || !strchr("fiubcSUV", kind))
        return LN_FAIL(LN_UNSUPPORTED, "%s: elements of type '%s' are not supported", r->path,
                       text);
    char *end;
    errno = 0;
    unsigned long size = strtoul(text + 2, &end, 10);
    if (text[2] < '0' || text[2] > '9' || *end || errno || size > INT32_MAX / 4)
        return LN_FAIL(LN_UNSUPPORTED, "%s: elements of type '%s' are not supported", r->path,
                       text);
    h->kind = kind;
    h->elem_size = kind == 'U' ? 4 * size : size;
    h->is_big_endian = order == '>';
    return LN_OK;
}

static ln_status parse_order(reader *r, npy_header *h)
{
    skip_blanks(r);
    h->is_fortran_order = strncmp(r->at, "True", 4) == 0;
    if (!h->is_fortran_order && strncmp(r->at, "False", 5) != 0)
        return malformed(r, "neither True nor False");
    r->at += h->is_fortran_order ? 4 : 5;
    return LN_OK;
}

static ln_status parse_shape(reader *r, npy_header *h)
{
    if (!take(r, '('))
        return malformed(r, "no shape");
    while (!take(r, ')')) {
        char *end;
        errno = 0;
        long dim = strtol(r->at, &end, 10);
        if (*r->at < '0' || *r->at > '9' || errno || dim > INT32_MAX)
            return malformed(r, "a bad shape");
        if (h->ndim == TL_MAXDIM)
            return LN_FAIL(LN_LIMIT, "%s: more than %d dimensions", r->path, TL_MAXDIM);
        h->dims[h->ndim++] = (int)dim;
        r->at = *end == 'L' ? end + 1 : end; // as Python 2 wrote long numbers
        if (!take(r, ',') && *r->at != ')')
            return malformed(r, "a bad shape");
    }
    return LN_OK;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static ln_status parse_member(reader *r, npy_header *h, unsigned *seen)
{
    char key[32];
    LN_TRY(parse_string(r, key, sizeof key));
    unsigned which = strcmp(key, "descr") == 0           ? HAS_DESCR
                     : strcmp(key, "fortran_order") == 0 ? HAS_ORDER
                     : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                                         : 0;
    if (!which || *seen & which)
        return malformed(r, "an unknown or second key");
    if (!take(r, ':'))
        return malformed(r, "no colon");
    *seen |= which;
    return which == HAS_DESCR   ? parse_descr(r, h)
           : which == HAS_ORDER ? parse_order(r, h)
                                : parse_shape(r, h);
}

static ln_status parse_dictionary(reader *r, npy_header *h)
{
    unsigned seen = 0;
    if (!take(r, '{'))
        return malformed(r, "no dictionary");
    while (!take(r, '}')) {
        LN_TRY(parse_member(r, h, &seen));
        if (!take(r, ',') && *r->at != '}')
            return malformed(r, "no comma");
    }
    if (*r->at)
        return malformed(r, "more than a dictionary");
    if (seen != HAS_ALL)
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header lacks descr, fortran_order or shape",
                       r->path);
    return LN_OK;
}

// Where the dictionary is.
static ln_status find_dictionary(const char *path, const unsigned char *bytes, size_t count,
                                 size_t *out_start, size_t *out_size)
{
    if (count < NPY_MAGIC_SIZE + 4)
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header is cut off", path);
    unsigned version = bytes[NPY_MAGIC_SIZE];
    if (version < 1 || version > 3)
        return LN_FAIL(LN_UNSUPPORTED, "%s: version %u of .npy is not supported", path, version);
    size_t length_at = NPY_MAGIC_SIZE + 2, start = length_at + (version == 1 ? 2 : 4);
    if (count < start)
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header is cut off", path);
    size_t size = version == 1 ? little16(bytes + length_at) : little32(bytes + length_at);
    if (size > MAX_HEADER || !is_within(start, size, count))
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header is cut off", path);
    if (memchr(bytes + start, '\0', size))
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header holds a NUL", path);
    *out_start = start;
    *out_size = size;
    return LN_OK;
}

ln_status npy_header_parse(const char *path, const char *bytes, size_t count, npy_header *out)
{
    *out = (npy_header){0};
    size_t start, size;
    LN_TRY(find_dictionary(path, (const unsigned char *)bytes, count, &start, &size));
    char *text = malloc(size + 1);
    if (!text)
        return LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", path);
    memcpy(text, bytes + start, size);
    text[size] = '\0';
    reader r = {.path = path, .at = text};
    ln_status status = parse_dictionary(&r, out);
    free(text);
    LN_TRY(status);
    out->data_start = start + size;
    out->len = tl_compute_length(out->ndim, out->dims);
    return out->len < 0 ? ln_fail_prefix("%s", path) : LN_OK;
}
