// SPDX-License-Identifier: Apache-2.0
// Models of several entries, each of which is read by its name, and of roundings that are chosen.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "tests/oom.h"
#include "tests/test.h"

// Its signatures are `encode` of x and `decode` of code.
#define FILE_OF_TWO LN_SOURCE_DIR "/tests/fuzz/tflite/entries"

// A convolution of int8.
#define FILE_OF_BYTES LN_SOURCE_DIR "/tests/fuzz/tflite/quantized"

static ln_context *new_context(void)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK(ctx);
    return ctx;
}

static size_t read_bytes(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    const size_t count = fread(bytes, 1, size, file);
    fclose(file);
    CHECK(count > 0 && count < size);
    return count;
}

static void check_ends(const ln_context *ctx, const char *input, const char *output)
{
    CHECK_EQ(ln_context_input_count(ctx), 1);
    CHECK_STR_EQ(ln_context_input_name(ctx, 0), input);
    CHECK_STR_EQ(ln_context_output_name(ctx, 0), output);
}

TEST(a_file_is_read_by_a_signature)
{
    static const struct {
        const char *why, *signature, *input, *output;
    } rows[] = {{"none names the first", NULL, "x", "y"},
                {"the first by its name", "encode", "x", "y"},
                {"another one", "decode", "code", "whole"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = new_context();
        CHECK_OK(ln_context_init_signature(ctx, FILE_OF_TWO, rows[i].signature));
        check_ends(ctx, rows[i].input, rows[i].output);
        ln_context_free(ctx);
    }
}

TEST(bytes_are_read_by_a_signature)
{
    static char bytes[1 << 16];
    const size_t count = read_bytes(FILE_OF_TWO, bytes, sizeof bytes);
    ln_context *ctx = new_context();
    CHECK_OK(ln_context_init_signature_mem(ctx, bytes, count, "two", "decode"));
    check_ends(ctx, "code", "whole");
    CHECK_STR_EQ(ln_model_info_find(ln_context_info(ctx), "signature decode"),
                 "in=code -> out=whole");
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    const float x[2] = {6, -8};
    float y[2];
    CHECK_OK(ln_context_set_data(ctx, "code", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK(ln_context_get_data(ctx, "whole", y));
    CHECK(y[0] == -3 && y[1] == 2);
    ln_context_free(ctx);
}

TEST(what_no_signature_names_is_refused)
{
    static const char net[] = "create(| dst=x | dtype=TL_FLOAT, dims=[1], data=[0]);";
    ln_context *ctx = new_context();
    CHECK_FAILS(ln_context_init_signature(ctx, FILE_OF_TWO, "code"), LN_NOT_FOUND);
    CHECK_MESSAGE("no signature 'code'; it has 'encode', 'decode'");
    CHECK_FAILS(ln_context_init_signature(ctx, FILE_OF_TWO, "dec"), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_init_signature(ctx, FILE_OF_TWO, ""), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_init_signature_mem(ctx, net, sizeof net - 1, "a.net", "decode"),
                LN_UNSUPPORTED);
    CHECK_MESSAGE("a.net: a model of format 'il' has no signature 'decode'");
    CHECK_FAILS(ln_context_init_signature(NULL, FILE_OF_TWO, "decode"), LN_INVALID);
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_EMPTY);
    CHECK_OK(ln_context_init_signature(ctx, FILE_OF_TWO, "decode"));
    CHECK_FAILS(ln_context_init_signature(ctx, FILE_OF_TWO, "encode"), LN_STATE);
    ln_context_free(ctx);
}

// In fixed point, sums are rescaled.
static bool is_fixed(const ln_context *ctx)
{
    char *text;
    size_t count;
    CHECK_OK(ln_context_write(ctx, "il", &text, &count));
    const bool found = strstr(text, "rounding=q31") != NULL;
    CHECK(found != (strstr(text, "QuantizeLinear") != NULL));
    ln_free(text);
    return found;
}

TEST(a_rounding_is_chosen)
{
    static const struct {
        const char *why;
        ln_read_options options;
        bool is_fixed;
    } rows[] = {{"none", {.rounding = NULL}, false},
                {"that of none", {.rounding = "float"}, false},
                {"that of the reference kernels", {.rounding = "reference"}, true}};
    static char bytes[1 << 16];
    const size_t count = read_bytes(FILE_OF_BYTES, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = new_context();
        CHECK_OK(ln_context_init_with(ctx, FILE_OF_BYTES, &rows[i].options));
        CHECK_EQ(is_fixed(ctx), rows[i].is_fixed);
        ln_context_cleanup(ctx);
        CHECK_OK(ln_context_init_mem_with(ctx, bytes, count, "bytes", &rows[i].options));
        CHECK_EQ(is_fixed(ctx), rows[i].is_fixed);
        ln_context_free(ctx);
    }
}

TEST(a_rounding_and_a_signature_are_chosen_together)
{
    ln_context *ctx = new_context();
    const ln_read_options options = {.signature = "decode", .rounding = "reference"};
    CHECK_OK(ln_context_init_with(ctx, FILE_OF_TWO, &options));
    check_ends(ctx, "code", "whole");
    ln_context_free(ctx);
}

TEST(other_roundings_are_refused)
{
    static const char net[] = "create(| dst=x | dtype=TL_FLOAT, dims=[1], data=[0]);";
    ln_context *ctx = new_context();
    ln_read_options options = {.rounding = "nearest"};
    CHECK_FAILS(ln_context_init_with(ctx, FILE_OF_BYTES, &options), LN_INVALID);
    CHECK_MESSAGE("the rounding 'nearest' is unknown; it is 'float' or 'reference'");
    options.rounding = "reference";
    CHECK_FAILS(ln_context_init_mem_with(ctx, net, sizeof net - 1, "a.net", &options),
                LN_UNSUPPORTED);
    CHECK_MESSAGE("a.net: a model of format 'il' has one rounding; leave 'reference' out");
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_EMPTY);
    CHECK_OK(ln_context_init_with(ctx, FILE_OF_BYTES, NULL));
    CHECK(!is_fixed(ctx));
    ln_context_free(ctx);
}

TEST(other_formats_are_not_resizable)
{
    static const char net[] = "create(| dst=x | dtype=TL_FLOAT, dims=[1], data=[0]);";
    ln_context *ctx = new_context();
    const ln_read_options options = {.is_resizable = true};
    CHECK_FAILS(ln_context_init_mem_with(ctx, net, sizeof net - 1, "a.net", &options),
                LN_UNSUPPORTED);
    CHECK_MESSAGE("a.net: a model of format 'il' has the sizes that it states");
    ln_context_free(ctx);
}

TEST(options_of_other_sizes_are_read_as_far_as_they_go)
{
    struct {
        ln_read_options known;
        void *more;
    } longer = {.known = {.rounding = "reference"}};
    ln_context *ctx = new_context();
    CHECK_OK(ln_context_init_with_sized(ctx, FILE_OF_BYTES, &longer.known, sizeof longer));
    CHECK(is_fixed(ctx));
    ln_context_cleanup(ctx);
    CHECK_OK(ln_context_init_with_sized(ctx, FILE_OF_BYTES, &longer.known, sizeof(char *)));
    CHECK(!is_fixed(ctx));
    ln_context_cleanup(ctx);
    longer.more = ctx;
    CHECK_FAILS(ln_context_init_with_sized(ctx, FILE_OF_BYTES, &longer.known, sizeof longer),
                LN_UNSUPPORTED);
    CHECK_FAILS(ln_context_init_with_sized(ctx, FILE_OF_BYTES, &longer.known, 1), LN_INVALID);
    ln_context_free(ctx);
}

TEST(a_signature_without_memory_is_refused)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? ln_context_init_signature(ctx, FILE_OF_TWO, "decode") : LN_NO_MEMORY;
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        if (ctx && status == LN_OK)
            status = ln_context_init_signature(ctx, FILE_OF_TWO, "nobody");
        CHECK(status == LN_STATE || status == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
}

TEST_LIST(a_file_is_read_by_a_signature, bytes_are_read_by_a_signature,
          what_no_signature_names_is_refused, a_rounding_is_chosen,
          a_rounding_and_a_signature_are_chosen_together, other_roundings_are_refused,
          other_formats_are_not_resizable, options_of_other_sizes_are_read_as_far_as_they_go,
          a_signature_without_memory_is_refused)
