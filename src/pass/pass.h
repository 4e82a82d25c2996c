// SPDX-License-Identifier: Apache-2.0
// The passes: each rewrites the operator list of a context, and the pipeline is a table of them.
//
// A pass may assume that the context is READY (operators checked, data flow graph built) and
// leaves it READY. Nothing here knows a particular arch or operator.

#ifndef LN_PASS_PASS_H
#define LN_PASS_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/optimize.h>

#define LN_MAX_ARCHS 16

// What a compilation works on.
typedef struct ln_compilation {
    ln_context *ctx;
    ln_arch *archs[LN_MAX_ARCHS];           // the target's, in order, then their fallbacks
    struct ln_use *arch_uses[LN_MAX_ARCHS]; // keep them registered
    size_t arch_count;
    const ln_optimize_options *options; // NULL: the defaults
    struct ln_rule_set **rule_sets;     // of the files that the options name; NULL: none
    struct ln_rule_set *core_rules;     // those of pass `core`
    struct ln_rule_set *general_rules;  // the library's others
    const struct ln_rule_set *arch_rules[LN_MAX_ARCHS]; // of `archs`; NULL: none
    struct ln_rule_set *own_arch_rules[LN_MAX_ARCHS]; // those that were opened for this compilation
    const struct ln_pass *pass;                       // that runs; NULL: none
    bool is_as_read;                                  // the options say so
    bool is_rechecked; // all operators were checked again after the last change

    ln_status (*tune)(
        struct ln_compilation *compilation); // chooses by measuring; NULL: nobody does

    // Firings, see firing.h.
    size_t firing_count;    // numbers given out so far; some may have been skipped
    ln_hash *left_out;      // names of what was skipped or refused; NULL: nothing yet
    size_t last_skipped;    // number of the last one skipped on demand; 0: none
    bool has_reached_limit; // something was skipped because of the limit
    bool is_forced;         // what is tried now happens, whatever the options say
} ln_compilation;

typedef struct ln_pass {
    const char *name;
    const char *doc;
    ln_status (*run)(ln_compilation *compilation);
    bool is_needed; // by the model as it was read as well
} ln_pass;

// *out_options are `options` of `byte_count` bytes; NULL: the defaults.
ln_status ln_optimize_options_read(const ln_optimize_options *options, size_t byte_count,
                                   ln_optimize_options *out_options);

// Finds the archs of `target` ("cuda,cpu") and their fallbacks, and reads the files of rules. An
// unknown arch is an error that lists the known ones. The options are borrowed. Whatever the
// result, the compilation is released with ln_compilation_deinit.
ln_status ln_compilation_init(ln_compilation *compilation, ln_context *ctx, const char *target,
                              const ln_optimize_options *options);
void ln_compilation_deinit(ln_compilation *compilation);

// Runs the passes that the options name in pipeline order.
ln_status ln_passes_run(ln_compilation *compilation);

// Frees a list that an arch's function returned and the context refused. Operators that are the
// context's own, which no function should return, stay.
void ln_pass_free_refused(const ln_context *ctx, ln_list *new_ops);

// Whether the arch has an operator that computes operators of this type.
bool ln_pass_has_variant(const ln_arch *arch, const char *optype);

// For `core`: offers each operator that its rules rewrite to the user's `lower` statements that
// name its type, and to the hand-written expanders of the target's archs, as far as no arch before
// has the operator itself.
ln_status ln_pass_expand_as_read(ln_compilation *compilation);

// ---- The passes, one file each ----

ln_status ln_pass_dead(ln_compilation *compilation);
ln_status ln_pass_core(ln_compilation *compilation);

// Warns of the types that `arch` lists in core_ops and that models no longer have where a device is
// asked. Fails: no memory.
ln_status ln_pass_warn_of_types(const ln_arch *arch);
ln_status ln_pass_widen(ln_compilation *compilation);
ln_status ln_pass_fold(ln_compilation *compilation);
ln_status ln_pass_place(ln_compilation *compilation);
ln_status ln_pass_layout(ln_compilation *compilation);
ln_status ln_pass_join(ln_compilation *compilation);
ln_status ln_pass_tune(ln_compilation *compilation);
ln_status ln_pass_expand(ln_compilation *compilation);
ln_status ln_pass_fuse(ln_compilation *compilation);
ln_status ln_pass_combine(ln_compilation *compilation);
ln_status ln_pass_subgraph(ln_compilation *compilation);
ln_status ln_pass_scratch(ln_compilation *compilation);
ln_status ln_pass_schedule(ln_compilation *compilation);
ln_status ln_pass_order(ln_compilation *compilation);

#endif
