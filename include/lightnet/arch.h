/* SPDX-License-Identifier: Apache-2.0 */
/* An architecture: a place where operators run, with its operators and its optimizer functions.
 *
 * This page is the whole interface between the library and a device; docs/devices.md shows one, and
 * `src/arch/null` of the sources is a template. The members stand in order of life; all but
 * `arch_name` may be NULL.
 *
 * Functions that return a status may return any but LN_TIMEOUT and LN_CANCELLED, which are the
 * program's: these, and numbers that are no status, become LN_INTERNAL. A failure ends what the
 * context was doing.
 */

#ifndef LIGHTNET_ARCH_H
#define LIGHTNET_ARCH_H

#include <stddef.h>

#include <lightnet/context.h>
#include <lightnet/export.h>
#include <lightnet/hash.h>
#include <lightnet/library.h>
#include <lightnet/list.h>
#include <lightnet/mem.h>
#include <lightnet/op.h>
#include <lightnet/status.h>

LN_CPPSTART

/* ---- Optimizer functions ---- */

/* Expands `op` into the operators of the returned list; NULL removes it. *match is set to 1 if the
 * function applies to `op`, to 0 if it does not (the result is then ignored). */
typedef ln_list *(*ln_expander_func)(const ln_context *ctx, const ln_op *op, int *match);

/* Replaces the first `win_size` operators of `win_ops`, neighbours in the operator list, by the
 * returned list; *match as above. The window of a function is 2 operators. */
typedef ln_list *(*ln_combiner_func)(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                                     int *match);

/* Returns new operators, and in *old_ops those they replace; *old_ops NULL means no change. */
typedef ln_list *(*ln_subgraph_func)(const ln_context *ctx, ln_list **old_ops);

/* Returns all operators of the context in another order; NULL means no change. */
typedef ln_list *(*ln_schedule_func)(const ln_context *ctx);

/* ---- What it can do ---- */

/* The most that one thread computes. */
typedef struct ln_arch_peak {
    const char *isa; /* the instruction set in use, such as "avx512"; static */
    double flops;    /* floating-point operations a second in f32; a multiply-add is two */
} ln_arch_peak;

/* ---- Devices with numbers ---- */

/* An option of a device: a member of the arch's own structure, and its text. */
typedef enum ln_device_option_kind {
    LN_DEVICE_INT,   /* int64_t */
    LN_DEVICE_FLOAT, /* double */
    LN_DEVICE_BOOL,  /* int: "true" or "false" */
    LN_DEVICE_WORD   /* int: which of `words` */
} ln_device_option_kind;

typedef struct ln_device_option {
    const char *name; /* NULL: past the last */
    ln_device_option_kind kind;
    size_t offset;            /* of the member */
    const char *first;        /* the default, as text */
    const char *const *words; /* of LN_DEVICE_WORD; the last NULL */
    const char *doc;          /* one sentence for `lightnet archs` */
} ln_device_option;

/* What is known of a device before it is opened. */
typedef struct ln_device_info {
    size_t byte_count;        /* of this structure, as the library knows it: nothing beyond it may
                                 be written */
    char title[64];           /* for people, such as "NVIDIA H200" */
    size_t memory_byte_count; /* how much memory it has for tensors; 0: not known */
    size_t align_byte_count;  /* blocks of `alloc`, and tensors in them, begin at multiples of this
                                 power of two; 0: LN_MEM_ALIGN, which is the least. A tensor that is
                                 a part of another one, such as a slice, begins anywhere in it */
} ln_device_info;

/* ---- The arch ---- */

struct ln_arch {
    void (*init_func)(void **priv_p);    /* open the device; fills in *priv_p */
    void (*cleanup_func)(void **priv_p); /* close it */
    void *priv;
    ln_op **reg_ops; /* the operators it runs, NULL-terminated, as the four below */
    ln_expander_func *ep_funcs;
    ln_combiner_func *cb_funcs;
    ln_subgraph_func *sg_funcs;
    ln_schedule_func *sd_funcs;
    char *arch_name;

    /* Beyond the documented fields. */

    const char *doc;       /* one sentence for `lightnet archs` */
    ln_mem_type mem_type;  /* where its operators' tensors live */
    const char *fallbacks; /* archs tried in this order for what it does not take: "ref" */
    int is_channels_last;  /* 1: as the first arch of a target it is given convolution stacks on
                              channels-last images */

    /* In the place of `reg_ops`, which is then filled in while the arch is registered: operators
     * as the build of LightNet writes them down. */
    struct ln_op_rows *op_rows;

    /* Rewrite rules compiled from the arch's .rules files, applied after the general ones. */
    const struct ln_rule_set *rules;

    /* Memory of the device, for an arch whose `mem_type` is not LN_MEM_CPU; registered with
     * mem.h while the arch is. The copies are like memmove: from main memory, to main memory,
     * within the device. */
    const ln_mem_info *mem_info;
    ln_copy_func copy_in;
    ln_copy_func copy_out;
    ln_copy_func copy_within;

    /* LN_OK if the device would run `op`, an operator of arch `none` with its input tensors
     * defined, whose tensors are as in `prepare`; LN_UNSUPPORTED with the reason if not. Other
     * statuses are failures, and end the compilation. Of a model with dynamic shapes it is asked
     * for each set of shapes, and while the model is compiled maybe for some that replace all.
     * NULL: the operator's own checks decide. */
    ln_status (*describe)(void *priv, const ln_op *op);

    /* Neighbours in the operator list run as one group: prepared once when a plan is loaded, run
     * many times, released. `prepare` NULL: the operators' own `run` functions are called in order.
     * `prepare` sees types, shapes and parameters, and the elements of constants: of a tensor whose
     * entry says `isstatic`, `data` is where they are, in the memory of the device, until
     * `release`. When a program sets a constant, the group is released and prepared again. Where
     * other tensors are is known in a run only, since sessions run one group in memory of their
     * own. The operators stay until `release`. Those of a compiled file were never asked about:
     * LN_UNSUPPORTED if the device does not take them. Their `tensors_in` and `tensors_out` have an
     * entry for each argument of the description, in its order; one that is left out has the name
     * "". Variadic arguments are there as often as the model gives them. `addresses` has these
     * tensors: for each operator of the group, in order, its `tensors_in` and then its
     * `tensors_out`; NULL for those that are left out. What several operators name is there several
     * times. They are borrowed until the run ends; types and shapes are those of `prepare`. Threads
     * may run a group at the same time, with different `addresses`. A device that only starts work
     * gives `run_async` and `wait` instead of `run`, and not both; `wait`, which follows with the
     * same `addresses`, returns when their run is done. Other operators, and other groups, may run
     * between the two: none reads what the group makes, or writes where its tensors are. What
     * `run_async` has started is waited for in any case, also where the run fails; where
     * `run_async` fails, it has started nothing. A group may be NULL, and is then released like
     * others; without `release` it has to be. */
    ln_status (*prepare)(void *priv, const ln_list *ops, void **out_group);
    ln_status (*run)(void *priv, void *group, tl_tensor *const *addresses);
    ln_status (*run_async)(void *priv, void *group, tl_tensor *const *addresses);
    ln_status (*wait)(void *priv, void *group, tl_tensor *const *addresses);
    void (*release)(void *priv, void *group);

    /* Measures for about `seconds` what the calling thread computes at most, for results to be
     * compared with. NULL: not known. */
    void (*measure_peak)(void *priv, double seconds, ln_arch_peak *out_peak);

    /* 1: it computes every operator in main memory. Values that are known while a model is planned
     * come from it, and it does what another arch refuses in a run. */
    int is_reference;

    /* For `is_channels_last`: how operators are written for such images, as tables of the library's
     * own (src/pass/layout_build.h), the last NULL. NULL: as for the first arch that has some. */
    const struct ln_layout_op *const *layout_ops;

    /* Operators whose algorithm can be chosen by measuring (src/pass/choice.h); the last has a NULL
     * optype. NULL: none. */
    const struct ln_choice *choices;

    /* 1: it computes floats faster than halves (TL_FLOAT16, TL_BFLOAT16), so models of halves are
     * computed in floats between their inputs and outputs. */
    int is_faster_in_floats;

    /* Types of arch `none`, in call form, that groups of the arch compute, each with the parameters
     * that it knows: "softmax(axis)", "conv(*)" for all of them, "prelu"; the last NULL. NULL:
     * none. Types of the core, which models are rewritten into before: docs/devices.md lists them.
     * An operator with a parameter that is not named, and not at its default, is not offered, and
     * refused where a model names the device's type. For each, an operator `<type>_<arch>` is
     * registered with the arch: parameters, arguments and shapes are those of the type, the memory
     * is `mem_type` (LN_MEM_CPU if that is LN_MEM_NONE). It has no `run` of its own, so `prepare`
     * and `run`, or `run_async` and `wait`, are required. Outputs are apart from inputs, but for
     * types whose output is the input under another shape, such as `reshape`: for these a group has
     * nothing to do. The operators of a group are to be computed as if in the order of their list:
     * what is written later may take the memory of what is not read any more. */
    const char *const *core_ops;

    /* *out_seconds receives what `count` operators of arch `none`, `ops` in the order of the model,
     * take as one group, without the copies in and out, which are added: 8 bytes a nanosecond. A
     * group that takes as long as the host, or longer, goes to the host if another arch of the
     * target takes all of it; else this is not asked. The host does a work unit (ln_op_cost of its
     * own operators) in a nanosecond. 0: it is worth it whatever the copies cost. A failure, a
     * number below 0 and NaN, which it is before, end the compilation. Views alone go to the host,
     * and this is not asked. Operators of arch `none`
     * have no cost; ln_op_macs tells how much they compute. NULL: the device computes 8 times as
     * fast as the host, and beginning a group takes 20 microseconds. */
    ln_status (*evaluate)(void *priv, const ln_op *const *ops, size_t count, double *out_seconds);

    /* ---- Devices that contexts open ---- */

    /* Opens device `index`: *out_device receives its state, which may be NULL. Each context opens a
     * device that it compiles or loads for once, and shares it with its clones, and with what is
     * made of them; other contexts open it again, with a state of their own. `options` is the
     * arch's structure, `byte_count` bytes long, with defaults where the program has set nothing;
     * it is borrowed during the call. `describe`, `evaluate`, `prepare`, `run`, `run_async`, `wait`
     * and `release` then get the device in the place of `priv`. A failure ends what the context was
     * doing. NULL: there is one state, `priv`, for all contexts, and the rest of this part is not
     * used. */
    ln_status (*open)(void *priv, int index, const void *options, size_t byte_count,
                      void **out_device);

    /* Closes it: groups are released, and memory is freed. */
    void (*close)(void *device);

    /* Fills in *out_info for device `index`, without opening it; LN_NOT_FOUND past the last one, be
     * that the first: the arch can be registered, and no device be opened. There are 1000 at most.
     * Device 0 has the name of the arch, the others "echo:1" and so on. NULL: there is one. */
    ln_status (*find_device)(void *priv, int index, ln_device_info *out_info);

    /* What the structure of options has, as a table, and how long it is. NULL, 0: there are none.
     */
    const ln_device_option *options;
    size_t option_byte_count;

    /* Memory of the device's own, in the place of `mem_type`, `mem_info` and the copies above: each
     * device has a memory type, which the library names and removes. *out_start receives an
     * address, which the library adds offsets to and never reads: it may be reserved, with nothing
     * there. Blocks of all devices of a process are at different addresses. What a context loads
     * into is filled with zeros before, by `copy_to`. Copies are over when they return; what was
     * started before on the device and writes the source has been waited for. All are required, if
     * one is there. */
    ln_status (*alloc)(void *device, size_t byte_count, void **out_start);
    void (*free)(void *device, void *start);
    ln_status (*copy_to)(void *device, void *dst, const void *src, size_t byte_count);
    ln_status (*copy_from)(void *device, void *dst, const void *src, size_t byte_count);
    ln_status (*copy_inside)(void *device, void *dst, const void *src, size_t byte_count);

    /* `wait` for at most `seconds`: *out_is_over is 1 if the group's run has ended, with the status
     * of the run, else 0 and LN_OK. It is called in the place of `wait`, in any thread, where a run
     * has a limit of time or may be cancelled, and the device has memory of its own: with the
     * seconds that are left, but a thousandth at most where it may be cancelled, until the run has
     * ended or is given up, which then returns at once; the next one waits in the same way until
     * the device has ended. Where it fails with 0 in *out_is_over, `wait` is called. NULL: `wait`
     * alone, which they wait for. */
    ln_status (*wait_for)(void *priv, void *group, tl_tensor *const *addresses, double seconds,
                          int *out_is_over);
};
typedef struct ln_arch ln_arch;

/* For `run`, `run_async` and copies: the priority of the run that calls them, as the program has
 * set it (`ln_session_set_priority`, `ln_context_set_priority`), from LN_PRIORITY_LEAST to
 * LN_PRIORITY_MOST. A device with a queue does what has the highest one first, and what has the
 * same in the order of its start. 0 in a thread that does nothing for a context. */
LN_API int ln_run_priority(void);

/* ---- All archs and operators ---- */

struct ln_arch_info {
    ln_hash *arch_table;     /* arch name -> ln_arch */
    ln_hash *op_proto_table; /* operator type -> ln_op, the prototype */
};
typedef struct ln_arch_info ln_arch_info;

/* Filled in by `ln_arch_init`; read it freely, change it only through the functions below. */
LN_API extern ln_arch_info ln_global_arch_info;
#define LN_ARCH ln_global_arch_info

/* Adds an arch and its operators, and opens it. The struct is borrowed and must outlive its
 * registration. A second arch of that name, or an operator type that exists already, is refused
 * with LN_EXISTS and changes nothing. Thread-safe, as are all functions below. */
LN_API ln_status ln_arch_register(ln_arch *arch);

/* The same for an arch of `byte_count` bytes, as the program knows the structure; the macro says so
 * for all who compile against this header. Fields beyond it are 0: what is registered, and what
 * `ln_arch_find` and the functions of operators see, is then a copy. LN_UNSUPPORTED if it is longer
 * than the library's and what is beyond is not 0. */
LN_API ln_status ln_arch_register_sized(ln_arch *arch, size_t byte_count);
#define ln_arch_register(arch) ln_arch_register_sized(arch, sizeof(ln_arch))

/* Closes an arch and removes it with its operators.
 * Fails: LN_STATE with who uses it, if there are operators of its types, or a context or program
 * was compiled for it, or is being compiled (which clones, programs and sessions hold);
 * LN_NOT_FOUND. Nothing has happened then. */
LN_API ln_status ln_arch_unregister(const char *arch_name);

/* NULL if there is none. A device with a number, such as "echo:1", is an arch of its own from when
 * a target names it first; "echo:0" is "echo". */
LN_API ln_arch *ln_arch_find(const char *arch_name);
LN_API ln_arch *ln_arch_find_at(size_t index); /* in order of registration; NULL past the end */
LN_API size_t ln_arch_count(void);
LN_API void ln_arch_release(void); /* unregisters all */

/* Adds one operator prototype, borrowed like an arch. Its arch must be registered; its type must
 * be new, and end in "_<arch>" unless its arch is "none". What is known about it (`op_arg->info`)
 * says its own size; of `op_arg` the fields up to `info` are read. */
LN_API ln_status ln_op_register(ln_op *op);
/* Fails: LN_STATE while there are operators of the type, or a context or program was compiled for
 * its arch, or is being compiled; LN_NOT_FOUND. */
LN_API ln_status ln_op_unregister(const char *optype);
LN_API ln_op *ln_op_find(const char *optype);

/* The variant of an operator of arch `none` on the first arch that is a reference; NULL if none
 * has it. */
LN_API ln_op *ln_op_find_reference(const char *optype);
LN_API ln_op *ln_op_find_at(size_t index);
LN_API size_t ln_op_count(void);
LN_API void ln_op_release(void);

LN_CPPEND

#endif
