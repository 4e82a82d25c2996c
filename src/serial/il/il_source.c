// SPDX-License-Identifier: Apache-2.0
// Reads included files, which `base/open_below.h` keeps below the model's folder.

#include "serial/il/il_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/open_below.h"

#define WHAT "included file"

static ln_status fail_read(const char *path, int error)
{
    char reason[256];
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "system error %d", error);
    return LN_FAIL(LN_IO, "cannot read " WHAT " '%s': %s", path, reason);
}

// A file that shrinks while it is read ends early; what it grows by is not read.
static ln_status read_bytes(int fd, const char *path, char *bytes, size_t *inout_len)
{
    size_t len = 0;
    while (len < *inout_len) {
        ssize_t got = read(fd, bytes + len, *inout_len - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_read(path, errno);
        if (got == 0)
            break;
        len += (size_t)got;
    }
    bytes[len] = '\0';
    *inout_len = len;
    return LN_OK;
}

ln_status ln_il_source_read(ln_document *arena, const char *folder, const char *path,
                            size_t max_byte_count, const char **out_text, size_t *out_len)
{
    *out_text = NULL;
    *out_len = 0;
    int fd;
    size_t len;
    LN_TRY(ln_open_below(folder, path, WHAT, &fd, &len));
    ln_status status = LN_OK;
    char *bytes = NULL;
    if (len > max_byte_count)
        status = LN_FAIL(LN_LIMIT, WHAT " '%s' has more than %zu bytes", path, max_byte_count);
    if (status == LN_OK) {
        bytes = ln_document_alloc(arena, len + 1);
        status = bytes ? read_bytes(fd, path, bytes, &len) : LN_NO_MEMORY;
    }
    close(fd);
    if (status != LN_OK)
        return status;
    *out_text = bytes;
    *out_len = len;
    return LN_OK;
}
