// SPDX-License-Identifier: Apache-2.0
// What a program's instance for one shape is made of: a plan that is loaded beside others.

#ifndef LN_COMPILE_INSTANCE_H
#define LN_COMPILE_INSTANCE_H

#include "compile/constants.h"
#include "ir/memory.h"

// Constants that all instances of a program share.
typedef struct ln_instance_constants {
    ln_constants *constants; // NULL: none, or none yet
    ln_memory *statics;      // where they are
} ln_instance_constants;

void ln_instance_constants_deinit(ln_instance_constants *shared);

// As their namesakes of ln_plans (ir/context.h). ln_plan_source_make plans an instance.
ln_status ln_instance_constants_share(ln_instance_constants *shared, const ln_context *first);
ln_status ln_instance_load(const ln_instance_constants *shared, const ln_context *ctx,
                           ln_context *instance);

#endif
