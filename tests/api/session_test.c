// SPDX-License-Identifier: Apache-2.0
// Programs and sessions: what they share, what is each one's own, and what they refuse.

#include <pthread.h>

#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/oom.h"

// Convolutions, a pooling, a sum with a constant, a product: in place, joined and apart.
#define NETWORK                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 12, 12]);\n"                                      \
    "create(| dst=w1 | dtype=TL_FLOAT, dims=[8, 3, 3, 3], ran=[-1, 1]);\n"                         \
    "create(| dst=w2 | dtype=TL_FLOAT, dims=[8, 8, 3, 3], ran=[-1, 1]);\n"                         \
    "create(| dst=w3 | dtype=TL_FLOAT, dims=[576, 10], ran=[-1, 1]);\n"                            \
    "create(| dst=c | dtype=TL_FLOAT, dims=[1, 10], ran=[-1, 1]);\n"                               \
    "Conv(X=x, W=w1 | Y=a | pads=[1, 1, 1, 1]);\n"                                                 \
    "Relu(X=a | Y=b |);\n"                                                                         \
    "Conv(X=b, W=w2 | Y=d | pads=[1, 1, 1, 1]);\n"                                                 \
    "Concat(inputs1=b, inputs2=d | concat_result=e | axis=1);\n"                                   \
    "MaxPool(X=e | Y=f | kernel_shape=[2, 2], strides=[2, 2]);\n"                                  \
    "Flatten(input=f | output=g | axis=1);\n"                                                      \
    "MatMul(A=g, B=w3 | Y=h |);\n"                                                                 \
    "Add(A=h, B=c | C=y |);\n"                                                                     \
    "output(src=y | |);\n"

#define X_COUNT (3 * 12 * 12)
#define Y_COUNT 10

static ln_program *program_of(const char *text, const char *target)
{
    ln_context *ctx = load_text(text, target);
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx); // the program needs it no longer
    return program;
}

static ln_session *session_of(ln_program *program)
{
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    CHECK_NOT_NULL(session);
    return session;
}

static void fill(float x[X_COUNT], int seed)
{
    for (int i = 0; i < X_COUNT; i++)
        x[i] = (float)((i * 31 + seed * 17) % 23 - 11) / 8;
}

static ln_status run(ln_session *session, int seed, float y[Y_COUNT])
{
    float x[X_COUNT];
    fill(x, seed);
    LN_TRY(ln_session_set_data(session, "x", x, sizeof x));
    LN_TRY(ln_session_run(session));
    return ln_session_get_data(session, "y", y, Y_COUNT * sizeof *y);
}

static void run_context(ln_context *ctx, int seed, float y[Y_COUNT])
{
    float x[X_COUNT];
    fill(x, seed);
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, Y_COUNT * sizeof *y));
}

// ---- What they compute ----

static void check_target(const char *target)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, target);
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK(ln_program_is_fixed(program));
    ln_session *first = session_of(program), *second = session_of(program);
    float expected[2][Y_COUNT], y[2][Y_COUNT];
    for (int seed = 0; seed < 6; seed += 2) {
        run_context(ctx, seed, expected[0]);
        run_context(ctx, seed + 1, expected[1]);
        CHECK_OK(run(first, seed, y[0]));
        CHECK_OK(run(second, seed + 1, y[1]));
        CHECK_MEM_EQ(y, expected, sizeof y);
    }
    const float *borrowed[2];
    size_t size;
    CHECK_OK(ln_session_borrow_data(first, "y", (const void **)&borrowed[0], &size));
    CHECK_OK(ln_session_borrow_data(second, "y", (const void **)&borrowed[1], &size));
    CHECK_EQ(size, sizeof y[0]);
    CHECK(borrowed[0] != borrowed[1]);
    CHECK_MEM_EQ(borrowed[0], y[0], size);
    ln_session_free(first);
    ln_session_free(second);
    ln_program_release(program);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(sessions_compute_what_the_context_does)
{
    check_target("cpu");
    check_target("ref");
}

TEST(a_run_takes_no_memory)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(NETWORK, "cpu");
    ln_session *session = session_of(program);
    float y[Y_COUNT];
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    ln_status status = run(session, 1, y);
    test_oom_stop();
    CHECK_OK(status);
    CHECK_EQ(counter.requests, 0);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

// ---- Many threads ----

#define THREADS 100
#define ROUNDS  4

typedef struct job {
    ln_program *program;
    int seed;
    ln_status status;
    float y[ROUNDS][Y_COUNT];
} job;

static void *work(void *argument)
{
    job *j = argument;
    ln_session *session;
    j->status = ln_session_create(j->program, &session);
    for (int i = 0; i < ROUNDS && j->status == LN_OK; i++)
        j->status = run(session, j->seed + i, j->y[i]);
    ln_session_free(session);
    ln_program_release(j->program);
    return NULL;
}

TEST(a_hundred_threads_run_one_program)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(NETWORK, "cpu");
    ln_session *alone = session_of(program);
    static job jobs[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.program = ln_program_retain(program), .seed = i};
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    ln_program_release(program);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        CHECK_OK(jobs[i].status);
        for (int k = 0; k < ROUNDS; k++) {
            float y[Y_COUNT];
            CHECK_OK(run(alone, i + k, y));
            CHECK_MEM_EQ(jobs[i].y[k], y, sizeof y);
        }
    }
    ln_session_free(alone);
    ln_arch_cleanup();
}

// ---- Inputs and constants ----

TEST(what_the_context_does_afterwards_is_its_own)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                "create(| dst=w | dtype=TL_FLOAT, dims=[2], ran=[0, 0], "
                                "data=[3, 5]);\n"
                                "Add(A=x, B=w | C=y |);\n",
                                "cpu");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_context_set_data_n(ctx, "w", (float[]){7, 7}, 8));
    CHECK_OK(ln_context_set_data_n(ctx, "x", (float[]){9, 9}, 8));
    ln_session *session = session_of(program);
    float y[2];
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    CHECK_NEAR(y[0], 3, 0);
    CHECK_NEAR(y[1], 5, 0);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
    CHECK_NEAR(y[0], 16, 0);
    close_context(ctx);
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    CHECK_NEAR(y[1], 5, 0);
    ln_program_release(program); // the session holds it
    CHECK_OK(ln_session_run(session));
    ln_session_free(session);
    ln_arch_cleanup();
}

TEST(inputs_begin_with_their_first_values)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of("input(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[0, 0], "
                                     "data=[3, 5]);\n"
                                     "input(| dst=z | dtype=TL_FLOAT, dims=[2]);\n"
                                     "Add(A=x, B=z | C=y |);\n",
                                     "cpu");
    for (int i = 0; i < 3; i++) {
        ln_session *session = session_of(program);
        float y[2];
        CHECK_OK(ln_session_run(session));
        CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
        CHECK_NEAR(y[0], 3, 0);
        CHECK_NEAR(y[1], 5, 0);
        CHECK_OK(ln_session_set_data(session, "x", (float[]){1, 1}, sizeof y));
        CHECK_OK(ln_session_set_data(session, "z", (float[]){1, 1}, sizeof y));
        CHECK_OK(ln_session_run(session));
        ln_session_free(session);
    }
    ln_program_release(program);
    ln_arch_cleanup();
}

// ---- Models that do not fit ----

TEST(a_model_of_dynamic_shape_has_sessions_too)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of("input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
                                     "Add(A=x, B=x | C=y |);\n",
                                     "cpu");
    CHECK(!ln_program_is_fixed(program));
    ln_session *session = session_of(program);
    for (int len = 1; len < 4; len++) {
        ln_object *x = ln_object_new_tensor(TL_FLOAT, 1, (int[]){len}, NULL), *y;
        CHECK_NOT_NULL(x);
        ((float *)ln_object_tensor(x)->data)[len - 1] = (float)len;
        CHECK_OK(ln_session_set_object(session, "x", x));
        ln_object_release(x);
        CHECK_OK(ln_session_run(session));
        CHECK_OK(ln_session_get_object(session, "y", &y));
        CHECK_EQ(ln_object_tensor(y)->len, len);
        CHECK_NEAR(((const float *)ln_object_tensor(y)->data)[len - 1], 2 * len, 0);
        ln_object_release(y);
    }
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

// ---- What is refused ----

TEST(names_and_sizes_are_checked)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(NETWORK, "cpu");
    ln_session *session = session_of(program);
    float data[X_COUNT] = {0};
    CHECK_EQ(ln_session_tensor_dtype(session, "x"), TL_FLOAT);
    CHECK_EQ(ln_session_tensor_dtype(session, "nobody"), TL_DTYPE_INVALID);
    CHECK_EQ(ln_session_tensor_dtype(NULL, "x"), TL_DTYPE_INVALID);
    CHECK_FAILS(ln_session_set_data(session, "x", data, 4), LN_INVALID);
    CHECK_MESSAGE("has 1728 bytes, the data 4");
    CHECK_FAILS(ln_session_set_data(session, "x", NULL, sizeof data), LN_INVALID);
    CHECK_FAILS(ln_session_set_data(session, "y", data, Y_COUNT * 4), LN_INVALID);
    CHECK_FAILS(ln_session_set_data(session, "w1", data, 4), LN_NOT_FOUND);
    CHECK_FAILS(ln_session_get_data(session, "y", data, sizeof data), LN_INVALID);
    CHECK_FAILS(ln_session_get_data(NULL, "y", data, 4), LN_INVALID);
    const void *borrowed;
    size_t size;
    CHECK_FAILS(ln_session_borrow_data(session, "q", &borrowed, &size), LN_NOT_FOUND);
    CHECK(!borrowed && size == 0);
    ln_object *object = ln_object_new_tensor(TL_FLOAT, 1, (int[]){7}, NULL);
    CHECK_FAILS(ln_session_set_object(session, "x", object), LN_INVALID);
    CHECK_MESSAGE("[1, 3, 12, 12], not float32 [7]");
    ln_object_release(object);
    CHECK_FAILS(ln_session_run(NULL), LN_INVALID);
    ln_session_free(session);
    CHECK_FAILS(ln_session_create(NULL, &session), LN_INVALID);
    CHECK_NULL(session);

    const char *name;
    const tl_tensor *tensor;
    CHECK_EQ(ln_program_input_count(program), 1);
    CHECK_OK(ln_program_input(program, 0, &name, &tensor));
    CHECK_STR_EQ(name, "x");
    CHECK_EQ(tensor->len, X_COUNT);
    CHECK_NULL(tensor->data);
    CHECK_OK(ln_program_output(program, 0, &name, NULL));
    CHECK_STR_EQ(name, "y");
    CHECK_FAILS(ln_program_output(program, 1, &name, &tensor), LN_NOT_FOUND);
    CHECK_NULL(name);
    ln_program_release(program);

    ln_context *ctx = open_text(NETWORK);
    CHECK_FAILS(ln_program_create(ctx, &program), LN_STATE);
    CHECK_NULL(program);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_session_can_be_stopped_and_run_again)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(NETWORK, "cpu");
    ln_session *session = session_of(program);
    float y[Y_COUNT], again[Y_COUNT];
    CHECK_OK(run(session, 1, y));
    CHECK_OK(ln_session_set_timeout(session, 1e-9));
    CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
    CHECK_OK(ln_session_set_timeout(session, 0));
    ln_cancel *cancel = ln_cancel_create();
    ln_cancel_request(cancel);
    CHECK_OK(ln_session_set_cancel(session, cancel));
    CHECK_FAILS(ln_session_run(session), LN_CANCELLED);
    CHECK_OK(ln_session_set_cancel(session, NULL));
    ln_cancel_release(cancel);
    CHECK_OK(run(session, 1, again));
    CHECK_MEM_EQ(again, y, sizeof y);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

TEST(without_memory_nothing_is_made)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(NETWORK, "cpu");
    OOM_SWEEP(n)
    {
        ln_program *program;
        ln_session *session = NULL;
        ln_status status = ln_program_create(ctx, &program);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        if (status == LN_OK)
            status = ln_session_create(program, &session);
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        if (status == LN_OK)
            CHECK_OK(ln_session_run(session));
        ln_session_free(session);
        ln_program_release(program);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(sessions_compute_what_the_context_does, a_run_takes_no_memory,
          a_hundred_threads_run_one_program, what_the_context_does_afterwards_is_its_own,
          inputs_begin_with_their_first_values, a_model_of_dynamic_shape_has_sessions_too,
          names_and_sizes_are_checked, a_session_can_be_stopped_and_run_again,
          without_memory_nothing_is_made)
