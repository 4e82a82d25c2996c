// SPDX-License-Identifier: Apache-2.0
// Any bytes give rules or an error with a place.

#include "desc/rule.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_rule_set *set;
    if (ln_rule_set_parse((const char *)data, size, "fuzz", &set) != LN_OK)
        return 0;
    ln_rule_set_destroy(set);
    return 0;
}
