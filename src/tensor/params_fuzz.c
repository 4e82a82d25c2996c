// SPDX-License-Identifier: Apache-2.0
// Any bytes as a params dictionary, of arrays and of tensors; one that is read is written back as
// it was, but for what readers ignore.

#include <stdbool.h>

#include <lightnet/allocator.h>

#include "tensor/params_file.h"
#include "tensor/tensor_file_fuzz.h"

static void check_same_array(const ln_params_entry *a, const ln_params_entry *b)
{
    bool is_same = a->name_len == b->name_len && memcmp(a->name, b->name, a->name_len) == 0 &&
                   a->ndim == b->ndim && a->byte_count == b->byte_count &&
                   memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0 &&
                   memcmp(&a->dtype, &b->dtype, sizeof a->dtype) == 0 &&
                   memcmp(a->data, b->data, a->byte_count) == 0 && a->offset == b->offset;
    if (!is_same)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t byte_count)
{
    ln_params_entry *entries, *copies;
    size_t count, copy_count, written;
    char *bytes;
    if (ln_params_parse(data, byte_count, "fuzz", &entries, &count) != LN_OK)
        return 0;
    if (ln_params_write(entries, count, &bytes, &written) != LN_OK || written > byte_count ||
        ln_params_parse(bytes, written, NULL, &copies, &copy_count) != LN_OK || copy_count != count)
        abort();
    for (size_t i = 0; i < count; i++)
        check_same_array(&entries[i], &copies[i]);
    ln_free(copies);
    ln_free(bytes);
    ln_free(entries);
    fuzz_tensor_file(LN_TENSOR_FILE_PARAMS, data, byte_count);
    return 0;
}
