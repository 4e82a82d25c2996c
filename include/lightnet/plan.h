/* SPDX-License-Identifier: Apache-2.0 */
/* A memory plan as plain records, and the checker that proves it again.
 *
 * A plan says where each value is, how long its bytes are its own, and which values each step of
 * the model reads and writes. Each memory type is one space of offsets:
 *
 *     0          64                      S                           T
 *     | reserved | static: weights ...   | workspace: activations ... |
 *
 * The first 64 bytes are reserved, so that offset 0 means "none". Static values are in [64, S), all
 * others in [S, T); S and T are multiples of 64. Steps are counted from 0.
 *
 * Static values that only static values are computed from, such as weights before they are packed,
 * are there while the model is loaded and no longer. They have a space of offsets of their own:
 *
 *     0          64                           L
 *     | reserved | while loading: raw weights |
 *
 * The checker shares no code with the planner and believes nothing but the steps, so it also
 * serves for plans that come from a file.
 */

#ifndef LIGHTNET_PLAN_H
#define LIGHTNET_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/export.h>
#include <lightnet/mem.h>
#include <lightnet/status.h>

LN_CPPSTART

/* How the values that a step writes may overlap the values that it reads. */
typedef enum ln_plan_aliasing {
    LN_PLAN_APART = 0, /* written bytes are disjoint from read bytes */
    LN_PLAN_VIEW,      /* no byte changes: a written value is a new name of bytes that are read */
    LN_PLAN_IN_PLACE,  /* a written value may use exactly the bytes of the read values that `overs`
                          pairs it with, if these are not read later; all have one owner */
    LN_PLAN_JOIN,      /* one value is written, and read ones may be in it: their bytes do not
                          change, all others of it do; what is read elsewhere is apart */
} ln_plan_aliasing;

/* The step reads operand `read` element by element, each before it writes the element at the same
 * index of result `write`. So the result may use exactly the operand's bytes. Each other operand of
 * the step uses other memory, or is in such a pair with the result too. */
typedef struct ln_plan_over {
    uint32_t write; /* an index into `writes` of the step */
    uint32_t read;  /* an index into `reads` of the step */
} ln_plan_over;

/* One operator of the model in the order of execution. `reads` and `writes` index the values of
 * the plan. A value is written by at most one step; a view too is written, by the step that makes
 * it, before it can be read. */
typedef struct ln_plan_step {
    const char *op; /* name of the operator, for messages; never NULL */
    const uint32_t *reads;
    size_t read_count;
    const uint32_t *writes; /* outputs and scratch memory */
    size_t write_count;
    ln_plan_aliasing aliasing;
    const ln_plan_over *overs; /* rising, first by `write`; used if `aliasing` is IN_PLACE */
    size_t over_count;
} ln_plan_step;

/* One tensor. `owner` names the value whose memory this one is in, NULL when it has its own.
 * Offsets of owners are multiples of 64; a view may start at any byte of its owner. */
typedef struct ln_plan_value {
    const char *name; /* unique, never NULL */
    size_t offset;
    size_t byte_count;
    ln_mem_type mtype;
    int is_static; /* filled before the first run, or by a step that reads static values only */
    uint32_t first_step; /* inclusive: in use from here ... */
    uint32_t last_step;  /* ... to here, inclusive */
    const char *owner;
    int is_input;  /* filled by the caller before step 0, intact after the last step */
    int is_output; /* intact after the last step */
    int is_load;   /* static, and only there while the model is loaded, from `first_step` on to
                      `last_step`: only steps that make static values read it */
    size_t mapped_byte_count; /* static, and read where the model's file or data have it: so many
                                 bytes, which are not in the totals; `byte_count` is 0 then */
} ln_plan_value;

/* What the values of one memory type need; all 0 when there are none. */
typedef struct ln_plan_totals {
    size_t static_byte_count;    /* S, the 64 reserved bytes included */
    size_t workspace_byte_count; /* T - S */
    size_t peak_byte_count;      /* T */
    size_t load_byte_count;      /* L; 0 when nothing is there */
} ln_plan_totals;

typedef struct ln_plan {
    const ln_plan_value *values;
    size_t value_count;
    const ln_plan_step *steps;
    size_t step_count;
    ln_plan_totals totals[LN_MEM_TYPE_SIZE];
} ln_plan;

/* Proves that the plan is right, or returns LN_INVALID and a message that names the tensors, steps
 * and bytes at fault; LN_NO_MEMORY when the check itself is short of memory. Only reads the plan.
 *
 * - Offsets are aligned and inside their region, and views inside their owner, of the same memory
 *   type and kind.
 * - The declared lifetime of a value covers its steps, and those of all values in its memory; those
 *   of inputs, outputs and static values reach to the end, of inputs and static values also from
 *   the start, unless they are only there while loading; no step of a run reads those. Values with
 * memory of their own that are alive at the same step do not overlap.
 * - When the steps are followed, every read finds the bytes that were written for that value,
 *   and so does the end for inputs, outputs and static values.
 * - What a view step writes is made of bytes that it reads.
 * - If a step overwrites an operand, each of its operands with these bytes may be overwritten.
 * - The totals are exact. */
LN_API ln_status ln_plan_check(const ln_plan *plan);

LN_CPPEND

#endif
