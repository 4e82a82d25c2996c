// SPDX-License-Identifier: Apache-2.0
// The hash of names that come from a model, for hash tables.
//
// Who writes a model chooses its names; under a known hash they could all be made to collide, and
// reading the model would take quadratic time. This hash has secrets that are drawn once per
// process.

#ifndef LN_BASE_NAME_HASH_H
#define LN_BASE_NAME_HASH_H

#include <stdint.h>

#include <lightnet/export.h>

LN_CPPSTART

// An ln_hash_func for strings, to be used with `ln_str_cmp`. NULL hashes to 0. Differs between
// processes, so it must never reach an output.
uint32_t ln_name_hash(const void *name);

LN_CPPEND

#endif
