// SPDX-License-Identifier: Apache-2.0
// `lightnet inspect --json`.

#ifndef LN_CLI_INSPECT_JSON_H
#define LN_CLI_INSPECT_JSON_H

#include <lightnet/context.h>
#include <lightnet/preflight.h>

#include "json_out.h"

// What the model says, before it is compiled. `report` is NULL where its format has no preflight;
// `ctx` where the report has problems, so that it cannot be read. `has_shapes`: sizes were given,
// and are shown in place of those that the file leaves open.
ln_status inspect_put_contents(json_out *j, const ln_preflight *report, const ln_context *ctx,
                               bool has_shapes);

// What it costs: `macs` before it was compiled, the rest of the compiled model; NULL: null.
void inspect_put_costs(json_out *j, const ln_context *ctx, double macs, size_t refused_count);

// Operators of a model that is not compiled, by type, in the order of their first appearance.
typedef struct type_counts {
    struct type_count {
        const char *optype; // borrowed from the context
        size_t count;
    } * items;
    size_t count;
} type_counts;

// The caller frees out->items with free().
ln_status count_types_of(const ln_context *ctx, type_counts *out);

// Elements of the constants that are not inputs: weights and other parameters.
size_t count_parameters(const ln_context *ctx);

#endif
