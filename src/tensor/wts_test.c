// SPDX-License-Identifier: Apache-2.0
// The .wts reader on good and bad texts, and the writer.

#include <lightnet/tensor_file.h>

#include <stdlib.h>

#include "tests/test.h"

static ln_status open_text(const char *text, ln_tensor_file **out_file)
{
    return ln_tensor_file_open_mem(text, strlen(text), out_file);
}

static const char known_text[] = "1\nwts1 0 5 3f99999a 3a83126f bcf5c28f 48435000 00000000\n";
static const float known_values[] = {1.2f, 1e-3f, -3e-2f, 2e5f, 0};

TEST(a_known_file_reads_and_writes_exactly)
{
    ln_tensor_file *file;
    CHECK_OK(open_text(known_text, &file));
    CHECK_EQ(ln_tensor_file_get_format(file), LN_TENSOR_FILE_WTS);
    CHECK_EQ(ln_tensor_file_count(file), 1);
    const tl_tensor *t = ln_tensor_file_tensor(file, ln_tensor_file_find(file, "wts1"));
    CHECK_EQ(t->dtype, TL_FLOAT);
    CHECK_EQ(t->ndim, 1);
    CHECK_EQ(t->len, 5);
    CHECK_MEM_EQ(t->data, known_values, sizeof known_values);

    char *bytes;
    size_t byte_count;
    FILE *fp = open_memstream(&bytes, &byte_count);
    CHECK_OK(ln_tensor_file_write(fp, LN_TENSOR_FILE_WTS, &(ln_named_tensor){"wts1", t}, 1));
    fclose(fp);
    CHECK_STR_EQ(bytes, known_text);
    free(bytes);
    ln_tensor_file_close(file);
}

TEST(int8_empty_arrays_and_any_white_space_are_read)
{
    ln_tensor_file *file;
    CHECK_OK(open_text(" 3\r\na 2 3 1 fF 80 b 0 0\n\n\tc 0 1\n3F800000", &file));
    const int8_t *a = ln_tensor_file_tensor(file, 0)->data;
    CHECK_EQ(a[0], 1);
    CHECK_EQ(a[1], -1);
    CHECK_EQ(a[2], -128);
    CHECK_EQ(ln_tensor_file_tensor(file, 1)->len, 0);
    CHECK(*(const float *)ln_tensor_file_tensor(file, 2)->data == 1);
    ln_tensor_file_close(file);
    CHECK_OK(open_text("0", &file));
    CHECK_EQ(ln_tensor_file_count(file), 0);
    ln_tensor_file_close(file);
}

TEST(bad_texts_are_errors_with_their_line)
{
    static const struct {
        const char *text;
        ln_status status;
        const char *message;
    } rows[] = {
        {"", LN_UNSUPPORTED, "neither"},
        {"hello", LN_UNSUPPORTED, "neither"},
        {"1x\n", LN_SYNTAX, "line 1: the number of arrays"},
        {"99999999999\n", LN_LIMIT, "line 1"},
        {"2\na 0 1 00000000\n", LN_SYNTAX, "line 3: the file ends before the name"},
        {"1\na 0 1 00000000\nb 0 0\n", LN_SYNTAX, "line 3: text follows"},
        {"1\na", LN_SYNTAX, "line 2: the file ends before the type"},
        {"1\na 1 1 3c00\n", LN_UNSUPPORTED, "line 2: type 1 of array 'a'"},
        {"1\na -1 1 00\n", LN_SYNTAX, "type of an array is not a number"},
        {"1\na 0 2 00000000\n00000\n", LN_OK, ""},
        {"1\na 0 2 00000000      \n", LN_SYNTAX, "line 3: the file ends before word 1"},
        {"1\na 0 1000 00000000\n", LN_SYNTAX, "too short for 1000 words"},
        {"1\na 0 1 000000000\n", LN_SYNTAX, "word 0 is not 1 to 8"},
        {"1\na 0 1 0x0\n", LN_SYNTAX, "word 0 is not"},
        {"1\na 2 1 100\n", LN_SYNTAX, "word 0 is not 1 to 2"},
        {"1\n\x01 2 1 10\n", LN_SYNTAX, "byte 0x01"},
        {"2\na 2 1 10\na 2 1 10\n", LN_EXISTS, "'a' appears twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ln_tensor_file *file;
        ln_status status = open_text(rows[i].text, &file);
        if (status != rows[i].status ||
            (status != LN_OK && (file || !strstr(ln_error_message(), rows[i].message))))
            fail_msg("%s: %s: %s", rows[i].text, ln_status_name(status), ln_error_message());
        ln_tensor_file_close(file);
    }
}

TEST(only_what_the_format_holds_is_written)
{
    tl_tensor *f = tl_tensor_zeros(1, (int[]){1}, TL_FLOAT);
    tl_tensor *d = tl_tensor_zeros(1, (int[]){1}, TL_DOUBLE);
    const ln_named_tensor wrong_type[] = {{"a", f}, {"b", d}}, space = {"a b", f}, empty = {"", f};
    char *bytes;
    size_t byte_count;
    FILE *fp = open_memstream(&bytes, &byte_count);
    CHECK_FAILS(ln_tensor_file_write(fp, LN_TENSOR_FILE_WTS, wrong_type, 2), LN_UNSUPPORTED);
    CHECK_FAILS(ln_tensor_file_write(fp, LN_TENSOR_FILE_WTS, &space, 1), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_write(fp, LN_TENSOR_FILE_WTS, &empty, 1), LN_INVALID);
    fflush(fp);
    CHECK_EQ(byte_count, 0);
    const int8_t values[] = {-1, 10};
    tl_tensor *i = tl_tensor_zeros(1, (int[]){2}, TL_INT8);
    memcpy(i->data, values, sizeof values);
    CHECK_OK(ln_tensor_file_write(fp, LN_TENSOR_FILE_WTS, &(ln_named_tensor){"q", i}, 1));
    fclose(fp);
    CHECK_STR_EQ(bytes, "1\nq 2 2 ff 0a\n");
    free(bytes);
    tl_tensor_free_data_too(i);
    tl_tensor_free_data_too(f);
    tl_tensor_free_data_too(d);
}

TEST_LIST(a_known_file_reads_and_writes_exactly, int8_empty_arrays_and_any_white_space_are_read,
          bad_texts_are_errors_with_their_line, only_what_the_format_holds_is_written)
