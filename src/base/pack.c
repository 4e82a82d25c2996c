// SPDX-License-Identifier: Apache-2.0
// Packed data: numbers of 7 bits a byte, strings with their NUL, and a dictionary coder of the kind
// of Lempel and Ziv (1977) around them.
//
// Compressed:  byte count of the raw data | sequence | sequence | ...
// A sequence:  token (high 4 bits: literals, low 4 bits: length of the copy less MIN_COPY; 15 in
//              either: a number follows that is added) | literals | distance back of the copy
// The last sequence ends with its literals, where the raw data end.

#include "base/pack.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <lightnet/allocator.h>

#define MIN_COPY    4
#define NIBBLE      15
#define HASH_BITS   15
#define MAX_TRIES   4096
#define NULL_STRING 1                 // stands for NULL; no string begins with this byte
#define PIECE_BYTES ((size_t)1 << 15) // of raw data that lie together when they are read

// ---- Numbers and strings ----

static void put_byte(ln_text *text, unsigned byte)
{
    char c = (char)(unsigned char)byte;
    ln_text_append(text, &c, 1);
}

void ln_pack_uint(ln_text *raw, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(raw, (unsigned)(number & 0x7f) | 0x80);
    put_byte(raw, (unsigned)number);
}

// Whole numbers are twice the number, or twice what is missing to -1; others have a 1 in front.
void ln_pack_number(ln_text *raw, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bool is_minus_zero = number == 0 && bits != 0;
    if (number > -1e9 && number < 1e9 && number == (double)(int64_t)number && !is_minus_zero) {
        int64_t whole = (int64_t)number;
        uint64_t folded = whole < 0 ? ((uint64_t)(-1 - whole) << 1 | 1) : (uint64_t)whole << 1;
        ln_pack_uint(raw, folded << 1);
        return;
    }
    put_byte(raw, 1);
    for (int i = 0; i < 8; i++)
        put_byte(raw, (unsigned)(bits >> (8 * i)) & 0xff);
}

void ln_pack_string(ln_text *raw, const char *string)
{
    assert(!string || string[0] != NULL_STRING);
    if (string)
        ln_text_append(raw, string, strlen(string) + 1);
    else
        put_byte(raw, NULL_STRING);
}

// ---- Compressing ----

typedef struct matcher {
    const unsigned char *bytes;
    size_t len;
    size_t *newest; // by hash of MIN_COPY bytes: position + 1 of the last place with that hash
    size_t *before; // by position: the one before it with the same hash
} matcher;

typedef struct copy {
    size_t len;
    size_t distance;
} copy;

static size_t hash_at(const matcher *m, size_t position)
{
    const unsigned char *p = m->bytes + position;
    uint32_t word =
        (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return (size_t)(word * 2654435761u) >> (32 - HASH_BITS);
}

static void enter(matcher *m, size_t position)
{
    if (position + MIN_COPY > m->len)
        return;
    size_t hash = hash_at(m, position);
    m->before[position] = m->newest[hash];
    m->newest[hash] = position + 1;
}

static size_t uint_bytes(size_t number)
{
    size_t count = 1;
    for (; number >= 0x80; number >>= 7)
        count++;
    return count;
}

// The copy that saves most at a position that is not entered yet; of length 0 if none saves any.
static copy find_copy(const matcher *m, size_t position)
{
    copy best = {0};
    size_t best_gain = 1; // the token
    if (position + MIN_COPY > m->len)
        return best;
    size_t next = m->newest[hash_at(m, position)];
    for (int tries = 0; next > 0 && tries < MAX_TRIES; tries++) {
        size_t from = next - 1, len = 0;
        while (position + len < m->len && m->bytes[from + len] == m->bytes[position + len])
            len++;
        size_t cost = uint_bytes(position - from) + (len >= MIN_COPY + NIBBLE ? 1 : 0);
        if (len >= MIN_COPY && len > cost + best_gain) {
            best = (copy){len, position - from};
            best_gain = len - cost;
        }
        next = m->before[from];
    }
    return best;
}

static void put_sequence(ln_text *packed, const unsigned char *literals, size_t count, copy c)
{
    size_t extra = c.len ? c.len - MIN_COPY : 0;
    put_byte(packed, (unsigned)((count < NIBBLE ? count : NIBBLE) << 4 |
                                (extra < NIBBLE ? extra : NIBBLE)));
    if (count >= NIBBLE)
        ln_pack_uint(packed, count - NIBBLE);
    ln_text_append(packed, (const char *)literals, count);
    if (c.len == 0)
        return;
    if (extra >= NIBBLE)
        ln_pack_uint(packed, extra - NIBBLE);
    ln_pack_uint(packed, c.distance);
}

static void compress(matcher *m, ln_text *packed)
{
    size_t start = 0, position = 0; // of the literals, and behind them
    while (position < m->len) {
        copy here = find_copy(m, position);
        enter(m, position);
        if (here.len == 0) {
            position++;
            continue;
        }
        // One more literal may make room for a longer copy.
        copy later = find_copy(m, position + 1);
        if (later.len > here.len + 1) {
            position++;
            continue;
        }
        put_sequence(packed, m->bytes + start, position - start, here);
        for (size_t i = 1; i < here.len; i++)
            enter(m, position + i);
        position += here.len;
        start = position;
    }
    if (start < m->len)
        put_sequence(packed, m->bytes + start, m->len - start, (copy){0});
}

void ln_pack_compress(const ln_text *raw, ln_text *packed)
{
    if (raw->status != LN_OK && packed->status == LN_OK)
        packed->status = raw->status;
    ln_pack_uint(packed, raw->len);
    if (raw->len == 0)
        return;
    matcher m = {.bytes = (const unsigned char *)raw->bytes,
                 .len = raw->len,
                 .newest = ln_alloc_array((size_t)1 << HASH_BITS, sizeof(size_t)),
                 .before = ln_alloc_array(raw->len, sizeof(size_t))};
    if (m.newest && m.before) {
        memset(m.newest, 0, sizeof(size_t) << HASH_BITS);
        compress(&m, packed);
    } else if (packed->status == LN_OK) {
        packed->status = LN_NO_MEMORY;
    }
    ln_free(m.newest);
    ln_free(m.before);
}

void ln_pack_print(const ln_text *raw, const char *name, ln_text *text)
{
    ln_text packed = {0};
    ln_pack_compress(raw, &packed);
    if (packed.status != LN_OK && text->status == LN_OK)
        text->status = packed.status;
    ln_text_printf(text, "static const unsigned char %s[%zu] = {", name, packed.len);
    for (size_t i = 0; i < packed.len; i++)
        ln_text_printf(text, "%s%u,", i % 24 == 0 ? "\n    " : "", (unsigned char)packed.bytes[i]);
    ln_text_puts(text, "\n};\n");
    ln_text_deinit(&packed);
}

// ---- Reading ----

static uint64_t take_uint(const unsigned char **at)
{
    uint64_t number = 0;
    unsigned shift = 0;
    for (; **at & 0x80; (*at)++, shift += 7)
        number |= (uint64_t)(**at & 0x7f) << shift;
    return number | (uint64_t) * (*at)++ << shift;
}

static size_t take_count(const unsigned char **at, unsigned nibble)
{
    return nibble == NIBBLE ? NIBBLE + (size_t)take_uint(at) : nibble;
}

// The place of a byte of the raw data, and how many there are from it to the end of its piece.
static char *find_place(char *const *pieces, size_t position, size_t *out_left)
{
    *out_left = PIECE_BYTES - position % PIECE_BYTES;
    return pieces[position / PIECE_BYTES] + position % PIECE_BYTES;
}

static void put_literals(char *const *pieces, size_t position, const unsigned char *bytes,
                         size_t count)
{
    for (size_t done = 0, left; done < count; done += left) {
        char *to = find_place(pieces, position + done, &left);
        left = left < count - done ? left : count - done;
        memcpy(to, bytes + done, left);
    }
}

static void put_copy(char *const *pieces, size_t position, size_t distance, size_t count)
{
    for (size_t done = 0, left; done < count; done += left) {
        size_t left_from;
        const char *from = find_place(pieces, position + done - distance, &left_from);
        char *to = find_place(pieces, position + done, &left);
        left = left < left_from ? left : left_from;
        left = left < count - done ? left : count - done;
        for (size_t i = 0; i < left; i++) // it may reach into what it makes
            to[i] = from[i];
    }
}

static void decompress(const unsigned char *at, char *const *pieces, size_t byte_count)
{
    for (size_t position = 0; position < byte_count;) {
        unsigned token = *at++;
        size_t count = take_count(&at, token >> 4);
        assert(count <= byte_count - position);
        put_literals(pieces, position, at, count);
        at += count;
        position += count;
        if (position == byte_count)
            return;
        count = take_count(&at, token & NIBBLE) + MIN_COPY;
        assert(count <= byte_count - position);
        put_copy(pieces, position, (size_t)take_uint(&at), count);
        position += count;
    }
}

// NULL if there is no memory.
static char **make_pieces(ln_document *arena, size_t byte_count)
{
    size_t count = byte_count / PIECE_BYTES + 1;
    char **pieces = ln_document_alloc(arena, count * sizeof *pieces);
    for (size_t i = 0; pieces && i < count; i++) {
        size_t left = byte_count - i * PIECE_BYTES;
        pieces[i] = ln_document_alloc(arena, left < PIECE_BYTES ? left : PIECE_BYTES);
        if (!pieces[i])
            return NULL;
    }
    return pieces;
}

static void open_next_piece(ln_unpacker *u)
{
    size_t byte_count = u->left < PIECE_BYTES ? u->left : PIECE_BYTES;
    u->at = *u->next++;
    u->end = u->at + byte_count;
    u->left -= byte_count;
}

ln_status ln_unpack_begin(const unsigned char *packed, ln_document *arena,
                          ln_unpacker *out_unpacker)
{
    size_t byte_count = (size_t)take_uint(&packed);
    char **pieces = make_pieces(arena, byte_count);
    *out_unpacker = (ln_unpacker){.next = pieces, .left = byte_count, .arena = arena};
    if (!pieces)
        return out_unpacker->status = LN_NO_MEMORY;
    decompress(packed, pieces, byte_count);
    open_next_piece(out_unpacker);
    return LN_OK;
}

// Goes on by bytes of the piece that is being read.
static void advance(ln_unpacker *u, size_t count)
{
    assert(count <= (size_t)(u->end - u->at));
    u->at += count;
    if (u->at == u->end && u->left > 0)
        open_next_piece(u);
}

static unsigned take_byte(ln_unpacker *u)
{
    unsigned byte = (unsigned char)*u->at;
    advance(u, 1);
    return byte;
}

uint64_t ln_unpack_uint(ln_unpacker *u)
{
    if (u->status != LN_OK)
        return 0;
    uint64_t number = 0;
    unsigned shift = 0, byte;
    do {
        byte = take_byte(u);
        number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return number;
}

double ln_unpack_number(ln_unpacker *u)
{
    if (u->status != LN_OK)
        return 0;
    uint64_t bits = 0;
    if (*u->at != 1) {
        uint64_t folded = ln_unpack_uint(u) >> 1;
        double whole = (double)(folded >> 1);
        return folded & 1 ? -1 - whole : whole;
    }
    advance(u, 1);
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)take_byte(u) << (8 * i);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

// A string that begins in the piece that is being read and ends in another one, in one place.
static char *join_string(ln_unpacker *u)
{
    size_t len = (size_t)(u->end - u->at), left = u->left;
    const char *nul = NULL;
    for (char *const *piece = u->next; !nul; piece++) {
        size_t byte_count = left < PIECE_BYTES ? left : PIECE_BYTES;
        assert(byte_count > 0);
        nul = memchr(*piece, 0, byte_count);
        len += nul ? (size_t)(nul - *piece) : byte_count;
        left -= byte_count;
    }
    char *string = ln_unpack_alloc(u, len + 1);
    for (size_t i = 0; string && i <= len; i++)
        string[i] = (char)take_byte(u);
    return string;
}

char *ln_unpack_string(ln_unpacker *u)
{
    if (u->status != LN_OK)
        return NULL;
    char *string = u->at;
    if (*string == NULL_STRING) {
        advance(u, 1);
        return NULL;
    }
    const char *nul = memchr(string, 0, (size_t)(u->end - string));
    if (!nul)
        return join_string(u);
    advance(u, (size_t)(nul - string) + 1);
    return string;
}

void *ln_unpack_alloc(ln_unpacker *u, size_t byte_count)
{
    if (u->status != LN_OK)
        return NULL;
    void *memory = ln_document_alloc(u->arena, byte_count);
    if (memory)
        memset(memory, 0, byte_count);
    else
        u->status = LN_NO_MEMORY;
    return memory;
}

void *ln_unpack_array(ln_unpacker *u, size_t item_size, size_t *out_count)
{
    size_t count = (size_t)ln_unpack_uint(u);
    void *items = NULL;
    if (count > 0)
        items = ln_unpack_alloc(u, count * item_size);
    *out_count = items ? count : 0;
    return items;
}
