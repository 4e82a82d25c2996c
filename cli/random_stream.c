// SPDX-License-Identifier: Apache-2.0
// Random bits that are the same on every machine: a stream for each seed and name.

#include "random_stream.h"

uint64_t random_stream_next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// FNV-1a of the name, mixed with the seed.
uint64_t random_stream_start(uint64_t seed, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return random_stream_next(&seed) ^ hash;
}
