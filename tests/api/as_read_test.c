// SPDX-License-Identifier: Apache-2.0
// The model as it was read: nothing that rewrites it for speed or memory happens.

#include "tests/api/values.h"

#include <stdlib.h>

#include <lightnet/optimize.h>
#include <lightnet/plan.h>
#include <lightnet/util.h>

#define MAX_SEEN 64

// What each pass leaves alone: operators that fuse, equal ones, a product with 1, a cast there and
// back, parts of a concat, an operator that nobody needs, a known value, and slices.
static const char model[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 6, 6]);\n"
    "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3], ran=[-1, 1]);\n"
    "create(| dst=one | dtype=TL_FLOAT, dims=[1], data=[1], ran=[0, 0], from_file=false);\n"
    "Conv(X=x, W=w | Y=c | pads=[1, 1, 1, 1]);\n"
    "Relu(X=c | Y=r |);\n"
    "Relu(X=c | Y=s |);\n"
    "Mul(A=r, B=one | C=m |);\n"
    "Cast(input=m | output=h | to=TL_FLOAT16);\n"
    "Cast(input=h | output=f | to=TL_FLOAT);\n"
    "Add(A=f, B=s | C=a |);\n"
    "Add(A=a, B=x | C=b |);\n"
    "Shape(data=x | shape=n |);\n"
    "Cast(input=n | output=nf | to=TL_FLOAT);\n"
    "Concat(inputs1=a, inputs2=b | concat_result=k | axis=1);\n"
    "Sqrt(X=k | Y=unneeded |);\n"
    "Slice(data=k | output=y | axes=[1], starts=[2], ends=[4], since=1);\n"
    "output(src=y | |);\n"
    "output(src=nf | |);\n";

static ln_optimize_options as_read(void)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.stays_as_read = 1;
    return options;
}

static ln_context *compile_as_read(const char *text, ln_optimize_options *options)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile_with(ctx, "ref", options));
    return ctx;
}

typedef struct seen_firings {
    char definitions[MAX_SEEN][96]; // "Relu r_0", in their order
    size_t definition_count;
    size_t lowering_count;
} seen_firings;

static void note_firing(void *user, const ln_firing *firing)
{
    seen_firings *seen = user;
    if (firing->is_lowering) {
        seen->lowering_count++;
        return;
    }
    CHECK(seen->definition_count < MAX_SEEN);
    CHECK_STR_EQ(firing->pass, "core");
    snprintf(seen->definitions[seen->definition_count++], sizeof seen->definitions[0], "%s %s",
             firing->optype, firing->rule);
}

TEST(only_definitions_of_what_ref_lacks_rewrite)
{
    seen_firings seen = {.definition_count = 0};
    ln_optimize_options options = as_read();
    options.on_firing = note_firing;
    options.user = &seen;
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(model);
    int op_count = ln_list_length(ctx->ops);
    CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
    CHECK_EQ(seen.definition_count, 3);
    CHECK_STR_EQ(seen.definitions[0], "Conv onnx_conv");
    CHECK_STR_EQ(seen.definitions[1], "Relu onnx_relu");
    CHECK_STR_EQ(seen.definitions[2], "Relu onnx_relu");
    CHECK_EQ(ln_list_length(ctx->ops), op_count);
    CHECK_EQ(seen.lowering_count, op_count);
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        CHECK_STR_EQ(op->op_arg->arch, "ref");
    close_run(ctx);
}

// Views stand for all that they are in: nobody writes over them.
TEST(every_tensor_has_its_own_place)
{
    ln_optimize_options options = as_read();
    options.freezes_constants = 1; // no constant is overwritten either
    ln_context *ctx = compile_as_read(model, &options);
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    for (size_t s = 0; s < plan->step_count; s++)
        CHECK_EQ(plan->steps[s].aliasing, LN_PLAN_APART);
    for (size_t i = 0; i < plan->value_count; i++) {
        const ln_plan_value *a = &plan->values[i];
        CHECK_NULL(a->owner);
        for (size_t k = 0; k < i; k++) {
            const ln_plan_value *b = &plan->values[k];
            if (a->offset < b->offset + b->byte_count && b->offset < a->offset + a->byte_count)
                fail_msg("%s and %s share memory", a->name, b->name);
        }
    }
    ln_context_plan_free(plan);
    close_run(ctx);
}

// 1 + 2^-12 is 1 in float16, and stays so when it comes back.
TEST(halves_round_after_each_operator)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[1]);\n"
        "create(| dst=w | dtype=TL_FLOAT, dims=[1], data=[1.000244140625], ran=[0, 0], "
        "from_file=false);\n"
        "Add(A=x, B=w | C=a |);\n"
        "Cast(input=a | output=h | to=TL_FLOAT16);\n"
        "Cast(input=h | output=y | to=TL_FLOAT);\n"
        "output(src=y | |);\n";
    ln_optimize_options options = as_read();
    ln_context *ctx = compile_as_read(text, &options);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "x", &(float){0}));
    CHECK_OK(ln_context_run(ctx));
    check_numbers(ctx, "y", TL_FLOAT, 1, (int[]){1}, (double[]){1});
    close_run(ctx);
}

TEST(other_targets_and_rules_are_refused)
{
    CHECK_OK(ln_arch_init());
    ln_optimize_options options = as_read();
    static const char *const targets[] = {"cpu", "cpu,ref", "ref,cpu"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        ln_context *ctx = open_text(model);
        CHECK_EQ(ln_context_compile_with(ctx, targets[i], &options), LN_INVALID);
        CHECK_MESSAGE("the model as it was read runs on \"ref\", not on \"");
        close_context(ctx);
    }
    options.rule_files = (const char *const[]){"some.rules"};
    options.rule_file_count = 1;
    ln_context *ctx = open_text(model);
    CHECK_EQ(ln_context_compile_with(ctx, "ref", &options), LN_INVALID);
    CHECK_MESSAGE("takes no rules, and some.rules has some");
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Graphs and shapes ----

TEST(graphs_inside_stay_as_they_were_read)
{
    static const char text[] =
        "input(| dst=c | dtype=TL_BOOL, dims=[]);\n"
        "input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
        "If(cond=c, capture1=x | outputs1=y | then_branch=\"a\", else_branch=\"b\");\n"
        "output(src=y | |);\n"
        "graph a {\n"
        "input(| dst=x | dtype=TL_FLOAT, dims=[4], capture=true);\n"
        "Relu(X=x | Y=r |);\n"
        "Relu(X=r | Y=s |);\n"
        "output(src=s | |);\n"
        "}\n"
        "graph b {\n"
        "input(| dst=x | dtype=TL_FLOAT, dims=[4], capture=true);\n"
        "Neg(X=x | Y=n |);\n"
        "output(src=n | |);\n"
        "}\n";
    seen_firings seen = {.definition_count = 0};
    ln_optimize_options options = as_read();
    options.on_firing = note_firing;
    options.user = &seen;
    ln_context *ctx = compile_as_read(text, &options);
    CHECK_EQ(seen.definition_count, 2); // the second Relu is there, and Neg is ref's own
    close_run(ctx);
}

#define SAME_MODEL(height)                                                                         \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 1, " height ", 7], names=[\"\", \"\", \"H\", "       \
    "\"\"]);\n"                                                                                    \
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 1, 3, 3], ran=[-1, 1]);\n"                          \
    "Conv(X=x, W=w | Y=c | auto_pad=SAME_UPPER, strides=[2, 2]);\n"                                \
    "Relu(X=c | Y=y |);\n"                                                                         \
    "output(src=y | |);\n"

static void run_height(ln_context *ctx, int height, ln_object **out_y)
{
    int dims[] = {1, 1, height, 7};
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 4, dims, NULL);
    float *data = ln_object_tensor(x)->data;
    for (int i = 0; i < height * 7; i++)
        data[i] = (float)(i * 37 % 23 - 11);
    CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 4, .dims = dims}));
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    ln_object_release(x);
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", out_y));
}

static bool has_type(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_streq(op->op_arg->optype, optype))
            return true;
    return false;
}

TEST(each_shape_is_compiled_as_it_was_read)
{
    static const char *const fixed[] = {SAME_MODEL("5"), SAME_MODEL("8"), SAME_MODEL("9"),
                                        SAME_MODEL("12")};
    static const int heights[] = {5, 8, 9, 12};
    ln_optimize_options options = as_read();
    CHECK_OK(ln_arch_init());
    ln_context *dynamic = open_text(SAME_MODEL("-1"));
    CHECK_OK(ln_context_set_shape(dynamic, "x", 4, (int[]){1, 1, 7, 7}));
    CHECK_OK(ln_context_compile_with(dynamic, "ref", &options));
    CHECK_OK(ln_context_load(dynamic, NULL));
    for (int i = 0; i < 4; i++) {
        ln_object *got, *expected;
        ln_context *ctx = open_text(fixed[i]);
        CHECK_OK(ln_context_compile_with(ctx, "ref", &options));
        CHECK_OK(ln_context_load(ctx, NULL));
        run_height(ctx, heights[i], &expected);
        run_height(dynamic, heights[i], &got);
        CHECK(has_type(dynamic, "act_ref")); // which conv_ref would take in
        const tl_tensor *a = ln_object_tensor(got), *b = ln_object_tensor(expected);
        CHECK_EQ(a->len, b->len);
        if (memcmp(a->data, b->data, tl_tensor_size(b)) != 0)
            fail_msg("another result for a height of %d", heights[i]);
        ln_object_release(got);
        ln_object_release(expected);
        close_context(ctx);
    }
    close_run(dynamic);
}

TEST_LIST(only_definitions_of_what_ref_lacks_rewrite, every_tensor_has_its_own_place,
          halves_round_after_each_operator, other_targets_and_rules_are_refused,
          graphs_inside_stay_as_they_were_read, each_shape_is_compiled_as_it_was_read)
