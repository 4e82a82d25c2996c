// SPDX-License-Identifier: Apache-2.0
// A folder full of traps: nothing outside it is opened or created, and nothing but regular files.

#include "base/open_below.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static char root[512], folder[600];

static const char *in_folder(const char *name)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char *read_file(const char *name)
{
    static char text[64];
    FILE *file = fopen(in_folder(name), "r");
    CHECK_NOT_NULL(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

// root/secret is outside of root/model, which holds the traps.
static void make_traps(void)
{
    strcpy(root, LN_BUILD_DIR "/open_below_XXXXXX");
    CHECK_NOT_NULL(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/model", root);
    CHECK_EQ(mkdir(folder, 0700), 0);
    CHECK_EQ(mkdir(in_folder("sub"), 0700), 0);
    write_file("good", "text");
    write_file("sub/good", "below");
    write_file(".hidden", "dot");
    write_file("../secret", "secret");
    CHECK_EQ(symlink("../secret", in_folder("link")), 0);
    CHECK_EQ(symlink("../made_by_link", in_folder("dangling")), 0);
    CHECK_EQ(symlink("good", in_folder("inner_link")), 0);
    CHECK_EQ(symlink("..", in_folder("link_up")), 0);
    CHECK_EQ(symlink("sub", in_folder("link_sub")), 0);
    CHECK_EQ(mkfifo(in_folder("pipe"), 0600), 0);
    char secret[600];
    snprintf(secret, sizeof secret, "%s/secret", root);
    CHECK_EQ(link(secret, in_folder("hard_link")), 0);
}

static void remove_traps(void)
{
    static const char *const names[] = {"good",      "sub/good",   ".hidden", "../secret", "link",
                                        "dangling",  "inner_link", "link_up", "link_sub",  "pipe",
                                        "hard_link", "sub/new",    "new",     "sub"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        remove(in_folder(names[i]));
    CHECK_EQ(rmdir(folder), 0);
    CHECK_EQ(rmdir(root), 0); // nothing was made outside
}

typedef struct row {
    const char *path;
    ln_status status;
    const char *message, *why;
} row;

static char long_path[300];

static void fill_long_path(void)
{
    memset(long_path, 'a', sizeof long_path - 1);
}

TEST(only_regular_files_below_the_folder_are_opened)
{
    static const row rows[] = {
        {"good", LN_OK, "", "a file"},
        {"sub/good", LN_OK, "", "a file in a folder"},
        {".hidden", LN_OK, "", "a hidden file may be read"},
        {"missing", LN_IO, "cannot open thing 'missing': No such file", "no file"},
        {"", LN_INVALID, "thing '' has '' as a part", "no name"},
        {"/etc/passwd", LN_INVALID, "is an absolute path", "absolute"},
        {"../secret", LN_INVALID, "has '..' as a part", "upwards"},
        {"sub/../good", LN_INVALID, "has '..' as a part", "upwards in the middle"},
        {"sub/../../secret", LN_INVALID, "has '..' as a part", "out through a folder"},
        {"./good", LN_INVALID, "has '.' as a part", "a second name for the same file"},
        {"sub//good", LN_INVALID, "has '' as a part", "an empty part"},
        {"good/", LN_INVALID, "has '' as a part", "an empty part at the end"},
        {long_path, LN_LIMIT, "has more than 255 bytes", "a long name"},
        {"link", LN_IO, "a symbolic link may lead out of the model's folder", "a link out"},
        {"dangling", LN_IO, "a symbolic link may lead out", "a link to nothing"},
        {"inner_link", LN_IO, "a symbolic link may lead out", "any link"},
        {"link_up/secret", LN_IO, "a symbolic link may lead out", "a link to a folder outside"},
        {"link_sub/good", LN_IO, "a symbolic link may lead out", "a link to a folder inside"},
        {"hard_link", LN_IO, "has a second name elsewhere (hard link)", "a hard link out"},
        {"sub", LN_IO, "cannot read thing 'sub': not a regular file", "a folder"},
        {"good/x", LN_IO, "cannot open thing 'good/x'", "a file as a folder"},
        {"pipe", LN_IO, "not a regular file", "a pipe without a writer"},
    };
    fill_long_path();
    make_traps();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s: %s\n", rows[i].path, rows[i].why);
        int fd;
        size_t byte_count;
        CHECK_FAILS(ln_open_below(folder, rows[i].path, "thing", &fd, &byte_count), rows[i].status);
        if (rows[i].status != LN_OK) {
            CHECK_EQ(fd, -1);
            CHECK_MESSAGE(rows[i].message);
            continue;
        }
        char text[16];
        CHECK_EQ((size_t)read(fd, text, sizeof text), byte_count);
        CHECK_EQ(byte_count, strlen(read_file(rows[i].path)));
        close(fd);
    }
    remove_traps();
}

// A store as hubs keep it: root/store has the files, under names of no meaning, root/model has
// links.
static void make_store(void)
{
    write_file("m.onnx", "a model that is no link");
    CHECK_EQ(mkdir(in_folder("../store"), 0700), 0);
    CHECK_EQ(mkdir(in_folder("../store/deep"), 0700), 0);
    write_file("../store/h1", "the model");
    write_file("../store/h2", "its data");
    write_file("../store/deep/h3", "more data");
    CHECK_EQ(symlink("../secret", in_folder("../store/out")), 0);
    CHECK_EQ(symlink("../store/h1", in_folder("stored.onnx")), 0);
    CHECK_EQ(symlink("../store/h2", in_folder("stored_data")), 0);
    CHECK_EQ(symlink("../store/deep/h3", in_folder("deep_data")), 0);
    CHECK_EQ(symlink("stored_data", in_folder("link_to_link")), 0);
    CHECK_EQ(symlink("../store/deep", in_folder("store_folder")), 0);
    CHECK_EQ(symlink("../store/out", in_folder("out_by_store")), 0);
    CHECK_EQ(symlink("../store", in_folder("whole_store")), 0);
    CHECK_EQ(symlink("loop", in_folder("loop")), 0);
}

static void remove_store(void)
{
    static const char *const names[] = {
        "../store/deep/h3", "../store/deep", "../store/h1", "../store/h2",  "../store/out",
        "../store",         "m.onnx",        "stored.onnx", "stored_data",  "deep_data",
        "link_to_link",     "store_folder",  "loop",        "out_by_store", "whole_store"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_EQ(remove(in_folder(names[i])), 0);
}

TEST(links_lead_below_the_model_or_the_file_that_it_is)
{
    static const struct {
        const char *model, *path, *text, *message, *why;
    } rows[] = {
        // clang-format off
        {"m.onnx", "good", "text", NULL, "no link"},
        {"m.onnx", "inner_link", "text", NULL, "a link inside the folder"},
        {"m.onnx", "link_sub/good", "below", NULL, "through a link to a folder inside"},
        {"m.onnx", "stored_data", NULL, "leads out of the model's folder", "into a store that the model is not of"},
        {"m.onnx", "link", NULL, "leads out of the model's folder", "a link out"},
        {"m.onnx", "link_up/secret", NULL, "leads out", "a link to a folder outside"},
        {"stored.onnx", "stored_data", "its data", NULL, "both are links into one store"},
        {"stored.onnx", "deep_data", "more data", NULL, "below it"},
        {"stored.onnx", "link_to_link", "its data", NULL, "a link to a link"},
        {"stored.onnx", "store_folder/h3", "more data", NULL, "through a link to a folder of the store"},
        {"stored.onnx", "good", "text", NULL, "a file in the folder of the link"},
        {"stored.onnx", "inner_link", "text", NULL, "a link in the folder of the link"},
        {"stored.onnx", "link", NULL, "leads out", "a link out"},
        {"stored.onnx", "link_up/secret", NULL, "leads out", "a link to a folder outside"},
        {"stored.onnx", "out_by_store", NULL, "leads out", "out by a link of the store"},
        {"stored.onnx", "whole_store/out", NULL, "leads out", "out by a link of the store, seen from the folder"},
        {"stored.onnx", "whole_store", NULL, "cannot open", "the store itself"},
        {"stored.onnx", "dangling", NULL, "cannot open thing 'dangling'", "a link to nothing"},
        {"stored.onnx", "loop", NULL, "cannot open thing 'loop'", "a link to itself"},
        {"stored.onnx", "../secret", NULL, "has '..' as a part", "upwards"},
        {"stored.onnx", "../store/h2", NULL, "has '..' as a part", "upwards into the store"},
        {"stored.onnx", "hard_link", NULL, "has a second name elsewhere (hard link)", "a hard link out"},
        {"gone.onnx", "stored_data", NULL, "leads out", "a model that is not there"},
        // clang-format on
    };
    make_traps();
    make_store();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s: %s: %s\n", rows[i].model, rows[i].path, rows[i].why);
        int fd;
        size_t byte_count;
        char model[1200], text[32] = "";
        snprintf(model, sizeof model, "%s", in_folder(rows[i].model));
        ln_status status =
            ln_open_below_model(folder, model, rows[i].path, "thing", &fd, &byte_count);
        CHECK_EQ(status == LN_OK, rows[i].text != NULL);
        if (status != LN_OK) {
            CHECK_EQ(fd, -1);
            CHECK_MESSAGE(rows[i].message);
            continue;
        }
        CHECK_EQ((size_t)read(fd, text, sizeof text - 1), byte_count);
        CHECK_STR_EQ(text, rows[i].text);
        close(fd);
    }
    remove_store();
    remove_traps();
}

TEST(only_new_files_below_the_folder_are_created)
{
    static const row rows[] = {
        {"new", LN_OK, "", "a new file"},
        {"sub/new", LN_OK, "", "a new file in a folder"},
        {"new", LN_EXISTS, "thing 'new' is there already; remove it", "made before"},
        {"good", LN_EXISTS, "is there already", "a file"},
        {"link", LN_EXISTS, "is there already", "a link out"},
        {"dangling", LN_EXISTS, "is there already", "a link to what is not there yet"},
        {"hard_link", LN_EXISTS, "is there already", "a hard link out"},
        {"pipe", LN_EXISTS, "is there already", "a pipe"},
        {"sub", LN_EXISTS, "is there already", "a folder"},
        {"link_up/new", LN_IO, "a symbolic link may lead out", "through a link to a folder"},
        {"link_sub/new", LN_IO, "a symbolic link may lead out", "through a link inside"},
        {"missing/new", LN_IO, "cannot create thing 'missing/new'", "no such folder"},
        {".profile", LN_INVALID, "has '.profile' as a part", "a hidden file"},
        {".git/hook", LN_INVALID, "has '.git' as a part", "in a hidden folder"},
        {"../new", LN_INVALID, "has '..' as a part", "upwards"},
        {"./new", LN_INVALID, "has '.' as a part", "a second name"},
        {"sub//new", LN_INVALID, "has '' as a part", "an empty part"},
        {"", LN_INVALID, "has '' as a part", "no name"},
        {"/new", LN_INVALID, "is an absolute path", "absolute"},
        {long_path, LN_LIMIT, "has more than 255 bytes", "a long name"},
    };
    fill_long_path();
    make_traps();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        print_message("%s: %s\n", rows[i].path, rows[i].why);
        int fd;
        CHECK_FAILS(ln_create_below(folder, rows[i].path, "thing", &fd), rows[i].status);
        bool is_word_problem = rows[i].status == LN_INVALID || rows[i].status == LN_LIMIT;
        CHECK_EQ(ln_is_creatable_below(rows[i].path), !is_word_problem);
        if (rows[i].status != LN_OK) {
            CHECK_EQ(fd, -1);
            CHECK_MESSAGE(rows[i].message);
            continue;
        }
        CHECK_EQ(write(fd, "ab", 2), 2);
        CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
        CHECK_EQ(write(fd, "c", 1), 1);
        close(fd);
        CHECK_STR_EQ(read_file(rows[i].path), "abc"); // appends, wherever the position is
    }
    CHECK(!ln_is_creatable_below(NULL));
    CHECK_STR_EQ(read_file("../secret"), "secret");
    CHECK_STR_EQ(read_file("good"), "text");
    remove_traps();
}

TEST(a_model_without_a_folder_opens_nothing)
{
    int fd;
    size_t byte_count;
    CHECK_FAILS(ln_open_below(NULL, "a", "thing", &fd, &byte_count), LN_INVALID);
    CHECK_MESSAGE("thing 'a' of a model that was read from memory");
    CHECK_FAILS(ln_open_below("/nowhere/at/all", "a", "thing", &fd, &byte_count), LN_IO);
    CHECK_MESSAGE("cannot open the folder '/nowhere/at/all'");
    CHECK_FAILS(ln_create_below("/nowhere/at/all", "a", "thing", &fd), LN_IO);
}

TEST_LIST(links_lead_below_the_model_or_the_file_that_it_is,
          only_regular_files_below_the_folder_are_opened,
          only_new_files_below_the_folder_are_created, a_model_without_a_folder_opens_nothing)
