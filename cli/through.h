// SPDX-License-Identifier: Apache-2.0
// Models that are written and read again, to see that nothing is lost on the way.

#ifndef LN_CLI_THROUGH_H
#define LN_CLI_THROUGH_H

#include <lightnet/context.h>

// Writes *ctx in each of `formats` ("il,ir,onnx") and reads what was written; *ctx becomes the
// context of the last. Weights go along. On failure *ctx is the one before the format that failed.
ln_status model_through(ln_context **ctx, const char *formats);

#endif
