// SPDX-License-Identifier: Apache-2.0
// Models with custom operators, whose library is ort_custom_ops.c. What is expected is worked out
// here, by hand or in plain C.

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/compat/onnx_bytes.h"
#include "tests/compat/ort_custom.h"
#include "tests/test.h"

#define PATH ORT_CUSTOM_OPS_PATH

enum { FLOAT = 1, INT64 = 7, STRING = 8 };

// ---- Helpers ----

typedef struct client {
    void *env, *options, *session, *memory, *library;
    char log[512];
} client;

static void take_log(void *user, int severity, const char *category, const char *id,
                     const char *location, const char *text)
{
    (void)severity, (void)category, (void)id;
    client *c = user;
    snprintf(c->log, sizeof c->log, "%s: %s", location, text);
}

static void client_open_bare(client *c)
{
    *c = (client){0};
    ort_custom_load(ort_client_table());
    OK(CreateEnvWithCustomLogger(take_log, c, 2, "test", &c->env));
    OK(CreateSessionOptions(&c->options));
    OK(SetIntraOpNumThreads(c->options, 1));
    OK(CreateCpuMemoryInfo(0, 0, &c->memory));
}

static void client_open(client *c)
{
    client_open_bare(c);
    OK(RegisterCustomOpsLibrary(c->options, PATH, &c->library));
}

static void *client_read(client *c, const message *model)
{
    return CreateSessionFromArray(c->env, model->bytes, model->len, c->options, &c->session);
}

static void client_close(client *c)
{
    ReleaseSession(c->session);
    ReleaseSessionOptions(c->options);
    ReleaseMemoryInfo(c->memory);
    ReleaseEnv(c->env);
    if (c->library)
        CHECK_EQ(dlclose(c->library), 0);
}

static custom_counts counts(const client *c)
{
    custom_counts (*function)(void);
    *(void **)&function = dlsym(c->library, "custom_ops_counts");
    CHECK_NOT_NULL(function);
    return function();
}

// The call fails with a code, and its message has `text`.
#define SAYS(call, code, text)                                                                     \
    do {                                                                                           \
        void *says_status = (call);                                                                \
        CHECK_NOT_NULL(says_status);                                                               \
        if (GetErrorCode(says_status) != (code) || !strstr(GetErrorMessage(says_status), (text)))  \
            fail_msg("%d: '%s' instead of %d: '%s'", GetErrorCode(says_status),                    \
                     GetErrorMessage(says_status), (code), (text));                                \
        ReleaseStatus(says_status);                                                                \
    } while (0)

// The same of a message as a whole: it begins with the node's own type, as the model has it.
#define SAYS_ALL(call, code, text)                                                                 \
    do {                                                                                           \
        void *says_status = (call);                                                                \
        CHECK_NOT_NULL(says_status);                                                               \
        CHECK_STR_EQ(GetErrorMessage(says_status), (text));                                        \
        CHECK_EQ(GetErrorCode(says_status), (code));                                               \
        ReleaseStatus(says_status);                                                                \
    } while (0)

static void *tensor(const client *c, void *data, size_t byte_count, int64_t len, int type)
{
    void *value = NULL;
    OK(CreateTensorWithDataAsOrtValue(c->memory, data, byte_count, &len, 1, type, &value));
    return value;
}

#define VALUE(c, type, ...)                                                                        \
    tensor(c, __VA_ARGS__, sizeof(__VA_ARGS__),                                                    \
           (int64_t)(sizeof(__VA_ARGS__) / sizeof(__VA_ARGS__)[0]), type)
#define FLOATS(...) ((float[]){__VA_ARGS__})

static void *data_of(void *value)
{
    void *data = NULL;
    OK(GetTensorMutableData(value, &data));
    return data;
}

static size_t count_of(const void *value)
{
    void *shape = NULL;
    size_t count = 0;
    OK(GetTensorTypeAndShape(value, &shape));
    OK(GetTensorShapeElementCount(shape, &count));
    ReleaseTensorTypeAndShapeInfo(shape);
    return count;
}

#define CHECK_VALUE(value, ...)                                                                    \
    do {                                                                                           \
        CHECK_EQ(count_of(value), sizeof(__VA_ARGS__) / sizeof(__VA_ARGS__)[0]);                   \
        CHECK_MEM_EQ(data_of(value), __VA_ARGS__, sizeof(__VA_ARGS__));                            \
        ReleaseValue(value);                                                                       \
    } while (0)

static void check_text(void *value, const char *expected)
{
    char text[1024] = "";
    size_t len = 0;
    OK(GetStringTensorElementLength(value, 0, &len));
    CHECK(len < sizeof text);
    OK(GetStringTensorElement(value, len, 0, text));
    CHECK_STR_EQ(text, expected);
    ReleaseValue(value);
}

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static const char *const out_names[] = {"y", "z", "p", "q", "r", "s", "t", "u"};

// Inputs are a, b, ...; outputs y, z, ...; the inputs are released.
static void *run(const client *c, void **inputs, size_t in_count, void **outputs, size_t out_count)
{
    void *status = Run(c->session, NULL, names, (const void *const *)inputs, in_count, out_names,
                       out_count, outputs);
    for (size_t i = 0; i < in_count; i++)
        ReleaseValue(inputs[i]);
    return status;
}

// ---- Models ----

enum { OF_FLOAT = 1, OF_INT, OF_STRING, OF_TENSOR, OF_GRAPH, OF_FLOATS, OF_INTS, OF_STRINGS };

static message attribute(const char *name, int type)
{
    message m = {.len = 0};
    put_text(&m, 1, name);
    put_int(&m, 20, type);
    return m;
}

static void put_float(message *m, int field, float value)
{
    put_varint(m, (uint64_t)field << 3 | 5);
    put_raw(m, &value, sizeof value);
}

static void add_float(message *node, const char *name, float value)
{
    message a = attribute(name, OF_FLOAT);
    put_float(&a, 2, value);
    put_message(node, 5, a);
}

static void add_int(message *node, const char *name, int64_t value)
{
    message a = attribute(name, OF_INT);
    put_int(&a, 3, value);
    put_message(node, 5, a);
}

static message custom(const char *optype, const char *inputs, const char *outputs)
{
    message m = node(optype, "test.custom", inputs, outputs);
    size_t len = strcspn(outputs + strspn(outputs, " "), " ");
    put_bytes(&m, 3, outputs + strspn(outputs, " "), len); // named by its first output
    return m;
}

static void put_input(message *graph, const char *name, int type, const char *dims)
{
    put_message(graph, 11, value_info(name, tensor_type(type, dims)));
}

static void put_output(message *graph, const char *name, int type, const char *dims)
{
    put_message(graph, 12, value_info(name, tensor_type(type, dims)));
}

static void put_import(message *model, int field, const char *domain, int version)
{
    message opset = {.len = 0};
    put_text(&opset, 1, domain);
    put_int(&opset, 2, version);
    put_message(model, field, opset);
}

static message custom_model(message graph)
{
    message model = model_of(graph);
    put_import(&model, 8, "test.custom", 1);
    return model;
}

// One node from a to y, both floats.
static message unary_model(message node, const char *in_dims, const char *out_dims)
{
    message graph = {.len = 0};
    put_message(&graph, 1, node);
    put_input(&graph, "a", FLOAT, in_dims);
    put_output(&graph, "y", FLOAT, out_dims);
    return custom_model(graph);
}

// ---- Attributes ----

static message attributes_node(void)
{
    static const char *const words[] = {"one", "", "th ree"};
    static const float weights[] = {10, 20, 30};
    message m = custom("Attributes", "a", "y z"), floats = attribute("floats", OF_FLOATS),
            ints = attribute("ints", OF_INTS), texts = attribute("strings", OF_STRINGS),
            packed = {.len = 0}, text = attribute("string", OF_STRING),
            t = attribute("tensor", OF_TENSOR);
    add_float(&m, "float", 0.1f);
    add_int(&m, "int", INT64_C(9007199254740993)); // which no double is
    put_float(&floats, 7, 0.5f);                   // one by one
    put_float(&floats, 7, -3.0f);
    put_varint(&packed, 1);
    put_varint(&packed, (uint64_t)-2);
    put_varint(&packed, INT64_MAX);
    put_message(&ints, 8, packed);
    for (int i = 0; i < 3; i++)
        put_text(&texts, 9, words[i]);
    put_text(&text, 4, "some text");
    put_message(&t, 5, float_tensor("t", 3, weights));
    put_message(&m, 5, floats);
    put_message(&m, 5, ints);
    put_message(&m, 5, texts);
    put_message(&m, 5, text);
    put_message(&m, 5, t);
    return m;
}

TEST(attributes_of_each_kind_are_those_of_the_model)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, attributes_node());
    put_input(&graph, "a", FLOAT, "3");
    put_output(&graph, "y", STRING, "");
    put_output(&graph, "z", FLOAT, "3");
    message model = custom_model(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    void *in = VALUE(&c, FLOAT, FLOATS(1, 2, 3)), *out[2] = {NULL};
    OK(run(&c, &in, 1, out, 2));
    char expected[512];
    snprintf(expected, sizeof expected,
             "%a 9007199254740993 %a %a 1 -2 9223372036854775807 some text/10 one  th ree 1 1 2",
             (double)0.1f, 0.5, -3.0);
    check_text(out[0], expected);
    CHECK_VALUE(out[1], FLOATS(11, 22, 33));
    client_close(&c);
}

// ---- Shapes ----

// y = -(factor * (a + b)), z = a - b
static message sum_diff_model(const char *dims, float factor)
{
    message graph = {.len = 0}, sum_diff = custom("SumDiff", "a b", "m z");
    add_float(&sum_diff, "factor", factor);
    put_message(&graph, 1, sum_diff);
    put_message(&graph, 1, node("Neg", "", "m", "y"));
    put_input(&graph, "a", FLOAT, dims);
    put_input(&graph, "b", FLOAT, dims);
    put_output(&graph, "y", FLOAT, NULL);
    put_output(&graph, "z", FLOAT, NULL);
    return custom_model(graph);
}

// The rank of output `index`, and its first dimension.
static void check_out_type(const client *c, size_t index, size_t rank, int64_t first)
{
    void *type = NULL;
    const void *shape = NULL;
    size_t count = 0;
    int64_t dims[8] = {0};
    OK(SessionGetOutputTypeInfo(c->session, index, &type));
    OK(CastTypeInfoToTensorInfo(type, &shape));
    CHECK_NOT_NULL(shape);
    OK(GetDimensionsCount(shape, &count));
    CHECK_EQ(count, rank);
    OK(GetDimensions(shape, dims, count));
    CHECK_EQ(dims[0], first);
    ReleaseTypeInfo(type);
}

TEST(two_inputs_make_two_outputs_of_shapes_that_are_known_before)
{
    client c;
    client_open(&c);
    message model = sum_diff_model("3", 2);
    OK(client_read(&c, &model));
    check_out_type(&c, 0, 1, 3); // the file states no shape
    check_out_type(&c, 1, 1, 3);
    for (int i = 0; i < 2; i++) {
        void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2, 3)), VALUE(&c, FLOAT, FLOATS(10, 20, 40))};
        void *out[2] = {NULL};
        OK(run(&c, in, 2, out, 2));
        CHECK_VALUE(out[0], FLOATS(-22, -44, -86));
        CHECK_VALUE(out[1], FLOATS(-9, -18, -37));
    }
    client_close(&c);
}

TEST(shapes_follow_inputs_of_any_size)
{
    client c;
    client_open(&c);
    message model = sum_diff_model("N", 1);
    OK(client_read(&c, &model));
    for (int i = 0; i < 2; i++) {
        void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2)), VALUE(&c, FLOAT, FLOATS(3, 5))};
        void *out[2] = {NULL};
        OK(run(&c, in, 2, out, 2));
        CHECK_VALUE(out[0], FLOATS(-4, -7));
        CHECK_VALUE(out[1], FLOATS(-2, -3));
        void *in3[] = {VALUE(&c, FLOAT, FLOATS(1, 2, 3)), VALUE(&c, FLOAT, FLOATS(0, 0, 1))};
        void *out3[2] = {NULL};
        OK(run(&c, in3, 2, out3, 2));
        CHECK_VALUE(out3[0], FLOATS(-1, -2, -4));
        CHECK_VALUE(out3[1], FLOATS(1, 2, 2));
    }
    client_close(&c);
}

TEST(a_shape_function_that_fails_has_said_nothing)
{
    client c;
    client_open(&c);
    message model = sum_diff_model("2", -1);
    OK(client_read(&c, &model));
    void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2)), VALUE(&c, FLOAT, FLOATS(3, 5))};
    void *out[2] = {NULL};
    OK(run(&c, in, 2, out, 2));
    CHECK_VALUE(out[0], FLOATS(4, 7));
    CHECK_VALUE(out[1], FLOATS(-2, -3));
    client_close(&c);
}

// y = relu of the positive elements of -a, z = their indices
TEST(an_output_is_as_large_as_the_kernel_says)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, node("Neg", "", "a", "m"));
    put_message(&graph, 1, custom("Positive", "m", "n z"));
    put_message(&graph, 1, node("Relu", "", "n", "y"));
    put_input(&graph, "a", FLOAT, "4");
    put_output(&graph, "y", FLOAT, "K");
    put_output(&graph, "z", INT64, "K");
    message model = custom_model(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    for (int i = 0; i < 2; i++) {
        void *in = VALUE(&c, FLOAT, FLOATS(1, -2, 3, -4)), *out[2] = {NULL};
        OK(run(&c, &in, 1, out, 2));
        CHECK_VALUE(out[0], FLOATS(2, 4));
        CHECK_VALUE(out[1], ((int64_t[]){1, 3}));
        in = VALUE(&c, FLOAT, FLOATS(-1, -2, -3, 4)), out[0] = out[1] = NULL;
        OK(run(&c, &in, 1, out, 2));
        CHECK_VALUE(out[0], FLOATS(1, 2, 3));
        CHECK_VALUE(out[1], ((int64_t[]){0, 1, 2}));
        in = VALUE(&c, FLOAT, FLOATS(1, 2, 3, 4)), out[0] = out[1] = NULL;
        OK(run(&c, &in, 1, out, 2));
        CHECK_EQ(count_of(out[0]), 0);
        ReleaseValue(out[0]);
        ReleaseValue(out[1]);
    }
    client_close(&c);
}

// ---- Arguments ----

static message join_model(const char *inputs)
{
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Join", inputs, "y"));
    for (int i = 0; i < 4; i++)
        put_input(&graph, names[i], FLOAT, "2");
    put_output(&graph, "y", FLOAT, "2");
    return custom_model(graph);
}

TEST(inputs_may_be_left_out_and_many)
{
    static const struct {
        const char *inputs;
        float expected[2];
    } cases[] = {
        {"a b c d", {1 + 20 + 300 + 4000, 2 + 40 + 600 + 8000}},
        {"a  c d", {1 + 300 + 4000, 2 + 600 + 8000}}, // the optional one in the middle
        {"a  d d b", {1 + 3000 + 4000 + 50, 2 + 6000 + 8000 + 100}},
    };
    client c;
    client_open(&c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message model = join_model(cases[i].inputs);
        OK(client_read(&c, &model));
        void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2)), VALUE(&c, FLOAT, FLOATS(10, 20)),
                      VALUE(&c, FLOAT, FLOATS(100, 200)), VALUE(&c, FLOAT, FLOATS(1000, 2000))};
        void *out = NULL;
        OK(run(&c, in, 4, &out, 1));
        CHECK_VALUE(out, cases[i].expected);
        ReleaseSession(c.session);
        c.session = NULL;
    }
    static const char *const bad[] = {" b c d", "a b c", "a", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        message model = join_model(bad[i]);
        SAYS(client_read(&c, &model), 10, "none of the 1 custom operators 'Join'");
    }
    client_close(&c);
}

// Elements of each type go in and come out as they were.
TEST(elements_of_each_type_pass)
{
    static const int types[] = {1, 2, 5, 7, 9, 10, 11, 16};
    static const size_t sizes[] = {4, 1, 2, 8, 1, 2, 8, 2};
    client c;
    unsigned char bytes[8][16] = {{0}};
    void *in[8], *out[8] = {NULL};
    message graph = {.len = 0};
    client_open(&c);
    put_message(&graph, 1, node("Identity", "", "f", "k")); // of float16, which may be widened
    message reverse = custom("Copies", "h g k e d c b a", "y z p q r s t u");
    add_int(&reverse, "is_reverse", 1);
    put_message(&graph, 1, reverse);
    for (int i = 0; i < 8; i++) {
        put_input(&graph, names[i], types[i], "2");
        put_output(&graph, out_names[i], types[i], "2");
        for (size_t k = 0; k < 2 * sizes[i]; k++)
            bytes[i][k] = types[i] == 9 ? k == 1 : (unsigned char)(17 * i + 3 * (int)k);
        in[i] = tensor(&c, bytes[i], 2 * sizes[i], 2, types[i]);
    }
    message model = custom_model(graph);
    OK(client_read(&c, &model));
    OK(run(&c, in, 8, out, 8));
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(count_of(out[i]), 2);
        CHECK_MEM_EQ(data_of(out[i]), bytes[i], 2 * sizes[i]);
        ReleaseValue(out[i]);
    }
    client_close(&c);
}

TEST(strings_and_outputs_that_nobody_wants_pass)
{
    client c;
    void *in[2], *out = NULL, *allocator = NULL;
    int64_t len = 2;
    message graph = {.len = 0};
    client_open(&c);
    OK(GetAllocatorWithDefaultOptions(&allocator));
    OK(CreateTensorAsOrtValue(allocator, &len, 1, STRING, &in[1]));
    OK(FillStringTensorElement(in[1], "a string", 0));
    in[0] = VALUE(&c, FLOAT, FLOATS(1, 2));
    put_message(&graph, 1, custom("Copies", "a b", " y")); // the first output is left out
    put_input(&graph, "a", FLOAT, "2");
    put_input(&graph, "b", STRING, "2");
    put_output(&graph, "y", STRING, "2");
    message model = custom_model(graph);
    OK(client_read(&c, &model));
    OK(run(&c, in, 2, &out, 1));
    CHECK_EQ(count_of(out), 2);
    check_text(out, "a string");
    ReleaseSession(c.session);
    graph.len = 0;
    put_message(&graph, 1, custom("Copies", "a b", " y"));
    put_input(&graph, "a", STRING, "2");
    put_input(&graph, "b", FLOAT, "2");
    put_output(&graph, "y", FLOAT, "2");
    model = custom_model(graph);
    OK(client_read(&c, &model));
    OK(CreateTensorAsOrtValue(allocator, &len, 1, STRING, &in[0]));
    in[1] = VALUE(&c, FLOAT, FLOATS(1, 2)), out = NULL;
    OK(run(&c, in, 2, &out, 1));
    CHECK_VALUE(out, FLOATS(1, 2));
    client_close(&c);
}

// ---- Which operator it is ----

TEST(types_choose_among_operators_of_one_name)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Twice", "a", "y"));
    put_message(&graph, 1, custom("Twice", "b", "z"));
    put_input(&graph, "a", FLOAT, "2");
    put_input(&graph, "b", INT64, "2");
    put_output(&graph, "y", FLOAT, "2");
    put_output(&graph, "z", INT64, "2");
    message model = custom_model(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    void *in[] = {VALUE(&c, FLOAT, FLOATS(1.5f, 2)),
                  VALUE(&c, INT64, ((int64_t[]){INT64_C(1) << 61, -3}))};
    void *out[2] = {NULL};
    OK(run(&c, in, 2, out, 2));
    CHECK_VALUE(out[0], FLOATS(3, 4));
    CHECK_VALUE(out[1], ((int64_t[]){INT64_C(1) << 62, -6}));
    client_close(&c);
}

// Of what the run alone knows the type of, too.
TEST(types_choose_in_a_run_too)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Positive", "a", "m n"));
    put_message(&graph, 1, custom("Twice", "m", "y"));
    put_message(&graph, 1, custom("Twice", "n", "z"));
    put_input(&graph, "a", FLOAT, "3");
    put_output(&graph, "y", FLOAT, "K");
    put_output(&graph, "z", INT64, "K");
    message model = custom_model(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    for (int i = 0; i < 2; i++) {
        void *in = VALUE(&c, FLOAT, FLOATS(-1, 4, 5)), *out[2] = {NULL};
        OK(run(&c, &in, 1, out, 2));
        CHECK_VALUE(out[0], FLOATS(8, 10));
        CHECK_VALUE(out[1], ((int64_t[]){2, 4}));
    }
    client_close(&c);
}

TEST(a_domain_has_operators_by_version)
{
    client c;
    client_open(&c);
    for (int version = 1; version < 5; version++) {
        message graph = {.len = 0};
        put_message(&graph, 1, custom("Versions", "a", "y"));
        put_input(&graph, "a", FLOAT, "1");
        put_output(&graph, "y", FLOAT, "1");
        message model = model_of(graph);
        put_import(&model, 8, "test.custom", version);
        OK(client_read(&c, &model));
        void *in = VALUE(&c, FLOAT, FLOATS(10)), *out = NULL;
        const float expected[] = {version < 3 ? 11 : 13};
        OK(run(&c, &in, 1, &out, 1));
        CHECK_VALUE(out, expected);
        ReleaseSession(c.session);
        c.session = NULL;
    }
    client_close(&c);
}

// The newest one where the model does not import the domain, as in ONNX Runtime.
TEST(a_domain_need_not_be_imported)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Twice", "a", "y"));
    put_input(&graph, "a", FLOAT, "1");
    put_output(&graph, "y", FLOAT, "1");
    message model = model_of(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    void *in = VALUE(&c, FLOAT, FLOATS(10)), *out = NULL;
    OK(run(&c, &in, 1, &out, 1));
    CHECK_VALUE(out, FLOATS(20));
    client_close(&c);
}

TEST(a_model_names_what_is_in_the_domain)
{
    client c;
    client_open(&c);
    message model = unary_model(custom("Thrice", "a", "y"), "1", "1");
    SAYS(client_read(&c, &model), 10, "Thrice");
    message of_ints = {.len = 0};
    put_message(&of_ints, 1, custom("Positive", "a", "y z"));
    put_input(&of_ints, "a", INT64, "1");
    put_output(&of_ints, "y", FLOAT, "K");
    model = custom_model(of_ints);
    SAYS_ALL(client_read(&c, &model), 10,
             "Positive 'y': it does not take INT64 for input 0; it takes FLOAT");
    client_close(&c);
}

// A model that is not from a client's hand may name the operator that nodes become.
TEST(no_model_reaches_nodes_of_another)
{
    client c, plain;
    client_open(&c);
    message model = unary_model(custom("Twice", "a", "y"), "1", "1");
    OK(client_read(&c, &model));
    message forged = node("OrtCustomOp", "", "a", "y");
    add_int(&forged, "node", 0);
    model = unary_model(forged, "1", "1");
    client_open_bare(&plain);
    SAYS(client_read(&plain, &model), 10, "no custom operator of number 0");
    message both = {.len = 0};
    put_message(&both, 1, custom("Twice", "a", "y"));
    message greedy = node("OrtCustomOp", "", "a a", "z");
    add_int(&greedy, "node", 0);
    put_message(&both, 1, greedy);
    put_input(&both, "a", FLOAT, "1");
    put_output(&both, "z", FLOAT, "1");
    model = custom_model(both);
    ReleaseSession(c.session);
    c.session = NULL;
    SAYS(client_read(&c, &model), 10, "has not the inputs and outputs of node 'y'");
    client_close(&plain);
    client_close(&c);
}

// ---- What kernels see of their node ----

TEST(a_kernel_knows_its_node)
{
    static const float w[] = {7, 8};
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, custom("About", "a w", "y"));
    put_message(&graph, 5, float_tensor("w", 2, w));
    put_input(&graph, "a", FLOAT, "3");
    put_output(&graph, "y", STRING, "");
    message model = custom_model(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    CHECK_NOT_NULL(strstr(c.log, "a kernel is made"));
    CHECK_NOT_NULL(strstr(c.log, "ort_custom_ops.c:"));
    void *in = VALUE(&c, FLOAT, FLOATS(1, 2, 3)), *out = NULL;
    OK(run(&c, &in, 1, &out, 1));
    check_text(out, "y test.custom About 1 a 1[3] w 1[2] y 8[] 0:0 1:7 ");
    client_close(&c);
}

// ---- Failures ----

static message fails_model(int where)
{
    message fails = custom("Fails", "a", "y");
    add_int(&fails, "where", where);
    return unary_model(fails, "2", "2");
}

TEST(statuses_of_a_library_are_those_of_the_call)
{
    client c;
    client_open(&c);
    message model = fails_model(0);
    SAYS(client_read(&c, &model), 6, "no kernel today");
    model = fails_model(1);
    OK(client_read(&c, &model));
    for (int i = 0; i < 2; i++) { // a session runs on after a failure
        void *in = VALUE(&c, FLOAT, FLOATS(-1, 2)), *out = NULL;
        SAYS(run(&c, &in, 1, &out, 1), 6, "Fails 'y': x begins with a negative number");
        CHECK_NULL(out);
        in = VALUE(&c, FLOAT, FLOATS(1, 2));
        OK(run(&c, &in, 1, &out, 1));
        CHECK_VALUE(out, FLOATS(1, 2));
    }
    ReleaseSession(c.session);
    model = fails_model(2);
    OK(client_read(&c, &model));
    void *in = VALUE(&c, FLOAT, FLOATS(1, 2)), *out = NULL;
    SAYS_ALL(run(&c, &in, 1, &out, 1), 2, "Fails 'y': it has not made output 0, 'y'");
    client_close(&c);
}

// ---- Kernels ----

static message count_model(void)
{
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Count", "a", "y z"));
    put_input(&graph, "a", FLOAT, "2");
    put_output(&graph, "y", FLOAT, "2");
    put_output(&graph, "z", INT64, "1");
    return custom_model(graph);
}

static int64_t run_count(const client *c, void *session)
{
    void *in = VALUE(c, FLOAT, FLOATS(1, 2)), *out[2] = {NULL};
    OK(Run(session, NULL, names, (const void *const *)&in, 1, out_names, 2, out));
    int64_t result = *(int64_t *)data_of(out[1]);
    ReleaseValue(in);
    ReleaseValue(out[1]);
    CHECK_VALUE(out[0], FLOATS(1, 2));
    return result;
}

TEST(sessions_share_a_domain_and_have_their_own_kernels)
{
    client c;
    void *sessions[2], *clone = NULL;
    message model = count_model();
    client_open(&c);
    const custom_counts before = counts(&c);
    OK(CloneSessionOptions(c.options, &clone));
    OK(CreateSessionFromArray(c.env, model.bytes, model.len, c.options, &sessions[0]));
    ReleaseSessionOptions(c.options);
    c.options = NULL;
    OK(CreateSessionFromArray(c.env, model.bytes, model.len, clone, &sessions[1]));
    ReleaseSessionOptions(clone);
    void (*release_domains)(void);
    *(void **)&release_domains = dlsym(c.library, "custom_ops_release_domains");
    release_domains(); // sessions hold it, which they do not in ONNX Runtime
    CHECK_EQ(counts(&c).created - before.created, 2);
    for (int i = 1; i < 4; i++)
        CHECK_EQ(run_count(&c, sessions[0]), i);
    CHECK_EQ(run_count(&c, sessions[1]), 1); // it has not seen those runs
    ReleaseSession(sessions[0]);
    CHECK_EQ(counts(&c).destroyed - before.destroyed, 1);
    CHECK_EQ(run_count(&c, sessions[1]), 2);
    ReleaseSession(sessions[1]);
    CHECK_EQ(counts(&c).destroyed - before.destroyed, 2);
    client_close(&c);
}

#define RUNS_OF_A_THREAD 50

typedef struct worker {
    client *client;
    int failure_count;
    int64_t last; // number of a run of the kernel
    float first;
} worker;

static void *work(void *user)
{
    worker *w = user;
    for (int i = 0; i < RUNS_OF_A_THREAD; i++) {
        float data[2] = {w->first + (float)i, -w->first};
        int64_t len = 2;
        void *in = NULL, *out[2] = {NULL};
        void *status = CreateTensorWithDataAsOrtValue(w->client->memory, data, sizeof data, &len, 1,
                                                      FLOAT, &in);
        if (!status)
            status = Run(w->client->session, NULL, names, (const void *const *)&in, 1, out_names, 2,
                         out);
        void *y = NULL, *z = NULL;
        if (status || GetTensorMutableData(out[0], &y) || GetTensorMutableData(out[1], &z)) {
            w->failure_count++;
        } else {
            w->failure_count += memcmp(y, data, sizeof data) != 0 || *(int64_t *)z <= w->last;
            w->last = *(int64_t *)z;
        }
        ReleaseStatus(status);
        ReleaseValue(in);
        ReleaseValue(out[0]);
        ReleaseValue(out[1]);
    }
    return NULL;
}

TEST(eight_threads_run_one_kernel)
{
    client c;
    pthread_t threads[8];
    worker workers[8];
    message model = count_model();
    client_open(&c);
    const custom_counts before = counts(&c);
    OK(client_read(&c, &model));
    for (int t = 0; t < 8; t++) {
        workers[t] = (worker){.client = &c, .first = (float)(1000 * t)};
        CHECK_EQ(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < 8; t++) {
        CHECK_EQ(pthread_join(threads[t], NULL), 0);
        CHECK_EQ(workers[t].failure_count, 0);
    }
    CHECK_EQ(counts(&c).created - before.created, 1);
    CHECK_EQ(run_count(&c, c.session), 8 * RUNS_OF_A_THREAD + 1);
    client_close(&c);
}

// What does not change is not computed before, or once for two nodes.
TEST(kernels_run_in_each_run)
{
    static const float w[] = {7, 8};
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Count", "w", "m y"));
    put_message(&graph, 1, custom("Count", "w", "n z"));
    put_message(&graph, 5, float_tensor("w", 2, w));
    put_input(&graph, "a", FLOAT, "2");
    put_output(&graph, "y", INT64, "1");
    put_output(&graph, "z", INT64, "1");
    message model = custom_model(graph);
    client_open(&c);
    const custom_counts before = counts(&c);
    OK(client_read(&c, &model));
    CHECK_EQ(counts(&c).created - before.created, 2);
    for (int64_t i = 1; i < 4; i++) {
        void *in = VALUE(&c, FLOAT, FLOATS(1, 2)), *out[2] = {NULL};
        const int64_t count[] = {i};
        OK(run(&c, &in, 1, out, 2));
        CHECK_VALUE(out[0], count);
        CHECK_VALUE(out[1], count);
    }
    client_close(&c);
}

// ---- Graphs and functions ----

static message branch(const char *optype, const char *name)
{
    message graph = {.len = 0};
    put_message(&graph, 1, node("Neg", "", "a", "m"));
    put_message(&graph, 1, custom(optype, "m", name));
    put_text(&graph, 2, name);
    put_output(&graph, name, FLOAT, NULL);
    return graph;
}

TEST(graphs_of_nodes_have_custom_operators)
{
    client c;
    message graph = {.len = 0}, choice = node("If", "", "b", "y"),
            then = attribute("then_branch", OF_GRAPH), or = attribute("else_branch", OF_GRAPH);
    put_message(&then, 6, branch("Twice", "then"));
    put_message(& or, 6, branch("Versions", "else"));
    put_message(&choice, 5, then);
    put_message(&choice, 5, or);
    put_message(&graph, 1, choice);
    put_input(&graph, "a", FLOAT, "2");
    put_input(&graph, "b", 9, "1");
    put_output(&graph, "y", FLOAT, NULL);
    message model = custom_model(graph);
    client_open(&c);
    OK(client_read(&c, &model));
    for (int i = 0; i < 4; i++) {
        unsigned char is_then[1] = {i & 1};
        void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2)), tensor(&c, is_then, 1, 1, 9)};
        void *out = NULL;
        OK(run(&c, in, 2, &out, 1));
        if (i & 1)
            CHECK_VALUE(out, FLOATS(-2, -4));
        else
            CHECK_VALUE(out, FLOATS(0, -1));
    }
    client_close(&c);
}

TEST(functions_of_a_model_have_custom_operators)
{
    client c;
    message graph = {.len = 0}, function = {.len = 0};
    put_text(&function, 1, "Fourfold");
    put_text(&function, 4, "x");
    put_text(&function, 5, "fourfold");
    put_message(&function, 7, custom("Twice", "x", "double"));
    put_message(&function, 7, custom("Twice", "double", "fourfold"));
    put_import(&function, 9, "test.custom", 1); // and nothing of ONNX
    put_text(&function, 10, "local");
    put_message(&graph, 1, node("Fourfold", "local", "a", "m"));
    put_message(&graph, 1, node("Fourfold", "local", "m", "y"));
    put_input(&graph, "a", FLOAT, "2");
    put_output(&graph, "y", FLOAT, NULL);
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    put_message(&model, 25, function);
    client_open(&c);
    OK(client_read(&c, &model));
    void *in = VALUE(&c, FLOAT, FLOATS(1, -2)), *out = NULL;
    OK(run(&c, &in, 1, &out, 1));
    CHECK_VALUE(out, FLOATS(16, -32));
    client_close(&c);
}

// ---- Libraries ----

// As a program has it that links its operators.
__attribute__((visibility("default"))) void *register_from_program(void *options,
                                                                   const ort_client_base *base);
void *register_from_program(void *options, const ort_client_base *base)
{
    (void)base;
    return RegisterCustomOpsLibrary_V2(options, PATH);
}

TEST(libraries_come_by_path_and_by_function)
{
    client c;
    message model = unary_model(custom("Twice", "a", "y"), "2", "2");
    for (int i = 0; i < 2; i++) {
        client_open_bare(&c);
        SAYS(RegisterCustomOpsLibrary_V2(c.options, "/none.so"), 1, "/none.so");
        SAYS(RegisterCustomOpsUsingFunction(c.options, "no_such_function"), 1, "no_such_function");
        OK(i ? RegisterCustomOpsUsingFunction(c.options, "register_from_program")
             : RegisterCustomOpsLibrary_V2(c.options, PATH));
        OK(client_read(&c, &model));
        ReleaseSessionOptions(c.options); // the session keeps the library open
        c.options = NULL;
        void *in = VALUE(&c, FLOAT, FLOATS(1, 2)), *out = NULL;
        OK(run(&c, &in, 1, &out, 1));
        CHECK_VALUE(out, FLOATS(2, 4));
        client_close(&c);
        void *library = dlopen(PATH, RTLD_NOW | RTLD_NOLOAD);
        CHECK_NULL(library); // and closes it
    }
}

TEST(a_model_with_custom_operators_is_not_written)
{
    client c;
    message model = unary_model(custom("Twice", "a", "y"), "2", "2");
    client_open(&c);
    OK(SetOptimizedModelFilePath(c.options, "none.onnx"));
    SAYS(client_read(&c, &model), 9, "cannot be written");
    client_close(&c);
}

TEST_LIST(attributes_of_each_kind_are_those_of_the_model,
          two_inputs_make_two_outputs_of_shapes_that_are_known_before,
          shapes_follow_inputs_of_any_size, a_shape_function_that_fails_has_said_nothing,
          an_output_is_as_large_as_the_kernel_says, inputs_may_be_left_out_and_many,
          elements_of_each_type_pass, strings_and_outputs_that_nobody_wants_pass,
          types_choose_among_operators_of_one_name, types_choose_in_a_run_too,
          a_domain_has_operators_by_version, a_domain_need_not_be_imported,
          a_model_names_what_is_in_the_domain, no_model_reaches_nodes_of_another,
          a_kernel_knows_its_node, statuses_of_a_library_are_those_of_the_call,
          sessions_share_a_domain_and_have_their_own_kernels, eight_threads_run_one_kernel,
          kernels_run_in_each_run, graphs_of_nodes_have_custom_operators,
          functions_of_a_model_have_custom_operators, libraries_come_by_path_and_by_function,
          a_model_with_custom_operators_is_not_written)
