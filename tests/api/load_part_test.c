// SPDX-License-Identifier: Apache-2.0
// What is only there while a model is loaded: weights before they are folded.

#include "tests/api/model.h"
#include "tests/oom.h"

#include <stdio.h>

#define COUNT (1 * 4 * 8 * 8) // elements of y in CONV_MODEL

static ln_context *load_model(int keeps_tensors)
{
    ln_context *ctx = open_text(CONV_MODEL);
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_tensors = keeps_tensors;
    CHECK_OK(ln_context_compile_with(ctx, "cpu", &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void check_same(ln_context *a, ln_context *b)
{
    float x[192], y[COUNT], z[COUNT];
    for (int i = 0; i < 192; i++)
        x[i] = (float)(i % 13) - 6;
    ln_context *both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ln_context_set_data(both[i], "x", x));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_OK(ln_context_run(both[i]));
        CHECK_NOT_NULL(ln_context_get_data(both[i], "y", i ? z : y));
    }
    CHECK_MEM_EQ(y, z, sizeof y);
}

static void set_both(ln_context *a, ln_context *b, const char *tname, int seed)
{
    float data[108];
    for (int i = 0; i < 108; i++)
        data[i] = (float)((i * 7 + seed) % 11) / 4 + 0.5f;
    CHECK_OK(ln_context_set_data(a, tname, data));
    CHECK_OK(ln_context_set_data(b, tname, data));
}

// A constant that was computed from others and that a run reads.
static const ln_tensor_entry *find_folded(const ln_context *ctx)
{
    const ln_tensor_entry *found = NULL;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
            if (op->op_arg->tensors_in && entry->isstatic && !entry->is_load && !found)
                found = entry;
        }
    }
    CHECK_NOT_NULL(found);
    return found;
}

TEST(what_is_folded_has_no_memory_after_loading)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_model(0), *kept = load_model(1);
    CHECK(ctx->static_sizes[LN_MEM_CPU] + 432 <= kept->static_sizes[LN_MEM_CPU]);
    CHECK(ctx->load_sizes[LN_MEM_CPU] >= 432);
    CHECK_EQ(kept->load_sizes[LN_MEM_CPU], 0);
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    CHECK_OK(ln_plan_check(plan));
    CHECK_EQ(plan->totals[LN_MEM_CPU].load_byte_count, ctx->load_sizes[LN_MEM_CPU]);
    ln_context_plan_free(plan);
    CHECK_NULL(ln_context_get_data(ctx, "w", NULL));
    CHECK_EQ(ln_error_status(), LN_STATE);
    ln_ndarray *array;
    CHECK_FAILS(ln_context_get_array(ctx, "w", &array), LN_STATE);
    check_same(ctx, kept);
    close_context(ctx);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(it_is_computed_again_for_a_copy)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_model(0), *kept = load_model(1);
    float a[108], b[108];
    CHECK_NOT_NULL(ln_context_get_data(ctx, "w", a));
    CHECK_NOT_NULL(ln_context_get_data(kept, "w", b));
    CHECK_MEM_EQ(a, b, sizeof a);
    CHECK_NULL(ln_context_get_data(ctx, "w", NULL));
    check_same(ctx, kept);
    close_context(ctx);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(setting_it_computes_what_depends_on_it_from_what_else_is_gone)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_model(0), *kept = load_model(1);
    set_both(ctx, kept, "s", 1);
    check_same(ctx, kept);
    set_both(ctx, kept, "w", 2); // with the `s` that was set
    check_same(ctx, kept);
    set_both(ctx, kept, "s", 3);
    check_same(ctx, kept);
    float w[108], z[108];
    CHECK_NOT_NULL(ln_context_get_data(ctx, "w", w));
    CHECK_NOT_NULL(ln_context_get_data(kept, "w", z));
    CHECK_MEM_EQ(w, z, sizeof w);
    // Not after it was loaded anew.
    ln_context_unload(ctx);
    ln_context_unload(kept);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_load(kept, NULL));
    CHECK_NULL(ln_context_get_data(ctx, "w", NULL));
    check_same(ctx, kept);
    close_context(ctx);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(clones_share_what_was_folded_until_they_set_it)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_model(0), *kept = load_model(1), *clone;
    set_both(ctx, kept, "w", 1);
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_PTR_EQ(find_folded(clone)->tensor->data, find_folded(ctx)->tensor->data);
    check_same(clone, kept);
    set_both(clone, kept, "s", 2); // with the `w` that was set before
    check_same(clone, kept);
    CHECK(find_folded(clone)->tensor->data != find_folded(ctx)->tensor->data);
    close_context(ctx);
    check_same(clone, kept);
    close_context(clone);
    close_context(kept);
    ln_arch_cleanup();
}

TEST(a_compiled_file_says_so_and_is_held_to_it)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_model(0);
    char *text;
    size_t byte_count;
    CHECK_OK(ln_context_write(ctx, "ir", &text, &byte_count));
    ln_context *again = ln_context_create();
    CHECK_OK(ln_context_init_mem(again, text, byte_count, "folded.json"));
    CHECK_EQ(again->load_sizes[LN_MEM_CPU], ctx->load_sizes[LN_MEM_CPU]);
    CHECK_OK(ln_context_load(again, NULL));
    check_same(again, ctx);
    close_context(again);

    char name[256];
    snprintf(name, sizeof name, "\"name\": \"%s\", \"dtype\"", find_folded(ctx)->name);
    char *folded = strstr(text, name), *is_static = folded ? strstr(folded, "\"static\"") : NULL;
    CHECK_NOT_NULL(is_static);
    char *edited =
        ln_strdup_printf("%.*s\"load\": true, %s", (int)(is_static - text), text, is_static);
    again = ln_context_create();
    CHECK_FAILS(ln_context_init_mem(again, edited, strlen(edited), "edited.json"), LN_INVALID);
    CHECK_MESSAGE("is said to be there while loading only");
    close_context(again);
    ln_free(edited);
    ln_free(text);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(every_allocation_may_fail)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_model(0), *kept = load_model(1);
    OOM_SWEEP(n)
    {
        float w[108];
        const void *got = ln_context_get_data(ctx, "w", w);
        CHECK(got || ln_error_status() == LN_NO_MEMORY);
    }
    check_same(ctx, kept);
    close_context(ctx);
    close_context(kept);
    ln_arch_cleanup();
}

// ---- The order of what runs while loading ----

static const tl_tensor *tensor_of(const ln_op_arg *arg, const ln_list *listed)
{
    return ln_tensor_list_find_entry(listed, arg->tensor_table,
                                     listed == arg->tensors_in ? "src" : "dst")
        ->tensor;
}

static void define_like(ln_op_arg *arg, const char *owner)
{
    const tl_tensor *src = tensor_of(arg, arg->tensors_in);
    ln_op_define_output(arg, "dst", src->ndim, src->dims, src->dtype, LN_MEM_CPU, 1, owner);
}

static void define_before(ln_op_arg *arg)
{
    define_like(arg, NULL);
}

static void define_over(ln_op_arg *arg)
{
    define_like(arg, ln_tensor_list_find_name(arg->tensors_in, "src"));
}

static void add_up(const ln_op_arg *arg, float added)
{
    const tl_tensor *src = tensor_of(arg, arg->tensors_in);
    float *dst = tensor_of(arg, arg->tensors_out)->data;
    for (int i = 0; i < src->len; i++)
        dst[i] = ((const float *)src->data)[i] + added;
}

static void run_before(ln_op_arg *arg)
{
    add_up(arg, 0);
}

static void run_over(ln_op_arg *arg)
{
    add_up(arg, 100);
}

// `over` writes its sum over what `before` reads; nothing but the order says that `before` is
// first.
TEST(operators_that_overwrite_keep_their_order)
{
    CHECK_OK(ln_arch_init());
    ln_op_arg before_arg = {.optype = "before_ref", .arch = "ref"};
    ln_op_arg over_arg = {.optype = "over_ref", .arch = "ref"};
    ln_op before = {.op_arg = &before_arg,
                    .pre_run = define_before,
                    .static_run = run_before,
                    .post_run = ln_op_undefine_outputs};
    ln_op over = {.op_arg = &over_arg,
                  .pre_run = define_over,
                  .static_run = run_over,
                  .post_run = ln_op_undefine_outputs};
    CHECK_OK(ln_op_register(&before));
    CHECK_OK(ln_op_register(&over));
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                "create(| dst=w | dtype=TL_FLOAT, dims=[2], ran=[0, 0], "
                                "data=[1, 2], from_file=false);\n"
                                "before_ref(src=w | dst=before |);\n"
                                "over_ref(src=w | dst=after |);\n"
                                "Add(A=x, B=after | C=a |);\n"
                                "Add(A=a, B=a | C=b |);\n"
                                "Sub(A=b, B=before | C=y |);\n",
                                "ref");
    CHECK_OK(ln_context_set_data(ctx, "x", (float[]){10, 20}));
    CHECK_OK(ln_context_run(ctx));
    float y[2];
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
    CHECK_NEAR(y[0], 2 * (10 + 101) - 1, 0);
    CHECK_NEAR(y[1], 2 * (20 + 102) - 2, 0);
    close_context(ctx);
    CHECK_OK(ln_op_unregister("before_ref"));
    CHECK_OK(ln_op_unregister("over_ref"));
    ln_arch_cleanup();
}

// Where all that is there while loading has no bytes, there is no memory for it.
TEST(constants_without_elements_are_loaded)
{
    static const char *const models[] = {
        "input(| dst=x | dtype=TL_FLOAT16, dims=[2, 0]);\n"
        "create(| dst=s | dtype=TL_FLOAT16, dims=[0], ran=[1, 2]);\n"
        "BatchNormalization(X=x, scale=s, B=s, input_mean=s, input_var=s | Y=y |);\n"
        "output(src=y | |);\n",
        "input(| dst=x | dtype=TL_FLOAT, dims=[2, 0]);\n"
        "create(| dst=s | dtype=TL_FLOAT16, dims=[2, 0], ran=[1, 2]);\n"
        "Cast(input=s | output=f | to=TL_FLOAT);\n"
        "Add(A=x, B=f | C=y |);\n"
        "output(src=y | |);\n",
    };
    static const char *const targets[] = {"ref", "cpu"};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < 4; i++) {
        ln_context *ctx = load_text(models[i / 2], targets[i % 2]);
        CHECK_OK(ln_context_run(ctx));
        CHECK_EQ(ln_context_data_size(ctx, "y"), 0);
        ln_context *clone;
        CHECK_OK(ln_context_clone(ctx, &clone));
        CHECK_OK(ln_context_run(clone));
        close_context(clone);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(what_is_folded_has_no_memory_after_loading, it_is_computed_again_for_a_copy,
          setting_it_computes_what_depends_on_it_from_what_else_is_gone,
          clones_share_what_was_folded_until_they_set_it, a_compiled_file_says_so_and_is_held_to_it,
          operators_that_overwrite_keep_their_order, every_allocation_may_fail,
          constants_without_elements_are_loaded)
