// SPDX-License-Identifier: Apache-2.0
// The bytes of a file of the user.

#ifndef LN_CLI_FILE_BYTES_H
#define LN_CLI_FILE_BYTES_H

#include <stddef.h>

#include <lightnet/status.h>

// Reads a regular file of at most 4 GiB as a whole. A NUL stands after the *out_count bytes, which
// are given back with free.
ln_status file_read(const char *path, char **out_bytes, size_t *out_count);

// Whether a file can be written there, before what it is to hold is computed: it is not created.
// NULL and "-" can. Fails: LN_IO.
ln_status file_check_writable(const char *path);

// Removes a file that could not be written whole; a device stays.
void file_discard(const char *path);

// The first bytes of a regular file, at most `size`; how many. 0 when there is no such file.
size_t file_peek(const char *path, void *bytes, size_t size);

#endif
