// SPDX-License-Identifier: Apache-2.0
// Open dimensions before LightNet's own operators: bound after reading, or known only in a run.

#include "tests/api/model.h"

#include "tests/oom.h"

#define OPEN_MODEL                                                                                 \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2, 4, 4], names=[\"batch\", \"\", \"\", \"\"]);\n"  \
    "create(| dst=w | dtype=TL_FLOAT, dims=[3, 2, 3, 3], ran=[-1, 1]);\n"                          \
    "create(| dst=b | dtype=TL_FLOAT, dims=[3], ran=[-1, 1]);\n"                                   \
    "conv2d(src=x, weight=w, bias=b | dst=c | size=[3, 3]);\n"                                     \
    "relu(src=c | dst=y |);\n"                                                                     \
    "Mul(A=y, B=y | C=z |);\n"

static void fill(float *x, int count, int first)
{
    for (int i = 0; i < count; i++)
        x[i] = (float)((i + first) * 29 % 17) / 17;
}

// One picture at a time, by the same model with its shape in the text.
static void run_closed(const float *x, int count, float *z)
{
    char text[1024];
    snprintf(text, sizeof text, "input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 4, 4]);\n%s",
             strstr(OPEN_MODEL, "create("));
    ln_context *ctx = load_text(text, "cpu");
    size_t byte_count = ln_context_data_size(ctx, "z");
    for (int i = 0; i < count; i++) {
        CHECK_OK(ln_context_set_data(ctx, "x", x + i * 32));
        CHECK_OK(ln_context_run(ctx));
        CHECK_NOT_NULL(ln_context_get_data(ctx, "z", z + (size_t)i * byte_count / sizeof *z));
    }
    close_context(ctx);
}

TEST(shapes_bound_after_reading_reach_every_operator)
{
    float x[96], wanted[36], got[36];
    fill(x, 96, 1);
    CHECK_OK(ln_arch_init());
    run_closed(x, 3, wanted);
    ln_context *ctx = open_text(OPEN_MODEL);
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK(ln_context_input_is_open(ctx, 0));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "c")->is_open, 1);
    CHECK(ln_context_check(ctx));
    CHECK_NEAR(ln_op_macs(ln_op_table_find(ctx->op_table, "conv2d0")), 0, 0);

    CHECK_OK(ln_context_set_shape(ctx, "x", 4, (int[]){2, 2, 4, 4}));
    const ln_tensor_entry *c = ln_tensor_table_find(ctx->tensor_table, "c");
    CHECK_EQ(c->is_open, 0);
    CHECK_EQ(c->tensor->dims[0], 2);
    CHECK_EQ(c->tensor->dims[1], 3);
    CHECK_NEAR(ln_op_macs(ln_op_table_find(ctx->op_table, "conv2d0")), 2 * 3 * 2 * 2 * 2 * 9, 0);
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int batch = 2; batch <= 3; batch++) {
        if (batch == 3)
            CHECK_OK(ln_context_reshape(
                ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 4, .dims = (int[]){3, 2, 4, 4}}));
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        size_t byte_count = ln_context_data_size(ctx, "z");
        CHECK_EQ(byte_count, (size_t)batch * sizeof wanted / 3);
        CHECK_NOT_NULL(ln_context_get_data(ctx, "z", got));
        CHECK_MEM_EQ(got, wanted, byte_count);
    }
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_symbol_and_a_clone_bind_it_too)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(OPEN_MODEL), *clone;
    CHECK_OK(ln_context_clone(ctx, &clone));
    CHECK_OK(ln_context_set_symbol(clone, "batch", 5));
    CHECK_EQ(ln_tensor_table_find(clone->tensor_table, "y")->tensor->dims[0], 5);
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->is_open, 1);
    close_context(clone);
    close_context(ctx);
    ln_arch_cleanup();
}

// Views of what has its shape only in the run are copies, in each run of another shape.
TEST(elements_are_moved_whose_number_depends_on_data)
{
    static const char text[] = "input(| dst=x | dtype=TL_FLOAT, dims=[5]);\n"
                               "NonZero(X=x | Y=n |);\n"
                               "forward(src=n | dst=f |);\n"
                               "transpose(src=f | dst=t | axes=[1, 0]);\n"
                               "reshape(src=t | dst=r | dims=[3]);\n"
                               "slice(src=r | dst=s | axis=0, start=1, len=2);\n"
                               "concat(src1=s, src2=r | dst=c | axis=0);\n"
                               "gather(src1=c, src2=c | dst=g |);\n"
                               "scatter(src=g | dst1=p, dst2=q |);\n";
    static const float rows[][5] = {{0, 1, 1, 0, 1}, {1, 0, 0, 1, 1}};
    static const int64_t wanted[][5] = {{2, 4, 1, 2, 4}, {3, 4, 0, 3, 4}};
    CHECK_OK(ln_arch_init());
    for (int arch = 0; arch < 2; arch++) {
        ln_context *ctx = load_text(text, arch == 0 ? "ref" : "cpu");
        for (size_t i = 0; i < 2; i++) {
            CHECK_OK(ln_context_set_data(ctx, "x", rows[i]));
            CHECK_OK(ln_context_run(ctx));
            const tl_tensor *q = ln_tensor_table_find(ctx->tensor_table, "q")->tensor;
            CHECK_EQ(q->dtype, TL_INT64);
            CHECK_EQ(q->ndim, 1);
            CHECK_EQ(q->len, 5);
            CHECK_MEM_EQ(q->data, wanted[i], sizeof wanted[i]);
        }
        CHECK_OK(ln_context_set_data(ctx, "x", (float[]){1, 1, 1, 1, 1}));
        CHECK_FAILS(ln_context_run(ctx), LN_INVALID); // five elements for three
        CHECK_NOT_NULL(strstr(ln_error_message(), "reshape"));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(binding_survives_refused_memory)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (!ctx)
            continue;
        if (ln_context_init_mem(ctx, OPEN_MODEL, strlen(OPEN_MODEL), "x.net") == LN_OK)
            ln_context_set_symbol(ctx, "batch", 2);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST_LIST(shapes_bound_after_reading_reach_every_operator, a_symbol_and_a_clone_bind_it_too,
          elements_are_moved_whose_number_depends_on_data, binding_survives_refused_memory)
