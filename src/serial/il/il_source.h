// SPDX-License-Identifier: Apache-2.0
// The files that #include may name: regular files below the model's folder, nothing else.

#ifndef LN_SERIAL_IL_IL_SOURCE_H
#define LN_SERIAL_IL_IL_SOURCE_H

#include <stddef.h>

#include "base/value.h"

LN_CPPSTART

// Reads `path`, which is relative to `folder`, into `arena`. *out_text ends with a NUL.
//
// Every part of `path` is opened inside the folder before it, so that no way leads out: LN_INVALID
// for an absolute path, for ".", ".." and empty parts; LN_IO for symbolic links anywhere, for files
// with a second (hard) link, for folders, pipes and devices, and for what cannot be read; LN_LIMIT
// for more than `max_byte_count` bytes. `folder` itself may be reached through links: the caller
// named it, the model did not.
ln_status ln_il_source_read(ln_document *arena, const char *folder, const char *path,
                            size_t max_byte_count, const char **out_text, size_t *out_len);

LN_CPPEND

#endif
