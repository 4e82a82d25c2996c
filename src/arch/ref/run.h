// SPDX-License-Identifier: Apache-2.0
// Between operators and kernels: what the descriptions in this folder call when an operator runs.
//
// A kernel returns a status, an operator cannot: its failure is recorded in `op_arg`, and the run
// ends with it.

#ifndef LN_ARCH_REF_RUN_H
#define LN_ARCH_REF_RUN_H

#include <lightnet/op.h>
#include <lightnet/op_support.h>

#include "arch/ref/kernels.h"

// `run: "ln_ref_done(op_arg, <call that returns a status>)"`
static inline void ln_ref_done(ln_op_arg *op_arg, ln_status status)
{
    if (status != LN_OK)
        (void)ln_op_fail_recorded(op_arg);
}

// The same for a routine that returns its result.
static inline void ln_ref_made(ln_op_arg *op_arg, const tl_tensor *result)
{
    if (!result)
        (void)ln_op_fail_recorded(op_arg);
}

#endif
