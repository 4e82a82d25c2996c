// SPDX-License-Identifier: Apache-2.0
// Frees the parsed form of a compiled file.

#include "ir/compiled.h"

#include <lightnet/allocator.h>

void ln_compiled_destroy(ln_compiled *compiled)
{
    if (!compiled)
        return;
    for (size_t i = 0; i < compiled->tensor_count; i++) {
        ln_free(compiled->tensors[i].name);
        ln_free(compiled->tensors[i].place);
        ln_free(compiled->tensors[i].owner);
    }
    for (size_t i = 0; i < compiled->shape_count; i++)
        ln_free(compiled->shapes[i].name);
    for (size_t i = 0; i < compiled->range_count; i++)
        ln_free(compiled->ranges[i].symbol);
    ln_free(compiled->shapes);
    ln_free(compiled->tensors);
    ln_free(compiled->target);
    ln_free(compiled);
}
