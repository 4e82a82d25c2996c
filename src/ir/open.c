// SPDX-License-Identifier: Apache-2.0
// Open tensors show what they hold.

#include "ir/open.h"

#include <string.h>

static void show_nothing(tl_tensor *tensor)
{
    tensor->dtype = TL_FLOAT;
    tensor->ndim = 1;
    tensor->dims[0] = 0;
    tensor->len = 0;
    tensor->data = NULL;
}

void ln_open_hold(ln_tensor_entry *entry, ln_object *object)
{
    ln_object_retain(object); // first: it may be the one that is held
    ln_object_release(entry->held);
    entry->held = object;
    tl_tensor *shown = entry->tensor;
    const tl_tensor *held = ln_object_tensor(object);
    if (held) {
        shown->dtype = held->dtype;
        shown->ndim = held->ndim;
        memcpy(shown->dims, held->dims, (size_t)held->ndim * sizeof *held->dims);
        shown->len = held->len;
        shown->data = held->data;
    } else {
        shown->dtype = TL_OBJECT;
        shown->ndim = 0;
        shown->len = 1;
        shown->data = &entry->held;
    }
}

void ln_open_drop(ln_tensor_entry *entry)
{
    ln_object_release(entry->held);
    entry->held = NULL;
    show_nothing(entry->tensor);
}

const tl_tensor *ln_entry_planned_tensor(const ln_tensor_entry *entry)
{
    static int none[1];
    static const tl_tensor nothing = {.dtype = TL_FLOAT, .ndim = 1, .dims = none};
    return entry->is_open ? &nothing : entry->tensor;
}
