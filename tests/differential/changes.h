// SPDX-License-Identifier: Apache-2.0
// Small changes of a model: what the condition of a rule would just not take any more.

#ifndef LN_TESTS_DIFFERENTIAL_CHANGES_H
#define LN_TESTS_DIFFERENTIAL_CHANGES_H

#include "tests/differential/model.h"

// All dimensions of leaves, and of reshapes, of one size get another one that is there too, so that
// axes are as long as others. Elements of leaves are to be filled afterwards.
void change_sizes(model *m, test_random *random);

// A row, of a constant or an input, is for another axis of what reads it, which gets its length.
void change_row(model *m, test_random *random);

// One parameter, or the elements of a short constant: a number is moved, negated or exchanged with
// its neighbour, a bool turned.
void change_number(model *m, test_random *random);

// A list of axes, as a parameter or a constant, gets one more.
void add_axis(model *m, test_random *random);

// Some of the single numbers of activations and of constants are negated, or divide one, together.
void change_numbers(model *m, test_random *random);

// A constant or an input has its axes in another order: a row becomes a column.
void change_axes(model *m, test_random *random);

#endif
