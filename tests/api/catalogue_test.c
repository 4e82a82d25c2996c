// SPDX-License-Identifier: Apache-2.0
// What operators promise in a model: sources stay as they are for their other readers, bad data
// fails the run and nothing else, and models that make no sense are refused.

#include <lightnet/op_info.h>

#include "op_prose.h"
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

// A stack taken apart, worked on and built again needs the memory of the stack, twice.
TEST(stacks_and_their_parts_lie_in_one_place)
{
    CHECK_OK(ln_arch_init());
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        ln_context *ctx = load_text("input(| dst=x | dtype=TL_FLOAT, dims=[3, 64]);\n"
                                    "scatter_nocopy(src=x | dst1=a, dst2=b, dst3=c |);\n"
                                    "relu(src=a | dst=ra |);\n"
                                    "relu(src=b | dst=rb |);\n"
                                    "relu(src=c | dst=rc |);\n"
                                    "gather_nocopy(src1=rc, src2=ra, src3=rb | dst=y |);\n",
                                    targets[t]);
        ln_plan *plan;
        CHECK_OK(ln_context_plan_create(ctx, &plan));
        CHECK_EQ(plan->totals[LN_MEM_CPU].workspace_byte_count, 2 * 3 * 64 * sizeof(float));
        ln_context_plan_free(plan);
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

TEST(an_integer_divisor_of_zero_fails_the_run_and_writes_nothing)
{
    CHECK_OK(ln_arch_init());
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        ln_context *ctx = load_text("input(| dst=x | dtype=TL_INT32, dims=[2, 3]);\n"
                                    "input(| dst=d | dtype=TL_INT32, dims=[3]);\n"
                                    "elew(src1=x, src2=d | dst=y | elew_op=TL_DIV);\n",
                                    targets[t]);
        CHECK_OK(ln_context_set_data(ctx, "x", (const int32_t[]){7, -7, 9, INT32_MIN, 8, 1}));
        CHECK_OK(ln_context_set_data(ctx, "d", (const int32_t[]){-1, 2, 4}));
        CHECK_OK(ln_context_run(ctx));
        CHECK_OK(ln_context_set_data(ctx, "d", (const int32_t[]){1, 1, 0}));
        CHECK_FAILS(ln_context_run(ctx), LN_INVALID);
        CHECK_MESSAGE("division by zero at element 2");
        const int32_t *y = ln_context_get_data(ctx, "y", NULL);
        const int32_t before[6] = {-7, -3, 2, INT32_MIN, 4, 0};
        CHECK_NOT_NULL(y);
        CHECK_MEM_EQ(y, before, sizeof before);
        close_context(ctx);
    }
    ln_arch_cleanup();
}

// ---- Empty tensors ----

#define EMPTY(dims) "input(| dst=x | dtype=TL_FLOAT, dims=" dims ");\n"
#define PARAM(name, dims)                                                                          \
    "create(| dst=" name " | dtype=TL_FLOAT, dims=" dims                                           \
    ", ran=[1, 2], data=[0], from_file=false);\n"

TEST(empty_tensors_go_through_every_operator)
{
    static const struct {
        const char *model;
        int len; // of y
    } rows[] = {
        {EMPTY("[0, 3]") "relu(src=x | dst=y |);", 0},
        {EMPTY("[0]") "lrelu(src=x | dst=y | negslope=0.5);", 0},
        {EMPTY("[2, 0, 3]") "sigmoid(src=x | dst=y |);", 0},
        {EMPTY("[2, 0, 3]") "softmax(src=x | dst=y | axis=1);", 0},
        {EMPTY("[0, 4]") "softmax(src=x | dst=y | axis=1);", 0},
        {EMPTY("[0, 4]") "elew(src1=x, src2=x | dst=y | elew_op=TL_DIV);", 0},
        {EMPTY("[0, 4]") PARAM("a", "[4]") "elew(src1=x, src2=a | dst=y | elew_op=TL_SUM);", 0},
        {EMPTY("[0, 4]") PARAM("a", "[1]") "elew(src1=a, src2=x | dst=y | elew_op=TL_POW);", 0},
        {EMPTY("[0, 4]") PARAM("a", "[2, 4]") "concat(src1=x, src2=a | dst=y | axis=0);", 8},
        {EMPTY("[0, 4]") "concat(src1=x, src2=x | dst=y | axis=1);", 0},
        {EMPTY("[3, 4]") "slice(src=x | dst=y | axis=1, start=4, len=0);", 0},
        {EMPTY("[3, 0, 2]") "transpose(src=x | dst=y | axes=[2, 0, 1]);", 0},
        {EMPTY("[3, 0]") "reshape(src=x | dst=z | dims=[0, 7]); forward(src=z | dst=y |);", 0},
        {EMPTY("[0, 2]") "gather(src1=x, src2=x | dst=y |);", 0},
        {EMPTY("[2, 0]") "scatter_nocopy(src=x | dst1=y, dst2=z |);", 0},
        {EMPTY("[0, 4]") "maxreduce(src=x | dst=y | axis=1);", 0},
        {EMPTY("[3, 0]") "maxreduce_arg(src=x | dst=y, arg=z | axis=0);", 0},
        {EMPTY("[0]") "dot_product(src1=x, src2=x | dst=y |);", 1},
        {EMPTY("[0, 3, 4, 4]") PARAM("w", "[2, 3, 3, 3]")
             PARAM("b", "[2]") "conv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3]);",
         0},
        {EMPTY("[0, 3, 4, 4]") PARAM("w", "[3, 2, 3, 3]") PARAM(
             "b", "[2]") "deconv2d(src=x, weight=w, bias=b | dst=y | size=[3, 3], stride=[2, 2]);",
         0},
        {EMPTY("[0, 2, 3, 3]")
             PARAM("s", "[2]") "batchnorm(src=x, scale=s, offset=s, mean=s, var=s "
                               "| dst=y | epsilon=0.1);",
         0},
        {EMPTY("[0, 2, 4, 4]") "maxpool2d(src=x | dst=y | size=[2, 2], stride=[2, 2]);", 0},
        {EMPTY("[2, 0, 4, 4]") "avgpool2d(src=x | dst=y | size=[2, 2], stride=[2, 2]);", 0},
        {EMPTY("[0, 4]") "resize(src=x | dst=y | mode=TL_NEAREST, dims=[0, 8]);", 0},
        {EMPTY("[2, 4]") "resize(src=x | dst=y | mode=TL_LINEAR, dims=[2, 0]);", 0},
        {EMPTY("[0, 4]") "upsample(src=x | dst=y | mode=TL_LINEAR, scales=[2, 2]);", 0},
        {EMPTY("[0, 5, 3]") "submean(src=x | dst=y | mean=[1, 2, 3], dtype=TL_INT8);", 0},
        {EMPTY("[0]") "sort1d(src_key=x | dst_key=y | dir=TL_SORT_DIR_ASCENDING);", 0},
        {EMPTY("[0]") "sort1d_by_key(src_key=x, src_val=x | dst_key=y, dst_val=z | "
                      "dir=TL_SORT_DIR_ASCENDING);",
         0},
        {EMPTY("[4]") "arange(| dst=i | dtype=TL_INT32, start=0, stop=2, step=1); pick1d(src=x, "
                      "src_index=i | dst=y | stride=2, len=0);",
         0},
        {EMPTY("[0]") "rearange(src=x | dst=y | start=0, stop=-3, step=1);", 0},
        {EMPTY("[0, 4]") "transform_bboxSQD(src_delta=x, src_anchor=x | dst=y | width=1, height=1, "
                         "img_width=1, img_height=1, x_shift=0, y_shift=0);",
         0},
        {EMPTY("[1, 6, 0, 3]") PARAM(
             "a",
             "[1, 2]") "detect_yolov3(feature=x, anchors=a | "
                       "box_centers=y, box_sizes=s, boxes=b, confs=c, probs=p | img_width=8, img_height=8);",
         0},
        {"zeros(| dst=y | dtype=TL_INT8, dims=[2, 0]);", 0},
        {EMPTY("[0, 2]") "print(src=x | | msg=\"none\"); relu(src=x | dst=y |);", 0},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t t = 0; t < TARGET_COUNT; t++) {
            ln_context *ctx = ln_context_create();
            const char *model = rows[i].model;
            if (ln_context_init_mem(ctx, model, strlen(model), NULL) != LN_OK ||
                ln_context_compile(ctx, targets[t]) != LN_OK ||
                ln_context_load(ctx, NULL) != LN_OK || ln_context_run(ctx) != LN_OK)
                fail_msg("%s on %s: %s", model, targets[t], ln_error_message());
            CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "y")->tensor->len, rows[i].len);
            close_context(ctx);
        }
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
        {KEYS "scatter(src=x | a=a |);", "no argument 'a'"},
        {KEYS "scatter(src=x | dst1=a, dst2=a, dst3=c, dst4=d |);", "defined before"},
        {KEYS "gather(src1=x, src3=x | dst=y |);", "needs a `src2` input tensor"},
        {KEYS "resize(src=x | dst=y | mode=TL_CUBIC, dims=[8]);", "mode cannot be \"TL_CUBIC\""},
        {KEYS "resize(src=x | dst=y | mode=TL_LINEAR, dims=[2, 2]);", "for a tensor of rank 1"},
        {KEYS "upsample(src=x | dst=y | mode=TL_LINEAR, scales=[-1]);", "scale -1 of axis 0"},
        {KEYS "upsample(src=x | dst=y | mode=TL_LINEAR, scales=[1e12]);", "out of range"},
        {KEYS "pick1d(src=x, src_index=x | dst=y | stride=1, len=1);", "does not take float32"},
        {KEYS "sort1d(src_key=x | dst_key=y | dir=up);", "'up' is not known"},
        {KEYS "submean(src=x | dst=y | mean=[1, 2, 3], dtype=TL_FLOAT);", "submean"},
        {KEYS "fprint(src=x | | msg=\"\", file=\"../x\");",
         "inside of the folder that may be written"},
        {KEYS "fprint(src=x | | msg=\"\", file=\"/etc/passwd\");",
         "inside of the folder that may be written"},
        {KEYS "fprint(src=x | | msg=\"\", file=\".profile\");",
         "inside of the folder that may be written"},
        {KEYS "rearange(src=x | dst=y | start=0, stop=3, step=1);", "4 numbers"},
        {KEYS "slice(src=x | dst=y | axis=1, start=0, len=1);", "axis 1 is outside rank 1"},
        {KEYS "slice(src=x | dst=y | axis=-1, start=0, len=1);", "axis -1 is outside rank 1"},
        {KEYS "slice(src=x | dst=y | axis=0, start=5, len=0);", "0 elements from 5 on"},
        {KEYS "slice(src=x | dst=y | axis=0, start=3, len=2);", "axis 0, which has 4"},
        {KEYS "slice(src=x | dst=y | axis=0, start=2147483647, len=2147483647);",
         "from 2147483647 on"},
        {KEYS "transpose(src=x | dst=y | axes=[1]);", "outside rank 1"},
        {KEYS "transpose(src=x | dst=y | axes=[0, 0]);", "2 axes for a tensor of rank 1"},
        {KEYS "transpose(src=x | dst=y | axes=[100000]);", "outside rank 1"},
        {KEYS "reshape(src=x | dst=y | dims=[3]);", "cannot become [3]"},
        {KEYS "reshape(src=x | dst=y | dims=[65536, 65536]);", "too many elements"},
        {KEYS "softmax(src=x | dst=y | axis=1);", "axis 1 is outside rank 1"},
        {KEYS "maxreduce(src=x | dst=y | axis=7);", "should be <= 0"},
        {EMPTY("[0]") "maxreduce(src=x | dst=y | axis=0);", "axis 0"},
        {EMPTY("[0]") "resize(src=x | dst=y | mode=TL_NEAREST, dims=[3]);",
         "cannot be made from 0"},
        {EMPTY("[]") "slice(src=x | dst=y | axis=0, start=0, len=0);", "outside rank 0"},
        {KEYS
         "input(| dst=w | dtype=TL_FLOAT, dims=[4, 4]); concat(src1=x, src2=w | dst=y | axis=0);",
         "input 1 has rank 2, the first one 1"},
        {KEYS
         "create(| dst=c | dtype=TL_INT32, dims=[4], ran=[0, 0], data=[1, 2], from_file=false); "
         "concat(src1=x, src2=c | dst=y | axis=0);",
         "int32"},
        {"create(| dst=c | dtype=TL_INT32, dims=[2], ran=[0, 0], data=[1, 2, 3], from_file=false);",
         "3 elements of data do not fit"},
        {"create(| dst=c | dtype=TL_INT32, dims=[2], ran=[2, 1], data=[0], from_file=false);",
         "[least, greatest]"},
        {KEYS "pick1d(src=x, src_index=x | dst=y | stride=0, len=1);", "does not take float32"},
        {KEYS "input(| dst=i | dtype=TL_INT32, dims=[2]); pick1d(src=x, src_index=i | dst=y | "
              "stride=0, len=1);",
         "should be >= 1"},
        {KEYS "input(| dst=i | dtype=TL_INT32, dims=[2]); pick1d(src=x, src_index=i | dst=y | "
              "stride=1, len=3);",
         "should be <= 2"},
        {KEYS "slice(src=x | dst=s | axis=0, start=0, len=3); elew(src1=x, src2=s | dst=y | "
              "elew_op=TL_SUM);",
         "dimension 0 of input 1 is 3, which does not broadcast to 4"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_context *ctx = ln_context_create();
        ln_status status = ln_context_init_mem(ctx, rows[i].model, strlen(rows[i].model), NULL);
        if ((status != LN_INVALID && status != LN_LIMIT) ||
            !strstr(ln_error_message(), rows[i].text))
            fail_msg("%s\n%s: %s", rows[i].model, ln_status_name(status), ln_error_message());
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

// ---- What descriptions say ----

static void count_warning(const ln_msg *msg, void *user)
{
    if (msg->level == LN_MSG_WARN && strstr(msg->text, "so the others are 0"))
        ++*(int *)user;
}

#define CREATE(dims, ran, data, from_file)                                                         \
    KEYS "create(| dst=c | dtype=TL_FLOAT, dims=" dims ", ran=" ran ", data=" data                 \
         ", from_file=" from_file ");\n"

TEST(fewer_numbers_than_elements_are_a_warning_or_refused)
{
    static const struct {
        const char *why, *text;
        int warning_count;
    } rows[] = {
        {"one for each", CREATE("[2]", "[0, 0]", "[1, 2]", "false"), 0},
        {"zeros", CREATE("[2, 3]", "[0, 0]", "[0]", "false"), 0},
        {"random numbers", CREATE("[3]", "[0, 1]", "[1]", "false"), 0},
        {"numbers of the data file", CREATE("[3]", "[0, 0]", "[1]", "true"), 0},
        {"no elements", CREATE("[0, 3]", "[0, 0]", "[0]", "false"), 0},
        {"one too few", CREATE("[2, 3]", "[0, 0]", "[1, 2, 3, 4, 5]", "false"), 1},
        {"one for all", CREATE("[3]", "[0, 0]", "[7]", "false"), 1},
        {"two zeros", CREATE("[3]", "[0, 0]", "[0, 0]", "false"), 1},
        {"of an input", KEYS "input(| dst=c | dtype=TL_FLOAT, dims=[3], data=[1]);\n", 1},
        {"of an input, zeros", KEYS "input(| dst=c | dtype=TL_FLOAT, dims=[3], data=[0]);\n", 0},
        {"of an open input", KEYS "input(| dst=c | dtype=TL_FLOAT, dims=[-1], data=[1]);\n", 0},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int count = 0;
        ln_msg_set_handler(count_warning, &count);
        ln_context *ctx = ln_context_create();
        CHECK_OK(ln_context_init_mem(ctx, rows[i].text, strlen(rows[i].text), "rows.net"));
        ln_context_free(ctx);
        ln_msg_set_handler(NULL, NULL);
        if (count != rows[i].warning_count)
            fail_msg("%s: %d warnings", rows[i].why, count);

        ctx = ln_context_create();
        ln_context_set_strict(ctx, 1);
        const ln_status status =
            ln_context_init_mem(ctx, rows[i].text, strlen(rows[i].text), "rows.net");
        if (status != (count ? LN_INVALID : LN_OK))
            fail_msg("%s: strict: %s", rows[i].why, ln_error_message());
        if (count && !strstr(ln_error_message(), "'data'"))
            fail_msg("%s: %s", rows[i].why, ln_error_message());
        ln_context_free(ctx);
    }
    ln_arch_cleanup();
}

TEST(every_operator_says_its_element_types_and_what_nan_gives)
{
    CHECK_OK(ln_arch_init());
    const ln_op *op;
    for (size_t i = 0; (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = op->op_arg->info;
        const op_prose *prose = op_prose_find(op);
        // Of an operator of ONNX, ONNX says it, and the description states the types of each input.
        if (info && info->since && info->since[0] && prose && prose->doc)
            continue;
        if (!prose || !prose->doc || !prose->dtypes || !prose->nan ||
            (!info->infer && !prose->example))
            fail_msg("the description of %s lacks one of doc, dtypes, nan, example",
                     op->op_arg->optype);
    }
    ln_arch_cleanup();
}

TEST_LIST(sorting_and_ranges_leave_their_source_to_its_other_readers,
          a_stack_taken_apart_and_built_again_is_the_same, stacks_and_their_parts_lie_in_one_place,
          a_position_outside_of_the_source_fails_the_run,
          an_integer_divisor_of_zero_fails_the_run_and_writes_nothing,
          empty_tensors_go_through_every_operator, models_without_sense_are_refused,
          fewer_numbers_than_elements_are_a_warning_or_refused,
          every_operator_says_its_element_types_and_what_nan_gives)
