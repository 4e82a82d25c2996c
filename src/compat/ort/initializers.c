// SPDX-License-Identifier: Apache-2.0
// Weights that clients bring: values for initializers of a model by name, and files in memory.
//
// Values are put into the bytes of an ONNX model before it is read, as the initializers that they
// replace, so that all that follows (checks, folding, packing) is as if the model had them.

#include "compat/ort/ort.h"

#include <stdio.h>
#include <string.h>

#include "compat/ort/wire.h"
#include "serial/onnx_fields.h"

// ---- Options ----

void ort_initializers_free(ort_initializer *first)
{
    while (first) {
        ort_initializer *next = first->next;
        ort_value_release(first->value);
        ln_free(first);
        first = next;
    }
}

static const ort_initializer *find(const ort_initializer *first, const char *name, size_t len)
{
    while (first && (strlen(first->name) != len || memcmp(first->name, name, len) != 0))
        first = first->next;
    return first;
}

static ort_status *add(ort_initializer **list, const char *name, const ort_value *value,
                       bool is_external)
{
    if (value->kind != ORT_TENSOR)
        return ort_fail(ORT_INVALID_ARGUMENT, "the value of initializer '%s' is no tensor", name);
    if (find(*list, name, strlen(name)))
        return ort_fail(ORT_INVALID_ARGUMENT, "initializer '%s' has been added already", name);
    size_t name_size = strlen(name) + 1;
    ort_initializer *added = ln_alloc(sizeof *added + name_size);
    if (!added)
        return ort_fail_memory();
    memcpy(added->name, name, name_size);
    added->value = ort_value_retain(value);
    added->is_external = is_external;
    added->next = *list;
    *list = added;
    return NULL;
}

ort_status *ort_initializers_copy(ort_initializer **list, const ort_initializer *from)
{
    for (; from; from = from->next)
        TRY(add(list, from->name, from->value, from->is_external));
    return NULL;
}

void ort_files_free(ort_file *first)
{
    while (first) {
        ort_file *next = first->next;
        ln_free(first);
        first = next;
    }
}

static ort_status *add_file(ort_file **list, const char *name, const void *bytes, size_t byte_count)
{
    size_t name_size = strlen(name) + 1;
    ort_file *file = ln_alloc(sizeof *file + name_size);
    if (!file)
        return ort_fail_memory();
    memcpy(file->name, name, name_size);
    file->bytes = bytes;
    file->byte_count = byte_count;
    file->next = *list;
    *list = file;
    return NULL;
}

ort_status *ort_files_copy(ort_file **list, const ort_file *from)
{
    for (; from; from = from->next)
        TRY(add_file(list, from->name, from->bytes, from->byte_count));
    return NULL;
}

static ort_status *AddInitializer(ort_session_options *options, const char *name,
                                  const ort_value *value)
{
    NEED(options);
    NEED(name);
    NEED(value);
    return add(&options->initializers, name, value, false);
}

static ort_status *AddExternalInitializers(ort_session_options *options, const char *const *names,
                                           const ort_value *const *values, size_t count)
{
    NEED(options);
    if (count > 0) {
        NEED(names);
        NEED(values);
    }
    for (size_t i = 0; i < count; i++) {
        NEED(names[i]);
        NEED(values[i]);
        TRY(add(&options->initializers, names[i], values[i], true));
    }
    return NULL;
}

static ort_status *AddExternalInitializersFromFilesInMemory(ort_session_options *options,
                                                            const char *const *names,
                                                            char *const *buffers,
                                                            const size_t *byte_counts, size_t count)
{
    NEED(options);
    if (count > 0) {
        NEED(names);
        NEED(buffers);
        NEED(byte_counts);
    }
    for (size_t i = 0; i < count; i++) {
        NEED(names[i]);
        NEED(buffers[i]);
        TRY(add_file(&options->files, names[i], buffers[i], byte_counts[i]));
    }
    return NULL;
}

// ---- Reading messages ----

typedef struct stated {
    ort_cursor name;
    int64_t dims[TL_MAXDIM];
    size_t ndim; // more than there are dims, if it has too many
    uint64_t type, location;
} stated;

static void add_dim(stated *tensor, uint64_t dim)
{
    if (tensor->ndim < TL_MAXDIM)
        tensor->dims[tensor->ndim] = (int64_t)dim;
    tensor->ndim++;
}

static stated read_tensor(ort_cursor message)
{
    stated tensor = {0};
    ort_field f;
    while (ort_read_field(&message, &f)) {
        uint64_t dim;
        if (f.number == LN_ONNX_tensor_name && f.wire == ORT_WIRE_BYTES)
            tensor.name = f.bytes;
        else if (f.number == LN_ONNX_tensor_data_type && f.wire == ORT_WIRE_VARINT)
            tensor.type = f.bits;
        else if (f.number == LN_ONNX_tensor_data_location && f.wire == ORT_WIRE_VARINT)
            tensor.location = f.bits;
        else if (f.number == LN_ONNX_tensor_dims && f.wire == ORT_WIRE_VARINT)
            add_dim(&tensor, f.bits);
        else if (f.number == LN_ONNX_tensor_dims && f.wire == ORT_WIRE_BYTES)
            while (f.bytes.at < f.bytes.end && ort_read_varint(&f.bytes, &dim))
                add_dim(&tensor, dim);
    }
    return tensor;
}

// ---- Writing a tensor ----

static void put_tensor(ort_output *out, const ort_initializer *initializer)
{
    const ort_value *value = initializer->value;
    ort_output tensor = {0};
    for (size_t i = 0; i < ort_rank_of(&value->shape); i++)
        ort_put_number(&tensor, LN_ONNX_tensor_dims, (uint64_t)value->shape.dims[i]);
    ort_put_number(&tensor, LN_ONNX_tensor_data_type, (uint64_t)value->shape.type);
    ort_put_bytes(&tensor, LN_ONNX_tensor_name, initializer->name, strlen(initializer->name));
    for (size_t i = 0; value->texts && i < value->count; i++)
        ort_put_bytes(&tensor, LN_ONNX_tensor_string_data, value->texts[i].bytes,
                      value->texts[i].len);
    if (!value->texts)
        ort_put_bytes(&tensor, LN_ONNX_tensor_raw_data, value->data, value->byte_count);
    ort_put_bytes(out, LN_ONNX_graph_initializer, tensor.at, tensor.len);
    out->is_short = out->is_short || tensor.is_short;
    ln_free(tensor.at);
}

// ---- Replacing ----

static ort_status *check(const ort_initializer *initializer, const stated *tensor)
{
    const ort_shape *shape = &initializer->value->shape;
    if (initializer->is_external && tensor->location != 1)
        return ort_fail(ORT_FAIL, "initializer '%s' has its data in the model", initializer->name);
    bool fits = tensor->type == (uint64_t)shape->type && tensor->ndim == ort_rank_of(shape) &&
                (tensor->ndim == 0 ||
                 memcmp(tensor->dims, shape->dims, tensor->ndim * sizeof *shape->dims) == 0);
    if (fits)
        return NULL;
    char is[ORT_SHAPE_TEXT_BYTES];
    return ort_fail(ORT_INVALID_ARGUMENT,
                    "initializer '%s': the model states another type or shape than %s %s",
                    initializer->name, ort_elements[shape->type].name, ort_shape_print(shape, is));
}

static ort_status *copy_graph(const ort_initializer *first, ort_cursor graph, ort_output *out,
                              size_t *replaced_count)
{
    ort_field f;
    while (ort_read_field(&graph, &f)) {
        const ort_initializer *initializer = NULL;
        if (f.number == LN_ONNX_graph_initializer && f.wire == ORT_WIRE_BYTES) {
            stated tensor = read_tensor(f.bytes);
            initializer = find(first, (const char *)tensor.name.at,
                               (size_t)(tensor.name.end - tensor.name.at));
            if (initializer)
                TRY(check(initializer, &tensor));
        }
        if (initializer)
            put_tensor(out, initializer);
        else
            ort_put(out, f.first, (size_t)(graph.at - f.first));
        *replaced_count += initializer != NULL;
    }
    ort_put(out, graph.at, (size_t)(graph.end - graph.at));
    return NULL;
}

static ort_status *copy_model(const ort_initializer *first, ort_cursor model, ort_output *out,
                              size_t *replaced_count)
{
    ort_field f;
    while (ort_read_field(&model, &f)) {
        if (f.number != LN_ONNX_model_graph || f.wire != ORT_WIRE_BYTES) {
            ort_put(out, f.first, (size_t)(model.at - f.first));
            continue;
        }
        ort_output graph = {0};
        ort_status *status = copy_graph(first, f.bytes, &graph, replaced_count);
        if (!status)
            ort_put_bytes(out, LN_ONNX_model_graph, graph.at, graph.len);
        out->is_short = out->is_short || graph.is_short;
        ln_free(graph.at);
        TRY(status);
    }
    ort_put(out, model.at, (size_t)(model.end - model.at));
    return NULL;
}

// Those of external data have to be there, as in ONNX Runtime; others that are not are unused.
static ort_status *check_all_replaced(const ort_initializer *first, size_t replaced_count)
{
    size_t count = 0, external_count = 0;
    for (; first; first = first->next) {
        count++;
        external_count += first->is_external;
    }
    if (replaced_count == count)
        return NULL;
    char text[128];
    snprintf(text, sizeof text, "the model has %zu of the %zu initializers that were added",
             replaced_count, count);
    if (external_count > 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "%s", text);
    ort_log(ORT_WARNING, text);
    return NULL;
}

ort_status *ort_initializers_replace(const ort_initializer *first, const void *bytes,
                                     size_t byte_count, void **out_bytes, size_t *out_byte_count)
{
    const unsigned char *at = bytes;
    ort_output out = {0};
    size_t replaced_count = 0;
    ort_status *status =
        copy_model(first, (ort_cursor){at, at + byte_count}, &out, &replaced_count);
    if (!status && out.is_short)
        status = ort_fail_memory();
    if (!status)
        status = check_all_replaced(first, replaced_count);
    if (status) {
        ln_free(out.at);
        return status;
    }
    *out_bytes = out.at;
    *out_byte_count = out.len;
    return NULL;
}

const ort_row ort_initializer_slots[] = {
    SLOT(AddInitializer),
    SLOT(AddExternalInitializers),
    SLOT(AddExternalInitializersFromFilesInMemory),
    SLOT_END,
};
