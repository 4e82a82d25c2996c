// SPDX-License-Identifier: Apache-2.0
// Outputs as files.

#ifndef LN_CLI_SAVE_OUTPUTS_H
#define LN_CLI_SAVE_OUTPUTS_H

#include <lightnet/context.h>

#include "output_text.h"

// Makes the folder and those it is in, where they are missing; fails if nothing can be written
// there. To be called before a long run.
ln_status outdir_make(const char *outdir);

// LN_NOT_FOUND if the model does not have the output, LN_INVALID if the text names none and there
// are several, or the file is not a .npy file. To be called before a long run.
ln_status output_file_check(const ln_context *ctx, const char *text);

// Writes that output of the model, which has run.
ln_status save_output_file(ln_context *ctx, const char *text);

// Writes each output of the model, which has run, into folder `outdir`, which is there: a .npy file
// for each tensor, and outputs.json, a list in the order of the outputs:
//     {"name": "y", "file": "y.npy", "dtype": "FLOAT", "shape": [2, 2]}
//     {"name": "s", "items": [{"name": ..., ...}, ...]}    for a sequence or a map
//     null                                                  for an optional without content
ln_status save_outputs(ln_context *ctx, const char *outdir);

#endif
