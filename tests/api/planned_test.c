// SPDX-License-Identifier: Apache-2.0
// What a plan says is all that a run takes: over ONNX's own cases, a model of which the plan leaves
// out nothing takes no memory from the library's allocator while it runs, from its first run on.
//
// That no operator takes more workspace than its description states is checked where it is taken,
// in every run of every test; here it is seen that none takes it from elsewhere.

#include <dirent.h>
#include <stdlib.h>

#include <lightnet/onnx_data.h>

#include "tests/api/model.h"
#include "tests/oom.h"

#define CASES "/usr/share/libonnx-testdata/data/"

// Beginnings of types whose need depends on data or on the graphs that they run, or is not stated.
static const char *const unplanned_types[] = {
    "If_",          "Loop_",     "Scan_",     "SequenceMap_", "Conv",    "CausalConv", "DeformConv",
    "Max",          "Min",       "Sum_",      "Mean",         "Reduce",  "ArgM",       "BatchNorm",
    "InstanceNorm", "GroupNorm", "LayerNorm", "RMSNorm",      "Average", "LpPool",     "Global",
    "Resize",       "Upsample",  "Col2Im",    "Det_",
};

static bool may_be_unplanned(const char *optype)
{
    for (size_t i = 0; i < sizeof unplanned_types / sizeof unplanned_types[0]; i++)
        if (strncmp(optype, unplanned_types[i], strlen(unplanned_types[i])) == 0)
            return true;
    return false;
}

static char *read_file(const char *path, size_t *out_size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    enum { MOST = 1 << 24 };
    char *bytes = malloc(MOST);
    CHECK_NOT_NULL(bytes);
    *out_size = fread(bytes, 1, MOST, f);
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
    ln_object *object;
    ln_status status = ln_onnx_read_value(bytes, size, path, LN_OBJECT_TENSOR, &object);
    free(bytes);
    LN_TRY(status);
    status = ln_context_set_object(ctx, ln_context_input(ctx, index)->name, object);
    ln_object_release(object);
    return status;
}

typedef struct counts {
    size_t exact, unplanned, failed;
} counts;

static void note_unplanned(const ln_context *ctx, const ln_unplanned *u, const char *folder,
                           counts *c)
{
    c->unplanned++;
    for (size_t i = 0; i < 3 && u->ops[i]; i++) {
        const ln_op *op = ln_op_table_find(ctx->op_table, u->ops[i]);
        if (!op || may_be_unplanned(op->op_arg->optype))
            continue;
        print_error("%s: the workspace of %s is in no plan\n", folder, op->op_arg->optype);
        c->failed++;
    }
}

static void run_planned(ln_context *ctx, const char *folder, counts *c)
{
    ln_status status = ln_context_load(ctx, NULL);
    for (size_t i = 0; status == LN_OK && i < ln_context_input_count(ctx); i++)
        status = set_input(ctx, folder, i);
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
    print_message("%s: %zu models as planned, %zu with workspace that only a run knows\n", target,
                  c.exact, c.unplanned);
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

TEST_LIST(runs_on_ref_take_what_is_planned, runs_on_cpu_take_what_is_planned)
