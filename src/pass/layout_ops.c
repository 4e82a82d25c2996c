// SPDX-License-Identifier: Apache-2.0
// The operators that the layout pass knows, by family.
//
// To add one: in the file of its family, a function that appends its channels-last form, one that
// says when, and a line in the table at the end.

#include "pass/layout_build.h"

#include <string.h>

static const ln_layout_op *const families[] = {
    ln_layout_convs, ln_layout_deconvs,  ln_layout_pools,       ln_layout_pads,
    ln_layout_norms, ln_layout_channels, ln_layout_elementwise,
};

const ln_layout_op *ln_layout_op_find(const char *optype)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const ln_layout_op *op = families[i]; op->optype; op++)
            if (strcmp(op->optype, optype) == 0)
                return op;
    return NULL;
}
