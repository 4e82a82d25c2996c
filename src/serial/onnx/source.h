// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a model come from: its own, and the files beside it that hold weights.

#ifndef LN_SERIAL_ONNX_SOURCE_H
#define LN_SERIAL_ONNX_SOURCE_H

#include <stdbool.h>

#include <lightnet/status.h>

#include "serial/onnx/arena.h"
#include "serial/onnx/wire.h"

// A file that is mapped for reading; freed with ln_onnx_mapping_destroy.
typedef struct ln_onnx_mapping {
    struct ln_onnx_mapping *next;
    ln_onnx_bytes bytes; // never NULL, even of an empty file
    char *location;      // as a model names it; NULL: the model itself
    bool is_callers;     // bytes of the caller's, which are not mapped
} ln_onnx_mapping;

typedef struct ln_onnx_source {
    const char *name;                  // for messages
    ln_onnx_bytes bytes;               // the model
    const char *path;                  // of the model's file; NULL: read from memory
    const char *folder;                // in which files beside it lie; NULL: read from memory
    const struct ln_given_file *files; // those that the caller has given as bytes; NULL: none
    ln_onnx_budget budget;             // what reading may take
    ln_onnx_mapping *mapped;           // files beside it that have been opened, newest first
    size_t mapped_count;
    const uint8_t *unknown_field; // where the model has one, which is not looked at; NULL: none
    bool is_strict;               // faults that ONNX Runtime accepts are errors, not warnings
    bool is_quiet;                // nor warnings: whoever reads the model afterwards is told
} ln_onnx_source;

// Files beside a model.
#define LN_ONNX_MAX_FILES 10000

// "<name>: byte <offset>: <message>"; `at` is in the model's bytes, or NULL.
ln_status ln_onnx_fail(const ln_onnx_source *source, const uint8_t *at, ln_status status,
                       const char *fmt, ...) LN_PRINTF(4, 5);

// A fault that ONNX forbids and ONNX Runtime accepts. "<name>: byte <offset>: <message>; <remedy>",
// where `remedy` says what is read instead, is a warning, and the status LN_OK. Of a strict source
// the message is the error LN_INVALID.
ln_status ln_onnx_tolerate(const ln_onnx_source *source, const uint8_t *at, const char *remedy,
                           const char *fmt, ...) LN_PRINTF(4, 5);

// A name of a model in a message: `"'%.*s'", LN_ONNX_NAME(bytes)`.
#define LN_ONNX_NAME(bytes) ((bytes).len < 100 ? (int)(bytes).len : 100), (const char *)(bytes).at

// Maps the model itself. A link to it is fine: the caller has named it.
ln_status ln_onnx_map_model(const char *path, ln_onnx_mapping **out_mapping);

// The bytes [offset, offset + len) of the file `location` beside the model: the only way by which
// a model reaches another file. The file is a regular one in the model's folder or a folder below
// it, or in the folder of the file that the model's path is a link to or below that; no part of its
// path is "..", or empty, and it has no second name (hard link).
// LN_INVALID for a path that is refused and a range outside the file.
ln_status ln_onnx_external(ln_onnx_source *source, ln_onnx_bytes location, uint64_t offset,
                           uint64_t len, ln_onnx_bytes *out_bytes);

// Frees one mapping (a void * for ln_context_keep). NULL is fine.
void ln_onnx_mapping_destroy(void *mapping);

#endif
