// SPDX-License-Identifier: Apache-2.0
// The forms of operators: each type of the core plainly, with each word that a parameter takes, and
// with each other parameter away from its default; and each type that a rule brings into the core.

#ifndef LN_TESTS_DIFFERENTIAL_FORMS_H
#define LN_TESTS_DIFFERENTIAL_FORMS_H

#include "tests/differential/operators.h"

// Lists the forms, once patterns are open. False when memory is gone.
bool forms_open(void);
void forms_close(void);

size_t form_count(void);
const char *form_name(size_t index); // "pool kind=lp"; borrowed until the next call

// Whether no model can have the form, for a reason that holes.inc gives; else NULL.
const char *form_hole(size_t index);

// Appends an operator of that form whose first operand is `tensor`, a new leaf if it is -1, of type
// `dtype` if that is not TL_DTYPE_INVALID.
bool form_append(model *m, test_random *random, const sizes *s, size_t index, int tensor,
                 tl_dtype dtype);

#endif
