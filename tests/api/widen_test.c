// SPDX-License-Identifier: Apache-2.0
// Models of halves, computed in floats on cpu.

#include "tests/api/values.h"
#include "tests/oom.h"

#include <lightnet/optimize.h>

// Two products with halves in between, a cast there and back, and a small constant.
#define BODY(dtype, dims)                                                                          \
    "input(| dst=x | dtype=" dtype ", dims=" dims ", names=[\"N\", \"\"]);\n"                      \
    "create(| dst=w | dtype=" dtype ", dims=[96, 64], ran=[-1, 1]);\n"                             \
    "create(| dst=v | dtype=" dtype ", dims=[64, 48], ran=[-1, 1]);\n"                             \
    "create(| dst=two | dtype=" dtype ", dims=[1], data=[0.1], ran=[0, 0], from_file=false);\n"    \
    "MatMul(A=x, B=w | Y=m |);\n"                                                                  \
    "Tanh(input=m | output=t |);\n"                                                                \
    "Cast(input=t | output=f | to=TL_FLOAT);\n"                                                    \
    "Cast(input=f | output=h | to=" dtype ");\n"                                                   \
    "MatMul(A=h, B=v | Y=n |);\n"                                                                  \
    "Mul(A=n, B=two | C=y |);\n"
#define NETWORK(dtype, dims) BODY(dtype, dims) "output(src=y | |);\n"

enum { ROWS = 4, IN = 96, OUT = 48 };

static ln_context *load_with(const char *text, const char *target, int keeps_halves)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_halves = keeps_halves;
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile_with(ctx, target, &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static void set_x(ln_context *ctx, tl_dtype dtype, int rows)
{
    int dims[2] = {rows, IN};
    ln_object *x = ln_object_new_tensor(dtype, 2, dims, NULL);
    uint16_t *halves = ln_object_tensor(x)->data;
    for (int i = 0; i < rows * IN; i++) // 0.5 to 2, of both signs: patterns of either type
        halves[i] = (uint16_t)((dtype == TL_FLOAT16 ? 0x3800 : 0x3f00) + (i * 37 % 255) +
                               (i % 3 ? 0x8000 : 0));
    CHECK_OK(ln_context_set_object(ctx, "x", x));
    ln_object_release(x);
}

static void get_y(ln_context *ctx, int rows, double *y)
{
    ln_object *object;
    CHECK_OK(ln_context_get_object(ctx, "y", &object));
    const tl_tensor *t = ln_object_tensor(object);
    CHECK_EQ(t->len, rows * OUT);
    tl_tensor *numbers = tl_tensor_convert(t, NULL, TL_FLOAT);
    for (int i = 0; i < t->len; i++)
        y[i] = (double)((float *)numbers->data)[i];
    tl_tensor_free_data_too(numbers);
    ln_object_release(object);
}

static bool has_type(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (strcmp(op->op_arg->optype, optype) == 0)
            return true;
    return false;
}

static double largest(const double *a, const double *b, int count)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fabs(a[i] - b[i]) > most ? fabs(a[i] - b[i]) : most;
    return most;
}

// The reference has the elements of halves as doubles: the same network with casts around it.
static void check_dtype(const char *halves, const char *doubles, tl_dtype dtype)
{
    static double of_cpu[ROWS * OUT], of_ref[ROWS * OUT], kept[ROWS * OUT], exact[ROWS * OUT];
    const struct {
        const char *text, *target;
        int keeps;
        double *y;
    } runs[] = {{halves, "cpu", 0, of_cpu},
                {halves, "ref", 0, of_ref},
                {halves, "cpu", 1, kept},
                {doubles, "ref", 0, exact}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        ln_context *ctx = load_with(runs[i].text, runs[i].target, runs[i].keeps);
        CHECK_EQ(has_type(ctx, "linear_packed_cpu"), i == 0);
        set_x(ctx, dtype, ROWS);
        CHECK_OK(ln_context_run(ctx));
        get_y(ctx, ROWS, runs[i].y);
        close_context(ctx);
    }
    CHECK_NEAR(largest(of_ref, kept, ROWS * OUT), 0, 0);
    CHECK(largest(of_cpu, exact, ROWS * OUT) <= largest(of_ref, exact, ROWS * OUT));
    CHECK(largest(of_ref, exact, ROWS * OUT) > 0); // or the test says nothing
}

#define EXACT(dtype)                                                                               \
    "input(| dst=x | dtype=" dtype ", dims=[4, 96]);\n"                                            \
    "create(| dst=w | dtype=" dtype ", dims=[96, 64], ran=[-1, 1]);\n"                             \
    "create(| dst=v | dtype=" dtype ", dims=[64, 48], ran=[-1, 1]);\n"                             \
    "create(| dst=two | dtype=" dtype ", dims=[1], data=[0.1], ran=[0, 0], from_file=false);\n"    \
    "Cast(input=x | output=xd | to=TL_DOUBLE);\n"                                                  \
    "Cast(input=w | output=wd | to=TL_DOUBLE);\n"                                                  \
    "Cast(input=v | output=vd | to=TL_DOUBLE);\n"                                                  \
    "Cast(input=two | output=twod | to=TL_DOUBLE);\n"                                              \
    "MatMul(A=xd, B=wd | Y=m |);\n"                                                                \
    "Tanh(input=m | output=t |);\n"                                                                \
    "MatMul(A=t, B=vd | Y=n |);\n"                                                                 \
    "Mul(A=n, B=twod | C=y |);\n"                                                                  \
    "output(src=y | |);\n"

TEST(floats_in_between_are_nearer_to_what_is_exact)
{
    CHECK_OK(ln_arch_init());
    check_dtype(NETWORK("TL_FLOAT16", "[4, 96]"), EXACT("TL_FLOAT16"), TL_FLOAT16);
    check_dtype(NETWORK("TL_BFLOAT16", "[4, 96]"), EXACT("TL_BFLOAT16"), TL_BFLOAT16);
    ln_arch_cleanup();
}

TEST(types_of_inputs_and_outputs_stay)
{
    CHECK_OK(ln_arch_init());
    const char *const texts[] = {NETWORK("TL_FLOAT16", "[4, 96]"), BODY("TL_FLOAT16", "[4, 96]")};
    for (size_t i = 0; i < 2; i++) {
        ln_context *ctx = load_with(texts[i], "cpu", 0);
        CHECK_EQ(ln_context_tensor_dtype(ctx, "x"), TL_FLOAT16);
        CHECK_EQ(ln_context_tensor_dtype(ctx, "y"), TL_FLOAT16);
        CHECK_EQ(ln_context_output_count(ctx), 1);
        CHECK(has_type(ctx, "linear_packed_cpu"));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(shapes_may_change)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(NETWORK("TL_FLOAT16", "[-1, 96]"));
    CHECK_OK(ln_context_set_symbol(ctx, "N", 4));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    static double first[ROWS * OUT], again[ROWS * OUT];
    set_x(ctx, TL_FLOAT16, 4);
    CHECK_OK(ln_context_run(ctx));
    get_y(ctx, 4, first);
    for (int rows = 2; rows <= 4; rows++) {
        int dims[2] = {rows, IN};
        CHECK_OK(ln_context_reshape(ctx, 1, &(ln_input_shape){"x", 2, dims}));
        set_x(ctx, TL_FLOAT16, rows);
        CHECK_OK(ln_context_run(ctx));
        get_y(ctx, rows, again);
        CHECK_NEAR(largest(first, again, rows * OUT), 0, 0);
    }
    close_run(ctx);
}

TEST(a_model_that_was_never_bound_gives_halves)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_with(NETWORK("TL_FLOAT16", "[-1, 96]"), "cpu", 0);
    static double open[ROWS * OUT], bound[ROWS * OUT];
    set_x(ctx, TL_FLOAT16, ROWS);
    CHECK_OK(ln_context_run(ctx));
    get_y(ctx, ROWS, open);
    close_context(ctx);
    ctx = load_with(NETWORK("TL_FLOAT16", "[4, 96]"), "cpu", 0);
    set_x(ctx, TL_FLOAT16, ROWS);
    CHECK_OK(ln_context_run(ctx));
    get_y(ctx, ROWS, bound);
    CHECK(largest(open, bound, ROWS * OUT) < 0.02);
    close_run(ctx);
}

// 1538 / 1024 * 2045 / 1024 is 2.9995, and 3 as a half.
TEST(integers_and_truths_are_those_of_halves)
{
    CHECK_OK(ln_arch_init());
    for (int is_ref = 0; is_ref < 2; is_ref++) {
        ln_context *ctx = load_with(
            "input(| dst=x | dtype=TL_FLOAT16, dims=[2]);\n"
            "input(| dst=z | dtype=TL_FLOAT16, dims=[2]);\n"
            "create(| dst=three | dtype=TL_FLOAT16, dims=[1], data=[3], from_file=false);\n"
            "Mul(A=x, B=z | C=p |);\n"
            "Cast(input=p | output=i | to=TL_INT32);\n"
            "Equal(A=p, B=three | C=e |);\n"
            "Less(A=p, B=three | C=l |);\n"
            "Add(A=p, B=p | C=y |);\n"
            "output(src=i | |);\noutput(src=e | |);\noutput(src=l | |);\noutput(src=y | |);\n",
            is_ref ? "ref" : "cpu", 0);
        CHECK_OK(ln_context_set_data(ctx, "x", (const uint16_t[]){0x3e02, 0x3c00}));
        CHECK_OK(ln_context_set_data(ctx, "z", (const uint16_t[]){0x3ffd, 0x4000}));
        CHECK_OK(ln_context_run(ctx));
        const int32_t *whole = ln_context_get_data(ctx, "i", NULL);
        const tl_bool *is_equal = ln_context_get_data(ctx, "e", NULL);
        const tl_bool *is_less = ln_context_get_data(ctx, "l", NULL);
        CHECK(whole[0] == 3 && is_equal[0] && !is_less[0]);
        CHECK(whole[1] == 2 && !is_equal[1] && is_less[1]);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// An operator that takes halves alone, or bits: the model stays as it is.
TEST(what_refuses_floats_is_left_alone)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = load_with("input(| dst=x | dtype=TL_FLOAT16, dims=[4]);\n"
                                "Neg(X=x | Y=n |);\n"
                                "BitCast(input=n | output=b | to=TL_UINT16);\n"
                                "output(src=b | |);\n",
                                "cpu", 0);
    const uint16_t halves[4] = {0x3c00, 0x8000, 0, 0xc000};
    CHECK_OK(ln_context_set_data(ctx, "x", halves));
    CHECK_OK(ln_context_run(ctx));
    const uint16_t *bits = ln_context_get_data(ctx, "b", NULL);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(bits[i], halves[i] ^ 0x8000);
    close_run(ctx);
}

TEST(running_out_of_memory_leaves_a_model_or_none)
{
    CHECK_OK(ln_arch_init());
    const char *text = NETWORK("TL_FLOAT16", "[4, 96]");
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        if (ctx && ln_context_init_mem(ctx, text, strlen(text), "model.net") == LN_OK)
            (void)!ln_context_optimize(ctx, "cpu", "widen");
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// ---- Constants, whose values rules look at ----

// What a model of x = 1 and a constant c makes, in numpy's float16; the same in floats.
static void check_constant(const char *elements, const char *makes_y, const float *numbers,
                           int count)
{
    char text[512];
    snprintf(text, sizeof text,
             "input(| dst=x | dtype=TL_FLOAT16, dims=[%d]);\n"
             "create(| dst=c | dtype=TL_FLOAT16, dims=[%d], data=[%s], ran=[0, 0], "
             "from_file=false);\n"
             "create(| dst=k | dtype=TL_FLOAT16, dims=[1], data=[1024], ran=[0, 0], "
             "from_file=false);\n"
             "Mul(A=x, B=c | C=m |);\n"
             "%s"
             "output(src=y | |);\n",
             count, count, elements, makes_y);
    ln_context *ctx = load_with(text, "cpu", 0);
    uint16_t x[8], y[8], expected[8];
    for (int i = 0; i < count; i++)
        x[i] = 0x3c00;
    CHECK_OK(tl_convert_n(expected, TL_FLOAT16, numbers, TL_FLOAT, (size_t)count));
    CHECK_OK(ln_context_set_data_n(ctx, "x", x, (size_t)count * sizeof *x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, (size_t)count * sizeof *y));
    CHECK_MEM_EQ(y, expected, (size_t)count * sizeof *y);
    close_context(ctx);
}

TEST(written_constants_are_rounded_to_halves_and_keep_their_signs)
{
    CHECK_OK(ln_arch_init());
    // 1 + 2^-11 is 1, 1 + 3 * 2^-12 is 1 + 2^-10, 1 - 3 * 2^-13 is 1 - 2^-11.
    check_constant("1.00048828125, 1.000732421875, 0.9996337890625",
                   "Sub(A=m, B=x | C=d |);\nMul(A=d, B=k | C=y |);\n", (const float[]){0, 1, -0.5f},
                   3);
    check_constant("0, -0.0, -1e-9, 1e-9", "Reciprocal(X=m | Y=y |);\n",
                   (const float[]){INFINITY, -INFINITY, -INFINITY, INFINITY}, 4);
    ln_arch_cleanup();
}

TEST_LIST(floats_in_between_are_nearer_to_what_is_exact, types_of_inputs_and_outputs_stay,
          shapes_may_change, a_model_that_was_never_bound_gives_halves,
          what_refuses_floats_is_left_alone, integers_and_truths_are_those_of_halves,
          written_constants_are_rounded_to_halves_and_keep_their_signs,
          running_out_of_memory_leaves_a_model_or_none)
