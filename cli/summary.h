// SPDX-License-Identifier: Apache-2.0
// What a value looks like, in a few lines on standard output.

#ifndef LN_CLI_SUMMARY_H
#define LN_CLI_SUMMARY_H

#include <lightnet/object.h>

#include "labels.h"

// Which of the largest numbers of an output are named.
typedef struct top_options {
    int count;         // 0: none
    const labels *all; // NULL: numbers alone
} top_options;

// "y: TL_FLOAT [2, 2] min 11 max 44 mean 27.5", the elements if they are few, and the top ones. The
// items of a sequence or optional follow it.
void print_value(const char *name, const ln_object *value, const top_options *top);

#endif
