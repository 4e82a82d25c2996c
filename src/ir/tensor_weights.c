// SPDX-License-Identifier: Apache-2.0
// Weights from a file into the tensors of a table.

#include <lightnet/tensor_entry.h>

#include <lightnet/tensor_file.h>

static ln_status copy_tensor(ln_hash *table, const ln_tensor_entry *entry,
                             const ln_tensor_file *weights, int index, const char *file)
{
    // Some formats know lengths, not shapes.
    const tl_tensor *known = ln_tensor_file_describe(weights, index);
    if (entry->tensor->dtype != known->dtype || entry->tensor->len != known->len)
        return LN_FAIL(LN_INVALID, "%s: '%s' holds %d elements of %s, but the tensor has %d of %s",
                       file, entry->name, known->len, tl_dtype_title(known->dtype),
                       entry->tensor->len, tl_dtype_title(entry->tensor->dtype));
    const tl_tensor *tensor = ln_tensor_file_tensor(weights, index);
    return tensor ? ln_tensor_table_set_data(table, entry->name, tensor->data) : ln_error_status();
}

ln_status ln_tensor_table_load_trt_weight_file(ln_hash *table, const char *file)
{
    if (!table || !file)
        return LN_FAIL(LN_INVALID, "loading weights needs a tensor table and a file");
    ln_tensor_file *weights;
    LN_TRY(ln_tensor_file_open(file, &weights));
    ln_status status = LN_OK;
    size_t cursor = 0;
    void *value;
    while (status == LN_OK && ln_hash_next(table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        int index = ln_tensor_file_find(weights, entry->name);
        if (index >= 0)
            status = copy_tensor(table, entry, weights, index, file);
    }
    ln_tensor_file_close(weights);
    return status;
}
