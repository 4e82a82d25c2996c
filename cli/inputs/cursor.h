// SPDX-License-Identifier: Apache-2.0
// Numbers out of bytes that nobody vouches for.

#ifndef LN_CLI_INPUTS_CURSOR_H
#define LN_CLI_INPUTS_CURSOR_H

#include <stddef.h>
#include <stdint.h>

// Unsigned numbers in little-endian order; the caller knows that the bytes are there.
static inline uint32_t little16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t little32(const unsigned char *at)
{
    return little16(at) | little16(at + 2) << 16;
}

static inline uint64_t little64(const unsigned char *at)
{
    return (uint64_t)little32(at) | (uint64_t)little32(at + 4) << 32;
}

// Whether `size` bytes from `offset` on are within `count`.
static inline int is_within(uint64_t offset, uint64_t size, uint64_t count)
{
    return offset <= count && size <= count - offset;
}

#endif
