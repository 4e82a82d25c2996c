// SPDX-License-Identifier: Apache-2.0
// Choosing an instruction set: recorded processors, the environment, forcing.

#include "arch/cpu/isa.h"

#include <stdlib.h>

#include "tests/test.h"

#define AVX2_BITS (LN_CPU_HAS_AVX2 | LN_CPU_HAS_FMA)
#define AVX512_BITS                                                                                \
    (AVX2_BITS | LN_CPU_HAS_AVX512F | LN_CPU_HAS_AVX512VL | LN_CPU_HAS_AVX512BW |                  \
     LN_CPU_HAS_AVX512DQ)

// First in the list: the variable is read once, at the first question of the process.
TEST(an_unknown_level_in_the_environment_is_recorded_and_ignored)
{
    setenv("LN_CPU_ISA", "sse9", 1);
    ln_error_clear();
    CHECK_EQ(ln_cpu_isa_get(), ln_cpu_isa_detect());
    CHECK_EQ(ln_error_status(), LN_INVALID);
    CHECK_MESSAGE("sse9");
    CHECK_MESSAGE("known are generic");

    setenv("LN_CPU_ISA", "generic", 1);
    CHECK_EQ(ln_cpu_isa_get(), ln_cpu_isa_detect());
}

TEST(a_level_needs_all_of_its_features)
{
    static const struct {
        const char *why;
        unsigned features;
        ln_cpu_isa isa;
    } processors[] = {
        {"nothing, or another architecture", 0, LN_CPU_ISA_generic},
#if LN_CPU_X86
        {"Ivy Bridge, Jaguar", 0, LN_CPU_ISA_generic},
        {"VIA Nano QuadCore: AVX2 without FMA", LN_CPU_HAS_AVX2, LN_CPU_ISA_generic},
        {"Piledriver: FMA without AVX2", LN_CPU_HAS_FMA, LN_CPU_ISA_generic},
        {"Haswell, Zen 2", AVX2_BITS, LN_CPU_ISA_x86_avx2},
        {"Knights Landing: AVX-512 without VL, BW, DQ", AVX2_BITS | LN_CPU_HAS_AVX512F,
         LN_CPU_ISA_x86_avx2},
        {"Skylake-X, Zen 4", AVX512_BITS, LN_CPU_ISA_x86_avx512},
#elif LN_CPU_ARM64
        {"Cortex-A53, Neoverse N1", LN_CPU_HAS_NEON, LN_CPU_ISA_arm_neon},
        {"features of another architecture", AVX512_BITS, LN_CPU_ISA_generic},
#endif
    };
    for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++) {
        if (ln_cpu_isa_from_features(processors[i].features) != processors[i].isa)
            fail_msg("%s", processors[i].why);
    }
}

TEST(a_level_can_be_forced_down_and_set_back)
{
    CHECK_OK(ln_cpu_isa_set("generic"));
    CHECK_EQ(ln_cpu_isa_get(), LN_CPU_ISA_generic);
    CHECK_OK(ln_cpu_isa_set(NULL));
    CHECK_EQ(ln_cpu_isa_get(), ln_cpu_isa_detect());
}

TEST(no_level_above_the_machine_can_be_forced)
{
    for (int i = 0; i < LN_CPU_ISA_COUNT; i++) {
        const char *name = ln_cpu_isa_name((ln_cpu_isa)i);
        if (i <= (int)ln_cpu_isa_detect())
            CHECK_OK(ln_cpu_isa_set(name));
        else
            CHECK_FAILS(ln_cpu_isa_set(name), LN_UNSUPPORTED);
    }
    CHECK_OK(ln_cpu_isa_set(NULL));
}

TEST(an_unknown_level_leaves_the_one_in_use)
{
    CHECK_OK(ln_cpu_isa_set("generic"));
    CHECK_FAILS(ln_cpu_isa_set("AVX512"), LN_INVALID);
    CHECK_FAILS(ln_cpu_isa_set(""), LN_INVALID);
    CHECK_EQ(ln_cpu_isa_get(), LN_CPU_ISA_generic);
    CHECK_OK(ln_cpu_isa_set(NULL));
}

TEST(names_of_values_outside_the_list_are_defined)
{
    CHECK_STR_EQ(ln_cpu_isa_name(LN_CPU_ISA_generic), "generic");
    CHECK_STR_EQ(ln_cpu_isa_name((ln_cpu_isa)-1), "unknown");
    CHECK_STR_EQ(ln_cpu_isa_name(LN_CPU_ISA_COUNT), "unknown");
}

TEST_LIST(an_unknown_level_in_the_environment_is_recorded_and_ignored,
          a_level_needs_all_of_its_features, a_level_can_be_forced_down_and_set_back,
          no_level_above_the_machine_can_be_forced, an_unknown_level_leaves_the_one_in_use,
          names_of_values_outside_the_list_are_defined)
