// SPDX-License-Identifier: Apache-2.0
// Text of elements and tensors; formats from outside.

#include <lightnet/tensor.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/test.h"

// Prints into a static buffer; "!" when printing failed.
static const char *element_text(tl_dtype dtype, double value, const char *fmt)
{
    static char text[1024];
    uint64_t element;
    tl_convert(&element, dtype, &value, TL_DOUBLE);
    FILE *fp = fmemopen(text, sizeof text, "w");
    int byte_count = tl_fprintf(fp, fmt, &element, dtype);
    fclose(fp);
    return byte_count < 0 ? "!" : text;
}

static const char *tensor_text(const tl_tensor *t, const char *fmt)
{
    static char text[1024];
    FILE *fp = fmemopen(text, sizeof text, "w");
    ln_status status = tl_tensor_fprint(fp, t, fmt);
    fclose(fp);
    return status == LN_OK ? text : "!";
}

TEST(elements_print_in_their_default_format)
{
    static const struct {
        tl_dtype dtype;
        double value;
        const char *expected;
    } rows[] = {
        {TL_DOUBLE, 0.12345, "0.123"},
        {TL_FLOAT, 0.12345, "0.123"},
        {TL_INT32, -1, "-1"},
        {TL_INT16, -1, "-1"},
        {TL_INT8, -1, "-1"},
        {TL_UINT32, 1, "1"},
        {TL_UINT16, 1, "1"},
        {TL_UINT8, 1, "1"},
        {TL_BOOL, 1, "1"},
        {TL_INT64, -1, "-1"},
        {TL_UINT64, 1e20, "18446744073709551615"},
        {TL_INT64, -1e20, "-9223372036854775808"},
        {TL_FLOAT, INFINITY, "inf"},
        {TL_UINT32, 1e10, "4294967295"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_STR_EQ(element_text(rows[i].dtype, rows[i].value, NULL), rows[i].expected);
        CHECK_STR_EQ(element_text(rows[i].dtype, rows[i].value, tl_dtype_fmt(rows[i].dtype)),
                     rows[i].expected);
    }
}

TEST(formats_are_checked_and_made_safe)
{
    static const struct {
        tl_dtype dtype;
        double value;
        const char *fmt;
        const char *expected; // "!" for a refusal
    } rows[] = {
        {TL_FLOAT, 1.5, "%8.2f|", "    1.50|"},
        {TL_FLOAT, 1.5, "<%-+6.1lf>", "<+1.5  >"},
        {TL_DOUBLE, 1.5, "%g", "1.5"},
        {TL_DOUBLE, 0.5, "%.0e%%", "5e-01%"},
        {TL_DOUBLE, 1, "%a", "0x1p+0"},
        {TL_INT32, -1, "%x", "ffffffff"},
        {TL_INT8, -1, "%hhx", "ff"},
        {TL_INT64, -1, "%lX", "FFFFFFFFFFFFFFFF"},
        {TL_INT32, 5, "%ld", "5"},
        {TL_INT16, 5, "%03hd", "005"},
        {TL_UINT64, 1e20, "%d", "18446744073709551615"},
        {TL_UINT8, 255, "%o", "377"},
        {TL_BOOL, 1, "%i", "1"},
        {TL_FLOAT, 1, "%d", "!"},
        {TL_INT32, 1, "%f", "!"},
        {TL_INT32, 1, "%s", "!"},
        {TL_INT32, 1, "%n", "!"},
        {TL_INT32, 1, "%c", "!"},
        {TL_INT32, 1, "%p", "!"},
        {TL_INT32, 1, "%*d", "!"},
        {TL_INT32, 1, "%1$d", "!"},
        {TL_INT32, 1, "%d %d", "!"},
        {TL_INT32, 1, "%d%n", "!"},
        {TL_INT32, 1, "%%d", "!"},
        {TL_INT32, 1, "", "!"},
        {TL_INT32, 1, "%", "!"},
        {TL_INT32, 1, "%d%", "!"},
        {TL_INT32, 1, "%l", "!"},
        {TL_INT32, 1, "%lhld", "!"},
        {TL_INT32, 1, "%1000d", "!"},
        {TL_FLOAT, 1, "%.1000f", "!"},
        {TL_DOUBLE, 1, "0123456789012345678901234567890123456789012345678901234567890123%f", "!"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = element_text(rows[i].dtype, rows[i].value, rows[i].fmt);
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("'%s' gives '%s' instead of '%s'", rows[i].fmt, text, rows[i].expected);
    }
}

TEST(rows_are_indented_by_their_depth)
{
    tl_tensor *t = tl_tensor_zeros(3, (int[]){1, 2, 3}, TL_FLOAT);
    CHECK_STR_EQ(tensor_text(t, NULL), "[[[0.000 0.000 0.000]\n  [0.000 0.000 0.000]]]\n");
    tl_tensor_free_data_too(t);
    t = tl_tensor_arange(0, 8, 1, TL_INT32);
    CHECK_STR_EQ(tensor_text(t, NULL), "[0 1 2 3 4 5 6 7]\n");
    CHECK_OK(tl_tensor_reshape_src(t, 3, (int[]){2, 2, 2}));
    CHECK_STR_EQ(tensor_text(t, "%d"), "[[[0 1]\n  [2 3]]\n [[4 5]\n  [6 7]]]\n");
    CHECK_OK(tl_tensor_reshape_src(t, 2, (int[]){8, 1}));
    CHECK_STR_EQ(tensor_text(t, "%d"), "[[0]\n [1]\n [2]\n [3]\n [4]\n [5]\n [6]\n [7]]\n");
    CHECK_STR_EQ(tensor_text(t, "%f"), "!");
    tl_tensor_free_data_too(t);
}

TEST(scalars_and_empty_tensors_print)
{
    tl_tensor *scalar = tl_tensor_zeros(0, NULL, TL_INT8);
    tl_tensor *none = tl_tensor_zeros(2, (int[]){1000000, 0}, TL_INT8);
    CHECK_STR_EQ(tensor_text(scalar, NULL), "0\n");
    CHECK_STR_EQ(tensor_text(none, NULL), "[]\n");
    CHECK_STR_EQ(tensor_text(none, "%s"), "!");
    CHECK_FAILS(tl_tensor_fprint(NULL, none, NULL), LN_INVALID);
    CHECK_FAILS(tl_tensor_fprint(stdout, NULL, NULL), LN_INVALID);
    tl_tensor_free_data_too(scalar);
    tl_tensor_free_data_too(none);
}

TEST(a_refused_tensor_leaves_the_old_file)
{
    char path[] = LN_BUILD_DIR "/ln_save_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    close(fd);
    tl_tensor *t = tl_tensor_arange(1, 3, 1, TL_UINT16);
    CHECK_EQ(tl_tensor_save(path, t, NULL), 0);
    CHECK_EQ(tl_tensor_save(path, t, "%s"), -1);
    CHECK_EQ(tl_tensor_save(path, NULL, NULL), -1);
    char text[32] = {0};
    FILE *fp = fopen(path, "r");
    CHECK_EQ(fread(text, 1, sizeof text - 1, fp), 6);
    fclose(fp);
    CHECK_STR_EQ(text, "[1 2]\n");
    unlink(path);
    CHECK_EQ(tl_tensor_save("/nonexistent/file", t, NULL), -1);
    CHECK_EQ(ln_error_status(), LN_IO);
    CHECK_EQ(tl_tensor_save(NULL, t, NULL), -1);
    CHECK_FAILS(tl_tensor_print(t, "%n"), LN_INVALID);
    tl_tensor_free_data_too(t);
}

TEST(types_that_c_does_not_know_print_their_values)
{
    static const uint16_t half = 0xc100;
    static const uint8_t tiny = 0x38;
    static const int8_t nibble = -8;
    static const tl_complex64 number = {1, -2};
    static const char *word = "word", *none = NULL;
    static const struct {
        tl_dtype dtype;
        const void *element;
        const char *fmt, *text;
    } cases[] = {
        {TL_FLOAT16, &half, NULL, "-2.500"}, {TL_FLOAT8E4M3FN, &tiny, "%g", "1"},
        {TL_INT4, &nibble, "%3d", " -8"},    {TL_COMPLEX64, &number, "%.1f", "1.0-2.0i"},
        {TL_STRING, &word, NULL, "word"},    {TL_STRING, &none, "<%s>", "<>"},
        {TL_OBJECT, &word, NULL, "object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32] = {0};
        FILE *fp = fmemopen(text, sizeof text, "w");
        CHECK_EQ(tl_fprintf(fp, cases[i].fmt, cases[i].element, cases[i].dtype),
                 strlen(cases[i].text));
        fclose(fp);
        CHECK_STR_EQ(text, cases[i].text);
    }
    CHECK_EQ(tl_fprintf(stdout, "%f", &word, TL_STRING), -1);
    CHECK_EQ(tl_fprintf(stdout, "%s", &half, TL_FLOAT16), -1);
}

TEST(each_type_has_its_own_function)
{
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        CHECK_NOT_NULL(tl_fprintf_getfunc((tl_dtype)i));
    uint8_t x = 200;
    char text[8] = {0};
    FILE *fp = fmemopen(text, sizeof text, "w");
    CHECK_EQ(tl_fprintf_getfunc(TL_UINT8)(fp, "%u", &x), 3);
    fclose(fp);
    CHECK_STR_EQ(text, "200");
    CHECK_NULL(tl_fprintf_getfunc(TL_DTYPE_INVALID));
    CHECK_EQ(tl_fprintf(stdout, NULL, NULL, TL_FLOAT), -1);
}

TEST(numbers_have_a_point_whatever_the_locale)
{
    static const struct {
        tl_dtype dtype;
        double value;
        const char *format, *text;
    } rows[] = {
        {TL_FLOAT, 2.5, NULL, "2.500"},
        {TL_DOUBLE, -1e300, "%g", "-1e+300"},
        {TL_DOUBLE, 1e-5, "a,b%%: %8.2e|", "a,b%: 1.00e-05|"},
        {TL_FLOAT16, 0.5, "%5.1f,", "  0.5,"},
        {TL_DOUBLE, INFINITY, ",%f", ",inf"},
    };
    static const char *const locales[] = {"C", "de_DE.UTF-8"};
    for (size_t l = 0; l < 2; l++) {
        if (!setlocale(LC_NUMERIC, locales[l]))
            print_message("no locale %s is installed\n", locales[l]);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            CHECK_STR_EQ(element_text(rows[i].dtype, rows[i].value, rows[i].format), rows[i].text);
        tl_complex64 z[] = {{1.5f, -0.25f}};
        int dims[] = {1};
        tl_tensor t = {.dtype = TL_COMPLEX64, .ndim = 1, .len = 1, .dims = dims, .data = z};
        CHECK_STR_EQ(tensor_text(&t, "%.2f"), "[1.50-0.25i]\n");
    }
    setlocale(LC_NUMERIC, "C");
}

TEST(strings_do_not_steer_the_terminal)
{
    const char *strings[] = {"a\x1b[2J", "\xc2\x9b", NULL};
    int dims[] = {3};
    tl_tensor t = {.dtype = TL_STRING, .ndim = 1, .len = 3, .dims = dims, .data = strings};
    CHECK_STR_EQ(tensor_text(&t, NULL), "[a\\x1b[2J \\u009b ]\n");
    CHECK_STR_EQ(tensor_text(&t, "'%s'"), "['a\\x1b[2J' '\\u009b' '']\n");
}

TEST_LIST(elements_print_in_their_default_format, formats_are_checked_and_made_safe,
          rows_are_indented_by_their_depth, scalars_and_empty_tensors_print,
          a_refused_tensor_leaves_the_old_file, types_that_c_does_not_know_print_their_values,
          each_type_has_its_own_function, numbers_have_a_point_whatever_the_locale,
          strings_do_not_steer_the_terminal)
