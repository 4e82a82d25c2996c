// SPDX-License-Identifier: Apache-2.0
// Kernels of custom operators, and what they ask about their node: attributes, names, types,
// constants. All of it stays valid as long as the session.

#include "compat/ort/custom.h"

#include <string.h>

#include <lightnet/onnx_data.h>

const int ort_attribute_types[ORT_ATTR_COUNT] = {
    [ORT_ATTR_INT] = LN_ATTRIBUTE_INT,       [ORT_ATTR_INTS] = LN_ATTRIBUTE_INTS,
    [ORT_ATTR_FLOAT] = LN_ATTRIBUTE_FLOAT,   [ORT_ATTR_FLOATS] = LN_ATTRIBUTE_FLOATS,
    [ORT_ATTR_STRING] = LN_ATTRIBUTE_STRING, [ORT_ATTR_STRINGS] = LN_ATTRIBUTE_STRINGS,
    [ORT_ATTR_GRAPH] = LN_ATTRIBUTE_GRAPH,   [ORT_ATTR_TENSOR] = LN_ATTRIBUTE_TENSOR,
};

// ---- Kernels ----

static ort_status *create_kernel(const ort_kernel_info *node, ort_variant *variant)
{
    const ort_custom_op *op = variant->op;
    const ort_slot *api = ort_own_base()->get_api(op->version);
    if (!api)
        return ort_fail(ORT_INVALID_ARGUMENT,
                        "custom operator '%s' is of API version %u, which is not known",
                        node->optype, (unsigned)op->version);
    if (op->version >= ORT_SINCE_STATUS && op->create_kernel_v2)
        TRY(op->create_kernel_v2(op, api, node, &variant->kernel));
    else
        variant->kernel = op->create_kernel(op, api, node);
    variant->has_kernel = true;
    return NULL;
}

ort_status *ort_variant_kernel(ort_kernel_info *node, ort_variant *variant, void **out)
{
    ort_status *status = NULL;
    pthread_mutex_lock(&node->all->lock);
    if (!variant->has_kernel)
        status = create_kernel(node, variant);
    pthread_mutex_unlock(&node->all->lock);
    *out = variant->kernel;
    return status;
}

static void drop_constants(ort_kernel_info *node, const ort_ends *replaceable)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        if (!ort_end_find(replaceable, node->inputs.items[i]))
            continue;
        ort_value_release(node->constants[i]);
        node->constants[i] = NULL;
    }
}

// One of several variants whose types are not known yet is created by the first run.
ort_status *ort_nodes_start(ort_nodes *nodes, const ort_ends *replaceable)
{
    for (size_t i = 0; nodes && i < nodes->count; i++) {
        ort_kernel_info *node = &nodes->items[i];
        void *kernel;
        drop_constants(node, replaceable);
        if (!node->chosen && node->variant_count == 1)
            node->chosen = &node->variants[0];
        ort_status *status = node->chosen ? ort_variant_kernel(node, node->chosen, &kernel) : NULL;
        if (!status)
            continue;
        ort_status *named = ort_fail(ORT_RUNTIME_EXCEPTION, "%s '%s': %s", node->optype, node->name,
                                     ort_status_text(status)); // whatever its code, as there
        ort_status_free(status);
        return named;
    }
    return NULL;
}

// ---- Attributes ----

static int guess_type(uint64_t number)
{
    switch (number) {
    case LN_ONNX_attribute_f: return LN_ATTRIBUTE_FLOAT;
    case LN_ONNX_attribute_i: return LN_ATTRIBUTE_INT;
    case LN_ONNX_attribute_s: return LN_ATTRIBUTE_STRING;
    case LN_ONNX_attribute_t: return LN_ATTRIBUTE_TENSOR;
    case LN_ONNX_attribute_floats: return LN_ATTRIBUTE_FLOATS;
    case LN_ONNX_attribute_ints: return LN_ATTRIBUTE_INTS;
    case LN_ONNX_attribute_strings: return LN_ATTRIBUTE_STRINGS;
    default: return 0;
    }
}

// Old files do not state the type: it is that of the field that is there.
static int type_of(ort_cursor message)
{
    int stated = 0, guessed = 0;
    ort_field f;
    while (ort_read_field(&message, &f)) {
        if (f.number == LN_ONNX_attribute_type && f.wire == ORT_WIRE_VARINT)
            stated = f.bits < INT32_MAX ? (int)f.bits : 0;
        else if (guess_type(f.number))
            guessed = guess_type(f.number);
    }
    return stated ? stated : guessed;
}

static bool find_field(ort_cursor message, uint64_t number, int wire, ort_field *out)
{
    bool is_found = false;
    ort_field f;
    while (ort_read_field(&message, &f)) {
        if (f.number == number && f.wire == wire) {
            *out = f;
            is_found = true;
        }
    }
    return is_found;
}

static bool is_name(ort_cursor attribute, const char *name)
{
    ort_field f;
    size_t len = strlen(name);
    return find_field(attribute, LN_ONNX_attribute_name, ORT_WIRE_BYTES, &f) &&
           (size_t)(f.bytes.end - f.bytes.at) == len && memcmp(f.bytes.at, name, len) == 0;
}

// *out is NULL if the node has none of that name.
ort_status *ort_attribute_find(const ort_kernel_info *node, const char *name, ort_attribute **out)
{
    ort_cursor message = {node->bytes, node->bytes + node->byte_count};
    ort_field f;
    *out = NULL;
    while (ort_read_field(&message, &f)) {
        if (f.number != LN_ONNX_node_attribute || f.wire != ORT_WIRE_BYTES ||
            !is_name(f.bytes, name))
            continue;
        ort_attribute *found = ln_alloc(sizeof *found + strlen(name) + 1);
        if (!found)
            return ort_fail_memory();
        found->message = f.bytes;
        found->type = type_of(f.bytes);
        memcpy(found->name, name, strlen(name) + 1);
        *out = found;
        return NULL;
    }
    return NULL;
}

// The message of an attribute of that type.
static ort_status *need_attribute(const ort_kernel_info *node, const char *name, int type,
                                  ort_cursor *out)
{
    NEED(node);
    NEED(name);
    ort_attribute *found;
    TRY(ort_attribute_find(node, name, &found));
    if (!found)
        return ort_fail(ORT_FAIL, "node '%s' has no attribute '%s'", node->name, name);
    int has = found->type;
    *out = found->message;
    ln_free(found);
    return has == type
               ? NULL
               : ort_fail(ORT_FAIL, "attribute '%s' is of type %d, not of %d", name, has, type);
}

static float read_float(ort_cursor bytes)
{
    uint32_t bits = (uint32_t)bytes.at[0] | (uint32_t)bytes.at[1] << 8 |
                    (uint32_t)bytes.at[2] << 16 | (uint32_t)bytes.at[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_of(ort_cursor attribute)
{
    ort_field f;
    return find_field(attribute, LN_ONNX_attribute_f, ORT_WIRE_32, &f) ? read_float(f.bytes) : 0;
}

static int64_t int_of(ort_cursor attribute)
{
    ort_field f;
    return find_field(attribute, LN_ONNX_attribute_i, ORT_WIRE_VARINT, &f) ? (int64_t)f.bits : 0;
}

static ort_cursor string_of(ort_cursor attribute)
{
    ort_field f;
    return find_field(attribute, LN_ONNX_attribute_s, ORT_WIRE_BYTES, &f)
               ? f.bytes
               : (ort_cursor){NULL, NULL};
}

// Elements of an array: up to `capacity` are written, all are counted.
static size_t read_floats(ort_cursor attribute, float *out, size_t capacity)
{
    size_t count = 0;
    ort_field f;
    while (ort_read_field(&attribute, &f)) {
        bool is_packed = f.wire == ORT_WIRE_BYTES;
        if (f.number != LN_ONNX_attribute_floats || (!is_packed && f.wire != ORT_WIRE_32))
            continue;
        for (; f.bytes.end - f.bytes.at >= 4; f.bytes.at += 4, count++)
            if (count < capacity)
                out[count] = read_float(f.bytes);
    }
    return count;
}

static size_t read_ints(ort_cursor attribute, int64_t *out, size_t capacity)
{
    size_t count = 0;
    ort_field f;
    while (ort_read_field(&attribute, &f)) {
        uint64_t bits = f.bits;
        if (f.number != LN_ONNX_attribute_ints ||
            (f.wire != ORT_WIRE_BYTES && f.wire != ORT_WIRE_VARINT))
            continue;
        while (f.wire == ORT_WIRE_VARINT || ort_read_varint(&f.bytes, &bits)) {
            if (count < capacity)
                out[count] = (int64_t)bits;
            count++;
            if (f.wire == ORT_WIRE_VARINT)
                break;
        }
    }
    return count;
}

static bool next_string(ort_cursor *attribute, ort_cursor *out)
{
    ort_field f;
    while (ort_read_field(attribute, &f)) {
        if (f.number == LN_ONNX_attribute_strings && f.wire == ORT_WIRE_BYTES) {
            *out = f.bytes;
            return true;
        }
    }
    return false;
}

// ---- Attributes that kernels ask for ----

static ort_status *KernelInfoGetAttribute_float(const ort_kernel_info *info, const char *name,
                                                float *out)
{
    ort_cursor attribute;
    OUT(out, 0);
    TRY(need_attribute(info, name, LN_ATTRIBUTE_FLOAT, &attribute));
    *out = float_of(attribute);
    return NULL;
}

static ort_status *KernelInfoGetAttribute_int64(const ort_kernel_info *info, const char *name,
                                                int64_t *out)
{
    ort_cursor attribute;
    OUT(out, 0);
    TRY(need_attribute(info, name, LN_ATTRIBUTE_INT, &attribute));
    *out = int_of(attribute);
    return NULL;
}

// Bytes with a 0 after them; without a buffer their number alone is wanted.
static ort_status *copy_out(const void *bytes, size_t len, char *out, size_t *size)
{
    NEED(size);
    size_t capacity = *size;
    *size = len + 1;
    if (!out)
        return NULL;
    if (capacity < len + 1)
        return ort_fail(ORT_INVALID_ARGUMENT, "the buffer has %zu bytes, %zu are needed", capacity,
                        len + 1);
    if (len > 0)
        memcpy(out, bytes, len);
    out[len] = 0;
    return NULL;
}

static ort_status *KernelInfoGetAttribute_string(const ort_kernel_info *info, const char *name,
                                                 char *out, size_t *size)
{
    ort_cursor attribute;
    TRY(need_attribute(info, name, LN_ATTRIBUTE_STRING, &attribute));
    ort_cursor text = string_of(attribute);
    return copy_out(text.at, (size_t)(text.end - text.at), out, size);
}

static ort_status *check_capacity(const void *out, size_t *size, size_t count)
{
    size_t capacity = *size;
    *size = count;
    return !out || capacity >= count
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT, "the buffer has %zu elements, %zu are needed",
                          capacity, count);
}

static ort_status *KernelInfoGetAttributeArray_float(const ort_kernel_info *info, const char *name,
                                                     float *out, size_t *size)
{
    ort_cursor attribute;
    NEED(size);
    TRY(need_attribute(info, name, LN_ATTRIBUTE_FLOATS, &attribute));
    TRY(check_capacity(out, size, read_floats(attribute, NULL, 0)));
    if (out)
        (void)read_floats(attribute, out, *size);
    return NULL;
}

static ort_status *KernelInfoGetAttributeArray_int64(const ort_kernel_info *info, const char *name,
                                                     int64_t *out, size_t *size)
{
    ort_cursor attribute;
    NEED(size);
    TRY(need_attribute(info, name, LN_ATTRIBUTE_INTS, &attribute));
    TRY(check_capacity(out, size, read_ints(attribute, NULL, 0)));
    if (out)
        (void)read_ints(attribute, out, *size);
    return NULL;
}

// An array of texts, each of which the client frees, as the array.
static ort_status *KernelInfoGetAttributeArray_string(const ort_kernel_info *info, const char *name,
                                                      ort_allocator *allocator, char ***out,
                                                      size_t *size)
{
    ort_cursor attribute, text;
    size_t count = 0;
    OUT(out, NULL);
    OUT(size, 0);
    NEED(allocator);
    TRY(need_attribute(info, name, LN_ATTRIBUTE_STRINGS, &attribute));
    for (ort_cursor c = attribute; next_string(&c, &text);)
        count++;
    char **texts = count > 0 ? allocator->alloc(allocator, count * sizeof *texts) : NULL;
    if (count > 0 && !texts)
        return ort_fail_memory();
    for (size_t i = 0; i < count && next_string(&attribute, &text); i++) {
        size_t len = (size_t)(text.end - text.at);
        texts[i] = allocator->alloc(allocator, len + 1);
        if (!texts[i]) {
            while (i > 0)
                allocator->free(allocator, texts[--i]);
            allocator->free(allocator, texts);
            return ort_fail_memory();
        }
        memcpy(texts[i], text.at, len);
        texts[i][len] = 0;
    }
    *out = texts;
    *size = count;
    return NULL;
}

static ort_status *tensor_of(ort_cursor attribute, const char *name, ort_value **out)
{
    ort_field f;
    ln_object *object;
    if (!find_field(attribute, LN_ONNX_attribute_t, ORT_WIRE_BYTES, &f))
        return ort_fail(ORT_INVALID_GRAPH, "attribute '%s' has no tensor", name);
    if (ln_onnx_read_value(f.bytes.at, (size_t)(f.bytes.end - f.bytes.at), name, LN_OBJECT_TENSOR,
                           &object) != LN_OK)
        return ort_fail_lightnet(ORT_INVALID_GRAPH);
    ort_status *status = ort_value_of_object(object, name, out);
    ln_object_release(object);
    return status;
}

static ort_status *KernelInfoGetAttribute_tensor(const ort_kernel_info *info, const char *name,
                                                 ort_allocator *allocator, ort_value **out)
{
    ort_cursor attribute;
    OUT(out, NULL);
    NEED(allocator);
    TRY(need_attribute(info, name, LN_ATTRIBUTE_TENSOR, &attribute));
    return tensor_of(attribute, name, out);
}

// ---- Attributes that shape functions ask for, and those that kernels make ----

static ort_status *OpAttr_GetName(const ort_attribute *attribute, const char **out)
{
    OUT(out, NULL);
    NEED(attribute);
    *out = attribute->name;
    return NULL;
}

static ort_status *OpAttr_GetType(const ort_attribute *attribute, int *out)
{
    OUT(out, 0);
    NEED(attribute);
    for (int type = ORT_ATTR_INT; type < ORT_ATTR_COUNT; type++)
        if (ort_attribute_types[type] == attribute->type)
            *out = type;
    return *out ? NULL
                : ort_fail(ORT_INVALID_ARGUMENT,
                           "attribute '%s' is of type %d, which has no number here",
                           attribute->name, attribute->type);
}

static ort_status *OpAttr_GetTensorAttributeAsOrtValue(const ort_attribute *attribute,
                                                       ort_value **out)
{
    OUT(out, NULL);
    NEED(attribute);
    return attribute->type == LN_ATTRIBUTE_TENSOR
               ? tensor_of(attribute->message, attribute->name, out)
               : ort_fail(ORT_INVALID_ARGUMENT, "attribute '%s' is not a tensor", attribute->name);
}

static ort_status *read_texts(const ort_attribute *attribute, char *out, size_t capacity,
                              size_t *size)
{
    ort_cursor message = attribute->message, text = string_of(message);
    size_t needed = 0;
    bool is_list = attribute->type == LN_ATTRIBUTE_STRINGS;
    while (!is_list || next_string(&message, &text)) {
        size_t len = (size_t)(text.end - text.at);
        if (out && needed + len + 1 <= capacity) {
            if (len > 0)
                memcpy(out + needed, text.at, len);
            out[needed + len] = 0;
        }
        needed += len + 1;
        if (!is_list)
            break;
    }
    *size = needed;
    return needed <= capacity
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT, "the buffer has %zu bytes, %zu are needed",
                          capacity, needed);
}

static ort_status *ReadOpAttr(const ort_attribute *attribute, int type, void *out, size_t capacity,
                              size_t *size)
{
    OUT(size, 0);
    NEED(attribute);
    if (type < ORT_ATTR_INT || type > ORT_ATTR_STRINGS ||
        attribute->type != ort_attribute_types[type])
        return ort_fail(ORT_FAIL, "attribute '%s' is of another type", attribute->name);
    if (type == ORT_ATTR_STRING || type == ORT_ATTR_STRINGS)
        return read_texts(attribute, out, capacity, size);
    int64_t number = int_of(attribute->message);
    float real = float_of(attribute->message);
    switch (type) {
    case ORT_ATTR_INTS: *size = read_ints(attribute->message, NULL, 0) * sizeof number; break;
    case ORT_ATTR_FLOATS: *size = read_floats(attribute->message, NULL, 0) * sizeof real; break;
    default: *size = type == ORT_ATTR_INT ? sizeof number : sizeof real; break;
    }
    if (capacity < *size || (!out && *size > 0))
        return ort_fail(ORT_INVALID_ARGUMENT, "the buffer has %zu bytes, %zu are needed",
                        out ? capacity : 0, *size);
    switch (type) {
    case ORT_ATTR_INTS: (void)read_ints(attribute->message, out, *size / sizeof number); break;
    case ORT_ATTR_FLOATS: (void)read_floats(attribute->message, out, *size / sizeof real); break;
    case ORT_ATTR_INT: memcpy(out, &number, sizeof number); break;
    default: memcpy(out, &real, sizeof real); break;
    }
    return NULL;
}

// ---- The node ----

#define COUNT_OF(slot, names)                                                                      \
    static ort_status *slot(const ort_kernel_info *info, size_t *out)                              \
    {                                                                                              \
        OUT(out, 0);                                                                               \
        NEED(info);                                                                                \
        *out = info->names.count;                                                                  \
        return NULL;                                                                               \
    }
COUNT_OF(KernelInfo_GetInputCount, inputs)
COUNT_OF(KernelInfo_GetOutputCount, outputs)

static ort_status *check_index(size_t index, const ort_names *names)
{
    return index < names->count
               ? NULL
               : ort_fail(ORT_INVALID_ARGUMENT, "index %zu, of %zu", index, names->count);
}

#define NAME_OF(slot, names)                                                                       \
    static ort_status *slot(const ort_kernel_info *info, size_t index, char *out, size_t *size)    \
    {                                                                                              \
        NEED(info);                                                                                \
        TRY(check_index(index, &info->names));                                                     \
        return copy_out(info->names.items[index], strlen(info->names.items[index]), out, size);    \
    }
NAME_OF(KernelInfo_GetInputName, inputs)
NAME_OF(KernelInfo_GetOutputName, outputs)

static ort_status *copy_type(const ort_type *type, const char *name, ort_type **out)
{
    if (!type)
        return ort_fail(ORT_INVALID_ARGUMENT, "the type of '%s' is not known before a run", name);
    *out = ort_type_copy(type);
    return *out ? NULL : ort_fail_memory();
}

#define TYPE_OF(slot, names, types)                                                                \
    static ort_status *slot(const ort_kernel_info *info, size_t index, ort_type **out)             \
    {                                                                                              \
        OUT(out, NULL);                                                                            \
        NEED(info);                                                                                \
        TRY(check_index(index, &info->names));                                                     \
        return copy_type(info->types[index], info->names.items[index], out);                       \
    }
TYPE_OF(KernelInfo_GetInputTypeInfo, inputs, input_types)
TYPE_OF(KernelInfo_GetOutputTypeInfo, outputs, output_types)

static ort_status *KernelInfoGetConstantInput_tensor(const ort_kernel_info *info, size_t index,
                                                     int *out_is_constant, const ort_value **out)
{
    OUT(out_is_constant, 0);
    OUT(out, NULL);
    NEED(info);
    TRY(check_index(index, &info->inputs));
    *out = info->constants[index];
    *out_is_constant = *out != NULL;
    return NULL;
}

#define TEXT_OF(slot, member)                                                                      \
    static ort_status *slot(const ort_kernel_info *info, char *out, size_t *size)                  \
    {                                                                                              \
        NEED(info);                                                                                \
        return copy_out(info->member, strlen(info->member), out, size);                            \
    }
TEXT_OF(KernelInfo_GetNodeName, name)
TEXT_OF(KernelInfo_GetOperatorDomain, domain)
TEXT_OF(KernelInfo_GetOperatorType, optype)

static ort_status *KernelInfo_GetOperatorSinceVersion(const ort_kernel_info *info, int *out)
{
    OUT(out, 0);
    NEED(info);
    const ort_variant *variant = info->chosen ? info->chosen : &info->variants[0];
    *out = ort_start_version(variant->op);
    return NULL;
}

static ort_status *KernelInfo_GetConfigEntries(const ort_kernel_info *info, ort_pairs **out)
{
    OUT(out, NULL);
    NEED(info);
    return ort_pairs_new(info->all->entries, out);
}

static ort_status *KernelInfoGetAllocator(const ort_kernel_info *info, int mem_type,
                                          ort_allocator **out)
{
    (void)mem_type; // all of it is that of the CPU
    OUT(out, NULL);
    NEED(info);
    *out = &ort_cpu_allocator;
    return NULL;
}

// It is there as long as its session is, and so are its kernels.
static ort_status *CopyKernelInfo(const ort_kernel_info *info, ort_kernel_info **out)
{
    OUT(out, NULL);
    NEED(info);
    *out = (ort_kernel_info *)(uintptr_t)info;
    return NULL;
}

static void ReleaseKernelInfo(ort_kernel_info *info)
{
    (void)info;
}

const ort_row ort_custom_kernel_slots[] = {
    SLOT(KernelInfoGetAttribute_float),
    SLOT(KernelInfoGetAttribute_int64),
    SLOT(KernelInfoGetAttribute_string),
    SLOT(KernelInfoGetAttribute_tensor),
    SLOT(KernelInfoGetAttributeArray_float),
    SLOT(KernelInfoGetAttributeArray_int64),
    SLOT(KernelInfoGetAttributeArray_string),
    SLOT(ReadOpAttr),
    SLOT(OpAttr_GetName),
    SLOT(OpAttr_GetType),
    SLOT(OpAttr_GetTensorAttributeAsOrtValue),
    SLOT(KernelInfo_GetInputCount),
    SLOT(KernelInfo_GetOutputCount),
    SLOT(KernelInfo_GetInputName),
    SLOT(KernelInfo_GetOutputName),
    SLOT(KernelInfo_GetInputTypeInfo),
    SLOT(KernelInfo_GetOutputTypeInfo),
    SLOT(KernelInfoGetConstantInput_tensor),
    SLOT(KernelInfo_GetNodeName),
    SLOT(KernelInfo_GetOperatorDomain),
    SLOT(KernelInfo_GetOperatorType),
    SLOT(KernelInfo_GetOperatorSinceVersion),
    SLOT(KernelInfo_GetConfigEntries),
    SLOT(KernelInfoGetAllocator),
    SLOT(CopyKernelInfo),
    SLOT(ReleaseKernelInfo),
    SLOT_END,
};
