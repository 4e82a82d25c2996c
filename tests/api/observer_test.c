// SPDX-License-Identifier: Apache-2.0
// Who watches a run is told of each operator, before and after it.

#include <lightnet/lightnet.h>

#include "tests/api/model.h"

// What an observer has been told: "<relu >relu" and so on.
typedef struct record {
    char text[256];
    const ln_op *current;
} record;

static void add(record *r, const char *mark, const ln_op *op)
{
    size_t length = strlen(r->text);
    snprintf(r->text + length, sizeof r->text - length, "%s%s ", mark, op->op_arg->optype);
}

static void before(void *user, const ln_op *op)
{
    record *r = user;
    add(r, "<", op);
    r->current = op;
}

static void after(void *user, const ln_op *op)
{
    record *r = user;
    CHECK_PTR_EQ(r->current, op);
    add(r, ">", op);
}

static const char sum_and_softmax[] = "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                                      "elew(src1=x, src2=x | dst=sum | elew_op=TL_SUM);\n"
                                      "softmax(src=sum | dst=y | axis=1);\n";

TEST(operators_are_told_in_order_and_constants_are_not)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(sum_and_softmax, "ref");
    record r = {.text = ""};
    ln_observer observer = {before, after, &r};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(r.text, "<elew_ref >elew_ref <softmax_ref >softmax_ref ");

    ln_context_set_observer(ctx, NULL);
    r.text[0] = '\0';
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(r.text, "");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(either_function_may_be_missing)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(sum_and_softmax, "ref");
    record r = {.text = ""};
    ln_observer observer = {before, NULL, &r};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_run(ctx));
    CHECK_STR_EQ(r.text, "<elew_ref <softmax_ref ");
    observer = (ln_observer){NULL, NULL, NULL};
    CHECK_OK(ln_context_run(ctx));
    ln_context_set_observer(NULL, &observer);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_clone_has_no_observer)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text(SMALL_MODEL, "ref"), *clone;
    record r = {.text = ""};
    ln_observer observer = {before, after, &r};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_context_run(clone));
    CHECK_STR_EQ(r.text, "");
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(an_arch_tells_its_peak_or_none)
{
    CHECK_OK(ln_arch_init());
    CHECK_NULL((void *)(uintptr_t)ln_arch_find("ref")->measure_peak);
    const ln_arch *cpu = ln_arch_find("cpu");
    CHECK_NOT_NULL(cpu);
    ln_arch_peak peak;
    cpu->measure_peak(cpu->priv, 1e-3, &peak);
    CHECK(strlen(peak.isa) > 0 && peak.flops > 1e6);
    ln_arch_cleanup();
}

TEST_LIST(operators_are_told_in_order_and_constants_are_not, either_function_may_be_missing,
          a_clone_has_no_observer, an_arch_tells_its_peak_or_none)
