// SPDX-License-Identifier: Apache-2.0
// Any bytes give rules or an error with a place; rules print as code.

#include "desc/rule_gen.h"

#include <stdint.h>
#include <stdlib.h>

#include "desc/rule_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_document *arena;
    const ln_rule_set *set;
    if (ln_rule_set_parse((const char *)data, size, "fuzz", &arena, &set) != LN_OK)
        return 0;
    ln_text text = {0};
    ln_rule_print_code(&set, 1, "fuzz", &text);
    if (text.status != LN_OK)
        abort();
    ln_text_deinit(&text);
    ln_document_destroy(arena);
    return 0;
}
