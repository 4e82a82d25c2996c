// SPDX-License-Identifier: Apache-2.0
// Compiled models: they read back, run the same, and are believed in nothing.

#include "tests/api/model.h"

#include <stdlib.h>

// Two operators that stay two: the sum has an activation already.
#define SUM_AND_RELU                                                                               \
    "input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"                                              \
    "create(| dst=w | dtype=TL_FLOAT, dims=[2, 3], ran=[0, 0], data=[1, 2, 3, 4, 5, 6], "          \
    "from_file=false);\n"                                                                          \
    "elew(src1=x, src2=w | dst=sum | elew_op=TL_SUM, act=lrelu, alpha=1);\n"                       \
    "relu(src=sum | dst=y |);\n"                                                                   \
    "reshape(src=y | dst=z | dims=[3, 2]);\n"

// Parts in a whole, a slice as a view, an activation in place, a view of a view.
#define SHARING_MODEL                                                                              \
    "input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 2, 8]);\n"                                        \
    "elew(src1=x, src2=x | dst=a | elew_op=TL_SUM, act=lrelu, alpha=0.5);\n"                       \
    "relu(src=a | dst=b |);\n"                                                                     \
    "elew(src1=x, src2=x | dst=d | elew_op=TL_MUL);\n"                                             \
    "concat(src1=b, src2=d | dst=c | axis=1);\n"                                                   \
    "slice(src=c | dst=s | axis=1, start=5, len=3);\n"                                             \
    "maxpool2d(src=s | dst=y | size=[2, 1], stride=[1, 1], padding=[1, 0, 0, 0], "                 \
    "autopad=NOTSET);\n"                                                                           \
    "reshape(src=c | dst=r | dims=[64, 2]);\n"

// The compiled text of a model, freed with ln_free.
static char *compile_text(const char *text, const char *target)
{
    ln_context *ctx = open_text(text);
    CHECK_OK(ln_context_compile(ctx, target));
    char *json;
    size_t len;
    CHECK_OK(ln_context_write(ctx, "ir", &json, &len));
    CHECK_EQ(strlen(json), len);
    close_context(ctx);
    return json;
}

// `json` with the first `from` behind `anchor` replaced by `to`; freed with free.
static char *mutate(const char *json, const char *anchor, const char *from, const char *to)
{
    const char *at = strstr(json, anchor);
    CHECK_NOT_NULL(at);
    at = strstr(at, from);
    CHECK_NOT_NULL(at);
    char *changed = malloc(strlen(json) + strlen(to) + 1);
    CHECK_NOT_NULL(changed);
    size_t before = (size_t)(at - json);
    memcpy(changed, json, before);
    strcpy(changed + before, to);
    strcat(changed, at + strlen(from));
    return changed;
}

TEST(a_compiled_model_reads_back_and_prints_the_same)
{
    CHECK_OK(ln_arch_init());
    static const char *const models[] = {SUM_AND_RELU, CONV_MODEL, SHARING_MODEL};
    for (size_t m = 0; m < 3; m++) {
        char *json = compile_text(models[m], "cpu");
        ln_context *ctx = open_text(json);
        CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
        CHECK_STR_EQ(ctx->target, "cpu");
        char *again;
        size_t len;
        CHECK_OK(ln_context_write(ctx, "ir", &again, &len));
        CHECK_STR_EQ(again, json);
        ln_free(again);
        close_context(ctx);
        ln_free(json);
    }
    ln_arch_cleanup();
}

TEST(a_context_frees_a_compiled_file_that_was_read_and_not_checked)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text(SUM_AND_RELU, "cpu");
    ln_serializer *ir = ln_serializer_find("ir");
    ln_context *ctx = ln_context_create();
    CHECK_OK(ir->load_mem(ir, ctx, json, strlen(json), "model.json"));
    CHECK_NOT_NULL(ctx->compiled);
    ln_context_free(ctx); // without cleanup
    ln_free(json);
    ln_arch_cleanup();
}

TEST(a_compiled_model_runs_to_the_same_bits)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text(CONV_MODEL, "cpu");
    ln_context *ctx = load_text(CONV_MODEL, "cpu");
    ln_context *compiled = open_text(json);
    CHECK_OK(ln_context_load(compiled, NULL));
    float x[192], y[256], z[256];
    for (size_t i = 0; i < 192; i++)
        x[i] = (float)i / 192;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    CHECK_OK(ln_context_set_data(compiled, "x", x));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_run(compiled));
    ln_context_get_data(ctx, "y", y);
    ln_context_get_data(compiled, "y", z);
    CHECK_MEM_EQ(y, z, sizeof y);
    close_context(ctx);
    close_context(compiled);
    ln_free(json);
    ln_arch_cleanup();
}

TEST(a_plain_model_prints_to_itself)
{
    CHECK_OK(ln_arch_init());
    static const char *const formats[] = {"ir", "il"};
    for (size_t f = 0; f < 2; f++) {
        ln_context *ctx = open_text(CONV_MODEL);
        char *text, *again;
        size_t len;
        CHECK_OK(ln_context_write(ctx, formats[f], &text, &len));
        ln_context *read = open_text(text);
        CHECK_OK(ln_context_write(read, formats[f], &again, &len));
        CHECK_STR_EQ(again, text);
        ln_free(text);
        ln_free(again);
        close_context(ctx);
        close_context(read);
    }
    ln_arch_cleanup();
}

TEST(lies_in_a_compiled_model_are_found)
{
    static const struct {
        const char *anchor, *from, *to, *why;
        const char *says;
    } cases[] = {
        {"\"version\"", "1", "99", "a version of the future", "version 99"},
        {"\"format\"", "lightnet-compiled", "other", "another format", "format"},
        {"\"target\"", "\"cpu\"", "7", "a target that is no string", "target"},
        {"\"workspace\"", ": ", ": 9", "a workspace larger than used", "peak"},
        {"\"static\"", ": ", ": 9", "a static region larger than used", ""},
        {"\"name\": \"sum\"", "[2, 3]", "[2, 30]", "a larger shape", "'sum'"},
        {"\"name\": \"sum\"", "[2, 3]", "[]", "no shape", "'sum'"},
        {"\"name\": \"sum\"", "TL_FLOAT", "TL_INT8", "a smaller type", "'sum'"},
        {"\"name\": \"sum\"", "TL_FLOAT", "TL_WHAT", "no type", "TL_WHAT"},
        {"\"name\": \"sum\"", "LN_MEM_CPU", "LN_MEM_CUDA", "another memory", "'sum'"},
        {"\"name\": \"sum\"", "LN_MEM_CPU", "LN_MEM_ATTIC", "no memory", "LN_MEM_ATTIC"},
        {"\"name\": \"sum\"", "false", "true", "static that is not", "'sum'"},
        {"\"name\": \"sum\"", "\"offset\": ", "\"offset\": 1", "an offset outside", "'sum'"},
        {"\"name\": \"sum\"", "\"offset\": ", "\"offset\": -", "a negative offset", "-"},
        {"\"name\": \"sum\"", "\"offset\": ", "\"offset\": 0.", "half an offset", ""},
        {"\"name\": \"w\"", "\"offset\": 64", "\"offset\": 0", "the invalid offset", "'w'"},
        {"\"name\": \"w\"", "\"offset\": 64", "\"offset\": 65", "a misaligned offset", "'w'"},
        {"\"memory\"", "LN_MEM_CPU", "LN_MEM_ATTIC", "memory of no type", "LN_MEM_ATTIC"},
    };
    CHECK_OK(ln_arch_init());
    char *json = compile_text(SUM_AND_RELU, "cpu");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = mutate(json, cases[i].anchor, cases[i].from, cases[i].to);
        ln_context *ctx = ln_context_create();
        if (ln_context_init_mem(ctx, changed, strlen(changed), "lie.json") == LN_OK)
            fail_msg("%s is believed", cases[i].why);
        if (!strstr(ln_error_message(), cases[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].why, ln_error_message(), cases[i].says);
        CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
        ln_context_free(ctx);
        free(changed);
    }
    ln_free(json);
    ln_arch_cleanup();
}

TEST(overlapping_tensors_are_found)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text(SUM_AND_RELU, "cpu");
    // `sum` is read while x is alive, so it cannot be where x is.
    ln_context *ctx = open_text(json);
    char x_offset[64], sum_offset[64];
    snprintf(x_offset, sizeof x_offset, "\"offset\": %zu",
             ln_tensor_table_find(ctx->tensor_table, "x")->offset);
    snprintf(sum_offset, sizeof sum_offset, "\"offset\": %zu",
             ln_tensor_table_find(ctx->tensor_table, "sum")->offset);
    close_context(ctx);
    char *changed = mutate(json, "\"arg_name\": \"dst\", \"name\": \"sum\"", sum_offset, x_offset);
    ctx = ln_context_create();
    CHECK_FAILS(ln_context_init_mem(ctx, changed, strlen(changed), NULL), LN_INVALID);
    CHECK_MESSAGE("plan is refused");
    ln_context_free(ctx);
    free(changed);
    ln_free(json);
    ln_arch_cleanup();
}

TEST(what_lies_where_is_stated_and_proved_again)
{
    static const struct {
        const char *anchor, *from, *to, *why;
        const char *says;
    } cases[] = {
        {"\"name\": \"b\"", "\"c\"", "\"x\"", "a part in another tensor", "'b'"},
        {"\"name\": \"b\"", "\"c\"", "\"nobody\"", "a part in no tensor", "'nobody'"},
        {"\"name\": \"b\"", "\"c\"", "\"b\"", "a part in itself", "'b'"},
        {"\"name\": \"b\"", "\"c\"", "\"a\"", "owners in a circle", "circle"},
        {"\"name\": \"b\"", "\"c\"", "7", "an owner that is no name", "\"owner\""},
        {"\"name\": \"b\"", ", \"owner\": \"c\"", "", "a part that only happens to be there", ""},
        {"\"name\": \"r\"", "\"c\"", "\"x\"", "a view in another tensor", "'r'"},
        {"\"name\": \"c\"", "}", ", \"owner\": \"x\"}", "a whole in an input", "'c'"},
        {"\"name\": \"y\"", "}", ", \"owner\": \"c\"}", "pooling into its input", "'y'"},
    };
    CHECK_OK(ln_arch_init());
    char *json = compile_text(SHARING_MODEL, "ref");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = mutate(json, cases[i].anchor, cases[i].from, cases[i].to);
        ln_context *ctx = ln_context_create();
        if (ln_context_init_mem(ctx, changed, strlen(changed), "lie.json") == LN_OK)
            fail_msg("%s is believed", cases[i].why);
        if (!strstr(ln_error_message(), cases[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].why, ln_error_message(), cases[i].says);
        ln_context_free(ctx);
        free(changed);
    }
    ln_free(json);
    ln_arch_cleanup();
}

// `json` with the offset of tensor `name` changed by `distance`; freed with free.
static char *move_tensor(const char *json, const char *name, long distance)
{
    char anchor[64], from[64], to[64];
    ln_context *ctx = open_text(json);
    size_t offset = ln_tensor_table_find(ctx->tensor_table, name)->offset;
    close_context(ctx);
    snprintf(anchor, sizeof anchor, "\"name\": \"%s\", \"dtype\"", name);
    snprintf(from, sizeof from, "\"offset\": %zu", offset);
    snprintf(to, sizeof to, "\"offset\": %zu", offset + (size_t)distance);
    return mutate(json, anchor, from, to);
}

// Inside their owners, where the checker of plans, which knows no operators, would let them be.
TEST(what_is_stated_to_lie_beside_its_place_is_found)
{
    static const struct {
        const char *name;
        long distance;
        const char *says;
    } cases[] = {
        {"b", 4, "'b'"}, {"b", 64, "'b'"}, {"d", -4, "'d'"}, {"s", -64, "'s'"}, {"a", 4, "'a'"},
    };
    CHECK_OK(ln_arch_init());
    char *json = compile_text(SHARING_MODEL, "ref");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *changed = move_tensor(json, cases[i].name, cases[i].distance);
        ln_context *ctx = ln_context_create();
        if (ln_context_init_mem(ctx, changed, strlen(changed), "lie.json") == LN_OK)
            fail_msg("'%s' moved by %ld is believed", cases[i].name, cases[i].distance);
        if (!strstr(ln_error_message(), cases[i].says))
            fail_msg("\"%s\" lacks \"%s\"", ln_error_message(), cases[i].says);
        ln_context_free(ctx);
        free(changed);
    }
    ln_free(json);
    ln_arch_cleanup();
}

// The plan of one model as that of another, whose operator reads what it overwrites elsewhere too.
TEST(a_result_over_what_is_read_elsewhere_too_is_found)
{
    static const struct {
        const char *text, *anchor, *from, *to;
    } rows[] = {
        {"input(| dst=x | dtype=TL_FLOAT, dims=[1, 2, 3, 4, 4]);\n"
         "input(| dst=u | dtype=TL_FLOAT, dims=[1, 2, 3, 4, 4]);\n"
         "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 1, 1, 3], ran=[-1, 1]);\n"
         "conv3d_pack_cpu(weight=w | dst=p |);\n"
         "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
         "conv3d_ndhwc_cpu(src=u, packed=p, addend=t | dst=y | channels=4, size=[1, 1, 3], "
         "padding=[0, 0, 1, 0, 0, 1]);\n",
         "elew0", "\"name\": \"u\"}", "\"name\": \"t\"}"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[7, 7]);\n"
         "input(| dst=u | dtype=TL_FLOAT, dims=[7, 7]);\n"
         "create(| dst=w | dtype=TL_FLOAT, dims=[7, 7], ran=[-1, 1]);\n"
         "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
         "linear_ref(src=u, weight=w, addend=t | dst=y |);\n",
         "elew0", "\"name\": \"u\"}", "\"name\": \"t\"}"},
        {"input(| dst=x | dtype=TL_FLOAT, dims=[7]);\n"
         "input(| dst=u | dtype=TL_FLOAT, dims=[7]);\n"
         "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
         "layernorm_ref(src=t, scale=u | dst=y |);\n",
         "elew0", "\"name\": \"u\"}", "\"name\": \"t\"}"},
        // Windows of channels that come to meet.
        {"input(| dst=x | dtype=TL_FLOAT, dims=[1, 4, 4, 8]);\n"
         "create(| dst=w | dtype=TL_FLOAT, dims=[4, 4, 3, 3], ran=[-1, 1]);\n"
         "conv2d_pack_cpu(weight=w | dst=p |);\n"
         "elew(src1=x, src2=x | dst=t | elew_op=TL_SUM);\n"
         "conv2d_nhwc_cpu(src=t, packed=p, into=t | dst=y | channels=4, size=[3, 3], "
         "padding=[1, 1, 1, 1], src_first=4, src_channels=4);\n",
         "src_first", "4", "2"},
    };
    CHECK_OK(ln_arch_init());
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *json = compile_text(rows[i].text, "cpu");
        char *over = strstr(json, "\"name\": \"y\"");
        CHECK_NOT_NULL(over);
        CHECK_NOT_NULL(strstr(over, "\"owner\": \"t\""));
        close_context(open_text(json));
        char *changed = mutate(json, rows[i].anchor, rows[i].from, rows[i].to);
        ln_context *ctx = ln_context_create();
        CHECK_FAILS(ln_context_init_mem(ctx, changed, strlen(changed), "lie.json"), LN_INVALID);
        CHECK_MESSAGE("'t'");
        CHECK_MESSAGE("'y'");
        ln_context_free(ctx);
        free(changed);
        ln_free(json);
    }
    ln_arch_cleanup();
}

// Each part has room enough in the whole, but one of the two is copied to where the other is.
TEST(parts_that_have_changed_places_are_found)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text("input(| dst=x | dtype=TL_FLOAT, dims=[1, 16]);\n"
                              "elew(src1=x, src2=x | dst=o | elew_op=TL_SUB, act=lrelu);\n"
                              "elew(src1=x, src2=x | dst=p | elew_op=TL_SUM, act=lrelu);\n"
                              "elew(src1=x, src2=x | dst=q | elew_op=TL_MUL, act=lrelu);\n"
                              "concat(src1=o, src2=p, src3=q | dst=c | axis=1);\n"
                              "softmax(src=c | dst=y | axis=1);\n",
                              "ref");
    static const char *const names[] = {"p", "q"};
    size_t offsets[2];
    ln_context *ctx = open_text(json);
    for (int i = 0; i < 2; i++) {
        const ln_tensor_entry *part = ln_tensor_table_find(ctx->tensor_table, names[i]);
        CHECK_STR_EQ(part->owner, "c");
        offsets[i] = part->offset;
    }
    close_context(ctx);
    char *changed[2], anchor[64], from[64], to[64];
    for (int i = 0; i < 2; i++) {
        snprintf(anchor, sizeof anchor, "\"name\": \"%s\", \"dtype\"", names[i]);
        snprintf(from, sizeof from, "\"offset\": %zu", offsets[i]);
        snprintf(to, sizeof to, "\"offset\": %zu", offsets[!i]);
        changed[i] = mutate(i ? changed[0] : json, anchor, from, to);
    }
    ctx = ln_context_create();
    CHECK_FAILS(ln_context_init_mem(ctx, changed[1], strlen(changed[1]), "lie.json"), LN_INVALID);
    CHECK_MESSAGE("joins 'p'");
    ln_context_free(ctx);
    free(changed[0]);
    free(changed[1]);
    ln_free(json);
    ln_arch_cleanup();
}

// Files from before tensors shared memory state no owners, not even of views.
TEST(a_compiled_model_without_owners_is_read)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text(SUM_AND_RELU, "ref");
    char *changed = mutate(json, "\"name\": \"z\"", ", \"owner\": \"y\"", "");
    CHECK(!strstr(strstr(changed, "\"name\": \"z\""), "owner"));
    ln_context *ctx = open_text(changed);
    CHECK_STR_EQ(ln_tensor_table_find(ctx->tensor_table, "z")->owner, "y");
    close_context(ctx);
    free(changed);
    ln_free(json);
    ln_arch_cleanup();
}

// What the old system printed: offsets in halves from 1 on, no types; it is planned again.
static const char old_compiled[] =
    "{\"mem_sizes_h\": [0, 0], \"mem_sizes_l\": [0, 57], \"ops\": ["
    "{\"name\": \"create1\", \"optype\": \"create_cpu\", \"tensors_in\": [], \"tensors_out\": "
    "[{\"arg_name\": \"dst\", \"name\": \"t1\", \"dims\": [2, 4], \"offset_h\": 0, \"offset_l\": 1}], "
    "\"params\": [{\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", "
    "\"value\": [2, 4]}, {\"arg_name\": \"data\", \"value\": [1, 2, 3, 4, 5, 6, 7, 8]}, "
    "{\"arg_name\": \"ran\", \"value\": [0, 0]}, {\"arg_name\": \"from_file\", \"value\": false}]},"
    "{\"name\": \"slice1\", \"optype\": \"slice_cpu\", \"tensors_in\": [{\"arg_name\": \"src\", "
    "\"name\": \"t1\", \"dims\": [2, 4], \"offset_h\": 0, \"offset_l\": 1}], \"tensors_out\": "
    "[{\"arg_name\": \"dst\", \"name\": \"t2\", \"dims\": [2, 3], \"offset_h\": 0, \"offset_l\": "
    "33}], \"params\": [{\"arg_name\": \"axis\", \"value\": 1}, {\"arg_name\": \"start\", "
    "\"value\": 1}, {\"arg_name\": \"len\", \"value\": 3}]}]}";

TEST(files_compiled_by_the_old_system_run)
{
    CHECK_OK(ln_arch_init());
    ln_context *ctx = open_text(old_compiled);
    CHECK_EQ(ctx->state, LN_CONTEXT_PLANNED);
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_run(ctx));
    float t2[6];
    const float expected[6] = {2, 3, 4, 6, 7, 8};
    CHECK_NOT_NULL(ln_context_get_data(ctx, "t2", t2));
    CHECK_MEM_EQ(t2, expected, sizeof t2);
    CHECK_EQ(ln_tensor_table_find(ctx->tensor_table, "t1")->offset % 64, 0);
    close_context(ctx);
    ln_arch_cleanup();
}

// linear_cpu once took weights that were packed, as linear_packed_cpu does now.
TEST(what_another_version_compiled_is_to_be_compiled_again)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text("input(| dst=x | dtype=TL_FLOAT, dims=[2, 3]);\n"
                              "create(| dst=w | dtype=TL_FLOAT, dims=[3, 4], ran=[-1, 1]);\n"
                              "linear(src=x, weight=w | dst=y |);\n",
                              "cpu");
    static const struct {
        const char *to, *says;
    } cases[] = {
        {"\"linear_cpu\"", "linear_cpu: `linear0` has no argument 'packed'"},
        {"\"linear_of_old_cpu\"", "'linear_of_old_cpu' is not registered"},
    };
    for (size_t i = 0; i < 2; i++) {
        char *changed = mutate(json, "\"ops\"", "\"linear_packed_cpu\"", cases[i].to);
        ln_context *ctx = ln_context_create();
        ln_status status = ln_context_init_mem(ctx, changed, strlen(changed), "old.json");
        CHECK(status == LN_INVALID || status == LN_UNSUPPORTED);
        CHECK_MESSAGE(cases[i].says);
        CHECK_MESSAGE("compile the model that it came from again");
        ln_context_free(ctx);
        free(changed);
    }
    ln_free(json);
    ln_arch_cleanup();
}

TEST(a_compiled_model_is_bound_by_the_limits_too)
{
    CHECK_OK(ln_arch_init());
    char *json = compile_text(CONV_MODEL, "cpu");
    static const struct {
        size_t memory_byte_count, op_count;
        double work;
        const char *says;
    } cases[] = {
        {1024, 1000, 1e12, "limit is 1024"},
        {1 << 20, 3, 1e12, "limit of 3"},
        {1 << 20, 1000, 2000, "limit of 2000"}, // work units: of calling its operators alone
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ln_limits limits = ln_limits_default();
        limits.memory_byte_count = cases[i].memory_byte_count;
        limits.op_count = cases[i].op_count;
        limits.work = cases[i].work;
        ln_context *ctx = ln_context_create();
        ln_context_set_limits(ctx, &limits);
        CHECK_FAILS(ln_context_init_mem(ctx, json, strlen(json), "compiled"), LN_LIMIT);
        CHECK_MESSAGE(cases[i].says);
        CHECK_EQ(ctx->state, LN_CONTEXT_EMPTY);
        ln_context_free(ctx);
    }
    ln_free(json);
    ln_arch_cleanup();
}

TEST(moving_elements_is_work_but_no_multiply_accumulate)
{
    CHECK_OK(ln_arch_init());
    ln_limits limits = ln_limits_default();
    limits.work = 100;
    ln_context *ctx = open_text("input(| dst=x | dtype=TL_FLOAT, dims=[10, 11]);"
                                "transpose(src=x | dst=y | axes=[1, 0]);");
    CHECK_NEAR(ln_context_macs(ctx), 0, 0);
    ln_context_set_limits(ctx, &limits);
    CHECK_FAILS(ln_context_compile(ctx, "cpu"), LN_LIMIT);
    CHECK_MESSAGE("operator 'transpose0' (transpose_cpu) is 100 % of it");
    close_context(ctx);
    ln_arch_cleanup();
}

TEST_LIST(a_compiled_model_is_bound_by_the_limits_too,
          what_another_version_compiled_is_to_be_compiled_again,
          moving_elements_is_work_but_no_multiply_accumulate,
          a_compiled_model_reads_back_and_prints_the_same,
          a_context_frees_a_compiled_file_that_was_read_and_not_checked,
          a_compiled_model_runs_to_the_same_bits, a_plain_model_prints_to_itself,
          lies_in_a_compiled_model_are_found, overlapping_tensors_are_found,
          what_lies_where_is_stated_and_proved_again,
          what_is_stated_to_lie_beside_its_place_is_found,
          a_result_over_what_is_read_elsewhere_too_is_found,
          parts_that_have_changed_places_are_found, a_compiled_model_without_owners_is_read,
          files_compiled_by_the_old_system_run)
