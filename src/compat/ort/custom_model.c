// SPDX-License-Identifier: Apache-2.0
// The nodes of a model that are custom operators.
//
// Before LightNet reads the bytes, each such node becomes a node of one operator, which has the
// inputs and outputs that are not left out and, as its only attribute, its number. What kernels ask
// of the node stays here: its message, with integers as they are, which parameters of LightNet,
// being doubles, would round. Graphs of nodes are walked too.
//
// A function with such nodes is written once for each of its calls, which names it by an overload
// of its own, and LightNet inlines it as any other; nothing calls the one that the model has.

#include "compat/ort/custom_function.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bytes of copies of functions: for a small model, and for each four bytes of it.
#define FREE_COPY_BYTES ((size_t)1 << 28)
#define COPY_BYTES      256

typedef struct walk {
    const ort_session_options *options;
    ort_nodes *nodes;
    ort_cursor importer; // the model or function whose operator sets count
    int opset_field;     // of the importer
    int depth;
    ort_functions functions;
    const ort_function_call *call; // of the function that is copied; NULL: the graph
} walk;

// ---- Fields ----

static bool is_text(ort_cursor bytes, const char *text)
{
    size_t len = (size_t)(bytes.end - bytes.at);
    return len == strlen(text) && memcmp(bytes.at, text, len) == 0;
}

static char *copy_text(ort_cursor bytes)
{
    size_t len = (size_t)(bytes.end - bytes.at);
    return len <= INT_MAX ? ln_strdup_printf("%.*s", (int)len, (const char *)bytes.at) : NULL;
}

bool ort_is_default_domain(ort_cursor domain)
{
    return domain.at == domain.end || is_text(domain, "ai.onnx");
}

static bool is_same_domain(ort_cursor domain, const char *name)
{
    bool is_default = !*name || strcmp(name, "ai.onnx") == 0;
    return is_default ? ort_is_default_domain(domain) : is_text(domain, name);
}

// The version that the importer states for a domain; 0: none.
static int version_of(const walk *w, const char *domain)
{
    ort_cursor importer = w->importer;
    ort_field f, part;
    int found = 0;
    while (ort_read_field(&importer, &f)) {
        if (f.number != (uint64_t)w->opset_field || f.wire != ORT_WIRE_BYTES)
            continue;
        uint64_t version = 0;
        bool is_it = is_same_domain(ort_find_bytes(f.bytes, LN_ONNX_opset_domain), domain);
        while (is_it && ort_read_field(&f.bytes, &part))
            if (part.number == LN_ONNX_opset_version && part.wire == ORT_WIRE_VARINT)
                version = part.bits;
        if (is_it)
            found = version <= INT_MAX ? (int)version : INT_MAX;
    }
    return found;
}

// ---- Names ----

int ort_names_rank(const ort_names *names, size_t index)
{
    int rank = 0;
    if (index >= names->count || !*names->items[index])
        return -1;
    for (size_t i = 0; i < index; i++)
        rank += *names->items[i] != '\0';
    return rank;
}

static void names_free(ort_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        ln_free(names->items[i]);
    ln_free(names->items);
}

static ort_status *names_read(ort_names *names, ort_cursor node, uint64_t number)
{
    size_t count = 0;
    ort_field f;
    for (ort_cursor c = node; ort_read_field(&c, &f);)
        count += f.number == number && f.wire == ORT_WIRE_BYTES;
    names->items = ln_alloc_array(count + 1, sizeof *names->items);
    if (!names->items)
        return ort_fail_memory();
    while (ort_read_field(&node, &f)) {
        if (f.number != number || f.wire != ORT_WIRE_BYTES)
            continue;
        if (!(names->items[names->count] = copy_text(f.bytes)))
            return ort_fail_memory();
        names->count++;
    }
    return NULL;
}

// ---- Which operator it is ----

static bool is_for_cpu(const ort_custom_op *op)
{
    const char *provider = op->provider(op);
    return !provider || !*provider || strcmp(provider, "CPUExecutionProvider") == 0;
}

static bool is_of_version(const ort_custom_op *op, int version)
{
    bool has_end = op->version >= ORT_SINCE_INFER && op->end_version;
    return ort_start_version(op) <= version && (!has_end || version <= op->end_version(op));
}

typedef int (*kind_function)(const ort_custom_op *op, size_t index);

// Whether the arguments that are there are those that the operator needs.
static bool fits(const ort_custom_op *op, const ort_names *names, size_t count, kind_function kind,
                 int (*min_count)(const ort_custom_op *op))
{
    bool is_variadic = count > 0 && kind(op, count - 1) == ORT_VARIADIC;
    if (names->count > count && !is_variadic)
        return false;
    for (size_t i = 0; i < count - is_variadic; i++)
        if (kind(op, i) == ORT_REQUIRED && ort_names_rank(names, i) < 0)
            return false;
    size_t rest = is_variadic && names->count >= count ? names->count - count + 1 : 0;
    int64_t least = is_variadic && min_count ? min_count(op) : 1;
    return !is_variadic || (int64_t)rest >= least;
}

static bool fits_node(const ort_custom_op *op, const ort_kernel_info *node)
{
    return fits(op, &node->inputs, op->input_count(op), ort_input_kind, op->min_inputs) &&
           fits(op, &node->outputs, op->output_count(op), ort_output_kind, op->min_outputs);
}

static ort_status *variants_add(ort_kernel_info *node, const ort_custom_op *op)
{
    ort_variant *variants =
        ln_realloc(node->variants, (node->variant_count + 1) * sizeof *node->variants);
    if (!variants)
        return ort_fail_memory();
    variants[node->variant_count++] = (ort_variant){.op = op};
    node->variants = variants;
    return NULL;
}

static ort_status *find_variants(ort_kernel_info *node)
{
    size_t other_count = 0;
    for (const ort_custom *c = node->all->customs; c; c = c->next) {
        const ort_domain *domain = c->domain;
        ort_cursor name = {(const unsigned char *)node->domain,
                           (const unsigned char *)node->domain + strlen(node->domain)};
        if (!domain || !is_same_domain(name, domain->name))
            continue;
        for (size_t i = 0; i < domain->op_count; i++) {
            const ort_custom_op *op = domain->ops[i];
            if (strcmp(op->name(op), node->optype) != 0)
                continue;
            bool is_it = is_for_cpu(op) && is_of_version(op, node->version) && fits_node(op, node);
            other_count += !is_it;
            if (is_it)
                TRY(variants_add(node, op));
        }
    }
    return node->variant_count > 0
               ? NULL
               : ort_fail(ORT_INVALID_GRAPH,
                          "node '%s': none of the %zu custom operators '%s' is for the CPU, for "
                          "version %d of domain '%s', and takes %zu inputs and %zu outputs as the "
                          "node has them",
                          node->name, other_count, node->optype, node->version, node->domain,
                          node->inputs.count, node->outputs.count);
}

bool ort_is_custom(const ort_custom *customs, ort_cursor domain, ort_cursor optype)
{
    for (const ort_custom *c = customs; c; c = c->next) {
        if (!c->domain || !is_same_domain(domain, c->domain->name))
            continue;
        for (size_t i = 0; i < c->domain->op_count; i++)
            if (is_text(optype, c->domain->ops[i]->name(c->domain->ops[i])))
                return true;
    }
    return false;
}

// ---- Nodes ----

static void types_free(ort_type **types, size_t count)
{
    for (size_t i = 0; types && i < count; i++)
        ort_type_free(types[i]);
    ln_free(types);
}

static void node_clear(ort_kernel_info *node)
{
    for (size_t i = 0; i < node->variant_count; i++)
        if (node->variants[i].has_kernel)
            node->variants[i].op->destroy(node->variants[i].kernel);
    for (size_t i = 0; node->constants && i < node->inputs.count; i++)
        ort_value_release(node->constants[i]);
    types_free(node->input_types, node->inputs.count);
    types_free(node->output_types, node->outputs.count);
    names_free(&node->inputs);
    names_free(&node->outputs);
    ln_free(node->constants);
    ln_free(node->variants);
    ln_free(node->bytes);
    ln_free(node->name);
    ln_free(node->optype);
    ln_free(node->domain);
}

void ort_nodes_free(ort_nodes *nodes)
{
    if (!nodes)
        return;
    for (size_t i = 0; i < nodes->count; i++)
        node_clear(&nodes->items[i]);
    ln_free(nodes->items);
    ort_pairs_free(nodes->entries);
    ort_customs_free(nodes->customs);
    pthread_mutex_destroy(&nodes->lock);
    ln_free(nodes);
}

static ort_status *node_init(ort_kernel_info *node, const walk *w, ort_cursor message)
{
    ort_output own = {0};
    ort_put_resolved(&own, w->call, message);
    node->bytes = own.at;
    node->byte_count = own.len;
    node->name = copy_text(ort_find_bytes(message, LN_ONNX_node_name));
    node->optype = copy_text(ort_find_bytes(message, LN_ONNX_node_op_type));
    node->domain = copy_text(ort_find_bytes(message, LN_ONNX_node_domain));
    if (own.is_short || !node->name || !node->optype || !node->domain)
        return ort_fail_memory();
    TRY(names_read(&node->inputs, message, LN_ONNX_node_input));
    TRY(names_read(&node->outputs, message, LN_ONNX_node_output));
    node->input_types = ln_alloc_array(node->inputs.count + 1, sizeof *node->input_types);
    node->output_types = ln_alloc_array(node->outputs.count + 1, sizeof *node->output_types);
    node->constants = ln_alloc_array(node->inputs.count + 1, sizeof *node->constants);
    if (!node->input_types || !node->output_types || !node->constants)
        return ort_fail_memory();
    node->version = version_of(w, node->domain);
    if (node->version == 0)
        node->version = INT_MAX; // a domain that is not imported is the newest, as there
    return find_variants(node);
}

static ort_status *node_add(const walk *w, ort_cursor message)
{
    ort_nodes *nodes = w->nodes;
    if ((nodes->count & (nodes->count - 1)) == 0) { // at 0 and at powers of two
        size_t capacity = nodes->count ? nodes->count * 2 : 1;
        ort_kernel_info *items = ln_realloc(nodes->items, capacity * sizeof *items);
        if (!items)
            return ort_fail_memory();
        nodes->items = items;
    }
    ort_kernel_info *node = &nodes->items[nodes->count++];
    *node = (ort_kernel_info){.all = nodes};
    return node_init(node, w, message);
}

static void put_names(ort_output *out, int number, const ort_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (*names->items[i])
            ort_put_bytes(out, number, names->items[i], strlen(names->items[i]));
}

// The node as LightNet reads it.
static void put_node(ort_output *out, const ort_kernel_info *node)
{
    ort_output attribute = {0};
    put_names(out, LN_ONNX_node_input, &node->inputs);
    put_names(out, LN_ONNX_node_output, &node->outputs);
    ort_put_bytes(out, LN_ONNX_node_name, node->name, strlen(node->name));
    ort_put_bytes(out, LN_ONNX_node_op_type, ORT_CUSTOM_OPTYPE, strlen(ORT_CUSTOM_OPTYPE));
    ort_put_bytes(&attribute, LN_ONNX_attribute_name, ORT_CUSTOM_PARAM, strlen(ORT_CUSTOM_PARAM));
    ort_put_number(&attribute, LN_ONNX_attribute_i, (uint64_t)(node - node->all->items));
    ort_put_number(&attribute, LN_ONNX_attribute_type, LN_ATTRIBUTE_INT);
    ort_put_bytes(out, LN_ONNX_node_attribute, attribute.at, attribute.len);
    out->is_short = out->is_short || attribute.is_short;
    ln_free(attribute.at);
}

// ---- Types that a graph states ----

static bool read_dim(ort_shape *shape, ort_cursor dim)
{
    if (shape->ndim == TL_MAXDIM)
        return true;
    int at = shape->ndim++;
    ort_field f;
    shape->dims[at] = -1;
    while (ort_read_field(&dim, &f)) {
        if (f.number == LN_ONNX_dim_dim_value && f.wire == ORT_WIRE_VARINT)
            shape->dims[at] = (int64_t)f.bits;
        if (f.number == LN_ONNX_dim_dim_param && f.wire == ORT_WIRE_BYTES) {
            ln_free(shape->symbols[at]);
            if (!(shape->symbols[at] = copy_text(f.bytes)))
                return false;
        }
    }
    return true;
}

static bool read_shape(ort_shape *shape, ort_cursor message)
{
    ort_field f;
    shape->ndim = 0;
    while (ort_read_field(&message, &f))
        if (f.number == LN_ONNX_shape_dim && f.wire == ORT_WIRE_BYTES && !read_dim(shape, f.bytes))
            return false;
    return true;
}

// Of a tensor; *out stays NULL for other types.
static ort_status *read_type(ort_cursor message, ort_type **out)
{
    ort_cursor tensor = ort_find_bytes(message, LN_ONNX_type_tensor_type);
    ort_field f;
    if (!tensor.at || *out)
        return NULL;
    *out = ort_type_new(ORT_TENSOR);
    if (!*out)
        return ort_fail_memory();
    ort_shape *shape = &(*out)->shape;
    shape->ndim = -1;
    while (ort_read_field(&tensor, &f)) {
        if (f.number == LN_ONNX_tensor_type_elem_type && f.wire == ORT_WIRE_VARINT &&
            f.bits < ORT_ELEMENT_COUNT)
            shape->type = (int)f.bits;
        if (f.number == LN_ONNX_tensor_type_shape && f.wire == ORT_WIRE_BYTES &&
            !read_shape(shape, f.bytes))
            return ort_fail_memory();
    }
    return NULL;
}

// An argument of a node in the graph, and where its type goes.
typedef struct wanted {
    const char *name;
    ort_type **type;
} wanted;

static int compare_wanted(const void *a, const void *b)
{
    return strcmp(((const wanted *)a)->name, ((const wanted *)b)->name);
}

static void want(wanted **end, const ort_names *names, ort_type **types)
{
    for (size_t i = 0; i < names->count; i++)
        if (*names->items[i])
            *(*end)++ = (wanted){names->items[i], &types[i]};
}

// The first that is not before `name`.
static const wanted *find_wanted(const wanted *at, const wanted *end, const char *name)
{
    while (at < end) {
        const wanted *middle = at + (end - at) / 2;
        if (strcmp(middle->name, name) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

static ort_status *take_types(const wanted *items, const wanted *end, ort_cursor graph)
{
    ort_field f;
    while (ort_read_field(&graph, &f)) {
        bool is_value = f.number == LN_ONNX_graph_input || f.number == LN_ONNX_graph_output ||
                        f.number == LN_ONNX_graph_value_info;
        if (!is_value || f.wire != ORT_WIRE_BYTES)
            continue;
        char *name = copy_text(ort_find_bytes(f.bytes, LN_ONNX_value_info_name));
        if (!name)
            return ort_fail_memory();
        ort_status *status = NULL;
        const wanted *item = find_wanted(items, end, name);
        for (; item < end && strcmp(item->name, name) == 0 && !status; item++)
            status = read_type(ort_find_bytes(f.bytes, LN_ONNX_value_info_type), item->type);
        ln_free(name);
        TRY(status);
    }
    return NULL;
}

// The types of arguments of the nodes from `first` on, as far as the graph states them.
static ort_status *read_types(const ort_nodes *nodes, size_t first, ort_cursor graph)
{
    size_t count = 0;
    for (size_t i = first; i < nodes->count; i++)
        count += nodes->items[i].inputs.count + nodes->items[i].outputs.count;
    if (count == 0)
        return NULL;
    wanted *items = ln_alloc_array(count, sizeof *items), *end = items;
    if (!items)
        return ort_fail_memory();
    for (size_t i = first; i < nodes->count; i++) {
        const ort_kernel_info *node = &nodes->items[i];
        want(&end, &node->inputs, node->input_types);
        want(&end, &node->outputs, node->output_types);
    }
    qsort(items, (size_t)(end - items), sizeof *items, compare_wanted);
    ort_status *status = take_types(items, end, graph);
    ln_free(items);
    return status;
}

// ---- Copying ----

static ort_status *copy_graph(walk *w, ort_cursor graph, ort_output *out);

typedef ort_status *(*copy_function)(walk *w, ort_cursor message, ort_output *out);

// Puts a message that `copy` writes.
static ort_status *put_copy(walk *w, ort_output *out, int number, ort_cursor message,
                            copy_function copy)
{
    ort_output part = {0};
    ort_status *status = copy(w, message, &part);
    if (!status)
        ort_put_bytes(out, number, part.at, part.len);
    out->is_short = out->is_short || part.is_short;
    ln_free(part.at);
    return status;
}

static ort_status *copy_attribute(walk *w, ort_cursor attribute, ort_output *out)
{
    ort_field f;
    while (ort_read_field(&attribute, &f)) {
        bool is_graph = f.number == LN_ONNX_attribute_g || f.number == LN_ONNX_attribute_graphs;
        if (is_graph && f.wire == ORT_WIRE_BYTES)
            TRY(put_copy(w, out, (int)f.number, f.bytes, copy_graph));
        else
            ort_put(out, f.first, (size_t)(attribute.at - f.first));
    }
    ort_put(out, attribute.at, (size_t)(attribute.end - attribute.at));
    return NULL;
}

static void put_overload(ort_output *out, int field, const ort_function_call *call)
{
    char text[32];
    snprintf(text, sizeof text, "call %zu", call->number);
    ort_put_bytes(out, field, text, strlen(text));
}

static ort_status *copy_node(walk *w, ort_cursor node, ort_output *out)
{
    ort_field f;
    if (ort_is_custom(w->options->customs, ort_find_bytes(node, LN_ONNX_node_domain),
                      ort_find_bytes(node, LN_ONNX_node_op_type))) {
        TRY(node_add(w, node));
        put_node(out, &w->nodes->items[w->nodes->count - 1]);
        return NULL;
    }
    const ort_function_call *call;
    TRY(ort_functions_call(&w->functions, w->call, node, &call));
    if (call)
        put_overload(out, LN_ONNX_node_overload, call);
    while (ort_read_field(&node, &f)) {
        if (f.number == LN_ONNX_node_attribute && f.wire == ORT_WIRE_BYTES &&
            w->depth < ORT_MAX_DEPTH)
            TRY(put_copy(w, out, LN_ONNX_node_attribute, f.bytes, copy_attribute));
        else if (!call || f.number != LN_ONNX_node_overload)
            ort_put(out, f.first, (size_t)(node.at - f.first));
    }
    ort_put(out, node.at, (size_t)(node.end - node.at));
    return NULL;
}

static ort_status *copy_nodes(walk *w, ort_cursor message, ort_output *out, uint64_t node_field)
{
    ort_field f;
    while (ort_read_field(&message, &f)) {
        if (f.number == node_field && f.wire == ORT_WIRE_BYTES)
            TRY(put_copy(w, out, (int)node_field, f.bytes, copy_node));
        else
            ort_put(out, f.first, (size_t)(message.at - f.first));
    }
    ort_put(out, message.at, (size_t)(message.end - message.at));
    return NULL;
}

static ort_status *copy_graph(walk *w, ort_cursor graph, ort_output *out)
{
    size_t first = w->nodes->count;
    w->depth++;
    TRY(copy_nodes(w, graph, out, LN_ONNX_graph_node));
    w->depth--;
    return read_types(w->nodes, first, graph);
}

// The operator is one of ONNX, which the model may not import.
static void put_import(walk *w, ort_output *out, size_t node_count)
{
    ort_output opset = {0};
    if (w->nodes->count == node_count || version_of(w, "") > 0)
        return;
    ort_put_number(&opset, LN_ONNX_opset_version, 1);
    ort_put_bytes(out, w->opset_field, opset.at, opset.len);
    out->is_short = out->is_short || opset.is_short;
    ln_free(opset.at);
}

// The function of a call, as LightNet inlines it there.
static ort_status *copy_function_message(walk *w, ort_cursor function, ort_output *out)
{
    ort_field f;
    size_t first = w->nodes->count;
    put_overload(out, LN_ONNX_function_overload, w->call);
    while (ort_read_field(&function, &f)) {
        if (f.number == LN_ONNX_function_node && f.wire == ORT_WIRE_BYTES)
            TRY(put_copy(w, out, LN_ONNX_function_node, f.bytes, copy_node));
        else if (f.number != LN_ONNX_function_overload)
            ort_put(out, f.first, (size_t)(function.at - f.first));
    }
    ort_put(out, function.at, (size_t)(function.end - function.at));
    put_import(w, out, first);
    return NULL;
}

// Calls that are found meanwhile come after those that are there.
static ort_status *copy_called(walk *w, size_t max_byte_count, ort_output *out)
{
    size_t len = out->len;
    w->opset_field = LN_ONNX_function_opset_import;
    for (const ort_function_call *call = w->functions.first; call; call = call->next) {
        w->call = call;
        w->importer = call->function->message;
        TRY(put_copy(w, out, LN_ONNX_model_functions, w->importer, copy_function_message));
        if (out->len - len > max_byte_count)
            return ort_fail(ORT_INVALID_GRAPH,
                            "copies of functions with custom operators have more than %zu bytes",
                            max_byte_count);
    }
    return NULL;
}

static ort_status *copy_model(walk *w, ort_cursor model, ort_output *out)
{
    ort_cursor rest = model;
    ort_field f;
    size_t byte_count = (size_t)(model.end - model.at);
    TRY(ort_functions_read(&w->functions, w->options->customs, model));
    while (ort_read_field(&rest, &f)) {
        if (f.wire == ORT_WIRE_BYTES && f.number == LN_ONNX_model_graph)
            TRY(put_copy(w, out, LN_ONNX_model_graph, f.bytes, copy_graph));
        else
            ort_put(out, f.first, (size_t)(rest.at - f.first));
    }
    put_import(w, out, 0);
    TRY(copy_called(w, FREE_COPY_BYTES + byte_count / 4 * COPY_BYTES, out));
    ort_put(out, rest.at, (size_t)(rest.end - rest.at));
    return NULL;
}

static ort_status *nodes_new(ort_env *env, const ort_session_options *options, ort_nodes **out)
{
    ort_nodes *nodes = ln_alloc(sizeof *nodes);
    if (!nodes)
        return ort_fail_memory();
    pthread_mutex_init(&nodes->lock, NULL);
    nodes->env = env;
    ort_status *status = ort_customs_copy(&nodes->customs, options->customs);
    if (!status)
        status = ort_pairs_copy(&nodes->entries, options->entries);
    if (status) {
        ort_nodes_free(nodes);
        return status;
    }
    *out = nodes;
    return NULL;
}

ort_status *ort_nodes_take(ort_env *env, const ort_session_options *options, const void *bytes,
                           size_t byte_count, ort_nodes **out_nodes, void **out_bytes,
                           size_t *out_byte_count)
{
    const unsigned char *at = bytes;
    ort_nodes *nodes;
    ort_output out = {0};
    *out_nodes = NULL;
    *out_bytes = NULL;
    TRY(nodes_new(env, options, &nodes));
    walk w = {.options = options,
              .nodes = nodes,
              .importer = {at, at + byte_count},
              .opset_field = LN_ONNX_model_opset_import};
    ort_status *status = copy_model(&w, w.importer, &out);
    ort_functions_clear(&w.functions);
    if (!status && out.is_short)
        status = ort_fail_memory();
    if (!status && nodes->count > 0)
        status = ort_custom_register();
    if (status || nodes->count == 0) {
        ln_free(out.at);
        ort_nodes_free(nodes);
        return status;
    }
    *out_nodes = nodes;
    *out_bytes = out.at;
    *out_byte_count = out.len;
    return NULL;
}
