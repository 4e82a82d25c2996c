// SPDX-License-Identifier: Apache-2.0
// Tensors from and to files. The .npy format is described in NumPy's numpy.lib.format.

#include "tensor_input.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "file_bytes.h"

#define NPY_MAGIC      "\x93NUMPY"
#define NPY_MAGIC_SIZE 6

#define PARAMS_MAGIC      "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7"
#define PARAMS_MAGIC_SIZE 8

// The .npy names of the types; a bool is one byte there, four in memory.
static const struct {
    const char *descr;
    tl_dtype dtype;
} npy_types[] = {
    {"<f8", TL_DOUBLE}, {"<f4", TL_FLOAT}, {"<i8", TL_INT64},  {"<i4", TL_INT32},
    {"<i2", TL_INT16},  {"|i1", TL_INT8},  {"<u8", TL_UINT64}, {"<u4", TL_UINT32},
    {"<u2", TL_UINT16}, {"|u1", TL_UINT8}, {"|b1", TL_BOOL},
};

// ---- .npy ----

typedef struct npy_header {
    tl_dtype dtype;
    int ndim;
    int dims[LN_MAXDIM];
    size_t data_start;
} npy_header;

// The text behind `'key':` in the header's dictionary; NULL if there is none.
static const char *npy_member(const char *header, const char *key)
{
    const char *found = strstr(header, key);
    if (!found)
        return NULL;
    found += strlen(key);
    while (*found == ' ' || *found == ':')
        found++;
    return found;
}

// The type of `descr`, which begins with a quote; the byte order of a single byte says nothing.
static tl_dtype npy_dtype(const char *descr)
{
    char text[5] = "";
    strncat(text, descr, 4);
    for (size_t i = 0; text[0] && i < sizeof npy_types / sizeof npy_types[0]; i++) {
        const char *known = npy_types[i].descr;
        if (strcmp(text + 1, known) == 0 ||
            (known[0] == '|' && text[1] && strcmp(text + 2, known + 1) == 0))
            return npy_types[i].dtype;
    }
    return TL_DTYPE_INVALID;
}

static ln_status npy_parse_shape(const char *path, const char *text, npy_header *h)
{
    if (*text++ != '(')
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header has no shape", path);
    for (;;) {
        while (*text == ' ' || *text == ',')
            text++;
        if (*text == ')')
            return LN_OK;
        char *end;
        errno = 0;
        long dim = strtol(text, &end, 10);
        if (end == text || errno || dim < 0 || dim > INT32_MAX)
            return LN_FAIL(LN_SYNTAX, "%s: the .npy header has a bad shape", path);
        if (h->ndim == LN_MAXDIM)
            return LN_FAIL(LN_LIMIT, "%s: more than %d dimensions", path, LN_MAXDIM);
        h->dims[h->ndim++] = (int)dim;
        text = end;
    }
}

static ln_status npy_parse(const char *path, const char *bytes, size_t count, npy_header *h)
{
    *h = (npy_header){.dtype = TL_DTYPE_INVALID};
    size_t length_bytes = count > 7 && bytes[6] >= 2 ? 4 : 2;
    if (count < 8 + length_bytes)
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header is cut off", path);
    size_t header_len = 0;
    for (size_t i = 0; i < length_bytes; i++)
        header_len |= (size_t)(unsigned char)bytes[8 + i] << (8 * i);
    h->data_start = 8 + length_bytes + header_len;
    if (header_len > 65536 || h->data_start > count)
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header is cut off", path);

    char header[65537];
    memcpy(header, bytes + 8 + length_bytes, header_len);
    header[header_len] = '\0';

    const char *descr = npy_member(header, "'descr'");
    const char *order = npy_member(header, "'fortran_order'");
    const char *shape = npy_member(header, "'shape'");
    if (!descr || !order || !shape)
        return LN_FAIL(LN_SYNTAX, "%s: the .npy header lacks descr, fortran_order or shape", path);
    if (strncmp(order, "False", 5) != 0)
        return LN_FAIL(LN_UNSUPPORTED, "%s is in Fortran order; save numpy.ascontiguousarray(x)",
                       path);
    h->dtype = npy_dtype(descr);
    if (h->dtype == TL_DTYPE_INVALID)
        return LN_FAIL(LN_UNSUPPORTED, "%s: elements of type %.6s are not supported", path, descr);
    return npy_parse_shape(path, shape, h);
}

// A bool is one byte in files.
static size_t file_elem_size(tl_dtype dtype)
{
    return dtype == TL_BOOL ? 1 : (size_t)tl_size_of(dtype);
}

static ln_status from_packed(const char *path, const char *data, size_t byte_count, int ndim,
                             const int *dims, tl_dtype dtype, tl_tensor **out_tensor)
{
    // Before anything is allocated: a header of a few bytes may ask for all memory.
    int len = ln_compute_length(ndim, dims);
    if (len < 0)
        return ln_fail_prefix("%s", path);
    size_t needed = (size_t)len * file_elem_size(dtype);
    if (byte_count != needed)
        return LN_FAIL(LN_INVALID, "%s holds %zu bytes of data where %zu are needed", path,
                       byte_count, needed);
    tl_tensor *tensor = tl_tensor_zeros(ndim, dims, dtype);
    if (!tensor)
        return ln_error_status();
    if (dtype == TL_BOOL) {
        for (int i = 0; i < tensor->len; i++)
            ((tl_bool *)tensor->data)[i] = data[i] != 0;
    } else {
        memcpy(tensor->data, data, needed);
    }
    *out_tensor = tensor;
    return LN_OK;
}

static int begins_as_npy(const char *bytes, size_t count)
{
    return count >= NPY_MAGIC_SIZE && memcmp(bytes, NPY_MAGIC, NPY_MAGIC_SIZE) == 0;
}

static ln_status npy_to_tensor(const char *path, const char *bytes, size_t count,
                               tl_tensor **out_tensor)
{
    npy_header h;
    LN_TRY(npy_parse(path, bytes, count, &h));
    return from_packed(path, bytes + h.data_start, count - h.data_start, h.ndim, h.dims, h.dtype,
                       out_tensor);
}

int is_npy(const char *path)
{
    char bytes[NPY_MAGIC_SIZE];
    return begins_as_npy(bytes, file_peek(path, bytes, sizeof bytes));
}

ln_status npy_read(const char *path, tl_tensor **out_tensor)
{
    *out_tensor = NULL;
    char *bytes;
    size_t count;
    LN_TRY(file_read(path, &bytes, &count));
    ln_status status = begins_as_npy(bytes, count) ? npy_to_tensor(path, bytes, count, out_tensor)
                                                   : LN_FAIL(LN_SYNTAX, "%s is no .npy file", path);
    free(bytes);
    return status;
}

// ---- Reading ----

static ln_status read_tensor_file(const char *path, const char *name, tl_tensor **out_tensor)
{
    ln_tensor_file *file;
    LN_TRY(ln_tensor_file_open(path, &file));
    int index = ln_tensor_file_find(file, name);
    if (index < 0 && ln_tensor_file_count(file) == 1)
        index = 0;
    const tl_tensor *found = ln_tensor_file_describe(file, index);
    ln_status status = LN_OK;
    if (!found)
        status = LN_FAIL(LN_NOT_FOUND, "%s holds no tensor '%s'", path, name);
    else if (!(*out_tensor = tl_tensor_zeros(found->ndim, found->dims, found->dtype)))
        status = ln_error_status();
    else
        status = ln_tensor_file_read(file, index, (*out_tensor)->data);
    ln_tensor_file_close(file);
    return status;
}

// Only by content that raw bytes hardly have: a .wts file may be a text of digits.
static int is_tensor_file(const char *bytes, size_t count)
{
    return count > 9 && (bytes[8] == '{' || memcmp(bytes, PARAMS_MAGIC, PARAMS_MAGIC_SIZE) == 0);
}

static ln_status read_any(const char *path, const char *name, const tl_tensor *like,
                          tl_tensor **out_tensor)
{
    char *bytes;
    size_t count;
    LN_TRY(file_read(path, &bytes, &count));
    ln_status status;
    size_t raw_size = (size_t)like->len * file_elem_size(like->dtype);
    if (begins_as_npy(bytes, count)) {
        status = npy_to_tensor(path, bytes, count, out_tensor);
    } else if (is_tensor_file(bytes, count) && count != raw_size) {
        status = read_tensor_file(path, name, out_tensor);
    } else {
        status = from_packed(path, bytes, count, like->ndim, like->dims, like->dtype, out_tensor);
    }
    free(bytes);
    return status;
}

ln_status tensor_read(const char *path, const char *name, const tl_tensor *like,
                      tl_tensor **out_tensor)
{
    *out_tensor = NULL;
    tl_tensor *tensor = NULL;
    LN_TRY(read_any(path, name, like, &tensor));
    if (tensor->len != like->len) {
        char got[128], wanted[128];
        ln_sprint_shape(got, sizeof got, tensor->ndim, tensor->dims);
        ln_sprint_shape(wanted, sizeof wanted, like->ndim, like->dims);
        tl_tensor_free_data_too(tensor);
        return LN_FAIL(LN_INVALID, "%s has shape %s, input '%s' takes %s", path, got, name, wanted);
    }
    if (tensor->dtype != like->dtype) {
        say_info("%s: converted from %s to %s", path, tl_dtype_name(tensor->dtype),
                 tl_dtype_name(like->dtype));
        tl_tensor *converted = tl_tensor_convert(tensor, NULL, like->dtype);
        tl_tensor_free_data_too(tensor);
        if (!converted)
            return ln_error_status();
        tensor = converted;
    }
    *out_tensor = tensor;
    return LN_OK;
}

// ---- Inputs of a model ----

ln_status tensor_input_find(const ln_context *ctx, const char *text, const ln_tensor_entry **out,
                            const char **out_path)
{
    size_t count = ln_context_input_count(ctx);
    const char *equals = strchr(text, '=');
    *out_path = equals ? equals + 1 : text;
    *out = NULL;
    size_t name_len = equals ? (size_t)(equals - text) : 0;
    if (!equals) {
        if (count != 1)
            return ln_fail(LN_INVALID, "the model has %zu inputs, so say which: -i NAME=%s", count,
                           text);
        *out = ln_context_input(ctx, 0);
        return LN_OK;
    }
    for (size_t i = 0; i < count && !*out; i++) {
        const ln_tensor_entry *entry = ln_context_input(ctx, i);
        if (strlen(entry->name) == name_len && strncmp(entry->name, text, name_len) == 0)
            *out = entry;
    }
    char *end;
    unsigned long position = strtoul(text, &end, 10);
    if (!*out && end == equals && end != text)
        *out = ln_context_input(ctx, position);
    if (*out)
        return LN_OK;

    char known[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s'%s'", used ? ", " : "",
                                 ln_context_input(ctx, i)->name);
    return ln_fail(LN_NOT_FOUND, "the model has no input '%.*s'; it has %s", (int)name_len, text,
                   count ? known : "none");
}

// ---- Writing ----

#define NPY_MAX_HEADER 256

// Fills in the header, whose size is a multiple of 64, and returns it.
static size_t npy_make_header(const tl_tensor *tensor, char header[NPY_MAX_HEADER])
{
    const char *descr = "|u1";
    for (size_t i = 0; i < sizeof npy_types / sizeof npy_types[0]; i++) {
        if (npy_types[i].dtype == tensor->dtype)
            descr = npy_types[i].descr;
    }
    char *dict = header + NPY_MAGIC_SIZE + 4;
    size_t room = NPY_MAX_HEADER - NPY_MAGIC_SIZE - 4;
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

static int npy_write_data(FILE *file, const tl_tensor *tensor)
{
    if (tensor->dtype != TL_BOOL)
        return fwrite(tensor->data, 1, tl_tensor_size(tensor), file) == tl_tensor_size(tensor);
    for (int i = 0; i < tensor->len; i++) {
        if (fputc(((const tl_bool *)tensor->data)[i] != 0, file) == EOF)
            return 0;
    }
    return 1;
}

ln_status npy_write(const char *path, const tl_tensor *tensor)
{
    char header[NPY_MAX_HEADER];
    size_t header_size = npy_make_header(tensor, header);
    FILE *file = fopen(path, "wb");
    if (!file)
        return LN_FAIL(LN_IO, "cannot open %s: %s", path, strerror(errno));
    int is_written =
        fwrite(header, 1, header_size, file) == header_size && npy_write_data(file, tensor);
    if (fclose(file) != 0 || !is_written)
        return LN_FAIL(LN_IO, "cannot write %s: %s", path, strerror(errno));
    return LN_OK;
}
