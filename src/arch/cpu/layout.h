// SPDX-License-Identifier: Apache-2.0
// How the pass `layout` writes operators for cpu: on channels-last images, with packed weights.
//
// To add one: in the file of its family, a function that appends its channels-last form, one that
// says when, and a line in the table at the end.

#ifndef LN_ARCH_CPU_LAYOUT_H
#define LN_ARCH_CPU_LAYOUT_H

#include "pass/layout_build.h"

LN_CPPSTART

// The operators of each family; the last has a NULL optype.
extern const ln_layout_op ln_layout_convs[];    // layout_conv.c
extern const ln_layout_op ln_layout_deconvs[];  // layout_deconv.c
extern const ln_layout_op ln_layout_pools[];    // layout_pool.c
extern const ln_layout_op ln_layout_pads[];     // layout_pad.c
extern const ln_layout_op ln_layout_norms[];    // layout_norm.c
extern const ln_layout_op ln_layout_prelus[];   // layout_prelu.c
extern const ln_layout_op ln_layout_quants[];   // layout_quant.c
extern const ln_layout_op ln_layout_rescales[]; // layout_rescale.c

// An image of floats that may take another form.
static inline bool ln_layout_is_float_image(const ln_layout_build *build, const char *tname)
{
    return ln_layout_is_free(build, tname) &&
           ln_layout_find(build, tname)->tensor->dtype == TL_FLOAT;
}

LN_CPPEND

#endif
