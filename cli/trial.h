// SPDX-License-Identifier: Apache-2.0
// Trials: the same model compiled in different ways and run on the same data.

#ifndef LN_CLI_TRIAL_H
#define LN_CLI_TRIAL_H

#include <stdint.h>

#include <lightnet/context.h>
#include <lightnet/optimize.h>

#include "input_options.h"
#include "options.h"

// What a model reads: its inputs, and its weights if no file has them.
typedef struct trial_data trial_data;

// Where the data come from.
typedef struct trial_source {
    const char *datafile; // weights; NULL: the model's own, or random ones
    option_texts inputs;  // "NAME=FILE", as -i says; other inputs are random
    uint64_t seed;
    input_options files; // how files of inputs are read
    int has_specials;    // random inputs hold NaN, infinities, zeros of both signs, tiny numbers
} trial_source;

// Makes data for `model`, which is READY. The same seed and names give the same numbers on every
// machine. The source's texts are borrowed as long as the data are used.
ln_status trial_data_create(const ln_context *model, const trial_source *source,
                            trial_data **out_data);
void trial_data_destroy(trial_data *data); // accepts NULL

// Gives inputs of open shape that of their data. `model` is READY.
ln_status trial_bind_shapes(ln_context *model, const trial_data *data);

// Compiles a copy of `model`, loads it and runs it `run_count` times. Operators without outputs,
// which only tell or save something, do not run, nor do those after the one that makes tensor
// `until` (NULL: all run). The caller closes *out_loaded.
ln_status trial_run(const ln_context *model, const char *target, const ln_optimize_options *options,
                    const trial_data *data, int run_count, const char *until,
                    ln_context **out_loaded);

// `model` as it stands, on `ref`: as it was read, where nothing has rewritten it. What it means.
ln_status trial_reference(const ln_context *model, const trial_data *data, ln_context **out_loaded);

#endif
