// SPDX-License-Identifier: Apache-2.0
// Any bytes give descriptions or an error; descriptions give code, a table and documentation.

#include "desc/opdesc_gen.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_opdesc_set set = {0};
    ln_text text = {0};
    if (ln_opdesc_read_text(&set, (const char *)data, size, "fuzz", false) == LN_OK) {
        ln_opdesc_print_code(&set, "fuzz", &text);
        ln_opdesc_print_table(&set, "none", &text);
        ln_opdesc_print_docs(&set, &text);
    }
    ln_text_deinit(&text);
    ln_opdesc_set_deinit(&set);
    return 0;
}
