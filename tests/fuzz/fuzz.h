// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of the whole library share.

#ifndef LN_TESTS_FUZZ_FUZZ_H
#define LN_TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Ends the run as a finding, with the library's last message.
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not %s; %s\n", __FILE__, __LINE__, #condition,                 \
                    ln_error_message());                                                           \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

// What the limits allow fits many times; more is refused as if memory were gone.
static inline void *fuzz_resize(void *user, void *p, size_t size)
{
    (void)user;
    return size <= (size_t)256 << 20 ? realloc(p, size) : NULL;
}

static inline void fuzz_release(void *user, void *p)
{
    (void)user;
    free(p);
}

// The library with all leaves; what operators print goes nowhere.
static inline void fuzz_start(void)
{
    static const ln_allocator allocator = {.resize = fuzz_resize, .release = fuzz_release};
    ln_allocator_set(&allocator);
    if (!freopen("/dev/null", "w", stdout) || ln_arch_init() != LN_OK)
        abort();
}

// A context whose models stay small.
static inline ln_context *fuzz_context(void)
{
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 16 << 20;
    limits.op_count = 2000;
    limits.work = 1e7;
    ln_context *ctx = ln_context_create();
    FUZZ_CHECK(ctx);
    ln_context_set_limits(ctx, &limits);
    return ctx;
}

// The model as text; the caller frees it with ln_free.
static inline char *fuzz_print(const ln_context *ctx)
{
    char *text;
    size_t len;
    FUZZ_CHECK(ln_context_write(ctx, "ir", &text, &len) == LN_OK);
    FUZZ_CHECK(strlen(text) == len);
    return text;
}

// What a context prints reads back to the same state and the same text.
static inline void fuzz_check_round_trip(const ln_context *ctx)
{
    char *text = fuzz_print(ctx);
    ln_context *again = fuzz_context();
    FUZZ_CHECK(ln_context_init_mem(again, text, strlen(text), "again") == LN_OK);
    FUZZ_CHECK(again->state == ctx->state);
    char *second = fuzz_print(again);
    FUZZ_CHECK(strcmp(text, second) == 0);
    ln_context_free(again);
    ln_free(second);
    ln_free(text);
}

// Fills every input with the same pattern. One from which a frozen constant was computed (a
// `create` of zeros is an input) is refused.
static inline void fuzz_fill_inputs(ln_context *ctx)
{
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++) {
        size_t byte_count = ln_context_data_size(ctx, input->name);
        unsigned char *bytes = malloc(byte_count + 1);
        FUZZ_CHECK(bytes);
        for (size_t b = 0; b < byte_count; b++)
            bytes[b] = (unsigned char)(b * 7 % 61); // small numbers in every type
        ln_status status = ln_context_set_data(ctx, input->name, bytes);
        FUZZ_CHECK(status == LN_OK || status == LN_STATE);
        free(bytes);
    }
}

#endif
