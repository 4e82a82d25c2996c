// SPDX-License-Identifier: Apache-2.0
// Names of classes, one a line.

#ifndef LN_CLI_LABELS_H
#define LN_CLI_LABELS_H

#include <stddef.h>

#include <lightnet/status.h>

typedef struct labels {
    const char *path; // borrowed
    char *text;
    const char **lines;
    size_t count;
} labels;

// Reads a file of labels. *out is to be freed also after a failure.
ln_status labels_read(const char *path, labels *out);
void labels_free(labels *l);

#endif
