// SPDX-License-Identifier: Apache-2.0
// Outputs as files.

#ifndef LN_CLI_SAVE_OUTPUTS_H
#define LN_CLI_SAVE_OUTPUTS_H

#include <lightnet/context.h>

// Makes the folder and those it is in, where they are missing; fails if nothing can be written
// there. To be called before a long run.
ln_status outdir_make(const char *outdir);

// Writes each output of the model, which has run, into folder `outdir`, which is there: a .npy file
// for each tensor, and outputs.json, a list in the order of the outputs:
//     {"name": "y", "file": "y.npy", "dtype": "FLOAT", "shape": [2, 2]}
//     {"name": "s", "items": [{"name": ..., ...}, ...]}    for a sequence or a map
//     null                                                  for an optional without content
ln_status save_outputs(ln_context *ctx, const char *outdir);

#endif
