// SPDX-License-Identifier: Apache-2.0
// Operands that steps may overwrite, for the plan checker.

#ifndef LN_IR_PLAN_OVERS_H
#define LN_IR_PLAN_OVERS_H

#include <lightnet/context.h>

#include "ir/plan_records.h"

// Sets `overs` of all steps, whose reads and writes are set. May call `calc_offset` of operators.
ln_status ln_plan_records_add_overs(const ln_context *ctx, ln_plan_records *records);

#endif
