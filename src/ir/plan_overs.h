// SPDX-License-Identifier: Apache-2.0
// What steps may write over, as the checker of plans reads it.

#ifndef LN_IR_PLAN_OVERS_H
#define LN_IR_PLAN_OVERS_H

#include <lightnet/context.h>

#include "ir/plan_records.h"

// Fills in `overs` of all steps, which are there with what they read and write. The operators may
// be asked for `calc_offset`.
ln_status ln_plan_records_add_overs(const ln_context *ctx, ln_plan_records *records);

#endif
