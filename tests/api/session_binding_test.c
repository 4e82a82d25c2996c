// SPDX-License-Identifier: Apache-2.0
// Sessions that read and write the caller's memory: the results are those of copies, the memory of
// inputs stays as it is, and what a program states of its inputs and outputs.

#include <stdalign.h>

#include <lightnet/program.h>

#include "program/session.h"
#include "tests/api/values.h"

#define COUNT 24

// Memory of the caller's, at a multiple of LN_MEM_ALIGN bytes, and with some to step off that.
typedef struct caller_memory {
    alignas(LN_MEM_ALIGN) float x[COUNT + 16];
    alignas(LN_MEM_ALIGN) float y[COUNT + 16];
} caller_memory;

static ln_program *program_of(const char *text)
{
    ln_context *ctx = load_text(text, "cpu");
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    return program;
}

static ln_session *session_of(ln_program *program)
{
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    return session;
}

static void fill(float *x, int seed)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i * 7 + seed * 5) % 11 - 5) / 4;
}

static void bind_x(ln_session *session, float *x)
{
    const tl_tensor tensor = {
        .dtype = TL_FLOAT, .len = COUNT, .ndim = 2, .dims = DIMS(4, 6), .data = x};
    CHECK_OK(ln_session_bind_input(session, "x", &tensor));
}

// ---- Results are those of copies ----

#define X "input(| dst=x | dtype=TL_FLOAT, dims=[4, 6]);\n"
#define W "create(| dst=w | dtype=TL_FLOAT, dims=[6, 6], ran=[-1, 1]);\n"

// Each gives y of COUNT floats.
static const struct {
    const char *why, *text;
} models[] = {
    // clang-format off
    {"one operator", X "Exp(input=x | output=y |);\noutput(src=y | |);\n"},
    {"in the place of the input", X "Relu(X=x | Y=a |);\nNeg(X=a | Y=y |);\noutput(src=y | |);\n"},
    {"a view of the input", X W "reshape(src=x | dst=a | dims=[4, 6]);\nMatMul(A=a, B=w | Y=y |);\noutput(src=y | |);\n"},
    {"the output is a view", X W "MatMul(A=x, B=w | Y=a |);\nreshape(src=a | dst=y | dims=[6, 4]);\noutput(src=y | |);\n"},
    {"the output is the input", X "output(src=x | |);\nreshape(src=x | dst=y | dims=[6, 4]);\noutput(src=y | |);\n"},
    {"joined in the output", X W "MatMul(A=x, B=w | Y=a |);\nSlice(data=a, starts=s, ends=e | output=b |);\nSlice(data=a, starts=s2, ends=e2 | output=c |);\nMatMul(A=b, B=w | Y=d |);\nExp(input=c | output=f |);\nConcat(inputs1=d, inputs2=f | concat_result=y | axis=0);\noutput(src=y | |);\n"},
    {"the input is in the output", X "input(| dst=z | dtype=TL_FLOAT, dims=[0, 6]);\nConcat(inputs1=x, inputs2=z | concat_result=y | axis=0);\noutput(src=y | |);\n"},
    {"two outputs, one in the place of the other", X "Exp(input=x | output=v |);\nRelu(X=v | Y=y |);\noutput(src=y | |);\noutput(src=v | |);\n"},
    {"read twice, written over late", X W "MatMul(A=x, B=w | Y=a |);\nAdd(A=x, B=a | C=y |);\noutput(src=y | |);\n"},
    {"not fixed", X "TopK(X=x, K=k | Values=a, Indices=i | axis=1);\nNeg(X=a | Y=y |);\noutput(src=y | |);\noutput(src=i | |);\n"},
    {"a dynamic input", "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 6]);\nNeg(X=x | Y=y |);\noutput(src=y | |);\n"},
    // clang-format on
};

#define CONSTANTS                                                                                  \
    "create(| dst=s | dtype=TL_INT64, dims=[2], data=[0, 0]);\n"                                   \
    "create(| dst=e | dtype=TL_INT64, dims=[2], data=[2, 6]);\n"                                   \
    "create(| dst=s2 | dtype=TL_INT64, dims=[2], data=[2, 0]);\n"                                  \
    "create(| dst=e2 | dtype=TL_INT64, dims=[2], data=[4, 6]);\n"                                  \
    "create(| dst=k | dtype=TL_INT64, dims=[1], data=[6]);\n"

static void run_copied(ln_session *session, const float *x, float *y)
{
    ln_object *value = ln_object_new_tensor(TL_FLOAT, 2, DIMS(4, 6), NULL);
    memcpy(ln_object_tensor(value)->data, x, COUNT * sizeof *x);
    CHECK_OK(ln_session_set_object(session, "x", value));
    ln_object_release(value);
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, COUNT * sizeof *y));
}

static void check_same(const float *got, const float *want, const char *what)
{
    if (memcmp(got, want, COUNT * sizeof *got) != 0)
        fail_msg("%s: %g %g ..., not %g %g ...", what, (double)got[0], (double)got[1],
                 (double)want[0], (double)want[1]);
}

// `step` floats after an aligned address.
static void check_bound(ln_session *session, const float wanted[3][COUNT], int step)
{
    caller_memory memory = {0};
    float *x = memory.x + step, *y = memory.y + step, kept[COUNT];
    const tl_tensor *seen;
    bind_x(session, x);
    CHECK_OK(ln_session_bind_output(session, "y", y, sizeof memory.y - 16 * sizeof *y));
    for (int seed = 0; seed < 3; seed++) {
        fill(x, seed);
        memcpy(kept, x, sizeof kept);
        CHECK_OK(ln_session_run(session));
        check_same(y, wanted[seed], "the caller's output");
        check_same(x, kept, "the caller's input");
        CHECK_OK(ln_session_borrow_tensor(session, "y", &seen));
        CHECK_EQ(seen->len, COUNT);
        check_same(seen->data, wanted[seed], "the session's output");
        CHECK_NEAR(memory.y[step + COUNT], 0, 0);
    }
    CHECK_OK(ln_session_bind_input(session, "x", NULL)); // it keeps its value
    memset(x, 0, COUNT * sizeof *x);
    CHECK_OK(ln_session_run(session));
    check_same(y, wanted[2], "after the end of the input");
    CHECK_OK(ln_session_bind_output(session, "y", NULL, 0));
    memset(y, 0, COUNT * sizeof *y);
    float got[COUNT];
    fill(got, 1);
    run_copied(session, got, got);
    check_same(got, wanted[1], "after the end of both");
    CHECK_NEAR(y[0], 0, 0);
    bind_x(session, x); // and set, which ends it
    fill(got, 0);
    run_copied(session, got, got);
    check_same(got, wanted[0], "set after it was bound");
    CHECK_NEAR(x[0], 0, 0);
}

static void check_model(const char *text)
{
    ln_program *program = program_of(text);
    ln_session *copied = session_of(program), *bound = session_of(program);
    float x[COUNT], wanted[3][COUNT];
    for (int seed = 0; seed < 3; seed++) {
        fill(x, seed);
        run_copied(copied, x, wanted[seed]);
    }
    check_bound(bound, wanted, 0);
    check_bound(bound, wanted, 1);
    check_bound(bound, wanted, 0);
    ln_session_free(copied);
    ln_session_free(bound);
    ln_program_release(program);
}

TEST(bound_memory_gives_what_copies_do)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char text[2048];
        printf("%s\n", models[i].why);
        snprintf(text, sizeof text, CONSTANTS "%s", models[i].text);
        check_model(text);
    }
    ln_arch_cleanup();
}

// Without a copy: the session's own tensors are at the caller's addresses.
TEST(an_aligned_input_and_output_are_used_where_they_are)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(X W "MatMul(A=x, B=w | Y=y |);\noutput(src=y | |);\n");
    ln_session *session = session_of(program);
    CHECK(ln_program_is_fixed(program));
    caller_memory memory = {0};
    const tl_tensor *seen;
    const tl_tensor *own = ln_session_frame_tensor(session, ln_program_find(program, "x"));
    bind_x(session, memory.x);
    CHECK_OK(ln_session_bind_output(session, "y", memory.y, COUNT * sizeof *memory.y));
    CHECK(own->data == memory.x);
    CHECK_OK(ln_session_borrow_tensor(session, "y", &seen));
    CHECK(seen->data == memory.y);
    bind_x(session, memory.x + 1);
    CHECK(own->data != memory.x && own->data != memory.x + 1);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

// ---- What is refused ----

TEST(memory_that_does_not_fit_is_refused)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(X "Neg(X=x | Y=y |);\noutput(src=y | |);\n");
    ln_session *session = session_of(program);
    float x[COUNT] = {0};
    tl_tensor tensor = {.dtype = TL_DOUBLE, .len = COUNT, .ndim = 2, .dims = DIMS(4, 6), .data = x};
    CHECK_FAILS(ln_session_bind_input(session, "x", &tensor), LN_INVALID);
    CHECK_MESSAGE("float32 [4, 6], not float64 [4, 6]");
    tensor.dtype = TL_FLOAT;
    tensor.dims = DIMS(6, 4);
    CHECK_FAILS(ln_session_bind_input(session, "x", &tensor), LN_INVALID);
    tensor.dims = DIMS(4, 6);
    tensor.data = NULL;
    CHECK_FAILS(ln_session_bind_input(session, "x", &tensor), LN_INVALID);
    CHECK_MESSAGE("input 'x': the tensor of shape [4, 6] has no data");
    tensor.data = x;
    tensor.len = COUNT - 1;
    CHECK_FAILS(ln_session_bind_input(session, "x", &tensor), LN_INVALID);
    CHECK_MESSAGE("input 'x': the tensor's len is 23, and its shape [4, 6] has 24");
    tensor.len = COUNT;
    tensor.ndim = TL_MAXDIM + 1;
    CHECK_FAILS(ln_session_bind_input(session, "x", &tensor), LN_INVALID);
    CHECK_MESSAGE("of rank 9, has a negative dimension, more than 8");
    tensor.ndim = 2;
    tensor.dims = DIMS(-4, 6);
    CHECK_FAILS(ln_session_bind_input(session, "x", &tensor), LN_INVALID);
    CHECK_MESSAGE("input 'x': the tensor's shape, of rank 2, has a negative dimension");
    tensor.dims = DIMS(4, 6);
    CHECK_FAILS(ln_session_set_object(session, "x", NULL), LN_INVALID);
    CHECK_MESSAGE("the value for tensor 'x' is NULL");
    CHECK_FAILS(ln_session_bind_input(session, "y", &tensor), LN_INVALID);
    CHECK_FAILS(ln_session_bind_input(session, "q", &tensor), LN_NOT_FOUND);
    CHECK_FAILS(ln_session_bind_input(NULL, "x", &tensor), LN_INVALID);
    CHECK_FAILS(ln_session_bind_output(session, "y", x, 4), LN_INVALID);
    CHECK_MESSAGE("has 96 bytes, the data 4");
    CHECK_FAILS(ln_session_bind_output(session, "x", x, sizeof x), LN_INVALID);
    CHECK_FAILS(ln_session_bind_output(session, "q", x, sizeof x), LN_NOT_FOUND);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

TEST(a_dynamic_output_may_be_shorter_than_its_memory_but_not_longer)
{
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of("input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
                                     "Neg(X=x | Y=y |);\noutput(src=y | |);\n");
    ln_session *session = session_of(program);
    float x[4] = {1, 2, 3, 4}, y[3] = {0};
    const tl_tensor *seen;
    CHECK_OK(ln_session_bind_output(session, "y", y, sizeof y));
    CHECK_FAILS(ln_session_borrow_tensor(session, "y", &seen), LN_STATE);
    for (int len = 0; len <= 4; len++) {
        const tl_tensor tensor = {
            .dtype = TL_FLOAT, .len = len, .ndim = 1, .dims = DIMS(len), .data = x};
        CHECK_OK(ln_session_bind_input(session, "x", &tensor));
        ln_status status = ln_session_run(session);
        CHECK_EQ(status, len <= 3 ? LN_OK : LN_INVALID);
        CHECK_OK(ln_session_borrow_tensor(session, "y", &seen));
        CHECK_EQ(seen->dims[0], len);
        if (len == 2)
            CHECK(y[0] == -1 && y[1] == -2 && y[2] == 0);
    }
    CHECK_MESSAGE("output 'y' has 16 bytes, the memory for it 12");
    tl_tensor other = {.dtype = TL_INT32, .len = 1, .ndim = 1, .dims = DIMS(1), .data = x};
    CHECK_FAILS(ln_session_bind_input(session, "x", &other), LN_INVALID);
    CHECK_MESSAGE("input 'x' is float32 [?]");
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

// A graph inside and results that are lists have no frame: a clone of the program's context runs.
static const char *const cloned[] = {
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
    "Relu(X=x | Y=r |);\n"
    "ReduceSum(data=r | reduced=sum | keepdims=0);\n"
    "Greater(A=sum, B=sum | C=is_more |);\n"
    "If(cond=is_more, capture1=x | outputs1=y | then_branch=\"a\", else_branch=\"b\");\n"
    "output(src=y | |);\n"
    "graph a {\ninput(| dst=x | dtype=TL_FLOAT, dims=[-1], capture=true);\n"
    "Relu(X=x | Y=s |);\noutput(src=s | |);\n}\n"
    "graph b {\ninput(| dst=x | dtype=TL_FLOAT, dims=[-1], capture=true);\n"
    "Neg(X=x | Y=s |);\noutput(src=s | |);\n}\n",
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1]);\n"
    "Neg(X=x | Y=y |);\n"
    "SequenceConstruct(inputs1=y | output_sequence=s |);\n"
    "output(src=y | |);\noutput(src=s | |);\n",
    // Of any rank.
    "input(| dst=x | dtype=TL_FLOAT, dims=[], open=true);\n"
    "Neg(X=x | Y=y |);\n"
    "SequenceConstruct(inputs1=y | output_sequence=s |);\n"
    "output(src=y | |);\noutput(src=s | |);\n",
};

TEST(memory_of_the_callers_has_any_length_for_sessions_without_a_frame)
{
    CHECK_OK(ln_arch_init());
    float x[4] = {1, 2, 3, 4};
    for (size_t m = 0; m < sizeof cloned / sizeof cloned[0]; m++) {
        ln_program *program = program_of(cloned[m]);
        ln_session *session = session_of(program);
        CHECK_EQ(ln_program_is_fixed(program), 0);
        for (int len = 4; len > 0; len--) {
            const tl_tensor given = {
                .dtype = TL_FLOAT, .len = len, .ndim = 1, .dims = DIMS(len), .data = x};
            const tl_tensor *y;
            CHECK_OK(ln_session_bind_input(session, "x", &given));
            CHECK_OK(ln_session_run(session));
            CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
            CHECK(y->ndim == 1 && y->dims[0] == len);
            for (int i = 0; i < len; i++)
                CHECK(((const float *)y->data)[i] == -x[i]);
        }
        ln_session_free(session);
        ln_program_release(program);
    }
    ln_arch_cleanup();
}

// ---- What a program and a session state ----

TEST(programs_and_sessions_state_what_the_model_does)
{
    CHECK_OK(ln_arch_init());
    ln_program *program =
        program_of("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"batch\", \"\"]);\n"
                   "ArgMax(data=x | reduced=y | axis=1, keepdims=0);\nNeg(X=x | Y=z |);\n"
                   "output(src=y | | dtype=TL_INT64, dims=[-1], names=[\"batch\"]);\n"
                   "output(src=z | |);\n");
    ln_session *session = session_of(program);
    for (int run = 0; run < 2; run++) {
        CHECK_EQ(ln_program_tensor_dtype(program, "y"), TL_INT64);
        CHECK_EQ(ln_session_tensor_dtype(session, "y"), TL_INT64);
        CHECK_EQ(ln_session_tensor_rank(session, "y"), 1);
        CHECK_EQ(ln_session_tensor_dim(session, "y", 0), -1);
        CHECK_STR_EQ(ln_session_tensor_symbol(session, "y", 0), "batch");
        CHECK_STR_EQ(ln_program_tensor_symbol(program, "x", 0), "batch");
        CHECK_NULL(ln_program_tensor_symbol(program, "x", 1));
        CHECK_EQ(ln_program_tensor_rank(program, "x"), 2);
        CHECK_EQ(ln_program_tensor_dim(program, "x", 1), 4);
        CHECK_EQ(ln_session_tensor_dtype(session, "z"), TL_DTYPE_INVALID);
        CHECK_EQ(ln_session_tensor_rank(session, "z"), -1);
        CHECK_EQ(ln_session_tensor_rank(session, "q"), -1);
        CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
        float x[8] = {0, 1, 0, 0, 0, 0, 0, 1};
        const tl_tensor value = {
            .dtype = TL_FLOAT, .len = 8, .ndim = 2, .dims = DIMS(2, 4), .data = x};
        CHECK_OK(ln_session_bind_input(session, "x", &value));
        CHECK_OK(ln_session_run(session));
        const tl_tensor *y;
        CHECK_OK(ln_session_borrow_tensor(session, "y", &y));
        CHECK(y->dtype == TL_INT64 && y->ndim == 1 && y->dims[0] == 2);
        CHECK(((const int64_t *)y->data)[0] == 1 && ((const int64_t *)y->data)[1] == 3);
    }
    const char *name;
    const tl_tensor *tensor;
    CHECK_OK(ln_program_output(program, 0, &name, &tensor));
    CHECK(tensor->dtype == TL_INT64 && tensor->ndim == 1 && tensor->dims[0] == -1);
    CHECK_OK(ln_program_output(program, 1, &name, &tensor));
    CHECK(tensor->dtype == TL_DTYPE_INVALID && tensor->ndim == -1 && tensor->len == 0);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

// ---- Memory that is bound twice ----

#define DYNAMIC_X "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 6], names=[\"n\", \"\"]);\n"

// Runs with x at `x_at`, y at `y_at` and z at `z_at` of one block, in floats; -1: bound no more.
static ln_status run_at(ln_session *session, int x_at, int y_at, int z_at)
{
    static alignas(LN_MEM_ALIGN) float block[4 * COUNT];
    const size_t byte_count = COUNT * sizeof *block;
    fill(block + x_at, 1);
    bind_x(session, block + x_at);
    CHECK_OK(ln_session_bind_output(session, "y", y_at < 0 ? NULL : block + y_at, byte_count));
    CHECK_OK(ln_session_bind_output(session, "z", z_at < 0 ? NULL : block + z_at, byte_count));
    LN_TRY(ln_session_run(session));
    float y[COUNT], z[COUNT];
    CHECK_OK(ln_session_get_data(session, "y", y, byte_count));
    CHECK_OK(ln_session_get_data(session, "z", z, byte_count));
    for (int i = 0; i < COUNT; i++) {
        CHECK(y[i] == -block[x_at + i] && z[i] == fabsf(block[x_at + i]));
        CHECK(y_at < 0 || block[y_at + i] == y[i]);
        CHECK(z_at < 0 || block[z_at + i] == z[i]);
    }
    return LN_OK;
}

static void check_overlaps(ln_session *session)
{
    static const struct {
        int x, y, z;
        const char *message; // NULL: it runs
    } cases[] = {
        {0, COUNT, 2 * COUNT, NULL},
        {COUNT, 0, 2 * COUNT, NULL},
        {2 * COUNT, COUNT, 0, NULL},
        {0, 0, COUNT, "output 'y' is bound over 96 of the 96 bytes that input 'x' is bound to"},
        {0, COUNT - 1, 2 * COUNT, "output 'y' is bound over 4 of the 96 bytes that input 'x'"},
        {COUNT, 1, 2 * COUNT, "output 'y' is bound over 4 of the 96 bytes that input 'x'"},
        {0, COUNT, COUNT, "output 'z' is bound over 96 of the 96 bytes that output 'y' is bound"},
        {0, 2 * COUNT, COUNT + 16, "output 'z' is bound over 64 of the 96 bytes that output 'y'"},
        {0, COUNT, 0, "output 'z' is bound over 96 of the 96 bytes that input 'x' is bound to"},
        {0, -1, COUNT, NULL},
        {0, COUNT, -1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ln_status wanted = cases[i].message ? LN_INVALID : LN_OK;
        for (int run = 0; run < 2; run++) // the second time as well
            if (run_at(session, cases[i].x, cases[i].y, cases[i].z) != wanted)
                fail_msg("case %zu: %s", i, ln_error_message());
        if (!cases[i].message)
            continue;
        CHECK_FAILS(ln_session_run(session), LN_INVALID);
        CHECK_MESSAGE(cases[i].message);
    }
}

TEST(outputs_that_are_bound_over_other_memory_are_refused)
{
#define OUTPUTS "Neg(X=x | Y=y |);\nAbs(X=x | Y=z |);\noutput(src=y | |);\noutput(src=z | |);\n"
    static const char *const texts[] = {X OUTPUTS, X "Relu(X=x | Y=a |);\n" OUTPUTS,
                                        DYNAMIC_X OUTPUTS};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < 3; i++) {
        ln_program *program = program_of(texts[i]);
        ln_session *session = session_of(program);
        check_overlaps(session);
        ln_session_free(session);
        ln_program_release(program);
    }
    ln_arch_cleanup();
}

TEST(inputs_may_share_memory)
{
    float x[COUNT], y[COUNT];
    CHECK_OK(ln_arch_init());
    ln_program *program = program_of(
        X
        "input(| dst=w | dtype=TL_FLOAT, dims=[4, 6]);\nAdd(A=x, B=w | C=y |);\noutput(src=y | |);\n");
    ln_session *session = session_of(program);
    const tl_tensor w = {.dtype = TL_FLOAT, .len = COUNT, .ndim = 2, .dims = DIMS(4, 6), .data = x};
    fill(x, 1);
    bind_x(session, x);
    CHECK_OK(ln_session_bind_input(session, "w", &w));
    CHECK_OK(ln_session_bind_output(session, "y", y, sizeof y));
    CHECK_OK(ln_session_run(session));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == 2 * x[i]);
    ln_session_free(session);
    ln_program_release(program);
    ln_arch_cleanup();
}

// ---- What a bound input has ----

// `rows` of x are at `x`, as all functions tell that read values.
static void check_value(ln_session *session, const float *x, int rows)
{
    const size_t byte_count = (size_t)rows * 6 * sizeof *x;
    const tl_tensor *seen;
    const void *bytes;
    size_t borrowed;
    float got[COUNT];
    ln_object *object;
    CHECK_OK(ln_session_borrow_tensor(session, "x", &seen));
    CHECK(seen->dtype == TL_FLOAT && seen->ndim == 2 && seen->len == rows * 6);
    CHECK(seen->dims[0] == rows && seen->dims[1] == 6);
    CHECK_EQ(memcmp(seen->data, x, byte_count), 0);
    CHECK_OK(ln_session_get_object(session, "x", &object));
    CHECK_EQ(ln_object_tensor(object)->dims[0], rows);
    CHECK_EQ(memcmp(ln_object_tensor(object)->data, x, byte_count), 0);
    ln_object_release(object);
    CHECK_OK(ln_session_get_data(session, "x", got, byte_count));
    CHECK_EQ(memcmp(got, x, byte_count), 0);
    CHECK_OK(ln_session_borrow_data(session, "x", &bytes, &borrowed));
    CHECK_EQ(borrowed, byte_count);
    CHECK_EQ(memcmp(bytes, x, byte_count), 0);
}

// y = -x.
static void check_negated(ln_session *session, const float *x)
{
    float y[COUNT];
    CHECK_OK(ln_session_run(session));
    CHECK_OK(ln_session_get_data(session, "y", y, sizeof y));
    for (int i = 0; i < COUNT; i++)
        CHECK(y[i] == -x[i]);
}

static void set_rows(ln_session *session, const float *x, int rows)
{
    ln_object *value = ln_object_new_tensor(TL_FLOAT, 2, DIMS(rows, 6), NULL);
    memcpy(ln_object_tensor(value)->data, x, (size_t)rows * 6 * sizeof *x);
    CHECK_OK(ln_session_set_object(session, "x", value));
    ln_object_release(value);
}

// `rows`: of a value that the input has before.
static void check_bound_value(ln_session *session, int rows, int step, bool is_dynamic)
{
    caller_memory memory = {0};
    float *x = memory.x + step, other[COUNT];
    fill(other, 1);
    if (rows > 0)
        set_rows(session, other, rows);
    fill(x, 2);
    bind_x(session, x);
    check_value(session, x, 4);
    check_negated(session, x);
    check_value(session, x, 4);
    fill(x, 3); // whoever asks sees what the memory holds
    check_value(session, x, 4);
    if (is_dynamic)
        CHECK_OK(ln_session_bind_input(session, "x", NULL));
    else
        CHECK_OK(ln_session_set_data(session, "x", x, COUNT * sizeof *x));
    fill(other, 3);
    fill(x, 4); // bound no more
    check_value(session, other, 4);
    check_negated(session, other);
    check_value(session, other, 4);
}

#define NEG_X "Neg(X=x | Y=y |);\noutput(src=y | |);\n"
#define IN_BRANCH                                                                                  \
    "input(| dst=c | dtype=TL_BOOL, dims=[], data=[1]);\n"                                         \
    "If(cond=c, capture1=x | outputs1=y | then_branch=\"a\", else_branch=\"b\");\n"                \
    "output(src=y | |);\n" BRANCH("a", "Neg") BRANCH("b", "Relu")
#define BRANCH(name, type)                                                                         \
    "graph " name " {\ninput(| dst=x | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n" type  \
    "(X=x | Y=r |);\noutput(src=r | |);\n}\n"

// 0: open; else the context's binding of `n`.
static void check_model_values(const char *text, int bound_rows, bool is_dynamic)
{
    ln_context *ctx = open_text(text);
    if (bound_rows > 0)
        CHECK_OK(ln_context_set_symbol(ctx, "n", bound_rows));
    ln_program *program = make_program(ctx);
    for (int step = 0; step < 2; step++)
        for (int rows = 0; rows <= 4; rows += is_dynamic || bound_rows > 0 ? 1 : 4) {
            ln_session *session = session_of(program);
            check_bound_value(session, rows, step, is_dynamic);
            ln_session_free(session);
        }
    ln_program_release(program);
}

TEST(a_bound_input_has_the_value_that_is_bound)
{
    CHECK_OK(ln_arch_init());
    check_model_values(X NEG_X, 0, false);
    check_model_values(X "Relu(X=x | Y=a |);\n" NEG_X, 0, false);
    check_model_values(X IN_BRANCH, 0, false);
    check_model_values(DYNAMIC_X NEG_X, 0, true);
    check_model_values(DYNAMIC_X IN_BRANCH, 0, true);
    check_model_values(DYNAMIC_X NEG_X, 1, false);
    check_model_values(DYNAMIC_X NEG_X, 4, false);
    check_model_values(DYNAMIC_X IN_BRANCH, 1, false);
    ln_arch_cleanup();
}

TEST_LIST(bound_memory_gives_what_copies_do, an_aligned_input_and_output_are_used_where_they_are,
          memory_that_does_not_fit_is_refused,
          a_dynamic_output_may_be_shorter_than_its_memory_but_not_longer,
          memory_of_the_callers_has_any_length_for_sessions_without_a_frame,
          outputs_that_are_bound_over_other_memory_are_refused, inputs_may_share_memory,
          a_bound_input_has_the_value_that_is_bound,
          programs_and_sessions_state_what_the_model_does)
