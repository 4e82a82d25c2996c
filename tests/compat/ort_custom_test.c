// SPDX-License-Identifier: Apache-2.0
// Models with custom operators, whose library is ort_custom_ops.c. What is expected is worked out
// here, by hand or in plain C.

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/compat/onnx_bytes.h"
#include "tests/compat/ort_custom.h"
#include "tests/compat/resident.h"
#include "tests/sanitizer.h"
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
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // several runs go on at once
    (void)severity, (void)category, (void)id;
    client *c = user;
    pthread_mutex_lock(&lock);
    snprintf(c->log, sizeof c->log, "%s: %s", location, text);
    pthread_mutex_unlock(&lock);
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

static void client_start(client *c, const message *model)
{
    client_open(c);
    OK(client_read(c, model));
}

static void client_end(client *c)
{
    ReleaseSession(c->session);
    c->session = NULL;
}

static void client_close(client *c)
{
    client_end(c);
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

static message attributes_node(const char *optype, const char *domain)
{
    static const char *const words[] = {"one", "", "th ree"};
    static const float weights[] = {10, 20, 30};
    message m = node(optype, domain, "a", "y z"), floats = attribute("floats", OF_FLOATS),
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

static void check_attributes(const client *c)
{
    void *in = VALUE(c, FLOAT, FLOATS(1, 2, 3)), *out[2] = {NULL};
    OK(run(c, &in, 1, out, 2));
    char expected[512];
    snprintf(expected, sizeof expected,
             "%a 9007199254740993 %a %a 1 -2 9223372036854775807 some text/10 one  th ree 1 1 2",
             (double)0.1f, 0.5, -3.0);
    check_text(out[0], expected);
    CHECK_VALUE(out[1], FLOATS(11, 22, 33));
}

TEST(attributes_of_each_kind_are_those_of_the_model)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, attributes_node("Attributes", "test.custom"));
    put_input(&graph, "a", FLOAT, "3");
    put_output(&graph, "y", STRING, "");
    put_output(&graph, "z", FLOAT, "3");
    message model = custom_model(graph);
    client_start(&c, &model);
    check_attributes(&c);
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
    client_start(&c, &model);
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
        client_end(&c);
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
    client_start(&c, &model);
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
    client_start(&c, &model);
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
        client_end(&c);
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
    client_start(&c, &model);
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
    client_end(&c);
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
    client_start(&c, &model);
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

// ---- What kernels use of the library ----

static message meets_model(int calls, int batches, int expected)
{
    message meets = custom("Meets", "a", "y");
    add_int(&meets, "calls", calls);
    add_int(&meets, "batches", batches);
    add_int(&meets, "expected", expected);
    return unary_model(meets, "1", "K");
}

// Two calls wait for each other, which they would do in vain one after the other.
TEST(parallel_calls_run_on_the_threads_of_the_session)
{
    static const struct {
        int threads, calls, batches, expected;
    } cases[] = {{2, 2, 0, 2}, {2, 2, 2, 2}, {2, 5, 3, 2},
                 {2, 4, 1, 1}, {1, 3, 3, 1}, {3, 3, 0, 3}};
    client c;
    client_open(&c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message model = meets_model(cases[i].calls, cases[i].batches, cases[i].expected);
        OK(SetIntraOpNumThreads(c.options, cases[i].threads));
        OK(client_read(&c, &model));
        void *in = VALUE(&c, FLOAT, FLOATS(1)), *out = NULL;
        OK(run(&c, &in, 1, &out, 1));
        CHECK_EQ(count_of(out), cases[i].calls);
        CHECK_EQ((int)*(float *)data_of(out), cases[i].expected);
        ReleaseValue(out);
        client_end(&c);
    }
    client_close(&c);
}

static message invokes_model(void)
{
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Invokes", "a b", "y z"));
    put_input(&graph, "a", FLOAT, "N 2");
    put_input(&graph, "b", FLOAT, "2 M");
    put_output(&graph, "y", FLOAT, "M 2");
    put_output(&graph, "z", INT64, "M 2");
    return custom_model(graph);
}

static void *matrix(const client *c, const float *data, int64_t rows, int64_t columns)
{
    const int64_t dims[] = {rows, columns};
    void *value = NULL;
    OK(CreateTensorWithDataAsOrtValue(c->memory, (void *)(uintptr_t)data,
                                      (size_t)(rows * columns) * sizeof *data, dims, 2, FLOAT,
                                      &value));
    return value;
}

// Columns of a * b through a softmax, of which the two least follow, with 0.25 at most.
static void check_invokes(const client *c, int64_t rows, int64_t columns)
{
    float a[8], b[8];
    for (int i = 0; i < 8; i++) {
        a[i] = (float)((i * 5) % 7) / 8;
        b[i] = (float)((i * 3) % 5) - 2;
    }
    void *in[] = {matrix(c, a, rows, 2), matrix(c, b, 2, columns)}, *out[2] = {NULL};
    OK(run(c, in, 2, out, 2));
    const float *y = data_of(out[0]);
    const int64_t *z = data_of(out[1]);
    CHECK_EQ(count_of(out[0]), 2 * columns);
    for (int64_t k = 0; k < columns; k++) {
        double soft[4], sum = 0;
        for (int64_t i = 0; i < rows; i++)
            sum += soft[i] = exp((double)a[2 * i] * (double)b[k] +
                                 (double)a[2 * i + 1] * (double)b[columns + k]);
        for (int n = 0; n < 2; n++) {
            int64_t least = 0;
            for (int64_t i = 0; i < rows; i++)
                if (soft[i] < soft[least])
                    least = i;
            CHECK_EQ(z[2 * k + n], least);
            CHECK(fabs((double)y[2 * k + n] - fmin(soft[least] / sum, 0.25)) < 1e-6);
            soft[least] = INFINITY;
        }
    }
    ReleaseValue(out[0]);
    ReleaseValue(out[1]);
}

TEST(kernels_create_and_run_operators_of_onnx)
{
    client c;
    message model = invokes_model();
    client_open(&c);
    const custom_counts before = counts(&c);
    OK(client_read(&c, &model));
    for (int i = 0; i < 3; i++) { // with other sizes in between
        check_invokes(&c, 4, 3);
        check_invokes(&c, 3, 4);
        check_invokes(&c, 2, 1);
    }
    client_end(&c);
    CHECK_EQ(counts(&c).created - before.created, counts(&c).destroyed - before.destroyed);
    client_close(&c);
}

// Five operators run in each, at four shapes, so that sessions are kept and used again.
TEST(memory_does_not_grow_over_10000_runs_of_operators)
{
    if (TEST_ASAN || TEST_TSAN)
        SKIP("a sanitizer keeps memory that was freed");
    client c;
    message model = invokes_model();
    client_start(&c, &model);
    for (int i = 0; i < 200; i++)
        check_invokes(&c, 2 + i % 2, 1 + i % 4);
    long before = resident_pages();
    for (int i = 0; i < 2000; i++)
        check_invokes(&c, 2 + i % 2, 1 + i % 4);
    CHECK(before > 0 && resident_pages() - before < 64);
    client_close(&c);
}

static void *invoke_often(void *user)
{
    for (int i = 0; i < 20; i++)
        check_invokes(user, 2 + i % 3, 1 + i % 4);
    return NULL;
}

TEST(threads_run_operators_of_one_kernel)
{
    client c;
    pthread_t threads[4];
    message model = invokes_model();
    client_start(&c, &model);
    for (int t = 0; t < 4; t++)
        CHECK_EQ(pthread_create(&threads[t], NULL, invoke_often, &c), 0);
    for (int t = 0; t < 4; t++)
        CHECK_EQ(pthread_join(threads[t], NULL), 0);
    client_close(&c);
}

// The kernel checks them, with calls that are refused in between.
TEST(operators_of_onnx_run_in_all_forms)
{
    client c;
    client_open(&c);
    const custom_counts before = counts(&c);
    message model = unary_model(custom("Changes", "a", "y"), "2", "2");
    size_t thread_count = count_threads();
    for (int i = 0; i < 3; i++) {
        OK(SetIntraOpNumThreads(c.options, i + 1));
        OK(client_read(&c, &model));
        float x[] = {3, (float)i + 2};
        const float expected[] = {3, (float)i + 2};
        void *in = VALUE(&c, FLOAT, x), *out = NULL;
        OK(run(&c, &in, 1, &out, 1));
        CHECK_VALUE(out, expected);
        CHECK_EQ(count_threads() - thread_count, i); // of the session; its operators have none
        client_end(&c);
    }
    CHECK_EQ(counts(&c).created - before.created, 3);
    CHECK_EQ(counts(&c).destroyed - before.destroyed, 3);
    client_close(&c);
}

// A kernel may use what all calls have written, so none is left out; the run then ends.
TEST(parallel_calls_are_all_done_in_a_run_that_is_terminated)
{
    client c;
    void *options = NULL;
    client_open(&c);
    message graph = {.len = 0};
    put_message(&graph, 1, custom("Ends", "a b", "m"));
    put_message(&graph, 1, node("Neg", "", "m", "y"));
    put_input(&graph, "a", FLOAT, "2");
    put_input(&graph, "b", INT64, "1");
    put_output(&graph, "y", FLOAT, NULL);
    message model = custom_model(graph);
    OK(CreateRunOptions(&options));
    for (int threads = 1; threads < 4; threads++) {
        OK(SetIntraOpNumThreads(c.options, threads));
        OK(client_read(&c, &model));
        int64_t address = (int64_t)(uintptr_t)options;
        void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2)), tensor(&c, &address, 8, 1, INT64)};
        void *out = NULL;
        int done = counts(&c).done;
        SAYS(Run(c.session, options, names, (const void *const *)in, 2, out_names, 1, &out), 1, "");
        CHECK_NULL(out);
        CHECK_EQ(counts(&c).done - done, 64);
        OK(RunOptionsUnsetTerminate(options));
        ReleaseValue(in[0]);
        ReleaseValue(in[1]);
        client_end(&c);
    }
    ReleaseRunOptions(options);
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
    client_start(&c, &model);
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
    client_start(&c, &model);
    void *in = VALUE(&c, FLOAT, FLOATS(1, -2)), *out = NULL;
    OK(run(&c, &in, 1, &out, 1));
    CHECK_VALUE(out, FLOATS(16, -32));
    client_close(&c);
}

static void refer(message *node, const char *name, int type, const char *to)
{
    message a = attribute(name, type);
    put_text(&a, 21, to);
    put_message(node, 5, a);
}

static message function_of(const char *name, const char *input, const char *output)
{
    message function = {.len = 0};
    put_text(&function, 1, name);
    put_text(&function, 4, input);
    put_text(&function, 5, output);
    put_text(&function, 10, "local");
    put_import(&function, 9, "test.custom", 1);
    put_import(&function, 9, "local", 1);
    put_import(&function, 9, "", 17);
    return function;
}

// -(f * (x + x)), where f is an attribute whose default is 3
static message scaled_function(void)
{
    message function = function_of("Scaled", "x", "out"), sum = custom("SumDiff", "x x", "s d"),
            preset = attribute("f", OF_FLOAT);
    refer(&sum, "factor", OF_FLOAT, "f");
    put_message(&function, 7, sum);
    put_message(&function, 7, node("Neg", "", "s", "out"));
    put_float(&preset, 2, 3);
    put_message(&function, 11, preset);
    return function;
}

// Scaled with f = g, of what Scaled with f = 10 gives
static message twofold_function(void)
{
    message function = function_of("Twofold", "x", "out"),
            first = node("Scaled", "local", "x", "once"),
            second = node("Scaled", "local", "once", "out");
    add_float(&first, "f", 10);
    refer(&second, "f", OF_FLOAT, "g");
    put_text(&function, 6, "g");
    put_message(&function, 7, first);
    put_message(&function, 7, second);
    return function;
}

static message call_of(const char *name, const char *input, const char *output, const char *of,
                       float value)
{
    message call = node(name, "local", input, output);
    if (of)
        add_float(&call, of, value);
    return call;
}

TEST(attributes_of_calls_reach_operators_in_functions)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, call_of("Scaled", "a", "y", "f", 0.5f));
    put_message(&graph, 1, call_of("Scaled", "a", "z", NULL, 0)); // the default
    put_message(&graph, 1, call_of("Twofold", "a", "p", "g", 2));
    put_message(&graph, 1, call_of("Twofold", "a", "q", "g", 7));
    put_message(&graph, 1, call_of("Twofold", "a", "r", NULL, 0));
    put_input(&graph, "a", FLOAT, "2");
    for (int i = 0; i < 5; i++)
        put_output(&graph, out_names[i], FLOAT, NULL);
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    put_message(&model, 25, twofold_function()); // before the one that it calls
    put_message(&model, 25, scaled_function());
    client_open(&c);
    const custom_counts before = counts(&c);
    OK(client_read(&c, &model));
    CHECK_EQ(counts(&c).created - before.created, 8); // each call has its own
    void *in = VALUE(&c, FLOAT, FLOATS(1, -2)), *out[5] = {NULL};
    OK(run(&c, &in, 1, out, 5));
    CHECK_VALUE(out[0], FLOATS(-1, 2));
    CHECK_VALUE(out[1], FLOATS(-6, 12));
    CHECK_VALUE(out[2], FLOATS(80, -160));
    CHECK_VALUE(out[3], FLOATS(280, -560));
    CHECK_VALUE(out[4], FLOATS(120, -240)); // g is left out, and so f
    client_close(&c);
}

// Each call has its own kernel, which counts its runs.
TEST(calls_of_a_function_have_kernels_of_their_own)
{
    client c;
    message graph = {.len = 0}, function = function_of("Counted", "x", "n");
    put_message(&function, 7, custom("Count", "x", "same n"));
    put_message(&graph, 1, call_of("Counted", "a", "y", NULL, 0));
    put_message(&graph, 1, call_of("Counted", "a", "z", NULL, 0));
    put_input(&graph, "a", FLOAT, "2");
    put_output(&graph, "y", INT64, "1");
    put_output(&graph, "z", INT64, "1");
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    put_message(&model, 25, function);
    client_start(&c, &model);
    for (int64_t i = 1; i < 4; i++) {
        void *in = VALUE(&c, FLOAT, FLOATS(1, 2)), *out[2] = {NULL};
        const int64_t count[] = {i};
        OK(run(&c, &in, 1, out, 2));
        CHECK_VALUE(out[0], count);
        CHECK_VALUE(out[1], count);
    }
    client_close(&c);
}

// "m" of `x` and `b`: Twice if `b`, else Versions, in graphs of a node.
static message choosing_function(void)
{
    message function = function_of("Choose", "x", "out"), choice = node("If", "", "b", "out"),
            then = attribute("then_branch", OF_GRAPH), other = attribute("else_branch", OF_GRAPH);
    message graphs[2] = {{.len = 0}, {.len = 0}};
    put_text(&function, 4, "b");
    put_message(&graphs[0], 1, custom("Twice", "x", "then"));
    put_message(&graphs[1], 1, custom("Versions", "x", "else"));
    put_output(&graphs[0], "then", FLOAT, NULL);
    put_output(&graphs[1], "else", FLOAT, NULL);
    put_text(&graphs[0], 2, "then");
    put_text(&graphs[1], 2, "else");
    put_message(&then, 6, graphs[0]);
    put_message(&other, 6, graphs[1]);
    put_message(&choice, 5, then);
    put_message(&choice, 5, other);
    put_message(&function, 7, choice);
    return function;
}

// A function that only hands on what it is given to another.
static message handing_function(const char *name)
{
    message function = function_of(name, "x", "out");
    put_text(&function, 4, "b");
    put_message(&function, 7, call_of("Choose", "x b", "out", NULL, 0));
    return function;
}

// Of three functions each calls the one that has custom operators, in graphs of its node alone.
TEST(functions_reach_operators_through_graphs_and_calls)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, call_of("First", "a b", "y", NULL, 0));
    put_message(&graph, 1, call_of("Second", "a b", "z", NULL, 0));
    put_message(&graph, 1, call_of("Third", "a b", "p", NULL, 0));
    put_input(&graph, "a", FLOAT, "2");
    put_input(&graph, "b", 9, "1");
    for (int i = 0; i < 3; i++)
        put_output(&graph, out_names[i], FLOAT, NULL);
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    put_message(&model, 25, handing_function("First"));
    put_message(&model, 25, handing_function("Second"));
    put_message(&model, 25, handing_function("Third"));
    put_message(&model, 25, choosing_function());
    client_start(&c, &model);
    for (int i = 0; i < 2; i++) {
        unsigned char is_then[1] = {i & 1};
        void *in[] = {VALUE(&c, FLOAT, FLOATS(1, 2)), tensor(&c, is_then, 1, 1, 9)};
        void *out[3] = {NULL};
        OK(run(&c, in, 2, out, 3));
        const float expected[] = {2, i ? 4 : 3};
        for (int k = 0; k < 3; k++)
            CHECK_VALUE(out[k], expected);
    }
    client_close(&c);
}

// The same name in two domains and two overloads, where "ai.onnx" is the domain without a name.
TEST(calls_find_functions_by_domain_and_overload)
{
    static const struct {
        const char *domain, *called_as, *overload, *optype;
    } cases[] = {{"local", "local", "", "Twice"},
                 {"local", "local", "more", "Versions"},
                 {"", "ai.onnx", "", "Versions"}};
    client c;
    message graph = {.len = 0}, functions[3];
    for (int i = 0; i < 3; i++) {
        message call = node("Same", cases[i].called_as, "a", out_names[i]);
        if (*cases[i].overload)
            put_text(&call, 8, cases[i].overload);
        put_message(&graph, 1, call);
        put_output(&graph, out_names[i], FLOAT, NULL);
        functions[i] = (message){.len = 0};
        put_text(&functions[i], 1, "Same");
        put_text(&functions[i], 4, "x");
        put_text(&functions[i], 5, "out");
        put_text(&functions[i], 10, cases[i].domain);
        put_text(&functions[i], 13, cases[i].overload);
        put_import(&functions[i], 9, "test.custom", 1);
        put_message(&functions[i], 7, custom(cases[i].optype, "x", "out"));
    }
    put_input(&graph, "a", FLOAT, "2");
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    for (int i = 2; i >= 0; i--)
        put_message(&model, 25, functions[i]);
    client_start(&c, &model);
    void *in = VALUE(&c, FLOAT, FLOATS(5, 7)), *out[3] = {NULL};
    OK(run(&c, &in, 1, out, 3));
    CHECK_VALUE(out[0], FLOATS(10, 14));
    CHECK_VALUE(out[1], FLOATS(6, 8));
    CHECK_VALUE(out[2], FLOATS(6, 8));
    client_close(&c);
}

// All kinds of attributes, which a node in a function has from the call.
TEST(attributes_of_each_kind_reach_operators_in_functions)
{
    static const struct {
        const char *name;
        int type;
    } kinds[] = {{"float", OF_FLOAT},  {"int", OF_INT},         {"floats", OF_FLOATS},
                 {"ints", OF_INTS},    {"strings", OF_STRINGS}, {"string", OF_STRING},
                 {"tensor", OF_TENSOR}};
    client c;
    message graph = {.len = 0}, function = {.len = 0}, inner = custom("Attributes", "x", "s t"),
            call = attributes_node("Hands", "local");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        refer(&inner, kinds[i].name, kinds[i].type, kinds[i].name);
        put_text(&function, 6, kinds[i].name);
    }
    put_text(&function, 1, "Hands");
    put_text(&function, 4, "x");
    put_text(&function, 5, "s");
    put_text(&function, 5, "t");
    put_text(&function, 10, "local");
    put_import(&function, 9, "test.custom", 1);
    put_message(&function, 7, inner);
    put_message(&graph, 1, call);
    put_input(&graph, "a", FLOAT, "3");
    put_output(&graph, "y", STRING, "");
    put_output(&graph, "z", FLOAT, "3");
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    put_message(&model, 25, function);
    client_start(&c, &model);
    check_attributes(&c);
    client_close(&c);
}

TEST(functions_that_call_themselves_are_refused)
{
    client c;
    message graph = {.len = 0}, function = function_of("Again", "x", "out");
    put_message(&function, 7, custom("Twice", "x", "m"));
    put_message(&function, 7, call_of("Again", "m", "out", NULL, 0));
    put_message(&graph, 1, call_of("Again", "a", "y", NULL, 0));
    put_input(&graph, "a", FLOAT, "2");
    put_output(&graph, "y", FLOAT, NULL);
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    put_message(&model, 25, function);
    client_open(&c);
    SAYS(client_read(&c, &model), 10, "Again");
    client_close(&c);
}

// Bytes that are written from the last to the first, as lengths come before what they count.
typedef struct backwards {
    unsigned char *bytes, *at, *end;
} backwards;

static void prepend(backwards *b, const void *bytes, size_t len)
{
    b->at -= len;
    memcpy(b->at, bytes, len);
}

// All that was written becomes the bytes of a field.
static void enclose(backwards *b, int field)
{
    message head = {.len = 0};
    put_varint(&head, (uint64_t)field << 3 | 2);
    put_varint(&head, (uint64_t)(b->end - b->at));
    prepend(b, head.bytes, head.len);
}

// A model whose graph, or function, has a node with a graph that has a node, and so on.
static backwards deep_model(size_t depth, bool is_function)
{
    const size_t capacity = 64 * depth + 4096;
    backwards b = {.bytes = malloc(capacity)};
    CHECK_NOT_NULL(b.bytes);
    b.at = b.end = b.bytes + capacity;
    message twice = custom("Twice", "x", "y"), function = {.len = 0}, graph = {.len = 0};
    prepend(&b, twice.bytes, twice.len);
    for (size_t i = 0; i < depth; i++) {
        enclose(&b, 1); // a node of a graph
        enclose(&b, 6); // of an attribute
        enclose(&b, 5); // of a node
    }
    enclose(&b, is_function ? 7 : 1);
    put_text(&function, 1, "Deep");
    put_text(&function, 10, "local");
    if (is_function)
        prepend(&b, function.bytes, function.len);
    enclose(&b, is_function ? 25 : 7);
    put_message(&graph, 1, call_of("Deep", "a", "y", NULL, 0));
    message model = is_function ? custom_model(graph) : (message){.len = 0};
    prepend(&b, model.bytes, model.len);
    return b;
}

// However deep they are, they are refused where LightNet reads no further.
TEST(graphs_inside_each_other_are_refused)
{
    static const size_t depths[] = {40, 200000};
    client c;
    client_open(&c);
    for (int i = 0; i < 4; i++) {
        backwards b = deep_model(depths[i / 2], i & 1);
        void *status =
            CreateSessionFromArray(c.env, b.at, (size_t)(b.end - b.at), c.options, &c.session);
        CHECK_NOT_NULL(status);
        ReleaseStatus(status);
        free(b.bytes);
    }
    client_close(&c);
}

// Ten functions that call the next one ten times each, down to a custom operator.
TEST(functions_of_too_many_calls_are_refused)
{
    client c;
    message graph = {.len = 0};
    put_message(&graph, 1, call_of("F0", "a", "y", NULL, 0));
    put_input(&graph, "a", FLOAT, "2");
    put_output(&graph, "y", FLOAT, NULL);
    message model = custom_model(graph);
    put_import(&model, 8, "local", 1);
    for (int i = 0; i < 10; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(next, sizeof next, "F%d", i + 1);
        message function = function_of(name, "x", "out");
        for (int k = 0; k < 9; k++)
            put_message(&function, 7,
                        i < 9 ? call_of(next, "x", "unused", NULL, 0) : custom("Twice", "x", "u"));
        put_message(&function, 7,
                    i < 9 ? call_of(next, "x", "out", NULL, 0) : custom("Twice", "x", "out"));
        put_message(&model, 25, function);
    }
    client_open(&c);
    SAYS(client_read(&c, &model), 10, "called more than");
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

TEST_LIST(
    attributes_of_each_kind_are_those_of_the_model,
    two_inputs_make_two_outputs_of_shapes_that_are_known_before, shapes_follow_inputs_of_any_size,
    a_shape_function_that_fails_has_said_nothing, an_output_is_as_large_as_the_kernel_says,
    inputs_may_be_left_out_and_many, elements_of_each_type_pass,
    strings_and_outputs_that_nobody_wants_pass, types_choose_among_operators_of_one_name,
    types_choose_in_a_run_too, a_domain_has_operators_by_version, a_domain_need_not_be_imported,
    a_model_names_what_is_in_the_domain, no_model_reaches_nodes_of_another, a_kernel_knows_its_node,
    statuses_of_a_library_are_those_of_the_call, sessions_share_a_domain_and_have_their_own_kernels,
    eight_threads_run_one_kernel, kernels_run_in_each_run, graphs_of_nodes_have_custom_operators,
    functions_of_a_model_have_custom_operators, attributes_of_calls_reach_operators_in_functions,
    calls_of_a_function_have_kernels_of_their_own, functions_that_call_themselves_are_refused,
    functions_of_too_many_calls_are_refused, graphs_inside_each_other_are_refused,
    parallel_calls_run_on_the_threads_of_the_session, kernels_create_and_run_operators_of_onnx,
    operators_of_onnx_run_in_all_forms, parallel_calls_are_all_done_in_a_run_that_is_terminated,
    functions_reach_operators_through_graphs_and_calls, calls_find_functions_by_domain_and_overload,
    attributes_of_each_kind_reach_operators_in_functions,
    memory_does_not_grow_over_10000_runs_of_operators, threads_run_operators_of_one_kernel,
    libraries_come_by_path_and_by_function, a_model_with_custom_operators_is_not_written)
