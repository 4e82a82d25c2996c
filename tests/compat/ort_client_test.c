// SPDX-License-Identifier: Apache-2.0
// What clients of ONNX Runtime do, over models that are made here.

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <lightnet/allocator.h>
#include <lightnet/easyjson.h>

#include "tests/compat/onnx_bytes.h"
#include "tests/compat/ort_client.h"
#include "tests/compat/resident.h"
#include "tests/sanitizer.h"
#include "tests/test.h"

// ---- Helpers ----

typedef struct client {
    void *env, *options, *session, *memory, *allocator;
} client;

static int code_of(void *status)
{
    int code = status ? GetErrorCode(status) : 0;
    ReleaseStatus(status);
    return code;
}

#define FAILS(call, code) CHECK_EQ(code_of(call), (code))

// The call fails with a code, and its message has `text`.
#define SAYS(call, code, text)                                                                     \
    do {                                                                                           \
        void *says_status = (call);                                                                \
        CHECK_NOT_NULL(says_status);                                                               \
        CHECK_EQ(GetErrorCode(says_status), (code));                                               \
        if (!strstr(GetErrorMessage(says_status), (text)))                                         \
            fail_msg("'%s' does not have '%s'", GetErrorMessage(says_status), (text));             \
        ReleaseStatus(says_status);                                                                \
    } while (0)

static void client_open(client *c)
{
    ort_client_load();
    *c = (client){0};
    OK(CreateEnv(2, "test", &c->env));
    OK(CreateSessionOptions(&c->options));
    OK(SetIntraOpNumThreads(c->options, 1));
    OK(CreateCpuMemoryInfo(0, 0, &c->memory));
    OK(GetAllocatorWithDefaultOptions(&c->allocator));
}

static void client_read(client *c, const message *model)
{
    OK(CreateSessionFromArray(c->env, model->bytes, model->len, c->options, &c->session));
}

static void client_close(client *c)
{
    ReleaseSession(c->session);
    ReleaseSessionOptions(c->options);
    ReleaseMemoryInfo(c->memory);
    ReleaseEnv(c->env);
}

static void *tensor(client *c, float *data, int64_t len)
{
    void *value = NULL;
    OK(CreateTensorWithDataAsOrtValue(c->memory, data, (size_t)len * sizeof *data, &len, 1, 1,
                                      &value));
    return value;
}

static float *floats(void *value)
{
    void *data = NULL;
    OK(GetTensorMutableData(value, &data));
    return data;
}

// y = x + w, w being an initializer that runs may replace; of "N" elements, or of 4.
static message sum_model(const char *dims, bool has_input)
{
    static const float w[] = {1, 2, 3, 4};
    message graph = {.len = 0};
    put_message(&graph, 1, node("Add", "", "x w", "y"));
    put_message(&graph, 5, float_tensor("w", 4, w));
    put_message(&graph, 11, value_info("x", tensor_type(1, dims)));
    if (has_input)
        put_message(&graph, 11, value_info("w", tensor_type(1, "4")));
    put_message(&graph, 12, value_info("y", tensor_type(1, dims)));
    message model = model_of(graph);
    put_property(&model, 14, "classes", "cat,dog");
    put_property(&model, 14, "rate", "16000");
    return model;
}

static const char *const in_x[] = {"x"}, *const out_y[] = {"y"};

// ---- Statuses ----

TEST(statuses_have_every_code)
{
    ort_client_load();
    for (int code = 0; code < 15; code++) {
        void *status = CreateStatus(code, "text");
        CHECK_EQ(GetErrorCode(status), code);
        CHECK_STR_EQ(GetErrorMessage(status), "text");
        ReleaseStatus(status);
    }
    ReleaseStatus(NULL);
}

TEST(failures_have_the_codes_of_their_kind)
{
    client c;
    client_open(&c);
    static const char no_maker[] = "input(| dst=a | dtype=TL_FLOAT, dims=[2]);\n"
                                   "Add(A=a, B=q | C=y |);\n";
    size_t size = 0;
    void *session = &c;
    message other = {.len = 0};
    put_message(&other, 1, node("Ad", "", "x w", "y"));
    put_message(&other, 11, value_info("x", tensor_type(1, "4")));
    put_message(&other, 12, value_info("y", tensor_type(1, "4")));
    message unknown = model_of(other), whole = sum_model("4", false);
    FAILS(GetSessionConfigEntry(c.options, "none", NULL, &size), 2);
    FAILS(CreateSession(c.env, "/tmp", c.options, &session), 2);
    FAILS(CreateEnv(2, NULL, &session), 2);
    FAILS(CreateSession(c.env, "/no/such.onnx", c.options, &session), 3);
    FAILS(CreateSessionFromArray(c.env, "\x08\xff\xff", 3, c.options, &session), 7);
    CHECK_NULL(session);
    FAILS(CreateSessionFromArray(c.env, unknown.bytes, unknown.len, c.options, &session), 10);
    FAILS(CreateSessionFromArray(c.env, unknown.bytes, 0, c.options, &session), 2);
    SAYS(AddSessionConfigEntry(c.options, "session.load_model_format", "ORT"), 9,
         "session.load_model_format");
    FAILS(CreateSessionFromArray(c.env, no_maker, sizeof no_maker - 1, c.options, &session), 10);
    OK(SessionOptionsSetLoadCancellationFlag(c.options, true));
    FAILS(CreateSessionFromArray(c.env, whole.bytes, whole.len, c.options, &session), 12);
    CHECK_NULL(session);
    OK(SessionOptionsSetLoadCancellationFlag(c.options, false));
    OK(CreateSessionFromArray(c.env, whole.bytes, whole.len, c.options, &session));
    ReleaseSession(session);
    client_close(&c);
}

// Twelve words of 0 are enough for each function; those that are there refuse a NULL.
TEST(functions_that_return_a_status_refuse_null_or_name_themselves)
{
    ort_client_load();
#define R(number, name)
#define V(number, name)
#define S(number, name) {number, #name},
    static const struct {
        int number;
        const char *name;
    } slots[] = {
#include "compat/ort/slots.inc"
    };
#undef R
#undef V
#undef S
    typedef void *(*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                              uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        void *status =
            ((function)ort_client_table()[slots[i].number])(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        int code = GetErrorCode(status);
        if (code != 2 && (code != 9 || !strstr(GetErrorMessage(status), slots[i].name)))
            fail_msg("%s: %d: %s", slots[i].name, code, GetErrorMessage(status));
        ReleaseStatus(status);
    }
}

// ---- Messages ----

typedef struct heard {
    int counts[5];
    char id[64], text[256];
} heard;

static void hear(void *user, int severity, const char *category, const char *id,
                 const char *location, const char *text)
{
    heard *h = user;
    CHECK(severity >= 0 && severity < 5 && category && location);
    h->counts[severity]++;
    snprintf(h->id, sizeof h->id, "%s", id);
    snprintf(h->text, sizeof h->text, "%s", text);
}

TEST(loggers_get_messages_with_severity_and_id)
{
    client c;
    client_open(&c);
    heard h = {.counts = {0}}, other = {.counts = {0}};
    void *env = NULL, *session = NULL, *run_options = NULL, *value = NULL;
    float x[5] = {0};
    message model = sum_model("4", false);
    OK(CreateEnvWithCustomLogger(hear, &h, 0, "loud", &env));
    OK(CreateSessionFromArray(env, model.bytes, model.len, c.options, &session));
    CHECK(h.counts[0] > 0); // rewrites are verbose messages
    CHECK_STR_EQ(h.id, "loud");
    ReleaseSession(session);

    OK(UpdateEnvWithCustomLogLevel(env, 2));
    memset(h.counts, 0, sizeof h.counts);
    OK(SetSessionLogId(c.options, "sums"));
    OK(CreateSessionFromArray(env, model.bytes, model.len, c.options, &session));
    CHECK_EQ(h.counts[0], 0);
    value = tensor(&c, x, 5);
    OK(CreateRunOptions(&run_options));
    OK(RunOptionsSetRunTag(run_options, "first"));
    void *y = NULL;
    FAILS(Run(session, run_options, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2);
    CHECK_EQ(h.counts[3], 1);
    CHECK_STR_EQ(h.id, "sums:first");
    CHECK(strstr(h.text, "'x'"));
    OK(RunOptionsSetRunLogSeverityLevel(run_options, 4));
    FAILS(Run(session, run_options, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2);
    CHECK_EQ(h.counts[3], 1);
    ReleaseSession(session);

    OK(SetUserLoggingFunction(c.options, hear, &other));
    FAILS(CreateSessionFromArray(env, "\x08\xff\xff", 3, c.options, &session), 7);
    CHECK_EQ(other.counts[3], 1);
    CHECK_EQ(h.counts[3], 1);
    ReleaseRunOptions(run_options);
    ReleaseValue(value);
    ReleaseEnv(env);
    client_close(&c);
}

// ---- Names, types, metadata ----

TEST(symbols_are_stated_and_may_be_bound)
{
    client c;
    client_open(&c);
    message model = sum_model("N", false);
    OK(AddFreeDimensionOverrideByName(c.options, "M", 7)); // of no model's
    client_read(&c, &model);
    void *type = NULL, *clone = NULL, *bound = NULL;
    const void *shape = NULL;
    int64_t dim = 0;
    const char *symbol = NULL;
    OK(SessionGetInputTypeInfo(c.session, 0, &type));
    OK(CastTypeInfoToTensorInfo(type, &shape));
    OK(GetDimensions(shape, &dim, 1));
    OK(GetSymbolicDimensions(shape, &symbol, 1));
    CHECK_EQ(dim, -1);
    CHECK_STR_EQ(symbol, "N");
    ReleaseTypeInfo(type);
    OK(AddFreeDimensionOverrideByName(c.options, "N", 4));
    OK(CloneSessionOptions(c.options, &clone));
    OK(CreateSessionFromArray(c.env, model.bytes, model.len, clone, &bound));
    OK(SessionGetInputTypeInfo(bound, 0, &type));
    OK(CastTypeInfoToTensorInfo(type, &shape));
    OK(GetDimensions(shape, &dim, 1));
    OK(GetSymbolicDimensions(shape, &symbol, 1));
    CHECK_EQ(dim, 4);
    CHECK_STR_EQ(symbol, "");
    ReleaseTypeInfo(type);
    ReleaseSession(bound);
    ReleaseSessionOptions(clone);
    client_close(&c);
}

TEST(metadata_has_the_custom_map)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    void *metadata = NULL;
    char *text = NULL, **keys = NULL;
    int64_t count = 0;
    OK(SessionGetModelMetadata(c.session, &metadata));
    OK(ModelMetadataGetProducerName(metadata, c.allocator, &text));
    CHECK_STR_EQ(text, "tests");
    OK(AllocatorFree(c.allocator, text));
    OK(ModelMetadataGetGraphName(metadata, c.allocator, &text));
    CHECK_STR_EQ(text, "graph");
    OK(AllocatorFree(c.allocator, text));
    OK(ModelMetadataLookupCustomMetadataMap(metadata, c.allocator, "classes", &text));
    CHECK_STR_EQ(text, "cat,dog");
    OK(AllocatorFree(c.allocator, text));
    OK(ModelMetadataLookupCustomMetadataMap(metadata, c.allocator, "none", &text));
    CHECK_NULL(text);
    OK(ModelMetadataGetCustomMetadataMapKeys(metadata, c.allocator, &keys, &count));
    CHECK_EQ(count, 2);
    CHECK_STR_EQ(keys[1], "rate");
    for (int64_t i = 0; i < count; i++)
        OK(AllocatorFree(c.allocator, keys[i]));
    OK(AllocatorFree(c.allocator, keys));
    OK(ModelMetadataGetVersion(metadata, &count));
    CHECK(count == INT64_MAX); // it states none
    ReleaseModelMetadata(metadata);
    for (int64_t stated = 0; stated < 2; stated++) {
        ReleaseSession(c.session);
        message numbered = model;
        put_int(&numbered, 5, stated);
        client_read(&c, &numbered);
        OK(SessionGetModelMetadata(c.session, &metadata));
        OK(ModelMetadataGetVersion(metadata, &count));
        CHECK_EQ(count, stated);
        ReleaseModelMetadata(metadata);
    }
    client_close(&c);
}

// ---- Runs ----

TEST(values_must_have_the_type_and_shape_of_the_input)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    float x[4] = {1, 1, 1, 1};
    int64_t wide[] = {1, 4};
    void *value = NULL, *y = NULL, *three = tensor(&c, x, 3);
    OK(CreateTensorWithDataAsOrtValue(c.memory, x, sizeof x, wide, 2, 1, &value));
    SAYS(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2, "[1, 4]");
    ReleaseValue(value);
    OK(CreateTensorWithDataAsOrtValue(c.memory, x, sizeof x, wide + 1, 1, 6, &value));
    SAYS(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2, "INT32");
    ReleaseValue(value);
    value = tensor(&c, x, 4);
    y = three;
    SAYS(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2, "[3]");
    CHECK_PTR_EQ(y, three);
    ReleaseValue(three);
    ReleaseValue(value);
    client_close(&c);
}

static void *value_of(const client *c, const void *data, size_t byte_count, int64_t ndim, int type)
{
    static const int64_t ones[] = {1, 1};
    void *value = NULL;
    OK(CreateTensorWithDataAsOrtValue(c->memory, (void *)(uintptr_t)data, byte_count, ones,
                                      (size_t)ndim, type, &value));
    return value;
}

// As sherpa-onnx gives its rate to a voice detector. One element is one, whatever its rank.
TEST(one_element_of_any_rank_is_a_scalar)
{
    static const struct {
        int type;
        size_t byte_count;
        unsigned char data[8];
    } cases[] = {{1, 4, {0, 0, 0x80, 0x3f}}, {9, 1, {1}}, {7, 8, {0x80, 0x3e}}};
    client c;
    client_open(&c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message graph = {.len = 0};
        put_message(&graph, 1, node("Identity", "", "x", "y"));
        put_message(&graph, 11, value_info("x", tensor_type(cases[i].type, "")));
        put_message(&graph, 12, value_info("y", tensor_type(cases[i].type, "")));
        message model = model_of(graph);
        ReleaseSession(c.session);
        client_read(&c, &model);
        for (int64_t ndim = 0; ndim < 3; ndim++) {
            void *x = value_of(&c, cases[i].data, cases[i].byte_count, ndim, cases[i].type),
                 *y = NULL, *data = NULL;
            OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, out_y, 1, &y));
            OK(GetTensorMutableData(y, &data));
            CHECK_MEM_EQ(data, cases[i].data, cases[i].byte_count);
            ReleaseValue(y);
            ReleaseValue(x);
        }
    }
    static const int64_t rates[] = {8000, 16000};
    int64_t two = 2;
    void *value = NULL, *y = NULL;
    OK(CreateTensorWithDataAsOrtValue(c.memory, (void *)(uintptr_t)rates, sizeof rates, &two, 1, 7,
                                      &value));
    FAILS(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2);
    ReleaseValue(value);
    client_close(&c);
}

TEST(inputs_are_given_once)
{
    client c;
    client_open(&c);
    message model = sum_model("4", true);
    client_read(&c, &model);
    float x[4] = {0}, w[4] = {0};
    void *values[] = {tensor(&c, x, 4), tensor(&c, w, 4), tensor(&c, x, 4)}, *y = NULL;
    const char *first[] = {"x", "x"}, *last[] = {"x", "w", "w"}, *apart[] = {"x", "w", "x"};
    SAYS(Run(c.session, NULL, first, (const void *const *)values, 2, out_y, 1, &y), 2, "'x' is");
    SAYS(Run(c.session, NULL, last, (const void *const *)values, 3, out_y, 1, &y), 2, "'w' is");
    SAYS(Run(c.session, NULL, apart, (const void *const *)values, 3, out_y, 1, &y), 2, "'x' is");
    CHECK_NULL(y);
    for (int i = 0; i < 3; i++)
        ReleaseValue(values[i]);
    client_close(&c);
}

// y = -x, z = x + x
static message negate_and_double_model(void)
{
    message graph = {.len = 0};
    put_message(&graph, 1, node("Neg", "", "x", "y"));
    put_message(&graph, 1, node("Add", "", "x x", "z"));
    put_message(&graph, 11, value_info("x", tensor_type(1, "16")));
    put_message(&graph, 12, value_info("y", tensor_type(1, "16")));
    put_message(&graph, 12, value_info("z", tensor_type(1, "16")));
    return model_of(graph);
}

// A run neither writes where one before it did, nor ends with the options that one had.
TEST(a_run_leaves_nothing_to_the_next_one)
{
    client c;
    client_open(&c);
    message model = negate_and_double_model();
    client_read(&c, &model);
    _Alignas(64) float x[16] = {5, 6}, y[16] = {0};
    void *value = tensor(&c, x, 16), *given = tensor(&c, y, 16), *z = NULL, *options = NULL;
    const char *out_z[] = {"z"};
    OK(CreateRunOptions(&options));
    OK(Run(c.session, options, in_x, (const void *const *)&value, 1, out_y, 1, &given));
    CHECK(y[0] == -5 && y[1] == -6);
    OK(RunOptionsSetTerminate(options));
    x[0] = 7;
    OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_z, 1, &z));
    CHECK(floats(z)[0] == 14 && y[0] == -5);
    FAILS(Run(c.session, options, in_x, (const void *const *)&value, 1, out_y, 1, &given), 1);
    ReleaseRunOptions(options);
    x[0] = 8;
    OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_z, 1, &z));
    CHECK(floats(z)[0] == 16);
    ReleaseValue(z);
    ReleaseValue(given);
    ReleaseValue(value);
    client_close(&c);
}

// Whatever lies over what, the numbers are those of operands that were read first.
TEST(given_outputs_may_lie_over_inputs_and_each_other)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    _Alignas(64) float memory[8] = {10, 20, 30, 40, 50, 60, 70, 80};
    void *x = tensor(&c, memory, 4), *y = tensor(&c, memory, 4), *after = tensor(&c, memory + 1, 4);
    OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, out_y, 1, &y)); // in place
    CHECK(memory[0] == 11 && memory[3] == 44 && memory[4] == 50);
    OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, out_y, 1, &after)); // shifted
    CHECK(memory[0] == 11 && memory[1] == 12 && memory[2] == 24 && memory[4] == 48);
    const char *thrice[] = {"y", "y", "y"};
    void *all[] = {NULL, y, NULL};
    memory[0] = memory[1] = memory[2] = memory[3] = 1000;
    OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, thrice, 3, all));
    CHECK(floats(all[0])[3] == 1004 && memory[3] == 1004 && floats(all[2])[3] == 1004);
    ReleaseValue(all[0]);
    ReleaseValue(all[2]);
    ReleaseValue(x);
    ReleaseValue(y);
    ReleaseValue(after);
    client_close(&c);
}

// Written in place, the first elements of the result would be those that the last ones are made of.
TEST(an_output_that_lies_over_what_is_still_read_is_written_last)
{
    client c;
    client_open(&c);
    message graph = {.len = 0};
    put_message(&graph, 1, node("Add", "", "x x", "y"));
    put_message(&graph, 11, value_info("x", tensor_type(1, "64")));
    put_message(&graph, 12, value_info("y", tensor_type(1, "64")));
    message model = model_of(graph);
    client_read(&c, &model);
    _Alignas(64) float memory[80];
    for (int i = 0; i < 80; i++)
        memory[i] = (float)i;
    void *x = tensor(&c, memory, 64), *y = tensor(&c, memory + 16, 64);
    OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, out_y, 1, &y));
    for (int i = 0; i < 64; i++)
        CHECK(memory[16 + i] == (float)(2 * i));
    ReleaseValue(x);
    ReleaseValue(y);
    client_close(&c);
}

TEST(results_of_a_run_stay_when_the_next_one_runs)
{
    client c;
    client_open(&c);
    for (int i = 0; i < 2; i++) {
        message model = sum_model(i ? "N" : "4", false);
        client_read(&c, &model);
        float a[] = {1, 1, 1, 1}, b[] = {5, 5, 5, 5};
        void *x = tensor(&c, a, 4), *x2 = tensor(&c, b, 4), *y = NULL, *y2 = NULL;
        OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, out_y, 1, &y));
        ReleaseValue(x); // nothing of it is read any more
        memset(a, 0xff, sizeof a);
        OK(Run(c.session, NULL, in_x, (const void *const *)&x2, 1, out_y, 1, &y2));
        CHECK(floats(y)[0] == 2 && floats(y)[3] == 5 && floats(y2)[0] == 6 && floats(y2)[3] == 9);
        ReleaseValue(x2);
        ReleaseValue(y);
        ReleaseValue(y2);
        ReleaseSession(c.session);
        c.session = NULL;
    }
    client_close(&c);
}

// A loop of more rounds than a test has time for: the run ends because another thread ends it.
static message endless_model(void)
{
    message body = {.len = 0}, graph = {.len = 0}, attribute = {.len = 0}, loop;
    put_message(&body, 1, node("Identity", "", "go", "go_on"));
    put_message(&body, 1, node("Add", "", "before before", "after"));
    put_text(&body, 2, "body");
    put_message(&body, 11, value_info("i", tensor_type(7, "")));
    put_message(&body, 11, value_info("go", tensor_type(9, "")));
    put_message(&body, 11, value_info("before", tensor_type(1, "4")));
    put_message(&body, 12, value_info("go_on", tensor_type(9, "")));
    put_message(&body, 12, value_info("after", tensor_type(1, "4")));
    put_text(&attribute, 1, "body");
    put_message(&attribute, 6, body);
    put_int(&attribute, 20, 5);
    loop = node("Loop", "", "count go x", "y");
    put_message(&loop, 5, attribute);
    put_message(&graph, 1, loop);
    put_message(&graph, 11, value_info("count", tensor_type(7, "")));
    put_message(&graph, 11, value_info("go", tensor_type(9, "")));
    put_message(&graph, 11, value_info("x", tensor_type(1, "4")));
    put_message(&graph, 12, value_info("y", tensor_type(1, "4")));
    return model_of(graph);
}

static void *end_run(void *options)
{
    OK(RunOptionsSetTerminate(options));
    return NULL;
}

TEST(another_thread_terminates_a_run)
{
    client c;
    client_open(&c);
    message model = endless_model();
    client_read(&c, &model);
    float x[4] = {0};
    int64_t count = INT64_C(1) << 40;
    unsigned char go = 1;
    void *values[3] = {NULL}, *options = NULL, *y = NULL;
    const char *names[] = {"count", "go", "x"};
    OK(CreateTensorWithDataAsOrtValue(c.memory, &count, 8, NULL, 0, 7, &values[0]));
    OK(CreateTensorWithDataAsOrtValue(c.memory, &go, 1, NULL, 0, 9, &values[1]));
    values[2] = tensor(&c, x, 4);
    OK(CreateRunOptions(&options));
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, end_run, options), 0);
        FAILS(Run(c.session, options, names, (const void *const *)values, 3, out_y, 1, &y), 1);
        CHECK_NULL(y);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        OK(RunOptionsUnsetTerminate(options));
    }
    count = 2;
    OK(Run(c.session, options, names, (const void *const *)values, 3, out_y, 1, &y));
    ReleaseValue(y);
    for (int i = 0; i < 3; i++)
        ReleaseValue(values[i]);
    ReleaseRunOptions(options);
    client_close(&c);
}

// ---- Threads ----

typedef struct worker {
    client *client;
    float first;
    int failures;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    for (int round = 0; round < 200; round++) {
        float x[4] = {w->first, 0, (float)round, 0};
        void *value = tensor(w->client, x, 4), *y = NULL;
        if (code_of(
                Run(w->client->session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y)))
            w->failures++;
        else
            w->failures += floats(y)[0] != w->first + 1 || floats(y)[2] != (float)round + 3;
        ReleaseValue(y);
        ReleaseValue(value);
    }
    return NULL;
}

TEST(eight_threads_run_one_session)
{
    client c;
    client_open(&c);
    for (int i = 0; i < 2; i++) {
        message model = sum_model(i ? "N" : "4", false);
        client_read(&c, &model);
        pthread_t threads[8];
        worker workers[8];
        for (int t = 0; t < 8; t++) {
            workers[t] = (worker){.client = &c, .first = (float)t};
            CHECK_EQ(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
        }
        for (int t = 0; t < 8; t++) {
            CHECK_EQ(pthread_join(threads[t], NULL), 0);
            CHECK_EQ(workers[t].failures, 0);
        }
        ReleaseSession(c.session);
        c.session = NULL;
    }
    client_close(&c);
}

// ---- Profiles ----

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void check_profile(const char *path, size_t runs)
{
    char *json;
    CHECK_OK(ln_easyjson_to_json(path, &json));
    CHECK_EQ(json[0], '[');
    CHECK_EQ(count_of(json, "\"session_initialization\""), 1);
    CHECK_EQ(count_of(json, "\"model_run\""), runs);
    CHECK_EQ(count_of(json, "_kernel_time\""), runs);
    CHECK_EQ(count_of(json, "\"CPUExecutionProvider\""), runs);
    ln_free(json);
}

static void run_sum(client *c, float first)
{
    float x[4] = {first, 2, 3, 4};
    void *value = tensor(c, x, 4), *y = NULL;
    OK(Run(c->session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    CHECK_NEAR(floats(y)[0], first + 1, 0);
    ReleaseValue(y);
    ReleaseValue(value);
}

static void *run_often(void *argument)
{
    for (int i = 0; i < 25; i++)
        run_sum(argument, (float)i);
    return NULL;
}

TEST(profiles_have_each_run_and_operator)
{
    client c;
    client_open(&c);
    char folder[] = LN_BUILD_DIR "/profile-XXXXXX", prefix[512], *name = NULL, *again = NULL;
    CHECK_NOT_NULL(mkdtemp(folder));
    snprintf(prefix, sizeof prefix, "%s/p\"q", folder);
    OK(EnableProfiling(c.options, prefix));
    void *clone = NULL;
    OK(CloneSessionOptions(c.options, &clone));
    OK(DisableProfiling(c.options));
    for (int i = 0; i < 2; i++) { // of a fixed shape, and of any
        message model = sum_model(i ? "N" : "4", false);
        OK(CreateSessionFromArray(c.env, model.bytes, model.len, clone, &c.session));
        uint64_t began = 0;
        OK(SessionGetProfilingStartTimeNs(c.session, &began));
        CHECK(began / 1000000000 + 100 > (uint64_t)time(NULL));
        pthread_t threads[4];
        for (int t = 0; t < 4; t++)
            CHECK_EQ(pthread_create(&threads[t], NULL, run_often, &c), 0);
        for (int t = 0; t < 4; t++)
            CHECK_EQ(pthread_join(threads[t], NULL), 0);
        OK(SessionEndProfiling(c.session, c.allocator, &name));
        CHECK_EQ(strncmp(name, prefix, strlen(prefix)), 0);
        check_profile(name, 100);
        run_sum(&c, 1); // which is not noted any more
        OK(SessionEndProfiling(c.session, c.allocator, &again));
        CHECK_STR_EQ(again, name);
        check_profile(name, 100);
        ReleaseSession(c.session);
        CHECK_EQ(unlink(name), 0);
        OK(AllocatorFree(c.allocator, name));
        OK(AllocatorFree(c.allocator, again));
    }
    ReleaseSessionOptions(clone);
    c.session = NULL;
    CHECK_EQ(rmdir(folder), 0); // nothing else was written
    client_close(&c);
}

TEST(a_profile_that_nobody_ends_is_written_with_its_session)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    char folder[] = LN_BUILD_DIR "/profile-XXXXXX", prefix[512], *name = NULL;
    CHECK_NOT_NULL(mkdtemp(folder));
    client_read(&c, &model);
    uint64_t began = 1;
    OK(SessionGetProfilingStartTimeNs(c.session, &began));
    CHECK_EQ(began, 0);
    OK(SessionEndProfiling(c.session, c.allocator, &name));
    CHECK_STR_EQ(name, "");
    OK(AllocatorFree(c.allocator, name));
    ReleaseSession(c.session);
    snprintf(prefix, sizeof prefix, "%s/none/p", folder);
    OK(EnableProfiling(c.options, prefix));
    SAYS(CreateSessionFromArray(c.env, model.bytes, model.len, c.options, &c.session), 1, prefix);
    CHECK_NULL(c.session);
    snprintf(prefix, sizeof prefix, "%s/p", folder);
    OK(EnableProfiling(c.options, prefix));
    client_read(&c, &model);
    run_sum(&c, 3);
    ReleaseSession(c.session);
    c.session = NULL;
    struct dirent **entries;
    CHECK_EQ(scandir(folder, &entries, NULL, alphasort), 3);
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entries[2]->d_name);
    check_profile(path, 1);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(rmdir(folder), 0);
    for (int i = 0; i < 3; i++)
        free(entries[i]);
    free(entries);
    client_close(&c);
}

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t is_done;
    int done_count;
    int codes[32];
} waiter;

static void done(void *user, void **outputs, size_t count, void *status)
{
    waiter *w = user;
    int code = code_of(status);
    CHECK((code == 0) == (count == 1 && outputs && outputs[0]));
    pthread_mutex_lock(&w->lock);
    w->codes[w->done_count++] = code;
    pthread_cond_signal(&w->is_done);
    pthread_mutex_unlock(&w->lock);
}

static void wait_for(waiter *w, int count)
{
    pthread_mutex_lock(&w->lock);
    while (w->done_count < count)
        pthread_cond_wait(&w->is_done, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

TEST(runs_that_nobody_waits_for_call_back)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    waiter w = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_done = PTHREAD_COND_INITIALIZER};
    float x[4] = {1, 2, 3, 4};
    void *value = tensor(&c, x, 4), *wrong = tensor(&c, x, 3), *outputs[32] = {NULL};
    for (int i = 0; i < 20; i++)
        OK(RunAsync(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &outputs[i],
                    done, &w));
    ReleaseSession(c.session); // runs hold it
    c.session = NULL;
    wait_for(&w, 20);
    for (int i = 0; i < 20; i++) {
        CHECK(w.codes[i] == 0 && floats(outputs[i])[3] == 8);
        ReleaseValue(outputs[i]);
    }
    client_read(&c, &model);
    outputs[0] = NULL;
    OK(RunAsync(c.session, NULL, in_x, (const void *const *)&wrong, 1, out_y, 1, outputs, done,
                &w));
    wait_for(&w, 21);
    CHECK(w.codes[20] == 2 && !outputs[0]);
    FAILS(RunAsync(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, outputs, NULL,
                   &w),
          2);
    ReleaseValue(value);
    ReleaseValue(wrong);
    client_close(&c);
}

static void run_many(client *c, int count)
{
    float x[4] = {1, 2, 3, 4};
    for (int i = 0; i < count; i++) {
        void *value = tensor(c, x, i % 16 == 0 ? 3 : 4), *y = NULL;
        CHECK_EQ(code_of(Run(c->session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y)),
                 i % 16 == 0 ? 2 : 0);
        ReleaseValue(y);
        ReleaseValue(value);
    }
}

TEST(memory_does_not_grow_over_10000_runs)
{
    if (TEST_ASAN || TEST_TSAN)
        SKIP("a sanitizer keeps memory that was freed");
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    run_many(&c, 500);
    long before = resident_pages();
    run_many(&c, 10000);
    CHECK(before > 0 && resident_pages() - before < 64);
    client_close(&c);
}

// ---- Bindings ----

// Bindings for Go read back names that no model has; what is wrong with them is the run's to say.
TEST(names_of_bound_outputs_have_any_characters)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    float x[4] = {1, 1, 1, 1};
    void *value = tensor(&c, x, 4), *binding = NULL;
    char *names = NULL;
    size_t *lens = NULL, count = 0;
    OK(CreateIoBinding(c.session, &binding));
    OK(BindInput(binding, "x", value));
    OK(BindOutput(binding, "\xce\xb2\xe5\x87\xba", value));
    OK(BindOutputToDevice(binding, "\xce\xb3", c.memory));
    OK(GetBoundOutputNames(binding, c.allocator, &names, &lens, &count));
    CHECK(count == 2 && lens[0] == 5 && lens[1] == 2);
    CHECK_MEM_EQ(names, "\xce\xb2\xe5\x87\xba\xce\xb3", 7);
    OK(AllocatorFree(c.allocator, names));
    OK(AllocatorFree(c.allocator, lens));
    FAILS(RunWithBinding(c.session, NULL, binding), 2);
    ClearBoundOutputs(binding);
    char words[1000];
    memset(words, 'w', sizeof words);
    words[sizeof words - 1] = '\0';
    OK(BindOutputToDevice(binding, words, c.memory));
    OK(GetBoundOutputNames(binding, c.allocator, &names, &lens, &count));
    CHECK(count == 1 && lens[0] == sizeof words - 1 && memcmp(names, words, lens[0]) == 0);
    OK(AllocatorFree(c.allocator, names));
    OK(AllocatorFree(c.allocator, lens));
    ClearBoundOutputs(binding);
    OK(BindOutputToDevice(binding, "y", c.memory));
    OK(RunWithBinding(c.session, NULL, binding));
    ReleaseIoBinding(binding);
    ReleaseValue(value);
    client_close(&c);
}

TEST(bindings_are_of_one_session)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    void *first = c.session, *binding = NULL;
    client_read(&c, &model);
    float x[4] = {1, 1, 1, 1};
    void *value = tensor(&c, x, 4);
    OK(CreateIoBinding(first, &binding));
    OK(BindInput(binding, "x", value));
    OK(BindOutputToDevice(binding, "y", c.memory));
    SAYS(RunWithBinding(c.session, NULL, binding), 2, "another session");
    OK(RunWithBinding(first, NULL, binding));
    ReleaseSession(first); // the binding holds it
    ReleaseIoBinding(binding);
    ReleaseValue(value);
    client_close(&c);
}

TEST(bindings_keep_inputs_and_outputs)
{
    client c;
    client_open(&c);
    message model = sum_model("4", false);
    client_read(&c, &model);
    float x[4] = {1, 1, 1, 1}, y[4] = {0};
    void *value = tensor(&c, x, 4), *given = tensor(&c, y, 4), *binding = NULL, **values = NULL;
    char *names = NULL;
    size_t *lens = NULL, count = 0;
    OK(CreateIoBinding(c.session, &binding));
    FAILS(RunWithBinding(c.session, NULL, binding), 2);
    FAILS(BindInput(binding, "q", value), 1);
    OK(BindInput(binding, "x", value));
    ReleaseValue(value); // the binding holds it
    OK(BindOutputToDevice(binding, "y", c.memory));
    FAILS(GetBoundOutputValues(binding, c.allocator, &values, &count), 2);
    OK(RunWithBinding(c.session, NULL, binding));
    OK(GetBoundOutputValues(binding, c.allocator, &values, &count));
    CHECK(count == 1 && floats(values[0])[3] == 5);
    x[3] = 10;
    OK(RunWithBinding(c.session, NULL, binding));
    CHECK(floats(values[0])[3] == 5); // of the first run
    ReleaseValue(values[0]);
    OK(AllocatorFree(c.allocator, values));
    OK(GetBoundOutputNames(binding, c.allocator, &names, &lens, &count));
    CHECK(count == 1 && lens[0] == 1 && names[0] == 'y');
    OK(AllocatorFree(c.allocator, names));
    OK(AllocatorFree(c.allocator, lens));
    OK(BindOutput(binding, "y", given));
    OK(SynchronizeBoundInputs(binding));
    OK(RunWithBinding(c.session, NULL, binding));
    CHECK(y[3] == 14);
    ClearBoundInputs(binding);
    FAILS(RunWithBinding(c.session, NULL, binding), 2);
    ClearBoundOutputs(binding);
    OK(GetBoundOutputNames(binding, c.allocator, &names, &lens, &count));
    CHECK(count == 0 && !names);
    ReleaseIoBinding(binding);
    ReleaseValue(given);
    client_close(&c);
}

// ---- Initializers ----

TEST(initializers_that_are_inputs_may_be_replaced)
{
    client c;
    client_open(&c);
    message model = sum_model("4", true);
    client_read(&c, &model);
    size_t count = 0;
    char *name = NULL;
    void *type = NULL, *y = NULL;
    const void *shape = NULL;
    int64_t dim = 0;
    OK(SessionGetInputCount(c.session, &count));
    CHECK_EQ(count, 1);
    OK(SessionGetOverridableInitializerCount(c.session, &count));
    CHECK_EQ(count, 1);
    OK(SessionGetOverridableInitializerName(c.session, 0, c.allocator, &name));
    CHECK_STR_EQ(name, "w");
    OK(AllocatorFree(c.allocator, name));
    OK(SessionGetOverridableInitializerTypeInfo(c.session, 0, &type));
    OK(CastTypeInfoToTensorInfo(type, &shape));
    OK(GetDimensions(shape, &dim, 1));
    CHECK_EQ(dim, 4);
    ReleaseTypeInfo(type);
    float x[4] = {0}, w[4] = {9, 9, 9, 9};
    void *values[] = {tensor(&c, x, 4), tensor(&c, w, 4)};
    const char *names[] = {"x", "w"};
    for (int round = 0; round < 2; round++)
        for (size_t given = 1; given < 3; given++) {
            OK(Run(c.session, NULL, names, (const void *const *)values, given, out_y, 1, &y));
            CHECK(floats(y)[1] == (given == 1 ? 2 : 9));
            ReleaseValue(y);
            y = NULL;
        }
    ReleaseValue(values[0]);
    ReleaseValue(values[1]);
    client_close(&c);
}

// y = x + v + w, whose v and w are 1 and 2 unless a run gives them.
TEST(initializers_that_a_run_does_not_replace_are_those_of_the_model)
{
    client c;
    client_open(&c);
    message graph = {.len = 0};
    put_message(&graph, 1, node("Add", "", "x v", "m"));
    put_message(&graph, 1, node("Add", "", "m w", "y"));
    put_message(&graph, 5, float_tensor("v", 1, (const float[]){1}));
    put_message(&graph, 5, float_tensor("w", 1, (const float[]){2}));
    for (int i = 0; i < 3; i++)
        put_message(&graph, 11,
                    value_info((const char *[]){"x", "v", "w"}[i], tensor_type(1, "1")));
    put_message(&graph, 12, value_info("y", tensor_type(1, "1")));
    message model = model_of(graph);
    client_read(&c, &model);
    static const struct {
        const char *names[3];
        size_t count;
        float expected;
    } runs[] = {{{"x", "v"}, 2, 212}, {{"x", "w"}, 2, 211}, {{"x", "v", "w"}, 3, 510},
                {{"x", "v"}, 2, 212}, {{"x", "w"}, 2, 211}, {{"x"}, 1, 13}};
    float x[] = {10}, first[] = {200}, second[] = {300};
    void *values[] = {tensor(&c, x, 1), tensor(&c, first, 1), tensor(&c, second, 1)}, *y = NULL;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        OK(Run(c.session, NULL, runs[i].names, (const void *const *)values, runs[i].count, out_y, 1,
               &y));
        CHECK(floats(y)[0] == runs[i].expected);
        ReleaseValue(y);
        y = NULL;
    }
    for (int i = 0; i < 3; i++)
        ReleaseValue(values[i]);
    client_close(&c);
}

static message external_model(void)
{
    message graph = {.len = 0};
    put_message(&graph, 1, node("Add", "", "x w", "y"));
    put_message(&graph, 5, external_tensor("w", 4, "weights.bin"));
    put_message(&graph, 11, value_info("x", tensor_type(1, "4")));
    put_message(&graph, 12, value_info("y", tensor_type(1, "4")));
    return model_of(graph);
}

static void check_sum(client *c, float last)
{
    float x[4] = {0};
    void *value = tensor(c, x, 4), *y = NULL;
    OK(Run(c->session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    CHECK(floats(y)[3] == last);
    ReleaseValue(y);
    ReleaseValue(value);
    ReleaseSession(c->session);
    c->session = NULL;
}

// The file is a model that a second session reads, with the bound size and the given weight in it.
TEST(sessions_write_their_model_where_options_say)
{
    client c;
    client_open(&c);
    char folder[] = LN_BUILD_DIR "/ort_client_XXXXXX", path[512];
    CHECK_NOT_NULL(mkdtemp(folder));
    float w[4] = {10, 20, 30, 40}, x[4] = {1, 2, 3, 4};
    void *weight = tensor(&c, w, 4), *value = tensor(&c, x, 4), *y = NULL, *clone = NULL;
    static const char *const names[] = {"model.onnx", "model.opt", "none/model.onnx"};
    for (int i = 0; i < 3; i++) {
        message model = sum_model("4", false);
        snprintf(path, sizeof path, "%.400s/%s", folder, names[i]);
        OK(SetOptimizedModelFilePath(c.options, path));
        if (i == 0)
            OK(AddInitializer(c.options, "w", weight));
        OK(CloneSessionOptions(c.options, &clone));
        if (i == 2) {
            SAYS(CreateSessionFromArray(c.env, model.bytes, model.len, clone, &c.session), 1, path);
            ReleaseSessionOptions(clone);
            continue;
        }
        OK(CreateSessionFromArray(c.env, model.bytes, model.len, clone, &c.session));
        ReleaseSession(c.session);
        ReleaseSessionOptions(clone);
        OK(CreateSession(c.env, path, NULL, &c.session));
        OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
        CHECK(floats(y)[0] == 11 && floats(y)[3] == 44);
        ReleaseValue(y);
        y = NULL;
        ReleaseSession(c.session);
        c.session = NULL;
        CHECK_EQ(remove(path), 0);
    }
    CHECK_EQ(rmdir(folder), 0); // with nothing left in it
    ReleaseValue(weight);
    ReleaseValue(value);
    client_close(&c);
}

// Such as the model that is read.
TEST(a_model_is_written_to_no_other_file)
{
    client c;
    client_open(&c);
    char folder[] = LN_BUILD_DIR "/ort_client_XXXXXX", path[512], source[512];
    CHECK_NOT_NULL(mkdtemp(folder));
    message model = sum_model("4", false);
    snprintf(path, sizeof path, "%.400s/model", folder);
    snprintf(source, sizeof source, "%.400s/model.onnx", folder);
    FILE *file = fopen(source, "wb");
    CHECK_NOT_NULL(file);
    CHECK_EQ(fwrite(model.bytes, 1, model.len, file), model.len);
    CHECK_EQ(fclose(file), 0);
    OK(SetOptimizedModelFilePath(c.options, path));
    for (int i = 0; i < 2; i++) {
        OK(CreateSession(c.env, source, c.options, &c.session));
        check_sum(&c, 4);
    }
    OK(CreateSession(c.env, path, NULL, &c.session));
    check_sum(&c, 4);
    CHECK_EQ(remove(source), 0);
    CHECK_EQ(remove(path), 0);
    CHECK_EQ(rmdir(folder), 0);
    client_close(&c);
}

TEST(weights_come_from_memory_and_from_values)
{
    client c;
    client_open(&c);
    message model = external_model(), inside = sum_model("4", false);
    float w[] = {1, 1, 1, 7};
    void *value = tensor(&c, w, 4), *three = tensor(&c, w, 3), *options = NULL;
    const char *file[] = {"weights.bin"}, *name[] = {"w"};
    char *bytes = malloc(sizeof w);
    size_t size = sizeof w;
    CHECK_NOT_NULL(bytes);
    memcpy(bytes, w, sizeof w);
    CHECK(code_of(CreateSessionFromArray(c.env, model.bytes, model.len, c.options, &c.session)) !=
          0);
    OK(CreateSessionOptions(&options));
    OK(AddExternalInitializersFromFilesInMemory(options, file, &bytes, &size, 1));
    OK(CreateSessionFromArray(c.env, model.bytes, model.len, options, &c.session));
    free(bytes); // it was copied
    ReleaseSessionOptions(options);
    check_sum(&c, 7);
    OK(CreateSessionOptions(&options));
    OK(AddExternalInitializers(options, name, (const void *const *)&value, 1));
    OK(CreateSessionFromArray(c.env, model.bytes, model.len, options, &c.session));
    check_sum(&c, 7);
    SAYS(CreateSessionFromArray(c.env, inside.bytes, inside.len, options, &c.session), 1, "'w'");
    ReleaseSessionOptions(options);
    OK(CreateSessionOptions(&options));
    OK(AddInitializer(options, "w", value));
    FAILS(AddInitializer(options, "w", value), 2);
    OK(CreateSessionFromArray(c.env, inside.bytes, inside.len, options, &c.session));
    ReleaseSessionOptions(options);
    check_sum(&c, 7);
    OK(CreateSessionOptions(&options));
    OK(AddInitializer(options, "w", three));
    SAYS(CreateSessionFromArray(c.env, inside.bytes, inside.len, options, &c.session), 2, "[3]");
    ReleaseSessionOptions(options);
    ReleaseValue(value);
    ReleaseValue(three);
    client_close(&c);
}

// ---- Strings ----

TEST(strings_have_any_bytes_through_a_run)
{
    client c;
    client_open(&c);
    message graph = {.len = 0};
    put_message(&graph, 1, node("Identity", "", "x", "y"));
    put_message(&graph, 11, value_info("x", tensor_type(8, "2")));
    put_message(&graph, 12, value_info("y", tensor_type(8, "2")));
    message model = model_of(graph);
    client_read(&c, &model);
    int64_t len = 2;
    size_t bytes = 0;
    char *buffer = NULL, text[8] = {0};
    void *value = NULL, *y = NULL, *given = NULL;
    OK(CreateTensorAsOrtValue(c.allocator, &len, 1, 8, &value));
    OK(CreateTensorAsOrtValue(c.allocator, &len, 1, 8, &given));
    OK(FillStringTensorElement(value, "caf\xc3\xa9", 0));
    OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetStringTensorElementLength(y, 0, &bytes));
    CHECK_EQ(bytes, 5);
    OK(GetStringTensorElement(y, sizeof text, 0, text));
    CHECK_MEM_EQ(text, "caf\xc3\xa9", 5);
    ReleaseValue(y);
    OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &given));
    OK(GetStringTensorDataLength(given, &bytes));
    CHECK_EQ(bytes, 5);
    OK(GetResizedStringTensorElementBuffer(value, 1, 3, &buffer));
    memcpy(buffer, "a\0b", 3);
    OK(GetStringTensorElementLength(value, 1, &bytes));
    CHECK_EQ(bytes, 3);
    OK(GetStringTensorElement(value, 3, 1, text));
    CHECK_MEM_EQ(text, "a\0b", 3);
    y = NULL;
    OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetStringTensorElementLength(y, 1, &bytes));
    CHECK_EQ(bytes, 3);
    OK(GetStringTensorElement(y, 3, 1, text));
    CHECK_MEM_EQ(text, "a\0b", 3);
    OK(GetStringTensorDataLength(y, &bytes));
    CHECK_EQ(bytes, 8);
    ReleaseValue(y);
    y = NULL;
    OK(GetResizedStringTensorElementBuffer(value, 1, 3, &buffer));
    memcpy(buffer, "\0\0\0", 3);
    OK(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &given));
    OK(GetStringTensorElement(given, 3, 1, text));
    CHECK_MEM_EQ(text, "\0\0\0", 3);
    memcpy(buffer, "a\xc0\x80", 3);
    SAYS(Run(c.session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y), 2, "'x'");
    ReleaseValue(value);
    ReleaseValue(given);
    client_close(&c);
}

// ---- Sequences and maps ----

// scores -> seq(map(string, float)), as classifiers of other libraries are exported.
static message zip_model(void)
{
    message graph = {.len = 0}, zip = node("ZipMap", "ai.onnx.ml", "x", "y"), classes = {.len = 0};
    put_text(&classes, 1, "classlabels_strings");
    put_words(&classes, 9, "cat dog");
    put_int(&classes, 20, 8);
    put_message(&zip, 5, classes);
    put_message(&graph, 1, zip);
    put_message(&graph, 11, value_info("x", tensor_type(1, "N 2")));
    put_message(&graph, 12, value_info("y", sequence_type(map_type(8, tensor_type(1, "")))));
    return model_of(graph);
}

TEST(maps_in_sequences_have_types_before_a_run_and_values_after)
{
    client c;
    client_open(&c);
    message model = zip_model();
    client_read(&c, &model);
    void *type = NULL, *map_info = NULL, *value_type = NULL;
    const void *sequence = NULL, *map = NULL;
    int kind = 0, key = 0;
    OK(SessionGetOutputTypeInfo(c.session, 0, &type));
    OK(GetOnnxTypeFromTypeInfo(type, &kind));
    CHECK_EQ(kind, 2);
    OK(CastTypeInfoToSequenceTypeInfo(type, &sequence));
    OK(GetSequenceElementType(sequence, &map_info));
    OK(GetOnnxTypeFromTypeInfo(map_info, &kind));
    CHECK_EQ(kind, 3);
    OK(CastTypeInfoToMapTypeInfo(map_info, &map));
    OK(GetMapKeyType(map, &key));
    CHECK_EQ(key, 8);
    OK(GetMapValueType(map, &value_type));
    const void *shape = NULL;
    int element = 0;
    OK(CastTypeInfoToTensorInfo(value_type, &shape));
    OK(GetTensorElementType(shape, &element));
    CHECK_EQ(element, 1);
    ReleaseTypeInfo(value_type);
    ReleaseTypeInfo(map_info);
    ReleaseTypeInfo(type);

    float scores[] = {0.25F, 0.75F, 1, 0};
    int64_t dims[] = {2, 2};
    void *x = NULL, *y = NULL, *item = NULL, *keys = NULL, *values = NULL, *none = NULL;
    size_t count = 0;
    char text[8] = {0};
    OK(CreateTensorWithDataAsOrtValue(c.memory, scores, sizeof scores, dims, 2, 1, &x));
    OK(Run(c.session, NULL, in_x, (const void *const *)&x, 1, out_y, 1, &y));
    OK(GetValueType(y, &kind));
    CHECK_EQ(kind, 2);
    OK(GetValueCount(y, &count));
    CHECK_EQ(count, 2);
    OK(GetValue(y, 0, c.allocator, &item));
    OK(GetValueType(item, &kind));
    CHECK_EQ(kind, 3);
    OK(GetValue(item, 0, c.allocator, &keys));
    OK(GetValue(item, 1, c.allocator, &values));
    OK(GetStringTensorElement(keys, sizeof text, 1, text));
    CHECK_STR_EQ(text, "dog");
    CHECK(floats(values)[1] == 0.75F);
    FAILS(GetValue(item, 2, c.allocator, &none), 1);
    ReleaseValue(item);
    OK(GetTypeInfo(y, &type));
    OK(GetOnnxTypeFromTypeInfo(type, &kind));
    CHECK_EQ(kind, 2);
    ReleaseTypeInfo(type);
    ReleaseValue(keys);
    ReleaseValue(values);
    ReleaseValue(y);
    ReleaseValue(x);
    client_close(&c);
}

TEST(sequences_are_made_and_given_to_runs)
{
    client c;
    client_open(&c);
    message graph = {.len = 0};
    put_message(&graph, 1, node("SequenceLength", "", "x", "y"));
    put_message(&graph, 1, node("SequenceAt", "", "x at", "z"));
    put_message(&graph, 11, value_info("x", sequence_type(tensor_type(1, "N"))));
    put_message(&graph, 11, value_info("at", tensor_type(7, "")));
    put_message(&graph, 12, value_info("y", tensor_type(7, "")));
    put_message(&graph, 12, value_info("z", tensor_type(1, "N")));
    message model = model_of(graph);
    client_read(&c, &model);
    float a[] = {1, 2}, b[] = {3, 4, 5};
    int64_t at = 1;
    void *items[] = {tensor(&c, a, 2), tensor(&c, b, 3)}, *inputs[2] = {NULL}, *results[2] = {NULL};
    const char *in[] = {"x", "at"}, *out[] = {"y", "z"};
    OK(CreateValue((const void *const *)items, 2, 2, &inputs[0]));
    OK(CreateTensorWithDataAsOrtValue(c.memory, &at, sizeof at, NULL, 0, 7, &inputs[1]));
    OK(Run(c.session, NULL, in, (const void *const *)inputs, 2, out, 2, results));
    void *length = NULL;
    OK(GetTensorMutableData(results[0], &length));
    CHECK_EQ(*(int64_t *)length, 2);
    CHECK(floats(results[1])[2] == 5);
    FAILS(CreateValue((const void *const *)items, 0, 2, &length), 1);
    FAILS(CreateValue((const void *const *)items, 1, 3, &length), 1);
    FAILS(CreateValue((const void *const *)items, 2, 4, &length), 1);
    for (int i = 0; i < 2; i++) {
        ReleaseValue(items[i]);
        ReleaseValue(inputs[i]);
        ReleaseValue(results[i]);
    }
    client_close(&c);
}

// ---- The rest ----

TEST(pairs_are_kept_replaced_and_removed)
{
    ort_client_load();
    void *pairs = NULL;
    const char *const *keys = NULL, *const *values = NULL;
    size_t count = 9;
    CreateKeyValuePairs(&pairs);
    GetKeyValuePairs(pairs, &keys, &values, &count);
    CHECK_EQ(count, 0);
    AddKeyValuePair(pairs, "a", "1");
    AddKeyValuePair(pairs, "b", "2");
    AddKeyValuePair(pairs, "a", "3");
    GetKeyValuePairs(pairs, &keys, &values, &count);
    CHECK_EQ(count, 2);
    CHECK_STR_EQ(keys[0], "a");
    CHECK_STR_EQ(values[0], "3");
    CHECK_STR_EQ(GetKeyValue(pairs, "b"), "2");
    RemoveKeyValuePair(pairs, "a");
    CHECK_NULL(GetKeyValue(pairs, "a"));
    GetKeyValuePairs(pairs, &keys, &values, &count);
    CHECK_EQ(count, 1);
    ReleaseKeyValuePairs(pairs);
}

TEST(the_cpu_is_the_one_device)
{
    client c;
    client_open(&c);
    const void *const *devices = NULL;
    size_t count = 0;
    OK(GetEpDevices(c.env, &devices, &count));
    CHECK_EQ(count, 1);
    CHECK_STR_EQ(EpDevice_EpName(devices[0]), "CPUExecutionProvider");
    OK(SessionOptionsAppendExecutionProvider_V2(c.options, c.env, devices, 1, NULL, NULL, 0));
    const void *other = &c;
    FAILS(SessionOptionsAppendExecutionProvider_V2(c.options, c.env, &other, 1, NULL, NULL, 0), 2);
    FAILS(SessionOptionsAppendExecutionProvider(c.options, "CUDAExecutionProvider", NULL, NULL, 0),
          2);
    OK(SessionOptionsAppendExecutionProvider(c.options, "CPUExecutionProvider", NULL, NULL, 0));
    client_close(&c);
}

TEST(environments_with_threads_share_them_among_sessions)
{
    client c;
    client_open(&c);
    void *threading = NULL, *env = NULL, *sessions[3] = {NULL};
    message model = sum_model("4", false);
    OK(CreateThreadingOptions(&threading));
    OK(SetGlobalIntraOpNumThreads(threading, 2));
    OK(SetGlobalIntraOpNumThreads(threading, -1)); // the default
    OK(SetGlobalIntraOpNumThreads(threading, 2));
    OK(SetGlobalSpinControl(threading, 0));
    OK(CreateEnvWithGlobalThreadPools(2, "threads", threading, &env));
    ReleaseThreadingOptions(threading);
    OK(DisablePerSessionThreads(c.options));
    size_t before = count_threads();
    for (int i = 0; i < 3; i++) { // all on the one thread beside the caller's
        OK(CreateSessionFromArray(env, model.bytes, model.len, c.options, &sessions[i]));
        CHECK_EQ(count_threads(), before + 1);
    }
    ReleaseEnv(env); // sessions hold it
    for (int i = 0; i < 3; i++) {
        c.session = sessions[i];
        check_sum(&c, 4); // releases it
    }
    client_close(&c);
    CHECK_EQ(count_threads(), before);
}

TEST(tensors_are_addressed_and_copied)
{
    client c;
    client_open(&c);
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {0};
    int64_t dims[] = {2, 3}, at[] = {1, 2}, beyond[] = {2, 0};
    void *from = NULL, *to = NULL, *element = NULL;
    OK(CreateTensorWithDataAsOrtValue(c.memory, a, sizeof a, dims, 2, 1, &from));
    OK(CreateTensorWithDataAsOrtValue(c.memory, b, sizeof b, dims, 2, 1, &to));
    OK(TensorAt(from, at, 2, &element));
    CHECK(*(float *)element == 6);
    FAILS(TensorAt(from, beyond, 2, &element), 2);
    FAILS(TensorAt(from, at, 1, &element), 2);
    OK(CopyTensors(c.env, (const void *const *)&from, &to, NULL, 1));
    CHECK_MEM_EQ(a, b, sizeof a);
    ReleaseValue(from);
    ReleaseValue(to);
    client_close(&c);
}

TEST_LIST(statuses_have_every_code, failures_have_the_codes_of_their_kind,
          functions_that_return_a_status_refuse_null_or_name_themselves,
          loggers_get_messages_with_severity_and_id, symbols_are_stated_and_may_be_bound,
          metadata_has_the_custom_map, values_must_have_the_type_and_shape_of_the_input,
          one_element_of_any_rank_is_a_scalar, inputs_are_given_once,
          a_run_leaves_nothing_to_the_next_one, given_outputs_may_lie_over_inputs_and_each_other,
          bindings_are_of_one_session,
          initializers_that_a_run_does_not_replace_are_those_of_the_model,
          an_output_that_lies_over_what_is_still_read_is_written_last,
          results_of_a_run_stay_when_the_next_one_runs, another_thread_terminates_a_run,
          eight_threads_run_one_session, profiles_have_each_run_and_operator,
          a_profile_that_nobody_ends_is_written_with_its_session,
          runs_that_nobody_waits_for_call_back, memory_does_not_grow_over_10000_runs,
          bindings_keep_inputs_and_outputs, names_of_bound_outputs_have_any_characters,
          initializers_that_are_inputs_may_be_replaced,
          sessions_write_their_model_where_options_say, a_model_is_written_to_no_other_file,
          weights_come_from_memory_and_from_values, strings_have_any_bytes_through_a_run,
          maps_in_sequences_have_types_before_a_run_and_values_after,
          sequences_are_made_and_given_to_runs, pairs_are_kept_replaced_and_removed,
          the_cpu_is_the_one_device, environments_with_threads_share_them_among_sessions,
          tensors_are_addressed_and_copied)
