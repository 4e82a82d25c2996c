// SPDX-License-Identifier: Apache-2.0
// The container of named tensors: mapping, probing, lookup, and safe replacement of files.

#include <lightnet/tensor_file.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tensor/foreign.h"
#include "tensor/params_file.h"
#include "tensor/tensor_check.h"
#include "tensor/tensor_file_format.h"

// What differs between the formats; the index is an ln_tensor_file_format.
static const struct {
    const char *extension;
    ln_status (*parse)(ln_tensor_file *file, const char *data, size_t byte_count);
    ln_status (*write)(FILE *fp, const ln_named_tensor *tensors, size_t count);
} formats[] = {
    [LN_TENSOR_FILE_SAFETENSORS] = {".safetensors", ln_safetensors_parse, ln_safetensors_write},
    [LN_TENSOR_FILE_WTS] = {".wts", ln_wts_parse, ln_wts_write},
    [LN_TENSOR_FILE_PARAMS] = {".params", ln_params_tensors_parse, ln_params_tensors_write},
};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

// `tensor` has its data at once, its own or the file's, or it is unpacked when it is asked for: the
// copy is made outside of any lock, and the first thread that has one puts it here.
typedef struct entry {
    char *name;
    tl_tensor *tensor;
    bool owns_data;
    const void *packed; // NULL when `tensor` has its data
    ln_packing packing;
    _Atomic(tl_tensor *) unpacked;
} entry;

// A name and its position, for lookup by bisection.
typedef struct name_index {
    const char *name;
    int index;
} name_index;

struct ln_tensor_file {
    ln_tensor_file_format format;
    void *mapping; // NULL when the bytes are the caller's
    size_t mapping_size;
    entry *entries;
    int count;
    int capacity;
    name_index *by_name; // sorted, `count` of them once the file is open
};

// ---- Entries ----

static void free_entry(entry *e)
{
    if (e->owns_data)
        tl_tensor_free_data_too(e->tensor);
    else
        tl_tensor_free(e->tensor);
    tl_tensor_free_data_too(atomic_load(&e->unpacked));
    ln_free(e->name);
}

static ln_status reserve_entry(ln_tensor_file *file)
{
    if (file->count < file->capacity)
        return LN_OK;
    if (file->count >= LN_TENSOR_FILE_COUNT_MAX)
        return LN_FAIL(LN_LIMIT, "more than %d tensors", LN_TENSOR_FILE_COUNT_MAX);
    int capacity = file->capacity ? 2 * file->capacity : 16;
    entry *entries = ln_realloc(file->entries, (size_t)capacity * sizeof *entries);
    if (!entries)
        return LN_NO_MEMORY;
    file->entries = entries;
    file->capacity = capacity;
    return LN_OK;
}

// Puts `e` at the end, with its tensor, which is NULL when it could not be made.
static ln_status append(ln_tensor_file *file, entry *e, const char *name, size_t name_len)
{
    ln_status status = e->tensor ? reserve_entry(file) : ln_error_status();
    if (status == LN_OK && !(e->name = ln_alloc(name_len + 1)))
        status = LN_NO_MEMORY;
    if (status != LN_OK) {
        free_entry(e);
        return status;
    }
    memcpy(e->name, name, name_len);
    file->entries[file->count++] = *e;
    return LN_OK;
}

ln_status ln_tensor_file_add(ln_tensor_file *file, const char *name, size_t name_len,
                             tl_dtype dtype, int ndim, const int *dims, tl_tensor **out_tensor)
{
    *out_tensor = NULL;
    entry e = {.tensor = tl_tensor_zeros(ndim, dims, dtype), .owns_data = true};
    LN_TRY(append(file, &e, name, name_len));
    *out_tensor = e.tensor;
    return LN_OK;
}

ln_status ln_tensor_file_add_packed(ln_tensor_file *file, const char *name, size_t name_len,
                                    tl_dtype dtype, int ndim, const int *dims, const void *packed,
                                    ln_packing packing)
{
    bool is_in_place = packing == LN_PACKED_SAME && (uintptr_t)packed % tl_size_of(dtype) == 0;
    // The reader hands tensors out as const.
    void *data = is_in_place ? (void *)(uintptr_t)packed : NULL;
    entry e = {.tensor = tl_tensor_create(data, ndim, dims, dtype),
               .packed = is_in_place ? NULL : packed,
               .packing = packing};
    return append(file, &e, name, name_len);
}

// ---- Names ----

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const name_index *)a)->name, ((const name_index *)b)->name);
}

// Sorts `count` names; LN_EXISTS when one appears twice.
static ln_status sort_names(name_index *names, size_t count)
{
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            return LN_FAIL(LN_EXISTS, "tensor '%s' appears twice", names[i].name);
    }
    return LN_OK;
}

static ln_status index_names(ln_tensor_file *file)
{
    file->by_name = ln_alloc_array((size_t)file->count, sizeof *file->by_name);
    if (!file->by_name)
        return LN_NO_MEMORY;
    for (int i = 0; i < file->count; i++)
        file->by_name[i] = (name_index){file->entries[i].name, i};
    return sort_names(file->by_name, (size_t)file->count);
}

// ---- Opening ----

ln_status ln_tensor_file_format_of(const char *path, ln_tensor_file_format *out_format)
{
    if (!path || !out_format)
        return LN_FAIL(LN_INVALID, "a format is found by a path, and needs a place");
    *out_format = LN_TENSOR_FILE_SAFETENSORS;
    size_t len = strlen(path);
    char known[64] = "";
    for (int i = 0; i < FORMAT_COUNT; i++) {
        size_t extension_len = strlen(formats[i].extension);
        if (len >= extension_len && strcmp(path + len - extension_len, formats[i].extension) == 0) {
            *out_format = (ln_tensor_file_format)i;
            return LN_OK;
        }
        strcat(strcat(known, i ? ", " : ""), formats[i].extension);
    }
    return LN_FAIL(LN_UNSUPPORTED, "%s: the name does not end in one of %s", path, known);
}

static ln_status probe(const char *data, size_t byte_count, ln_tensor_file_format *out_format)
{
    // A safetensors header is JSON after its 8-byte length, whose highest byte is 0 in any file
    // that exists; text has no 0.
    *out_format = LN_TENSOR_FILE_SAFETENSORS;
    if (byte_count > 8 && data[7] == '\0' && data[8] == '{')
        return LN_OK;
    const uint64_t params_magic = PARAMS_LIST_MAGIC;
    *out_format = LN_TENSOR_FILE_PARAMS;
    if (byte_count >= sizeof params_magic && memcmp(data, &params_magic, sizeof params_magic) == 0)
        return LN_OK;
    *out_format = LN_TENSOR_FILE_WTS;
    size_t i = 0;
    while (i < byte_count && data[i] != '\0' && strchr(" \t\r\n", data[i]))
        i++;
    if (i < byte_count && data[i] >= '0' && data[i] <= '9')
        return LN_OK;
    const char *kind = ln_foreign_kind(data, byte_count);
    return LN_FAIL(LN_UNSUPPORTED,
                   "neither a safetensors nor a .wts file, nor a params dictionary%s%s",
                   kind ? ", but " : "", kind ? kind : "");
}

static ln_status parse(ln_tensor_file *file, const char *data, size_t byte_count)
{
    LN_TRY(formats[file->format].parse(file, data, byte_count));
    return index_names(file);
}

ln_status ln_tensor_file_open_as(ln_tensor_file_format format, const void *data, size_t byte_count,
                                 ln_tensor_file **out_file)
{
    *out_file = NULL;
    ln_tensor_file *file = ln_alloc(sizeof *file);
    if (!file)
        return LN_NO_MEMORY;
    file->format = format;
    ln_status status = parse(file, data, byte_count);
    if (status != LN_OK) {
        ln_tensor_file_close(file);
        return status;
    }
    *out_file = file;
    return LN_OK;
}

ln_status ln_tensor_file_open_mem(const void *data, size_t byte_count, ln_tensor_file **out_file)
{
    if (!out_file)
        return LN_FAIL(LN_INVALID, "no place for the opened file");
    *out_file = NULL;
    if (!data && byte_count > 0)
        return LN_FAIL(LN_INVALID, "%zu bytes at NULL", byte_count);
    ln_tensor_file_format format;
    LN_TRY(probe(data, byte_count, &format));
    return ln_tensor_file_open_as(format, data, byte_count, out_file);
}

// Maps the regular file `path`; an empty one is an empty mapping.
static ln_status map_file(const char *path, void **out_data, size_t *out_size)
{
    *out_data = NULL;
    *out_size = 0;
    // Not blocking: a FIFO is refused below, not waited for.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return LN_FAIL(LN_IO, "cannot open: %s", strerror(errno));

    ln_status status = LN_OK;
    struct stat info;
    if (fstat(fd, &info) != 0)
        status = LN_FAIL(LN_IO, "cannot read its size: %s", strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = LN_FAIL(LN_INVALID, "not a regular file");
    else if ((uintmax_t)info.st_size > SIZE_MAX)
        status = LN_FAIL(LN_LIMIT, "%jd bytes are too many", (intmax_t)info.st_size);
    if (status == LN_OK && info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            status = LN_FAIL(LN_IO, "cannot map: %s", strerror(errno));
        } else {
            *out_data = data;
            *out_size = (size_t)info.st_size;
        }
    }
    close(fd);
    return status;
}

ln_status ln_tensor_file_open(const char *path, ln_tensor_file **out_file)
{
    if (!out_file)
        return LN_FAIL(LN_INVALID, "no place for the opened file");
    *out_file = NULL;
    if (!path)
        return LN_FAIL(LN_INVALID, "the path of the tensor file is NULL");
    void *data;
    size_t byte_count;
    ln_status status = map_file(path, &data, &byte_count);
    if (status == LN_OK)
        status = ln_tensor_file_open_mem(data, byte_count, out_file);
    if (status != LN_OK) {
        if (data)
            munmap(data, byte_count);
        return ln_fail_prefix("%s", path);
    }
    (*out_file)->mapping = data;
    (*out_file)->mapping_size = byte_count;
    return LN_OK;
}

void ln_tensor_file_close(ln_tensor_file *file)
{
    if (!file)
        return;
    for (int i = 0; i < file->count; i++)
        free_entry(&file->entries[i]);
    ln_free(file->entries);
    ln_free(file->by_name);
    if (file->mapping)
        munmap(file->mapping, file->mapping_size);
    ln_free(file);
}

// ---- Looking ----

ln_tensor_file_format ln_tensor_file_get_format(const ln_tensor_file *file)
{
    return file ? file->format : LN_TENSOR_FILE_SAFETENSORS;
}

int ln_tensor_file_count(const ln_tensor_file *file)
{
    return file ? file->count : 0;
}

const char *ln_tensor_file_name(const ln_tensor_file *file, int index)
{
    return file && index >= 0 && index < file->count ? file->entries[index].name : NULL;
}

const tl_tensor *ln_tensor_file_describe(const ln_tensor_file *file, int index)
{
    return file && index >= 0 && index < file->count ? file->entries[index].tensor : NULL;
}

// Elements from `first` on, out of the file or of the tensor's own data.
static void copy_part(const entry *e, size_t first, size_t count, void *data)
{
    tl_dtype dtype = e->tensor->dtype;
    ln_packing packing = e->packed ? e->packing : LN_PACKED_SAME;
    const char *from = e->packed ? e->packed : e->tensor->data;
    ln_unpack(data, dtype, from + first * ln_packed_size(packing, dtype), packing, count);
}

// Several threads may come here with the same entry: one of their copies is kept.
static const tl_tensor *unpack_entry(entry *e)
{
    tl_tensor *copy = tl_tensor_zeros(e->tensor->ndim, e->tensor->dims, e->tensor->dtype);
    if (!copy)
        return NULL;
    copy_part(e, 0, (size_t)copy->len, copy->data);
    tl_tensor *first = NULL;
    if (atomic_compare_exchange_strong(&e->unpacked, &first, copy))
        return copy;
    tl_tensor_free_data_too(copy);
    return first;
}

const tl_tensor *ln_tensor_file_tensor(const ln_tensor_file *file, int index)
{
    if (!ln_tensor_file_describe(file, index))
        return NULL;
    entry *e = &file->entries[index];
    if (!e->packed)
        return e->tensor;
    const tl_tensor *unpacked = atomic_load(&e->unpacked);
    return unpacked ? unpacked : unpack_entry(e);
}

ln_status ln_tensor_file_read_part(const ln_tensor_file *file, int index, size_t first,
                                   size_t count, void *data)
{
    const tl_tensor *known = ln_tensor_file_describe(file, index);
    if (!known)
        return LN_FAIL(LN_INVALID, "there is no tensor %d; the file has %d", index,
                       ln_tensor_file_count(file));
    const entry *e = &file->entries[index];
    size_t len = (size_t)known->len;
    if (first > len || count > len - first)
        return LN_FAIL(LN_INVALID, "tensor '%s' has %zu elements, not %zu from %zu on", e->name,
                       len, count, first);
    if (count > 0 && !data)
        return LN_FAIL(LN_INVALID, "no place for tensor '%s'", e->name);
    if (count > 0)
        copy_part(e, first, count, data);
    return LN_OK;
}

ln_status ln_tensor_file_read(const ln_tensor_file *file, int index, void *data)
{
    const tl_tensor *known = ln_tensor_file_describe(file, index);
    return ln_tensor_file_read_part(file, index, 0, known ? (size_t)known->len : 0, data);
}

int ln_tensor_file_find(const ln_tensor_file *file, const char *name)
{
    if (!file || !name)
        return -1;
    const name_index wanted = {name, 0};
    const name_index *found =
        bsearch(&wanted, file->by_name, (size_t)file->count, sizeof wanted, compare_names);
    return found ? found->index : -1;
}

// ---- Writing ----

static ln_status check_tensors(const ln_named_tensor *tensors, size_t count)
{
    if (count > LN_TENSOR_FILE_COUNT_MAX)
        return LN_FAIL(LN_LIMIT, "%zu tensors are more than %d", count, LN_TENSOR_FILE_COUNT_MAX);
    if (count > 0 && !tensors)
        return LN_FAIL(LN_INVALID, "the tensors are NULL");
    for (size_t i = 0; i < count; i++) {
        if (!tensors[i].name)
            return LN_FAIL(LN_INVALID, "tensor %zu has no name", i);
        if (strlen(tensors[i].name) > LN_TENSOR_FILE_NAME_MAX)
            return LN_FAIL(LN_LIMIT, "the name of tensor %zu is longer than %d bytes", i,
                           LN_TENSOR_FILE_NAME_MAX);
        if (!tensor_is_usable(tensors[i].tensor, tensors[i].name))
            return LN_INVALID;
    }
    name_index *names = ln_alloc_array(count, sizeof *names);
    if (!names)
        return LN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        names[i] = (name_index){tensors[i].name, (int)i};
    ln_status status = sort_names(names, count);
    ln_free(names);
    return status;
}

ln_status ln_tensor_file_write(FILE *fp, ln_tensor_file_format format,
                               const ln_named_tensor *tensors, size_t count)
{
    if (!fp)
        return LN_FAIL(LN_INVALID, "no stream to write tensors to");
    if ((unsigned)format >= FORMAT_COUNT)
        return LN_FAIL(LN_INVALID, "%d is not a format of tensor files", (int)format);
    LN_TRY(check_tensors(tensors, count));
    LN_TRY(formats[format].write(fp, tensors, count));
    if (fflush(fp) != 0 || ferror(fp))
        return LN_FAIL(LN_IO, "cannot write tensors: %s", strerror(errno));
    return LN_OK;
}

// Creates a new file beside `path`. *out_temp_path is the caller's.
static ln_status create_beside(const char *path, char **out_temp_path, FILE **out_fp)
{
    enum { TRIES = 100 };
    *out_fp = NULL;
    for (int i = 0; i < TRIES; i++) {
        *out_temp_path = ln_strdup_printf("%s.%ld.%d.tmp", path, (long)getpid(), i);
        if (!*out_temp_path)
            return LN_NO_MEMORY;
        int fd = open(*out_temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *out_fp = fdopen(fd, "wb");
            if (*out_fp)
                return LN_OK;
            close(fd);
            unlink(*out_temp_path);
        }
        int error = errno;
        ln_free(*out_temp_path);
        *out_temp_path = NULL;
        if (error != EEXIST)
            return LN_FAIL(LN_IO, "cannot create a file beside %s: %s", path, strerror(error));
    }
    return LN_FAIL(LN_IO, "%d temporary files are beside %s", TRIES, path);
}

ln_status ln_tensor_file_save(const char *path, ln_tensor_file_format format,
                              const ln_named_tensor *tensors, size_t count)
{
    if (!path)
        return LN_FAIL(LN_INVALID, "the path of the tensor file is NULL");
    char *temp_path;
    FILE *fp;
    LN_TRY(create_beside(path, &temp_path, &fp));

    ln_status status = ln_tensor_file_write(fp, format, tensors, count);
    if (status == LN_OK && fsync(fileno(fp)) != 0)
        status = LN_FAIL(LN_IO, "cannot write %s: %s", temp_path, strerror(errno));
    if (fclose(fp) != 0 && status == LN_OK)
        status = LN_FAIL(LN_IO, "cannot write %s: %s", temp_path, strerror(errno));
    if (status == LN_OK && rename(temp_path, path) != 0)
        status = LN_FAIL(LN_IO, "cannot replace %s: %s", path, strerror(errno));
    if (status != LN_OK)
        unlink(temp_path);
    ln_free(temp_path);
    return status;
}

// A type of one byte or less that a format may have no name for.
static bool is_byte_pattern(tl_dtype dtype)
{
    return !TL_DTYPE_IS_NATIVE(dtype) && tl_size_of(dtype) == 1;
}

int ln_tensor_file_holds(const ln_tensor_file *file, int index, tl_dtype dtype)
{
    const tl_tensor *known = ln_tensor_file_describe(file, index);
    if (!known)
        return 0;
    if (known->dtype == dtype)
        return 1;
    const entry *e = &file->entries[index];
    switch (e->packed ? e->packing : LN_PACKED_SAME) {
    case LN_PACKED_F16: return dtype == TL_FLOAT16;
    case LN_PACKED_BF16: return dtype == TL_BFLOAT16;
    case LN_PACKED_SAME:
        return is_byte_pattern(dtype) && (known->dtype == TL_UINT8 || known->dtype == TL_INT8);
    default: return 0;
    }
}

ln_status ln_tensor_file_read_as(const ln_tensor_file *file, int index, tl_dtype dtype, void *data)
{
    if (!ln_tensor_file_holds(file, index, dtype))
        return LN_FAIL(LN_INVALID, "tensor %d of the file does not hold %s", index,
                       tl_dtype_title(dtype) ? tl_dtype_title(dtype) : "an unknown dtype");
    const entry *e = &file->entries[index];
    if (e->tensor->dtype == dtype)
        return ln_tensor_file_read(file, index, data);
    tl_memcpy(data, e->packed ? e->packed : e->tensor->data,
              (size_t)e->tensor->len * tl_size_of(dtype));
    return LN_OK;
}
