// SPDX-License-Identifier: Apache-2.0
// Where a rule fires, or what keeps it from that: what `lightnet opt --why` has of this module, and
// the library does not.
//
//     ln_why_watch *why;
//     LN_TRY(ln_why_watch_create("conv_relu", "cpu", &options, ctx, &why));
//     ... ln_context_optimize_with, whose functions on_firing and on_pass pass on what they are
//     told LN_TRY(ln_why_watch_text(why, &text)); ln_why_watch_destroy(why);
//
// One at a time in a process, in the thread that compiles.

#ifndef LN_PASS_WHY_API_H
#define LN_PASS_WHY_API_H

#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/optimize.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef struct ln_why_watch ln_why_watch;

// Finds the rules of that name among the library's, those of the archs and those of the options'
// files, and begins to watch each. `ctx` is the model before the first pass. `rule` is borrowed.
// Fails: LN_NOT_FOUND, with a name that is near, if there is no such rule, or the target does not
// have its arch; what reading a file gives; LN_NO_MEMORY.
ln_status ln_why_watch_create(const char *rule, const char *target,
                              const ln_optimize_options *options, const ln_context *ctx,
                              ln_why_watch **out_why);
void ln_why_watch_destroy(ln_why_watch *why); // accepts NULL

// Calls `function` for each graph inside `ctx`, whose rewrites may be watched as well, up to the
// first that fails.
ln_status ln_why_each_graph(const ln_context *ctx,
                            ln_status (*function)(ln_context *graph, void *user), void *user);

// To be told of every firing, and of the model after each pass.
void ln_why_note_firing(ln_why_watch *why, const ln_firing *firing);
void ln_why_note_pass(ln_why_watch *why, const char *pass, const ln_context *ctx);

// What has come of it, in lines. The caller gives *out_text back with ln_free. Fails: LN_NO_MEMORY.
ln_status ln_why_watch_text(const ln_why_watch *why, char **out_text);

LN_CPPEND

#endif
