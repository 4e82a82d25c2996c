// SPDX-License-Identifier: Apache-2.0
// The arch `cpu`: f32 operators on the vector units of the processor. What it does not take, `ref`
// does.

#include <lightnet/arch.h>
#include <lightnet/msg.h>

#include "arch/cpu/isa.h"
#include "desc/rule.h"

extern ln_op *ln_arch_ops_cpu[];
extern const ln_rule_set ln_rules_cpu;

// Reads LN_CPU_ISA now, so that a bad value shows at the start and not in the middle of a run.
static void init_cpu(void **priv_p)
{
    (void)priv_p;
    ln_error_clear();
    ln_cpu_isa_get();
    if (ln_error_status() != LN_OK)
        ln_msg_warn("%s", ln_error_message());
}

static char name[] = "cpu";

ln_arch ln_arch_cpu = {
    .init_func = init_cpu,
    .arch_name = name,
    .doc = "vector units of the processor, the same bits on each; LN_CPU_ISA forces a slower set",
    .mem_type = LN_MEM_CPU,
    .fallbacks = "ref",
    .reg_ops = ln_arch_ops_cpu,
    .rules = &ln_rules_cpu,
};
