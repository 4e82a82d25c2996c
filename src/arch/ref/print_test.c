// SPDX-License-Identifier: Apache-2.0
#include "arch/ref/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/ref/test_view.h"

// ---- Standard output ----

typedef struct capture {
    FILE *file;
    int saved;
} capture;

static capture capture_begin(void)
{
    capture c = {.file = tmpfile()};
    CHECK_NOT_NULL(c.file);
    fflush(stdout);
    c.saved = dup(STDOUT_FILENO);
    CHECK(c.saved >= 0 && dup2(fileno(c.file), STDOUT_FILENO) >= 0);
    return c;
}

static void capture_end(capture *c, char *text, size_t byte_count)
{
    fflush(stdout);
    dup2(c->saved, STDOUT_FILENO);
    close(c->saved);
    rewind(c->file);
    text[fread(text, 1, byte_count - 1, c->file)] = '\0';
    fclose(c->file);
}

TEST(print_writes_the_message_and_the_tensor)
{
    float data[] = {2, 3, 4, 6, 7, 8};
    tl_tensor t = VIEW(data, TL_FLOAT, 2, 3);
    char text[256];
    capture c = capture_begin();
    ln_status status = ln_ref_run_print(&t, "tensor2:");
    capture_end(&c, text, sizeof text);
    CHECK_OK(status);
    CHECK_STR_EQ(text, "tensor2:\n[[2.000 3.000 4.000]\n [6.000 7.000 8.000]]\n");
}

// ---- Files ----

// Each test works in a new folder below the build folder, with a folder `inner` and a file `other`
// that lies beside it.
typedef struct place {
    char start[4096];
    char folder[4096];
} place;

static void enter(place *p)
{
    CHECK_NOT_NULL(getcwd(p->start, sizeof p->start));
    snprintf(p->folder, sizeof p->folder, "%s/print_test.XXXXXX", LN_BUILD_DIR);
    CHECK_NOT_NULL(mkdtemp(p->folder));
    CHECK_EQ(chdir(p->folder), 0);
    CHECK(mkdir("work", 0777) == 0 && mkdir("work/inner", 0777) == 0 && chdir("work") == 0);
}

static void leave(const place *p)
{
    static const char *const names[] = {"out.txt",  "inner/out.txt", "inner",   "link",
                                        "link.txt", "pipe",          "../work", "../other.txt"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        remove(names[i]);
    CHECK_EQ(chdir(p->start), 0);
    char work[4200];
    snprintf(work, sizeof work, "%s/work", p->folder);
    rmdir(work);
    CHECK_EQ(rmdir(p->folder), 0);
}

static void read_file(const char *name, char *text, size_t byte_count)
{
    FILE *file = fopen(name, "r");
    CHECK_NOT_NULL(file);
    text[fread(text, 1, byte_count - 1, file)] = '\0';
    fclose(file);
}

TEST(fprint_replaces_the_file)
{
    int32_t data[] = {1, 2};
    tl_tensor t = VIEW(data, TL_INT32, 2), shorter = VIEW(data, TL_INT32, 1);
    char text[256];
    place p;
    enter(&p);
    CHECK_OK(ln_ref_run_fprint(&t, "a long message", "out.txt"));
    CHECK_OK(ln_ref_run_fprint(&shorter, "x:", "./out.txt"));
    read_file("out.txt", text, sizeof text);
    CHECK_STR_EQ(text, "x:\n[1]\n");
    CHECK_OK(ln_ref_run_fprint(&t, "y:", "inner/out.txt"));
    read_file("inner/out.txt", text, sizeof text);
    CHECK_STR_EQ(text, "y:\n[1 2]\n");
    leave(&p);
}

TEST(fprint_stays_in_the_folder)
{
    int32_t data[] = {1};
    tl_tensor t = VIEW(data, TL_INT32, 1);
    place p;
    enter(&p);
    FILE *other = fopen("../other.txt", "w");
    CHECK(other && fputs("untouched", other) >= 0 && fclose(other) == 0);
    CHECK(symlink("..", "link") == 0 && symlink("../other.txt", "link.txt") == 0);
    CHECK_EQ(mkfifo("pipe", 0666), 0);
    static const struct {
        const char *file;
        ln_status status;
    } rows[] = {
        {"../other.txt", LN_INVALID},
        {"inner/../../other.txt", LN_INVALID},
        {"/out.txt", LN_INVALID},
        {".hidden", LN_INVALID},
        {"inner/.git", LN_INVALID},
        {"inner//out.txt", LN_INVALID},
        {"inner/", LN_INVALID},
        {"", LN_INVALID},
        {"..", LN_INVALID},
        {"././out.txt", LN_INVALID},
        {"link/other.txt", LN_IO},
        {"link.txt", LN_IO},
        {"inner", LN_IO},
        {"pipe", LN_IO},
        {"missing/out.txt", LN_IO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ln_ref_run_fprint(&t, "x:", rows[i].file) != rows[i].status)
            fail_msg("'%s': %s", rows[i].file, ln_error_message());
    CHECK_FAILS(ln_ref_run_fprint(&t, "x:", NULL), LN_INVALID);
    char text[64];
    read_file("../other.txt", text, sizeof text);
    CHECK_STR_EQ(text, "untouched");
    leave(&p);
}

TEST_LIST(print_writes_the_message_and_the_tensor, fprint_replaces_the_file,
          fprint_stays_in_the_folder)
