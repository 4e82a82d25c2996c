// SPDX-License-Identifier: Apache-2.0
// The memory limit holds for what a run allocates: strings, objects and workspace in one sum.

#include <malloc.h>
#include <stdatomic.h>

#include <lightnet/allocator.h>
#include <lightnet/call.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>
#include <lightnet/program.h>

#include "tests/api/values.h"

// What the allocator has handed out, with its headers, and the most it had.
static atomic_size_t taken_bytes, peak_bytes;

static size_t size_of_block(void *p)
{
    return p ? malloc_usable_size(p) + sizeof(size_t) : 0;
}

static void *counted_resize(void *user, void *p, size_t size)
{
    (void)user;
    size_t old_bytes = size_of_block(p);
    void *resized = realloc(p, size);
    if (!resized)
        return NULL;
    atomic_fetch_sub(&taken_bytes, old_bytes);
    size_t now = atomic_fetch_add(&taken_bytes, size_of_block(resized)) + size_of_block(resized);
    if (now > atomic_load(&peak_bytes))
        atomic_store(&peak_bytes, now);
    return resized;
}

static void counted_release(void *user, void *p)
{
    (void)user;
    atomic_fetch_sub(&taken_bytes, size_of_block(p));
    free(p);
}

typedef struct hungry_model {
    const char *why;
    const char *text;
} hungry_model;

#define COUNT(dims, value)                                                                         \
    "input(| dst=n | dtype=TL_INT64, dims=" dims ");\n"                                            \
    "create(| dst=zero | dtype=TL_INT64, dims=" dims ", data=" value ");\n"                        \
    "Add(A=n, B=zero | C=count |);\n"

// All make more than the limit of what is one element in the file.
static const hungry_model models[] = {
    {"short strings", COUNT("[1]", "[100000]") "strings(| dst=s | dims=[1], data=[\"ab\"]);\n"
                                               "Expand(input=s, shape=count | output=y |);\n"},
    {"strings in another case",
     COUNT("[1]", "[20000]") "strings(| dst=s | dims=[1], data=[\"abcdefgh\"]);\n"
                             "Expand(input=s, shape=count | output=e |);\n"
                             "StringNormalizer(X=e | Y=y | case_change_action=\"UPPER\");\n"},
    {"joined strings",
     COUNT("[1]", "[20000]") "strings(| dst=s | dims=[1], data=[\"abcdefgh\"]);\n"
                             "Expand(input=s, shape=count | output=e |);\n"
                             "StringConcat(X=e, Y=e | Z=f |);\nStringConcat(X=f, Y=f | Z=y |);\n"},
    {"a sequence of scalars",
     COUNT("[1]", "[20000]") "create(| dst=s | dtype=TL_FLOAT, dims=[1], data=[1]);\n"
                             "Expand(input=s, shape=count | output=e |);\n"
                             "SplitToSequence(input=e | output_sequence=y | keepdims=0);\n"},
    {"workspace of a sort beside its values",
     COUNT("[1]", "[100000]") "create(| dst=s | dtype=TL_FLOAT, dims=[1], data=[1]);\n"
                              "create(| dst=k | dtype=TL_INT64, dims=[1], data=[1]);\n"
                              "Expand(input=s, shape=count | output=e |);\n"
                              "Identity(input=e | output=f |);\n"
                              "TopK(X=e, K=k | Values=y, Indices=i |);\n"
                              "Add(A=e, B=f | C=g |);\n"},
    {"values that are read late",
     COUNT("[1]", "[70000]") "create(| dst=s | dtype=TL_FLOAT, dims=[1], data=[1]);\n"
                             "Expand(input=s, shape=count | output=e |);\n"
                             "Exp(input=e | output=f |);\nExp(input=f | output=g |);\n"
                             "Exp(input=g | output=h |);\nAdd(A=e, B=f | C=a |);\n"
                             "Add(A=g, B=h | C=b |);\nAdd(A=a, B=b | C=y |);\n"},
};

// One model under a limit: it may be refused, but takes no more than that.
static void check_peak(const hungry_model *m, size_t limit_bytes, ln_status expected)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = limit_bytes;
    ln_context_set_limits(ctx, &limits);
    CHECK_OK(ln_context_init_mem(ctx, m->text, strlen(m->text), "model.net"));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    size_t before = atomic_load(&taken_bytes);
    CHECK_OK(ln_context_load(ctx, NULL));
    size_t loaded = atomic_load(&taken_bytes);
    atomic_store(&peak_bytes, loaded);
    ln_status status = ln_context_run(ctx);
    size_t took = atomic_load(&peak_bytes) - before;
    if (status != LN_OK) // threads, tables and the message
        CHECK(atomic_load(&taken_bytes) <= loaded + 65536);
    if (status != expected || took > limit_bytes + 65536)
        print_message("%s: status %d, %zu bytes of %zu: %s\n", m->why, (int)status, took,
                      limit_bytes, ln_error_message());
    CHECK_EQ(status, expected);
    CHECK(took <= limit_bytes + 65536); // threads and tables
    close_context(ctx);
}

TEST(a_run_takes_no_more_than_the_memory_limit)
{
    ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    ln_allocator_set(&counted);
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        check_peak(&models[i], 1000000, LN_LIMIT);
        check_peak(&models[i], 32000000, LN_OK);
    }
    ln_arch_cleanup();
    CHECK_EQ(atomic_load(&taken_bytes), 0);
    ln_allocator_set(NULL);
}

// Runs twice: what the first has left is no reason for the second to fail earlier.
static void check_session(ln_program *program, ln_status expected)
{
    ln_session *session;
    CHECK_OK(ln_session_create(program, &session));
    for (int i = 0; i < 2; i++) {
        size_t before = atomic_load(&taken_bytes);
        ln_status status = ln_session_run(session);
        CHECK_EQ(status, expected);
        if (status != LN_OK)
            CHECK(atomic_load(&taken_bytes) <= before + 32768);
    }
    ln_session_free(session);
}

static void check_sessions(const char *text)
{
    ln_program *program;
    ln_context *ctx = ln_context_create();
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 1000000;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    CHECK_OK(ln_context_init_mem(ctx, text, strlen(text), "model.net"));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_program_create(ctx, &program));
    close_context(ctx);
    check_session(program, LN_LIMIT);
    ln_program_release(program);
}

// Values of 50,000 bytes, which are all read at the end and may be kept for others.
static void print_small_values(char *text, size_t size)
{
    size_t len = (size_t)snprintf(
        text, size,
        COUNT("[1]", "[12500]") "create(| dst=s | dtype=TL_FLOAT, dims=[1], data=[1]);\n"
                                "Expand(input=s, shape=count | output=v0 |);\n");
    for (int i = 1; i < 24; i++)
        len +=
            (size_t)snprintf(text + len, size - len, "Sin(input=v%d | output=v%d |);\n", i - 1, i);
    len += (size_t)snprintf(text + len, size - len, "Concat(inputs1=v0");
    for (int i = 1; i < 24; i++)
        len += (size_t)snprintf(text + len, size - len, ", inputs%d=v%d", i + 1, i);
    snprintf(text + len, size - len, " | concat_result=y | axis=0);\n");
}

TEST(a_session_that_needs_too_much_gives_it_back)
{
    char small_values[4096];
    ln_allocator counted = {.resize = counted_resize, .release = counted_release};
    ln_allocator_set(&counted);
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        check_sessions(models[i].text);
    print_small_values(small_values, sizeof small_values);
    check_sessions(small_values);
    ln_arch_cleanup();
    CHECK_EQ(atomic_load(&taken_bytes), 0);
    ln_allocator_set(NULL);
}

// ---- Workspace while a model is planned, which no plan has yet ----

static int block_count; // of 400,000 bytes each

static ln_status infer_in_blocks(ln_call *call)
{
    for (int i = 0; i < block_count; i++)
        if (!ln_call_scratch(call, 400000, 1))
            return ln_error_status();
    return ln_call_out_like(call, 0, 0);
}

TEST(blocks_are_limited_in_sum_while_shapes_are_found)
{
    CHECK_OK(ln_arch_init());
    ln_op_info info = *ln_op_find("Relu")->op_arg->info;
    info.infer = infer_in_blocks;
    ln_op_arg arg = *ln_op_find("Relu")->op_arg;
    arg.optype = "Blocks";
    arg.info = &info;
    ln_op op = *ln_op_find("Relu");
    op.op_arg = &arg;
    CHECK_OK(ln_op_register(&op));
    const char *text = "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\nBlocks(X=x | Y=y |);\n";
    ln_limits limits = ln_limits_default();
    limits.memory_byte_count = 1000000;
    for (block_count = 1; block_count < 5; block_count++) {
        ln_context *ctx = ln_context_create();
        ln_context_set_limits(ctx, &limits);
        ln_status status = ln_context_init_mem(ctx, text, strlen(text), "model.net");
        CHECK_EQ(status, block_count < 3 ? LN_OK : LN_LIMIT);
        if (status != LN_OK)
            CHECK_MESSAGE("needs 1200000 bytes of workspace, over the memory limit of 1000000");
        ln_context_free(ctx);
    }
    CHECK_OK(ln_op_unregister("Blocks"));
    ln_arch_cleanup();
}

TEST_LIST(a_run_takes_no_more_than_the_memory_limit, a_session_that_needs_too_much_gives_it_back,
          blocks_are_limited_in_sum_while_shapes_are_found)
