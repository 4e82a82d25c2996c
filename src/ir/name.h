// SPDX-License-Identifier: Apache-2.0
// Names of operators, tensors and arguments: their length, and new ones for a prefix.

#ifndef LN_IR_NAME_H
#define LN_IR_NAME_H

#include <lightnet/status.h>

// LN_OK if `name` is a string below LN_MAX_NAME_LEN bytes; else LN_INVALID for NULL and LN_LIMIT.
// `what` says in the message what it names.
ln_status ln_name_check(const char *name, const char *what);

// The number after `prefix` in `name`; -1 if `name` is not the prefix and an int.
int ln_name_serial(const char *name, const char *prefix);

// Prints `prefix` and `serial` to `buf`, of LN_MAX_NAME_LEN bytes. Returns `serial`, or -1 with a
// recorded LN_LIMIT if the name is too long or `serial` negative.
int ln_name_print(char *buf, const char *prefix, int serial);

// 1 + `serial`, or -1 if there is no such int.
int ln_name_next(int serial);

#endif
