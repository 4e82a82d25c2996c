// SPDX-License-Identifier: Apache-2.0
// Element types that C does not know, in models: operators that move elements take them, those that
// compute refuse them and say so.

#include "tests/api/model.h"

#define INPUT(dtype, dims) "input(| dst=x | dtype=" dtype ", dims=" dims ");\n"

static const char *const dtypes[] = {
    "TL_FLOAT16",        "TL_BFLOAT16",   "TL_FLOAT8E4M3FN", "TL_FLOAT8E4M3FNUZ", "TL_FLOAT8E5M2",
    "TL_FLOAT8E5M2FNUZ", "TL_FLOAT8E8M0", "TL_FLOAT4E2M1",   "TL_INT4",           "TL_UINT4",
    "TL_INT2",           "TL_UINT2",      "TL_COMPLEX64",    "TL_COMPLEX128",
};

TEST(operators_that_compute_refuse_types_that_they_do_not_know)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 2; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, INPUT("%s", "[4]") "relu(src=x | dst=y |);\n", dtypes[i]);
        ln_context *ctx = ln_context_create();
        CHECK_FAILS(ln_context_init_mem(ctx, text, strlen(text), "model.net"), LN_INVALID);
        CHECK_MESSAGE("does not take");
        CHECK_MESSAGE(tl_dtype_title(tl_dtype_from_str(dtypes[i])));
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST(operators_that_move_elements_take_every_type_of_fixed_size)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 INPUT("%s", "[2, 3]") "transpose(src=x | dst=t | axes=[1, 0]);\n"
                                       "slice(src=t | dst=s | axis=0, start=1, len=2);\n"
                                       "concat(src1=s, src2=s | dst=c | axis=1);\n"
                                       "reshape(src=c | dst=y | dims=[8]);\n",
                 dtypes[i]);
        ln_context *ctx = load_text(text, "ref");
        size_t size = tl_size_of(tl_dtype_from_str(dtypes[i]));
        char x[6 * 16];
        for (size_t k = 0; k < 6; k++)
            memset(x + k * size, (int)k + 1, size);
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        const char *y = ln_context_get_data(ctx, "y", NULL);
        CHECK_NOT_NULL(y);
        static const int expected[] = {2, 5, 2, 5, 3, 6, 3, 6};
        for (size_t k = 0; k < 8; k++)
            for (size_t b = 0; b < size; b++)
                CHECK_EQ(y[k * size + b], expected[k]);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(constants_of_narrow_types_are_rounded)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("create(| dst=x | dtype=TL_FLOAT16, dims=[3], ran=[0, 0], "
                                "data=[1, 65519, 0.1], from_file=false);\n"
                                "forward(src=x | dst=y |);\n",
                                "ref");
    CHECK_OK(ln_context_run(ctx));
    const tl_tensor *y = ln_tensor_table_find(ctx->tensor_table, "y")->tensor;
    CHECK_MEM_EQ(y->data, ((uint16_t[]){0x3c00, 0x7bff, 0x2e66}), 6);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(operators_that_compute_refuse_types_that_they_do_not_know,
          operators_that_move_elements_take_every_type_of_fixed_size,
          constants_of_narrow_types_are_rounded)
