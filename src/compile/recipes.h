// SPDX-License-Identifier: Apache-2.0
// How constants are made: by which operator, with which parameters, from which constants. Two that
// are made in the same way, in plans for two shapes of a model, have the same elements.

#ifndef LN_COMPILE_RECIPES_H
#define LN_COMPILE_RECIPES_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/context.h>

#include "base/text.h"

typedef struct ln_recipe {
    uint64_t words[2];
} ln_recipe;

typedef struct ln_recipes {
    const ln_context *ctx; // borrowed
    ln_hash *by_name;      // tensor name -> recipe, in `all`
    ln_recipe *all;
    size_t count;
    ln_text text; // of one operator
} ln_recipes;

// Of no tensor yet. To be cleaned up with ln_recipes_deinit even if it fails.
ln_status ln_recipes_init(ln_recipes *recipes, const ln_context *ctx);
void ln_recipes_deinit(ln_recipes *recipes);

// Of all constants of the context, which is READY. `varies` says for each operator, in the order of
// the list, whether its recipe is to be found; NULL: all are. Others stay.
ln_status ln_recipes_find(ln_recipes *recipes, const bool *varies);

// NULL: the tensor is no constant, or is made in a way that is not known.
const ln_recipe *ln_recipes_of(const ln_recipes *recipes, const char *tname);

#endif
