// SPDX-License-Identifier: Apache-2.0
// Ordered copies of operators: one block each.
//
//     | ln_op | ln_op_arg | entries: inputs, outputs | nodes of both lists |

#include "arch/ordered.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

typedef struct ordered_op {
    ln_op op; // first: its address is the struct's
    ln_op_arg arg;
} ordered_op;

static bool is_fixed(const ln_arg_info *info)
{
    return info && info->arg_name && !(info->flags & (LN_ARG_VARIADIC | LN_ARG_ATTRIBUTE));
}

static size_t count_fixed(const ln_arg_info *infos)
{
    size_t count = 0;
    while (infos && is_fixed(&infos[count]))
        count++;
    return count;
}

static const char *name_of(const ln_list *listed, const char *arg_name)
{
    const ln_tensor_list_entry *entry;
    LN_LIST_FOREACH (entry, listed)
        if (ln_streq(entry->arg_name, arg_name))
            return entry->name;
    return NULL;
}

static bool is_among(const ln_arg_info *infos, size_t fixed_count, const char *arg_name)
{
    for (size_t i = 0; i < fixed_count; i++)
        if (ln_streq(infos[i].arg_name, arg_name))
            return true;
    return false;
}

// The number of a variadic argument; others come after them.
static long number_of(const ln_arg_info *info, const char *arg_name)
{
    bool is_numbered = info && info->arg_name && (info->flags & LN_ARG_VARIADIC) &&
                       ln_is_prefix_plus_digit(arg_name, info->arg_name);
    return is_numbered ? strtol(arg_name + strlen(info->arg_name), NULL, 10) : LONG_MAX;
}

static size_t insert(ln_tensor_list_entry *rest, size_t count, const ln_arg_info *info,
                     const ln_tensor_list_entry *entry)
{
    size_t at = count;
    for (; at > 0 && number_of(info, rest[at - 1].arg_name) > number_of(info, entry->arg_name);
         at--)
        rest[at] = rest[at - 1];
    rest[at] = *entry;
    return count + 1;
}

static size_t fill(const ln_list *listed, const ln_arg_info *infos, ln_tensor_list_entry *entries)
{
    static char none[] = "";
    size_t fixed_count = count_fixed(infos), rest_count = 0;
    const ln_tensor_list_entry *entry;
    for (size_t i = 0; i < fixed_count; i++) {
        const char *name = name_of(listed, infos[i].arg_name);
        entries[i] = (ln_tensor_list_entry){.name = name ? (char *)(uintptr_t)name : none,
                                            .arg_name = (char *)(uintptr_t)infos[i].arg_name};
    }
    LN_LIST_FOREACH (entry, listed)
        if (!is_among(infos, fixed_count, entry->arg_name))
            rest_count = insert(entries + fixed_count, rest_count,
                                infos ? &infos[fixed_count] : NULL, entry);
    return fixed_count + rest_count;
}

static ln_list *link(ln_list *nodes, ln_tensor_list_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nodes[i] = (ln_list){.data = &entries[i], .next = i + 1 < count ? &nodes[i + 1] : NULL};
    return count > 0 ? nodes : NULL;
}

ln_status ln_op_order(const ln_op *op, ln_op **out_ordered)
{
    const ln_op_arg *arg = op->op_arg;
    const ln_arg_info *ins = arg->info ? arg->info->ins : NULL;
    const ln_arg_info *outs = arg->info ? arg->info->outs : NULL;
    size_t max_count = count_fixed(ins) + count_fixed(outs) +
                       (size_t)ln_list_length(arg->tensors_in) +
                       (size_t)ln_list_length(arg->tensors_out);
    ordered_op *ordered =
        ln_alloc(sizeof *ordered + max_count * (sizeof(ln_tensor_list_entry) + sizeof(ln_list)));
    *out_ordered = ordered ? &ordered->op : NULL;
    if (!ordered)
        return LN_NO_MEMORY;
    ln_tensor_list_entry *entries = (ln_tensor_list_entry *)(ordered + 1);
    ln_list *nodes = (ln_list *)(entries + max_count);
    size_t in_count = fill(arg->tensors_in, ins, entries);
    size_t out_count = fill(arg->tensors_out, outs, entries + in_count);
    ordered->op = *op;
    ordered->arg = *arg;
    ordered->op.op_arg = &ordered->arg;
    ordered->arg.tensors_in = link(nodes, entries, in_count);
    ordered->arg.tensors_out = link(nodes + in_count, entries + in_count, out_count);
    return LN_OK;
}
