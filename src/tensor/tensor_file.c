// SPDX-License-Identifier: Apache-2.0
// The container of named tensors: mapping, probing, lookup, and safe replacement of files.

#include <lightnet/tensor_file.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tensor/tensor_check.h"
#include "tensor/tensor_file_format.h"

typedef struct entry {
    char *name;
    tl_tensor *tensor;
    bool owns_data;
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

ln_status ln_tensor_file_add(ln_tensor_file *file, const char *name, size_t name_len,
                             tl_dtype dtype, int ndim, const int *dims, const void *data,
                             tl_tensor **out_tensor)
{
    LN_TRY(reserve_entry(file));
    entry e = {.owns_data = data == NULL};
    e.name = ln_alloc(name_len + 1);
    // The reader hands tensors out as const.
    e.tensor = data ? tl_tensor_create((void *)(uintptr_t)data, ndim, dims, dtype)
                    : tl_tensor_zeros(ndim, dims, dtype);
    if (!e.name || !e.tensor) {
        ln_status status = ln_error_status();
        free_entry(&e);
        return status;
    }
    memcpy(e.name, name, name_len);
    file->entries[file->count++] = e;
    if (out_tensor)
        *out_tensor = e.tensor;
    return LN_OK;
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

static ln_status probe(const char *data, size_t byte_count, ln_tensor_file_format *out_format)
{
    // A safetensors header is JSON behind its 8-byte length, whose highest byte is 0 in any file
    // that exists; text has no 0.
    *out_format = LN_TENSOR_FILE_SAFETENSORS;
    if (byte_count > 8 && data[7] == '\0' && data[8] == '{')
        return LN_OK;
    *out_format = LN_TENSOR_FILE_WTS;
    size_t i = 0;
    while (i < byte_count && data[i] != '\0' && strchr(" \t\r\n", data[i]))
        i++;
    if (i < byte_count && data[i] >= '0' && data[i] <= '9')
        return LN_OK;
    return LN_FAIL(LN_UNSUPPORTED, "neither a safetensors nor a .wts file");
}

static ln_status parse(ln_tensor_file *file, const char *data, size_t byte_count)
{
    if (file->format == LN_TENSOR_FILE_SAFETENSORS)
        LN_TRY(ln_safetensors_parse(file, data, byte_count));
    else
        LN_TRY(ln_wts_parse(file, data, byte_count));
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

const tl_tensor *ln_tensor_file_tensor(const ln_tensor_file *file, int index)
{
    return file && index >= 0 && index < file->count ? file->entries[index].tensor : NULL;
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
    if (format != LN_TENSOR_FILE_SAFETENSORS && format != LN_TENSOR_FILE_WTS)
        return LN_FAIL(LN_INVALID, "%d is not a format of tensor files", (int)format);
    LN_TRY(check_tensors(tensors, count));
    if (format == LN_TENSOR_FILE_SAFETENSORS)
        LN_TRY(ln_safetensors_write(fp, tensors, count));
    else
        LN_TRY(ln_wts_write(fp, tensors, count));
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
    return LN_FAIL(LN_IO, "%d temporary files lie beside %s", TRIES, path);
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
