// SPDX-License-Identifier: Apache-2.0
// Changes ONNX models inside valid messages: values, names, wires, types; nodes twice or not at
// all.

#ifndef LN_TESTS_FUZZ_ONNX_MUTATE_H
#define LN_TESTS_FUZZ_ONNX_MUTATE_H

#include <stddef.h>
#include <stdint.h>

// Makes one change to the model of `size` bytes in `data`, which has room for `max_size`. Returns
// its new size, or 0 if these bytes are no model or the change does not fit.
size_t onnx_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#endif
