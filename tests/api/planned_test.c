// SPDX-License-Identifier: Apache-2.0
// What a plan says is all that a run takes: over ONNX's own cases, a model of which the plan leaves
// out nothing takes no memory from the library's allocator while it runs, from its first run on.
//
// Of the others, whose sizes only a run knows, a stream of runs on values of the same sizes takes
// none once it is steady: what the values and the workspace of one run took, the next one gets.
//
// That no operator takes more workspace than its description states is checked where it is taken,
// in every run of every test; here it is seen that none takes it from elsewhere.

#include <dirent.h>
#include <stdlib.h>

#include <lightnet/call.h>
#include <lightnet/onnx_data.h>
#include <lightnet/op_info.h>
#include <lightnet/program.h>

#include "tests/api/model.h"
#include "tests/oom.h"

#define CASES "/usr/share/libonnx-testdata/data/"

static char *read_file(const char *path, size_t *out_size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    CHECK_EQ(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    CHECK(size >= 0);
    rewind(f);
    char *bytes = malloc((size_t)size + 1);
    CHECK_NOT_NULL(bytes);
    *out_size = fread(bytes, 1, (size_t)size, f);
    fclose(f);
    return bytes;
}

static ln_status set_input(ln_context *ctx, const char *folder, size_t index)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/test_data_set_0/input_%zu.pb", folder, index);
    char *bytes = read_file(path, &size);
    if (!bytes)
        return LN_OK;
    ln_object *object = NULL;
    ln_status status = LN_INVALID; // the file does not say which kind it holds
    for (int kind = LN_OBJECT_TENSOR; kind <= LN_OBJECT_OPTIONAL && status != LN_OK; kind++)
        status = ln_onnx_read_value(bytes, size, path, kind, &object);
    free(bytes);
    LN_TRY(status);
    status = ln_context_set_object(ctx, ln_context_input(ctx, index)->name, object);
    ln_object_release(object);
    return status;
}

typedef struct counts {
    size_t exact, unplanned, failed, sessions, steady;
} counts;

static void note_unplanned(const ln_context *ctx, const ln_unplanned *u, const char *folder,
                           counts *c)
{
    c->unplanned++;
    for (size_t i = 0; i < 3 && u->ops[i]; i++) {
        const ln_op *op = ln_op_table_find(ctx->op_table, u->ops[i]);
        if (!op)
            continue; // in a graph
        // Its graphs give tensors that the plan does not have.
        if (strcmp(op->op_arg->optype, "preview_FlexAttention_ref") == 0)
            continue;
        print_error("%s: the workspace of %s is in no plan\n", folder, op->op_arg->optype);
        c->failed++;
    }
}

static ln_status set_inputs(ln_context *ctx, const char *folder)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++)
        LN_TRY(set_input(ctx, folder, i));
    return LN_OK;
}

static void run_set(ln_context *ctx, const char *folder, counts *c)
{
    ln_status status = set_inputs(ctx, folder);
    if (status != LN_OK)
        return; // other tests tell of that
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    status = ln_context_run(ctx);
    test_oom_stop();
    c->exact += status == LN_OK;
    if (status != LN_INTERNAL && counter.requests == 0)
        return;
    print_error("%s: %zu requests, %s\n", folder, counter.requests,
                status == LN_OK ? "ok" : ln_error_message());
    c->failed++;
}

// The first runs find out sizes, and which blocks are needed at once.
enum { RUNS_TO_GET_STEADY = 3, STEADY_RUNS = 3 };

static void check_steady(ln_context *ctx, const char *folder, counts *c)
{
    if (ln_context_load(ctx, NULL) != LN_OK || set_inputs(ctx, folder) != LN_OK)
        return;
    test_oom counter = {0};
    ln_status status = LN_OK;
    for (int i = 0; status == LN_OK && i < RUNS_TO_GET_STEADY + STEADY_RUNS; i++) {
        if (i == RUNS_TO_GET_STEADY)
            test_oom_start(&counter, SIZE_MAX);
        status = ln_context_run(ctx);
        if (status != LN_OK && i < RUNS_TO_GET_STEADY)
            return; // the case gives no value for an input; other tests tell of failures
    }
    test_oom_stop();
    c->steady += status == LN_OK;
    if (status == LN_OK && counter.requests == 0)
        return;
    print_error("%s: %zu requests in %d steady runs, %s\n", folder, counter.requests, STEADY_RUNS,
                status == LN_OK ? "ok" : ln_error_message());
    c->failed++;
}

// A session gives what the context has given.
static void compare_output(const ln_context *ctx, ln_session *session, const char *folder, size_t i,
                           counts *c)
{
    const ln_tensor_entry *output = ln_context_output(ctx, i);
    const void *data;
    size_t size;
    CHECK_OK(ln_session_borrow_data(session, output->name, &data, &size));
    CHECK_EQ(size, tl_tensor_size(output->tensor));
    if (memcmp(data, output->tensor->data, size) == 0 || strstr(folder, "bernoulli"))
        return; // or draws other numbers in each run
    print_error("%s: output '%s' of a session differs\n", folder, output->name);
    c->failed++;
}

static ln_status run_session(ln_context *ctx, ln_session *session, test_oom *counter)
{
    for (size_t i = 0; i < ln_context_input_count(ctx); i++) {
        const ln_tensor_entry *input = ln_context_input(ctx, i);
        LN_TRY(ln_session_set_data(session, input->name, input->tensor->data,
                                   tl_tensor_size(input->tensor)));
    }
    LN_TRY(ln_context_run(ctx));
    test_oom_start(counter, SIZE_MAX);
    ln_status status = ln_session_run(session);
    test_oom_stop();
    return status;
}

static void check_session(ln_context *ctx, const char *folder, counts *c)
{
    ln_program *program;
    ln_session *session;
    test_oom counter = {0};
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    if (ln_program_is_fixed(program) && run_session(ctx, session, &counter) == LN_OK) {
        c->sessions++;
        c->failed += counter.requests > 0;
        for (size_t i = 0; i < ln_context_output_count(ctx); i++)
            compare_output(ctx, session, folder, i, c);
    }
    ln_session_free(session);
    ln_program_release(program);
}

// The limit is what the plan says, and not a byte more.
static ln_status load_at_limit(ln_context *ctx, const char *folder, counts *c)
{
    ln_limits limits = ctx->limits;
    size_t loading = ctx->static_sizes[LN_MEM_CPU] + ctx->load_sizes[LN_MEM_CPU];
    size_t peak = ctx->mem_sizes[LN_MEM_CPU];
    limits.memory_byte_count = peak > loading ? peak : loading;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    ln_status status = ln_context_load(ctx, NULL);
    if (status != LN_LIMIT)
        return status;
    print_error("%s: %s\n", folder, ln_error_message());
    c->failed++;
    return status;
}

// The model and a clone, which has workspace of its own.
static void run_planned(ln_context *ctx, const char *folder, counts *c)
{
    ln_context *clone;
    if (load_at_limit(ctx, folder, c) != LN_OK)
        return;
    run_set(ctx, folder, c);
    CHECK_OK(ln_context_clone(ctx, &clone));
    run_set(clone, folder, c);
    ln_context_free(clone);
    check_session(ctx, folder, c);
}

static void check_case(const char *folder, const char *target, counts *c)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    if (ln_context_init(ctx, path) == LN_OK && ln_context_compile(ctx, target) == LN_OK) {
        ln_unplanned u = ln_context_unplanned(ctx);
        if (u.op_count > 0)
            note_unplanned(ctx, &u, folder, c);
        else if (u.tensor_count == 0)
            run_planned(ctx, folder, c);
        if (u.op_count > 0 || u.tensor_count > 0)
            check_steady(ctx, folder, c);
    }
    close_context(ctx);
}

static void check_set(const char *name, const char *target, counts *c)
{
    char folder[1024];
    snprintf(folder, sizeof folder, CASES "%s", name);
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        snprintf(folder, sizeof folder, CASES "%s/%.255s", name, entry->d_name);
        if (entry->d_name[0] != '.')
            check_case(folder, target, c);
    }
    if (dir)
        closedir(dir);
}

static void check_target(const char *target)
{
    static const char *const sets[] = {"node", "simple", "pytorch-operator", "pytorch-converted"};
    counts c = {0};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        check_set(sets[i], target, &c);
    ln_arch_cleanup();
    print_message("%s: %zu runs as planned, %zu with workspace that only a run knows; %zu fixed "
                  "sessions; %zu steady streams of what a run decides\n",
                  target, c.exact, c.unplanned, c.sessions, c.steady);
    CHECK_EQ(c.failed, 0);
    if (c.exact == 0)
        SKIP("the package libonnx-testdata is not installed");
}

TEST(runs_on_ref_take_what_is_planned)
{
    check_target("ref");
}

TEST(runs_on_cpu_take_what_is_planned)
{
    check_target("cpu");
}

static size_t first_run_requests(ln_context *ctx)
{
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    ln_status status = ln_context_run(ctx);
    test_oom_stop();
    CHECK_OK(status);
    return counter.requests;
}

// What the library looks up in a run of a model that was bound is there from loading on.
TEST(first_runs_of_bound_models_take_what_is_planned)
{
    CHECK_OK(ln_arch_init());
    ln_context *clone,
        *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 64], names=[\"N\", \"\"]);\n"
                         "create(| dst=w | dtype=TL_FLOAT, dims=[64, 1100], ran=[-1, 1]);\n"
                         "MatMul(A=x, B=w | Y=m |);\nRelu(X=m | Y=y |);\noutput(src=y | |);\n");
    CHECK_OK(ln_context_set_symbol(ctx, "N", 4));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_unplanned u = ln_context_unplanned(ctx);
    CHECK_EQ(u.op_count + u.tensor_count, 0);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_EQ(first_run_requests(ctx), 0);
    CHECK_EQ(first_run_requests(clone), 0);
    ln_context_free(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- An operator that says one thing and does another ----

static size_t stated_blocks, taken_blocks; // of 100 bytes, which take 128
static ln_status stated_status;

static ln_status take_blocks(ln_call *call, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *block = ln_call_scratch(call, 100, 1);
        if (!block)
            return ln_error_status();
        if (ln_call_is_counting(call))
            continue;
        for (int k = 0; k < 100; k++)
            if (block[k]++ != 0)
                return ln_call_fail(call, LN_INTERNAL, "got a block that is not zeros");
    }
    return LN_OK;
}

static ln_status state_blocks(ln_call *call)
{
    LN_TRY(take_blocks(call, stated_blocks));
    return stated_status;
}

static ln_status compute_blocks(ln_call *call)
{
    return take_blocks(call, taken_blocks);
}

// A copy of Neg's variant on ref with other functions.
static ln_op *register_taker(ln_op_info *info, ln_op_arg *arg, ln_op *op)
{
    const ln_op *neg = ln_op_find("Neg_ref");
    CHECK_NOT_NULL(neg);
    *info = *neg->op_arg->info;
    info->compute = compute_blocks;
    info->workspace = state_blocks;
    *arg = *neg->op_arg;
    arg->optype = "Taker_ref";
    arg->info = info;
    *op = *neg;
    op->op_arg = arg;
    CHECK_OK(ln_op_register(op));
    return op;
}

#define TAKER                                                                                      \
    "input_ref(| dst=x | dtype=TL_FLOAT, dims=[3]); Taker_ref(X=x | Y=y |); "                      \
    "Taker_ref(X=y | Y=z |);"

static size_t workspace_of(ln_context *ctx)
{
    return ctx->mem_sizes[LN_MEM_CPU];
}

TEST(what_is_stated_is_planned_and_no_more_is_given)
{
    ln_op_info info;
    ln_op_arg arg;
    ln_op op;
    CHECK_OK(ln_arch_init());
    register_taker(&info, &arg, &op);
    stated_status = LN_OK;
    stated_blocks = taken_blocks = 0;
    ln_context *ctx = load_text(TAKER, "ref");
    size_t without = workspace_of(ctx);
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);

    stated_blocks = taken_blocks = 2; // of one operator after the other, in the same place
    ctx = load_text(TAKER, "ref");
    CHECK_EQ(workspace_of(ctx), without + 256);
    CHECK_EQ(ln_context_unplanned(ctx).op_count, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_run(ctx));
        taken_blocks = 3;
        CHECK_FAILS(ln_context_run(ctx), LN_INTERNAL);
        CHECK_MESSAGE("Taker_ref: `Taker_ref0` takes 384 bytes of workspace, but by its "
                      "description 256");
        taken_blocks = 1; // less is fine
    }
    close_context(ctx);

    stated_status = LN_UNSUPPORTED; // nobody knows
    taken_blocks = 3;
    ctx = load_text(TAKER, "ref");
    CHECK_EQ(workspace_of(ctx), without);
    CHECK_EQ(ln_context_unplanned(ctx).op_count, 2);
    CHECK_OK(ln_context_run(ctx));
    close_context(ctx);
    CHECK_OK(ln_op_unregister("Taker_ref"));
    ln_arch_cleanup();
}

TEST_LIST(runs_on_ref_take_what_is_planned, runs_on_cpu_take_what_is_planned,
          first_runs_of_bound_models_take_what_is_planned,
          what_is_stated_is_planned_and_no_more_is_given)
