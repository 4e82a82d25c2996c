// SPDX-License-Identifier: Apache-2.0
// What the descriptions of the library's operators say to people: the command has it, the library
// does not. lightnet-gen makes the table.

#ifndef LN_CLI_OP_PROSE_H
#define LN_CLI_OP_PROSE_H

#include <lightnet/op.h>

// NULL: nothing is said. Lists have a text for each argument, which may be empty.
typedef struct op_prose {
    const char *optype;
    const char *doc;     // one sentence first
    const char *example; // one statement of IL
    const char *dtypes;  // which element types it takes, and what it does at their limits
    const char *nan;     // what NaN and infinite elements give
    const char *const *ins;
    const char *const *outs;
    const char *const *params;
} op_prose;

extern const op_prose op_proses[]; // ends with a NULL type

// That of the operator, else that of the one whose variant it is; NULL if there is none.
const op_prose *op_prose_find(const ln_op *op);

#endif
