// SPDX-License-Identifier: Apache-2.0
// Packed data: numbers of 7 bits a byte, strings with their NUL; what base/pack_compress.c made of
// them is undone here.

#include "base/pack.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/pack_code.h"

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

// ---- Codes; see base/pack_code.h ----

typedef struct bit_reader {
    const unsigned char *at;
    uint32_t window; // its last `count` bits are those that come next
    unsigned count;
} bit_reader;

typedef struct code {
    uint16_t end[LN_PACK_MAX_BITS + 1];   // by length: behind its last code
    uint16_t start[LN_PACK_MAX_BITS + 1]; // what to add to a code for its place in `symbols`
    uint16_t symbols[LN_PACK_SYMBOLS];
} code;

// At most 24 bits that come next.
static unsigned peek_bits(bit_reader *bits, unsigned count)
{
    for (; bits->count < count; bits->count += 8)
        bits->window = bits->window << 8 | *bits->at++;
    return bits->window >> (bits->count - count) & ((1u << count) - 1);
}

static unsigned take_bits(bit_reader *bits, unsigned count)
{
    unsigned number = peek_bits(bits, count);
    bits->count -= count;
    return number;
}

static void take_lengths(bit_reader *bits, unsigned char lengths[LN_PACK_SYMBOLS])
{
    for (unsigned i = 0; i < LN_PACK_SYMBOLS; i++) {
        lengths[i] = (unsigned char)take_bits(bits, 4);
        if (lengths[i] > 0)
            continue;
        for (unsigned more = take_bits(bits, LN_PACK_ZERO_BITS); more > 0; more--)
            lengths[++i] = 0;
    }
}

static void take_code(bit_reader *bits, code *c)
{
    if (take_bits(bits, 1) == 0)
        return;
    unsigned char lengths[LN_PACK_SYMBOLS];
    take_lengths(bits, lengths);
    unsigned next = 0, place = 0;
    for (unsigned len = 1; len <= LN_PACK_MAX_BITS; len++) {
        next <<= 1;
        c->start[len] = (uint16_t)(place - next);
        for (unsigned i = 0; i < LN_PACK_SYMBOLS; i++) {
            if (lengths[i] != len)
                continue;
            c->symbols[place++] = (uint16_t)i;
            next++;
        }
        c->end[len] = (uint16_t)next;
    }
}

static unsigned take_symbol(bit_reader *bits, const code *c)
{
    unsigned ahead = peek_bits(bits, LN_PACK_MAX_BITS), len = 1;
    while (ahead >> (LN_PACK_MAX_BITS - len) >= c->end[len])
        len++;
    assert(len <= LN_PACK_MAX_BITS);
    bits->count -= len;
    return c->symbols[(uint16_t)(c->start[len] + (ahead >> (LN_PACK_MAX_BITS - len)))];
}

static size_t take_class(bit_reader *bits, unsigned class)
{
    if (class < 4)
        return class;
    unsigned count = class / 2 - 1;
    return (size_t)(2 | (class & 1)) << count | take_bits(bits, count);
}

static void decompress(const unsigned char *at, char *const *pieces, size_t byte_count)
{
    code codes[LN_PACK_CODES];
    bit_reader bits = {.at = at};
    for (size_t i = 0; i < LN_PACK_CODES; i++)
        take_code(&bits, &codes[i]);
    unsigned char byte = 0;
    for (size_t position = 0, distance = 0, left; position < byte_count;) {
        unsigned symbol = take_symbol(&bits, &codes[ln_pack_context(byte)]);
        if (symbol < 256) {
            byte = (unsigned char)symbol;
            *find_place(pieces, position++, &left) = (char)byte;
            continue;
        }
        size_t count = LN_PACK_MIN_COPY + take_class(&bits, symbol - 256);
        unsigned class = take_symbol(&bits, &codes[LN_PACK_CONTEXTS]);
        if (class > 0)
            distance = 1 + take_class(&bits, class - 1);
        assert(count <= byte_count - position && distance <= position);
        put_copy(pieces, position, distance, count);
        position += count;
        byte = (unsigned char)*find_place(pieces, position - 1, &left);
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
    size_t head = (size_t)take_uint(&packed), byte_count = head >> 1;
    char **pieces = make_pieces(arena, byte_count);
    *out_unpacker = (ln_unpacker){.next = pieces, .left = byte_count, .arena = arena};
    if (!pieces)
        return out_unpacker->status = LN_NO_MEMORY;
    if (head & 1)
        put_literals(pieces, 0, packed, byte_count);
    else
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
