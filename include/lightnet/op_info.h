/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about an operator type besides its functions: made from its description, read by
 * documentation, passes, readers and writers. Hand-written operators may go without. */

#ifndef LIGHTNET_OP_INFO_H
#define LIGHTNET_OP_INFO_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/mem.h>
#include <lightnet/op.h>
#include <lightnet/param.h>

LN_CPPSTART

/* Flags of an argument. */
enum {
    LN_ARG_OPTIONAL = 1,    /* an input that may be left out */
    LN_ARG_VARIADIC = 2,    /* an argument that stands for <arg_name>1, <arg_name>2, ... */
    LN_ARG_SCRATCH = 4,     /* an output that only serves the operator while it runs */
    LN_ARG_STATIC = 8,      /* an input that must be static; an output that is */
    LN_ARG_ATTRIBUTE = 16,  /* an input that is an attribute in ONNX */
    LN_ARG_SHAPE_ONLY = 32, /* an input whose elements are not looked at */
    LN_ARG_WEIGHT = 64      /* an input that is what was learnt or chosen with the network, such as
                               `weight`, `bias` or `anchors`, rather than data that flow through it */
};

/* arg_name of an output that any operator in call form which computes may list besides those of its
 * description: the memory that it takes with `ln_call_scratch`. Compiling adds it. */
#define LN_SCRATCH "scratch"

typedef struct ln_arg_info {
    const char *arg_name;
    const char *doc;
    unsigned flags;    /* LN_ARG_... */
    ln_mem_type mtype; /* LN_MEM_NONE: any */

    /* Of operators in call form (call.h) only. */
    uint64_t types;   /* LN_TYPE(dtype) of each dtype that it may have; 0: any */
    const char *same; /* the input before it whose dtype it must have; NULL: none */
} ln_arg_info;

/* How the bytes of an output may overlap those of an input. */
typedef enum ln_place_kind {
    LN_PLACE_OVER = 1,   /* exactly over them: `run` writes over what it has read */
    LN_PLACE_INSIDE,     /* at `calc_offset` in them, which are then what `run` would write */
    LN_PLACE_AROUND,     /* around them: the input is at `calc_offset` in the output, and `run`
                            leaves it as it is */
    LN_PLACE_OVER_FIRST, /* as LN_PLACE_OVER, but of several such inputs only over the first that is
                          there, and only if `calc_offset` of the output is not LN_NO_OFFSET */
    LN_PLACE_VIEW /* no choice: the output has the elements of the input, so that nothing runs. Of
                     operators in call form; others say so in `pre_run` */
} ln_place_kind;

/* A choice that whoever plans memory has. `run` does the right thing wherever the tensors are. */
typedef struct ln_place_info {
    const char *out; /* arg_names; variadic ones stand for all their tensors */
    const char *in;
    ln_place_kind kind;
} ln_place_info;

/* Which numbers a parameter takes: any, those without a fraction that an int holds, or all of those
 * without a fraction. */
enum { LN_NOT_WHOLE = 0, LN_WHOLE_INT = 1, LN_WHOLE_ANY = 2 };

typedef struct ln_param_info {
    const char *arg_name;
    const char *doc;
    ln_param_type ptype;
    const char *default_text; /* JSON; NULL: none, so that the parameter is required, but in call
                                 form only if `is_required` says so */
    const ln_param_entry *default_entry; /* the same as a parameter */
    int is_required;
    int is_whole; /* LN_NOT_WHOLE, LN_WHOLE_INT or LN_WHOLE_ANY */
} ln_param_info;

/* Work units that calling any operator costs, besides its steps. */
#define LN_CALL_COST 500.0

struct ln_call;
typedef ln_status (*ln_call_func)(struct ln_call *call);

struct ln_op_info {
    size_t byte_count; /* sizeof(ln_op_info), as who fills it knows it */

    /* What it says to people, and its arguments and parameters likewise: NULL of the library's own
     * operators, for which the command has it. */
    const char *doc;     /* one sentence first */
    const char *author;  /* NULL: unknown */
    const char *example; /* one statement of IL; NULL: none */

    /* Each list ends with a NULL name. */
    const ln_arg_info *ins;
    const ln_arg_info *outs;
    const ln_param_info *params;

    /* The first half of `pre_run`: looks at inputs and parameters, defines nothing, allocates
     * nothing that lasts. NULL: nothing to check. */
    ln_op_func check;

    /* Multiply-accumulates of one run, once the operator is checked: of its meaning, whichever way
     * they are computed. NULL: none. */
    double (*macs)(ln_op_arg *op_arg);

    /* Where outputs may be; ends with a NULL `out`. NULL: apart from the inputs. */
    const ln_place_info *places;

    /* 1 if the first two inputs of this operator, once it is checked, may change places without
     * changing a bit of the results. NULL: they may not. */
    int (*commutes)(ln_op_arg *op_arg);

    double rtol; /* how far results may be from those of arch `ref`, relative; 0: same bits */

    /* For readers; NULL: not said. */
    const char *dtypes; /* which element types it takes, and what it does at their limits */
    const char *nan;    /* what NaN and infinite elements give */

    /* ---- Of operators in call form (call.h) only ---- */

    ln_call_func infer;   /* states the outputs; not NULL: the operator has call form */
    ln_call_func compute; /* fills them; NULL in arch `none` */
    ln_call_func accepts; /* LN_UNSUPPORTED with the reason if this variant does not take these
                             inputs and parameters; NULL: it takes all that the type does */
    double (*call_macs)(const struct ln_call *call); /* NULL: none */
    const char *domain; /* of ONNX, such as "ai.onnx.ml"; NULL: "ai.onnx" */
    const int *since;   /* versions of the ONNX operator set in which a form of it came, rising;
                           ends with 0. NULL or empty: no operator of ONNX */

    /* ---- Of all operators ---- */

    /* Steps of one run at most, up to a constant factor, which `step_cost` is: work units for a
     * step, about a nanosecond of one core each; 0 is 1. NULL: the multiply-accumulates and the
     * elements of all inputs and outputs. What depends on data is charged in the run, by
     * `ln_call_charge`. */
    double (*cost)(ln_op_arg *op_arg);
    double (*call_cost)(const struct ln_call *call); /* the same of operators in call form */
    double step_cost;

    ln_call_func prepare; /* of operators in call form: makes what `compute` needs of parameters and
                             constants, once, when the model is loaded: see `ln_call_keep`. NULL:
                             nothing */

    /* 1 if this operator, once it is checked, may give other numbers when it runs again on the same
     * inputs. It then runs in each run, and two such operators are never one. NULL: it does not.
     * Operators that run graphs need none: the graphs tell. */
    int (*is_random)(const ln_op_arg *op_arg);

    int takes_any_address; /* 1 if it reads inputs whose elements are not aligned */

    ln_call_func workspace; /* of operators in call form: takes the memory that `compute` will take,
                               while a model is planned: see `ln_call_scratch`. NULL: none */

    ln_op_func open_run; /* of operators in call form whose output is a view: the `run` that they
                            have where a shape comes in the run. NULL: others */
};

LN_CPPEND

#endif
