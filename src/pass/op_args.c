// SPDX-License-Identifier: Apache-2.0
// Looking up what an operator type says about its arguments: in its description where there is one,
// else in the arrays of names.

#include "pass/op_args.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/value.h"

// ---- Tensors ----

static const char *name_at(const char *const *names, size_t index)
{
    for (size_t i = 0; names && names[i]; i++)
        if (i == index)
            return names[i];
    return NULL;
}

static bool has_name(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (ln_streq(*names, name))
            return true;
    return false;
}

static const char *arg_name_at(const ln_arg_info *arg, const char *const *names, size_t index,
                               char buffer[LN_MAX_NAME_LEN])
{
    for (size_t i = 0; arg && arg->arg_name && i <= index; i++, arg++) {
        if (arg->flags & LN_ARG_VARIADIC) {
            snprintf(buffer, LN_MAX_NAME_LEN, "%s%zu", arg->arg_name, index - i + 1);
            return buffer;
        }
    }
    return name_at(names, index);
}

const char *ln_op_in_name(const ln_op_arg *op_arg, size_t index, char buffer[LN_MAX_NAME_LEN])
{
    return arg_name_at(op_arg->info ? op_arg->info->ins : NULL,
                       (const char *const *)op_arg->in_arg_names, index, buffer);
}

const char *ln_op_out_name(const ln_op_arg *op_arg, size_t index, char buffer[LN_MAX_NAME_LEN])
{
    return arg_name_at(op_arg->info ? op_arg->info->outs : NULL,
                       (const char *const *)op_arg->out_arg_names, index, buffer);
}

bool ln_op_has_in(const ln_op_arg *op_arg, const char *arg_name)
{
    const ln_arg_info *in = op_arg->info ? op_arg->info->ins : NULL;
    for (; in && in->arg_name; in++)
        if ((in->flags & LN_ARG_VARIADIC) && ln_is_prefix_plus_digit(arg_name, in->arg_name))
            return true;
    return has_name((const char *const *)op_arg->in_arg_names, arg_name);
}

bool ln_op_may_be_constant(const ln_op *proto)
{
    return proto->run || proto->static_run || ln_streq(proto->op_arg->arch, "none");
}

bool ln_op_runs(const ln_op *op)
{
    for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *out = l->data;
        const ln_tensor_entry *entry = ln_tensor_table_find(op->op_arg->tensor_table, out->name);
        if (!entry || !entry->isstatic)
            return true;
    }
    return op->op_arg->tensors_out == NULL;
}

// ---- Parameters ----

// Types with versions have the parameter `since` besides those that are described.
static const int *find_versions(const ln_op_arg *op_arg, const char *arg_name)
{
    const int *since = op_arg->info ? op_arg->info->since : NULL;
    return since && since[0] && ln_streq(arg_name, "since") ? since : NULL;
}

ln_param_type ln_op_param_type(const ln_op_arg *op_arg, const char *arg_name)
{
    if (find_versions(op_arg, arg_name))
        return LN_PARAM_NUMBER;
    for (size_t i = 0; op_arg->param_arg_names && op_arg->param_arg_names[i]; i++)
        if (ln_streq(op_arg->param_arg_names[i], arg_name))
            return op_arg->param_ptypes[i];
    return LN_PARAM_INVALID;
}

static ln_status set_numbers(ln_param_entry *entry, const ln_value *array)
{
    double *numbers = ln_alloc_array(array->count, sizeof *numbers);
    if (!numbers)
        return LN_NO_MEMORY;
    size_t count = 0;
    for (const ln_value *v = array->first; v; v = v->next)
        numbers[count++] = v->number;
    ln_status status = ln_param_set_satu_array_number(entry, (int)count, numbers);
    ln_free(numbers);
    return status;
}

static ln_status set_strings(ln_param_entry *entry, const ln_value *array)
{
    const char **strings = ln_alloc_array(array->count, sizeof *strings);
    if (!strings)
        return LN_NO_MEMORY;
    size_t count = 0;
    for (const ln_value *v = array->first; v; v = v->next)
        strings[count++] = v->text ? v->text : "";
    ln_status status = ln_param_set_array_string(entry, (int)count, strings);
    ln_free(strings);
    return status;
}

static ln_status set_bools(ln_param_entry *entry, const ln_value *array)
{
    ln_bool *bools = ln_alloc_array(array->count, sizeof *bools);
    if (!bools)
        return LN_NO_MEMORY;
    size_t count = 0;
    for (const ln_value *v = array->first; v; v = v->next)
        bools[count++] = v->boolean;
    ln_status status = ln_param_set_array_bool(entry, (int)count, bools);
    ln_free(bools);
    return status;
}

static ln_status set_value(ln_param_entry *entry, const ln_value *value)
{
    switch (value->kind) {
    case LN_VALUE_NULL: return ln_param_set_null(entry);
    case LN_VALUE_BOOL: return ln_param_set_bool(entry, value->boolean);
    case LN_VALUE_NUMBER: return ln_param_set_satu_number(entry, value->number);
    case LN_VALUE_STRING: return ln_param_set_string(entry, value->text);
    default: break;
    }
    if (value->kind == LN_VALUE_ARRAY && entry->type == LN_PARAM_ARRAY_NUMBER)
        return set_numbers(entry, value);
    if (value->kind == LN_VALUE_ARRAY && entry->type == LN_PARAM_ARRAY_STRING)
        return set_strings(entry, value);
    if (value->kind == LN_VALUE_ARRAY && entry->type == LN_PARAM_ARRAY_BOOL)
        return set_bools(entry, value);
    return LN_FAIL(LN_INTERNAL, "the default of '%s' is %s", entry->arg_name,
                   ln_value_kind_text(value->kind));
}

static ln_status make_default(const ln_param_info *info, ln_param_entry **out_entry)
{
    ln_document *document;
    LN_TRY(ln_document_parse(info->default_text, strlen(info->default_text), info->arg_name,
                             LN_DIALECT_JSON, &document));
    ln_param_entry *entry = ln_param_entry_create(info->arg_name, info->ptype);
    ln_status status = entry ? set_value(entry, ln_document_root(document)) : LN_NO_MEMORY;
    ln_document_destroy(document);
    if (status != LN_OK) {
        ln_param_entry_free(entry);
        return status;
    }
    *out_entry = entry;
    return LN_OK;
}

// The newest version.
static ln_status make_version(const int *since, ln_param_entry **out_entry)
{
    while (since[1])
        since++;
    ln_param_entry *entry = ln_param_entry_create("since", LN_PARAM_NUMBER);
    if (!entry)
        return LN_NO_MEMORY;
    ln_status status = ln_param_set_satu_number(entry, *since);
    if (status == LN_OK)
        *out_entry = entry;
    else
        ln_param_entry_free(entry);
    return status;
}

ln_status ln_op_param_default(const ln_op_arg *op_arg, const char *arg_name,
                              ln_param_entry **out_entry)
{
    *out_entry = NULL;
    const int *since = find_versions(op_arg, arg_name);
    if (since)
        return make_version(since, out_entry);
    const ln_param_info *info = op_arg->info ? op_arg->info->params : NULL;
    for (; info && info->arg_name; info++)
        if (ln_streq(info->arg_name, arg_name) && info->default_text)
            return make_default(info, out_entry);
    return LN_OK;
}
