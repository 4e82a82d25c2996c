// SPDX-License-Identifier: Apache-2.0
// Models that are never bound: each run takes the plan for the shapes of what its inputs hold.

#include <lightnet/program.h>

#include "tests/api/values.h"
#include "tests/oom.h"

#define WIDTH   64
#define OUTPUTS 1100

// y = relu(x w) * factor, with constants that are worth a plan for each shape. `n` is the rows of
// x.
#define NETWORK                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"N\", \"\"]);\n"                       \
    "input(| dst=factor | dtype=TL_FLOAT, dims=[1], data=[2]);\n"                                  \
    "create(| dst=w | dtype=TL_FLOAT, dims=[64, 1100], ran=[-1, 1]);\n"                            \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Relu(X=m | Y=r |);\n"                                                                         \
    "Mul(A=r, B=factor | C=y |);\n"                                                                \
    "output(src=y | |);\n"

static void fill(float *x, int rows)
{
    for (int i = 0; i < rows * WIDTH; i++)
        x[i] = (float)((i * 7 + rows) % 13) * 0.25F - 1.5F;
}

static void set_x(ln_context *ctx, int rows, int columns)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, DIMS(rows, columns), NULL);
    CHECK_NOT_NULL(x);
    if (columns == WIDTH)
        fill(ln_object_tensor(x)->data, rows);
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    ln_object_release(x);
}

static void set_rows(ln_context *ctx, int rows)
{
    set_x(ctx, rows, WIDTH);
}

// The output of a context that was compiled for these shapes.
static float *expected_of(int rows, float factor)
{
    static float x[40 * WIDTH];
    ln_context *ctx = open_text(NETWORK);
    CHECK_OK(ln_context_set_symbol(ctx, "N", rows));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    fill(x, rows);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_set_data(ctx, "factor", &factor));
    CHECK_OK(ln_context_run(ctx));
    float *y = ln_alloc(sizeof *y * (size_t)rows * OUTPUTS);
    CHECK(ln_context_get_data(ctx, "y", y));
    close_context(ctx);
    return y;
}

static void check_output(const ln_context *ctx, int rows, float factor)
{
    ln_object *y;
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    const tl_tensor *made = ln_object_tensor(y);
    CHECK_EQ(made->ndim, 2);
    CHECK_EQ(made->dims[0], rows);
    float *expected = expected_of(rows, factor);
    CHECK(memcmp(made->data, expected, tl_tensor_size(made)) == 0);
    ln_free(expected);
    ln_object_release(y);
}

TEST(a_run_has_the_bits_of_a_model_that_is_bound_to_its_shape)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    for (int i = 0; i < 60; i++) {
        int rows = 1 + i * 17 % 23; // more than there are plans
        set_rows(ctx, rows);
        CHECK_OK(ln_context_run(ctx));
        CHECK(ln_context_input_is_open(ctx, 0));
        CHECK(ln_context_check(ctx));
        check_output(ctx, rows, 2);
    }
    close_run(ctx);
}

TEST(inputs_keep_their_values_from_run_to_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    set_rows(ctx, 5);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_set_data(ctx, "factor", &(float){-3}));
    CHECK_OK(ln_context_run(ctx)); // x as it was
    check_output(ctx, 5, -3);
    set_rows(ctx, 7);
    CHECK_OK(ln_context_run(ctx)); // the factor as it was
    check_output(ctx, 7, -3);
    ln_object *x;
    CHECK_OK(ln_context_get_object(ctx, "x", &x));
    CHECK_EQ(ln_object_tensor(x)->dims[0], 7);
    ln_object_release(x);
    close_run(ctx);
}

TEST(an_array_of_the_program_stays_bound)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    ln_ndarray *factor;
    int is_bound;
    CHECK_OK(ln_ndarray_create(1, (int64_t[]){1}, tl_dtype_to_dl(TL_FLOAT), &factor));
    CHECK_OK(ln_context_bind_array(ctx, "factor", factor, &is_bound));
    CHECK(is_bound);
    for (int i = 1; i < 5; i++) {
        *(float *)(uintptr_t)ln_ndarray_data(factor) = (float)i; // the program's memory
        set_rows(ctx, i);
        CHECK_OK(ln_context_run(ctx));
        check_output(ctx, i, (float)i);
    }
    ln_ndarray_release(factor);
    close_run(ctx);
}

TEST(clones_and_sessions_follow_too)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu"), *clone;
    set_rows(ctx, 3);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_clone(ctx, &clone));
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    close_context(ctx);
    for (int rows = 6; rows > 1; rows--) {
        set_rows(clone, rows);
        CHECK_OK(ln_context_run(clone));
        check_output(clone, rows, 2);
        ln_object *x, *y;
        CHECK_OK(ln_context_get_object(clone, "x", &x));
        CHECK_OK(ln_session_set_object(session, "x", x));
        CHECK_OK(ln_session_run(session));
        CHECK_OK(ln_session_get_object(session, "y", &y));
        float *expected = expected_of(rows, 2);
        CHECK(memcmp(ln_object_tensor(y)->data, expected, (size_t)rows * OUTPUTS * 4) == 0);
        ln_free(expected);
        ln_object_release(x);
        ln_object_release(y);
    }
    ln_session_free(session);
    ln_program_release(program);
    close_run(clone);
}

TEST(a_clone_can_be_reshaped)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(NETWORK), *clone, *second;
    CHECK_OK(ln_context_set_symbol(ctx, "N", 4));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_clone(ctx, &clone));
    for (int rows = 9; rows > 5; rows--) {
        int dims[2] = {rows, WIDTH};
        ln_input_shape shape = {.tname = "x", .ndim = 2, .dims = dims};
        CHECK_OK(ln_context_reshape(clone, 1, &shape));
        set_rows(clone, rows);
        CHECK_OK(ln_context_run(clone));
        check_output(clone, rows, 2);
        CHECK_OK(ln_context_clone(clone, &second)); // of a plan that is not the first
        close_context(clone);
        clone = second;
    }
    set_rows(ctx, 4);
    CHECK_OK(ln_context_run(ctx));
    check_output(ctx, 4, 2);
    close_context(ctx);
    close_run(clone);
}

TEST(constants_that_are_set_hold_in_the_next_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    set_rows(ctx, 2);
    CHECK_OK(ln_context_run(ctx));
    const char *w = ln_context_tensor_is_static(ctx, "w") ? "w" : NULL;
    static float zeros[WIDTH * OUTPUTS];
    CHECK(w);
    CHECK_OK(ln_context_set_data(ctx, w, zeros));
    CHECK_OK(ln_context_run(ctx));
    ln_object *y;
    CHECK_OK(ln_context_get_object(ctx, "y", &y));
    for (int i = 0; i < 2 * OUTPUTS; i++)
        CHECK_NEAR(((float *)ln_object_tensor(y)->data)[i], 0, 0);
    ln_object_release(y);
    close_run(ctx);
}

TEST(values_that_do_not_fit_are_refused_and_the_next_run_is_right)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    for (int i = 0; i < 3; i++) {
        ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, DIMS(3, WIDTH - 1), NULL);
        CHECK_FAILS(ln_context_set_object(ctx, "x", x), LN_INVALID);
        CHECK_MESSAGE("input 'x'");
        ln_object_release(x);
        set_rows(ctx, 3);
        CHECK_OK(ln_context_run(ctx));
        check_output(ctx, 3, 2);
    }
    CHECK_OK(ln_context_set_timeout(ctx, 1e-9));
    set_rows(ctx, 31);
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    CHECK_OK(ln_context_set_timeout(ctx, 0));
    CHECK_OK(ln_context_run(ctx)); // with what its inputs held
    check_output(ctx, 31, 2);
    close_run(ctx);
}

TEST(a_plan_over_the_limit_is_the_error_of_the_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(NETWORK);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 1 << 20;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    set_rows(ctx, 4000);
    CHECK_FAILS(ln_context_run(ctx), LN_LIMIT);
    CHECK_MESSAGE("1048576"); // not what is left of it without a plan
    set_rows(ctx, 2);
    CHECK_OK(ln_context_run(ctx));
    check_output(ctx, 2, 2);
    close_run(ctx);
}

TEST(a_model_is_unloaded_and_loaded_between_runs)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    for (int rows = 1; rows < 4; rows++) {
        set_rows(ctx, rows);
        CHECK_OK(ln_context_run(ctx));
        check_output(ctx, rows, 2);
        ln_context_unload(ctx);
        CHECK_OK(ln_context_load(ctx, NULL));
    }
    close_run(ctx);
}

static ln_status open_and_run(ln_context *ctx, ln_object *x, ln_object **out_y)
{
    LN_TRY(ln_context_init_mem(ctx, NETWORK, strlen(NETWORK), "model.net"));
    LN_TRY(ln_context_compile(ctx, "cpu"));
    LN_TRY(ln_context_load(ctx, NULL));
    LN_TRY(ln_context_set_object(ctx, "x", x));
    LN_TRY(ln_context_run(ctx));
    return ln_context_get_object(ctx, "y", out_y);
}

// It stays when the plan has gone, and is a value like any other.
TEST(an_output_of_a_run_is_in_the_memory_of_the_context)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    set_rows(ctx, 39);
    CHECK_OK(ln_context_run(ctx));
    CHECK(ln_meter_bytes(ctx->meter) >= sizeof(float) * 39 * OUTPUTS);
    close_run(ctx);
}

// Such runs take no plan of their own: what they compute is there afterwards.
TEST(a_model_that_keeps_its_tensors_shows_those_of_the_run)
{
    static const char text[] = NETWORK "Mul(A=factor, B=factor | C=square |);\n"
                                       "Add(A=y, B=square | C=z |);\noutput(src=z | |);\n";
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_tensors = 1;
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int rows = 2; rows < 5; rows++) {
        float factor = (float)rows, square = 0;
        set_rows(ctx, rows);
        CHECK_OK(ln_context_set_data(ctx, "factor", &factor));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_data_n(ctx, "square", &square, sizeof square));
        CHECK_NEAR(square, factor * factor, 0);
    }
    close_run(ctx);
}

// ---- Observers ----

typedef struct seen {
    ln_context *ctx;
    size_t before, after, known;
} seen;

static void note_before(void *user, const ln_op *op)
{
    seen *s = user;
    s->before++;
    s->known += ln_op_table_find(s->ctx->op_table, op->op_arg->name) == op;
}

static void note_after(void *user, const ln_op *op)
{
    (void)op;
    ((seen *)user)->after++;
}

TEST(an_observer_sees_the_plan_that_runs_and_changes_no_bits)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    for (int rows = 1; rows < 30; rows++) {
        seen s = {.ctx = ctx};
        ln_observer observer = {.before = note_before, .after = note_after, .user = &s};
        ln_context_set_observer(ctx, rows % 3 ? &observer : NULL);
        set_rows(ctx, rows);
        CHECK_OK(ln_context_run(ctx));
        check_output(ctx, rows, 2);
        CHECK_EQ(s.before > 0, rows % 3 != 0);
        CHECK_EQ(s.after, s.before);
        CHECK_EQ(s.known, s.before);
        CHECK(ln_context_input_is_open(ctx, 0));
    }
    close_run(ctx);
}

// How many columns z has follows from values, so the plan of a shape is no frame. Against bound
// contexts, which compile each shape for themselves.
TEST(sizes_that_follow_from_values_follow_too)
{
    static const char text[] = NETWORK "NonZero(X=y | Y=z |);\noutput(src=z | |);\n";
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(text, "cpu");
    for (int k = 0; k < 24; k++) {
        const int rows = 1 + k * 5 % 7;
        seen s = {.ctx = ctx};
        ln_observer observer = {.before = note_before, .after = note_after, .user = &s};
        ln_context_set_observer(ctx, k % 4 == 3 ? &observer : NULL);
        set_rows(ctx, rows);
        CHECK_OK(ln_context_run(ctx));
        check_output(ctx, rows, 2);
        CHECK_EQ(s.known > 0, k % 4 == 3);
        CHECK_EQ(s.known, s.before);
        ln_object *z;
        CHECK_OK(ln_context_get_object(ctx, "z", &z));
        float *y = expected_of(rows, 2);
        int count = 0;
        for (int i = 0; i < rows * OUTPUTS; i++)
            count += y[i] != 0;
        CHECK_EQ(ln_object_tensor(z)->dims[1], count);
        ln_free(y);
        ln_object_release(z);
    }
    close_run(ctx);
}

TEST(running_out_of_memory_is_no_wrong_result)
{
    CHECK_OK(ln_arch_init());
    float *expected = expected_of(3, 2);
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, DIMS(3, WIDTH), NULL);
    fill(ln_object_tensor(x)->data, 3);
    OOM_SWEEP(n)
    {
        ln_object *y = NULL;
        ln_context *ctx = ln_context_create();
        if (ctx && open_and_run(ctx, x, &y) == LN_OK)
            CHECK_NEAR(((float *)ln_object_tensor(y)->data)[5], expected[5], 1e-4);
        ln_object_release(y);
        ln_context_free(ctx);
    }
    ln_object_release(x);
    ln_free(expected);
    ln_arch_cleanup();
}

TEST_LIST(a_run_has_the_bits_of_a_model_that_is_bound_to_its_shape,
          inputs_keep_their_values_from_run_to_run, an_array_of_the_program_stays_bound,
          clones_and_sessions_follow_too, a_clone_can_be_reshaped,
          constants_that_are_set_hold_in_the_next_run,
          values_that_do_not_fit_are_refused_and_the_next_run_is_right,
          a_plan_over_the_limit_is_the_error_of_the_run,
          a_model_is_unloaded_and_loaded_between_runs,
          an_output_of_a_run_is_in_the_memory_of_the_context,
          a_model_that_keeps_its_tensors_shows_those_of_the_run,
          an_observer_sees_the_plan_that_runs_and_changes_no_bits,
          sizes_that_follow_from_values_follow_too, running_out_of_memory_is_no_wrong_result)
