// SPDX-License-Identifier: Apache-2.0
// Which part of a compiled model runs on ref, because its target has no kernels for it.

#ifndef LN_CLI_FALLBACK_H
#define LN_CLI_FALLBACK_H

#include <stddef.h>

#include <lightnet/context.h>

// Whether the operator computes something in a run.
int op_is_run(const ln_context *ctx, const ln_op *op);

// Whether it brings a tensor from one memory to another.
int op_is_copy(const ln_context *ctx, const ln_op *op);

typedef struct fallback {
    size_t ref_count, op_count; // operators that run, without copies and waits
    double work;                // of all of them that the first are, from 0 to 1; -1: not known
    double ref_cost;            // in work units
} fallback;

// Zeros for a model that is compiled for ref.
fallback fallback_of(const ln_context *ctx);

// "56 of 189 operators, 97 % of the work, have no kernel on cpu and run on ref: QLinearConv 52,
// ...", cut at `size` bytes.
void fallback_text(const ln_context *ctx, char *text, size_t size);

#endif
