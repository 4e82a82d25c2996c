// SPDX-License-Identifier: Apache-2.0
// Sessions of a program whose images have any height and width: each form of its weights, as the
// algorithms want them, is packed once and in memory once.

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

#include <lightnet/program.h>

#include "tests/api/values.h"
#include "tests/random.h"

// The algorithm is direct up to 5, then Winograd's with tiles of 2, 4 from 11 and 6 from 17 on.
#define CHANNELS     96
#define MAX_SIZE     24
#define FORM(points) ((size_t)CHANNELS * CHANNELS * (points) * sizeof(float))

static const char network[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 96, -1, -1], names=[\"\", \"\", \"h\", \"w\"]);\n"
    "create(| dst=k | dtype=TL_FLOAT, dims=[96, 96, 3, 3], ran=[-0.1, 0.1]);\n"
    "Conv(X=x, W=k | Y=y | pads=[1, 1, 1, 1]);\n"
    "output(src=y | |);\n";

// ---- Runs ----

static ln_program *open_program(void)
{
    return make_program(open_text(network));
}

static ln_object *image_of(int size)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 4, (int[]){1, CHANNELS, size, size}, NULL);
    tl_tensor *t = x ? (tl_tensor *)(uintptr_t)ln_object_tensor(x) : NULL;
    for (int k = 0; t && k < t->len; k++)
        ((float *)t->data)[k] = (float)((k * 7 + size) % 23) / 23 - 0.4F;
    return x;
}

static ln_status run(ln_session *session, int size)
{
    ln_object *x = image_of(size);
    ln_status status = x ? ln_session_set_object(session, "x", x) : LN_NO_MEMORY;
    ln_object_release(x);
    return status == LN_OK ? ln_session_run(session) : status;
}

// What contexts that were compiled for one size each have.
static float *expected[MAX_SIZE + 1];

static void compute_expected(int size)
{
    ln_context *ctx = open_text(network);
    CHECK_OK(ln_context_set_shape(ctx, "x", 4, (int[]){1, CHANNELS, size, size}));
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = "dead,core,widen,fold,layout,settle,join,expand,fuse,combine,subgraph,scratch,"
                     "schedule,order"; // who chooses has no template
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_object *x = image_of(size);
    CHECK_OK(ln_context_set_data(ctx, "x", ln_object_tensor(x)->data));
    ln_object_release(x);
    CHECK_OK(ln_context_run(ctx));
    expected[size] = malloc(ln_context_data_size(ctx, "y"));
    CHECK(ln_context_get_data(ctx, "y", expected[size]));
    close_context(ctx);
}

static void open_library(void)
{
    CHECK_OK(ln_arch_init());
    for (int size = 2; size <= MAX_SIZE; size++)
        if (!expected[size])
            compute_expected(size);
}

static bool has_output(const ln_session *session, int size)
{
    const tl_tensor *y;
    return ln_session_borrow_tensor(session, "y", &y) == LN_OK && y->ndim == 4 &&
           y->dims[2] == size && memcmp(y->data, expected[size], tl_tensor_size(y)) == 0;
}

// ---- Memory ----

static atomic_size_t taken_bytes, largest_request;

static size_t size_of_block(void *p)
{
    return p ? malloc_usable_size(p) : 0;
}

static void *counted_resize(void *user, void *p, size_t size)
{
    (void)user;
    size_t old_bytes = size_of_block(p);
    largest_request = size > largest_request ? size : largest_request;
    void *resized = realloc(p, size);
    if (resized)
        atomic_fetch_add(&taken_bytes, size_of_block(resized) - old_bytes);
    return resized;
}

static void counted_release(void *user, void *p)
{
    (void)user;
    atomic_fetch_sub(&taken_bytes, size_of_block(p));
    free(p);
}

static const ln_allocator counted = {.resize = counted_resize, .release = counted_release};

// Bytes of a new session that has run once.
static size_t count_session(ln_program *program, int size, ln_session **out_session)
{
    size_t before = taken_bytes;
    CHECK_OK(ln_session_create(program, out_session));
    CHECK_OK(run(*out_session, size));
    CHECK(has_output(*out_session, size));
    return taken_bytes - before;
}

// The tables of an instance take less than any form of the weights.
TEST(another_shape_takes_no_memory_for_a_form_that_is_packed)
{
    static const struct {
        int first, later;
        size_t form;
    } cases[] = {{4, 5, FORM(9)}, {8, 9, FORM(16)}, {12, 13, FORM(36)}, {18, 17, FORM(64)}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    open_library();
    ln_allocator_set(&counted);
    ln_program *program = open_program();
    ln_session *sessions[COUNT][4];
    for (int i = 0; i < COUNT; i++) {
        ln_session **of_case = sessions[i];
        size_t first = count_session(program, cases[i].first, &of_case[0]);
        size_t beside = count_session(program, cases[i].first, &of_case[1]);
        size_t later = count_session(program, cases[i].later, &of_case[2]);
        size_t beside_later = count_session(program, cases[i].later, &of_case[3]);
        CHECK(i == 0 || first - beside >= cases[i].form);
        CHECK(later - beside_later < FORM(9) / 2);
    }
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < 4; k++) {
            CHECK_OK(ln_session_run(sessions[i][k])); // what it reads is still there
            CHECK(has_output(sessions[i][k], k < 2 ? cases[i].first : cases[i].later));
            ln_session_free(sessions[i][k]);
        }
    }
    ln_program_release(program);
    ln_allocator_set(NULL);
    ln_arch_cleanup();
}

// The weights as they are in the model are there for packing alone.
TEST(another_shape_that_packs_nothing_takes_no_memory_for_the_weights)
{
    open_library();
    ln_allocator_set(&counted);
    ln_program *program = open_program();
    ln_session *sessions[2];
    (void)count_session(program, 4, &sessions[0]);
    CHECK(largest_request >= FORM(9));
    largest_request = 0;
    (void)count_session(program, 5, &sessions[1]);
    CHECK(largest_request < FORM(9) / 2);
    for (int i = 0; i < 2; i++)
        ln_session_free(sessions[i]);
    ln_program_release(program);
    ln_allocator_set(NULL);
    ln_arch_cleanup();
}

TEST(memory_stays_bounded_whatever_forms_come_and_go)
{
    open_library();
    ln_allocator_set(&counted);
    ln_program *program = open_program();
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    size_t after_few = 0;
    for (int i = 0; i < 400; i++) {
        int size = 2 + i * 7 % (MAX_SIZE - 1); // more sizes than are kept
        CHECK_OK(run(session, size));
        CHECK(has_output(session, size));
        after_few = i == 40 ? taken_bytes : after_few;
    }
    CHECK(taken_bytes < after_few + FORM(9));
    ln_session_free(session);
    ln_program_release(program);
    ln_allocator_set(NULL);
    ln_arch_cleanup();
}

// ---- Threads ----

typedef struct job {
    ln_program *program;
    int seed;
    int wrong;
} job;

static void *work(void *argument)
{
    job *j = argument;
    ln_session *session;
    j->wrong = ln_session_create(j->program, &session) != LN_OK;
    for (int i = 0; i < 40 && !j->wrong; i++) {
        int size = 2 + (i * 5 + j->seed * 11) % (MAX_SIZE - 1);
        j->wrong = run(session, size) != LN_OK || !has_output(session, size);
    }
    ln_session_free(session);
    return NULL;
}

TEST(threads_that_pack_forms_have_the_bits_of_each_shape)
{
    enum { COUNT = 8 };
    open_library();
    ln_program *program = open_program();
    pthread_t threads[COUNT];
    job jobs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = (job){.program = program, .seed = i};
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK(!jobs[i].wrong);
    }
    ln_program_release(program);
    ln_arch_cleanup();
}

TEST_LIST(another_shape_takes_no_memory_for_a_form_that_is_packed,
          another_shape_that_packs_nothing_takes_no_memory_for_the_weights,
          memory_stays_bounded_whatever_forms_come_and_go,
          threads_that_pack_forms_have_the_bits_of_each_shape)
