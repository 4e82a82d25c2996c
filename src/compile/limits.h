// SPDX-License-Identifier: Apache-2.0
// What a model may cost, checked once its operators are final and before memory is allocated.

#ifndef LN_COMPILE_LIMITS_H
#define LN_COMPILE_LIMITS_H

#include <lightnet/context.h>

// The number of operators and the work of a READY context against its limits: LN_LIMIT with the
// values. Memory is checked where it is planned.
ln_status ln_context_check_limits(const ln_context *ctx);

// The same with the workspace, which the first run gets from the system page by page. The context
// is planned.
ln_status ln_context_check_first_run(const ln_context *ctx);

#endif
