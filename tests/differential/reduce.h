// SPDX-License-Identifier: Apache-2.0
// Makes a failing model smaller, as long as it fails.

#ifndef LN_TESTS_DIFFERENTIAL_REDUCE_H
#define LN_TESTS_DIFFERENTIAL_REDUCE_H

#include "tests/differential/model.h"

// Removes operators, parameters, optional operands and dimensions of `m`, turns inputs into
// constants and numbers into simple ones, while `fails` says that it still does.
void model_reduce(model *m, bool (*fails)(void *user, const model *m), void *user);

#endif
