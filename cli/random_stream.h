// SPDX-License-Identifier: Apache-2.0
// Random bits that are the same on every machine: a stream for each seed and name.

#ifndef LN_CLI_RANDOM_STREAM_H
#define LN_CLI_RANDOM_STREAM_H

#include <stdint.h>

// Where the stream of a name starts; and its next 64 bits (splitmix64; Steele, Lea, Flood 2014).
uint64_t random_stream_start(uint64_t seed, const char *name);
uint64_t random_stream_next(uint64_t *state);

#endif
