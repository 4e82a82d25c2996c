// SPDX-License-Identifier: Apache-2.0
// Processors of the affinity mask, and quotas of cgroups of both versions.
//
//     version 2   "0::/a/b"               root/a/b/cpu.max               "150000 100000" or "max
//     ..." version 1   "4:cpu,cpuacct:/a/b"    root/cpu/a/b/cpu.cfs_quota_us  -1: none;
//     .cfs_period_us
//
// In a container the groups are often mounted from its own on, while the file names them as the
// host does; so the root itself is looked at in any case.

#define _GNU_SOURCE // sched_getaffinity

#include "base/cpu_count.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINE 4096

// ---- Small files ----

// The first line of the file without its end; NULL if there is none, or it is too long.
static const char *read_line(const char *path, char line[MAX_LINE])
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    char *read = fgets(line, MAX_LINE, file);
    fclose(file);
    size_t len = read ? strlen(line) : 0;
    if (len + 1 >= MAX_LINE)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return read;
}

// The smaller of two counts, where 0 is none.
static size_t tighter(size_t a, size_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

// Parts of a processor do not count: threads that wait for each other would be stopped together.
static size_t whole_cpus(const char *quota, const char *period)
{
    double available = strtod(quota, NULL), whole = strtod(period, NULL);
    if (!(available > 0) || !(whole > 0))
        return 0;
    double count = available / whole;
    if (count >= 1e6)
        return 0;
    return count < 1 ? 1 : (size_t)count;
}

// ---- Quotas ----

static size_t quota_v2(const char *folder)
{
    char path[MAX_LINE], line[MAX_LINE];
    if (snprintf(path, sizeof path, "%s/cpu.max", folder) >= (int)sizeof path)
        return 0;
    if (!read_line(path, line))
        return 0;
    char *period = strchr(line, ' ');
    return period && strncmp(line, "max", 3) != 0 ? whole_cpus(line, period) : 0;
}

static size_t quota_v1(const char *folder)
{
    char path[MAX_LINE], quota[MAX_LINE], period[MAX_LINE];
    if (snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder) >= (int)sizeof path)
        return 0;
    if (!read_line(path, quota))
        return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return read_line(path, period) ? whole_cpus(quota, period) : 0;
}

// The group `name` below `root` and those around it. A name that leads out of the root is of
// another view of the tree; what can be seen of it is the root.
static size_t tightest(const char *root, const char *name, size_t (*quota)(const char *folder))
{
    char folder[MAX_LINE];
    if (strstr(name, "..") ||
        snprintf(folder, sizeof folder, "%s%s", root, name) >= (int)sizeof folder)
        return quota(root);
    size_t count = 0, root_len = strlen(root);
    for (;;) {
        count = tighter(count, quota(folder));
        char *end = strrchr(folder + root_len, '/');
        if (!end)
            return count;
        *end = '\0';
    }
}

static int has_word(const char *list, const char *end, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; at < end;) {
        size_t word_len = strcspn(at, ",:");
        if (word_len == len && strncmp(at, word, len) == 0)
            return 1;
        at += word_len + 1;
    }
    return 0;
}

// One line of the membership file: "NUMBER:CONTROLLERS:NAME".
static size_t quota_of_line(const char *line, const char *root)
{
    const char *controllers = strchr(line, ':');
    const char *name = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!name || name[1] != '/')
        return 0;
    controllers++;
    if (controllers == name)
        return tightest(root, name + 1, quota_v2);
    char folder[MAX_LINE];
    if (!has_word(controllers, name, "cpu") ||
        snprintf(folder, sizeof folder, "%s/cpu", root) >= (int)sizeof folder)
        return 0;
    return tightest(folder, name + 1, quota_v1);
}

size_t ln_cgroup_cpu_count(const char *membership, const char *root)
{
    FILE *file = fopen(membership, "re");
    if (!file)
        return 0;
    size_t count = 0;
    char line[MAX_LINE];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        count = tighter(count, quota_of_line(line, root));
    }
    fclose(file);
    return count;
}

// ---- Processors ----

#ifdef __linux__
// Room for 8192 processors: the kernel refuses a mask that is shorter than its own.
static size_t affinity_count(void)
{
    cpu_set_t sets[8];
    CPU_ZERO_S(sizeof sets, sets);
    if (sched_getaffinity(0, sizeof sets, sets) != 0)
        return 0;
    int count = CPU_COUNT_S(sizeof sets, sets);
    return count > 0 ? (size_t)count : 0;
}
#else
static size_t affinity_count(void)
{
    return 0;
}
#endif

size_t ln_cpu_count(void)
{
    size_t count = affinity_count();
    long online = count == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
    if (online > 0)
        count = (size_t)online;
    count = tighter(count, ln_cgroup_cpu_count("/proc/self/cgroup", "/sys/fs/cgroup"));
    return count > 0 ? count : 1;
}
