// SPDX-License-Identifier: Apache-2.0
// Opens files that a model names: below one folder and nowhere else.
//
// The path is relative, and none of its components is empty, "." or "..": LN_INVALID. A component
// has at most 255 bytes: LN_LIMIT. Each component is opened inside the one before it, none may be a
// symbolic link, and the file is a regular one without a second name (hard link): LN_IO. So nothing
// that is exchanged between a check and its use leads out of the folder, on every POSIX system and
// not only where the kernel could be asked for the same. The folder itself may be reached through
// links: the caller named it, the model did not.

#ifndef LN_BASE_OPEN_BELOW_H
#define LN_BASE_OPEN_BELOW_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/status.h>

LN_CPPSTART

// Opens a file of the model's folder for reading; the caller closes *out_fd. `what` names the
// file's purpose in messages, such as "external data". `folder` NULL: the model was read from
// memory.
ln_status ln_open_below(const char *folder, const char *path, const char *what, int *out_fd,
                        size_t *out_byte_count);

// The same for data of the model file `model`, which is in `folder` and may be a link itself. Its
// data may be links too: what they lead to, once all links are resolved, is below `folder`, or
// below the folder of the file that `model` is then; LN_IO for others. The resolved path is opened
// as above, so that what is exchanged meanwhile leads nowhere else either.
ln_status ln_open_below_model(const char *folder, const char *model, const char *path,
                              const char *what, int *out_fd, size_t *out_byte_count);

// Creates a file that nothing has the name of yet (LN_EXISTS otherwise), for appending; the caller
// closes *out_fd. Names that start with a dot are refused: LN_INVALID.
ln_status ln_create_below(const char *folder, const char *path, const char *what, int *out_fd);

// Whether `ln_create_below` takes the words of `path`.
bool ln_is_creatable_below(const char *path);

LN_CPPEND

#endif
