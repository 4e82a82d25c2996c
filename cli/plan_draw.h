// SPDX-License-Identifier: Apache-2.0
// A memory plan as a drawing and as JSON.

#ifndef LN_CLI_PLAN_DRAW_H
#define LN_CLI_PLAN_DRAW_H

#include <stdio.h>

#include <lightnet/lightnet.h>

#include "split.h"

// Memory over time: a panel for each memory type, steps to the right, bytes upwards, one rectangle
// a tensor. `ctx` is the context that `plan` was made of. Where devices compute a part of it, above
// that what each of them and the host do and what is copied, and colours are theirs; below, what
// they have refused and given back.
ln_status plan_write_svg(FILE *out, const ln_context *ctx, const ln_plan *plan,
                         const model_split *split, const offload_notes *notes);

// EXIT_OK, or a usage error of `verb` where the name of the file says that it holds something else.
int plan_check_ending(const char *verb, const char *outfile, int is_svg);

// The same facts as one JSON object.
ln_status plan_write_json(FILE *out, const ln_context *ctx, const ln_plan *plan,
                          const model_split *split, const offload_notes *notes);

#endif
