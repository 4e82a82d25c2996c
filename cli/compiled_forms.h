// SPDX-License-Identifier: Apache-2.0
// The compiled forms of a model: with its weights beside it, and without.

#ifndef LN_CLI_COMPILED_FORMS_H
#define LN_CLI_COMPILED_FORMS_H

#include <stddef.h>

#include "model_io.h"

typedef struct compiled_forms compiled_forms;

// Writes both forms of a model that is compiled and not loaded, into a folder of their own below
// TMPDIR.
ln_status compiled_forms_create(const ln_context *ctx, compiled_forms **out_forms);

// Reads and runs each form on `given`. LN_INVALID if an output is not bit-identical with that of
// `ctx`, which has run on the same; with `is_shape_only`, if a type or shape is another.
ln_status compiled_forms_check(const compiled_forms *forms, const ln_context *ctx,
                               const given_inputs *given, int is_shape_only);

// Removes the folder. NULL is fine.
void compiled_forms_destroy(compiled_forms *forms);

#endif
