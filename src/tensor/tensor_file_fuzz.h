// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of tensor files share: any bytes in one format; every tensor that is read
// is whole, and writing it gives it back.

#ifndef LN_TENSOR_TENSOR_FILE_FUZZ_H
#define LN_TENSOR_TENSOR_FILE_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/tensor_file_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t byte_count);

// Reads every byte of a tensor, for the sanitizer to see.
static inline unsigned sum_of(const tl_tensor *t)
{
    unsigned sum = 0;
    for (size_t i = 0; i < tl_tensor_size(t); i++)
        sum += ((const unsigned char *)t->data)[i];
    return sum;
}

static inline void check_same(const ln_tensor_file *a, const ln_tensor_file *b)
{
    if (ln_tensor_file_count(a) != ln_tensor_file_count(b))
        abort();
    for (int i = 0; i < ln_tensor_file_count(a); i++) {
        const tl_tensor *ta = ln_tensor_file_tensor(a, i), *tb = ln_tensor_file_tensor(b, i);
        if (strcmp(ln_tensor_file_name(a, i), ln_tensor_file_name(b, i)) != 0 ||
            !tl_tensor_issameshape(ta, tb) || sum_of(ta) != sum_of(tb) ||
            ln_tensor_file_find(a, ln_tensor_file_name(a, i)) != i)
            abort();
    }
}

static inline void fuzz_round_trip(const ln_tensor_file *file, ln_tensor_file_format format)
{
    size_t count = (size_t)ln_tensor_file_count(file), written;
    ln_named_tensor *tensors = calloc(count + 1, sizeof *tensors);
    for (size_t i = 0; i < count; i++)
        tensors[i] = (ln_named_tensor){ln_tensor_file_name(file, (int)i),
                                       ln_tensor_file_tensor(file, (int)i)};
    char *bytes;
    FILE *fp = open_memstream(&bytes, &written);
    if (ln_tensor_file_write(fp, format, tensors, count) != LN_OK)
        abort();
    fclose(fp);
    ln_tensor_file *copy;
    if (ln_tensor_file_open_mem(bytes, written, &copy) != LN_OK)
        abort();
    check_same(file, copy);
    ln_tensor_file_close(copy);
    free(bytes);
    free(tensors);
}

static inline void fuzz_tensor_file(ln_tensor_file_format format, const uint8_t *data,
                                    size_t byte_count)
{
    ln_tensor_file *file;
    if (ln_tensor_file_open_as(format, data, byte_count, &file) == LN_OK)
        fuzz_round_trip(file, format);
    ln_tensor_file_close(file);
}

#endif
