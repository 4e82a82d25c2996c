// SPDX-License-Identifier: Apache-2.0
// From a tree to operators. Every error names the place in the source and the operator.

#include "serial/model_tree.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

#include "arch/registry.h"
#include "ir/compiled.h"
#include "serial/old_inputs.h"
#include "serial/old_types.h"
#include "serial/param_fit.h"
#include "serial/unknown_types.h"

// ---- Members with their types ----

// The operator a message is about: its index, and its name once that is known.
typedef struct where {
    size_t index;
    const char *name;
} where;

static ln_status fail_in_op(const ln_value *at, const where *op, const char *problem)
{
    if (op->name)
        return ln_fail_at(at->place, LN_SYNTAX, "operator '%s': %s", op->name, problem);
    return ln_fail_at(at->place, LN_SYNTAX, "operator %zu: %s", op->index, problem);
}

// The member `key` of `object`, which must be there and of that kind.
static ln_status need(const ln_value *object, const char *key, ln_value_kind kind, const where *op,
                      const ln_value **out_member)
{
    char problem[160];
    *out_member = NULL;
    if (object->kind != LN_VALUE_OBJECT) {
        snprintf(problem, sizeof problem, "expected an object with \"%s\", found %s", key,
                 ln_value_kind_text(object->kind));
        return fail_in_op(object, op, problem);
    }
    const ln_value *member = ln_value_get(object, key);
    if (!member) {
        snprintf(problem, sizeof problem, "\"%s\" is missing", key);
        return fail_in_op(object, op, problem);
    }
    if (member->kind != kind) {
        static const ln_value samples[] = {{.kind = LN_VALUE_STRING}, {.kind = LN_VALUE_ARRAY}};
        const ln_value *sample = &samples[kind == LN_VALUE_ARRAY];
        snprintf(problem, sizeof problem, "\"%s\" must be %s, found %s", key,
                 ln_value_kind_text(sample->kind), ln_value_kind_text(member->kind));
        return fail_in_op(member, op, problem);
    }
    *out_member = member;
    return LN_OK;
}

// The member `key`, a name: not empty, of a bounded length, and without control characters, which
// would reach terminals with the messages.
static ln_status need_name(const ln_value *object, const char *key, const where *op,
                           const ln_value **out_name)
{
    char problem[160];
    LN_TRY(need(object, key, LN_VALUE_STRING, op, out_name));
    const ln_value *name = *out_name;
    if (name->text_len == 0 || name->text_len >= LN_MAX_NAME_LEN) {
        snprintf(problem, sizeof problem, "\"%s\" has %zu bytes, a name has 1 to %d", key,
                 name->text_len, LN_MAX_NAME_LEN - 1);
        return fail_in_op(name, op, problem);
    }
    for (const char *c = name->text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            snprintf(problem, sizeof problem, "\"%s\" has a control character", key);
            return fail_in_op(name, op, problem);
        }
    }
    return LN_OK;
}

// The member `key`, an array of at most `max_count` elements.
static ln_status need_short_array(const ln_value *object, const char *key, size_t max_count,
                                  const where *op, const ln_value **out_array)
{
    LN_TRY(need(object, key, LN_VALUE_ARRAY, op, out_array));
    if ((*out_array)->count > max_count)
        return ln_fail_at((*out_array)->place, LN_LIMIT,
                          "operator '%s': %zu \"%s\" are over the limit of %zu", op->name,
                          (*out_array)->count, key, max_count);
    return LN_OK;
}

// An integer >= 0 that a size_t and a double hold exactly.
static ln_status read_size(const ln_value *value, size_t *out_size)
{
    *out_size = 0;
    if (value->kind != LN_VALUE_NUMBER || !(value->number >= 0) || value->number > 0x1p53 ||
        value->number != floor(value->number))
        return ln_fail_at(value->place, LN_SYNTAX, "expected an integer >= 0, found %s",
                          value->kind == LN_VALUE_NUMBER ? value->text
                                                         : ln_value_kind_text(value->kind));
    *out_size = (size_t)value->number;
    return LN_OK;
}

// ---- Tensor lists ----

static ln_status read_tensor(const ln_value *value, const where *op, ln_list **list)
{
    const ln_value *arg_name, *name;
    LN_TRY(need_name(value, "arg_name", op, &arg_name));
    LN_TRY(need_name(value, "name", op, &name));
    if (ln_tensor_list_find_by_arg_name(*list, arg_name->text)) {
        char problem[160];
        snprintf(problem, sizeof problem, "argument \"%.100s\" is given twice", arg_name->text);
        return fail_in_op(arg_name, op, problem);
    }
    ln_tensor_list_entry *entry = ln_tensor_list_entry_create(arg_name->text, name->text);
    if (!entry)
        return LN_NO_MEMORY;
    const ln_value *offset = ln_value_get(value, "offset");
    ln_status status = offset ? read_size(offset, &entry->offset) : LN_OK;
    if (status == LN_OK)
        status = ln_list_push(list, entry);
    if (status != LN_OK)
        ln_tensor_list_entry_free(entry);
    return status;
}

static ln_status read_tensors(const ln_value *op_value, const char *key, const where *op,
                              ln_list **list)
{
    const ln_value *array;
    LN_TRY(need_short_array(op_value, key, LN_MODEL_MAX_TENSORS, op, &array));
    for (const ln_value *value = array->first; value; value = value->next)
        LN_TRY(read_tensor(value, op, list));
    return LN_OK;
}

// ---- Parameters ----

static ln_status set_array(ln_param_entry *entry, const ln_value *array)
{
    if (array->count > INT_MAX)
        return ln_fail_at(array->place, LN_LIMIT, "%zu elements are over the limit of %d",
                          array->count, INT_MAX);
    int len = (int)array->count;
    int i = 0;
    ln_status status = LN_NO_MEMORY;
    if (entry->type == LN_PARAM_ARRAY_STRING) {
        const char **strings = ln_alloc_array(array->count, sizeof *strings);
        for (const ln_value *v = array->first; strings && v; v = v->next)
            strings[i++] = v->text;
        if (strings)
            status = ln_param_set_array_string(entry, len, strings);
        ln_free(strings);
    } else if (entry->type == LN_PARAM_ARRAY_BOOL) {
        ln_bool *bools = ln_alloc_array(array->count, sizeof *bools);
        for (const ln_value *v = array->first; bools && v; v = v->next)
            bools[i++] = v->boolean;
        if (bools)
            status = ln_param_set_array_bool(entry, len, bools);
        ln_free(bools);
    } else {
        double *numbers = ln_alloc_array(array->count, sizeof *numbers);
        for (const ln_value *v = array->first; numbers && v; v = v->next) {
            if (v->kind == LN_VALUE_NUMBER || !ln_number_from_word(v->text, &numbers[i]))
                numbers[i] = v->number;
            i++;
        }
        if (numbers)
            status = ln_param_set_satu_array_double(entry, len, numbers);
        ln_free(numbers);
    }
    return status;
}

// A number, or a word for one; an array of such.
static bool is_numeric(const ln_value *value)
{
    double number;
    if (value->kind == LN_VALUE_NUMBER)
        return true;
    if (value->kind == LN_VALUE_STRING)
        return ln_number_from_word(value->text, &number);
    const ln_value *element = value->kind == LN_VALUE_ARRAY ? value->first : NULL;
    while (element && element->kind != LN_VALUE_ARRAY && is_numeric(element))
        element = element->next;
    return value->kind == LN_VALUE_ARRAY && !element;
}

static ln_status param_type_of(const ln_value *value, const where *op, ln_param_type *out_type)
{
    switch (value->kind) {
    case LN_VALUE_NULL: *out_type = LN_PARAM_NULL; return LN_OK;
    case LN_VALUE_BOOL: *out_type = LN_PARAM_BOOL; return LN_OK;
    case LN_VALUE_NUMBER: *out_type = LN_PARAM_NUMBER; return LN_OK;
    case LN_VALUE_STRING: *out_type = LN_PARAM_STRING; return LN_OK;
    case LN_VALUE_ARRAY: break;
    default: return fail_in_op(value, op, "a parameter cannot be an object");
    }

    // An empty array has no element to tell its type; it counts as numbers.
    ln_value_kind kind = value->first ? value->first->kind : LN_VALUE_NUMBER;
    for (const ln_value *element = value->first; element; element = element->next) {
        if (element->kind == LN_VALUE_NUMBER && kind == LN_VALUE_STRING && is_numeric(value))
            kind = LN_VALUE_NUMBER;
        bool is_number = element->kind != LN_VALUE_ARRAY && is_numeric(element);
        if (element->kind != kind && !(kind == LN_VALUE_NUMBER && is_number))
            return fail_in_op(element, op, "the elements of an array must be of one type");
    }
    switch (kind) {
    case LN_VALUE_NUMBER: *out_type = LN_PARAM_ARRAY_NUMBER; return LN_OK;
    case LN_VALUE_STRING: *out_type = LN_PARAM_ARRAY_STRING; return LN_OK;
    case LN_VALUE_BOOL: *out_type = LN_PARAM_ARRAY_BOOL; return LN_OK;
    default:
        return fail_in_op(value->first, op, "array elements must be numbers, strings or bools");
    }
}

static ln_status set_param(ln_param_entry *entry, const ln_value *value)
{
    switch (entry->type) {
    case LN_PARAM_NULL: return LN_OK;
    case LN_PARAM_BOOL: return ln_param_set_bool(entry, value->boolean);
    case LN_PARAM_NUMBER: return ln_param_set_satu_number(entry, value->number);
    case LN_PARAM_STRING: return ln_param_set_string(entry, value->text);
    default: return set_array(entry, value);
    }
}

static ln_status read_param(const ln_value *member, const where *op, ln_list **list)
{
    const ln_value *arg_name;
    LN_TRY(need_name(member, "arg_name", op, &arg_name));
    const ln_value *value = ln_value_get(member, "value");
    if (!value)
        return fail_in_op(member, op, "a parameter needs a \"value\"");
    if (ln_param_list_find(*list, arg_name->text)) {
        char problem[160];
        snprintf(problem, sizeof problem, "parameter \"%.100s\" is given twice", arg_name->text);
        return fail_in_op(arg_name, op, problem);
    }

    ln_param_type type = LN_PARAM_NULL;
    LN_TRY(param_type_of(value, op, &type));
    ln_param_entry *entry = ln_param_entry_create(arg_name->text, type);
    if (!entry)
        return LN_NO_MEMORY;
    ln_status status = set_param(entry, value);
    if (status == LN_OK)
        status = ln_list_push(list, entry);
    if (status != LN_OK)
        ln_param_entry_free(entry);
    return status;
}

static ln_status read_params(const ln_value *op_value, const where *op, ln_list **list)
{
    const ln_value *array;
    LN_TRY(need_short_array(op_value, "params", LN_MODEL_MAX_PARAMS, op, &array));
    for (const ln_value *value = array->first; value; value = value->next)
        LN_TRY(read_param(value, op, list));
    return LN_OK;
}

// ---- A compiled model's facts ----

static ln_status read_dims(const ln_value *value, const where *op, ln_compiled_tensor *tensor)
{
    const ln_value *dims;
    LN_TRY(need(value, "dims", LN_VALUE_ARRAY, op, &dims));
    if (dims->count > LN_MAXDIM)
        return ln_fail_at(dims->place, LN_LIMIT, "rank %zu is over the limit of %d", dims->count,
                          LN_MAXDIM);
    for (const ln_value *dim = dims->first; dim; dim = dim->next) {
        size_t size;
        LN_TRY(read_size(dim, &size));
        if (size > INT_MAX)
            return ln_fail_at(dim->place, LN_LIMIT, "dimension %s is over the limit of %d",
                              dim->text, INT_MAX);
        tensor->dims[tensor->ndim++] = (int)size;
    }
    return LN_OK;
}

static ln_status read_compiled_tensor(const ln_value *value, const where *op,
                                      ln_compiled_tensor *tensor)
{
    const ln_value *name, *dtype, *mtype;
    LN_TRY(need(value, "name", LN_VALUE_STRING, op, &name));
    LN_TRY(need(value, "dtype", LN_VALUE_STRING, op, &dtype));
    LN_TRY(need(value, "mtype", LN_VALUE_STRING, op, &mtype));
    LN_TRY(read_dims(value, op, tensor));

    tensor->dtype = tl_dtype_from_str(dtype->text);
    if ((int)tensor->dtype < 0)
        return ln_fail_at(dtype->place, LN_SYNTAX, "'%s' is no data type", dtype->text);
    int type = ln_mem_type_from_str(mtype->text);
    if (type < 0)
        return ln_fail_at(mtype->place, LN_SYNTAX, "'%s' is no memory type", mtype->text);
    tensor->mtype = (ln_mem_type)type;

    const ln_value *is_static = ln_value_get(value, "static");
    if (!is_static || is_static->kind != LN_VALUE_BOOL)
        return fail_in_op(value, op, "\"static\" must be true or false");
    tensor->is_static = is_static->boolean;
    const ln_value *is_load = ln_value_get(value, "load");
    if (is_load && is_load->kind != LN_VALUE_BOOL)
        return fail_in_op(value, op, "\"load\" must be true or false");
    tensor->is_load = is_load && is_load->boolean;
    const ln_value *offset = ln_value_get(value, "offset");
    if (!offset)
        return fail_in_op(value, op, "\"offset\" is missing");
    LN_TRY(read_size(offset, &tensor->offset));
    const ln_value *owner = ln_value_get(value, "owner");
    if (owner)
        LN_TRY(need_name(value, "owner", op, &owner));

    tensor->name = ln_strdup(name->text);
    tensor->owner = owner ? ln_strdup(owner->text) : NULL;
    tensor->place =
        ln_strdup_printf("%s:%d:%d", value->place.file, value->place.line, value->place.column);
    bool is_whole = tensor->name && tensor->place && (tensor->owner || !owner);
    return is_whole ? LN_OK : LN_NO_MEMORY;
}

static ln_status read_compiled_tensors(const ln_value *op_value, const where *op,
                                       ln_compiled *compiled)
{
    const ln_value *outs;
    LN_TRY(need(op_value, "tensors_out", LN_VALUE_ARRAY, op, &outs));
    for (const ln_value *value = outs->first; value; value = value->next) {
        if (compiled->tensor_count == compiled->tensor_capacity) {
            size_t capacity = compiled->tensor_capacity ? 2 * compiled->tensor_capacity : 64;
            ln_compiled_tensor *tensors = ln_realloc(compiled->tensors, capacity * sizeof *tensors);
            if (!tensors)
                return LN_NO_MEMORY;
            compiled->tensors = tensors;
            compiled->tensor_capacity = capacity;
        }
        ln_compiled_tensor *tensor = &compiled->tensors[compiled->tensor_count++];
        memset(tensor, 0, sizeof *tensor);
        LN_TRY(read_compiled_tensor(value, op, tensor));
    }
    return LN_OK;
}

static ln_status read_memory(const ln_value *root, ln_compiled *compiled)
{
    const where top = {.name = "memory"};
    const ln_value *memory;
    LN_TRY(need(root, "memory", LN_VALUE_ARRAY, &top, &memory));
    for (const ln_value *row = memory->first; row; row = row->next) {
        const ln_value *name;
        LN_TRY(need(row, "mtype", LN_VALUE_STRING, &top, &name));
        int mtype = ln_mem_type_from_str(name->text);
        if (mtype < 0)
            return ln_fail_at(name->place, LN_SYNTAX, "'%s' is no memory type", name->text);
        const ln_value *is_static = ln_value_get(row, "static");
        const ln_value *workspace = ln_value_get(row, "workspace");
        if (!is_static || !workspace)
            return ln_fail_at(row->place, LN_SYNTAX,
                              "memory needs \"static\" and \"workspace\" in bytes");
        size_t workspace_byte_count;
        LN_TRY(read_size(is_static, &compiled->static_sizes[mtype]));
        LN_TRY(read_size(workspace, &workspace_byte_count)); // both <= 2^53: the sum cannot wrap
        compiled->mem_sizes[mtype] = compiled->static_sizes[mtype] + workspace_byte_count;
        const ln_value *load = ln_value_get(row, "load");
        if (load)
            LN_TRY(read_size(load, &compiled->load_sizes[mtype]));
    }
    return LN_OK;
}

// A name that may be absent, to be freed.
static ln_status read_name(const ln_value *object, const char *key, const where *op,
                           char **out_name)
{
    *out_name = NULL;
    const ln_value *name = ln_value_get(object, key);
    if (!name)
        return LN_OK;
    LN_TRY(need_name(object, key, op, &name));
    *out_name = ln_strdup(name->text);
    return *out_name ? LN_OK : LN_NO_MEMORY;
}

// What a device has computed in another library, nothing here may compute.
static ln_status check_archs(const ln_value *target)
{
    for (const char *name = target->text; *name;) {
        char arch[64];
        size_t len = strcspn(name, ",");
        snprintf(arch, sizeof arch, "%.*s", (int)(len < sizeof arch ? len : sizeof arch - 1), name);
        LN_TRY(ln_arch_need_numbered(arch));
        if (!ln_arch_find(arch))
            return ln_fail_at(
                target->place, LN_NOT_FOUND,
                "the model was compiled for \"%s\", and arch '%s' is not registered; "
                "register it (--plugin, ln_plugin_load), or compile the model again for another target",
                target->text, arch);
        name += len;
        name += *name == ',';
    }
    return LN_OK;
}

static ln_status read_compiled_header(ln_context *ctx, const ln_value *root, ln_compiled *compiled)
{
    const ln_value *format = ln_value_get(root, "format");
    if (format->kind != LN_VALUE_STRING || strcmp(format->text, LN_COMPILED_FORMAT) != 0)
        return ln_fail_at(format->place, LN_SYNTAX,
                          "\"format\" must be \"" LN_COMPILED_FORMAT "\"");
    const ln_value *version = ln_value_get(root, "version");
    if (!version || version->kind != LN_VALUE_NUMBER || version->number != LN_COMPILED_VERSION)
        return ln_fail_at(version ? version->place : root->place, LN_UNSUPPORTED,
                          "compiled format version %s is not readable here, only version %d; "
                          "compile the model again",
                          version && version->text ? version->text : "(none)", LN_COMPILED_VERSION);
    const where top = {.name = "header"};
    const ln_value *target;
    LN_TRY(read_name(root, "weights", &top, &ctx->weights));
    LN_TRY(read_name(root, "weights_from", &top, &ctx->weights_from));
    LN_TRY(need(root, "target", LN_VALUE_STRING, &top, &target));
    LN_TRY(check_archs(target));
    compiled->target = ln_strdup(target->text);
    if (!compiled->target)
        return LN_NO_MEMORY;
    compiled->is_dynamic = ln_value_get(root, "dynamic") != NULL;
    return compiled->is_dynamic ? ln_model_tree_read_dynamic(root, compiled)
                                : read_memory(root, compiled);
}

// A tree with "format" is compiled; one with the old "mem_sizes_l" was compiled by the old system.
static ln_status read_header(ln_context *ctx, const ln_value *root)
{
    int is_compiled = ln_value_get(root, "format") != NULL;
    int is_old = ln_value_get(root, "mem_sizes_l") != NULL;
    if (!is_compiled && !is_old)
        return LN_OK;

    ln_compiled *compiled = ln_alloc(sizeof *compiled);
    if (!compiled)
        return LN_NO_MEMORY;
    ln_compiled_destroy(ctx->compiled);
    ctx->compiled = compiled; // cleaned up with the context, half-built or not
    compiled->is_old = !is_compiled;
    return is_compiled ? read_compiled_header(ctx, root, compiled) : LN_OK;
}

// ---- Operators ----

static ln_type_reader type_reader(const ln_context *ctx)
{
    if (!ctx->compiled)
        return ln_old_type_read_unknown;
    return ctx->compiled->is_old ? ln_old_type_read : NULL;
}

static ln_status read_op(ln_serializer *serializer, ln_context *ctx, const ln_value *value,
                         size_t index)
{
    where op = {.index = index};
    const ln_value *name, *optype;
    LN_TRY(need_name(value, "name", &op, &name));
    op.name = name->text;
    LN_TRY(need_name(value, "optype", &op, &optype));

    char place[512];
    snprintf(place, sizeof place, "%s:%d:%d", value->place.file, value->place.line,
             value->place.column);
    ln_op_source source = {.name = name->text, .optype = optype->text, .place = place};
    char type[LN_MAX_NAME_LEN];
    // A loader for an old name goes before what the name would mean.
    bool is_known = !ctx->compiled && ln_serializer_knows(serializer, optype->text);
    if (type_reader(ctx) && !is_known)
        type_reader(ctx)(optype->text, type, sizeof type);
    else
        snprintf(type, sizeof type, "%s", optype->text);
    source.optype = type;
    ln_status status = read_tensors(value, "tensors_in", &op, &source.tensors_in);
    if (status == LN_OK)
        status = read_tensors(value, "tensors_out", &op, &source.tensors_out);
    if (!ctx->compiled && ln_old_type_lacks_scratch(source.optype, source.tensors_out))
        ln_old_type_read(optype->text, type, sizeof type);
    if (status == LN_OK)
        status = read_params(value, &op, &source.params);
    if (status == LN_OK)
        status = ln_params_fit(source.params, ln_op_find(source.optype), op.name, place);
    if (status == LN_OK && ctx->compiled && !ctx->compiled->is_old && !ctx->compiled->is_dynamic)
        status = read_compiled_tensors(value, &op, ctx->compiled);
    ln_list *params = source.params;
    source.own_params = &params;
    if (status == LN_OK)
        status = ln_serializer_add_op(serializer, ctx, &source);

    ln_tensor_list_free(source.tensors_in);
    ln_tensor_list_free(source.tensors_out);
    ln_param_list_free(params);
    return status;
}

static ln_status read_model(ln_serializer *serializer, ln_context *ctx, const ln_value *root)
{
    if (root->kind != LN_VALUE_OBJECT)
        return ln_fail_at(root->place, LN_SYNTAX, "a model is an object with \"ops\", found %s",
                          ln_value_kind_text(root->kind));
    const ln_value *ops = ln_value_get(root, "ops");
    if (!ops)
        return ln_fail_at(root->place, LN_SYNTAX, "the model has no \"ops\"");
    if (ops->kind != LN_VALUE_ARRAY)
        return ln_fail_at(ops->place, LN_SYNTAX, "\"ops\" must be an array, found %s",
                          ln_value_kind_text(ops->kind));
    if (ops->count > ctx->limits.op_count)
        return ln_fail_at(ops->place, LN_LIMIT, "%zu operators are over the limit of %zu",
                          ops->count, ctx->limits.op_count);

    LN_TRY(read_header(ctx, root));
    size_t index = 0;
    for (const ln_value *op = ops->first; op; op = op->next) {
        ln_status status = read_op(serializer, ctx, op, index++);
        if (status == LN_UNSUPPORTED)
            return ln_tell_unknown_types(serializer, ops, type_reader(ctx));
        LN_TRY(status);
    }
    return LN_OK;
}

// Each is a model with a name, and has no graphs itself: all of them are the outermost model's.
static ln_status read_graphs(ln_serializer *serializer, ln_context *ctx, const ln_value *root)
{
    const ln_value *graphs = ln_value_get(root, "graphs");
    if (!graphs)
        return LN_OK;
    if (graphs->kind != LN_VALUE_ARRAY)
        return ln_fail_at(graphs->place, LN_SYNTAX, "\"graphs\" must be an array, found %s",
                          ln_value_kind_text(graphs->kind));
    const where top = {.name = "graph"};
    for (const ln_value *value = graphs->first; value; value = value->next) {
        const ln_value *name;
        LN_TRY(need_name(value, "name", &top, &name));
        ln_context *graph;
        if (ln_context_add_graph(ctx, name->text, &graph) != LN_OK)
            return ln_fail_at(name->place, ln_error_status(), "%s", ln_error_message());
        LN_TRY(read_model(serializer, graph, value));
    }
    return LN_OK;
}

ln_status ln_model_tree_read(ln_serializer *serializer, ln_context *ctx, ln_document *document)
{
    const ln_value *root = ln_document_root(document);
    LN_TRY(read_model(serializer, ctx, root));
    // What we compiled says which its inputs are.
    if (!ctx->compiled || ctx->compiled->is_old)
        LN_TRY(ln_old_inputs_read(ctx));
    LN_TRY(ln_model_tree_read_info(ctx, root));
    return read_graphs(serializer, ctx, root);
}
