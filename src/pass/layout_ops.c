// SPDX-License-Identifier: Apache-2.0
// The operators that the layout pass knows: those of the arch, and those of core types that any
// arch computes on channels-last images as on others.

#include "pass/layout_build.h"

#include <string.h>

static const ln_layout_op *const every_arch[] = {ln_layout_channels, ln_layout_elementwise, NULL};

static const ln_layout_op *find(const ln_layout_op *const *tables, const char *optype)
{
    for (; tables && *tables; tables++)
        for (const ln_layout_op *op = *tables; op->optype; op++)
            if (strcmp(op->optype, optype) == 0)
                return op;
    return NULL;
}

// Those of the arch, or of the first arch that has some.
static const ln_layout_op *const *tables_of(const ln_arch *arch)
{
    for (size_t i = 0; arch && !arch->layout_ops; i++)
        arch = ln_arch_find_at(i);
    return arch ? arch->layout_ops : NULL;
}

const ln_layout_op *ln_layout_op_find(const ln_arch *arch, const char *optype)
{
    if (!arch->is_channels_last)
        return NULL;
    const ln_layout_op *op = find(tables_of(arch), optype);
    return op ? op : find(every_arch, optype);
}
