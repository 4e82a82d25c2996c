// SPDX-License-Identifier: Apache-2.0
// One plan for all shapes in ranges of symbolic dimensions.

#include "tests/api/values.h"
#include "tests/oom.h"

// Two symbols, operators whose lists differ for one row, constants that depend on the shape.
#define NETWORK                                                                                    \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1, 24], names=[\"batch\", \"seq\", \"\"]);\n"      \
    "create(| dst=w | dtype=TL_FLOAT, dims=[24, 40], ran=[-1, 1]);\n"                              \
    "create(| dst=v | dtype=TL_FLOAT, dims=[40, 24], ran=[-1, 1]);\n"                              \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Relu(X=m | Y=r |);\n"                                                                         \
    "MatMul(A=r, B=v | Y=n |);\n"                                                                  \
    "Add(A=n, B=x | C=s |);\n"                                                                     \
    "transpose(src=s | dst=t | axes=[0, 2, 1]);\n"                                                 \
    "MatMul(A=s, B=t | Y=scores |);\n"                                                             \
    "Softmax(input=scores | output=p | axis=-1);\n"                                                \
    "MatMul(A=p, B=s | Y=y |);\n"                                                                  \
    "output(src=y | |);\n"

static ln_context *compile_range(int batch_from, int batch_to, int seq_from, int seq_to)
{
    ln_context *ctx = open_text(NETWORK);
    CHECK_OK(ln_context_set_range(ctx, "batch", batch_from, batch_to));
    CHECK_OK(ln_context_set_range(ctx, "seq", seq_from, seq_to));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    return ctx;
}

static ln_context *compile_shape(int batch, int seq)
{
    ln_context *ctx = open_text(NETWORK);
    CHECK_OK(ln_context_set_symbol(ctx, "batch", batch));
    CHECK_OK(ln_context_set_symbol(ctx, "seq", seq));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    return ctx;
}

static ln_status reshape(ln_context *ctx, int batch, int seq)
{
    int dims[3] = {batch, seq, 24};
    return ln_context_reshape(ctx, 1, &(ln_input_shape){.tname = "x", .ndim = 3, .dims = dims});
}

static const float *run(ln_context *ctx, int batch, int seq)
{
    static float x[32 * 64 * 24];
    for (int i = 0; i < batch * seq * 24; i++)
        x[i] = (float)(i * 5 % 17) * 0.125F - 1;
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, sizeof *x * (size_t)(batch * seq * 24)));
    CHECK_OK(ln_context_run(ctx));
    return ln_context_get_data(ctx, "y", NULL);
}

static void check_shape(ln_context *ctx, int batch, int seq)
{
    CHECK_OK(reshape(ctx, batch, seq));
    CHECK(ln_context_check(ctx));
    const float *y = run(ctx, batch, seq);
    ln_context *alone = compile_shape(batch, seq);
    CHECK_OK(ln_context_load(alone, NULL));
    const float *expected = run(alone, batch, seq);
    CHECK_EQ(ln_context_data_size(ctx, "y"), ln_context_data_size(alone, "y"));
    CHECK(memcmp(y, expected, ln_context_data_size(alone, "y")) == 0);
    close_context(alone);
}

TEST(every_shape_in_range_has_the_bits_of_its_own_plan)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = compile_range(1, 7, 1, 9);
    CHECK_NEAR(ln_context_range_shape_count(ctx), 63, 0);
    CHECK_EQ(ln_context_range_checked_count(ctx), 63);
    int from = 0, to = 0;
    CHECK(!ln_context_symbol_range(ctx, "nothing", &from, &to));
    CHECK(!ln_context_symbol_range(ctx, NULL, NULL, NULL));
    CHECK(!ln_context_symbol_range(NULL, "batch", &from, &to));
    CHECK_EQ(to, 0);
    CHECK(ln_context_symbol_range(ctx, "seq", &from, &to) && from == 1 && to == 9);
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int i = 0; i < 200; i++)
        check_shape(ctx, 1 + i * 5 % 7, 1 + i * 7 % 9);
    close_run(ctx);
}

TEST(the_peak_is_that_of_the_worst_shape)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = compile_range(1, 32, 1, 64), *worst = compile_shape(32, 64);
    CHECK(strcmp(ln_context_range_worst(ctx), "batch=32, seq=64") == 0);
    CHECK_EQ(ln_context_range_peak_bytes(ctx, LN_MEM_CPU),
             ln_context_peak_bytes(worst, LN_MEM_CPU));
    CHECK_EQ(ln_context_range_peak_bytes(ctx, LN_MEM_NONE), 0);
    CHECK_EQ(ln_context_range_peak_bytes(worst, LN_MEM_CPU), 0);
    CHECK(!ln_context_range_worst(worst));
    close_context(worst);
    close_run(ctx);
}

TEST(no_shape_takes_more_than_was_said)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = compile_range(0, 16, 0, 255);
    CHECK((double)ln_context_range_checked_count(ctx) < ln_context_range_shape_count(ctx));
    CHECK_OK(ln_context_load(ctx, NULL));
    const void *workspace = ctx->mem_starts[LN_MEM_CPU]; // of the largest; it never moves
    for (int i = 0; i < 100; i++) {
        int batch = 1 + i * 11 % 16, seq = 1 + i * 13 % 32; // of the sequences, the shorter ones
        CHECK_OK(reshape(ctx, batch, seq));
        CHECK(ctx->mem_starts[LN_MEM_CPU] == workspace);
        CHECK_EQ(ln_context_peak_bytes(ctx, LN_MEM_CPU),
                 batch > 1 && seq > 1 ? ln_context_range_peak_bytes(ctx, LN_MEM_CPU)
                                      : ln_context_peak_bytes(ctx, LN_MEM_CPU));
        (void)run(ctx, batch, seq);
    }
    CHECK_OK(reshape(ctx, 0, 3));
    CHECK_OK(reshape(ctx, 16, 255));
    close_run(ctx);
}

// The number of each row is a constant of the shape, and 16 shapes are ready at once.
#define ROW_NUMBERS                                                                                \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 4], names=[\"rows\", \"\"]);\n"                     \
    "create(| dst=zero | dtype=TL_INT64, dims=[], ran=[0, 0], data=[0], from_file=false);\n"       \
    "create(| dst=one | dtype=TL_INT64, dims=[], ran=[0, 0], data=[1], from_file=false);\n"        \
    "create(| dst=axis | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[1], from_file=false);\n"      \
    "Shape(data=x | shape=s |);\n"                                                                 \
    "Gather(data=s, indices=zero | output=n | axis=0);\n"                                          \
    "Range(start=zero, limit=n, delta=one | output=numbers |);\n"                                  \
    "Cast(input=numbers | output=floats | to=1);\n"                                                \
    "Unsqueeze(data=floats, axes=axis | expanded=column |);\n"                                     \
    "Mul(A=x, B=column | C=y |);\n"                                                                \
    "output(src=y | |);\n"

static size_t peak_of_rows(int from, int to, size_t *out_checked_count)
{
    ln_context *ctx = open_text(ROW_NUMBERS);
    CHECK_OK(ln_context_set_range(ctx, "rows", from, to));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    size_t peak = ln_context_range_peak_bytes(ctx, LN_MEM_CPU);
    *out_checked_count = ln_context_range_checked_count(ctx);
    close_context(ctx);
    return peak;
}

TEST(constants_of_shapes_that_were_not_looked_at_count)
{
    CHECK_OK(ln_arch_init());
    size_t few, all, peak = peak_of_rows(1000, 8000, &few);
    CHECK(peak_of_rows(7001, 8000, &all) <= peak); // the same and some more
    CHECK_EQ(all, 1000);
    CHECK(few <= 64);
    // The 15 largest beside the first plan: 4 bytes for each row.
    ln_context *alone = open_text(ROW_NUMBERS);
    CHECK_OK(ln_context_set_symbol(alone, "rows", 8000));
    CHECK_OK(ln_context_compile(alone, "cpu"));
    CHECK(peak >= ln_context_peak_bytes(alone, LN_MEM_CPU) + (size_t)15 * 4 * (8000 - 15));
    close_context(alone);
    ln_arch_cleanup();
}

// (100 - n) n rows, which are most in the middle of the range.
#define OF_MANY_ROWS(rows)                                                                               \
    "input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"n\"]);\n"                                       \
    "create(| dst=zero | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[0], from_file=false);\n"            \
    "create(| dst=eight | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[8], from_file=false);\n"           \
    "create(| dst=all | dtype=TL_INT64, dims=[1], ran=[0, 0], data=[100], from_file=false);\n"           \
    "Shape(data=x | shape=s |);\n"                                                                       \
    "Gather(data=s, indices=zero | output=n | axis=0);\n" rows                                           \
    "Concat(inputs1=rows, inputs2=eight, inputs3=eight, inputs4=eight | concat_result=dims | axis=0);\n" \
    "ReduceSum(data=x | reduced=sum | axes=[0], keepdims=1, since=11);\n"                                \
    "Expand(input=sum, shape=dims | output=many |);\n"                                                   \
    "ReduceMax(data=many | reduced=y | axes=[0], keepdims=0, since=11);\n"                               \
    "output(src=y | |);\n"
#define MOST_IN_THE_MIDDLE                                                                         \
    OF_MANY_ROWS("Sub(A=all, B=n | C=rest |);\n"                                                   \
                 "Mul(A=rest, B=n | C=rows |);\n")

TEST(tensors_may_be_largest_inside_the_range)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(MOST_IN_THE_MIDDLE);
    CHECK_OK(ln_context_set_range(ctx, "n", 0, 99));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_EQ(ln_context_range_checked_count(ctx), 100);
    CHECK_OK(ln_context_load(ctx, NULL));
    for (int n = 0; n < 100; n++) {
        ln_input_shape shape = {.tname = "x", .ndim = 1, .dims = DIMS(n)};
        CHECK_OK(ln_context_reshape(ctx, 1, &shape));
        CHECK(ln_context_peak_bytes(ctx, LN_MEM_CPU) <=
              ln_context_range_peak_bytes(ctx, LN_MEM_CPU));
    }
    close_run(ctx);
}

// Each shape of such a model takes a compilation, not an instance of a template.
TEST(of_a_model_with_graphs_inside_few_shapes_are_looked_at)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1], names=[\"n\"]);\n"
        "input(| dst=c | dtype=TL_BOOL, dims=[]);\n"
        "If(cond=c, capture1=x | outputs1=y | then_branch=\"a\", else_branch=\"b\");\n"
        "output(src=y | |);\n"
        "graph a {\ninput(| dst=x | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
        "Add(A=x, B=x | C=z |);\noutput(src=z | |);\n}\n"
        "graph b {\ninput(| dst=x | dtype=TL_FLOAT, dims=[], open=true, capture=true);\n"
        "Mul(A=x, B=x | C=z |);\noutput(src=z | |);\n}\n";
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_set_range(ctx, "n", 1, 500));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK(ln_context_range_checked_count(ctx) <= 64);
    close_run(ctx);
}

// (6672 n) % 9973 rows, which are most for a size far from those that are looked at.
#define MOST_ANYWHERE                                                                              \
    OF_MANY_ROWS("create(| dst=prime | dtype=TL_INT64, dims=[1], data=[9973]);\n"                  \
                 "create(| dst=times | dtype=TL_INT64, dims=[1], data=[6672]);\n"                  \
                 "Mul(A=times, B=n | C=many_times |);\n"                                           \
                 "Mod(A=many_times, B=prime | C=rows |);\n")

static ln_status reshape_rows(ln_context *ctx, int n)
{
    ln_input_shape shape = {.tname = "x", .ndim = 1, .dims = DIMS(n)};
    return ln_context_reshape(ctx, 1, &shape);
}

TEST(a_shape_that_needs_more_than_was_said_is_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(MOST_ANYWHERE);
    CHECK_OK(ln_context_set_range(ctx, "n", 0, 9972));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK(ln_context_range_checked_count(ctx) <= 64);
    CHECK_OK(ln_context_load(ctx, NULL));
    int most = 0;
    while (most * 6672 % 9973 != 9972)
        most++;
    CHECK_FAILS(reshape_rows(ctx, most), LN_LIMIT);
    CHECK_MESSAGE("compile the model for a smaller range");
    CHECK_OK(reshape_rows(ctx, 9972));
    close_run(ctx);
}

TEST(shapes_out_of_range_are_refused_with_it)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = compile_range(2, 4, 3, 3);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_FAILS(reshape(ctx, 5, 3), LN_INVALID);
    CHECK_MESSAGE("batch is 5, but the model was compiled for 2 to 4");
    CHECK_FAILS(reshape(ctx, 1, 3), LN_INVALID);
    CHECK_MESSAGE("batch is 1, but the model was compiled for 2 to 4");
    CHECK_FAILS(reshape(ctx, 2, 4), LN_INVALID);
    CHECK_MESSAGE("seq is 4, but the model was compiled for 3 to 3");
    check_shape(ctx, 2, 3);
    close_run(ctx);
}

TEST(ranges_that_cannot_be_are_refused)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(NETWORK);
    CHECK_FAILS(ln_context_set_range(ctx, "batch", 3, 2), LN_INVALID);
    CHECK_FAILS(ln_context_set_range(ctx, "batch", -1, 2), LN_INVALID);
    CHECK_FAILS(ln_context_set_range(ctx, NULL, 1, 2), LN_INVALID);
    CHECK_FAILS(ln_context_set_range(NULL, "batch", 1, 2), LN_INVALID);
    CHECK_FAILS(ln_context_set_range(ctx, "width", 1, 2), LN_NOT_FOUND);
    CHECK_OK(ln_context_set_range(ctx, "batch", 1, 2));
    CHECK_OK(ln_context_set_range(ctx, "batch", 1, 3)); // the last one holds
    CHECK_OK(ln_context_set_range(ctx, "seq", 1, 3));
    ln_limits limits = ctx->limits;
    limits.memory_byte_count = 4096;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_LIMIT);
    CHECK_MESSAGE("batch=3");
    limits.memory_byte_count = 1 << 20;
    CHECK_OK(ln_context_set_limits(ctx, &limits));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_NEAR(ln_context_range_shape_count(ctx), 9, 0);
    CHECK_FAILS(ln_context_set_range(ctx, "batch", 1, 2), LN_STATE);
    close_run(ctx);
}

TEST(clones_have_the_range_too)
{
    CHECK_OK(ln_arch_init());
    ln_context *ready = open_text(NETWORK), *clone, *second;
    CHECK_OK(ln_context_set_range(ready, "batch", 1, 4));
    CHECK_OK(ln_context_set_range(ready, "seq", 1, 4));
    CHECK_OK(ln_context_clone(ready, &clone));
    close_context(ready);
    CHECK_OK(ln_context_compile(clone, "cpu"));
    CHECK_OK(ln_context_load(clone, NULL));
    CHECK_OK(ln_context_clone(clone, &second));
    size_t peak = ln_context_range_peak_bytes(clone, LN_MEM_CPU);
    close_context(clone);
    CHECK_EQ(ln_context_range_peak_bytes(second, LN_MEM_CPU), peak);
    CHECK_FAILS(reshape(second, 5, 3), LN_INVALID);
    check_shape(second, 3, 2);
    check_shape(second, 1, 4);
    close_run(second);
}

TEST(running_out_of_memory_is_no_crash)
{
    CHECK_OK(ln_arch_init());
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status =
            ctx ? ln_context_init_mem(ctx, NETWORK, strlen(NETWORK), "model.net") : LN_NO_MEMORY;
        if (status == LN_OK)
            status = ln_context_set_range(ctx, "batch", 2, 2);
        if (status == LN_OK)
            status = ln_context_set_range(ctx, "seq", 2, 3);
        if (status == LN_OK)
            status = ln_context_compile(ctx, "ref");
        if (status == LN_OK && ln_context_load(ctx, NULL) == LN_OK)
            CHECK(reshape(ctx, 2, 2) == LN_OK || ln_error_status() == LN_NO_MEMORY);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST(dimensions_without_a_range_beside_one_are_named)
{
    static const char text[] =
        "input(| dst=x | dtype=TL_FLOAT, dims=[-1, 3, -1, -1, -1], names=[\"n\", \"\", \"h\", "
        "\"\", \"w\"]);\n"
        "input(| dst=z | dtype=TL_FLOAT, dims=[-1], names=[\"length\"]);\n"
        "relu(src=x | dst=y |);\noutput(src=y | |);\nrelu(src=z | dst=v |);\noutput(src=v | |);\n";
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_set_range(ctx, "n", 1, 3));
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_INVALID);
    CHECK_MESSAGE("'n' has a range, so all dimensions need a size or a range; in input 'x' these "
                  "have none: 'h', dimension 3, 'w'");
    CHECK_OK(ln_context_set_symbol(ctx, "w", 4));
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_INVALID);
    CHECK_MESSAGE("in input 'x' these have none: 'h', dimension 3");
    CHECK(!strstr(ln_error_message(), "'w'"));
    CHECK_OK(ln_context_set_shape(ctx, "x", 5, (int[]){2, 3, 4, 5, 6}));
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_INVALID);
    CHECK_MESSAGE("in input 'z' these have none: 'length'");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(a_shape_that_needs_more_than_was_said_is_refused,
          every_shape_in_range_has_the_bits_of_its_own_plan, the_peak_is_that_of_the_worst_shape,
          no_shape_takes_more_than_was_said, constants_of_shapes_that_were_not_looked_at_count,
          tensors_may_be_largest_inside_the_range, shapes_out_of_range_are_refused_with_it,
          ranges_that_cannot_be_are_refused, dimensions_without_a_range_beside_one_are_named,
          clones_have_the_range_too, of_a_model_with_graphs_inside_few_shapes_are_looked_at,
          running_out_of_memory_is_no_crash)
