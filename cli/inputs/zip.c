// SPDX-License-Identifier: Apache-2.0
// Zip archives, from the directory at their end on; with the 64-bit fields that NumPy writes.
//
//     | header, name, extra, data | ... | directory entry | ... | [64-bit end, locator] | end |

#include "zip.h"

#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST // what is read is not written to
#include <zlib.h>

#include "cursor.h"

#define MAX_MEMBER_BYTES ((uint64_t)1 << 32)
#define MAX_EXPANSION    1032 // what deflate can do at most

enum {
    HEADER_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    MAX_COMMENT = 65535,
    EXTRA_64 = 1,
};

#define HEADER_MAGIC  0x04034b50u
#define ENTRY_MAGIC   0x02014b50u
#define END_MAGIC     0x06054b50u
#define END64_MAGIC   0x06064b50u
#define LOCATOR_MAGIC 0x07064b50u

static ln_status malformed(const zip_archive *zip, const char *what)
{
    return LN_FAIL(LN_SYNTAX, "%s: the archive %s", zip->path, what);
}

int zip_is(const char *bytes, size_t count)
{
    return count >= END_SIZE && (memcmp(bytes, "PK\x03\x04", 4) == 0 ||
                                 memcmp(bytes, "PK\x05\x06", 4) == 0); // without a member
}

// ---- The directory ----

// The end record, which a comment of any bytes may follow: the last that fits.
static int find_end(const zip_archive *zip, size_t *out_at)
{
    if (zip->count < END_SIZE)
        return 0;
    size_t last = zip->count - END_SIZE;
    size_t first = last > MAX_COMMENT ? last - MAX_COMMENT : 0;
    for (size_t at = last + 1; at-- > first;) {
        const unsigned char *end = zip->bytes + at;
        if (little32(end) == END_MAGIC && little16(end + 20) == zip->count - at - END_SIZE) {
            *out_at = at;
            return 1;
        }
    }
    return 0;
}

// The 64-bit end record in front of the other; 0 if there is none.
static int find_end64(const zip_archive *zip, size_t end_at, size_t *out_at)
{
    if (end_at < LOCATOR_SIZE)
        return 0;
    const unsigned char *locator = zip->bytes + end_at - LOCATOR_SIZE;
    if (little32(locator) != LOCATOR_MAGIC)
        return 0;
    uint64_t at = little64(locator + 8);
    if (!is_within(at, END64_SIZE, zip->count) || little32(zip->bytes + at) != END64_MAGIC)
        return 0;
    *out_at = (size_t)at;
    return 1;
}

ln_status zip_open(const char *path, const char *bytes, size_t count, zip_archive *out)
{
    *out = (zip_archive){.path = path, .bytes = (const unsigned char *)bytes, .count = count};
    size_t end_at, end64_at;
    if (!find_end(out, &end_at))
        return malformed(out, "has no directory at its end; is it cut off?");
    const unsigned char *end = out->bytes + end_at;
    uint64_t entry_count = little16(end + 10), size = little32(end + 12), at = little32(end + 16);
    if (find_end64(out, end_at, &end64_at)) {
        end = out->bytes + end64_at;
        entry_count = little64(end + 32);
        size = little64(end + 40);
        at = little64(end + 48);
    }
    // Offsets may count from the archive's own start, after bytes of another file.
    if (end == out->bytes + end_at && is_within(at, size, end_at) && size >= ENTRY_SIZE) {
        size_t skipped = end_at - (size_t)size - (size_t)at;
        if (little32(out->bytes + at) != ENTRY_MAGIC &&
            little32(out->bytes + at + skipped) == ENTRY_MAGIC) {
            out->bytes += skipped;
            out->count -= skipped;
            count -= skipped;
        }
    }
    if (!is_within(at, size, count) || entry_count > size / ENTRY_SIZE)
        return malformed(out, "has a directory that does not fit into it");
    out->next = (size_t)at;
    out->left_count = (size_t)entry_count;
    return LN_OK;
}

// Sizes and offset of 64 bits, where the entry's own field is full; in this order.
static ln_status read_extra(const zip_archive *zip, const unsigned char *extra, size_t size,
                            zip_member *member)
{
    uint64_t *const fields[] = {&member->size, &member->packed_size, &member->offset};
    while (size >= 4) {
        unsigned id = little16(extra), len = little16(extra + 2);
        if (len > size - 4)
            break;
        const unsigned char *value = extra + 4, *end = value + len;
        for (size_t i = 0; id == EXTRA_64 && i < 3; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (end - value < 8)
                return malformed(zip, "has a size of 64 bits that is cut off");
            *fields[i] = little64(value);
            value += 8;
        }
        extra += 4 + len;
        size -= 4 + len;
    }
    return LN_OK;
}

ln_status zip_next(zip_archive *zip, zip_member *out_member, int *out_has_member)
{
    *out_has_member = 0;
    if (zip->left_count == 0)
        return LN_OK;
    if (!is_within(zip->next, ENTRY_SIZE, zip->count) ||
        little32(zip->bytes + zip->next) != ENTRY_MAGIC)
        return malformed(zip, "has a damaged directory");
    const unsigned char *entry = zip->bytes + zip->next;
    size_t name_size = little16(entry + 28), extra_size = little16(entry + 30);
    size_t size = ENTRY_SIZE + name_size + extra_size + little16(entry + 32);
    if (!is_within(zip->next, size, zip->count))
        return malformed(zip, "has a damaged directory");
    zip_member *m = out_member;
    *m = (zip_member){.method = little16(entry + 10),
                      .crc = little32(entry + 16),
                      .packed_size = little32(entry + 20),
                      .size = little32(entry + 24),
                      .offset = little32(entry + 42)};
    if (little16(entry + 8) & 1)
        return LN_FAIL(LN_UNSUPPORTED, "%s: the archive is encrypted", zip->path);
    if (name_size >= sizeof m->name || memchr(entry + ENTRY_SIZE, '\0', name_size))
        return malformed(zip, "has a member whose name is too long or holds a NUL");
    memcpy(m->name, entry + ENTRY_SIZE, name_size);
    LN_TRY(read_extra(zip, entry + ENTRY_SIZE + name_size, extra_size, m));
    zip->next += size;
    zip->left_count--;
    *out_has_member = 1;
    return LN_OK;
}

// ---- Members ----

static ln_status find_data(const zip_archive *zip, const zip_member *m,
                           const unsigned char **out_data)
{
    if (!is_within(m->offset, HEADER_SIZE, zip->count) ||
        little32(zip->bytes + m->offset) != HEADER_MAGIC)
        return LN_FAIL(LN_SYNTAX, "%s: member '%s' is not where the archive says", zip->path,
                       m->name);
    const unsigned char *header = zip->bytes + m->offset;
    uint64_t at = m->offset + HEADER_SIZE + little16(header + 26) + little16(header + 28);
    if (!is_within(at, m->packed_size, zip->count))
        return LN_FAIL(LN_SYNTAX, "%s: member '%s' reaches beyond the archive", zip->path, m->name);
    *out_data = zip->bytes + at;
    return LN_OK;
}

// Fills `to` with exactly `size` bytes.
static int inflate_all(const unsigned char *data, size_t packed_size, unsigned char *to,
                       size_t size)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) // without a head
        return 0;
    int code = Z_OK;
    const size_t step = (size_t)1 << 30; // a uInt counts
    size_t taken = 0, made = 0;
    while (code == Z_OK) {
        size_t in = packed_size - taken < step ? packed_size - taken : step;
        size_t room = size - made < step ? size - made : step;
        unsigned char none;
        stream.next_in = data + taken;
        stream.avail_in = (uInt)in;
        stream.next_out = room ? to + made : &none;
        stream.avail_out = room ? (uInt)room : 1; // a byte too much is noticed
        code = inflate(&stream, Z_NO_FLUSH);
        taken += in - stream.avail_in;
        if (room)
            made += room - stream.avail_out;
        else if (stream.avail_out == 0)
            code = Z_DATA_ERROR;
    }
    inflateEnd(&stream);
    return code == Z_STREAM_END && made == size;
}

static uint32_t checksum(const char *bytes, size_t count)
{
    uLong crc = crc32(0, NULL, 0);
    const size_t step = (size_t)1 << 30;
    for (size_t at = 0; at < count; at += step) {
        size_t part = count - at < step ? count - at : step;
        crc = crc32(crc, (const Bytef *)bytes + at, (uInt)part);
    }
    return (uint32_t)crc;
}

ln_status zip_extract(const zip_archive *zip, const zip_member *m, char **out_bytes,
                      size_t *out_count)
{
    enum { STORED = 0, DEFLATED = 8 };
    *out_bytes = NULL;
    const unsigned char *data;
    LN_TRY(find_data(zip, m, &data));
    if (m->method != STORED && m->method != DEFLATED)
        return LN_FAIL(LN_UNSUPPORTED,
                       "%s: member '%s' is compressed by method %u; numpy.savez_compressed uses 8",
                       zip->path, m->name, m->method);
    // Before memory is taken: the sizes come from the file.
    int is_possible =
        m->method == STORED ? m->size == m->packed_size : m->size / MAX_EXPANSION <= m->packed_size;
    if (!is_possible || m->size > MAX_MEMBER_BYTES)
        return LN_FAIL(LN_SYNTAX, "%s: member '%s' cannot have %llu bytes", zip->path, m->name,
                       (unsigned long long)m->size);
    char *bytes = malloc((size_t)m->size + 1);
    if (!bytes)
        return LN_FAIL(LN_NO_MEMORY, "out of memory reading %s", zip->path);
    int is_whole = 1;
    if (m->method == STORED)
        memcpy(bytes, data, (size_t)m->size);
    else
        is_whole =
            inflate_all(data, (size_t)m->packed_size, (unsigned char *)bytes, (size_t)m->size);
    if (!is_whole || checksum(bytes, (size_t)m->size) != m->crc) {
        free(bytes);
        return LN_FAIL(LN_SYNTAX, "%s: member '%s' is damaged", zip->path, m->name);
    }
    bytes[m->size] = '\0';
    *out_bytes = bytes;
    *out_count = (size_t)m->size;
    return LN_OK;
}
