// SPDX-License-Identifier: Apache-2.0
// The operator list and the operator table.
//
// The table is a plain hash without free functions: the functions here free what they remove, so
// that a context can also take an operator out alive.

#include <lightnet/op.h>

#include <stdio.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "ir/name.h"
#include "ir/op_life.h"

// ---- The list ----

ln_list *ln_op_list_create_from_array(ln_op **op_array)
{
    ln_list_builder ops = {0};
    for (ln_op **op = op_array; op && *op; op++) {
        if (ln_list_builder_push(&ops, *op) != LN_OK) {
            ln_list_free(ops.list);
            return NULL;
        }
    }
    return ops.list;
}

static void free_op(void *op)
{
    ln_op_free(op);
}

static void free_op_lists_too(void *op)
{
    ln_op_free_lists_too(op);
}

void ln_op_list_free(ln_list *ops)
{
    ln_list_free(ops);
}

void ln_op_list_free_ops_too(ln_list *ops)
{
    ln_list_free_deep(ops, free_op);
}

void ln_op_list_free_lists_too(ln_list *ops)
{
    ln_list_free_deep(ops, free_op_lists_too);
}

ln_op *ln_op_list_find_by_optype(const ln_list *ops, const char *optype)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        if (ln_streq(op->op_arg->optype, optype))
            return op;
    }
    return NULL;
}

ln_op *ln_op_array_find_by_optype(ln_op *ops[], const char *optype)
{
    for (ln_op **op = ops; op && *op; op++)
        if (ln_streq((*op)->op_arg->optype, optype))
            return *op;
    return NULL;
}

ln_op *ln_op_list_find_by_name(const ln_list *ops, const char *name)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        if (ln_streq(op->op_arg->name, name))
            return op;
    }
    return NULL;
}

ln_status ln_op_list_do_pre_run(ln_list *ops)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ops)
        LN_TRY(ln_op_pre_run_alone(op));
    return LN_OK;
}

ln_status ln_op_list_do_static_run(ln_list *ops)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ops)
        LN_TRY(ln_op_run_static(op));
    return LN_OK;
}

ln_status ln_op_list_do_run(ln_list *ops)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ops)
        LN_TRY(ln_op_call(op, op->run));
    return LN_OK;
}

ln_status ln_op_list_do_post_run(ln_list *ops)
{
    ln_status first = LN_OK;
    ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        ln_status status = ln_op_post_run(op);
        if (first == LN_OK)
            first = status;
    }
    return first;
}

int ln_op_list_unique_name(const ln_list *ops, char *buf, const char *prefix)
{
    if (!buf || !prefix) {
        ln_fail(LN_INVALID, "a unique name needs a buffer and a prefix");
        return -1;
    }
    int largest = -1;
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        int serial = ln_name_serial(op->op_arg->name, prefix);
        if (serial > largest)
            largest = serial;
    }
    return ln_name_print(buf, prefix, ln_name_next(largest));
}

// ---- The table ----

ln_hash *ln_op_table_create(void)
{
    return ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
}

int ln_op_table_insert(ln_hash *table, ln_op *op)
{
    if (!op || !op->op_arg || !op->op_arg->name) {
        ln_fail(LN_INVALID, "an operator without a name cannot be in a table");
        return -1;
    }
    const ln_op *other = ln_op_table_find(table, op->op_arg->name);
    if (other && other != op) {
        ln_fail(LN_EXISTS, "there are two operators named '%s', a %s and a %s", op->op_arg->name,
                other->op_arg->optype, op->op_arg->optype);
        return 0;
    }
    return ln_hash_insert(table, op->op_arg->name, op);
}

int ln_op_table_remove(ln_hash *table, const char *name)
{
    ln_op *op = ln_op_table_find(table, name);
    if (!op)
        return 0;
    ln_hash_remove(table, op->op_arg->name);
    ln_op_free_lists_too(op); // last: `name` may be the operator's own
    return 1;
}

ln_op *ln_op_table_find(const ln_hash *table, const char *name)
{
    return name ? ln_hash_find(table, name) : NULL;
}

void ln_op_table_free(ln_hash *table)
{
    size_t cursor = 0;
    void *op;
    while (ln_hash_next(table, &cursor, NULL, &op))
        ln_op_free_lists_too(op);
    ln_hash_free(table);
}

// ---- Parameters ----

#define NAMES_BYTES 1024

// Appends `name` to a comma-separated list that ends in "..." where it does not fit.
static void add_name(char *names, size_t *len, const char *name)
{
    if (*len >= NAMES_BYTES - 8)
        return;
    int added = snprintf(names + *len, NAMES_BYTES - 8 - *len, "%s%s", *len ? ", " : "", name);
    *len += added > 0 ? (size_t)added : 0;
    if (*len >= NAMES_BYTES - 8)
        snprintf(names + NAMES_BYTES - 9, 9, "...");
}

static ln_status fail_no_op(const ln_hash *table, const char *opname)
{
    char names[NAMES_BYTES] = "";
    size_t len = 0, cursor = 0;
    void *value;
    while (ln_hash_next(table, &cursor, NULL, &value))
        add_name(names, &len, ((const ln_op *)value)->op_arg->name);
    return LN_FAIL(LN_NOT_FOUND, "there is no operator '%s'; there are: %s",
                   opname ? opname : "(null)", len ? names : "none");
}

static ln_status fail_no_param(const ln_op *op, const char *pname)
{
    char names[NAMES_BYTES] = "";
    size_t len = 0;
    const ln_param_entry *entry;
    LN_LIST_FOREACH (entry, op->op_arg->params)
        add_name(names, &len, entry->arg_name);
    return LN_FAIL(LN_NOT_FOUND, "operator '%s' (%s) has no parameter '%s'; it has: %s",
                   op->op_arg->name, op->op_arg->optype, pname ? pname : "(null)",
                   len ? names : "none");
}

// What a parameter of LightNet's list is called in the core, where compiling has taken it to.
static const char *core_name(const char *pname)
{
    static const struct {
        const char *listed, *core;
    } names[] = {{"negslope", "alpha"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ln_streq(pname, names[i].listed))
            return names[i].core;
    return NULL;
}

ln_status ln_op_table_find_param(const ln_hash *table, const char *opname, const char *pname,
                                 ln_op **out_op, ln_param_entry **out_param)
{
    *out_param = NULL;
    *out_op = ln_op_table_find(table, opname);
    if (!*out_op)
        return fail_no_op(table, opname);
    *out_param = ln_param_list_find((*out_op)->op_arg->params, pname);
    if (!*out_param && core_name(pname))
        *out_param = ln_param_list_find((*out_op)->op_arg->params, core_name(pname));
    return *out_param ? LN_OK : fail_no_param(*out_op, pname);
}

ln_status ln_op_table_vset_param(ln_hash *table, const char *opname, const char *pname, va_list ap)
{
    ln_op *op;
    ln_param_entry *param;
    LN_TRY(ln_op_table_find_param(table, opname, pname, &op, &param));
    LN_TRY(ln_param_vset(param, ap));
    if (op->op_arg->context)
        ln_context_root(op->op_arg->context)->params_version++;
    return LN_OK;
}

ln_status ln_op_table_set_param(ln_hash *table, const char *opname, const char *pname, ...)
{
    va_list ap;
    va_start(ap, pname);
    ln_status status = ln_op_table_vset_param(table, opname, pname, ap);
    va_end(ap);
    return status;
}
