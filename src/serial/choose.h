// SPDX-License-Identifier: Apache-2.0
// Which serializer reads a file, or why none does.

#ifndef LN_SERIAL_CHOOSE_H
#define LN_SERIAL_CHOOSE_H

#include <lightnet/serializer.h>

// A reader this sure of its format is asked before files are taken for those of other systems.
enum { LN_PROBE_SURE = 95 };

// The reader for a file that begins with these bytes. LN_UNSUPPORTED if there is none: the message
// names what the file is where that can be told, and what to do. `path` NULL: not from a file;
// `name` stands in messages.
ln_status ln_serializer_choose(const char *path, const char *bytes, size_t byte_count,
                               const char *name, ln_serializer **out_serializer);

// Serializers stay registered from `enter` to `leave`, which may nest: whoever looks one up and
// calls it is between them.
void ln_serializers_enter(void);
void ln_serializers_leave(void);

#endif
