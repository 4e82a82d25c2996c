// SPDX-License-Identifier: Apache-2.0
// The operators of an arch, in call form, as the build writes them down: one row of constants for
// each (desc/opdesc_rows.c). Their prototypes are made of the rows when the arch is registered.
//
// A row holds what is the operator's own. What it leaves out, it has from the operator of arch
// `none` that it is a variant of.

#ifndef LN_IR_OP_ROWS_H
#define LN_IR_OP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/op.h>
#include <lightnet/op_info.h>
#include <lightnet/status.h>

LN_CPPSTART

typedef struct ln_param_row {
    const char *arg_name;
    const char *default_text; // JSON; NULL: none
    ln_param_type ptype;
    bool is_required;
    uint8_t is_whole; // as in ln_param_info
} ln_param_row;

// What an operator and its variants have in common. NULL: as the base has it, or there is none.
// Each list ends with a NULL name, `since` with 0.
typedef struct ln_op_facts {
    const ln_arg_info *ins;
    const ln_arg_info *outs;
    const ln_param_row *params;
    const ln_place_info *places;
    const int *since;
    const char *domain;
    ln_call_func infer;
    double (*call_macs)(const struct ln_call *call);
    double (*call_cost)(const struct ln_call *call);
    int (*commutes)(ln_op_arg *op_arg);
    int (*is_random)(const ln_op_arg *op_arg);
} ln_op_facts;

typedef struct ln_op_row {
    const char *optype;
    const char *base;         // the type that it is a variant of; NULL: none
    const ln_op_facts *facts; // NULL: all as the base has it
    ln_call_func accepts;
    ln_call_func prepare;
    ln_call_func workspace;
    ln_call_func compute;
    ln_op_offset_func calc_offset;
    double rtol;
    double step_cost;
    ln_mem_type mtype; // of inputs and outputs that are the base's; LN_MEM_NONE: its
    bool takes_any_address;
} ln_op_row;

// The pre_run, post_run, check, macs, cost and run that all of them have.
typedef struct ln_call_life {
    ln_op_func pre_run;
    ln_op_func post_run;
    ln_op_func check;
    ln_op_func run;
    double (*macs)(ln_op_arg *op_arg);
    double (*cost)(ln_op_arg *op_arg);
} ln_call_life;

typedef struct ln_op_rows {
    char *arch;
    const ln_op_row *rows; // ends with a NULL type
    const ln_call_life *call_life;
    struct ln_op_rows *base; // has the operators that these are variants of; NULL: none

    // Kept by the functions below.
    ln_op **ops;
    struct ln_document *arena;
    size_t use_count;
} ln_op_rows;

// Makes the prototypes, once, and those of the base. *out_ops ends with NULL and lasts until the
// last `close`. LN_NO_MEMORY; *out_ops is then NULL. Not thread-safe: registration has a lock.
ln_status ln_op_rows_open(ln_op_rows *rows, ln_op ***out_ops);
void ln_op_rows_close(ln_op_rows *rows);

LN_CPPEND

#endif
