// SPDX-License-Identifier: Apache-2.0
// Finds and remembers the instruction set in use.
//
// The level is one atomic value, found at the first question. Two threads that ask first at the
// same time find the same value.

#include "arch/cpu/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if LN_CPU_X86
#include <cpuid.h>
#endif

#define LEVEL_UNKNOWN (-1)

static atomic_int level_in_use = LEVEL_UNKNOWN;

static const char *const names[] = {
#define NAME_ROW(isa, name) name,
    LN_CPU_ISA_LIST(NAME_ROW)
#undef NAME_ROW
};

#define NAME_IN_TEXT(isa, name) " " name
static const char known[] = LN_CPU_ISA_LIST(NAME_IN_TEXT);
#undef NAME_IN_TEXT

#if LN_CPU_X86
// Which parts of vector registers the system saves for a thread.
static unsigned saved_states(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#define STATE_AVX    0x06u // the lower halves of 256 bits, and the upper ones
#define STATE_AVX512 0xe6u // those, masks, the upper halves of 512 bits, the registers from 16 on

static unsigned machine_features(void)
{
    unsigned eax, ebx, ecx, edx, features = 0;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
        return 0;
    const unsigned states = saved_states();
    if ((states & STATE_AVX) != STATE_AVX)
        return 0;
    if (ecx & bit_FMA)
        features |= LN_CPU_HAS_FMA;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return features;
    if (ebx & bit_AVX2)
        features |= LN_CPU_HAS_AVX2;
    if ((states & STATE_AVX512) != STATE_AVX512)
        return features;
    if (ebx & bit_AVX512F)
        features |= LN_CPU_HAS_AVX512F;
    if (ebx & bit_AVX512VL)
        features |= LN_CPU_HAS_AVX512VL;
    if (ebx & bit_AVX512BW)
        features |= LN_CPU_HAS_AVX512BW;
    if (ebx & bit_AVX512DQ)
        features |= LN_CPU_HAS_AVX512DQ;
    return features;
}
#else
static unsigned machine_features(void)
{
    return LN_CPU_ARM64 ? LN_CPU_HAS_NEON : 0; // every AArch64 has it
}
#endif

// Finds the level called `name`, at most the machine's.
static ln_status find_level(const char *name, ln_cpu_isa *out_isa)
{
    ln_cpu_isa machine = ln_cpu_isa_detect();
    *out_isa = machine;
    for (int i = 0; i < LN_CPU_ISA_COUNT; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        if (i > (int)machine)
            return LN_FAIL(LN_UNSUPPORTED, "instruction set '%s': this machine has '%s' at most",
                           name, names[machine]);
        *out_isa = (ln_cpu_isa)i;
        return LN_OK;
    }
    return LN_FAIL(LN_INVALID, "instruction set '%s' is unknown; known are%s", name, known);
}

#if LN_CPU_X86
ln_cpu_isa ln_cpu_isa_from_features(unsigned features)
{
    const unsigned avx2 = LN_CPU_HAS_AVX2 | LN_CPU_HAS_FMA;
    const unsigned avx512 =
        avx2 | LN_CPU_HAS_AVX512F | LN_CPU_HAS_AVX512VL | LN_CPU_HAS_AVX512BW | LN_CPU_HAS_AVX512DQ;

    if ((features & avx512) == avx512)
        return LN_CPU_ISA_x86_avx512;
    if ((features & avx2) == avx2)
        return LN_CPU_ISA_x86_avx2;
    return LN_CPU_ISA_generic;
}
#elif LN_CPU_ARM64
ln_cpu_isa ln_cpu_isa_from_features(unsigned features)
{
    return features & LN_CPU_HAS_NEON ? LN_CPU_ISA_arm_neon : LN_CPU_ISA_generic;
}
#else
ln_cpu_isa ln_cpu_isa_from_features(unsigned features)
{
    (void)features;
    return LN_CPU_ISA_generic;
}
#endif

ln_cpu_isa ln_cpu_isa_detect(void)
{
    return ln_cpu_isa_from_features(machine_features());
}

ln_cpu_isa ln_cpu_isa_get(void)
{
    int level = atomic_load(&level_in_use);
    if (level != LEVEL_UNKNOWN)
        return (ln_cpu_isa)level;

    ln_cpu_isa isa = ln_cpu_isa_detect();
    const char *forced = getenv("LN_CPU_ISA");
    if (forced && *forced)
        find_level(forced, &isa); // a bad value is recorded and leaves the machine's level

    // A level set by another thread in the meantime wins.
    if (atomic_compare_exchange_strong(&level_in_use, &level, (int)isa))
        return isa;
    return (ln_cpu_isa)level;
}

ln_status ln_cpu_isa_set(const char *name)
{
    ln_cpu_isa isa = ln_cpu_isa_detect();
    if (name)
        LN_TRY(find_level(name, &isa));
    atomic_store(&level_in_use, (int)isa);
    return LN_OK;
}

const char *ln_cpu_isa_name(ln_cpu_isa isa)
{
    return (unsigned)isa < LN_CPU_ISA_COUNT ? names[isa] : "unknown";
}
