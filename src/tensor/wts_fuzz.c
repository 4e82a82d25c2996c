// SPDX-License-Identifier: Apache-2.0
// Any bytes as .wts.

#include "tensor/tensor_file_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t byte_count)
{
    fuzz_tensor_file(LN_TENSOR_FILE_WTS, data, byte_count);
    return 0;
}
