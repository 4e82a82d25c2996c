// SPDX-License-Identifier: Apache-2.0
// Tensor files on disk: opening, refusing, replacing.

#include <lightnet/tensor_file.h>

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lightnet/allocator.h>

#include "tensor/params_file.h"
#include "tests/test.h"

// A folder of its own for each test, and a path in it.
typedef struct place {
    char folder[256];
    char path[300];
} place;

static place make_place(void)
{
    place p = {.folder = LN_BUILD_DIR "/ln_tensor_file_XXXXXX"};
    CHECK_NOT_NULL(mkdtemp(p.folder));
    snprintf(p.path, sizeof p.path, "%s/file", p.folder);
    return p;
}

// The folder must be empty but for the file.
static void remove_place(const place *p)
{
    unlink(p->path);
    CHECK_EQ(rmdir(p->folder), 0);
}

TEST(all_formats_are_saved_and_found_by_content)
{
    place p = make_place();
    tl_tensor *t = tl_tensor_arange(0, 4, 1, TL_FLOAT);
    const ln_named_tensor tensors[] = {{"one", t}, {"two", t}};
    for (int format = LN_TENSOR_FILE_SAFETENSORS; format <= LN_TENSOR_FILE_PARAMS; format++) {
        CHECK_OK(ln_tensor_file_save(p.path, (ln_tensor_file_format)format, tensors, 2));
        ln_tensor_file *file;
        CHECK_OK(ln_tensor_file_open(p.path, &file));
        CHECK_EQ(ln_tensor_file_get_format(file), format);
        CHECK_EQ(ln_tensor_file_count(file), 2);
        const tl_tensor *two = ln_tensor_file_tensor(file, ln_tensor_file_find(file, "two"));
        CHECK_MEM_EQ(two->data, t->data, tl_tensor_size(t));
        ln_tensor_file_close(file);
    }
    tl_tensor_free_data_too(t);
    remove_place(&p);
}

TEST(the_end_of_a_name_says_the_format)
{
    ln_tensor_file_format format;
    CHECK_OK(ln_tensor_file_format_of("a/b.safetensors", &format));
    CHECK_EQ(format, LN_TENSOR_FILE_SAFETENSORS);
    CHECK_OK(ln_tensor_file_format_of(".wts", &format));
    CHECK_EQ(format, LN_TENSOR_FILE_WTS);
    CHECK_FAILS(ln_tensor_file_format_of("a.wts.gz", &format), LN_UNSUPPORTED);
    CHECK_MESSAGE("a.wts.gz: the name does not end in one of .safetensors, .wts, .params");
    CHECK_OK(ln_tensor_file_format_of("x.params", &format));
    CHECK_EQ(format, LN_TENSOR_FILE_PARAMS);
    CHECK_FAILS(ln_tensor_file_format_of("", &format), LN_UNSUPPORTED);
    CHECK_FAILS(ln_tensor_file_format_of(NULL, &format), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_format_of("a.wts", NULL), LN_INVALID);
}

TEST(a_failed_save_leaves_the_old_file_and_no_other)
{
    place p = make_place();
    tl_tensor *t = tl_tensor_arange(0, 4, 1, TL_DOUBLE);
    const ln_named_tensor tensor = {"one", t};
    CHECK_OK(ln_tensor_file_save(p.path, LN_TENSOR_FILE_SAFETENSORS, &tensor, 1));
    CHECK_FAILS(ln_tensor_file_save(p.path, LN_TENSOR_FILE_WTS, &tensor, 1), LN_UNSUPPORTED);
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open(p.path, &file));
    CHECK_OK(ln_tensor_file_save(p.path, LN_TENSOR_FILE_SAFETENSORS, NULL, 0));
    CHECK_MEM_EQ(ln_tensor_file_tensor(file, 0)->data, t->data, tl_tensor_size(t));
    ln_tensor_file_close(file);
    tl_tensor_free_data_too(t);
    remove_place(&p);
    CHECK_FAILS(ln_tensor_file_save(p.path, LN_TENSOR_FILE_WTS, NULL, 0), LN_IO);
    CHECK_FAILS(ln_tensor_file_save(NULL, LN_TENSOR_FILE_WTS, NULL, 0), LN_INVALID);
}

TEST(what_is_no_tensor_file_is_refused_by_name)
{
    place p = make_place();
    ln_tensor_file *file;
    CHECK_FAILS(ln_tensor_file_open(p.path, &file), LN_IO);
    CHECK_MESSAGE(p.path);
    CHECK_FAILS(ln_tensor_file_open(p.folder, &file), LN_INVALID);
    CHECK_MESSAGE("not a regular file");
    CHECK_EQ(mkfifo(p.path, 0600), 0);
    CHECK_FAILS(ln_tensor_file_open(p.path, &file), LN_INVALID);
    unlink(p.path);
    fclose(fopen(p.path, "w"));
    CHECK_FAILS(ln_tensor_file_open(p.path, &file), LN_UNSUPPORTED);
    CHECK_NULL(file);
    CHECK_FAILS(ln_tensor_file_open(NULL, &file), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_open(p.path, NULL), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_open_mem(NULL, 1, &file), LN_INVALID);
    CHECK_FAILS(ln_tensor_file_open_mem(NULL, 0, &file), LN_UNSUPPORTED);
    CHECK_FAILS(ln_tensor_file_open_mem("0", 1, NULL), LN_INVALID);
    remove_place(&p);
}

static long peak_kilobytes(void)
{
    struct rusage usage;
    CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

TEST(a_gigabyte_is_opened_without_reading_it)
{
    // A dictionary of one array of 2^30 bytes, which are a hole in the file.
    place p = make_place();
    char *bytes;
    size_t size;
    const ln_params_entry entry = {"x", 1, (int64_t[]){1}, 1, {kDLInt, 8, 1}, "", 1, 0};
    CHECK_OK(ln_params_write(&entry, 1, &bytes, &size));
    const int64_t len = INT64_C(1) << 30;
    memcpy(bytes + size - 1 - 16, &len, 8);
    memcpy(bytes + size - 1 - 8, &len, 8);
    FILE *fp = fopen(p.path, "wb");
    CHECK_EQ(fwrite(bytes, 1, size - 1, fp), size - 1);
    fclose(fp);
    ln_free(bytes);
    CHECK_EQ(truncate(p.path, (off_t)(size - 1) + len), 0);

    long before = peak_kilobytes();
    ln_tensor_file *file;
    CHECK_OK(ln_tensor_file_open(p.path, &file));
    CHECK_EQ(ln_tensor_file_tensor(file, 0)->len, len);
    CHECK(peak_kilobytes() - before < 16 * 1024);
    ln_tensor_file_close(file);
    remove_place(&p);
}

TEST(no_file_is_an_empty_one)
{
    CHECK_EQ(ln_tensor_file_count(NULL), 0);
    CHECK_NULL(ln_tensor_file_name(NULL, 0));
    CHECK_NULL(ln_tensor_file_tensor(NULL, 0));
    CHECK_EQ(ln_tensor_file_find(NULL, "a"), -1);
    ln_tensor_file_close(NULL);
}

TEST_LIST(all_formats_are_saved_and_found_by_content, the_end_of_a_name_says_the_format,
          a_failed_save_leaves_the_old_file_and_no_other, what_is_no_tensor_file_is_refused_by_name,
          a_gigabyte_is_opened_without_reading_it, no_file_is_an_empty_one)
