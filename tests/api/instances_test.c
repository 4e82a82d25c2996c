// SPDX-License-Identifier: Apache-2.0
// Programs whose inputs have dynamic dimensions: each shape is made once, whoever asks for it; what
// is made is shared, kept while it is used, and gives the bits of a model compiled for its shape.

#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <lightnet/call.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>
#include <lightnet/program.h>

#include "base/deadline.h"
#include "op/call.h"
#include "tests/api/values.h"
#include "tests/oom.h"

#define WIDTH    64
#define OUTPUTS  1100
#define MAX_ROWS 48

// ---- An operator that counts how often it is loaded, and may be held up there ----

static atomic_int load_count, is_closed, is_held_up;

// 1: the first that infers here stays until that is 0, and no other comes as far.
static atomic_int is_infer_closed;

static ln_status infer_gate(ln_call *call)
{
    int closed = 1;
    if (atomic_compare_exchange_strong(&is_infer_closed, &closed, 2)) {
        atomic_store(&is_held_up, 1);
        while (atomic_load(&is_infer_closed))
            continue;
        atomic_store(&is_held_up, 0);
    }
    return ln_call_out_like(call, 0, 0);
}

// The first that comes to a closed gate stays there until it is opened, or its time is up.
static ln_status prepare_gate(ln_call *call)
{
    int closed = 1;
    atomic_fetch_add(&load_count, 1);
    if (atomic_compare_exchange_strong(&is_closed, &closed, 2)) {
        atomic_store(&is_held_up, 1);
        while (atomic_load(&is_closed) && !ln_deadline_passed())
            continue;
        atomic_store(&is_held_up, 0);
        if (ln_deadline_passed())
            return ln_call_fail(call, LN_INVALID, "stopped at the gate"); // the run says why
    }
    return ln_call_keep(call, 1, 1) ? LN_OK : LN_NO_MEMORY;
}

static ln_status compute_gate(ln_call *call)
{
    memcpy(ln_call_dst(call, 0)->data, ln_call_in(call, 0)->data,
           tl_tensor_size(ln_call_dst(call, 0)));
    return LN_OK;
}

static struct {
    char names[2][16];
    ln_op_info infos[2];
    ln_op_arg args[2];
    ln_op ops[2];
} gate;

static void open_library(void)
{
    static char archs[][5] = {"none", "ref"};
    CHECK_OK(ln_arch_init());
    const ln_op *relu = ln_op_find("Relu");
    for (int i = 0; i < 2; i++) {
        snprintf(gate.names[i], sizeof gate.names[i], "Gate%s", i ? "_ref" : "");
        gate.infos[i] = *relu->op_arg->info;
        gate.infos[i].infer = infer_gate;
        gate.infos[i].prepare = i ? prepare_gate : NULL;
        gate.infos[i].compute = i ? compute_gate : NULL;
        gate.infos[i].workspace = NULL;
        gate.args[i] = *relu->op_arg;
        gate.args[i].optype = gate.names[i];
        gate.args[i].arch = archs[i];
        gate.args[i].info = &gate.infos[i];
        gate.ops[i] = *relu;
        gate.ops[i].op_arg = &gate.args[i];
        gate.ops[i].run = i ? ln_call_run : NULL;
        CHECK_OK(ln_op_register(&gate.ops[i]));
    }
    atomic_store(&load_count, 0);
    atomic_store(&is_closed, 0);
}

static void close_library(void)
{
    CHECK_OK(ln_op_unregister(gate.names[1]));
    CHECK_OK(ln_op_unregister(gate.names[0]));
    ln_arch_cleanup();
}

// ---- The model ----

// y = the rows of relu(x w), sorted, * factor: sorting takes workspace
#define INPUTS                                                                                     \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"N\", \"\"]);\n"                       \
    "input(| dst=factor | dtype=TL_FLOAT, dims=[1], data=[2]);\n"
#define NETWORK                                                                                    \
    INPUTS                                                                                         \
    "create(| dst=w | dtype=TL_FLOAT, dims=[64, 1100], ran=[-1, 1]);\n"                            \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Gate(X=m | Y=g |);\n"                                                                         \
    "Relu(X=g | Y=r |);\n"                                                                         \
    "topk(src=r | dst=t | k=1100);\n"                                                              \
    "Mul(A=t, B=factor | C=y |);\n"                                                                \
    "output(src=y | |);\n"

#define CAPTURE(name) "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"

// v is y + y, since factor is 2, else y.
static const char branches[] =
    NETWORK "create(| dst=one | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[1], from_file=false);\n"
            "Less(A=one, B=factor | C=is_more |);\n"
            "If(cond=is_more, capture1=y | outputs1=v | then_branch=\"twice\", "
            "else_branch=\"once\");\n"
            "output(src=v | |);\n"
            "graph twice {\n" CAPTURE(
                "y") "Add(A=y, B=y | C=d |);\noutput(src=d | |);\n}\n"
                     "graph once {\n" CAPTURE(
                         "y") "Identity(input=y | output=d |);\noutput(src=d | |);\n}\n";

// v is where y is not 0, which the run knows.
static const char places[] = NETWORK "NonZero(X=y | Y=v |);\noutput(src=v | |);\n";

static void fill(float *x, int rows)
{
    for (int i = 0; i < rows * WIDTH; i++)
        x[i] = (float)((i * 7 + rows) % 13) * 0.25F - 1.5F;
}

static ln_object *rows_of(int rows)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 2, DIMS(rows, WIDTH), NULL);
    if (x)
        fill(ln_object_tensor(x)->data, rows);
    return x;
}

// What is known of N when the model is compiled: nothing, a size, or a range.
typedef enum knowledge { OPEN, BOUND, RANGED, KNOWLEDGES } knowledge;

static ln_status know(ln_context *ctx, knowledge known)
{
    LN_TRY(known == BOUND ? ln_context_set_symbol(ctx, "N", 4) : LN_OK);
    return known == RANGED ? ln_context_set_range(ctx, "N", 1, MAX_ROWS) : LN_OK;
}

static ln_program *program_that_knows(const char *text, knowledge known)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(know(ctx, known));
    return make_program(ctx);
}

static ln_program *program_with(const char *text, const ln_limits *limits)
{
    ln_context *ctx = open_text(text);
    if (limits)
        CHECK_OK(ln_context_set_limits(ctx, limits));
    return make_program(ctx);
}

static ln_session *session_of(ln_program *program)
{
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    return session;
}

static ln_status run(ln_session *session, int rows)
{
    ln_object *x = rows_of(rows);
    ln_status status = x ? ln_session_set_object(session, "x", x) : LN_NO_MEMORY;
    ln_object_release(x);
    LN_TRY(status);
    return ln_session_run(session);
}

// The outputs of contexts that were compiled for one shape each.
static float *expected[MAX_ROWS + 1];

static void compute_expected(int rows)
{
    static float x[MAX_ROWS * WIDTH];
    ln_context *ctx = open_text(NETWORK);
    CHECK_OK(ln_context_set_symbol(ctx, "N", rows));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    fill(x, rows);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    expected[rows] = malloc(sizeof(float) * (size_t)rows * OUTPUTS);
    CHECK(ln_context_get_data(ctx, "y", expected[rows]));
    close_context(ctx);
}

// With the library open.
static void need_expected(int from, int to)
{
    for (int rows = from; rows <= to; rows++)
        if (!expected[rows])
            compute_expected(rows);
    atomic_store(&load_count, 0);
}

static bool has_output(const ln_session *session, int rows)
{
    const tl_tensor *y;
    return ln_session_borrow_tensor(session, "y", &y) == LN_OK && y->ndim == 2 &&
           y->dims[0] == rows && y->dims[1] == OUTPUTS &&
           memcmp(y->data, expected[rows], tl_tensor_size(y)) == 0;
}

// ---- One thread ----

TEST(each_shape_has_the_bits_of_a_model_compiled_for_it)
{
    open_library();
    need_expected(1, MAX_ROWS);
    for (int known = OPEN; known < KNOWLEDGES; known++) {
        ln_program *program = program_that_knows(NETWORK, (knowledge)known);
        CHECK_EQ(ln_program_is_fixed(program), known != OPEN);
        ln_session *session = session_of(program);
        for (int i = 0; i < 120; i++) {
            int rows = 1 + i * 17 % MAX_ROWS; // more than are kept
            CHECK_OK(run(session, rows));
            CHECK(has_output(session, rows));
            CHECK_OK(ln_session_run(session)); // again with the same values
            CHECK(has_output(session, rows));
        }
        ln_session_free(session);
        ln_program_release(program);
    }
    close_library();
}

static void check_stated(const ln_program *p, const ln_session *session)
{
    for (int is_output = 0; is_output < 2; is_output++) {
        const char *name;
        const tl_tensor *stated;
        size_t count = is_output ? ln_program_output_count(p) : ln_program_input_count(p);
        for (size_t i = 0; i < count; i++) {
            CHECK_OK((is_output ? ln_program_output : ln_program_input)(p, i, &name, &stated));
            CHECK_EQ(ln_session_tensor_dtype(session, name), stated->dtype);
            CHECK_EQ(ln_session_tensor_rank(session, name), stated->ndim);
            for (int d = 0; d < stated->ndim; d++)
                CHECK_EQ(ln_session_tensor_dim(session, name, d), stated->dims[d]);
        }
    }
}

#define STATED                                                                                     \
    INPUTS                                                                                         \
    "create(| dst=w | dtype=TL_FLOAT, dims=[64, 1100], ran=[-1, 1]);\n"                            \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Mul(A=m, B=factor | C=y |);\n"                                                                \
    "output(src=y | | dtype=TL_FLOAT, dims=[-1, 1100]);\n"
#define STATED_POSITIONS                                                                           \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"N\", \"\"]);\n"                       \
    "NonZero(X=x | Y=y |);\n"                                                                      \
    "output(src=y | | dtype=TL_INT64, dims=[2, -1]);\n"

// What a program states of its ends is what it states before and after a run, in a frame, with
// values, and in a clone.
TEST(types_and_shapes_are_stated_before_the_first_run)
{
    open_library();
    for (int known = OPEN; known < KNOWLEDGES; known++) {
        ln_context *ctx = open_text(STATED);
        CHECK_OK(know(ctx, (knowledge)known));
        ln_program *program = make_program(ctx);
        ln_session *session = session_of(program);
        const int rows = known == OPEN ? -1 : known == BOUND ? 4 : MAX_ROWS;
        for (int i = 0; i < 2; i++) {
            check_stated(program, session);
            CHECK_EQ(ln_session_tensor_dtype(session, "y"), TL_FLOAT);
            CHECK_EQ(ln_session_tensor_rank(session, "y"), 2);
            CHECK_EQ(ln_session_tensor_dim(session, "y", 0), rows);
            CHECK_EQ(ln_session_tensor_dim(session, "y", 1), OUTPUTS);
            CHECK_OK(run(session, 3 + i));
        }
        ln_session_free(session);
        ln_program_release(program);
    }
    ln_program *program = program_with(STATED_POSITIONS, NULL);
    ln_session *session = session_of(program);
    check_stated(program, session);
    CHECK_EQ(ln_session_tensor_dtype(session, "y"), TL_INT64);
    CHECK_OK(run(session, 3));
    check_stated(program, session);
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

TEST(a_shape_in_use_is_not_dropped_and_used_ones_are_kept)
{
    enum { COUNT = 20 };
    open_library();
    need_expected(1, COUNT);
    ln_program *program = program_with(NETWORK, NULL);
    ln_session *sessions[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sessions[i] = session_of(program);
        CHECK_OK(run(sessions[i], i + 1));
    }
    CHECK_EQ(load_count, COUNT);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < COUNT; i++) {
            CHECK_OK(ln_session_run(sessions[i]));
            CHECK(has_output(sessions[i], i + 1));
        }
    CHECK_EQ(load_count, COUNT);
    for (int i = 0; i < COUNT; i++)
        ln_session_free(sessions[i]);
    ln_session *last = session_of(program);
    for (int round = 0; round < 2; round++)
        for (int rows = COUNT; rows > COUNT - 16; rows--)
            CHECK_OK(run(last, rows));
    CHECK_EQ(load_count, COUNT);
    CHECK_OK(run(last, 1)); // one of those that were dropped
    CHECK(has_output(last, 1));
    CHECK_EQ(load_count, COUNT + 1);
    ln_session_free(last);
    ln_program_release(program);
    close_library();
}

TEST(inputs_keep_their_values_when_shapes_change)
{
    open_library();
    need_expected(1, 9);
    ln_program *program = program_with(NETWORK, NULL);
    ln_session *session = session_of(program);
    float factor = 0;
    const void *bytes;
    size_t size;
    CHECK_OK(ln_session_get_data(session, "factor", &factor, sizeof factor));
    CHECK_NEAR(factor, 2, 0);
    CHECK_FAILS(ln_session_run(session), LN_STATE);
    CHECK_MESSAGE("tensor 'x' has no value");
    CHECK_FAILS(ln_session_borrow_data(session, "y", &bytes, &size), LN_STATE);
    CHECK_FAILS(ln_session_set_data(session, "x", &factor, sizeof factor), LN_STATE);
    CHECK_OK(run(session, 5));
    CHECK(has_output(session, 5));
    CHECK_OK(ln_session_set_data(session, "factor", &(float){0}, sizeof factor));
    CHECK_OK(run(session, 7));
    CHECK_OK(ln_session_borrow_data(session, "y", &bytes, &size));
    CHECK_EQ(size, sizeof(float) * 7 * OUTPUTS);
    for (int i = 0; i < 7 * OUTPUTS; i++)
        CHECK_NEAR(((const float *)bytes)[i], 0, 0);
    CHECK_OK(ln_session_set_data(session, "factor", &(float){2}, sizeof factor));
    CHECK_OK(ln_session_run(session)); // x as it was
    CHECK(has_output(session, 7));
    ln_object *wrong = ln_object_new_tensor(TL_FLOAT, 2, DIMS(3, WIDTH - 1), NULL);
    CHECK_FAILS(ln_session_set_object(session, "x", wrong), LN_INVALID);
    CHECK_MESSAGE("input 'x'");
    ln_object_release(wrong);
    CHECK(has_output(session, 7));
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

TEST(constants_that_were_set_are_those_of_the_program)
{
    static float zeros[WIDTH * OUTPUTS];
    open_library();
    ln_context *ctx = load_text(NETWORK, "cpu");
    CHECK_OK(ln_context_set_data(ctx, "w", zeros));
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    ln_session *session = session_of(program);
    for (int rows = 1; rows < 4; rows++) {
        const tl_tensor *y;
        CHECK_OK(run(session, rows));
        CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
        CHECK_EQ(y->dims[0], rows);
        for (int i = 0; i < y->len; i++)
            CHECK_NEAR(((const float *)y->data)[i], 0, 0);
    }
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

// ---- Bound to a shape ----

TEST(a_bound_program_begins_with_its_shape_and_takes_others)
{
    open_library();
    need_expected(1, 9);
    ln_program *program = program_that_knows(NETWORK, BOUND);
    CHECK_EQ(load_count, 1);
    ln_session *session = session_of(program), *other = session_of(program);
    static float x[MAX_ROWS * WIDTH];
    fill(x, 4);
    CHECK_EQ(ln_session_tensor_dim(session, "x", 0), 4);
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof *x * 4 * WIDTH));
    CHECK_OK(ln_session_set_data(session, "factor", &(float){0}, sizeof(float)));
    CHECK_OK(ln_session_run(session));
    ln_object *six = rows_of(6);
    CHECK_OK(ln_session_set_object(session, "x", six));
    ln_object_release(six);
    const tl_tensor *y;
    CHECK_OK(ln_session_borrow_tensor(session, "y", &y)); // of the last run
    CHECK_EQ(y->dims[0], 4);
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
    CHECK_EQ(y->dims[0], 6);
    for (int i = 0; i < y->len; i++) // the factor is as it was
        CHECK_NEAR(((const float *)y->data)[i], 0, 0);
    CHECK_OK(ln_session_set_data(session, "factor", &(float){2}, sizeof(float)));
    CHECK_OK(ln_session_run(session));
    CHECK(has_output(session, 6));
    CHECK_FAILS(ln_session_set_data(session, "x", x, sizeof *x * 4 * WIDTH), LN_INVALID);
    fill(x, 6);
    CHECK_OK(ln_session_set_data(session, "x", x, sizeof *x * 6 * WIDTH));
    CHECK_OK(ln_session_run(session));
    CHECK(has_output(session, 6));
    CHECK_EQ(load_count, 2);
    CHECK_OK(run(other, 4)); // and in another session
    CHECK(has_output(other, 4));
    CHECK_OK(run(other, 6));
    CHECK(has_output(other, 6));
    CHECK_OK(run(session, 4));
    CHECK(has_output(session, 4));
    CHECK_EQ(load_count, 2);
    for (int rows = 7; rows < 9; rows++) // what is wrong leaves the session as it was
    {
        ln_object *wrong = ln_object_new_tensor(TL_FLOAT, 2, DIMS(rows, WIDTH - 1), NULL);
        CHECK_FAILS(ln_session_set_object(other, "x", wrong), LN_INVALID);
        CHECK_MESSAGE("input 'x'");
        ln_object_release(wrong);
        CHECK_OK(ln_session_run(other));
        CHECK(has_output(other, 6));
    }
    ln_session_free(session);
    ln_session_free(other);
    ln_program_release(program);
    close_library();
}

TEST(a_shape_out_of_range_is_an_error_of_the_run)
{
    open_library();
    need_expected(1, 5);
    ln_program *program = program_that_knows(NETWORK, RANGED);
    ln_session *session = session_of(program);
    for (int rows = 3; rows < 6; rows++) {
        CHECK_FAILS(run(session, MAX_ROWS + rows), LN_INVALID);
        CHECK_MESSAGE("compiled for 1 to 48");
        CHECK_OK(run(session, rows));
        CHECK(has_output(session, rows));
    }
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

// ---- Memory of the caller's ----

static void bind_rows(ln_session *session, int rows, float *x)
{
    const tl_tensor tensor = {
        .dtype = TL_FLOAT, .len = rows * WIDTH, .ndim = 2, .dims = DIMS(rows, WIDTH), .data = x};
    fill(x, rows);
    CHECK_OK(ln_session_bind_input(session, "x", &tensor));
}

static alignas(LN_MEM_ALIGN) float x_there[MAX_ROWS * WIDTH + 1], y_there[MAX_ROWS * OUTPUTS + 1];

static void use_bound_memory(ln_program *program)
{
    static float before[MAX_ROWS * WIDTH];
    float *x = x_there, *y = y_there;
    ln_session *session = session_of(program);
    for (int rows = 12; rows > 0; rows--) {
        int off = rows % 3 == 0; // off a multiple of the alignment
        bind_rows(session, rows, x + off);
        memcpy(before, x + off, sizeof(float) * (size_t)(rows * WIDTH));
        CHECK_OK(ln_session_bind_output(session, "y", y + off, sizeof y_there - sizeof *y));
        CHECK_OK(ln_session_run(session));
        CHECK_MEM_EQ(y + off, expected[rows], sizeof(float) * (size_t)(rows * OUTPUTS));
        CHECK_MEM_EQ(x + off, before, sizeof(float) * (size_t)(rows * WIDTH));
        CHECK(has_output(session, rows));
        if (rows % 2 == 0) {
            CHECK_OK(ln_session_bind_input(session, "x", NULL)); // it keeps its value
            memset(x, 0, sizeof x_there);
            CHECK_OK(ln_session_bind_output(session, "y", NULL, 0));
            memset(y, 0, sizeof y_there);
            CHECK_OK(ln_session_run(session));
            CHECK(has_output(session, rows));
            for (int i = 0; i < rows * OUTPUTS; i++)
                CHECK_NEAR(y[i], 0, 0);
        }
    }
    CHECK_OK(ln_session_bind_output(session, "y", y, 2 * OUTPUTS * sizeof *y));
    CHECK_FAILS(run(session, 3), LN_INVALID);
    CHECK_OK(run(session, 2));
    CHECK_MEM_EQ(y, expected[2], sizeof(float) * 2 * OUTPUTS);
    ln_session_free(session);
}

TEST(bound_memory_is_used_for_each_shape)
{
    open_library();
    need_expected(1, 12);
    for (int known = OPEN; known < KNOWLEDGES; known++) {
        ln_program *program = program_that_knows(NETWORK, (knowledge)known);
        use_bound_memory(program);
        ln_program_release(program);
    }
    close_library();
}

// y = -x without its last element, whose shape is known where the longest row of numbers is one
// that compiling looks at: then its plan is a frame.
static const char some_frames[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"N\"]);\n"
    "create(| dst=axis | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[0], from_file=false);\n"
    "create(| dst=zero | dtype=TL_INT64, dims=[], ran=[0, 0], data=[0], from_file=false);\n"
    "create(| dst=one | dtype=TL_INT64, dims=[], ran=[0, 0], data=[1], from_file=false);\n"
    "Shape(data=x | shape=s |);\n"
    "Gather(data=s, indices=zero | output=n | axis=0);\n"
    "Range(start=zero, limit=n, delta=one | output=r |);\n"
    "ReduceMax(data=r, axes=axis | reduced=last | keepdims=1);\n"
    "Slice(data=x, starts=axis, ends=last, axes=axis | output=t |);\n"
    "Neg(X=t | Y=y |);\n"
    "output(src=y | |);\n";

#define MAX_LENGTH 70000

TEST(bound_memory_is_used_when_some_plans_are_no_frames)
{
    static const int lengths[] = {4, MAX_LENGTH, 5, 4, MAX_LENGTH - 1, MAX_LENGTH, 9};
    static alignas(LN_MEM_ALIGN) float x[MAX_LENGTH], y[MAX_LENGTH];
    open_library();
    ln_context *ctx = open_text(some_frames);
    CHECK_OK(ln_context_set_symbol(ctx, "N", lengths[0]));
    ln_program *program = make_program(ctx);
    ln_session *session = session_of(program);
    CHECK_OK(ln_session_bind_output(session, "y", y, sizeof y));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int len = lengths[i];
        for (int k = 0; k < MAX_LENGTH; k++) {
            x[k] = (float)(k + len);
            y[k] = 7;
        }
        CHECK_OK(ln_session_bind_input(
            session, "x",
            &(tl_tensor){.dtype = TL_FLOAT, .len = len, .ndim = 1, .dims = &len, .data = x}));
        for (int run = 0; run < 2; run++) {
            CHECK_OK(ln_session_run(session));
            for (int k = 0; k < len - 1; k++)
                CHECK_NEAR(y[k], -x[k], 0);
            CHECK_NEAR(y[len - 1], 7, 0);
            x[0] += 1; // read where it is by the next run
        }
    }
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

// Shapes with the same elements in the same order: N=1, M=6 first.
static const char turned[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1, -1], names=[\"N\", \"M\", \"K\"]);\n"
    "create(| dst=two | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[2], from_file=false);\n"
    "ReduceSum(data=x, axes=two | reduced=y | keepdims=0);\n"
    "output(src=y | |);\n";

// Each sum is of powers of two, so that it says which elements it is of.
static void check_sums(ln_session *session, const int *dims)
{
    const tl_tensor *y;
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
    CHECK_EQ(y->ndim, 2);
    CHECK_EQ(y->dims[0], dims[0]);
    CHECK_EQ(y->dims[1], dims[1]);
    for (int i = 0; i < y->len; i++) {
        int sum = 0;
        for (int k = 0; k < dims[2]; k++)
            sum += 1 << (i * dims[2] + k);
        CHECK_NEAR(((const float *)y->data)[i], sum, 0);
    }
}

static void set_turned(ln_session *session, const int *dims, bool is_bound)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 3, dims, NULL);
    tl_tensor there = *ln_object_tensor(x);
    for (int i = 0; i < there.len; i++)
        x_there[i] = ((float *)there.data)[i] = (float)(1 << i);
    there.data = x_there;
    if (is_bound)
        CHECK_OK(ln_session_bind_input(session, "x", &there));
    else
        CHECK_OK(ln_session_set_object(session, "x", x));
    ln_object_release(x);
}

TEST(shapes_that_differ_in_dimensions_of_one_are_others)
{
    static const int shapes[][3] = {{1, 6, 1}, {6, 1, 1}, {1, 1, 6}, {1, 6, 1}, {6, 1, 1},
                                    {2, 3, 1}, {1, 2, 3}, {2, 1, 3}, {1, 1, 6}};
    static const char *const symbols[] = {"N", "M", "K"};
    open_library();
    for (int known = BOUND; known <= RANGED; known++) {
        ln_context *ctx = open_text(turned);
        for (int i = 0; i < 3; i++)
            CHECK_OK(known == BOUND ? ln_context_set_symbol(ctx, symbols[i], shapes[0][i])
                                    : ln_context_set_range(ctx, symbols[i], 1, 6));
        ln_program *program = make_program(ctx);
        for (int is_bound = 0; is_bound < 2; is_bound++) {
            ln_session *session = session_of(program);
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                set_turned(session, shapes[i], is_bound != 0);
                check_sums(session, shapes[i]);
            }
            ln_session_free(session);
        }
        ln_program_release(program);
    }
    close_library();
}

// ---- Many threads ----

// LN_SHAPES runs with as many shapes, a server's day.
static int shape_count(int usual)
{
    const char *count = getenv("LN_SHAPES");
    return count ? atoi(count) : usual;
}

typedef struct job {
    ln_program *program;
    ln_cancel *cancel;
    int seed, rounds, rows; // 0 rows: others each time
    ln_status status;
    bool is_right;
    char message[256];
} job;

static void *work(void *argument)
{
    job *j = argument;
    ln_session *session = NULL;
    unsigned random = (unsigned)j->seed * 2654435761U + 1;
    j->is_right = true;
    j->status = ln_session_create(j->program, &session);
    if (j->status == LN_OK)
        j->status = ln_session_set_cancel(session, j->cancel);
    for (int i = 0; i < j->rounds && j->status == LN_OK; i++) {
        random = random * 1664525U + 1013904223U;
        int rows = j->rows ? j->rows : 1 + (int)(random >> 16) % 24;
        j->status = run(session, rows);
        j->is_right = j->is_right && (j->status != LN_OK || has_output(session, rows));
    }
    snprintf(j->message, sizeof j->message, "%s", ln_error_message());
    ln_session_free(session);
    return NULL;
}

#define THREADS 12

static void start(pthread_t *thread, job *j)
{
    CHECK_EQ(pthread_create(thread, NULL, work, j), 0);
}

TEST(threads_that_ask_for_one_shape_make_it_once)
{
    open_library();
    need_expected(1, 5);
    ln_program *program = program_with(NETWORK, NULL);
    pthread_t threads[THREADS];
    static job jobs[THREADS];
    for (int rows = 1; rows <= 5; rows++) { // the first shape is the first of all
        atomic_store(&load_count, 0);
        atomic_store(&is_closed, 1);
        for (int i = 0; i < THREADS; i++) {
            jobs[i] = (job){.program = program, .rounds = 2, .rows = rows};
            start(&threads[i], &jobs[i]);
        }
        while (!atomic_load(&is_held_up))
            continue;
        atomic_store(&is_closed, 0);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            CHECK_OK(jobs[i].status);
            CHECK(jobs[i].is_right);
        }
        CHECK_EQ(load_count, 1);
    }
    ln_program_release(program);
    close_library();
}

static void use_in_threads(ln_program *program, int usual)
{
    pthread_t threads[THREADS];
    static job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.program = program, .rounds = shape_count(usual), .seed = i};
        start(&threads[i], &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_OK(jobs[i].status);
        CHECK(jobs[i].is_right);
    }
    ln_program_release(program);
}

TEST(threads_with_random_shapes_have_the_bits_of_each)
{
    open_library();
    need_expected(1, 24);
    for (knowledge known = OPEN; known < KNOWLEDGES; known++)
        use_in_threads(program_that_knows(NETWORK, known), 25);
    for (knowledge known = BOUND; known < KNOWLEDGES; known++) {
        use_in_threads(program_that_knows(branches, known), 6);
        use_in_threads(program_that_knows(places, known), 6);
    }
    close_library();
}

// A thread is stopped while it makes what another waits for; a third goes on with other shapes.
static void check_stopped(ln_program *program, int rows, ln_session *third, int third_rows)
{
    pthread_t threads[2];
    job stopped = {.program = program, .cancel = ln_cancel_create(), .rounds = 1, .rows = rows};
    job waiting = {.program = program, .rounds = 1, .rows = rows};
    atomic_store(&load_count, 0);
    atomic_store(&is_closed, 1);
    start(&threads[0], &stopped);
    while (!atomic_load(&is_held_up))
        continue;
    start(&threads[1], &waiting);
    for (int i = 0; third && i < 20; i++) {
        CHECK_OK(run(third, third_rows));
        CHECK(has_output(third, third_rows));
    }
    ln_cancel_request(stopped.cancel);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    atomic_store(&is_closed, 0);
    CHECK_EQ(stopped.status, LN_CANCELLED);
    CHECK_OK(waiting.status);
    CHECK(waiting.is_right);
    CHECK_EQ(load_count, 2);
    ln_cancel_release(stopped.cancel);
}

TEST(a_maker_that_is_stopped_fails_nobody_else)
{
    open_library();
    need_expected(1, 6);
    ln_program *program = program_with(NETWORK, NULL);
    check_stopped(program, 3, NULL, 0); // the first of all, whose constants the others share
    ln_session *third = session_of(program);
    CHECK_OK(run(third, 6));
    check_stopped(program, 4, third, 6);
    ln_session_free(third);
    ln_program_release(program);
    close_library();
}

TEST(who_waits_can_be_stopped_too)
{
    open_library();
    need_expected(1, 3);
    ln_program *program = program_with(NETWORK, NULL);
    pthread_t threads[2];
    job making = {.program = program, .rounds = 1, .rows = 3};
    job waiting = {.program = program, .cancel = ln_cancel_create(), .rounds = 1, .rows = 3};
    atomic_store(&is_closed, 1);
    start(&threads[0], &making);
    while (!atomic_load(&is_held_up))
        continue;
    start(&threads[1], &waiting);
    ln_cancel_request(waiting.cancel);
    pthread_join(threads[1], NULL);
    CHECK_EQ(waiting.status, LN_CANCELLED);
    atomic_store(&is_closed, 0);
    pthread_join(threads[0], NULL);
    CHECK_OK(making.status);
    CHECK(making.is_right);
    ln_cancel_release(waiting.cancel);
    ln_program_release(program);
    close_library();
}

#define LIMIT 0.05

// The message of what `start` began and LIMIT ended has the time that passed, and whose it was.
static void check_late(double start, const char *owner)
{
    static const char begin[] = "was stopped after ";
    char words[80];
    double elapsed = ln_clock() - start;
    const char *message = strstr(ln_error_message(), begin);
    CHECK_NOT_NULL(message);
    double stated = strtod(message + strlen(begin), NULL);
    if (!(stated > 0.99 * LIMIT && stated < 1.01 * elapsed))
        fail_msg("%g s had passed: %s", elapsed, ln_error_message());
    snprintf(words, sizeof words, "the limit is %g s (--timeout, ln_%s_set_timeout)", LIMIT, owner);
    CHECK_MESSAGE(words);
}

// What is around, such as the thread's limit, ends later.
static void check_late_session(knowledge known)
{
    ln_program *program = program_that_knows(NETWORK, known);
    ln_session *session = session_of(program);
    CHECK_OK(ln_session_set_timeout(session, LIMIT));
    atomic_store(&is_closed, 1);
    double start = ln_clock();
    CHECK_FAILS(run(session, 3), LN_TIMEOUT);
    check_late(start, "session");
    atomic_store(&is_closed, 0);
    ln_session_free(session);
    ln_program_release(program);
}

static void check_late_context(void)
{
    ln_context *ctx = open_text(NETWORK);
    ln_object *x = rows_of(3);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_set_timeout(ctx, LIMIT));
    atomic_store(&is_closed, 1);
    double start = ln_clock();
    CHECK_FAILS(ln_context_run(ctx), LN_TIMEOUT);
    check_late(start, "context");
    atomic_store(&is_closed, 0);
    ln_object_release(x);
    close_context(ctx);
}

TEST(who_is_late_learns_by_how_much)
{
    open_library();
    for (int limit = 0; limit <= 1000; limit += 1000) {
        CHECK_OK(ln_thread_set_timeout(limit));
        check_late_session(OPEN);
        check_late_session(BOUND);
        check_late_context();
    }
    CHECK_OK(ln_thread_set_timeout(0));
    close_library();
}

// A new shape waits for the templates as long as another thread makes a plan of them.
TEST(who_waits_for_the_templates_can_be_stopped_too)
{
    open_library();
    need_expected(1, 5);
    for (int known = OPEN; known <= BOUND; known++) {
        ln_program *program = program_that_knows(NETWORK, (knowledge)known);
        ln_session *session = session_of(program);
        CHECK_OK(run(session, 2));
        pthread_t threads[2];
        job making = {.program = program, .rounds = 1, .rows = 3};
        job waiting = {.program = program, .cancel = ln_cancel_create(), .rounds = 1, .rows = 5};
        atomic_store(&is_infer_closed, 1);
        start(&threads[0], &making);
        while (!atomic_load(&is_held_up))
            continue;
        CHECK_OK(run(session, 2)); // one that is there does not wait
        CHECK_OK(ln_session_set_timeout(session, LIMIT));
        double start_time = ln_clock();
        CHECK_FAILS(run(session, 5), LN_TIMEOUT);
        check_late(start_time, "session");
        CHECK_OK(ln_session_set_timeout(session, 0));
        start(&threads[1], &waiting);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); // it waits by now
        ln_cancel_request(waiting.cancel);
        pthread_join(threads[1], NULL);
        CHECK_EQ(waiting.status, LN_CANCELLED);
        atomic_store(&is_infer_closed, 0);
        pthread_join(threads[0], NULL);
        CHECK_OK(making.status);
        CHECK(making.is_right);
        for (int rows = 1; rows <= 5; rows++) {
            CHECK_OK(run(session, rows));
            CHECK(has_output(session, rows));
        }
        ln_cancel_release(waiting.cancel);
        ln_session_free(session);
        ln_program_release(program);
    }
    close_library();
}

// ---- What is refused ----

TEST(a_plan_over_the_limit_is_an_error_for_all_who_ask)
{
    open_library();
    need_expected(2, 2);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 1 << 20;
    ln_program *program = program_with(NETWORK, &limits);
    pthread_t threads[4];
    static job jobs[4];
    for (int i = 0; i < 4; i++) {
        jobs[i] = (job){.program = program, .rounds = 1, .rows = 4000};
        start(&threads[i], &jobs[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(jobs[i].status, LN_LIMIT);
        CHECK(strstr(jobs[i].message, "1048576"));
        CHECK(strcmp(jobs[i].message, jobs[0].message) == 0);
    }
    ln_session *session = session_of(program);
    CHECK_FAILS(run(session, 4000), LN_LIMIT);
    CHECK_OK(run(session, 2));
    CHECK(has_output(session, 2));
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

// How many rows NonZero gives is known at run time, so no plan is a frame; each is made once for
// all sessions and runs in copies of its context.
TEST(plans_that_are_no_frames_are_shared_too)
{
    static const char text[] = NETWORK "NonZero(X=y | Y=z |);\noutput(src=z | |);\n";
    open_library();
    need_expected(1, 7);
    ln_context *ctx = load_text(text, "cpu");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_EQ(ln_program_is_fixed(program), 0);
    ln_session *sessions[2] = {session_of(program), session_of(program)};
    atomic_store(&load_count, 0);
    for (int k = 0; k < 60; k++) {
        const int rows = 1 + k * 3 % 7;
        CHECK_OK(run(sessions[k % 2], rows));
        CHECK(has_output(sessions[k % 2], rows));
    }
    CHECK_EQ(atomic_load(&load_count), 7);
    for (int rows = 1; rows < 8; rows++) {
        ln_object *x = rows_of(rows), *z;
        CHECK_OK(ln_context_set_object(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_get_object(ctx, "z", &z));
        for (int i = 0; i < 2; i++) {
            const tl_tensor *made;
            CHECK_OK(run(sessions[i], rows));
            CHECK_OK(ln_session_borrow_tensor(sessions[i], "z", &made));
            CHECK_EQ(made->len, ln_object_tensor(z)->len);
            CHECK_MEM_EQ(made->data, ln_object_tensor(z)->data, tl_tensor_size(made));
        }
        ln_object_release(x);
        ln_object_release(z);
    }
    ln_session_free(sessions[0]);
    ln_session_free(sessions[1]);
    ln_program_release(program);
    close_context(ctx);
    close_library();
}

// ---- Bound, and no frame ----

static bool is_twice(const tl_tensor *v, int rows, float factor)
{
    bool is_right = v->ndim == 2 && v->dims[0] == rows && v->dims[1] == OUTPUTS;
    for (int i = 0; is_right && i < v->len; i++)
        is_right = ((const float *)v->data)[i] == factor * expected[rows][i];
    return is_right;
}

static bool is_places(const tl_tensor *v, int rows, float factor)
{
    int k = 0, count = v->ndim == 2 ? v->dims[1] : 0;
    const int64_t *at = v->data;
    bool is_right = factor == 2;
    for (int i = 0; is_right && i < rows * OUTPUTS; i++)
        if (expected[rows][i] != 0) {
            is_right = k < count && at[k] == i / OUTPUTS && at[count + k] == i % OUTPUTS;
            k++;
        }
    return is_right && k == count;
}

typedef bool (*second_check)(const tl_tensor *v, int rows, float factor);

static bool has_both(ln_session *session, int rows, second_check has_second)
{
    const tl_tensor *v;
    return has_output(session, rows) && ln_session_borrow_tensor(session, "v", &v) == LN_OK &&
           has_second(v, rows, 2);
}

static void use_other_shapes(const char *text, knowledge known, second_check has_second)
{
    ln_program *program = program_that_knows(text, known);
    CHECK_EQ(ln_program_is_fixed(program), 0);
    ln_session *sessions[2] = {session_of(program), session_of(program)};
    const int home = known == BOUND ? 4 : MAX_ROWS;
    CHECK_EQ(ln_session_tensor_dim(sessions[0], "x", 0), home);
    CHECK_OK(run(sessions[0], home));
    CHECK(has_both(sessions[0], home, has_second));
    CHECK_EQ(atomic_load(&load_count), 1); // the plan that the program has
    for (int k = 0; k < 40; k++) {
        const int rows = 1 + k * 3 % 5;
        CHECK_OK(run(sessions[k % 2], rows));
        CHECK(has_both(sessions[k % 2], rows, has_second));
    }
    CHECK_EQ(atomic_load(&load_count), known == BOUND ? 5 : 6);
    ln_object *wrong = ln_object_new_tensor(TL_FLOAT, 2, DIMS(3, WIDTH - 1), NULL);
    CHECK_FAILS(ln_session_set_object(sessions[1], "x", wrong), LN_INVALID);
    ln_object_release(wrong);
    static float x[MAX_ROWS * WIDTH];
    fill(x, 3);
    const tl_tensor given = {
        .dtype = TL_FLOAT, .ndim = 2, .dims = DIMS(3, WIDTH), .len = 3 * WIDTH, .data = x};
    CHECK_OK(ln_session_bind_input(sessions[1], "x", &given));
    CHECK_OK(ln_session_run(sessions[1]));
    CHECK(has_both(sessions[1], 3, has_second));
    CHECK_OK(ln_session_set_data(sessions[1], "factor", &(float){1}, sizeof(float)));
    CHECK_OK(ln_session_bind_input(sessions[1], "x", NULL)); // whose value stays
    CHECK_OK(ln_session_run(sessions[1]));
    CHECK_OK(run(sessions[0], 3));
    CHECK(has_both(sessions[0], 3, has_second)); // with a factor of its own
    const tl_tensor *y, *v;
    CHECK_OK(ln_session_borrow_tensor(sessions[1], "y", &y));
    CHECK_OK(ln_session_borrow_tensor(sessions[1], "v", &v));
    for (int i = 0; i < 3 * OUTPUTS; i++)
        CHECK(((const float *)y->data)[i] == expected[3][i] / 2);
    if (has_second == is_twice)
        CHECK_MEM_EQ(v->data, y->data, tl_tensor_size(y));
    ln_session_free(sessions[0]);
    ln_session_free(sessions[1]);
    ln_program_release(program);
}

TEST(bound_plans_that_are_no_frames_take_other_shapes)
{
    open_library();
    need_expected(1, 5);
    need_expected(MAX_ROWS, MAX_ROWS);
    for (knowledge known = BOUND; known < KNOWLEDGES; known++) {
        atomic_store(&load_count, 0);
        use_other_shapes(branches, known, is_twice);
        atomic_store(&load_count, 0);
        use_other_shapes(places, known, is_places);
    }
    close_library();
}

// ---- Memory ----

static atomic_size_t taken_bytes;

static size_t size_of_block(void *p)
{
    return p ? malloc_usable_size(p) : 0;
}

static void *counted_resize(void *user, void *p, size_t size)
{
    (void)user;
    size_t old_bytes = size_of_block(p);
    void *resized = realloc(p, size);
    if (resized) {
        atomic_fetch_sub(&taken_bytes, old_bytes);
        atomic_fetch_add(&taken_bytes, size_of_block(resized));
    }
    return resized;
}

static void counted_release(void *user, void *p)
{
    (void)user;
    atomic_fetch_sub(&taken_bytes, size_of_block(p));
    free(p);
}

// The constants take 281,600 bytes, and as much in the order that the product wants.
TEST(sessions_and_shapes_share_the_constants)
{
    enum { COUNT = 12 };
    static const ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    open_library();
    need_expected(4, 4 + COUNT);
    ln_allocator_set(&counted);
    ln_program *program = program_with(NETWORK, NULL);
    ln_session *sessions[COUNT];
    size_t first = 0;
    for (int i = 0; i < COUNT; i++) {
        sessions[i] = session_of(program);
        CHECK_OK(run(sessions[i], 4 + i));
        CHECK(has_output(sessions[i], 4 + i));
        first = i == 0 ? taken_bytes : first;
    }
    CHECK(first >= sizeof(float) * WIDTH * OUTPUTS);
    // A workspace has at most 3 * 15 * 1100 floats.
    CHECK(taken_bytes - first < (COUNT - 1) * (198000 + 60000));
    for (int i = 0; i < COUNT; i++)
        ln_session_free(sessions[i]);
    ln_program_release(program);
    ln_allocator_set(NULL);
    close_library();
}

TEST(memory_does_not_grow_with_the_number_of_shapes)
{
    open_library();
    ln_program *program = program_with(NETWORK, NULL);
    ln_session *session = session_of(program);
    CHECK_OK(run(session, 3)); // the template
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    long after_few = 0;
    ln_status status = LN_OK;
    for (int i = 0; i < shape_count(400) && status == LN_OK; i++) {
        status = run(session, 51 - i % 50); // of which 16 are kept: each is made anew
        after_few = i == 20 ? counter.live : after_few;
    }
    long after_many = counter.live;
    test_oom_stop();
    CHECK_OK(status);
    CHECK_EQ(after_many, after_few);
    ln_session_free(session);
    ln_program_release(program);
    close_library();
}

// Of a program without plans, since a constant was set, whose values come and go. Each run has a
// size of its own, the last ones small ones.
TEST(values_of_many_sizes_leave_nothing_behind)
{
    enum { COUNT = 1000 };
    static const ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"N\", \"\"]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[1], data=[2]);\n"
        "Mul(A=x, B=w | C=m |);\n"
        "Exp(input=m | output=e |);\nSoftmax(input=e | output=y |);\noutput(src=y | |);\n";
    open_library();
    ln_allocator_set(&counted);
    ln_context *ctx = load_text(text, "cpu");
    CHECK_OK(ln_context_set_data(ctx, "w", (float[]){1}));
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    ln_session *session = session_of(program);
    CHECK_OK(run(session, 1));
    const size_t before = taken_bytes;
    for (int i = 0; i < COUNT; i++)
        CHECK_OK(run(session, COUNT - i));
    CHECK(taken_bytes < before + 200000); // the last 16 runs have at most 3 * 16 * 4096
    ln_session_free(session);
    ln_program_release(program);
    ln_allocator_set(NULL);
    close_library();
}

// Each shape has a constant of its own, of 2 MB.
TEST(constants_of_kept_shapes_stay_within_the_limit)
{
    enum { COUNT = 16, ROWS = 8000 };
    static const ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"N\", \"\"]);\n"
        "input(| dst=q | dtype=TL_FLOAT, dims=[1, 64]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[64, 1100], ran=[-1, 1]);\n"
        "create(| dst=one | dtype=TL_FLOAT, dims=[1], ran=[0, 0], data=[0.5]);\n"
        "MatMul(A=q, B=w | Y=p |);\n"
        "Shape(data=x | shape=s |);\n"
        "Expand(input=one, shape=s | output=t |);\n"
        "Exp(input=t | output=e |);\n"
        "Add(A=x, B=e | C=y |);\n"
        "output(src=y | |);\noutput(src=p | |);\n";
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = (size_t)12 << 20;
    open_library();
    ln_allocator_set(&counted);
    ln_program *program = program_with(text, &limits);
    ln_session *session = session_of(program);
    size_t after_two = 0;
    for (int i = 0; i < COUNT; i++) {
        const tl_tensor *y;
        CHECK_OK(run(session, ROWS + i));
        CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
        CHECK_EQ(y->dims[0], ROWS + i);
        after_two = i == 1 ? taken_bytes : after_two;
    }
    printf("%zu bytes after two shapes, %zu after %d\n", after_two, (size_t)taken_bytes, COUNT);
    CHECK(taken_bytes - after_two < limits.memory_byte_count);
    ln_session_free(session);
    ln_program_release(program);
    ln_allocator_set(NULL);
    close_library();
}

static ln_status run_program(ln_program *program, ln_object *x)
{
    ln_session *session;
    LN_TRY(ln_session_create(program, &session));
    ln_status status = ln_session_set_object(session, "x", x);
    if (status == LN_OK)
        status = ln_session_run(session);
    if (status == LN_OK)
        CHECK(has_output(session, 3));
    ln_session_free(session);
    return status;
}

static ln_status run_context(ln_context *ctx, knowledge known, ln_object *x)
{
    ln_program *program;
    LN_TRY(ln_context_init_mem(ctx, NETWORK, strlen(NETWORK), "model.net"));
    LN_TRY(know(ctx, known));
    LN_TRY(ln_context_compile(ctx, "cpu"));
    LN_TRY(ln_context_load(ctx, NULL));
    LN_TRY(ln_program_create(ctx, &program));
    ln_status status = run_program(program, x);
    ln_program_release(program);
    return status;
}

TEST(without_memory_a_run_fails_and_nothing_is_wrong)
{
    open_library();
    need_expected(3, 3);
    ln_object *x = rows_of(3);
    for (int known = OPEN; known <= BOUND; known++) {
        OOM_SWEEP(n)
        {
            ln_context *ctx = ln_context_create();
            ln_status status = ctx ? run_context(ctx, (knowledge)known, x) : LN_NO_MEMORY;
            CHECK(status == LN_OK || status == LN_NO_MEMORY);
            ln_context_free(ctx);
        }
    }
    ln_object_release(x);
    close_library();
}

TEST_LIST(types_and_shapes_are_stated_before_the_first_run,
          each_shape_has_the_bits_of_a_model_compiled_for_it,
          a_shape_in_use_is_not_dropped_and_used_ones_are_kept,
          inputs_keep_their_values_when_shapes_change,
          constants_that_were_set_are_those_of_the_program,
          a_bound_program_begins_with_its_shape_and_takes_others,
          a_shape_out_of_range_is_an_error_of_the_run, bound_memory_is_used_for_each_shape,
          bound_memory_is_used_when_some_plans_are_no_frames,
          shapes_that_differ_in_dimensions_of_one_are_others,
          threads_that_ask_for_one_shape_make_it_once,
          threads_with_random_shapes_have_the_bits_of_each,
          a_maker_that_is_stopped_fails_nobody_else, who_waits_can_be_stopped_too,
          who_is_late_learns_by_how_much, who_waits_for_the_templates_can_be_stopped_too,
          a_plan_over_the_limit_is_an_error_for_all_who_ask,
          plans_that_are_no_frames_are_shared_too, bound_plans_that_are_no_frames_take_other_shapes,
          sessions_and_shapes_share_the_constants, constants_of_kept_shapes_stay_within_the_limit,
          memory_does_not_grow_with_the_number_of_shapes, values_of_many_sizes_leave_nothing_behind,
          without_memory_a_run_fails_and_nothing_is_wrong)
