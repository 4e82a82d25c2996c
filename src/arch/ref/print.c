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
    LN_TRY(ln_writes_begin(ctx, file, &stream));
    ln_status status = write_tensor(stream, src, msg);
    ln_status end_status = ln_writes_end(ctx, file, stream);
    return status != LN_OK ? status : end_status;
}
