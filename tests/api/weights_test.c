// SPDX-License-Identifier: Apache-2.0
// Weights from files: what is taken, what is ignored, what is refused.

#include "tests/api/model.h"

#include <stdio.h>
#include <unistd.h>

static const char model[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 2]);"
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 2], ran=[0, 0], data=[0], from_file=true);"
    "create(| dst=k | dtype=TL_FLOAT, dims=[2, 2], ran=[0, 0], data=[5], from_file=false);"
    "elew(src1=x, src2=w | dst=a | elew_op=TL_SUM);"
    "elew(src1=a, src2=k | dst=y | elew_op=TL_SUM);";

static const char path[] = "weights_test.tmp";

// A file of tensor `name` with `len` = product of `dims`, elements 1, 2, ..., beside one that the
// model does not have, and one that it does not take from a file.
static void write_weights(ln_tensor_file_format format, const char *name, int ndim, const int *dims,
                          tl_dtype dtype)
{
    tl_tensor *tensor = tl_tensor_arange(1, 5, 1, dtype);
    CHECK_OK(tl_tensor_reshape_src(tensor, ndim, dims));
    tl_tensor *other = tl_tensor_arange(0, 3, 1, TL_FLOAT);
    const ln_named_tensor tensors[] = {
        {.name = "nobody", .tensor = other}, {.name = name, .tensor = tensor}, {"k", tensor}};
    CHECK_OK(ln_tensor_file_save(path, format, tensors, 3));
    tl_tensor_free_data_too(tensor);
    tl_tensor_free_data_too(other);
}

static ln_status load(void)
{
    ln_context *ctx = open_text(model);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_status status = ln_context_load(ctx, path);
    if (status == LN_OK) {
        float y[4];
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
        CHECK_NEAR(y[0], 1 + 5, 0);
        CHECK_NEAR(y[3], 4, 0);
    } else {
        CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    }
    close_context(ctx);
    remove(path);
    return status;
}

TEST(weights_come_from_all_formats)
{
    CHECK_OK(ln_arch_init());
    write_weights(LN_TENSOR_FILE_SAFETENSORS, "w", 2, (int[]){2, 2}, TL_FLOAT);
    CHECK_OK(load());
    write_weights(LN_TENSOR_FILE_WTS, "w", 2, (int[]){2, 2}, TL_FLOAT);
    CHECK_OK(load());
    write_weights(LN_TENSOR_FILE_PARAMS, "w", 2, (int[]){2, 2}, TL_FLOAT);
    CHECK_OK(load());
    ln_arch_cleanup();
}

TEST(weights_that_do_not_fit_are_refused)
{
    CHECK_OK(ln_arch_init());
    write_weights(LN_TENSOR_FILE_SAFETENSORS, "w", 1, (int[]){4}, TL_FLOAT);
    CHECK_FAILS(load(), LN_INVALID);
    CHECK_MESSAGE("'w' has shape [4], the model takes [2, 2]");
    write_weights(LN_TENSOR_FILE_PARAMS, "w", 1, (int[]){4}, TL_FLOAT);
    CHECK_FAILS(load(), LN_INVALID);
    CHECK_MESSAGE("'w' has shape [4], the model takes [2, 2]");
    write_weights(LN_TENSOR_FILE_SAFETENSORS, "w", 2, (int[]){2, 2}, TL_INT8);
    CHECK_FAILS(load(), LN_INVALID);
    CHECK_MESSAGE("'w' is int8, the model takes float32");
    write_weights(LN_TENSOR_FILE_SAFETENSORS, "v", 2, (int[]){2, 2}, TL_FLOAT);
    CHECK_FAILS(load(), LN_NOT_FOUND);
    CHECK_MESSAGE("'w' is missing");
    CHECK_FAILS(load(), LN_IO); // there is no file any more
    CHECK_MESSAGE(path);
    ln_arch_cleanup();
}

TEST(weights_that_are_attached_fit_as_well)
{
    static const struct {
        int ndim, dims[2];
        tl_dtype dtype;
        ln_status status;
    } rows[] = {{2, {2, 2}, TL_FLOAT, LN_OK},
                {1, {4, 0}, TL_FLOAT, LN_INVALID},
                {2, {4, 1}, TL_FLOAT, LN_INVALID},
                {2, {2, 2}, TL_INT8, LN_INVALID}};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = open_text(model);
        write_weights(LN_TENSOR_FILE_SAFETENSORS, "w", rows[i].ndim, rows[i].dims, rows[i].dtype);
        CHECK_FAILS(ln_context_carry_file(ctx, path), rows[i].status);
        close_context(ctx);
    }
    remove(path);
    ln_arch_cleanup();
}

// What the first convolution packs is only there while the model is loaded, and the weights of the
// second have the same memory then.
TEST(weights_without_a_file_are_zero)
{
    static const char convs[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[1, 8, 9, 9], ran=[1, 2]);"
        "create(| dst=v | dtype=TL_FLOAT, dims=[8, 8, 3, 3], ran=[1, 2]);"
        "conv(src=x, weight=v | dst=y |);"
        "create(| dst=w | dtype=TL_FLOAT, dims=[8, 8, 3, 3], from_file=true);"
        "conv(src=y, weight=w | dst=z |);";
    static const char *const targets[] = {"cpu", "ref"};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 2; i++) {
        ln_context *ctx = open_text(convs);
        float z[8 * 5 * 5];
        CHECK_OK(ln_context_compile(ctx, targets[i]));
        CHECK_STR_EQ(ln_context_missing(ctx, 0), "w");
        CHECK_OK(ln_context_load(ctx, NULL));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "z", z));
        for (size_t k = 0; k < sizeof z / sizeof z[0]; k++)
            CHECK_NEAR(z[k], 0, 0);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(weights_that_are_attached_fit_as_well, weights_come_from_all_formats,
          weights_that_do_not_fit_are_refused, weights_without_a_file_are_zero)
