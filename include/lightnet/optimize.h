/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling with a say in it: which rewrites happen, and what happened.
 *
 * Everything that rewrites a model is a firing: of a rule, of a `lower` statement, of an arch's own
 * function. Firings are numbered from 1 in the order in which they are found, the same numbers each
 * time for the same model, target and rules. So one number names one decision of the compiler: it
 * can be listed, skipped, and searched for by halves.
 *
 *     static void say(void *user, const ln_firing *f)
 *     {
 *         printf("%zu %s at %s\n", f->number, f->rule, f->op);
 *     }
 *     ...
 *     ln_optimize_options options = ln_optimize_options_default();
 *     options.on_firing = say;
 *     ln_context_compile_with(ctx, "cpu", &options);
 */

#ifndef LIGHTNET_OPTIMIZE_H
#define LIGHTNET_OPTIMIZE_H

#include <stddef.h>

#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* One rewrite. All texts are valid during the call only. */
typedef struct ln_firing {
    size_t number;    /* from 1; a skipped firing has its number all the same */
    const char *pass; /* the pass in which it happens, such as "fold" */
    const char *rule; /* the rule's name; of a lowering the type that it gives: "conv2d_cpu"; of an
                         arch's function its kind, position and arch: "combiner 0 of cpu" */
    const char *tag; /* "exact", "reorders" or "rounds"; NULL: not said, as by an arch's function */
    const char *file;   /* where the rule is written; NULL for an arch's function */
    int line;           /* in that file; 0 for an arch's function */
    const char *op;     /* name of the operator at which it happens: the root of the pattern */
    const char *optype; /* its type before the firing */
    int is_lowering;    /* 1: takes the operator from arch `none` to another */
    int is_skipped;     /* 1: it was found, and did not happen */
    int is_failed;      /* 1: it has failed, and the compilation ends */
    int is_refused;     /* 1: an operator of its result refused its inputs, and the model stayed */
    const char *reason; /* of the refusal; NULL: none */
    const char *graph;  /* the graph inside the model that `op` is in, such as a branch of an If:
                           its rewrites have numbers from 1 of their own; NULL: the model itself */
} ln_firing;

/* What is decided about a connected part of the model for which a device of the target has
 * operators. All texts are valid during the call only. */
typedef struct ln_offload {
    const char *arch;      /* the device */
    const char *op;        /* name of the first operator of the part */
    size_t op_count;       /* how many operators it has */
    double device_seconds; /* a run of it on the device, without copies, as `evaluate` of
                              lightnet/arch.h states it, or its default; 0: it is worth it
                              whatever that costs, or was not asked, as no host takes all of it */
    double copied_bytes;   /* what a run copies to the device and from it */
    double copy_seconds;   /* as `place` counts them */
    double host_seconds;   /* a run of it on the host; below 0: no host of the target takes all */
    int is_taken;          /* 1: the device computes it; 0: another arch of the target does */
    const char *reason;    /* why the device refuses it, in its own words; NULL: it does not */
} ln_offload;

typedef struct ln_optimize_options {
    const char *passes;     /* only these, such as "fold,expand"; NULL: all */
    const char *stop_after; /* no pass after this one; NULL: to the end */

    /* Files of rules, tried before the built-in ones (docs/rules.md is their language). */
    const char *const *rule_files;
    size_t rule_file_count;

    /* Firings that are not to happen. A rule that is skipped at an operator is not tried there
     * again, and takes no second number, so 1 to 16 are the same with and without a skipped 17.
     * Where a lowering is skipped, the next one that takes the operator is tried, so that it comes
     * to the target's next arch. LN_UNSUPPORTED if there is no other, and LN_NOT_FOUND for a number
     * that no firing has. Graphs inside the model, which come first, number theirs from 1, too,
     * and leave out the same numbers. Plans for other shapes of the model's inputs leave out the
     * same rules at the same operators. */
    const size_t *skip;
    size_t skip_count;

    /* Firings with larger numbers are as if skipped, but what has to be lowered still is: by the
     * last arch of the target that takes it. 0 on target "cpu,ref": everything on `ref`, no rules.
     * SIZE_MAX: no limit. It holds for each shape. */
    size_t firing_limit;

    /* Asked for each firing that is neither skipped nor over the limit; 0 skips it as well. NULL:
     * all happen. Asked during the call only: plans for other shapes leave out what it skipped. */
    int (*wants_firing)(void *user, const ln_firing *firing);

    /* For `ln_context_compile_with`: every tensor has its own memory to the end, so that all can be
     * looked at after a run. */
    int keeps_tensors;

    /* For `ln_context_compile_with`: what is computed once from a constant may take its place,
     * where nobody else needs it. Folded weights then cost no memory beside the ones of the file;
     * but a change (`ln_context_set_data`) that would need a constant which is gone is refused. */
    int freezes_constants;

    /* Convolutions that several algorithms can do are run with each of them, for some milliseconds,
     * and take the fastest. That decides bits: two compilations may differ, but what is compiled
     * and printed stays as it is. */
    int tunes;

    /* Told of each firing after it has happened, was skipped, was refused or has failed. May be
     * NULL. */
    void (*on_firing)(void *user, const ln_firing *firing);

    /* Told after each pass: how long it took, and the model as it is now. Another status than LN_OK
     * ends the compilation. May be NULL. */
    ln_status (*on_pass)(void *user, const char *pass, double seconds, const ln_context *ctx);

    void *user; /* for the functions above */

    /* Convolutions take no Winograd algorithm, with the same firings: to tell a fault of its
     * kernels from one of the passes that bring convolutions to them. */
    int avoids_winograd;

    /* Operators on halves (TL_FLOAT16, TL_BFLOAT16) round after each operator, as the model says.
     * Else archs that are faster in floats compute such models in floats, and round at inputs,
     * constants and outputs alone. */
    int keeps_halves;

    /* The model as it was read, on an arch that is a reference (`ref`): what rewrites are held
     * against. Operators stay what they are; only those that the arch has no function for are
     * replaced, one by one, by their definitions in others. No rule, no pass but those needed to
     * run, no template, and every tensor has its own memory. LN_INVALID with another target, or
     * with `rule_files`. */
    int stays_as_read;

    /* Told of the parts of the model that a device of the target has operators for: first of each
     * operator that it refuses, with its reason; then of parts that are given back to the host,
     * which is as fast; at the end of each part that it computes. Not told of what a model that is
     * on its devices already says. May be NULL. */
    void (*on_offload)(void *user, const ln_offload *offload);

    /* For `ln_context_compile_with`: a run in which a device fails is done again on the host, from
     * its inputs, and the caller gets its results. The model is compiled a second time for the
     * archs of the target that are no devices, and loaded with all its constants; what that takes
     * in main memory is planned and within the limit (`ln_context_failover`). Rewrites are not
     * reported again, and all happen. A device fails where it computes, copies or allocates; time
     * that is up, and a cancel, end a run as ever, and what both attempts take of time and work is
     * within one limit. Where no device computes anything, nothing happens. Fails: LN_INVALID if
     * the target has devices alone, LN_UNSUPPORTED for models that write in a run (`print`,
     * `fprint`), which would do so twice. Written with models of dynamic inputs; other compiled
     * models cannot be written (LN_UNSUPPORTED). */
    int fails_over;
} ln_optimize_options;

/* Every pass, no files of rules, nothing skipped, no function called; the second form for
 * structures of `byte_count` bytes. */
LN_API ln_optimize_options ln_optimize_options_default(void);
LN_API void ln_optimize_options_init(ln_optimize_options *out_options, size_t byte_count);

static inline ln_optimize_options ln_optimize_options_default_inline(void)
{
    ln_optimize_options options;
    ln_optimize_options_init(&options, sizeof options);
    return options;
}
#define ln_optimize_options_default() ln_optimize_options_default_inline()

/* `ln_context_optimize` and `ln_context_compile` with options; NULL: the defaults. The options and
 * what they point to are borrowed for the call. If it fails, the context stays READY, with the
 * operators as far as they were rewritten. */
LN_API ln_status ln_context_optimize_with(ln_context *ctx, const char *target,
                                          const ln_optimize_options *options);
LN_API ln_status ln_context_compile_with(ln_context *ctx, const char *target,
                                         const ln_optimize_options *options);

/* The same for options of `byte_count` bytes, as the program knows the structure; the macros say so
 * for all who compile against this header. What they do not have is as by default. LN_UNSUPPORTED
 * if they are longer than the library's and what is beyond is not 0. */
LN_API ln_status ln_context_optimize_with_sized(ln_context *ctx, const char *target,
                                                const ln_optimize_options *options,
                                                size_t byte_count);
LN_API ln_status ln_context_compile_with_sized(ln_context *ctx, const char *target,
                                               const ln_optimize_options *options,
                                               size_t byte_count);
#define ln_context_optimize_with(ctx, target, options)                                             \
    ln_context_optimize_with_sized(ctx, target, options, sizeof(ln_optimize_options))
#define ln_context_compile_with(ctx, target, options)                                              \
    ln_context_compile_with_sized(ctx, target, options, sizeof(ln_optimize_options))

/* Gives a registered arch the rules of a text (docs/rules.md), in the place of those that the build
 * compiles into the library's own archs: its `lower` statements say what the arch computes, its
 * rules rewrite what the arch has. They are checked now, and go with the arch. "<rules of NAME>" is
 * their file in messages. Fails: LN_NOT_FOUND if there is no such arch; LN_EXISTS if it has rules;
 * LN_STATE while it is in use; LN_SYNTAX, LN_LIMIT, or what a rule that cannot be right is refused
 * with, with line and column. */
LN_API ln_status ln_rules_register(const char *arch_name, const char *text);

LN_CPPEND

#endif
