// SPDX-License-Identifier: Apache-2.0
// Finds what is said about an operator.

#include "op_prose.h"

#include <string.h>

static const op_prose *find(const char *optype, size_t len)
{
    for (const op_prose *prose = op_proses; prose->optype; prose++)
        if (strncmp(prose->optype, optype, len) == 0 && !prose->optype[len])
            return prose;
    return NULL;
}

const op_prose *op_prose_find(const ln_op *op)
{
    const char *optype = op->op_arg->optype;
    const op_prose *prose = find(optype, strlen(optype));
    const char *suffix = strrchr(optype, '_');
    if (!prose && suffix && strcmp(suffix + 1, op->op_arg->arch) == 0)
        prose = find(optype, (size_t)(suffix - optype));
    return prose;
}
