// SPDX-License-Identifier: Apache-2.0
// Which kind of file it is, and how its bytes become the value of an input.

#include "input_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "file_bytes.h"
#include "literal.h"
#include "media.h"
#include "npy.h"
#include "npz.h"
#include "pb.h"
#include "picture.h"
#include "wav.h"

#define HEAD_BYTES        4096 // that say what a file is: the head of a PNM holds comments
#define PARAMS_MAGIC      "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7"
#define PARAMS_MAGIC_SIZE 8

// ---- Files of named tensors ----

// Only by content that raw bytes hardly have: a .wts file may be a text of digits.
static int is_tensor_file(const char *bytes, size_t count)
{
    return count > 9 && (bytes[8] == '{' || memcmp(bytes, PARAMS_MAGIC, PARAMS_MAGIC_SIZE) == 0);
}

static ln_status read_tensor_file(const char *path, const char *name, ln_object **out_object)
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
    else if (!(*out_object = ln_object_new_tensor(found->dtype, found->ndim, found->dims, NULL)))
        status = ln_error_status();
    else
        status = ln_tensor_file_read(file, index, ln_object_tensor(*out_object)->data);
    ln_tensor_file_close(file);
    return status;
}

// ---- Raw bytes ----

// A bool is one byte in files.
static size_t file_elem_size(tl_dtype dtype)
{
    return dtype == TL_BOOL ? 1 : tl_size_of(dtype);
}

// The bytes that the input takes; SIZE_MAX if any number of bytes may be meant.
static size_t raw_size(const input_wish *wish)
{
    int len;
    if (!input_wish_is_static(wish) || wish->dtype == TL_STRING ||
        !tl_shape_len(wish->ndim, wish->dims, &len))
        return SIZE_MAX;
    return (size_t)len * file_elem_size(wish->dtype);
}

// The shape that `elem_count` elements have: one open dimension is found by division.
static ln_status complete_shape(const char *path, const input_wish *wish, size_t elem_count,
                                int *out_ndim, int dims[TL_MAXDIM])
{
    size_t known = 1;
    int open_at = -1, open_count = 0;
    *out_ndim = wish->ndim < 0 ? 1 : wish->ndim;
    for (int i = 0; i < *out_ndim; i++) {
        dims[i] = wish->ndim < 0 ? -1 : wish->dims[i];
        if (dims[i] >= 0 && dims[i] != 0 && known > INT32_MAX / (size_t)dims[i])
            return LN_FAIL(LN_LIMIT, "input '%s' is too large", wish->name);
        if (dims[i] >= 0)
            known *= (size_t)dims[i];
        else if (open_count++ == 0)
            open_at = i;
    }
    if (open_count > 1)
        return LN_FAIL(LN_INVALID,
                       "%s has no shape, and input '%s' has %d open dimensions: give it with -s "
                       "%s=1x2x3, or a .npy",
                       path, wish->name, open_count, wish->name);
    if (open_count == 0)
        return LN_OK;
    if (known == 0 || elem_count % known != 0 || elem_count / known > INT32_MAX)
        return LN_FAIL(LN_INVALID, "%s has %zu elements, which do not fill input '%s' by %zu", path,
                       elem_count, wish->name, known);
    dims[open_at] = (int)(elem_count / known);
    return LN_OK;
}

// Whether it was written for people.
static int is_text(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)bytes[i] < ' ' && !memchr("\t\r\n", bytes[i], 3))
            return 0;
    return count > 0;
}

static ln_status from_raw(const char *path, const char *bytes, size_t count, const input_wish *wish,
                          ln_object **out_object)
{
    size_t elem_size = file_elem_size(wish->dtype);
    if (wish->dtype == TL_OBJECT)
        return LN_FAIL(LN_INVALID, "input '%s' takes a sequence or an optional: give a .pb or .npz",
                       wish->name);
    if (!input_wish_is_static(wish) && count % elem_size != 0)
        return LN_FAIL(LN_INVALID, "%s holds %zu bytes, no multiple of the %zu of an element", path,
                       count, elem_size);
    int ndim, dims[TL_MAXDIM];
    LN_TRY(complete_shape(path, wish, count / elem_size, &ndim, dims));
    // Before anything is allocated: a shape may ask for all memory.
    int len = ln_compute_length(ndim, dims);
    if (len < 0)
        return ln_fail_prefix("%s", path);
    if (count != (size_t)len * elem_size)
        return LN_FAIL(LN_INVALID, "%s holds %zu bytes of data where %zu are needed%s", path, count,
                       (size_t)len * elem_size,
                       is_text(bytes, count)
                           ? "; numbers as text are given on the command line, such as -i [1,2,3], "
                             "or in a .npy file"
                       : ln_serializer_for_path(path) ? "; by its name it is a model"
                                                      : "");
    ln_object *object = ln_object_new_tensor(wish->dtype, ndim, dims, NULL);
    if (!object)
        return ln_error_status();
    tl_tensor *tensor = ln_object_tensor(object);
    if (wish->dtype != TL_BOOL && count > 0)
        memcpy(tensor->data, bytes, count);
    for (int i = 0; wish->dtype == TL_BOOL && i < len; i++)
        ((tl_bool *)tensor->data)[i] = bytes[i] != 0;
    *out_object = object;
    return LN_OK;
}

// One string a line.
static ln_status from_lines(const char *path, const char *bytes, size_t count,
                            const input_wish *wish, ln_object **out_object)
{
    size_t line_count = count > 0 && bytes[count - 1] != '\n';
    for (size_t i = 0; i < count; i++)
        line_count += bytes[i] == '\n';
    int ndim, dims[TL_MAXDIM];
    LN_TRY(complete_shape(path, wish, line_count, &ndim, dims));
    int len = ln_compute_length(ndim, dims);
    if (len < 0 || (size_t)len != line_count)
        return LN_FAIL(LN_INVALID, "%s has %zu lines where %d strings are needed", path, line_count,
                       len);
    ln_object *object = ln_object_new_tensor(TL_STRING, ndim, dims, NULL);
    if (!object)
        return ln_error_status();
    ln_status status = LN_OK;
    const char *at = bytes, *end = bytes + count;
    for (size_t i = 0; i < line_count && status == LN_OK; i++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        size_t line = size > 0 && at[size - 1] == '\r' ? size - 1 : size;
        status = ln_object_set_string(object, i, at, line);
        at += size + 1;
    }
    if (status != LN_OK) {
        ln_object_release(object);
        return status;
    }
    *out_object = object;
    return LN_OK;
}

// ---- Any file ----

static int ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), ending_len = strlen(ending);
    return len >= ending_len && strcmp(text + len - ending_len, ending) == 0;
}

static ln_status parse(const char *path, const char *bytes, size_t count, const input_wish *wish,
                       const input_options *options, ln_object **out_object)
{
    if (npy_is(bytes, count))
        return npy_parse(path, bytes, count, out_object);
    if (ends_with(path, ".pb"))
        return pb_parse(path, bytes, count,
                        wish->dtype == TL_OBJECT ? wish->kind : LN_OBJECT_TENSOR, out_object);
    if (count == raw_size(wish))
        return from_raw(path, bytes, count, wish, out_object);
    if (npz_is(bytes, count))
        return npz_parse(path, bytes, count, wish, out_object);
    if (picture_is(bytes, count))
        return picture_read(path, bytes, count, wish, options, out_object);
    if (wav_is(bytes, count))
        return sound_read(path, bytes, count, wish, options, out_object);
    if (is_tensor_file(bytes, count))
        return read_tensor_file(path, wish->name, out_object);
    if (wish->dtype == TL_STRING)
        return from_lines(path, bytes, count, wish, out_object);
    return from_raw(path, bytes, count, wish, out_object);
}

int input_is_picture(const char *path)
{
    char bytes[HEAD_BYTES];
    return picture_is(bytes, file_peek(path, bytes, sizeof bytes));
}

int input_is_sound(const char *path)
{
    char bytes[HEAD_BYTES];
    return wav_is(bytes, file_peek(path, bytes, sizeof bytes));
}

// Whether the bytes of the file are those of the input.
static int is_raw(const char *path, const input_wish *wish)
{
    struct stat info;
    return ends_with(path, ".pb") ||
           (stat(path, &info) == 0 && (size_t)info.st_size == raw_size(wish));
}

int input_is_pixels(const char *path, const input_wish *wish)
{
    return input_is_picture(path) && !is_raw(path, wish) && !picture_stays_encoded(wish);
}

int input_is_samples(const char *path, const input_wish *wish)
{
    return input_is_sound(path) && !is_raw(path, wish);
}

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// Of a word that is no file.
static ln_status fail_no_value(const char *path, const input_wish *wish)
{
    if (wish->dtype == TL_STRING)
        return LN_FAIL(LN_IO,
                       "-i %s=%s is not a file; strings are given as a text file, one a line, or "
                       "as .npy",
                       wish->name, path);
    return LN_FAIL(LN_IO,
                   "-i %s=%s is neither a file nor a value; values are numbers, lists such as "
                   "[1,2] and fill:NUMBER; --zero gives zeros",
                   wish->name, path);
}

ln_status input_read(const char *path, const input_wish *wish, const input_options *options,
                     ln_object **out_object)
{
    static const input_options defaults;
    *out_object = NULL;
    char *bytes;
    size_t count;
    ln_object *object = NULL;
    if (access(path, F_OK) != 0 && literal_is(path)) { // a file of that name goes before
        LN_TRY(literal_parse(path, wish, &object));
        ln_status fits = input_fit("the value", wish, object, out_object);
        ln_object_release(object);
        return fits;
    }
    char fault[128];
    if (!*path)
        return LN_FAIL(LN_INVALID, "-i %s= has neither a file nor a value after it", wish->name);
    if (access(path, F_OK) != 0 && *path == '@' && path[1]) // as curl takes it
        return LN_FAIL(LN_IO, "cannot open %s; a file has no @ before it: -i %s=%s", path,
                       wish->name, path + 1);
    if (access(path, F_OK) != 0 && literal_fault(path, fault, sizeof fault))
        return LN_FAIL(LN_INVALID, "-i %s=%s is neither a file nor a value: %s", wish->name, path,
                       fault);
    if (access(path, F_OK) != 0 && !strpbrk(path, "/.") && strcmp(path, "-") != 0)
        return fail_no_value(path, wish);
    const char *more = strchr(path, ',');
    if (access(path, F_OK) != 0 && more && strchr(more, '='))
        return LN_FAIL(LN_IO, "cannot open %s; each input has an -i of its own", path);
    if (is_folder(path))
        return LN_FAIL(LN_IO,
                       "cannot read %s: it is a folder; `lightnet run` takes one, and runs on each "
                       "of its files",
                       path);
    LN_TRY(file_read(path, &bytes, &count));
    ln_status status = parse(path, bytes, count, wish, options ? options : &defaults, &object);
    free(bytes);
    if (status == LN_OK)
        status = input_fit(path, wish, object, out_object);
    ln_object_release(object);
    return status;
}
