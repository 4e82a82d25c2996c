// SPDX-License-Identifier: Apache-2.0
// Models that rules of the library match, or nearly: made from the patterns of the rules.

#ifndef LN_TESTS_DIFFERENTIAL_PATTERNS_H
#define LN_TESTS_DIFFERENTIAL_PATTERNS_H

#include "tests/differential/operators.h"

// Reads the rules that the library was built with. False when memory is gone.
bool patterns_open(void);
void patterns_close(void);

size_t pattern_count(void);
const char *pattern_name(size_t index);
const char *pattern_root(size_t index); // the type of the first operator

// The rule whose turn it is: three of four times one that optimizes, as rules into the core are the
// definitions of both sides.
size_t pattern_turn(uint64_t number);

// A model with the pattern of rule `index`; parameters that the pattern does not name are drawn,
// and now and then one that it names. False if the library takes no try.
bool pattern_make(model *m, test_random *random, const sizes *s, size_t index);

#endif
