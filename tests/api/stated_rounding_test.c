// SPDX-License-Identifier: Apache-2.0
// Conversions to narrower floats that a model states are done, also where halves are computed in
// floats: what is read afterwards has been rounded, or is infinite.
//
// Expected halves are numpy's; the rest is exact arithmetic in doubles.

#include "tests/api/values.h"

#include <stdint.h>

#include <lightnet/optimize.h>

// What numpy makes of floats: {float32, float16}.
static const struct rounded {
    uint32_t from;
    uint16_t to;
} numpy_rows[] = {
    {0x00000000, 0x0000}, {0x80000000, 0x8000}, {0x3f800000, 0x3c00}, {0x3dcccccd, 0x2e66},
    {0xbdcccccd, 0xae66}, {0x3eaaaaab, 0x3555}, {0x40490fdb, 0x4248}, {0x3f801000, 0x3c00},
    {0x3f803000, 0x3c02}, {0x3f801001, 0x3c01}, {0x45001000, 0x6800}, {0x45003000, 0x6802},
    {0x477fe000, 0x7bff}, {0x477fefff, 0x7bff}, {0x477ff000, 0x7c00}, {0xc77ff000, 0xfc00},
    {0x47c35000, 0x7c00}, {0xc7c35000, 0xfc00}, {0x7f61b1e6, 0x7c00}, {0x38800000, 0x0400},
    {0x387fe000, 0x0400}, {0x38000000, 0x0200}, {0x3380d959, 0x0001}, {0x33800000, 0x0001},
    {0x33000000, 0x0000}, {0x33000001, 0x0001}, {0x33c00000, 0x0002}, {0x322bcc77, 0x0000},
    {0xb22bcc77, 0x8000}, {0x000116c2, 0x0000}, {0x7f800000, 0x7c00}, {0xff800000, 0xfc00},
    {0x3eaaa000, 0x3555}, {0x447a1000, 0x63d0}, {0x447a3000, 0x63d2}, {0xc5801400, 0xec01},
    {0x39000000, 0x0800}, {0x4640e6b6, 0x7207}, {0xbf333333, 0xb99a}, {0x402df854, 0x4170}};

enum { COUNT = sizeof numpy_rows / sizeof numpy_rows[0] };

// The number nearest to x, ties to even, of `bits` significant bits, at least 2^least above each
// other; infinite from 2^end on.
static double round_to(double x, int bits, int least, int end)
{
    int exponent;
    if (!isfinite(x) || x == 0)
        return x;
    (void)frexp(x, &exponent);
    int unit = exponent - bits > least ? exponent - bits : least;
    double rounded = ldexp(nearbyint(ldexp(x, -unit)), unit);
    return fabs(rounded) >= ldexp(1, end) ? copysign((double)INFINITY, x) : rounded;
}

static double to_float16(double x)
{
    return round_to(x, 11, -24, 16);
}

static double to_bfloat16(double x)
{
    return round_to(x, 8, -133, 128);
}

static void fill_x(float x[COUNT])
{
    for (int i = 0; i < COUNT; i++)
        memcpy(&x[i], &numpy_rows[i].from, sizeof x[i]);
}

TEST(numpy_and_the_arithmetic_of_this_test_agree)
{
    float x[COUNT];
    fill_x(x);
    for (int i = 0; i < COUNT; i++) {
        uint16_t bits = numpy_rows[i].to;
        int exponent = bits >> 10 & 31, fraction = bits & 1023;
        double half = exponent == 31 ? (double)INFINITY
                      : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                     : ldexp(fraction, -24);
        CHECK(to_float16((double)x[i]) == (bits & 0x8000 ? -half : half));
    }
}

// ---- Models ----

typedef struct way {
    const char *why;
    const char *target;
    int keeps_halves;
} way;

static const way ways[] = {
    {"floats", "cpu", 0}, {"halves", "cpu", 1}, {"ref", "ref", 0}, {"halves on ref", "ref", 1}};

static ln_context *load_in(const char *text, const way *w)
{
    ln_optimize_options options = ln_optimize_options_default();
    options.keeps_halves = w->keeps_halves;
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile_with(ctx, w->target, &options));
    CHECK_OK(ln_context_load(ctx, NULL));
    return ctx;
}

static double number_at(const tl_tensor *t, int i)
{
    double x;
    CHECK_OK(tl_convert(&x, TL_DOUBLE, (const char *)t->data + (size_t)i * tl_size_of(t->dtype),
                        t->dtype));
    return x;
}

// Each element of y must be what `expected` says of that of x, to the bit; it is given COUNT floats
// in all ways of computing.
static void check_each(const char *text, double (*expected)(double))
{
    float x[COUNT];
    fill_x(x);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        ln_context *ctx = load_in(text, &ways[k]);
        CHECK_EQ(ln_context_output_count(ctx), 1);
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        const tl_tensor *y = ln_context_output(ctx, 0)->tensor;
        CHECK_EQ(y->len, COUNT);
        for (int i = 0; i < COUNT; i++) {
            double wanted = expected((double)x[i]), got = number_at(y, i);
            if (!(got == wanted && !signbit(got) == !signbit(wanted)) &&
                !(isnan(got) && isnan(wanted)))
                fail_msg("%s: y of %.9g is %.9g instead of %.9g:\n%s", ways[k].why, (double)x[i],
                         got, wanted, text);
        }
        close_context(ctx);
    }
}

#define X "input(| dst=x | dtype=TL_FLOAT, dims=[40]);\n"
#define Y "output(src=y | |);\n"

TEST(there_and_back_is_a_rounding)
{
    CHECK_OK(ln_arch_init());
    check_each(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                 "Cast(input=h | output=y | to=TL_FLOAT);\n" Y,
               to_float16);
    check_each(X "Cast(input=x | output=h | to=TL_BFLOAT16);\n"
                 "Cast(input=h | output=y | to=TL_FLOAT);\n" Y,
               to_bfloat16);
    check_each(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                 "Cast(input=h | output=f | to=TL_FLOAT);\n"
                 "Cast(input=f | output=g | to=TL_FLOAT16);\n"
                 "Cast(input=g | output=y | to=TL_FLOAT);\n",
               to_float16);
    check_each(X "cast(src=x | dst=h | to=TL_FLOAT16);\n"
                 "cast(src=h | dst=y | to=TL_FLOAT);\n",
               to_float16);
    ln_arch_cleanup();
}

static double negated(double x)
{
    return -to_float16(x);
}

static double clipped(double x)
{
    double h = to_float16(x);
    return h < -6 ? -6 : h > 6 ? 6 : h;
}

static double twice(double x)
{
    return to_bfloat16(to_float16(x));
}

static double doubled(double x)
{
    return to_float16(2 * to_float16(x)); // 2 h is a half, or infinite
}

static double rest(double x)
{
    double high = to_bfloat16(x);
    return isfinite(x) && isfinite(high) ? (double)(float)(x - high) : x - high;
}

// What computes halves reads what is rounded, and a model of halves rounds where it says so.
TEST(whoever_reads_it_reads_what_is_rounded)
{
    CHECK_OK(ln_arch_init());
    check_each(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                 "Neg(X=h | Y=y |);\n" Y,
               negated);
    check_each(X "create(| dst=low | dtype=TL_FLOAT16, dims=[], data=[-6], ran=[0, 0]);\n"
                 "create(| dst=high | dtype=TL_FLOAT16, dims=[], data=[6], ran=[0, 0]);\n"
                 "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                 "Clip(input=h, min=low, max=high | output=c |);\n"
                 "Cast(input=c | output=y | to=TL_FLOAT);\n" Y,
               clipped);
    check_each(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                 "Cast(input=h | output=b | to=TL_BFLOAT16);\n"
                 "Neg(X=b | Y=n |);\n"
                 "Neg(X=n | Y=m |);\n"
                 "Cast(input=m | output=y | to=TL_FLOAT);\n" Y,
               twice);
    // An island of floats in a model of halves.
    check_each(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                 "Cast(input=h | output=f | to=TL_FLOAT);\n"
                 "Add(A=f, B=f | C=s |);\n"
                 "Cast(input=s | output=g | to=TL_FLOAT16);\n"
                 "Abs(X=g | Y=a |);\n"
                 "Neg(X=a | Y=n |);\n"
                 "Cast(input=n | output=m | to=TL_FLOAT);\n"
                 "Cast(input=g | output=y | to=TL_FLOAT);\n" Y,
               doubled);
    check_each(X "input(| dst=like | dtype=TL_FLOAT16, dims=[1]);\n"
                 "CastLike(input=x, target_type=like | output=h |);\n"
                 "Neg(X=h | Y=n |);\n"
                 "Cast(input=n | output=y | to=TL_FLOAT);\n" Y,
               negated);
    // The type of what is computed in floats.
    check_each(X "Cast(input=x | output=g | to=TL_FLOAT16);\n"
                 "Neg(X=g | Y=like |);\n"
                 "Abs(X=x | Y=p |);\n"
                 "Abs(X=p | Y=q |);\n"
                 "CastLike(input=x, target_type=like | output=h |);\n"
                 "Neg(X=h | Y=n |);\n"
                 "Cast(input=n | output=y | to=TL_FLOAT);\n"
                 "Shape(data=like | shape=size |);\n"
                 "output(src=y | |);\n",
               negated);
    // A float split into a half and the rest.
    check_each(X "Cast(input=x | output=h | to=TL_BFLOAT16);\n"
                 "Cast(input=h | output=f | to=TL_FLOAT);\n"
                 "Sub(A=x, B=f | C=y |);\n" Y,
               rest);
    ln_arch_cleanup();
}

// Constants are what the model computes of them: 0.1 as a half, 0.0999755859375, as bfloat16.
TEST(constants_are_rounded_as_often_as_the_model_says)
{
    CHECK_OK(ln_arch_init());
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        ln_context *ctx =
            load_in("input(| dst=x | dtype=TL_FLOAT16, dims=[1]);\n"
                    "create(| dst=c | dtype=TL_FLOAT, dims=[1], data=[0.1], ran=[0, 0]);\n"
                    "Cast(input=c | output=h | to=TL_FLOAT16);\n"
                    "Cast(input=h | output=b | to=TL_BFLOAT16);\n"
                    "Cast(input=b | output=f | to=TL_FLOAT);\n"
                    "Cast(input=b | output=g | to=TL_FLOAT16);\n"
                    "Cast(input=x | output=xf | to=TL_FLOAT);\n"
                    "Add(A=xf, B=f | C=y |);\n"
                    "Add(A=x, B=g | C=z |);\n"
                    "output(src=y | |);\noutput(src=z | |);\n",
                    &ways[k]);
        CHECK_OK(ln_context_set_data(ctx, "x", &(uint16_t){0}));
        CHECK_OK(ln_context_run(ctx));
        double wanted = to_bfloat16(to_float16((double)0.1f));
        CHECK(wanted != to_bfloat16((double)0.1f) || wanted != to_float16((double)0.1f));
        for (size_t i = 0; i < 2; i++)
            CHECK(number_at(ln_context_output(ctx, i)->tensor, 0) == wanted);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// Other types are rounded as well: of doubles once, of integers, which may be too large.
TEST(other_types_are_rounded_to_halves)
{
    CHECK_OK(ln_arch_init());
    check_each(X "Cast(input=x | output=d | to=TL_DOUBLE);\n"
                 "Cast(input=d | output=h | to=TL_FLOAT16);\n"
                 "Neg(X=h | Y=n |);\n"
                 "Cast(input=n | output=y | to=TL_DOUBLE);\n" Y,
               negated);
    static const int numbers[] = {0, 1, -2049, 2051, 65504, 65519, 65520, -100000, 4097, 255};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        ln_context *ctx = load_in("input(| dst=x | dtype=TL_INT32, dims=[10]);\n"
                                  "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                                  "Neg(X=h | Y=n |);\n"
                                  "Cast(input=n | output=y | to=TL_FLOAT);\n" Y,
                                  &ways[k]);
        CHECK_OK(ln_context_set_data(ctx, "x", numbers));
        CHECK_OK(ln_context_run(ctx));
        for (int i = 0; i < NUMBERS; i++)
            CHECK(number_at(ln_context_output(ctx, 0)->tensor, i) == -to_float16(numbers[i]));
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(numbers_are_equal_to_themselves_rounded_where_they_are_halves)
{
    CHECK_OK(ln_arch_init());
    float x[COUNT];
    fill_x(x);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        ln_context *ctx = load_in(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                                    "Cast(input=h | output=f | to=TL_FLOAT);\n"
                                    "Equal(A=f, B=x | C=y |);\n" Y,
                                  &ways[k]);
        CHECK_OK(ln_context_set_data(ctx, "x", x));
        CHECK_OK(ln_context_run(ctx));
        int equal_count = 0;
        for (int i = 0; i < COUNT; i++) {
            int is_equal = to_float16((double)x[i]) == (double)x[i];
            CHECK(number_at(ln_context_output(ctx, 0)->tensor, i) == is_equal);
            equal_count += is_equal;
        }
        CHECK(equal_count > 5 && equal_count < COUNT - 5);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

static int count_firings(const char *text)
{
    ln_context *ctx = open_text(text);
    int count = 0;
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        count += strncmp(op->op_arg->name, "widen", 5) == 0;
    close_context(ctx);
    return count;
}

// Nothing computes halves in the first: there is nothing to widen.
TEST(casts_alone_are_no_model_of_halves)
{
    CHECK_OK(ln_arch_init());
    CHECK_EQ(count_firings(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                             "Cast(input=h | output=y | to=TL_FLOAT);\n" Y),
             0);
    CHECK(count_firings(X "Cast(input=x | output=h | to=TL_FLOAT16);\n"
                          "Neg(X=h | Y=n |);\n"
                          "Cast(input=n | output=y | to=TL_FLOAT);\n" Y) > 0);
    ln_arch_cleanup();
}

TEST_LIST(numpy_and_the_arithmetic_of_this_test_agree, there_and_back_is_a_rounding,
          whoever_reads_it_reads_what_is_rounded, constants_are_rounded_as_often_as_the_model_says,
          other_types_are_rounded_to_halves,
          numbers_are_equal_to_themselves_rounded_where_they_are_halves,
          casts_alone_are_no_model_of_halves)
