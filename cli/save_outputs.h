// SPDX-License-Identifier: Apache-2.0
// Outputs as files.

#ifndef LN_CLI_SAVE_OUTPUTS_H
#define LN_CLI_SAVE_OUTPUTS_H

#include <lightnet/context.h>

// Writes each output of the model, which has run, into folder `outdir`, which is made if need be: a
// .npy file for each tensor, and outputs.json, a list in the order of the outputs:
//     {"name": "y", "file": "y.npy", "dtype": "FLOAT", "shape": [2, 2]}
//     {"name": "s", "items": [{"name": ..., ...}, ...]}    for a sequence or a map
//     null                                                  for an optional without content
ln_status save_outputs(ln_context *ctx, const char *outdir);

#endif
