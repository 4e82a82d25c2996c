// SPDX-License-Identifier: Apache-2.0
// Any bytes give rules or an error with a place; rules print as code.

#include "desc/rule_gen.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_rule_set *set;
    if (ln_rule_set_parse((const char *)data, size, "fuzz", &set) != LN_OK)
        return 0;
    ln_text text = {0};
    ln_rule_print_code((const ln_rule_set *const *)&set, 1, "fuzz", &text);
    if (text.status != LN_OK)
        abort();
    ln_text_deinit(&text);
    ln_rule_set_destroy(set);
    return 0;
}
