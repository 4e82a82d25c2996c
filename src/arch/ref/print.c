// SPDX-License-Identifier: Apache-2.0
// Showing a tensor: on standard output, or in a file that a model names.
//
// The file is opened one part of its path after the other with O_NOFOLLOW, so that no link leads
// out of the current folder, whoever made it and whenever.

#include "arch/ref/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ln_status write_tensor(FILE *stream, const tl_tensor *src, const char *msg)
{
    if (fprintf(stream, "%s\n", msg) < 0)
        return LN_FAIL(LN_IO, "writing failed: %s", strerror(errno));
    return tl_tensor_fprint(stream, src, NULL);
}

ln_status ln_ref_run_print(const tl_tensor *src, const char *msg)
{
    LN_TRY(ln_ref_expect_any(src, "src"));
    return write_tensor(stdout, src, msg);
}

// ---- Files ----

// The file descriptor of `part` of a path, below `folder`; -1 and errno on failure.
static int open_part(int folder, const char *part, bool is_last)
{
    if (is_last) // O_NONBLOCK: a pipe without a reader must not hold up the run
        return openat(folder, part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    return openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_inside(const char *path)
{
    int folder = AT_FDCWD;
    for (;;) {
        char part[LN_MAX_NAME_LEN];
        size_t len = strcspn(path, "/");
        bool is_last = path[len] == '\0';
        int opened = -1;
        if (len < sizeof part) {
            memcpy(part, path, len);
            part[len] = '\0';
            opened = open_part(folder, part, is_last);
        } else {
            errno = ENAMETOOLONG;
        }
        int error = errno;
        if (folder != AT_FDCWD)
            close(folder);
        errno = error;
        if (opened < 0 || is_last)
            return opened;
        folder = opened;
        path += len + 1;
    }
}

// An empty ordinary file; the caller closes *out_stream.
static ln_status open_file(const char *file, FILE **out_stream)
{
    struct stat info;
    if (!ln_op_is_inner_path(file))
        return LN_FAIL(LN_INVALID, "'%s' is no path inside of the current folder",
                       file ? file : "");
    int opened = open_inside(file);
    if (opened < 0)
        return LN_FAIL(LN_IO, "cannot open '%s': %s", file, strerror(errno));
    if (fstat(opened, &info) != 0 || !S_ISREG(info.st_mode) || ftruncate(opened, 0) != 0) {
        close(opened);
        return LN_FAIL(LN_IO, "'%s' is no ordinary file that can be written", file);
    }
    *out_stream = fdopen(opened, "w");
    if (*out_stream)
        return LN_OK;
    close(opened);
    return LN_FAIL(LN_IO, "cannot write to '%s': %s", file, strerror(errno));
}

ln_status ln_ref_run_fprint(const tl_tensor *src, const char *msg, const char *file)
{
    FILE *stream;
    LN_TRY(ln_ref_expect_any(src, "src"));
    LN_TRY(open_file(file, &stream));
    ln_status status = write_tensor(stream, src, msg);
    if (fclose(stream) != 0 && status == LN_OK)
        return LN_FAIL(LN_IO, "writing '%s' failed: %s", file, strerror(errno));
    return status;
}
