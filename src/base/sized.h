// SPDX-License-Identifier: Apache-2.0
// Structures that a program fills which was compiled for another version of the library: older ones
// are shorter, newer ones longer. New fields go to the end, and 0 is what they were before.

#ifndef LN_BASE_SIZED_H
#define LN_BASE_SIZED_H

#include <stddef.h>

#include <lightnet/status.h>

// How long a structure is up to `field`, inclusive.
#define LN_SIZE_UP_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

// Copies a structure of `given_size` bytes, with the name `type`, over the first bytes of *out, of
// `size`; the others stay. LN_INVALID if it is shorter than `least`; LN_UNSUPPORTED if it is longer
// than the library knows, and anything beyond is not 0. On failure *out stays.
ln_status ln_sized_read(void *out, size_t size, const void *given, size_t given_size, size_t least,
                        const char *type);

// Fills in a structure of `given_size` bytes with what there is of one of `size`; 0 beyond.
void ln_sized_write(void *given, size_t given_size, const void *whole, size_t size);

// The structure itself if it has all fields; else a copy with the others 0, which belongs to
// `ln_sized_give_back`. Fails as ln_sized_read does. Thread-safe, as is the next.
ln_status ln_sized_adopt(void *given, size_t given_size, size_t size, size_t least,
                         const char *type, void **out_whole);

// What was made of `given`; itself if nothing was.
void *ln_sized_whole(void *given);

// Frees what was made for `whole`; the structure that it was made of, or `whole` itself.
void *ln_sized_give_back(void *whole);

#endif
