// SPDX-License-Identifier: Apache-2.0
// Showing a tensor: on standard output, or in a file that the caller allows.

#include "arch/ref/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/util.h>

#include "ir/writes.h"

static ln_status write_tensor(FILE *stream, const tl_tensor *src, const char *msg)
{
    if (ln_fprint_safe(stream, msg) != 0 || fputc('\n', stream) == EOF)
        return LN_FAIL(LN_IO, "writing failed: %s", strerror(errno));
    return tl_tensor_fprint(stream, src, NULL);
}

// More than the text takes: numbers, brackets and spaces of each element, and a string's escapes.
static double most_bytes(const tl_tensor *src, const char *msg)
{
    double bytes = 64 + 6.0 * (double)strlen(msg);
    for (int i = 0; src->dtype == TL_STRING && i < src->len; i++) {
        const char *s = ((const char *const *)src->data)[i];
        bytes += s ? 6.0 * (double)strlen(s) : 0;
    }
    return bytes + 64.0 * src->len;
}

ln_status ln_ref_run_print(const tl_tensor *src, const char *msg)
{
    LN_TRY(ln_ref_expect_any(src, "src"));
    return write_tensor(stdout, src, msg);
}

ln_status ln_ref_run_fprint(ln_context *ctx, const tl_tensor *src, const char *msg,
                            const char *file)
{
    FILE *stream;
    LN_TRY(ln_ref_expect_any(src, "src"));
    LN_TRY(ln_writes_begin(ctx, file, most_bytes(src, msg), &stream));
    ln_status status = write_tensor(stream, src, msg);
    ln_status end_status = ln_writes_end(ctx, file, stream);
    return status != LN_OK ? status : end_status;
}
