// SPDX-License-Identifier: Apache-2.0
// Making, copying, naming and freeing operators.

#include <lightnet/op.h>

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "ir/name.h"
#include "ir/op_life.h"
#include "ir/use.h"

// ---- Making and freeing ----

// An operator with what dies with it. A new name, which may be longer, has memory of its own.
typedef struct whole_op {
    ln_op op;
    ln_op_arg arg;
    ln_use *use; // of its type; NULL: that is not registered
    char name[];
} whole_op;

static ln_status check_proto(const ln_op *op_proto)
{
    if (!op_proto || !op_proto->op_arg || !op_proto->op_arg->optype || !op_proto->op_arg->arch)
        return LN_FAIL(LN_INVALID, "an operator prototype needs op_arg with optype and arch");
    return LN_OK;
}

static ln_status check_op_name(const char *name)
{
    LN_TRY(ln_name_check(name, "an operator"));
    return name[0] ? LN_OK : LN_FAIL(LN_INVALID, "the name of an operator is empty");
}

// Everything but the lists, which the new operator does not have yet.
static ln_op *create_bare(const ln_op *op_proto, const char *name, ln_hash *tensor_table)
{
    if (check_proto(op_proto) != LN_OK || check_op_name(name) != LN_OK)
        return NULL;
    size_t name_bytes = strlen(name) + 1;
    whole_op *whole = ln_alloc(sizeof *whole + name_bytes);
    if (!whole)
        return NULL;
    const ln_op_arg *proto = op_proto->op_arg;
    whole->op = *op_proto;
    whole->op.op_arg = &whole->arg;
    whole->use = ln_use_hold(LN_USE_OP, op_proto->op_arg->optype);
    memcpy(whole->name, name, name_bytes);
    // Type, arch and descriptions are the prototype's, which is static.
    whole->arg = (ln_op_arg){
        .name = whole->name,
        .optype = proto->optype,
        .arch = proto->arch,
        .tensor_table = tensor_table,
        .in_arg_names = proto->in_arg_names,
        .out_arg_names = proto->out_arg_names,
        .param_arg_names = proto->param_arg_names,
        .param_ptypes = proto->param_ptypes,
        .info = proto->info,
    };
    return &whole->op;
}

ln_op *ln_op_create_from_proto(const ln_op *op_proto, const char *name, ln_list *tensors_in,
                               ln_list *tensors_out, ln_list *params, ln_hash *tensor_table)
{
    ln_op *op = create_bare(op_proto, name, tensor_table);
    if (!op)
        return NULL;
    op->op_arg->tensors_in = tensors_in;
    op->op_arg->tensors_out = tensors_out;
    op->op_arg->params = params;
    return op;
}

void ln_op_free(ln_op *op)
{
    if (!op)
        return;
    ln_free(op->op_arg->place);
    ln_op_take_name(op, NULL);
    ln_use_drop(((whole_op *)op)->use);
    ln_free(op);
}

void ln_op_take_name(ln_op *op, char *name)
{
    if (op->op_arg->name != ((whole_op *)op)->name)
        ln_free(op->op_arg->name);
    op->op_arg->name = name;
}

void ln_op_free_lists_too(ln_op *op)
{
    if (!op)
        return;
    ln_tensor_list_free(op->op_arg->tensors_in);
    ln_tensor_list_free(op->op_arg->tensors_out);
    ln_param_list_free(op->op_arg->params);
    ln_op_free(op);
}

// ---- Copies ----

static ln_op *copy_as(const ln_op *op_proto, const ln_op *op)
{
    if (check_proto(op) != LN_OK)
        return NULL;
    const ln_op_arg *from = op->op_arg;
    ln_op *copy = create_bare(op_proto, from->name, from->tensor_table);
    if (!copy)
        return NULL;
    ln_op_arg *to = copy->op_arg;
    to->tensors_in = ln_tensor_list_copy(from->tensors_in);
    to->tensors_out = ln_tensor_list_copy(from->tensors_out);
    to->params = ln_param_list_copy(from->params);
    to->place = ln_strdup(from->place);
    to->context = from->context;
    int is_whole = !to->tensors_in == !from->tensors_in && !to->tensors_out == !from->tensors_out &&
                   !to->params == !from->params && !to->place == !from->place;
    if (!is_whole) {
        ln_op_free_lists_too(copy);
        return NULL;
    }
    return copy;
}

ln_op *ln_op_copy(const ln_op *op)
{
    return copy_as(op, op);
}

ln_op *ln_op_copy_to_optype(const ln_hash *op_proto_table, const ln_op *op, const char *new_optype)
{
    const ln_op *proto = new_optype ? ln_hash_find(op_proto_table, new_optype) : NULL;
    if (!proto) {
        ln_fail(LN_NOT_FOUND, "there is no operator type '%s'", new_optype ? new_optype : "(null)");
        return NULL;
    }
    return copy_as(proto, op);
}

// ---- Names ----

// Prints `<op_name>_<arg_name>` to `buf`, of LN_MAX_NAME_LEN bytes.
static ln_status print_tensor_name(char *buf, const char *op_name, const char *arg_name)
{
    int len = snprintf(buf, LN_MAX_NAME_LEN, "%s_%s", op_name, arg_name);
    if (len < 0 || len >= LN_MAX_NAME_LEN)
        return LN_FAIL(LN_LIMIT,
                       "the name of tensor '%s' of operator '%.32s...' has %d bytes or more",
                       arg_name, op_name, LN_MAX_NAME_LEN);
    return LN_OK;
}

// A list of the same arguments whose tensors are named after `op_name`.
static ln_status renamed_list(const ln_list *list, const char *op_name, ln_list **out_list)
{
    ln_list_builder renamed = {0};
    ln_status status = LN_OK;
    const ln_tensor_list_entry *old;
    *out_list = NULL;
    LN_LIST_FOREACH (old, list) {
        char name[LN_MAX_NAME_LEN];
        status = print_tensor_name(name, op_name, old->arg_name);
        if (status != LN_OK)
            break;
        ln_tensor_list_entry *entry = ln_tensor_list_entry_create(old->arg_name, name);
        status = entry ? ln_list_builder_push(&renamed, entry) : LN_NO_MEMORY;
        if (status != LN_OK) {
            ln_tensor_list_entry_free(entry);
            break;
        }
        entry->offset = old->offset;
    }
    if (status != LN_OK) {
        ln_tensor_list_free(renamed.list);
        return status;
    }
    *out_list = renamed.list;
    return LN_OK;
}

ln_status ln_op_update_names(ln_op *op, const char *new_opname)
{
    LN_TRY(check_proto(op));
    LN_TRY(check_op_name(new_opname));
    ln_op_arg *arg = op->op_arg;
    if (arg->is_checked)
        return LN_FAIL(LN_STATE, "operator '%s' is checked and cannot be renamed", arg->name);
    char *name = ln_strdup(new_opname);
    if (!name)
        return LN_NO_MEMORY;
    ln_list *tensors_out;
    ln_status status = renamed_list(arg->tensors_out, name, &tensors_out);
    if (status != LN_OK) {
        ln_free(name);
        return status;
    }
    ln_op_take_name(op, name);
    ln_tensor_list_free(arg->tensors_out);
    arg->tensors_out = tensors_out;
    return LN_OK;
}

// ---- Operators with made-up names ----

ln_op *ln_op_create_with_opname_scoped(const ln_op *op_proto, const ln_list *ops,
                                       ln_hash *tensor_table)
{
    char name[LN_MAX_NAME_LEN];
    if (check_proto(op_proto) != LN_OK ||
        ln_op_list_unique_name(ops, name, op_proto->op_arg->optype) < 0)
        return NULL;
    return create_bare(op_proto, name, tensor_table);
}

ln_op *ln_op_create_with_opname(const ln_op *op_proto, ln_hash *tensor_table)
{
    if (check_proto(op_proto) != LN_OK)
        return NULL;
    const char *prefix = op_proto->op_arg->optype;
    int largest = -1;
    size_t cursor = 0;
    void *value;
    while (ln_hash_next(tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        int serial = ln_name_serial(entry->creater, prefix);
        if (serial > largest)
            largest = serial;
    }
    char name[LN_MAX_NAME_LEN];
    if (ln_name_print(name, prefix, ln_name_next(largest)) < 0)
        return NULL;
    return create_bare(op_proto, name, tensor_table);
}

// Finds a name so that the outputs named after it are new, too.
static ln_status find_free_name(const ln_op_arg *proto, const ln_list *ops,
                                const ln_hash *tensor_table, char *name)
{
    int serial = ln_op_list_unique_name(ops, name, proto->optype);
    if (serial < 0)
        return ln_error_status();
    const char **out = proto->out_arg_names;
    while (out && *out) {
        char tensor_name[LN_MAX_NAME_LEN];
        LN_TRY(print_tensor_name(tensor_name, name, *out));
        out++;
        if (!ln_tensor_table_find(tensor_table, tensor_name))
            continue;
        serial = ln_name_print(name, proto->optype, ln_name_next(serial));
        if (serial < 0)
            return ln_error_status();
        out = proto->out_arg_names;
    }
    return LN_OK;
}

static ln_status add_described_lists(ln_op_arg *arg)
{
    char name[LN_MAX_NAME_LEN];
    for (const char **in = arg->in_arg_names; in && *in; in++)
        LN_TRY(ln_tensor_list_push(&arg->tensors_in, *in, ""));
    for (const char **out = arg->out_arg_names; out && *out; out++) {
        LN_TRY(print_tensor_name(name, arg->name, *out));
        LN_TRY(ln_tensor_list_push(&arg->tensors_out, *out, name));
    }
    for (int i = 0; arg->param_arg_names && arg->param_arg_names[i] && arg->param_ptypes; i++) {
        ln_param_entry *entry =
            ln_param_entry_create(arg->param_arg_names[i], arg->param_ptypes[i]);
        ln_status status = entry ? ln_param_list_push(&arg->params, entry) : ln_error_status();
        if (status != LN_OK) {
            ln_param_entry_free(entry);
            return status;
        }
    }
    return LN_OK;
}

ln_op *ln_op_create_with_names(const ln_op *op_proto, const ln_list *ops, ln_hash *tensor_table)
{
    char name[LN_MAX_NAME_LEN];
    if (check_proto(op_proto) != LN_OK ||
        find_free_name(op_proto->op_arg, ops, tensor_table, name) != LN_OK)
        return NULL;
    ln_op *op = create_bare(op_proto, name, tensor_table);
    if (op && add_described_lists(op->op_arg) != LN_OK) {
        ln_op_free_lists_too(op);
        return NULL;
    }
    return op;
}

// ---- Tensors ----

ln_tensor_list_entry *ln_op_find_tensor_list_entry(const ln_op *op, const char *arg_name)
{
    if (!op || !op->op_arg)
        return NULL;
    ln_tensor_list_entry *entry = ln_tensor_list_find_by_arg_name(op->op_arg->tensors_in, arg_name);
    return entry ? entry : ln_tensor_list_find_by_arg_name(op->op_arg->tensors_out, arg_name);
}

ln_tensor_entry *ln_op_find_tensor_entry(const ln_op *op, const char *arg_name)
{
    const ln_tensor_list_entry *entry = ln_op_find_tensor_list_entry(op, arg_name);
    return entry ? ln_tensor_table_find(op->op_arg->tensor_table, entry->name) : NULL;
}
