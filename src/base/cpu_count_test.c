// SPDX-License-Identifier: Apache-2.0
// Processors: quotas of cgroups as files say them, also where the files are odd.

#include "base/cpu_count.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

// ---- A folder for a test ----

#define MAX_FILES 8
#define MAX_PATH  512

typedef struct tree {
    char root[MAX_PATH / 2];
    char made[4 * MAX_FILES][MAX_PATH]; // files and folders, in the order of their making
    size_t made_count;
} tree;

static void tree_start(tree *t)
{
    *t = (tree){.root = LN_BUILD_DIR "/cpu_count_XXXXXX"};
    CHECK_NOT_NULL(mkdtemp(t->root));
}

static void tree_end(tree *t)
{
    while (t->made_count > 0)
        remove(t->made[--t->made_count]);
    CHECK_EQ(rmdir(t->root), 0);
}

static void note(tree *t, const char *path)
{
    CHECK(t->made_count < sizeof t->made / sizeof t->made[0]);
    snprintf(t->made[t->made_count++], MAX_PATH, "%s", path);
}

// Writes a file, `name` relative to the root, with the folders that it needs.
static void tree_write(tree *t, const char *name, const char *text)
{
    char path[MAX_PATH];
    CHECK(snprintf(path, sizeof path, "%s/%s", t->root, name) < (int)sizeof path);
    for (char *end = path + strlen(t->root) + 1; (end = strchr(end, '/')); end++) {
        *end = '\0';
        if (mkdir(path, 0700) == 0)
            note(t, path);
        *end = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
    note(t, path);
}

// ---- The claims ----

typedef struct row {
    const char *why;
    struct {
        const char *name, *text;
    } files[MAX_FILES];
    size_t count;
} row;

static const row rows[] = {
    {"no file of groups at all", {{"other", ""}}, 0},
    {"version 2 without a quota", {{"self", "0::/\n"}, {"cpu.max", "max 100000\n"}}, 0},
    {"version 2, the root of a container", {{"self", "0::/\n"}, {"cpu.max", "200000 100000\n"}}, 2},
    {"half a processor is left out", {{"self", "0::/a\n"}, {"a/cpu.max", "350000 100000\n"}}, 3},
    {"less than a processor is one", {{"self", "0::/a\n"}, {"a/cpu.max", "20000 100000\n"}}, 1},
    {"a group around it is tighter",
     {{"self", "0::/a/b/c\n"},
      {"a/cpu.max", "300000 100000\n"},
      {"a/b/cpu.max", "max 100000\n"},
      {"a/b/c/cpu.max", "800000 100000\n"}},
     3},
    {"the name is the host's, the files are the container's",
     {{"self", "0::/host/group\n"}, {"cpu.max", "400000 100000\n"}},
     4},
    {"a name that leads out of the root",
     {{"self", "0::/../../etc\n"}, {"cpu.max", "500000 100000\n"}},
     5},
    {"version 1",
     {{"self", "5:memory:/x\n4:cpu,cpuacct:/a\n1:name=systemd:/\n"},
      {"cpu/a/cpu.cfs_quota_us", "250000\n"},
      {"cpu/a/cpu.cfs_period_us", "50000\n"}},
     5},
    {"version 1 without a quota",
     {{"self", "1:cpu:/a\n"},
      {"cpu/a/cpu.cfs_quota_us", "-1\n"},
      {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"the controllers are others",
     {{"self", "4:cpuset,cpuacct:/a\n"},
      {"cpu/a/cpu.cfs_quota_us", "200000\n"},
      {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"both versions, the tighter counts",
     {{"self", "1:cpu:/a\n0::/b\n"},
      {"cpu/a/cpu.cfs_quota_us", "700000\n"},
      {"cpu/a/cpu.cfs_period_us", "100000\n"},
      {"b/cpu.max", "600000 100000\n"}},
     6},
    {"no numbers", {{"self", "0::/\n"}, {"cpu.max", "much of everything\n"}}, 0},
    {"an empty file", {{"self", "0::/\n"}, {"cpu.max", ""}}, 0},
    {"no period", {{"self", "0::/\n"}, {"cpu.max", "200000"}}, 0},
    {"a period of zero", {{"self", "0::/\n"}, {"cpu.max", "200000 0\n"}}, 0},
    {"not a number", {{"self", "0::/\n"}, {"cpu.max", "nan nan\n"}}, 0},
    {"a negative quota", {{"self", "0::/\n"}, {"cpu.max", "-200000 100000\n"}}, 0},
    {"more than there are", {{"self", "0::/\n"}, {"cpu.max", "1e300 1e-300\n"}}, 0},
    {"lines that are none", {{"self", "\n:\n::\n0\n0:\n0::\n0::a\n"}, {"cpu.max", "2 1\n"}}, 0},
};

TEST(quotas_are_read_as_the_system_writes_them)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tree t;
        tree_start(&t);
        for (size_t k = 0; k < MAX_FILES && rows[i].files[k].name; k++)
            tree_write(&t, rows[i].files[k].name, rows[i].files[k].text);
        char self[MAX_PATH];
        snprintf(self, sizeof self, "%s/self", t.root);
        size_t count = ln_cgroup_cpu_count(self, t.root);
        tree_end(&t);
        if (count != rows[i].count)
            fail_msg("%s: %zu instead of %zu", rows[i].why, count, rows[i].count);
    }
}

TEST(long_lines_are_no_harm)
{
    tree t;
    tree_start(&t);
    char *text = malloc(20001);
    CHECK_NOT_NULL(text);
    memset(text, 'a', 20000);
    memcpy(text, "0::/", 4);
    text[20000] = '\0';
    tree_write(&t, "self", text);
    memset(text, '1', 20000);
    tree_write(&t, "cpu.max", text);
    free(text);
    char self[MAX_PATH];
    snprintf(self, sizeof self, "%s/self", t.root);
    CHECK_EQ(ln_cgroup_cpu_count(self, t.root), 0);
    tree_end(&t);
}

TEST(there_is_a_processor)
{
    CHECK(ln_cpu_count() >= 1);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    CHECK(online < 1 || ln_cpu_count() <= (size_t)online);
}

TEST_LIST(quotas_are_read_as_the_system_writes_them, long_lines_are_no_harm, there_is_a_processor)
