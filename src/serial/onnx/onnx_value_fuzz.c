// SPDX-License-Identifier: Apache-2.0
// Any bytes as a value of any kind: a status, or an object that can be walked and released.

#include <stdint.h>
#include <stdlib.h>

#include <lightnet/allocator.h>

#include "serial/onnx/value.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *resize(void *user, void *p, size_t size)
{
    (void)user;
    return size <= (size_t)64 << 20 ? realloc(p, size) : NULL;
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    static const ln_allocator allocator = {.resize = resize, .release = release};
    ln_allocator_set(&allocator);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int kind = LN_OBJECT_TENSOR; kind <= LN_OBJECT_MAP; kind++) {
        ln_object *object;
        if (ln_onnx_value_read(data, size, "fuzz", (ln_object_kind)kind, &object) != LN_OK)
            continue;
        if (ln_object_get_kind(object) != (ln_object_kind)kind)
            abort();
        ln_object_release(object);
    }
    return 0;
}
