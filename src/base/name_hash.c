// SPDX-License-Identifier: Apache-2.0
// The hash of a name is the high half of a sum of products modulo 2^64: each word of four bytes,
// and the length, times a secret of its own (Dietzfelbinger, 1996; Lemire and Kaser, 2014). Whoever
// chose two names that differ, they have one hash with a probability of 2^-32 for each block.

#include "base/name_hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/siphash.h"

#define BLOCK_WORDS 64
#define BLOCK_BYTES (4 * BLOCK_WORDS)

// ---- The secrets ----

static uint64_t secrets[2 + BLOCK_WORDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Without a source of randomness what is left is hard to guess rather than impossible.
static void draw_secrets(void)
{
    uint64_t key[2];
    if (getrandom(key, sizeof key, GRND_NONBLOCK) != (ssize_t)sizeof key) {
        struct timespec now = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        key[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uintptr_t)&now;
        key[1] = (uint64_t)getpid() << 32 ^ (uintptr_t)secrets;
    }
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        secrets[i] = ln_siphash(key, &i, sizeof i, 2, 4);
}

// ---- Names ----

static inline uint32_t read_word(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// `before` is the hash of the blocks before. The last word may share bytes with the one before it.
static uint32_t hash_block(uint32_t before, const unsigned char *bytes, size_t byte_count)
{
    const uint64_t *secret = secrets + 2;
    uint64_t sum = secrets[0] + secrets[1] * before;
    if (byte_count >= 4) {
        for (; byte_count > 4; byte_count -= 4, bytes += 4)
            sum += *secret++ * read_word(bytes);
        sum += *secret * read_word(bytes + byte_count - 4);
    } else if (byte_count > 0) {
        sum += *secret * (bytes[0] | (uint32_t)bytes[byte_count / 2] << 8 |
                          (uint32_t)bytes[byte_count - 1] << 16);
    }
    return (uint32_t)(sum >> 32);
}

uint32_t ln_name_hash(const void *name)
{
    if (!name)
        return 0;
    pthread_once(&once, draw_secrets);
    const unsigned char *bytes = name;
    size_t left = strlen(name);
    uint32_t hash = (uint32_t)left;
    for (; left > BLOCK_BYTES; left -= BLOCK_BYTES, bytes += BLOCK_BYTES)
        hash = hash_block(hash, bytes, BLOCK_BYTES);
    return hash_block(hash, bytes, left);
}
