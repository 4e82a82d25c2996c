// SPDX-License-Identifier: Apache-2.0
// ONNX models, changed inside valid messages, through the C ABI of ONNX Runtime: a session from
// bytes, its names and types, values of the types that it states, a run, and what comes out of it.

#include "tests/fuzz/fuzz.h"

#include "tests/compat/ort_client.h"
#include "tests/fuzz/onnx_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

// Seconds for one model.
#define MAX_SECONDS 2

#define MAX_ENDS 16

static void *env, *memory, *allocator;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    ort_client_load();
    FUZZ_CHECK(!CreateEnv(2, "fuzz", &env) && !CreateCpuMemoryInfo(0, 0, &memory) &&
               !GetAllocatorWithDefaultOptions(&allocator));
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    unsigned changes = 1 + seed / 16 % 4;
    for (unsigned i = 0; i < changes; i++) {
        size_t changed = onnx_mutate(data, size, max_size, seed + i * 77777);
        if (changed > 0)
            size = changed;
    }
    return size;
}

// A failure has a text, and what it was to give is NULL.
static bool is_done(void *status, const void *given)
{
    if (!status)
        return true;
    FUZZ_CHECK(GetErrorCode(status) > 0 && GetErrorMessage(status)[0] && !given);
    ReleaseStatus(status);
    return false;
}

static void *make_options(unsigned seed)
{
    static float numbers[64];
    void *options = NULL, *value = NULL;
    int64_t len = 4;
    FUZZ_CHECK(!CreateSessionOptions(&options) && !SetIntraOpNumThreads(options, 1));
    FUZZ_CHECK(!AddFreeDimensionOverrideByName(options, seed % 2 ? "N" : "batch", seed / 2 % 4));
    if (seed % 3 != 0)
        return options;
    FUZZ_CHECK(
        !CreateTensorWithDataAsOrtValue(memory, numbers, sizeof numbers, &len, 1, 1, &value));
    if (seed / 3 % 2)
        FUZZ_CHECK(!AddInitializer(options, "w", value));
    else
        FUZZ_CHECK(!AddExternalInitializers(options, (const char *const[]){"w"},
                                            (const void *const *)&value, 1));
    ReleaseValue(value);
    return options;
}

// Of the stated type, with small numbers for what is dynamic; NULL: of a kind that is not made.
static void *make_value(const void *type, unsigned seed)
{
    const void *shape = NULL;
    void *value = NULL, *item = NULL;
    int kind = 0, element = 0;
    size_t ndim = 0;
    int64_t dims[8] = {0};
    FUZZ_CHECK(!GetOnnxTypeFromTypeInfo(type, &kind) && !CastTypeInfoToTensorInfo(type, &shape));
    if (kind == 2) {
        const void *sequence = NULL;
        void *inner = NULL;
        FUZZ_CHECK(!CastTypeInfoToSequenceTypeInfo(type, &sequence) &&
                   !GetSequenceElementType(sequence, &inner));
        item = make_value(inner, seed);
        ReleaseTypeInfo(inner);
        if (item)
            is_done(CreateValue((const void *const *)&item, 1, 2, &value), value);
        ReleaseValue(item);
        return value;
    }
    if (!shape)
        return NULL;
    FUZZ_CHECK(!GetTensorElementType(shape, &element) && !GetDimensionsCount(shape, &ndim));
    FUZZ_CHECK(!GetDimensions(shape, dims, ndim));
    size_t count = 1;
    for (size_t i = 0; i < ndim; i++) {
        dims[i] = dims[i] < 0 ? (seed >> i) % 4 : dims[i];
        if (dims[i] > 4096 || (count *= (size_t)dims[i]) > 1 << 20)
            return NULL;
    }
    if (!is_done(CreateTensorAsOrtValue(allocator, dims, ndim, element, &value), value))
        return NULL;
    if (element == 8) {
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(!FillStringTensorElement(value, i % 2 ? "a b" : "\xc3\xa9,1", i));
        return value;
    }
    size_t byte_count = 0;
    unsigned char *data = NULL;
    FUZZ_CHECK(!GetTensorMutableData(value, (void **)&data) &&
               !GetTensorSizeInBytes(value, &byte_count));
    for (size_t i = 0; i < byte_count; i++)
        data[i] = (unsigned char)(seed % 8 == 0 ? 0xff : i % 4 == 0 ? (seed + i) % 3 : 0);
    return value;
}

// Reads all that is in it.
static unsigned look(const void *value, int depth)
{
    int kind = 0;
    size_t count = 0;
    unsigned sum = 0;
    FUZZ_CHECK(!GetValueType(value, &kind));
    if (kind == 2 || kind == 3) {
        FUZZ_CHECK(!GetValueCount(value, &count));
        for (size_t i = 0; i < count && i < 8 && depth < 4; i++) {
            void *item = NULL;
            if (is_done(GetValue(value, (int)i, allocator, &item), item))
                sum += look(item, depth + 1);
            ReleaseValue(item);
        }
        return sum;
    }
    if (kind != 1)
        return 0;
    if (is_done(GetStringTensorDataLength(value, &count), NULL))
        return (unsigned)count;
    const unsigned char *data = NULL;
    FUZZ_CHECK(!GetTensorMutableData((void *)(uintptr_t)value, (void **)(uintptr_t)&data) &&
               !GetTensorSizeInBytes(value, &count));
    for (size_t i = 0; i < count; i++)
        sum += data[i];
    return sum;
}

typedef struct ends {
    char *names[MAX_ENDS];
    void *values[MAX_ENDS];
    size_t count;
} ends;

static bool list_inputs(void *session, ends *inputs, unsigned seed)
{
    size_t count = 0;
    FUZZ_CHECK(!SessionGetInputCount(session, &count));
    for (size_t i = 0; i < count && i < MAX_ENDS; i++) {
        void *type = NULL;
        FUZZ_CHECK(!SessionGetInputName(session, i, allocator, &inputs->names[i]) &&
                   !SessionGetInputTypeInfo(session, i, &type));
        inputs->values[i] = make_value(type, seed + (unsigned)i);
        ReleaseTypeInfo(type);
        inputs->count++;
        if (!inputs->values[i])
            return false;
    }
    return count <= MAX_ENDS;
}

static void list_outputs(void *session, ends *outputs)
{
    size_t count = 0;
    FUZZ_CHECK(!SessionGetOutputCount(session, &count));
    for (size_t i = 0; i < count && i < MAX_ENDS; i++) {
        void *type = NULL;
        FUZZ_CHECK(!SessionGetOutputName(session, i, allocator, &outputs->names[i]) &&
                   !SessionGetOutputTypeInfo(session, i, &type));
        ReleaseTypeInfo(type);
        outputs->count++;
    }
}

static void ends_free(ends *e)
{
    for (size_t i = 0; i < e->count; i++) {
        FUZZ_CHECK(!AllocatorFree(allocator, e->names[i]));
        ReleaseValue(e->values[i]);
    }
}

static void run(void *session, unsigned seed)
{
    ends inputs = {.count = 0}, outputs = {.count = 0};
    bool has_all = list_inputs(session, &inputs, seed);
    list_outputs(session, &outputs);
    for (int round = 0; has_all && round < 2; round++)
        if (is_done(Run(session, NULL, (const char *const *)inputs.names,
                        (const void *const *)inputs.values, inputs.count,
                        (const char *const *)outputs.names, outputs.count, outputs.values),
                    round == 0 ? outputs.values[0] : NULL))
            for (size_t i = 0; i < outputs.count; i++)
                look(outputs.values[i], 0);
    ends_free(&inputs);
    ends_free(&outputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned seed = (unsigned)size;
    for (size_t i = 0; i < size; i++)
        seed = seed * 31 + data[i];
    (void)ln_thread_set_timeout(MAX_SECONDS);
    void *session = NULL, *options = make_options(seed);
    if (is_done(CreateSessionFromArray(env, data, size, options, &session), session))
        run(session, seed);
    ReleaseSession(session);
    ReleaseSessionOptions(options);
    return 0;
}
