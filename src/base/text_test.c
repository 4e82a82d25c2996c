// SPDX-License-Identifier: Apache-2.0
// Places, growing texts, and files in and out.

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tests/test.h"

#define SCRATCH LN_BUILD_DIR "/text_test.scratch"

static void *refuse(void *user, void *p, size_t size)
{
    (void)user;
    (void)p;
    (void)size;
    return NULL;
}

static void release(void *user, void *p)
{
    (void)user;
    free(p);
}

static const ln_allocator no_memory = {.resize = refuse, .release = release};

TEST(a_failure_tells_its_place)
{
    ln_place place = {"a.json", 3, 7};
    CHECK_EQ(ln_fail_at(place, LN_SYNTAX, "expected '%c'", ','), LN_SYNTAX);
    CHECK_STR_EQ(ln_error_message(), "a.json:3:7: expected ','");
    ln_fail_at((ln_place){"a.json", 0, 0}, LN_LIMIT, "too long");
    CHECK_STR_EQ(ln_error_message(), "a.json: too long");
    ln_fail_at((ln_place){0}, LN_LIMIT, "too long");
    CHECK_STR_EQ(ln_error_message(), "<text>: too long");
}

TEST(a_text_grows)
{
    ln_text text = {0};
    for (int i = 0; i < 1000; i++)
        ln_text_printf(&text, "%03d,", i);
    CHECK_EQ(text.len, 4000);
    CHECK_MEM_EQ(text.bytes + 3996, "999,", 5);
    ln_text_indent(&text, 3);
    ln_text_indent(&text, -1);
    ln_text_puts(&text, "x");
    ln_text_append(&text, "yz", 1);
    CHECK_STR_EQ(text.bytes + 4000, "   xy");
    ln_text_deinit(&text);
    CHECK_NULL(text.bytes);
}

TEST(an_empty_text_is_taken_as_an_empty_string)
{
    ln_text text = {0};
    char *bytes;
    size_t len = 1;
    ln_text_append(&text, NULL, 0);
    CHECK_OK(ln_text_take(&text, &bytes, &len));
    CHECK_STR_EQ(bytes, "");
    CHECK_EQ(len, 0);
    ln_free(bytes);
}

TEST(out_of_memory_keeps_the_text_and_the_first_failure)
{
    ln_text text = {0};
    ln_text_puts(&text, "kept");
    char big[200];
    memset(big, 'x', sizeof big);
    ln_allocator_set(&no_memory);
    ln_text_append(&text, big, sizeof big);
    ln_allocator_set(NULL);
    CHECK_EQ(text.status, LN_NO_MEMORY);
    CHECK_STR_EQ(text.bytes, "kept");
    ln_text_puts(&text, "never");
    CHECK_STR_EQ(text.bytes, "kept");
    char *bytes;
    CHECK_FAILS(ln_text_take(&text, &bytes, NULL), LN_NO_MEMORY);
    CHECK_NULL(bytes);
    CHECK_NULL(text.bytes);
}

TEST(a_file_reads_back_as_written)
{
    const char data[] = "one\0two\n";
    CHECK_OK(ln_text_write_file(SCRATCH, data, sizeof data));
    char *bytes;
    size_t len;
    CHECK_OK(ln_text_read_file(SCRATCH, 100, &bytes, &len));
    CHECK_EQ(len, sizeof data);
    CHECK_MEM_EQ(bytes, data, len);
    ln_free(bytes);
    CHECK_OK(ln_text_read_file(SCRATCH, sizeof data, &bytes, &len));
    ln_free(bytes);
    CHECK_FAILS(ln_text_read_file(SCRATCH, sizeof data - 1, &bytes, &len), LN_LIMIT);
    CHECK_NULL(bytes);
    unlink(SCRATCH);
}

TEST(writing_keeps_the_mode_and_writes_through_devices)
{
    CHECK_OK(ln_text_write_file(SCRATCH, "a", 1));
    CHECK_EQ(chmod(SCRATCH, 0640), 0);
    CHECK_OK(ln_text_write_file(SCRATCH, "", 0));
    struct stat info;
    CHECK_EQ(stat(SCRATCH, &info), 0);
    CHECK_EQ(info.st_mode & 07777, 0640);
    CHECK_EQ(info.st_size, 0);
    unlink(SCRATCH);
    CHECK_OK(ln_text_write_file("/dev/null", "x", 1));
    CHECK_EQ(stat("/dev/null", &info), 0);
    CHECK(S_ISCHR(info.st_mode));
}

TEST(what_cannot_be_read_or_written_is_named)
{
    char *bytes;
    CHECK_FAILS(ln_text_read_file("/nonexistent/x", 10, &bytes, NULL), LN_IO);
    CHECK_MESSAGE("'/nonexistent/x'");
    CHECK_FAILS(ln_text_read_file(LN_BUILD_DIR, 10, &bytes, NULL), LN_IO);
    CHECK_MESSAGE("not a regular file");
    CHECK_FAILS(ln_text_read_file(NULL, 10, &bytes, NULL), LN_INVALID);
    CHECK_FAILS(ln_text_write_file("/nonexistent/x", "a", 1), LN_IO);
    CHECK_FAILS(ln_text_write_file(LN_BUILD_DIR, "a", 1), LN_IO);
    CHECK_FAILS(ln_text_write_file(NULL, "a", 1), LN_INVALID);
    CHECK_FAILS(ln_text_write_file(SCRATCH, NULL, 1), LN_INVALID);
}

TEST_LIST(a_failure_tells_its_place, a_text_grows, an_empty_text_is_taken_as_an_empty_string,
          out_of_memory_keeps_the_text_and_the_first_failure, a_file_reads_back_as_written,
          writing_keeps_the_mode_and_writes_through_devices,
          what_cannot_be_read_or_written_is_named)
