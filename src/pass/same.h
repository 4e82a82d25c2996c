// SPDX-License-Identifier: Apache-2.0
// Operators that compute what another one has computed before.

#ifndef LN_PASS_SAME_H
#define LN_PASS_SAME_H

#include "pass/pass.h"

// Each pure operator of arch `none` that equals an earlier one, in type, inputs and parameters,
// goes: its readers read the earlier one's outputs. An output of the model, and what a graph inside
// captures, stays as a view of them. Each merge is a numbered rewrite. *out_count receives how many
// operators went.
ln_status ln_merge_same(ln_compilation *compilation, size_t *out_count);

#endif
