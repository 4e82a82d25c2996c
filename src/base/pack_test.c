// SPDX-License-Identifier: Apache-2.0
// Packed data: what is read is what was written, compressed or not compressible.

#include "base/pack.h"

#include <float.h>
#include <lightnet/allocator.h>

#include "tests/oom.h"
#include "tests/test.h"

static const double numbers[] = {0,    -0.0,      1,     -1,  63,      64,    -65,
                                 1e9,  -1e9,      0.5,   0.1, -1.5e-9, 1e300, DBL_MIN,
                                 2047, 999999999, -4096, 3e5, 1e8,     1e10,  -1e-300};
static const uint64_t uints[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void open_packed(const ln_text *raw, ln_text *packed, ln_document **arena, ln_unpacker *u)
{
    ln_pack_compress(raw, packed);
    CHECK_OK(raw->status);
    CHECK_OK(packed->status);
    CHECK_OK(ln_document_create("packed", arena));
    CHECK_OK(ln_unpack_begin((const unsigned char *)packed->bytes, *arena, u));
}

TEST(numbers_and_strings_come_back_in_order)
{
    ln_text raw = {0}, packed = {0};
    for (size_t i = 0; i < COUNT(numbers); i++)
        ln_pack_number(&raw, numbers[i]);
    for (size_t i = 0; i < COUNT(uints); i++)
        ln_pack_uint(&raw, uints[i]);
    ln_pack_string(&raw, "");
    ln_pack_string(&raw, NULL);
    ln_pack_string(&raw, "many words");
    ln_pack_uint(&raw, 0); // an empty array

    ln_document *arena;
    ln_unpacker u;
    open_packed(&raw, &packed, &arena, &u);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        double number = ln_unpack_number(&u);
        CHECK(memcmp(&number, &numbers[i], sizeof number) == 0);
    }
    for (size_t i = 0; i < COUNT(uints); i++)
        CHECK(ln_unpack_uint(&u) == uints[i]);
    CHECK_STR_EQ(ln_unpack_string(&u), "");
    CHECK_NULL(ln_unpack_string(&u));
    CHECK_STR_EQ(ln_unpack_string(&u), "many words");
    size_t count = 1;
    CHECK_NULL(ln_unpack_array(&u, 8, &count));
    CHECK_EQ(count, 0);
    CHECK(u.at == u.end);
    ln_document_destroy(arena);
    ln_text_deinit(&packed);
    ln_text_deinit(&raw);
}

// Bytes whose pseudo-random numbers lie in 0..alphabet-1.
static void put_noise(ln_text *raw, size_t len, unsigned alphabet)
{
    unsigned state = 1;
    for (size_t i = 0; i < len; i++) {
        state = state * 1103515245u + 12345u;
        unsigned char byte = (unsigned char)((state >> 16 & 0xff) % alphabet);
        ln_text_append(raw, (const char *)&byte, 1);
    }
}

TEST(every_length_and_every_mix_comes_back)
{
    static const struct {
        const char *why;
        unsigned alphabet;
        size_t longest, step;
    } cases[] = {{"a run of one byte: copies that reach into themselves", 1, 700, 1},
                 {"two bytes: short distances", 2, 700, 1},
                 {"few bytes: long distances", 5, 60000, 9999},
                 {"noise: literals only", 127, 700, 7}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t len = 0; len <= cases[i].longest; len += cases[i].step) {
            ln_text raw = {0}, packed = {0};
            put_noise(&raw, len, cases[i].alphabet);
            ln_document *arena;
            ln_unpacker u;
            open_packed(&raw, &packed, &arena, &u);
            for (size_t at = 0; at < len; at++) // each is a number of one byte
                if (ln_unpack_uint(&u) != (unsigned char)raw.bytes[at])
                    fail_msg("%s: byte %zu of %zu differs", cases[i].why, at, len);
            CHECK(u.at == u.end && u.left == 0);
            CHECK(packed.len <= len + len / 64 + 8);
            if (cases[i].alphabet == 1 && len > 600)
                CHECK(packed.len < 26); // mostly the lengths of the codes
            ln_document_destroy(arena);
            ln_text_deinit(&packed);
            ln_text_deinit(&raw);
        }
    }
}

TEST(without_memory_everything_reads_as_nothing)
{
    ln_text raw = {0}, packed = {0};
    ln_pack_uint(&raw, 3);
    ln_pack_string(&raw, "left");
    ln_document *arena;
    ln_unpacker u;
    open_packed(&raw, &packed, &arena, &u);
    test_oom oom;
    test_oom_start(&oom, 0);
    size_t count = 1;
    void *items = ln_unpack_array(&u, 1 << 20, &count);
    test_oom_stop();
    CHECK_NULL(items);
    CHECK_EQ(count, 0);
    CHECK_EQ(u.status, LN_NO_MEMORY);
    CHECK_NULL(ln_unpack_string(&u));
    CHECK(ln_unpack_uint(&u) == 0);
    CHECK(ln_unpack_number(&u) == 0);
    ln_document_destroy(arena);
    ln_text_deinit(&packed);
    ln_text_deinit(&raw);
}

// Whatever lies at the border of two pieces, or goes over several of them.
TEST(what_goes_over_the_end_of_a_piece_comes_back)
{
    enum { PIECE = 1 << 15 };
    static char longest[3 * PIECE];
    memset(longest, 'x', sizeof longest - 1);
    for (size_t before = PIECE - 24; before <= PIECE; before++) {
        ln_text raw = {0}, packed = {0};
        put_noise(&raw, before, 127);
        ln_pack_number(&raw, 0.1);
        ln_pack_string(&raw, "a string");
        ln_pack_uint(&raw, UINT64_MAX);
        ln_pack_string(&raw, longest);
        ln_pack_string(&raw, NULL);
        ln_document *arena;
        ln_unpacker u;
        open_packed(&raw, &packed, &arena, &u);
        for (size_t i = 0; i < before; i++)
            ln_unpack_uint(&u);
        CHECK(ln_unpack_number(&u) == 0.1);
        CHECK_STR_EQ(ln_unpack_string(&u), "a string");
        CHECK(ln_unpack_uint(&u) == UINT64_MAX);
        CHECK_STR_EQ(ln_unpack_string(&u), longest);
        CHECK_NULL(ln_unpack_string(&u));
        CHECK(u.at == u.end && u.left == 0);
        ln_document_destroy(arena);
        ln_text_deinit(&packed);
        ln_text_deinit(&raw);
    }
}

TEST_LIST(what_goes_over_the_end_of_a_piece_comes_back, numbers_and_strings_come_back_in_order,
          every_length_and_every_mix_comes_back, without_memory_everything_reads_as_nothing)
