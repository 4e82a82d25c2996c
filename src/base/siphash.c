// SPDX-License-Identifier: Apache-2.0
// SipHash (Aumasson and Bernstein, 2012).

#include "base/siphash.h"

#include <string.h>

static inline uint64_t rotated(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static inline void mix(sip *v, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v->a += v->b;
        v->b = rotated(v->b, 13) ^ v->a;
        v->a = rotated(v->a, 32);
        v->c += v->d;
        v->d = rotated(v->d, 16) ^ v->c;
        v->a += v->d;
        v->d = rotated(v->d, 21) ^ v->a;
        v->c += v->b;
        v->b = rotated(v->b, 17) ^ v->c;
        v->c = rotated(v->c, 32);
    }
}

static inline uint64_t read_little_endian(const unsigned char *bytes, size_t byte_count)
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

// The last bytes of `byte_count`, fewer than eight: the end of the word that ends with them.
static inline uint64_t read_last(const unsigned char *bytes, size_t byte_count)
{
    const size_t left = byte_count % 8;
    if (byte_count < 8)
        return read_little_endian(bytes, left);
    return left ? read_little_endian(bytes + byte_count - 8, 8) >> (64 - 8 * left) : 0;
}

uint64_t ln_siphash(const uint64_t key[2], const void *data, size_t byte_count, int rounds,
                    int end_rounds)
{
    const unsigned char *bytes = data;
    sip v = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
             key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    for (size_t at = 0; at + 8 <= byte_count; at += 8) {
        uint64_t word = read_little_endian(bytes + at, 8);
        v.d ^= word;
        mix(&v, rounds);
        v.a ^= word;
    }
    uint64_t last = (uint64_t)byte_count << 56 | read_last(bytes, byte_count);
    v.d ^= last;
    mix(&v, rounds);
    v.a ^= last;
    v.c ^= 0xff;
    mix(&v, end_rounds);
    return v.a ^ v.b ^ v.c ^ v.d;
}
