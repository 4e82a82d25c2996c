// SPDX-License-Identifier: Apache-2.0
// Models whose numbers depend on sizes: products, parts and multiples of dimensions as shapes,
// bounds, counts and factors, as exporters write them for dimensions that are open.

#ifndef LN_TESTS_DIFFERENTIAL_SIZED_H
#define LN_TESTS_DIFFERENTIAL_SIZED_H

#include "tests/differential/operators.h"

// Adds an operator without parameters; the tensor that it makes, or -1.
int sized_add(model *m, const char *optype, const char *const *args, const int *ins, int count,
              const char *out);

// A constant of TL_INT64 with these elements.
int sized_numbers(model *m, test_random *random, const int *numbers, int count);

size_t sized_count(void);
const char *sized_name(size_t index);

// A model of form `index`; false if the library takes no try.
bool sized_make(model *m, test_random *random, const sizes *s, size_t index);

#endif
