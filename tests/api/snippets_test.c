// SPDX-License-Identifier: Apache-2.0
// Operators whose descriptions have snippets of C, as `lightnet gen-op` makes code of them: checks,
// shapes, runs, life, and models with open dimensions.

#include "tests/api/snippets.h"

#include "tests/api/model.h"

extern ln_op ln_opimpl_snip_half, ln_opimpl_snip_half_ref, ln_opimpl_snip_rows,
    ln_opimpl_snip_rows_ref, ln_opimpl_snip_table, ln_opimpl_snip_table_ref, ln_opimpl_snip_pairs,
    ln_opimpl_snip_pairs_ref, ln_opimpl_snip_turned, ln_opimpl_snip_turned_ref;

#define TABLE "input(| dst=x | dtype=TL_FLOAT, dims=[3, 2]);\n"
#define SCALE "create(| dst=s | dtype=TL_FLOAT, dims=[3], data=[1, 2, 4]);\n"

int snip_table_ends;

ln_status snip_rows(const tl_tensor *src, const tl_tensor *scale, tl_tensor *dst, tl_tensor *ws,
                    int first, tl_elew_op op, int run_count)
{
    if (run_count == 3)
        return LN_FAIL(LN_STATE, "run %d is too many", run_count);
    const float *from = src->data, *factors = scale ? scale->data : NULL;
    float *rows = ws->data, *to = dst->data;
    for (int i = 0; i < dst->len; i++)
        rows[i] = from[first * src->dims[1] + i];
    for (int i = 0; i < dst->len; i++) {
        float factor = factors ? factors[first + i / src->dims[1]] : 1;
        to[i] = op == TL_MUL ? rows[i] * factor : rows[i] / factor;
    }
    return LN_OK;
}

void snip_table(tl_tensor *const *src, int count, tl_tensor *dst, const double added[2])
{
    for (int i = 0; i < count; i++)
        ((float *)dst->data)[i] = (float)(src[i]->len + added[0] + added[1]);
}

void snip_pairs(const tl_tensor *src, tl_tensor *dst)
{
    const float *from = src->data;
    for (int i = 0; i < dst->len; i++)
        ((double *)dst->data)[i] = (double)from[i] + (double)from[src->len - 1 - i];
}

void snip_turned(const tl_tensor *src, const tl_tensor *turned, tl_tensor *dst)
{
    for (int i = 0; i < dst->len; i++)
        ((float *)dst->data)[i] =
            ((const float *)src->data)[i] + ((const float *)turned->data)[dst->len - 1 - i];
}

static void init(void)
{
    ln_op *const ops[] = {&ln_opimpl_snip_half,   &ln_opimpl_snip_half_ref,
                          &ln_opimpl_snip_rows,   &ln_opimpl_snip_rows_ref,
                          &ln_opimpl_snip_table,  &ln_opimpl_snip_table_ref,
                          &ln_opimpl_snip_pairs,  &ln_opimpl_snip_pairs_ref,
                          &ln_opimpl_snip_turned, &ln_opimpl_snip_turned_ref};
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        CHECK_OK(ln_op_register(ops[i]));
}

static void check_run(ln_context *ctx, const float *x, const float *wanted, size_t count)
{
    float y[16];
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_EQ(ln_context_data_size(ctx, "y"), count * sizeof *y);
    CHECK_NOT_NULL(ln_context_get_data(ctx, "y", y));
    CHECK_MEM_EQ(y, wanted, count * sizeof *y);
}

TEST(snippets_check_and_run)
{
    static const float x[] = {1, 2, 3, 4, 5, 6}, divided[] = {0.75f, 1, 0.625f, 0.75f};
    init();
    for (int arch = 0; arch < 2; arch++) {
        ln_context *ctx =
            load_text(TABLE SCALE "snip_rows(src=x, scale=s | dst=r, ws=w | first=1, count=2, "
                                  "op=TL_DIV);\nsnip_half(src=r | dst=y |);\n",
                      arch == 0 ? "ref" : "cpu");
        CHECK_NEAR(ln_context_macs(ctx), 4, 0);
        check_run(ctx, x, divided, 4);
        check_run(ctx, x, divided, 4);
        CHECK_FAILS(ln_context_run(ctx), LN_STATE);
        CHECK_MESSAGE("run 3 is too many");
        close_context(ctx);
    }
    // Without what is optional.
    ln_context *ctx = load_text(TABLE "snip_rows(src=x | dst=y, ws=w | count=1);\n", "ref");
    check_run(ctx, x, x, 2);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(a_static_snippet_runs_once_and_ends_with_its_operator)
{
    init();
    ln_context *ctx =
        load_text(SCALE "create(| dst=t | dtype=TL_FLOAT, dims=[5]);\n" TABLE
                        "snip_table(src1=s, src2=t, src3=s | dst=y | added=[1, 2]);\n",
                  "cpu");
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->isstatic, 1);
    check_run(ctx, (float[6]){0}, (const float[]){6, 8, 6}, 3);
    int ends = snip_table_ends;
    close_context(ctx);
    CHECK(snip_table_ends > ends);
    ln_arch_cleanup();
}

TEST(snippets_refuse_what_their_description_does)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {TABLE "snip_rows(src=x | dst=y, ws=w |);\n", "needs a `count` param"},
        {TABLE "snip_rows(src=x | dst=y, ws=w | count=-1);\n", "`count` param's value"},
        {TABLE "snip_rows(src=x | dst=y, ws=w | count=1, first=4);\n", "`first` param's value"},
        {TABLE "snip_rows(src=x | dst=y, ws=w | count=2, first=2);\n",
         "rows 2 to 4 are outside of 3"},
        {TABLE "snip_rows(src=x | dst=y, ws=w | count=1, op=TL_SUM);\n", "op should be TL_MUL"},
        {TABLE "snip_rows(src=x | dst=y, ws=w | count=1, op=TL_WHAT);\n", "'TL_WHAT' is not known"},
        {TABLE "snip_rows(src=x | dst=y, ws=w | count=1, coutn=1);\n", "did you mean 'count'"},
        {TABLE "snip_rows(src=x, scael=x | dst=y, ws=w | count=1);\n", "did you mean 'scale'"},
        {TABLE SCALE "snip_rows(src=s | dst=y, ws=w | count=1);\n", "ndim should be 2"},
        {TABLE "snip_rows(src=x, scale=x | dst=y, ws=w | count=1);\n", "should be 3, but gets a 6"},
        {TABLE "snip_rows(src=x | dst=y | count=1);\n", "needs a `ws` output"},
        {SCALE "snip_table(src1=s, src3=s | dst=y | added=[1, 2]);\n", "src2 is missing"},
        {SCALE "snip_table(src1=s | dst=y | added=[1]);\n", "`added` param"},
        {SCALE "snip_table(src1=s | dst=y | added=[1, 100]);\n", "`added` param"},
        {TABLE "snip_table(src1=x | dst=y | added=[1, 1]);\n", "ndim should be 1"},
        {"input(| dst=x | dtype=TL_INT32, dims=[3]);\nsnip_half(src=x | dst=y |);\n",
         "should be TL_FLOAT"},
        {"input(| dst=x | dtype=TL_FLOAT16, dims=[3, 2]);\n"
         "snip_rows(src=x | dst=y, ws=w | count=1);\n",
         "does not compute with float16"},
    };
    init();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = ln_context_create();
        CHECK_NOT_NULL(ctx);
        if (ln_context_init_mem(ctx, rows[i].text, strlen(rows[i].text), "bad.net") == LN_OK)
            fail_msg("%s is taken", rows[i].text);
        if (!strstr(ln_error_message(), rows[i].says))
            fail_msg("\"%s\" lacks \"%s\"", ln_error_message(), rows[i].says);
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// ---- Open dimensions: their expressions need the shapes ----

TEST(snippets_wait_until_shapes_are_bound)
{
    init();
    ln_context *ctx =
        open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, 2], names=[\"n\", \"\"]);\n"
                  "relu(src=x | dst=r |);\nsnip_half(src=r | dst=y |);\n");
    CHECK(ln_context_check(ctx));
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->is_open, 1);
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_UNSUPPORTED);
    CHECK_MESSAGE("model.net:3:1: snip_half: `snip_half0` needs the shape of tensor 'r'");
    CHECK_MESSAGE("ln_context_set_shape");
    CHECK_EQ(ctx->state, LN_CONTEXT_READY);
    CHECK_OK(ln_context_set_symbol(ctx, "n", 1));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    check_run(ctx, (const float[]){-1, 3}, (const float[]){0, 1.5f}, 2);
    close_context(ctx);

    // A shape that an operator refuses leaves the model as it was, waiting.
    ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[-1, -1]);\n" SCALE
                    "snip_rows(src=x, scale=s | dst=y, ws=w | count=1);\n");
    CHECK_FAILS(ln_context_set_shape(ctx, "x", 2, (int[]){2, 4}), LN_INVALID);
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->is_open, 1);
    CHECK(ln_context_check(ctx));
    CHECK_OK(ln_context_set_shape(ctx, "x", 2, (int[]){3, 4}));
    CHECK_OK(ln_context_compile(ctx, "ref"));
    close_context(ctx);
    ln_arch_cleanup();
}

TEST(snippets_refuse_shapes_that_depend_on_data)
{
    init();
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"
                                "NonZero(X=x | Y=n |);\nsnip_half(src=n | dst=y |);\n");
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_UNSUPPORTED);
    CHECK_MESSAGE("tensor 'n', which depends on data");
    close_context(ctx);
    ln_arch_cleanup();
}

// Elements of other sizes are not written over, though their bytes are as many.
TEST(elements_of_another_size_are_apart)
{
    float x[64];
    init();
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[64]);\n"
                                "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM, act=lrelu);\n"
                                "snip_pairs(src=t | dst=y |);\n",
                                "ref");
    CHECK(!ln_tensor_table_find(ctx->tensor_table, "y")->owner);
    for (int i = 0; i < 64; i++)
        x[i] = (float)(i + 1);
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_run(ctx));
    const double *y = ln_context_get_data(ctx, "y", NULL);
    CHECK_NOT_NULL(y);
    for (int i = 0; i < 32; i++)
        CHECK_NEAR(y[i], 130, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

// Who puts the output over one operand means one: it may not be the other one, by any name.
TEST(an_operator_that_overwrites_by_its_own_word_has_other_operands)
{
    static const float x[3] = {1, 2, 3}, wanted[3] = {5, 6, 7};
    static const char *const twice[] = {
        "snip_turned(src=t, turned=t | dst=y |);\n",
        "reshape(src=t | dst=r | dims=[3]);\nsnip_turned(src=t, turned=r | dst=y |);\n",
        "reshape(src=t | dst=r | dims=[3]);\nsnip_turned(src=r, turned=t | dst=y |);\n"};
#define SUM                                                                                        \
    "input(| dst=x | dtype=TL_FLOAT, dims=[3]);\n"                                                 \
    "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM, act=lrelu);\n"
    init();
    ln_context *ctx = load_text(SUM "snip_turned(src=t, turned=x | dst=y |);\n", "ref");
    CHECK_STR_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->owner, "t");
    check_run(ctx, x, wanted, 3);
    close_context(ctx);
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", SUM, twice[i]);
        ctx = open_text(text);
        CHECK_FAILS(ln_context_compile(ctx, "ref"), LN_INVALID);
        CHECK_MESSAGE("still reads as operand");
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// What reads a constant that is overwritten by description stays before that, though it is needed
// later only.
TEST(constants_are_read_before_they_are_overwritten)
{
    static const float x[3] = {100, 200, 300}, wanted[3] = {130, 220, 310};
    init();
    ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[3]);\n"
                                "create(| dst=k | dtype=TL_FLOAT, dims=[3], data=[1, 2, 3]);\n"
                                "create(| dst=c | dtype=TL_FLOAT, dims=[3], data=[10, 20, 30]);\n"
                                "act_ref(src=k | dst=a | act=neg);\n"
                                "snip_turned(src=k, turned=c | dst=b |);\n"
                                "elew_ref(src1=x, src2=b | dst=s | elew_op=TL_SUM);\n"
                                "elew_ref(src1=s, src2=a | dst=y | elew_op=TL_SUM);\n",
                                "ref");
    check_run(ctx, x, wanted, 3);
    check_run(ctx, x, wanted, 3);
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(snippets_check_and_run, a_static_snippet_runs_once_and_ends_with_its_operator,
          snippets_refuse_what_their_description_does, snippets_wait_until_shapes_are_bound,
          snippets_refuse_shapes_that_depend_on_data, elements_of_another_size_are_apart,
          constants_are_read_before_they_are_overwritten,
          an_operator_that_overwrites_by_its_own_word_has_other_operands)
