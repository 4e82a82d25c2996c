// SPDX-License-Identifier: Apache-2.0
// The elements of .npy files. Each is taken from its place, whatever the order, byte by byte: what
// a file says is checked before memory is taken.

#include "npy.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "file_bytes.h"
#include "npy_header.h"
#include "npy_types.h"
#include "utf8.h"

#define MAX_STRING_BYTES ((uint64_t)1 << 32) // of all elements of an array of strings, when written

int npy_is(const char *bytes, size_t count)
{
    return count >= NPY_MAGIC_SIZE && memcmp(bytes, NPY_MAGIC, NPY_MAGIC_SIZE) == 0;
}

// ---- Reading ----

// Where element `index` in C order is in a file in Fortran order.
static size_t fortran_index(const npy_header *h, size_t index)
{
    size_t place = 0, stride = 1, coords[TL_MAXDIM];
    for (int i = h->ndim - 1; i >= 0; i--) {
        coords[i] = index % (size_t)h->dims[i];
        index /= (size_t)h->dims[i];
    }
    for (int i = 0; i < h->ndim; i++) {
        place += coords[i] * stride;
        stride *= (size_t)h->dims[i];
    }
    return place;
}

// `size` bytes, each group of `unit` of them turned round.
static void copy_swapped(char *to, const char *from, size_t size, size_t unit)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[i / unit * unit + unit - 1 - i % unit];
}

static void fill_numbers(tl_tensor *tensor, const npy_header *h, const char *data)
{
    size_t size = h->elem_size, unit = h->kind == 'c' ? size / 2 : size;
    int is_swapped = h->is_big_endian && unit > 1;
    if (!is_swapped && !h->is_fortran_order && tensor->dtype != TL_BOOL) {
        memcpy(tensor->data, data, (size_t)h->len * size);
        return;
    }
    for (size_t i = 0; i < (size_t)h->len; i++) {
        const char *from = data + (h->is_fortran_order ? fortran_index(h, i) : i) * size;
        if (tensor->dtype == TL_BOOL)
            ((tl_bool *)tensor->data)[i] = *from != 0;
        else if (is_swapped)
            copy_swapped((char *)tensor->data + i * size, from, size, unit);
        else
            memcpy((char *)tensor->data + i * size, from, size);
    }
}

// The type in memory: a V of n bytes is an unsigned integer of n bytes.
static tl_dtype dtype_of(const npy_header *h)
{
    if (h->kind == 'S' || h->kind == 'U')
        return TL_STRING;
    const npy_type *type = npy_type_named(h->kind == 'V' ? 'u' : h->kind, h->elem_size);
    return type ? type->dtype : TL_DTYPE_INVALID;
}

// Code points in UTF-8; their number of bytes in *out_len.
static ln_status decode_wide(const char *path, const npy_header *h, const char *from, char *text,
                             size_t *out_len)
{
    size_t len = 0;
    for (size_t i = 0; i < h->elem_size; i += 4) {
        const unsigned char *c = (const unsigned char *)from + i;
        uint32_t code = h->is_big_endian ? (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 |
                                               (uint32_t)c[2] << 8 | (uint32_t)c[3]
                                         : (uint32_t)c[3] << 24 | (uint32_t)c[2] << 16 |
                                               (uint32_t)c[1] << 8 | (uint32_t)c[0];
        size_t count = utf8_encode(code, text + len);
        if (count == 0)
            return LN_FAIL(LN_SYNTAX, "%s: a string holds %#x, which is no character", path,
                           (unsigned)code);
        len += count;
    }
    *out_len = len;
    return LN_OK;
}

static ln_status fill_strings(const char *path, ln_object *object, const npy_header *h,
                              const char *data)
{
    char *text = malloc(h->elem_size + 4);
    if (!text)
        return LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", path);
    ln_status status = LN_OK;
    for (size_t i = 0; i < (size_t)h->len && status == LN_OK; i++) {
        const char *from = data + (h->is_fortran_order ? fortran_index(h, i) : i) * h->elem_size;
        const char *bytes = from;
        size_t len = h->elem_size;
        if (h->kind == 'U') {
            status = decode_wide(path, h, from, text, &len);
            bytes = text;
        }
        while (len > 0 && bytes[len - 1] == '\0') // NumPy fills up with these
            len--;
        if (status == LN_OK && len > 0)
            status = ln_object_set_string(object, i, bytes, len);
    }
    free(text);
    return status;
}

ln_status npy_parse(const char *path, const char *bytes, size_t count, ln_object **out_object)
{
    *out_object = NULL;
    npy_header h;
    LN_TRY(npy_header_parse(path, bytes, count, &h));
    tl_dtype dtype = dtype_of(&h);
    if (dtype == TL_DTYPE_INVALID)
        return LN_FAIL(LN_UNSUPPORTED, "%s: elements of type '%c%zu' are not supported", path,
                       h.kind, h.elem_size);
    // Before anything is allocated: a header of a few bytes may ask for all memory. Strings of no
    // width take no bytes, so their number is held in check here.
    uint64_t needed = (uint64_t)h.len * h.elem_size;
    if (needed != count - h.data_start || (h.elem_size == 0 && h.len > (1 << 20)))
        return LN_FAIL(LN_INVALID, "%s holds %zu bytes of data where %llu are needed", path,
                       count - h.data_start, (unsigned long long)needed);
    ln_object *object = ln_object_new_tensor(dtype, h.ndim, h.dims, NULL);
    if (!object)
        return ln_error_status();
    ln_status status = LN_OK;
    if (dtype == TL_STRING)
        status = fill_strings(path, object, &h, bytes + h.data_start);
    else
        fill_numbers(ln_object_tensor(object), &h, bytes + h.data_start);
    if (status != LN_OK) {
        ln_object_release(object);
        return status;
    }
    *out_object = object;
    return LN_OK;
}

// ---- Writing ----

#define MAX_WRITTEN_HEADER 320

static const char *string_at(const tl_tensor *tensor, int index)
{
    const char *text = ((const char *const *)tensor->data)[index];
    return text ? text : "";
}

// Characters of the longest string, at least 1: NumPy reads none of width 0.
static size_t widest(const tl_tensor *tensor)
{
    size_t most = 1;
    for (int i = 0; i < tensor->len; i++) {
        size_t count = 0;
        for (const char *text = string_at(tensor, i); *text; count++)
            utf8_decode(&text);
        most = count > most ? count : most;
    }
    return most;
}

// Fills in the header, whose size is a multiple of 64, and returns it.
static size_t make_header(const tl_tensor *tensor, const char *descr,
                          char header[MAX_WRITTEN_HEADER])
{
    char *dict = header + NPY_MAGIC_SIZE + 4;
    size_t room = MAX_WRITTEN_HEADER - NPY_MAGIC_SIZE - 4;
    size_t used =
        (size_t)snprintf(dict, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < tensor->ndim; i++)
        used += (size_t)snprintf(dict + used, room - used, "%d,", tensor->dims[i]);
    used += (size_t)snprintf(dict + used, room - used, "), }");

    size_t size = (NPY_MAGIC_SIZE + 4 + used + 1 + 63) / 64 * 64;
    size_t dict_size = size - NPY_MAGIC_SIZE - 4;
    memset(dict + used, ' ', dict_size - used);
    dict[dict_size - 1] = '\n';
    memcpy(header, NPY_MAGIC "\x01\x00", NPY_MAGIC_SIZE + 2);
    header[NPY_MAGIC_SIZE + 2] = (char)(dict_size & 0xff);
    header[NPY_MAGIC_SIZE + 3] = (char)(dict_size >> 8);
    return size;
}

static int write_string(FILE *file, const char *text, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        uint32_t code = *text ? utf8_decode(&text) : 0;
        unsigned char bytes[4] = {(unsigned char)code, (unsigned char)(code >> 8),
                                  (unsigned char)(code >> 16), 0};
        if (fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes)
            return 0;
    }
    return 1;
}

static int write_elements(FILE *file, const tl_tensor *tensor, size_t width)
{
    if (tensor->dtype == TL_STRING) {
        int is_written = 1;
        for (int i = 0; i < tensor->len && is_written; i++)
            is_written = write_string(file, string_at(tensor, i), width);
        return is_written;
    }
    size_t size = tl_tensor_size(tensor);
    if (tensor->dtype != TL_BOOL)
        return size == 0 || fwrite(tensor->data, 1, size, file) == size;
    for (int i = 0; i < tensor->len; i++) {
        if (fputc(((const tl_bool *)tensor->data)[i] != 0, file) == EOF)
            return 0;
    }
    return 1;
}

ln_status npy_write(const char *path, const tl_tensor *tensor)
{
    const npy_type *type = npy_type_of(tensor->dtype);
    if (!type)
        return LN_FAIL(LN_UNSUPPORTED, "%s: a %s is no array of elements", path,
                       tl_dtype_title(tensor->dtype));
    size_t width = tensor->dtype == TL_STRING ? widest(tensor) : 0;
    char descr[32];
    snprintf(descr, sizeof descr, "%s", type->descr);
    if (width)
        snprintf(descr, sizeof descr, "<U%zu", width);
    if (width > MAX_STRING_BYTES / 4 / ((uint64_t)tensor->len + 1))
        return LN_FAIL(LN_LIMIT,
                       "%s: %d strings as long as the longest, %zu characters, are too much", path,
                       tensor->len, width);
    char header[MAX_WRITTEN_HEADER];
    size_t header_size = make_header(tensor, descr, header);
    FILE *file = fopen(path, "wb");
    if (!file)
        return LN_FAIL(LN_IO, "cannot open %s: %s", path, strerror(errno));
    int is_written =
        fwrite(header, 1, header_size, file) == header_size && write_elements(file, tensor, width);
    if (fclose(file) == 0 && is_written)
        return LN_OK;
    ln_status status = LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    file_discard(path);
    return status;
}
