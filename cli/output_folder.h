// SPDX-License-Identifier: Apache-2.0
// A folder that `run -o` wrote: outputs.json and a .npy file for each tensor.

#ifndef LN_CLI_OUTPUT_FOLDER_H
#define LN_CLI_OUTPUT_FOLDER_H

#include <stddef.h>

#include <lightnet/status.h>

typedef struct output_file {
    char *name; // of the output, as JSON spells it; NULL: it has no value
    char *path; // of its tensor; NULL: it is a sequence, or has no value
} output_file;

typedef struct output_folder {
    output_file *files; // in the order of the outputs
    size_t count;
} output_folder;

// Whether there is a folder `path` with an outputs.json in it.
int output_folder_is(const char *path);

// Reads the list. *out is to be freed also after a failure. Fails: LN_SYNTAX if the list is not
// one of outputs or names a file outside the folder, LN_IO.
ln_status output_folder_read(const char *path, output_folder *out);
void output_folder_free(output_folder *folder);

// The output of that name; NULL if there is none.
const output_file *output_folder_find(const output_folder *folder, const char *name);

#endif
