// SPDX-License-Identifier: Apache-2.0
// A folder full of traps: nothing outside it, and nothing but regular files, is read.

#include "serial/il/il_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include "serial/il/il_testing.h"

static char root[512], folder[600], path_buffer[1200];

static const char *in_folder(const char *name)
{
    snprintf(path_buffer, sizeof path_buffer, "%s/%s", folder, name);
    return path_buffer;
}

static void write_file(const char *name, const char *text)
{
    CHECK_OK(ln_text_write_file(in_folder(name), text, strlen(text)));
}

// root/secret is outside of root/model, which holds the traps.
static void make_traps(void)
{
    strcpy(root, LN_BUILD_DIR "/il_source_XXXXXX");
    CHECK_NOT_NULL(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/model", root);
    CHECK_EQ(mkdir(folder, 0700), 0);
    CHECK_EQ(mkdir(in_folder("sub"), 0700), 0);
    write_file("good", "text");
    write_file("sub/good", "below");
    write_file("empty", "");
    write_file("../secret", "secret");
    CHECK_EQ(symlink("../secret", in_folder("link")), 0);
    CHECK_EQ(symlink("good", in_folder("inner_link")), 0);
    CHECK_EQ(symlink("..", in_folder("link_up")), 0);
    CHECK_EQ(symlink("sub", in_folder("link_sub")), 0);
    CHECK_EQ(mkfifo(in_folder("pipe"), 0600), 0);
    char secret[600];
    snprintf(secret, sizeof secret, "%s/secret2", root);
    CHECK_OK(ln_text_write_file(secret, "secret", 6));
    CHECK_EQ(link(secret, in_folder("hard_link")), 0);
}

static void remove_traps(void)
{
    static const char *const names[] = {"good", "sub/good",  "empty",      "../secret",
                                        "link", "link_up",   "inner_link", "link_sub",
                                        "pipe", "hard_link", "../secret2", "sub"};
    for (size_t i = 0; i < LENGTH(names); i++)
        CHECK_EQ(remove(in_folder(names[i])), 0);
    CHECK_EQ(rmdir(folder), 0);
    CHECK_EQ(rmdir(root), 0);
}

TEST(only_regular_files_below_the_folder_are_read)
{
    static const struct {
        const char *path;
        ln_status status;
        const char *result, *why;
    } rows[] = {
        {"good", LN_OK, "text", "a file"},
        {"sub/good", LN_OK, "below", "a file in a folder"},
        {"empty", LN_OK, "", "an empty file"},
        {"missing", LN_IO, "cannot open included file 'missing': No such file", "no file"},
        {"", LN_INVALID, "has '' as a part", "no name"},
        {"/etc/passwd", LN_INVALID, "is an absolute path", "absolute"},
        {"../secret", LN_INVALID, "has '..' as a part", "upwards"},
        {"sub/../good", LN_INVALID, "has '..' as a part", "upwards in the middle"},
        {"sub/../../secret", LN_INVALID, "has '..' as a part", "out through a folder"},
        {"./good", LN_INVALID, "has '.' as a part", "a second name for the same file"},
        {"sub//good", LN_INVALID, "has '' as a part", "an empty part"},
        {"good/", LN_INVALID, "has '' as a part", "an empty part at the end"},
        {"link", LN_IO, "a symbolic link may lead out", "a link out"},
        {"inner_link", LN_IO, "a symbolic link may lead out", "any link"},
        {"link_up/secret", LN_IO, "a symbolic link may lead out", "a link to a folder outside"},
        {"link_sub/good", LN_IO, "a symbolic link may lead out", "a link to a folder inside"},
        {"hard_link", LN_IO, "has a second name elsewhere", "a hard link out"},
        {"sub", LN_IO, "not a regular file", "a folder"},
        {"good/x", LN_IO, "cannot open included file 'good/x'", "a file as a folder"},
        {"pipe", LN_IO, "not a regular file", "a pipe that nobody writes"},
    };
    make_traps();
    ln_document *arena;
    CHECK_OK(ln_document_create(NULL, &arena));
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *text;
        size_t len;
        print_message("%s: %s\n", rows[i].path, rows[i].why);
        CHECK_FAILS(ln_il_source_read(arena, folder, rows[i].path, 100, &text, &len),
                    rows[i].status);
        if (rows[i].status == LN_OK) {
            CHECK_STR_EQ(text, rows[i].result);
            CHECK_EQ(len, strlen(rows[i].result));
        } else {
            CHECK_NULL(text);
            CHECK_MESSAGE(rows[i].result);
        }
    }
    ln_document_destroy(arena);
    remove_traps();
}

TEST(the_size_is_limited)
{
    make_traps();
    ln_document *arena;
    const char *text;
    size_t len;
    CHECK_OK(ln_document_create(NULL, &arena));
    CHECK_OK(ln_il_source_read(arena, folder, "good", 4, &text, &len));
    CHECK_FAILS(ln_il_source_read(arena, folder, "good", 3, &text, &len), LN_LIMIT);
    CHECK_MESSAGE("'good' has more than 3 bytes");
    ln_document_destroy(arena);
    remove_traps();
}

TEST(a_missing_folder_and_a_long_name_are_refused)
{
    ln_document *arena;
    const char *text;
    size_t len;
    char path[1200];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK_OK(ln_document_create(NULL, &arena));
    CHECK_FAILS(ln_il_source_read(arena, "/nowhere/at/all", "a", 100, &text, &len), LN_IO);
    CHECK_FAILS(ln_il_source_read(arena, ".", path, 100, &text, &len), LN_LIMIT);
    ln_document_destroy(arena);
}

TEST_LIST(only_regular_files_below_the_folder_are_read, the_size_is_limited,
          a_missing_folder_and_a_long_name_are_refused)
