// SPDX-License-Identifier: Apache-2.0
// Values of parameters: compared, and changing hands without allocating, so that a change can be
// taken back.

#ifndef LN_IR_PARAM_VALUE_H
#define LN_IR_PARAM_VALUE_H

#include <stdbool.h>

#include <lightnet/param.h>

// Each gets the other's type and value; the names stay.
void ln_param_swap_values(ln_param_entry *a, ln_param_entry *b);

// Whether two parameters have the same value.
bool ln_param_entries_equal(const ln_param_entry *a, const ln_param_entry *b);

#endif
