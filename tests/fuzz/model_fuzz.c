// SPDX-License-Identifier: Apache-2.0
// Any bytes as a model: read, printed, compiled, loaded and run, or refused with a status.

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    return 0;
}

static void run(ln_context *ctx)
{
    if (ln_context_load(ctx, NULL) != LN_OK)
        return;
    fuzz_fill_inputs(ctx);
    for (int i = 0; i < 2; i++) {
        if (ln_context_run(ctx) != LN_OK)
            return;
    }
    const ln_tensor_entry *output;
    for (size_t i = 0; (output = ln_context_output(ctx, i)); i++)
        FUZZ_CHECK(ln_context_get_data(ctx, output->name, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_context *ctx = fuzz_context();
    if (ln_context_init_mem(ctx, data, size, "fuzz") != LN_OK) {
        FUZZ_CHECK(ctx->state == LN_CONTEXT_EMPTY);
        ln_context_free(ctx);
        return 0;
    }
    FUZZ_CHECK(ln_context_check(ctx));
    fuzz_check_round_trip(ctx);
    if (ctx->state == LN_CONTEXT_READY && ln_context_compile(ctx, "cpu") == LN_OK)
        fuzz_check_round_trip(ctx);
    if (ctx->state == LN_CONTEXT_PLANNED)
        run(ctx);
    ln_context_free(ctx);
    return 0;
}
