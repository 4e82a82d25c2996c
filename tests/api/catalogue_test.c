// SPDX-License-Identifier: Apache-2.0
// What operators promise in a model: sources stay as they are for their other readers, bad data
// fails the run and nothing else, and models that make no sense are refused.

#include <lightnet/op_info.h>

#include "tests/api/model.h"

static const char *const targets[] = {"ref", "cpu"};
#define TARGET_COUNT (sizeof targets / sizeof targets[0])

#define KEYS "input(| dst=x | dtype=TL_FLOAT, dims=[4]);\n"

static void check_floats(ln_context *ctx, const char *tname, const float *expected, int count)
{
    const float *data = ln_context_get_data(ctx, tname, NULL);
    CHECK_NOT_NULL(data);
    for (int i = 0; i < count; i++)
        if (data[i] != expected[i])
            fail_msg("%s[%d] is %g instead of %g", tname, i, (double)data[i], (double)expected[i]);
}

// ---- Sources with other readers ----

// The source is read before, between and after the operators that once worked in place.
TEST(sorting_and_ranges_leave_their_source_to_its_other_readers)
{
    CHECK_OK(ln_arch_init());
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        ln_context *ctx = load_text(
            KEYS "relu(src=x | dst=x1 |);\n"
                 "sort1d(src_key=x1 | dst_key=up | dir=TL_SORT_DIR_ASCENDING);\n"
                 "sort1d(src_key=x1 | dst_key=down | dir=TL_SORT_DIR_DESCENDING);\n"
                 "rearange(src=x1 | dst=range | start=0, stop=8, step=2);\n"
                 "create(| dst=i | dtype=TL_INT32, dims=[4], ran=[0, 0], data=[0, 1, 2, 3], "
                 "from_file=false);\n"
                 "sort1d_by_key(src_key=x1, src_val=i | dst_key=k, dst_val=v | "
                 "dir=TL_SORT_DIR_DESCENDING);\n"
                 "elew(src1=x1, src2=range | dst=sum | elew_op=TL_SUM);\n"
                 "pick1d(src=x1, src_index=v | dst=picked | stride=1, len=2);\n",
            targets[t]);
        for (int run = 0; run < 2; run++) {
            CHECK_OK(ln_context_set_data(ctx, "x", (const float[]){3, 1, 4, 2}));
            CHECK_OK(ln_context_run(ctx));
            check_floats(ctx, "up", (const float[]){1, 2, 3, 4}, 4);
            check_floats(ctx, "down", (const float[]){4, 3, 2, 1}, 4);
            check_floats(ctx, "k", (const float[]){4, 3, 2, 1}, 4);
            check_floats(ctx, "sum", (const float[]){3, 3, 8, 8}, 4);
            check_floats(ctx, "picked", (const float[]){4, 3}, 2);
        }
        close_context(ctx);
    }
    ln_arch_cleanup();
}

TEST(a_stack_taken_apart_and_built_again_is_the_same)
{
    CHECK_OK(ln_arch_init());
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[3, 2]);\n"
                                    "scatter(src=x | dst1=a, dst2=b, dst3=c |);\n"
                                    "gather(src1=c, src2=a, src3=b | dst=y |);\n"
                                    "scatter_nocopy(src=x | dst1=d, dst2=e, dst3=f |);\n"
                                    "gather_nocopy(src1=f, src2=d, src3=e | dst=z |);\n",
                                    targets[t]);
        CHECK_OK(ln_context_set_data(ctx, "x", (const float[]){1, 2, 3, 4, 5, 6}));
        CHECK_OK(ln_context_run(ctx));
        check_floats(ctx, "y", (const float[]){5, 6, 1, 2, 3, 4}, 6);
        check_floats(ctx, "z", (const float[]){5, 6, 1, 2, 3, 4}, 6);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Bad data ----

TEST(a_position_outside_of_the_source_fails_the_run)
{
    static const int32_t bad[] = {-1, 2, INT32_MAX, INT32_MIN};
    CHECK_OK(ln_arch_init());
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        ln_context *ctx = load_text(KEYS "input(| dst=i | dtype=TL_INT32, dims=[2]);\n"
                                         "pick1d(src=x, src_index=i | dst=y | stride=2, len=2);\n",
                                    targets[t]);
        CHECK_OK(ln_context_set_data(ctx, "x", (const float[]){1, 2, 3, 4}));
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            CHECK_OK(ln_context_set_data(ctx, "i", (const int32_t[]){0, bad[i]}));
            CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
            CHECK_MESSAGE("outside of 2 groups");
        }
        CHECK_OK(ln_context_set_data(ctx, "i", (const int32_t[]){1, 0}));
        CHECK_OK(ln_context_run(ctx));
        check_floats(ctx, "y", (const float[]){3, 4, 1, 2}, 4);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Models that are refused ----

TEST(models_without_sense_are_refused)
{
    static const struct {
        const char *model, *text;
    } rows[] = {
        {KEYS "scatter(src=x | dst1=a, dst2=b |);", "4 elements for 2 parts"},
        {KEYS "scatter(src=x | dst1=a, dst3=b |);", "output dst2 is missing"},
        {KEYS "scatter(src=x | a=a |);", "at least one output dst1"},
        {KEYS "scatter(src=x | dst1=a, dst2=a, dst3=c, dst4=d |);", "defined before"},
        {KEYS "gather(src1=x, src3=x | dst=y |);", "input src2 is missing"},
        {KEYS "resize(src=x | dst=y | mode=TL_CUBIC, dims=[8]);", "'TL_CUBIC' is not known"},
        {KEYS "resize(src=x | dst=y | mode=TL_LINEAR, dims=[2, 2]);", "for a tensor of rank 1"},
        {KEYS "upsample(src=x | dst=y | mode=TL_LINEAR, scales=[-1]);", "should be > 0"},
        {KEYS "upsample(src=x | dst=y | mode=TL_LINEAR, scales=[1e12]);", "out of range"},
        {KEYS "pick1d(src=x, src_index=x | dst=y | stride=1, len=1);", "TL_INT32"},
        {KEYS "sort1d(src_key=x | dst_key=y | dir=up);", "'up' is not known"},
        {KEYS "submean(src=x | dst=y | mean=[1, 2, 3], dtype=TL_FLOAT);", "submean"},
        {KEYS "fprint(src=x | | msg=\"\", file=\"../x\");", "inside of the current folder"},
        {KEYS "fprint(src=x | | msg=\"\", file=\"/etc/passwd\");", "inside of the current folder"},
        {KEYS "fprint(src=x | | msg=\"\", file=\".profile\");", "inside of the current folder"},
        {KEYS "rearange(src=x | dst=y | start=0, stop=3, step=1);", "4 numbers"},
        {KEYS "slice(src=x | dst=s | axis=0, start=0, len=3); elew(src1=x, src2=s | dst=y | "
              "elew_op=TL_SUM);",
         "the shapes [4] and [3] do not fit"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = ln_context_create();
        ln_status status = ln_context_init_mem(ctx, rows[i].model, strlen(rows[i].model), NULL);
        if (status != LN_INVALID || !strstr(ln_error_message(), rows[i].text))
            fail_msg("%s\n%s: %s", rows[i].model, ln_status_name(status), ln_error_message());
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// ---- What descriptions say ----

TEST(every_operator_says_its_element_types_and_what_nan_gives)
{
    CHECK_OK(ln_arch_init());
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = op->op_arg->info;
        if (!info || !info->doc || !info->dtypes || !info->nan || !info->example)
            fail_msg("the description of %s lacks one of doc, dtypes, nan, example",
                     op->op_arg->optype);
    }
    ln_arch_cleanup();
}

TEST_LIST(sorting_and_ranges_leave_their_source_to_its_other_readers,
          a_stack_taken_apart_and_built_again_is_the_same,
          a_position_outside_of_the_source_fails_the_run, models_without_sense_are_refused,
          every_operator_says_its_element_types_and_what_nan_gives)
