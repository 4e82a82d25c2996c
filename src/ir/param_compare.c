// SPDX-License-Identifier: Apache-2.0
// Comparing values of parameters.

#include "ir/param_value.h"

#include <math.h>

#include <lightnet/util.h>

static bool numbers_equal(double a, double b)
{
    return a == b && !signbit(a) == !signbit(b);
}

bool ln_param_entries_equal(const ln_param_entry *a, const ln_param_entry *b)
{
    if (a->type != b->type || a->array_len != b->array_len)
        return false;
    switch (a->type) {
    case LN_PARAM_NULL: return true;
    case LN_PARAM_STRING: return ln_streq(a->value_string, b->value_string);
    case LN_PARAM_NUMBER: return numbers_equal(a->value_double, b->value_double);
    case LN_PARAM_BOOL: return !a->value_bool == !b->value_bool;
    default: break;
    }
    for (int i = 0; i < a->array_len; i++) {
        if (a->type == LN_PARAM_ARRAY_NUMBER &&
            !numbers_equal(a->value_array_double[i], b->value_array_double[i]))
            return false;
        if (a->type == LN_PARAM_ARRAY_STRING &&
            !ln_streq(a->value_array_string[i], b->value_array_string[i]))
            return false;
        if (a->type == LN_PARAM_ARRAY_BOOL && !a->value_array_bool[i] != !b->value_array_bool[i])
            return false;
    }
    return a->type != LN_PARAM_INVALID;
}
