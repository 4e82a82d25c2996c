// SPDX-License-Identifier: Apache-2.0
// The text of `run -o`: a folder, FILE.npy or NAME=FILE.npy.

#ifndef LN_CLI_OUTPUT_TEXT_H
#define LN_CLI_OUTPUT_TEXT_H

#include <lightnet/status.h>

// Whether the text means one file, NAME=FILE.npy or FILE.npy, instead of a folder.
int is_output_file(const char *text);

// Fails: LN_INVALID if the text means a file, and not a .npy file.
ln_status output_text_check(const char *text);

#endif
