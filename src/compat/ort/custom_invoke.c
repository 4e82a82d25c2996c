// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX that kernels create and run, such as a MatMul inside of a custom operator.
//
// Each is a model of one node. Its inputs have no types before they are there, so a session is
// created for each combination of types and ranks when it first comes, with the threads of the run;
// sizes may change from run to run.

#include "compat/ort/custom.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/preflight.h>

#include "ir/context.h"
#include "op/call.h"

// Sessions that an operator keeps; more combinations than that end those that came first.
#define MAX_SESSIONS 16

// ---- Attributes ----

static void put_float(ort_output *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned char bytes[] = {(unsigned char)bits, (unsigned char)(bits >> 8),
                                   (unsigned char)(bits >> 16), (unsigned char)(bits >> 24)};
    ort_put(out, bytes, sizeof bytes);
}

static void put_float_field(ort_output *out, int number, float value)
{
    ort_put_varint(out, (uint64_t)number << 3 | ORT_WIRE_32);
    put_float(out, value);
}

static void put_text(ort_output *out, int number, const char *text)
{
    ort_put_bytes(out, number, text, strlen(text));
}

static void put_message(ort_output *out, int number, ort_output *message)
{
    ort_put_bytes(out, number, message->at, message->len);
    out->is_short = out->is_short || message->is_short;
    ln_free(message->at);
}

static void put_elements(ort_output *out, const void *data, size_t count, int type)
{
    const int64_t *ints = data;
    const float *floats = data;
    const char *const *texts = data;
    for (size_t i = 0; i < count; i++) {
        switch (type) {
        case ORT_ATTR_INT: ort_put_number(out, LN_ONNX_attribute_i, (uint64_t)ints[i]); break;
        case ORT_ATTR_INTS: ort_put_number(out, LN_ONNX_attribute_ints, (uint64_t)ints[i]); break;
        case ORT_ATTR_FLOAT: put_float_field(out, LN_ONNX_attribute_f, floats[i]); break;
        case ORT_ATTR_FLOATS: put_float_field(out, LN_ONNX_attribute_floats, floats[i]); break;
        case ORT_ATTR_STRINGS: put_text(out, LN_ONNX_attribute_strings, texts[i]); break;
        default: put_text(out, LN_ONNX_attribute_s, data); break;
        }
    }
}

static ort_status *check_data(const void *data, int count, int type)
{
    bool is_list = type == ORT_ATTR_INTS || type == ORT_ATTR_FLOATS || type == ORT_ATTR_STRINGS;
    if (type < ORT_ATTR_INT || type > ORT_ATTR_STRINGS)
        return ort_fail(ORT_FAIL, "attributes of type %d are not made", type);
    if (count < 0)
        return ort_fail(ORT_INVALID_ARGUMENT, "an attribute of %d elements", count);
    if (!is_list || count > 0)
        NEED(data);
    for (int i = 0; type == ORT_ATTR_STRINGS && i < count; i++)
        NEED(((const char *const *)data)[i]);
    return NULL;
}

// A text ends at its 0, whatever `count` is; so it does there.
static ort_status *CreateOpAttr(const char *name, const void *data, int count, int type,
                                ort_attribute **out)
{
    OUT(out, NULL);
    NEED(name);
    TRY(check_data(data, count, type));
    bool is_list = type == ORT_ATTR_INTS || type == ORT_ATTR_FLOATS || type == ORT_ATTR_STRINGS;
    ort_output message = {0};
    put_text(&message, LN_ONNX_attribute_name, name);
    put_elements(&message, data, is_list ? (size_t)count : 1, type);
    ort_put_number(&message, LN_ONNX_attribute_type, (uint64_t)ort_attribute_types[type]);
    size_t name_size = strlen(name) + 1;
    ort_attribute *made = message.is_short ? NULL : ln_alloc(sizeof *made + name_size);
    if (!made) {
        ln_free(message.at);
        return ort_fail_memory();
    }
    *made = (ort_attribute){.message = {message.at, message.at + message.len},
                            .type = ort_attribute_types[type],
                            .owned = message.at};
    memcpy(made->name, name, name_size);
    *out = made;
    return NULL;
}

// What shape functions have got is not theirs to release.
static void ReleaseOpAttr(ort_attribute *attribute)
{
    if (!attribute || !attribute->owned)
        return;
    ln_free(attribute->owned);
    ln_free(attribute);
}

// ---- Models of one node ----

typedef struct ort_op_session {
    struct ort_op_session *next;
    ort_session *session;
    atomic_size_t user_count; // runs, and the list
    size_t byte_count;
    unsigned char bytes[]; // of its model
} ort_op_session;

typedef struct ort_op {
    const ort_nodes *all;
    char *optype, *domain;
    int version;
    ort_output attributes; // as fields of the node
    pthread_mutex_t lock;  // of what follows
    ort_op_session *first;
} ort_op;

#define NAME_BYTES 32

static void put_name(ort_output *out, int number, char kind, size_t index)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%c%zu", kind, index);
    put_text(out, number, name);
}

// Of a tensor the element type, and as many dynamic dimensions as it has.
static void put_tensor_type(ort_output *out, const ort_shape *shape)
{
    ort_output type = {0}, dims = {0};
    ort_put_number(&type, LN_ONNX_tensor_type_elem_type, (uint64_t)shape->type);
    for (size_t i = 0; i < ort_rank_of(shape); i++)
        ort_put_bytes(&dims, LN_ONNX_shape_dim, "", 0);
    if (shape->ndim >= 0)
        put_message(&type, LN_ONNX_tensor_type_shape, &dims);
    put_message(out, LN_ONNX_type_tensor_type, &type);
}

static void put_type(ort_output *out, const ort_type *type, bool is_item)
{
    ort_output element = {0}, whole = {0};
    if (!type)
        return;
    if (type->kind == ORT_TENSOR) {
        ort_shape shape = type->shape;
        shape.ndim = is_item ? -1 : shape.ndim;
        put_tensor_type(out, &shape);
        return;
    }
    put_type(&element, type->element, true);
    if (type->kind == ORT_MAP) {
        ort_put_number(&whole, LN_ONNX_map_type_key_type, (uint64_t)type->shape.type);
        put_message(&whole, LN_ONNX_map_type_value_type, &element);
        put_message(out, LN_ONNX_type_map_type, &whole);
    } else {
        put_message(&whole, LN_ONNX_elem_type_elem_type, &element);
        put_message(out,
                    type->kind == ORT_SEQUENCE ? LN_ONNX_type_sequence_type
                                               : LN_ONNX_type_optional_type,
                    &whole);
    }
}

static void put_value(ort_output *graph, int number, char kind, size_t index,
                      const ort_value *value)
{
    ort_output info = {0}, type = {0};
    ort_type *of_value = ort_type_of(value);
    graph->is_short = graph->is_short || !of_value;
    put_name(&info, LN_ONNX_value_info_name, kind, index);
    put_type(&type, of_value, false);
    put_message(&info, LN_ONNX_value_info_type, &type);
    put_message(graph, number, &info);
    ort_type_free(of_value);
}

static void put_node(ort_output *graph, const ort_op *op, const ort_value *const *inputs,
                     size_t in_count, ort_value *const *outputs, size_t out_count)
{
    ort_output node = {0};
    for (size_t i = 0; i < in_count; i++) {
        if (inputs[i])
            put_name(&node, LN_ONNX_node_input, 'x', i);
        else
            put_text(&node, LN_ONNX_node_input, "");
    }
    for (size_t i = 0; i < out_count; i++) {
        if (outputs[i])
            put_name(&node, LN_ONNX_node_output, 'y', i);
        else
            put_text(&node, LN_ONNX_node_output, "");
    }
    put_text(&node, LN_ONNX_node_name, op->optype);
    put_text(&node, LN_ONNX_node_op_type, op->optype);
    put_text(&node, LN_ONNX_node_domain, op->domain);
    ort_put(&node, op->attributes.at, op->attributes.len);
    put_message(graph, LN_ONNX_graph_node, &node);
}

static ort_output write_model(const ort_op *op, const ort_value *const *inputs, size_t in_count,
                              ort_value *const *outputs, size_t out_count)
{
    ort_output model = {0}, opset = {0}, graph = {0};
    ort_put_number(&model, LN_ONNX_model_ir_version, 10);
    put_text(&opset, LN_ONNX_opset_domain, op->domain);
    ort_put_number(&opset, LN_ONNX_opset_version, (uint64_t)op->version);
    put_message(&model, LN_ONNX_model_opset_import, &opset);
    put_node(&graph, op, inputs, in_count, outputs, out_count);
    put_text(&graph, LN_ONNX_graph_name, op->optype);
    for (size_t i = 0; i < in_count; i++)
        if (inputs[i])
            put_value(&graph, LN_ONNX_graph_input, 'x', i, inputs[i]);
    for (size_t i = 0; i < out_count; i++)
        if (outputs[i])
            put_value(&graph, LN_ONNX_graph_output, 'y', i, outputs[i]);
    put_message(&model, LN_ONNX_model_graph, &graph);
    return model;
}

// ---- Operators ----

static void op_session_release(ort_op_session *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->user_count, 1, memory_order_acq_rel) != 1)
        return;
    ort_session_release(s->session);
    ln_free(s);
}

static void ReleaseOp(ort_op *op)
{
    if (!op)
        return;
    while (op->first) {
        ort_op_session *next = op->first->next;
        op_session_release(op->first);
        op->first = next;
    }
    pthread_mutex_destroy(&op->lock);
    ln_free(op->attributes.at);
    ln_free(op->optype);
    ln_free(op->domain);
    ln_free(op);
}

// Whether LightNet has the operator, with that many inputs and outputs, whatever their types.
static ort_status *check_operator(const ort_op *op, size_t in_count, size_t out_count)
{
    static ort_value any = {.kind = ORT_TENSOR, .shape = {.type = 1, .ndim = -1}};
    size_t count = in_count > out_count ? in_count : out_count;
    ort_value **values = ln_alloc_array(count + 1, sizeof *values);
    if (!values)
        return ort_fail_memory();
    for (size_t i = 0; i < count; i++)
        values[i] = &any;
    ort_output model =
        write_model(op, (const ort_value *const *)values, in_count, values, out_count);
    ln_free(values);
    ln_preflight *report = NULL;
    ort_status *status = NULL;
    if (model.is_short)
        status = ort_fail_memory();
    else if (ln_preflight_create_mem(model.at, model.len, NULL, &report) != LN_OK)
        status = ort_fail_lightnet(ORT_FAIL);
    for (size_t i = 0; !status && i < report->problem_count; i++) {
        const ln_preflight_problem *problem = &report->problems[i];
        if (*problem->node)
            status = ort_fail(ORT_FAIL, "operator '%s' of version %d of domain '%s': %s%s%s",
                              op->optype, op->version, op->domain, problem->reason,
                              *problem->help ? "; " : "", problem->help);
    }
    ln_preflight_destroy(report);
    ln_free(model.at);
    return status;
}

static ort_status *op_new(const ort_kernel_info *info, const char *optype, const char *domain,
                          int version, ort_op **out)
{
    ort_op *op = ln_alloc(sizeof *op);
    if (!op)
        return ort_fail_memory();
    pthread_mutex_init(&op->lock, NULL);
    op->all = info->all;
    op->version = version;
    op->optype = ln_strdup(optype);
    op->domain = ln_strdup(domain);
    *out = op;
    return op->optype && op->domain ? NULL : ort_fail_memory();
}

static ort_status *add_attributes(ort_op *op, const ort_attribute *const *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        NEED(attributes[i]);
        ort_cursor message = attributes[i]->message;
        ort_put_bytes(&op->attributes, LN_ONNX_node_attribute, message.at,
                      (size_t)(message.end - message.at));
    }
    return op->attributes.is_short ? ort_fail_memory() : NULL;
}

// What types its inputs have is seen when they are there, so constraints have nothing to add.
static ort_status *CreateOp(const ort_kernel_info *info, const char *optype, const char *domain,
                            int version, const char *const *constraint_names,
                            const int *constraint_types, int constraint_count,
                            const ort_attribute *const *attributes, int attribute_count,
                            int in_count, int out_count, ort_op **out)
{
    (void)constraint_names, (void)constraint_types, (void)constraint_count;
    OUT(out, NULL);
    NEED(info);
    NEED(optype);
    NEED(domain);
    if (version < 1 || attribute_count < 0 || in_count < 0 || out_count < 0)
        return ort_fail(ORT_INVALID_ARGUMENT,
                        "version %d, %d attributes, %d inputs, %d outputs: none may be below 0, "
                        "and the version not below 1",
                        version, attribute_count, in_count, out_count);
    if (attribute_count > 0)
        NEED(attributes);
    ort_op *op = NULL;
    ort_status *status = op_new(info, optype, domain, version, &op);
    if (!status)
        status = add_attributes(op, attributes, (size_t)attribute_count);
    if (!status)
        status = check_operator(op, (size_t)in_count, (size_t)out_count);
    if (status) {
        ReleaseOp(op);
        return status;
    }
    *out = op;
    return NULL;
}

// ---- Running ----

static ort_status *op_session_new(const ort_op *op, const ort_kernel_context *context,
                                  const ort_output *model, ort_op_session **out)
{
    const ort_session_options options = {.severity = -1,
                                         .threads_of = context->call->op_arg->context};
    ort_op_session *s = ln_alloc(sizeof *s + model->len);
    if (!s)
        return ort_fail_memory();
    ort_status *status =
        ort_session_create(op->all->env, model->at, model->len, &options, &s->session);
    if (status) {
        ln_free(s);
        return status;
    }
    atomic_init(&s->user_count, 1);
    s->byte_count = model->len;
    memcpy(s->bytes, model->at, model->len);
    *out = s;
    return NULL;
}

// The newest is the first; the last of too many goes, once no run has it.
static void keep(ort_op *op, ort_op_session *s)
{
    s->next = op->first;
    op->first = s;
    ort_op_session **link = &op->first;
    for (size_t count = 0; *link && count < MAX_SESSIONS; count++)
        link = &(*link)->next;
    op_session_release(*link);
    *link = NULL;
}

// The session for a model, with one use more. While one is created, other runs of the operator
// wait.
static ort_status *take_session(ort_op *op, const ort_kernel_context *context,
                                const ort_output *model, ort_op_session **out)
{
    ort_status *status = NULL;
    pthread_mutex_lock(&op->lock);
    ort_op_session *s = op->first;
    while (s && (s->byte_count != model->len || memcmp(s->bytes, model->at, model->len) != 0))
        s = s->next;
    if (!s) {
        status = op_session_new(op, context, model, &s);
        if (!status)
            keep(op, s);
    }
    if (!status)
        atomic_fetch_add_explicit(&s->user_count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&op->lock);
    *out = s;
    return status;
}

typedef struct named_values {
    char (*texts)[NAME_BYTES];
    const char **names;
    ort_value **values;
    size_t count;
} named_values;

static void named_values_free(named_values *n)
{
    ln_free(n->texts);
    ln_free(n->names);
    ln_free(n->values);
}

// Those that are not left out.
static bool named_values_init(named_values *n, char kind, const ort_value *const *values,
                              size_t count)
{
    n->texts = ln_alloc_array(count + 1, sizeof *n->texts);
    n->names = ln_alloc_array(count + 1, sizeof *n->names);
    n->values = ln_alloc_array(count + 1, sizeof *n->values);
    if (!n->texts || !n->names || !n->values)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!values[i])
            continue;
        snprintf(n->texts[n->count], NAME_BYTES, "%c%zu", kind, i);
        n->names[n->count] = n->texts[n->count];
        n->values[n->count++] = (ort_value *)(uintptr_t)values[i];
    }
    return true;
}

static ort_status *run_session(ort_session *session, const ort_value *const *inputs,
                               size_t in_count, ort_value *const *outputs, size_t out_count)
{
    named_values in = {0}, out = {0};
    ort_status *status = NULL;
    if (!named_values_init(&in, 'x', inputs, in_count) ||
        !named_values_init(&out, 'y', (const ort_value *const *)outputs, out_count))
        status = ort_fail_memory();
    else
        status = ort_run(&(ort_call){.session = session,
                                     .input_names = in.names,
                                     .inputs = (const ort_value *const *)in.values,
                                     .input_count = in.count,
                                     .output_names = out.names,
                                     .outputs = out.values,
                                     .output_count = out.count});
    named_values_free(&in);
    named_values_free(&out);
    return status;
}

// Results are written to the values that are given.
static ort_status *InvokeOp(const ort_kernel_context *context, ort_op *op,
                            const ort_value *const *inputs, int in_count, ort_value *const *outputs,
                            int out_count)
{
    NEED(context);
    NEED(op);
    if (in_count < 0 || out_count < 1)
        return ort_fail(ORT_INVALID_ARGUMENT, "%d inputs and %d outputs", in_count, out_count);
    if (in_count > 0)
        NEED(inputs);
    NEED(outputs);
    ort_output model = write_model(op, inputs, (size_t)in_count, outputs, (size_t)out_count);
    ort_op_session *s = NULL;
    ort_status *status = model.is_short ? ort_fail_memory() : take_session(op, context, &model, &s);
    ln_free(model.at);
    if (status)
        return status;
    status = run_session(s->session, inputs, (size_t)in_count, outputs, (size_t)out_count);
    op_session_release(s);
    return status;
}

const ort_row ort_custom_invoke_slots[] = {
    SLOT(CreateOpAttr), SLOT(ReleaseOpAttr), SLOT(CreateOp),
    SLOT(InvokeOp),     SLOT(ReleaseOp),     SLOT_END,
};
