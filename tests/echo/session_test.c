// SPDX-License-Identifier: Apache-2.0
// Sessions of programs that run on a device and the host: each has a workspace in either memory,
// and all share groups and constants.

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/echo/echo.h"
#include "tests/sanitizer.h"

enum { LEN = 64, THREADS = 4, RUNS = 40 };

// Two groups, host operators before, between and after, and a constant on either side.
static const char model[] = "input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                            "create(| dst=w | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0]);\n"
                            "create(| dst=v | dtype=TL_FLOAT, dims=[64], ran=[-1, 1], data=[0]);\n"
                            "func(src=x | dst=a | func=sin);\n"
                            "elew(src1=a, src2=w | dst=b | elew_op=TL_SUM);\n"
                            "func(src=b | dst=c | func=cos);\n"
                            "elew(src1=c, src2=v | dst=d | elew_op=TL_SUM);\n"
                            "func(src=d | dst=e | func=atan);\n"
                            "elew(src1=e, src2=x | dst=y | elew_op=TL_SUM);\n"
                            "output(src=y | |);\n";

static const char *const on_device[] = {"elew0", "func1", "func2", NULL};

static void fill(float *x, unsigned seed)
{
    for (int i = 0; i < LEN; i++)
        x[i] = (float)((i * 37 + (int)seed * 11) % 101 - 50) / 25;
}

static void run_alone(ln_context *alone, unsigned seed, float *y)
{
    float x[LEN];
    fill(x, seed);
    CHECK_OK(ln_context_set_data(alone, "x", x));
    CHECK_OK(ln_context_run(alone));
    CHECK_NOT_NULL(ln_context_get_data(alone, "y", y));
}

typedef struct shared {
    ln_program *program;
    float expected[THREADS * 8][LEN];
    unsigned first; // seed of the thread
} shared;

static void *run_beside(void *arg)
{
    const shared *s = arg;
    ln_session *session;
    bool is_right = ln_session_create(s->program, &session) == LN_OK;
    for (unsigned round = 0; round < RUNS && is_right; round++) {
        unsigned seed = s->first + round % 8;
        float x[LEN], y[LEN];
        fill(x, seed);
        is_right = ln_session_set_data(session, "x", x, sizeof x) == LN_OK &&
                   ln_session_run(session) == LN_OK &&
                   ln_session_get_data(session, "y", y, sizeof y) == LN_OK &&
                   memcmp(y, s->expected[seed], sizeof y) == 0;
    }
    ln_session_free(session);
    return is_right ? arg : NULL;
}

static void check_threads(const echo_settings *settings)
{
    static shared all[THREADS];
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(settings);
    ln_context *alone = load_text(model, "ref"), *ctx = load_text(model, "echo,ref");
    for (unsigned seed = 0; seed < THREADS * 8; seed++)
        run_alone(alone, seed, all[0].expected[seed]);
    close_context(alone);
    CHECK_OK(ln_program_create(ctx, &all[0].program));
    close_context(ctx);
    CHECK(ln_program_is_fixed(all[0].program));
    int groups = echo_live_groups();
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        if (i > 0)
            all[i] = all[0];
        all[i].first = i * 8;
        CHECK_EQ(pthread_create(&threads[i], NULL, run_beside, &all[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK_NOT_NULL(result);
    }
    CHECK_EQ(echo_live_groups(), groups); // sessions prepare none
    CHECK_EQ(groups, 2);
    ln_program_release(all[0].program);
    echo_close(echo);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), 0);
    CHECK_EQ(echo_live_groups(), 0);
    ln_arch_cleanup();
}

TEST(threads_run_sessions_on_one_device)
{
    check_threads(&(echo_settings){ECHO_DEFAULTS, .names = on_device});
}

TEST(threads_run_sessions_on_one_device_that_waits_itself)
{
    echo_settings settings = {ECHO_DEFAULTS, .names = on_device};
    settings.is_async = false;
    check_threads(&settings);
}

TEST(threads_run_sessions_on_a_device_in_main_memory)
{
    check_threads(&(echo_settings){ECHO_DEFAULTS, .names = on_device, .shares_main = true});
}

TEST(constants_of_a_device_are_shared_and_workspaces_are_not)
{
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .names = on_device});
    ln_context *ctx = load_text(model, "echo,ref");
    size_t statics = ln_context_static_bytes(ctx, LN_MEM_DPU);
    size_t workspace = ln_context_workspace_bytes(ctx, LN_MEM_DPU);
    ln_program *program;
    ln_session *sessions[3];
    CHECK_OK(ln_program_create(ctx, &program));
    size_t before = echo_live_bytes(LN_MEM_DPU);
    CHECK(statics > 64 && workspace > 0 && before == statics + workspace);
    for (int i = 0; i < 3; i++)
        CHECK_OK(ln_session_create(program, &sessions[i]));
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), before + 3 * workspace);
    for (int i = 0; i < 3; i++)
        ln_session_free(sessions[i]);
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), before);
    ln_program_release(program);
    close_context(ctx);
    echo_close(echo);
    ln_arch_cleanup();
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

TEST(a_session_costs_little)
{
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .names = on_device});
    ln_context *ctx = load_text(model, "echo,ref");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    double best = 1;
    for (int i = 0; i < 100; i++) {
        ln_session *session;
        double begin = seconds_now();
        CHECK_OK(ln_session_create(program, &session));
        double seconds = seconds_now() - begin;
        best = seconds < best ? seconds : best;
        ln_session_free(session);
    }
    printf("a session of two devices: %.1f us\n", best * 1e6);
    CHECK(TEST_ASAN || TEST_TSAN || best < 0.2e-3);
    ln_program_release(program);
    close_context(ctx);
    echo_close(echo);
    ln_arch_cleanup();
}

TEST(a_session_that_gets_no_memory_of_the_device_fails)
{
    CHECK_OK(ln_arch_init());
    ln_arch *echo = echo_open(&(echo_settings){ECHO_DEFAULTS, .names = on_device});
    ln_context *ctx = load_text(model, "echo,ref");
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    size_t before = echo_live_bytes(LN_MEM_DPU);
    echo_fail(ECHO_ALLOC, 0);
    CHECK_FAILS(ln_session_create(program, &session), LN_NO_MEMORY);
    CHECK_MESSAGE("DPU memory");
    CHECK_EQ(echo_live_bytes(LN_MEM_DPU), before);
    CHECK_OK(ln_session_create(program, &session));
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    echo_close(echo);
    ln_arch_cleanup();
}

TEST_LIST(threads_run_sessions_on_one_device, threads_run_sessions_on_one_device_that_waits_itself,
          threads_run_sessions_on_a_device_in_main_memory,
          constants_of_a_device_are_shared_and_workspaces_are_not, a_session_costs_little,
          a_session_that_gets_no_memory_of_the_device_fails)
