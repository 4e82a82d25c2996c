// SPDX-License-Identifier: Apache-2.0
// The files that a model's operators write, where the caller allows it.
//
// A context and its clones share one record; graphs ask their root. A file is created by the first
// load that needs it and stays open as long as the record, so each run appends, in any thread.

#ifndef LN_IR_WRITES_H
#define LN_IR_WRITES_H

#include <stdio.h>

#include <lightnet/context.h>

typedef struct ln_writes ln_writes;

ln_writes *ln_writes_retain(ln_writes *writes); // returns `writes`; NULL is fine
void ln_writes_release(ln_writes *writes);      // NULL is fine

// While a model is loaded: creates the file `path`, or finds it open. LN_INVALID if the root of
// `ctx`, which may be NULL, allows no files. While constants are only stored, nothing happens.
ln_status ln_writes_open(ln_context *ctx, const char *path);

// In a run: the stream of a file that is open, for this thread alone until `ln_writes_end`, which
// reports what could not be written. LN_LIMIT if `byte_count` more, the most that will be written,
// could be more in all files than the context's limit of memory.
ln_status ln_writes_begin(ln_context *ctx, const char *path, double byte_count, FILE **out_stream);
ln_status ln_writes_end(ln_context *ctx, const char *path, FILE *stream);

#endif
