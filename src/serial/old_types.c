// SPDX-License-Identifier: Apache-2.0
// What is cut off is only ever the name of an arch, and only if a type is left.

#include "serial/old_types.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/arch.h>
#include <lightnet/op.h>
#include <lightnet/op_info.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

// What an arch was called in the old system, or is here.
static bool is_arch_name(const char *name)
{
    static const char *const old_names[] = {"cpu", "cuda", "cudnn", "tensorrt", "dpu"};
    for (size_t i = 0; i < sizeof old_names / sizeof old_names[0]; i++)
        if (ln_streq(name, old_names[i]))
            return true;
    return ln_arch_find(name) != NULL;
}

void ln_old_type_read(const char *optype, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", optype);
    char *suffix = strrchr(buffer, '_');
    if (suffix && is_arch_name(suffix + 1)) {
        *suffix = '\0';
        if (!ln_op_find(buffer))
            *suffix = '_';
    }
}

void ln_old_type_read_unknown(const char *optype, char *buffer, size_t size)
{
    if (ln_op_find(optype))
        snprintf(buffer, size, "%s", optype);
    else
        ln_old_type_read(optype, buffer, size);
}

int ln_old_type_lacks_scratch(const char *optype, const ln_list *outs)
{
    const ln_op *proto = ln_op_find(optype);
    const ln_op_info *info = proto ? proto->op_arg->info : NULL;
    for (const ln_arg_info *out = info ? info->outs : NULL; out && out->arg_name; out++)
        if ((out->flags & LN_ARG_SCRATCH) && !ln_tensor_list_find_by_arg_name(outs, out->arg_name))
            return 1;
    return 0;
}
