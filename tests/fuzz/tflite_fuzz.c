// SPDX-License-Identifier: Apache-2.0
// Any bytes as a TensorFlow Lite model: a report, and a status or a model that compiles, loads and
// runs.

#include "tests/fuzz/fuzz.h"

#include <lightnet/preflight.h>

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    return 0;
}

static void run(ln_context *ctx)
{
    if (ln_context_compile(ctx, "ref") != LN_OK || ln_context_load(ctx, NULL) != LN_OK)
        return;
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        if (ln_context_input_is_open(ctx, i))
            return;
    }
    fuzz_fill_inputs(ctx);
    ln_context_run(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8 || memcmp(data + 4, "TFL3", 4) != 0)
        return 0;
    ln_preflight *report;
    ln_status looked = ln_preflight_create_mem(data, size, "fuzz", &report);
    ln_context *ctx = fuzz_context();
    const ln_read_options options = {.rounding = size & 1 ? "reference" : NULL};
    ln_status status = ln_context_init_mem_with(ctx, data, size, "fuzz", &options);
    if (status == LN_OK && !options.rounding) // which looks at other fields than preflight
        FUZZ_CHECK(looked == LN_OK && report->problem_count == 0);
    ln_preflight_destroy(looked == LN_OK ? report : NULL);
    if (status == LN_OK)
        run(ctx);
    ln_context_free(ctx);
    return 0;
}
