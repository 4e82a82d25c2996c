// SPDX-License-Identifier: Apache-2.0
// The arch `none`: what is to be computed, not how. Its operators check and infer shapes, and do
// not run; compiling lowers them to other archs.

#include <lightnet/arch.h>

extern struct ln_op_rows ln_ops_none;

static char name[] = "none";

ln_arch ln_arch_none = {
    .arch_name = name,
    .doc = "abstract operators: what is to be computed, before lowering",
    .mem_type = LN_MEM_NONE,
    .op_rows = &ln_ops_none,
};
