// SPDX-License-Identifier: Apache-2.0
// ONNX models become operators: names, functions, bodies, versions; and all problems are told at
// once.

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <lightnet/lightnet.h>
#include <lightnet/preflight.h>

#include "serial/onnx/onnx_testing.h"
#include "tests/oom.h"
#include "tests/test.h"

static ln_context *read_model(const pb *p, ln_status *out_status)
{
    ln_context *ctx = ln_context_create();
    CHECK_NOT_NULL(ctx);
    *out_status = ln_context_init_mem(ctx, p->bytes, p->len, "m");
    return ctx;
}

// The model as IL, or its message; the caller frees it.
static char *il_of(const pb *p)
{
    ln_status status;
    char *text;
    size_t len;
    ln_context *ctx = read_model(p, &status);
    if (status != LN_OK)
        text = strdup(ln_error_message());
    else
        CHECK_OK(ln_context_write(ctx, "il", &text, &len));
    char *copy = strdup(text);
    if (status == LN_OK)
        ln_free(text);
    else
        free(text);
    ln_context_free(ctx);
    return copy;
}

#define CHECK_IL(p, expected)                                                                      \
    do {                                                                                           \
        char *il_ = il_of(p);                                                                      \
        if (!strstr(il_, (expected)))                                                              \
            fail_msg("\"%s\" is not in:\n%s", (expected), il_);                                    \
        free(il_);                                                                                 \
    } while (0)

// A model of x -> y in between whose ends the nodes are written.
static void begin(pb *p, int64_t opset)
{
    CHECK_OK(ln_arch_init());
    *p = (pb){0};
    pb_model(p, opset);
    pb_value(p, 11, "x", PB_FLOAT, DIMS(2, 3));
    pb_value(p, 12, "y", PB_FLOAT, NULL);
}

static void end(pb *p)
{
    pb_end(p);
}

TEST(nodes_become_operators_with_their_names)
{
    pb p;
    begin(&p, 22);
    pb_begin_node(&p, "Relu", "x", "h");
    pb_str(&p, 3, "first");
    pb_end(&p);
    pb_begin_node(&p, "LeakyRelu", "h", "y");
    pb_begin(&p, 5);
    pb_str(&p, 1, "alpha");
    pb_float(&p, 2, 0.25f);
    pb_int(&p, 20, 1);
    pb_end(&p);
    pb_end(&p);
    end(&p);
    CHECK_IL(&p, "first: Relu(X=x | Y=h |);");
    CHECK_IL(&p, "LeakyRelu: LeakyRelu(X=h | Y=y | alpha=0.25");
    CHECK_IL(&p, "output(src=y | |)");
    pb_free(&p);
}

TEST(nodes_may_stand_in_any_order)
{
    pb p;
    begin(&p, 22);
    pb_node(&p, "Relu", "b", "y");
    pb_node(&p, "Neg", "a", "b");
    pb_node(&p, "Abs", "x", "a");
    end(&p);
    ln_status status;
    ln_context_free(read_model(&p, &status));
    CHECK_EQ(status, LN_OK);
    pb_free(&p);
}

// Outputs that may be left out are, where nothing reads them; one stays, so that the operator can
// be found to be of no use.
TEST(an_operator_keeps_an_output_that_nothing_reads)
{
    static const struct {
        const char *read, *expected;
    } cases[] = {
        {"x", "TopK(X=x | Values=values |"},
        {"values", "TopK(X=x | Values=values |"},
        {"places", "TopK(X=x | Indices=places |"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pb p;
        begin(&p, 9);
        pb_begin_node(&p, "TopK", "x", "values");
        pb_str(&p, 2, "places");
        pb_begin(&p, 5);
        pb_str(&p, 1, "k");
        pb_int(&p, 3, 1);
        pb_int(&p, 20, 2);
        pb_end(&p);
        pb_end(&p);
        pb_node(&p, "Identity", cases[i].read, "y");
        end(&p);
        CHECK_IL(&p, cases[i].expected);
        ln_status status;
        ln_context *ctx = read_model(&p, &status);
        CHECK_OK(status);
        CHECK_OK(ln_context_compile(ctx, "cpu"));
        ln_context_free(ctx);
        pb_free(&p);
    }
}

TEST(a_graph_with_a_cycle_is_refused)
{
    pb p;
    begin(&p, 22);
    pb_node(&p, "Relu", "b", "a");
    pb_node(&p, "Neg", "a", "b");
    pb_node(&p, "Abs", "x", "y");
    end(&p);
    CHECK_IL(&p, "the graph has a cycle");
    pb_free(&p);
    begin(&p, 22);
    pb_node(&p, "Relu", "y", "y");
    end(&p);
    CHECK_IL(&p, "the graph has a cycle");
    pb_free(&p);
}

TEST(a_name_is_made_once)
{
    pb p;
    begin(&p, 22);
    pb_node(&p, "Relu", "x", "y");
    pb_node(&p, "Neg", "x", "y");
    end(&p);
    CHECK_IL(&p, "the name 'y' is made a second time");
    pb_free(&p);
    begin(&p, 22);
    pb_value(&p, 11, "x", PB_FLOAT, DIMS(1));
    end(&p);
    CHECK_IL(&p, "the name 'x' is made a second time");
    pb_free(&p);
}

static void count_warning(const ln_msg *msg, void *user)
{
    if (msg->level == LN_MSG_WARN)
        ++*(int *)user;
}

static void put_constant(pb *p, const char *name, float value)
{
    pb_begin_node(p, "Constant", NULL, name);
    pb_begin(p, 5);
    pb_str(p, 1, "value_float");
    pb_float(p, 2, value);
    pb_int(p, 20, 1);
    pb_end(p);
    pb_end(p);
}

static void put_initializer(pb *p, const char *name, float value)
{
    pb_begin_tensor(p, 5, name, PB_FLOAT, DIMS(1));
    pb_bytes(p, 9, &value, sizeof value);
    pb_end(p);
}

TEST(of_a_constant_that_is_defined_twice_the_last_value_counts)
{
    static const struct {
        const char *why;
        int initializers, constants;
        const char *strict;
    } rows[] = {
        {"two initializers", 2, 0, "the constant 'k' is defined twice"},
        {"two Constant nodes", 0, 2, "the constant 'k' is defined twice"},
        {"one of each", 1, 1, "the constant 'k' is defined twice"},
        {"one alone", 1, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pb p;
        begin(&p, 22);
        for (int k = 0; k < rows[i].initializers; k++)
            put_initializer(&p, "k", (float)(k + 1));
        for (int k = 0; k < rows[i].constants; k++)
            put_constant(&p, "k", (float)(rows[i].initializers + k + 1));
        pb_begin_node(&p, "Add", "x", "y");
        pb_str(&p, 1, "k");
        pb_end(&p);
        end(&p);
        int warnings = 0;
        ln_msg_set_handler(count_warning, &warnings);
        char value[32];
        snprintf(value, sizeof value, "data=[%d]", rows[i].initializers + rows[i].constants);
        CHECK_IL(&p, value);
        ln_msg_set_handler(NULL, NULL);
        CHECK_EQ(warnings, rows[i].strict ? 1 : 0);

        ln_context *ctx = ln_context_create();
        ln_context_set_strict(ctx, 1);
        ln_status status = ln_context_init_mem(ctx, p.bytes, p.len, "m");
        CHECK_EQ(status, rows[i].strict ? LN_INVALID : LN_OK);
        if (rows[i].strict && !strstr(ln_error_message(), rows[i].strict))
            fail_msg("%s: %s", rows[i].why, ln_error_message());
        ln_context_free(ctx);
        pb_free(&p);
    }
}

TEST(an_input_with_a_default_is_not_defined_again)
{
    pb p;
    begin(&p, 22);
    pb_value(&p, 11, "k", PB_FLOAT, DIMS(1));
    put_initializer(&p, "k", 1);
    put_constant(&p, "k", 2);
    pb_node(&p, "Relu", "k", "y");
    end(&p);
    CHECK_IL(&p, "the name 'k' is made a second time");
    pb_free(&p);
}

static void put_label_encoder(pb *p, const char *text, size_t len)
{
    pb_begin_node(p, "LabelEncoder", "x", "y");
    pb_str(p, 7, "ai.onnx.ml");
    pb_begin(p, 5);
    pb_str(p, 1, "keys_strings");
    pb_bytes(p, 9, text, len);
    pb_int(p, 20, 8);
    pb_end(p);
    pb_begin(p, 5);
    pb_str(p, 1, "values_floats");
    pb_float(p, 7, 1);
    pb_int(p, 20, 6);
    pb_end(p);
    pb_end(p);
}

TEST(texts_in_utf16_are_read_as_utf8)
{
    static const struct {
        const char *text;
        size_t len;
        const char *expected;
        int warnings;
    } rows[] = {
        {"AB", 2, "keys_strings=[\"AB\"]", 0},
        {"A\0B\0", 4, "keys_strings=[\"AB\"]", 1},
        {"A\0\xe4\0", 4, "keys_strings=[\"A\xc3\xa4\"]", 1},
        {"A\0B", 3, "its attribute 'keys_strings' has a 0 byte", 0},
        {"AB\0\0", 4, "its attribute 'keys_strings' has a 0 byte", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pb p = {0};
        CHECK_OK(ln_arch_init());
        pb_int(&p, 1, 8);
        pb_begin(&p, 8);
        pb_int(&p, 2, 22);
        pb_end(&p);
        pb_begin(&p, 8);
        pb_str(&p, 1, "ai.onnx.ml");
        pb_int(&p, 2, 4);
        pb_end(&p);
        pb_begin(&p, 7);
        pb_value(&p, 11, "x", PB_STRING, DIMS(2));
        put_label_encoder(&p, rows[i].text, rows[i].len);
        pb_value(&p, 12, "y", PB_FLOAT, NULL);
        end(&p);
        int warnings = 0;
        ln_msg_set_handler(count_warning, &warnings);
        CHECK_IL(&p, rows[i].expected);
        ln_msg_set_handler(NULL, NULL);
        CHECK_EQ(warnings, rows[i].warnings);
        pb_free(&p);
    }
}

TEST(an_unknown_attribute_is_ignored_where_the_schema_allows_it)
{
    static const struct {
        const char *optype, *expected;
        int is_strict, warnings;
    } rows[] = {
        {"SimplifiedLayerNormalization", "SimplifiedLayerNormalization(X=x", 0, 1},
        {"SimplifiedLayerNormalization", "has no attribute 'epsion'", 1, 0},
        {"Relu", "has no attribute 'epsion'", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pb p;
        begin(&p, 15);
        put_initializer(&p, "s", 1);
        pb_begin_node(&p, rows[i].optype, "x", "y");
        if (i < 2)
            pb_str(&p, 1, "s");
        pb_begin(&p, 5);
        pb_str(&p, 1, "epsion");
        pb_float(&p, 2, 1);
        pb_int(&p, 20, 1);
        pb_end(&p);
        pb_end(&p);
        end(&p);
        int warnings = 0;
        char *il = NULL;
        size_t len;
        ln_msg_set_handler(count_warning, &warnings);
        ln_context *ctx = ln_context_create();
        ln_context_set_strict(ctx, rows[i].is_strict);
        if (ln_context_init_mem(ctx, p.bytes, p.len, "m") == LN_OK)
            CHECK_OK(ln_context_write(ctx, "il", &il, &len));
        ln_msg_set_handler(NULL, NULL);
        if (!strstr(il ? il : ln_error_message(), rows[i].expected))
            fail_msg("row %zu: %s", i, il ? il : ln_error_message());
        CHECK_EQ(warnings, rows[i].warnings);
        ln_free(il);
        ln_context_free(ctx);
        pb_free(&p);
    }
}

TEST(names_are_held_to_what_contexts_take)
{
    char longest[600];
    static const struct {
        size_t len;
        const char *message;
    } cases[] = {{511, NULL}, {512, "has 512 bytes or more"}};
    for (size_t i = 0; i < 2; i++) {
        memset(longest, 'n', sizeof longest);
        longest[cases[i].len] = '\0';
        pb p;
        begin(&p, 22);
        pb_node(&p, "Relu", "x", longest);
        pb_node(&p, "Neg", longest, "y");
        end(&p);
        CHECK_IL(&p, cases[i].message ? cases[i].message : "Neg(X=nnnn");
        pb_free(&p);
    }
    static const struct {
        const char *name, *words;
    } others[] = {{"a\nb", "has a control character"},
                  {"\xff", "\\\\xff"},
                  {"\xc0\x80", "\\\\xc0\\\\x80"},
                  {"\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80"},
                  {"\xf5\x80\x80\x80", "\\\\xf5\\\\x80"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        pb p;
        begin(&p, 22);
        pb_node(&p, "Relu", "x", others[i].name);
        pb_node(&p, "Neg", others[i].name, "y");
        end(&p);
        CHECK_IL(&p, others[i].words); // with its backslashes escaped
        pb_free(&p);
    }
}

TEST(all_problems_are_told_at_once)
{
    pb p;
    begin(&p, 13);
    pb_node(&p, "Reluu", "x", "a");
    pb_begin_node(&p, "Relu", "a", "b");
    pb_str(&p, 7, "org.example");
    pb_end(&p);
    pb_begin_node(&p, "Relu", "b", "c");
    pb_begin(&p, 5);
    pb_str(&p, 1, "slope");
    pb_int(&p, 3, 1);
    pb_end(&p);
    pb_end(&p);
    pb_node(&p, "Gelu", "c", "d");
    pb_node(&p, "Relu", "nowhere", "e");
    pb_begin_node(&p, "Relu", "x", "y");
    pb_str(&p, 1, "x");
    pb_end(&p);
    end(&p);
    static const char *const expected[] = {
        "6 problems",
        "there is no operator 'Reluu'; did you mean 'Relu'?",
        "the domain 'org.example' is not known",
        "the operator has no attribute 'slope'",
        "the operator came with opset 20; convert the model to opset 20 or newer",
        "it reads 'nowhere', which nothing makes",
        "it has 2 inputs; the operator has at most 1",
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK_IL(&p, expected[i]);

    ln_preflight *report;
    CHECK_OK(ln_preflight_create_mem(p.bytes, p.len, "m", &report));
    CHECK_EQ(report->problem_count, 6);
    CHECK_EQ(report->node_count, 6);
    CHECK_EQ(report->bad_node_count, 6);
    CHECK_STR_EQ(report->problems[0].node, "a");
    CHECK_STR_EQ(report->problems[0].domain, "ai.onnx");
    CHECK_EQ(report->problems[0].opset, 13);
    CHECK_STR_EQ(report->problems[0].place, "graph");
    CHECK_STR_EQ(report->inputs[0].type, "FLOAT[2, 3]");
    CHECK_EQ(report->opsets[0].version, 13);
    ln_preflight_destroy(report);
    pb_free(&p);
}

TEST(a_hundred_problems_are_kept_and_all_are_counted)
{
    pb p;
    begin(&p, 13);
    for (int i = 0; i < 150; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        pb_node(&p, "Bad", "x", name);
    }
    pb_node(&p, "Relu", "x", "y");
    end(&p);
    ln_preflight *report;
    CHECK_OK(ln_preflight_create_mem(p.bytes, p.len, "m", &report));
    CHECK_EQ(report->problem_count, LN_PREFLIGHT_MAX_PROBLEMS);
    CHECK_EQ(report->more_problem_count, 50);
    CHECK_EQ(report->bad_node_count, 150);
    ln_preflight_destroy(report);
    CHECK_IL(&p, "150 problems");
    CHECK_IL(&p, "`lightnet inspect` lists 100");
    pb_free(&p);
}

// What reading as a strict context, or not, says; NULL: it is read.
static const char *refusal(const pb *p, int is_strict)
{
    static char text[1024];
    ln_context *ctx = ln_context_create();
    ln_context_set_strict(ctx, is_strict);
    ln_status status = ln_context_init_mem(ctx, p->bytes, p->len, "m.onnx");
    snprintf(text, sizeof text, "%s", status == LN_OK ? "" : ln_error_message());
    ln_context_free(ctx);
    return *text ? text : NULL;
}

static void check_newer(const pb *p, const char *words)
{
    CHECK_NULL(refusal(p, 0));
    const char *strict = refusal(p, 1);
    CHECK_NOT_NULL(strict);
    printf("%s\n", strict);
    CHECK(strstr(strict, words));
}

// Taken with a warning as long as nothing in them is new; an error for a strict context.
TEST(newer_versions_with_nothing_new_inside_are_read)
{
    pb p;
    begin(&p, 29);
    pb_node(&p, "Relu", "x", "y");
    end(&p);
    check_newer(&p, "opset 29 is newer than 28");
    pb_free(&p);
    begin(&p, 13);
    pb_node(&p, "Relu", "x", "y");
    end(&p);
    p.bytes[1] = 14; // ir_version
    check_newer(&p, "IR version 14 is newer than 13");
    pb_str(&p, 99, "something new"); // in the model, after the graph
    const char *reason = refusal(&p, 0);
    CHECK_NOT_NULL(reason);
    CHECK(strstr(reason, "has a field that is not known at byte"));
    p.bytes[1] = 13; // where nobody reads it, an unknown field is none of this version
    CHECK_NULL(refusal(&p, 0));
    pb_free(&p);
    begin(&p, 29);
    pb_node(&p, "ReluOfTomorrow", "x", "y");
    end(&p);
    reason = refusal(&p, 0);
    CHECK(reason && strstr(reason, "there is no operator 'ReluOfTomorrow'"));
    pb_free(&p);
}

// Names in Latin-1 and GBK, of tensors, nodes, initializers and symbols, and what bodies read.
TEST(names_that_are_not_utf8_are_escaped)
{
    pb p = {0};
    pb_model(&p, 17);
    pb_value(&p, 11, "x", PB_FLOAT, DIMS(2));
    pb_begin(&p, 5); // initializer: 2 floats
    pb_int(&p, 1, 2);
    pb_int(&p, 2, PB_FLOAT);
    pb_str(&p, 8,
           "gr\xf6\xdf"
           "e");
    pb_bytes(&p, 9, (float[]){3, 4}, 8);
    pb_end(&p);
    pb_begin(&p, 1);
    pb_str(&p, 1, "x");
    pb_str(&p, 1,
           "gr\xf6\xdf"
           "e");
    pb_str(&p, 2, "\xbe\xed");
    pb_str(&p, 3, "\xff");
    pb_str(&p, 4, "Add");
    pb_end(&p);
    pb_node(&p, "Relu", "\xbe\xed", "\xc3\xa4"); // the last one is UTF-8
    pb_value(&p, 12, "\xc3\xa4", PB_FLOAT, DIMS(2));
    pb_end(&p);
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create();
    CHECK_OK(ln_context_init_mem(ctx, p.bytes, p.len, "m.onnx"));
    CHECK_NOT_NULL(ln_tensor_table_find(ctx->tensor_table, "gr\\xf6\\xdfe"));
    CHECK_NOT_NULL(ln_tensor_table_find(ctx->tensor_table, "\\xbe\\xed"));
    CHECK_NOT_NULL(ln_op_table_find(ctx->op_table, "\\xff"));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "x", (float[]){1, -9}));
    CHECK_OK(ln_context_run(ctx));
    float y[2];
    CHECK_OK(ln_context_get_data_n(ctx, "\xc3\xa4", y, sizeof y));
    CHECK(y[0] == 4 && y[1] == 0);
    ln_context_free(ctx);
    const char *strict = refusal(&p, 1);
    CHECK(strict && strstr(strict, "a name is not UTF-8"));
    pb_free(&p);
    ln_arch_cleanup();
}

static void put_property(pb *p, const char *key, const char *value)
{
    pb_begin(p, 14);
    pb_str(p, 1, key);
    pb_str(p, 2, value);
    pb_end(p);
}

static void check_info(const ln_model_info *info, const char *producer)
{
    CHECK_STR_EQ(info->producer, producer);
    CHECK_STR_EQ(info->domain, "com.example");
    CHECK_STR_EQ(info->doc, "finds eagles");
    CHECK_EQ(info->version, 7);
    CHECK_EQ(info->property_count, 2);
    CHECK_STR_EQ(info->properties[0].key, "names");
    CHECK_STR_EQ(ln_model_info_find(info, "names"), "{0: 'eagle', 1: 'kite'}");
    CHECK_STR_EQ(ln_model_info_find(info, "stride"), "32");
    CHECK_NULL(ln_model_info_find(info, "none"));
}

TEST(metadata_of_the_file_outlast_compiling_and_writing)
{
    pb p;
    begin(&p, 17);
    pb_node(&p, "Relu", "x", "y");
    pb_str(&p, 10, "of the graph");
    end(&p);
    pb_str(&p, 2, "exporter");
    pb_str(&p, 3, "1.2");
    pb_str(&p, 4, "com.example");
    pb_int(&p, 5, 7);
    pb_str(&p, 6, "finds eagles");
    put_property(&p, "names", "{0: 'eagle', 1: 'kite'}");
    put_property(&p, "stride", "32");
    CHECK_OK(ln_arch_init());
    ln_context *ctx = ln_context_create(), *clone;
    CHECK_STR_EQ(ln_context_info(ctx)->producer, "");
    CHECK_OK(ln_context_init_mem(ctx, p.bytes, p.len, "m.onnx"));
    check_info(ln_context_info(ctx), "exporter");
    CHECK_STR_EQ(ln_context_info(ctx)->producer_version, "1.2");
    CHECK_STR_EQ(ln_context_info(ctx)->graph, "g");
    CHECK_STR_EQ(ln_context_info(ctx)->graph_doc, "of the graph");
    char *bytes, *text;
    size_t len, text_len;
    CHECK_OK(ln_context_write(ctx, "onnx", &bytes, &len));
    CHECK_OK(ln_context_write(ctx, "il", &text, &text_len));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_clone(ctx, &clone));
    ln_program *program;
    CHECK_OK(ln_program_create(ctx, &program));
    check_info(ln_context_info(ctx), "exporter");
    ln_context_free(ctx);
    check_info(ln_context_info(clone), "exporter");
    check_info(ln_program_info(program), "exporter");
    ln_context_cleanup(clone);
    CHECK_EQ(ln_context_info(clone)->property_count, 0);
    CHECK_OK(ln_context_init_mem(clone, bytes, len, "written.onnx"));
    check_info(ln_context_info(clone), "LightNet");
    CHECK_FAILS(ln_context_set_info(
                    clone, &(ln_model_info){.property_count = 1,
                                            .properties = (ln_model_property[]){{NULL, "x"}}}),
                LN_INVALID);
    check_info(ln_context_info(clone), "LightNet");
    ln_context_cleanup(clone);
    CHECK_OK(ln_context_init_mem(clone, text, text_len, "written.net"));
    check_info(ln_context_info(clone), "exporter");
    CHECK_STR_EQ(ln_context_info(clone)->graph_doc, "of the graph");
    ln_context_free(clone);
    ln_program_release(program);
    ln_free(bytes);
    ln_free(text);
    pb_free(&p);
    ln_arch_cleanup();
}

// w of 3 floats at byte 4 of the file "data/w.bin", y = x + w.
static void put_external(pb *p)
{
    *p = (pb){0};
    pb_model(p, 17);
    pb_value(p, 11, "x", PB_FLOAT, DIMS(3));
    pb_begin(p, 5);
    pb_int(p, 1, 3);
    pb_int(p, 2, PB_FLOAT);
    pb_str(p, 8, "w");
    pb_int(p, 14, 1);
    pb_entry(p, 13, "location", "data/w.bin");
    pb_entry(p, 13, "offset", "4");
    pb_entry(p, 13, "length", "12");
    pb_end(p);
    pb_begin(p, 1);
    pb_str(p, 1, "x");
    pb_str(p, 1, "w");
    pb_str(p, 2, "y");
    pb_str(p, 4, "Add");
    pb_end(p);
    pb_value(p, 12, "y", PB_FLOAT, DIMS(3));
    pb_end(p);
}

static void check_external(ln_context *ctx, const pb *p)
{
    float y[3];
    CHECK_OK(ln_context_init_mem(ctx, p->bytes, p->len, "m.onnx"));
    CHECK_OK(ln_context_compile(ctx, "cpu"));
    CHECK_OK(ln_context_load(ctx, NULL));
    CHECK_OK(ln_context_set_data(ctx, "x", (float[]){10, 20, 30}));
    CHECK_OK(ln_context_run(ctx));
    CHECK_OK(ln_context_get_data_n(ctx, "y", y, sizeof y));
    CHECK(y[0] == 11 && y[1] == 22 && y[2] == 33);
}

TEST(weights_of_a_model_in_memory_come_from_bytes_or_a_folder)
{
    CHECK_OK(ln_arch_init());
    pb p;
    put_external(&p);
    float bytes[] = {0, 1, 2, 3};
    ln_context *ctx = ln_context_create(), *clone;
    CHECK_FAILS(ln_context_init_mem(ctx, p.bytes, p.len, "m.onnx"), LN_INVALID);
    CHECK_MESSAGE("ln_context_add_file");
    CHECK_OK(ln_context_add_file(ctx, "data/w.bin", bytes, sizeof bytes));
    CHECK_FAILS(ln_context_add_file(ctx, "data/w.bin", bytes, sizeof bytes), LN_EXISTS);
    CHECK_FAILS(ln_context_add_file(ctx, "v", NULL, 1), LN_INVALID);
    CHECK_FAILS(ln_context_add_file(NULL, "v", bytes, 1), LN_INVALID);
    check_external(ctx, &p);
    CHECK_OK(ln_context_clone(ctx, &clone)); // it has the weights, too
    ln_context_free(ctx);
    CHECK_OK(ln_context_run(clone));
    ln_context_free(clone);
    CHECK(bytes[1] == 1);

    ctx = ln_context_create();
    CHECK_OK(ln_context_add_file(ctx, "data/w.bin", bytes, 8));
    CHECK_FAILS(ln_context_init_mem(ctx, p.bytes, p.len, "m.onnx"), LN_INVALID);
    CHECK_MESSAGE("12 from byte 4 on are not there");
    ln_context_free(ctx);

    char folder[] = LN_BUILD_DIR "/given_XXXXXX", path[512], data[512];
    CHECK_NOT_NULL(mkdtemp(folder));
    snprintf(data, sizeof data, "%s/data", folder);
    CHECK_EQ(mkdir(data, 0700), 0);
    snprintf(path, sizeof path, "%.400s/w.bin", data);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, sizeof bytes, file) == sizeof bytes && fclose(file) == 0);
    ctx = ln_context_create();
    CHECK_OK(ln_context_set_folder(ctx, folder));
    check_external(ctx, &p);
    ln_context_free(ctx);
    CHECK(remove(path) == 0 && remove(data) == 0 && remove(folder) == 0);
    pb_free(&p);
    ln_arch_cleanup();
}

TEST(old_forms_are_marked_with_their_version)
{
    pb p;
    begin(&p, 12);
    pb_node(&p, "Softmax", "x", "y");
    end(&p);
    CHECK_IL(&p, "since=11");
    pb_free(&p);
    begin(&p, 13);
    pb_node(&p, "Softmax", "x", "y");
    end(&p);
    char *il = il_of(&p);
    CHECK_NULL(strstr(il, "since"));
    free(il);
    pb_free(&p);
}

static void write_initializer(pb *p, const char *name, size_t count)
{
    pb_begin_tensor(p, 5, name, PB_FLOAT, DIMS((int64_t)count));
    float *numbers = calloc(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)i;
    pb_bytes(p, 9, numbers, count * sizeof *numbers);
    free(numbers);
    pb_end(p);
}

TEST(small_constants_stand_in_the_text_and_large_ones_are_attached)
{
    pb p;
    begin(&p, 22);
    write_initializer(&p, "small", 3);
    write_initializer(&p, "large", 300);
    write_initializer(&p, "unused", 2);
    pb_begin_node(&p, "Add", "x", "h");
    pb_str(&p, 1, "small");
    pb_end(&p);
    pb_node(&p, "Relu", "large", "l");
    pb_node(&p, "Relu", "h", "y");
    end(&p);
    CHECK_IL(&p, "create(| dst=small | dtype=TL_FLOAT, dims=[3], data=[0, 1, 2]);");
    CHECK_IL(&p, "create(| dst=large | dtype=TL_FLOAT, dims=[300], from_file=true);");
    char *il = il_of(&p);
    CHECK_NULL(strstr(il, "unused"));
    free(il);
    pb_free(&p);
}

// ---- Functions ----

static void begin_function(pb *p, const char *name)
{
    pb_begin(p, 25);
    pb_str(p, 1, name);
    pb_str(p, 10, "f");
    pb_str(p, 4, "in");
    pb_str(p, 5, "out");
    pb_begin(p, 9);
    pb_int(p, 2, 22);
    pb_end(p);
}

static void write_call(pb *p, unsigned field, const char *function, const char *in, const char *out)
{
    pb_begin(p, field);
    pb_str(p, 1, in);
    pb_str(p, 2, out);
    pb_str(p, 4, function);
    pb_str(p, 7, "f");
    pb_end(p);
}

TEST(functions_are_inlined_each_time)
{
    pb p;
    begin(&p, 22);
    write_call(&p, 1, "twice", "x", "h");
    write_call(&p, 1, "twice", "h", "y");
    end(&p);
    begin_function(&p, "twice");
    pb_begin(&p, 7);
    pb_str(&p, 1, "in");
    pb_str(&p, 2, "t");
    pb_str(&p, 4, "Neg");
    pb_end(&p);
    pb_begin(&p, 7);
    pb_str(&p, 1, "t");
    pb_str(&p, 2, "out");
    pb_str(&p, 4, "Abs");
    pb_end(&p);
    pb_end(&p);
    CHECK_IL(&p, "Neg(X=x | Y=t |);");
    CHECK_IL(&p, "Abs(X=t | Y=h |);");
    CHECK_IL(&p, "| Y=y |);");
    ln_preflight *report;
    CHECK_OK(ln_preflight_create_mem(p.bytes, p.len, "m", &report));
    CHECK_EQ(report->node_count, 4);
    ln_preflight_destroy(report);
    pb_free(&p);
}

TEST(a_function_that_calls_itself_is_refused)
{
    pb p;
    begin(&p, 22);
    write_call(&p, 1, "a", "x", "y");
    end(&p);
    begin_function(&p, "a");
    write_call(&p, 7, "b", "in", "out");
    pb_end(&p);
    begin_function(&p, "b");
    write_call(&p, 7, "a", "in", "out");
    pb_end(&p);
    CHECK_IL(&p, "function 'f:a' calls itself, perhaps through others");
    pb_free(&p);
}

// Each of thirty functions calls the next one twice.
TEST(functions_that_double_are_stopped)
{
    pb p;
    begin(&p, 22);
    write_call(&p, 1, "f0", "x", "y");
    end(&p);
    for (int i = 0; i < 30; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1);
        begin_function(&p, name);
        if (i < 29) {
            write_call(&p, 7, next, "in", "t");
            write_call(&p, 7, next, "t", "out");
        } else {
            pb_begin(&p, 7);
            pb_str(&p, 1, "in");
            pb_str(&p, 2, "out");
            pb_str(&p, 4, "Neg");
            pb_end(&p);
        }
        pb_end(&p);
    }
    clock_t start = clock();
    CHECK_IL(&p, "more nodes than are allowed");
    CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
    pb_free(&p);
}

// ---- Bodies ----

// An If whose branches read `x` from around them.
TEST(bodies_capture_what_they_read)
{
    CHECK_OK(ln_arch_init());
    pb p = {0};
    pb_model(&p, 22);
    pb_value(&p, 11, "x", PB_FLOAT, DIMS(3));
    pb_value(&p, 11, "c", 9, SCALAR);
    pb_value(&p, 12, "y", PB_FLOAT, NULL);
    pb_begin_node(&p, "If", "c", "y");
    static const char *const branches[] = {"then_branch", "else_branch"};
    for (int i = 0; i < 2; i++) {
        pb_begin(&p, 5);
        pb_str(&p, 1, branches[i]);
        pb_begin(&p, 6);
        pb_node(&p, i ? "Neg" : "Abs", "x", "r");
        pb_value(&p, 12, "r", PB_FLOAT, NULL);
        pb_end(&p);
        pb_int(&p, 20, 5);
        pb_end(&p);
    }
    pb_end(&p);
    end(&p);
    CHECK_IL(&p, "capture1=x");
    ln_status status;
    ln_context *ctx = read_model(&p, &status);
    CHECK_EQ(status, LN_OK);
    CHECK_OK(ln_context_compile(ctx, "ref"));
    CHECK_OK(ln_context_load(ctx, NULL));
    float x[] = {-1, 2, -3};
    int32_t cond = 1;
    CHECK_OK(ln_context_set_data(ctx, "x", x));
    for (; cond >= 0; cond--) {
        CHECK_OK(ln_context_set_data(ctx, "c", &cond));
        CHECK_OK(ln_context_run(ctx));
        ln_object *y;
        CHECK_OK(ln_context_get_object(ctx, "y", &y));
        CHECK(((const float *)ln_object_tensor(y)->data)[0] == 1);
        CHECK(((const float *)ln_object_tensor(y)->data)[1] == (cond ? 2 : -2));
        ln_object_release(y);
    }
    ln_context_free(ctx);
    pb_free(&p);
}

// ---- Cost ----

TEST(a_model_full_of_small_nodes_is_read_in_time)
{
    pb p;
    begin(&p, 22);
    char in[16] = "x", out[16];
    for (int i = 0; p.len < 900000; i++) {
        snprintf(out, sizeof out, "v%d", i);
        pb_node(&p, "Relu", in, out);
        memcpy(in, out, sizeof in);
    }
    pb_node(&p, "Relu", in, "y");
    end(&p);
    clock_t start = clock();
    ln_preflight *report;
    CHECK_OK(ln_preflight_create_mem(p.bytes, p.len, "m", &report));
    CHECK_EQ(report->problem_count, 0);
    CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
    ln_preflight_destroy(report);
    pb_free(&p);
}

TEST(a_megabyte_of_empty_messages_is_refused_in_time)
{
    // Empty nodes, initializers, inputs, attributes: two bytes each.
    static const unsigned fields[] = {1, 5, 11, 12, 15};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        pb p;
        begin(&p, 22);
        for (int i = 0; i < 500000; i++)
            pb_bytes(&p, fields[f], NULL, 0);
        end(&p);
        clock_t start = clock();
        ln_status status;
        ln_context_free(read_model(&p, &status));
        CHECK_NE(status, LN_OK);
        CHECK(clock() - start < 5 * CLOCKS_PER_SEC);
        pb_free(&p);
    }
}

TEST(each_cut_and_each_changed_byte_gives_a_status)
{
    pb p;
    begin(&p, 22);
    write_initializer(&p, "w", 3);
    pb_begin_node(&p, "Add", "x", "h");
    pb_str(&p, 1, "w");
    pb_end(&p);
    pb_node(&p, "Relu", "h", "y");
    end(&p);
    ln_status status;
    for (size_t len = 0; len < p.len; len++) {
        pb cut = {.bytes = p.bytes, .len = len};
        ln_context_free(read_model(&cut, &status));
    }
    for (size_t i = 0; i < p.len; i++) {
        p.bytes[i] ^= 0x55;
        ln_context_free(read_model(&p, &status));
        p.bytes[i] ^= 0x55;
    }
    ln_context_free(read_model(&p, &status));
    CHECK_EQ(status, LN_OK);
    pb_free(&p);
}

TEST(reading_survives_every_failed_allocation)
{
    CHECK_OK(ln_arch_init());
    pb p;
    begin(&p, 22);
    write_initializer(&p, "w", 3);
    pb_begin_node(&p, "Add", "x", "h");
    pb_str(&p, 1, "w");
    pb_end(&p);
    write_call(&p, 1, "f", "h", "y");
    end(&p);
    begin_function(&p, "f");
    pb_begin(&p, 7);
    pb_str(&p, 1, "in");
    pb_str(&p, 2, "out");
    pb_str(&p, 4, "Neg");
    pb_end(&p);
    pb_end(&p);
    OOM_SWEEP(n)
    {
        ln_context *ctx = ln_context_create();
        ln_status status = ctx ? ln_context_init_mem(ctx, p.bytes, p.len, "m") : LN_NO_MEMORY;
        CHECK(status == LN_OK || status == LN_NO_MEMORY);
        ln_context_free(ctx);
        ln_preflight *report = NULL;
        ln_preflight_create_mem(p.bytes, p.len, "m", &report);
        ln_preflight_destroy(report);
    }
    pb_free(&p);
}

TEST_LIST(weights_of_a_model_in_memory_come_from_bytes_or_a_folder,
          nodes_become_operators_with_their_names, nodes_may_stand_in_any_order,
          an_operator_keeps_an_output_that_nothing_reads, a_graph_with_a_cycle_is_refused,
          a_name_is_made_once, of_a_constant_that_is_defined_twice_the_last_value_counts,
          an_input_with_a_default_is_not_defined_again, texts_in_utf16_are_read_as_utf8,
          an_unknown_attribute_is_ignored_where_the_schema_allows_it,
          names_are_held_to_what_contexts_take, all_problems_are_told_at_once,
          a_hundred_problems_are_kept_and_all_are_counted,
          newer_versions_with_nothing_new_inside_are_read, names_that_are_not_utf8_are_escaped,
          metadata_of_the_file_outlast_compiling_and_writing,
          old_forms_are_marked_with_their_version,
          small_constants_stand_in_the_text_and_large_ones_are_attached,
          functions_are_inlined_each_time, a_function_that_calls_itself_is_refused,
          functions_that_double_are_stopped, bodies_capture_what_they_read,
          a_model_full_of_small_nodes_is_read_in_time,
          a_megabyte_of_empty_messages_is_refused_in_time,
          each_cut_and_each_changed_byte_gives_a_status, reading_survives_every_failed_allocation)
