// SPDX-License-Identifier: Apache-2.0
// Operators that draw random numbers draw them in each run, also from constants and inside graphs.

#include <stdbool.h>
#include <stdio.h>

#include "tests/api/values.h"

#define LEN 64

#define LIKE(value) "create(| dst=x | dtype=TL_FLOAT, dims=[64], data=[" value "]);\n"
#define HALVES                                                                                     \
    "create(| dst=p | dtype=TL_FLOAT, dims=[1], data=[0.5]);\n"                                    \
    "create(| dst=d | dtype=TL_INT64, dims=[1], data=[64]);\n"                                     \
    "Expand(input=p, shape=d | output=x |);\n"
#define ODDS "create(| dst=x | dtype=TL_FLOAT, dims=[1, 4], data=[0, 0.5, 0.25, 1]);\n"
#define MODE(value)                                                                                \
    "create(| dst=r | dtype=TL_FLOAT, dims=[], data=[0.5]);\n"                                     \
    "create(| dst=t | dtype=TL_BOOL, dims=[], data=[" value "]);\n"
// So that what `create` makes is no input.
#define UNUSED   "input(| dst=unused | dtype=TL_FLOAT, dims=[1]);\n"
#define GO       "create(| dst=go | dtype=TL_BOOL, dims=[], data=[1]);\n"
#define IN(name) "input(| dst=" name " | dtype=TL_FLOAT, dims=[], open=true);\n"

// `%s` is where `seed` goes.
static const struct {
    const char *why;
    const char *model;
} cases[] = {
    {"RandomUniform", "RandomUniform(| output=y | shape=[64]%s);\n"},
    {"RandomNormal", "RandomNormal(| output=y | shape=[64]%s);\n"},
    {"RandomUniformLike of a constant",
     LIKE("0") "RandomUniformLike(input=x | output=y | dtype=1%s);\n"},
    {"RandomNormalLike of a constant",
     LIKE("0") "RandomNormalLike(input=x | output=y | dtype=1%s);\n"},
    {"Bernoulli of a constant", HALVES "Bernoulli(input=x | output=y | dtype=1%s);\n"},
    {"Multinomial of a constant",
     ODDS "Multinomial(input=x | output=y | dtype=6, sample_size=64%s);\n"},
    {"Dropout of a constant, in training",
     HALVES MODE(
         "1") "Dropout(data=x, ratio=r, training_mode=t | output=y, mask=m | since=13%s);\n"},
    {"what is computed from it", LIKE("0") "RandomUniformLike(input=x | output=u | dtype=1%s);\n"
                                           "Add(A=u, B=x | C=y |);\n"},
    {"in a branch that is constant",
     GO "If(cond=go | outputs1=y | then_branch=\"a\", else_branch=\"a\");\n"
        "graph a {\n" LIKE("0") "RandomUniformLike(input=x | output=z | dtype=1%s);\n"
                                "output(src=z | |);\n}\n"},
    {"in a branch of a branch",
     GO "If(cond=go | outputs1=y | then_branch=\"a\", else_branch=\"a\");\n"
        "graph a {\n" GO "If(cond=go | outputs1=w | then_branch=\"b\", else_branch=\"b\");\n"
        "output(src=w | |);\n}\n"
        "graph b {\n" LIKE("0") "RandomUniformLike(input=x | output=z | dtype=1%s);\n"
                                "output(src=z | |);\n}\n"},
    {"in a loop on constants",
     "create(| dst=n | dtype=TL_INT64, dims=[], data=[3]);\n" LIKE(
         "0") "Loop(M=n, v_initial1=x | v_final_and_scan_outputs1=y | body=\"body\");\n"
              "graph body {\n" IN("i") IN("c") IN("s")
                  LIKE("0") "RandomUniformLike(input=x | output=u | dtype=1%s);\n"
                            "Add(A=s, B=u | C=z |);\noutput(src=c | |);\noutput(src=z | |);\n}\n"},
};

static void get(ln_context *ctx, const char *name, double numbers[LEN])
{
    ln_object *object;
    CHECK_OK(ln_context_get_object(ctx, name, &object));
    const tl_tensor *tensor = ln_object_tensor(object);
    CHECK_EQ(tensor->len, LEN);
    for (int i = 0; i < LEN; i++)
        numbers[i] = value_at(tensor, i);
    ln_object_release(object);
}

static void run(ln_context *ctx, double numbers[LEN])
{
    CHECK_OK(ln_context_run(ctx));
    get(ctx, "y", numbers);
}

static ln_context *load(const char *model, const char *seed, const char *target)
{
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, "%s", UNUSED);
    CHECK(snprintf(text + len, sizeof text - len, model, seed) < (int)(sizeof text - len));
    return load_text(text, target);
}

static bool is_same(const double a[LEN], const double b[LEN])
{
    return memcmp(a, b, LEN * sizeof *a) == 0;
}

// Its compiled form, read again. Closes `ctx`.
static ln_context *read_again(ln_context *ctx)
{
    char *text;
    size_t byte_count;
    CHECK_OK(ln_context_write(ctx, "ir", &text, &byte_count));
    close_context(ctx);
    ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, text, byte_count, "compiled.json"));
    CHECK_OK(ln_context_load(ctx, NULL));
    ln_free(text);
    return ctx;
}

static void check_each_run_differs(ln_context *ctx, const char *why)
{
    double a[LEN], b[LEN], c[LEN];
    run(ctx, a);
    run(ctx, b);
    run(ctx, c);
    if (is_same(a, b) || is_same(b, c) || is_same(a, c))
        fail_msg("%s: two runs give the same numbers, beginning with %g", why, a[0]);
}

TEST(each_run_draws_other_numbers)
{
    static const char *const targets[] = {"ref", "cpu"};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        ln_context *ctx = load(cases[i / 2].model, "", targets[i % 2]), *clone;
        check_each_run_differs(ctx, cases[i / 2].why);
        CHECK_OK(ln_context_clone(ctx, &clone));
        check_each_run_differs(clone, cases[i / 2].why);
        close_context(clone);
        ctx = read_again(ctx);
        check_each_run_differs(ctx, cases[i / 2].why);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(a_seed_gives_the_same_numbers_in_each_run)
{
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_context *ctx = load(cases[i].model, ", seed=7", "cpu"),
                   *other = load(cases[i].model, ", seed=8", "cpu"),
                   *same = load(cases[i].model, ", seed=7", "ref");
        double a[LEN], b[LEN];
        run(ctx, a);
        run(ctx, b);
        if (!is_same(a, b))
            fail_msg("%s: two runs with a seed differ", cases[i].why);
        run(same, b);
        if (!is_same(a, b))
            fail_msg("%s: two models with one seed differ", cases[i].why);
        run(other, b);
        if (is_same(a, b))
            fail_msg("%s: two seeds give the same numbers", cases[i].why);
        close_context(same);
        close_context(other);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(two_operators_that_look_alike_draw_their_own_numbers)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        load_text(UNUSED LIKE("0") "RandomUniformLike(input=x | output=a | dtype=1);\n"
                                   "RandomUniformLike(input=x | output=b | dtype=1);\n"
                                   "Identity(input=a | output=y |);\n"
                                   "Identity(input=b | output=z |);\n"
                                   "output(src=y | |);\noutput(src=z | |);\n",
                  "cpu");
    double y[LEN], z[LEN];
    run(ctx, y);
    get(ctx, "z", z);
    CHECK(!is_same(y, z));
    close_context(ctx);
    ln_arch_cleanup();
}

// Nothing is drawn: it is computed once, and may be where a constant has to be.
TEST(a_dropout_that_drops_nothing_is_a_constant)
{
    static const char *const models[] = {
        UNUSED HALVES MODE(
            "0") "Dropout(data=x, ratio=r, training_mode=t | output=y, mask=m | since=13);\n",
        UNUSED HALVES "Dropout(data=x | output=y, mask=m | since=13);\n",
        UNUSED HALVES MODE(
            "1") "Dropout(data=x, ratio=r, training_mode=t | output=y, mask=m | since=13, "
                 "seed=3);\n"};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        ln_context *ctx = open_text(models[i]);
        CHECK(ln_tensor_table_find(ctx->tensor_table, "y")->isstatic);
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        CHECK_OK(ln_context_load(ctx, NULL));
        double a[LEN], b[LEN];
        run(ctx, a);
        run(ctx, b);
        CHECK(is_same(a, b));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// A generator that nobody needs makes no difference once the model is compiled.
TEST(a_branch_without_random_numbers_left_is_computed_once)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(
        UNUSED GO "If(cond=go | outputs1=y | then_branch=\"a\", else_branch=\"a\");\n"
                  "graph a {\n" LIKE("3") "RandomUniformLike(input=x | output=u | dtype=1);\n"
                                          "Neg(X=x | Y=z |);\noutput(src=z | |);\n}\n");
    CHECK(!ln_tensor_table_find(ctx->tensor_table, "y")->isstatic);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK(ln_tensor_table_find(ctx->tensor_table, "y")->isstatic);
    CHECK_OK(ln_context_load(ctx, NULL));
    ctx = read_again(ctx);
    CHECK(ln_tensor_table_find(ctx->tensor_table, "y")->isstatic);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(each_run_draws_other_numbers, a_seed_gives_the_same_numbers_in_each_run,
          two_operators_that_look_alike_draw_their_own_numbers,
          a_dropout_that_drops_nothing_is_a_constant,
          a_branch_without_random_numbers_left_is_computed_once)
