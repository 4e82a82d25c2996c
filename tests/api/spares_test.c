// SPDX-License-Identifier: Apache-2.0
// Instances of a program that are spared the operators whose results all instances share: which
// operators they keep, and that they have the bits of a model that was compiled for their shape.

#include <lightnet/program.h>

#include "compile/instance.h"
#include "compile/spares.h"
#include "ir/context.h"
#include "tests/api/values.h"

#define CHANNELS 64

// Weights differ in nothing but their names. The first convolution takes the normalization in. pq
// is an output, and read by runs and by the constant pq2; r is read by constants alone.
static const char network[] =
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 64, -1, -1], names=[\"\", \"\", \"h\", \"w\"]);\n"
    "create(| dst=k | dtype=TL_FLOAT, dims=[64, 64, 3, 3], ran=[-0.1, 0.1]);\n"
    "create(| dst=k2 | dtype=TL_FLOAT, dims=[64, 64, 3, 3], ran=[-0.1, 0.1]);\n"
    "create(| dst=k3 | dtype=TL_FLOAT, dims=[64, 64, 3, 3], ran=[-0.1, 0.1]);\n"
    "create(| dst=s | dtype=TL_FLOAT, dims=[64], ran=[0.5, 1]);\n"
    "create(| dst=b | dtype=TL_FLOAT, dims=[64], ran=[-1, 1]);\n"
    "create(| dst=m | dtype=TL_FLOAT, dims=[64], ran=[-0.5, 1]);\n"
    "create(| dst=v | dtype=TL_FLOAT, dims=[64], ran=[0.5, 2]);\n"
    "create(| dst=p | dtype=TL_FLOAT, dims=[64, 1, 1], ran=[-1, 2]);\n"
    "create(| dst=q | dtype=TL_FLOAT, dims=[64, 1, 1], ran=[-1, 2]);\n"
    "create(| dst=r | dtype=TL_FLOAT, dims=[64, 1, 1], ran=[1, 2]);\n"
    "Conv(X=x, W=k | Y=c | pads=[1, 1, 1, 1]);\n"
    "BatchNormalization(X=c, scale=s, B=b, input_mean=m, input_var=v | Y=n |);\n"
    "Relu(X=n | Y=a |);\n"
    "Conv(X=a, W=k2 | Y=d | pads=[1, 1, 1, 1]);\n"
    "Sin(input=p | output=sine |);\n"
    "Add(A=sine, B=q | C=pq |);\n"
    "Sin(input=r | output=r2 |);\n"
    "Mul(A=pq, B=r2 | C=pq2 |);\n"
    "Sigmoid(X=d | Y=d2 |);\n"
    "Conv(X=d2, W=k3 | Y=d3 | pads=[1, 1, 1, 1]);\n"
    "Sigmoid(X=d3 | Y=g |);\n"
    "Mul(A=g, B=pq | C=e |);\n"
    "Sigmoid(X=e | Y=h |);\n"
    "Mul(A=h, B=pq2 | C=y |);\n"
    "output(src=y | |);\n"
    "output(src=pq | |);\n";

// ---- Runs ----

static ln_object *image_of(int height, int width)
{
    ln_object *x = ln_object_new_tensor(TL_FLOAT, 4, (int[]){1, CHANNELS, height, width}, NULL);
    CHECK_NOT_NULL(x);
    tl_tensor *t = ln_object_tensor(x);
    for (int k = 0; k < t->len; k++)
        ((float *)t->data)[k] = (float)((k * 7 + width) % 23) / 23 - 0.4F;
    return x;
}

// Compiled by passes that have no template, which is another way to the same bits.
static ln_context *compile_alone(int height, int width)
{
    ln_context *ctx = open_text(network);
    CHECK_OK(ln_context_set_shape(ctx, "x", 4, (int[]){1, CHANNELS, height, width}));
    ln_optimize_options options = ln_optimize_options_default();
    options.passes = "dead,core,widen,fold,layout,settle,join,expand,fuse,combine,subgraph,scratch,"
                     "schedule,order";
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void check_run(ln_session *session, int height, int width)
{
    ln_context *alone = compile_alone(height, width);
    ln_object *x = image_of(height, width);
    CHECK_OK(ln_context_set_data(alone, "x", ln_object_tensor(x)->data));
    CHECK_OK(ln_context_run(alone));
    CHECK_OK(ln_session_set_object(session, "x", x));
    CHECK_OK(ln_session_run(session));
    static const char *const names[] = {"y", "pq"};
    for (int i = 0; i < 2; i++) {
        const tl_tensor *made;
        CHECK_OK(ln_session_borrow_tensor(session, names[i], &made));
        CHECK_EQ(tl_tensor_size(made), ln_context_data_size(alone, names[i]));
        CHECK_MEM_EQ(made->data, ln_context_get_data(alone, names[i], NULL), tl_tensor_size(made));
    }
    ln_object_release(x);
    close_context(alone);
}

// Of a program whose first shape is 24 by 20: `ctx` is its face.
static ln_context *open_bound(void)
{
    ln_context *ctx = open_text(network);
    CHECK_OK(ln_context_set_shape(ctx, "x", 4, (int[]){1, CHANNELS, 24, 20}));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_plans_share_constants(ctx, ctx));
    return ctx;
}

static ln_context *make_instance(const ln_context *ctx, int height, int width, bool is_spared)
{
    ln_input_shape shape = {.tname = "x", .ndim = 4, .dims = (int[]){1, CHANNELS, height, width}};
    ln_context *instance;
    CHECK_OK((is_spared ? ln_plans_make_spared : ln_plans_make_instance)(ctx, ctx, 1, &shape,
                                                                         &instance));
    return instance;
}

static int count_of_type(const ln_context *ctx, const char *type)
{
    int count = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += ln_op_is_type(op->op_arg, type) != 0;
    return count;
}

static const ln_tensor_entry *find(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name);
}

// ---- Which operators are there ----

TEST(an_instance_is_spared_what_is_shared)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound();
    ln_context *whole = make_instance(ctx, 20, 24, false);
    ln_context *spared = make_instance(ctx, 20, 24, true);
    CHECK(!ln_context_is_spared(ctx));
    CHECK(!ln_context_is_spared(whole));
    CHECK(ln_context_is_spared(spared));
    CHECK_EQ(count_of_type(whole, "conv2d_pack"), 3);
    CHECK_EQ(count_of_type(spared, "conv2d_pack"), 0);
    CHECK_EQ(count_of_type(spared, "bn_fold_weight"), 0);
    CHECK_NULL(find(spared, "k")); // which only packing reads
    CHECK_NULL(find(spared, "r2"));
    CHECK_NULL(find(spared, "sine"));
    CHECK_NOT_NULL(find(spared, "pq"));
    CHECK_NOT_NULL(find(whole, "k"));
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        CHECK_EQ(spared->mem_sizes[m] - spared->static_sizes[m],
                 whole->mem_sizes[m] - whole->static_sizes[m]);
    ln_context_free(whole);
    ln_context_free(spared);
    close_context(ctx);
    ln_arch_cleanup();
}

// With another algorithm the weights are packed in another form, and all that follows to it stays.
TEST(what_another_algorithm_packs_is_computed)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound();
    ln_context *earlier = make_instance(ctx, 20, 24, true); // of the same template
    ln_context *spared = make_instance(ctx, 4, 5, true);
    CHECK(ln_context_is_spared(earlier));
    CHECK(ln_context_is_spared(spared));
    CHECK_EQ(count_of_type(spared, "conv2d_pack"), 3);
    CHECK_NOT_NULL(find(spared, "k"));
    CHECK_NULL(find(spared, "sine"));
    ln_context_free(earlier);
    ln_context_free(spared);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(what_is_shared_is_where_the_first_plan_has_it)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound();
    ln_context *spared = make_instance(ctx, 20, 24, true);
    CHECK_OK(ln_plans_load_instance(ctx, spared));
    size_t cursor = 0, count = 0;
    void *value;
    while (ln_hash_next(spared->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value, *first = find(ctx, entry->name);
        if (!entry->shared_index)
            continue;
        CHECK_NOT_NULL(first);
        CHECK(entry->tensor->data == first->tensor->data);
        CHECK_EQ(tl_tensor_size(entry->tensor), tl_tensor_size(first->tensor));
        CHECK_NULL(entry->known);
        count++;
    }
    CHECK(count >= 5); // two packed weights, the folded bias, pq, pq2
    ln_context_free(spared);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(all_operators_can_be_had_again)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound(), *again;
    ln_context *whole = make_instance(ctx, 20, 24, false);
    ln_context *spared = make_instance(ctx, 20, 24, true);
    CHECK_OK(ln_plans_make_whole(ctx, ctx, spared, &again));
    CHECK(!ln_context_is_spared(again));
    CHECK_EQ(ln_list_length(again->ops), ln_list_length(whole->ops));
    CHECK_EQ(find(again, "y")->tensor->dims[2], 20);
    CHECK_EQ(find(again, "y")->tensor->dims[3], 24);
    ln_context_free(again);
    ln_context_free(whole);
    ln_context_free(spared);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Their bits ----

TEST(sessions_have_the_bits_of_models_compiled_alone)
{
    static const int sizes[][2] = {{24, 20}, {24, 22}, {4, 5},  {24, 22}, {2, 40},
                                   {12, 11}, {1, 1},   {19, 3}, {12, 11}, {4, 6}};
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_bound();
    ln_program *program;
    ln_session *session;
    CHECK_OK(ln_program_create(ctx, &program));
    CHECK_OK(ln_session_create(program, &session));
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_run(session, sizes[i][0], sizes[i][1]);
    ln_session_free(session);
    ln_program_release(program);
    close_context(ctx);
    ln_arch_cleanup();
}

// An observer of a context may look at any tensor, those that an instance is spared too.
static void look(void *user, const ln_op *op)
{
    int *seen = user;
    const ln_hash *table = op->op_arg->tensor_table;
    const ln_tensor_entry *k = ln_tensor_table_find(table, "k2"),
                          *sine = ln_tensor_table_find(table, "sine");
    *seen += k && sine;
}

TEST(an_observer_of_a_context_finds_all_tensors)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(network);
    ln_object *x = image_of(24, 22), *before, *after;
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK(ln_plans_follow(ctx));
    ln_object *first = image_of(20, 24); // whose plan has all operators
    CHECK_OK(ln_context_set_object(ctx, "x", first));
    CHECK_OK(ln_context_run(ctx));
    ln_object_release(first);
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_object(ctx, "y", &before));
    int seen = 0;
    const ln_observer observer = {.after = look, .user = &seen};
    ln_context_set_observer(ctx, &observer);
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    ln_context_set_observer(ctx, NULL);
    CHECK(seen > 0);
    CHECK_OK(ln_context_get_object(ctx, "y", &after));
    CHECK_MEM_EQ(ln_object_tensor(before)->data, ln_object_tensor(after)->data,
                 tl_tensor_size(ln_object_tensor(after)));
    ln_object_release(before);
    ln_object_release(after);
    ln_object_release(x);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(an_instance_is_spared_what_is_shared, what_another_algorithm_packs_is_computed,
          what_is_shared_is_where_the_first_plan_has_it, all_operators_can_be_had_again,
          sessions_have_the_bits_of_models_compiled_alone,
          an_observer_of_a_context_finds_all_tensors)
