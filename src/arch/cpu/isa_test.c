// SPDX-License-Identifier: Apache-2.0
// Choosing an instruction set: recorded processors, the environment, forcing, rows of kernels.

#include "arch/cpu/isa.h"

#include <stdlib.h>

#include "arch/cpu/kernels/select.h"
#include "tests/test.h"

// First in the list: the variable is read once, at the first question of the process.
TEST(an_unknown_set_in_the_environment_is_recorded_and_ignored)
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

TEST(a_set_is_named_when_all_of_its_features_are_there)
{
    static const struct {
        const char *why;
        ln_cpu_isa features;
        const char *name;
    } processors[] = {
        {"nothing", 0, "generic"},
#if LN_CPU_X86
        {"VIA Nano QuadCore: AVX2 without FMA", LN_CPU_HAS_AVX2, "generic"},
        {"Piledriver: FMA without AVX2", LN_CPU_HAS_FMA, "generic"},
        {"Haswell, Zen 2", LN_CPU_SET_AVX2, "avx2"},
        {"Alder Lake: VNNI of 256 bits alone", LN_CPU_SET_AVX2 | LN_CPU_HAS_AVX_VNNI, "avx2"},
        {"Knights Landing: AVX-512 without VL, BW, DQ", LN_CPU_SET_AVX2 | LN_CPU_HAS_AVX512F,
         "avx2"},
        {"Skylake-X", LN_CPU_SET_AVX512, "avx512"},
        {"Ice Lake, Zen 4", LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX512_VNNI, "avx512"},
        {"Sapphire Rapids", LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX512_VNNI | LN_CPU_HAS_AMX_INT8,
         "avx512"},
#elif LN_CPU_ARM64
        {"Cortex-A53", LN_CPU_HAS_NEON, "neon"},
        {"Neoverse N1", LN_CPU_HAS_NEON | LN_CPU_HAS_DOTPROD, "neon"},
        {"features of another architecture", LN_CPU_SET_AVX512, "generic"},
#endif
    };
    for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++)
        if (strcmp(ln_cpu_isa_name(processors[i].features), processors[i].name) != 0)
            fail_msg("%s: %s", processors[i].why, ln_cpu_isa_name(processors[i].features));
}

// A family that has int8 kernels for features which are on no line.
TEST(a_row_is_chosen_when_the_processor_has_all_that_it_needs)
{
    static const struct {
        ln_cpu_isa isa;
        const char *name;
    } kernels[] = {
        {0, "generic"},
        {LN_CPU_SET_AVX2, "avx2"},
        {LN_CPU_SET_AVX2 | LN_CPU_HAS_AVX_VNNI, "avx_vnni"},
        {LN_CPU_SET_AVX512, "avx512"},
        {LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX512_VNNI, "avx512_vnni"},
        {LN_CPU_HAS_NEON, "neon"},
        {LN_CPU_HAS_NEON | LN_CPU_HAS_DOTPROD, "dotprod"},
        {LN_CPU_HAS_NEON | LN_CPU_HAS_I8MM, "i8mm"},
    };
    static const struct {
        ln_cpu_isa has;
        const char *chosen;
    } processors[] = {
        {0, "generic"},
        {LN_CPU_HAS_AVX_VNNI, "generic"},
        {LN_CPU_SET_AVX2, "avx2"},
        {LN_CPU_SET_AVX2 | LN_CPU_HAS_AVX_VNNI, "avx_vnni"},
        {LN_CPU_SET_AVX512, "avx512"},
        {LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX_VNNI, "avx512"},
        {LN_CPU_SET_AVX512 | LN_CPU_HAS_AVX512_VNNI, "avx512_vnni"},
        {LN_CPU_HAS_NEON, "neon"},
        {LN_CPU_HAS_NEON | LN_CPU_HAS_DOTPROD, "dotprod"},
        {LN_CPU_HAS_NEON | LN_CPU_HAS_I8MM, "i8mm"},
        {LN_CPU_HAS_NEON | LN_CPU_HAS_DOTPROD | LN_CPU_HAS_I8MM, "i8mm"},
    };
    for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++)
        CHECK_STR_EQ(LN_SELECT_KERNEL(kernels, processors[i].has)->name, processors[i].chosen);
}

TEST(a_set_can_be_forced_and_set_back)
{
    CHECK_OK(ln_cpu_isa_set("generic"));
    CHECK_EQ(ln_cpu_isa_get(), LN_CPU_ISA_generic);
    CHECK_OK(ln_cpu_isa_set(NULL));
    CHECK_EQ(ln_cpu_isa_get(), ln_cpu_isa_detect());
}

TEST(no_set_that_needs_more_than_the_machine_has_can_be_forced)
{
    static const struct {
        const char *name;
        ln_cpu_isa features;
    } sets[] = {
#define SET_ROW(isa, name, features, ...) {name, features},
        LN_CPU_ISA_LIST(SET_ROW, )
#undef SET_ROW
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (ln_cpu_isa_runs(ln_cpu_isa_detect(), sets[i].features)) {
            CHECK_OK(ln_cpu_isa_set(sets[i].name));
            CHECK_EQ(ln_cpu_isa_get(), sets[i].features);
            CHECK_STR_EQ(ln_cpu_isa_name(ln_cpu_isa_get()), sets[i].name);
        } else {
            CHECK_FAILS(ln_cpu_isa_set(sets[i].name), LN_UNSUPPORTED);
        }
    }
    CHECK_OK(ln_cpu_isa_set(NULL));
}

TEST(an_unknown_set_leaves_the_one_in_use)
{
    CHECK_OK(ln_cpu_isa_set("generic"));
    CHECK_FAILS(ln_cpu_isa_set("AVX512"), LN_INVALID);
    CHECK_FAILS(ln_cpu_isa_set(""), LN_INVALID);
    CHECK_EQ(ln_cpu_isa_get(), LN_CPU_ISA_generic);
    CHECK_OK(ln_cpu_isa_set(NULL));
}

TEST(all_sets_up_to_the_one_in_use_are_walked_through)
{
    ln_cpu_isa isa = LN_CPU_ISA_generic;
    CHECK_OK(ln_cpu_isa_set("generic"));
    CHECK(!ln_cpu_isa_next(&isa));
    CHECK_OK(ln_cpu_isa_set(NULL));
    while (ln_cpu_isa_next(&isa))
        CHECK(ln_cpu_isa_runs(ln_cpu_isa_get(), isa));
    CHECK_STR_EQ(ln_cpu_isa_name(isa), ln_cpu_isa_name(ln_cpu_isa_get()));
}

TEST_LIST(an_unknown_set_in_the_environment_is_recorded_and_ignored,
          a_set_is_named_when_all_of_its_features_are_there,
          a_row_is_chosen_when_the_processor_has_all_that_it_needs,
          a_set_can_be_forced_and_set_back,
          no_set_that_needs_more_than_the_machine_has_can_be_forced,
          an_unknown_set_leaves_the_one_in_use, all_sets_up_to_the_one_in_use_are_walked_through)
