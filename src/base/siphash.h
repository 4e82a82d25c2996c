// SPDX-License-Identifier: Apache-2.0
// SipHash: a digest of bytes, which cannot be aimed at without its key.

#ifndef LN_BASE_SIPHASH_H
#define LN_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/export.h>

LN_CPPSTART

// With a stated number of rounds for each eight bytes and at the end.
uint64_t ln_siphash(const uint64_t key[2], const void *data, size_t byte_count, int rounds,
                    int end_rounds);

LN_CPPEND

#endif
