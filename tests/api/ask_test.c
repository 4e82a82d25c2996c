// SPDX-License-Identifier: Apache-2.0
// What a program asks a context, without looking into it, and bytes with their number.

#include "tests/api/model.h"

#define DYNAMIC                                                                                       \
    "input(| dst=x | dtype=TL_DOUBLE, dims=[-1, 3, -1, -1], names=[\"batch\", \"\", \"h\", \"\"]);\n" \
    "input(| dst=ids | dtype=TL_INT64, open=true, dims=[]);\n"                                        \
    "Relu(X=x | Y=y |);\n"                                                                            \
    "Abs(X=ids | Y=z |);\n"

// ---- States ----

static void check_empty(const ln_context *ctx)
{
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_EMPTY);
    CHECK_NULL(ln_context_source(ctx));
    CHECK_NULL(ln_context_target(ctx));
    CHECK_NULL(ln_context_input_name(ctx, 0));
    CHECK_NULL(ln_context_output_name(ctx, 0));
    CHECK_EQ(ln_context_peak_bytes(ctx, LN_MEM_CPU), 0);
    CHECK_EQ(ln_context_workspace_bytes(ctx, LN_MEM_CPU), 0);
    CHECK_EQ(ln_context_load_bytes(ctx, LN_MEM_CPU), 0);
    CHECK_EQ(ln_context_tensor_rank(ctx, "x"), -1);
    CHECK_EQ(ln_error_status(), LN_NOT_FOUND);
    CHECK_MESSAGE("the model has no tensor 'x'");
}

TEST(what_is_known_follows_the_state)
{
    CHECK_OK(ln_arch_init());
    check_empty(NULL);
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    check_empty(ctx);
    CHECK_OK(ln_context_init_mem(ctx, SMALL_MODEL, strlen(SMALL_MODEL), "small.net"));
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_READY);
    CHECK_STR_EQ(ln_context_source(ctx), "small.net");
    CHECK_NULL(ln_context_target(ctx));
    CHECK_EQ(ln_context_peak_bytes(ctx, LN_MEM_CPU), 0);
    CHECK_OK(ln_context_compile(ctx, "cpu,ref"));
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_PLANNED);
    CHECK_STR_EQ(ln_context_target(ctx), "cpu,ref");
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_LOADED);
    ln_context_unload(ctx);
    CHECK_EQ(ln_context_get_state(ctx), LN_CONTEXT_PLANNED);
    ln_context_cleanup(ctx);
    check_empty(ctx);
    ln_context_free(ctx);
    ln_arch_cleanup();
}

TEST(memory_is_what_the_plan_says)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(CONV_MODEL);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    ln_plan *plan;
    CHECK_OK(ln_context_plan_create(ctx, &plan));
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_plan_totals *totals = &plan->totals[m];
        CHECK_EQ(ln_context_peak_bytes(ctx, (ln_mem_type)m), totals->peak_byte_count);
        CHECK_EQ(ln_context_static_bytes(ctx, (ln_mem_type)m), totals->static_byte_count);
        CHECK_EQ(ln_context_workspace_bytes(ctx, (ln_mem_type)m), totals->workspace_byte_count);
        CHECK_EQ(ln_context_load_bytes(ctx, (ln_mem_type)m), totals->load_byte_count);
    }
    CHECK(ln_context_static_bytes(ctx, LN_MEM_CPU) > 64);
    CHECK(ln_context_workspace_bytes(ctx, LN_MEM_CPU) > 0);
    CHECK(ln_context_load_bytes(ctx, LN_MEM_CPU) > 0);
    CHECK_EQ(ln_context_peak_bytes(ctx, LN_MEM_TYPE_SIZE), 0);
    CHECK_EQ(ln_context_peak_bytes(ctx, (ln_mem_type)-1), 0);
    ln_context_plan_free(plan);
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Tensors ----

TEST(tensors_are_described_by_name)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    CHECK_STR_EQ(ln_context_input_name(ctx, 0), "x");
    CHECK_NULL(ln_context_input_name(ctx, 1));
    CHECK_STR_EQ(ln_context_output_name(ctx, 0), "z");
    CHECK_NULL(ln_context_output_name(ctx, 1));
    CHECK_EQ(ln_context_tensor_dtype(ctx, "z"), TL_FLOAT);
    CHECK_EQ(ln_context_tensor_rank(ctx, "z"), 2);
    CHECK_EQ(ln_context_tensor_dim(ctx, "z", 0), 3);
    CHECK_EQ(ln_context_tensor_dim(ctx, "z", 1), 2);
    CHECK_EQ(ln_context_tensor_dim(ctx, "z", 2), -1);
    CHECK_EQ(ln_context_tensor_dim(ctx, "z", -1), -1);
    CHECK_NULL(ln_context_tensor_symbol(ctx, "x", 0));
    CHECK_NULL(ln_context_tensor_symbol(ctx, "z", 0));
    CHECK(ln_context_tensor_is_static(ctx, "w") && !ln_context_tensor_is_static(ctx, "x"));
    CHECK_EQ(ln_context_tensor_dtype(ctx, "nobody"), TL_DTYPE_INVALID);
    CHECK_MESSAGE("the model has no tensor 'nobody'");
    CHECK_EQ(ln_context_tensor_is_static(ctx, NULL), 0);
    close_context(ctx);
    ln_arch_cleanup();
}

static void check_signature(const ln_context *ctx)
{
    static const char *const symbols[] = {"batch", NULL, "h", NULL};
    static const int dims[] = {-1, 3, -1, -1};
    CHECK_EQ(ln_context_tensor_dtype(ctx, "x"), TL_DOUBLE);
    CHECK_EQ(ln_context_tensor_rank(ctx, "x"), 4);
    for (int d = 0; d < 4; d++) {
        const char *symbol = ln_context_tensor_symbol(ctx, "x", d);
        CHECK_EQ(ln_context_tensor_dim(ctx, "x", d), dims[d]);
        CHECK(symbols[d] ? symbol && strcmp(symbol, symbols[d]) == 0 : !symbol);
    }
    CHECK_NULL(ln_context_tensor_symbol(ctx, "x", 4));
    CHECK_NULL(ln_context_tensor_symbol(ctx, "x", -1));
    CHECK_EQ(ln_context_tensor_dtype(ctx, "ids"), TL_INT64); // of any rank
    CHECK_EQ(ln_context_tensor_rank(ctx, "ids"), -1);
    CHECK_EQ(ln_context_tensor_rank(ctx, "y"), -1); // only a run knows
    CHECK_EQ(ln_context_tensor_dtype(ctx, "y"), TL_DTYPE_INVALID);
}

TEST(dynamic_dimensions_have_symbols_and_stay_dynamic_in_runs)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(DYNAMIC);
    check_signature(ctx);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    check_signature(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    double one = 1;
    CHECK_FAILS(ln_context_set_data_n(ctx, "x", &one, sizeof one), LN_STATE);
    CHECK_MESSAGE(
        "the shape of tensor 'x' is open: set a value that has a shape, an object (ln_context_set_object)");
    CHECK_FAILS(ln_context_get_data_n(ctx, "y", &one, sizeof one), LN_STATE);
    CHECK_MESSAGE("tensor 'y' has no value");
    int dims[] = {2, 3, 1, 1};
    ln_object *x = ln_object_new_tensor(TL_DOUBLE, 4, dims, NULL);
    ln_object *ids = ln_object_new_tensor(TL_INT64, 1, dims, NULL);
    CHECK(x && ids);
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    CHECK_OK(ln_context_set_object(ctx, "ids", ids));
    CHECK_OK(ln_context_run(ctx));
    check_signature(ctx);
    const void *bytes;
    size_t byte_count;
    CHECK_OK(ln_context_borrow_data(ctx, "y", &bytes, &byte_count));
    CHECK_EQ(byte_count, 48);
    double y[6];
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
    CHECK_FAILS(ln_context_get_data_n(ctx, "y", y, 40), LN_INVALID);
    ln_context_unload(ctx);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_FAILS(ln_context_borrow_data(ctx, "y", &bytes, &byte_count), LN_STATE);
    ln_object_release(x);
    ln_object_release(ids);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(what_is_bound_is_known_and_keeps_its_symbol)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(DYNAMIC);
    CHECK_OK(ln_context_set_symbol(ctx, "batch", 5));
    CHECK_EQ(ln_context_tensor_dim(ctx, "x", 0), 5);
    CHECK_EQ(ln_context_tensor_dim(ctx, "x", 2), -1);
    CHECK_OK(ln_context_set_shape(ctx, "x", 4, (int[]){5, 3, 7, 9}));
    CHECK_EQ(ln_context_tensor_dim(ctx, "x", 2), 7);
    CHECK_EQ(ln_context_tensor_dim(ctx, "y", 3), 9);
    CHECK_STR_EQ(ln_context_tensor_symbol(ctx, "x", 2), "h");
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- What a model has besides ----

#define BODY(name)                                                                                 \
    "graph " name " {\n" CAPTURED "Neg(X=x | Y=" name "_y |);\noutput(src=" name "_y | |);\n}\n"
#define CAPTURED "input(| dst=x | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"

TEST(graphs_are_found_one_by_one)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=c | dtype=TL_BOOL, dims=[]);\n"
                                "input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                "If(cond=c, capture1=x | outputs1=y | then_branch=\"a\", "
                                "else_branch=\"b\");\n" BODY("a") BODY("b"));
    ln_context *first = ln_context_graph(ctx, 0), *second = ln_context_graph(ctx, 1);
    const ln_context *a = ln_context_find_graph(ctx, "a"), *b = ln_context_find_graph(ctx, "b");
    CHECK(a && b && ((first == a && second == b) || (first == b && second == a)));
    CHECK(!ln_context_graph(ctx, 2) && !ln_context_graph(first, 0) && !ln_context_graph(NULL, 0));
    CHECK(!ln_context_has_weights(ctx) && !ln_context_has_weights(NULL));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_model_that_brings_constants_says_so)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[2]);\n"
                                "create(| dst=w | dtype=TL_FLOAT, dims=[2], from_file=true);\n"
                                "Add(A=x, B=w | C=y |);\n");
    static const float w[2] = {1, 2};
    CHECK(!ln_context_has_weights(ctx));
    CHECK_OK(ln_context_carry(ctx, "w", TL_FLOAT, 1, (int[]){2}, w));
    CHECK(ln_context_has_weights(ctx));
    close_context(ctx);
    ln_arch_cleanup();
}

// ---- Bytes with their number ----

TEST(a_buffer_of_another_size_is_refused_with_both)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(SMALL_MODEL);
    float x[7] = {1, 2, 3, 4, 5, 6, 7}, z[7] = {0};
    CHECK_FAILS(ln_context_set_data_n(ctx, "x", x, 24), LN_STATE);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_FAILS(ln_context_set_data_n(ctx, "x", x, 20), LN_INVALID);
    CHECK_MESSAGE("tensor 'x' has 24 bytes, the data 20");
    CHECK_FAILS(ln_context_set_data_n(ctx, "x", NULL, 24), LN_INVALID);
    CHECK_FAILS(ln_context_set_data_n(ctx, "nobody", x, 24), LN_NOT_FOUND);
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, 24));
    CHECK_OK(ln_context_run(ctx));
    CHECK_FAILS(ln_context_get_data_n(ctx, "z", z, 28), LN_INVALID);
    CHECK_MESSAGE("tensor 'z' has 24 bytes, the buffer 28");
    CHECK_NEAR(z[0], 0, 0);
    CHECK_FAILS(ln_context_get_data_n(ctx, "z", NULL, 24), LN_INVALID);
    CHECK_OK(ln_context_get_data_n(ctx, "z", z, 24));
    CHECK_NEAR(z[5], 12, 0);
    const void *bytes;
    size_t byte_count;
    CHECK_OK(ln_context_borrow_data(ctx, "z", &bytes, &byte_count));
    CHECK_EQ(byte_count, 24);
    CHECK_MEM_EQ(bytes, z, 24);
    CHECK_FAILS(ln_context_borrow_data(ctx, "nobody", &bytes, &byte_count), LN_NOT_FOUND);
    CHECK_NULL(bytes);
    CHECK_EQ(byte_count, 0);
    CHECK_FAILS(ln_context_borrow_data(ctx, "z", NULL, &byte_count), LN_INVALID);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(no_bytes_are_none_of_a_tensor_without_elements)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx =
        load_text("input(| dst=x | dtype=TL_FLOAT, dims=[0, 4]);\nrelu(src=x | dst=y |);\n", "ref");
    const void *bytes = "";
    size_t byte_count = 1;
    CHECK_OK(ln_context_set_data_n(ctx, "x", NULL, 0));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", NULL, 0));
    CHECK_OK(ln_context_borrow_data(ctx, "y", &bytes, &byte_count));
    CHECK_NULL(bytes);
    CHECK_EQ(byte_count, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(strings_are_no_bytes)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_STRING, dims=[1]);\n"
                                "Identity(input=x | output=y |);\n",
                                "ref");
    ln_object *words = ln_object_new_tensor(TL_STRING, 1, (int[]){1}, NULL);
    CHECK_NOT_NULL(words);
    CHECK_OK(ln_context_set_object(ctx, "x", words));
    CHECK_OK(ln_context_run(ctx));
    char *pointer;
    CHECK_FAILS(ln_context_get_data_n(ctx, "y", &pointer, sizeof pointer), LN_UNSUPPORTED);
    CHECK_MESSAGE("tensor 'y' is string, which has no bytes of its own");
    ln_object_release(words);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(what_is_known_follows_the_state, memory_is_what_the_plan_says,
          tensors_are_described_by_name, dynamic_dimensions_have_symbols_and_stay_dynamic_in_runs,
          what_is_bound_is_known_and_keeps_its_symbol, graphs_are_found_one_by_one,
          a_model_that_brings_constants_says_so, a_buffer_of_another_size_is_refused_with_both,
          no_bytes_are_none_of_a_tensor_without_elements, strings_are_no_bytes)
