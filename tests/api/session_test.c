// SPDX-License-Identifier: Apache-2.0
// Programs and sessions: what they share, what is each one's own, and what they refuse.

#include <pthread.h>
#include <stdlib.h>

#include <lightnet/call.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>
#include <lightnet/program.h>
#include <lightnet/util.h>

#include "base/deadline.h"
#include "op/call.h"
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

// ---- Workspace ----

// Operators that compute in workspace: a packed convolution, a sort, attention, a recurrence.
#define WITH_WORKSPACE                                                                             \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 3, 12, 12]);\n"                                      \
    "create(| dst=w1 | dtype=TL_FLOAT, dims=[16, 3, 3, 3], ran=[-1, 1]);\n"                        \
    "create(| dst=w2 | dtype=TL_FLOAT, dims=[64, 8], ran=[-1, 1]);\n"                              \
    "create(| dst=w3 | dtype=TL_FLOAT, dims=[1, 64, 64], ran=[-1, 1]);\n"                          \
    "create(| dst=r3 | dtype=TL_FLOAT, dims=[1, 64, 16], ran=[-1, 1]);\n"                          \
    "Conv(X=x, W=w1 | Y=a | pads=[1, 1, 1, 1]);\n"                                                 \
    "reshape(src=a | dst=b | dims=[36, 1, 64]);\n"                                                 \
    "LSTM(X=b, W=w3, R=r3 | Y=c | hidden_size=16);\n"                                              \
    "reshape(src=b | dst=e | dims=[36, 64]);\n"                                                    \
    "MatMul(A=e, B=w2 | Y=f |);\n"                                                                 \
    "reshape(src=f | dst=q | dims=[1, 1, 36, 8]);\n"                                               \
    "Attention(Q=q, K=q, V=q | Y=g |);\n"                                                          \
    "reshape(src=g | dst=h | dims=[288]);\n"                                                       \
    "reshape(src=c | dst=i | dims=[576]);\n"                                                       \
    "Concat(inputs1=h, inputs2=i | concat_result=j | axis=0);\n"                                   \
    "topk(src=j | dst=y | k=100);\n"                                                               \
    "output(src=y | |);\n"

#define BUSY_THREADS 4
#define BUSY_ROUNDS  40
#define SORTED_COUNT 100

typedef struct busy_job {
    ln_session *session;
    int seed;
    ln_status status;
    float y[BUSY_ROUNDS][SORTED_COUNT];
} busy_job;

static ln_status run_sorted(ln_session *session, int seed, float y[SORTED_COUNT])
{
    float x[X_COUNT];
    fill(x, seed);
    LN_TRY(ln_session_set_data(session, "x", x, sizeof x));
    LN_TRY(ln_session_run(session));
    return ln_session_get_data(session, "y", y, SORTED_COUNT * sizeof *y);
}

static void *work_busily(void *argument)
{
    busy_job *j = argument;
    for (int i = 0; i < BUSY_ROUNDS && j->status == LN_OK; i++)
        j->status = run_sorted(j->session, j->seed + i, j->y[i]);
    return NULL;
}

static void check_busy(const char *target)
{
    ln_program *program = program_of(WITH_WORKSPACE, target);
    CHECK(ln_program_is_fixed(program));
    ln_session *alone = session_of(program);
    static busy_job jobs[BUSY_THREADS];
    pthread_t threads[BUSY_THREADS];
    for (int i = 0; i < BUSY_THREADS; i++) {
        jobs[i] = (busy_job){.session = session_of(program), .seed = 5 * i};
        CHECK_EQ(pthread_create(&threads[i], NULL, work_busily, &jobs[i]), 0);
    }
    for (int i = 0; i < BUSY_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BUSY_THREADS; i++) {
        CHECK_OK(jobs[i].status);
        for (int k = 0; k < BUSY_ROUNDS; k++) {
            float y[SORTED_COUNT];
            CHECK_OK(run_sorted(alone, 5 * i + k, y));
            CHECK_MEM_EQ(jobs[i].y[k], y, sizeof y);
        }
        ln_session_free(jobs[i].session);
    }
    ln_session_free(alone);
    ln_program_release(program);
}

TEST(sessions_that_run_at_once_do_not_share_workspace)
{
    CHECK_OK(ln_arch_init());
    check_busy("cpu");
    check_busy("ref");
    ln_arch_cleanup();
}

// A type with one input X and one output Y, and what computes it on ref.
typedef struct own_type {
    char names[2][16];
    ln_op_info infos[2];
    ln_op_arg args[2];
    ln_op ops[2];
} own_type;

static void register_own(own_type *own, const char *optype, ln_call_func infer,
                         ln_call_func compute, ln_call_func workspace)
{
    static char archs[][5] = {"none", "ref"};
    const ln_op *relu = ln_op_find("Relu");
    for (int i = 0; i < 2; i++) {
        snprintf(own->names[i], sizeof own->names[i], "%s%s", optype, i ? "_ref" : "");
        own->infos[i] = *relu->op_arg->info;
        own->infos[i].infer = infer;
        own->infos[i].compute = i ? compute : NULL;
        own->infos[i].workspace = workspace;
        own->args[i] = *relu->op_arg;
        own->args[i].optype = own->names[i];
        own->args[i].arch = archs[i];
        own->args[i].info = &own->infos[i];
        own->ops[i] = *relu;
        own->ops[i].op_arg = &own->args[i];
        own->ops[i].run = i ? ln_call_run : NULL;
        CHECK_OK(ln_op_register(&own->ops[i]));
    }
}

static void unregister_own(const own_type *own)
{
    CHECK_OK(ln_op_unregister(own->names[1]));
    CHECK_OK(ln_op_unregister(own->names[0]));
}

// Its output is the address of its workspace.
static ln_status infer_address(ln_call *call)
{
    return ln_call_out(call, 0, TL_INT64, 1, (const int[]){1});
}

static ln_status take_block(ln_call *call)
{
    return ln_call_scratch(call, 1000, 1) ? LN_OK : LN_NO_MEMORY;
}

static ln_status compute_address(ln_call *call)
{
    char *block = ln_call_scratch(call, 1000, 1);
    if (!block)
        return LN_NO_MEMORY;
    memset(block, 1, 1000);
    *(int64_t *)ln_call_dst(call, 0)->data = (int64_t)(uintptr_t)block;
    return LN_OK;
}

TEST(each_session_has_the_address_of_its_own_workspace)
{
    CHECK_OK(ln_arch_init());
    own_type own;
    register_own(&own, "Address", infer_address, compute_address, take_block);
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                "Address(X=x | Y=y |);\n",
                                "ref");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK(ln_program_is_fixed(program));
    int64_t addresses[4];
    ln_session *sessions[3];
    for (int i = 0; i < 3; i++) {
        sessions[i] = session_of(program);
        for (int round = 0; round < 2; round++) { // the same in each run
            CHECK_OK(ln_session_run(sessions[i]));
            CHECK_OK(ln_session_get_data(sessions[i], "y", &addresses[i], sizeof *addresses));
        }
    }
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", &addresses[3], sizeof *addresses));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            CHECK(llabs(addresses[i] - addresses[k]) >= 1000);
    for (int i = 0; i < 3; i++)
        ln_session_free(sessions[i]);
    ln_program_release(program);
    close_context(ctx);
    unregister_own(&own);
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

static void check_sum(ln_session *session, float first, float second)
{
    float y[2];
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    CHECK_NEAR(y[0], first, 0);
    CHECK_NEAR(y[1], second, 0);
}

TEST(an_input_gets_its_first_value_again)
{
    static const char fixed[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[3, 5]);\n"
        "input(| dst=z | dtype=TL_FLOAT, dims=[2]);\n"
        "Add(A=x, B=z | C=y |);\n";
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(fixed, "cpu");
    ln_session *session = session_of(program);
    float ones[16] = {1, 1};
    static float bound[16] __attribute__((aligned(LN_MEM_ALIGN))) = {7, 8};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ln_session_set_data(session, "x", ones, 2 * sizeof *ones));
        CHECK_OK(ln_session_set_data(session, "z", ones, 2 * sizeof *ones));
        check_sum(session, 2, 2);
        CHECK_OK(ln_session_reset_input(session, "x"));
        check_sum(session, 4, 6);
        tl_tensor at = {.dtype = TL_FLOAT, .len = 2, .ndim = 1, .dims = (int[]){2}, .data = bound};
        CHECK_OK(ln_session_bind_input(session, "x", &at));
        check_sum(session, 8, 9);
        CHECK_OK(ln_session_reset_input(session, "x"));
        CHECK_OK(ln_session_reset_input(session, "z"));
        check_sum(session, 3, 5);
        CHECK_NEAR(bound[0], 7, 0);
    }
    CHECK_FAILS(ln_session_reset_input(session, "y"), LN_INVALID);
    CHECK_FAILS(ln_session_reset_input(session, "q"), LN_NOT_FOUND);
    CHECK_FAILS(ln_session_reset_input(session, NULL), LN_INVALID);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

TEST(a_dynamic_input_has_no_value_once_it_is_reset)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of("input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
                                     "input(| dst=z | dtype=TL_FLOAT, dims=[2], ran=[0, 0], "
                                     "data=[3, 5]);\n"
                                     "Add(A=x, B=z | C=y |);\n",
                                     "cpu");
    ln_session *session = session_of(program);
    CHECK_OK(ln_session_reset_input(session, "x"));
    CHECK_OK(ln_session_reset_input(session, "z"));
    for (int i = 0; i < 3; i++) {
        ln_object *x = ln_object_new_tensor(TL_FLOAT, 1, (int[]){2}, NULL);
        CHECK_OK(ln_session_set_object(session, "x", x));
        CHECK_OK(ln_session_set_data(session, "z", (float[]){1, 1}, 2 * sizeof(float)));
        check_sum(session, 1, 1);
        CHECK_OK(ln_session_reset_input(session, "z"));
        check_sum(session, 3, 5);
        CHECK_OK(ln_session_reset_input(session, "x"));
        CHECK_FAILS(ln_session_run(session), LN_STATE);
        ln_object_release(x);
    }
    ln_session_free(session);
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

// An argument that is found by its name is in the table of one context: a frame would always read
// what that one holds.
static ln_status infer_added(ln_call *call)
{
    return ln_call_out_like(call, 0, 0);
}

static ln_status compute_added(ln_call *call)
{
    const float *x = ln_call_in(call, 0)->data, *added = ln_call_value_named(call, "added");
    float *y = ln_call_dst(call, 0)->data;
    for (int i = 0; i < ln_call_in(call, 0)->len; i++)
        y[i] = x[i] + added[0];
    return LN_OK;
}

#define ADDED                                                                                      \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1]);\n"                                                 \
    "Added(X=x, added=v | Y=y |);\n"

TEST(an_attribute_that_is_an_input_is_each_sessions_own)
{
    static const ln_arg_info ins[] = {
        {.arg_name = "X"}, {.arg_name = "added", .flags = LN_ARG_ATTRIBUTE}, {.arg_name = NULL}};
    static const char *const names[] = {"X", "added", NULL};
    static const char *const models[] = {"input(| dst=v | dtype=TL_FLOAT, dims=[1]);\n" ADDED,
                                         "create(| dst=v | dtype=TL_FLOAT, dims=[1], ran=[0, 0], "
                                         "data=[2], from_file=false);\n" ADDED};
    CHECK_OK(ln_arch_init());
    own_type own;
    register_own(&own, "Added", infer_added, compute_added, NULL);
    for (int i = 0; i < 2; i++) {
        own.infos[i].ins = ins;
        own.args[i].in_arg_names = (const char **)(uintptr_t)names;
    }
    for (int is_constant = 0; is_constant < 2; is_constant++) {
        ln_program *program = program_of(models[is_constant], "ref");
        CHECK_EQ(ln_program_is_fixed(program), is_constant);
        ln_session *sessions[2] = {session_of(program), session_of(program)};
        for (int i = 0; i < 2 && !is_constant; i++)
            CHECK_OK(ln_session_set_data(sessions[i], "v", (float[]){(float)i + 3}, sizeof(float)));
        for (int i = 0; i < 2; i++) {
            float y;
            CHECK_OK(ln_session_run(sessions[i]));
            CHECK_OK(ln_session_get_data(sessions[i], "y", &y, sizeof y));
            CHECK_NEAR(y, is_constant ? 2 : i + 3, 0);
            ln_session_free(sessions[i]);
        }
        ln_program_release(program);
    }
    unregister_own(&own);
    ln_arch_cleanup();
}

// ---- Limits and time ----

#define DYNAMIC                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"                                                \
    "Add(A=x, B=x | C=y |);\n"

// Limits that are set after loading are those of a run: of the context's and of each session's.
TEST(sessions_have_the_limits_of_the_context)
{
    static const char *const models[] = {NETWORK, DYNAMIC};
    CHECK_OK(ln_arch_init());
    for (int i = 0; i < 2; i++) {
        ln_context *ctx = load_text(models[i], "ref");
        ln_limits limits = ln_limits_default();
        limits.work = 1000;
        ln_context_set_limits(ctx, &limits);
        ln_program *program;
        CHECK_OK(ln_program_create(ctx, &program));
        CHECK_EQ(ln_program_is_fixed(program), i == 0);
        ln_session *session = session_of(program);
        if (i == 1) {
            ln_object *x = ln_object_new_tensor(TL_FLOAT, 1, (const int[]){1000}, NULL);
            CHECK_OK(ln_session_set_object(session, "x", x));
            ln_object_release(x);
        }
        CHECK_FAILS(ln_session_run(session), LN_LIMIT);
        CHECK_MESSAGE("limit of 1000");
        ln_session_free(session);
        ln_program_release(program);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// What ran while the context was loaded costs no run anything.
TEST(sessions_are_charged_what_a_run_of_the_context_is)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 200]);\n"
                                "create(| dst=v | dtype=TL_FLOAT, dims=[200, 200], ran=[-1, 1]);\n"
                                "MatMul(A=v, B=v | Y=w |);\n"
                                "MatMul(A=x, B=w | Y=y |);\n"
                                "output(src=y | |);\n",
                                "ref");
    CHECK_OK(ln_context_run(ctx));
    ln_limits limits = ln_limits_default();
    limits.work = ln_context_work_done(ctx);
    CHECK(limits.work < 200 * 200 * 200);
    for (int i = 0; i < 2; i++) {
        ln_context_set_limits(ctx, &limits);
        ln_program *program;
        CHECK_OK(ln_program_create(ctx, &program));
        CHECK(ln_program_is_fixed(program));
        ln_session *session = session_of(program);
        CHECK_EQ(ln_context_run(ctx), i == 0 ? LN_OK : LN_LIMIT);
        CHECK_EQ(ln_session_run(session), i == 0 ? LN_OK : LN_LIMIT);
        ln_session_free(session);
        ln_program_release(program);
        limits.work -= 1;
    }
    close_context(ctx);
    ln_arch_cleanup();
}

// An operator that runs until its time is over, or for some seconds.
static ln_status infer_wait(ln_call *call)
{
    return ln_call_out_like(call, 0, 0);
}

static ln_status compute_wait(ln_call *call)
{
    double start = ln_clock();
    while (!ln_deadline_passed() && ln_clock() - start < 10)
        continue;
    memset(ln_call_dst(call, 0)->data, 0, tl_tensor_size(ln_call_dst(call, 0)));
    return LN_OK;
}

TEST(sessions_begin_with_the_timeout_of_the_context)
{
    static const char *const models[] = {"input(| dst=x | dtype=TL_FLOAT, dims=[1]);\n"
                                         "Wait(X=x | Y=y |);\n",
                                         "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
                                         "Wait(X=x | Y=y |);\n"};
    CHECK_OK(ln_arch_init());
    own_type own;
    register_own(&own, "Wait", infer_wait, compute_wait, NULL);
    for (int i = 0; i < 2; i++) {
        ln_context *ctx = load_text(models[i], "ref");
        CHECK_OK(ln_context_set_timeout(ctx, 0.25));
        ln_program *program;
        CHECK_OK(ln_program_create(ctx, &program));
        CHECK_EQ(ln_program_is_fixed(program), i == 0);
        ln_session *session = session_of(program);
        ln_object *x = ln_object_new_tensor(TL_FLOAT, 1, (const int[]){1}, NULL);
        CHECK_OK(ln_session_set_object(session, "x", x));
        ln_object_release(x);
        CHECK_FAILS(ln_session_run(session), LN_TIMEOUT);
        CHECK_MESSAGE("the limit is 0.25 s");
        ln_session_free(session);
        ln_program_release(program);
        close_context(ctx);
    }
    unregister_own(&own);
    ln_arch_cleanup();
}

// ---- Threads ----

static ln_status infer_pool(ln_call *call)
{
    return ln_call_out(call, 0, TL_INT64, 1, (const int[]){1});
}

static ln_status compute_pool(ln_call *call)
{
    *(int64_t *)ln_call_dst(call, 0)->data = (int64_t)(uintptr_t)call->op_arg->context->pool;
    return LN_OK;
}

TEST(sessions_run_in_the_pool_of_the_context)
{
    CHECK_OK(ln_arch_init());
    own_type own;
    register_own(&own, "Pool", infer_pool, compute_pool, NULL);
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[1]);\nPool(X=x | Y=y |);\n");
    CHECK_OK(ln_context_set_threads(ctx, 3));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_NOT_NULL(ctx->pool);
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK(ln_program_is_fixed(program));
    ln_session *session = session_of(program);
    int64_t pool;
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", &pool, sizeof pool));
    CHECK_EQ(pool, (int64_t)(uintptr_t)ctx->pool);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    unregister_own(&own);
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
          a_hundred_threads_run_one_program, sessions_that_run_at_once_do_not_share_workspace,
          each_session_has_the_address_of_its_own_workspace,
          what_the_context_does_afterwards_is_its_own, inputs_begin_with_their_first_values,
          an_input_gets_its_first_value_again, a_dynamic_input_has_no_value_once_it_is_reset,
          a_model_of_dynamic_shape_has_sessions_too,
          an_attribute_that_is_an_input_is_each_sessions_own,
          sessions_have_the_limits_of_the_context,
          sessions_are_charged_what_a_run_of_the_context_is,
          sessions_begin_with_the_timeout_of_the_context, sessions_run_in_the_pool_of_the_context,
          names_and_sizes_are_checked, a_session_can_be_stopped_and_run_again,
          without_memory_nothing_is_made)
