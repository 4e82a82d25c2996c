// SPDX-License-Identifier: Apache-2.0
// How much memory and how many threads the process has, for tests in which they must not grow.

#ifndef LN_TESTS_COMPAT_RESIDENT_H
#define LN_TESTS_COMPAT_RESIDENT_H

#include <dirent.h>
#include <stdio.h>

// 0: not known.
static inline long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &size, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident;
}

// 0: not known.
static inline size_t count_threads(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return 0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

#endif
