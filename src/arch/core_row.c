// SPDX-License-Identifier: Apache-2.0
// Reading entries of `core_ops`.

#include "arch/core_row.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/op_info.h>
#include <lightnet/param.h>
#include <lightnet/util.h>

#include "ir/param_value.h"

#define SEPARATORS "(), "

// Moves *at to the next name in the parentheses; returns its length, 0: past the last.
static size_t next_name(const char **at)
{
    *at += strspn(*at, SEPARATORS);
    return strcspn(*at, SEPARATORS);
}

static bool is_stated(const char *row, const char *name)
{
    const char *at = row + strcspn(row, "(");
    for (size_t len; (len = next_name(&at)) > 0; at += len)
        if ((len == 1 && *at == '*') || (strlen(name) == len && strncmp(at, name, len) == 0))
            return true;
    return false;
}

ln_status ln_core_row_type(const ln_arch *arch, const char *row, char type[LN_MAX_NAME_LEN])
{
    size_t len = strcspn(row, SEPARATORS), row_len = strlen(row);
    bool is_whole = len > 0 && len < LN_MAX_NAME_LEN &&
                    (len == row_len || (row[len] == '(' && row[row_len - 1] == ')' &&
                                        strcspn(row, ")") == row_len - 1));
    if (!is_whole)
        return LN_FAIL(LN_INVALID,
                       "arch '%s' lists '%s' in core_ops; write the type and the parameters that "
                       "it knows, such as \"softmax(axis)\", or \"softmax(*)\" for all",
                       arch->arch_name, row);
    snprintf(type, LN_MAX_NAME_LEN, "%.*s", (int)len, row);
    return LN_OK;
}

static const ln_param_info *find_info(const ln_op *base, const char *name, size_t len)
{
    const ln_param_info *info = base->op_arg->info->params;
    for (; info && info->arg_name; info++)
        if (strlen(info->arg_name) == len && strncmp(info->arg_name, name, len) == 0)
            return info;
    return NULL;
}

ln_status ln_core_row_check(const ln_arch *arch, const char *row, const ln_op *base)
{
    const char *at = row + strcspn(row, "("), *optype = base->op_arg->optype;
    for (size_t len; (len = next_name(&at)) > 0; at += len)
        if (!(len == 1 && *at == '*') && !find_info(base, at, len))
            return LN_FAIL(LN_INVALID,
                           "arch '%s' lists '%s' in core_ops, and '%s' has no parameter '%.*s'; "
                           "`lightnet ops %s` shows those that it has",
                           arch->arch_name, row, optype, (int)len, at, optype);
    const ln_param_info *info = base->op_arg->info->params;
    for (; info && info->arg_name; info++)
        if (info->is_required && !info->default_entry && !is_stated(row, info->arg_name))
            return LN_FAIL(LN_INVALID,
                           "arch '%s' lists '%s' in core_ops without parameter '%s', which every "
                           "'%s' has; write \"%s(%s)\", or \"%s(*)\" if it knows all",
                           arch->arch_name, row, info->arg_name, optype, optype, info->arg_name,
                           optype);
    return LN_OK;
}

// The row of the operator's type; NULL: none.
static const char *find_row(const ln_arch *arch, const ln_op *op)
{
    const char *optype = op->op_arg->optype;
    size_t len = strlen(optype), arch_len = strlen(arch->arch_name);
    if (!ln_streq(op->op_arg->arch, "none") && len > arch_len + 1)
        len -= arch_len + 1; // "softmax_slab"
    for (const char *const *row = arch->core_ops; row && *row; row++)
        if (strcspn(*row, SEPARATORS) == len && strncmp(*row, optype, len) == 0)
            return *row;
    return NULL;
}

// Which version of a type it is says nothing that its other parameters do not.
static bool is_usual(const ln_op *op, const ln_param_entry *param)
{
    const ln_param_info *info = op->op_arg->info ? op->op_arg->info->params : NULL;
    for (; info && info->arg_name; info++)
        if (ln_streq(info->arg_name, param->arg_name))
            return info->default_entry && ln_param_entries_equal(info->default_entry, param);
    return ln_streq(param->arg_name, "since");
}

ln_status ln_core_row_check_op(const ln_arch *arch, const ln_op *op)
{
    const char *row = find_row(arch, op);
    const ln_param_entry *param;
    if (!row)
        return LN_OK;
    LN_LIST_FOREACH (param, op->op_arg->params)
        if (!is_stated(row, param->arg_name) && !is_usual(op, param))
            return LN_FAIL(LN_UNSUPPORTED, "%s does not know parameter '%s' of %.*s",
                           arch->arch_name, param->arg_name, (int)strcspn(row, SEPARATORS), row);
    return LN_OK;
}
