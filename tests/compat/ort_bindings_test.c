// SPDX-License-Identifier: Apache-2.0
// Functions in the order in which bindings for other languages call them, from the first session to
// the last release. What a binding calls without looking at the status has to succeed.

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compat/onnx_bytes.h"
#include "tests/compat/ort_client.h"
#include "tests/test.h"

enum { FLOAT = 1, INT64 = 7, STRING = 8, BOOL = 9 };
enum { TENSOR = 1, SEQUENCE, MAP };

static const char *const in_x[] = {"x"}, *const out_y[] = {"y"};

// y = -x, of "N 2" elements, with metadata.
static message negate_model(void)
{
    message graph = {.len = 0};
    put_message(&graph, 1, node("Neg", "", "x", "y"));
    put_message(&graph, 11, value_info("x", tensor_type(FLOAT, "N 2")));
    put_message(&graph, 12, value_info("y", tensor_type(FLOAT, "N 2")));
    message model = model_of(graph);
    put_property(&model, 14, "names", "{0: 'cat', 1: 'dog'}");
    return model;
}

// Labels and probabilities of two classes, as classifiers of scikit-learn are exported.
static message classifier_model(void)
{
    message graph = {.len = 0}, zip = node("ZipMap", "ai.onnx.ml", "x", "y"), classes = {.len = 0};
    put_text(&classes, 1, "classlabels_int64s");
    static const int64_t ids[] = {3, 5};
    for (int i = 0; i < 2; i++)
        put_int(&classes, 8, ids[i]);
    put_int(&classes, 20, 7);
    put_message(&zip, 5, classes);
    put_message(&graph, 1, zip);
    put_message(&graph, 11, value_info("x", tensor_type(FLOAT, "N 2")));
    put_message(&graph, 12,
                value_info("y", sequence_type(map_type(INT64, tensor_type(FLOAT, "")))));
    return model_of(graph);
}

static message copy_model(int element)
{
    message graph = {.len = 0};
    put_message(&graph, 1, node("Identity", "", "x", "y"));
    put_message(&graph, 11, value_info("x", tensor_type(element, "N")));
    put_message(&graph, 12, value_info("y", tensor_type(element, "N")));
    return model_of(graph);
}

static float *floats(void *value)
{
    void *data = NULL;
    OK(GetTensorMutableData(value, &data));
    return data;
}

// ---- C# ----

// Names and types of the inputs, as InferenceSession reads them when it is made.
static void read_metadata_as_csharp(void *session, void *allocator)
{
    size_t count = 0, rank = 0;
    OK(SessionGetInputCount(session, &count));
    CHECK_EQ(count, 1);
    char *name = NULL;
    OK(SessionGetInputName(session, 0, allocator, &name));
    CHECK_STR_EQ(name, "x");
    OK(AllocatorFree(allocator, name));
    void *type = NULL;
    const void *shape = NULL;
    int kind = 0, element = 0;
    OK(SessionGetInputTypeInfo(session, 0, &type));
    OK(GetOnnxTypeFromTypeInfo(type, &kind));
    CHECK_EQ(kind, TENSOR);
    OK(CastTypeInfoToTensorInfo(type, &shape));
    OK(GetTensorElementType(shape, &element));
    CHECK_EQ(element, FLOAT);
    OK(GetDimensionsCount(shape, &rank));
    CHECK_EQ(rank, 2);
    int64_t dims[2] = {0};
    const char *symbols[2] = {NULL};
    OK(GetDimensions(shape, dims, rank));
    OK(GetSymbolicDimensions(shape, symbols, rank));
    CHECK(dims[0] == -1 && dims[1] == 2);
    CHECK_STR_EQ(symbols[0], "N");
    CHECK_STR_EQ(symbols[1], ""); // every one is made a string
    ReleaseTypeInfo(type);
    OK(SessionGetOverridableInitializerCount(session, &count));
    CHECK_EQ(count, 0);
    void *metadata = NULL;
    char *text = NULL, **keys = NULL;
    int64_t version = 0, key_count = 0;
    OK(SessionGetModelMetadata(session, &metadata));
    OK(ModelMetadataGetProducerName(metadata, allocator, &text));
    OK(AllocatorFree(allocator, text));
    OK(ModelMetadataGetGraphName(metadata, allocator, &text));
    OK(AllocatorFree(allocator, text));
    OK(ModelMetadataGetVersion(metadata, &version));
    OK(ModelMetadataGetCustomMetadataMapKeys(metadata, allocator, &keys, &key_count));
    CHECK_EQ(key_count, 1);
    OK(ModelMetadataLookupCustomMetadataMap(metadata, allocator, keys[0], &text));
    CHECK_STR_EQ(text, "{0: 'cat', 1: 'dog'}");
    OK(AllocatorFree(allocator, text));
    OK(AllocatorFree(allocator, keys[0]));
    OK(AllocatorFree(allocator, keys));
    ReleaseModelMetadata(metadata);
}

TEST(csharp_pins_its_arrays_and_reads_what_it_is_given)
{
    ort_client_load();
    void *env = NULL, *allocator = NULL, *options = NULL, *run_options = NULL, *session = NULL,
         *memory = NULL, *value = NULL, *y = NULL, *shape = NULL, *type = NULL;
    char **providers = NULL;
    int provider_count = 0, kind = 0, is_tensor = 0;
    size_t count = 0, rank = 0;
    OK(CreateEnv(2, "CSharpOnnxRuntime", &env));
    OK(SetLanguageProjection(env, 2));
    OK(GetAvailableProviders(&providers, &provider_count));
    CHECK(provider_count >= 1);
    OK(ReleaseAvailableProviders(providers, provider_count));
    OK(GetAllocatorWithDefaultOptions(&allocator));
    OK(CreateSessionOptions(&options));
    OK(SetSessionGraphOptimizationLevel(options, 99));
    OK(SetSessionExecutionMode(options, 0));
    OK(EnableMemPattern(options));
    OK(EnableCpuMemArena(options));
    OK(CreateRunOptions(&run_options)); // one of its own, for runs without
    message model = negate_model();
    OK(CreateSessionFromArray(env, model.bytes, model.len, options, &session));
    read_metadata_as_csharp(session, allocator);
    float x[6] = {1, 2, 3, 4, 5, 6};
    int64_t dims[2] = {3, 2};
    OK(CreateMemoryInfo("Cpu", 0, 0, 0, &memory));
    OK(CreateTensorWithDataAsOrtValue(memory, x, sizeof x, dims, 2, FLOAT, &value));
    OK(Run(session, run_options, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetValueType(y, &kind));
    CHECK_EQ(kind, TENSOR);
    OK(IsTensor(y, &is_tensor));
    CHECK(is_tensor);
    OK(GetTypeInfo(y, &type));
    OK(GetOnnxTypeFromTypeInfo(type, &kind));
    ReleaseTypeInfo(type);
    OK(GetTensorTypeAndShape(y, &shape));
    OK(GetTensorShapeElementCount(shape, &count));
    OK(GetDimensionsCount(shape, &rank));
    OK(GetDimensions(shape, dims, rank));
    CHECK(count == 6 && rank == 2 && dims[0] == 3 && floats(y)[5] == -6);
    ReleaseTensorTypeAndShapeInfo(shape);
    ReleaseValue(y);
    ReleaseValue(value);
    ReleaseMemoryInfo(memory);
    ReleaseSession(session);
    ReleaseRunOptions(run_options);
    ReleaseSessionOptions(options);
    ReleaseEnv(env);
}

// A classifier's maps, which C# turns into dictionaries: keys and values are tensors of one length.
static void read_map(void *map, void *allocator, int64_t key, float number)
{
    int kind = 0;
    size_t count = 0;
    void *keys = NULL, *values = NULL, *data = NULL, *shape = NULL;
    OK(GetValueType(map, &kind));
    CHECK_EQ(kind, MAP);
    OK(GetValue(map, 0, allocator, &keys));
    OK(GetValue(map, 1, allocator, &values));
    OK(GetTensorTypeAndShape(keys, &shape));
    OK(GetTensorShapeElementCount(shape, &count));
    CHECK_EQ(count, 2);
    ReleaseTensorTypeAndShapeInfo(shape);
    OK(GetTensorMutableData(keys, &data));
    CHECK_EQ(((int64_t *)data)[1], key);
    CHECK(floats(values)[1] == number);
    ReleaseValue(keys);
    ReleaseValue(values);
}

TEST(csharp_and_java_read_sequences_of_maps)
{
    ort_client_load();
    void *env = NULL, *allocator = NULL, *session = NULL, *memory = NULL, *value = NULL, *y = NULL,
         *type = NULL, *element = NULL, *held = NULL;
    const void *sequence = NULL, *map = NULL, *shape = NULL;
    int kind = 0, key_type = 0, value_type = 0;
    size_t count = 0;
    message model = classifier_model();
    OK(CreateEnv(3, "java", &env));
    OK(GetAllocatorWithDefaultOptions(&allocator));
    OK(CreateSessionFromArray(env, model.bytes, model.len, NULL, &session));
    OK(SessionGetOutputTypeInfo(session, 0, &type));
    OK(GetOnnxTypeFromTypeInfo(type, &kind));
    CHECK_EQ(kind, SEQUENCE);
    OK(CastTypeInfoToSequenceTypeInfo(type, &sequence));
    OK(GetSequenceElementType(sequence, &element));
    OK(GetOnnxTypeFromTypeInfo(element, &kind));
    CHECK_EQ(kind, MAP);
    OK(CastTypeInfoToMapTypeInfo(element, &map));
    OK(GetMapKeyType(map, &key_type));
    OK(GetMapValueType(map, &held));
    OK(CastTypeInfoToTensorInfo(held, &shape));
    OK(GetTensorElementType(shape, &value_type));
    CHECK(key_type == INT64 && value_type == FLOAT);
    ReleaseTypeInfo(held);
    ReleaseTypeInfo(element);
    ReleaseTypeInfo(type);
    float x[4] = {0.25f, 0.75f, 0.5f, 0.125f};
    int64_t dims[2] = {2, 2};
    OK(CreateCpuMemoryInfo(0, 0, &memory));
    OK(CreateTensorWithDataAsOrtValue(memory, x, sizeof x, dims, 2, FLOAT, &value));
    OK(Run(session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetValueCount(y, &count));
    CHECK_EQ(count, 2);
    for (int i = 0; i < 2; i++) {
        void *item = NULL;
        OK(GetValue(y, i, allocator, &item));
        read_map(item, allocator, 5, x[2 * i + 1]);
        ReleaseValue(item);
    }
    ReleaseValue(y);
    ReleaseValue(value);
    ReleaseMemoryInfo(memory);
    ReleaseSession(session);
    ReleaseEnv(env);
}

// ---- Go ----

// A session for names and types alone, then one whose outputs the binding does not know beforehand.
TEST(go_looks_into_a_model_and_takes_outputs_as_they_come)
{
    ort_client_load();
    void *env = NULL, *memory = NULL, *session = NULL, *options = NULL, *allocator = NULL,
         *value = NULL, *y = NULL, *shape = NULL, *binding = NULL;
    size_t count = 0, rank = 0;
    int kind = 0, has_entry = 1;
    OK(CreateEnv(3, "Golang onnxruntime environment", &env));
    OK(CreateCpuMemoryInfo(1, 0, &memory));
    OK(DisableTelemetryEvents(env));
    OK(UpdateEnvWithCustomLogLevel(env, 2));
    message model = negate_model();
    OK(CreateSessionOptions(&options));
    OK(CreateSessionFromArray(env, model.bytes, model.len, options, &session));
    ReleaseSessionOptions(options);
    OK(SessionGetInputCount(session, &count));
    OK(SessionGetOutputCount(session, &count));
    ReleaseSession(session);
    OK(CreateSessionOptions(&options));
    OK(SetSessionLogSeverityLevel(options, 3));
    OK(SetInterOpNumThreads(options, 1));
    OK(DisableMemPattern(options));
    OK(DisableCpuMemArena(options));
    OK(HasSessionConfigEntry(options, "session.intra_op.allow_spinning", &has_entry));
    CHECK_EQ(has_entry, 0);
    OK(AddSessionConfigEntry(options, "session.intra_op.allow_spinning", "0"));
    OK(CreateSessionFromArray(env, model.bytes, model.len, options, &session));
    ReleaseSessionOptions(options); // gone before the first run
    float x[2] = {1, 2}, z[2] = {0};
    int64_t dims[2] = {1, 2};
    OK(CreateTensorWithDataAsOrtValue(memory, x, sizeof x, dims, 2, FLOAT, &value));
    OK(Run(session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetValueType(y, &kind));
    OK(GetTensorTypeAndShape(y, &shape));
    OK(GetDimensionsCount(shape, &rank));
    OK(GetDimensions(shape, dims, rank));
    ReleaseTensorTypeAndShapeInfo(shape);
    CHECK(kind == TENSOR && dims[0] == 1 && floats(y)[1] == -2);
    ReleaseValue(y);
    y = NULL;
    OK(CreateTensorWithDataAsOrtValue(memory, z, sizeof z, dims, 2, FLOAT, &y));
    x[0] = 7; // in place, between runs
    OK(Run(session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    CHECK(z[0] == -7 && z[1] == -2);
    char *names = NULL;
    size_t *lengths = NULL;
    void **bound = NULL;
    OK(GetAllocatorWithDefaultOptions(&allocator));
    OK(CreateIoBinding(session, &binding));
    OK(BindInput(binding, "x", value));
    OK(BindOutput(binding, "y", y));
    x[1] = 9;
    OK(RunWithBinding(session, NULL, binding));
    CHECK(z[1] == -9);
    OK(GetBoundOutputNames(binding, allocator, &names, &lengths, &count));
    CHECK(count == 1 && lengths[0] == 1 && names[0] == 'y');
    OK(AllocatorFree(allocator, names));
    OK(AllocatorFree(allocator, lengths));
    OK(GetBoundOutputValues(binding, allocator, &bound, &count));
    CHECK(count == 1 && floats(bound[0]) == z);
    ReleaseValue(bound[0]);
    OK(AllocatorFree(allocator, bound));
    ReleaseIoBinding(binding);
    ReleaseValue(y);
    ReleaseValue(value);
    ReleaseSession(session);
    ReleaseMemoryInfo(memory);
    ReleaseEnv(env);
}

static void copy_strings(void *session, void *allocator)
{
    static const char *const words[3] = {"one", "", "dr\xc3\xa9i"};
    char bytes[16] = {0};
    int64_t dims = 3;
    size_t byte_count = 0, offsets[3] = {9, 9, 9};
    void *value = NULL, *y = NULL;
    const void *memory = NULL;
    OK(CreateTensorAsOrtValue(allocator, &dims, 1, STRING, &value));
    OK(FillStringTensor(value, words, 3));
    OK(GetTensorMemoryInfo(value, &memory)); // Rust asks it of every tensor
    OK(Run(session, NULL, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetStringTensorDataLength(y, &byte_count));
    CHECK_EQ(byte_count, 8);
    OK(GetStringTensorContent(y, bytes, byte_count, offsets, 3));
    CHECK(offsets[0] == 0 && offsets[1] == 3 && offsets[2] == 3);
    CHECK_STR_EQ(bytes, "onedr\xc3\xa9i");
    ReleaseValue(y);
    ReleaseValue(value);
}

TEST(go_and_rust_read_all_strings_at_once)
{
    ort_client_load();
    void *env = NULL, *allocator = NULL, *session = NULL;
    message model = copy_model(STRING);
    OK(CreateEnv(3, "strings", &env));
    OK(GetAllocatorWithDefaultOptions(&allocator));
    OK(CreateSessionFromArray(env, model.bytes, model.len, NULL, &session));
    copy_strings(session, allocator);
    copy_strings(session, allocator);
    ReleaseSession(session);
    ReleaseEnv(env);
}

// ---- Rust ----

static void log_nothing(void *user, int severity, const char *category, const char *id,
                        const char *location, const char *text)
{
    (void)user, (void)severity, (void)category, (void)id, (void)location, (void)text;
}

// Memory: an allocator of the session, what it says about itself, and a tensor in it.
static void *tensor_in_session(void *session, int64_t len, void **out_allocator)
{
    void *info = NULL, *value = NULL, *other = NULL;
    const void *asked = NULL, *of_value = NULL;
    const char *name = NULL;
    int kind = -1, mem_type = -9, id = -1, differs = -1, device = -1, is_tensor = 0;
    OK(CreateMemoryInfo("Cpu", 0, 0, 0, &info));
    OK(CreateAllocator(session, info, out_allocator));
    OK(AllocatorGetInfo(*out_allocator, &asked));
    OK(MemoryInfoGetName(asked, &name));
    OK(MemoryInfoGetType(asked, &kind));
    OK(MemoryInfoGetMemType(asked, &mem_type));
    OK(MemoryInfoGetId(asked, &id));
    MemoryInfoGetDeviceType(asked, &device);
    CHECK_STR_EQ(name, "Cpu");
    CHECK(mem_type == 0 && id == 0 && device == 0);
    ReleaseMemoryInfo(info);
    OK(CreateTensorAsOrtValue(*out_allocator, &len, 1, BOOL, &value));
    OK(IsTensor(value, &is_tensor));
    OK(GetTensorMemoryInfo(value, &of_value));
    OK(CreateCpuMemoryInfo(0, 0, &other));
    OK(CompareMemoryInfo(of_value, other, &differs));
    CHECK_EQ(differs, 0);
    ReleaseMemoryInfo(other);
    return value;
}

TEST(rust_shares_threads_and_makes_values_in_sessions)
{
    ort_client_load();
    void *env = NULL, *threading = NULL, *options = NULL, *session = NULL, *allocator = NULL,
         *y = NULL, *type = NULL, *run_options = NULL, *element = NULL, *weights = NULL;
    const char *tag = NULL;
    OK(CreateThreadingOptions(&threading));
    OK(SetGlobalIntraOpNumThreads(threading, 2));
    OK(SetGlobalInterOpNumThreads(threading, 1));
    OK(SetGlobalSpinControl(threading, 0));
    OK(CreateEnvWithCustomLoggerAndGlobalThreadPools(log_nothing, NULL, 0, "ort", threading, &env));
    ReleaseThreadingOptions(threading);
    OK(EnableTelemetryEvents(env));
    OK(CreateSessionOptions(&options));
    OK(DisablePerSessionThreads(options));
    OK(SetSessionGraphOptimizationLevel(options, 2));
    OK(CreatePrepackedWeightsContainer(&weights));
    message model = copy_model(BOOL);
    OK(CreateSessionFromArrayWithPrepackedWeightsContainer(env, model.bytes, model.len, options,
                                                           weights, &session));
    void *value = tensor_in_session(session, 3, &allocator), *data = NULL;
    OK(GetTensorMutableData(value, &data));
    memcpy(data, "\1\0\1", 3);
    OK(CreateRunOptions(&run_options));
    OK(RunOptionsSetRunTag(run_options, "first"));
    OK(RunOptionsGetRunTag(run_options, &tag));
    CHECK_STR_EQ(tag, "first");
    OK(Run(session, run_options, in_x, (const void *const *)&value, 1, out_y, 1, &y));
    OK(GetTypeInfo(y, &type));
    ReleaseTypeInfo(type);
    int64_t at = 2;
    OK(TensorAt(y, &at, 1, &element));
    CHECK_EQ(*(bool *)element, true);
    // Values outlive the session, and the environment goes last.
    ReleaseRunOptions(run_options);
    ReleaseValue(value);
    ReleaseAllocator(allocator);
    ReleaseSession(session);
    ReleasePrepackedWeightsContainer(weights);
    ReleaseSessionOptions(options);
    OK(GetTensorMutableData(y, &data));
    CHECK_MEM_EQ(data, "\1\0\1", 3);
    ReleaseValue(y);
    ReleaseEnv(env);
}

// ---- What newer bindings ask for ----

// A function of the table that few programs call.
#define RARE(result, name, args) ((result(*) args)ort_client_table()[ORT_CLIENT_##name])
#define PTR                      const void *

static void check_hardware(PTR env, PTR device)
{
    const void *hardware = RARE(PTR, EpDevice_Device, (PTR))(device), *listed[1] = {NULL};
    size_t count = 0;
    CHECK_NOT_NULL(hardware);
    CHECK_EQ(RARE(int, HardwareDevice_Type, (PTR))(hardware), 0);
    CHECK_NOT_NULL(RARE(const char *, HardwareDevice_Vendor, (PTR))(hardware));
    CHECK_NOT_NULL(RARE(PTR, HardwareDevice_Metadata, (PTR))(hardware));
    (void)RARE(uint32_t, HardwareDevice_VendorId, (PTR))(hardware);
    (void)RARE(uint32_t, HardwareDevice_DeviceId, (PTR))(hardware);
    CHECK_NOT_NULL(RARE(const char *, EpDevice_EpVendor, (PTR))(device));
    CHECK_NOT_NULL(RARE(PTR, EpDevice_EpMetadata, (PTR))(device));
    CHECK_NOT_NULL(RARE(PTR, EpDevice_EpOptions, (PTR))(device));
    OK(RARE(void *, GetNumHardwareDevices, (PTR, size_t *))(env, &count));
    CHECK(count >= 1);
    if (count == 1)
        OK(RARE(void *, GetHardwareDevices, (PTR, const void **, size_t))(env, listed, 1));
    CHECK(count > 1 || listed[0]);
}

// An environment by its options, devices, and options of sessions that are read back.
TEST(csharp_chooses_among_devices_and_reads_its_options)
{
    ort_client_load();
    const struct {
        uint32_t version;
        int32_t level;
        const char *id;
        void *function, *user;
        PTR threading;
        PTR entries;
    } env_options = {.version = 30, .level = 3, .id = "CSharpOnnxRuntime"};
    void *env = NULL, *options = NULL, *run_options = NULL, *pairs = NULL, *session = NULL;
    const void *const *devices = NULL, *of_input[1] = {NULL};
    size_t count = 0;
    int value = -1;
    OK(RARE(void *, CreateEnvWithOptions, (PTR, void **))(&env_options, &env));
    OK(GetEpDevices(env, &devices, &count));
    for (size_t i = 0; i < count; i++)
        if (strcmp(EpDevice_EpName(devices[i]), "CPUExecutionProvider") == 0)
            check_hardware(env, devices[i]);
    OK(CreateSessionOptions(&options));
    OK(RARE(void *, GetMemPatternEnabled, (PTR, int *))(options, &value));
    CHECK_EQ(value, 1);
    OK(DisableMemPattern(options));
    OK(RARE(void *, GetMemPatternEnabled, (PTR, int *))(options, &value));
    CHECK_EQ(value, 0);
    OK(RARE(void *, GetSessionExecutionMode, (PTR, int *))(options, &value));
    CHECK_EQ(value, 0);
    OK(RARE(void *, SetDeterministicCompute, (void *, bool))(options, true));
    OK(RARE(void *, SetSessionLogVerbosityLevel, (void *, int))(options, 2));
    OK(RARE(void *, DisableProfiling, (void *))(options));
    OK(RARE(void *, SessionOptionsSetEpSelectionPolicy, (void *, int))(options, 1));
    OK(AddSessionConfigEntry(options, "a.key", "a value"));
    OK(RARE(void *, GetSessionOptionsConfigEntries, (PTR, void **))(options, &pairs));
    CHECK_STR_EQ(GetKeyValue(pairs, "a.key"), "a value");
    ReleaseKeyValuePairs(pairs);
    OK(CreateRunOptions(&run_options));
    OK(RARE(void *, RunOptionsSetRunLogVerbosityLevel, (void *, int))(run_options, 3));
    OK(RARE(void *, RunOptionsGetRunLogVerbosityLevel, (PTR, int *))(run_options, &value));
    CHECK_EQ(value, 3);
    OK(RARE(void *, AddRunConfigEntry, (void *, PTR, PTR))(run_options, "key", "v"));
    CHECK_STR_EQ(RARE(const char *, GetRunConfigEntry, (PTR, PTR))(run_options, "key"), "v");
    CHECK_NULL(RARE(const char *, GetRunConfigEntry, (PTR, PTR))(run_options, "none"));
    OK(RARE(void *, RunOptionsDisableProfiling, (void *))(run_options));
    message model = negate_model();
    OK(CreateSessionFromArray(env, model.bytes, model.len, options, &session));
    OK(RARE(void *, SessionGetMemoryInfoForInputs, (PTR, PTR *, size_t))(session, of_input, 1));
    CHECK_NOT_NULL(of_input[0]);
    OK(RARE(void *, SessionGetMemoryInfoForOutputs, (PTR, PTR *, size_t))(session, of_input, 1));
    CHECK_NOT_NULL(of_input[0]);
    OK(RARE(void *, SessionGetEpDeviceForInputs, (PTR, PTR *, size_t))(session, of_input, 1));
    OK(RARE(void *, SessionGetEpDeviceForOutputs, (PTR, PTR *, size_t))(session, of_input, 1));
    CHECK_NOT_NULL(RARE(const char *, GetBuildInfoString, (void))());
    CHECK_NOT_NULL(RARE(PTR, GetCompileApi, (void))());
    CHECK_NOT_NULL(RARE(PTR, GetModelEditorApi, (void))());
    ReleaseSession(session);
    ReleaseRunOptions(run_options);
    ReleaseSessionOptions(options);
    ReleaseEnv(env);
}

// An allocator of the caller's, by which a value frees its memory; members in their order.
typedef struct deleter {
    uint32_t version;
    void *(*alloc)(struct deleter *, size_t);
    void (*free)(struct deleter *, void *);
    PTR (*info)(const struct deleter *);
    void *later[4];
    void *memory;
    int freed_count;
} deleter;

static void delete_block(deleter *d, void *p)
{
    free(p);
    d->freed_count++;
}

static PTR info_of_deleter(const deleter *d)
{
    return d->memory;
}

// Arenas, memory that is described in the newer way, and what is asked of every value.
TEST(cpp_describes_memory_and_looks_into_values)
{
    ort_client_load();
    void *env = NULL, *memory = NULL, *arena = NULL, *allocator = NULL, *value = NULL,
         *block = NULL, *type = NULL;
    const void *data = NULL, *shape = NULL;
    const int64_t *seen = NULL, dims[2] = {2, 3};
    const char *text = NULL;
    const size_t sizes[] = {1 << 20};
    size_t count = 0, len = 7;
    int answer = -1, element = -1;
    OK(CreateEnv(3, "cpp", &env));
    OK(RARE(void *, CreateMemoryInfo_V2, (PTR, int, uint32_t, int32_t, int, size_t, int, void **))(
        "Cpu", 0, 0, 0, 0, 0, 1, &memory));
    CHECK_EQ(RARE(int, MemoryInfoGetDeviceMemType, (PTR))(memory), 0);
    CHECK_EQ(RARE(uint32_t, MemoryInfoGetVendorId, (PTR))(memory), 0);
    OK(RARE(void *, CreateArenaCfg, (size_t, int, int, int, void **))(0, -1, -1, -1, &arena));
    OK(RARE(void *, CreateAndRegisterAllocator, (void *, PTR, PTR))(env, memory, arena));
    RARE(void, ReleaseArenaCfg, (void *))(arena);
    OK(RARE(void *, CreateArenaCfgV2, (const char *const *, const size_t *, size_t, void **))(
        (const char *const[]){"max_mem"}, sizes, 1, &arena));
    RARE(void, ReleaseArenaCfg, (void *))(arena);
    OK(GetAllocatorWithDefaultOptions(&allocator));
    OK(RARE(void *, AllocatorAlloc, (void *, size_t, void **))(allocator, 24, &block));
    CHECK_NOT_NULL(block);
    OK(AllocatorFree(allocator, block));
    deleter d = {.version = 30, .free = delete_block, .info = info_of_deleter, .memory = memory};
    float *owned = calloc(6, sizeof *owned);
    CHECK_NOT_NULL(owned);
    owned[5] = 4;
    OK(RARE(void *, CreateTensorWithDataAndDeleterAsOrtValue,
            (deleter *, void *, size_t, const int64_t *, size_t, int, void **))(
        &d, owned, 6 * sizeof *owned, dims, 2, FLOAT, &value));
    OK(RARE(void *, IsSparseTensor, (PTR, int *))(value, &answer));
    CHECK_EQ(answer, 0);
    OK(RARE(void *, HasValue, (PTR, int *))(value, &answer));
    CHECK_EQ(answer, 1);
    OK(RARE(void *, GetTensorData, (PTR, PTR *))(value, &data));
    CHECK(data == owned && ((const float *)data)[5] == 4);
    OK(RARE(void *, GetTensorElementTypeAndShapeDataReference,
            (PTR, int *, const int64_t **, size_t *))(value, &element, &seen, &count));
    CHECK(element == FLOAT && count == 2 && seen[0] == 2 && seen[1] == 3);
    OK(GetTypeInfo(value, &type));
    OK(RARE(void *, GetDenotationFromTypeInfo, (PTR, const char **, size_t *))(type, &text, &len));
    CHECK_EQ(len, 0);
    OK(CastTypeInfoToTensorInfo(type, &shape));
    CHECK(RARE(bool, TensorTypeAndShape_HasShape, (PTR))(shape));
    const void *optional = &optional;
    OK(RARE(void *, CastTypeInfoToOptionalTypeInfo, (PTR, PTR *))(type, &optional));
    CHECK_NULL(optional);
    ReleaseTypeInfo(type);
    CHECK_EQ(d.freed_count, 0);
    ReleaseValue(value);
    CHECK_EQ(d.freed_count, 1);
    ReleaseMemoryInfo(memory);
    ReleaseEnv(env);
}

TEST_LIST(csharp_pins_its_arrays_and_reads_what_it_is_given, csharp_and_java_read_sequences_of_maps,
          go_looks_into_a_model_and_takes_outputs_as_they_come,
          go_and_rust_read_all_strings_at_once, csharp_chooses_among_devices_and_reads_its_options,
          cpp_describes_memory_and_looks_into_values,
          rust_shares_threads_and_makes_values_in_sessions)
