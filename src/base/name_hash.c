// SPDX-License-Identifier: Apache-2.0
// SipHash (Aumasson and Bernstein, 2012) with one round for each word and three at the end, which
// is enough for a hash table whose order nobody sees.

#include "base/name_hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

// ---- SipHash ----

static uint64_t rotated(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void mix(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[0] = rotated(v[0], 32);
        v[2] += v[3];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
}

static uint64_t read_little_endian(const unsigned char *bytes, size_t byte_count)
{
    uint64_t word = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (byte_count == 8)
        return memcpy(&word, bytes, 8), word;
#endif
    for (size_t i = 0; i < byte_count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

uint64_t ln_siphash(const uint64_t key[2], const void *bytes, size_t byte_count, int rounds,
                    int end_rounds)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    const unsigned char *p = bytes;
    size_t left = byte_count;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word = read_little_endian(p, 8);
        v[3] ^= word;
        mix(v, rounds);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)byte_count << 56 | read_little_endian(p, left);
    v[3] ^= last;
    mix(v, rounds);
    v[0] ^= last;
    v[2] ^= 0xff;
    mix(v, end_rounds);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// ---- The key ----

static uint64_t process_key[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Without a source of randomness what is left is hard to guess rather than impossible.
static void draw_key(void)
{
    if (getrandom(process_key, sizeof process_key, GRND_NONBLOCK) == (ssize_t)sizeof process_key)
        return;
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    process_key[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uintptr_t)&now;
    process_key[1] = (uint64_t)getpid() << 32 ^ (uintptr_t)process_key;
}

uint32_t ln_name_hash(const void *name)
{
    if (!name)
        return 0;
    pthread_once(&once, draw_key);
    uint64_t hash = ln_siphash(process_key, name, strlen(name), 1, 3);
    return (uint32_t)(hash ^ hash >> 32);
}
