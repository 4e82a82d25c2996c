// SPDX-License-Identifier: Apache-2.0
// What plans for other shapes of a model are made from: the model as it was read, and how it was
// compiled. A context and its clones share one; any of their threads may ask it.

#ifndef LN_COMPILE_PLAN_SOURCE_H
#define LN_COMPILE_PLAN_SOURCE_H

#include <stdbool.h>

#include <lightnet/context.h>
#include <lightnet/optimize.h>

#include "compile/constants.h"
#include "compile/range.h"

typedef struct ln_plan_source ln_plan_source;

// Of `ctx`, READY, which is copied.
ln_status ln_plan_source_create(const ln_context *ctx, const char *target,
                                const ln_optimize_options *options, ln_plan_source **out_source);
ln_plan_source *ln_plan_source_retain(ln_plan_source *source);
void ln_plan_source_release(ln_plan_source *source); // NULL is fine

// The model as it was read, with the shapes that it was bound to.
const ln_context *ln_plan_source_model(const ln_plan_source *source);

// *out_model, the caller's, is a copy of it that says how it is compiled (ir/compiled.h), with the
// data that it brings or without. NULL where that is not the same for any shape, or in files.
ln_status ln_plan_source_copy_model(const ln_plan_source *source, bool has_weights,
                                    ln_context **out_model);

// The ranges of `ctx`; NULL: none.
ln_range *ln_plan_source_range(const ln_plan_source *source);

// Compiles `ctx`, READY as it was at `create`, with the same options: the plan that `make` makes
// for its shapes, unless the options are for these shapes alone.
ln_status ln_plan_source_compile(ln_plan_source *source, ln_context *ctx,
                                 const ln_optimize_options *options);

// What a plan is asked for.
typedef struct ln_plan_request {
    const ln_context *ctx;    // whose shapes it has where `shapes` does not say others
    const ln_context *caller; // whose limits and time it has
    ln_constants *constants;  // where those that plans share are; NULL: it shares none
    bool is_spared;           // it need not have the operators that compute those (spares.h)
    size_t count;
    const ln_input_shape *shapes;
} ln_plan_request;

// The caller frees *out_plan, PLANNED.
ln_status ln_plan_source_make(ln_plan_source *source, const ln_plan_request *request,
                              ln_context **out_plan);

// The same without what the range says of tensors.
ln_status ln_plan_source_make_alone(ln_plan_source *source, const ln_plan_request *request,
                                    ln_context **out_plan);

#endif
