// SPDX-License-Identifier: Apache-2.0
// Models that others have made: a session shares the program's frame and costs the same few
// allocations, whatever the model; it has the bits of a model that is compiled for its shapes
// alone; an observer changes no bits.
//
// The models are found in ../shared/conformance beside the repository; without them that test is
// skipped.

#include <glob.h>
#include <stdlib.h>

#include <lightnet/program.h>

#include "program/program.h"
#include "tests/api/values.h"
#include "tests/oom.h"

#define FOLDER LN_SOURCE_DIR "/../shared/conformance/models"

// ---- Values ----

// The same for each input of the same type and shape, and small.
static ln_object *value_for(const tl_tensor *stated)
{
    ln_object *object = ln_object_new_tensor(stated->dtype, stated->ndim, stated->dims, NULL);
    CHECK_NOT_NULL(object);
    tl_tensor *tensor = ln_object_tensor(object);
    for (int i = 0; i < tensor->len; i++)
        if (tensor->dtype == TL_FLOAT)
            ((float *)tensor->data)[i] = (float)(i * 7 % 23 - 11) / 16;
        else if (tensor->dtype == TL_UINT8)
            ((uint8_t *)tensor->data)[i] = (uint8_t)(i * 7 % 23);
    return object;
}

static void check_same_outputs(const ln_context *ctx, ln_session *session)
{
    for (size_t i = 0; i < ln_context_output_count(ctx); i++) {
        const char *name = ln_context_output_name(ctx, i);
        ln_object *expected, *made;
        CHECK_OK(ln_context_get_object(ctx, name, &expected));
        CHECK_OK(ln_session_get_object(session, name, &made));
        const tl_tensor *a = ln_object_tensor(expected), *b = ln_object_tensor(made);
        CHECK_EQ(a->len, b->len);
        CHECK(memcmp(a->data, b->data, tl_tensor_size(a)) == 0);
        ln_object_release(expected);
        ln_object_release(made);
    }
}

// ---- Sessions ----

// Asks the allocator as often for each program: for the session, its frame and its workspace.
static size_t requests_of_session(ln_program *program, ln_session **out_session)
{
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    ln_status status = ln_session_create(program, out_session);
    test_oom_stop();
    CHECK_OK(status);
    return counter.requests;
}

// The session has the numbers of the context.
static void check_run(ln_context *ctx, ln_session *session)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        const ln_tensor_entry *input =
            ln_tensor_table_find(ctx->tensor_table, ln_context_input_name(ctx, i));
        ln_object *value = value_for(input->tensor);
        CHECK_OK(ln_context_set_object(ctx, input->name, value));
        CHECK_OK(ln_session_set_object(session, input->name, value));
        ln_object_release(value);
    }
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_session_run(session));
    check_same_outputs(ctx, session);
}

#define SESSION_REQUESTS 4

static void check_program(ln_context *ctx, const char *what)
{
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    if (!ln_program_is_fixed(program))
        fail_msg("%s: each session of it is a clone", what);
    size_t requests = requests_of_session(program, &session);
    if (requests > SESSION_REQUESTS)
        fail_msg("%s: a session takes %zu allocations", what, requests);
    check_run(ctx, session);
    ln_session_free(session);
    ln_program_release(program);
}

// ---- Operators whose shapes follow from constants ----

#define INTS(name, count, values)                                                                  \
    "create(| dst=" name " | dtype=TL_INT64, dims=[" count "], ran=[0, 0], data=[" values          \
    "], from_file=false);\n"
#define X "input(| dst=x | dtype=TL_FLOAT, dims=[2, 6]);\n"
#define Y "output(src=y | |);\n"

static const char *const decided_by_constants[] = {
    X INTS("s", "2", "3, 4") "Reshape(data=x, shape=s | reshaped=y |);\n" Y,
    X INTS("a", "1", "1") INTS("b", "1", "5") INTS("c", "1", "1")
        INTS("t", "1", "2") "Slice(data=x, starts=a, ends=b, axes=c, steps=t | output=y |);\n" Y,
    X INTS("s", "3", "3, 2, 6") "Expand(input=x, shape=s | output=y |);\n" Y,
    X INTS("r", "2", "2, 3") "Tile(input=x, repeats=r | output=y |);\n" Y,
    X INTS("s", "2", "2, 4") "CenterCropPad(input_data=x, shape=s | output_data=y |);\n" Y,
    X INTS("p", "4", "1, 2, 0, 1") "Pad(data=x, pads=p | output=y |);\n" Y,
    "input(| dst=x | dtype=TL_FLOAT, dims=[3]);\n" INTS(
        "d", "1",
        "5") "create(| dst=v | dtype=TL_FLOAT, dims=[2], ran=[0, 0], data=[0, 1], from_file=false);\n"
             "OneHot(indices=x, depth=d, values=v | output=y |);\n" Y,
};

TEST(constants_that_decide_shapes_leave_sessions_small)
{
    static const char *const targets[] = {"cpu", "ref", AS_READ};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof decided_by_constants / sizeof *decided_by_constants; i++)
        for (size_t t = 0; t < 3; t++) {
            ln_context *ctx = load_text(decided_by_constants[i], targets[t]);
            check_program(ctx, decided_by_constants[i]);
            close_context(ctx);
        }
    ln_arch_cleanup();
}

// ---- Models ----

// With graphs inside, or with inputs of dynamic shape, sessions are clones.
static bool may_be_clone(const ln_context *ctx)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++)
        if (ln_context_input_is_open(ctx, i))
            return true;
    return ctx->graphs != NULL;
}

static bool check_file(const char *path)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init(ctx, path));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    bool is_one = !may_be_clone(ctx);
    if (is_one)
        check_program(ctx, path + sizeof FOLDER);
    close_context(ctx);
    return is_one;
}

TEST(sessions_of_models_cost_workspace_and_frame)
{
    glob_t found = {0};
    (void)glob(FOLDER "/*/model.onnx", 0, NULL, &found);
    if (found.gl_pathc == 0) {
        globfree(&found);
        SKIP("there are no models in " FOLDER);
    }
    CHECK_OK(ln_arch_init());
    size_t count = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += check_file(found.gl_pathv[i]);
    CHECK(count * 2 > found.gl_pathc); // most of them
    globfree(&found);
    ln_arch_cleanup();
}

// ---- Shapes ----

static ln_context *load_file(const char *path, size_t shape_count, const ln_input_shape *shapes)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init(ctx, path));
    ln_status status = shape_count ? ln_context_reshape(ctx, shape_count, shapes) : LN_OK;
    if (status == LN_OK)
        status = ln_context_compile(ctx, "cpu");
    if (status == LN_OK)
        status = ln_context_load(ctx, NULL);
    if (status == LN_OK)
        return ctx;
    close_context(ctx);
    return NULL;
}

#define MAX_INPUTS 16

// False if the model does not take such sizes.
static bool has_bits_of_its_shape(const char *path, const ln_program *program, ln_session *session,
                                  int batch, int size)
{
    static int dims[MAX_INPUTS][TL_MAXDIM];
    ln_input_shape shapes[MAX_INPUTS];
    ln_object *values[MAX_INPUTS];
    size_t count = ln_program_input_count(program);
    CHECK(count <= MAX_INPUTS);
    for (size_t i = 0; i < count; i++) {
        const tl_tensor *stated;
        CHECK_OK(ln_program_input(program, i, &shapes[i].tname, &stated));
        for (int d = 0; d < stated->ndim; d++)
            dims[i][d] = stated->dims[d] >= 0 ? stated->dims[d] : d == 0 ? batch : size;
        shapes[i].ndim = stated->ndim;
        shapes[i].dims = dims[i];
        values[i] =
            value_for(&(tl_tensor){.dtype = stated->dtype, .ndim = stated->ndim, .dims = dims[i]});
        CHECK_OK(ln_session_set_object(session, shapes[i].tname, values[i]));
    }
    ln_context *fixed = load_file(path, count, shapes);
    for (size_t i = 0; fixed && i < count; i++)
        CHECK_OK(ln_context_set_object(fixed, shapes[i].tname, values[i]));
    bool is_taken = fixed && ln_context_run(fixed) == LN_OK;
    if (is_taken) {
        CHECK_OK(ln_session_run(session));
        check_same_outputs(fixed, session);
    }
    for (size_t i = 0; i < count; i++)
        ln_object_release(values[i]);
    ln_context_free(fixed);
    return is_taken;
}

static size_t count_shapes(const char *path)
{
    static const int sizes[][2] = {{1, 64}, {2, 96}, {1, 32}, {3, 64}, {1, 96}, {1, 64}};
    ln_context *ctx = load_file(path, 0, NULL);
    ln_program *program;
    ln_session *session;
    size_t count = 0;
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    CHECK_OK(ln_session_create(program, &session));
    for (size_t i = 0; program->instances && i < sizeof sizes / sizeof *sizes; i++)
        count += has_bits_of_its_shape(path, program, session, sizes[i][0], sizes[i][1]);
    if (count)
        printf("%s: %zu shapes\n", path + sizeof FOLDER, count);
    ln_session_free(session);
    ln_program_release(program);
    return count;
}

TEST(sessions_of_dynamic_models_have_the_bits_of_fixed_ones)
{
    glob_t found = {0};
    (void)glob(FOLDER "/*/model.onnx", 0, NULL, &found);
    if (found.gl_pathc == 0) {
        globfree(&found);
        SKIP("there are no models in " FOLDER);
    }
    CHECK_OK(ln_arch_init());
    size_t count = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += count_shapes(found.gl_pathv[i]);
    CHECK(count > 5);
    globfree(&found);
    ln_arch_cleanup();
}

// ---- Observers ----

static void count_op(void *user, const ln_op *op)
{
    (void)op;
    ++*(size_t *)user;
}

// Some size that most networks take.
static void set_dynamic_inputs(ln_context *ctx)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        const char *name = ln_context_input_name(ctx, i);
        int dims[TL_MAXDIM];
        tl_tensor stated = {.dims = dims};
        stated.dtype = ln_context_tensor_dtype(ctx, name);
        stated.ndim = ln_context_tensor_rank(ctx, name);
        for (int d = 0; d < stated.ndim; d++) {
            int64_t size = ln_context_tensor_dim(ctx, name, d);
            dims[d] = size >= 0 ? (int)size : d == 0 ? 1 : 64;
        }
        ln_object *value = value_for(&stated);
        CHECK_OK(ln_context_set_object(ctx, name, value));
        ln_object_release(value);
    }
}

static bool has_same_bits_observed(ln_context *ctx)
{
    const char *name = ln_context_output_name(ctx, 0);
    ln_object *plain, *observed;
    size_t op_count = 0;
    ln_observer observer = {.before = count_op, .user = &op_count};
    set_dynamic_inputs(ctx);
    if (ln_context_run(ctx) != LN_OK)
        return false;
    CHECK_OK(ln_context_get_object(ctx, name, &plain));
    ln_context_set_observer(ctx, &observer);
    set_dynamic_inputs(ctx);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, name, &observed));
    CHECK(op_count > 0);
    const tl_tensor *a = ln_object_tensor(plain), *b = ln_object_tensor(observed);
    CHECK_EQ(a->len, b->len);
    CHECK(memcmp(a->data, b->data, tl_tensor_size(a)) == 0);
    ln_object_release(plain);
    ln_object_release(observed);
    return true;
}

TEST(an_observer_changes_no_bits_of_dynamic_models)
{
    glob_t found = {0};
    (void)glob(FOLDER "/*/model.onnx", 0, NULL, &found);
    if (found.gl_pathc == 0) {
        globfree(&found);
        SKIP("there are no models in " FOLDER);
    }
    CHECK_OK(ln_arch_init());
    size_t count = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        CHECK_OK(ln_context_init(ctx, found.gl_pathv[i]));
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        bool is_one = may_be_clone(ctx) && has_same_bits_observed(ctx);
        if (is_one)
            printf("%s\n", found.gl_pathv[i] + sizeof FOLDER);
        count += is_one;
        close_context(ctx);
    }
    CHECK(count > 1);
    globfree(&found);
    ln_arch_cleanup();
}

TEST_LIST(constants_that_decide_shapes_leave_sessions_small,
          sessions_of_models_cost_workspace_and_frame,
          sessions_of_dynamic_models_have_the_bits_of_fixed_ones,
          an_observer_changes_no_bits_of_dynamic_models)
