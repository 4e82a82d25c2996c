// SPDX-License-Identifier: Apache-2.0
// The peak loops do the work that they are paid for.

#include "arch/cpu/kernels/peak/peak.h"

#include "arch/cpu/kernels/kernel_test.h"
#include "tests/test.h"

TEST(every_set_does_all_multiply_adds)
{
    FOR_EACH_ISA(isa)
    {
        const ln_peak_f32_kernel *kernel = ln_peak_f32_select(isa);
        // Chain c starts at c, and n steps take it to 1 + (c - 1) / 2^n in each lane.
        CHECK(kernel->run(0) == (float)kernel->lanes * 66.0f);
        CHECK(kernel->run(1) == (float)kernel->lanes * (12.0f + 54.0f / 2));
        CHECK(kernel->run(3) == (float)kernel->lanes * (12.0f + 54.0f / 8));
        CHECK(kernel->run(1000) == (float)kernel->lanes * 12.0f);
    }
}

TEST(a_peak_is_plausible)
{
    double flops = ln_peak_f32(LN_CPU_ISA_generic, 1e-3);
    CHECK(flops > 1e6 && flops < 1e13);
}

TEST_LIST(every_set_does_all_multiply_adds, a_peak_is_plausible)
