// SPDX-License-Identifier: Apache-2.0
// Random stacks of convolutions, put together as the bytes say: they compile for cpu and as they
// were read, run, and give nearly the same.

#include "tests/fuzz/fuzz.h"

#include <math.h>

#include "tests/conv_models.h"

typedef struct choices {
    const uint8_t *bytes;
    size_t size, at;
} choices;

// Zeros when the bytes are spent.
static unsigned next_byte(void *user)
{
    choices *c = user;
    return c->at < c->size ? c->bytes[c->at++] : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    return 0;
}

// Numbers in which nothing is large, so that the outputs of both archs are comparable.
static void fill(ln_context *ctx)
{
    const ln_tensor_entry *x = ln_context_input(ctx, 0);
    float *to = x->tensor->data;
    for (int i = 0; i < x->tensor->len; i++)
        to[i] = (float)(i * 7 % 61) / 30 - 1;
}

// A LOADED context that has run; NULL if it is larger than the limits.
static ln_context *run_on(const char *text, const char *target)
{
    ln_context *ctx = fuzz_context();
    FUZZ_CHECK(ln_context_init_mem(ctx, text, strlen(text), "stack") == LN_OK);
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = strcmp(target, "ref") == 0;
    ln_status status = ln_context_compile_with(ctx, target, &options);
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    if (status == LN_LIMIT) {
        ln_context_free(ctx);
        return NULL;
    }
    FUZZ_CHECK(status == LN_OK);
    fill(ctx);
    FUZZ_CHECK(ln_context_run(ctx) == LN_OK);
    return ctx;
}

static void check_close(const tl_tensor *a, const tl_tensor *b)
{
    FUZZ_CHECK(tl_tensor_issameshape(a, b));
    const float *expected = a->data, *got = b->data;
    double largest = 1;
    for (int i = 0; i < a->len; i++)
        largest = fmax(largest, fabs((double)expected[i]));
    for (int i = 0; i < a->len && isfinite(largest) && largest < 1e30; i++)
        FUZZ_CHECK(fabs((double)expected[i] - (double)got[i]) <= 1e-3 * largest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static conv_model model;
    choices bytes = {data, size, 0};
    model.next = next_byte;
    model.user = &bytes;
    conv_model_write(&model);
    ln_context *ref = run_on(model.text, "ref"), *cpu = run_on(model.text, "cpu");
    const ln_tensor_entry *output;
    for (size_t i = 0; ref && cpu && (output = ln_context_output(ref, i)); i++)
        check_close(output->tensor, ln_tensor_table_find(cpu->tensor_table, output->name)->tensor);
    ln_context_free(ref);
    ln_context_free(cpu);
    return 0;
}
