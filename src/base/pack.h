// SPDX-License-Identifier: Apache-2.0
// Packed data: what the build knows and the library needs, such as rewrite rules, in few bytes.
//
// Constant structs with pointers cost 8 bytes a pointer and a relocation each. So lightnet-gen
// writes records of numbers and strings one after the other, which are compressed; the library
// reads them back into structs when it needs them. The two sides agree on the order of the records,
// and on nothing else. Packed bytes are part of the library, never input: they are trusted.
//
//     ln_pack_uint(&raw, count); ...            size_t count = ln_unpack_uint(&u); ...
//     ln_pack_print(&raw, "rules", &code);      while reading what ln_unpack_begin opened

#ifndef LN_BASE_PACK_H
#define LN_BASE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/value.h"

LN_CPPSTART

// ---- Writing; failures go to the text's status ----

void ln_pack_uint(ln_text *raw, uint64_t number);
void ln_pack_number(ln_text *raw, double number);
void ln_pack_string(ln_text *raw, const char *string); // NULL stays NULL

// Appends the compressed form of `raw` to `packed`.
void ln_pack_compress(const ln_text *raw, ln_text *packed);

// Appends C code to `text`: `static const unsigned char NAME[LEN] = {...};` with the compressed
// form of `raw`.
void ln_pack_print(const ln_text *raw, const char *name, ln_text *text);

// ---- Reading; after a failure everything reads as 0, NULL and empty ----

typedef struct ln_unpacker {
    char *at;           // in the piece that is being read; at the end of all: `end`
    const char *end;    // of the piece
    char *const *next;  // the pieces behind it,
    size_t left;        // and the bytes in them
    ln_document *arena; // where strings lie, and whatever the reader makes
    ln_status status;   // LN_OK, or LN_NO_MEMORY
} ln_unpacker;

// Decompresses `packed` into memory of `arena`, which outlives all that is read. No request for
// memory is as large as the data.
ln_status ln_unpack_begin(const unsigned char *packed, ln_document *arena,
                          ln_unpacker *out_unpacker);

uint64_t ln_unpack_uint(ln_unpacker *u);
double ln_unpack_number(ln_unpacker *u);
char *ln_unpack_string(ln_unpacker *u); // a place in the arena; NULL for what was NULL

// Zeroed memory of the arena; NULL on failure.
void *ln_unpack_alloc(ln_unpacker *u, size_t byte_count);

// The same for as many items as the number says that is read here, of a kilobyte at most; NULL for
// none, and then *out_count is 0.
void *ln_unpack_array(ln_unpacker *u, size_t item_size, size_t *out_count);

LN_CPPEND

#endif
