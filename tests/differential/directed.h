// SPDX-License-Identifier: Apache-2.0
// Models of forms that chance seldom meets: what follows a convolution in channels-last form,
// addends that are also the source, quantized operators whose scales and zero points nearly agree,
// and constants that are computed from constants.

#ifndef LN_TESTS_DIFFERENTIAL_DIRECTED_H
#define LN_TESTS_DIFFERENTIAL_DIRECTED_H

#include <stdint.h>

#include "tests/differential/operators.h"

size_t directed_count(void);
const char *directed_name(size_t index);

// The form whose turn it is: some have several in a round.
size_t directed_turn(uint64_t number);

// A model of form `index`; false if the library takes no try.
bool directed_make(model *m, test_random *random, const sizes *s, size_t index);

#endif
