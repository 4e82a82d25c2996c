// SPDX-License-Identifier: Apache-2.0
// Names of classes, one a line.

#ifndef LN_CLI_LABELS_H
#define LN_CLI_LABELS_H

#include <stddef.h>

#include <lightnet/status.h>

struct ln_context;

typedef struct labels {
    const char *path; // of the file, borrowed
    char *packed;     // "labels.txt in model.tflite": they are attached to the model; NULL: a file
    char *text;
    const char **lines;
    size_t count;
} labels;

// Reads a file of labels. *out is to be freed also after a failure.
ln_status labels_read(const char *path, labels *out);

// Reads the labels that are packed in the model file `path` of `ctx`, where the model has one list
// of them for its outputs. Without one, or with one that cannot be read, *out has no labels.
void labels_find(const struct ln_context *ctx, const char *path, labels *out);
void labels_free(labels *l);

#endif
