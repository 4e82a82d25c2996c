// SPDX-License-Identifier: Apache-2.0
// The place in the pipeline where algorithms are chosen by measuring. Who compiles does it: a pass
// runs nothing.

#include "pass/pass.h"

ln_status ln_pass_tune(ln_compilation *compilation)
{
    return compilation->tune ? compilation->tune(compilation) : LN_OK;
}
