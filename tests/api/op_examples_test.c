// SPDX-License-Identifier: Apache-2.0
// The example of every registered operator runs: so the code made from its description does, and
// the documentation is right.

#include "tests/api/op_examples.h"

#include <math.h>
#include <unistd.h>

#include "tests/oom.h"

// ---- Running ----

static ln_status prepare(ln_context *ctx, const char *model, const char *target)
{
    LN_TRY(ln_context_init_mem(ctx, model, strlen(model), NULL));
    LN_TRY(ln_context_compile(ctx, target));
    LN_TRY(ln_context_allow_write(ctx, "."));
    return ln_context_load(ctx, NULL);
}

static int has_open_tensor(const ln_context *ctx)
{
    size_t cursor = 0;
    void *entry;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &entry))
        if (((const ln_tensor_entry *)entry)->is_open)
            return 1;
    return 0;
}

static bool runs_each_time(const ln_op *op)
{
    const ln_list *out = op->op_arg->tensors_out;
    const ln_tensor_list_entry *first = out ? out->data : NULL;
    const ln_tensor_entry *entry =
        first ? ln_tensor_table_find(op->op_arg->tensor_table, first->name) : NULL;
    return op->run && !(entry && entry->isstatic);
}

// What a run of static shapes is charged is what `ln_op_cost` has stated of the operators that run.
static ln_status check_charge(const ln_context *ctx)
{
    double stated = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (runs_each_time(op))
            stated += ln_op_cost(op);
    // What is left of 6e11 units is exact to 1e-4.
    if (fabs(ctx->work_done - stated) > 1e-3 && !has_open_tensor(ctx))
        return LN_FAIL(LN_INTERNAL, "a run took %g work units, %g were stated", ctx->work_done,
                       stated);
    return LN_OK;
}

// Runs again and again; nothing is allocated but what no plan has: values that only a run knows,
// and workspace, once.
static ln_status run_thrice(const ln_context *ctx)
{
    if (ln_context_unplanned(ctx).op_count > 0)
        LN_TRY(ln_context_run(ctx));
    test_oom counter;
    test_oom_start(&counter, SIZE_MAX);
    ln_status status = ln_context_run(ctx);
    if (status == LN_OK)
        status = ln_context_run(ctx);
    test_oom_stop();
    if (status == LN_OK && counter.requests > 0 && !has_open_tensor(ctx))
        status = LN_FAIL(LN_INTERNAL, "a run allocated %zu times", counter.requests);
    return status;
}

// The number of operators whose example does not run; says on standard output why.
static int run_all(const char *target)
{
    int failed_count = 0;
    char model[MODEL_BYTES];
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        if (!is_runnable(op) || !make_model(model, op))
            continue;
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        ln_status status = prepare(ctx, model, target);
        if (status == LN_OK)
            status = run_thrice(ctx);
        if (status == LN_OK)
            status = check_charge(ctx);
        if (status != LN_OK) {
            printf("%s for %s: %s\n%s", op->op_arg->optype, target, ln_error_message(), model);
            failed_count++;
        }
        close_context(ctx);
        bool writes = strncmp(op->op_arg->optype, "fprint", 6) == 0;
        if (writes != (unlink("fprint.txt") == 0)) // it is created anew each time
            failed_count++;
    }
    return failed_count;
}

// `fprint` writes below the current folder, which the examples are allowed.
static void enter_new_folder(char *folder, size_t size)
{
    snprintf(folder, size, "%s/op_examples.XXXXXX", LN_BUILD_DIR);
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_EQ(chdir(folder), 0);
}

TEST(every_example_runs)
{
    char folder[4096];
    enter_new_folder(folder, sizeof folder);
    CHECK_OK(ln_arch_init());
    CHECK_EQ(run_all("ref"), 0);
    CHECK_EQ(run_all("cpu"), 0);
    ln_arch_cleanup();
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (!is_used[i])
            fail_msg("no example takes row %zu: %s of %s", i, sources[i].name,
                     sources[i].optype ? sources[i].optype : "any");
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(rmdir(folder), 0);
}

// ---- Open dimensions ----

// The dimensions of the input that `line` makes; their number, 0 if it makes none.
static int read_dims(const char *line, int dims[TL_MAXDIM])
{
    int ndim = 0;
    if (strncmp(line, "input(", 6) != 0)
        return 0;
    for (char *at = strstr(line, "dims=[") + 6; *at != ']' && ndim < TL_MAXDIM; at += *at == ',')
        dims[ndim++] = (int)strtol(at, &at, 10);
    return ndim;
}

// `model` with another number as dimension `axis` of the input that its line at `line` makes.
static void change_dim(char changed[MODEL_BYTES], const char *model, const char *line, int axis,
                       int dim)
{
    const char *at = strstr(line, "dims=[") + 6;
    for (int d = 0; d < axis; d++)
        at = strchr(at, ',') + 1;
    snprintf(changed, MODEL_BYTES, "%.*s%d%s", (int)(at - model), model, dim,
             at + strcspn(at, ",]"));
}

static ln_object *make_value(tl_dtype dtype, int ndim, const int *dims)
{
    ln_object *object = ln_object_new_tensor(dtype, ndim, dims, NULL);
    CHECK_NOT_NULL(object);
    const tl_tensor *t = ln_object_tensor(object);
    for (int i = 0; i < t->len; i++) {
        double x = dtype == TL_FLOAT ? (i * 29 % 17) / 8.0 + 0.25 : i % 2;
        CHECK_OK(tl_convert((char *)t->data + (size_t)i * tl_size_of(dtype), dtype, &x, TL_DOUBLE));
    }
    return object;
}

// Runs `ctx`, a compilation of a model that `model` is too, on the shapes of the latter.
static ln_status run_on_shapes_of(ln_context *ctx, const char *model)
{
    for (const char *line = model; *line; line = strchr(line, '\n') + 1) {
        int dims[TL_MAXDIM], ndim = read_dims(line, dims);
        if (strncmp(line, "input(", 6) != 0)
            continue;
        char name[LN_MAX_NAME_LEN], type[32];
        CHECK_EQ(sscanf(line, "input(| dst=%127s | dtype=%31[A-Z0-9_]", name, type), 2);
        ln_object *value = make_value(tl_dtype_from_str(type), ndim, dims);
        ln_status status = ln_context_set_object(ctx, name, value);
        ln_object_release(value);
        LN_TRY(status);
    }
    return ln_context_run(ctx);
}

// On arch `cpu` a shape that is known may choose another kernel, in `layout` say.
static bool has_same_elements(const tl_tensor *x, const tl_tensor *y, bool is_exact)
{
    if (x->dtype != y->dtype || !tl_tensor_issameshape(x, y))
        return false;
    if (is_exact || x->dtype != TL_FLOAT)
        return memcmp(x->data, y->data, tl_tensor_size(x)) == 0;
    const float *p = x->data, *q = y->data;
    float most = 0, error = 0;
    for (int i = 0; i < x->len; i++) {
        most = fmaxf(most, fabsf(p[i]));
        error = fmaxf(error, fabsf(p[i] - q[i]));
    }
    return error <= 1e-5f * most;
}

// Whether what nobody reads has the same type, shape and elements in both.
static bool has_same_results(const ln_context *a, const ln_context *b, const char *optype,
                             bool is_exact)
{
    const ln_op *op;
    bool is_same = true;
    LN_LIST_FOREACH (op, a->ops) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            const ln_tensor_entry *x = ln_tensor_table_find(a->tensor_table, out->name);
            const ln_tensor_entry *y = ln_tensor_table_find(b->tensor_table, out->name);
            bool is_result = y && !ln_op_is_scratch(op->op_arg, out->arg_name) && x->tensor->data &&
                             y->tensor->data && !x->isstatic;
            if (!is_result)
                continue;
            bool same = has_same_elements(x->tensor, y->tensor, is_exact);
            if (!same)
                printf("%s: %s differs\n", optype, out->name);
            is_same = is_same && same;
        }
    }
    return is_same;
}

static ln_context *try_load(const char *model, const char *target, ln_status *out_status)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    *out_status = prepare(ctx, model, target);
    return ctx;
}

// The model with one dimension open runs on the shapes of `closed` as that does.
static bool agree_on(const char *optype, ln_context *open, const char *closed, const char *target)
{
    ln_status status;
    unlink("fprint.txt");
    ln_context *ctx = try_load(closed, target, &status);
    if (status == LN_OK)
        status = run_on_shapes_of(ctx, closed);
    unlink("fprint.txt"); // it is created anew each time
    ln_status open_status = run_on_shapes_of(open, closed);
    bool is_same = status == LN_OK && open_status == LN_OK
                       ? has_same_results(ctx, open, optype, ln_streq(target, "ref"))
                       : status != LN_OK && open_status != LN_OK;
    if (!is_same)
        printf("%s for %s: %s, and with an open dimension %s: %s\n%s", optype, target,
               ln_status_name(status), ln_status_name(open_status), ln_error_message(), closed);
    close_context(ctx);
    return is_same;
}

// Snippets of C need shapes: compiling says whose, and how to give it.
static bool is_refused_clearly(const ln_op *op, ln_status status)
{
    char whose[LN_MAX_NAME_LEN + 64];
    snprintf(whose, sizeof whose, ": %s: `%s0` needs the shape of tensor '", op->op_arg->optype,
             op->op_arg->optype);
    return !op->op_arg->info->infer && status == LN_UNSUPPORTED &&
           strstr(ln_error_message(), whose) && strstr(ln_error_message(), "ln_context_set_shape");
}

// Opens dimension `axis` of the input that the line at `line` of `model` makes.
static bool runs_open(const ln_op *op, const char *model, const char *line, int axis, int dim,
                      const char *target)
{
    const char *optype = op->op_arg->optype;
    char open[MODEL_BYTES], other[MODEL_BYTES];
    change_dim(open, model, line, axis, -1);
    change_dim(other, model, line, axis, dim + 1);
    ln_status status;
    ln_context *ctx = try_load(open, target, &status);
    bool is_right = status == LN_OK || is_refused_clearly(op, status);
    if (!is_right)
        printf("%s for %s: %s\n%s", optype, target, ln_error_message(), open);
    // Of values that are longer than their keys the rule that sorts them takes the first.
    bool may_differ = ln_streq(optype, "sort1d_by_key");
    if (status == LN_OK)
        is_right = agree_on(optype, ctx, model, target) &&
                   (may_differ || agree_on(optype, ctx, other, target)) &&
                   agree_on(optype, ctx, model, target);
    close_context(ctx);
    return is_right;
}

static int run_all_open(const char *target)
{
    int failed_count = 0;
    char model[MODEL_BYTES];
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = op->op_arg->info;
        bool has_versions = info->since && info->since[0];
        if (!is_abstract(op) || has_versions || !make_model(model, op))
            continue;
        for (const char *line = model; *line; line = strchr(line, '\n') + 1) {
            int dims[TL_MAXDIM], ndim = read_dims(line, dims);
            for (int axis = 0; axis < ndim; axis++)
                failed_count += !runs_open(op, model, line, axis, dims[axis], target);
        }
    }
    return failed_count;
}

TEST(every_example_runs_with_each_dimension_open)
{
    char folder[4096];
    enter_new_folder(folder, sizeof folder);
    CHECK_OK(ln_arch_init());
    int failed_count = run_all_open("ref");
    failed_count += run_all_open("cpu");
    CHECK_EQ(failed_count, 0);
    ln_arch_cleanup();
    unlink("fprint.txt");
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(rmdir(folder), 0);
}

// Those of ONNX may do without: its own cases show them.
TEST(every_operator_of_ours_has_an_example)
{
    CHECK_OK(ln_arch_init());
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = op->op_arg->info;
        bool has_versions = info && info->since && info->since[0];
        const op_prose *prose = op_prose_find(op);
        if (!has_versions && (!prose || !prose->example))
            fail_msg("%s has no example", op->op_arg->optype);
    }
    CHECK(ln_op_count() > 60);
    ln_arch_cleanup();
}

// Reading a model is checking it: what pre_run allocates is among what is refused here.
TEST(no_operator_leaks_or_crashes_when_memory_is_gone)
{
    CHECK_OK(ln_arch_init());
    char model[MODEL_BYTES];
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        if (!is_runnable(op) || !make_model(model, op))
            continue;
        ln_status status = LN_OK;
        OOM_SWEEP(n)
        {
            ln_context *ctx = ln_context_create();
            status = ctx ? ln_context_init_mem(ctx, model, strlen(model), NULL) : LN_NO_MEMORY;
            ln_context_free(ctx);
            if (status != LN_OK && status != LN_NO_MEMORY)
                break;
        }
        test_oom_stop();
        if (status != LN_OK)
            fail_msg("%s: %s", op->op_arg->optype, ln_error_message());
    }
    ln_arch_cleanup();
}

TEST_LIST(every_example_runs, every_example_runs_with_each_dimension_open,
          every_operator_of_ours_has_an_example, no_operator_leaks_or_crashes_when_memory_is_gone)
