// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX model that is written again, in each format: what was written can be read,
// and written once more.

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    return 0;
}

// Not every model that can be read has a form in other formats.
static int is_written(const ln_context *ctx, const char *format, char **out_bytes, size_t *out_len)
{
    ln_status status = ln_context_write(ctx, format, out_bytes, out_len);
    FUZZ_CHECK(status == LN_OK || status == LN_UNSUPPORTED || status == LN_LIMIT ||
               status == LN_INVALID || status == LN_NOT_FOUND || status == LN_NO_MEMORY);
    return status == LN_OK;
}

// What is larger than the file it came from may be over a limit.
static ln_context *read_again(const char *bytes, size_t len, const char *format)
{
    ln_context *ctx = fuzz_context();
    ln_status status = ln_context_init_mem(ctx, bytes, len, format);
    FUZZ_CHECK(status == LN_OK || status == LN_LIMIT || status == LN_NO_MEMORY);
    if (status == LN_OK)
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

static void check(const ln_context *ctx, const char *format)
{
    char *bytes, *again_bytes;
    size_t len, again_len;
    if (!is_written(ctx, format, &bytes, &len))
        return;
    ln_context *again = read_again(bytes, len, format);
    if (again && is_written(again, format, &again_bytes, &again_len))
        ln_free(again_bytes);
    ln_context_free(again);
    ln_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // A tag that keeps other formats from taking the bytes.
    if (size < 2 || data[0] != 0x08)
        return 0;
    ln_context *ctx = fuzz_context();
    if (ln_context_init_mem(ctx, data, size, "fuzz") == LN_OK) {
        check(ctx, "onnx");
        check(ctx, "ir");
        check(ctx, "il");
    }
    ln_context_free(ctx);
    return 0;
}
