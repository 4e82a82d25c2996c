// SPDX-License-Identifier: Apache-2.0
// Numbers that options take. Each function returns EXIT_OK, or EXIT_USAGE after having said what is
// wrong; `verb` and `option` stand in the message.

#ifndef LN_CLI_OPTION_VALUES_H
#define LN_CLI_OPTION_VALUES_H

#include <stdint.h>

// A finite number from 0 on; 0: the text is none.
int parse_number(const char *text, double *out_value);

// The same as an option's value.
int take_number(const char *verb, const char *option, const char *text, double *out_value);

// An integer from 0 to 2^64 - 1.
int take_seed(const char *verb, const char *option, const char *text, uint64_t *out_seed);

// An integer from 1 to `max`.
int take_count(const char *verb, const char *option, const char *text, int max, int *out_count);

#endif
