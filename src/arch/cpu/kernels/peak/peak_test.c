// SPDX-License-Identifier: Apache-2.0
// The peak loops do the work that they are paid for.

#include "arch/cpu/kernels/peak/peak.h"

#include "tests/test.h"

TEST(every_set_does_all_multiply_adds)
{
    ln_cpu_isa machine = ln_cpu_isa_detect();
    static const struct {
        ln_cpu_isa isa;
        size_t lanes;
        ln_peak_f32_fn *run;
    } kernels[] = {
#define K(isa, type, lanes, name) {LN_CPU_ISA_##isa, lanes, name},
#include "arch/cpu/kernels/peak/peak.inc"
#undef K
    };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (!ln_cpu_isa_runs(machine, kernels[i].isa))
            continue;
        // Chain c starts at c, and n steps take it to 1 + (c - 1) / 2^n in each lane.
        CHECK(kernels[i].run(0) == (float)kernels[i].lanes * 66.0f);
        CHECK(kernels[i].run(1) == (float)kernels[i].lanes * (12.0f + 54.0f / 2));
        CHECK(kernels[i].run(3) == (float)kernels[i].lanes * (12.0f + 54.0f / 8));
        CHECK(kernels[i].run(1000) == (float)kernels[i].lanes * 12.0f);
    }
}

TEST(a_peak_is_plausible)
{
    double flops = ln_peak_f32(LN_CPU_ISA_generic, 1e-3);
    CHECK(flops > 1e6 && flops < 1e13);
}

TEST_LIST(every_set_does_all_multiply_adds, a_peak_is_plausible)
