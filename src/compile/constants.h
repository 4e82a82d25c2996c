// SPDX-License-Identifier: Apache-2.0
// Constants that the plans of one model for several shapes have in common: packed weights, mostly.
//
// A constant is known by how it is made: by which operator, with which parameters, from which
// constants. The first plan that is loaded has its constants in its static region; a later one puts
// those that are made in the same way at the same offsets, and its own after that region:
//
//     first plan    | reserved | a | b | c |  workspace ...
//     a later one   | reserved | a |   | c | d |  workspace ...        a and c are not made again
//                                          ^ end of the first's static region
//
// Forms of weights that a later plan has packed, since its algorithms need others, can join: then
// what comes after that plan's region has them too.

#ifndef LN_COMPILE_CONSTANTS_H
#define LN_COMPILE_CONSTANTS_H

#include <stdbool.h>

#include <lightnet/context.h>

#include "compile/recipes.h"
#include "ir/plan_records.h"

typedef struct ln_constants ln_constants;

// One of them, and where it is.
typedef struct ln_shared_constant {
    ln_recipe made;
    size_t offset;
    ln_mem_type mtype;
    tl_dtype dtype;
    int ndim, dims[TL_MAXDIM];
} ln_shared_constant;

// Those in the static region of `ctx`, which is LOADED, or PLANNED and about to be; NULL if there
// are none that another plan can use: of a model with graphs, and where constants were computed
// over each other.
ln_status ln_constants_create(const ln_context *ctx, ln_constants **out_constants);

// Those of `constants`, which `ctx`, LOADED, shares, and packed weights that `ctx` alone has; NULL
// if it has none. Other constants may follow from its shape, so that there would be no end.
ln_status ln_constants_extend(const ln_constants *constants, const ln_context *ctx,
                              ln_constants **out_constants);
void ln_constants_destroy(ln_constants *constants); // NULL is fine

// The one that is made in such a way; false: there is none.
bool ln_constants_find(const ln_constants *constants, const ln_recipe *made, size_t *out_index);
const ln_shared_constant *ln_constants_at(const ln_constants *constants, size_t index);
size_t ln_constants_count(const ln_constants *constants);

// Where their static region ends, for each memory type.
const size_t *ln_constants_ends(const ln_constants *constants);

// Moves the static values of a plan that is laid out as above, the workspace after them, and marks
// the tensors that are there already (`is_shared`).
ln_status ln_constants_pin(const ln_constants *constants, const ln_context *ctx,
                           ln_plan_records *records);

// For a context whose plan has them: which operators, in the order of the list, loading has to run
// all the same. The caller frees *out_needed.
ln_status ln_constants_find_needed(const ln_context *ctx, bool **out_needed);

#endif
