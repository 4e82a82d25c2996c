// SPDX-License-Identifier: Apache-2.0
// What a loaded context runs: made by `load` and by `clone`; and its tensors.

#ifndef LN_COMPILE_RUNNER_H
#define LN_COMPILE_RUNNER_H

#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/tensor_file.h>

// Lays out the operators of `ctx`, whose tensors have their memory, as steps, and prepares groups
// on their devices. `(*out_runner)->destroy` undoes it.
ln_status ln_runner_create(const ln_context *ctx, struct ln_runner **out_runner);

// True if operators of the arch run as groups, which `prepare` has seen with their addresses.
int ln_runs_groups(const ln_arch *arch);

// The tensor of a LOADED context; NULL with a recorded failure.
ln_tensor_entry *ln_context_find_loaded(const ln_context *ctx, const char *tname);

// Whether a tensor of a data file is what the model takes for `to`; LN_INVALID with both.
ln_status ln_check_fits(const ln_tensor_file *file, int index, const ln_tensor_entry *to,
                        const char *datafile);

#endif
