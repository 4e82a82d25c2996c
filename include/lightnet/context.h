/* SPDX-License-Identifier: Apache-2.0 */
/* A context holds one model with its resources, from reading to running.
 *
 *     ln_context_create -> init(source) -> compile(target) -> load(datafile)
 *         -> { set_data, set_param, run, get_data }*
 *         -> unload -> cleanup -> free
 *
 * A context is the single point of truth for its operators and tensors. It belongs to one thread
 * at a time; different contexts may be used by different threads at once.
 *
 * A call that fails returns a status, leaves its reason in `ln_error_message()`, and leaves the
 * context as it was before the call. Only when memory runs out in the middle of a change, and is
 * short for undoing it too, the model is dropped: the context is then EMPTY.
 */

#ifndef LIGHTNET_CONTEXT_H
#define LIGHTNET_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/cancel.h>
#include <lightnet/dfg.h>
#include <lightnet/export.h>
#include <lightnet/hash.h>
#include <lightnet/list.h>
#include <lightnet/mem.h>
#include <lightnet/ndarray.h>
#include <lightnet/op.h>
#include <lightnet/plan.h>
#include <lightnet/pool.h>
#include <lightnet/status.h>

LN_CPPSTART

/* What a model may cost at most; checked before any weight is touched. A model file is not
 * trusted, so the defaults are finite; `ln_context_set_limits` moves them. */
typedef struct ln_limits {
    size_t source_byte_count; /* size of a model's text; default 256 MiB */
    size_t memory_byte_count; /* planned peak of one memory type, and what a run allocates
                                 beside it; default 4 GiB */
    size_t op_count;          /* operators, after macros and rewriting; default 1,000,000 */
    double work;              /* cost of one run, in work units of about a nanosecond of one core
                                 (`ln_context_cost`); default 6e11, ten minutes */
} ln_limits;

/* The defaults named above; the second form for structures of `byte_count` bytes. */
LN_API ln_limits ln_limits_default(void);
LN_API void ln_limits_init(ln_limits *out_limits, size_t byte_count);

static inline ln_limits ln_limits_default_inline(void)
{
    ln_limits limits;
    ln_limits_init(&limits, sizeof limits);
    return limits;
}
#define ln_limits_default() ln_limits_default_inline()

typedef enum ln_context_state {
    LN_CONTEXT_EMPTY = 0, /* created, or cleaned up */
    LN_CONTEXT_READY,     /* init: operators checked, tensors defined, data flow graph built */
    LN_CONTEXT_PLANNED,   /* compiled, or read from a compiled file: every tensor has an offset */
    LN_CONTEXT_LOADED     /* memory allocated, static operators have run */
} ln_context_state;

struct ln_context {
    ln_hash *tensor_table;              /* the tensor table */
    ln_hash *op_table;                  /* the operator table */
    ln_dfg *dfg;                        /* the data flow graph */
    ln_list *ops;                       /* the operator list, in order of execution */
    void *mem_starts[LN_MEM_TYPE_SIZE]; /* the memory start addresses */
    size_t mem_sizes[LN_MEM_TYPE_SIZE]; /* the memory sizes */

    /* Beyond the documented fields. */

    /* The first bytes of each memory are static (weights, constants), the rest is workspace:
     *     | 64 bytes reserved | static ... | workspace ... |
     *     0                  64     static_sizes[m]     mem_sizes[m]
     * An offset of 0 therefore means "none". */
    size_t static_sizes[LN_MEM_TYPE_SIZE];

    ln_context_state state;
    ln_limits limits;
    char *source;                 /* what was read, for messages; NULL if made in memory */
    char *target;                 /* the archs it was compiled for, such as "cpu"; NULL before */
    struct ln_runner *runner;     /* what `load` prepares for `run`; NULL before */
    struct ln_compiled *compiled; /* what a compiled file says, until `init` has checked it */
    ln_list *ops_last;            /* where `ln_context_append_op` goes on; NULL when unknown */
    struct ln_memory *memory;     /* what `mem_starts` points to; NULL before load */
    struct ln_memory
        *static_memory;     /* where the static tensors are: the same, or a clone's origin's */
    ln_list *retired;       /* of ln_tensor_entry: out of the table, but maybe still looked at */
    struct ln_bound *bound; /* the arrays whose memory inputs use; NULL if there are none */
    int has_input;          /* an operator is an `input`, as found when all were checked last */
    int has_output;         /* the same for `output` */
    struct ln_attached *attached; /* attached weights; NULL: none */
    ln_hash *graphs;              /* name -> ln_context: bodies of If, Loop, Scan; NULL: none */
    struct ln_context *outer;     /* of a graph: the context that it belongs to; else NULL */
    ln_meter *meter;              /* what open tensors take; NULL before a run needs it */
    ln_meter *known_meter;        /* what values take that are known early; NULL: none are */
    int is_known_short;           /* 1: some values could be known early, but are too many */
    double work_left;             /* work units that operators may still charge in this run */
    int running_graphs;           /* how many run inside each other; of a graph: whether it runs */
    struct ln_plans *plans;       /* plans for other shapes; NULL: none can be made */
    char *datafile;               /* what was loaded; NULL: none */
    struct ln_pool *pool;         /* the threads that run it; NULL: the caller's alone */
    size_t thread_count;          /* how many it is to have; 0: the default */
    struct ln_ends *ends;         /* its inputs and outputs; NULL until they are asked for */
    size_t load_sizes[LN_MEM_TYPE_SIZE]; /* memory that `load` takes and gives back */
    char *weights; /* of a compiled file: the file beside it with its constants; NULL: none */
    struct ln_observer *observer; /* called around each operator of a run; NULL: none */
    int is_strict;                /* see `ln_context_set_strict` */
    struct ln_scratch *scratch;   /* blocks that operators of dynamic shape took before */
    size_t scratch_byte_count;    /* what these take, of `meter` */
    struct ln_writes *writes;     /* the files that its operators may write; NULL: none */
    int is_storing;               /* its constants are computed to be stored, nothing runs */
    double timeout;               /* seconds, `ln_context_set_timeout`; 0: none */
    double work_limit;            /* what `work_left` was when what the context is doing began */
    int64_t start_ns;             /* when that was, if there is a timeout */
    int phase;                    /* what that is: 0 nothing, or planning, loading, a run */
    unsigned constants_version;   /* counts constants that were set */
    int plan_reuse;     /* what the plan lets be in what: an ln_plan_reuse of the library's own */
    int is_random;      /* of a graph: it may give other numbers when it runs again */
    char *weights_from; /* of a compiled file: what its constants come from; NULL: not stated */
    double work_done;   /* work units that the last run took, of `limits.work` */
    unsigned params_version;              /* counts parameters that were set */
    ln_cancel *cancel;                    /* `ln_context_set_cancel`, held; NULL: none */
    const struct ln_constants *constants; /* those that the plan shares with one for another shape;
                                             NULL: none */
    struct ln_range_base *range;          /* `ln_context_set_range`; NULL: none */
    const struct ln_envelope *envelope;   /* sizes that the plan of any shape in range has;
                                             NULL: its own */
    struct ln_held_info *info;            /* metadata of the model, counted; NULL: none */
    struct ln_given_file *files;          /* `ln_context_add_file`; NULL: none */
    char *folder;                         /* `ln_context_set_folder`; NULL: none */
    struct ln_hash *judged;      /* what a template's sizes were found to be; NULL: it is none */
    struct ln_uses *uses;        /* the archs of `target`, which stay registered; NULL: no target */
    struct ln_skips *skips;      /* rewrites that are left out at any shape, borrowed; NULL: none */
    struct ln_devices *devices;  /* that it has set or opened, shared with its clones; of a graph:
                                    those of its root are used */
    struct ln_context *failover; /* the model on the host, for runs whose device fails; NULL: none.
                                    It is compiled, loaded and freed with the context */
    int has_stale_failover;      /* a change of the model has not reached it: it does not run */
    size_t failover_count;       /* `ln_context_failover_count` */
    struct ln_progress *progress; /* of the run that goes on, or was the last */
    int priority;                 /* `ln_context_set_priority` */
    int had_missing;              /* before it was rewritten, `ln_context_missing` had a name */
};
typedef struct ln_context ln_context;

/* ---- What a context says about itself; none of it fails, NULL is an EMPTY context ---- */

LN_API ln_context_state ln_context_get_state(const ln_context *ctx);

/* What was read: a path, or the name that memory was given. NULL before `init`, and for a model
 * that was made in memory. Borrowed, until the context is changed. */
LN_API const char *ln_context_source(const ln_context *ctx);

/* The archs that it was compiled for, such as "cpu,ref"; NULL before. Borrowed likewise. */
LN_API const char *ln_context_target(const ln_context *ctx);

/* 1 if the model brings constants along, as ONNX does, so that they are not in a data file. */
LN_API int ln_context_has_weights(const ln_context *ctx);

/* clang-format off */
/* Bytes that a PLANNED or LOADED model takes in memory of type `mtype`, such as LN_MEM_CPU; 0
 * before and for other types:
 *     peak       what `load` allocates and a run needs: static + workspace
 *     static     weights and constants, and 64 bytes that are reserved; clones share it
 *     workspace  all else; each clone has its own
 *     load       what loading takes besides, and gives back
 * What `ln_context_unplanned` names is not in these sums. */
/* clang-format on */
LN_API size_t ln_context_peak_bytes(const ln_context *ctx, ln_mem_type mtype);
LN_API size_t ln_context_static_bytes(const ln_context *ctx, ln_mem_type mtype);
LN_API size_t ln_context_workspace_bytes(const ln_context *ctx, ln_mem_type mtype);
LN_API size_t ln_context_load_bytes(const ln_context *ctx, ln_mem_type mtype);

/* Bytes of constants that runs of a PLANNED or LOADED model, its graphs included, read where the
 * model's file, which is mapped, or the caller's data have them: they are in none of the sums
 * above. 0 before. */
LN_API size_t ln_context_mapped_bytes(const ln_context *ctx);

/* ---- Life ---- */

/* An empty context with default limits; NULL when memory is gone. */
LN_API ln_context *ln_context_create(void);

/* Frees a context with its tensor table, tensors, operators, data flow graph and memory, in
 * whatever state it is. NULL is fine. */
LN_API void ln_context_free(ln_context *ctx);

/* Sets what models read into this context may cost; NULL: the defaults. `init` checks the size of
 * the text and the number of operators, `compile` (`init` of a compiled model) memory and work, so
 * what has passed is not refused later. */
LN_API void ln_context_set_limits(ln_context *ctx, const ln_limits *limits);

/* The same for limits of `byte_count` bytes, as the program knows the structure; the macro says so
 * for all who compile against this header. What they do not have is as by default. LN_UNSUPPORTED
 * if they are longer than the library's and what is beyond is not 0: nothing has changed then. */
LN_API ln_status ln_context_set_limits_sized(ln_context *ctx, const ln_limits *limits,
                                             size_t byte_count);
#define ln_context_set_limits(ctx, limits)                                                         \
    ln_context_set_limits_sized(ctx, limits, sizeof(ln_limits))

/* What `ctx` has; NULL: the defaults. Fills in `byte_count` bytes at most. */
LN_API void ln_context_get_limits_sized(const ln_context *ctx, ln_limits *out_limits,
                                        size_t byte_count);
#define ln_context_get_limits(ctx, out_limits)                                                     \
    ln_context_get_limits_sized(ctx, out_limits, sizeof(ln_limits))

/* How many seconds each call that reads, binds shapes, compiles, loads or runs may last; 0, the
 * default: as long as it takes. In any state; a clone starts with what its origin has. Time is
 * looked at between operators, inside long ones and between tasks of threads. What takes longer
 * returns LN_TIMEOUT, with the operator and the time; a LOADED context stays LOADED and may run
 * again, its outputs are undefined until then. LN_INVALID for a negative number or NaN. */
LN_API ln_status ln_context_set_timeout(ln_context *ctx, double seconds);

/* How many seconds all that the calling thread reads, binds, compiles, loads and runs from now on
 * may last in sum, in any context; 0: as long as it takes, which is how a thread starts. Time
 * limits of contexts hold as well. What goes on beyond it, or begins after it, returns LN_TIMEOUT.
 * LN_INVALID for a negative number or NaN. */
LN_API ln_status ln_thread_set_timeout(double seconds);

/* Priorities of runs: the least and the most, and what contexts begin with. */
#define LN_PRIORITY_LEAST   (-100)
#define LN_PRIORITY_MOST    100
#define LN_PRIORITY_DEFAULT 0

/* How urgent the runs of this context are: a device that is given work by several runs at the same
 * time may do the work of a higher priority first; `ln_run_priority` is what it orders by. The host
 * has no queue: a run there begins at once in its own thread, and threads of pools serve runs in
 * the order in which they ask. Priorities change no result. They do not interrupt what a device has
 * begun, and a run of a low one may wait for as long as others of a higher one come. In any state;
 * it holds from the next run on; a clone starts with what its origin has.
 * LN_INVALID if `ctx` is NULL, or for a number that is not within the bounds above. */
LN_API ln_status ln_context_set_priority(ln_context *ctx, int priority);

/* Lets `cancel` end each call from now on that reads, binds shapes, compiles, loads or runs,
 * wherever a time limit is looked at: once it is requested, they return LN_CANCELLED, with the
 * operator, and leave the context as a failure does: a LOADED one stays LOADED, and may run again
 * with another one; its outputs are undefined until then. Held until it is replaced; NULL: none,
 * which is how contexts and clones begin. LN_INVALID if `ctx` is NULL. */
LN_API ln_status ln_context_set_cancel(ln_context *ctx, ln_cancel *cancel);

/* Readers take some faults of model files that their format forbids but that other engines accept,
 * such as a constant that is defined twice, with a warning (`lightnet/msg.h`). A strict context
 * refuses them: `init` fails. To be called before `init`; 0 is the default. NULL is fine. */
LN_API void ln_context_set_strict(ln_context *ctx, int is_strict);

/* Opens a device for this context, such as "echo" or "echo:1", the second of arch "echo", unless it
 * is open already, and adds it to those that `ln_context_compile` takes for a target of NULL: the
 * devices in the order in which they were added, and "cpu" for what they do not take.
 * Whatever a target names is opened when the context compiles or loads; this does so earlier, so
 * that what is missing is known. A device is opened once for a context, its clones, and the
 * programs and sessions that are made of it, and closed with the last of them. Other contexts that
 * use it open it again: they share no state of it, nor memory.
 * Fails: LN_NOT_FOUND if there is no such device; LN_UNSUPPORTED if the arch has no devices to
 * open; else as the device does. */
LN_API ln_status ln_context_add_device(ln_context *ctx, const char *name);

/* Sets what a device is opened with: the structure of its arch, of `byte_count` bytes as the
 * program knows it, or NULL: the defaults. What it does not have is as by default. It is copied.
 * The second form takes text, such as "delay=5,depth=2", and changes what it names; `lightnet
 * archs` lists the options. In any state before the device is open, for the context and its clones.
 * Fails: LN_STATE once it is open; LN_INVALID for an unknown option or a value that it does not
 * take; LN_NOT_FOUND, LN_UNSUPPORTED as above, and if the device has no options. */
LN_API ln_status ln_context_set_device(ln_context *ctx, const char *name, const void *options,
                                       size_t byte_count);
LN_API ln_status ln_context_set_device_text(ln_context *ctx, const char *name, const char *text);

/* Lets the model write files below `folder`, which is there, with operators such as `fprint`; NULL:
 * none, as in a new context. Without it a model that would write is refused when it is loaded; it
 * can still be read, compiled and printed.
 * Each file is created when the model is loaded, which fails with LN_EXISTS if the name is taken
 * already: nothing is overwritten. From then on each run appends. Clones made afterwards write the
 * same files. They are closed when the last of these contexts is freed or is allowed something
 * else; the permission itself outlasts unload and cleanup. The folder's name is resolved when a
 * file is created. Not while the model is loaded (LN_STATE). */
LN_API ln_status ln_context_allow_write(ln_context *ctx, const char *folder);

/* Reads a model: ONNX, TensorFlow Lite, JSON IR, compiled IR or IL, told apart by content; "-"
 * reads standard input. Creates operators and tensors, checks them, and builds the data flow graph.
 * The context must be empty (LN_STATE otherwise). On failure it is empty again. */
LN_API ln_status ln_context_init(ln_context *ctx, const char *source);

/* The files with weights that a model read from memory names: before `init_mem`, which opens them
 * below `folder` (NULL: nowhere, the default). The path is copied. Fails: LN_NO_MEMORY. */
LN_API ln_status ln_context_set_folder(ln_context *ctx, const char *folder);

/* The same as bytes in memory: the model's file `location`, such as "model.onnx_data", is the
 * `byte_count` bytes at `bytes`, for `init` and `init_mem`, before files below a folder. The name
 * is copied, the bytes are not: they have to stay, unchanged, until this context is freed and so
 * are its clones and programs. Fails: LN_EXISTS if there is one of that name, LN_INVALID for NULL,
 * LN_NO_MEMORY. */
LN_API ln_status ln_context_add_file(ln_context *ctx, const char *location, const void *bytes,
                                     size_t byte_count);

/* The same from `byte_count` bytes in memory. `name` stands in messages; NULL is "<memory>". */
LN_API ln_status ln_context_init_mem(ln_context *ctx, const void *bytes, size_t byte_count,
                                     const char *name);

/* Rewrites the model for `target`, an arch ("cpu") or a list in order of preference
 * ("cuda:1,cpu"; NULL: see `ln_context_add_device`): lowers each operator to the first arch that
 * takes it, fuses, orders, and plans memory. Afterwards `mem_sizes` holds the peak, exact unless
 * `ln_context_unplanned` names something. The context must be READY. If it cannot be lowered, or is
 * over a limit once it is, the context stays READY with the operators as far as they were
 * rewritten: the same model still, which computes the same. */
LN_API ln_status ln_context_compile(ln_context *ctx, const char *target);

/* The rewriting part of `ln_context_compile` alone: only the passes named in `passes`
 * ("fold,expand"; NULL: all), in the pipeline's order. The context stays READY. */
LN_API ln_status ln_context_optimize(ln_context *ctx, const char *target, const char *passes);

/* The memory plan of a PLANNED context as plain records, for printing and for `ln_plan_check`.
 * Names are borrowed from the context. The caller frees it with `ln_context_plan_free`. */
LN_API ln_status ln_context_plan_create(const ln_context *ctx, ln_plan **out_plan);
LN_API void ln_context_plan_free(ln_plan *plan); /* NULL is fine */

/* A second context of the same model, to run it in another thread at the same time. It shares the
 * static tensors (weights, constants) with `ctx` and has a workspace of its own, zeroed, but for
 * inputs with a value of their own (see `input` in docs/ops.md), which are copied: n contexts cost
 * static + n * workspace bytes. `*out_clone` is in the state of `ctx`, which is not EMPTY, and
 * lives and is freed on its own; shared memory goes with the last. Needs `ctx` for the call only.
 * A context that changes a static tensor (`set_data`, `set_param`) while it shares them takes a
 * copy of them first, so that the others keep theirs. */
LN_API ln_status ln_context_clone(const ln_context *ctx, ln_context **out_clone);

/* Writes the operators in their order: JSON IR (with the plan, once compiled), IL if `outfile` ends
 * in ".net", ONNX with its weights if it ends in ".onnx". "-" is standard output. A failure leaves
 * an old file as it was. The plan is for a reader with no more than the text and, after
 * `ln_context_store`, its file: weights that only the context has are planned as those of a data
 * file. LN_UNSUPPORTED if shapes depend on such weights. A compiled model with dynamic inputs has a
 * plan for each shape: its file has the operators as they were read, which reading compiles. */
LN_API ln_status ln_context_print(const ln_context *ctx, const char *outfile);

/* The same with flags. */
enum {
    LN_WRITE_WEIGHTS_BESIDE = 1 /* ONNX: large constants go to a file beside it, `<outfile>.data` */
};
LN_API ln_status ln_context_print_with(const ln_context *ctx, const char *outfile, unsigned flags);

/* The same into memory, in the format of the serializer of that name ("ir", "il"). The caller
 * frees *out_bytes with `ln_free`. */
LN_API ln_status ln_context_write(const ln_context *ctx, const char *serializer_name,
                                  char **out_bytes, size_t *out_byte_count);

/* Allocates the planned memory, copies tensors out of `datafile` (safetensors, .wts or a params
 * dictionary, told apart by content; NULL: none) and runs the operators' static part. The context
 * must be PLANNED. Tensors of the file that the model does not have are ignored; a tensor that the
 * model takes `from_file` and that is missing, or has another shape or type, is an error. Without a
 * file such tensors are zero, for `set_data` to fill; a warning says how many.
 * A model that brings its data needs no file but for values of inputs. What else one holds has to
 * be what the model has: to be the one that the model was compiled with (`ln_context_store`), or to
 * hold the same tensors; else LN_INVALID, since what was computed from them would stay as it is. */
LN_API ln_status ln_context_load(ln_context *ctx, const char *datafile);

/* The name of tensor `index`, from 0 on, of those that the model takes from a data file and does
 * not bring itself: `ln_context_load` without a data file leaves them zero. NULL if there are no
 * more, or the context is EMPTY. */
LN_API const char *ln_context_missing(const ln_context *ctx, size_t index);

/* Runs all operators in order. Must be LOADED. Allocates nothing if `ln_context_unplanned`
 * names nothing; else the values and the workspace that it names, within the limit of memory. */
LN_API ln_status ln_context_run(const ln_context *ctx);

/* What runs that a device fails in are done with: the model on the archs of its target that are no
 * devices, PLANNED and LOADED with `ctx`, where it was compiled with
 * `ln_optimize_options.fails_over`; its sizes (`ln_context_peak_bytes`) come on top of those of
 * `ctx`, and are within the same limit. Borrowed, to be asked only, as long as `ctx` is compiled.
 * NULL: there is none, as the option is not set, or no device computes anything. */
LN_API const ln_context *ln_context_failover(const ln_context *ctx);

/* How many runs have failed over since the context was made. 0 for NULL. */
LN_API size_t ln_context_failover_count(const ln_context *ctx);

/* How far the run of `ctx` is, or was when it ended, as `ln_session_progress` says it; *out_total
 * is 0 before the first run. Any thread may ask during a run. Bodies of If, Loop and Scan count
 * with their operator. Either pointer may be NULL. Fails: LN_INVALID if `ctx` is NULL. */
LN_API ln_status ln_context_progress(const ln_context *ctx, double *out_done, double *out_total);

/* Whom runs tell of each operator, in the thread that called `ln_context_run`, with the same `op`
 * before it and, unless it failed, after it. Either function may be NULL; neither may change the
 * context. `lightnet/op.h` has what an operator is: `op->op_arg->name`, `op->op_arg->optype`. What
 * a device runs as a group is told once, as the first operator of the group. Bodies of If, Loop and
 * Scan are part of that operator. */
typedef struct ln_observer {
    void (*before)(void *user, const ln_op *op);
    void (*after)(void *user, const ln_op *op);
    void *user;

    /* A device has failed, with this message, and the run is done again on the host: the operators
     * that follow are those of `ln_context_failover`. May be NULL. */
    void (*fails_over)(void *user, const char *message);
} ln_observer;

/* From the next run on, with the same numbers as without it. It is given the operators of the plan
 * that runs: of a model with dynamic inputs those of the plan for their shapes, valid during the
 * call. The observer is copied; what `user` points to is looked at until it is
 * replaced. NULL: none, which costs a run nothing. A clone starts with none. */
LN_API void ln_context_set_observer(ln_context *ctx, const ln_observer *observer);

/* The same for an observer of `byte_count` bytes; fails as `ln_context_set_limits_sized`, or with
 * LN_NO_MEMORY: the observer of before stays then. */
LN_API ln_status ln_context_set_observer_sized(ln_context *ctx, const ln_observer *observer,
                                               size_t byte_count);
#define ln_context_set_observer(ctx, observer)                                                     \
    ln_context_set_observer_sized(ctx, observer, sizeof(ln_observer))

/* ---- Threads; pool.h says more ---- */

/* How many threads run it, the caller's included: 1 to LN_MAX_THREADS, or 0 for the default; in any
 * state. Threads start with `ln_context_load`, or here if the context is LOADED, and end with the
 * last context that uses them. Contexts of the default share their threads; others have their own,
 * which their clones share. A clone runs with those that are free: n contexts that run at once on m
 * threads keep m processors busy, or n if that is more. If the system gives fewer threads, fewer
 * run it. The results have the same bits for every number.
 * A child process, after `fork`, runs contexts of its parent in the calling thread alone; contexts
 * that it loads itself have threads again. */
LN_API ln_status ln_context_set_threads(ln_context *ctx, size_t count);

/* The caller's own threads instead. `*pool` is copied; what it points to has to live as long as the
 * context and its clones. NULL: back to the default. */
LN_API ln_status ln_context_set_pool(ln_context *ctx, const ln_thread_pool *pool);

/* The same for a pool of `byte_count` bytes; fails as `ln_context_set_limits_sized`. */
LN_API ln_status ln_context_set_pool_sized(ln_context *ctx, const ln_thread_pool *pool,
                                           size_t byte_count);
#define ln_context_set_pool(ctx, pool) ln_context_set_pool_sized(ctx, pool, sizeof(ln_thread_pool))

/* The threads of `from` instead: both contexts share them, as clones do, and they end with the last
 * context that uses them. They start here if `from` has none yet. `from` may be in any state, and
 * may be freed before `ctx`. Of the graph of an operator it is the threads that run the graph.
 * Fails: LN_INVALID if one is NULL or `ctx` the graph of an operator, LN_NO_MEMORY. */
LN_API ln_status ln_context_set_threads_of(ln_context *ctx, ln_context *from);

/* How many threads run a LOADED context. */
LN_API size_t ln_context_thread_count(const ln_context *ctx);

/* Frees what `ln_context_load` allocated; the context is PLANNED again. */
LN_API void ln_context_unload(ln_context *ctx);

/* Releases everything that `ln_context_init` and later calls acquired; the context is EMPTY. */
LN_API void ln_context_cleanup(ln_context *ctx);

/* ---- Data; the context must be LOADED ---- */

/* Copies `ln_context_data_size` bytes from `data` into tensor `tname`. Static operators that
 * depend on it run again; what they need beside it and is no longer there is computed again, from
 * the model or the data file. */
LN_API ln_status ln_context_set_data(ln_context *ctx, const char *tname, const void *data);

/* Copies the tensor's bytes into `data`, and returns `data`; if `data` is NULL, returns the
 * tensor's own bytes, to be read only, valid until unload and changed by the next run.
 * Inputs, outputs and static tensors are what they should be; of other tensors the bytes may belong
 * to a later one by the end of a run. What was only needed while the model was loaded, as weights
 * before they are folded or packed, is computed again for a copy and has no bytes of its own.
 * A tensor in memory of a device has no bytes to look at: LN_UNSUPPORTED, and it is copied. What an
 * earlier run has left to the device is waited for. NULL if there is no such tensor. */
LN_API void *ln_context_get_data(ln_context *ctx, const char *tname, void *data);

/* The tensor's size in bytes; 0, and a recorded LN_NOT_FOUND, if there is no such tensor.
 * Needs READY only. */
LN_API size_t ln_context_data_size(ln_context *ctx, const char *tname);

/* The same with the size of the buffer. LN_INVALID, with both sizes, if it is not the tensor's:
 * nothing is copied then. */
LN_API ln_status ln_context_set_data_n(ln_context *ctx, const char *tname, const void *data,
                                       size_t byte_count);
LN_API ln_status ln_context_get_data_n(ln_context *ctx, const char *tname, void *data,
                                       size_t byte_count);

/* The tensor's own bytes, without a copy, as `ln_context_get_data` gives them for NULL, and how
 * many they are. *out_data is NULL if there are none. LN_STATE if the tensor has no bytes of its
 * own, LN_UNSUPPORTED if they are not in main memory. */
LN_API ln_status ln_context_borrow_data(ln_context *ctx, const char *tname, const void **out_data,
                                        size_t *out_byte_count);

/* ---- Data as arrays; the context must be LOADED ---- */

/* Copies the array into tensor `tname`, like `ln_context_set_data`; any strides. The shape must be
 * the tensor's but for dimensions of 1 (`ln_shape_fit`): nothing is reinterpreted, and the message
 * about another shape names the transpose that would fit. The type must be the one that
 * `tl_dtype_to_dl` gives for it; a TL_BOOL tensor takes both kinds of bool, and int32. */
LN_API ln_status ln_context_set_array(ln_context *ctx, const char *tname, const ln_ndarray *array);

/* The tensor as an array in the context's own memory, without a copy. The array keeps that memory,
 * also after unload and free. As long as the model is loaded its elements change with the tensor's,
 * which means: an input when it is set, an output in each run, others at any time of a run. An
 * output that has the elements of an input, such as an Identity of it, changes when that is set.
 * `ln_ndarray_write` or `ln_ndarray_clone` take a copy that stays. Only inputs may be written in
 * place; that sets them. A TL_BOOL tensor is seen as int32. LN_UNSUPPORTED if the tensor is not in
 * main memory (`ln_context_get_data` copies it). The caller releases *out_array. */
LN_API ln_status ln_context_get_array(ln_context *ctx, const char *tname, ln_ndarray **out_array);

/* Lets input `tname` use the array's memory, without a copy: runs read what the memory holds when
 * they read. The context holds the array until the tensor is bound or set again, or unload; runs
 * never write to it. That needs
 *     - an input that is no constant, in main memory, and that the plan has not laid into another
 *       tensor or under an operator that works in place,
 *     - an array in main memory without gaps, from a multiple of LN_MEM_ALIGN bytes on, of the
 *       tensor's own type (int32 for TL_BOOL),
 *     - operators that read it (and views of it) alone, not as a group on a device, and look where
 *       it is at each run, as all operators of the library do.
 * Otherwise the array is copied, as by `ln_context_set_array`, and *out_is_bound is 0; a debug
 * message says why. With `out_is_bound` NULL a copy will not do: LN_UNSUPPORTED instead. Array
 * NULL: the tensor goes back to its own memory and keeps its values. `ln_tensor_table_set_data`
 * would write to the array; `ln_context_set_data` does not. */
LN_API ln_status ln_context_bind_array(ln_context *ctx, const char *tname, ln_ndarray *array,
                                       int *out_is_bound);

/* Sets parameter `pname` of operator `opname`. The argument after `pname` has the parameter's type:
 * NUMBER a double, STRING a const char *, BOOL an ln_bool; arrays a pointer (const double *,
 * const char **, const ln_bool *) followed by an int length. Before `compile` shapes follow
 * the change; afterwards a change that would alter a shape, or move a view, is refused. */
LN_API ln_status ln_context_set_param(ln_context *ctx, const char *opname, const char *pname, ...);

/* The same with values of one type in an array, for languages and programs that know the type at
 * run time: `count` values for a parameter that is an array, one for another. The values are
 * copied. Fails as above, and: LN_INVALID if the parameter is of another type or takes one value,
 * LN_NOT_FOUND if there is no such operator or parameter. */
LN_API ln_status ln_context_set_param_numbers(ln_context *ctx, const char *opname,
                                              const char *pname, size_t count,
                                              const double *numbers);
LN_API ln_status ln_context_set_param_strings(ln_context *ctx, const char *opname,
                                              const char *pname, size_t count,
                                              const char *const *strings);
LN_API ln_status ln_context_set_param_bools(ln_context *ctx, const char *opname, const char *pname,
                                            size_t count, const ln_bool *bools);

/* ---- Inputs and outputs ---- */

/* Inputs are the outputs of `input` operators. In IL and JSON IR without any, reading makes `input`
 * of each `create` that the program fills (docs/il.md); `ln_context_set_inputs` says otherwise.
 * Outputs are what `output` operators name; in a model without, the tensors that no operator reads,
 * and compiling adds the operators. Index from 0, in the order of the operator list as it was read,
 * which compiling keeps: of an ONNX model the order in which its graph lists them, of IL and JSON
 * IR that of the file. `ln_context_make_input` and `ln_context_set_inputs` put an input where the
 * constant was. The pointer is borrowed from the context and valid until it is changed; NULL past
 * the end. */
LN_API size_t ln_context_input_count(const ln_context *ctx);
LN_API const ln_tensor_entry *ln_context_input(const ln_context *ctx, size_t index);
LN_API size_t ln_context_output_count(const ln_context *ctx);
LN_API const ln_tensor_entry *ln_context_output(const ln_context *ctx, size_t index);

/* The names of inputs and outputs, for all functions that take one; NULL past the end. Borrowed
 * likewise. */
LN_API const char *ln_context_input_name(const ln_context *ctx, size_t index);
LN_API const char *ln_context_output_name(const ln_context *ctx, size_t index);

/* ---- What a tensor is, from READY on ----
 *
 * As the model states it, so it stays the same from run to run: a dynamic dimension is -1, whatever
 * a run has made of it; the value has a shape of its own (`ln_context_get_object`). Of an output of
 * dynamic shape it is what the file states, unchecked. `tname` is an input, an output, or
 * any other tensor. If there is none of that name, LN_NOT_FOUND is recorded besides what is
 * returned. The size in bytes is `ln_context_data_size`. */

/* Its element type; TL_DTYPE_INVALID if it is known at run time and the file does not state it. */
LN_API tl_dtype ln_context_tensor_dtype(const ln_context *ctx, const char *tname);

/* How many dimensions it has; -1 if that is known at run time and the file does not state it. */
LN_API int ln_context_tensor_rank(const ln_context *ctx, const char *tname);

/* Dimension `axis`, from 0 on; -1 if it is dynamic, or there is none. */
LN_API int64_t ln_context_tensor_dim(const ln_context *ctx, const char *tname, int axis);

/* The symbol of dimension `axis` of an input or output, such as "batch"; those of inputs are what
 * `ln_context_set_symbol` binds; also when it is bound. NULL if it has none. Borrowed from the
 * context, until it is changed. */
LN_API const char *ln_context_tensor_symbol(const ln_context *ctx, const char *tname, int axis);

/* 1 if it is the same in all runs: a weight, or what only constants make. */
LN_API int ln_context_tensor_is_static(const ln_context *ctx, const char *tname);

/* Makes exactly these tensors the inputs of a READY model, where reading an old model, which has
 * `create` for inputs and weights alike, has found others. Each is what a `create` or an `input`
 * makes. A `create` among them becomes an `input` that holds the same after loading; an `input`
 * with a value of its own (`from_file`, `ran`, `data`) that is not among them becomes a constant
 * again. LN_INVALID if an `input` without one is not among them. On failure nothing has changed. */
LN_API ln_status ln_context_set_inputs(ln_context *ctx, size_t count, const char *const *tnames);

/* Makes `tname`, a constant of a READY model, an input as well: what `create` makes becomes its
 * first value, which runs use until it is set. ONNX models list such inputs with a default value
 * (`ln_model_info.defaults`); until then they are constants, which are folded and packed.
 * Fails: LN_NOT_FOUND if nothing makes the tensor, LN_INVALID if it is no constant that `create`
 * makes, LN_STATE if the context is not READY. Nothing has changed then. */
LN_API ln_status ln_context_make_input(ln_context *ctx, const char *tname);

/* Multiply-accumulates of one run, as everybody counts them: of convolutions, matrix products,
 * recurrent layers and attention. They do not depend on the target, except that what is computed
 * from constants alone is no longer counted once it is. Operators whose shapes are not known, and
 * the bodies of If, Loop and Scan, are not in the sum. */
LN_API double ln_context_macs(const ln_context *ctx);

/* What one run of a compiled model costs, an estimate in work units: about a nanosecond of one core
 * each. It is never measured, so it is the same on every machine, and is what `ln_limits.work`
 * limits. The same operators are not in the sum: what they do is counted while they run. */
LN_API double ln_context_cost(const ln_context *ctx);

/* Work units that the last run took of `ln_limits.work`: its cost, and what only data tell. */
LN_API double ln_context_work_done(const ln_context *ctx);

/* ---- Inputs whose shape is open, and values of any kind ---- */

/* 1 if the shape of input `index` is not known yet: it has symbolic dimensions that are not bound.
 */
LN_API int ln_context_input_is_open(const ln_context *ctx, size_t index);

/* Binds the shape of an input. The context must be READY. LN_INVALID, with both shapes, if the
 * model says another rank or dimension. Shapes of all tensors follow. */
LN_API ln_status ln_context_set_shape(ln_context *ctx, const char *tname, int ndim,
                                      const int *dims);

/* The shape of one input, borrowed for the call. */
typedef struct ln_input_shape {
    const char *tname;
    int ndim;
    const int *dims;
} ln_input_shape;

/* Binds the shapes of `count` inputs at once, in any state from READY on. A model that is compiled
 * is planned again, as far as it has not been for these shapes before: the last 16 plans are kept.
 * A LOADED context is LOADED again, from the same data file: constants that plans have in common,
 * such as packed weights, are computed once and are in memory once, and all plans of the context
 * have one workspace, that of the largest (up to a quarter more is asked for where shapes grow). A
 * shape that was there before takes microseconds. The values of inputs are gone, and so are
 * constants and parameters that were set. Pointers to its tensors end, and arrays that show them
 * (`ln_context_get_array`) may show other values. On failure the context is as before; when memory
 * is short for that too, PLANNED. LN_STATE if the
 * model leaves no dimension of its inputs open. */
LN_API ln_status ln_context_reshape(ln_context *ctx, size_t count, const ln_input_shape *shapes);

/* Binds the symbolic dimension `symbol` of all inputs that have it, whatever they were bound to. An
 * input is bound once all its dimensions are. LN_NOT_FOUND, with the symbols there are, if no input
 * has it. Shapes and values of inputs may give a symbol two sizes: LN_INVALID, with both, if an
 * operator refuses that, else a warning when the model is compiled (LN_INVALID with
 * `ln_context_set_strict`). */
LN_API ln_status ln_context_set_symbol(ln_context *ctx, const char *symbol, int dim);

/* States from where to where the symbolic dimension `symbol` may go, in a READY context, and binds
 * it to `to`. Compiling then makes one plan for all shapes in the ranges: each tensor has the place
 * and the bytes that the largest shape needs. `ln_context_reshape` to any of them needs no more
 * than that, but for the tables of a shape, which the first one to it makes in about a millisecond;
 * other shapes are LN_INVALID. Dimensions without a range have to be bound; compiling names those
 * that are not. At most 4 symbols. LN_INVALID if `from` is negative or above `to`; LN_NOT_FOUND,
 * with the symbols there are, if no input has it. */
LN_API ln_status ln_context_set_range(ln_context *ctx, const char *symbol, int from, int to);

/* Whether `symbol` was given a range, in any state; *out_from and *out_to, which may be NULL,
 * receive its ends. */
LN_API int ln_context_symbol_range(const ln_context *ctx, const char *symbol, int *out_from,
                                   int *out_to);

/* What one memory needs at most, whatever shapes in the ranges of a compiled context follow each
 * other: the static region, the workspace, which is asked for once and never grows, and constants
 * that depend on shapes, of the 16 that are kept ready. 0 without ranges. */
LN_API size_t ln_context_range_peak_bytes(const ln_context *ctx, ln_mem_type mtype);

/* The shape in the ranges that needs most, such as "batch=32, seq=512"; NULL without ranges.
 * Borrowed, as long as the context is compiled. */
LN_API const char *ln_context_range_worst(const ln_context *ctx);

/* Of how many shapes in the ranges compiling has looked at the sizes of tensors: all of them up to
 * 64, or up to 65,536 / (operators + 1) and 4,096 without graphs inside; else those at the ends of
 * each range and some in between: another shape whose plan needed more would be refused by
 * `ln_context_reshape` with LN_LIMIT. */
LN_API size_t ln_context_range_checked_count(const ln_context *ctx);
LN_API double ln_context_range_shape_count(const ln_context *ctx);

/* Gives an input its value in a LOADED context: a tensor of its type and of its shape but for
 * dimensions of 1 (`ln_shape_fit`), or, if it is dynamic, one of the type, the rank and the fixed
 * dimensions that the model states. The object is retained. A run with open inputs is planned for
 * the shapes of their values, like `ln_context_reshape`, where that pays (docs/embed.md, "Shapes
 * that are open"): the first run with such shapes takes as long as that and a run. Fails:
 * LN_INVALID, naming the input and both types, for another value; LN_NOT_FOUND if there is no such
 * tensor; LN_STATE if the context is not LOADED. */
LN_API ln_status ln_context_set_object(ln_context *ctx, const char *tname, ln_object *object);

/* The value of a tensor after a run as an object, without a copy if the tensor is open. The caller
 * releases *out_object. */
LN_API ln_status ln_context_get_object(const ln_context *ctx, const char *tname,
                                       ln_object **out_object);

/* What a run of a compiled model takes beside its plan, with the graphs inside it: values whose
 * shape only the run knows, and operators whose workspace only a run knows
 * (`workspace` in their descriptions). If both are 0, the plan is all. */
typedef struct ln_unplanned {
    size_t tensor_count, op_count;
    const char *tensors[3]; /* names of the first ones; NULL: no more */
    const char *ops[3];
} ln_unplanned;

LN_API ln_unplanned ln_context_unplanned(const ln_context *ctx);

/* Bytes that open tensors have taken together, at most, since the model was loaded. */
LN_API size_t ln_context_open_peak(const ln_context *ctx);

/* ---- What readers of models add ---- */

/* Attaches a tensor to the model: `create` operators that are `from_file` take it when no data file
 * is given, and an input that is has it as its first value where a data file has none. `data` stays
 * where it is until the store ends; `ln_context_keep` tells what then. */
LN_API ln_status ln_context_carry(ln_context *ctx, const char *tname, tl_dtype dtype, int ndim,
                                  const int *dims, const void *data);
LN_API ln_status ln_context_keep(ln_context *ctx, void *block, void (*release)(void *block));

/* Attaches the tensors of `datafile` that `create` operators take `from_file`, in all graphs, so
 * that the model has its weights from here on. The context must be READY. */
LN_API ln_status ln_context_carry_file(ln_context *ctx, const char *datafile);

/* The opposite: writes the tensors that `create` operators take `from_file`, in all graphs, into a
 * file whose format its name says (tensor_file.h). They are attached, by the reader or by
 * `ln_context_carry_file`. *out_count is their number; nothing is written where it is 0. */
LN_API ln_status ln_context_save_weights(const ln_context *ctx, const char *path,
                                         size_t *out_count);

/* Computes now what a PLANNED model computes once: folded and packed weights, and other constants.
 * They go to `path`, a safetensors file, and the model takes them from there: the operators that
 * made them, and the raw weights, are no longer in it. Graphs of `If`, `Loop` and `Scan` keep their
 * operators, and their weights go to the file as they are. The weights are what the model brings
 * or, if it brings none, `datafile`. Then the context is PLANNED again; printed as IR, the model
 * names the file, which has to be beside it, and a context that reads it uses the constants where
 * they lie, without a copy. *out_count receives the number of tensors, 0 if the model has no
 * weights or they are not at hand: then nothing is written or changed. If a failure comes after the
 * file is complete, the context is READY. Of a model with dynamic inputs the weights go to `path`
 * as they are, since what is computed from them may follow from the shape. */
LN_API ln_status ln_context_store(ln_context *ctx, const char *datafile, const char *path,
                                  size_t *out_count);

/* Says that these bytes, which are kept, are a file that is mapped to be read only: what has been
 * copied out of it need not stay in memory. */
LN_API ln_status ln_context_keep_mapped(ln_context *ctx, const void *bytes, size_t byte_count);

/* A new graph of the context: an EMPTY context, for operators to be appended to, that operators
 * name in parameters (the bodies of If, Loop, Scan). It belongs to `ctx`, or to the context that
 * `ctx` is a graph of, and is initialised, compiled and loaded with it. LN_EXISTS if there is one
 * of that name. The names of all graphs, and those of tensors across them, differ. */
LN_API ln_status ln_context_add_graph(ln_context *ctx, const char *name, ln_context **out_graph);
LN_API ln_context *ln_context_find_graph(const ln_context *ctx, const char *name);

/* Graph `index`, from 0 on, in no order that means anything; NULL past the end. */
LN_API ln_context *ln_context_graph(const ln_context *ctx, size_t index);

/* ---- Changing the operators; for optimizer functions ---- */

/* Checks the operators in `ctx->ops` (pre_run), inserts them into the tables, and builds the data
 * flow graph; an EMPTY context becomes READY. On failure the tables and graph are empty again;
 * `ctx->ops` is kept. */
LN_API ln_status ln_context_init_ops(ln_context *ctx);

/* The opposite: post_run of all, tables and graph empty, the context EMPTY. `ctx->ops` is kept and
 * can be initialised again; `ln_context_cleanup` and `ln_context_free` free it. */
LN_API void ln_context_cleanup_ops(ln_context *ctx);

/* Appends an operator to `ctx->ops`, unchecked, for readers before `ln_context_init_ops`; it is
 * the context's from then on. Takes constant time. */
LN_API ln_status ln_context_append_op(ln_context *ctx, ln_op *op);

/* Runs post_run and then pre_run of all operators, so that everything they derived from each other
 * is derived again. A plan ends with it: a PLANNED context is READY, to be compiled again. If one
 * fails, the model is dropped: the context is EMPTY. */
LN_API ln_status ln_context_rerun_ops(ln_context *ctx);

/* Replaces the `len` operators from list position `*position` on by `new_ops`, which the context
 * then owns (operators and list nodes), and frees the old ones. Data flow graph and tables follow.
 * `*position` becomes the first of the new operators, or what follows if there are none.
 * On failure the old operators are in place as before and `new_ops` still belongs to the caller; if
 * there is not even memory left to put them back, the context is EMPTY, here and below.
 * Takes time in proportion to what is replaced, not to the model, so it works on list nodes in
 * place: of other positions kept in the list, only those before `*position` and those beyond the
 * operator that follows stay valid. */
LN_API ln_status ln_context_replace_ops(ln_context *ctx, ln_list **position, size_t len,
                                        ln_list *new_ops);

/* Removes the operator at `*position`, which then is the one that followed. */
LN_API ln_status ln_context_remove_op(ln_context *ctx, ln_list **position);

/* Inserts `new_op` before `*position`, which then is the new one (at the end if it is NULL). */
LN_API ln_status ln_context_add_op(ln_context *ctx, ln_list **position, ln_op *new_op);

/* Replaces the operators `old_ops`, wherever they stand, by `new_ops`, in an order that respects
 * the data flow. Both lists stay the caller's; the operators of `new_ops` become the context's. */
LN_API ln_status ln_context_subgraph(ln_context *ctx, ln_list *old_ops, ln_list *new_ops);

/* 1 if tables, list and data flow graph agree and every input has a producer before it; else 0
 * and a recorded reason. */
LN_API int ln_context_check(const ln_context *ctx);

/* Allocates `mem_sizes` bytes of each memory type and points the tensors into them; the memory
 * must have been planned. */
LN_API ln_status ln_context_alloc_mem(ln_context *ctx);

/* Undoes `ln_context_alloc_mem`; a LOADED context is PLANNED again. */
LN_API void ln_context_dealloc_mem(ln_context *ctx);

LN_CPPEND

#endif
