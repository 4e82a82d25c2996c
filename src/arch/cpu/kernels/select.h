// SPDX-License-Identifier: Apache-2.0
// Choosing from a family's list of kernels.

#ifndef LN_ARCH_CPU_KERNELS_SELECT_H
#define LN_ARCH_CPU_KERNELS_SELECT_H

#include <stddef.h>

#include "arch/cpu/isa.h"

// The last row of `table`, an array whose rows begin with the `ln_cpu_isa` that they need, that
// runs with the features `has`. Lists are ordered from slow to fast, and their first row needs
// none.
#define LN_SELECT_KERNEL(table, has)                                                               \
    (&(table)[ln_last_usable(&(table)[0].isa, sizeof(table) / sizeof(table)[0], sizeof(table)[0],  \
                             (has))])

static inline size_t ln_last_usable(const ln_cpu_isa *first, size_t count, size_t row_size,
                                    ln_cpu_isa has)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        const char *row = (const char *)first + i * row_size;
        if (ln_cpu_isa_runs(has, *(const ln_cpu_isa *)(const void *)row))
            best = i;
    }
    return best;
}

#endif
