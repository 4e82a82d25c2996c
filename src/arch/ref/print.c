// SPDX-License-Identifier: Apache-2.0
// Showing a tensor: on standard output, or in a file that the caller allows.

#include "arch/ref/functions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/util.h>

#include "ir/writes.h"
#include "op/call.h"

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

ln_status ln_ref_print(ln_call *call)
{
    return write_tensor(stdout, ln_call_in(call, 0), ln_call_string(call, "msg"));
}

ln_status ln_ref_open_fprint(ln_call *call)
{
    return ln_writes_open(call->op_arg->context, ln_call_string(call, "file"));
}

ln_status ln_ref_fprint(ln_call *call)
{
    ln_context *ctx = call->op_arg->context;
    const tl_tensor *src = ln_call_in(call, 0);
    const char *msg = ln_call_string(call, "msg"), *file = ln_call_string(call, "file");
    FILE *stream;
    LN_TRY(ln_writes_begin(ctx, file, most_bytes(src, msg), &stream));
    ln_status status = write_tensor(stream, src, msg);
    ln_status end_status = ln_writes_end(ctx, file, stream);
    return status != LN_OK ? status : end_status;
}
