// SPDX-License-Identifier: Apache-2.0
// Deviations as JSON, for `compare` and `verify`.

#ifndef LN_CLI_COMPARE_JSON_H
#define LN_CLI_COMPARE_JSON_H

#include "compare.h"
#include "json_out.h"

// Members of the object that is open: how far the worst element is off, and whether that is wrong.
// `like` is the expected tensor, for the position; NULL: none.
void put_deviation(json_out *j, const deviation *d, const tl_tensor *like, int is_wrong);

#endif
