// SPDX-License-Identifier: Apache-2.0
// Places, a growing text, and whole files in and out.

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "base/checked.h"

#define MESSAGE_BYTES   4096
#define FIRST_CAPACITY  64
#define READ_STEP_BYTES 65536
#define TEMPORARY_TRIES 100

ln_status ln_fail_at(ln_place place, ln_status status, const char *fmt, ...)
{
    char message[MESSAGE_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    const char *file = place.file ? place.file : "<text>";
    if (!file[0])
        return LN_FAIL(status, "%s", message); // made by a program
    if (place.line == 0)
        return LN_FAIL(status, "%s: %s", file, message);
    return LN_FAIL(status, "%s:%d:%d: %s", file, place.line, place.column, message);
}

// ---- A growing text ----

// Makes room for `extra` more bytes and the NUL. Doubling keeps appending linear.
static bool reserve(ln_text *text, size_t extra)
{
    if (text->status != LN_OK)
        return false;

    size_t needed;
    if (!ln_size_add(text->len, extra, &needed) || !ln_size_add(needed, 1, &needed)) {
        text->status =
            LN_FAIL(LN_NO_MEMORY, "a text of %zu bytes cannot grow by %zu bytes", text->len, extra);
        return false;
    }
    if (needed <= text->capacity)
        return true;

    size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        if (!ln_size_mul(capacity, 2, &capacity))
            capacity = needed;
    char *bytes = ln_realloc(text->bytes, capacity);
    if (!bytes) {
        text->status = LN_NO_MEMORY;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    text->bytes[text->len] = '\0';
    return true;
}

void ln_text_append(ln_text *text, const char *bytes, size_t len)
{
    if (len == 0 || !reserve(text, len))
        return;
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void ln_text_puts(ln_text *text, const char *s)
{
    ln_text_append(text, s, strlen(s));
}

void ln_text_printf(ln_text *text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len < 0) {
        if (text->status == LN_OK)
            text->status = LN_FAIL(LN_INTERNAL, "bad format '%s'", fmt);
        return;
    }
    if (!reserve(text, (size_t)len))
        return;
    va_start(ap, fmt);
    vsnprintf(text->bytes + text->len, (size_t)len + 1, fmt, ap);
    va_end(ap);
    text->len += (size_t)len;
}

void ln_text_indent(ln_text *text, int columns)
{
    if (columns > 0)
        ln_text_printf(text, "%*s", columns, "");
}

ln_status ln_text_take(ln_text *text, char **out_bytes, size_t *out_len)
{
    *out_bytes = NULL;
    if (out_len)
        *out_len = 0;
    reserve(text, 0); // an empty text is "", not NULL
    if (text->status != LN_OK) {
        ln_status status = text->status;
        ln_text_deinit(text);
        return status;
    }
    *out_bytes = text->bytes;
    if (out_len)
        *out_len = text->len;
    *text = (ln_text){0};
    return LN_OK;
}

void ln_text_deinit(ln_text *text)
{
    ln_free(text->bytes);
    *text = (ln_text){0};
}

// ---- Files ----

// Records "<verb> '<path>': <the system's reason>".
static ln_status fail_system(const char *verb, const char *path, int error)
{
    char reason[256];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot %s '%s': %s", verb, path, reason);
}

static ln_status read_all(int fd, const char *path, size_t max_byte_count, ln_text *text)
{
    for (;;) {
        if (!reserve(text, READ_STEP_BYTES))
            return text->status;
        ssize_t got = read(fd, text->bytes + text->len, READ_STEP_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_system("read", path, errno);
        if (got == 0)
            return LN_OK;
        if ((size_t)got > max_byte_count - text->len)
            return LN_FAIL(LN_LIMIT, "'%s' has more than %zu bytes", path, max_byte_count);
        text->len += (size_t)got;
        text->bytes[text->len] = '\0';
    }
}

ln_status ln_text_read_file(const char *path, size_t max_byte_count, char **out_bytes,
                            size_t *out_len)
{
    *out_bytes = NULL;
    if (out_len)
        *out_len = 0;
    if (!path)
        return LN_FAIL(LN_INVALID, "no file name");

    bool is_stdin = strcmp(path, "-") == 0;
    // Without O_NONBLOCK, opening a pipe that nobody writes would never return.
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_system("open", path, errno);

    ln_text text = {0};
    ln_status status;
    struct stat info;
    if (!is_stdin && fstat(fd, &info) != 0)
        status = fail_system("read", path, errno);
    else if (!is_stdin && !S_ISREG(info.st_mode))
        status = LN_FAIL(LN_IO, "cannot read '%s': not a regular file", path);
    else
        status = read_all(fd, is_stdin ? "standard input" : path, max_byte_count, &text);
    if (!is_stdin)
        close(fd);
    if (status != LN_OK) {
        ln_text_deinit(&text);
        return status;
    }
    return ln_text_take(&text, out_bytes, out_len);
}

static ln_status read_start(int fd, const char *path, char *buf, size_t capacity, size_t *out_len)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail_system("read", path, errno);
    if (!S_ISREG(info.st_mode))
        return LN_FAIL(LN_IO, "cannot read '%s': not a regular file", path);
    while (*out_len < capacity) {
        ssize_t got = read(fd, buf + *out_len, capacity - *out_len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_system("read", path, errno);
        if (got == 0)
            break;
        *out_len += (size_t)got;
    }
    return LN_OK;
}

ln_status ln_text_read_start(const char *path, char *buf, size_t capacity, size_t *out_len)
{
    *out_len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_system("open", path, errno);
    ln_status status = read_start(fd, path, buf, capacity, out_len);
    close(fd);
    return status;
}

static ln_status write_all(int fd, const char *path, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail_system("write", path, errno);
        bytes += put;
        len -= (size_t)put;
    }
    return LN_OK;
}

static ln_status write_stdout(const char *bytes, size_t len)
{
    if (fwrite(bytes, 1, len, stdout) != len || fflush(stdout) != 0)
        return fail_system("write", "standard output", errno);
    return LN_OK;
}

// Devices and pipes cannot be replaced by renaming.
static ln_status write_in_place(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_system("open", path, errno);
    ln_status status = write_all(fd, path, bytes, len);
    if (close(fd) != 0 && status == LN_OK)
        status = fail_system("write", path, errno);
    return status;
}

// Creates a file beside `path` that did not exist before. The caller frees *out_name.
static ln_status open_temporary(const char *path, char **out_name, int *out_fd)
{
    *out_name = NULL;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        char *name = ln_strdup_printf("%s.%ld-%d.tmp", path, (long)getpid(), i);
        if (!name)
            return LN_NO_MEMORY;
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *out_name = name;
            *out_fd = fd;
            return LN_OK;
        }
        int error = errno;
        ln_free(name);
        if (error != EEXIST)
            return fail_system("create", path, error);
    }
    return LN_FAIL(LN_IO, "cannot create '%s': %d temporary files are beside it already", path,
                   TEMPORARY_TRIES);
}

ln_status ln_text_write_file(const char *path, const char *bytes, size_t len)
{
    if (!path || (!bytes && len > 0))
        return LN_FAIL(LN_INVALID, "no %s to write", path ? "text" : "file name");
    if (strcmp(path, "-") == 0)
        return write_stdout(bytes, len);
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return fail_system("write", path, EISDIR);
    if (exists && !S_ISREG(info.st_mode))
        return write_in_place(path, bytes, len);

    char *name;
    int fd = -1;
    LN_TRY(open_temporary(path, &name, &fd));
    ln_status status = write_all(fd, path, bytes, len);
    if (status == LN_OK && exists && fchmod(fd, info.st_mode & 07777) != 0)
        status = fail_system("write", path, errno);
    if (close(fd) != 0 && status == LN_OK)
        status = fail_system("write", path, errno);
    if (status == LN_OK && rename(name, path) != 0)
        status = fail_system("write", path, errno);
    if (status != LN_OK)
        unlink(name);
    ln_free(name);
    return status;
}
