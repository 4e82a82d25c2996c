// SPDX-License-Identifier: Apache-2.0
// Compresses packed data as base/pack_code.h says: copies of Ziv and Lempel (1977) in codes of
// Huffman (1952), one for each kind of byte in front.
//
// Which copies are taken is a shortest path over all positions, with the bits of the codes as its
// costs; the codes follow from the path, so a few rounds of both come close to the best.

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>

#include "base/pack.h"
#include "base/pack_code.h"

#define HASH_BITS   15
#define HASHED      3   // bytes; the least copy that is searched for
#define MAX_TRIES   128 // places with the same hash
#define MAX_FOUND   8   // copies at one position
#define LONG_COPY   128 // inside of a copy as long nothing else is searched for
#define NEAR_LEN    32  // lengths below the longest that are tried, too
#define ROUNDS      4
#define UNUSED_BITS 14 // what a symbol may cost that has no code yet
#define MAX_RAW     ((size_t)1 << 22)

typedef struct copy {
    uint32_t len; // 0: none
    uint32_t distance;
} copy;

typedef struct step {
    uint32_t cost; // bits from the start to here
    copy copy;     // what leads here; a literal if its length is 1
    uint32_t last_distance;
} step;

typedef struct coder {
    const unsigned char *bytes;
    size_t len;
    copy (*found)[MAX_FOUND]; // by position: the longer, the farther
    step *steps;              // by position, and one behind the last
    uint32_t counts[LN_PACK_CODES][LN_PACK_SYMBOLS];
    unsigned char lengths[LN_PACK_CODES][LN_PACK_SYMBOLS];
    uint16_t codes[LN_PACK_CODES][LN_PACK_SYMBOLS];
    ln_text *packed;
    unsigned window, bit_count; // bits that are not written yet
} coder;

// ---- Finding copies ----

typedef struct places {
    uint32_t newest[1 << HASH_BITS]; // by hash: 1 + the last position with it
    uint32_t before[];               // by position: the one before it with the same hash
} places;

static size_t hash_at(const unsigned char *p)
{
    uint32_t word = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
    return (size_t)((uint32_t)(word * 2654435761u) >> (32 - HASH_BITS));
}

static uint32_t length_of_copy(const coder *c, size_t from, size_t to)
{
    uint32_t len = 0;
    while (to + len < c->len && c->bytes[from + len] == c->bytes[to + len])
        len++;
    return len;
}

static void find_copies(coder *c, const places *p, size_t position)
{
    copy *found = c->found[position];
    size_t count = 0, longest = HASHED - 1, next = p->newest[hash_at(c->bytes + position)];
    for (int tries = 0; next > 0 && tries < MAX_TRIES && longest < LONG_COPY; tries++) {
        size_t from = next - 1;
        next = p->before[from];
        if (position + longest >= c->len)
            return;
        if (c->bytes[from + longest] != c->bytes[position + longest])
            continue;
        uint32_t len = length_of_copy(c, from, position);
        if (len <= longest)
            continue;
        longest = len;
        found[count] = (copy){len, (uint32_t)(position - from)};
        count += count + 1 < MAX_FOUND;
    }
}

static void find_all_copies(coder *c, places *p)
{
    for (size_t i = 0; i + HASHED <= c->len; i++) {
        const copy *around = i > 0 ? c->found[i - 1] : c->found[i];
        size_t last = MAX_FOUND - 1;
        while (last > 0 && around[last].len == 0)
            last--;
        if (around[last].len > LONG_COPY)
            c->found[i][0] = (copy){around[last].len - 1, around[last].distance};
        else
            find_copies(c, p, i);
        size_t hash = hash_at(c->bytes + i);
        p->before[i] = p->newest[hash];
        p->newest[hash] = (uint32_t)i + 1;
    }
}

// ---- Costs ----

static unsigned class_of(size_t number, unsigned *out_bit_count)
{
    *out_bit_count = 0;
    if (number < 4)
        return (unsigned)number;
    unsigned count = 1;
    while (number >> count > 3)
        count++;
    *out_bit_count = count;
    return 2 + 2 * count + (number >> count & 1);
}

static unsigned context_at(const coder *c, size_t position)
{
    return ln_pack_context(position > 0 ? c->bytes[position - 1] : 0);
}

static uint32_t cost_of(const coder *c, unsigned code, unsigned symbol)
{
    return c->lengths[code][symbol] ? c->lengths[code][symbol] : UNUSED_BITS;
}

static void reach(coder *c, size_t from, copy to, uint32_t cost)
{
    step *at = &c->steps[from + to.len];
    cost += c->steps[from].cost;
    if (cost >= at->cost)
        return;
    uint32_t last = to.distance ? to.distance : c->steps[from].last_distance;
    *at = (step){cost, to, last};
}

// Lengths least to found.len of one copy: the first ones, and its longest.
static void reach_by_copy(coder *c, size_t from, uint32_t least, copy found)
{
    unsigned context = context_at(c, from), bit_count, class = 0;
    uint32_t cost = 0;
    if (found.distance != c->steps[from].last_distance) {
        class = 1 + class_of(found.distance - 1, &bit_count);
        cost = bit_count;
    }
    cost += cost_of(c, LN_PACK_CONTEXTS, class);
    for (uint32_t len = least; len <= found.len; len++) {
        if (len > least + NEAR_LEN)
            len = found.len;
        class = class_of(len - LN_PACK_MIN_COPY, &bit_count);
        reach(c, from, (copy){len, found.distance},
              cost + cost_of(c, context, 256 + class) + bit_count);
    }
}

static void reach_from(coder *c, size_t from)
{
    reach(c, from, (copy){1, 0}, cost_of(c, context_at(c, from), c->bytes[from]));
    copy again = {0, c->steps[from].last_distance};
    while (again.distance > 0 && again.len < NEAR_LEN && from + again.len < c->len &&
           c->bytes[from + again.len] == c->bytes[from + again.len - again.distance])
        again.len++;
    reach_by_copy(c, from, LN_PACK_MIN_COPY, again);
    uint32_t least = HASHED;
    for (size_t i = 0; i < MAX_FOUND && c->found[from][i].len > 0; i++) {
        reach_by_copy(c, from, least, c->found[from][i]);
        least = c->found[from][i].len;
    }
}

// Turns the path around: afterwards steps[i].copy leads from i to the next position.
static void find_path(coder *c)
{
    memset(c->steps, 0xff, (c->len + 1) * sizeof *c->steps);
    c->steps[0] = (step){0};
    for (size_t i = 0; i < c->len; i++)
        reach_from(c, i);
    copy later = {0};
    for (size_t i = c->len;;) {
        copy here = c->steps[i].copy;
        c->steps[i].copy = later;
        if (i == 0)
            return;
        later = here;
        i -= here.len;
    }
}

// ---- Codes ----

// Lengths of the code of Huffman for some counts.
static unsigned find_lengths(const uint32_t counts[LN_PACK_SYMBOLS],
                             unsigned char lengths[LN_PACK_SYMBOLS])
{
    enum { NODES = 2 * LN_PACK_SYMBOLS };
    uint32_t weights[NODES]; // of the symbols that are there, then of pairs of what lies in front
    unsigned parents[NODES] = {0}, used = 0, longest = 0;
    for (unsigned i = 0; i < LN_PACK_SYMBOLS; i++)
        if (counts[i] > 0)
            weights[used++] = counts[i];
    unsigned count = used;
    for (;; count++) {
        unsigned least[2] = {NODES, NODES};
        for (unsigned i = 0; i < count; i++) {
            if (weights[i] == 0)
                continue;
            if (least[0] == NODES || weights[i] < weights[least[0]]) {
                least[1] = least[0];
                least[0] = i;
            } else if (least[1] == NODES || weights[i] < weights[least[1]]) {
                least[1] = i;
            }
        }
        if (least[1] == NODES)
            break;
        parents[least[0]] = parents[least[1]] = count;
        weights[count] = weights[least[0]] + weights[least[1]];
        weights[least[0]] = weights[least[1]] = 0;
    }
    for (unsigned i = 0, node = 0; i < LN_PACK_SYMBOLS; i++) {
        unsigned len = counts[i] > 0 && used == 1;
        if (counts[i] > 0)
            for (unsigned at = parents[node++]; at > 0; at = parents[at])
                len++;
        lengths[i] = (unsigned char)len;
        longest = len > longest ? len : longest;
    }
    return longest;
}

// Counts that differ by less make shorter codes.
static void make_code(coder *c, unsigned code)
{
    uint32_t counts[LN_PACK_SYMBOLS];
    memcpy(counts, c->counts[code], sizeof counts);
    while (find_lengths(counts, c->lengths[code]) > LN_PACK_MAX_BITS)
        for (unsigned i = 0; i < LN_PACK_SYMBOLS; i++)
            counts[i] = (counts[i] + 1) / 2;
    unsigned next = 0;
    for (unsigned len = 1; len <= LN_PACK_MAX_BITS; len++) {
        next <<= 1;
        for (unsigned i = 0; i < LN_PACK_SYMBOLS; i++)
            if (c->lengths[code][i] == len)
                c->codes[code][i] = (uint16_t)next++;
    }
}

// ---- Writing ----

static void put_bits(coder *c, unsigned number, unsigned count)
{
    assert(count < 24 && number >> count == 0);
    c->window = c->window << count | number;
    for (c->bit_count += count; c->bit_count >= 8; c->bit_count -= 8) {
        char byte = (char)(unsigned char)(c->window >> (c->bit_count - 8));
        ln_text_append(c->packed, &byte, 1);
    }
}

static void put_code(coder *c, unsigned code)
{
    const unsigned char *lengths = c->lengths[code];
    bool is_used = false;
    for (unsigned i = 0; i < LN_PACK_SYMBOLS; i++)
        is_used |= lengths[i] > 0;
    put_bits(c, is_used, 1);
    for (unsigned i = 0; is_used && i < LN_PACK_SYMBOLS; i++) {
        put_bits(c, lengths[i], 4);
        if (lengths[i] > 0)
            continue;
        unsigned more = 0;
        while (more + 1 < 1u << LN_PACK_ZERO_BITS && i + 1 < LN_PACK_SYMBOLS && lengths[i + 1] == 0)
            more++, i++;
        put_bits(c, more, LN_PACK_ZERO_BITS);
    }
}

// Counts a symbol and the bits behind it, or writes them.
static void put_symbol(coder *c, bool is_counted, unsigned code, unsigned symbol, size_t number,
                       unsigned bit_count)
{
    if (is_counted) {
        c->counts[code][symbol]++;
        return;
    }
    put_bits(c, c->codes[code][symbol], c->lengths[code][symbol]);
    put_bits(c, (unsigned)(number & (((size_t)1 << bit_count) - 1)), bit_count);
}

static void put_path(coder *c, bool is_counted)
{
    uint32_t last = 0;
    for (size_t i = 0; i < c->len;) {
        copy here = c->steps[i].copy;
        unsigned context = context_at(c, i), bit_count, class;
        if (here.distance == 0) {
            put_symbol(c, is_counted, context, c->bytes[i++], 0, 0);
            continue;
        }
        class = class_of(here.len - LN_PACK_MIN_COPY, &bit_count);
        put_symbol(c, is_counted, context, 256 + class, here.len - LN_PACK_MIN_COPY, bit_count);
        bit_count = 0;
        class = here.distance == last ? 0 : 1 + class_of(here.distance - 1, &bit_count);
        put_symbol(c, is_counted, LN_PACK_CONTEXTS, class, here.distance - 1, bit_count);
        last = here.distance;
        i += here.len;
    }
}

static void guess_lengths(coder *c)
{
    memset(c->lengths, 5, sizeof c->lengths);
    for (unsigned i = 0; i < LN_PACK_CONTEXTS; i++)
        memset(c->lengths[i], 8, 256);
}

static void compress(coder *c, places *p)
{
    find_all_copies(c, p);
    guess_lengths(c);
    for (int round = 0; round < ROUNDS; round++) {
        find_path(c);
        memset(c->counts, 0, sizeof c->counts);
        put_path(c, true);
        for (unsigned i = 0; i < LN_PACK_CODES; i++)
            make_code(c, i);
    }
    for (unsigned i = 0; i < LN_PACK_CODES; i++)
        put_code(c, i);
    put_path(c, false);
    // The last bits, and those that the reader looks ahead.
    for (int i = 0; i < 3; i++)
        put_bits(c, 0, 8);
}

static void *zeroed(size_t count, size_t item_size)
{
    void *items = ln_alloc_array(count, item_size);
    if (items)
        memset(items, 0, count * item_size);
    return items;
}

static void try_to_compress(const ln_text *raw, ln_text *packed)
{
    coder *c = zeroed(1, sizeof *c);
    places *p = zeroed(1, sizeof *p + raw->len * sizeof *p->before);
    copy(*found)[MAX_FOUND] = zeroed(raw->len, sizeof *found);
    step *steps = zeroed(raw->len + 1, sizeof *steps);
    if (c && p && found && steps) {
        *c = (coder){.bytes = (const unsigned char *)raw->bytes,
                     .len = raw->len,
                     .found = found,
                     .steps = steps,
                     .packed = packed};
        compress(c, p);
    } else {
        packed->status = LN_NO_MEMORY;
    }
    ln_free(steps);
    ln_free(found);
    ln_free(p);
    ln_free(c);
}

void ln_pack_compress(const ln_text *raw, ln_text *packed)
{
    ln_text small = {.status = raw->status};
    if (raw->status == LN_OK && raw->len > 0 && raw->len < MAX_RAW)
        try_to_compress(raw, &small);
    bool is_small = small.len > 0 && small.len < raw->len;
    ln_pack_uint(packed, (uint64_t)raw->len * 2 + !is_small);
    ln_text_append(packed, is_small ? small.bytes : raw->bytes, is_small ? small.len : raw->len);
    if (small.status != LN_OK && packed->status == LN_OK)
        packed->status = small.status;
    ln_text_deinit(&small);
}
