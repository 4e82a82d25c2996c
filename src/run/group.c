// SPDX-License-Identifier: Apache-2.0
// Making groups and running them.

#include "run/group.h"

#include <lightnet/allocator.h>
#include <lightnet/op_support.h>

bool ln_runs_groups(const ln_arch *arch)
{
    return arch && arch->prepare && (arch->run || (arch->run_async && arch->wait));
}

static size_t count_addresses(const ln_op *op)
{
    return (size_t)ln_list_length(op->op_arg->tensors_in) +
           (size_t)ln_list_length(op->op_arg->tensors_out);
}

static void note_listed(ln_group *group, const ln_op_arg *arg, const ln_list *listed_tensors)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, listed_tensors) {
        const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, listed->name);
        group->addresses[group->address_count++] = entry ? entry->tensor : NULL;
    }
}

static ln_status prepare(ln_group *group, const ln_list *from)
{
    ln_list *ops = NULL;
    ln_status status = LN_OK;
    for (size_t i = 0; i < group->op_count && status == LN_OK; i++, from = from->next) {
        const ln_op *op = from->data;
        note_listed(group, op->op_arg, op->op_arg->tensors_in);
        note_listed(group, op->op_arg, op->op_arg->tensors_out);
        status = ln_list_push(&ops, from->data);
    }
    if (status == LN_OK)
        status = group->arch->prepare(group->arch->priv, ops, &group->prepared);
    ln_list_free(ops);
    return status;
}

ln_status ln_group_create(const ln_arch *arch, const ln_list *ops, ln_group **out_group)
{
    size_t op_count = 0, address_count = 0;
    for (const ln_list *l = ops; l; l = l->next) {
        const ln_op *op = l->data;
        if (!ln_streq(op->op_arg->arch, arch->arch_name))
            break;
        op_count++;
        address_count += count_addresses(op);
    }
    ln_group *group = ln_alloc(sizeof *group + address_count * sizeof(tl_tensor *));
    *out_group = group;
    if (!group)
        return LN_NO_MEMORY;
    group->arch = arch;
    group->first = ops->data;
    group->op_count = op_count;
    ln_status status = prepare(group, ops);
    if (status == LN_OK)
        return LN_OK;
    ln_free(group);
    *out_group = NULL;
    return status;
}

void ln_group_destroy(ln_group *group)
{
    if (group && group->arch->release)
        group->arch->release(group->arch->priv, group->prepared);
    ln_free(group);
}

ln_status ln_group_run(void *block, tl_tensor *const *addresses)
{
    const ln_group *group = block;
    const ln_arch *arch = group->arch;
    if (arch->run)
        return arch->run(arch->priv, group->prepared, addresses);
    // Bytes that the group frees may be written by the next step, so the wait cannot be put off.
    LN_TRY(arch->run_async(arch->priv, group->prepared, addresses));
    return arch->wait(arch->priv, group->prepared, addresses);
}
