// SPDX-License-Identifier: Apache-2.0
// Files that a model names and that the caller has given as bytes in memory.

#ifndef LN_IR_GIVEN_FILE_H
#define LN_IR_GIVEN_FILE_H

#include <lightnet/context.h>

typedef struct ln_given_file {
    struct ln_given_file *next;
    char *location;
    const void *bytes; // the caller's
    size_t byte_count;
} ln_given_file;

// NULL: there is none of that name.
const ln_given_file *ln_given_file_find(const ln_given_file *first, const char *location);

void ln_given_files_free(ln_given_file *first); // NULL is fine

#endif
