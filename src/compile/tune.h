// SPDX-License-Identifier: Apache-2.0
// Tuning: convolutions take the algorithm that is fastest here, measured, instead of the one that
// the cost model expects to be. The compiled text states it, so that it gives the same bits on
// every machine from then on.

#ifndef LN_COMPILE_TUNE_H
#define LN_COMPILE_TUNE_H

#include "pass/pass.h"

// The part of pass `tune` that runs operators.
ln_status ln_tune(ln_compilation *compilation);

#endif
