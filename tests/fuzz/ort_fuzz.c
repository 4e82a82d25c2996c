// SPDX-License-Identifier: Apache-2.0
// ONNX models, changed inside valid messages, through the C ABI of ONNX Runtime: a session from
// bytes, its names and types, values of the types that it states, a run, and what comes out of it.
// Each third session has operators of its own in place of some of ONNX, which ask all that a kernel
// may.

#include "tests/fuzz/fuzz.h"

#include "tests/compat/ort_custom.h"
#include "tests/fuzz/onnx_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

// Seconds for one model.
#define MAX_SECONDS 2

#define MAX_ENDS 16

static void *env, *memory, *allocator, *domain;

// A failure has a text, and what it was to give is NULL.
static bool is_done(void *status, const void *given)
{
    if (!status)
        return true;
    FUZZ_CHECK(GetErrorCode(status) > 0 && GetErrorMessage(status)[0] && !given);
    ReleaseStatus(status);
    return false;
}

// ---- Operators of the program ----

#define MOST_DIMS 64

// What a node says, asked for with room that may be too small.
static void ask_attributes(const void *info)
{
    static const char *const names[] = {"axis", "alpha", "value", "to", "pads", "body", "kind"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[8];
        float numbers[4];
        int64_t integers[4];
        size_t size = sizeof text;
        void *tensor = NULL;
        is_done(KernelInfoGetAttribute_string(info, names[i], text, &size), NULL);
        size = 4;
        is_done(KernelInfoGetAttributeArray_float(info, names[i], numbers, &size), NULL);
        size = 4;
        is_done(KernelInfoGetAttributeArray_int64(info, names[i], integers, &size), NULL);
        is_done(KernelInfoGetAttribute_float(info, names[i], numbers), NULL);
        is_done(KernelInfoGetAttribute_int64(info, names[i], integers), NULL);
        if (is_done(KernelInfoGetAttribute_tensor(info, names[i], allocator, &tensor), tensor))
            ReleaseValue(tensor);
    }
}

static void *create_kernel(const custom_op *op, const void *api, const void *info)
{
    (void)op, (void)api;
    size_t count = 0;
    FUZZ_CHECK(!KernelInfo_GetInputCount(info, &count));
    for (size_t i = 0; i <= count; i++) {
        void *type = NULL;
        const void *constant = NULL;
        int is_constant = 0;
        char name[4];
        size_t size = sizeof name;
        is_done(KernelInfo_GetInputName(info, i, name, &size), NULL);
        if (is_done(KernelInfo_GetInputTypeInfo(info, i, &type), type))
            ReleaseTypeInfo(type);
        is_done(KernelInfoGetConstantInput_tensor(info, i, &is_constant, &constant), constant);
    }
    ask_attributes(info);
    return allocator; // any address
}

static void destroy_kernel(void *kernel)
{
    FUZZ_CHECK(kernel == allocator);
}

// Each output has the shape of the first input, and zeros.
static void compute(void *kernel, void *context)
{
    (void)kernel;
    const void *first = NULL, *shape = NULL;
    void *own = NULL, *out = NULL, *data = NULL;
    int64_t dims[MOST_DIMS] = {0};
    size_t ndim = 0, count = 0, bytes = 0;
    FUZZ_CHECK(!KernelContext_GetInput(context, 0, &first) &&
               !KernelContext_GetOutputCount(context, &count));
    if (first && is_done(GetTensorTypeAndShape(first, &own), own)) {
        shape = own;
        FUZZ_CHECK(!GetDimensionsCount(shape, &ndim) && ndim <= MOST_DIMS &&
                   !GetDimensions(shape, dims, ndim));
        ReleaseTensorTypeAndShapeInfo(own);
    }
    for (size_t i = 0; i < count; i++) {
        out = NULL;
        if (!is_done(KernelContext_GetOutput(context, i, dims, ndim, &out), out) || !out)
            continue;
        bool has_bytes = is_done(GetTensorSizeInBytes(out, &bytes), NULL) &&
                         is_done(GetTensorMutableData(out, &data), NULL);
        if (has_bytes && bytes > 0)
            memset(data, 0, bytes);
    }
}

static const char *no_provider(const custom_op *op)
{
    (void)op;
    return NULL;
}

static size_t one_variadic(const custom_op *op)
{
    (void)op;
    return 1;
}

static int any_type(const custom_op *op, size_t index)
{
    (void)op, (void)index;
    return 0;
}

static int variadic(const custom_op *op, size_t index)
{
    (void)op, (void)index;
    return 2;
}

static int none(const custom_op *op)
{
    (void)op;
    return 0;
}

static int one(const custom_op *op)
{
    (void)op;
    return 1;
}

// The shape of the first input, as it is said to be before a run.
static void *infer(const custom_op *op, void *context)
{
    (void)op;
    void *shape = NULL;
    size_t count = 0;
    FUZZ_CHECK(!ShapeInferContext_GetInputCount(context, &count));
    return count > 0 && is_done(ShapeInferContext_GetInputTypeShape(context, 0, &shape), shape)
               ? ShapeInferContext_SetOutputTypeShape(context, 0, shape)
               : NULL;
}

#define NAMED(optype)                                                                              \
    static const char *name_##optype(const custom_op *op)                                          \
    {                                                                                              \
        (void)op;                                                                                  \
        return #optype;                                                                            \
    }
#define OPERATOR(optype, shapes)                                                                   \
    {                                                                                              \
        .version = 17, .create = create_kernel, .name = name_##optype, .provider = no_provider,    \
        .input_type = any_type, .input_count = one_variadic, .output_type = any_type,              \
        .output_count = one_variadic, .compute = compute, .destroy = destroy_kernel,               \
        .input_characteristic = variadic, .output_characteristic = variadic,                       \
        .input_min_arity = none, .input_homogeneity = one, .output_min_arity = none,               \
        .output_homogeneity = one, .infer = shapes                                                 \
    }

NAMED(Add)
NAMED(Mul)
NAMED(Identity)
NAMED(Relu)

static const custom_op operators[] = {OPERATOR(Add, NULL), OPERATOR(Mul, infer),
                                      OPERATOR(Identity, NULL), OPERATOR(Relu, infer)};

static void make_domain(void)
{
    FUZZ_CHECK(!CreateCustomOpDomain("", &domain));
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        FUZZ_CHECK(!CustomOpDomain_Add(domain, &operators[i]));
}

// ---- Models ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fuzz_start();
    ort_custom_load(ort_client_table());
    FUZZ_CHECK(!CreateEnv(2, "fuzz", &env) && !CreateCpuMemoryInfo(0, 0, &memory) &&
               !GetAllocatorWithDefaultOptions(&allocator));
    make_domain();
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

static void *make_options(unsigned seed)
{
    static float numbers[64];
    void *options = NULL, *value = NULL;
    int64_t len = 4;
    FUZZ_CHECK(!CreateSessionOptions(&options) && !SetIntraOpNumThreads(options, 1));
    FUZZ_CHECK(!AddFreeDimensionOverrideByName(options, seed % 2 ? "N" : "batch", seed / 2 % 4));
    if (seed % 3 == 1)
        FUZZ_CHECK(!AddCustomOpDomain(options, domain));
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
