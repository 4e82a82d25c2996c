// SPDX-License-Identifier: Apache-2.0
// What a file states of inputs and outputs whose shapes are known at run time: it is reported from
// reading on, and values that contradict it are refused where they are set.

#include <lightnet/program.h>

#include "serial/onnx/onnx_testing.h"
#undef DIMS // values.h has those of tensors
#include "tests/api/values.h"

// x FLOAT[N, 4] -> y INT64[N], an ArgMax, and s FLOAT[?, 4] of no symbol.
static ln_context *read_argmax(void)
{
    pb p = {0};
    pb_model(&p, 17);
    pb_value(&p, 11, "x", PB_FLOAT, (int64_t[]){-1, 4, -2});
    pb_begin_node(&p, "ArgMax", "x", "y");
    pb_begin(&p, 5);
    pb_str(&p, 1, "axis");
    pb_int(&p, 3, 1);
    pb_int(&p, 20, 2);
    pb_end(&p);
    pb_begin(&p, 5);
    pb_str(&p, 1, "keepdims");
    pb_int(&p, 3, 0);
    pb_int(&p, 20, 2);
    pb_end(&p);
    pb_end(&p);
    pb_node(&p, "Neg", "x", "s");
    pb_node(&p, "NonZero", "x", "z");
    pb_value(&p, 12, "y", PB_INT64, (int64_t[]){-1, -2});
    pb_value(&p, 12, "s", PB_FLOAT, NULL);
    pb_value(&p, 12, "z", PB_INT64, (int64_t[]){2, -1, -2});
    pb_end(&p);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init_mem(ctx, p.bytes, p.len, "argmax.onnx"));
    pb_free(&p);
    return ctx;
}

static void check_stated(const ln_context *ctx)
{
    CHECK_EQ(ln_context_tensor_dtype(ctx, "y"), TL_INT64);
    CHECK_EQ(ln_context_tensor_rank(ctx, "y"), 1);
    CHECK_EQ(ln_context_tensor_dim(ctx, "y", 0), -1);
    CHECK_STR_EQ(ln_context_tensor_symbol(ctx, "y", 0), "N");
    CHECK_NULL(ln_context_tensor_symbol(ctx, "y", 1));
    CHECK_EQ(ln_context_tensor_dtype(ctx, "s"), TL_FLOAT); // of no stated rank
    CHECK_EQ(ln_context_tensor_rank(ctx, "s"), -1);
    CHECK_NULL(ln_context_tensor_symbol(ctx, "s", 0));
    CHECK_EQ(ln_context_tensor_dtype(ctx, "z"), TL_INT64);
    CHECK_EQ(ln_context_tensor_rank(ctx, "z"), 2);
    CHECK_EQ(ln_context_tensor_dim(ctx, "z", 0), 2);
    CHECK_EQ(ln_context_tensor_dim(ctx, "z", 1), -1);
}

static void run_rows(ln_context *ctx, int rows)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, DIMS(rows, 4), NULL);
    CHECK_NOT_NULL(x);
    for (int r = 0; r < rows; r++)
        ((float *)ln_object_tensor(x)->data)[4 * r + (r + 1) % 4] = 1;
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    ln_object_release(x);
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_INT64, 1, DIMS(rows), NUMBERS(1, 2, 3));
}

TEST(dynamic_outputs_are_what_the_file_states_in_every_state)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = read_argmax(), *clone;
    check_stated(ctx);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    check_stated(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_stated(ctx);
    for (int rows = 1; rows < 4; rows++) {
        run_rows(ctx, rows); // followed, from the second run on
        check_stated(ctx);
    }
    CHECK_OK(ln_context_clone(ctx, &clone));
    check_stated(clone);
    ln_context_free(clone);
    close_run(ctx);
}

TEST(a_bound_output_has_its_shape_and_keeps_its_symbol)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = read_argmax();
    CHECK_OK(ln_context_set_symbol(ctx, "N", 5));
    CHECK_EQ(ln_context_tensor_dim(ctx, "y", 0), 5);
    CHECK_STR_EQ(ln_context_tensor_symbol(ctx, "y", 0), "N");
    CHECK_EQ(ln_context_tensor_rank(ctx, "s"), 2);
    CHECK_EQ(ln_context_tensor_dim(ctx, "s", 1), 4);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_EQ(ln_context_tensor_dim(ctx, "y", 0), 5);
    CHECK_STR_EQ(ln_context_tensor_symbol(ctx, "y", 0), "N");
    close_run(ctx);
}

// Text keeps what the file states, and a model of fixed shapes has nothing to keep.
TEST(what_is_stated_goes_through_text)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = read_argmax(), *again = ln_context_create();
    char *text;
    size_t byte_count;
    CHECK_NOT_NULL(again);
    CHECK_OK(ln_context_write(ctx, "il", &text, &byte_count));
    printf("%s", text);
    CHECK(strstr(text, "output(src=y | | dtype=TL_INT64, dims=[-1], names=[\"N\"]);"));
    CHECK_OK(ln_context_init_mem(again, text, byte_count, "argmax.net"));
    check_stated(again);
    ln_free(text);
    ln_context_cleanup(again);
    CHECK_OK(ln_context_write(ctx, "onnx", &text, &byte_count));
    CHECK_OK(ln_context_init_mem(again, text, byte_count, "argmax.onnx"));
    check_stated(again);
    ln_free(text);
    ln_context_free(again);
    close_run(ctx);
}

TEST(what_an_output_states_in_no_form_is_not_stated)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
                                "Relu(X=x | Y=y |);\n"
                                "Abs(X=x | Y=z |);\n"
                                "output(src=y | | dtype=TL_NOTHING);\n"
                                "output(src=z | | dims=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
                                "1, 1, 1]);\n");
    CHECK_EQ(ln_context_tensor_dtype(ctx, "y"), TL_DTYPE_INVALID);
    CHECK_EQ(ln_context_tensor_rank(ctx, "y"), -1);
    CHECK_EQ(ln_context_tensor_rank(ctx, "z"), -1);
    close_run(ctx);
}

// ---- Values that contradict it ----

#define TWO_INPUTS                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"batch\", \"\"]);\n"                   \
    "input(| dst=any | dtype=TL_FLOAT, dims=[], open=true);\n"                                     \
    "Relu(X=x | Y=y |);\n"                                                                         \
    "Abs(X=any | Y=z |);\n"                                                                        \
    "output(src=y | |);\n"                                                                         \
    "output(src=z | |);\n"

static const struct {
    const char *why, *tname;
    tl_dtype dtype;
    int ndim, dims[3];
    const char *words; // NULL: it fits
} values[] = {
    // clang-format off
    {"as stated", "x", TL_FLOAT, 2, {16, 64}, NULL},
    {"none at all", "x", TL_FLOAT, 2, {0, 64}, NULL},
    {"of doubles", "x", TL_DOUBLE, 2, {16, 64}, "input 'x' is float32 [?, 64] (?: any), not float64 [16, 64]"},
    {"of halves", "x", TL_FLOAT16, 2, {16, 64}, "not float16"},
    {"of integers", "x", TL_INT32, 2, {16, 64}, "not int32"},
    {"of another rank", "x", TL_FLOAT, 3, {2, 8, 64}, "[2, 8, 64]"},
    {"without a dimension of 1", "x", TL_FLOAT, 1, {64}, "[64]"},
    {"of another width", "x", TL_FLOAT, 2, {16, 63}, "[16, 63]"},
    {"of any rank", "any", TL_FLOAT, 3, {2, 1, 3}, NULL},
    {"of any rank, but a type", "any", TL_INT8, 1, {2}, "input 'any' is float32 of any shape"},
    // clang-format on
};

// Sets each value; afterwards the last value that fits is there.
static void check_values(void *model, ln_status (*set)(void *, const char *, ln_object *))
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        printf("%s\n", values[i].why);
        ln_object *value =
            ln_object_new_tensor(values[i].dtype, values[i].ndim, values[i].dims, NULL);
        CHECK_NOT_NULL(value);
        ln_error_clear();
        CHECK_EQ(set(model, values[i].tname, value), values[i].words ? LN_INVALID : LN_OK);
        if (values[i].words)
            CHECK_MESSAGE(values[i].words);
        ln_object_release(value);
    }
    ln_object *item = ln_object_new_tensor(TL_FLOAT, 2, DIMS(16, 64), NULL);
    ln_object *sequence = ln_object_new_sequence(TL_FLOAT, 1, &item);
    CHECK_EQ(set(model, "x", sequence), LN_INVALID);
    CHECK_MESSAGE("input 'x' is a tensor");
    ln_object_release(sequence);
    ln_object_release(item);
}

static ln_status set_in_context(void *model, const char *tname, ln_object *object)
{
    return ln_context_set_object(model, tname, object);
}

static ln_status set_in_session(void *model, const char *tname, ln_object *object)
{
    return ln_session_set_object(model, tname, object);
}

TEST(a_value_that_contradicts_the_model_is_refused_where_it_is_set)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(TWO_INPUTS, "cpu");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    check_values(session, set_in_session);
    CHECK_OK(ln_session_run(session)); // with what it took
    check_values(ctx, set_in_context);
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "z")->tensor->ndim, 3);
    ln_session_free(session);
    ln_program_release(program);
    close_run(ctx);
}

TEST_LIST(dynamic_outputs_are_what_the_file_states_in_every_state,
          a_bound_output_has_its_shape_and_keeps_its_symbol, what_is_stated_goes_through_text,
          what_an_output_states_in_no_form_is_not_stated,
          a_value_that_contradicts_the_model_is_refused_where_it_is_set)
