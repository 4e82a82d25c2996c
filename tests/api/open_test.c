// SPDX-License-Identifier: Apache-2.0
// Tensors whose shapes are known late: symbols, values of any kind, values known while planning.

#include "tests/api/values.h"

#include "ir/context.h"
#include "ir/phase.h"

static ln_object *floats(int ndim, const int *dims, const float *data)
{
    ln_object *object = ln_object_new_tensor(TL_FLOAT, ndim, dims, NULL);
    CHECK_NOT_NULL(object);
    const tl_tensor *tensor = ln_object_tensor(object);
    memcpy(tensor->data, data, tl_tensor_size(tensor));
    return object;
}

static void set_floats(ln_context *ctx, const char *name, int ndim, const int *dims,
                       const float *data)
{
    ln_object *object = floats(ndim, dims, data);
    CHECK_OK(ln_context_set_object(ctx, name, object));
    ln_object_release(object);
}

// ---- Symbols and shapes ----

#define SYMBOLS                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1], names=[\"N\", \"N_max\"]);\n"                  \
    "input(| dst=b | dtype=TL_FLOAT, dims=[-1], names=[\"N_max\"]);\n"                             \
    "Add(A=x, B=b | C=y |);\n"

TEST(a_symbol_binds_all_inputs_that_have_it)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SYMBOLS);
    CHECK(ln_context_input_is_open(ctx, 0) && ln_context_input_is_open(ctx, 1));
    CHECK_OK(ln_context_set_symbol(ctx, "N_max", 3));
    CHECK(ln_context_input_is_open(ctx, 0) && !ln_context_input_is_open(ctx, 1));
    CHECK_OK(ln_context_set_symbol(ctx, "N", 2));
    CHECK(!ln_context_input_is_open(ctx, 0));
    CHECK_EQ(ln_context_data_size(ctx, "y"), 24);
    CHECK_OK(ln_context_set_symbol(ctx, "N", 0)); // again, and none
    CHECK_EQ(ln_context_data_size(ctx, "y"), 0);
    CHECK(!ln_context_input_is_open(ctx, 2));
    close_run(ctx);
}

TEST(an_unknown_symbol_is_answered_with_those_there_are)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SYMBOLS);
    CHECK_FAILS(ln_context_set_symbol(ctx, "M", 3), LN_NOT_FOUND);
    CHECK_MESSAGE("there are: N, N_max");
    CHECK_FAILS(ln_context_set_symbol(ctx, "N", -1), LN_INVALID);
    CHECK_FAILS(ln_context_set_symbol(ctx, "", 1), LN_INVALID);
    CHECK_FAILS(ln_context_set_symbol(ctx, NULL, 1), LN_INVALID);
    CHECK_FAILS(ln_context_set_symbol(NULL, "N", 1), LN_INVALID);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_FAILS(ln_context_set_symbol(ctx, "N", 1), LN_STATE);
    close_run(ctx);
}

// ---- Sizes by default ----

static void check_dims(const ln_context *ctx, const char *tname, int64_t first, int64_t second)
{
    CHECK_EQ(ln_context_tensor_rank(ctx, tname), 2);
    CHECK_EQ(ln_context_tensor_dim(ctx, tname, 0), first);
    CHECK_EQ(ln_context_tensor_dim(ctx, tname, 1), second);
}

#define BY_DEFAULT                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3], bound=[2, 3], bound_is_default=true);\n"        \
    "input(| dst=z | dtype=TL_FLOAT, dims=[-1, 3], bound=[1, 3]);\n"                               \
    "create(| dst=b | dtype=TL_FLOAT, dims=[2, 1], ran=[0, 0], data=[1, 2], from_file=false);\n"   \
    "Add(A=x, B=b | C=m |);\n"                                                                     \
    "Add(A=m, B=z | C=y |);\n"                                                                     \
    "output(src=y | | dtype=TL_FLOAT, dims=[-1, 3]);\n"                                            \
    "output(src=z | | dtype=TL_FLOAT, dims=[1, 3]);\n"

TEST(a_size_by_default_is_open_until_another_is_bound)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(BY_DEFAULT);
    CHECK(!ln_context_input_is_open(ctx, 0));
    CHECK_EQ(ln_context_input(ctx, 0)->tensor->dims[0], 2);
    check_dims(ctx, "x", -1, 3);
    check_dims(ctx, "z", 1, 3); // bound by a caller
    check_dims(ctx, "m", 2, 3); // as it follows
    check_dims(ctx, "y", -1, 3);
    CHECK_EQ(ln_context_data_size(ctx, "y"), 24);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, DIMS(4, 3)), LN_INVALID); // operators refuse it
    check_dims(ctx, "x", -1, 3);
    CHECK_EQ(ln_context_input(ctx, 0)->tensor->dims[0], 2);
    CHECK_OK(ln_context_set_shape(ctx, "z", 2, DIMS(2, 3)));
    check_dims(ctx, "x", -1, 3);
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, DIMS(1, 3)));
    check_dims(ctx, "x", 1, 3);
    check_dims(ctx, "y", 2, 3);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, DIMS(4, 3)), LN_INVALID);
    check_dims(ctx, "x", 1, 3);
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, DIMS(2, 3))); // the same, but the caller's
    check_dims(ctx, "x", 2, 3);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    check_dims(ctx, "x", 2, 3); // still the caller's
    check_dims(ctx, "y", 2, 3);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){"x", 2, DIMS(1, 3)}));
    check_dims(ctx, "x", 1, 3);
    close_context(ctx);

    ctx = open_text(BY_DEFAULT);
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, DIMS(2, 3))); // the same from the beginning
    check_dims(ctx, "x", 2, 3);
    close_run(ctx);
}

static void check_session_rows(ln_program *program, int rows)
{
    static const float data[12] = {1};
    ln_session *session;
    const tl_tensor *y;
    CHECK_OK(ln_session_create(program, &session));
    if (rows != 2) {
        ln_object *x = floats(2, DIMS(rows, 3), data);
        CHECK_OK(ln_session_set_object(session, "x", x));
        ln_object_release(x);
    }
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
    CHECK_EQ(y->ndim, 2);
    CHECK_EQ(y->dims[0], rows);
    ln_session_free(session);
}

TEST(runs_without_a_shape_have_the_size_by_default_in_programs_too)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3], bound=[2, 3], "
                                "bound_is_default=true);\n"
                                "relu(src=x | dst=y |);\n"
                                "output(src=y | | dtype=TL_FLOAT, dims=[-1, 3]);\n");
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    check_dims(ctx, "x", -1, 3);
    CHECK_OK(ln_context_load(ctx, NULL));
    check_dims(ctx, "x", -1, 3);
    check_dims(ctx, "y", -1, 3);
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "y" : "x";
        CHECK_EQ(ln_program_tensor_rank(program, name), 2);
        CHECK_EQ(ln_program_tensor_dim(program, name, 0), -1);
        CHECK_EQ(ln_program_tensor_dim(program, name, 1), 3);
        CHECK_EQ(ln_program_tensor_dim(program, name, 2), -1);
    }
    CHECK(ln_program_is_fixed(program));
    check_session_rows(program, 2);
    check_session_rows(program, 4);
    check_session_rows(program, 1);
    CHECK_EQ(ln_program_tensor_dim(program, "x", 0), -1);
    ln_program_release(program);
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_context_data_size(ctx, "y"), 24);
    CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){"x", 2, DIMS(3, 3)}));
    check_dims(ctx, "x", -1, 3);
    CHECK_EQ(ln_context_input(ctx, 0)->tensor->dims[0], 3);
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_EQ(ln_program_tensor_dim(program, "x", 0), -1);
    ln_program_release(program);
    close_run(ctx);
}

TEST(a_shape_that_does_not_fit_is_refused_with_both)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3]);\n"
                                "Add(A=x, B=x | C=y |);\n");
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, DIMS(2, 4)), LN_INVALID);
    CHECK_MESSAGE("'x' has shape [-1, 3] (-1: any), not [2, 4]");
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 1, DIMS(3)), LN_INVALID);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, DIMS(-2, 3)), LN_INVALID);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, DIMS(INT32_MAX, 3)), LN_INVALID);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", -1, DIMS(3)), LN_INVALID);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_set_shape(ctx, NULL, 0, NULL), LN_INVALID);
    CHECK_FAILS(ln_context_set_shape(ctx, "y", 2, DIMS(2, 3)), LN_NOT_FOUND);
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, DIMS(2, 3)));
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, DIMS(2, 3)));
    CHECK_EQ(ln_context_data_size(ctx, "y"), 24);
    close_run(ctx);
}

// ---- Values ----

#define OPEN_SUM                                                                                   \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"                                                \
    "Add(A=x, B=x | C=t |);\n"                                                                     \
    "Neg(X=t | Y=u |);\n"                                                                          \
    "Abs(X=u | Y=y |);\n"                                                                          \
    "output(src=y | |);\n"

TEST(an_open_input_takes_another_shape_in_each_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(OPEN_SUM, "cpu");
    CHECK_FAILS(ln_context_run(ctx), LN_STATE);
    CHECK_MESSAGE("'x' has no value yet");
    set_floats(ctx, "x", 1, DIMS(3), (float[]){1, 2, 3});
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(3), NUMBERS(2, 4, 6));
    set_floats(ctx, "x", 1, DIMS(0), (float[]){0});
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(0), NULL);
    set_floats(ctx, "x", 1, DIMS(2), (float[]){5, 6});
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(10, 12));
    close_run(ctx);
}

// What an operator makes once it makes again for another shape, and for other values where it has
// read values that come in the run.
TEST(what_was_prepared_for_a_shape_or_a_value_is_not_used_for_another)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1]);\n"
                                "input(| dst=axes | dtype=TL_INT64, dims=[1]);\n"
                                "transpose(src=x | dst=t | axes=[1, 0]);\n"
                                "ReduceSum(data=t, axes=axes | reduced=y | keepdims=0);\n"
                                "output(src=y | |);\n",
                                "cpu");
    static const struct {
        int rows, columns;
        int64_t axis; // of t
        double expected[3];
    } runs[] = {{2, 3, 0, {6, 15}},    {2, 3, 1, {5, 7, 9}}, {3, 2, 1, {9, 12}},
                {3, 2, 0, {3, 7, 11}}, {1, 2, 1, {1, 2}},    {2, 3, 0, {6, 15}}};
    const float numbers[] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        int rows = runs[i].rows, columns = runs[i].columns;
        set_floats(ctx, "x", 2, DIMS(rows, columns), numbers);
        CHECK_OK(ln_context_set_data(ctx, "axes", &runs[i].axis));
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(runs[i].axis ? columns : rows), runs[i].expected);
        if (i == 2) {
            ln_context *clone;
            CHECK_OK(ln_context_clone(ctx, &clone));
            close_context(ctx);
            ctx = clone;
        }
    }
    close_run(ctx);
}

// Taking values by the order of the keys would leave out what is too much.
TEST(sorted_values_are_as_many_as_their_keys)
{
    CHECK_OK(ln_arch_init());
    for (int cpu = 0; cpu < 2; cpu++) {
        ln_context *ctx = load_text("input(| dst=k | dtype=TL_FLOAT, dims=[-1]);\n"
                                    "input(| dst=v | dtype=TL_FLOAT, dims=[-1]);\n"
                                    "sort1d_by_key(src_key=k, src_val=v | dst_key=y, dst_val=z | "
                                    "dir=TL_SORT_DIR_DESCENDING);\n"
                                    "output(src=y | |); output(src=z | |);\n",
                                    cpu ? "cpu" : "ref");
        set_floats(ctx, "k", 1, DIMS(4), (float[]){1, NAN, 3, 1});
        set_floats(ctx, "v", 1, DIMS(4), (float[]){5, 6, 7, 8});
        CHECK_OK(ln_context_run(ctx));
        check_numbers(ctx, "z", TL_FLOAT, 1, DIMS(4), NUMBERS(7, 5, 8, 6));
        set_floats(ctx, "v", 1, DIMS(5), (float[]){5, 6, 7, 8, 9});
        CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
        CHECK_MESSAGE("rank 1 and one length");
        set_floats(ctx, "v", 1, DIMS(3), (float[]){5, 6, 7});
        CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(values_go_after_their_last_reader)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(OPEN_SUM, "ref");
    float x[1000] = {1};
    set_floats(ctx, "x", 1, DIMS(1000), x);
    CHECK_OK(ln_context_run(ctx));
    ln_object *object;
    CHECK_FAILS(ln_context_get_object(ctx, "t", &object), LN_STATE);
    CHECK_NULL(object);
    CHECK_FAILS(ln_context_get_object(ctx, "u", &object), LN_STATE);
    CHECK(ln_context_open_peak(ctx) < 3 * 4000);
    CHECK_OK(ln_context_get_object(ctx, "x", &object)); // an input stays for the next run
    ln_object_release(object);
    CHECK_OK(ln_context_run(ctx));
    close_run(ctx);
}

TEST(a_value_that_is_kept_outlives_the_context)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(OPEN_SUM, "cpu");
    set_floats(ctx, "x", 1, DIMS(2), (float[]){1, 2});
    CHECK_OK(ln_context_run(ctx));
    ln_object *first, *second;
    CHECK_OK(ln_context_get_object(ctx, "y", &first));
    set_floats(ctx, "x", 1, DIMS(2), (float[]){8, 9});
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &second));
    close_run(ctx);
    CHECK_NEAR(((const float *)ln_object_tensor(first)->data)[1], 4, 0);
    CHECK_NEAR(((const float *)ln_object_tensor(second)->data)[1], 18, 0);
    ln_object_release(first);
    ln_object_release(second);
}

TEST(open_tensors_stay_within_the_limit_of_memory)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 10000;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_init_mem(ctx, OPEN_SUM, strlen(OPEN_SUM), "model.net"));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    static float x[100000];
    set_floats(ctx, "x", 1, DIMS(1000), x);
    CHECK_OK(ln_context_run(ctx));
    set_floats(ctx, "x", 1, DIMS(100000), x);
    CHECK_FAILS(ln_context_run(ctx), LN_LIMIT);
    set_floats(ctx, "x", 1, DIMS(1000), x);
    CHECK_OK(ln_context_run(ctx));
    CHECK(ln_context_open_peak(ctx) > 4000 && ln_context_open_peak(ctx) <= 10000);
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(ln_context_open_peak(ctx), 0);
    close_run(ctx);
}

TEST(objects_go_in_and_out_of_closed_tensors)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                "Add(A=x, B=x | C=y |);\n",
                                "cpu");
    set_floats(ctx, "x", 1, DIMS(2), (float[]){3, 4});
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(6, 8));
    ln_object *wrong = floats(1, DIMS(3), (float[]){1, 2, 3}), *object = wrong;
    CHECK_FAILS(ln_context_set_object(ctx, "x", wrong), LN_INVALID);
    CHECK_FAILS(ln_context_set_object(ctx, "x", NULL), LN_INVALID);
    CHECK_FAILS(ln_context_set_object(ctx, "z", wrong), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_set_object(ctx, NULL, wrong), LN_NOT_FOUND);
    CHECK_FAILS(ln_context_set_object(NULL, "x", wrong), LN_STATE);
    CHECK_FAILS(ln_context_get_object(ctx, "z", &object), LN_NOT_FOUND);
    CHECK_NULL(object);
    CHECK_FAILS(ln_context_get_object(ctx, "x", NULL), LN_INVALID);
    ln_object *sequence = ln_object_new_sequence(TL_FLOAT, 1, &wrong);
    CHECK_FAILS(ln_context_set_object(ctx, "x", sequence), LN_INVALID);
    CHECK_MESSAGE("no sequence");
    ln_object_release(sequence);
    ln_object_release(wrong);
    close_run(ctx);
}

TEST(only_inputs_take_values)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(OPEN_SUM, "ref");
    ln_object *object = floats(1, DIMS(1), (float[]){1});
    CHECK_FAILS(ln_context_set_object(ctx, "t", object), LN_INVALID);
    CHECK_MESSAGE("'t' is not an input");
    CHECK_FAILS(ln_context_set_data(ctx, "x", ln_object_tensor(object)->data), LN_STATE);
    ln_object_release(object);
    close_run(ctx);
}

// ---- Outputs that are something else too ----

TEST(an_output_may_be_read_be_an_input_or_a_constant)
{
    CHECK_OK(ln_arch_init());
    for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
        ln_context *ctx = load_text(
            "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
            "create(| dst=c | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[7, 8], "
            "from_file=false);\n"
            "Neg(X=x | Y=t |);\n"
            "Abs(X=t | Y=u |);\n"
            "Add(A=u, B=c | C=y |);\n"
            "output(src=y | |);\noutput(src=t | |);\noutput(src=x | |);\noutput(src=c | |);\n",
            is_cpu ? "cpu" : "ref");
        set_floats(ctx, "x", 1, DIMS(2), (float[]){1, 2});
        CHECK_OK(ln_context_run(ctx));
        CHECK_EQ(ln_context_output_count(ctx), 4);
        CHECK_STR_EQ(ln_context_output(ctx, 1)->name, "t");
        check_numbers(ctx, "y", TL_FLOAT, 1, DIMS(2), NUMBERS(8, 10));
        check_numbers(ctx, "t", TL_FLOAT, 1, DIMS(2), NUMBERS(-1, -2));
        check_numbers(ctx, "x", TL_FLOAT, 1, DIMS(2), NUMBERS(1, 2));
        check_numbers(ctx, "c", TL_FLOAT, 1, DIMS(2), NUMBERS(7, 8));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Known while planning ----

TEST(shapes_that_follow_from_shapes_are_known_before_the_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(
        "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3, 4]);\n"
        "create(| dst=first | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[0], from_file=false);\n"
        "create(| dst=rest | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[-1], from_file=false);\n"
        "Shape(data=x | shape=s |);\n"
        "Gather(data=s, indices=first | output=n |);\n"
        "Concat(inputs1=n, inputs2=rest | concat_result=to | axis=0);\n"
        "Reshape(data=x, shape=to | reshaped=y |);\n");
    const ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    CHECK(!y->is_open);
    CHECK_EQ(y->tensor->ndim, 2);
    CHECK_EQ(y->tensor->dims[1], 12);
    close_run(ctx);
}

TEST(values_of_inputs_are_not_known_before_the_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
                                "input(| dst=s | dtype=TL_INT64, dims=[2]);\n"
                                "Reshape(data=x, shape=s | reshaped=y |);\noutput(src=y | |);\n",
                                "cpu");
    CHECK(ln_tensor_table_find(ctx->tensor_table, "y")->is_open);
    CHECK_OK(ln_context_set_data(ctx, "x", (const float[]){1, 2, 3, 4}));
    CHECK_OK(ln_context_set_data(ctx, "s", (const int64_t[]){2, 2}));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(2, 2), NUMBERS(1, 2, 3, 4));
    CHECK_OK(ln_context_set_data(ctx, "s", (const int64_t[]){-1, 4}));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 2, DIMS(1, 4), NUMBERS(1, 2, 3, 4));
    close_run(ctx);
}

// A few kilobytes of text must not make planning take all memory.
TEST(what_is_known_early_costs_a_bounded_amount)
{
    CHECK_OK(ln_arch_init());
    static char text[400000];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "create(| dst=a | dtype=TL_FLOAT, dims=[128, 128], ran=[0, 0], "
                                  "data=[1], from_file=false);\n");
    for (int i = 0; i < 2000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "Add(A=a, B=a | C=m%d |);\n", i);
    ln_context *ctx = open_text(text);
    size_t byte_count = 0, cursor = 0;
    void *entry;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &entry))
        byte_count += ((ln_tensor_entry *)entry)->known_block ? 65536 : 0;
    CHECK(byte_count > 0 && byte_count <= 16 << 20);
    CHECK_OK(ln_context_rerun_ops(ctx)); // what is freed is free again
    CHECK(((ln_tensor_entry *)ln_tensor_table_find(ctx->tensor_table, "m0"))->known);
    close_run(ctx);
}

// ---- Binding again ----

static ln_context *open_within(const char *text, double work)
{
    ln_context *ctx = ln_context_create();
    ln_limits limits = ctx->limits;
    limits.work = work;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "text.net"));
    return ctx;
}

// That `ctx`, which has been bound to other shapes before, has what a fresh model bound to these
// has.
static void check_as_fresh(const ln_context *ctx, const char *text, size_t count,
                           const ln_input_shape *shapes)
{
    ln_context *fresh = open_within(text, ctx->limits.work);
    CHECK_OK(ln_context_set_shapes(fresh, count, shapes));
    ln_phase phase;
    ln_phase_begin(fresh, LN_PHASE_PLAN, &phase);
    CHECK_OK(ln_phase_end(&phase, ln_context_recheck(fresh)));
    CHECK_EQ(ln_hash_size(ctx->tensor_table), ln_hash_size(fresh->tensor_table));
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(fresh->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *a = value, *b = ln_tensor_table_find(ctx->tensor_table, a->name);
        CHECK_NOT_NULL(b);
        CHECK_EQ(b->is_open, a->is_open);
        CHECK_EQ(b->isstatic, a->isstatic);
        CHECK_EQ(b->tensor->dtype, a->tensor->dtype);
        CHECK(tl_tensor_issameshape(a->tensor, b->tensor));
        CHECK_EQ(!b->known, !a->known);
        if (a->known)
            CHECK(memcmp(a->known, b->known, tl_tensor_size(a->tensor)) == 0);
    }
    ln_context_free(fresh);
}

static void check_bound(ln_context *ctx, const char *text, int n, int m, int k)
{
    const int of_x[] = {n, m}, of_z[] = {k};
    const ln_input_shape shapes[] = {{.tname = "x", .ndim = 2, .dims = of_x},
                                     {.tname = "z", .ndim = 1, .dims = of_z}};
    CHECK_OK(ln_context_set_shapes(ctx, 2, shapes));
    check_as_fresh(ctx, text, 2, shapes);
}

// Constants, what follows from either input or both, views, and values known from shapes.
#define TWO_INPUTS                                                                                 \
    "create(| dst=first | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[0], from_file=false);\n"     \
    "create(| dst=rest | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[-1], from_file=false);\n"     \
    "create(| dst=one | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[3], from_file=false);\n"       \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1]);\n"                                            \
    "input(| dst=z | dtype=TL_FLOAT, dims=[-1]);\n"                                                \
    "Shape(data=x | shape=s |);\n"                                                                 \
    "ConstantOfShape(input=s | output=c |);\n"                                                     \
    "Gather(data=s, indices=first | output=n |);\n"                                                \
    "Concat(inputs1=n, inputs2=rest | concat_result=to | axis=0);\n"                               \
    "Reshape(data=c, shape=to | reshaped=y |);\n"                                                  \
    "Add(A=one, B=one | C=two |);\n"                                                               \
    "Add(A=z, B=two | C=w |);\n"                                                                   \
    "Shape(data=z | shape=sz |);\n"                                                                \
    "Concat(inputs1=s, inputs2=sz | concat_result=both | axis=0);\n"                               \
    "Neg(X=y | Y=v |);\n"

TEST(a_model_bound_again_is_as_one_bound_once)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(TWO_INPUTS);
    check_bound(ctx, TWO_INPUTS, 2, 3, 4);
    check_bound(ctx, TWO_INPUTS, 5, 3, 4);
    check_bound(ctx, TWO_INPUTS, 5, 3, 1); // z alone
    check_bound(ctx, TWO_INPUTS, 1, 1, 7);
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 3, DIMS(1, 2, 3)), LN_INVALID);
    check_bound(ctx, TWO_INPUTS, 0, 4, 7);
    check_bound(ctx, TWO_INPUTS, 2, 3, 4);
    close_run(ctx);
}

// Where not all values can be known, which are does not depend on what was bound before. With 250
// to 256 large ones there is room for them alone, or for those that follow from x too.
TEST(a_model_that_knows_too_much_is_bound_again_as_if_once)
{
    CHECK_OK(ln_arch_init());
    static char text[100000];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  TWO_INPUTS "create(| dst=a | dtype=TL_FLOAT, dims=[128, 128], "
                                             "ran=[0, 0], data=[1], from_file=false);\n");
    for (int i = 0; i < 256; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "Add(A=a, B=a | C=m%d |);\n", i);
        if (i < 249)
            continue;
        ln_context *ctx = open_text(text);
        check_bound(ctx, text, 2, 3, 4);
        check_bound(ctx, text, 128, 128, 4);
        check_bound(ctx, text, 2, 3, 4);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// The same where they are too much work.
TEST(a_model_that_computes_too_much_is_bound_again_as_if_once)
{
    CHECK_OK(ln_arch_init());
    static char text[100000];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  TWO_INPUTS "create(| dst=a | dtype=TL_FLOAT, dims=[128, 128], "
                                             "ran=[0, 0], data=[1], from_file=false);\n");
    for (int i = 0; i < 100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "Add(A=a, B=a | C=m%d |);\n", i);
    ln_context *ctx = open_within(text, 1e5);
    check_bound(ctx, text, 2, 3, 4);
    check_bound(ctx, text, 128, 128, 4);
    CHECK(ctx->is_known_short);
    check_bound(ctx, text, 2, 3, 4);
    close_run(ctx);
}

// ---- LightNet's operators ----

// y of a text whose only input, x, has these dimensions in a run, or is bound to them before.
static ln_object *y_of(const char *text, const char *target, int count, const int (*dims)[4],
                       int ndim, bool is_bound)
{
    static float data[256];
    ln_object *y = NULL;
    for (int i = 0; i < 256; i++)
        data[i] = (float)(i * 37 % 101) / 17 - 2;
    ln_context *ctx = open_text(text);
    if (is_bound)
        CHECK_OK(ln_context_set_shape(ctx, "x", ndim, dims[count - 1]));
    CHECK_OK(ln_context_compile(ctx, target));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int i = is_bound ? count - 1 : 0; i < count; i++) {
        ln_object_release(y);
        set_floats(ctx, "x", ndim, dims[i], data);
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_object(ctx, "y", &y));
    }
    close_context(ctx);
    return y;
}

#define OPEN_X(dims) "input(| dst=x | dtype=TL_FLOAT, dims=" dims ");\n"

TEST(operators_of_lightnet_take_another_shape_in_each_run)
{
    static const struct {
        const char *text;
        int ndim, dims[2][4];
    } rows[] = {
        {OPEN_X("[-1, -1, 3]") "submean(src=x | dst=y | mean=[1, 2, 3], dtype=TL_INT8);",
         3,
         {{2, 5, 3}, {4, 1, 3}}},
        {OPEN_X("[-1, 4]") "transform_bboxSQD(src_delta=x, src_anchor=x | dst=y | width=9, "
                           "height=8, img_width=70, img_height=60, x_shift=1, y_shift=-2);",
         2,
         {{5, 4}, {2, 4}}},
        {OPEN_X("[1, 14, -1, -1]") "create(| dst=a | dtype=TL_FLOAT, dims=[2, 2], ran=[1, 9]);\n"
                                   "detect_yolov3(feature=x, anchors=a | box_centers=c, "
                                   "box_sizes=s, boxes=y, confs=p, probs=q | img_width=64, "
                                   "img_height=32);",
         4,
         {{1, 14, 2, 3}, {1, 14, 4, 1}}},
        {OPEN_X("[-1, 3]") "maxreduce(src=x | dst=y | axis=1);", 2, {{5, 3}, {2, 3}}},
        {OPEN_X("[-1, 3]") "maxreduce_arg(src=x | dst=m, arg=y | axis=0);", 2, {{5, 3}, {2, 3}}},
        {OPEN_X("[-1, 3]") "resize(src=x | dst=y | mode=TL_LINEAR, dims=[4, 2]);",
         2,
         {{5, 3}, {2, 3}}},
        {OPEN_X("[-1, 3]") "resize(src=x | dst=y | mode=cubic, factors=[2, 0.7], antialias=1);",
         2,
         {{5, 3}, {2, 3}}},
        {OPEN_X("[-1, 2, -1, 3]") "upsample(src=x | dst=y | mode=TL_NEAREST, scales=[1, 1, 2, 3]);",
         4,
         {{1, 2, 5, 3}, {2, 2, 4, 3}}},
        {OPEN_X("[-1]") "upsample(src=x | dst=y | mode=TL_LINEAR, scales=[1.5]);", 1, {{9}, {0}}},
        {OPEN_X("[-1]") "dot_product(src1=x, src2=x | dst=y |);", 1, {{9}, {0}}},
        {OPEN_X("[-1]") "create(| dst=i | dtype=TL_INT32, dims=[2], data=[2, 0]);\n"
                        "pick1d(src=x, src_index=i | dst=y | stride=3, len=2);",
         1,
         {{9}, {13}}},
        {OPEN_X("[-1, -1, 2, 5]") "interleave(src1=x, src2=x | dst=y | channels=2, src2_first=3);",
         4,
         {{2, 3, 2, 5}, {1, 4, 2, 5}}},
        {OPEN_X("[-1, -1, 2, 5]") "put_channels(src=x, into=x | dst=y | src_channels=2, "
                                  "dst_first=1);",
         4,
         {{2, 3, 2, 5}, {1, 4, 2, 5}}},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int cpu = 0; cpu < 2; cpu++) {
            for (int count = 1; count <= 2; count++) {
                const char *target = cpu ? "cpu" : "ref";
                ln_object *got =
                    y_of(rows[i].text, target, count, rows[i].dims, rows[i].ndim, false);
                ln_object *wanted =
                    y_of(rows[i].text, "ref", count, rows[i].dims, rows[i].ndim, true);
                const tl_tensor *y = ln_object_tensor(got), *z = ln_object_tensor(wanted);
                if (!tl_tensor_issameshape(y, z) || y->dtype != z->dtype)
                    fail_msg("%s\non %s: %d elements instead of %d", rows[i].text, target, y->len,
                             z->len);
                CHECK_MEM_EQ(y->data, z->data, tl_tensor_size(z));
                ln_object_release(got);
                ln_object_release(wanted);
            }
        }
    }
    ln_arch_cleanup();
}

// A scalar that an operator of dynamic shapes makes has no memory in the plan, so nobody asks where
// in it the result would be.
TEST(a_scalar_of_a_dynamic_operator_is_transposed)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"n\"]);\n"
                                "quantize_dynamic(src=x | dst=q, scale=s, zero=z |);\n"
                                "transpose(src=s | dst=y | axes=[]);\n",
                                "ref");
    set_floats(ctx, "x", 1, (const int[]){2}, (const float[]){0, 255});
    CHECK_OK(ln_context_run(ctx));
    ln_object *y;
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    CHECK_NEAR(*(const float *)ln_object_tensor(y)->data, 1, 0);
    ln_object_release(y);
    close_context(ctx);
    ln_arch_cleanup();
}

// When memory is planned its shape is unknown, so that no operator is asked which channels overlap.
TEST(channels_of_a_dynamic_image_are_not_planned)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"n\"]);\n"
                                "quantize_dynamic(src=x | dst=q, scale=s, zero=z |);\n"
                                "put_channels(src=s, into=s | dst=y | src_channels=1);\n",
                                "ref");
    set_floats(ctx, "x", 1, (const int[]){2}, (const float[]){0, 255});
    CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
    CHECK_MESSAGE("is for images");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(
    a_symbol_binds_all_inputs_that_have_it, an_unknown_symbol_is_answered_with_those_there_are,
    a_shape_that_does_not_fit_is_refused_with_both, an_open_input_takes_another_shape_in_each_run,
    what_was_prepared_for_a_shape_or_a_value_is_not_used_for_another,
    a_scalar_of_a_dynamic_operator_is_transposed, channels_of_a_dynamic_image_are_not_planned,
    sorted_values_are_as_many_as_their_keys, values_go_after_their_last_reader,
    a_value_that_is_kept_outlives_the_context, operators_of_lightnet_take_another_shape_in_each_run,
    open_tensors_stay_within_the_limit_of_memory, objects_go_in_and_out_of_closed_tensors,
    only_inputs_take_values, an_output_may_be_read_be_an_input_or_a_constant,
    shapes_that_follow_from_shapes_are_known_before_the_run,
    values_of_inputs_are_not_known_before_the_run, what_is_known_early_costs_a_bounded_amount,
    a_model_bound_again_is_as_one_bound_once, a_model_that_knows_too_much_is_bound_again_as_if_once,
    a_model_that_computes_too_much_is_bound_again_as_if_once,
    a_size_by_default_is_open_until_another_is_bound,
    runs_without_a_shape_have_the_size_by_default_in_programs_too)
