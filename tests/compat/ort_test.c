// SPDX-License-Identifier: Apache-2.0
// A client of ONNX Runtime's C ABI that knows it as slot numbers, and opens the library by path.

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/test.h"

typedef void (*slot)(void);
typedef struct api_base {
    const slot *(*get_api)(uint32_t version);
    const char *(*get_version_string)(void);
} api_base;

static const api_base *base;
static const slot *api;

// The status of a call: its code, after which it is released.
static int code_of(void *status)
{
    int code = ((int (*)(const void *))api[1])(status);
    ((void (*)(void *))api[93])(status);
    return code;
}

#define CALL(number, types, ...) code_of(((void *(*)types)api[number])(__VA_ARGS__))
#define RELEASE(number, p)       ((void (*)(void *))api[number])(p)

static void open_library(void)
{
    void *library = dlopen(LN_BUILD_DIR "/liblightnet-ort.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    const api_base *(*get)(void) = (const api_base *(*)(void))dlsym(library, "OrtGetApiBase");
    assert_non_null(get);
    base = get();
    api = base->get_api(30);
    assert_non_null(api);
}

TEST(table_is_full_up_to_its_version)
{
    open_library();
    CHECK(!base->get_api(0) && !base->get_api(31) && base->get_api(1) == api);
    CHECK_STR_EQ(base->get_version_string(), "1.30.0");
    for (int i = 0; i < 426; i++)
        CHECK(api[i]);
}

TEST(missing_functions_name_themselves)
{
    open_library();
    void *status = ((void *(*)(void))api[175])();
    CHECK_EQ(((int (*)(const void *))api[1])(status), 9);
    CHECK(strstr(((const char *(*)(const void *))api[2])(status), "EnableOrtCustomOps"));
    RELEASE(93, status);
    status = ((void *(*)(void))api[205])();
    const char *message = ((const char *(*)(const void *))api[2])(status);
    CHECK(strstr(message, "CreateCUDAProviderOptions is not implemented"));
    CHECK(strstr(message, "the only execution provider is CPUExecutionProvider"));
    RELEASE(93, status);
}

static const char model[] = "input(| dst=a | dtype=TL_FLOAT, dims=[2, 3]);\n"
                            "input(| dst=b | dtype=TL_FLOAT, dims=[2, 3]);\n"
                            "Sub(A=a, B=b | C=y |);\n"
                            "Less(A=a, B=b | C=z |);\n"
                            "output(src=y ||);\noutput(src=z ||);\n";

typedef struct client {
    void *env, *options, *session, *memory, *allocator;
} client;

static void client_open(client *c)
{
    open_library();
    CHECK_EQ(CALL(3, (int, const char *, void **), 2, "test", &c->env), 0);
    CHECK_EQ(CALL(10, (void **), &c->options), 0);
    CHECK_EQ(CALL(24, (void *, int), c->options, 1), 0);
    CHECK_EQ(CALL(8, (void *, const void *, size_t, void *, void **), c->env, model,
                  sizeof model - 1, c->options, &c->session),
             0);
    CHECK_EQ(CALL(69, (int, int, void **), 0, 0, &c->memory), 0);
    CHECK_EQ(CALL(78, (void **), &c->allocator), 0);
}

static void client_close(client *c)
{
    RELEASE(94, c->memory);
    RELEASE(95, c->session);
    RELEASE(100, c->options);
    RELEASE(92, c->env);
}

static void *tensor(client *c, float *data, size_t byte_count)
{
    void *value = NULL;
    int64_t dims[] = {2, 3};
    CHECK_EQ(CALL(49, (void *, void *, size_t, const int64_t *, size_t, int, void **), c->memory,
                  data, byte_count, dims, 2, 1, &value),
             0);
    return value;
}

#define RUN(...)                                                                                   \
    CALL(9,                                                                                        \
         (void *, void *, const char *const *, void *const *, size_t, const char *const *, size_t, \
          void **),                                                                                \
         __VA_ARGS__)

TEST(sessions_state_names_and_types)
{
    client c;
    client_open(&c);
    size_t count = 0;
    CHECK_EQ(CALL(30, (void *, size_t *), c.session, &count), 0);
    CHECK_EQ(count, 2);
    char *name = NULL;
    CHECK_EQ(CALL(36, (void *, size_t, void *, char **), c.session, 1, c.allocator, &name), 0);
    CHECK_STR_EQ(name, "b");
    CHECK_EQ(CALL(76, (void *, void *), c.allocator, name), 0);
    CHECK_EQ(CALL(36, (void *, size_t, void *, char **), c.session, 2, c.allocator, &name), 1);
    CHECK(!name);
    void *type = NULL;
    const void *shape = NULL;
    int element = 0;
    int64_t dims[2] = {0, 0};
    CHECK_EQ(CALL(34, (void *, size_t, void **), c.session, 1, &type), 0);
    CHECK_EQ(CALL(55, (void *, const void **), type, &shape), 0);
    CHECK_EQ(CALL(60, (const void *, int *), shape, &element), 0);
    CHECK_EQ(element, 9);
    CHECK_EQ(CALL(62, (const void *, int64_t *, size_t), shape, dims, 2), 0);
    CHECK(dims[0] == 2 && dims[1] == 3);
    RELEASE(98, type);
    client_close(&c);
}

TEST(runs_write_new_and_given_values)
{
    client c;
    client_open(&c);
    float a[] = {1, 2, 3, 4, 5, 6}, b[] = {6, 5, 4, 3, 2, 1}, y[6] = {0};
    void *inputs[] = {tensor(&c, b, sizeof b), tensor(&c, a, sizeof a)};
    void *outputs[] = {NULL, tensor(&c, y, sizeof y)};
    const char *in[] = {"b", "a"}, *out[] = {"z", "y"};
    for (int round = 0; round < 3; round++) {
        a[0] = (float)round;
        CHECK_EQ(RUN(c.session, NULL, in, inputs, 2, out, 2, outputs), 0);
        unsigned char *z = NULL;
        CHECK_EQ(CALL(51, (void *, void **), outputs[0], (void **)&z), 0);
        for (int i = 0; i < 6; i++) {
            CHECK(y[i] == a[i] - b[i]);
            CHECK_EQ(z[i], a[i] < b[i]);
        }
        RELEASE(96, outputs[0]);
        outputs[0] = NULL;
    }
    RELEASE(96, outputs[1]);
    RELEASE(96, inputs[0]);
    RELEASE(96, inputs[1]);
    client_close(&c);
}

TEST(wrong_arguments_are_statuses)
{
    client c;
    client_open(&c);
    float a[6] = {0};
    int64_t dims[] = {2, -3}, many[] = {1 << 30, 1 << 30};
    void *value = &c, *tiny = &c;
    CHECK_EQ(CALL(49, (void *, void *, size_t, const int64_t *, size_t, int, void **), c.memory, a,
                  sizeof a, dims, 2, 1, &value),
             2);
    CHECK(!value);
    CHECK_EQ(
        CALL(48, (void *, const int64_t *, size_t, int, void **), c.allocator, many, 2, 1, &tiny),
        2);
    CHECK(!tiny);
    value = tensor(&c, a, sizeof a);
    void *inputs[] = {value, value}, *outputs[] = {NULL};
    const char *in[] = {"a", "a"}, *unknown[] = {"a", "q"}, *out[] = {"y"};
    CHECK_EQ(RUN(c.session, NULL, in, inputs, 1, out, 1, outputs), 2);      // b is missing
    CHECK_EQ(RUN(c.session, NULL, in, inputs, 2, out, 1, outputs), 2);      // a is there twice
    CHECK_EQ(RUN(c.session, NULL, unknown, inputs, 2, out, 1, outputs), 2); // no such input
    CHECK_EQ(RUN(NULL, NULL, in, inputs, 2, out, 1, outputs), 2);
    CHECK_EQ(
        CALL(216, (void *, const char *, void *, void *, size_t), c.options, "CUDA", NULL, NULL, 0),
        2);
    void *session = &c;
    CHECK_EQ(CALL(7, (void *, const char *, void *, void **), c.env, "/no/such.onnx", c.options,
                  &session),
             3);
    CHECK(!session);
    CHECK(CALL(8, (void *, const void *, size_t, void *, void **), c.env, "\x08\xff\xff", 3,
               c.options, &session) != 0);
    CHECK(!session);
    RELEASE(96, value);
    client_close(&c);
}

TEST(terminated_runs_end_until_unset)
{
    client c;
    client_open(&c);
    float a[6] = {0};
    void *value = tensor(&c, a, sizeof a), *options = NULL;
    void *inputs[] = {value, value}, *outputs[] = {NULL};
    const char *in[] = {"a", "b"}, *out[] = {"y"};
    CHECK_EQ(CALL(39, (void **), &options), 0);
    CHECK_EQ(CALL(46, (void *), options), 0);
    CHECK(RUN(c.session, options, in, inputs, 2, out, 1, outputs) != 0);
    CHECK(!outputs[0]);
    CHECK_EQ(CALL(47, (void *), options), 0);
    CHECK_EQ(RUN(c.session, options, in, inputs, 2, out, 1, outputs), 0);
    RELEASE(96, outputs[0]);
    RELEASE(97, options);
    RELEASE(96, value);
    client_close(&c);
}

TEST(strings_are_kept_and_read)
{
    client c;
    client_open(&c);
    void *value = NULL;
    int64_t dims[] = {2};
    const char *texts[] = {"ab", "c"};
    size_t len = 0, offsets[2] = {9, 9};
    char bytes[3];
    CHECK_EQ(
        CALL(48, (void *, const int64_t *, size_t, int, void **), c.allocator, dims, 1, 8, &value),
        0);
    CHECK_EQ(CALL(52, (void *, const char *const *, size_t), value, texts, 2), 0);
    CHECK_EQ(CALL(53, (void *, size_t *), value, &len), 0);
    CHECK_EQ(len, 3);
    CHECK_EQ(CALL(54, (void *, void *, size_t, size_t *, size_t), value, bytes, 3, offsets, 2), 0);
    CHECK(memcmp(bytes, "abc", 3) == 0 && offsets[0] == 0 && offsets[1] == 2);
    CHECK_EQ(CALL(54, (void *, void *, size_t, size_t *, size_t), value, bytes, 2, offsets, 2), 1);
    RELEASE(96, value);
    client_close(&c);
}

// Node's binding describes memory of devices that it then never uses.
TEST(memory_of_devices_is_described_and_not_used)
{
    client c;
    client_open(&c);
    float a[6] = {0};
    int64_t dims[] = {6};
    int device = -1, differs = 0;
    void *memory = NULL, *value = &c;
    CHECK_EQ(CALL(68, (const char *, int, int, int, void **), "WebGPU_Buf", 0, 0, 0, &memory), 0);
    ((void (*)(const void *, int *))api[225])(memory, &device);
    CHECK_EQ(device, 1);
    CHECK_EQ(CALL(70, (void *, void *, int *), memory, c.memory, &differs), 0);
    CHECK(differs != 0);
    CHECK_EQ(CALL(49, (void *, void *, size_t, const int64_t *, size_t, int, void **), memory, a,
                  sizeof a, dims, 1, 1, &value),
             2);
    CHECK(!value);
    RELEASE(94, memory);
    CHECK_EQ(CALL(68, (const char *, int, int, int, void **), "Moon", 0, 0, 0, &memory), 2);
    CHECK(!memory);
    client_close(&c);
}

TEST_LIST(memory_of_devices_is_described_and_not_used, table_is_full_up_to_its_version,
          missing_functions_name_themselves, sessions_state_names_and_types,
          runs_write_new_and_given_values, wrong_arguments_are_statuses,
          terminated_runs_end_until_unset, strings_are_kept_and_read)
