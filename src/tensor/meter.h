// SPDX-License-Identifier: Apache-2.0
// Charging a meter for bytes that are no object's.

#ifndef LN_TENSOR_METER_H
#define LN_TENSOR_METER_H

#include <stdbool.h>

#include <lightnet/object.h>

// True, and the bytes are counted, unless they go beyond the limit. Records no failure.
bool ln_meter_take(ln_meter *meter, size_t byte_count);
void ln_meter_give_back(ln_meter *meter, size_t byte_count);

// The bytes that a block of `byte_count` takes from an allocator: with its header, rounded as
// usual allocators do. SIZE_MAX if that overflows.
size_t ln_meter_block(size_t byte_count);

// The bytes that the meter still grants; SIZE_MAX for NULL.
size_t ln_meter_left(const ln_meter *meter);

#endif
