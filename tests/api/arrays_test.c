// SPDX-License-Identifier: Apache-2.0
// Tensors of a context as arrays: set, seen, and bound to the caller's memory.

#include "tests/api/model.h"

#include <lightnet/ndarray.h>

#include "tests/oom.h"
#include "tests/random.h"

// y = relu(x + x), and z = x reshaped, a view; w = z + z.
#define VIEW_MODEL                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"                                              \
    "reshape(src=x | dst=z | dims=[3, 2]);\n"                                                      \
    "elew(src1=x, src2=x | dst=s | elew_op=TL_SUM);\n"                                             \
    "relu(src=s | dst=y |);\n"                                                                     \
    "elew(src1=z, src2=z | dst=w | elew_op=TL_SUM);\n"

static const DLDataType float32 = {kDLFloat, 32, 1};

static ln_ndarray *floats(int64_t rows, int64_t columns, const float *numbers)
{
    ln_ndarray *array;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){rows, columns}, float32, &array));
    CHECK_OK(ln_ndarray_set_bytes(array, numbers, (size_t)(rows * columns) * sizeof *numbers));
    return array;
}

static void check_tensor(ln_context *ctx, const char *tname, const float *expected)
{
    float numbers[6];
    CHECK_NOT_NULL(ln_context_get_data(ctx, tname, numbers));
    CHECK_MEM_EQ(numbers, expected, sizeof numbers);
}

static void check_array(const ln_ndarray *array, const float *expected)
{
    float numbers[6];
    CHECK_OK(ln_ndarray_get_bytes(array, numbers, sizeof numbers));
    CHECK_MEM_EQ(numbers, expected, sizeof numbers);
}

// ---- Setting ----

TEST(arrays_of_any_strides_are_set)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *array = floats(3, 2, (float[]){0, 3, 1, 4, 2, 5}), *turned;
    CHECK_OK(ln_ndarray_transpose(array, NULL, &turned));
    CHECK_OK(ln_context_set_array(ctx, "x", turned));
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){0, 2, 4, 6, 8, 10});
    ln_ndarray_release(turned);
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(an_array_that_does_not_fit_changes_nothing)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *wide = floats(3, 2, (float[6]){1}), *whole, *scalar;
    CHECK_OK(ln_ndarray_create(2, (int64_t[]){2, 3}, (DLDataType){kDLInt, 32, 1}, &whole));
    CHECK_OK(ln_ndarray_create(0, NULL, float32, &scalar));
    int is_bound = 7;
    CHECK_FAILS(ln_context_set_array(ctx, "x", wide), LN_INVALID);
    CHECK_MESSAGE("'x' has shape [2, 3], the array [3, 2]; transpose it with axes 1,0: ");
    CHECK_FAILS(ln_context_bind_array(ctx, "x", wide, &is_bound), LN_INVALID);
    CHECK_EQ(is_bound, 0);
    CHECK_FAILS(ln_context_set_array(ctx, "x", whole), LN_INVALID);
    CHECK_MESSAGE("'x' is float32, the array has elements of type int32");
    CHECK_FAILS(ln_context_set_array(ctx, "x", scalar), LN_INVALID);
    CHECK_FAILS(ln_context_set_array(ctx, "x", NULL), LN_INVALID);
    CHECK_FAILS(ln_context_set_array(ctx, "nothing", wide), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_bind_array(ctx, "nothing", wide, NULL), LN_NOT_FOUND);
    check_tensor(ctx, "x", (float[6]){0});
    ln_context_unload(ctx);
    ln_ndarray *view = wide;
    CHECK_FAILS(ln_context_set_array(ctx, "x", wide), LN_STATE);
    CHECK_FAILS(ln_context_bind_array(ctx, "x", wide, &is_bound), LN_STATE);
    CHECK_FAILS(ln_context_get_array(ctx, "x", &view), LN_STATE);
    CHECK_NULL(view);
    CHECK_FAILS(ln_context_get_array(NULL, "x", &view), LN_STATE);
    CHECK_FAILS(ln_context_get_array(ctx, "x", NULL), LN_INVALID);
    ln_ndarray_release(wide);
    ln_ndarray_release(whole);
    ln_ndarray_release(scalar);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(dimensions_of_1_may_be_there_or_not)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *array = floats(2, 3, (float[]){0, 1, 2, 3, 4, 5}), *batched;
    CHECK_OK(ln_ndarray_reshape(array, 4, (int64_t[]){1, 2, 1, 3}, &batched));
    CHECK_OK(ln_context_set_array(ctx, "x", batched));
    check_tensor(ctx, "x", (float[]){0, 1, 2, 3, 4, 5});
    CHECK_OK(ln_context_set_array(ctx, "x", array));
    CHECK_OK(ln_context_bind_array(ctx, "x", batched, NULL));
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){0, 2, 4, 6, 8, 10});

    ln_object *object = ln_object_new_tensor(TL_FLOAT, 3, (int[]){1, 2, 3}, NULL);
    ln_object *turned = ln_object_new_tensor(TL_FLOAT, 2, (int[]){3, 2}, NULL);
    CHECK_OK(ln_context_set_object(ctx, "x", object));
    check_tensor(ctx, "x", (float[6]){0});
    CHECK_FAILS(ln_context_set_object(ctx, "x", turned), LN_INVALID);
    CHECK_MESSAGE("not float32 [3, 2]; transpose it with axes 1,0");
    ln_object_release(object);
    ln_object_release(turned);
    ln_ndarray_release(batched);
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_constant_that_is_set_makes_static_operators_run_again)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SMALL_MODEL, "cpu"), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    ln_ndarray *ones = floats(2, 3, (float[]){1, 1, 1, 1, 1, 1});
    int is_bound = 7;
    CHECK_OK(ln_context_bind_array(ctx, "w", ones, &is_bound)); // copies: others read it too
    CHECK_EQ(is_bound, 0);
    CHECK_FAILS(ln_context_bind_array(ctx, "w", ones, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("constant");
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){1, 1, 1, 1, 1, 1});
    CHECK_OK(ln_context_run(clone));
    check_tensor(clone, "y", (float[]){1, 2, 3, 4, 5, 6});
    ln_ndarray_release(ones);
    close_context(ctx);
    close_context(clone);
    ln_arch_cleanup();
}

TEST(bools_of_one_byte_become_bools_of_four)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_BOOL, dims=[3]);\n"
                                "reshape(src=x | dst=y | dims=[3]);\n",
                                "ref");
    static const DLDataType kinds[] = {{kDLBool, 8, 1}, {kDLUInt, 1, 1}};
    for (int i = 0; i < 2; i++) {
        ln_ndarray *array, *seen;
        CHECK_OK(ln_ndarray_create(1, (int64_t[]){3}, kinds[i], &array));
        CHECK_OK(ln_ndarray_set_bytes(array, "\5\0\1", 3));
        CHECK_OK(ln_context_set_array(ctx, "x", array));
        CHECK_OK(ln_context_get_array(ctx, "y", &seen));
        CHECK_EQ(ln_ndarray_dtype(seen).code, kDLInt);
        CHECK_MEM_EQ(ln_ndarray_data(seen), ((int32_t[]){1, 0, 1}), 12);
        int is_bound = 7;
        CHECK_OK(ln_context_bind_array(ctx, "x", array, &is_bound));
        CHECK_EQ(is_bound, 0);
        ln_ndarray_release(array);
        CHECK_OK(ln_ndarray_clone(seen, &array)); // int32: the bytes of TL_BOOL
        ln_ndarray_release(seen);
        CHECK_OK(ln_context_set_array(ctx, "x", array));
        CHECK_OK(ln_context_bind_array(ctx, "x", array, &is_bound));
        CHECK_EQ(is_bound, 1);
        ln_ndarray_release(array);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Seeing ----

TEST(an_array_of_a_tensor_is_its_memory_and_outlives_the_context)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *x, *y, *z;
    CHECK_OK(ln_context_get_array(ctx, "x", &x));
    CHECK_OK(ln_context_get_array(ctx, "y", &y));
    CHECK_OK(ln_context_get_array(ctx, "z", &z));
    CHECK_PTR_EQ(ln_ndarray_data(y), ln_context_get_data(ctx, "y", NULL));
    CHECK_EQ(ln_ndarray_shape(z)[0], 3);

    // An input is set through its array; outputs are read only.
    CHECK_OK(ln_ndarray_set_bytes(x, (float[]){1, 2, 3, 4, 5, 6}, 24));
    CHECK_FAILS(ln_ndarray_fill(y, 0), LN_INVALID);
    CHECK_OK(ln_context_run(ctx));
    check_array(y, (float[]){2, 4, 6, 8, 10, 12});
    ln_ndarray *kept = ln_ndarray_retain(y);
    CHECK_OK(ln_ndarray_write(&kept, NULL)); // a copy that stays
    CHECK_OK(ln_ndarray_fill(x, 1));
    CHECK_OK(ln_context_run(ctx));
    check_array(y, (float[]){2, 2, 2, 2, 2, 2});
    check_array(kept, (float[]){2, 4, 6, 8, 10, 12});

    ln_context_unload(ctx);
    check_array(y, (float[]){2, 2, 2, 2, 2, 2});
    CHECK_OK(ln_context_load(ctx, NULL)); // other memory
    CHECK_OK(ln_context_run(ctx));
    check_array(y, (float[]){2, 2, 2, 2, 2, 2});
    close_context(ctx);
    ln_arch_cleanup();
    check_array(y, (float[]){2, 2, 2, 2, 2, 2});
    ln_ndarray_release(kept);
    ln_ndarray_release(x);
    ln_ndarray_release(z);
    ln_ndarray_release(y);
}

TEST(a_constant_seen_as_an_array_is_read_only_and_keeps_its_memory)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SMALL_MODEL, "cpu"), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    ln_ndarray *w;
    CHECK_OK(ln_context_get_array(clone, "w", &w));
    CHECK_FAILS(ln_ndarray_fill(w, 0), LN_INVALID);
    close_context(clone);
    close_context(ctx);
    check_array(w, (float[]){1, 2, 3, 4, 5, 6});
    ln_ndarray_release(w);
    ln_arch_cleanup();
}

TEST(a_result_goes_to_a_consumer_without_a_copy)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *y;
    CHECK_OK(ln_context_get_array(ctx, "y", &y));
    CHECK_NULL(ln_ndarray_to_dlpack(y)); // read only
    DLManagedTensorVersioned *out = ln_ndarray_to_dlpack_versioned(y);
    CHECK_NOT_NULL(out);
    CHECK(out->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
    CHECK_PTR_EQ(out->dl_tensor.data, ln_context_get_data(ctx, "y", NULL));
    ln_ndarray_release(y);
    close_context(ctx);
    CHECK_NEAR(((float *)out->dl_tensor.data)[5], 0, 0);
    out->deleter(out);
    ln_arch_cleanup();
}

// ---- Binding ----

TEST(a_bound_input_reads_the_callers_memory_and_so_do_its_views)
{
    static const char *const targets[] = {"cpu", "ref"};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 2; i++) {
        ln_context *ctx = load_text(VIEW_MODEL, targets[i]);
        ln_ndarray *array = floats(2, 3, (float[]){1, 2, 3, 4, 5, 6}), *seen;
        int is_bound = 7;
        CHECK_OK(ln_context_bind_array(ctx, "x", array, &is_bound));
        CHECK_EQ(is_bound, 1);
        CHECK_PTR_EQ(ln_context_get_data(ctx, "x", NULL), ln_ndarray_data(array));
        CHECK_PTR_EQ(ln_context_get_data(ctx, "z", NULL), ln_ndarray_data(array));
        CHECK_OK(ln_context_run(ctx));
        check_tensor(ctx, "y", (float[]){2, 4, 6, 8, 10, 12});
        check_tensor(ctx, "w", (float[]){2, 4, 6, 8, 10, 12});

        CHECK_OK(ln_ndarray_fill(array, 5)); // in place: the next run reads it
        CHECK_OK(ln_context_run(ctx));
        check_tensor(ctx, "w", (float[]){10, 10, 10, 10, 10, 10});
        check_array(array, (float[]){5, 5, 5, 5, 5, 5}); // runs do not write to it

        CHECK_OK(ln_context_get_array(ctx, "z", &seen)); // a view of the array's memory
        ln_ndarray_release(array);
        close_context(ctx);
        CHECK_NEAR(((const float *)ln_ndarray_data(seen))[5], 5, 0);
        ln_ndarray_release(seen);
    }
    ln_arch_cleanup();
}

TEST(writing_on_ones_own_leaves_what_the_context_holds)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *array = floats(2, 3, (float[]){1, 2, 3, 4, 5, 6});
    CHECK_OK(ln_context_bind_array(ctx, "x", array, NULL));
    float *own;
    CHECK_OK(ln_ndarray_write(&array, (void **)&own));
    own[0] = 100;
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){2, 4, 6, 8, 10, 12});
    CHECK_OK(ln_context_bind_array(ctx, "x", array, NULL)); // again, now with the new one
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){200, 4, 6, 8, 10, 12});
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

static void count_call(void *user)
{
    (*(int *)user)++;
}

TEST(setting_a_bound_input_does_not_write_to_the_array)
{
    _Alignas(64) static float numbers[] = {1, 2, 3, 4, 5, 6};
    DLTensor tensor = {.data = numbers,
                       .device = {kDLCPU, 0},
                       .ndim = 2,
                       .dtype = float32,
                       .shape = (int64_t[]){2, 3}};
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    for (int way = 0; way < 5; way++) {
        int released = 0;
        ln_ndarray *array, *other = floats(2, 3, (float[]){6, 5, 4, 3, 2, 1});
        CHECK_OK(ln_ndarray_wrap(&tensor, true, count_call, &released, &array)); // read only
        CHECK_OK(ln_context_bind_array(ctx, "x", array, NULL));
        ln_ndarray_release(array);
        CHECK_EQ(released, 0);
        if (way == 0)
            CHECK_OK(ln_context_set_data(ctx, "x", (float[]){6, 5, 4, 3, 2, 1}));
        else if (way == 1)
            CHECK_OK(ln_context_set_array(ctx, "x", other));
        else if (way == 2)
            CHECK_OK(ln_context_bind_array(ctx, "x", other, NULL));
        else if (way == 3)
            CHECK_OK(ln_context_bind_array(ctx, "x", NULL, NULL)); // back, with its values
        else
            CHECK_OK(ln_context_set_data(ctx, "z", (float[]){6, 5, 4, 3, 2, 1})); // its view
        CHECK_EQ(released, 1);
        CHECK_OK(ln_context_run(ctx));
        if (way == 3)
            check_tensor(ctx, "w", (float[]){2, 4, 6, 8, 10, 12});
        else
            check_tensor(ctx, "w", (float[]){12, 10, 8, 6, 4, 2});
        CHECK_MEM_EQ(numbers, ((float[]){1, 2, 3, 4, 5, 6}), sizeof numbers);
        ln_ndarray_release(other);
    }
    CHECK_OK(ln_context_bind_array(ctx, "x", NULL, NULL)); // a second time
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(unload_gives_the_array_back)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu"), *clone;
    ln_ndarray *array = floats(2, 3, (float[]){1, 2, 3, 4, 5, 6});
    CHECK_OK(ln_context_bind_array(ctx, "x", array, NULL));
    CHECK_EQ(ln_ndarray_use_count(array), 2);
    CHECK_OK(ln_context_bind_array(ctx, "x", array, NULL)); // the same again
    CHECK_EQ(ln_ndarray_use_count(array), 2);
    CHECK_OK(ln_context_clone(ctx, &clone)); // has a workspace of its own
    CHECK_OK(ln_context_run(clone));
    check_tensor(clone, "y", (float[6]){0});
    ln_context_unload(ctx);
    CHECK_EQ(ln_ndarray_use_count(array), 1);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[6]){0});
    ln_ndarray_release(array);
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(arrays_that_do_not_lie_right_are_copied)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_ndarray *array = floats(3, 2, (float[]){1, 4, 2, 5, 3, 6}), *turned, *odd;
    CHECK_OK(ln_ndarray_transpose(array, NULL, &turned));
    int is_bound = 7;
    CHECK_OK(ln_context_bind_array(ctx, "x", turned, &is_bound));
    CHECK_EQ(is_bound, 0);
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){2, 4, 6, 8, 10, 12});
    CHECK_FAILS(ln_context_bind_array(ctx, "x", turned, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("gaps");

    ln_ndarray *rows = floats(3, 3, (float[]){0, 0, 0, 1, 2, 3, 4, 5, 6});
    CHECK_OK(ln_ndarray_slice(rows, 0, 1, 2, 1, &odd)); // begins at byte 12
    CHECK_OK(ln_context_bind_array(ctx, "x", odd, &is_bound));
    CHECK_EQ(is_bound, 0);
    CHECK_FAILS(ln_context_bind_array(ctx, "x", odd, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("64");
    ln_ndarray *straight = floats(2, 3, (float[6]){1});
    CHECK_FAILS(ln_context_bind_array(ctx, "y", straight, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("no input");
    ln_ndarray_release(straight);
    ln_ndarray_release(odd);
    ln_ndarray_release(rows);
    ln_ndarray_release(turned);
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

// A slice of rows costs nothing where memory is planned: it is a view, whose operator has a `run`.
TEST(slices_of_a_bound_input_follow_it)
{
    static const char *const targets[] = {"cpu", "ref"};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 2; i++) {
        ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[4, 3]);\n"
                                    "slice(src=x | dst=p | axis=0, start=1, len=2);\n"
                                    "elew(src1=p, src2=p | dst=y | elew_op=TL_SUM);\n"
                                    "relu(src=x | dst=z |);\n",
                                    targets[i]);
        CHECK_STR_EQ(ln_tensor_table_find(ctx->tensor_table, "p")->owner, "x");
        ln_ndarray *array = floats(4, 3, (float[]){0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0});
        CHECK_OK(ln_context_bind_array(ctx, "x", array, NULL));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_run(ctx));
        check_tensor(ctx, "p", (float[]){1, 2, 3, 4, 5, 6});
        check_tensor(ctx, "y", (float[]){2, 4, 6, 8, 10, 12});
        CHECK_PTR_EQ(ln_context_get_data(ctx, "p", NULL),
                     (const float *)ln_ndarray_data(array) + 3);
        ln_ndarray_release(array);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// Random numbers in 0..1 as the image, and the ten probabilities they give.
static void read_digit(ln_ndarray *image, int is_bound, float *out_probs)
{
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init(ctx, LN_SOURCE_DIR "/models/digits/digits.net"));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, LN_SOURCE_DIR "/models/digits/digits.safetensors"));
    CHECK_OK(is_bound ? ln_context_bind_array(ctx, "image", image, NULL)
                      : ln_context_set_array(ctx, "image", image));
    for (int i = 0; i < 3; i++)
        CHECK_OK(ln_context_run(ctx));
    CHECK_NOT_NULL(ln_context_get_data(ctx, "prob", out_probs));
    close_context(ctx);
}

TEST(a_network_gives_the_same_bits_bound_or_set)
{
    CHECK_OK(ln_arch_init());
    test_random random = test_random_start();
    ln_ndarray *image;
    CHECK_OK(ln_ndarray_create(4, (int64_t[]){1, 1, 8, 8}, float32, &image));
    for (int round = 0; round < 5; round++) {
        float pixels[64], set[10], bound[10];
        for (int i = 0; i < 64; i++)
            pixels[i] = (float)test_random_below(&random, 17) / 16;
        CHECK_OK(ln_ndarray_set_bytes(image, pixels, sizeof pixels));
        read_digit(image, 0, set);
        read_digit(image, 1, bound);
        CHECK_MEM_EQ(bound, set, sizeof set);
        CHECK_MEM_EQ(ln_ndarray_data(image), pixels, sizeof pixels);
    }
    ln_ndarray_release(image);
    ln_arch_cleanup();
}

// As a plan might have it: y is computed over x.
TEST(an_input_under_an_operator_in_place_is_copied)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                                "relu(src=x | dst=y |);\n");
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    CHECK_OK(ln_tensor_entry_set_owner(y, ctx->tensor_table, "x"));
    y->offset = x->offset;
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_ndarray *array = floats(2, 3, (float[]){-1, 2, -3, 4, -5, 6});
    int is_bound = 7;
    CHECK_OK(ln_context_bind_array(ctx, "x", array, &is_bound));
    CHECK_EQ(is_bound, 0);
    CHECK_FAILS(ln_context_bind_array(ctx, "x", array, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("in its place");
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){0, 2, 0, 4, 0, 6});
    check_array(array, (float[]){-1, 2, -3, 4, -5, 6});
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

// And: x was laid into y, whose operator finds it there.
TEST(an_input_laid_into_another_tensor_is_copied)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    CHECK_OK(ln_tensor_entry_set_owner(x, ctx->tensor_table, "y"));
    ln_ndarray *array = floats(2, 3, (float[]){1, 2, 3, 4, 5, 6});
    CHECK_FAILS(ln_context_bind_array(ctx, "x", array, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE("laid it into another");
    ln_ndarray_release(array);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- A device with memory of its own whose operators run as groups ----

static ln_mem_type device_mtype;

static void *device_alloc(size_t n)
{
    return ln_alloc_aligned(n, LN_MEM_ALIGN);
}

static ln_list *lower_to_device(const ln_context *ctx, const ln_op *op, int *match)
{
    (void)ctx;
    char optype[64];
    snprintf(optype, sizeof optype, "%s_device", op->op_arg->optype);
    *match = ln_op_find(optype) != NULL;
    return *match ? ln_list_append(NULL, ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, optype))
                  : NULL;
}

static ln_status device_prepare(void *priv, const ln_list *ops, void **out_group)
{
    (void)priv;
    *out_group = ln_list_copy(ops);
    return *out_group ? LN_OK : LN_NO_MEMORY;
}

static ln_status device_run(void *priv, void *group, tl_tensor *const *addresses)
{
    (void)priv;
    (void)addresses;
    ln_op *op;
    LN_LIST_FOREACH (op, (ln_list *)group) {
        if (op->run)
            op->run(op->op_arg);
    }
    return LN_OK;
}

static void device_release(void *priv, void *group)
{
    (void)priv;
    ln_list_free(group);
}

static void define_dst(ln_op_arg *op_arg)
{
    int dims[2] = {2, 3};
    ln_op_define_output(op_arg, "dst", 2, dims, TL_FLOAT, device_mtype, 0, NULL);
}

static void relu_device_run(ln_op_arg *op_arg)
{
    const ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src");
    const ln_tensor_entry *dst =
        ln_tensor_list_find_entry(op_arg->tensors_out, op_arg->tensor_table, "dst");
    for (int i = 0; i < 6; i++) {
        float x = ((const float *)src->tensor->data)[i];
        ((float *)dst->tensor->data)[i] = x > 0 ? x : 0;
    }
}

static void check_on_device(ln_mem_type mtype)
{
    CHECK_OK(ln_arch_init());
    device_mtype = mtype;
    ln_op_arg input_arg = {.optype = "input_device", .arch = "device"};
    ln_op input = {.op_arg = &input_arg, .pre_run = define_dst, .post_run = ln_op_undefine_outputs};
    ln_op_arg relu_arg = {.optype = "relu_device", .arch = "device"};
    ln_op relu = {.op_arg = &relu_arg,
                  .pre_run = define_dst,
                  .run = relu_device_run,
                  .post_run = ln_op_undefine_outputs};
    ln_op *ops[] = {&input, &relu, NULL};
    ln_expander_func ep_funcs[] = {lower_to_device, NULL};
    const ln_mem_info mem_info = {.alloc_func = device_alloc,
                                  .free_func = ln_free_aligned,
                                  .memset_func = memset,
                                  .max_size = 1 << 20,
                                  .align_size = LN_MEM_ALIGN};
    ln_arch device = {.arch_name = "device",
                      .reg_ops = ops,
                      .ep_funcs = ep_funcs,
                      .rules = ln_arch_find("ref")->rules,
                      .prepare = device_prepare,
                      .run = device_run,
                      .release = device_release};
    if (mtype != LN_MEM_CPU) {
        device.mem_type = mtype;
        device.mem_info = &mem_info;
        device.copy_in = memmove;
        device.copy_out = memmove;
    }
    CHECK_OK(ln_arch_register(&device));
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);"
                                "relu(src=x | dst=y |);",
                                "device");
    ln_ndarray *array = floats(3, 2, (float[]){-1, 4, 2, -5, -3, 6}), *turned, *seen;
    CHECK_OK(ln_ndarray_transpose(array, NULL, &turned));
    CHECK_OK(ln_context_set_array(ctx, "x", turned));
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){0, 2, 0, 4, 0, 6});
    int is_bound = 7;
    ln_ndarray *straight = floats(2, 3, (float[]){1, 2, 3, 4, 5, 6});
    CHECK_OK(ln_context_bind_array(ctx, "x", straight, &is_bound));
    CHECK_EQ(is_bound, 0);
    CHECK_FAILS(ln_context_bind_array(ctx, "x", straight, NULL), LN_UNSUPPORTED);
    CHECK_MESSAGE(mtype == LN_MEM_CPU ? "group" : "main memory");
    CHECK_OK(ln_context_run(ctx));
    check_tensor(ctx, "y", (float[]){1, 2, 3, 4, 5, 6});
    ln_status status = ln_context_get_array(ctx, "y", &seen);
    CHECK_EQ(status, mtype == LN_MEM_CPU ? LN_OK : LN_UNSUPPORTED);
    ln_ndarray_release(seen);
    ln_ndarray_release(straight);
    ln_ndarray_release(turned);
    ln_ndarray_release(array);
    close_context(ctx);
    CHECK_OK(ln_arch_unregister("device"));
    ln_arch_cleanup();
}

TEST(groups_and_device_memory_get_copies)
{
    check_on_device(LN_MEM_CPU);
    check_on_device(LN_MEM_DPU);
}

// ---- Memory ----

TEST(every_allocation_may_fail)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(VIEW_MODEL, "cpu");
    const float numbers[6] = {1, 2, 3, 4, 5, 6};
    OOM_SWEEP(n)
    {
        ln_ndarray *array, *seen = NULL;
        ln_status status = ln_ndarray_create(2, (int64_t[]){2, 3}, float32, &array);
        if (status == LN_OK)
            status = ln_ndarray_set_bytes(array, numbers, sizeof numbers);
        if (status == LN_OK)
            status = ln_context_set_array(ctx, "x", array);
        if (status == LN_OK)
            status = ln_context_bind_array(ctx, "x", array, NULL);
        if (status == LN_OK)
            status = ln_context_get_array(ctx, "y", &seen);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_ndarray_release(array);
        ln_ndarray_release(seen);
        CHECK_OK(ln_context_bind_array(ctx, "x", NULL, NULL));
    }
    CHECK(n >= 6);
    close_context(ctx);
    ln_arch_cleanup();
}

// Of a constant that only loading reads, what was folded from it changes.
TEST(a_folded_constant_that_is_set_as_an_array_is_folded_anew)
{
    static float x[192], y[2][256];
    static const float s[4] = {3, 0.5f, 2, 1};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 192; i++)
        x[i] = (float)(i % 13) - 6;
    for (int is_array = 0; is_array < 2; is_array++) {
        ln_context *ctx = load_text(CONV_MODEL, "cpu");
        ln_ndarray *array;
        CHECK_OK(ln_ndarray_create(1, (int64_t[]){4}, float32, &array));
        CHECK_OK(ln_ndarray_set_bytes(array, s, sizeof s));
        CHECK_OK(is_array ? ln_context_set_array(ctx, "s", array)
                          : ln_context_set_data_n(ctx, "s", s, sizeof s));
        ln_ndarray_release(array);
        CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_data_n(ctx, "y", y[is_array], sizeof y[0]));
        close_context(ctx);
    }
    CHECK_MEM_EQ(y[0], y[1], sizeof y[0]);
    ln_arch_cleanup();
}

TEST_LIST(a_folded_constant_that_is_set_as_an_array_is_folded_anew,
          dimensions_of_1_may_be_there_or_not, arrays_of_any_strides_are_set,
          an_array_that_does_not_fit_changes_nothing,
          a_constant_that_is_set_makes_static_operators_run_again,
          bools_of_one_byte_become_bools_of_four,
          an_array_of_a_tensor_is_its_memory_and_outlives_the_context,
          a_constant_seen_as_an_array_is_read_only_and_keeps_its_memory,
          a_result_goes_to_a_consumer_without_a_copy,
          a_bound_input_reads_the_callers_memory_and_so_do_its_views,
          writing_on_ones_own_leaves_what_the_context_holds,
          setting_a_bound_input_does_not_write_to_the_array, unload_gives_the_array_back,
          arrays_that_do_not_lie_right_are_copied, slices_of_a_bound_input_follow_it,
          a_network_gives_the_same_bits_bound_or_set, an_input_under_an_operator_in_place_is_copied,
          an_input_laid_into_another_tensor_is_copied, groups_and_device_memory_get_copies,
          every_allocation_may_fail)
