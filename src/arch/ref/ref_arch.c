// SPDX-License-Identifier: Apache-2.0
// The arch `ref`: naive, complete and right. Other archs are measured against it, and fall back to
// it for what they do not run themselves.
//
// The .op files name the function of each operator.

#include <lightnet/arch.h>

#include "desc/rule.h"

extern struct ln_op_rows ln_ops_ref;
extern const ln_rule_set ln_rules_ref;

ln_arch ln_arch_ref = {
    .arch_name = "ref",
    .doc = "plain C with sums in double: slow, and the measure of every other arch",
    .mem_type = LN_MEM_CPU,
    .op_rows = &ln_ops_ref,
    .rules = &ln_rules_ref,
    .is_reference = 1,
};
