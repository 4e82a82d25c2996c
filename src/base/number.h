// SPDX-License-Identifier: Apache-2.0
// Reading a decimal number without the process locale. Printing is ln_number_print in value.h.

#ifndef LN_BASE_NUMBER_H
#define LN_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

// *out_number = the double nearest to `spelling`, which has JSON's form: -? digits, and optionally
// a fraction and an exponent. The caller has checked the form. False when it is empty, longer than
// LN_VALUE_MAX_DIGITS bytes, or too large for a double (*out_number is then infinite).
bool ln_number_read(const char *spelling, size_t len, double *out_number);

#endif
