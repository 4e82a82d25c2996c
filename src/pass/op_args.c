// SPDX-License-Identifier: Apache-2.0
// Looking up what an operator type says about its arguments: in its description where there is one,
// else in the arrays of names.

#include "pass/op_args.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/util.h>

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

// `prefix` and `number`, as far as they fit in `buffer`.
static const char *print_name(const char *prefix, size_t number, char buffer[LN_MAX_NAME_LEN])
{
    char digits[24];
    size_t len = 0, digit_count = 0;
    for (; number > 0 || digit_count == 0; number /= 10)
        digits[digit_count++] = (char)('0' + number % 10);
    for (; prefix[len] && len + 1 < LN_MAX_NAME_LEN; len++)
        buffer[len] = prefix[len];
    while (digit_count > 0 && len + 1 < LN_MAX_NAME_LEN)
        buffer[len++] = digits[--digit_count];
    buffer[len] = '\0';
    return buffer;
}

static const char *arg_name_at(const ln_arg_info *arg, const char *const *names, size_t index,
                               char buffer[LN_MAX_NAME_LEN])
{
    for (size_t i = 0; arg && arg->arg_name && i <= index; i++, arg++) {
        if (arg->flags & LN_ARG_VARIADIC)
            return print_name(arg->arg_name, index - i + 1, buffer);
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

const ln_param_entry *ln_op_param_default(const ln_op_arg *op_arg, const char *arg_name,
                                          ln_param_entry *version)
{
    const int *since = find_versions(op_arg, arg_name);
    if (since) {
        while (since[1])
            since++;
        *version = (ln_param_entry){.arg_name = (char *)(uintptr_t)arg_name,
                                    .type = LN_PARAM_NUMBER,
                                    .value_double = *since,
                                    .value_float = (float)*since,
                                    .value_int = *since};
        return version;
    }
    const ln_param_info *info = op_arg->info ? op_arg->info->params : NULL;
    for (; info && info->arg_name; info++)
        if (info->default_entry && ln_streq(info->arg_name, arg_name))
            return info->default_entry;
    return NULL;
}
