// SPDX-License-Identifier: Apache-2.0
// Layout of volumes [N, C, D, H, W], whose NHWC form [N, D * H, W, C] has the rows of all planes.

#ifndef LN_ARCH_CPU_LAYOUT_VOLUME_H
#define LN_ARCH_CPU_LAYOUT_VOLUME_H

#include "arch/cpu/layout.h"

LN_CPPSTART

// A tensor of rank 5 that may take another form.
bool ln_layout_is_volume(const ln_layout_build *build, const char *tname);

// Appends a view of `nhwc`, whose name is returned; NULL with a recorded failure.
const char *ln_layout_emit_view(ln_layout_build *build, const char *nhwc, int rank,
                                const int *dims);

// Appends what leads from `made`, any view of an NHWC form, back to the operator's first output.
ln_status ln_layout_emit_volume_back(ln_layout_build *build, const char *made);

// Poolings.
bool ln_layout_fits_volume_pool(const ln_layout_build *build);
ln_status ln_layout_rewrite_volume_pool(ln_layout_build *build);

LN_CPPEND

#endif
