// SPDX-License-Identifier: Apache-2.0
// What every run does around its steps.

#ifndef LN_RUN_RUN_H
#define LN_RUN_RUN_H

#include <fenv.h>

#include "base/pool.h"

// Numbers are rounded as the operators promise, in every thread, whatever the caller has set; `end`
// sets that again.
static inline void ln_run_begin(ln_pool *pool, fenv_t *out_callers)
{
    fegetenv(out_callers);
    fesetenv(FE_DFL_ENV);
    ln_pool_begin(pool);
}

static inline void ln_run_end(ln_pool *pool, const fenv_t *callers)
{
    ln_pool_end(pool);
    fesetenv(callers);
}

#endif
