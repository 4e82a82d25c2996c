// SPDX-License-Identifier: Apache-2.0
// The arch `cpu`: f32 operators on the vector units of the processor. What it does not take, `ref`
// does.

#include <lightnet/arch.h>
#include <lightnet/msg.h>

#include "arch/cpu/conv_choice.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/peak/peak.h"
#include "arch/cpu/layout.h"
#include "desc/rule.h"

extern struct ln_op_rows ln_ops_cpu;
extern const ln_rule_set ln_rules_cpu;

// Reads LN_CPU_ISA now, so that a bad value shows at the start and not in the middle of a run.
static void init_cpu(void **priv_p)
{
    (void)priv_p;
    ln_error_clear();
    ln_cpu_isa_get();
    if (ln_error_status() != LN_OK)
        ln_msg_warn("LN_CPU_ISA: %s; the fastest that the machine has is used", ln_error_message());
}

static void measure_peak(void *priv, double seconds, ln_arch_peak *out_peak)
{
    (void)priv;
    ln_cpu_isa isa = ln_cpu_isa_get();
    *out_peak = (ln_arch_peak){.isa = ln_cpu_isa_name(isa), .flops = ln_peak_f32(isa, seconds)};
}

static const ln_layout_op *const layout_ops[] = {
    ln_layout_convs,  ln_layout_quants,   ln_layout_deconvs,
    ln_layout_pools,  ln_layout_pads,     ln_layout_norms,
    ln_layout_prelus, ln_layout_rescales, NULL,
};

static char name[] = "cpu";

ln_arch ln_arch_cpu = {
    .init_func = init_cpu,
    .arch_name = name,
    .doc = "vector units of the processor, the same bits on each; LN_CPU_ISA forces a slower set:"
#define ISA_WORD(isa, isa_name, features, ...) " " isa_name
    LN_CPU_ISA_LIST(ISA_WORD, ),
#undef ISA_WORD
    .mem_type = LN_MEM_CPU,
    .fallbacks = "ref",
    .is_channels_last = 1,
    .op_rows = &ln_ops_cpu,
    .rules = &ln_rules_cpu,
    .measure_peak = measure_peak,
    .layout_ops = layout_ops,
    .choices = ln_cpu_choices,
    .is_faster_in_floats = 1,
};
