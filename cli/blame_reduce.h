// SPDX-License-Identifier: Apache-2.0
// The smallest model that still shows what a culprit does.

#ifndef LN_CLI_BLAME_REDUCE_H
#define LN_CLI_BLAME_REDUCE_H

#include "blame_search.h"

#define MAX_REPRODUCER_LINES 25

typedef struct reproducer {
    char *text;        // IL, of which each statement is a line; freed with free
    size_t line_count; // over MAX_REPRODUCER_LINES if it could not be made smaller
    int has_specials;  // it needs NaN and the like in its random inputs
    verdict verdict;   // what comes of it
} reproducer;

// Cuts the operators around culprit `index` out of the suspect's model and makes them smaller as
// long as the result stays wrong, and right without the culprit's rule. Inputs are random as
// `source` says. LN_NOT_FOUND if no part of the model shows it with such numbers.
ln_status reproducer_create(const suspect *s, const findings *found, size_t index,
                            const trial_source *source, reproducer *out_reproducer);

#endif
