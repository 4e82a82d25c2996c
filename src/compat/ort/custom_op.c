// SPDX-License-Identifier: Apache-2.0
// The operator that runs kernels: one type for all, whose parameter is the number of its node.
//
// Its outputs have a shape before a run where the library's shape function states one. Else they
// are open: the kernel says how large they are when it asks for them. What a kernel computes may
// differ from run to run, so nothing of it is computed in advance or taken for another's.
//
// The number means a node of the session whose call the thread is in. A model that names the
// operator itself finds no node, or one of its own session.

#include "compat/ort/custom.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/arch.h>
#include <lightnet/op_info.h>
#include <lightnet/op_support.h>

// ---- Calls ----

static _Thread_local ort_scope *current;

void ort_scope_enter(ort_scope *scope, ort_nodes *nodes, bool is_creating)
{
    *scope = (ort_scope){.before = current, .nodes = nodes, .is_creating = is_creating};
    current = scope;
}

ort_status *ort_scope_leave(ort_scope *scope, ort_status *status)
{
    current = scope->before;
    ort_status *failure = scope->failure;
    scope->failure = NULL;
    if (!status || !failure) {
        ort_status_free(failure);
        return status;
    }
    ort_status_free(status);
    return failure;
}

// The library's status, with the node's name, becomes that of the call.
static ln_status fail_with(ln_call *call, const ort_kernel_info *node, ort_status *status)
{
    ln_status failed = ln_call_fail(call, LN_INVALID, "%s '%s': %s", node->optype, node->name,
                                    ort_status_text(status));
    if (!current->failure)
        current->failure = ort_fail(ort_status_code(status), "%s '%s': %s", node->optype,
                                    node->name, ort_status_text(status));
    ort_status_free(status);
    return failed;
}

// Of a fault that a model has, or the inputs of a run.
static ort_code fault_code(void)
{
    return current->is_creating ? ORT_INVALID_GRAPH : ORT_INVALID_ARGUMENT;
}

// ---- The node ----

static size_t count_present(const ort_names *names)
{
    size_t count = 0;
    for (size_t i = 0; i < names->count; i++)
        count += *names->items[i] != '\0';
    return count;
}

static ln_status find_node(ln_call *call, ort_kernel_info **out)
{
    const ort_nodes *nodes = current ? current->nodes : NULL;
    int64_t number = ln_call_int(call, ORT_CUSTOM_PARAM);
    if (!nodes || number < 0 || (uint64_t)number >= nodes->count)
        return ln_call_fail(call, LN_INVALID, "there is no custom operator of number %lld",
                            (long long)number);
    ort_kernel_info *node = &nodes->items[number];
    if ((size_t)ln_call_in_count(call) != count_present(&node->inputs) ||
        (size_t)ln_call_out_count(call) != count_present(&node->outputs))
        return ln_call_fail(call, LN_INVALID, "has not the inputs and outputs of node '%s'",
                            node->name);
    *out = node;
    return LN_OK;
}

// The types of all inputs that the node lists, 0 of one that is left out or no tensor.
static int *read_in_types(ln_call *call, const ort_kernel_info *node)
{
    int *types = ln_alloc_array(node->inputs.count + 1, sizeof *types);
    int at = 0;
    for (size_t i = 0; types && i < node->inputs.count; i++)
        if (*node->inputs.items[i])
            types[i] = ort_element_of(ln_call_in_dtype(call, at++));
    return types;
}

// ---- Types ----

// The number of the first input of a type that does not fit, with the type that would;
// the number of inputs: all fit.
static size_t find_unfit(const ort_kernel_info *node, const ort_custom_op *op, const int *types,
                         int *out_wanted)
{
    size_t count = op->input_count(op);
    bool is_alike = op->version >= ORT_SINCE_VARIADIC && count > 0 &&
                    ort_input_kind(op, count - 1) == ORT_VARIADIC &&
                    (!op->inputs_are_alike || op->inputs_are_alike(op));
    for (size_t i = 0; i < node->inputs.count; i++) {
        int wanted = ort_input_type(op, i);
        if (is_alike && i >= count)
            wanted = types[count - 1];
        if (*node->inputs.items[i] && wanted && types[i] != wanted) {
            *out_wanted = wanted;
            return i;
        }
    }
    return node->inputs.count;
}

static ln_status choose(ln_call *call, ort_kernel_info *node, const int *types, ort_variant **out)
{
    size_t unfit = 0;
    int wanted = 0;
    for (size_t i = 0; i < node->variant_count; i++) {
        unfit = find_unfit(node, node->variants[i].op, types, &wanted);
        *out = &node->variants[i];
        if (unfit == node->inputs.count)
            return LN_OK;
    }
    return fail_with(call, node,
                     ort_fail(fault_code(), "it does not take %s for input %zu; %s takes %s",
                              types[unfit] ? ort_elements[types[unfit]].name : "this type", unfit,
                              node->variant_count > 1 ? "the last of that name" : "it",
                              ort_elements[wanted].name));
}

// Of types that are left open there is one, that of all inputs whose type is open too, but for
// variadic outputs that are said to differ.
int ort_find_output_type(const ort_kernel_info *node, const ort_custom_op *op, size_t index,
                         const int *in_types)
{
    int type = ort_output_type(op, index);
    if (type)
        return type;
    bool is_mixed = ort_output_kind(op, index) == ORT_VARIADIC && op->outputs_are_alike &&
                    !op->outputs_are_alike(op);
    const ort_type *stated = index < node->outputs.count ? node->output_types[index] : NULL;
    if (is_mixed && stated)
        return stated->shape.type;
    for (size_t i = 0; i < node->inputs.count; i++)
        if (ort_input_type(op, i) == 0 && in_types[i])
            return in_types[i];
    return stated ? stated->shape.type : 0;
}

// ---- Shapes ----

static void set_shape(ort_shape *shape, const tl_tensor *tensor)
{
    shape->type = ort_element_of(tensor->dtype);
    shape->ndim = tensor->ndim;
    for (int i = 0; i < tensor->ndim; i++)
        shape->dims[i] = tensor->dims[i];
}

static void set_inputs(ort_infer_context *context, ln_call *call)
{
    const ort_names *names = &context->node->inputs;
    int at = 0;
    for (size_t i = 0; i < names->count; i++)
        if (*names->items[i])
            set_shape(&context->inputs[i], ln_call_in(call, at++));
}

static void infer_clear(ort_infer_context *context)
{
    for (size_t i = 0; context->outputs && i < context->node->outputs.count; i++)
        ort_shape_clear(&context->outputs[i]);
    while (context->attributes) {
        ort_attribute *next = context->attributes->next;
        ln_free(context->attributes);
        context->attributes = next;
    }
    ln_free(context->inputs);
    ln_free(context->outputs);
}

static ort_status *infer_init(ort_infer_context *context, ln_call *call,
                              const ort_kernel_info *node)
{
    *context = (ort_infer_context){.node = node};
    context->inputs = ln_alloc_array(node->inputs.count + 1, sizeof *context->inputs);
    context->outputs = ln_alloc_array(node->outputs.count + 1, sizeof *context->outputs);
    if (!context->inputs || !context->outputs)
        return ort_fail_memory();
    for (size_t i = 0; i < node->outputs.count; i++)
        context->outputs[i].ndim = -1;
    set_inputs(context, call);
    return NULL;
}

// One that fails has said nothing, as there: the kernel may know more.
static void call_shape_function(ort_infer_context *context, const ort_custom_op *op)
{
    bool has_function = op->version >= ORT_SINCE_INFER && op->infer;
    ort_status *status = has_function ? op->infer(op, context) : NULL;
    if (!status)
        return;
    char text[512];
    snprintf(text, sizeof text, "%s '%s': shapes are not known before a run: %s",
             context->node->optype, context->node->name, ort_status_text(status));
    ort_log(ORT_WARNING, text);
    ort_status_free(status);
    for (size_t i = 0; i < context->node->outputs.count; i++)
        context->outputs[i].ndim = -1;
}

// What it has said, with types that it has left out.
static bool is_complete(const ort_infer_context *context, const ort_custom_op *op,
                        const int *in_types)
{
    bool is_known = true;
    size_t count;
    for (size_t i = 0; i < context->node->outputs.count; i++) {
        ort_shape *shape = &context->outputs[i];
        if (ort_output_type(op, i) || !shape->type)
            shape->type = ort_find_output_type(context->node, op, i, in_types);
        bool has_symbol = false;
        for (int d = 0; d < shape->ndim; d++)
            has_symbol = has_symbol || (shape->symbols[d] && *shape->symbols[d]);
        is_known = is_known && shape->type && shape->ndim >= 0 && !has_symbol &&
                   ort_shape_count(shape, &count);
    }
    return is_known;
}

static ln_status state_outputs(ln_call *call, const ort_infer_context *context)
{
    const ort_names *names = &context->node->outputs;
    int at = 0;
    for (size_t i = 0; i < names->count; i++) {
        const ort_shape *shape = &context->outputs[i];
        if (*names->items[i])
            LN_TRY(ln_call_out64(call, at++, ort_elements[shape->type].dtype, shape->ndim,
                                 shape->dims));
    }
    return LN_OK;
}

// ---- What kernels may ask for when they are created ----

static ort_status *note_type(ort_type **type, const ort_shape *shape)
{
    if (!shape->type)
        return NULL;
    ort_type *noted = ort_type_new(ORT_TENSOR);
    if (!noted)
        return ort_fail_memory();
    if (!ort_shape_copy(&noted->shape, shape)) {
        ort_type_free(noted);
        return ort_fail_memory();
    }
    // A shape that is stated with symbols stays if this one has no rank.
    if (*type && shape->ndim < 0) {
        (*type)->shape.type = shape->type;
        ort_type_free(noted);
        return NULL;
    }
    ort_type_free(*type);
    *type = noted;
    return NULL;
}

static ort_status *note_constant(ort_kernel_info *node, size_t index, ln_call *call, int at)
{
    const tl_tensor *tensor = ln_call_in(call, at);
    const void *elements = ln_call_value(call, at);
    if (!elements || node->constants[index])
        return NULL;
    tl_tensor known = *tensor;
    known.data = (void *)(uintptr_t)elements; // read only
    return ort_value_of_tensor(&known, node->inputs.items[index], &node->constants[index]);
}

static ort_status *note(ort_kernel_info *node, const ort_infer_context *context, ln_call *call)
{
    int at = 0;
    for (size_t i = 0; i < node->inputs.count; i++) {
        if (!*node->inputs.items[i])
            continue;
        TRY(note_type(&node->input_types[i], &context->inputs[i]));
        TRY(note_constant(node, i, call, at++));
    }
    for (size_t i = 0; i < node->outputs.count; i++)
        TRY(note_type(&node->output_types[i], &context->outputs[i]));
    return NULL;
}

// ---- Inferring ----

static ln_status infer_with(ln_call *call, ort_kernel_info *node, const int *in_types,
                            ort_infer_context *context)
{
    ort_variant *variant;
    LN_TRY(choose(call, node, in_types, &variant));
    call_shape_function(context, variant->op);
    bool is_known = is_complete(context, variant->op, in_types);
    if (current->is_creating) {
        node->chosen = variant;
        ort_status *status = note(node, context, call);
        if (status)
            return fail_with(call, node, status);
    }
    return is_known ? state_outputs(call, context) : ln_call_out_open(call);
}

static ln_status infer_custom(ln_call *call)
{
    ort_kernel_info *node;
    ort_infer_context context;
    LN_TRY(find_node(call, &node));
    int *in_types = read_in_types(call, node);
    ort_status *status = in_types ? infer_init(&context, call, node) : ort_fail_memory();
    ln_status inferred =
        status ? fail_with(call, node, status) : infer_with(call, node, in_types, &context);
    if (in_types)
        infer_clear(&context);
    ln_free(in_types);
    return inferred;
}

// ---- Computing ----

// In the memory of the tensor, where elements are there what they are here.
static ort_status *value_of_input(ln_call *call, int at, const char *name, ort_value **out)
{
    const tl_tensor *tensor = ln_call_in(call, at);
    int64_t dims[TL_MAXDIM];
    if (tensor->dtype == TL_OBJECT)
        return ort_value_of_object(ln_call_object(call, at), name, out);
    if (tensor->dtype == TL_STRING || tensor->dtype == TL_BOOL)
        return ort_value_of_tensor(tensor, name, out);
    int type = ort_element_of(tensor->dtype);
    if (!type)
        return ort_fail(ORT_NOT_IMPLEMENTED, "'%s': elements of %s have no type here", name,
                        tl_dtype_title(tensor->dtype));
    for (int i = 0; i < tensor->ndim; i++)
        dims[i] = tensor->dims[i];
    TRY(ort_value_new(dims, (size_t)tensor->ndim, type, out));
    (*out)->data = tensor->data;
    return NULL;
}

static ort_status *context_init(ort_kernel_context *context, ln_call *call, ort_kernel_info *node,
                                const ort_custom_op *op)
{
    int at = 0;
    *context = (ort_kernel_context){.call = call, .node = node, .op = op};
    context->inputs = ln_alloc_array(node->inputs.count + 1, sizeof *context->inputs);
    context->outputs = ln_alloc_array(node->outputs.count + 1, sizeof *context->outputs);
    context->objects = ln_alloc_array(node->outputs.count + 1, sizeof *context->objects);
    if (!context->inputs || !context->outputs || !context->objects)
        return ort_fail_memory();
    for (size_t i = 0; i < node->inputs.count; i++)
        if (*node->inputs.items[i])
            TRY(value_of_input(call, at++, node->inputs.items[i], &context->inputs[i]));
    return NULL;
}

static void context_clear(ort_kernel_context *context)
{
    const ort_kernel_info *node = context->node;
    for (size_t i = 0; context->inputs && i < node->inputs.count; i++)
        ort_value_release(context->inputs[i]);
    for (size_t i = 0; context->outputs && i < node->outputs.count; i++)
        ort_value_release(context->outputs[i]);
    for (size_t i = 0; context->objects && i < node->outputs.count; i++)
        ln_object_release(context->objects[i]);
    for (size_t i = 0; i < context->block_count; i++)
        ort_free(context->blocks[i]);
    ln_free(context->blocks);
    ln_free(context->inputs);
    ln_free(context->outputs);
    ln_free(context->objects);
}

static ort_status *run_kernel(ort_kernel_context *context, void *kernel)
{
    const ort_custom_op *op = context->op;
    if (op->version >= ORT_SINCE_STATUS && op->compute_v2)
        return op->compute_v2(kernel, context);
    op->compute(kernel, context);
    return NULL;
}

static ln_status give_output(ort_kernel_context *context, size_t index, int at)
{
    const ort_kernel_info *node = context->node;
    const ort_value *value = context->outputs[index];
    const tl_tensor *dst = ln_call_dst(context->call, at);
    if (!value)
        return fail_with(context->call, node,
                         ort_fail(fault_code(), "it has not made output %zu, '%s'", index,
                                  node->outputs.items[index]));
    if (value->data && value->data == dst->data)
        return LN_OK;
    if (context->objects[index])
        return ln_call_set_object(context->call, at, context->objects[index]);
    ort_status *status =
        ort_value_to_object(value, node->outputs.items[index], &context->objects[index]);
    return status ? fail_with(context->call, node, status)
                  : ln_call_set_object(context->call, at, context->objects[index]);
}

static ln_status compute_with(ort_kernel_context *context, void *kernel)
{
    const ort_names *names = &context->node->outputs;
    int at = 0;
    ort_status *status = run_kernel(context, kernel);
    if (status)
        return fail_with(context->call, context->node, status);
    for (size_t i = 0; i < names->count; i++)
        if (*names->items[i])
            LN_TRY(give_output(context, i, at++));
    return LN_OK;
}

static ln_status compute_custom(ln_call *call)
{
    ort_kernel_info *node;
    ort_variant *variant;
    LN_TRY(find_node(call, &node));
    int *in_types = read_in_types(call, node);
    ln_status chosen =
        in_types ? choose(call, node, in_types, &variant) : LN_FAIL(LN_NO_MEMORY, "types");
    ln_free(in_types);
    LN_TRY(chosen);
    void *kernel;
    ort_kernel_context context;
    ort_status *status = ort_variant_kernel(node, variant, &kernel);
    if (status)
        return fail_with(call, node, status);
    status = context_init(&context, call, node, variant->op);
    ln_status computed = status ? fail_with(call, node, status) : compute_with(&context, kernel);
    context_clear(&context);
    return computed;
}

static int is_never_same(const ln_op_arg *op_arg)
{
    (void)op_arg;
    return 1;
}

// ---- What LightNet is told ----

static const ln_arg_info ins[] = {
    {"x", NULL, LN_ARG_OPTIONAL | LN_ARG_VARIADIC, LN_MEM_NONE, 0, NULL},
    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},
};
static const ln_arg_info outs[] = {
    {"y", NULL, LN_ARG_OPTIONAL | LN_ARG_VARIADIC, LN_MEM_NONE, 0, NULL},
    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},
};
static const ln_arg_info ref_ins[] = {
    {"x", NULL, LN_ARG_OPTIONAL | LN_ARG_VARIADIC, LN_MEM_CPU, 0, NULL},
    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},
};
static const ln_arg_info ref_outs[] = {
    {"y", NULL, LN_ARG_OPTIONAL | LN_ARG_VARIADIC, LN_MEM_CPU, 0, NULL},
    {NULL, NULL, 0, LN_MEM_NONE, 0, NULL},
};
static const ln_param_info params[] = {
    {ORT_CUSTOM_PARAM, NULL, LN_PARAM_NUMBER, NULL, NULL, 1, LN_WHOLE_INT},
    {NULL, NULL, LN_PARAM_INVALID, NULL, NULL, 0, LN_NOT_WHOLE},
};
static const int since[] = {1, 0};

static const char *in_names[] = {"x1", NULL};
static const char *out_names[] = {"y1", NULL};
static const char *param_names[] = {ORT_CUSTOM_PARAM, NULL};
static const ln_param_type param_types[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info info = {
    .byte_count = sizeof(ln_op_info),
    .ins = ins,
    .outs = outs,
    .params = params,
    .check = ln_call_check,
    .macs = ln_call_macs,
    .cost = ln_call_cost,
    .infer = infer_custom,
    .since = since,
    .is_random = is_never_same,
};
static const ln_op_info ref_info = {
    .byte_count = sizeof(ln_op_info),
    .ins = ref_ins,
    .outs = ref_outs,
    .params = params,
    .check = ln_call_check,
    .macs = ln_call_macs,
    .cost = ln_call_cost,
    .infer = infer_custom,
    .compute = compute_custom,
    .since = since,
    .is_random = is_never_same,
};

static char optype[] = ORT_CUSTOM_OPTYPE, ref_optype[] = ORT_CUSTOM_OPTYPE "_ref";
static char arch[] = "none", ref_arch[] = "ref";

static ln_op_arg op_arg = {
    .optype = optype,
    .arch = arch,
    .in_arg_names = in_names,
    .out_arg_names = out_names,
    .param_arg_names = param_names,
    .param_ptypes = param_types,
    .info = &info,
};
static ln_op_arg ref_op_arg = {
    .optype = ref_optype,
    .arch = ref_arch,
    .in_arg_names = in_names,
    .out_arg_names = out_names,
    .param_arg_names = param_names,
    .param_ptypes = param_types,
    .info = &ref_info,
};
static ln_op op = {
    .op_arg = &op_arg,
    .pre_run = ln_call_pre_run,
    .post_run = ln_call_post_run,
};
static ln_op ref_op = {
    .op_arg = &ref_op_arg,
    .pre_run = ln_call_pre_run,
    .run = ln_call_run,
    .post_run = ln_call_post_run,
};

// A failure is tried again by the next session.
ort_status *ort_custom_register(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    bool is_there = ln_op_find(optype) && ln_op_find(ref_optype);
    if (!is_there) {
        (void)ln_op_unregister(optype);
        is_there = ln_op_register(&op) == LN_OK && ln_op_register(&ref_op) == LN_OK;
    }
    pthread_mutex_unlock(&lock);
    return is_there ? NULL : ort_fail_lightnet(ORT_FAIL);
}
