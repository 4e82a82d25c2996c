// SPDX-License-Identifier: Apache-2.0
// A library of custom operators for ONNX Runtime, domain "test.custom", as a client would write it
// in C. Statuses of calls that cannot fail here end the program.

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/compat/ort_custom.h"

#define EXPORT __attribute__((visibility("default")))

enum { FLOAT = 1, INT64 = 7, STRING = 8 };
enum { REQUIRED, OPTIONAL, VARIADIC };

static atomic_int created, destroyed, done;
static const ort_client_slot *table;

static void need(void *status)
{
    if (!status)
        return;
    fprintf(stderr, "ort_custom_ops: %s\n", GetErrorMessage(status));
    abort();
}

static bool fails(void *status, int code, const char *says)
{
    bool is_it = status && GetErrorCode(status) == code && strstr(GetErrorMessage(status), says);
    if (!is_it)
        fprintf(stderr, "ort_custom_ops: %d: %s\n", status ? GetErrorCode(status) : 0,
                status ? GetErrorMessage(status) : "no failure");
    ReleaseStatus(status);
    return is_it;
}

// ---- Values ----

static size_t count_of(const void *value)
{
    void *shape;
    size_t count;
    need(GetTensorTypeAndShape(value, &shape));
    need(GetTensorShapeElementCount(shape, &count));
    ReleaseTensorTypeAndShapeInfo(shape);
    return count;
}

static int type_of(const void *value)
{
    void *shape;
    int type;
    need(GetTensorTypeAndShape(value, &shape));
    need(GetTensorElementType(shape, &type));
    ReleaseTensorTypeAndShapeInfo(shape);
    return type;
}

// At most 8 dimensions.
static size_t shape_of(const void *value, int64_t *dims)
{
    void *shape;
    size_t count;
    need(GetTensorTypeAndShape(value, &shape));
    need(GetDimensionsCount(shape, &count));
    need(GetDimensions(shape, dims, count));
    ReleaseTensorTypeAndShapeInfo(shape);
    return count;
}

static const void *input(const void *context, size_t index)
{
    const void *value;
    need(KernelContext_GetInput(context, index, &value));
    return value;
}

static void *data_of(const void *value)
{
    void *data;
    need(GetTensorMutableData((void *)(uintptr_t)value, &data));
    return data;
}

static void *output(void *context, size_t index, const int64_t *dims, size_t count)
{
    void *value;
    need(KernelContext_GetOutput(context, index, dims, count, &value));
    return value;
}

static void *output_like(void *context, size_t index, const void *value)
{
    int64_t dims[8];
    size_t count = shape_of(value, dims);
    return output(context, index, dims, count);
}

// ---- What most operators have in common ----

typedef struct kernel {
    atomic_int run_count;
    void *info;     // a copy
    char *text;     // of Attributes
    float *weights; // likewise
    size_t weight_count;
} kernel;

static kernel *kernel_new(const void *info)
{
    kernel *k = calloc(1, sizeof *k);
    if (!k)
        abort();
    need(CopyKernelInfo(info, &k->info));
    atomic_fetch_add(&created, 1);
    return k;
}

static void *create(const custom_op *op, const void *api, const void *info)
{
    (void)op;
    if (api != table)
        abort();
    return kernel_new(info);
}

static void destroy(void *p)
{
    kernel *k = p;
    free(k->text);
    free(k->weights);
    ReleaseKernelInfo(k->info);
    free(k);
    atomic_fetch_add(&destroyed, 1);
}

static const char *no_provider(const custom_op *op)
{
    (void)op;
    return NULL;
}

static int always_0(const custom_op *op, size_t index)
{
    (void)op, (void)index;
    return 0;
}

static int always_1(const custom_op *op)
{
    (void)op;
    return 1;
}

static int never(const custom_op *op)
{
    (void)op;
    return 0;
}

static int no_end(const custom_op *op)
{
    (void)op;
    return INT32_MAX;
}

#define NAME(function, text)                                                                       \
    static const char *function(const custom_op *op)                                               \
    {                                                                                              \
        (void)op;                                                                                  \
        return text;                                                                               \
    }
#define COUNT(function, count)                                                                     \
    static size_t function(const custom_op *op)                                                    \
    {                                                                                              \
        (void)op;                                                                                  \
        return count;                                                                              \
    }
#define PER_INDEX(function, value)                                                                 \
    static int function(const custom_op *op, size_t i)                                             \
    {                                                                                              \
        (void)op, (void)i;                                                                         \
        return value;                                                                              \
    }
COUNT(one, 1)
COUNT(two, 2)
COUNT(three, 3)
PER_INDEX(floats, FLOAT)
PER_INDEX(any, 0)
PER_INDEX(ints, INT64)

// What operators of the newest version have, in parts; the rest is with each.
#define BASE               .version = 30, .provider = no_provider, .input_memory = always_0
#define OWN_KERNEL         .create = create, .destroy = destroy
#define REQUIRED_ARGUMENTS .input_characteristic = always_0, .output_characteristic = always_0
#define ONE_TYPE                                                                                   \
    .input_min_arity = always_1, .input_homogeneity = always_1, .output_min_arity = always_1,      \
    .output_homogeneity = always_1
#define ANY_VERSION .start_version = always_1, .end_version = no_end
#define NEWEST      BASE, OWN_KERNEL, REQUIRED_ARGUMENTS, ONE_TYPE, ANY_VERSION

// ---- Attributes: x -> a text that says all attributes, x + attribute `tensor` ----

typedef struct text {
    char bytes[4096];
    size_t len;
} text;

#define SAY(t, ...)                                                                                \
    ((t)->len += (size_t)snprintf((t)->bytes + (t)->len, sizeof(t)->bytes - (t)->len, __VA_ARGS__))

static void say_numbers(text *t, const void *info)
{
    float real = 0, reals[8];
    int64_t whole = 0, wholes[8];
    size_t count = 0;
    need(KernelInfoGetAttribute_float(info, "float", &real));
    need(KernelInfoGetAttribute_int64(info, "int", &whole));
    SAY(t, "%a %" PRId64, (double)real, whole);
    need(KernelInfoGetAttributeArray_float(info, "floats", NULL, &count));
    need(KernelInfoGetAttributeArray_float(info, "floats", reals, &count));
    for (size_t i = 0; i < count; i++)
        SAY(t, " %a", (double)reals[i]);
    count = 0;
    need(KernelInfoGetAttributeArray_int64(info, "ints", NULL, &count));
    need(KernelInfoGetAttributeArray_int64(info, "ints", wholes, &count));
    for (size_t i = 0; i < count; i++)
        SAY(t, " %" PRId64, wholes[i]);
}

static void say_texts(text *t, const void *info)
{
    char bytes[64], **texts = NULL;
    void *allocator;
    size_t size = 0, count = 0;
    need(GetAllocatorWithDefaultOptions(&allocator));
    need(KernelInfoGetAttribute_string(info, "string", NULL, &size));
    need(KernelInfoGetAttribute_string(info, "string", bytes, &size));
    SAY(t, " %s/%zu", bytes, size);
    need(KernelInfoGetAttributeArray_string(info, "strings", allocator, &texts, &count));
    for (size_t i = 0; i < count; i++) {
        SAY(t, " %s", texts[i]);
        need(AllocatorFree(allocator, texts[i]));
    }
    need(AllocatorFree(allocator, texts));
}

static void say_failures(text *t, const void *info)
{
    float real;
    char bytes[2];
    size_t size = sizeof bytes;
    void *statuses[] = {KernelInfoGetAttribute_float(info, "none", &real),
                        KernelInfoGetAttribute_float(info, "int", &real),
                        KernelInfoGetAttribute_string(info, "string", bytes, &size)};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        SAY(t, " %d", statuses[i] ? GetErrorCode(statuses[i]) : 0);
        ReleaseStatus(statuses[i]);
    }
}

static void *create_attributes(const custom_op *op, const void *api, const void *info, void **out)
{
    (void)op, (void)api;
    text t = {.len = 0};
    void *allocator, *tensor;
    kernel *k = kernel_new(info);
    say_numbers(&t, info);
    say_texts(&t, info);
    say_failures(&t, info);
    need(GetAllocatorWithDefaultOptions(&allocator));
    need(KernelInfoGetAttribute_tensor(info, "tensor", allocator, &tensor));
    k->weight_count = count_of(tensor);
    k->weights = malloc(k->weight_count * sizeof *k->weights);
    k->text = malloc(t.len + 1);
    if (!k->weights || !k->text)
        abort();
    memcpy(k->weights, data_of(tensor), k->weight_count * sizeof *k->weights);
    memcpy(k->text, t.bytes, t.len + 1);
    ReleaseValue(tensor);
    *out = k;
    return NULL;
}

static void *compute_attributes(void *p, void *context)
{
    const kernel *k = p;
    const void *x = input(context, 0);
    const float *from = data_of(x);
    int64_t none[1] = {1};
    need(FillStringTensorElement(output(context, 0, none, 0), k->text, 0)); // a scalar
    float *to = data_of(output_like(context, 1, x));
    for (size_t i = 0; i < k->weight_count; i++)
        to[i] = from[i] + k->weights[i];
    return NULL;
}

PER_INDEX(string_and_float, i == 0 ? STRING : FLOAT)
NAME(name_attributes, "Attributes")
static const custom_op attributes = {NEWEST,
                                     .name = name_attributes,
                                     .create_v2 = create_attributes,
                                     .input_type = floats,
                                     .input_count = one,
                                     .output_type = string_and_float,
                                     .output_count = two,
                                     .compute_v2 = compute_attributes};

// ---- SumDiff: a, b -> factor * (a + b), a - b; with a function for their shapes ----

static float factor_of(const void *context)
{
    const void *attribute;
    float factor = 0;
    size_t size;
    void *absent = ShapeInferContext_GetAttribute(context, "none", &attribute);
    if (!absent)
        abort();
    ReleaseStatus(absent);
    need(ShapeInferContext_GetAttribute(context, "factor", &attribute));
    need(ShapeInferContext_GetAttribute(context, "factor", &attribute)); // once more
    need(ReadOpAttr(attribute, 3, &factor, sizeof factor, &size));
    return factor;
}

static void *infer_sum_diff(const custom_op *op, void *context)
{
    (void)op;
    void *a, *b;
    size_t count, counts[2];
    int64_t dims[2][8];
    need(ShapeInferContext_GetInputCount(context, &count));
    need(ShapeInferContext_GetInputTypeShape(context, 0, &a));
    need(ShapeInferContext_GetInputTypeShape(context, 1, &b));
    need(GetDimensionsCount(a, &counts[0]));
    need(GetDimensionsCount(b, &counts[1]));
    need(GetDimensions(a, dims[0], counts[0]));
    need(GetDimensions(b, dims[1], counts[1]));
    if (count != 2 || counts[0] != counts[1] ||
        memcmp(dims[0], dims[1], counts[0] * sizeof dims[0][0]) != 0)
        return CreateStatus(10, "a and b differ in shape");
    if (factor_of(context) < 0)
        return CreateStatus(2, "factor is negative");
    need(ShapeInferContext_SetOutputTypeShape(context, 0, a));
    need(ShapeInferContext_SetOutputTypeShape(context, 1, b));
    void *none = &none;
    return fails(ShapeInferContext_GetInputTypeShape(context, 2, &none), 2, "input 2, of 2") &&
                   !none
               ? NULL
               : CreateStatus(1, "an input after the last");
}

static void *compute_sum_diff(void *p, void *context)
{
    const kernel *k = p;
    float factor;
    need(KernelInfoGetAttribute_float(k->info, "factor", &factor));
    const void *a = input(context, 0), *b = input(context, 1);
    const float *x = data_of(a), *y = data_of(b);
    float *sum = data_of(output_like(context, 0, a)), *diff = data_of(output_like(context, 1, a));
    for (size_t i = 0; i < count_of(a); i++) {
        sum[i] = factor * (x[i] + y[i]);
        diff[i] = x[i] - y[i];
    }
    return NULL;
}

NAME(name_sum_diff, "SumDiff")
static const custom_op sum_diff = {NEWEST,
                                   .name = name_sum_diff,
                                   .input_type = floats,
                                   .input_count = two,
                                   .output_type = floats,
                                   .output_count = two,
                                   .compute_v2 = compute_sum_diff,
                                   .infer = infer_sum_diff};

// ---- Positive: x -> its positive elements, their indices; of an old version ----

static void compute_positive(void *p, void *context)
{
    (void)p;
    const void *x = input(context, 0);
    const float *from = data_of(x);
    size_t count = count_of(x);
    int64_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += from[i] > 0;
    float *to = data_of(output(context, 0, &found, 1));
    int64_t *at = data_of(output(context, 1, &found, 1));
    for (size_t i = 0; i < count; i++) {
        if (!(from[i] > 0))
            continue;
        *to++ = from[i];
        *at++ = (int64_t)i;
    }
}

PER_INDEX(float_and_int, i == 0 ? FLOAT : INT64)
NAME(name_positive, "Positive")
static const custom_op positive = {.version = 10, // what comes later is not there
                                   .create = create,
                                   .name = name_positive,
                                   .provider = no_provider,
                                   .input_type = floats,
                                   .input_count = one,
                                   .output_type = float_and_int,
                                   .output_count = two,
                                   .compute = compute_positive,
                                   .destroy = destroy,
                                   .input_characteristic = always_0,
                                   .output_characteristic = always_0};

// ---- Join: x, bias?, more... -> their sum ----

static void *compute_join(void *p, void *context)
{
    (void)p;
    size_t count;
    need(KernelContext_GetInputCount(context, &count));
    const void *x = input(context, 0);
    size_t element_count = count_of(x);
    float *to = data_of(output_like(context, 0, x));
    memset(to, 0, element_count * sizeof *to);
    for (size_t k = 0; k < count; k++) {
        const void *value = input(context, k);
        for (size_t i = 0; value && i < element_count; i++)
            to[i] += ((const float *)data_of(value))[i] * (float)(k + 1);
    }
    if (input(context, count)) // there is none
        return CreateStatus(1, "an input after the last");
    return NULL;
}

PER_INDEX(kinds_of_join, i == 0 ? REQUIRED : i == 1 ? OPTIONAL : VARIADIC)
NAME(name_join, "Join")
static int two_at_least(const custom_op *op)
{
    (void)op;
    return 2;
}
static const custom_op join = {BASE,
                               OWN_KERNEL,
                               ANY_VERSION,
                               .name = name_join,
                               .input_type = floats,
                               .input_count = three,
                               .output_type = floats,
                               .output_count = one,
                               .input_characteristic = kinds_of_join,
                               .output_characteristic = always_0,
                               .input_min_arity = two_at_least,
                               .input_homogeneity = always_1,
                               .output_min_arity = always_1,
                               .output_homogeneity = always_1,
                               .compute_v2 = compute_join};

// ---- Copies: of any number of inputs of any type; from the last on, if there is `is_reverse` ----

static void copy_strings(const void *from, void *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len;
        char *buffer;
        need(GetStringTensorElementLength(from, i, &len));
        need(GetResizedStringTensorElementBuffer(to, i, len, &buffer));
        need(GetStringTensorElement(from, len, i, buffer));
    }
}

static void *compute_copies(void *p, void *context)
{
    const kernel *self = p;
    int64_t is_reverse = 0;
    size_t count, out_count, size;
    ReleaseStatus(KernelInfoGetAttribute_int64(self->info, "is_reverse", &is_reverse));
    need(KernelContext_GetInputCount(context, &count));
    need(KernelContext_GetOutputCount(context, &out_count));
    for (size_t k = 0; k < count && k < out_count; k++) {
        const void *from = input(context, is_reverse ? count - 1 - k : k);
        void *to = output_like(context, k, from);
        if (!to)
            continue; // nobody wants it
        if (type_of(from) != type_of(to))
            return CreateStatus(1, "an output has another type than its input");
        if (type_of(from) == STRING) {
            copy_strings(from, to, count_of(from));
            continue;
        }
        need(GetTensorSizeInBytes(from, &size));
        if (size > 0)
            memcpy(data_of(to), data_of(from), size);
    }
    return NULL;
}

PER_INDEX(variadic, VARIADIC)
NAME(name_copies, "Copies")
static const custom_op copies = {BASE,
                                 OWN_KERNEL,
                                 ANY_VERSION,
                                 .name = name_copies,
                                 .input_type = any,
                                 .input_count = one,
                                 .output_type = any,
                                 .output_count = one,
                                 .input_characteristic = variadic,
                                 .output_characteristic = variadic,
                                 .input_min_arity = always_1,
                                 .input_homogeneity = never,
                                 .output_min_arity = always_1,
                                 .output_homogeneity = never,
                                 .compute_v2 = compute_copies};

// ---- Fails: where its attribute `where` says ----

static void *create_failing(const custom_op *op, const void *api, const void *info, void **out)
{
    int64_t where;
    need(KernelInfoGetAttribute_int64(info, "where", &where));
    if (where == 0)
        return CreateStatus(9, "no kernel today");
    *out = create(op, api, info);
    return NULL;
}

static void *compute_failing(void *p, void *context)
{
    const kernel *k = p;
    int64_t where;
    need(KernelInfoGetAttribute_int64(k->info, "where", &where));
    if (where == 2)
        return NULL; // without an output
    const void *x = input(context, 0);
    memcpy(data_of(output_like(context, 0, x)), data_of(x), count_of(x) * sizeof(float));
    return *(float *)data_of(x) < 0 ? CreateStatus(6, "x begins with a negative number") : NULL;
}

NAME(name_fails, "Fails")
static const custom_op failing = {NEWEST,
                                  .name = name_fails,
                                  .create_v2 = create_failing,
                                  .input_type = floats,
                                  .input_count = one,
                                  .output_type = floats,
                                  .output_count = one,
                                  .compute_v2 = compute_failing};

// ---- Count: x -> x, how often this kernel has run ----

static void *compute_count(void *p, void *context)
{
    kernel *k = p;
    int64_t one_element = 1;
    const void *x = input(context, 0);
    void *y = output_like(context, 0, x), *again = output_like(context, 0, x);
    if (y != again)
        return CreateStatus(1, "an output is another the second time");
    memcpy(data_of(y), data_of(x), count_of(x) * sizeof(float));
    *(int64_t *)data_of(output(context, 1, &one_element, 1)) =
        atomic_fetch_add(&k->run_count, 1) + 1;
    return NULL;
}

NAME(name_count, "Count")
static const custom_op counting = {NEWEST,
                                   .name = name_count,
                                   .input_type = floats,
                                   .input_count = one,
                                   .output_type = float_and_int,
                                   .output_count = two,
                                   .compute_v2 = compute_count};

// ---- Twice: one operator for floats, one for integers ----

static void *compute_twice_float(void *p, void *context)
{
    (void)p;
    const void *x = input(context, 0);
    float *to = data_of(output_like(context, 0, x));
    for (size_t i = 0; i < count_of(x); i++)
        to[i] = ((const float *)data_of(x))[i] * 2;
    return NULL;
}

static void *compute_twice_int(void *p, void *context)
{
    (void)p;
    const void *x = input(context, 0);
    int64_t *to = data_of(output_like(context, 0, x));
    for (size_t i = 0; i < count_of(x); i++)
        to[i] = ((const int64_t *)data_of(x))[i] * 2;
    return NULL;
}

NAME(name_twice, "Twice")
static const custom_op twice_float = {NEWEST,
                                      .name = name_twice,
                                      .input_type = floats,
                                      .input_count = one,
                                      .output_type = floats,
                                      .output_count = one,
                                      .compute_v2 = compute_twice_float};
static const custom_op twice_int = {NEWEST,
                                    .name = name_twice,
                                    .input_type = ints,
                                    .input_count = one,
                                    .output_type = ints,
                                    .output_count = one,
                                    .compute_v2 = compute_twice_int};

// ---- About: x, w -> a text that says what the node is ----

static void say_name(text *t, void *status, const char *bytes)
{
    need(status);
    SAY(t, "%s ", bytes);
}

static void say_type(text *t, void *type)
{
    const void *shape;
    int element;
    size_t count;
    int64_t dims[8];
    need(CastTypeInfoToTensorInfo(type, &shape));
    need(GetTensorElementType(shape, &element));
    need(GetDimensionsCount(shape, &count));
    need(GetDimensions(shape, dims, count));
    SAY(t, "%d[", element);
    for (size_t i = 0; i < count; i++)
        SAY(t, "%s%" PRId64, i ? "," : "", dims[i]);
    SAY(t, "] ");
    ReleaseTypeInfo(type);
}

static void say_arguments(text *t, const void *info)
{
    char name[64];
    void *type;
    size_t in_count, out_count;
    need(KernelInfo_GetInputCount(info, &in_count));
    need(KernelInfo_GetOutputCount(info, &out_count));
    for (size_t i = 0; i < in_count + out_count; i++) {
        size_t size = sizeof name, k = i < in_count ? i : i - in_count;
        say_name(t,
                 i < in_count ? KernelInfo_GetInputName(info, k, name, &size)
                              : KernelInfo_GetOutputName(info, k, name, &size),
                 name);
        need(i < in_count ? KernelInfo_GetInputTypeInfo(info, k, &type)
                          : KernelInfo_GetOutputTypeInfo(info, k, &type));
        say_type(t, type);
    }
}

static void *create_about(const custom_op *op, const void *api, const void *info, void **out)
{
    (void)op, (void)api;
    text t = {.len = 0};
    char name[64];
    size_t sizes[3] = {sizeof name, sizeof name, sizeof name};
    int version, is_constant;
    const void *constant, *logger;
    void *copy;
    kernel *k = kernel_new(info);
    need(CopyKernelInfo(info, &copy));
    say_name(&t, KernelInfo_GetNodeName(copy, name, &sizes[0]), name);
    say_name(&t, KernelInfo_GetOperatorDomain(copy, name, &sizes[1]), name);
    say_name(&t, KernelInfo_GetOperatorType(copy, name, &sizes[2]), name);
    need(KernelInfo_GetOperatorSinceVersion(copy, &version));
    SAY(&t, "%d ", version);
    say_arguments(&t, copy);
    ReleaseKernelInfo(copy);
    for (size_t i = 0; i < 2; i++) {
        need(KernelInfoGetConstantInput_tensor(info, i, &is_constant, &constant));
        SAY(&t, "%d:%g ", is_constant, is_constant ? (double)*(float *)data_of(constant) : 0.0);
    }
    need(KernelInfo_GetLogger(info, &logger));
    need(Logger_LogMessage(logger, 2, "a kernel is made", __FILE__, __LINE__, __func__));
    k->text = malloc(t.len + 1);
    if (!k->text)
        abort();
    memcpy(k->text, t.bytes, t.len + 1);
    *out = k;
    return NULL;
}

static void mark(void *user, size_t index)
{
    ((char *)user)[index]++;
}

static void *compute_about(void *p, void *context)
{
    const kernel *k = p;
    const void *memory;
    void *allocator, *marks;
    int64_t none[1] = {1};
    need(GetTensorMemoryInfo(input(context, 0), &memory));
    need(KernelContext_GetAllocator(context, memory, &allocator));
    need(KernelContext_GetScratchBuffer(context, memory, 100, &marks));
    memset(marks, 0, 100);
    need(KernelContext_ParallelFor(context, mark, 100, 4, marks));
    for (int i = 0; i < 100; i++)
        if (((char *)marks)[i] != 1)
            return CreateStatus(1, "a part was not run once");
    need(FillStringTensorElement(output(context, 0, none, 0), k->text, 0));
    return NULL;
}

PER_INDEX(strings, STRING)
NAME(name_about, "About")
static const custom_op about = {NEWEST,
                                .name = name_about,
                                .create_v2 = create_about,
                                .input_type = floats,
                                .input_count = two,
                                .output_type = strings,
                                .output_count = one,
                                .compute_v2 = compute_about};

// ---- Versions: 1 to 2, which adds 1, and from 3 on, which adds 3 ----

static void *add(void *context, float term)
{
    const void *x = input(context, 0);
    float *to = data_of(output_like(context, 0, x));
    for (size_t i = 0; i < count_of(x); i++)
        to[i] = ((const float *)data_of(x))[i] + term;
    return NULL;
}

static void *compute_old(void *p, void *context)
{
    (void)p;
    return add(context, 1);
}

static void *compute_new(void *p, void *context)
{
    (void)p;
    return add(context, 3);
}

static int from_3(const custom_op *op)
{
    (void)op;
    return 3;
}

NAME(name_versions, "Versions")
#define VERSIONS(compute_function, from, to)                                                       \
    {                                                                                              \
        BASE, OWN_KERNEL, REQUIRED_ARGUMENTS, ONE_TYPE,                                            \
            .name = name_versions, .input_type = floats, .input_count = one,                       \
            .output_type = floats, .output_count = one, .compute_v2 = compute_function,            \
            .start_version = from, .end_version = to                                               \
    }
static const custom_op old_version = VERSIONS(compute_old, always_1, two_at_least);
static const custom_op new_version = VERSIONS(compute_new, from_3, no_end);

// ---- Meets: x -> how many of `count` calls of ParallelFor ran at once; its resource is refused
// ----

typedef struct meeting {
    atomic_int here, most;
    int expected;
    float *marks;
} meeting;

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

// Stays until as many as are expected have come, or for ten seconds.
static void meet(void *user, size_t index)
{
    meeting *m = user;
    int count = atomic_fetch_add(&m->here, 1) + 1, most = atomic_load(&m->most);
    while (count > most && !atomic_compare_exchange_weak(&m->most, &most, count))
        ;
    for (int i = 0; i < 10000 && atomic_load(&m->most) < m->expected; i++)
        pause_shortly();
    atomic_fetch_sub(&m->here, 1);
    m->marks[index]++;
}

static void *compute_meets(void *p, void *context)
{
    const kernel *k = p;
    int64_t calls, batches, expected;
    need(KernelInfoGetAttribute_int64(k->info, "calls", &calls));
    need(KernelInfoGetAttribute_int64(k->info, "batches", &batches));
    need(KernelInfoGetAttribute_int64(k->info, "expected", &expected));
    meeting m = {.expected = (int)expected};
    m.marks = data_of(output(context, 0, &calls, 1));
    memset(m.marks, 0, (size_t)calls * sizeof *m.marks);
    need(KernelContext_ParallelFor(context, meet, (size_t)calls, (size_t)batches, &m));
    for (int64_t i = 0; i < calls; i++)
        if (m.marks[i] != 1)
            return CreateStatus(1, "an index was not done once");
    for (int64_t i = 0; i < calls; i++)
        m.marks[i] = (float)atomic_load(&m.most);
    void *resource = &m;
    void *status = KernelContext_GetResource(context, 1, 0, &resource);
    bool is_refused = status && GetErrorCode(status) == 2 && !resource;
    ReleaseStatus(status);
    return is_refused ? NULL : CreateStatus(1, "there is a resource");
}

NAME(name_meets, "Meets")
static const custom_op meets = {NEWEST,
                                .name = name_meets,
                                .input_type = floats,
                                .input_count = one,
                                .output_type = floats,
                                .output_count = one,
                                .compute_v2 = compute_meets};

// ---- Invokes: x, w -> operators of ONNX that the kernel creates and runs ----

typedef struct invoker {
    void *product, *softmax, *transpose, *topk, *pick;
} invoker;

static void *attribute_of(const char *name, const void *data, int count, int type)
{
    void *attribute;
    const char *is_name;
    int is_type;
    need(CreateOpAttr(name, data, count, type, &attribute));
    need(OpAttr_GetName(attribute, &is_name));
    need(OpAttr_GetType(attribute, &is_type));
    if (strcmp(is_name, name) != 0 || is_type != type)
        abort();
    return attribute;
}

// The attributes are released; the first that is NULL ends them.
static void *operator_of(const void *info, const char *optype, int version, void *const *list,
                         int in_count, int out_count)
{
    const char *constraint = "T";
    const int type = FLOAT;
    int count = 0;
    void *made;
    while (list[count])
        count++;
    need(CreateOp(info, optype, "", version, &constraint, &type, 1, (const void *const *)list,
                  count, in_count, out_count, &made));
    while (count > 0)
        ReleaseOpAttr(list[--count]);
    return made;
}
#define LIST(...) ((void *const[]){__VA_ARGS__, NULL})

static void *create_invokes(const custom_op *op, const void *api, const void *info, void **out)
{
    (void)op, (void)api;
    static const int64_t axis = 0, last = -1, largest = 0, sorted = 1, perm[] = {1, 0};
    void *none = &none;
    invoker *k = calloc(1, sizeof *k);
    if (!k)
        abort();
    k->product = operator_of(info, "MatMul", 13, LIST(NULL), 2, 1);
    k->softmax = operator_of(info, "Softmax", 13, LIST(attribute_of("axis", &axis, 1, 1)), 1, 1);
    k->transpose = operator_of(info, "Transpose", 13, LIST(attribute_of("perm", perm, 2, 2)), 1, 1);
    k->topk =
        operator_of(info, "TopK", 11,
                    LIST(attribute_of("axis", &last, 1, 1), attribute_of("largest", &largest, 1, 1),
                         attribute_of("sorted", &sorted, 1, 1)),
                    2, 2);
    k->pick = operator_of(info, "Clip", 13, LIST(NULL), 3, 1);
    atomic_fetch_add(&created, 1);
    *out = k;
    if (!fails(CreateOp(info, "NoSuchOperator", "", 13, NULL, NULL, 0, NULL, 0, 1, 1, &none), 1,
               "NoSuchOperator") ||
        none || !fails(CreateOpAttr("graph", &axis, 1, 7, &none), 1, "type 7") || none)
        return CreateStatus(1, "what is not there was created");
    ReleaseOp(NULL);
    ReleaseOpAttr(NULL);
    return NULL;
}

static void destroy_invokes(void *p)
{
    invoker *k = p;
    ReleaseOp(k->product);
    ReleaseOp(k->softmax);
    ReleaseOp(k->transpose);
    ReleaseOp(k->topk);
    ReleaseOp(k->pick);
    free(k);
    atomic_fetch_add(&destroyed, 1);
}

static void *value_of(const int64_t *dims, size_t count, int type)
{
    void *allocator, *value;
    need(GetAllocatorWithDefaultOptions(&allocator));
    need(CreateTensorAsOrtValue(allocator, dims, count, type, &value));
    return value;
}

static void invoke(const void *context, const void *op, const void *a, const void *b, void *to)
{
    const void *inputs[] = {a, b};
    need(InvokeOp(context, op, inputs, b ? 2 : 1, &to, 1));
}

// The two least of each row of transposed columns: values without the one in between, and indices.
static void least_two(const invoker *k, void *context, const void *from, int64_t row_count)
{
    int64_t dims[] = {row_count, 2}, one_element = 1;
    void *two = value_of(&one_element, 1, INT64), *low = value_of(NULL, 0, FLOAT);
    *(int64_t *)data_of(two) = 2;
    *(float *)data_of(low) = 0.25f;
    void *values = value_of(dims, 2, FLOAT), *indices = output(context, 1, dims, 2);
    const void *inputs[] = {from, two};
    void *const outputs[] = {values, indices};
    need(InvokeOp(context, k->topk, inputs, 2, outputs, 2));
    const void *clipped[] = {values, NULL, low}; // no lower bound
    void *result = output(context, 0, dims, 2);
    need(InvokeOp(context, k->pick, clipped, 3, &result, 1));
    ReleaseValue(values);
    ReleaseValue(two);
    ReleaseValue(low);
}

static void *compute_invokes(void *p, void *context)
{
    const invoker *k = p;
    const void *x = input(context, 0), *w = input(context, 1);
    int64_t dims[8], w_dims[8], turned[2];
    (void)shape_of(x, dims);
    (void)shape_of(w, w_dims);
    dims[1] = turned[0] = w_dims[1];
    turned[1] = dims[0];
    void *product = value_of(dims, 2, FLOAT), *soft = value_of(dims, 2, FLOAT),
         *transposed = value_of(turned, 2, FLOAT);
    invoke(context, k->product, x, w, product);
    invoke(context, k->softmax, product, NULL, soft);
    invoke(context, k->transpose, soft, NULL, transposed);
    least_two(k, context, transposed, turned[0]);
    void *wrong = value_of((const int64_t[]){1, 1, 1}, 3, FLOAT);
    bool is_refused =
        fails(InvokeOp(context, k->transpose, &x, 1, &wrong, 1), 2, "its value FLOAT [1, 1, 1]") &&
        fails(InvokeOp(context, k->transpose, &x, 1, &wrong, 0), 2, "0 outputs");
    ReleaseValue(wrong);
    ReleaseValue(product);
    ReleaseValue(soft);
    ReleaseValue(transposed);
    return is_refused ? NULL : CreateStatus(1, "a wrong call went well");
}

NAME(name_invokes, "Invokes")
static const custom_op invokes = {BASE,
                                  REQUIRED_ARGUMENTS,
                                  ONE_TYPE,
                                  ANY_VERSION,
                                  .name = name_invokes,
                                  .input_type = floats,
                                  .input_count = two,
                                  .output_type = float_and_int,
                                  .output_count = two,
                                  .create_v2 = create_invokes,
                                  .destroy = destroy_invokes,
                                  .compute_v2 = compute_invokes};

// ---- Changes: x -> x, after operators of ONNX in all forms, and calls that fail ----

typedef struct changer {
    void *same, *topk, *at, *binarizer;
} changer;

// What is refused makes nothing.
static bool refuses_attributes(void)
{
    static const int64_t one_int = 1;
    static const char *const no_first[] = {NULL, "b"}, *const no_last[] = {"a", NULL};
    void *made = &made;
    bool is_right = fails(CreateOpAttr("a", NULL, 1, 2, &made), 2, "") && !made;
    is_right = is_right && fails(CreateOpAttr("a", NULL, 1, 1, &made), 2, "") && !made;
    is_right = is_right && fails(CreateOpAttr("a", NULL, 0, 5, &made), 2, "") && !made;
    is_right = is_right && fails(CreateOpAttr("a", no_first, 2, 6, &made), 2, "") && !made;
    is_right = is_right && fails(CreateOpAttr("a", no_last, 2, 6, &made), 2, "") && !made;
    is_right = is_right && fails(CreateOpAttr("a", &one_int, -1, 2, &made), 2, "-1 elements");
    ReleaseOpAttr(attribute_of("none", NULL, 0, 2)); // a list may be empty
    return is_right && !made;
}

static bool refuses_operators(const void *info)
{
    static const int counts[][4] = {
        {0, 0, 1, 1}, {13, -1, 1, 1}, {13, 1, 1, 1}, {13, 0, -1, 1}, {13, 0, 1, -1}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const int *n = counts[i];
        void *made = &made;
        if (!fails(CreateOp(info, "Relu", "", n[0], NULL, NULL, 0, NULL, n[1], n[2], n[3], &made),
                   2, "") ||
            made)
            return false;
    }
    return true;
}

static void *create_changes(const custom_op *op, const void *api, const void *info, void **out)
{
    (void)op, (void)api;
    static const int64_t last = -1, yes = 1;
    const float threshold = 1.5f;
    void *attribute = attribute_of("threshold", &threshold, 1, 3);
    changer *k = calloc(1, sizeof *k);
    if (!k)
        abort();
    k->same = operator_of(info, "Identity", 13, LIST(NULL), 1, 1);
    k->topk =
        operator_of(info, "TopK", 11,
                    LIST(attribute_of("axis", &last, 1, 1), attribute_of("largest", &yes, 1, 1),
                         attribute_of("sorted", &yes, 1, 1)),
                    2, 2);
    k->at = operator_of(info, "SequenceAt", 11, LIST(NULL), 2, 1);
    need(CreateOp(info, "Binarizer", "ai.onnx.ml", 1, NULL, NULL, 0,
                  (const void *const *)&attribute, 1, 1, 1, &k->binarizer));
    ReleaseOpAttr(attribute);
    *out = k;
    atomic_fetch_add(&created, 1);
    return refuses_attributes() && refuses_operators(info)
               ? NULL
               : CreateStatus(1, "what is wrong was created");
}

static void destroy_changes(void *p)
{
    changer *k = p;
    ReleaseOp(k->same);
    ReleaseOp(k->topk);
    ReleaseOp(k->at);
    ReleaseOp(k->binarizer);
    free(k);
    atomic_fetch_add(&destroyed, 1);
}

// Identity of each type and rank: more of them than are kept, and of models of equal sizes.
static bool keeps_bytes(const changer *k, const void *context)
{
    static const int types[] = {FLOAT, 6, INT64, 11}, sizes[] = {4, 4, 8, 8};
    static const int64_t dims[] = {1, 1, 1, 1, 1};
    bool is_same = true;
    for (int i = 0; i < 2 * 4 * 6; i++) {
        int type = i % 4;
        size_t rank = (size_t)(i / 4 % 6);
        void *from = value_of(dims, rank, types[type]), *to = value_of(dims, rank, types[type]);
        memset(data_of(from), i + 1, (size_t)sizes[type]);
        invoke(context, k->same, from, NULL, to);
        is_same = is_same && memcmp(data_of(from), data_of(to), (size_t)sizes[type]) == 0;
        ReleaseValue(from);
        ReleaseValue(to);
    }
    return is_same;
}

// Calls of ParallelFor run one operator at once, each with a type and rank of its own.
typedef struct parallel_changes {
    const changer *kernel;
    const void *context;
    atomic_int right;
} parallel_changes;

static void change_in_parallel(void *user, size_t index)
{
    parallel_changes *all = user;
    static const int64_t dims[] = {1, 1, 1, 1, 1, 1};
    int type = index % 2 ? FLOAT : 6;
    void *from = value_of(dims, index % 7, type), *to = value_of(dims, index % 7, type);
    memset(data_of(from), (int)index + 1, 4);
    invoke(all->context, all->kernel->same, from, NULL, to);
    atomic_fetch_add(&all->right, memcmp(data_of(from), data_of(to), 4) == 0);
    ReleaseValue(from);
    ReleaseValue(to);
}

static bool changes_in_parallel(const changer *k, const void *context)
{
    parallel_changes all = {.kernel = k, .context = context};
    need(KernelContext_ParallelFor(context, change_in_parallel, 56, 8, &all));
    return atomic_load(&all.right) == 56;
}

// Of a value that is left out there is no output; of two in a sequence each has its rank.
static bool runs_in_all_forms(const changer *k, const void *context, const void *x)
{
    static const int64_t one_two[] = {1, 2}, scalar = 1;
    void *index = value_of(&scalar, 1, INT64), *position = value_of(NULL, 0, INT64),
         *row = value_of(one_two, 2, FLOAT), *taken = value_of(one_two, 2, FLOAT),
         *bits = value_of(one_two, 2, FLOAT), *sequence;
    *(int64_t *)data_of(index) = *(int64_t *)data_of(position) = 1;
    ((float *)data_of(row))[0] = 1;
    ((float *)data_of(row))[1] = 2;
    void *const picked[] = {NULL, index};
    const void *top[] = {x, index}, *items[] = {x, row};
    need(InvokeOp(context, k->topk, top, 2, picked, 2));
    need(CreateValue(items, 2, 2, &sequence));
    invoke(context, k->at, sequence, position, taken);
    invoke(context, k->binarizer, taken, NULL, bits);
    bool is_right = *(int64_t *)data_of(index) ==
                        (((const float *)data_of(x))[1] > ((const float *)data_of(x))[0]) &&
                    memcmp(data_of(taken), data_of(row), 2 * sizeof(float)) == 0 &&
                    ((float *)data_of(bits))[0] == 0 && ((float *)data_of(bits))[1] == 1;
    void *const values[] = {index, position, row, taken, bits, sequence};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ReleaseValue(values[i]);
    return is_right;
}

static bool refuses_places(void *context)
{
    void *cuda, *none = &none;
    const int64_t other = 3;
    need(CreateMemoryInfo("Cuda", 0, 0, 0, &cuda));
    bool is_right =
        fails(KernelContext_GetAllocator(context, cuda, &none), 2, "'Cuda'") && !none &&
        fails(KernelContext_GetScratchBuffer(context, cuda, 8, &none), 2, "'Cuda'") && !none &&
        fails(KernelContext_GetOutput(context, 0, &other, 1, &none), 2, "another shape") && !none;
    ReleaseMemoryInfo(cuda);
    return is_right;
}

// Of two elements.
static void *compute_changes(void *p, void *context)
{
    const changer *k = p;
    const void *x = input(context, 0);
    void *y = output_like(context, 0, x);
    invoke(context, k->same, x, NULL, y);
    return keeps_bytes(k, context) && runs_in_all_forms(k, context, x) &&
                   changes_in_parallel(k, context) && refuses_places(context) &&
                   fails(InvokeOp(context, k->same, &x, -1, &y, 1), 2, "-1 inputs")
               ? NULL
               : CreateStatus(1, "an operator went wrong");
}

NAME(name_changes, "Changes")
static const custom_op changes = {BASE,
                                  REQUIRED_ARGUMENTS,
                                  ONE_TYPE,
                                  ANY_VERSION,
                                  .name = name_changes,
                                  .input_type = floats,
                                  .input_count = one,
                                  .output_type = floats,
                                  .output_count = one,
                                  .create_v2 = create_changes,
                                  .destroy = destroy_changes,
                                  .compute_v2 = compute_changes};

// ---- Ends: x, the address of options of the run -> x; its first call of 64 terminates the run
// ----

static void end_first(void *user, size_t index)
{
    if (index == 0)
        need(RunOptionsSetTerminate(user));
    atomic_fetch_add(&done, 1);
}

static void *compute_ends(void *p, void *context)
{
    (void)p;
    const void *x = input(context, 0);
    float *to = data_of(output_like(context, 0, x));
    memcpy(to, data_of(x), count_of(x) * sizeof *to);
    void *options = (void *)(uintptr_t) * (const int64_t *)data_of(input(context, 1));
    need(KernelContext_ParallelFor(context, end_first, 64, 64, options));
    return NULL;
}

PER_INDEX(float_then_int, i == 0 ? FLOAT : INT64)
NAME(name_ends, "Ends")
static const custom_op ends = {NEWEST,
                               .name = name_ends,
                               .input_type = float_then_int,
                               .input_count = two,
                               .output_type = floats,
                               .output_count = one,
                               .compute_v2 = compute_ends};

// ---- The library ----

// ONNX Runtime does not hold domains: they are there until the library is closed.
static void **domains;
static size_t domain_count;

__attribute__((destructor)) EXPORT void custom_ops_release_domains(void);
EXPORT void custom_ops_release_domains(void)
{
    while (domain_count > 0)
        ReleaseCustomOpDomain(domains[--domain_count]);
    free(domains);
    domains = NULL;
}

static void *make_domain(void **out)
{
    static const custom_op *const ops[] = {
        &attributes, &sum_diff,    &positive,  &join,  &copies,      &failing,
        &counting,   &twice_float, &twice_int, &about, &old_version, &new_version,
        &meets,      &invokes,     &changes,   &ends,
    };
    void *status = CreateCustomOpDomain("test.custom", out);
    for (size_t i = 0; i < sizeof ops / sizeof *ops && !status; i++)
        status = CustomOpDomain_Add(*out, ops[i]);
    return status;
}

EXPORT void *RegisterCustomOps(void *options, const ort_client_base *base);
EXPORT void *RegisterCustomOps(void *options, const ort_client_base *base)
{
    table = base->get_api(30);
    ort_custom_load(table);
    domains = realloc(domains, (domain_count + 1) * sizeof *domains);
    if (!domains)
        abort();
    void *status = make_domain(&domains[domain_count]);
    return status ? status : AddCustomOpDomain(options, domains[domain_count++]);
}

EXPORT custom_counts custom_ops_counts(void);
EXPORT custom_counts custom_ops_counts(void)
{
    return (custom_counts){atomic_load(&created), atomic_load(&destroyed), atomic_load(&done)};
}
