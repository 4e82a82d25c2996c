// SPDX-License-Identifier: Apache-2.0

#include "ir/writes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/open_below.h"
#include "ir/context.h"

#define MAX_FILES 64
#define WHAT      "output file"

typedef struct written_file {
    char *path;
    FILE *stream;
} written_file;

struct ln_writes {
    atomic_size_t users;
    char *folder;
    pthread_mutex_t lock; // of all below
    written_file files[MAX_FILES];
    size_t count;
    double byte_count, start; // written to all of them; where the one in use ended before
};

// ---- Life ----

static ln_status fail_file(const char *verb, const char *path, int error)
{
    char reason[256];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot %s '%s': %s", verb, path, reason);
}

static ln_status check_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail_file("open the folder", folder, errno);
    close(fd);
    return LN_OK;
}

static ln_status create(const char *folder, ln_writes **out_writes)
{
    LN_TRY(check_folder(folder));
    ln_writes *writes = ln_alloc(sizeof *writes);
    char *copy = ln_strdup(folder);
    if (!writes || !copy || pthread_mutex_init(&writes->lock, NULL) != 0) {
        ln_free(writes);
        ln_free(copy);
        return LN_FAIL(LN_NO_MEMORY, "out of memory for a permission to write");
    }
    atomic_init(&writes->users, 1);
    writes->folder = copy;
    *out_writes = writes;
    return LN_OK;
}

ln_writes *ln_writes_retain(ln_writes *writes)
{
    if (writes)
        atomic_fetch_add(&writes->users, 1);
    return writes;
}

void ln_writes_release(ln_writes *writes)
{
    if (!writes || atomic_fetch_sub(&writes->users, 1) != 1)
        return;
    for (size_t i = 0; i < writes->count; i++) {
        fclose(writes->files[i].stream); // each write has been flushed
        ln_free(writes->files[i].path);
    }
    pthread_mutex_destroy(&writes->lock);
    ln_free(writes->folder);
    ln_free(writes);
}

ln_status ln_context_allow_write(ln_context *ctx, const char *folder)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->outer)
        return LN_FAIL(LN_INVALID, "a graph writes what its context may write");
    if (ctx->state == LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is loaded; call ln_context_unload before what it may "
                                 "write is changed");
    ln_writes *writes = NULL;
    if (folder)
        LN_TRY(create(folder, &writes));
    ln_writes_release(ctx->writes);
    ctx->writes = writes;
    return LN_OK;
}

// ---- Files ----

static written_file *find_file(ln_writes *writes, const char *path)
{
    for (size_t i = 0; i < writes->count; i++) {
        if (ln_streq(writes->files[i].path, path))
            return &writes->files[i];
    }
    return NULL;
}

// `./` in front is allowed in models, and means nothing.
static const char *skip_dot(const char *path)
{
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

static ln_status add_file(ln_writes *writes, const char *path)
{
    if (writes->count == MAX_FILES)
        return LN_FAIL(LN_LIMIT, "the model writes more than %d files", MAX_FILES);
    char *copy = ln_strdup(path);
    if (!copy)
        return LN_NO_MEMORY;
    int fd;
    ln_status status = ln_create_below(writes->folder, path, WHAT, &fd);
    FILE *stream = status == LN_OK ? fdopen(fd, "a") : NULL;
    if (stream) {
        writes->files[writes->count++] = (written_file){copy, stream};
        return LN_OK;
    }
    ln_free(copy);
    if (status != LN_OK)
        return status;
    status = fail_file("write " WHAT, path, errno);
    close(fd);
    return status;
}

ln_status ln_writes_open(ln_context *ctx, const char *path)
{
    const ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    if (root && root->is_storing)
        return LN_OK;
    if (!root || !root->writes)
        return LN_FAIL(LN_INVALID,
                       "writes the file '%s', which nothing allows; name the folder below which "
                       "the model may create files with --allow-write=DIR, or with "
                       "ln_context_allow_write before it is loaded",
                       path);
    ln_writes *writes = root->writes;
    path = skip_dot(path);
    pthread_mutex_lock(&writes->lock);
    ln_status status = find_file(writes, path) ? LN_OK : add_file(writes, path);
    pthread_mutex_unlock(&writes->lock);
    return status;
}

// Begins to count at the end of the file.
static ln_status admit(const ln_context *root, FILE *stream, const char *path, double byte_count)
{
    ln_writes *writes = root->writes;
    double limit = (double)root->limits.memory_byte_count;
    if (writes->byte_count + byte_count > limit)
        return LN_FAIL(LN_LIMIT,
                       "the file '%s': up to %.4g bytes, and %.4g that the model has written, are "
                       "over the limit of %.4g (--budget, ln_limits.memory_byte_count)",
                       path, byte_count, writes->byte_count, limit);
    writes->start = fseeko(stream, 0, SEEK_END) == 0 ? (double)ftello(stream) : 0;
    return LN_OK;
}

ln_status ln_writes_begin(ln_context *ctx, const char *path, double byte_count, FILE **out_stream)
{
    *out_stream = NULL;
    const ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    ln_writes *writes = root && !root->is_storing ? root->writes : NULL;
    if (writes) {
        pthread_mutex_lock(&writes->lock);
        const written_file *file = find_file(writes, skip_dot(path));
        ln_status status = file ? admit(root, file->stream, path, byte_count) : LN_OK;
        if (file && status == LN_OK) {
            *out_stream = file->stream;
            return LN_OK;
        }
        pthread_mutex_unlock(&writes->lock);
        LN_TRY(status);
    }
    if (root && root->is_storing)
        return LN_FAIL(
            LN_STATE,
            "the file '%s' cannot be written while constants are stored; compile without "
            "storing them (--no-weights)",
            path);
    return LN_FAIL(LN_STATE, "the file '%s' is not open: files are opened when the model is loaded",
                   path);
}

ln_status ln_writes_end(ln_context *ctx, const char *path, FILE *stream)
{
    ln_status status = LN_OK;
    if (fflush(stream) != 0)
        status = fail_file("write " WHAT, path, errno);
    clearerr(stream);
    ln_writes *writes = ln_context_root(ctx)->writes;
    writes->byte_count += (double)ftello(stream) - writes->start;
    pthread_mutex_unlock(&writes->lock);
    return status;
}
