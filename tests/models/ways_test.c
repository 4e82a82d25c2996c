// SPDX-License-Identifier: Apache-2.0
// The same numbers whichever way a model is run: again, in a clone, in sessions of a program, under
// an observer, with several threads, in a range, and from a compiled file with its constants.
//
// The models are found in ../shared/conformance beside the repository; without them the test is
// skipped.

#include <glob.h>
#include <stdlib.h>

#include <lightnet/program.h>

#include "tests/api/values.h"
#include "tests/sanitizer.h"

#define FOLDER LN_SOURCE_DIR "/../shared/conformance/models"

#define MAX_INPUTS 16

// ---- Values ----

typedef struct values {
    size_t count;
    const char *names[MAX_INPUTS]; // of `ctx`
    ln_object *of[MAX_INPUTS];
    bool is_any_dynamic;
} values;

// Small numbers; where the model states no size, some that most networks take.
static bool make_values(const ln_context *ctx, values *v)
{
    *v = (values){.count = ln_context_input_count(ctx)};
    CHECK(v->count <= MAX_INPUTS);
    for (size_t i = 0; i < v->count; i++) {
        const char *name = v->names[i] = ln_context_input_name(ctx, i);
        int dims[TL_MAXDIM], ndim = ln_context_tensor_rank(ctx, name);
        for (int d = 0; d < ndim; d++) {
            int64_t size = ln_context_tensor_dim(ctx, name, d);
            v->is_any_dynamic = v->is_any_dynamic || size < 0;
            dims[d] = size >= 0 ? (int)size : d == 0 ? 1 : 64;
        }
        tl_dtype dtype = ln_context_tensor_dtype(ctx, name);
        v->of[i] = ndim < 0 ? NULL : ln_object_new_tensor(dtype, ndim, dims, NULL);
        if (!v->of[i])
            return false; // it states no type or rank
        tl_tensor *t = ln_object_tensor(v->of[i]);
        for (int k = 0; k < t->len; k++)
            if (dtype == TL_FLOAT)
                ((float *)t->data)[k] = (float)(k * 7 % 23 - 11) / 16;
            else if (tl_size_of(dtype) == 1)
                ((uint8_t *)t->data)[k] = (uint8_t)(k * 7 % 23);
    }
    return true;
}

static void free_values(values *v)
{
    for (size_t i = 0; i < v->count; i++)
        ln_object_release(v->of[i]);
}

// FNV-1a over type, shape and bytes.
static uint64_t add_hash(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t add_tensor(uint64_t hash, const tl_tensor *t)
{
    hash = add_hash(hash, &t->dtype, sizeof t->dtype);
    hash = add_hash(hash, t->dims, (size_t)t->ndim * sizeof *t->dims);
    return add_hash(hash, t->data, tl_tensor_size(t));
}

#define FIRST UINT64_C(14695981039346656037)

// 0: it does not run.
static uint64_t run(ln_context *ctx, const values *v)
{
    for (size_t i = 0; i < v->count; i++)
        CHECK_OK(ln_context_set_object(ctx, v->names[i], v->of[i]));
    if (ln_context_run(ctx) != LN_OK)
        return 0;
    uint64_t hash = FIRST;
    for (size_t i = 0; i < ln_context_output_count(ctx); i++) {
        ln_object *made;
        CHECK_OK(ln_context_get_object(ctx, ln_context_output_name(ctx, i), &made));
        hash = add_tensor(hash, ln_object_tensor(made));
        ln_object_release(made);
    }
    return hash;
}

static uint64_t run_session(ln_session *session, const ln_program *program, const values *v)
{
    for (size_t i = 0; i < v->count; i++)
        CHECK_OK(ln_session_set_object(session, v->names[i], v->of[i]));
    CHECK_OK(ln_session_run(session));
    uint64_t hash = FIRST;
    for (size_t i = 0; i < ln_program_output_count(program); i++) {
        const char *name;
        ln_object *made;
        CHECK_OK(ln_program_output(program, i, &name, NULL));
        CHECK_OK(ln_session_get_object(session, name, &made));
        hash = add_tensor(hash, ln_object_tensor(made));
        ln_object_release(made);
    }
    return hash;
}

// ---- Ways ----

typedef struct model {
    const char *path;
    const values *v;
    uint64_t expected;
} model;

static void check(const model *m, const char *way, uint64_t hash)
{
    if (hash != m->expected)
        fail_msg("%s: %s: %016llx, not %016llx", m->path + sizeof FOLDER, way,
                 (unsigned long long)hash, (unsigned long long)m->expected);
}

static void check_sessions(const model *m, const ln_context *ctx, const char *way)
{
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_session_create(program, &session));
        check(m, way, run_session(session, program, m->v));
        check(m, way, run_session(session, program, m->v));
        ln_session_free(session);
    }
    ln_program_release(program);
}

static ln_context *open_file(const char *path)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    CHECK_OK(ln_context_init(ctx, path));
    return ctx;
}

// Bound to the shapes of the values, where the model states none.
static ln_context *open_bound(const model *m)
{
    ln_context *ctx = open_file(m->path);
    for (size_t i = 0; i < m->v->count && m->v->is_any_dynamic; i++) {
        const tl_tensor *t = ln_object_tensor(m->v->of[i]);
        if (ln_context_input_is_open(ctx, i))
            CHECK_OK(ln_context_set_shape(ctx, m->v->names[i], t->ndim, t->dims));
    }
    return ctx;
}

static void count_op(void *user, const ln_op *op)
{
    (void)op;
    ++*(size_t *)user;
}

static void check_loaded(const model *m, ln_context *ctx, const char *way)
{
    ln_context *clone;
    size_t op_count = 0;
    ln_observer observer = {.before = count_op, .user = &op_count};
    check(m, way, run(ctx, m->v));
    CHECK_OK(ln_context_clone(ctx, &clone));
    check(m, "a clone", run(clone, m->v));
    ln_context_free(clone);
    check_sessions(m, ctx, "a session");
    ln_context_set_observer(ctx, &observer);
    check(m, "observed", run(ctx, m->v));
    CHECK(op_count > 0);
    ln_context_set_observer(ctx, NULL);
    check(m, "again", run(ctx, m->v));
}

static void check_bound(const model *m, size_t thread_count)
{
    ln_context *ctx = open_bound(m);
    CHECK_OK(ln_context_set_threads(ctx, thread_count));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    check(m, "bound", run(ctx, m->v));
    check_sessions(m, ctx, "a session of a bound model");
    ln_context_free(ctx);
}

// Frees `ctx`, READY.
static void check_compiled(const model *m, ln_context *ctx, const char *way)
{
    size_t count;
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_store(ctx, NULL, LN_BUILD_DIR "/ways_test.safetensors", &count));
    CHECK_OK(ln_context_print(ctx, LN_BUILD_DIR "/ways_test.json"));
    CHECK_OK(ln_context_load(ctx, NULL)); // the weights that it has stored
    check(m, way, run(ctx, m->v));
    ln_context_free(ctx);
    ctx = open_file(LN_BUILD_DIR "/ways_test.json");
    CHECK_OK(ln_context_load(ctx, NULL));
    check(m, way, run(ctx, m->v));
    check_sessions(m, ctx, way);
    ln_context_free(ctx);
}

// READY; of each symbol, from the size to twice that. NULL: not all dimensions have one.
static ln_context *open_ranged(const model *m)
{
    ln_context *ctx = open_file(m->path);
    bool is_ranged = m->v->is_any_dynamic && !ctx->graphs;
    for (size_t i = 0; i < m->v->count && is_ranged; i++) {
        const tl_tensor *t = ln_object_tensor(m->v->of[i]);
        for (int d = 0; d < t->ndim && is_ranged; d++) {
            const char *symbol = ln_context_tensor_symbol(ctx, m->v->names[i], d);
            if (symbol && *symbol)
                is_ranged = ln_context_set_range(ctx, symbol, t->dims[d], 2 * t->dims[d]) == LN_OK;
            else
                is_ranged = ln_context_tensor_dim(ctx, m->v->names[i], d) >= 0;
        }
    }
    if (is_ranged && ln_context_compile(ctx, "cpu") == LN_OK)
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

static bool check_ranged(const model *m)
{
    size_t count;
    ln_context *ctx = open_ranged(m);
    if (!ctx)
        return false;
    CHECK_OK(ln_context_store(ctx, NULL, LN_BUILD_DIR "/ways_test.safetensors", &count));
    CHECK_OK(ln_context_print(ctx, LN_BUILD_DIR "/ways_test.json"));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_sessions(m, ctx, "a session of a range");
    ln_context *again = open_file(LN_BUILD_DIR "/ways_test.json");
    CHECK_STR_EQ(ln_context_range_worst(again), ln_context_range_worst(ctx));
    CHECK_OK(ln_context_load(again, NULL));
    check_sessions(m, again, "a session of a range that was compiled");
    ln_context_free(again);
    ln_context_free(ctx);
    return true;
}

typedef struct counts {
    size_t models, ranges;
} counts;

static void check_file(const char *path, counts *c)
{
    values v;
    model m = {.path = path, .v = &v};
    ln_context *ctx = open_file(path);
    CHECK_OK(ln_context_set_threads(ctx, 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    if (make_values(ctx, &v) && (m.expected = run(ctx, &v)) != 0) {
        check_loaded(&m, ctx, "again");
        if (v.is_any_dynamic)
            check_compiled(&m, open_file(path), "compiled without shapes");
        check_bound(&m, 1);
        check_bound(&m, 3);
        check_compiled(&m, open_bound(&m), "compiled");
        c->models++;
        c->ranges += check_ranged(&m);
    } else {
        ln_error_clear();
        printf("%s: does not take such values\n", path + sizeof FOLDER);
    }
    free_values(&v);
    ln_context_free(ctx);
}

TEST(models_have_the_same_bits_whichever_way_they_are_run)
{
    glob_t found = {0};
    (void)glob(FOLDER "/*/model.onnx", 0, NULL, &found);
    (void)glob(FOLDER "/*/model.tflite", GLOB_APPEND, NULL, &found);
    if (found.gl_pathc == 0) {
        globfree(&found);
        SKIP("there are no models in " FOLDER);
    }
    CHECK_OK(ln_arch_init());
    counts c = {0};
    size_t tried = 0;
    for (size_t i = 0; i < found.gl_pathc; i += TEST_ASAN ? 5 : 1, tried++)
        check_file(found.gl_pathv[i], &c);
    printf("%zu models of %zu, %zu in a range\n", c.models, tried, c.ranges);
    CHECK(c.models * 5 > tried * 4);
    globfree(&found);
    ln_arch_cleanup();
}

TEST_LIST(models_have_the_same_bits_whichever_way_they_are_run)
