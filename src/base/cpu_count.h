// SPDX-License-Identifier: Apache-2.0
// How many processors the process may use.

#ifndef LN_BASE_CPU_COUNT_H
#define LN_BASE_CPU_COUNT_H

#include <stddef.h>

#include <lightnet/export.h>

LN_CPPSTART

// The processors of the affinity mask, or what the quota of the cgroup grants if that is less. At
// least 1.
size_t ln_cpu_count(void);

// The whole processors that the quota grants; 0: there is none. `membership` is the file that says
// in which groups the process is (/proc/self/cgroup), `root` the folder where they are mounted
// (/sys/fs/cgroup). The tightest of a group and those that it is in counts.
size_t ln_cgroup_cpu_count(const char *membership, const char *root);

LN_CPPEND

#endif
