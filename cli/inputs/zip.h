// SPDX-License-Identifier: Apache-2.0
// Zip archives in memory, for .npz: members that are stored or deflated.

#ifndef LN_CLI_INPUTS_ZIP_H
#define LN_CLI_INPUTS_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/status.h>

typedef struct zip_archive {
    const char *path; // in messages
    const unsigned char *bytes;
    size_t count;
    size_t next;       // offset of the next entry of the directory
    size_t left_count; // entries that have not been seen
} zip_archive;

typedef struct zip_member {
    char name[256];
    unsigned method;
    uint32_t crc;
    uint64_t packed_size;
    uint64_t size;
    uint64_t offset; // of its header
} zip_member;

#define ZIP_PEEK 22 // bytes that tell an archive

// 1 if the bytes begin as an archive does.
int zip_is(const char *bytes, size_t count);

// Opens the archive in `bytes`, which are borrowed as long as it is used, before its first member.
ln_status zip_open(const char *path, const char *bytes, size_t count, zip_archive *out);

// The next member; *out_has_member is 0 at the end.
ln_status zip_next(zip_archive *zip, zip_member *out_member, int *out_has_member);

// The bytes of a member, with its check sum compared; given back with free.
ln_status zip_extract(const zip_archive *zip, const zip_member *member, char **out_bytes,
                      size_t *out_count);

#endif
