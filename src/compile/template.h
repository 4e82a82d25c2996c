// SPDX-License-Identifier: Apache-2.0
// Templates: the operators of a model with dynamic dimensions, rewritten once for many shapes.
//
//     model as read  --two witnesses, passes-->  template  --a shape-->  instance
//
// Whether a shape has a template, and what its instance is, follows from the model, the target, the
// options and the shape alone: whoever compiles the model for that shape gets the same operators.

#ifndef LN_COMPILE_TEMPLATE_H
#define LN_COMPILE_TEMPLATE_H

#include <lightnet/context.h>
#include <lightnet/optimize.h>

#include "compile/constants.h"

typedef struct ln_templates ln_templates;

// Templates of `model`, a READY context, which is borrowed.
ln_status ln_templates_create(const ln_context *model, const char *target,
                              const ln_optimize_options *options, ln_templates **out_templates);
void ln_templates_destroy(ln_templates *templates); // NULL is fine

// *out_instance is a READY context with the rewritten operators for `shapes`, which say those of
// all inputs, with limits and time as `ctx` has them. NULL: the model is compiled for them.
// `spared_by`: what instances share, so that this one need not compute it; NULL: it has all
// operators. Fails where the model refuses the shapes, or memory or time is gone.
ln_status ln_templates_make(ln_templates *templates, const ln_context *ctx, size_t count,
                            const ln_input_shape *shapes, const ln_constants *spared_by,
                            ln_context **out_instance);

#endif
