// SPDX-License-Identifier: Apache-2.0
// A memory plan as a drawing and as JSON.

#ifndef LN_CLI_PLAN_DRAW_H
#define LN_CLI_PLAN_DRAW_H

#include <stdio.h>

#include <lightnet/lightnet.h>

// Memory over time: a panel for each memory type, steps to the right, bytes upwards, one rectangle
// a tensor. `ctx` is the context that `plan` was made of.
ln_status plan_write_svg(FILE *out, const ln_context *ctx, const ln_plan *plan);

// The same facts as one JSON object.
void plan_write_json(FILE *out, const ln_context *ctx, const ln_plan *plan);

#endif
