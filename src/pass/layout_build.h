// SPDX-License-Identifier: Apache-2.0
// Making channels-last operators: what the layout pass and its table of operators share.
//
// An image [N, C, H, W] has an NHWC form, the same elements as [N, H, W, C]. The NHWC form of what
// a rewritten operator made is known by the transpose that leads back from it; other NHWC forms are
// made by a transpose of their own, once. A row [N, C, W] is an image of height 1, a volume
// [N, C, D, H, W] one of height D * H; they have that one's NHWC form.

#ifndef LN_PASS_LAYOUT_BUILD_H
#define LN_PASS_LAYOUT_BUILD_H

#include <stdbool.h>

#include <lightnet/arch.h>
#include <lightnet/context.h>
#include <lightnet/param.h>

LN_CPPSTART

// The operators that take the place of one. Names that are returned are borrowed, and valid as long
// as this.
typedef struct ln_layout_build {
    const ln_context *ctx;
    const ln_op *op;     // that goes
    ln_list *new_ops;    // owned until the context takes them
    ln_hash *nhwc_names; // names of images -> names of NHWC forms made for them; the pass's

    // Operators that stay, but may have lost their only reader. Borrowed from the context.
    const ln_op *bypassed[2];
    bool avoids_winograd; // as the options say
} ln_layout_build;

// The tensor of the model that an input or output stands for; NULL if there is none.
const ln_tensor_entry *ln_layout_tensor(const ln_layout_build *build, const char *arg_name);

// A tensor of floats or bytes, [N, C, H, W], [N, C, W] or [N, C, D, H, W] with elements, whose
// shape is settled.
bool ln_layout_is_image(const ln_tensor_entry *entry);

// The dimensions of an image as [N, C, H, W].
typedef struct ln_layout_dims {
    int d[4];
} ln_layout_dims;

ln_layout_dims ln_layout_dims_of(const ln_layout_build *build, const char *tname);

// `rank` dimensions of an image, a row or a volume as [N, C, H, W].
ln_layout_dims ln_layout_dims_from(int rank, const int *dims);

// The axis of an image in its NHWC form; -1 where that has no such axis.
int ln_layout_nhwc_axis(const ln_layout_build *build, const char *tname, int axis);

// Whether the image has an NHWC form already.
bool ln_layout_has_nhwc(const ln_layout_build *build, const char *tname);

// The name of the image's NHWC form, which is made if there is none. NULL with a recorded failure.
const char *ln_layout_nhwc(ln_layout_build *build, const char *tname);

// The name for a new tensor: `<tname>_<suffix>`, with a number after it where that is taken.
// Allocated; NULL when memory is gone.
char *ln_layout_new_name(const ln_layout_build *build, const char *tname, const char *suffix);

// Appends an operator named after the one that goes. Takes the lists, which may be NULL where they
// should be empty; `is_complete` says that all were made.
ln_status ln_layout_emit(ln_layout_build *build, const char *optype, const char *suffix,
                         ln_list *ins, ln_list *outs, ln_list *params, bool is_complete);

// Appends `transpose(src | dst | axes)`.
ln_status ln_layout_emit_transpose(ln_layout_build *build, const char *src, const char *dst,
                                   const int axes[4]);

// The name of the tensor as [N, C, H, W], of which a row or a volume becomes a view; NULL with a
// recorded failure.
const char *ln_layout_lifted(ln_layout_build *build, const char *tname);

// ---- What many rewrites need ----

// The tensor of that name; NULL if there is none.
const ln_tensor_entry *ln_layout_find(const ln_layout_build *build, const char *tname);

// The name of what input `arg_name` reads, NULL if it reads nothing; of the first output; and of
// what the operator that was appended last makes.
const char *ln_layout_input(const ln_layout_build *build, const char *arg_name);
const char *ln_layout_first_out(const ln_layout_build *build);
const char *ln_layout_last_made(const ln_layout_build *build);

// An image that may take another form. What is known before the model is loaded may decide shapes,
// and keeps its own.
bool ln_layout_is_free(const ln_layout_build *build, const char *tname);

// Appends `optype`, under the name of the operator that goes, whose output `out_arg` is the NHWC
// form of that one's first output, and the transpose that leads back. Takes the lists.
ln_status ln_layout_emit_nhwc(ln_layout_build *build, const char *optype, const char *out_arg,
                              ln_list *ins, ln_list *params, bool is_complete);

// Appends the transpose, and the view of a row or volume, that lead from an NHWC form back to
// `tname`.
ln_status ln_layout_emit_back(ln_layout_build *build, const char *nhwc, const char *tname);

// Appends `optype` with one new tensor `dst` as its output, whose name is returned; NULL with a
// recorded failure. Takes the lists.
const char *ln_layout_emit_step(ln_layout_build *build, const char *optype, const char *suffix,
                                ln_list *ins, ln_list *params, bool is_complete);

// The same type with the NHWC forms of its inputs; for operators with one output.
ln_status ln_layout_emit_same(ln_layout_build *build, ln_list *params, bool is_complete);

// Of what is computed element by element: whether an operand has an NHWC form already, and the
// operator on the NHWC forms of all. (layout_elementwise.c)
bool ln_layout_fits_elementwise(const ln_layout_build *build);
ln_status ln_layout_rewrite_elementwise(ln_layout_build *build);

// Parameters that differ from their defaults. Failures show in the end.
typedef struct ln_layout_params {
    ln_list *list;
    int count; // that were to be there
} ln_layout_params;

void ln_layout_add_int(ln_layout_params *p, const char *name, int value, int usual);
void ln_layout_add_ints(ln_layout_params *p, const char *name, int count, const int *values,
                        int usual);
void ln_layout_add_number(ln_layout_params *p, const char *name, double value);
void ln_layout_add_string(ln_layout_params *p, const char *name, const char *value,
                          const char *usual);
bool ln_layout_are_complete(const ln_layout_params *p);

extern const int ln_layout_to_last[4]; // axes of the transpose that makes an NHWC form

// ---- Tables: of an arch, and what any arch wants (layout_ops.c) ----

// How operators of a type are done on channels-last images.
typedef struct ln_layout_op {
    const char *optype;
    // Whether this one is to be, here.
    bool (*fits)(const ln_layout_build *build);
    // Appends what computes the same on NHWC forms, and the transposes that lead back.
    ln_status (*rewrite)(ln_layout_build *build);
} ln_layout_op;

// NULL for types that stay as they are where `arch` is the first of a target.
const ln_layout_op *ln_layout_op_find(const ln_arch *arch, const char *optype);

// What is rewritten for every arch; the last has a NULL optype.
extern const ln_layout_op ln_layout_channels[];    // layout_channels.c
extern const ln_layout_op ln_layout_elementwise[]; // layout_elementwise.c

LN_CPPEND

#endif
