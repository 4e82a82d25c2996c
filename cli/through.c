// SPDX-License-Identifier: Apache-2.0
// Formats in memory; weights, which IL and IR do not hold, through a file of their own.

#include "through.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lightnet/lightnet.h>

// Saves the weights of `from` and attaches them to `to`.
static ln_status move_weights(const ln_context *from, ln_context *to)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int len = snprintf(path, sizeof path, "%s/lightnet-XXXXXX.safetensors",
                       folder && *folder ? folder : P_tmpdir);
    if (len < 0 || len >= (int)sizeof path)
        return LN_FAIL(LN_INVALID, "TMPDIR is too long a path: %s", folder);
    int fd = mkstemps(path, (int)strlen(".safetensors"));
    if (fd < 0)
        return LN_FAIL(LN_IO, "cannot create %s: %s", path, strerror(errno));
    close(fd);
    size_t count;
    ln_status status = ln_context_save_weights(from, path, &count);
    if (status == LN_OK && count > 0)
        status = ln_context_carry_file(to, path);
    unlink(path);
    return status;
}

static ln_status go_through(const ln_context *from, const char *format, ln_context *to)
{
    char *bytes;
    size_t byte_count;
    LN_TRY(ln_context_write(from, format, &bytes, &byte_count));
    ln_status status = ln_context_init_mem(to, bytes, byte_count, format);
    ln_free(bytes);
    if (status == LN_OK && strcmp(format, "onnx") != 0)
        status = move_weights(from, to);
    return status;
}

static ln_status go(ln_context **ctx, const char *format)
{
    ln_context *to = ln_context_create();
    if (!to)
        return LN_NO_MEMORY;
    ln_status status = go_through(*ctx, format, to);
    ln_context_free(status == LN_OK ? *ctx : to);
    if (status == LN_OK)
        *ctx = to;
    return status == LN_OK ? LN_OK : ln_fail_prefix("through %s", format);
}

ln_status model_through(ln_context **ctx, const char *formats)
{
    while (*formats) {
        size_t len = strcspn(formats, ",");
        char format[32];
        snprintf(format, sizeof format, "%.*s", (int)len, formats);
        LN_TRY(go(ctx, format));
        formats += len + (formats[len] == ',');
    }
    return LN_OK;
}
