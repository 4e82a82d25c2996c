// SPDX-License-Identifier: Apache-2.0
// What a value looks like, in a few lines on standard output.

#ifndef LN_CLI_SUMMARY_H
#define LN_CLI_SUMMARY_H

#include <lightnet/context.h>
#include <lightnet/object.h>

#include "json_out.h"
#include "labels.h"

// Which of the largest numbers of an output are named.
typedef struct top_options {
    int count;         // 0: none
    const labels *all; // NULL: numbers alone
} top_options;

// As many as are asked for (-1: not given), or 5 where there are names (NULL: none).
top_options top_options_of(int count, const labels *names);

// Prints each output of the model, which has run. `skips_read`: not those that an operator of the
// model reads, such as one that prints them.
ln_status print_outputs(ln_context *ctx, const top_options *top, int skips_read);

// One line: `file`, and of each output the top classes, or its range where none are asked for.
ln_status print_outputs_in_line(ln_context *ctx, const char *file, const top_options *top);

// "outputs": all of each output of the model, which has run.
ln_status put_outputs(json_out *j, ln_context *ctx, const top_options *top);

// LN_INVALID, with both numbers, if the names fit no output: none of the model's has as many
// classes. Outputs whose shape is not known yet may.
ln_status check_labels(const ln_context *ctx, const labels *names);

// The same of a model that has run, where all shapes are known.
ln_status check_labels_of_run(ln_context *ctx, const labels *names);

// "y: float32 [2, 2] min 11 max 44 mean 27.5", the elements if they are few, and the top ones. The
// items of a sequence or optional follow it.
void print_value(const char *name, const ln_object *value, const top_options *top);

#endif
