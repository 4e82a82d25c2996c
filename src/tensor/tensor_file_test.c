// SPDX-License-Identifier: Apache-2.0
// Tensor files on disk: opening, refusing, replacing.

#include <lightnet/tensor_file.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST(both_formats_are_saved_and_found_by_content)
{
    place p = make_place();
    tl_tensor *t = tl_tensor_arange(0, 4, 1, TL_FLOAT);
    const ln_named_tensor tensors[] = {{"one", t}, {"two", t}};
    for (int format = LN_TENSOR_FILE_SAFETENSORS; format <= LN_TENSOR_FILE_WTS; format++) {
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

TEST(no_file_is_an_empty_one)
{
    CHECK_EQ(ln_tensor_file_count(NULL), 0);
    CHECK_NULL(ln_tensor_file_name(NULL, 0));
    CHECK_NULL(ln_tensor_file_tensor(NULL, 0));
    CHECK_EQ(ln_tensor_file_find(NULL, "a"), -1);
    ln_tensor_file_close(NULL);
}

TEST_LIST(both_formats_are_saved_and_found_by_content,
          a_failed_save_leaves_the_old_file_and_no_other, what_is_no_tensor_file_is_refused_by_name,
          no_file_is_an_empty_one)
