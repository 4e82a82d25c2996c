// SPDX-License-Identifier: Apache-2.0
// A folder as the data of an input: its files one after the other.

#ifndef LN_CLI_FOLDER_INPUT_H
#define LN_CLI_FOLDER_INPUT_H

#include <lightnet/status.h>

#include "options.h"

typedef struct folder_input {
    int at;       // the -i that names the folder; -1: none does
    char **texts; // what stands in its place for each file, "NAME=FOLDER/FILE"
    size_t count;
    size_t file_at; // where FILE begins in each of the texts
} folder_input;

// Finds the folder among `inputs` and its files, hidden ones left out, sorted by name. A folder
// that `run -o` wrote is none: it is the data of one run. LN_INVALID if two are folders,
// LN_NOT_FOUND if it has no files. *out is to be freed also after a failure.
ln_status folder_input_find(const option_texts *inputs, folder_input *out);
void folder_input_free(folder_input *f);

#endif
